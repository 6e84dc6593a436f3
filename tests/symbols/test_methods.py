"""Frames of events, reasons of those without names, modules, IL offsets; live and pickled."""

from __future__ import annotations

import gzip
import pickle
from io import BytesIO
from pathlib import Path
from uuid import UUID

import pytest

import clrevents
from clrevents.events import (
    AssemblyLoad_V1,
    DomainModuleLoad_V1,
    MethodDCEndILToNativeMap_V0,
    MethodDCEndILToNativeMap_V1,
    MethodFlags,
    MethodLoadVerbose_V1,
    MethodLoadVerbose_V2,
    ModuleDCEnd_V3,
    ModuleLoad_V1,
    ModuleUnload_V1,
)
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked

MS = 1_000_000


def small() -> TraceBuilder:
    trace = TraceBuilder().thread(7).event(ModuleLoad_V1(1, 2, 0, 0, "/app/App.dll", "", 0))
    trace.method_load("Program", "Main", address=0x1000).method_load("Program+<Work>d__3", "MoveNext", address=0x2000)
    return trace.sample(0x2010, 0x1020, 0x9999)


def test_an_events_frames() -> None:
    trace = clrevents.open(small().rundown().build())
    (event,) = trace.events("ThreadSample")
    assert [str(f) for f in event.frames] == ["Program.Work(...)", "Program.Main()", "[unresolved 0x9999]"]
    assert len(event.frames) == len(event.stack)
    work, main, outside = event.frames
    assert (work.module, work.namespace, work.name, work.signature) == (
        "App",
        "Program+<Work>d__3",
        "MoveNext",
        "void  ()",
    )
    assert (main.address, main.reason, main.resolved) == (0x1020, None, True)
    assert (outside.reason, outside.resolved, outside.tier) == ("not managed", False, None)
    assert next(iter(trace.events("MethodLoadVerbose"))).frames == ()


def test_a_stripped_trace_says_what_is_missing() -> None:
    trace = clrevents.open(TraceBuilder().sample(0x1000, 0x2000).build())
    (event,) = trace.events()
    assert [f.reason for f in event.frames] == ["no rundown"] * 2
    assert [str(f) for f in event.frames] == ["[unresolved 0x1000]", "[unresolved 0x2000]"]
    assert trace.methods.advice is not None
    assert "rundown" in trace.methods.advice
    assert len(trace.methods) == 0
    assert clrevents.open(small().rundown().build()).methods.advice is None


def test_frames_outlive_the_trace_and_pickle(tmp_path: Path) -> None:
    path = tmp_path / "small.nettrace"
    path.write_bytes(small().rundown().build())
    with clrevents.open(path) as trace:
        events = list(trace.events("ThreadSample"))
    (event,) = events
    early = pickle.loads(pickle.dumps(event))
    assert [f.reason for f in early.frames] == ["no names"] * 3
    assert event.frames[0].name == "MoveNext"
    late = pickle.loads(pickle.dumps(event))
    assert late.frames == event.frames
    assert [str(f) for f in late.frames] == [str(f) for f in event.frames]
    assert pickle.loads(pickle.dumps(late)).frames == event.frames
    assert late == early == event


def test_frames_when_the_trace_is_gone(tmp_path: Path) -> None:
    data = small().rundown().build()
    packed = tmp_path / "small.nettrace.gz"
    packed.write_bytes(gzip.compress(data))
    for source in (packed, data):
        with clrevents.open(source) as trace:
            (event,) = trace.events("ThreadSample")
        assert event.frames[1].name == "Main"
        (event,) = clrevents.open(source).events("ThreadSample")
        assert event.frames[1].name == "Main"
    (event,) = clrevents.open(BytesIO(data)).events("ThreadSample")
    assert [f.reason for f in event.frames] == ["no names"] * 3
    with clrevents.open(packed) as trace:
        (event,) = trace.events("ThreadSample")
    packed.unlink()
    with pytest.raises(clrevents.SourceError):
        event.frames  # noqa: B018


