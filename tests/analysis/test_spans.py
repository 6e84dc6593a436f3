"""`spans` on built and on real traces equals a slow pairing of the events themselves, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.analysis import spans
from clrevents.analysis.framework.model.needs import Marks, trace_holes
from clrevents.events import GCStart_V1, GCStart_V2, MethodJittingStarted_V1
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.trace import passes_of
from project_files import fixture
from reading import opened
from slow_pairs import pairs
from tabular import values

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]
FIRST, SECOND = "My-App/Begin", "My-App/End"


def begin(builder: TraceBuilder, number: int, text: str = "b") -> TraceBuilder:
    return builder.described("My-App", "Begin", {"Number": (9, number), "Text": (18, text), "Lossy": (9, 7)}, id=1)


def end(builder: TraceBuilder, number: int, text: str = "e") -> TraceBuilder:
    return builder.described("My-App", "End", {"Number": (11, number), "TEXT": (18, text), "More": (9, 1)}, id=2)


def slow(trace: clrevents.Trace, first: str, second: str, on: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows as one would make them from events, with all of the rules said once more."""
    events = list(trace.events(first, second))
    name = first.rpartition("/")[2]

    def key(event: clrevents.Event[Any]) -> tuple[Any, ...]:
        own = {"thread_id": event.thread_id, "processor": event.processor, **values(event)}
        found = tuple(own[k] for k in on)
        # What is not known is like nothing else.
        return (object(),) if None in found else found

    rows = []
    for a, b in pairs([(key(e), e.name == name) for e in events]):
        one, two = events[a], events[b]
        mine = values(one)
        lower = {n.lower() for n in mine}
        row = {
            "start_ns": one.time_ns,
            "end_ns": two.time_ns,
            "duration_ns": two.time_ns - one.time_ns,
            "thread_id": one.thread_id,
            "end_thread_id": two.thread_id,
            "stack_id": one.stack_id,
            "activity_id": None if one.activity_id is None else one.activity_id.bytes,
            **mine,
            **{n: v for n, v in values(two).items() if n.lower() not in lower},
        }
        row["lossy"] = any(
            loss.start_ns <= two.time_ns
            and loss.end_ns >= one.time_ns
            and (loss.thread_id == one.thread_id or "thread_id" not in on)
            for loss in trace.losses
        )
        rows.append(row)
    return rows


def check(trace: clrevents.Trace, first: str, second: str, on: tuple[str, ...]) -> clrevents.Table:
    table = spans(trace, first, second, on=on)
    expected = slow(trace, first, second, on)
    # A field that only other versions have is null.
    assert list(table.rows()) == [{**dict.fromkeys(table.columns), **row} for row in expected]
    counts = {"begins": len(list(trace.events(first))), "ends": len(list(trace.events(second)))}
    for side, count in counts.items():
        assert int(table.metadata[f"unmatched_{side}"]) == count - len(expected)
    assert int(table.metadata["lossy"]) == sum(row["lossy"] for row in expected)
    return table


@st.composite
def builders(draw: st.DrawFn) -> TraceBuilder:
    """Begins and ends on some threads, at moments that are often the same, with losses and unmatched ones."""
    format = draw(st.sampled_from(FORMATS))
    builder = TraceBuilder(
        format, step_ns=draw(st.sampled_from([0, 1, 1000])), pointer_size=draw(st.sampled_from([4, 8]))
    )
    for thread in (1, 2, 3):
        builder.thread(thread).sample()
    for _ in range(draw(st.integers(0, 25))):
        builder.thread(draw(st.integers(1, 3)))
        number = draw(st.integers(0, 2))
        match draw(st.sampled_from("bbbeeexls")):
            case "b":
                begin(builder, number)
            case "e":
                end(builder, number)
            case "x":
                builder.sample()
            case "l" if format != "netperf3":
                builder.lose(2)
            case "s":
                builder.sequence_point()
    return builder


