"""What spans keep of their events, what filters leave of them, and ends that another thread's begin belongs to."""

from __future__ import annotations

from typing import Any

import pytest

import clrevents
from analysis.test_spans import FIRST, FORMATS, SECOND, begin, end
from clrevents.analysis import spans
from clrevents.analysis.about.pairing import SpanReport, span_report, telling
from clrevents.testing.builder import Format, TraceBuilder
from project_files import fixture

MS = 1_000_000
ONE, TWO = bytes(range(16)), bytes(range(16, 32))
WRITTEN = bytes([3, 2, 1, 0, 5, 4, 7, 6, *range(8, 16)])


def wandering(format: Format = "nettrace4") -> TraceBuilder:
    """Two activities that change threads, one that stays, and an end without a start."""
    builder = TraceBuilder(format)
    begin(builder.thread(1).at(1 * MS).activity(ONE), 1)
    begin(builder.thread(2).at(2 * MS).activity(TWO), 2)
    end(builder.thread(3).at(4 * MS).activity(ONE), 1)
    end(builder.thread(4).at(8 * MS).activity(TWO), 2)
    begin(builder.thread(5).at(16 * MS).activity(b"\x07" * 16), 3)
    end(builder.thread(5).at(17 * MS).activity(b"\x07" * 16), 3)
    end(builder.thread(6).at(20 * MS).activity(bytes(16)), 4)
    return builder


@pytest.mark.parametrize("format", FORMATS)
def test_both_threads_the_stack_and_the_activity(format: Format) -> None:
    builder = wandering(format)
    with clrevents.open(builder.build()) as trace:
        rows = list(spans(trace, FIRST, SECOND, on=("activity_id", "Number")).rows())
    assert [(r["thread_id"], r["end_thread_id"], r["duration_ns"]) for r in rows] == [
        (1, 3, 3 * MS),
        (2, 4, 6 * MS),
        (5, 5, 1 * MS),
    ]
    assert rows[0]["activity_id"] == WRITTEN
    assert [r["stack_id"] for r in rows] == [0, 0, 0]


def test_the_stack_is_the_begins() -> None:
    with clrevents.open(fixture("net10-method-interop")) as trace:
        table = spans(trace, "MethodJittingStarted", "MethodLoadVerbose", on=("thread_id", "MethodID"))
        begins = {(e.time_ns, e.payload.MethodID): e for e in trace.events("MethodJittingStarted")}
    rows = list(table.rows())
    assert len(rows) == 146
    for row in rows:
        event = begins[row["start_ns"], row["MethodID"]]
        assert (row["stack_id"], row["thread_id"]) == (event.stack_id, event.thread_id)
        assert row["end_thread_id"] == event.thread_id
    assert any(row["stack_id"] > 0 for row in rows)


def test_ends_that_the_activity_would_pair() -> None:
    with clrevents.open(wandering().build()) as trace:
        table = spans(trace, FIRST, SECOND)
        assert len(table) == 1
        assert [table.metadata[f"unmatched_{what}"] for what in ("begins", "ends", "by_activity")] == ["2", "3", "2"]
        # Other columns still count.
        assert spans(trace, FIRST, SECOND, on=("thread_id", "Number")).metadata["unmatched_by_activity"] == "2"
        paired = spans(trace, FIRST, SECOND, on=("activity_id",))
        assert [paired.metadata[f"unmatched_{what}"] for what in ("begins", "ends", "by_activity")] == ["0", "1", "0"]
    other = begin(TraceBuilder().thread(1).activity(ONE), 1)
    end(other.thread(2), 2)
    with clrevents.open(other.build()) as trace:
        assert spans(trace, FIRST, SECOND).metadata["unmatched_by_activity"] == "1"
        assert spans(trace, FIRST, SECOND, on=("thread_id", "Number")).metadata["unmatched_by_activity"] == "0"


