"""What every container generation yields: the same few values, in file order.

Pure values. A container turns bytes into these; the later stages see nothing else.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias, cast
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.errors import Problem
from clrevents.schema.dynamic import FieldDescription

UNCOUNTED: Final = 0xFFFF
"""What the runtime of programs that were compiled ahead of time (NativeAOT) writes for the number of processors, on all
systems but Windows. CoreCLR and Mono count them."""


@frozen
class TraceInfo(Value):
    """The contents of the trace's header. Unknown values are None; nothing here needs a scan.

    `start` is the time of `sync_qpc`, accurate to a millisecond; `frequency` is in clock ticks per second.
    """

    format: str
    """`"NetTrace"` or `"NetPerf"`."""
    version: int
    """The major version of the format."""
    start: datetime | None
    """The start of the session in UTC."""
    sync_qpc: int
    """The reading of the recording clock at `start`, in ticks."""
    frequency: int
    """The ticks per second of the recording clock."""
    pointer_size: int
    """The size of a pointer in the process, in bytes: 4 or 8."""
    process_id: int | None = None
    """The process that was recorded."""
    recorded_processors: int | None = None
    """The number of processors, as the header has it."""
    sampling_interval_ns: int | None = None
    """The interval between samples of the threads' stacks, in nanoseconds."""
    path: str | None = None
    """The path the trace was opened by; None if it was not opened by path."""
    key_values: tuple[tuple[str, str], ...] = ()
    """Additional properties as (key, value), in file order; only NetTrace 6 has them."""

    @property
    def native_aot(self) -> bool:
        """Whether the program was compiled ahead of time (NativeAOT), as far as the header shows: not on Windows."""
        return self.recorded_processors == UNCOUNTED

    @property
    def processors(self) -> int | None:
        """The number of processors."""
        return None if self.native_aot else self.recorded_processors


