"""`Desk`: the questions that agents ask, each answered as a `Reply` from the same reports and rules as the command.

Agents read the first paragraphs of the docstrings. Knows no protocol; a question that cannot be answered raises
`ValueError` or `LookupError` with a text that says what to ask instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted, duration_text, unknown
from clrevents.analysis.about.describing import TraceAbout, about
from clrevents.analysis.compare.compare import compare, measure
from clrevents.analysis.compare.comparison import ordered, per_text
from clrevents.analysis.doctor.diagnosing import doctor
from clrevents.analysis.doctor.diagnosis import Diagnosis, headline
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions, parameters_of
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.render.show import note_text
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of, hidden_columns, shape_of
from clrevents.export.files.jsonl import EventJson
from clrevents.mcp.bounded_sql import bounded_sql
from clrevents.mcp.reply import Reply, digest, fitted, place_of, plain_value
from clrevents.mcp.shelf import Book, Roots, Shelf, identity_of
from clrevents.table.table import needed

Progress = Callable[[int, int], None]

_ROWS: Final = 20
_MOST_ROWS: Final = 200
_SQL_SECONDS: Final = 30.0
"""Clients give up on a call after two minutes."""
_WEIGHTS: Final = ("time", "alloc", "exceptions")
_ASKED: Final = {
    ("time", False): "In which methods were threads, running or waiting?",
    ("alloc", False): "Which methods allocate?",
    ("exceptions", False): "Which methods throw?",
    ("time", True): "Who calls this method, what does it call, and where does the time go?",
    ("alloc", True): "Who calls this method, what does it call, and who allocates?",
    ("exceptions", True): "Who calls this method, what does it call, and who throws?",
}
_COMPARED: Final = ("top", "callers", "alloc", "heap")
"""Reports whose rows can be compared."""
_OPTIONS: Final = {"gc/hints": "hints=true"}
"""What a report must be asked for to have a table."""
_WALL: Final = "Sampled time is wall-clock time of threads, not processor time: a thread that waits is sampled, too."
_SUMS: Final = "Times of several threads add up, so they may exceed the duration; what is null is unknown, not 0."
_NUMBERS: Final = ("events", "lost", "damage", "duration")
_FACTS: Final = ("format", "format_version", "process_id", "processors", "start")


def _nothing(done: int, total: int) -> None:
    """Progress that nobody wants to know."""


class Desk:
    """Answers about the traces below some folders. SQL is interrupted after `sql_seconds`."""

    def __init__(self, roots: Roots, sql_seconds: float = _SQL_SECONDS) -> None:
        self.shelf = Shelf(roots)
        self.sql_seconds = sql_seconds

    def overview(self, path: str = "", cursor: str = "", progress: Progress = _nothing) -> Reply:
        """What a trace is, whether to trust it, which reports have data. Without a path: which traces there are."""
        if not path:
            return self._traces(cursor)
        with self.shelf.book(path, progress) as book:
            trace_facts = _about(book)
        rows = [
            {
                "report": one.report,
                "question": one.question,
                # What the trace lost is missing from every answer.
                "coverage": trace_facts.coverage if one.coverage == "full" else one.coverage,
                "not_recorded": list(one.missing),
            }
            for one in sorted(trace_facts.reports, key=lambda one: ("full", "partial", "none").index(one.coverage))
        ]
        facts, numbers = trace_facts.facts, {n: int(trace_facts.metrics[n].value or 0) for n in _NUMBERS}
        full = sum(row["coverage"] == "full" for row in rows)
        return _reply(
            Reply(
                f"{counted(numbers['events'], 'event')} in {duration_text(numbers['duration'])}; {facts.trust}; "
                f"{full} of {len(rows)} reports have all their data",
                trace_facts.coverage,
                "A report without data was not recorded; it does not mean that nothing happened.",
                facts={
                    **{name: getattr(facts, name) for name in _FACTS},
                    "runtime": facts.runtime_version,
                    "duration_ns": numbers["duration"],
                    **{name: numbers[name] for name in ("events", "lost")},
                    "damaged": numbers["damage"],
                    "most_frequent": [f"{kind.count:,} {kind.name}" for kind in trace_facts.kinds[:8]],
                },
                rows=rows,
                next=["findings(path): what is wrong", "report(path, name): one answer in full"],
            ),
            f"overview {book.identity}",
            cursor,
        )

    def _traces(self, cursor: str) -> Reply:
        rows = [{"path": name, "bytes": size} for name, size in self.shelf.roots.traces()]
        reply = Reply(
            f"{counted(len(rows), 'trace')} below the roots",
            "full",
            "Sizes are those of the files, which may be packed.",
            rows=rows,
            next=["overview(path): what one of them is"],
        )
        return _reply(reply, f"traces {rows}", cursor)

    def findings(
        self,
        path: str,
        start: str = "",
        end: str = "",
        rule: str = "",
        cursor: str = "",
        progress: Progress = _nothing,
    ) -> Reply:
        """What is wrong with the program, worst first, with impact, culprit, advice and evidence handles."""
        names = (rule,) if rule else ()
        with self.shelf.book(path, progress) as book:
            window = _window(start, end)
            diagnosis: Diagnosis = book.answer(
                f"doctor {start} {end} {rule}", lambda trace: doctor(trace, *names, **window)
            )
            digests = book.identity
        rows = []
        for one in diagnosis:
            if one.state == "clear" and not rule:
                continue
            evidence = [
                _handle(row.place, row.row, digests, start, end, _OPTIONS.get(row.place.rpartition("/")[0], ""))
                if row.row is not None
                else row.place
                for row in diagnosis.evidence
                if row.rule == one.rule
            ]
            impact = one.impact
            rows.append(
                {
                    "rule": one.rule,
                    "state": one.state,
                    "title": one.title,
                    "impact": None if impact is None else impact.value,
                    "unit": None if impact is None else impact.unit,
                    **({} if impact is None else _bound(impact)),
                    "share": one.share,
                    "culprit": one.culprit,
                    **({"culprit_unknown": one.nameless} if one.nameless else {}),
                    "confidence": one.confidence,
                    **({"advice": one.advice, "wrong_if": one.trap} if one.state == "found" else {}),
                    **({"threshold": one.threshold, "source": one.source} if rule else {}),
                    **({"record": one.record} if one.record and rule else {}),
                    "evidence": list(dict.fromkeys(evidence))[:4],
                }
            )
        return _reply(
            Reply(
                headline(diagnosis),
                diagnosis.coverage,
                "A finding says what something costs in this trace, not that it matters; 'cannot tell' is not 'fine'. "
                + _SUMS,
                facts={name: metric.value for name, metric in diagnosis.metrics.items()},
                rows=rows,
                notes=[note_text(note) for note in diagnosis.notes],
                next=[
                    "events(path, handle): the events of an evidence row",
                    "report(path, name): the report behind it",
                ],
            ),
            f"findings {digests} {start} {end} {rule}",
            cursor,
        )

    def report(
        self,
        path: str,
        name: str,
        table: str = "",
        sort: str = "",
        columns: str = "",
        start: str = "",
        end: str = "",
        options: str = "",
        limit: int = _ROWS,
        cursor: str = "",
        progress: Progress = _nothing,
    ) -> Reply:
        """One report (gc, locks, pool, waits, …): metrics, facts, and a page of a table's rows with handles."""
        declared = find_report(name)
        own = parameters_of(declared.parameters)
        if any(parameter.argument for parameter in own):
            raise ValueError(f"{name} is about one method: ask frames(path, focus) instead")
        with self.shelf.book(path, progress) as book:
            answer = _report(book, name, start, end, options)
            of = f"report {book.identity} {name} {table} {sort} {columns} {start} {end} {options}"
            identity = book.identity
        known = {declared_table.name: declared_table for declared_table in answer.tables()}
        chosen = table or declared.headline
        if chosen not in known:
            raise ValueError(unknown("table", chosen, known))
        rows: ReportTable[object] = answer.table(chosen)
        sorted_by = sort or (declared.sort if not table else None)
        order = _order(rows, sorted_by)
        names = _columns(rows.row_class, columns)
        # As notes and titles write them.
        ids = {column.name for column in columns_of(rows.row_class) if column.cell.name in ("handle", "address")}
        first = place_of(cursor, of)
        shown = order[first : first + _most(limit)]
        timed = shape_of(rows.row_class).span is not None or shape_of(rows.row_class).at is not None
        listed = [
            {
                **({"handle": _handle(f"{name}/{chosen}", place, identity, start, end, options)} if timed else {}),
                **{column: hex(row[column]) if column in ids and row[column] else row[column] for column in names},
            }
            for place, row in zip(shown.tolist(), rows.take(shown).rows(), strict=True)
        ]
        return _reply(
            Reply(
                f"{declared.question} {counted(len(rows), 'row')} of {chosen}: {known[chosen].description}"
                + (f" Here sorted by {sorted_by}." if sorted_by else ""),
                answer.coverage,
                _WALL if _sampled(answer) else _SUMS,
                total=len(rows),
                facts={
                    "metrics": {metric: _metric(value) for metric, value in answer.metrics.items()},
                    **{c.name: getattr(answer.facts, c.name) for c in columns_of(type(answer.facts))},
                    "tables": {one: len(answer.table(one)) for one in known},
                },
                rows=listed,
                notes=[note_text(note) for note in answer.notes],
                next=[
                    "report(path, name, table): another table",
                    *(f"report(path, name, options='{one.name}=…'): {one.description}" for one in own),
                    *(["events(path, handle): the events of a row"] if timed else []),
                ],
            ),
            of,
            cursor,
            more=first + len(listed) < len(rows),
        )

    def frames(
        self,
        path: str,
        by: str = "time",
        focus: str = "",
        limit: int = _ROWS,
        cursor: str = "",
        progress: Progress = _nothing,
    ) -> Reply:
        """The heaviest methods by time, alloc or exceptions; with focus (a method): its callers and callees."""
        if by not in _WEIGHTS:
            raise ValueError(unknown("weight", by, _WEIGHTS))
        parameters: dict[str, Any] = {} if by == _WEIGHTS[0] else {"weight": by}
        with self.shelf.book(path, progress) as book:
            if focus:
                parameters["method"] = focus
            name = "callers" if focus else "top"
            answer = book.answer(f"{name} {by} {focus}", lambda trace: trace.report(name, **parameters))
            of = f"frames {book.identity} {by} {focus}"
        tables = ("callers", "callees") if focus else ("methods",)
        sides = []
        for table in tables:
            table_rows: ReportTable[object] = answer.table(table)
            keep = _columns(table_rows.row_class, "")
            side = {"side": table} if focus else {}
            known = ({c: row[c] for c in keep if row[c] is not None and c != "lossy"} for row in table_rows.rows())
            sides.append([{**side, **row} for row in known])
        # The first page has the heaviest of both sides.
        rows = [row for pair in itertools.zip_longest(*sides) for row in pair if row is not None]
        return _reply(
            Reply(
                f"{_ASKED[by, bool(focus)]} {counted(len(rows), 'row')}, "
                + ("each side a tree from the method (depth 0) on." if focus else "the heaviest first."),
                answer.coverage,
                _WALL if by == _WEIGHTS[0] else _SUMS,
                facts={
                    **{c.name: getattr(answer.facts, c.name) for c in columns_of(type(answer.facts)) if focus},
                    "metrics": {metric: _metric(value) for metric, value in answer.metrics.items()},
                },
                rows=rows,
                notes=[note_text(note) for note in answer.notes],
                next=["frames(path, by, focus): callers and callees of one of these methods"],
            ),
            of,
            cursor,
            limit,
        )

    def events(
        self,
        path: str,
        handle: str = "",
        selector: str = "",
        start: str = "",
        end: str = "",
        limit: int = _ROWS,
        cursor: str = "",
        progress: Progress = _nothing,
    ) -> Reply:
        """The events behind a row's handle, or those of a name (selector, such as GCStart) and a time."""
        with self.shelf.book(path, progress) as book:
            filters: Any = _of_handle(book, handle) if handle else _window(start, end)
            of = f"events {book.identity} {handle} {selector} {start} {end}"
            first = place_of(cursor, of)
            selectors = (selector,) if selector else ()
            most = _most(limit)
            lines = EventJson()
            events = list(itertools.islice(book.trace.events(*selectors, **filters), first, first + most + 1))
            rows = [lines.object(event) for event in events[:most]]
            whole = _about(book)
        more = len(events) > most
        return _reply(
            Reply(
                f"{counted(len(rows), 'event')}" + (", and there are more" if more else ""),
                whole.coverage,
                "Events say what was recorded: what is not here may have happened without being recorded.",
                # To count them would take reading all of them.
                total=-1,
                rows=rows,
                notes=[note_text(note) for note in whole.notes],
                next=["events(…, cursor): the next ones"],
            ),
            of,
            cursor,
            more=more,
        )

    def compare(
        self,
        base: str | list[str],
        new: str | list[str],
        per: str = "",
        report: str = "",
        focus: str = "",
        limit: int = _ROWS,
        cursor: str = "",
        progress: Progress = _nothing,
    ) -> Reply:
        """What differs between recordings (a path a side, or lists of 4 and more), how sure that is; with report (top,
        callers with focus, alloc, heap): in which methods, types or paths."""
        if report not in ("", *_COMPARED):
            raise ValueError(unknown("report to compare by rows", report, _COMPARED))
        asked = {**({"report": report} if report else {}), **({"method": focus} if focus else {})}
        of = ["compare", per, report, focus]

        def measured(side: str | list[str]) -> list[Any]:
            runs = []
            for path in [side] if isinstance(side, str) else side:
                with self.shelf.book(path, progress) as book:
                    of.append(book.identity)
                    runs.append(book.answer(f"measured {report} {focus}", lambda trace: measure(trace, **asked)))
            of.append("with")
            return runs

        compared = compare(measured(base), measured(new), per=per or None)
        changes = [
            *ordered(compared.changes),
            *(compared.rows if report else [row for row in compared.rows if row.alarm]),
        ]
        changes.sort(key=lambda change: (not change.alarm, not change.change))
        rows = [
            {
                "what": change.key,
                "base": change.base,
                "new": change.new,
                "unit": change.unit + (per_text(compared.per) if change.adds else ""),
                "verdict": change.verdict,
                "change": change.relative(change.change),
                "low": change.relative(change.low),
                "high": change.relative(change.high),
                "smallest_shown": change.relative(change.smallest),
            }
            for change in changes
        ]
        sides = f"{counted(len(compared.base), 'recording')} before and {len(compared.new):,} after"
        with_rows = [any(one.rows for one in side) for side in (compared.base, compared.new) if report]
        which = "a side has" if any(with_rows) else "both sides have"
        lacking = [] if all(with_rows) else [f"{report}: {which} no rows, so perhaps it was not recorded"]
        return _reply(
            Reply(
                f"What differs between {sides}? {len(compared.alarms):,} of {counted(len(rows), 'row')} beyond chance, "
                f"{sum(bool(row['change']) for row in rows):,} by their numbers.",
                "full" if not lacking else "partial" if any(with_rows) else "none",
                "Two recordings differ by chance, too: only groups of recordings say whether the programs do. Changes "
                "and their bounds are shares of the base; 'stated' was not tested.",
                facts={"headline": compared.facts.headline, "per": compared.per, "alarms": len(compared.alarms)},
                rows=rows,
                notes=[*lacking, *compared.warnings],
                next=[
                    f"compare(base, new, report): by the rows of {', '.join(_COMPARED)}",
                    "frames(path): where the time is",
                ],
            ),
            " ".join(of),
            cursor,
            limit,
        )

    def record(self, question: str = "", cursor: str = "") -> Reply:
        """The exact commands that record what reports need (comma-separated names; empty lists all)."""
        names = report_names() if not question else [part.strip() for part in question.split(",")]
        rows = []
        for name in names:
            declared = find_report(name)
            rows.append({"report": name, "question": declared.question, "providers": record_needs(declared.needs)})
        needs = [need for name in names for need in find_report(name).needs]
        facts = {}
        if question:
            facts = {
                "clrevents": f"clrevents collect -p PID --for {','.join(names)} --duration 30s -o app.nettrace",
                "dotnet-trace": f"dotnet-trace collect -p PID --providers {record_needs(needs)}",
            }
        reply = Reply(
            f"how to record {counted(len(rows), 'report')}",
            "full",
            "Recording costs the program time; more providers cost more, and may lose events.",
            facts=facts,
            rows=rows,
            next=["record(question): the commands for some of these, comma-separated"],
        )
        return _reply(reply, f"record {question}", cursor)

    def query(self, path: str, sql: str, limit: int = _ROWS, cursor: str = "", progress: Progress = _nothing) -> Reply:
        """Read-only SQL (DuckDB) over a trace's events, within 30 s and 1 GB; 'show tables' lists them.

        Raises ValueError if it is wrong or needs too much memory, PermissionError for what it may not do, and
        TimeoutError if it takes too long.
        """
        needed("duckdb", "query", "SQL")
        with self.shelf.book(path, progress) as book:
            whole = _about(book)
        with self.shelf.roots.open(path) as file:
            of = f"query {identity_of(file)} {sql}"
            first = place_of(cursor, of)
            rows, more = bounded_sql(file, sql, first, _most(limit), self.sql_seconds, progress)
        reply = Reply(
            f"{counted(len(rows), 'row')} of the query's answer" + (", and there are more" if more else ""),
            whole.coverage,
            "SQL sees events as they were recorded: nothing is paired, or marked where events were lost.",
            total=-1 if more or first else len(rows),
            rows=rows,
            notes=[note_text(note) for note in whole.notes],
            next=["query(path, 'show tables'): which tables there are"],
        )
        return _reply(reply, of, cursor, more=more)


