"""How an answer shows itself: in a terminal with at most 25 lines of 100 columns, in a notebook with at most 50 KB.

A pure function of the answer; the same for every report. Everything that came from a file is escaped by one function
for each target. Says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from clrevents._util.fitting import shortened
from clrevents._util.notebook_views import MOST_HTML, framed_html, html_table, html_text
from clrevents._util.words import counted, moment_text, safe
from clrevents.analysis.framework.vocabulary.answer_values import (
    NOT_COUNTED,
    Coverage,
    Metric,
    Note,
    Question,
    metric_text,
)
from clrevents.analysis.framework.vocabulary.cells import cell_text, heading, text_kind
from clrevents.analysis.framework.vocabulary.report_table import (
    ReportTable,
    TableDeclaration,
    columns_of,
    row_lines,
    rows_html,
)
from clrevents.table.display import LINES, fitted

if TYPE_CHECKING:
    from clrevents.analysis.framework.render.charts import Chart

_ROWS: Final = 20
_NAME: Final = 100
_NOTES: Final = 4


class Shown(Protocol):
    """What is shown of an answer."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> tuple[str, ...]: ...
    @property
    def question(self) -> Question: ...
    @property
    def coverage(self) -> Coverage: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...
    @property
    def facts(self) -> Any: ...
    @property
    def metrics(self) -> Mapping[str, Metric]: ...
    def tables(self) -> tuple[TableDeclaration, ...]: ...
    def table(self, name: str) -> ReportTable[object]: ...
    def charts(self) -> tuple[Chart, ...]: ...


def question_text(question: Question) -> str:
    """Which trace, which part of it, with which parameters."""
    window = question.window
    parts = [question.trace.path or "trace in memory"]
    if not window.whole:
        start = "the start" if window.start_ns is None else moment_text(window.start_ns)
        end = "the end" if window.end_ns is None else moment_text(window.end_ns)
        parts.append(f"from {start} to {end}")
    if question.process_id is not None:
        parts.append(f"process {question.process_id}")
    parts += [f"{name}={value}" for name, value in question.parameters.items() if value not in (None, False, "")]
    return ", ".join(parts)


def fact_lines(answer: Shown, raw: bool = False, every: bool = True) -> list[tuple[str, str]]:
    """The metrics and facts that are known, as names and values, and those metrics that are not, by their reason.

    Those of the summary come first; `every` adds the others.
    """
    known: dict[str, tuple[str, str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, metric in answer.metrics.items():
        if metric.value is not None:
            known[name] = name.replace("_", " "), metric_text(metric, raw)
        elif metric.reason != NOT_COUNTED and (every or name in (answer.summary or (name,))):
            reasons.setdefault(metric.reason or "", []).append(name.replace("_", " "))
    for column in columns_of(type(answer.facts)):
        value = getattr(answer.facts, column.name)
        if value not in (None, ()):
            unit = f" {column.cell.unit}" if raw and column.cell.unit in ("ns", "bytes") else ""
            text = f"{cell_text(column.cell, value, raw)}{unit}"
            if text_kind(column.cell) == "name" and column.cell.name != "code" and not raw:
                text = shortened(text, _NAME, "name")
            known[column.name] = heading(column.name, column.cell), text
    names = dict.fromkeys((*answer.summary, *(known if every or not answer.summary else ())))
    lines = [known[name] for name in names if name in known]
    return lines + [("unknown", f"{', '.join(names)}: {reason}") for reason, names in reasons.items()]


def note_text(note: Note) -> str:
    """A caveat in one sentence, with what to do."""
    text = f"{note.severity}: {note.message}"
    if note.remedy:
        text += f"; {note.remedy}"
    return f"{text}: {note.record}" if note.record else text


def shown_table(answer: Shown) -> TableDeclaration | None:
    """The first table, or the first one that has rows."""
    tables = answer.tables()
    return next((t for t in tables if len(answer.table(t.name))), tables[0] if tables else None)


def answer_text(answer: Shown) -> str:
    """The repr of an answer."""
    lines = [f"<{answer.name} report: {answer.question.text}>", f"  {question_text(answer.question)}"]
    lines[1] += f"; coverage: {answer.coverage}"
    facts, more = fact_lines(answer, every=False)[:10], len(fact_lines(answer))
    lines += [f"  {name:<24} {value}" for name, value in facts]
    if len(facts) < more:
        lines.append(f"  … and {counted(more - len(facts), 'more fact')}, in .metrics and .facts")
    lines += [f"  {note_text(note)}" for note in answer.notes[:_NOTES]]
    if len(answer.notes) > _NOTES:
        lines.append(f"  … and {counted(len(answer.notes) - _NOTES, 'more note')}, in .notes")
    others = [f"{t.name} ({len(answer.table(t.name)):,})" for t in answer.tables()]
    lines.append(f"  tables: {', '.join(others)}" if others else "  no tables")
    shown = shown_table(answer)
    if shown is not None and len(answer.table(shown.name)) and answer.table(shown.name).left_out is None:
        lines += row_lines(answer.table(shown.name), LINES - len(lines), shown.name)
    return "\n".join(fitted(safe(line)) for line in lines[:LINES])


def answer_html(answer: Shown) -> str:
    """The notebook view: the same as the text, with more rows and as many charts as fit."""
    parts = [f"<b>{html_text(answer.question.text)}</b>", f"<p>{html_text(question_text(answer.question))}"]
    parts.append(f"; coverage: {html_text(answer.coverage)}</p>")
    parts.append(html_table((), fact_lines(answer, every=False)))
    if answer.notes:
        parts.append("<ul>" + "".join(f"<li>{html_text(note_text(note))}</li>" for note in answer.notes[:20]) + "</ul>")
    # The first table, then pictures, then the other tables.
    first = shown_table(answer)
    if first is not None:
        parts.append(_fitting_rows(answer, first, _room(parts)))
    for chart in answer.charts():
        parts.append(chart.figure(_room(parts)))
    for declared in answer.tables():
        if declared is not first:
            parts.append(_fitting_rows(answer, declared, _room(parts)))
    return framed_html(f"<div>{''.join(parts)}</div>", lambda: answer_text(answer))


def _room(parts: Sequence[str]) -> int:
    """How many bytes a notebook view has left; two thousand are for the closing lines."""
    return MOST_HTML - 2000 - sum(len(part.encode()) for part in parts)


def _fitting_rows(answer: Shown, declared: TableDeclaration, room: int) -> str:
    rows = answer.table(declared.name)
    part = _html_rows(declared, rows)
    if len(part.encode()) <= room:
        return part
    return f"<p>{html_text(declared.name)}: {counted(len(rows), 'row')}, not shown here</p>"


def _html_rows(declared: TableDeclaration, rows: ReportTable[object]) -> str:
    title = f"<p><b>{html_text(declared.name)}</b>: {html_text(declared.description)}"
    if declared.bulk or rows.left_out is not None or not len(rows):
        return f"{title} {counted(len(rows), 'row')}</p>"
    return f"{title}</p>{rows_html(rows, _ROWS)}"
