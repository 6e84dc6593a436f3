"""`python -m clrevents`: the command, where its script is not on the path."""

from clrevents.cli import main

if __name__ == "__main__":
    main()
