"""Traces one after the other in one file: each is read as if it were alone, and the one before says that it follows."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.errors import ErrorMode
from clrevents.testing.builder import TraceBuilder
from plain_trace import GENERATIONS, PlainTrace

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")


def _traces() -> dict[str, bytes]:
    builder = TraceBuilder()
    for turn in range(30):
        builder.thread(turn % 3).sample(turn + 1)
    plain = PlainTrace.of(builder.build())
    return {generation: plain.written(generation) for generation in GENERATIONS}


TRACES: Final = _traces()
ONE: Final = st.sampled_from(GENERATIONS)
MODES: Final = st.sampled_from(("report", "strict", "salvage"))


def said(data: Any, errors: ErrorMode, trace: int = 1) -> tuple[Any, ...]:
    with clrevents.open(data, errors=errors, trace=trace) as opened:
        events = [(event.key, event.time_ns, event.thread_id, event.stack) for event in opened.events()]
        check = opened.check()
        return events, check.lost, check.complete, dict(check.problem_counts), opened.event_counts()


@settings(max_examples=12)
@given(generations=st.lists(ONE, min_size=2, max_size=3), errors=MODES)
def test_each_as_if_it_were_alone(generations: list[str], errors: ErrorMode) -> None:
    data = b"".join(TRACES[generation] for generation in generations)
    for number, generation in enumerate(generations, 1):
        events, lost, complete, problems, counts = said(data, errors, number)
        assert problems.pop("another-trace", 0) == (number < len(generations))
        assert (events, lost, complete, problems, counts) == said(TRACES[generation], errors)
    with pytest.raises(clrevents.SourceError, match=f"has {len(generations)} traces: there is none of number 9"):
        clrevents.open(data, trace=9)


@settings(max_examples=20)
@given(first=st.sampled_from(["NetPerf 3", "NetTrace 4"]), second=ONE, data=st.data())
def test_after_one_that_was_cut_off(first: str, second: str, data: st.DataObject) -> None:
    """Nothing of the second is taken for the first one's, wherever that ends: their blocks have marks."""
    whole = TRACES[first]
    short = whole[: data.draw(st.integers(len(whole) // 2, len(whole) - 1))]
    events, _, complete, problems, _ = said(short + TRACES[second], "salvage")
    alone = said(short, "salvage")
    assert (events, complete) == (alone[0], alone[2])
    assert problems["another-trace"] == 1
    assert said(short + TRACES[second], "salvage", 2)[:3] == said(TRACES[second], "salvage")[:3]


def test_a_trace_in_a_payload() -> None:
    """Only where a block could begin is a trace looked for."""
    inner = TRACES["NetTrace 4"]
    data = TraceBuilder().raw("Files", 1, payload=inner).sample(1).build()
    with clrevents.open(data, errors="salvage") as trace:
        assert [len(event.payload_bytes) for event in trace.events()] == [len(inner), 4]
        assert "another-trace" not in trace.check().problem_counts


def test_ways_to_open(tmp_path: Path) -> None:
    """By path, which can be pickled, from a file object; reports name code as from the trace alone."""
    path = tmp_path / "two.nettrace"
    path.write_bytes(TRACES["NetPerf 3"] + TRACES["NetTrace 4"])
    with clrevents.open(path, trace=2) as trace, pickle.loads(pickle.dumps(trace)) as again:
        assert trace.event_counts() == again.event_counts()
        assert (trace.info.version, again.info.version) == (4, 4)
        assert trace.methods is not None
    assert said(io.BytesIO(path.read_bytes()), "report", 2) == said(TRACES["NetTrace 4"], "report")
    with pytest.raises(ValueError, match="at least 1"):
        clrevents.open(path, trace=0)