def test_modules_tell_all_that_any_event_tells() -> None:
    one, two = UUID(int=1), UUID(int=2)
    trace = TraceBuilder().at(MS).event(ModuleLoad_V1(7, 3, 0x20, 0, "/app/App.dll", "", 0))
    trace.event(DomainModuleLoad_V1(7, 3, 9, 0x20, 0, "/app/App.dll", "", 0))
    trace.event(AssemblyLoad_V1(3, 9, 0, 0, "App, Version=1.0.0.0", 0))
    trace.at(5 * MS).event(ModuleUnload_V1(8, 4, 0, 0, "C:\\x\\Plugin.DLL", "", 0))
    trace.event(
        ModuleDCEnd_V3(7, 3, 0x20, 0, "/app/App.dll", "", 0, one, 1, "/src/App.pdb", two, 2, "/src/n.pdb", "abc")
    )
    modules = clrevents.open(trace.build()).methods.modules
    app, plugin = modules
    assert (app.name, app.assembly, app.app_domain_id) == ("App", "App, Version=1.0.0.0", 9)
    assert (app.loaded_ns, app.unloaded_ns, app.native_build_id) == (MS, None, "abc")
    assert app.managed_pdb is not None
    assert (app.managed_pdb.signature, app.managed_pdb.age, app.managed_pdb.name) == (one, 1, "App.pdb")
    assert app.native_pdb is not None
    assert app.native_pdb.path == "/src/n.pdb"
    assert (plugin.name, plugin.loaded_ns, plugin.unloaded_ns) == ("Plugin", None, 5 * MS)
    assert str(app.flags) == "ReadyToRunModule"


def test_il_offsets() -> None:
    """A frame that called is at the call, in front of where it returns to."""
    flags = MethodFlags(0x8)
    trace = TraceBuilder()
    trace.event(MethodLoadVerbose_V1(1, 1, 0x1000, 0x40, 1, flags, "N", "A", "void  ()", 0))
    trace.event(MethodLoadVerbose_V2(1, 1, 0x2000, 0x40, 1, flags, "N", "A", "void  ()", 0, 1))
    trace.sample(0x1010, 0x1010, 0x1005, 0x1001, 0x2010, 0x3010)
    il, native = (-2, 7, 3, -1), (0, 0x10, 0x4, 0x30)
    trace.event(MethodDCEndILToNativeMap_V1(1, 0, 0, 4, il, native, 0, 0))
    trace.event(MethodDCEndILToNativeMap_V1(1, 1, 0, 2, (0, 9), (0, 0x10), 0, 0))
    (event,) = clrevents.open(trace.build()).events("ThreadSample")
    assert [f.il_offset for f in event.frames] == [7, 3, 3, None, 0, None]


def test_il_maps_of_version_0_are_believed_where_they_can_only_mean_one_piece() -> None:
    def offset(*pieces: tuple[int, int], last: int = 0x10) -> int | None:
        trace = TraceBuilder()
        for start, size in pieces:
            trace.event(MethodLoadVerbose_V1(1, 1, start, size, 1, MethodFlags(8), "N", "A", "void  ()", 0))
        trace.event(MethodDCEndILToNativeMap_V0(1, 0, 0, 2, (5, 9), (0, last), 0))
        trace.sample(pieces[0][0] + 4)
        (event,) = clrevents.open(trace.build()).events("ThreadSample")
        return event.frames[0].il_offset

    assert offset((0x1000, 0x40)) == 5
    assert offset((0x1000, 0x40), (0x2000, 0x40)) is None
    assert offset((0x1000, 0x40), last=0x80) is None


def test_short_payloads_are_passed_over() -> None:
    trace = small().raw("Microsoft-Windows-DotNETRuntime", 143, 1, b"\0" * 20)
    trace.raw("Microsoft-Windows-DotNETRuntime", 152, 1, b"\0" * 4)
    trace.raw("Microsoft-Windows-DotNETRuntime", 190, 1, b"\1" * 17).raw("Microsoft-Windows-DotNETRuntime", 159, 0, b"")
    assert len(clrevents.open(trace.build()).methods) == 2


def test_a_version_to_come_is_read_as_far_as_known() -> None:
    trace = TraceBuilder().event(MethodLoadVerbose_V2(1, 1, 0x1000, 0x40, 1, 8, "N", "A", "void  ()", 0, 5))
    data = trace.build()
    trace = TraceBuilder().raw("Microsoft-Windows-DotNETRuntime", 143, 3, _payload(data) + b"more").sample(0x1000)
    methods = clrevents.open(trace.build()).methods
    assert [(m.name, m.rejit_id) for m in methods] == [("A", 5)]


def _payload(data: bytes) -> bytes:
    (event,) = clrevents.open(data).events()
    return event.payload_bytes


@pytest.mark.parametrize("name", ["net10-method-interop", "net8-sample"])
def test_methods_can_be_pickled_and_answer_the_same(name: str) -> None:
    """Also after questions: what was found for some stacks is not taken for others."""
    with clrevents.open(unpacked(fixture(name))) as trace:
        stacks = [(event.stack, event.time_ns) for event in trace.events() if event.stack][:200]
        asked = [trace.methods.frames(*stack) for stack in stacks]
        again = pickle.loads(pickle.dumps(trace.methods))
        assert [again.frames(*stack) for stack in reversed(stacks)] == asked[::-1]
        assert list(again) == list(trace.methods)
        assert list(again.modules) == list(trace.methods.modules)
