"""The rows and the facts of the report on allocations. Declares them only; null is what the trace does not tell."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
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
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row

_BYTES = "The bytes that were allocated: exact, estimated or approximate, as the fact `certainty` says."
_LOW = "The truth is above this in 95 % of cases, together with `high_bytes`; null unless the source is `samples`."
_HIGH = "The truth is below this in 95 % of cases, together with `low_bytes`; null unless the source is `samples`."
_LARGE = "How many of the bytes are on the large object heap."

_TYPE = "The type as the runtime writes it; null where the trace does not name it."
_SHARE = "The bytes as a share of all; null if there are none."
_COUNT = "How many objects that is, estimated for samples; null for ticks, which do not tell."
_SAMPLES = "On how many events of the source this rests."


@row
class AllocatedSums(Row):
    """What every table of sums has."""

    share: Ratio | None = column(_SHARE)
    bytes: Bytes = column(_BYTES)
    low_bytes: Bytes | None = column(_LOW)
    high_bytes: Bytes | None = column(_HIGH)
    large_bytes: Bytes = column(_LARGE, hidden=True)
    count: Count | None = column(_COUNT)
    samples: Count = column(_SAMPLES)


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
class AllocatingStack(Row):
    """All allocations with one call stack, of whatever code of its methods."""

    share: Ratio | None = column(_SHARE)
    bytes: Bytes = column(_BYTES)
    low_bytes: Bytes | None = column(_LOW, hidden=True)
    high_bytes: Bytes | None = column(_HIGH, hidden=True)
    large_bytes: Bytes = column(_LARGE, hidden=True)
    count: Count | None = column(_COUNT, hidden=True)
    samples: Count = column(_SAMPLES)
    method: CodeName = column(
        "The innermost method whose namespace is not the framework's; where there is none, the innermost of all."
    )
    innermost: CodeName = column("The innermost method; in brackets why there is no name.", hidden=True)
    stack: tuple[CodeName, ...] = column("All methods, innermost first.", hidden=True)
    stack_id: StackId = column("One of the trace's stacks with these methods, 0 for none.", hidden=True)


@row
class AllocatedTypeStack(AllocatingStack):
    """All allocations of one type with one call stack."""

    type: CodeName | None = column(_TYPE)


@row(span=("start_ns", "end_ns"))
class AllocationInterval(SpanRow):
    """What was allocated in one stretch of time."""

    start_ns: Ns = column("The beginning of the stretch. All of a process but the last are equally long.")
    end_ns: Ns = column("Its end, which is not included; the last one ends with the trace.")
    bytes: Bytes = column(f"{_BYTES[:-1]}, of the part inside the window.", windowed=True)
    low_bytes: Bytes | None = column(_LOW, windowed=True)
    high_bytes: Bytes | None = column(_HIGH, windowed=True)
    large_bytes: Bytes = column(_LARGE, windowed=True)
    samples: Count = column(_SAMPLES, windowed=True)


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
