"""Known events are lost, known bytes destroyed: the rows that this touches are marked, and no others."""

from __future__ import annotations

from typing import Any

import pytest

import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import NoParameters
from clrevents.analysis.framework.run.asking import find_report
from clrevents.events import GCRestartEEEnd_V1, GCSuspendEEBegin_V1, GCSuspendEEReason
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.trace import passes_of
from damage import Blocks
from project_files import fixture, unpacked

NUMBERED: list[Format] = ["nettrace4", "nettrace6"]


def stop(builder: TraceBuilder, thread: int, time_ns: int) -> TraceBuilder:
    return builder.thread(thread).at(time_ns).event(GCSuspendEEBegin_V1(GCSuspendEEReason(1), 0, 0))


def go(builder: TraceBuilder, thread: int, time_ns: int) -> TraceBuilder:
    return builder.thread(thread).at(time_ns).event(GCRestartEEEnd_V1(0))


def report(data: bytes) -> Answer[Any]:
    return report_laws.whole_answer(pauses.REPORT, NoParameters(), data)


def marked(data: bytes) -> dict[tuple[int | None, int | None], bool]:
    return {(row.start_ns, row.end_ns): row.lossy for row in report(data).table("pauses")}


@pytest.mark.parametrize("format", NUMBERED)
def test_losses_mark_rows_of_their_thread_that_they_touch(format: Format) -> None:
    builder = TraceBuilder(format)
    for thread in (5, 6):
        builder.thread(thread).at(thread).sample(1)
    go(stop(builder, 5, 10), 5, 20)
    builder.thread(5).at(25).sample(1).lose(2)
    # While thread 5 loses events, between 25 and 40, thread 6 loses none.
    go(stop(builder, 6, 30), 6, 35)
    builder.thread(5).at(40).sample(1)
    go(stop(builder, 5, 50), 5, 60)
    builder.thread(5).at(65).sample(1)
    stop(builder, 6, 70).thread(5).lose(1)
    go(builder, 5, 80)
    # Between 80 and 100. What begins or ends in the very moment counts, because clocks are coarse.
    builder.thread(5).lose(1)
    go(stop(builder, 5, 100), 6, 110)
    go(stop(builder, 6, 120), 6, 130)
    # Never ended, on the thread that lost nothing.
    stop(builder, 6, 140)
    assert marked(builder.build()) == {
        (10, 20): False,
        (30, 35): False,
        (50, 60): False,
        (70, 80): True,
        (100, 110): True,
        (120, 130): False,
        (140, None): False,
    }
    (note,) = report(builder.build()).notes
    assert (note.id, note.numbers) == ("losses", {"events": 4})


@pytest.mark.parametrize("thread", [5, 6])
@pytest.mark.parametrize("format", NUMBERED)
def test_destroyed_events_mark_rows_of_their_thread(format: Format, thread: int) -> None:
    data = spoilt(format, thread)
    # Two events of thread 5 are gone: a pause of thread 6 has nothing to do with them.
    assert marked(data) == {(20_000, 50_000): thread == 5}
    (note,) = report(data).notes
    assert (note.id, note.numbers, note.touches) == ("damage", {"events": 2}, ("lossy", "facts"))


def test_netperf_has_no_numbers_so_that_damage_marks_no_row_and_is_said() -> None:
    found = report(spoilt("netperf3", 5))
    assert [(row.start_ns, row.end_ns, row.lossy) for row in found.table("pauses")] == [(20_000, 50_000, False)]
    (note,) = found.notes
    assert (note.id, note.severity, note.numbers) == ("damage", "error", {"places": 1})
    assert "events may be missing nearby" in note.message


def test_a_window_notes_only_what_is_missing_in_it() -> None:
    builder = TraceBuilder().thread(5).sample(1)
    go(stop(builder, 5, 2000).lose(1), 5, 3000)
    go(stop(builder, 5, 9000), 5, 9900)
    with report_laws.opened(builder.build()) as trace:
        early, late = (
            report_laws.answered(pauses.REPORT, NoParameters(), trace, start=start, end=end)
            for start, end in ((0, 4000), (4000, 10_000))
        )
    assert ([n.id for n in early.notes], [row.lossy for row in early.table("pauses")]) == (["losses"], [True])
    assert ([n.id for n in late.notes], [row.lossy for row in late.table("pauses")]) == ([], [False])


@pytest.mark.parametrize("name", ["net8-method-interop", "net8-unload-verbose"])
def test_each_block_of_a_real_trace_destroyed_marks_what_it_held(name: str) -> None:
    data = unpacked(fixture(name))
    blocks = [block for block in Blocks(data).all if block.name == "EventBlock"]
    seen, jit = set(), find_report("jit")
    for block in blocks[:: max(len(blocks) // 4, 1)]:
        bad = zeroed(data, block.start + 30, block.end - 1)
        with report_laws.opened(bad) as trace:
            missing = passes_of(trace).scan(raising=False).missing
        declaration, parameters = jit, jit.parameters()
        report_laws.marks_what_holes_touch(declaration, parameters, bad)
        found = report_laws.whole_answer(declaration, parameters, bad)
        notes = {note.id: note.numbers for note in found.notes}
        assert notes["damage"] == ({"events": missing} if missing else {"places": 1})
        seen |= {row.lossy for row in found.table("compilations")}
    assert seen == {True, False}


def spoilt(format: Format, thread: int) -> bytes:
    """A pause of a thread from 20 to 50 µs, and meanwhile a destroyed block with two events of thread 5."""
    builder = TraceBuilder(format).thread(5).sample(1).thread(6).sample(1)
    stop(builder, thread, 20_000).sequence_point()
    builder.thread(5).at(30_000).sample(1).sample(2).sequence_point()
    builder.thread(5).at(40_000).sample(3)
    data = go(builder, thread, 50_000).build()
    blocks = [block for block in Blocks(data).all if block.name == "EventBlock"]
    # NetPerf describes events in the same blocks: the two samples are in the last one but two.
    block = blocks[-3] if format == "netperf3" else blocks[1]
    return zeroed(data, block.start + (4 if format == "nettrace6" else 30), block.end - 1)


def zeroed(data: bytes, start: int, end: int) -> bytes:
    return data[:start] + bytes(end - start) + data[end:]
