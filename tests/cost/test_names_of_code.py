"""Names of code where a little input could mean a lot: deep stacks, shared symbols, ids used again, many processes.

Counts calls and frames, no time. What is found is the same as in the small cases of tests/symbols.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import clrevents
from clrevents import Trace
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.events import MethodLoadVerbose_V1, MethodUnloadVerbose_V1, ModuleLoad_V1, ModuleUnload_V1
from clrevents.reference import codec
from clrevents.schema.registry import RUNTIME, SAMPLE
from clrevents.symbols import frame_tables, native
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.symbols.lifetimes import Ranges
from clrevents.symbols.methods import Methods
from clrevents.testing.builder import TraceBuilder
from counting import lines, operations
from in_memory import ended
from project_files import ROOT

pytestmark = pytest.mark.full

SIZES = (100, 200, 400)


def opened(data: bytes) -> Trace:
    return clrevents.open(data)


def proportional(
    run: Callable[[int], object], each: float, count: Callable[[Callable[[], object]], int] = operations
) -> None:
    """Twice the size takes twice the calls (or lines), and no more than `each` for one."""
    run(10)
    counts = [count(lambda n=n: run(n)) for n in SIZES]  # type: ignore[misc]
    for (few, less), (many, more) in pairwise(zip(SIZES, counts, strict=True)):
        assert more - less < each * (many - few)


def deep(depth: int, samples: int, changes: int = 0) -> TraceBuilder:
    """One stack with many samples, whose innermost method is unloaded and replaced again and again."""
    stack = [0x100000 + 64 * i for i in range(depth)]
    trace = TraceBuilder().thread(7).method_load("A", "Run0", address=stack[0])
    for number in range(changes + 1):
        if number:
            trace.method_unload(stack[0]).method_load("A", f"Run{number}", address=stack[0])
        for _ in range(samples // (changes + 1)):
            trace.sample(*stack)
    return trace.rundown()


def test_frames_of_a_deep_stack_are_made_once() -> None:
    def frames(n: int) -> int:
        return sum(len(event.frames) for event in opened(deep(n, 10 * n).build()).events("ThreadSample"))

    assert frames(50) == 50 * 500
    proportional(lambda n: [event.frames for event in opened(deep(n, 10 * n).build()).events("ThreadSample")], 2000)


def test_frames_change_when_code_does() -> None:
    names = [str(event.frames[0]) for event in opened(deep(200, 40, changes=3).build()).events("ThreadSample")]
    assert [names[0], names[10], names[20], names[30]] == [f"A.Run{n}()" for n in range(4)]
    assert [len(set(names[n : n + 10])) for n in range(0, 40, 10)] == [1] * 4


def test_unloaded_frames_are_not_asked_for_again() -> None:
    trace = TraceBuilder().thread(7).method_load("A", "Run", address=0x1000).method_unload(0x1000)
    for _ in range(50):
        trace.sample(*[0x1000] * 100)
    found = opened(trace.rundown().build())
    asked = 0
    find = Ranges.find

    def count(self: Ranges, addresses: np.ndarray, *rest: object) -> object:
        nonlocal asked
        asked += len(addresses)
        return find(self, addresses, *rest)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ranges, "find", count)
        reasons = {event.frames[3].reason for event in found.events("ThreadSample")}
    assert reasons == {"unloaded"}
    assert asked < 1000


def test_an_address_is_looked_up_once_for_all_stacks() -> None:
    """Time decides for the one frame whose stack was used before its code was loaded, at its first and last use."""
    addresses = [0x100000 + 64 * i for i in range(40)]
    trace = TraceBuilder().thread(7).at(1_000_000)
    for number, address in enumerate(addresses[1:]):
        trace.method_load("A", f"Run{number}", address=address)
    for at, depth in enumerate((*range(2, 40), 1, 1)):
        trace.at((at + 2) * 1_000_000).sample(*addresses[-depth:], *addresses[:1] * (depth == 39))
    opened_ = opened(trace.at(90_000_000).method_load("A", "Late", address=addresses[0]).rundown().build())
    arrays, methods = opened_.stacks.arrays, opened_.methods
    rows = [(event.stack_id, event.time_ns) for event in opened_.events("ThreadSample")]
    asked: list[int] = []
    find = Ranges.find

    def count(self: Ranges, addresses: np.ndarray, *rest: object) -> object:
        asked.extend(addresses.tolist())
        return find(self, addresses, *rest)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ranges, "find", count)
        found = resolve_stacks(methods, arrays, *np.array(rows, dtype=np.int64).T)
    assert sorted(asked) == sorted([*addresses, addresses[0], addresses[0]])
    assert len(found.table) == 40
    assert len(found.values) == sum(range(1, 39)) + 40


def test_compilations_need_no_map_of_all_code(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(Methods, "__init__", lambda self, *rest: made.append(self))
    with clrevents.open(ROOT / "fixtures" / "net10-method-interop.nettrace.gz") as trace:
        modules = trace.report("jit").compilations["module"]
    assert not made
    assert {str(module) for module in modules} > {"System.Private.CoreLib"}


@pytest.mark.parametrize("changes", [1, 5])
def test_a_deep_stack_is_resolved_for_each_change_and_not_for_each_use(changes: int) -> None:
    trace = opened(deep(300, 600, changes).build())
    events = list(trace.events("ThreadSample"))
    ids, times = (np.array([getattr(e, name) for e in events]) for name in ("stack_id", "time_ns"))
    found = resolve_stacks(trace.methods, trace.stacks.arrays, ids, times)
    # Once as at the first use, which is also one of the later ones.
    assert len(found.values) == 300 * (changes + 2)
    names = [str(found.table.frame(int(found.values[found.offsets[k]]))) for k in found.of.tolist()]
    assert names == [str(event.frames[0]) for event in events]
    assert len(set(names)) == changes + 1


def test_more_deep_stacks_than_fit_keep_their_first_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_tables, "_ROOM", 1000)
    trace = opened(deep(300, 60, changes=5).build())
    names = {frame.name for frame in read_samples(trace).frames}
    assert {"A.Run0()", "A.Run1()"} <= names
    assert "A.Run5()" not in names
    # Stacks as runtimes write them always fit.
    names = {frame.name for frame in read_samples(opened(deep(100, 60, changes=5).build())).frames}
    assert {f"A.Run{n}()" for n in range(6)} <= names


def in_processes(processes: int, depth: int) -> bytes:
    """A sample of the same deep stack in each process, none of which has any code."""
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads(ThreadRow(1 + i, 1 + i, 1 + i) for i in range(processes))
    writer.metadata([MetadataRecord(1, SAMPLE, 0, 0)])
    writer.stacks(1, [[0x1000 + 64 * i for i in range(depth)]])
    writer.events([EventRecord(1, i, 1 + i, struct.pack("<I", 2), stack_id=1) for i in range(processes)])
    return ended(writer)


def test_a_deep_stack_in_many_processes() -> None:
    proportional(lambda n: [e.frames for e in opened(in_processes(n, 5 * n)).events()], 500)


def test_more_deep_stacks_of_processes_than_fit_count_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_tables, "_ROOM", 1000)
    trace = opened(in_processes(20, 300))
    ids = np.ones(20, dtype=np.int64)
    found = resolve_stacks(trace.methods, trace.stacks.arrays, ids, np.arange(20), 1 + np.arange(20))
    # The 300 that the trace has, and 1,000 more.
    assert found.of.tolist() == [0, 1, 2, 3] + [-1] * 16


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def shared_symbols(processes: int, symbols: int) -> bytes:
    """A file that is mapped into each process, and its symbols."""
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads(ThreadRow(1 + i, 1 + i, 1 + i) for i in range(processes))
    writer.metadata([MetadataRecord(1, "Universal.System", 3), MetadataRecord(2, "Universal.System", 4)])
    mapping = b"".join(map(varint, (1, 0x1000, 0x1000000, 0))) + b"\1\0f" + varint(0)
    writer.events([EventRecord(1, i, 1 + i, mapping) for i in range(processes)])
    named = [b"".join(map(varint, (i, 1, 0x1000 + 16 * i, 0x1010 + 16 * i))) + b"\1\0s" for i in range(symbols)]
    writer.events([EventRecord(2, processes + i, 1, data) for i, data in enumerate(named)])
    return ended(writer)


def test_symbols_of_a_mapping_that_processes_share() -> None:
    methods = opened(shared_symbols(20, 30)).methods
    assert len(methods) == 600
    assert {methods.at(0x1008, None, process).name for process in range(1, 21)} == {"s"}


def test_symbols_are_not_repeated_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_COPIES", 1000)
    methods = opened(shared_symbols(300, 300)).methods
    assert len(methods) == 300 + 1000 + 16 * 600
    last = 0x1008 + 16 * 299
    # The first process still has all of them, and the others say that there is a mapped file.
    assert methods.at(last, None, 1).name == "s"
    assert methods.at(last, None, 2).reason == "native"


def test_a_module_id_used_again() -> None:
    def modules(n: int) -> Trace:
        trace = TraceBuilder()
        for i in range(n):
            trace.event(ModuleLoad_V1(7, 1, 0, 0, f"m{i}.dll", "", 0))
            trace.event(ModuleUnload_V1(7, 1, 0, 0, f"m{i}.dll", "", 0))
        return opened(trace.build())

    def look(n: int) -> list[str]:
        found = modules(n).methods.modules
        # A load is at every other µs.
        return [found.at(7, 2000 * i + 500).name for i in range(n)]  # type: ignore[union-attr]

    assert look(20) == [f"m{i}" for i in range(20)]
    found = modules(20).methods.modules
    assert (found.at(7, -1).name, found.at(7).name) == ("m0", "m19")  # type: ignore[union-attr]
    every = {n: modules(n).methods.modules for n in (10, *SIZES)}
    proportional(lambda n: [every[n].at(7, 2000 * i) for i in range(n)], 30, lines)


def test_a_method_with_many_maps() -> None:
    load = MethodLoadVerbose_V1(7, 1, 0x1000, 1 << 20, 0, 0, "", "a", "", 0)  # type: ignore[arg-type]
    unload = MethodUnloadVerbose_V1(7, 1, 0x1000, 1 << 20, 0, 0, "", "a", "", 0)  # type: ignore[arg-type]

    def methods(n: int) -> Methods:
        trace = TraceBuilder(step_ns=0).event(load)
        for i in range(n):
            trace.raw(RUNTIME, 190, 1, struct.pack("<QQBHIIHQ", 7, 0, 0, 1, i, 0, 0, 0))
        trace.at(1000).event(unload).at(2000)
        for i in range(n):
            trace.raw(RUNTIME, 190, 1, struct.pack("<QQBHIIHQ", 7, 0, 0, 1, 1000 + i, 0, 0, 0))
        return opened(trace.rundown().build()).methods

    # The last map before the method's code went.
    assert methods(20).at(0x1003, 500).il_offset == 19
    every = {n: methods(n) for n in (10, *SIZES)}
    proportional(lambda n: [every[n].at(0x1000 + i, 500) for i in range(n)], 450, lines)


def modules_of(processes: int, kinds: int = 1, losses: int = 1) -> bytes:
    """A module in each process, and so many other kinds of event and losses."""
    payload = codec(ModuleLoad_V1, 8).build(ModuleLoad_V1(7, 1, 0, 0, "m", "", 0))  # type: ignore[arg-type]
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads(ThreadRow(1 + i, 1 + i, 1 + i) for i in range(processes))
    writer.metadata(MetadataRecord(1 + i, RUNTIME, 152 if not i else 5000 + i, 1, f"E{i}") for i in range(1 + kinds))
    for i in range(losses):
        writer.events([EventRecord(2, i, 1, sequence=10 * i + 1)])
    writer.events([EventRecord(1, losses + i, 1 + i, payload) for i in range(processes)])
    writer.events([EventRecord(2 + i, losses + processes, 1, sequence=10 * losses + i) for i in range(kinds)])
    return ended(writer)


def report(data: bytes) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        return opened(data).report("modules")


def test_code_in_many_processes() -> None:
    # It was ten times as much when every process looked for the columns of what did not occur.
    report(modules_of(2))
    few, many = (operations(lambda n=n: report(modules_of(n))) for n in (10, 30))  # type: ignore[misc]
    assert many - few < 4000 * 20


@pytest.mark.parametrize("more", [{"kinds": 300}, {"losses": 300}])
def test_what_all_processes_share_is_worked_out_once(more: dict[str, int]) -> None:
    report(modules_of(2, **more))

    def each(**more: int) -> int:
        few, many = (lines(lambda n=n: report(modules_of(n, **more))) for n in (5, 15))  # type: ignore[misc]
        return many - few

    assert each(**more) < 1.3 * each()