@frozen
class MetadataRow:
    """One event description of the trace. Native events have no name and no fields."""

    metadata_id: int
    provider: str
    id: int
    version: int
    name: str = ""
    keywords: int = 0
    level: int = 0
    opcode: int | None = None
    fields: tuple[FieldDescription, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    description: str = ""
    message: str = ""
    provider_guid: UUID | None = None
    offset: int = attrs.field(default=0, eq=False)

    def without_fields(self) -> MetadataRow:
        """The same description of an event whose payloads stay bytes."""
        return self._with((), self.offset)

    def moved(self, offset: int) -> MetadataRow:
        """The same description at another place."""
        return self._with(self.fields, offset)

    def _with(self, fields: tuple[FieldDescription, ...], offset: int) -> MetadataRow:
        # In a tenth of the time that `attrs.evolve` takes: a crafted trace has many.
        return MetadataRow(
            self.metadata_id,
            self.provider,
            self.id,
            self.version,
            self.name,
            self.keywords,
            self.level,
            self.opcode,
            fields,
            self.attributes,
            self.description,
            self.message,
            self.provider_guid,
            offset,
        )


@frozen(eq=False)
class Header:
    info: TraceInfo


@frozen(eq=False)
class Metadata:
    rows: tuple[MetadataRow, ...]


@frozen(eq=False)
class Together:
    """Which rows of columns are whose, where they are those of several blocks; one number a block in each array.

    `ends` has how many rows there are up to its end, numbers in `runs` and numbers in `marks`; `marks` are the blocks'
    own. `offsets` are those that problems with a block's sequence numbers have; `spans` its first and last tick.
    `stacks` are blocks of stacks between them and before the first, with their offsets.
    """

    ends: NDArray[np.int64]
    marks: NDArray[np.int64]
    offsets: NDArray[np.int64]
    spans: NDArray[np.int64]
    stacks: Sequence[tuple[Stacks, int]] = ()

    def marks_and_ends(self, labelled: bool) -> NDArray[np.int64]:
        """The marks, and one at the start of each block after one that has any: ids do not carry over."""
        if not len(self.marks):
            return self.marks
        marked = self.ends[:, 2] > np.concatenate((_ZERO, self.ends[:-1, 2]))
        rows = self.ends[:-1, 0][marked[:-1]]
        ends = np.empty((len(rows), 3), dtype=np.int64)
        ends[:, 0], ends[:, 1], ends[:, 2] = rows, _LABELS if labelled else _ACTIVITY_IDS, 0 if labelled else -1
        both = np.concatenate((ends, self.marks))
        return both[np.argsort(both[:, 0], kind="stable")]

    def firsts(self) -> NDArray[np.int64]:
        """The first row of each block."""
        return np.concatenate((_ZERO, self.ends[:-1, 0]))


@frozen(eq=False)
class Events:
    """Event headers of one block; their payloads are in `window`, whose first byte is at `base`.

    `broken`: the block is known to be damaged, so only plausible rows may be trusted; `span` is then the (first, last)
    tick its header declares, if any. `counted`: rows carry sequence numbers; `labelled`: threads are indexes and marks
    are label ids (NetTrace 6). `together`: these are several small blocks, none broken, in one piece.
    """

    columns: list[HeaderColumns]
    window: bytes
    base: int
    broken: bool = False
    span: tuple[int, int] | None = None
    counted: bool = True
    labelled: bool = False
    together: Together | None = None

    def apart(self) -> Iterator[tuple[Events | Stacks, int]]:
        """Blocks that were read together one by one, each with its offset."""
        (columns,), together = self.columns, self.together
        assert together is not None
        row = run = mark = 0
        stacks = deque(together.stacks)
        ends, offsets, spans = together.ends.tolist(), together.offsets.tolist(), together.spans.tolist()
        for (stop, last_run, last_mark), offset, (first, last) in zip(ends, offsets, spans, strict=True):
            while stacks and stacks[0][1] < offset:
                yield stacks.popleft()
            runs = columns.runs[run // 4 : last_run // 4].copy()
            marks = together.marks[mark // 3 : last_mark // 3].copy()
            runs[:, 0] -= np.uint64(row)
            marks[:, 0] -= row
            piece = HeaderColumns(
                columns.metadata_ids[row:stop],
                columns.thread_ids[row:stop],
                columns.stack_ids[row:stop],
                columns.ticks[row:stop],
                columns.offsets[row:stop],
                columns.sizes[row:stop],
                runs,
                marks,
                columns.place and (columns.place[0], columns.place[1] + row),
                columns.sorted_tick if stop == ends[-1][0] else None,
            )
            span = (first, last) if first or last else None
            yield Events([piece], self.window, self.base, False, span, self.counted, self.labelled), offset
            row, run, mark = stop, last_run, last_mark
        # Behind them are blocks without events.
        yield from stacks


@frozen(eq=False)
class InlineStacks:
    """Stacks that follow each event (NetPerf): number i is `window[starts[i]:starts[i] + sizes[i]]`."""

    first_id: int
    starts: list[int]
    sizes: list[int]
    window: bytes

    def only_ids(self) -> Stacks:
        """The same without the stacks themselves: keeps no window alive."""
        return Stacks(self.first_id, len(self.starts), b"", 0, 0, 0)


@frozen(eq=False)
class Stacks:
    """Stacks `first_id`, `first_id + 1`, …, each prefixed with its byte count, in `window[start:end]`.

    Not walked here, because most queries never look at a stack. `base` is the stream offset of `window[0]`.
    """

    first_id: int
    count: int
    window: bytes
    start: int
    end: int
    base: int

    def only_ids(self) -> Stacks:
        """The same without the stacks themselves: keeps no window alive."""
        return Stacks(self.first_id, self.count, b"", 0, 0, 0)


class ThreadNumbers:
    """Threads with their last sequence numbers, 12 bytes each: as stored in NetTrace 4. A block may have millions."""

    __slots__ = ("_packed",)

    def __init__(self, packed: bytes | bytearray) -> None:
        self._packed = packed

    @classmethod
    def of(cls, pieces: Iterable[tuple[NDArray[np.uint64], NDArray[np.uint64]]]) -> ThreadNumbers:
        """From arrays of threads and arrays of their numbers."""
        packed = bytearray()
        for threads, numbers in pieces:
            table = np.empty(len(threads), dtype=_THREAD_NUMBERS)
            table["thread"], table["number"] = threads, numbers
            packed += table.data
        return cls(packed)

    def __len__(self) -> int:
        return len(self._packed) // _THREAD_NUMBER.size

    def pieces(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint32]]]:
        """Threads and their numbers in order, so many at a time that what is worked out for them stays small."""
        for first in range(0, len(self), _PIECE):
            count = min(_PIECE, len(self) - first)
            table = np.frombuffer(self._packed, _THREAD_NUMBERS, count, first * _THREAD_NUMBER.size)
            yield table["thread"], table["number"]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return cast("Iterator[tuple[int, int]]", _THREAD_NUMBER.iter_unpack(self._packed))


_ZERO: Final = np.zeros(1, dtype=np.int64)
_ACTIVITY_IDS: Final = 16 | 32
_LABELS: Final = 16
_THREAD_NUMBER: Final = struct.Struct("<QI")
_THREAD_NUMBERS: Final = np.dtype([("thread", "<u8"), ("number", "<u4")])
_PIECE: Final = 1 << 12


@frozen(eq=False)
class SequencePoint:
    """No event before it is later and none after it is earlier. Stack ids are valid up to here."""

    time: int
    threads: ThreadNumbers
    offset: int
    forget_threads: bool = False
    forget_metadata: bool = False


@frozen(eq=False)
class Boundary:
    """No later event is earlier than any before (NetPerf is written in order): rows may be released."""


@frozen
class ThreadRow:
    """A thread as NetTrace 6 describes it; missing ids are None."""

    index: int
    thread_id: int | None = None
    process_id: int | None = None
    name: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    offset: int = attrs.field(default=0, eq=False)

    def moved(self, offset: int) -> ThreadRow:
        """The same description at another place."""
        return ThreadRow(self.index, self.thread_id, self.process_id, self.name, self.attributes, offset)

    @property
    def process(self) -> int | None:
        """The process id as a signed number of 64 bits, as columns hold it: ids that no system gives are below 0."""
        known = self.process_id
        return known if known is None or known < 1 << 63 else known - (1 << 64)


@frozen(eq=False)
class Threads:
    """Threads that start to exist here (NetTrace 6)."""

    rows: tuple[ThreadRow, ...]


@frozen(eq=False)
class RemovedThreads:
    """Threads that cease to exist here, by index, with their last sequence numbers (NetTrace 6)."""

    threads: ThreadNumbers
    offset: int


@frozen
class LabelList:
    """What NetTrace 6 adds to individual events: activity and trace ids, and (key, value) pairs.

    `overrides` holds (attribute, value) pairs that replace those of the event's description, one for each attribute.
    """

    activity_id: bytes | None = None
    related_activity_id: bytes | None = None
    trace_id: bytes | None = None
    span_id: int | None = None
    pairs: tuple[tuple[str, str | int], ...] = ()
    overrides: tuple[tuple[str, int], ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, str | int]:
        """The pairs by key, with the last value of a repeated key. Made once, however many events have the list."""
        return MappingProxyType(dict(self.pairs))


class LabelLists(Protocol):
    """Label lists that are read when they are asked for, each time anew."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> LabelList: ...
    def __iter__(self) -> Iterator[LabelList]: ...
    def stored(self, index: int) -> bytes:
        """The bytes of one list: lists with equal bytes are equal."""
        ...


@frozen(eq=False)
class Labels:
    """Label lists `first_id`, `first_id + 1`, …; they are valid until the next sequence point."""

    first_id: int
    lists: LabelLists


@frozen(eq=False)
class Fault:
    """A fault found here; `fatal` if the container cannot continue after it."""

    problem: Problem
    fatal: bool = False


@frozen(eq=False)
class End:
    """The end mark of the stream."""

    offset: int


Block: TypeAlias = (
    Header
    | Metadata
    | Events
    | Stacks
    | InlineStacks
    | SequencePoint
    | Boundary
    | Threads
    | RemovedThreads
    | Labels
    | Fault
    | End
)

__all__ = ["FieldDescription"]
