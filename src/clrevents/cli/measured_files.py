"""A file named on the command line → what is compared of it. Knows recordings and saved answers, and judges nothing."""

from __future__ import annotations

from collections.abc import Callable

from clrevents.analysis.compare.compare import is_saved, saved_measured
from clrevents.analysis.compare.measured import Measured
from clrevents.cli.output import say
from clrevents.cli.reading import Reading
from clrevents.cli.report_rows import usage_error
from clrevents.errors import DamageError, ErrorMode, PayloadError


def measured_file(
    file: str, errors: ErrorMode, fail_on: frozenset[str], ask: Callable[[Reading], Measured]
) -> tuple[list[Measured], int]:
    """What saved answers say, or `ask` of a recording; and the exit code that its problems mean."""
    try:
        if is_saved(file):
            return saved_measured(file), 0
        with Reading(file, errors) as reading:
            try:
                found = ask(reading)
            except (DamageError, PayloadError):
                say(f"{reading.name}: damaged, so it cannot be compared; --errors salvage compares what is left")
                raise
            return [found], reading.finish(fail_on)
    except (KeyError, TypeError, ValueError) as error:
        raise usage_error(error) from None
