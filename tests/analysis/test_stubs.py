"""The stubs report: every P/Invoke of a known program that makes a stub, and built traces for each rule."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pytest

import clrevents
from clrevents.analysis.reports.stubs import StubsReport, kind_text
from clrevents.events import (
    ILStubCacheHit_V0,
    ILStubGenerated_V0,
    MethodFlags,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V1,
    StubFlags,
)
from clrevents.testing.builder import TraceBuilder
from project_files import fixture
from reading import asked

report = partial(asked, "stubs")

PROGRAM = {
    # What the traced program calls: name → (kind, managed and native signature). A blittable getpid makes no stub.
    "Program.strlen": ("P/Invoke", "native int(string)", "int64(native int)"),
    "Program.atoi": ("P/Invoke", "int32(string)", "int32(native int)"),
    "Program.strtod": ("P/Invoke", "float64(string,native int)", "float64(native int,int64)"),
    "Program.qsort": (
        "P/Invoke",
        "void(int32[],native int,native int,class Program/Cmp)",
        "void(native int,int64,int64,native int)",
    ),
    "Program.gmtime_r": ("P/Invoke", "native int(int64&,valuetype Program/Tm&)", "int64(native int,native int)"),
    "Program.dlsym": ("P/Invoke", "native int(native int,string)", "int64(int64,native int)"),
    "Program.Cmp.Invoke": (
        "managed delegate for native code",
        "instance int32(native int,native int)",
        "int32(int64,int64)",
    ),
    "Program.GetPid.Invoke": ("delegate of a native function", "instance int32()", "int32()"),
}
# Newer runtimes name pointers to what a reference leads to, with the address of its type.
NEWER = {"Program.gmtime_r": "int64(int64*,Program/Tm /* MT: 0x7f2a49c6d548 */*)"}


def numbers(found: StubsReport) -> tuple[Any, ...]:
    return tuple(found.metrics[name].value for name in ("count", "cache_hits", "compile_total"))


@pytest.mark.parametrize("runtime", ["net8", "net10"])
def test_the_program(runtime: str) -> None:
    with clrevents.open(fixture(f"{runtime}-method-interop")) as trace:
        found = trace.report("stubs")
        events = [event.payload for event in trace.events(ILStubGenerated_V0)]
    mine = {s.target: s for s in found.stubs if s.target.startswith("Program")}
    expected = PROGRAM | ({k: (*PROGRAM[k][:2], v) for k, v in NEWER.items()} if runtime == "net10" else {})
    assert {t: (s.kind, s.managed, s.native) for t, s in mine.items()} == {
        t: (kind, managed, f"unmanaged cdecl {native}") for t, (kind, managed, native) in expected.items()
    }
    assert not any("getpid" in s.name for s in found.stubs)
    for stub in mine.values():
        assert stub.module == "Workload"
        assert stub.stack[-2:] == ("Program.Interop()", "Program.Main(string[])")
        assert stub.compile_ns is not None
        assert 50_000 < stub.compile_ns < 1_000_000
        assert not stub.lossy
    assert [s.il for s in found.stubs] == [p.StubMethodILCode for p in events]
    # .NET 8 writes the code down to where the return value begins, unless there is none.
    whole = {"Program.qsort", "System.GC._Collect"} if runtime == "net8" else {s.target for s in found.stubs}
    assert {s.target for s in found.stubs if not s.cut} == whole
    if runtime == "net10":
        assert "SetLastError" in mine["Program.atoi"].il
        assert "SetLastError" not in mine["Program.strlen"].il
    assert numbers(found) == (9, 0, sum(s.compile_ns or 0 for s in found.stubs))
    assert [(k.kind, k.count) for k in found.kinds] == [
        ("P/Invoke", 7),
        ("delegate of a native function", 1),
        ("managed delegate for native code", 1),
    ]
    assert found.coverage == "full"
    assert numbers(found)[2] == {"net8": 2680509, "net10": 1781958}[runtime]


def stub(name: str, flags: int = 0, method_id: int = 5, il: str = "ret") -> ILStubGenerated_V0:
    return ILStubGenerated_V0(
        0,
        77,
        method_id,
        StubFlags(flags),
        0x06000001,
        "N.T",
        name,
        "int32(string)",
        "unmanaged int32(native int)",
        "s",
        il,
    )


def started(method_id: int) -> MethodJittingStarted_V1:
    return MethodJittingStarted_V1(method_id, 77, 0x06000001, 10, "dynamicClass", "IL_STUB_PInvoke", "()", 0)


def loaded(method_id: int) -> MethodLoadVerbose_V1:
    return MethodLoadVerbose_V1(method_id, 77, 4096, 64, 6, MethodFlags(9), "dynamicClass", "IL_STUB_PInvoke", "()", 0)


def test_times_threads_stacks_and_hits() -> None:
    builder = TraceBuilder().thread(3).method_load("N.T", "Caller", address=0x9000)
    builder.event(stub("f"), stack=[0x9004, 0x1]).event(started(5)).wait(700).event(loaded(5))
    builder.event(ILStubCacheHit_V0(0, 77, 5, 0x06000001, "N.T", "f", "int32(string)"))
    builder.event(stub("f", method_id=6)).event(started(5)).event(loaded(5)).event(stub("g", method_id=5))
    found = report(builder)
    first, second, third = found.stubs
    assert (first.time_ns, first.thread_id, first.compile_ns, first.cache_hits) == (1000, 3, 1700, 1)
    assert first.stack == ("N.T.Caller()", "[unresolved 0x1]")
    assert (second.compile_ns, second.cache_hits, second.stack) == (None, 0, ())
    # The id was used before; that compilation was over, and the hit was of the stub that had the id then.
    assert (third.compile_ns, third.cache_hits) == (None, 0)
    assert [(t.target, t.stubs, t.cache_hits, t.compile_ns) for t in found.targets] == [
        ("N.T.f", 2, 1, 1700),
        ("N.T.g", 1, 0, None),
    ]
    assert numbers(found) == (3, 1, 1700)
    assert report(builder, raw=True).stubs[0].stack == ("N.T.Caller()", "[unresolved 0x1]")
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_load_alone_does_not_tell_how_long_it_took() -> None:
    assert report(TraceBuilder().event(stub("f")).event(loaded(5))).stubs[0].compile_ns is None


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (0, "P/Invoke"),
        (1, "reverse P/Invoke"),
        (2, "call of COM"),
        (3, "call from COM"),
        (4, "P/Invoke (precompiled)"),
        (8, "delegate of a native function"),
        (9, "managed delegate for native code"),
        (16, "P/Invoke with varargs"),
        (32, "call of a function pointer"),
        (64, "struct"),
        (1 << 20, "P/Invoke"),
    ],
)
def test_kinds_in_words(flags: int, text: str) -> None:
    assert kind_text(flags) == text
    found = report(TraceBuilder().event(stub("f", flags)))
    assert [(k.kind, k.count) for k in found.kinds] == [(text, 1)]
    assert found.stubs[0].flags == str(StubFlags(flags))


def test_the_kinds_are_made_of_the_flags_bits() -> None:
    names = ("ReverseInterop", "ComInterop", "NGenedStub", "Delegate", "VarArg", "UnmanagedCallee", "StructMarshal")
    assert [int(StubFlags[name]) for name in names] == [1 << bit for bit in range(7)]
    texts = {kind_text(int(StubFlags[name])) for name in names}
    assert len(texts) == len(names)


def test_texts_that_were_cut_and_losses() -> None:
    builder = (
        TraceBuilder()
        .thread(1)
        .event(stub("f", il="// A {\n// } A\nldarg.0 ..."))
        .event(started(5))
        .lose(1)
        .event(loaded(5))
    )
    builder.wait(10_000).event(stub("g", method_id=9))
    found = report(builder)
    assert [s.cut for s in found.stubs] == [True, False]
    assert [s.lossy for s in found.stubs] == [True, False]
    assert [t.lossy for t in found.targets] == [True, True]
    assert [k.lossy for k in found.kinds] == [True]
    assert [note.numbers for note in found.notes if note.id == "losses"] == [{"events": 1}]
