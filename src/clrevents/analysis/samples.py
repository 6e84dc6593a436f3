"""Call stacks with weights: of the sample profiler, weighed by time, or of any event, weighed by count or by a field.

What flame graphs and lists of hot methods are added up from. A sample's weight is the time to the same thread's next
sample, because the profiler says where threads were, not what they used: it is time on the clock, waiting included.
Knows no viewer and no file format.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.merged import StackFrame, merged_stacks
from clrevents.schema.registry import SAMPLE
from clrevents.symbols.stacks import resolve_stacks
from clrevents.table.build import ColumnType, TableField, from_values, number_column, text_column
from clrevents.table.read import Wanted
from clrevents.table.stacks import AddressStacks
from clrevents.table.table import Table
from clrevents.trace import Filters, Moment, Selector, ThreadIds, Trace, passes_of

Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.int64 | np.float64]
Unit: TypeAlias = Literal["nanoseconds", "bytes", "count", "none"]

SAMPLES: Final = f"{SAMPLE}/ThreadSample"
"""The sample profiler's event."""

_EXTERNAL: Final = 1
_UNKNOWN: Final = -1
_LARGEST: Final = (1 << 63) - 1
_THREAD_NAMES: Final = 6
"""From this version of the format on, a trace may say what a thread is called."""
_NO_RUNDOWN: Final = "no rundown"
_HEADERS: Final = ("time_ns", "thread_id", "process_id", "stack_id")
_NUMBERS: Final = ("int", "uint", "float", "bool")
_BYTES: Final = ("bytes", "size", "amount", "amount64", "length")
_TIMES: Final = ("ns", "nanoseconds")


@functools.total_ordering
@attrs.frozen
class SampledThread:
    """One thread of one process; None where the trace does not say. In order by process, then thread, None first."""

    thread_id: int | None
    process_id: int | None = None
    name: str | None = None

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, SampledThread):
            return NotImplemented
        return self._order() < other._order()

    def _order(self) -> tuple[int, int, str]:
        known = [-1 if number is None else number for number in (self.process_id, self.thread_id)]
        return known[0], known[1], self.name or ""

    def __str__(self) -> str:
        text = "unknown thread" if self.thread_id is None else f"thread {self.thread_id}"
        return f"{text} ({self.name})" if self.name else text


@attrs.frozen(eq=False)
class Samples:
    """Weighted stacks in order of time, a number in each array for every one of them; owns its data.

    `time` is ns since the session started, `thread` a place in `threads`, `weight` is in `unit`, `external` says which
    samples were in native code or waiting (None where the events do not tell). Stack `stack[i]` is
    `values[offsets[stack[i]]:offsets[stack[i] + 1]]`, places in `frames`, innermost first; no two stacks are alike.
    """

    event: str
    unit: Unit
    timed: bool
    """Whether a weight is the time that a stack lasted, so that stacks of a thread follow one another."""
    time: Ints
    thread: Ints
    weight: Weights
    stack: Ints
    offsets: Ints
    values: Ints
    threads: tuple[SampledThread, ...]
    frames: tuple[StackFrame, ...]
    external: NDArray[np.bool_] | None = None
    advice: str | None = None
    """What to record next time so that more frames have names; None where none is missing for want of recording."""

    def __len__(self) -> int:
        return len(self.time)

    @property
    def total(self) -> int | float:
        """All weights together."""
        found: int | float = self.weight.sum().item()
        return found

    def table(self, raw: bool = False) -> Table:
        """A row for each sample: `time_ns`, `thread_id`, `process_id`, `weight`, `leaf` and `stack`.

        `leaf` is the innermost frame's name, `stack` all names, innermost first, a line each; with `raw` as the runtime
        writes them. The metadata has `name` (the event) and `unit`.
        """
        names = [frame.raw if raw else frame.name for frame in self.frames]
        stacks = [[names[frame] for frame in self.frame_ids(stack)] for stack in range(len(self.offsets) - 1)]
        threads = from_values(ColumnType("uint64"), [thread.thread_id for thread in self.threads])
        processes = from_values(ColumnType("int64"), [thread.process_id for thread in self.threads])
        columns = (
            number_column("int64", self.time),
            threads.take(self.thread),
            processes.take(self.thread),
            number_column("float64" if self.weight.dtype.kind == "f" else "int64", self.weight),
            text_column([stack[0] for stack in stacks], self.stack),
            text_column(["\n".join(stack) for stack in stacks], self.stack),
        )
        columns_of = ("time_ns", "thread_id", "process_id", "weight", "leaf", "stack")
        fields = [TableField(n, c.type, n.endswith("_id")) for n, c in zip(columns_of, columns, strict=True)]
        return Table(tuple(fields), (columns,) if len(self) else (), {"name": self.event, "unit": self.unit})

    def frame_ids(self, stack: int) -> list[int]:
        """One stack's frames, innermost first."""
        found: list[int] = self.values[self.offsets[stack] : self.offsets[stack + 1]].tolist()
        return found

    def weight_of(self, mask: NDArray[np.bool_]) -> int | float:
        """The weights of some samples together."""
        found: int | float = self.weight[mask].sum().item()
        return found


