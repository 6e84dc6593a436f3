"""The rows and the facts of the report on allocations. Declares them only; null is what the trace does not tell."""

from __future__ import annotations

from clrevents.analysis.framework.cells import (
    Bytes,
    CodeName,
    Count,
    Flag,
    Ns,
    PrivateText,
    Ratio,
    StackId,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.row_class import Row, SpanRow, column, row

_BYTES = "The bytes that were allocated: exact, estimated or approximate, as the fact `certainty` says."
_LOW = "The truth is above this in 95 % of cases, together with `high_bytes`; null unless the source is `samples`."
_HIGH = "The truth is below this in 95 % of cases, together with `low_bytes`; null unless the source is `samples`."
_LARGE = "How many of the bytes are on the large object heap."

_TYPE = "The type as the runtime writes it; null where the trace does not name it."
_STACK_ID = "One of the trace's stacks with these methods, 0 for none."
_METHOD = "The innermost method; in brackets why there is no name."
_CALLER = "The innermost method whose namespace is not the framework's; null without one."
_STACK = "All methods, innermost first."


@row
class AllocatedSums(Row):
    """What every table of sums has."""

    share: Ratio | None = column("The bytes as a share of all; null if there are none.")
    bytes: Bytes = column(_BYTES)
    low_bytes: Bytes | None = column(_LOW)
    high_bytes: Bytes | None = column(_HIGH)
    large_bytes: Bytes = column(_LARGE, hidden=True)
    count: Count | None = column("How many objects that is, estimated for samples; null for ticks, which do not tell.")
    samples: Count = column("On how many events of the source this rests.")


@row
class AllocatedType(AllocatedSums):
    """All allocations of one type."""

    type: CodeName | None = column(_TYPE)


@row
class AllocatedKind(AllocatedSums):
    """All allocations on one kind of heap."""

    kind: Word | None = column("`small`, `large`, or `pinned` for the pinned object heap; null if unknown.")


@row
class AllocatingThread(AllocatedSums):
    """All allocations of one thread."""

    thread_id: ThreadId | None = column("The thread that allocated.")
    thread_name: PrivateText | None = column("What the thread is called; null if the trace does not tell.")


@row
class AllocatingStack(AllocatedSums):
    """All allocations with one call stack, of whatever code of its methods."""

    stack_id: StackId = column(_STACK_ID, hidden=True)
    method: CodeName = column(_METHOD)
    caller: CodeName | None = column(_CALLER)
    stack: tuple[CodeName, ...] = column(_STACK, hidden=True)


@row
class AllocatedTypeStack(AllocatedSums):
    """All allocations of one type with one call stack."""

    type: CodeName | None = column(_TYPE)
    stack_id: StackId = column(_STACK_ID, hidden=True)
    method: CodeName = column(_METHOD)
    caller: CodeName | None = column(_CALLER)
    stack: tuple[CodeName, ...] = column(_STACK, hidden=True)


@row(span=("start_ns", "end_ns"))
class AllocationInterval(SpanRow):
    """What was allocated in one stretch of time."""

    start_ns: Ns = column("The beginning of the stretch. All stretches of a process are equally long.")
    end_ns: Ns = column("Its end, which is not included.")
    bytes: Bytes = column(f"{_BYTES[:-1]}, of the part inside the window.", windowed=True)
    low_bytes: Bytes | None = column(_LOW, windowed=True)
    high_bytes: Bytes | None = column(_HIGH, windowed=True)
    large_bytes: Bytes = column(_LARGE, windowed=True)
    samples: Count = column("On how many events of the source this rests.", windowed=True)


@row
class AllocationSource(Row):
    """What one source says of all allocations."""

    source: Word = column("`objects`, `samples` or `ticks`.")
    used: Flag = column("The other tables are made of this source.")
    samples: Count = column("How many of its events lie in the window.")
    bytes: Bytes = column("The bytes that they stand for together. Sources are never added up.")
    low_bytes: Bytes | None = column(_LOW)
    high_bytes: Bytes | None = column(_HIGH)


@row
class AllocFacts:
    """Where the numbers come from, and how sure they are."""

    source: Word | None = column(
        "What was added up: `objects` (every object), `samples` (random ones) or `ticks`; null for nothing."
    )
    certainty: Word | None = column(
        "`exact` for objects; `estimated`, with intervals, for samples; `approximate` for ticks, of which the total is "
        "about right and types with few of them are not."
    )
    large_by: Word | None = column(
        "How large objects are told: `kind` as the runtime says, or `size` from 85,000 bytes, its default."
    )
