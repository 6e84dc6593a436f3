"""Randomly sampled allocations (.NET 10)."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCAllocationKind
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(
    RUNTIME,
    id=303,
    version=0,
    aliases=("AllocationSampling", "AllocationSampling/AllocationSampled"),
    keywords=RuntimeKeyword.AllocationSampling,
    level=4,
)
class AllocationSampled_V0:
    """A randomly sampled allocation; every byte is equally likely to be sampled, one per 100 KB on average."""

    AllocationKind: Annotated[GCAllocationKind, UInt32]
    ClrInstanceID: UInt16
    TypeID: Pointer
    TypeName: UnicodeString
    Address: Pointer
    ObjectSize: UInt64
    SampledByteOffset: UInt64
