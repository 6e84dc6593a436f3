"""Traces that a command reads together: a progress bar, and what is wrong with which of them, a line each.

Does for many what `Reading` does for one trace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import accumulate
from types import TracebackType
from typing import Final

import click

import clrevents
from clrevents._util.meter import Meter
from clrevents._util.words import counted
from clrevents.cli.output import say
from clrevents.cli.reading import FailOn, exit_code, given_trace
from clrevents.errors import ErrorMode
from clrevents.fleet import Traces

_LISTED: Final = 10


class ReadingMany:
    """Many open traces, and what to report about them at the end."""

    def __init__(self, places: Sequence[str], errors: ErrorMode, jobs: int | None, symbols: Sequence[str] = ()) -> None:
        if given_trace() != 1:
            raise click.UsageError("--trace takes one file")
        self._meter = Meter(sys.stderr)
        try:
            self.asked: Traces = clrevents.open_many(
                places, jobs=jobs, errors=errors, progress=self._tell, symbols=symbols
            )
        except (FileNotFoundError, ImportError) as error:
            raise click.UsageError(str(error)) from None
        sizes = (os.path.getsize(path) if os.path.isfile(path) else 0 for path in self.asked.paths)
        self._read = [0, *accumulate(sizes)]

    def _tell(self, done: int, total: int) -> None:
        self._meter.tell(self._read[done], self._read[total])

    def __enter__(self) -> ReadingMany:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._meter.close()
        self.asked.close()

    def finish(self, fail_on: FailOn) -> int:
        """Report which traces could not be read, and how many are damaged; returns the worst exit code of all."""
        self._meter.close()
        problems = self.asked.problems.select("trace", "severity", "kind", "message")
        errors = [row for row in problems.rows() if row["severity"] == "error"]
        for row in errors[:_LISTED]:
            say(f"{row['trace']}: {row['message']}")
        if len(errors) > _LISTED:
            say(f"and {len(errors) - _LISTED} more; the table `problems` has all of them")
        damaged = {row["trace"] for row in problems.rows() if row["severity"] == "damage"}
        if damaged:
            say(f"{counted(len(damaged), 'trace')} of {len(self.asked)} damaged; the table `problems` says where")
        lossy = "loss" in fail_on and any(self.asked.overview()["lost"].tolist())
        return 2 if errors else exit_code([(row["severity"], row["kind"]) for row in problems.rows()], lossy, fail_on)
