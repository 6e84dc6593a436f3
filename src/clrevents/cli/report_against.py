"""A report's rows compared with those of another trace: `clrevents top AFTER --against BEFORE`.

The question is the same for both traces. Shows what `clrevents.compare` finds; judges nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from clrevents.analysis.compare.change import Per
from clrevents.analysis.compare.compare import compare, measure
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.cli.comparison_screen import show_comparison
from clrevents.cli.measured_files import measured_file
from clrevents.cli.output import Output
from clrevents.cli.reading import Reading, means_many, refuse_same_input
from clrevents.cli.report_rows import LIMIT, ReportOptions, usage_error
from clrevents.export.files.answers import csv_line

_ALONE: Final[Mapping[str, str]] = {
    **{name: f"--{name}" for name in ("table", "columns", "sort", "chart", "facts", "symbols")},
    **{"beside": "--with", "raw_units": "--raw-units", "conditions": "--assert"},
}
"""Options that are about the answer on one trace."""
_COLUMNS: Final = (
    *("family", "name", "unit", "base", "new", "change", "low", "high", "verdict", "towards", "smallest", "within"),
    "reason",
)


def write_against(
    declared: ReportDeclaration[Any, Any],
    parameters: Mapping[str, Any],
    file: str,
    against: str,
    per: Per | None,
    wanted: ReportOptions,
) -> int:
    """Compare both traces, write the rows, and return the exit code."""
    for name, option in _ALONE.items():
        if getattr(wanted, name):
            raise click.UsageError(f"{option} is about one trace; leave it out with --against")
    if wanted.as_csv and wanted.as_json:
        raise click.UsageError("--csv and --json are mutually exclusive")
    if means_many(file):
        raise click.UsageError("--against compares one trace with one")
    refuse_same_input(file, against)

    def asked(reading: Reading) -> Measured:
        given = {"start": wanted.start, "end": wanted.end, "process_id": reading.process_id(wanted.process)}
        window: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return measure(reading.trace, report=declared.name, **parameters, **window)

    base, old = measured_file(against, wanted.errors, wanted.fail_on, asked)
    new, worst = measured_file(file, wanted.errors, wanted.fail_on, asked)
    try:
        found = compare(base, new, per=per)
    except ValueError as error:
        raise usage_error(error) from None
    with Output() as out:
        if wanted.as_json:
            out.json(found.to_dict())
        elif wanted.as_csv:
            out.line(csv_line(_COLUMNS, wanted.spreadsheet))
            for row in found.rows[: wanted.limit]:
                values = row.to_dict()
                out.line(csv_line([values[name] for name in _COLUMNS], wanted.spreadsheet))
        else:
            show_comparison(out, found, LIMIT if wanted.limit is None else wanted.limit, every=True)
    return max(old, worst)