def read_samples(
    trace: Trace,
    event: Selector | None = None,
    weight: str | None = None,
    *,
    thread_id: ThreadIds = None,
    start: Moment | None = None,
    end: Moment | None = None,
) -> Samples:
    """AddressStacks of the sample profiler (weight: ns to the thread's next sample, 0 for its last), or of any `event`.

    Those weigh 1 each, or what their field `weight` says. `start` and `end` are half-open; a sample's time is cut at
    them, so that parts add up to the whole. KeyError for a field that the event lacks, ValueError for weights that
    are no numbers or below zero; AmbiguousEventError and UnknownEventError as from `Trace.table`.
    """
    if event is None and weight is None:
        return _timed(trace, thread_id, start, end)
    rows = _read(trace, SAMPLES if event is None else event, weight, thread_id, start, end)
    if weight is None or rows.field is None:
        return _samples(trace, rows, rows.time, np.ones(len(rows.time), dtype=np.int64), "count")
    return _samples(trace, rows, rows.time, _weights(rows.field, weight), _unit(weight))


def stacked_events(trace: Trace) -> dict[tuple[str, str], int]:
    """How many events with a stack there are, by (provider, name), most first: what `read_samples` can be asked for."""
    found: Counter[tuple[str, str]] = Counter()
    for provider, name, stack_id in trace.headers(columns=["provider", "name", "stack_id"]).parts:
        rows = np.flatnonzero(stack_id.values > 0)
        found.update(zip(provider.take(rows).tolist(), name.take(rows).tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _timed(trace: Trace, thread_id: ThreadIds, start: Moment | None, end: Moment | None) -> Samples:
    """The sample profiler's; a window's first stack is the one that a thread was seen with before."""
    moment_ns = passes_of(trace).moment_ns
    low = None if start is None else moment_ns(start, "start")
    high = None if end is None else moment_ns(end, "end")
    rows = _read(trace, SAMPLES, "Type", thread_id, None, None)
    order = np.lexsort((rows.time, rows.thread, rows.process))
    until = rows.time.copy()
    same = rows.thread[order][1:] == rows.thread[order][:-1]
    same &= rows.process[order][1:] == rows.process[order][:-1]
    until[order[:-1][same]] = rows.time[order[1:][same]]
    begin = rows.time if low is None else np.maximum(rows.time, low)
    until = until if high is None else np.minimum(until, high)
    inside = np.ones(len(begin), dtype=np.bool_)
    if low is not None:
        inside &= (until > begin) | (rows.time >= low)
    if high is not None:
        inside &= rows.time < high
    kept = np.flatnonzero(inside)
    rows, shown = rows.take(kept), begin[kept]
    external = None if rows.field is None else rows.field == _EXTERNAL
    return _samples(trace, rows, shown, np.maximum(until[kept] - shown, 0), "nanoseconds", external, timed=True)


@attrs.frozen(eq=False)
class _SampleColumns:
    """The events' columns, in order of time; threads and processes are -1 where unknown."""

    event: str
    time: Ints
    thread: Ints
    process: Ints
    stack_id: Ints
    field: NDArray[Any] | None
    stacks: AddressStacks

    def take(self, rows: Ints) -> _SampleColumns:
        """These rows in this order."""
        columns = (self.time[rows], self.thread[rows], self.process[rows], self.stack_id[rows])
        return _SampleColumns(self.event, *columns, None if self.field is None else self.field[rows], self.stacks)


def _read(
    trace: Trace,
    selector: Selector,
    field: str | None,
    thread_id: ThreadIds,
    start: Moment | None,
    end: Moment | None,
) -> _SampleColumns:
    """One pass over the trace."""
    columns = [*_HEADERS, field] if field is not None else [*_HEADERS]
    filters = Filters.of({"thread_id": thread_id, "start": start, "end": end})
    table, stacks = passes_of(trace).table(selector, Wanted.of(columns), filters, "time", stacks=True)
    name = table.metadata.get("name", "")
    if not len(table):
        none: Ints = np.zeros(0, dtype=np.int64)
        return _SampleColumns(name, none, none, none, none, none, stacks)
    if field is not None and not table.column(field).type.kind.startswith(_NUMBERS):
        raise ValueError(f"{field!r} is no number, so it cannot be a weight")
    time, thread, process, stack_id = (_filled(table, header, _UNKNOWN).astype(np.int64) for header in _HEADERS)
    values = None if field is None else _filled(table, field, 0)
    rows = _SampleColumns(name, time, thread, process, stack_id, values, stacks)
    return rows.take(np.argsort(time, kind="stable")) if (np.diff(time) < 0).any() else rows


def _filled(table: Table, name: str, missing: int) -> NDArray[Any]:
    """A column's numbers, with a number for those that are null. Not as masked arrays, which take long to load."""
    column = table.column(name)
    return column.values if column.valid is None else np.where(column.valid, column.values, missing)


def _weights(values: NDArray[Any], name: str) -> Weights:
    """As 64-bit numbers whose sum is one too. ValueError for negative and unending ones."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"{name!r} is below zero or no number in some events, so it cannot be a weight")
        return values.astype(np.float64)
    if values.dtype.kind == "i" and (values < 0).any():
        raise ValueError(f"{name!r} is below zero in some events, so it cannot be a weight")
    if sum(values.tolist()) > _LARGEST:
        raise ValueError(f"{name!r} adds up to more than 64 bits hold, so it cannot be a weight")
    return values.astype(np.int64)


def _unit(field: str) -> Unit:
    """What a field's name says it is measured in."""
    name = field.lower()
    if name.endswith(_BYTES):
        return "bytes"
    return "nanoseconds" if name.endswith(_TIMES) else "none"


def _samples(
    trace: Trace,
    rows: _SampleColumns,
    shown: Ints,
    weights: Weights,
    unit: Unit,
    external: NDArray[np.bool_] | None = None,
    timed: bool = False,
) -> Samples:
    """Names for the stacks; `shown` are the times as they shall be, while names are those of the events' own."""
    threads, of = _sampled_threads(trace, rows)
    several = len(rows.process) > 0 and bool((rows.process != rows.process[0]).any())
    processes = rows.process if several else None
    methods = trace.methods
    merged = merged_stacks(methods, resolve_stacks(methods, rows.stacks.arrays, rows.stack_id, rows.time, processes))
    lacking = any(frame.reason == _NO_RUNDOWN for frame in merged.frames)
    return Samples(
        event=rows.event,
        unit=unit,
        timed=timed,
        time=shown,
        thread=of,
        weight=weights,
        stack=merged.of,
        offsets=merged.offsets,
        values=merged.values,
        threads=threads,
        frames=merged.frames,
        external=external,
        advice=methods.advice if lacking else None,
    )


def _sampled_threads(trace: Trace, rows: _SampleColumns) -> tuple[tuple[SampledThread, ...], Ints]:
    """The threads in order of their first sample, and which of them each row is of."""
    threads, thread = np.unique(rows.thread, return_inverse=True)
    processes, process = np.unique(rows.process, return_inverse=True)
    pairs, first, of = np.unique(process * len(threads) + thread, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    named = trace.info.version >= _THREAD_NAMES
    names = {t.thread_id: t.name for t in trace.threads} if named else {}
    tracks = []
    for pair in pairs[order].tolist():
        number, owner = int(threads[pair % len(threads)]), int(processes[pair // len(threads)])
        name = names.get(number)
        tracks.append(SampledThread(None if number < 0 else number, None if owner < 0 else owner, name))
    return tuple(tracks), place[of]
