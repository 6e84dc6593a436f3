"""`spans`: a start and the end that belongs to it, as one row with a duration; and the answer that sums them up.

Knows no event: the caller says what is paired. Chooses the columns, unless the caller does: starts and stops of an
activity are matched by its id, whichever threads they are on, and others by their thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.about.checking import common_parts
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.needs import Marks, trace_holes
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, row
from clrevents.analysis.gathering.groups import Gathered, gather, matched
from clrevents.analysis.shared.forest.activity_signals import SignalKind, edge_of
from clrevents.table.table import (
    TABLE_HEADERS,
    Column,
    ColumnType,
    Table,
    TableField,
    named,
    number_column,
    renamed,
    shown_fields,
)
from clrevents.trace import FilterOptions, Selector, Trace, Trust, passes_of

Ints: TypeAlias = NDArray[np.int64]

_INT64: Final = ColumnType("int64")
_FRONT: Final = (
    TableField("start_ns", _INT64),
    TableField("end_ns", _INT64),
    TableField("duration_ns", _INT64),
    TableField("thread_id", ColumnType("uint64"), True),
    TableField("end_thread_id", ColumnType("uint64"), True),
    TableField("stack_id", ColumnType("int32")),
    TableField("activity_id", ColumnType("binary"), True),
)
_LOSSY: Final = TableField("lossy", ColumnType("bool"))
_HEADERS: Final = ("time_ns", "thread_id", "stack_id", "activity_id")


def spans(
    trace: Trace,
    begin: Selector,
    end: Selector,
    /,
    on: Iterable[str] | None = None,
    *,
    enum_names: bool = False,
    **filters: Unpack[FilterOptions],
) -> Table:
    """Pair each begin with its end: one row per pair, in the order of the begins.

    An end belongs to the last open begin with the same values in the columns `on`: header or payload columns of both
    events, or none to pair across the whole trace. Nested spans therefore pair innermost first. Nulls (a field that an
    old version lacks) pair with nothing. Both events must pass the filters, which are those of `Trace`: a begin in the
    window whose end is after it is unmatched.

    Without `on`, the start and the stop of an activity (by their opcodes, or their names where these are missing) are
    paired on `activity_id` if they have ids, other events on `thread_id`. The metadata says which it was: `pairing` is
    `activity`, `thread`, `key` (other columns) or `none`, and `on` has the columns. Some runtimes give one id to
    several activities at the same time: `ambiguous` in the metadata counts rows that overlap another with their id.

    Columns: `start_ns`, `end_ns` and `duration_ns`; the begin's `thread_id`, and the end's as `end_thread_id`; the
    begin's `stack_id`, `activity_id` and payload; the fields that only the end's payload has; and `lossy`, true if
    events of the thread (of any thread, unless `on` has `thread_id`) were lost or destroyed during the span. With
    `enum_names`, enums are text. The metadata counts `unmatched_begins` and `unmatched_ends`, and as
    `unmatched_by_activity` the ends that would have a begin with `activity_id` instead of `thread_id`; events whose
    payload cannot be read are not counted. Raises AmbiguousEventError and UnknownEventError as `Trace.table` does,
    KeyError for a column that an event lacks, ValueError if begin and end are the same event, and TypeError for a
    column that cannot be compared.
    """
    asked = None if on is None else (on,) if isinstance(on, str) else tuple(on)
    one_event = passes_of(trace).one_event
    events = one_event(begin), one_event(end)
    if events[0] is not None and events[0] == events[1]:
        raise ValueError(f"begin and end are the same event, {'/'.join(events[0])}")
    further = ("opcode",) if asked is None else (key for key in asked if key in TABLE_HEADERS)
    sides = gather(trace, (begin, end), dict.fromkeys((*_HEADERS, *further)), filters)
    begins, ends = sides
    keys = _chosen(begins, ends) if asked is None else asked
    for side in sides:
        for key in keys if side.event is not None else ():
            if key not in side.table:
                names = [*TABLE_HEADERS, *(field.name for field in side.payload)]
                raise KeyError(f"{side.name} has no column {key!r}; it has {', '.join(names)}")
    return _table(trace, begins, ends, matched([begins], [ends], keys), keys, enum_names)


def pairing_of(keys: Iterable[str]) -> str:
    """What these columns pair by: `activity`, `thread`, `key` or `none`."""
    columns = set(keys)
    return (
        "activity"
        if "activity_id" in columns
        else "thread"
        if columns == {"thread_id"}
        else "key"
        if columns
        else "none"
    )


def _chosen(begins: Gathered, ends: Gathered) -> tuple[str, ...]:
    """What to pair on by default."""
    ids = all(side.column("activity_id").known.any() for side in (begins, ends))
    return ("activity_id",) if ids and _are_edges(begins, ends) else ("thread_id",)


def _are_edges(begins: Gathered, ends: Gathered) -> bool:
    """Whether these are the starts and the stops of the same activity."""
    edges = []
    for side, wanted in ((begins, SignalKind.BEGIN), (ends, SignalKind.END)):
        assert side.event is not None
        sides = {edge_of(*side.event, opcode) for opcode in np.unique(side.numbers("opcode")).tolist()}
        if any(edge is None or edge[0] != wanted for edge in sides):
            return False
        edges.append(
            {(source.provider, source.name if suffixed else "") for _, source, suffixed in filter(None, sides)}
        )
    return edges[0] == edges[1]


def activity_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """The columns to pair on where threads are changed within an activity."""
    return tuple(dict.fromkeys(("activity_id", *(key for key in keys if key != "thread_id"))))


def _by_activity(begins: Gathered, ends: Gathered, pairs: tuple[Ints, Ints], keys: tuple[str, ...]) -> int:
    """How many of the ends without a start would have one by the activity."""
    if "activity_id" in keys:
        return 0
    wanted = activity_keys(keys)
    left = [
        side.only(np.setdiff1d(np.arange(len(side)), rows), wanted)
        for side, rows in zip((begins, ends), pairs, strict=True)
        if len(side) > len(rows)
    ]
    return len(matched(left[:1], left[1:], wanted)[0]) if len(left) > 1 else 0


def _alike(begins: Gathered, rows: Ints, start: Ints, end: Ints, keys: tuple[str, ...]) -> int:
    """How many pairs overlap another one with their activity's id, so that they may have one another's end."""
    if pairing_of(keys) != "activity":
        return 0
    latest: dict[bytes, int] = {}
    alike: set[int] = set()
    for pair, id in enumerate(begins.column("activity_id").take(rows).tolist()):
        before = latest.get(id)
        if before is not None and end[before] > start[pair]:
            alike |= {before, pair}
        if before is None or end[before] < end[pair]:
            latest[id] = pair
    return len(alike)


def _table(
    trace: Trace,
    begins: Gathered,
    ends: Gathered,
    pairs: tuple[Ints, Ints],
    keys: tuple[str, ...],
    enum_names: bool,
) -> Table:
    """The rows as the result has them."""
    start, end = begins.numbers("time_ns")[pairs[0]], ends.numbers("time_ns")[pairs[1]]
    thread = begins.column("thread_id").take(pairs[0])
    lossy = Marks(trace_holes(trace)).touched(start, end, (thread.values,) if "thread_id" in keys else ())
    lacking = {field.name.lower() for field in begins.payload}
    further = tuple(f for f in ends.payload if f.name.lower() not in lacking)
    columns = (
        number_column("int64", start),
        number_column("int64", end),
        number_column("int64", end - start),
        thread,
        ends.column("thread_id").take(pairs[1]),
        begins.column("stack_id").take(pairs[0]),
        begins.column("activity_id").take(pairs[0]),
        *(_shown(begins, field, pairs[0], enum_names) for field in begins.payload),
        *(_shown(ends, field, pairs[1], enum_names) for field in further),
        number_column("bool", lossy),
    )
    payload = renamed((*begins.payload, *further), [field.name for field in (*_FRONT, _LOSSY)])
    metadata = {
        "name": f"{begins.name} to {ends.name}",
        "pairing": pairing_of(keys),
        "ambiguous": str(_alike(begins, pairs[0], start, end, keys)),
        "on": ",".join(keys),
        "unmatched_begins": str(len(begins) - len(pairs[0])),
        "unmatched_ends": str(len(ends) - len(pairs[0])),
        "unmatched_by_activity": str(_by_activity(begins, ends, pairs, keys)),
        "losses": str(trace.lost),
        "lossy": str(int(lossy.sum())),
    }
    fields = shown_fields((*_FRONT, *payload, _LOSSY), enum_names)
    return Table(fields, (columns,) if len(start) else (), metadata)


def _shown(side: Gathered, field: TableField, rows: Ints, enum_names: bool) -> Column:
    column = side.column(field.name).take(rows)
    return named(column, field.enum) if enum_names and field.enum is not None and len(rows) else column


@row
class Span:
    """A start and its end. The fields of their payloads are further columns of the table from `spans`."""

    start_ns: cells.Ns = column("The begin's time.")
    end_ns: cells.Ns = column("The end's time.", hidden=True)
    duration_ns: cells.DurationNs = column("From the one to the other.", importance=0)
    thread_id: cells.ThreadId | None = column("The begin's thread.")
    end_thread_id: cells.ThreadId | None = column("The end's thread.", hidden=True)
    stack_id: cells.StackId = column("The begin's stack.", hidden=True)
    activity_id: cells.Guid | None = column("The begin's activity, as 32 hexadecimal digits.", hidden=True)
    lossy: cells.Flag = column("Events of the thread, or of any if paired without it, were lost meanwhile.")


@row
class SpanFacts:
    """What was paired, and how."""

    begin: cells.CodeName = column("The event that begins a span.")
    end: cells.CodeName = column("The event that ends it.")
    pairing: cells.Word = column("`activity`, `thread`, `key` (other columns) or `none`.")
    on: tuple[cells.CodeName, ...] = column("The columns that are equal in a begin and its end.")


@answer(name="spans", summary="pairing spans total median p95 longest unmatched_begins unmatched_ends")
class SpanReport(Answer[SpanFacts]):
    """The time from one event to another: sums and quantiles, and each span."""

    spans: ReportTable[Span] = table("A row for each pair, in the order of the begins.")


_QUESTION: Final = "How long is it from one event to the other?"


def span_report(trace: Trace, begin: str, end: str, pairs: Table, filters: FilterOptions | None = None) -> SpanReport:
    """The answer that a table made by `spans` with these `filters` gives; quantiles are by nearest rank."""
    took = np.sort(pairs["duration_ns"])

    def quantile(share: float) -> Metric:
        if not len(took):
            return Metric(None, "ns", "less", "none", reason="no begin has an end")
        return Metric(int(took[max(int(np.ceil(share * len(took))), 1) - 1]), "ns", "less", "none")

    counts = {name: int(pairs.metadata[name]) for name in _COUNTED}
    metrics = {
        "spans": Metric(len(took), "count"),
        "total": Metric(int(took.sum()), "ns", "less"),
        **{name: quantile(share) for name, share in _QUANTILES.items()},
        **{name: Metric(number, "count") for name, number in counts.items()},
    }
    on = tuple(filter(None, pairs.metadata["on"].split(",")))
    facts = SpanFacts(begin=begin, end=end, pairing=pairs.metadata["pairing"], on=on)
    trust = Trust.of(passes_of(trace).scan(raising=False))
    asked = {"begin": begin, "end": end, "on": pairs.metadata["on"], "provider": (filters or {}).get("provider")}
    common = common_parts(trace, SpanReport.name, _QUESTION, trust, filters, **asked)
    common |= {"facts": facts, "metrics": metrics}
    ids = [None if id is None else id.hex() for id in pairs.column("activity_id").tolist()]
    columns = {field.name: pairs.column(field.name) for field in (*_FRONT, _LOSSY)}
    return SpanReport(
        **common,
        spans=ReportTable.from_columns(Span, {**columns, "activity_id": ids}),
    )


_QUANTILES: Final = {"shortest": 0.0, "median": 0.5, "p95": 0.95, "longest": 1.0}
_COUNTED: Final = ("unmatched_begins", "unmatched_ends", "unmatched_by_activity", "ambiguous", "lossy")


def longest(pairs: Table, count: int) -> Table:
    """The rows of a table made by `spans` that took longest, longest first."""
    rows = np.argsort(-pairs["duration_ns"], kind="stable")[:count]
    columns = tuple(pairs.column(field.name).take(rows) for field in pairs.fields)
    return Table(pairs.fields, (columns,) if len(rows) else (), pairs.metadata)


def telling(pairs: Table) -> list[str]:
    """Columns of a table made by `spans` that identify a row: texts and names or, without those, numbers."""
    own = {field.name for field in (*_FRONT, _LOSSY)}
    payload = [field for field in pairs.fields if field.name not in own and field.name != "ClrInstanceID"]
    texts = [field.name for field in payload if field.enum is not None or field.type.kind == "string"]
    return texts or [field.name for field in payload]
