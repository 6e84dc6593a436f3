"""The command as a script and as `python -m clrevents`; an interrupt while it is imported ends it quietly."""

import sys


def main() -> None:
    try:
        from clrevents.cli import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