@given(builders(), st.sampled_from([("thread_id",), ("thread_id", "Number"), ("Number",), (), ("processor", "Number")]))
def test_any_built_trace(builder: TraceBuilder, on: tuple[str, ...]) -> None:
    begin(builder.thread(9), 99)
    end(builder, 99)
    with opened(builder) as trace:
        table = spans(trace, FIRST, SECOND, on=on)
        rows = [{name.removeprefix("payload."): value for name, value in row.items()} for row in table.rows()]
        assert rows == slow(trace, FIRST, SECOND, on)


REAL = [
    ("net10-method-interop", "MethodJittingStarted", "MethodLoadVerbose", ("thread_id", "MethodID")),
    ("net10-method-interop", "R2RGetEntryPointStart", "R2RGetEntryPoint", ("thread_id", "MethodID")),
    ("net10-method-interop", "R2RGetEntryPointStart", "R2RGetEntryPoint", ("thread_id",)),
    ("net10-method-interop", "MethodLoadVerbose", "MethodUnloadVerbose", ("MethodStartAddress",)),
    ("net10-method-interop", "MethodLoadVerbose", "MethodUnloadVerbose", ()),
    ("net10-method-interop", "ModuleLoad", "ModuleUnload", ("ModuleILPath", "ModuleFlags")),
    ("net8-sample", "RequestStart", "RequestStop", ("thread_id", "id")),
]


@pytest.mark.parametrize(("name", "first", "second", "on"), REAL)
def test_real_traces(name: str, first: str, second: str, on: tuple[str, ...]) -> None:
    with clrevents.open(fixture(name)) as trace:
        table = check(trace, first, second, on)
    assert len(table) > 5


def test_the_columns() -> None:
    builder = begin(TraceBuilder().thread(5), 1, "one")
    end(builder, 1, "two")
    with clrevents.open(builder.build()) as trace:
        table = spans(trace, FIRST, SECOND, on=["Number"])
    assert table.columns == [
        *("start_ns", "end_ns", "duration_ns", "thread_id", "end_thread_id", "stack_id", "activity_id"),
        *("Number", "Text", "payload.Lossy", "More", "lossy"),
    ]
    assert list(table.rows()) == [
        {
            "start_ns": 0,
            "end_ns": 1000,
            "duration_ns": 1000,
            "thread_id": 5,
            "end_thread_id": 5,
            "stack_id": 0,
            "activity_id": None,
            "Number": 1,
            "Text": "one",
            "payload.Lossy": 7,
            "More": 1,
            "lossy": False,
        }
    ]
    assert table.metadata == {
        "name": "My-App/Begin to My-App/End",
        "pairing": "key",
        "on": "Number",
        "ambiguous": "0",
        "unmatched_begins": "0",
        "unmatched_ends": "0",
        "unmatched_by_activity": "0",
        "losses": "0",
        "lossy": "0",
    }


def test_losses_of_a_thread_and_of_any() -> None:
    builder = TraceBuilder()
    begin(builder.thread(1), 1)
    end(builder, 1)
    begin(builder.thread(2), 1)
    begin(builder.thread(1).wait(5000), 2)
    builder.lose(3)
    end(builder, 2)
    end(builder.thread(2), 1)
    builder.sequence_point()
    begin(builder.thread(1), 3)
    end(builder, 3)
    with opened(builder) as trace:
        assert spans(trace, FIRST, SECOND)["lossy"].tolist() == [False, False, True, False]
        table = spans(trace, FIRST, SECOND, on=("Number",))
        assert table["Number"].tolist() == [1, 1, 2, 3]
        assert table["lossy"].tolist() == [False, True, True, False]
        assert (table.metadata["losses"], table.metadata["lossy"]) == ("3", "2")


def test_a_list_of_losses_that_was_cut_marks_the_rest() -> None:
    builder = TraceBuilder()
    builder.thread(2).sample()
    for number in range(5):
        begin(builder.thread(1), number)
        builder.lose(1)
        end(builder, number)
    begin(builder.thread(2), 9)
    end(builder, 9)
    limits = clrevents.Limits(problems=2)
    with opened(builder, limits=limits) as trace:
        assert len(trace.losses) < 5
        assert trace.lost == 5
        assert spans(trace, FIRST, SECOND)["lossy"].all()
    with opened(builder) as trace:
        assert spans(trace, FIRST, SECOND)["lossy"].tolist() == [True] * 5 + [False]
        marks = Marks(trace_holes(trace))
        first = trace.losses[0]
        assert touches(marks, first.end_ns, first.end_ns + 1, 1)
        assert touches(marks, 0, first.start_ns, 1)
        assert not touches(marks, 0, first.end_ns, 2)
        assert touches(marks, 0, first.end_ns)


