"""The rows and facts of the report on allocations, and sums of allocations → its rows: shares, intervals, names of
types, threads, kinds and stacks.

Stacks are named once each, after everything is added up. Whatever was not recorded is null. Decides nothing about
sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    Bytes,
    CodeName,
    Count,
    Flag,
    Ns,
    PrivateText,
    Ratio,
    Row,
    SpanRow,
    StackId,
    ThreadId,
    Word,
    column,
)
from clrevents.analysis.framework.vocabulary.row_class import row as table_row
from clrevents.analysis.gathering.groups import Ints
from clrevents.analysis.gathering.merged_stacks import MergedStacks, is_own, merged_stacks
from clrevents.analysis.reports.alloc.alloc_sums import AllocationReading, GroupedAllocations, kind_word
from clrevents.analysis.shared.samples.stack_shapes import StackShape, folded, used
from clrevents.analysis.shared.weights.allocations import PARTS, Source, interval
from clrevents.table.table import Column, ColumnType, from_values, number_column, text_column

_BYTES = "The bytes allocated: exact, estimated or approximate, as the fact `certainty` says."
_LOW = "The lower end of the 95 % confidence interval of `bytes`; null unless the source is `samples`."
_HIGH = "The upper end of the 95 % confidence interval of `bytes`; null unless the source is `samples`."
_LARGE = "How many of the bytes are on the large object heap."

_TYPE = "The type as the runtime writes it; null if its name was not recorded."
_SHARE = "The share of all bytes; null if there are none, or of one thread's where events are missing."
_COUNT = "How many objects these are, estimated for samples; null for ticks, which do not count objects."
_SAMPLES = "How many events of the source this is based on."


@table_row
class AllocatedSums(Row):
    """What every table of sums has."""

    share: Ratio | None = column(_SHARE, share_of=("bytes",), importance=1)
    bytes: Bytes = column(_BYTES, importance=0)
    low_bytes: Bytes | None = column(_LOW)
    high_bytes: Bytes | None = column(_HIGH)
    large_bytes: Bytes = column(_LARGE, hidden=True)
    count: Count | None = column(_COUNT)
    samples: Count = column(_SAMPLES, importance=3)


@table_row
class AllocatedType(AllocatedSums):
    """All allocations of one type."""

    type: CodeName | None = column(_TYPE, importance=0)


@table_row
class AllocatedKind(AllocatedSums):
    """All allocations on one kind of heap."""

    kind: Word | None = column("`small`, `large`, or `pinned` for the pinned object heap; null if unknown.")


@table_row
class AllocatingThread(AllocatedSums):
    """All allocations of one thread."""

    thread_id: ThreadId | None = column("The thread that allocated.")
    thread_name: PrivateText | None = column("The thread's name; null if unknown.")


@table_row
class AllocatingStack(Row):
    """All allocations with one call stack, whichever versions of its methods' code ran."""

    share: Ratio | None = column(_SHARE, share_of=("bytes",))
    bytes: Bytes = column(_BYTES)
    low_bytes: Bytes | None = column(_LOW, hidden=True)
    high_bytes: Bytes | None = column(_HIGH, hidden=True)
    large_bytes: Bytes = column(_LARGE, hidden=True)
    count: Count | None = column(_COUNT, hidden=True)
    samples: Count = column(_SAMPLES)
    method: CodeName = column(
        "The innermost method outside the framework's namespaces; without one, the innermost of all."
    )
    innermost: CodeName = column("The innermost method; if it has no name, the reason in brackets.", hidden=True)
    stack: tuple[CodeName, ...] = column("All methods, innermost first.", hidden=True)
    stack_id: StackId = column("The id of one of the trace's stacks with these methods, 0 for none.", hidden=True)


@table_row
class AllocatedTypeStack(AllocatingStack):
    """All allocations of one type with one call stack."""

    type: CodeName | None = column(_TYPE)


@table_row(span=("start_ns", "end_ns"))
class AllocationInterval(SpanRow):
    """What was allocated in one interval."""

    start_ns: Ns = column(
        "The beginning of the interval. All intervals of a process but the last have the same length."
    )
    end_ns: Ns = column("Its end (exclusive); the last one ends with the trace.")
    bytes: Bytes = column(f"{_BYTES[:-1]}, for the part inside the window.", windowed=True)
    low_bytes: Bytes | None = column(_LOW, windowed=True)
    high_bytes: Bytes | None = column(_HIGH, windowed=True)
    large_bytes: Bytes = column(_LARGE, windowed=True)
    samples: Count = column(_SAMPLES, windowed=True)


