"""What the site says of all reports, from their declarations: a page of every table, column and metric.

`clrevents schema NAME` says the same of one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from clrevents.analysis.framework.model.declaration import TOPICS, ReportDeclaration, parameters_of
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.vocabulary.answer_values import MetricDeclaration
from clrevents.analysis.framework.vocabulary.cells import CELLS
from clrevents.analysis.framework.vocabulary.report_table import TableDeclaration, columns_of
from clrevents.cli.schema import type_text

HEAD: Final = """\
# Reports: every question, table, column and metric

A report answers one question about a trace: `clrevents NAME FILE` in a terminal, `trace.report("NAME")` in Python, and
several of them in one pass with `trace.reports("NAME", …)`. For type checkers the class of an answer stands in for its
name: `trace.report(GcReport)`, from `clrevents.analysis.reports.gc`. `clrevents info FILE` says which reports a trace
can answer. All of them have the same shape:

* `metrics`: numbers by name, each with its unit, how it merges over processes, and, where it is null, the reason;
* `facts`: the circumstances, null where they are unknown or differ between processes;
* tables with one typed row class each: iterate over them, or take `.to_pandas()`, `.to_polars()`, `.to_arrow()`;
* `coverage` (`full`, `partial` or `none`) and `notes`: what was not recorded and how to record it, losses, damage;
* `to_dict()` and `from_dict()`, whose JSON schema `clrevents schema NAME --json` prints;
* `charts()`, for some: in a notebook they show themselves, `--chart NAME` writes one as SVG (extra `plot`);
* `unmet("pause_max<50ms", …)` says which conditions on metrics do not hold; with `--assert CONDITION` the command
  exits with 4 unless it holds, for CI.

Given a folder, a pattern or several files, the command answers about [many traces](fleet.md#reports-of-a-folder).

Every table begins with `process_id` and ends with `lossy`: events were lost or destroyed where the row comes from, so
that it may be wrong. Rows with a begin and an end have `clipped`: they reach over the edge of the window (`start`,
`end`) that was asked for; such rows stay whole, while totals count only what lies inside. Tables marked *bulk* are left
out of `to_dict()` and `--json` unless they are named.
"""


def page() -> str:
    """docs/reports.md of the site."""
    parts = [HEAD, "\n".join(_cells())]
    parts += ["\n".join(_report(find_report(name))) for name in report_names()]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def by_topic() -> dict[str, list[str]]:
    """The names of the reports on each topic."""
    topics = {name: find_report(name).topic for name in report_names()}
    return {topic: [name for name in topics if topics[name] == topic] for topic in TOPICS}


def questions() -> Iterator[str]:
    """A table of the reports on each topic, with the question of each and the page that answers it."""
    for topic, names in by_topic().items():
        yield from (f"### {topic.title()}", "", "| question | answer |", "|---|---|")
        yield from (f"| {find_report(name).question} | [`clrevents {name} FILE`]({name}.md) |" for name in names)
        yield ""


def _cells() -> Iterator[str]:
    yield "## Types of cells"
    yield ""
    yield "`private` cells may hold what users typed or own; `code` cells name parts of the program."
    yield ""
    yield "| type | in a table | means | privacy |"
    yield "|---|---|---|---|"
    for cell in CELLS.values():
        yield f"| {cell.name} | {cell.kind} | {cell.meaning} | {cell.privacy} |"


def _report(declared: ReportDeclaration[Any, Any]) -> Iterator[str]:
    yield f"## {declared.name}"
    yield ""
    yield f"**{declared.question}** [What it means]({declared.name}.md) · [JSON schema](schemas/{declared.name}.json)"
    yield ""
    yield declared.description
    yield ""
    yield f"Record with `dotnet-trace collect --providers {record_needs(declared.needs)}`, which gives:"
    yield ""
    for need in declared.needs:
        events = ", ".join(f"`{event}`" for event in need.events)
        without = "; without it there is no answer" if need.essential else ""
        yield f"* {need.what} ({events}: `{record_needs([need])}`){without}"
    yield ""
    own = parameters_of(declared.parameters)
    if own:
        yield "| parameter | default | |"
        yield "|---|---|---|"
        for p in own:
            yield f"| `{p.name}` | `{p.default!r}` | {p.description} |"
        yield ""
    if declared.metrics:
        yield "| metric | unit | merges | |"
        yield "|---|---|---|---|"
        yield from map(_metric, declared.metrics)
        yield ""
    yield "| fact | type | |"
    yield "|---|---|---|"
    for column in columns_of(declared.answer.facts_class()):
        yield f"| `{column.name}` | {type_text(column)} | {column.description} |"
    yield ""
    for table in declared.answer.tables():
        yield from _table(table)
    if declared.answer.declared_charts:
        yield "### Charts"
        yield ""
        for chart in declared.answer.declared_charts:
            drawn = ", ".join(f"`{panel.table}.{panel.y}`" for panel in chart.panels)
            yield f"* `{chart.name}`: {chart.description} ({drawn})"
        yield ""


def _metric(metric: MetricDeclaration) -> str:
    merges = metric.merge if metric.windows else f"{metric.merge} (not over windows)"
    return f"| `{metric.name}` | {metric.unit} | {merges} | {metric.description} |"


def _table(table: TableDeclaration) -> Iterator[str]:
    bulk = " *(bulk)*" if table.bulk else ""
    yield f"### {table.name}{bulk}"
    yield ""
    yield f"{table.description} Rows are `{table.row_class.__name__}`."
    yield ""
    yield "| column | type | |"
    yield "|---|---|---|"
    for column in columns_of(table.row_class):
        if column.name not in ("process_id", "lossy", "clipped"):
            yield f"| `{column.name}` | {type_text(column)} | {column.description} |"
    yield ""
