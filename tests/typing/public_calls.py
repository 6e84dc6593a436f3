"""What type checkers say of the public calls; never run. Behind each `reveal_type` is its type, without modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, reveal_type

import clrevents
from clrevents import Decoder, EventKey, Registry, event, struct
from clrevents.events import ILStubGenerated_V0, MethodFlags, MethodILToNativeMap_V1, MethodLoadVerbose_V2, StubFlags
from clrevents.types import Counted, Pointer, UInt16, UnicodeString, by


@struct
class Part:
    """Two of them."""

    Address: Pointer
    Name: UnicodeString


@event("Mine", id=1, version=0, registry=Registry())
class Mine_V0:
    """A user's own event."""

    Count: UInt16
    Parts: Annotated[Counted[Part], by("Count")]


@event("Mine", id=1, version=1)
class Mine_V1(Mine_V0):
    """Adds Flags."""

    Flags: Annotated[MethodFlags, UInt16]


def selectors(trace: clrevents.Trace, key: EventKey) -> None:
    for e in trace.events(MethodLoadVerbose_V2):
        reveal_type(e)  # -> Event[MethodLoadVerbose_V2]
        reveal_type(e.payload)  # -> MethodLoadVerbose_V2
        reveal_type(e.payload.MethodName)  # -> str
        reveal_type(e.payload.MethodStartAddress)  # -> int
        reveal_type(e.payload.MethodFlags)  # -> MethodFlags
        reveal_type(e.payload.MethodFlags.tier)  # -> OptimizationTier
        reveal_type(e.payload.MethodFlags.extent)  # -> MethodExtent
        reveal_type(e.payload.ReJITID)  # -> int
    for stub in trace.events(ILStubGenerated_V0, start="1s", end="50%", thread_id=[1, 2], order="file"):
        reveal_type(stub.payload.StubFlags)  # -> StubFlags
        reveal_type(stub.payload.StubFlags & StubFlags.Delegate)  # -> StubFlags
    for mapping in trace.events(MethodILToNativeMap_V1):
        reveal_type(mapping.payload.ILOffsets)  # -> tuple[int, ...]
    for mine in trace.events(Mine_V1):
        reveal_type(mine.payload.Parts)  # -> tuple[Part, ...]
        reveal_type(mine.payload.Parts[0].Name)  # -> str
    for named in trace.events("Method*", key, MethodLoadVerbose_V2):
        reveal_type(named.payload)  # -> Any
        reveal_type(named.key)  # -> EventKey
    for anything in trace.events():
        reveal_type(anything)  # -> Event[Any]


def header(e: clrevents.Event[MethodLoadVerbose_V2]) -> None:
    reveal_type(e.time_ns)  # -> int
    reveal_type(e.time)  # -> datetime | None
    reveal_type(e.stack)  # -> tuple[int, ...]
    reveal_type(e.activity_id)  # -> UUID | None
    reveal_type(e.processor)  # -> int | None
    reveal_type(e.payload_bytes)  # -> bytes
    reveal_type(clrevents.asdict(e.payload))  # -> dict[str, Any]


def questions(path: Path) -> None:
    with clrevents.open(path, errors="salvage") as trace:
        reveal_type(trace)  # -> Trace
        reveal_type(trace.info.start)  # -> datetime | None
        reveal_type(trace.event_counts())  # -> dict[EventKey, int]
        reveal_type(trace.problems)  # -> tuple[Problem, ...]
        reveal_type(trace.check())  # -> Report


def pushed(decoder: Decoder) -> None:
    for batch in decoder.feed(bytearray(b"bytes")):
        reveal_type(batch)  # -> Batch
        for e in batch:
            reveal_type(e)  # -> Event[Any]


def records() -> None:
    made = Mine_V1(Count=1, Parts=(Part(1, "x"),), Flags=MethodFlags(8))
    reveal_type(made)  # -> Mine_V1
    reveal_type(made.Flags.tier.name)  # -> str


def mistakes(trace: clrevents.Trace, e: clrevents.Event[MethodLoadVerbose_V2]) -> None:
    print(e.payload.MethodNam)  # error: attr-defined
    e.payload.MethodName = "x"  # error: misc
    Mine_V0(Count="1", Parts=())  # error: arg-type
    Mine_V0(1)  # error: call-arg
    trace.events(3)  # error: call-overload
    trace.events(start=1.5)  # error: call-overload
    clrevents.open(path="x")  # error: call-arg
    clrevents.open("x", errors="ignore")  # error: arg-type