@table_row
class AllocationSource(Row):
    """What one source says about all allocations."""

    source: Word = column("`objects`, `samples` or `ticks`.")
    used: Flag = column("Whether the other tables are based on this source.")
    samples: Count = column("How many of its events lie in the window.")
    bytes: Bytes = column("The bytes that they represent in total. Sources are never added up.")
    low_bytes: Bytes | None = column(_LOW)
    high_bytes: Bytes | None = column(_HIGH)


@table_row
class AllocFacts:
    """Where the numbers come from, and how certain they are."""

    source: Word | None = column(
        "What was added up: `objects` (every object), `samples` (random ones) or `ticks`; null if nothing was recorded."
    )
    certainty: Word | None = column(
        "`exact` for objects; `estimated`, with intervals, for samples; `approximate` for ticks, whose total is "
        "about right, but not the numbers of types with few ticks."
    )
    large_by: Word | None = column(
        "How large objects are recognized: by `kind`, as recorded by the runtime, or by `size`, from 85,000 bytes, "
        "its default."
    )


class AllocationTables:
    """The tables of one source's sums."""

    def __init__(
        self, context: Context, reading: AllocationReading, source: Source | None, raw: bool, my_code: bool
    ) -> None:
        self._context = context
        self._reading = reading
        self._source = source
        self._raw = raw
        self._shape = StackShape(my_code=my_code)
        self.sums = GroupedAllocations.nothing() if source is None else reading.sums[source].grouped()
        self._names, self._named = reading.types.numbered(
            lambda ids: context.methods.type_names(ids, context.process_id)
        )

    def types(self) -> ReportTable[AllocatedType]:
        """By type."""
        found = _ordered(self.sums.by(type=self._type_of()))
        texts = from_values(ColumnType("string"), [self._names[place] for place in found.keys["type"].tolist()])
        return self._context.table(AllocatedType, {**self._columns(found), "type": texts})

    def kinds(self) -> ReportTable[AllocatedKind]:
        """By kind of heap."""
        found = _ordered(self.sums.by(kind=self.sums.keys["kind"]))
        words = [kind_word(kind) for kind in found.keys["kind"].tolist()]
        return self._context.table(AllocatedKind, {**self._columns(found), "kind": words})

    def threads(self) -> ReportTable[AllocatingThread]:
        """By thread. A loss of another thread's events does not spoil a row."""
        found = _ordered(self.sums.by(thread=self.sums.keys["thread"]))
        ids = [self._reading.threads[number] for number in found.keys["thread"].tolist()]
        names = [None if id is None else self._context.thread_names.get(id) for id in ids]
        values = {**self._columns(found), "thread_id": ids, "thread_name": names, "lossy": self._lossy_threads(ids)}
        if self._context.touched():
            # It does spoil what all threads allocated.
            values["share"] = [None] * len(ids)
        return self._context.table(AllocatingThread, values)

    def stacks(self) -> ReportTable[AllocatingStack]:
        """By call stack."""
        found = _ordered(self.sums.by(frames=self._stack_of))
        return self._context.table(AllocatingStack, {**self._columns(found), **self._stacks(found.keys["frames"])})

    def type_stacks(self) -> ReportTable[AllocatedTypeStack]:
        """By type and call stack."""
        found = _ordered(self.sums.by(type=self._type_of(), frames=self._stack_of))
        texts = from_values(ColumnType("string"), [self._names[place] for place in found.keys["type"].tolist()])
        values = {**self._columns(found), **self._stacks(found.keys["frames"]), "type": texts}
        return self._context.table(AllocatedTypeStack, values)

    def timeline(self) -> ReportTable[AllocationInterval]:
        """By time."""
        if self._source is None:
            return self._context.table(AllocationInterval, dict.fromkeys(_TIMELINE, ()))
        starts, ends, values = self._reading.sums[self._source].timeline()
        low, high = self._interval(values)
        return self._context.table(
            AllocationInterval,
            {
                "start_ns": starts,
                # The last one ends with the trace, or a window that holds all of that would clip it.
                "end_ns": np.minimum(ends, self._context.duration_ns + 1),
                "bytes": values["bytes"],
                "low_bytes": low,
                "high_bytes": high,
                "large_bytes": values["large"],
                "samples": values["samples"],
            },
        )

    def lossy(self) -> bool:
        """Whether events may be missing in the window."""
        return self._context.touched()

    def nameless(self) -> int:
        """How many events are of types without a name."""
        return int(self.sums.values["samples"][self._type_of() == 0].sum())

    @property
    def advice(self) -> str | None:
        """What gives names to types that no event names."""
        return self._context.methods.images.advice

    def _type_of(self) -> Ints:
        return self._named[self.sums.keys["type"]]

    def _columns(self, found: GroupedAllocations) -> dict[str, object]:
        """What every table has."""
        total = self.sums.total("bytes")
        low, high = self._interval(found.values)
        lossy = self.lossy()
        return {
            "share": [amount / total if total else None for amount in found.values["bytes"].tolist()],
            "bytes": found.values["bytes"],
            "low_bytes": low,
            "high_bytes": high,
            "large_bytes": found.values["large"],
            "count": self.counts(found.values["object_parts"]),
            "samples": found.values["samples"],
            "lossy": [lossy] * len(found),
        }

    def counts(self, parts: Ints) -> list[int | None] | Ints:
        """Whole objects; how many a tick represents is unknown."""
        return [None] * len(parts) if self._source == "ticks" else (parts + PARTS // 2) // PARTS

    def _interval(self, values: Mapping[str, Ints]) -> Sequence[object]:
        if self._source != "samples":
            return ([None] * len(values["bytes"]),) * 2
        return interval(values["samples"], values["bytes"], values["variance"], values["seen"])

    def _lossy_threads(self, ids: Sequence[int | None]) -> list[bool]:
        return [self._context.touched(id) for id in ids]

    @cached_property
    def _stacked(self) -> tuple[dict[str, Column], Ints]:
        """The columns of each stack of methods, and the stack of each sum."""
        # One number for a stack and what ran, -1 for nothing.
        stack, running = self.sums.keys["stack"], self.sums.keys["running"] + 1
        most = int(running.max(initial=0)) + 1
        keys, of = np.unique(stack * most + running, return_inverse=True)
        distinct, running = keys // most, keys % most - 1
        first = np.full(len(distinct), FOREVER, dtype=np.int64)
        np.minimum.at(first, of, self.sums.first)
        merged = folded(merged_stacks(self._context.methods, self._context.resolved(distinct, first, running)))
        if self._shape:
            merged = used(self._shape.apply(merged)[0])
        ids = np.zeros(len(merged.offsets) - 1, dtype=np.int64)
        ids[merged.of[::-1]] = distinct[::-1]
        return _stack_columns(merged, ids, self._raw), merged.of[of]

    @property
    def _stack_of(self) -> Ints:
        return self._stacked[1]

    def _stacks(self, places: Ints) -> dict[str, Column]:
        """The columns about stacks."""
        return {name: column.take(places) for name, column in self._stacked[0].items()}


_TIMELINE: Final = ("start_ns", "end_ns", "bytes", "low_bytes", "high_bytes", "large_bytes", "samples")


def _ordered(found: GroupedAllocations) -> GroupedAllocations:
    """The most bytes first, then the most events, then what began first."""
    return found.take(np.lexsort((found.first, -found.values["samples"], -found.values["bytes"])))


def _stack_columns(merged: MergedStacks, ids: Ints, raw: bool) -> dict[str, Column]:
    """Each text is kept once, however many stacks have it."""
    names = [frame.raw if raw else frame.name for frame in merged.frames]
    texts = text_column(names, np.arange(len(names)))
    own = np.array([is_own(frame) for frame in merged.frames], dtype=np.bool_)[merged.values]
    starts, stack = merged.offsets[:-1], np.repeat(np.arange(len(ids)), np.diff(merged.offsets))
    # The first of the program's own frames of each stack; where there is none, the innermost.
    method = starts.copy()
    theirs = np.flatnonzero(own)
    method[stack[theirs[::-1]]] = theirs[::-1]
    frames = texts.take(merged.values)
    lists = ColumnType("list", (texts.type,))
    return {
        "stack_id": number_column("int32", ids),
        "method": frames.take(method),
        "innermost": frames.take(starts),
        "stack": Column(lists, len(ids), np.zeros(0, dtype=np.uint8), merged.offsets, (frames,)),
    }
