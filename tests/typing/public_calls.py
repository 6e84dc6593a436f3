"""What type checkers say of the public calls; never run. After each `reveal_type` is its type, without modules."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, reveal_type

import clrevents
import clrevents.events
from clrevents import Decoder, EventKey, FilterOptions, Moment, Selector, Stacks, ThreadIds
from clrevents.analysis.reports.jit import JitReport
from clrevents.analysis.reports.startup import StartupReport
from clrevents.events import ILStubGenerated_V0, MethodFlags, MethodILToNativeMap_V1, MethodLoadVerbose_V2, StubFlags
from clrevents.rewrite import cut
from clrevents.types import Counted, Pointer, Registry, UInt16, UnicodeString, by, event, struct


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
    reveal_type(e.name)  # -> str
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
        reveal_type(trace.check())  # -> CheckResult
        reveal_type(trace.doctor("gc.*"))  # -> Diagnosis


def filters(trace: clrevents.Trace, out: Path, moment: Moment, threads: ThreadIds, wanted: Selector) -> None:
    """Right ones, in every place that takes them; moments in every form."""
    chosen: FilterOptions = {"provider": "runtime", "process_id": 7, "thread_id": threads, "start": moment, "end": None}
    reveal_type(trace.events(wanted, order="file", **chosen))  # -> Iterator[Event[Any]]
    reveal_type(trace.table(wanted, columns=["time"], enum_names=True, **chosen))  # -> Table
    reveal_type(trace.table_parts(wanted, rows=10, order="time", **chosen))  # -> Iterator[Table]
    reveal_type(trace.batches(wanted, wanted, rows=10, order="file", **chosen))  # -> Iterator[Batch]
    reveal_type(trace.tables(wanted, wanted, rows=10, **chosen))  # -> Iterator[dict[tuple[str, str], Table]]
    reveal_type(trace.headers(columns=("time", "name"), **chosen))  # -> Table
    reveal_type(Decoder(wanted, errors="strict", symbols=True, **chosen))  # -> Decoder
    reveal_type(cut(trace, out, wanted, rundown=False, **chosen))  # -> Copied
    trace.events(start=timedelta(seconds=1), end=datetime(2026, 1, 1, tzinfo=UTC), thread_id={1, 2})
    trace.headers(start=5_000_000, end="1.5s", thread_id=None)
    trace.table("GCStart", start=moment, thread_id=iter([1]))


def stacks(trace: clrevents.Trace, e: clrevents.Event[MethodLoadVerbose_V2]) -> Iterable[int]:
    held: Stacks = trace.stacks
    reveal_type(held[e.stack_id])  # -> tuple[int, ...]
    reveal_type(held.table())  # -> Table
    reveal_type(e.frames[0].tier)  # -> OptimizationTier | None
    return held


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
    print(clrevents.events.GCStrat_V2)  # error: attr-defined
    e.payload.MethodName = "x"  # error: misc
    e.time_ns = 1  # error: misc
    e.payload = e.payload  # error: misc
    Mine_V0(Count="1", Parts=())  # error: arg-type
    Mine_V0(1)  # error: call-arg
    trace.events(3)  # error: call-overload
    trace.events(start=1.5)  # error: call-overload
    clrevents.open(path="x")  # error: call-arg
    clrevents.open("x", errors="ignore")  # error: arg-type


def wrong_filters(trace: clrevents.Trace, out: Path) -> None:
    trace.events("GCStart", thread=1)  # error: call-overload
    trace.events(thread_id="1")  # error: arg-type
    trace.events(order="random")  # error: call-overload
    trace.events(MethodLoadVerbose_V2, end=2.0)  # error: call-overload
    trace.table("GCStart", thread=1)  # error: call-arg
    trace.table("GCStart", start=1.5)  # error: arg-type
    trace.table("GCStart", order="random")  # error: arg-type
    trace.table("GCStart", "GCStop")  # error: call-arg
    trace.table_parts("GCStart", thread=1)  # error: call-arg
    trace.table_parts("GCStart", end=1.5)  # error: arg-type
    trace.tables("GCStart", thread=1)  # error: call-arg
    trace.tables("GCStart", order="newest")  # error: arg-type
    trace.headers(thread=1)  # error: call-arg
    trace.headers(start=1.5)  # error: arg-type
    Decoder("GCStart", thread=1)  # error: call-arg
    Decoder("GCStart", start=1.5)  # error: arg-type
    Decoder("GCStart", order="random")  # error: arg-type
    cut(trace, out, thread=1)  # error: call-arg
    cut(trace, out, "GCStart", process_id="7")  # error: arg-type
    cut(trace, out, 3)  # error: arg-type
    chosen: FilterOptions = {"thread": 1}  # error: typeddict-unknown-key
    trace.headers(**chosen)


def reports(trace: clrevents.Trace) -> None:
    jit = trace.report(JitReport, raw=True, start="1s", process_id=7)
    reveal_type(jit)  # -> JitReport
    reveal_type(jit.methods)  # -> ReportTable[JittedMethod]
    for method in jit.methods:
        reveal_type(method.method)  # -> str
        reveal_type(method.native_bytes)  # -> int | None
        reveal_type(method.lossy)  # -> bool
    reveal_type(jit.facts)  # -> JitFacts
    reveal_type(jit.metrics["compile_total"].value)  # -> int | float | None
    reveal_type(trace.report(StartupReport).facts.verdict)  # -> str | None
    reveal_type(trace.report("jit"))  # -> JitReport
    reveal_type(trace.report("jit").table())  # -> ReportTable[JittedMethod]
    reveal_type(trace.report("locks").table("deadlocks")[0])  # -> DeadlockedThread
    reveal_type(trace.report(str(trace)))  # -> Any
    print(trace.report("locks").table()[0].nothing)  # error: attr-defined
    reveal_type(trace.reports("jit"))  # -> dict[str, Any]
    reveal_type(JitReport.from_dict({}))  # -> JitReport
    print(jit.methods[0].name_of_nothing)  # error: attr-defined
    trace.report(JitReport).nothing()  # error: attr-defined
    trace.report("jit", start=1.5)  # error: call-overload
