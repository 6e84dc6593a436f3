"""`python -m clrevents`: the command, for when its script is not on the path."""

from clrevents.cli import main

if __name__ == "__main__":
    main()
