"""The command as a script and as `python -m clrevents`; an interrupt while it is imported ends it quietly."""

import sys

from clrevents._util.process import repeat_lost_interrupts, tune_process


def main() -> None:
    # First: imports make many objects, and no garbage.
    tune_process()
    repeat_lost_interrupts()
    try:
        from clrevents.cli import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