def touches(marks: Marks, start: int, end: int, *threads: int) -> bool:
    """Whether one span touches a hole, of these threads or of any."""
    columns = [np.array([thread], dtype=np.uint64) for thread in threads]
    return bool(marks.touched(np.array([start]), np.array([end]), columns)[0])


def test_pairs_reach_over_runs_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clrevents.decode.push_passes._BYTES", 1)
    builder = TraceBuilder()
    for number in range(4):
        begin(builder, number, "long" * 200).sequence_point()
        end(builder.wait(number), number).sequence_point()
    with clrevents.open(builder.build()) as trace:
        assert len(list(passes_of(trace).table_chunks())) > 4
        table = spans(trace, FIRST, SECOND)
    assert table["Number"].tolist() == [0, 1, 2, 3]
    assert table["duration_ns"].tolist() == [1000, 1001, 1002, 1003]


def test_mistakes() -> None:
    builder = begin(TraceBuilder(), 1)
    end(builder, 1)
    with clrevents.open(builder.build()) as trace:
        with pytest.raises(clrevents.UnknownEventError, match="Nonsense"):
            spans(trace, "Nonsense", SECOND)
        with pytest.raises(clrevents.AmbiguousEventError, match="My-App/Begin, My-App/End"):
            spans(trace, "My-App/*", SECOND)
        with pytest.raises(ValueError, match="the same event, My-App/Begin"):
            spans(trace, FIRST, "My-App/Beg*")
        with pytest.raises(ValueError, match="GCStart"):
            spans(trace, GCStart_V1, GCStart_V2)
        with pytest.raises(KeyError, match=r"My-App/End has no column 'Text'; it has time_ns, .*TEXT"):
            spans(trace, FIRST, SECOND, on=("Text",))
        with pytest.raises(KeyError, match="'thread'"):
            spans(trace, FIRST, SECOND, on="thread")


@pytest.mark.parametrize("pattern", ["GCStart", "My-App/Nothing*"])
def test_what_the_trace_lacks_gives_nothing(pattern: str) -> None:
    builder = begin(TraceBuilder(), 1)
    with clrevents.open(end(builder, 1).build()) as trace:
        table = spans(trace, pattern, SECOND)
        assert len(table) == 0
        assert table.metadata["unmatched_ends"] == "1"
        assert table.columns[:4] == ["start_ns", "end_ns", "duration_ns", "thread_id"]
        assert table["start_ns"].tolist() == []
        assert len(spans(trace, FIRST, pattern, on=())) == 0
    with clrevents.open(begin(TraceBuilder(), 1).build()) as trace:
        assert len(spans(trace, FIRST, "My-App/Nothing*", on=("Number",))) == 0


def test_a_payload_that_cannot_be_read_is_in_no_row() -> None:
    builder = TraceBuilder()
    start = MethodJittingStarted_V1(1, 1, 1, 1, "N", "M", "()", 0)
    info = type(start).__event__
    builder.event(start).raw(info.provider, info.id, info.version, b"\1\2")
    builder.method_load("N", "M", address=16, method_id=1)
    with clrevents.open(builder.build()) as trace:
        table = spans(trace, "MethodJittingStarted", "MethodLoadVerbose")
        assert table["duration_ns"].tolist() == [2000]
        assert table.metadata["unmatched_begins"] == "0"
        assert [p.severity for p in trace.problems if p.severity == "payload"] == ["payload"]


def test_an_unknown_thread_pairs_with_nothing() -> None:
    """NetTrace 6 may not say which thread an event is about."""
    builder = begin(TraceBuilder("nettrace6"), 1)
    data = end(builder, 1).build()
    with clrevents.open(data) as trace:
        assert len(spans(trace, FIRST, SECOND)) == 1