def _reply(reply: Reply, of: str, cursor: str = "", limit: int = _MOST_ROWS, *, more: bool | None = None) -> Reply:
    """The reply as it is sent: escaped, and the page of its rows that a cursor asks for, at most so many.

    `more` is given where the rows are that page already, and says whether there are others.
    """
    first = place_of(cursor, of)
    rows = reply.rows if more is not None else reply.rows[first : first + _most(limit)]
    plain = replace(
        reply,
        total=len(reply.rows) if more is None else reply.total,
        summary=plain_value(reply.summary),
        facts=plain_value(reply.facts),
        rows=[plain_value(row) for row in rows],
        notes=plain_value(reply.notes[:12]),
    )
    return fitted(plain, of, first, more=bool(more))


def _about(book: Book) -> TraceAbout:
    """What a trace is, and what is missing from it."""
    return book.answer("about", lambda trace: about(trace, every=False))


def _most(limit: int) -> int:
    return max(min(limit, _MOST_ROWS), 1)


def _window(start: str, end: str) -> WindowOptions:
    return {"start": start or None, "end": end or None}


def _metric(metric: Metric) -> Any:
    """A metric's value with its unit, or why it is unknown."""
    if metric.value is None:
        return f"unknown: {metric.reason}"
    return {"value": metric.value, "unit": metric.unit, **_bound(metric)}


