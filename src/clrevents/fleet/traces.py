"""`Traces`: the same questions as for one trace, asked of many in parallel. Each is one pass over every trace.

Values come one trace at a time, so memory holds only answers, not what was read. A trace that cannot answer is a row of
`problems`. Reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, Final, TypeAlias, TypeVar, Unpack

from clrevents._util.notebook_views import framed_html, html_table
from clrevents._util.process import usable_processors
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.doctor.diagnosing import rules_of
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.decode.selection import FilterOptions, Filters, Selector
from clrevents.errors import ERROR_MODES, AmbiguousEventError, ErrorMode, Limits, UnknownEventError
from clrevents.fleet import questions
from clrevents.fleet.fleet_answer import FleetAnswer, fleet_answer
from clrevents.fleet.joined import Joined, SqlTable, rows_of_traces, with_trace
from clrevents.fleet.side_by_side import SideBySide
from clrevents.fleet.trace_paths import Places, trace_paths
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.symbols.elf import Folders, folders_of
from clrevents.table.query import ask
from clrevents.table.table import Table, row_table
from clrevents.trace import Moment, Order, Trace

T = TypeVar("T")

_SHOWN: Final = 20
"""Traces that a notebook lists."""

TraceProgress: TypeAlias = Callable[[int, int], Any]
"""Called with the numbers of traces done and of all."""


@frozen
class _CountRow:
    trace: str
    provider: str
    id: int
    version: int
    name: str
    events: int


@frozen
class _NameRow:
    name: str
    provider: str | None
    event: str | None
    events: int | None
    traces: int


class Traces:
    """Many traces, opened by `clrevents.open_many`. Close them, or use them as a context manager.

    Questions have the same names and parameters as for one `Trace`: `selector`, `columns`, `enum_names`, `order` and
    `filters` as in `Trace.table`, and the window of a report (`start`, `end`, `process_id`). Tables begin with a column
    `trace`, the path or URL. Rows are in the order of the traces, whichever was read first. A trace that cannot be read
    is left out of the answer and listed in `problems`; a question that no trace can answer, such as one about an
    unknown event, raises what `Trace` raises.
    """

    def __init__(
        self,
        paths: Places,
        *,
        jobs: int | None = None,
        errors: ErrorMode = "salvage",
        limits: Limits | None = None,
        registry: Registry | None = None,
        progress: TraceProgress | None = None,
        symbols: Folders = (),
    ) -> None:
        if errors not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {errors!r}")
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs must be positive, not {jobs!r}")
        self._paths = trace_paths(paths)
        self._progress = progress
        folders = folders_of(symbols)
        opening = questions.Opening(
            errors, limits or Limits(), registry or DEFAULT, () if folders is None else folders.folders
        )
        self._workers = SideBySide(jobs or usable_processors(), opening)
        self._problems: dict[questions.TraceProblem, None] = {}
        self._scanned = False
        self._kept_alive: list[object] = []

    @property
    def paths(self) -> tuple[str, ...]:
        """The traces, in order."""
        return self._paths

    def __len__(self) -> int:
        """The number of traces, including those that cannot be read."""
        return len(self._paths)

    def __enter__(self) -> Traces:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that read traces. Answers stay usable, except for duckdb's relations."""
        self._workers.close()
        self._kept_alive.clear()

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'trace')}>"

    def _repr_html_(self) -> str:
        shown = [(path,) for path in self._paths[:_SHOWN]]
        more = "" if len(shown) == len(self) else f"<p>and {counted(len(self) - len(shown), 'more trace')}</p>"
        table = html_table(("trace",), shown)
        return framed_html(f"<div><b>{counted(len(self), 'trace')}</b>{table}{more}</div>", lambda: repr(self))

    @property
    def problems(self) -> Table:
        """Everything wrong with the traces, one row each: why a trace is missing from an answer (severity `error`),
        and what `Trace.problems` lists, as found by the questions asked so far. Without any, all headers are scanned.

        Columns: `trace`, `kind`, `severity`, `message`, `offset`, `length`, `event`, `field`, `impact`.
        """
        if not self._scanned:
            self.event_counts()
        places = {path: place for place, path in enumerate(self._paths)}
        return row_table(questions.TraceProblem, sorted(self._problems, key=lambda row: places[row.trace]))

    def each(self, question: questions.Question[T]) -> Iterator[tuple[str, T]]:
        """Ask anything of every trace: `question` is a function that takes a `Trace`. Yields (path, value) in order.

        The function and its values are sent between processes: both must be picklable. Iterators end with their trace.
        """
        return self._each(question, here=False)

    def _each(self, question: questions.Question[T], here: bool = True) -> Iterator[tuple[str, T]]:
        """`each`; with `here` some may be asked in this process."""
        refused: Exception | None = None
        answered = False
        for place, outcome in enumerate(self._workers.ask(question, self._paths, here=here)):
            self._problems.update(dict.fromkeys(outcome.problems))
            if outcome.refused is not None:
                refused = refused or outcome.refused
                if isinstance(outcome.refused, AmbiguousEventError):
                    raise outcome.refused
                if not isinstance(outcome.refused, UnknownEventError):
                    self._problems[questions.error_row(outcome.path, outcome.refused)] = None
            for value in outcome.values:
                answered = True
                yield outcome.path, value
            if self._progress is not None:
                self._progress(place + 1, len(self._paths))
        self._scanned = True
        if refused is not None and not answered:
            raise refused

    def overview(self) -> Table:
        """What each trace is, from its header and one scan of all headers: a row for each that can be read.

        Columns: `trace`, `format`, `format_version`, `process_id`, `pointer_size`, `processors`, `start` (ISO 8601),
        `duration_ns`, `events`, `lost`, `bytes` (decompressed).
        """
        facts = dict(self._each(questions.facts_of))
        return rows_of_traces(tuple(facts), ReportTable.of(questions.TraceFacts, facts.values()).table)

    def event_counts(self) -> Table:
        """The number of events of each kind in each trace, most frequent first.

        Columns: `trace`, `provider`, `id`, `version`, `name`, `events`.
        """
        rows = [
            _CountRow(path, key.provider, key.id, key.version, key.name, count)
            for path, counts in self._each(Trace.event_counts)
            for key, count in counts.items()
        ]
        return row_table(_CountRow, rows)

    def table(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Table:
        """All selected events of one name in all traces: `Trace.table` of each, in order.

        For an event that only traces describe, the columns are the union of theirs. A trace whose fields have types
        incompatible with the previous ones is left out, and listed in `problems`.
        """
        question = self._table_question(selector, columns, enum_names, order, filters)
        return self._joined(self._each(question))

    def table_parts(
        self,
        selector: Selector,
        /,
        *,
        columns: Sequence[str] | None = None,
        enum_names: bool = False,
        order: Order = "time",
        **filters: Unpack[FilterOptions],
    ) -> Iterator[Table]:
        """The rows of `table`, a table for each trace that has some: memory does not grow with the number of traces.

        Each has its own trace's columns.
        """
        question = self._table_question(selector, columns, enum_names, order, filters)
        return (with_trace(path, table) for path, table in self._each(question) if len(table))

    def headers(
        self, *, columns: Sequence[str] | None = None, order: Order = "time", **filters: Unpack[FilterOptions]
    ) -> Table:
        """The headers of all events of all traces that pass the filters."""
        Filters.of(filters)
        wanted = None if columns is None else tuple(columns)
        return self._joined(self._each(methodcaller("headers", columns=wanted, order=order, **filters)))

    def report(
        self,
        report: str | type[Any],
        /,
        *,
        tables: Sequence[str] | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        process_id: int | None = None,
        **parameters: object,
    ) -> FleetAnswer:
        """One report about every trace, by its name or the class of its answer, as in `Trace.report`.

        `tables` are those to keep; by default all that are not bulk. The window and `parameters` are those of the
        report, and apply to each trace. Raises ValueError for an unknown report, TypeError for an unknown parameter and
        KeyError for an unknown table.
        """
        declared = find_report(report)
        known = [table.name for table in declared.answer.tables()]
        for table in tables or ():
            if table not in known:
                raise KeyError(f"no table {table!r}; there are {', '.join(known)}")
        given = declared.parameters(**parameters)
        window: WindowOptions = {"start": start, "end": end, "process_id": process_id}
        wanted = None if tables is None else tuple(tables)
        answers = list(self._each(questions.AskReport(declared.name, given, window, wanted)))
        return fleet_answer(declared, given, wanted, answers)

    def reports(self, *names: str, **window: Unpack[WindowOptions]) -> dict[str, FleetAnswer]:
        """Several reports (all of them, unless `names` says which), by name, from one pass over each trace.

        `window` applies to each trace. Their bulk tables are left out. Raises ValueError for an unknown report.
        """
        chosen = tuple(dict.fromkeys(names or report_names()))
        declared = {name: find_report(name) for name in chosen}
        gathered: dict[str, list[tuple[str, questions.KeptAnswer]]] = {name: [] for name in chosen}
        for path, kept in self._each(partial(questions.kept_answers, names=chosen, window=window)):
            for name, findings in kept.items():
                gathered[name].append((path, findings))
        return {
            name: fleet_answer(declared[name], declared[name].parameters(), None, kept)
            for name, kept in gathered.items()
        }

    def doctor(self, *rules: str, **window: Unpack[WindowOptions]) -> Table:
        """What is wrong in every trace: a row for each conclusion of each rule, as `Trace.doctor` has them.

        `rules` are the names of rules (`"gc.*"` for a family), all of them by default; `window` applies to each trace.
        Raises ValueError for an unknown rule.
        """
        rules_of(rules)
        return self._joined(self._each(partial(questions.findings_of, rules=rules, window=window)))

    def query(self, sql: str, *, files: bool = False) -> Any:
        """Run the SQL query `sql` with duckdb over all traces: every table of `Trace.query`, with a column `trace`.
        `traces` is the table from `overview`, `problems` lists what is wrong, and `tables` counts over all traces. With
        `files` the query may read other files, too. Tables are gathered in temporary files, so memory does not grow
        with them: use the result before closing these traces. Raises what `Trace.query` raises.
        """

        def table(name: str) -> Any:
            own = {"traces": self.overview, "problems": lambda: self.problems, "tables": self._tables}
            whole = own.get(name.lower())
            if whole is not None:
                return whole()
            gathered = SqlTable()
            self._kept_alive.append(gathered)
            for path, rows in self._each(partial(questions.sql_table, name=name)):
                if rows is not None:
                    self._note(gathered.add(path, rows))
            return gathered.close()

        return ask(sql, table, self._unknown, files, self._kept_alive)

    def _unknown(self, name: str) -> Exception:
        for _, error in self._each(partial(questions.unknown_table, name=name)):
            return error
        return UnknownEventError(f"no table {name!r}")

    def _tables(self) -> Table:
        """The tables that SQL can name, with their sizes over all traces."""
        rows: dict[tuple[str, str | None, str | None], tuple[int | None, int]] = {}
        for _, table in self._each(partial(questions.sql_table, name="tables")):
            for row in () if table is None else table.rows():
                key = row["name"], row["provider"], row["event"]
                events, traces = rows.get(key, (None if row["events"] is None else 0, 0))
                rows[key] = None if events is None else events + row["events"], traces + 1
        listed = [_NameRow(*key, *numbers) for key, numbers in rows.items()]
        listed += [_NameRow(name, None, None, None, len(self)) for name in ("problems", "traces")]
        return row_table(_NameRow, sorted(listed, key=lambda row: (row.event is not None, row.name.lower())))

    def _table_question(
        self, selector: Selector, columns: Sequence[str] | None, enum_names: bool, order: Order, filters: FilterOptions
    ) -> questions.Question[Table]:
        Filters.of(filters)
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, not the string {columns!r}")
        wanted = None if columns is None else tuple(columns)
        return methodcaller("table", selector, columns=wanted, enum_names=enum_names, order=order, **filters)

    def _joined(self, tables: Iterator[tuple[str, Table]]) -> Table:
        joined = Joined()
        for path, table in tables:
            self._note(joined.add(path, table) if table.fields else None)
        return joined.table()

    def _note(self, problem: questions.TraceProblem | None) -> None:
        if problem is not None:
            self._problems[problem] = None


def open_many(
    paths: Places,
    *,
    jobs: int | None = None,
    errors: ErrorMode = "salvage",
    limits: Limits | None = None,
    registry: Registry | None = None,
    progress: TraceProgress | None = None,
    symbols: Folders = (),
) -> Traces:
    """Open many traces, to ask all of them the same questions in parallel.

    `paths` is a path, a folder (the traces in it), a pattern such as `"traces/**/*.nettrace*"`, a URL that fsspec reads
    (patterns as well), or several of these. `jobs` is the number of processes, by default one per processor; with 1,
    everything happens in this process. `errors`, `limits`, `registry` and `symbols` are those of `clrevents.open`, but
    `errors` defaults to `"salvage"`. `progress(done, total)` is called with numbers of traces.

    Raises FileNotFoundError for a folder or a pattern without traces, and TypeError for anything but paths. A file that
    does not exist or is not a trace raises nothing: it is a row of `Traces.problems`.
    """
    return Traces(paths, jobs=jobs, errors=errors, limits=limits, registry=registry, progress=progress, symbols=symbols)