def _edges(start: int, stop: int, names: tuple[str, str] = ("JobStart", "JobStop")) -> TraceBuilder:
    """Two jobs that change threads, with these opcodes; some stop has no id."""
    builder = TraceBuilder(step_ns=10)
    for thread, id, edge in ((1, ONE, 0), (1, TWO, 0), (2, ONE, 1), (1, TWO, 1), (1, bytes(16), 1)):
        opcode = (start, stop)[edge]
        builder.thread(thread).activity(id).raw("My-App", 1 + edge, name=names[edge], opcode=opcode)
    return builder


@pytest.mark.parametrize(
    ("edges", "pairing"),
    [
        (_edges(1, 2), "activity"),
        # The runtimes before .NET 5 have no opcodes; the names tell.
        (_edges(0, 0), "activity"),
        (_edges(1, 2, ("JobBegun", "JobDone")), "activity"),
        (_edges(0, 0, ("JobBegun", "JobDone")), "thread"),
        (_edges(1, 2, ("JobStart", "OtherStop")), "thread"),
        (_edges(9, 240), "thread"),
    ],
)
def test_activities_pair_by_their_ids_unless_asked_otherwise(edges: TraceBuilder, pairing: str) -> None:
    with clrevents.open(edges.build()) as trace:
        first, second = dict.fromkeys(event.name for event in trace.events("Job*", "Other*"))
        table = spans(trace, first, second)
        assert (table.metadata["pairing"], table.metadata["on"]) == (pairing, f"{pairing}_id")
        if pairing == "activity":
            assert table["duration_ns"].tolist() == [20, 20]
            assert (table.metadata["unmatched_ends"], table.metadata["ambiguous"]) == ("1", "0")
        by_thread = spans(trace, first, second, on="thread_id")
        assert by_thread.metadata["pairing"] == "thread"
        assert by_thread["duration_ns"].tolist() == [40, 20]


def test_events_of_the_runtime_are_no_activities() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        assert spans(trace, "ContentionStart", "ContentionStop").metadata["pairing"] == "thread"


def test_filters_hold_for_both_sides() -> None:
    with clrevents.open(wandering().build()) as trace:

        def found(**filters: Any) -> tuple[list[int], str, str]:
            table = spans(trace, FIRST, SECOND, on=("activity_id",), **filters)
            return table["Number"].tolist(), table.metadata["unmatched_begins"], table.metadata["unmatched_ends"]

        assert found() == ([1, 2, 3], "0", "1")
        # The second begins inside and ends outside.
        assert found(end=8 * MS) == ([1], "1", "0")
        assert found(start="2ms", end=17 * MS + 1) == ([2, 3], "0", "1")
        assert found(thread_id=[1, 3, 5]) == ([1, 3], "0", "0")
        assert found(provider="Nobody") == ([], "0", "0")
        assert found(process_id=trace.info.process_id) == ([1, 2, 3], "0", "1")
        with pytest.raises(TypeError, match="'thread'"):
            found(thread=1)


def test_the_answer_reads_back() -> None:
    with clrevents.open(wandering().build()) as trace:
        report = span_report(trace, "A", "B", spans(trace, FIRST, SECOND, on="activity_id"))
        nothing = span_report(trace, "A", "B", spans(trace, FIRST, SECOND, on="Number", end=0))
    assert SpanReport.from_dict(report.to_dict()) == report
    assert report.spans[0].activity_id == WRITTEN.hex()
    assert (report.metrics["median"].value, report.metrics["longest"].value) == (3 * MS, 6 * MS)
    assert (nothing.metrics["total"].value, nothing.metrics["median"].value) == (0, None)


def test_which_columns_tell_a_row() -> None:
    with clrevents.open(fixture("net10-method-interop")) as trace:
        pairs = spans(trace, "MethodJittingStarted", "MethodLoadVerbose", on=["MethodID"])
        assert telling(pairs) == ["MethodNamespace", "MethodName", "MethodSignature", "MethodFlags"]
        assert telling(spans(trace, "GCRestartEEBegin", "GCRestartEEEnd")) == []
