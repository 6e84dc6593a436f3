"""What a person sees: the command run in this process on a terminal of a given width, and its screens as golden files.

`python tests/support/screens.py` writes the golden files anew; look at what `git diff` says of them.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest import mock

import clrevents
from clrevents._util import meter
from clrevents.analysis.about.checking import CheckResult
from clrevents.analysis.about.describing import TraceAbout
from clrevents.analysis.about.pairing import SpanReport
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of, hidden_columns, windowed_columns
from clrevents.cli import root

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "tests" / "cli" / "screens"
COLUMNS: Final = FOLDER / "columns.txt"
WIDTHS: Final = (60, 80, 120)
TRACES: Final = ("net10-convoy", "net10-garbage", "net10-exceptions", "net8-counters", "net8-heap")
OTHERS: Final = (
    "info {}",
    "info {} --reports",
    "info {} --providers",
    "info {} --threads",
    "check {}",
    "events {} -n 4",
    "spans {} GCSuspendEEBegin GCRestartEEEnd -n 3",
    "top {} --waiting -n 5",
    "callers {} 'System.*' -n 8",
    "compare fixtures/net10-convoy.nettrace.gz --against {} -n 6",
    "schema ILStubGenerated",
)
NOT_ALONE: Final = ("callers",)
"""Reports that need an argument."""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def commands(trace: str) -> list[str]:
    """Every command that has something to show of this trace, and one report that has not."""
    path = ROOT / "fixtures" / f"{trace}.nettrace.gz"
    with clrevents.open(path) as opened:
        told = {name: answer.coverage != "none" for name, answer in opened.reports().items() if name not in NOT_ALONE}
    silent = next(name for name, tells in told.items() if not tells)
    reports = [f"{name} {{}} -n 5" for name, tells in told.items() if tells or name == silent]
    return [line.format(path.relative_to(ROOT)) for line in (*OTHERS[:4], *reports, *OTHERS[4:])]


@contextmanager
def _terminal(width: int) -> Iterator[Terminal]:
    shown = Terminal()
    here = os.getcwd()
    environment = {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}
    os.chdir(ROOT)
    try:
        with (
            mock.patch.dict(os.environ, environment),
            mock.patch.object(sys, "stdout", shown),
            mock.patch.object(sys, "stderr", shown),
            # No bar, however slow this machine is.
            mock.patch.object(meter, "_PATIENCE", float("inf")),
        ):
            yield shown
    finally:
        os.chdir(here)


def screen(arguments: Sequence[str], width: int) -> str:
    """All that the command shows, on stdout and stderr."""
    with _terminal(width) as shown:
        root.main(list(arguments), prog_name="clrevents", standalone_mode=False)
    return shown.getvalue()


def golden(trace: str, width: int) -> Path:
    return FOLDER / f"{trace}.{width}.txt"


def screens(trace: str, width: int) -> str:
    """The screens of all commands, each behind its command line."""
    parts = []
    for line in commands(trace):
        words = [word.strip("'") for word in line.split()]
        parts.append(f"$ clrevents {line}\n{screen(words, width)}")
    return "\n".join(parts)


def declared_columns() -> str:
    """What each column of each answer is to people: how important, shown only on request, about the window."""
    answers = [find_report(name).answer for name in report_names()]
    lines = []
    for answer in (*answers, TraceAbout, CheckResult, SpanReport, Diagnosis, Comparison):
        for table in answer.tables():
            marks = {"hidden": hidden_columns(table.row_class), "windowed": windowed_columns(table.row_class)}
            said = [
                " ".join((column.name, str(column.importance), *(mark for mark in marks if column.name in marks[mark])))
                for column in columns_of(table.row_class)
            ]
            lines.append(f"{answer.__name__}.{table.name}: {', '.join(said)}\n")
    return "".join(lines)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    COLUMNS.write_text(declared_columns(), encoding="utf-8")
    for trace in TRACES:
        for width in WIDTHS:
            golden(trace, width).write_text(screens(trace, width), encoding="utf-8")
