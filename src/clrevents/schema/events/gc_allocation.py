"""Allocation: ticks, samples by type, random samples (.NET 10), and memory pressure reported by the program."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCAllocationKind
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString

SAMPLED_HIGH = EventGroup(RUNTIME, RuntimeKeyword.GCSampledObjectAllocationHigh, level=4)
SAMPLED_LOW = EventGroup(RUNTIME, RuntimeKeyword.GCSampledObjectAllocationLow, level=4)
ALLOCATION_SAMPLING = EventGroup(RUNTIME, RuntimeKeyword.AllocationSampling, level=4)


@event(RUNTIME, id=10, version=0, aliases=("GC/AllocationTick",), keywords=RuntimeKeyword.GC, level=5)
class GCAllocationTick_V0:
    """Sent about every 100 KB of allocation: bytes since the last tick, on one kind of heap."""

    AllocationAmount: UInt32
    AllocationKind: Annotated[GCAllocationKind, UInt32]


@event(RUNTIME, id=10, version=1)
class GCAllocationTick_V1(GCAllocationTick_V0):
    """Sent about every 100 KB of allocation: bytes since the last tick, on one kind of heap. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=10, version=2)
class GCAllocationTick_V2(GCAllocationTick_V1):
    """Sent about every 100 KB of allocation. Adds the amount in 64 bits, the type and the heap."""

    AllocationAmount64: UInt64
    TypeID: Pointer
    TypeName: UnicodeString
    HeapIndex: UInt32


@event(RUNTIME, id=10, version=3)
class GCAllocationTick_V3(GCAllocationTick_V2):
    """Sent about every 100 KB of allocation. Adds the address of the object that triggered the tick."""

    Address: Pointer


@event(RUNTIME, id=10, version=4)
class GCAllocationTick_V4(GCAllocationTick_V3):
    """Sent about every 100 KB of allocation. Adds the size in bytes of the object that triggered the tick."""

    ObjectSize: UInt64


@event(SAMPLED_HIGH, id=20, version=0, aliases=("GC/SampledObjectAllocation",))
class GCSampledObjectAllocationHigh_V0:
    """A sampled allocation at the high rate; count and bytes of its type since the previous sample."""

    Address: Pointer
    TypeID: Pointer
    ObjectCountForTypeSample: UInt32
    TotalSizeForTypeSample: UInt64
    ClrInstanceID: UInt16


@event(SAMPLED_LOW, id=32, version=0, aliases=("GC/SampledObjectAllocation",))
class GCSampledObjectAllocationLow_V0:
    """A sampled allocation at the low rate; count and bytes of its type since the previous sample."""

    Address: Pointer
    TypeID: Pointer
    ObjectCountForTypeSample: UInt32
    TotalSizeForTypeSample: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=200, version=0, keywords=RuntimeKeyword.GC, level=5)
class IncreaseMemoryPressure_V0:
    """The program reported unmanaged memory that it allocated, in bytes."""

    BytesAllocated: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=201, version=0, keywords=RuntimeKeyword.GC, level=5)
class DecreaseMemoryPressure_V0:
    """The program reported unmanaged memory that it freed, in bytes."""

    BytesFreed: UInt64
    ClrInstanceID: UInt16


@event(ALLOCATION_SAMPLING, id=303, version=0, aliases=("AllocationSampling", "AllocationSampling/AllocationSampled"))
class AllocationSampled_V0:
    """A randomly sampled allocation; every byte is equally likely to be sampled, one per 100 KB on average."""

    AllocationKind: Annotated[GCAllocationKind, UInt32]
    ClrInstanceID: UInt16
    TypeID: Pointer
    TypeName: UnicodeString
    Address: Pointer
    ObjectSize: UInt64
    SampledByteOffset: UInt64