def _bound(metric: Metric) -> dict[str, object]:
    """Whether it is `at_least` or `at_most` so much; of an estimate, between what it lies."""
    if metric.low is not None and metric.high is not None:
        return {"low": metric.low, "high": metric.high}
    return {metric.side.strip().replace(" ", "_"): True} if metric.side else {}


def _sampled(answer: Answer[object]) -> bool:
    return any(metric.evidence == "sample" for metric in answer.metrics.values())


def _order(rows: ReportTable[object], sort: str | None) -> NDArray[np.int64]:
    """The rows' own numbers, as they are sorted: largest first unless `:asc` follows, unknown last."""
    if not sort:
        return np.arange(len(rows))
    name, _, direction = sort.partition(":")
    known = [column.name for column in columns_of(rows.row_class)]
    if name not in known:
        raise ValueError(unknown("column", name, known))
    return rows.order(name, direction != "asc")


def _columns(row_class: type[Any], columns: str) -> list[str]:
    known = [column.name for column in columns_of(row_class)]
    if not columns:
        # A tree's rows are flat here: only their depths say which belongs to which.
        tree = shape_of(row_class).tree
        hidden = hidden_columns(row_class) - ({tree.depth} if tree else set())
        return [name for name in known if name not in hidden]
    names = [name.strip() for name in columns.split(",")]
    for name in names:
        if name not in known:
            raise ValueError(unknown("column", name, known))
    return names


