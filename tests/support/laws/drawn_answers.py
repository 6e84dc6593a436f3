"""Answers with rows that hypothesis drew from the row classes of a report, their texts as hostile as texts can be."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, Question, TimeWindow, TraceIdentity
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of

HOSTILE: Final = (
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    '"><style>*{display:none}</style>',
    "&lt;b&gt;&amp;",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe\u2066\u200f",
    "one\ntwo\rthree\tfour\u2028five",
    "\x00\x7f\x9b31m",
    "",
    "x" * 5000,
    "=cmd|' /C calc'!A0",
)
_TEXT: Final = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))
_BOUNDS: Final = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint64": (0, (1 << 64) - 1),
}


def answers(declaration: ReportDeclaration[Any, Any], rows: int = 40) -> st.SearchStrategy[Answer[Any]]:
    """Answers of this report with at most so many rows in each table."""
    answer = declaration.answer
    tables = {table.name: _tables(table.row_class, rows) for table in answer.tables()}
    return st.builds(
        answer,
        question=_questions(declaration),
        coverage=st.sampled_from(("full", "partial", "none")),
        notes=st.lists(_notes(), max_size=8).map(tuple),
        facts=_rows(answer.facts_class()),
        metrics=st.fixed_dictionaries({metric.name: _metrics(metric.unit) for metric in declaration.metrics}),
        **tables,
    )


def _tables(row_class: type[Any], rows: int) -> st.SearchStrategy[ReportTable[Any]]:
    return st.lists(_rows(row_class), max_size=rows).map(lambda drawn: ReportTable.of(row_class, drawn))


def _rows(row_class: type[Any]) -> st.SearchStrategy[Any]:
    return st.builds(row_class, **{column.name: _cells(column) for column in columns_of(row_class)})


def _cells(column: ColumnDeclaration) -> st.SearchStrategy[Any]:
    values: st.SearchStrategy[Any]
    if column.cell.python is str:
        values = _TEXT
    elif column.cell.python is bool:
        values = st.booleans()
    elif column.cell.python is float:
        values = st.floats(allow_nan=False, allow_infinity=False)
    else:
        values = st.integers(*_BOUNDS[column.cell.kind])
    if column.many:
        values = st.lists(values, max_size=4).map(tuple)
    return st.none() | values if column.nullable else values


def _metrics(unit: str) -> st.SearchStrategy[Metric]:
    numbers = st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False)
    known = st.builds(Metric, value=numbers, unit=st.just(unit), low=numbers, high=numbers)
    return known | st.builds(Metric, value=st.none(), unit=st.just(unit), reason=_TEXT)


def _notes() -> st.SearchStrategy[Note]:
    texts = st.none() | _TEXT
    return st.builds(
        Note,
        id=st.just("drawn"),
        severity=st.sampled_from(("info", "warning", "error")),
        message=_TEXT,
        touches=st.lists(_TEXT, max_size=3).map(tuple),
        numbers=st.dictionaries(_TEXT, st.integers(), max_size=2),
        remedy=texts,
        record=texts,
    )


def _questions(declaration: ReportDeclaration[Any, Any]) -> st.SearchStrategy[Question]:
    times = st.none() | st.integers(0, 1 << 62)
    return st.builds(
        Question,
        report=st.just(declaration.name),
        text=st.just(declaration.question),
        parameters=st.dictionaries(st.text("abc_", min_size=1, max_size=5), _TEXT, max_size=2),
        window=st.builds(TimeWindow, times, times),
        process_id=st.none() | st.integers(0, 1 << 32),
        processes=st.just((1,)),
        trace=st.builds(TraceIdentity, _TEXT, st.just("Nettrace"), st.just(4), st.none(), st.none(), times),
        clrevents=st.just("0"),
    )
