"""Whole tables of stacks against the frames of each event."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import clrevents
from clrevents.decode.stacks import StackArrays
from clrevents.symbols.frame import REASONS
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.symbols.lifetimes import Ints
from clrevents.testing.builder import TraceBuilder
from reading import event_batches
from tiers import each_fixture

MS = 1_000_000


def arrays(*stack: int) -> StackArrays:
    """One stack of number 1, or none."""
    ids = np.array([1] if stack else [], dtype=np.int64)
    offsets = np.array([0, len(stack)] if stack else [0], dtype=np.int64)
    return StackArrays(ids, offsets, np.array(stack, dtype=np.uint64))


def check(trace: clrevents.Trace) -> int:
    """The table says the same as every event; how many stacks were compared."""
    events = [event for batch in event_batches(trace, decode=False) for event in batch]
    ids = np.array([e.stack_id for e in events], dtype=np.int64)
    times = np.array([e.time_ns for e in events], dtype=np.int64)
    resolved = resolve_stacks(trace.methods, trace.stacks.arrays, ids, times)
    frames = [resolved.table.frame(i) for i in range(len(resolved.table))]
    compared = 0
    for event, of in zip(events, resolved.of.tolist(), strict=True):
        if not event.stack:
            assert of < 0 or resolved.offsets[of] == resolved.offsets[of + 1]
            continue
        values = resolved.values[resolved.offsets[of] : resolved.offsets[of + 1]]
        mine = [(frames[v].address, str(frames[v]), frames[v].reason) for v in values.tolist()]
        assert mine == [(f.address, str(f), f.reason) for f in event.frames]
        compared += 1
    return compared


def test_a_stack_that_changes_its_meaning_is_split() -> None:
    trace = TraceBuilder().at(10 * MS).method_load("N", "First", address=0x1000)
    trace.at(11 * MS).sample(0x1010, 0x2010).at(12 * MS).sample(0x1010, 0x2010)
    trace.at(20 * MS).method_unload(0x1000).at(21 * MS).sample(0x1010, 0x2010)
    trace.at(30 * MS).method_load("N", "Second", address=0x1000).at(31 * MS).sample(0x1010, 0x2010)
    trace.at(40 * MS).method_unload(0x1000).at(41 * MS).sample(0x1010, 0x2010)
    opened = clrevents.open(trace.build())
    assert check(opened) == 5
    names = [e.frames[0].name or e.frames[0].reason for e in opened.events("ThreadSample")]
    assert names == ["First", "First", "unloaded", "Second", "unloaded"]


def test_a_stack_that_has_names_in_between_only_is_split() -> None:
    trace = TraceBuilder().at(10 * MS).method_load("N", "First", address=0x1000).at(20 * MS).method_unload(0x1000)
    trace.at(21 * MS).sample(0x1010).at(30 * MS).method_load("N", "Second", address=0x1000)
    trace.at(31 * MS).sample(0x1010).at(40 * MS).method_unload(0x1000).at(41 * MS).sample(0x1010)
    opened = clrevents.open(trace.build())
    assert check(opened) == 3
    assert [e.frames[0].name for e in opened.events("ThreadSample")] == ["", "Second", ""]


def test_processes_are_kept_apart() -> None:
    opened = clrevents.open(TraceBuilder("nettrace6").method_load("N", "A", address=0x1000).sample(0x1010).build())
    table = arrays(0x1010)
    ids, times = np.array([1, 1, 1]), np.array([MS, MS, MS])
    resolved = resolve_stacks(opened.methods, table, ids, times, np.array([1234, 99, 1234]))
    assert resolved.of.tolist() == [1, 0, 1]
    texts = [REASONS[resolved.table.reason[v]] for v in resolved.values]
    assert texts == ["no rundown", ""]


def uses(trace: clrevents.Trace) -> tuple[Ints, Ints]:
    """The stack ids and times of all samples."""
    rows = [(event.stack_id, event.time_ns) for event in trace.events("ThreadSample")]
    return np.array([stack for stack, _ in rows]), np.array([time for _, time in rows])


def test_stacks_alike_under_other_ids_are_one() -> None:
    """After a sequence point the same stacks have other ids: they are resolved once, and others stay apart."""
    trace = TraceBuilder().method_load("N.C", "A", address=0x1000, size=64).method_load("N.C", "B", address=0x2000)
    for _ in range(3):
        trace.sample(0x1010, 0x2010).sample(0x2010, 0x1010).sample(0x1010).sample(0x1010, 0x1010).sequence_point()
    opened = clrevents.open(trace.build())
    stacks = opened.stacks.arrays
    ids, times = uses(opened)
    assert len(stacks) == len(set(ids.tolist())) == 12
    found = resolve_stacks(opened.methods, stacks, ids, times)
    assert found.of.tolist() == [0, 1, 2, 3] * 3
    assert len(found) == 4
    for use, stack_id in enumerate(ids.tolist()):
        place = int(np.flatnonzero(stacks.ids == stack_id)[0])
        low, high = found.offsets[found.of[use]], found.offsets[found.of[use] + 1]
        assert tuple(found.table.address[found.values[low:high]].tolist()) == stacks.stack(place)


@each_fixture("net8-sample", "net8-linux", "net8-netperf3")
def test_what_lasts_is_found_at_every_time(path: Path) -> None:
    """For as long as the last code at an address is said to last, a look-up with a time finds just that."""
    trace = clrevents.open(path)
    methods = trace.methods
    addresses = np.unique(trace.stacks.arrays.addresses)
    for process in {None, *(method.process_id for method in methods)}:
        index, reason, begin, end = methods.lasting(addresses, process)
        low, high = np.maximum(begin, -1), np.minimum(end - 1, trace.duration_ns)
        for moment in (low, (low + high) // 2, high):
            lasts = (begin <= moment) & (moment < end)
            asked, why = methods.find(addresses, moment, process)
            assert asked[lasts].tolist() == index[lasts].tolist()
            assert why[lasts].tolist() == reason[lasts].tolist()
        assert (begin < end).any()
