"""Times and process ids that no clock and no system gives: everything still has an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import clrevents
import costly_containers as costly
from clrevents import Decoder
from clrevents.decode.header_columns import HEADERS

MOST = (1 << 63) - 1
pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")


def cases() -> Iterator[tuple[str, bytes]]:
    for sync, frequency, times in (
        (MOST, 1, [0]),
        (-MOST - 1, 1, [MOST]),
        (0, 1, [MOST, -MOST - 1]),
        (-MOST - 1, 10**9, [MOST]),
        (MOST, MOST, [-5]),
    ):
        yield f"sync {sync}, {frequency} Hz", costly.far(times, sync, frequency)
    for process in (1 << 63, (1 << 64) - 1):
        yield f"process {process}", costly.far([5, 6], process_id=process)


@pytest.mark.parametrize(("name", "data"), list(cases()))
def test_far_times_and_processes_end_nothing(name: str, data: bytes) -> None:
    with clrevents.open(data) as trace:
        frames = [event.frames for event in trace.events()]
        assert {len(stack) for stack in frames} == {2}
        headers = trace.headers(columns=tuple(HEADERS))
        assert len(headers.to_arrow()) == len(frames)
        assert len(trace.methods) == len([event for event in trace.events() if event.id == 143])
        trace.reports()
        assert list(trace.losses)
    decoder = Decoder(symbols=True)
    live = [event.frames for batch in (*decoder.feed(data), *decoder.close()) for event in batch]
    assert len(live) == len(frames)


def test_process_ids_are_64_bits_in_columns_too() -> None:
    with clrevents.open(costly.far([5], process_id=(1 << 64) - 2)) as trace:
        assert trace.headers(columns=("process_id",))["process_id"].tolist() == [-2, -2]
        assert [event.process_id for event in trace.events()] == [-2, -2]


def test_a_method_loaded_at_a_far_time_names_its_frames() -> None:
    with clrevents.open(costly.far([MOST - 1, MOST], -MOST - 1, 1)) as trace:
        assert {str(event.frames[0]) for event in trace.events()} == {"n.m"}