def _report(book: Book, name: str, start: str, end: str, options: str) -> Answer[object]:
    """A report of a part of a trace, by the report's own parameters as text."""
    known = {parameter.name: parameter for parameter in parameters_of(find_report(name).parameters)}
    asked: dict[str, object] = {}
    for option in filter(None, options.split(",")):
        key, _, value = (part.strip() for part in option.partition("="))
        if key not in known:
            raise ValueError(unknown(f"option of {name}", key, known))
        kind = known[key].type
        try:
            asked[key] = value.lower() not in ("false", "0", "no") if kind is bool else kind(value)
        except ValueError:
            raise ValueError(f"{key} is a number, not {value!r}") from None
    question = f"report {name} {start} {end} {options}".rstrip()
    answer: Answer[object] = book.answer(question, lambda trace: trace.report(name, **_window(start, end), **asked))
    return answer


def _handle(place: str, row: int, identity: str, start: str, end: str, options: str = "") -> str:
    """The handle of a row: which one of which table, of which file, window and options."""
    report, table, *_ = place.split("/")
    part = f"[{start},{end},{options}]" if start or end or options else ""
    return f"{report}/{table}/{row}@{digest(f'{identity} {start} {end} {options}')}{part}"


def _of_handle(book: Book, handle: str) -> Mapping[str, Any]:
    """The time and the thread of a handle's row, as filters of events."""
    name, _, report_and_row = handle.partition("@")
    made_for, _, part = report_and_row.partition("[")
    start, end, options = [*part.removesuffix("]").split(",", 2), "", ""][:3]
    parts = name.split("/")
    if len(parts) != 3 or not parts[2].isdigit() or made_for != digest(f"{book.identity} {start} {end} {options}"):
        raise ValueError("the handle is of another trace, or the file has changed: ask again for a new one")
    report, table, row = parts[0], parts[1], int(parts[2])
    answer = _report(book, report, start, end, options)
    rows: ReportTable[object] = answer.table(table)
    shape = shape_of(rows.row_class)
    if row >= len(rows):
        raise ValueError(f"{table} has {counted(len(rows), 'row')}")
    values = next(iter(rows[row : row + 1].rows()))
    names = shape.span or ((shape.at, shape.at) if shape.at else None)
    if names is None:
        raise ValueError(f"a row of {table} adds up many events: ask for events by name and time")
    times = [values[column] for column in names]
    known = [time for time in times if time is not None]
    if not known:
        raise ValueError("the row has no time")
    threads = [values[column] for column in shape.threads[:1] if values[column] is not None]
    return {"start": min(known), "end": max(known) + 1, **({"thread_id": threads[0]} if threads else {})}
