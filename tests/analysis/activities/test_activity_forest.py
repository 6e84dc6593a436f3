"""The report on activities on built streams: forests of activities of which the true shape is known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reading
from clrevents.analysis.reports.activities import ActivitiesReport
from clrevents.encode.values import NO_GUID
from clrevents.events import ExceptionCatchStart_V0, ExceptionCatchStop_V0
from clrevents.testing.builder import Format, TraceBuilder

asked = partial(reading.asked, "activities")

APP = "My-App"


def guid(number: int) -> bytes:
    return number.to_bytes(16, "little")


def start(b: TraceBuilder, name: str, own: int, related: int = 0, thread: int = 1) -> TraceBuilder:
    return b.thread(thread).activity(guid(own), guid(related)).raw(APP, 1, name=f"{name}Start")


def stop(b: TraceBuilder, name: str, own: int, thread: int = 1) -> TraceBuilder:
    return b.thread(thread).activity(guid(own)).raw(APP, 2, name=f"{name}Stop")


def shape(report: ActivitiesReport) -> list[tuple[Any, ...]]:
    return [(row.name, row.parent_row, row.end_kind) for row in report.activities]


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
def test_ids_pair_across_threads(format: Format) -> None:
    b = TraceBuilder(format, step_ns=10)
    start(b, "Outer", 1, thread=1)
    start(b, "Inner", 2, related=1, thread=1)
    stop(b, "Inner", 2, thread=2)
    stop(b, "Outer", 1, thread=3)
    report = asked(b)
    assert shape(report) == [("Outer", None, "stop"), ("Inner", 0, "stop")]
    assert [(r.start_ns, r.end_ns, r.duration_ns, r.self_ns) for r in report.activities] == [
        (0, 30, 30, 20),
        (10, 20, 10, 10),
    ]
    assert [(r.start_thread_id, r.end_thread_id) for r in report.activities] == [(1, 3), (1, 2)]
    assert [(n.name, n.count, n.stopped, n.total_ns, n.p50_ns, n.max_ns) for n in report.names] == [
        ("Outer", 1, 1, 30, 30, 30),
        ("Inner", 1, 1, 10, 10, 10),
    ]
    assert report.coverage == "full"
    assert report.facts.ids


def test_two_open_activities_with_one_id_are_ambiguous() -> None:
    b = TraceBuilder(step_ns=1)
    start(b, "Job", 1, thread=1)
    start(b, "Job", 1, thread=2)
    start(b, "Part", 3, related=1, thread=2)
    stop(b, "Job", 1, thread=1)
    start(b, "Part", 4, related=1, thread=2)
    stop(b, "Job", 1, thread=5)
    report = asked(b)
    assert [(r.parent_row, r.end_ns, r.ambiguous) for r in report.activities] == [
        (None, 3, True),
        (None, 5, True),
        (None, None, True),
        # Which of the two jobs is still open is not certain.
        (None, None, True),
    ]
    assert report.metrics["ambiguous"].value == 4
    assert "ambiguous-ids" in {note.id for note in report.notes}


def test_recursion_ends_the_outer_activity_without_a_word() -> None:
    b = TraceBuilder(step_ns=1)
    start(b, "Root", 9)
    start(b, "Work", 1, related=9)
    start(b, "Work", 2, related=9)
    stop(b, "Work", 2)
    stop(b, "Work", 0)
    stop(b, "Root", 9)
    report = asked(b)
    assert shape(report) == [("Root", None, "stop"), ("Work", 0, "superseded"), ("Work", 0, "stop")]
    assert [(row.name, row.reason, row.activity_id) for row in report.orphans] == [("Work", "no_id", None)]
    # Of a child that has no end it is not known how much of the parent it covers.
    assert [row.self_ns for row in report.activities] == [None, None, 1]


def test_what_is_known_of_activities_without_a_stop() -> None:
    b = TraceBuilder()
    start(b, "Open", 1)
    start(b, "Parent", 2)
    start(b, "Left", 3, related=2)
    stop(b, "Parent", 2)
    start(b, "Other", 4)
    stop(b, "Other", 0)
    start(b, "Idless", 0)
    stop(b, "Early", 77)
    report = asked(b)
    kinds = {row.name: row.end_kind for row in report.activities}
    assert kinds == {
        "Open": "trace_end",
        "Parent": "stop",
        "Left": "unknown",
        "Other": "unknown",
        "Idless": "unknown",
    }
    assert [(row.name, row.reason) for row in report.orphans] == [("Other", "no_id"), ("Early", "no_start")]
    assert [(row.row, row.name, row.end_kind) for row in report.leaks] == [
        (row.row, row.name, row.end_kind) for row in report.activities if row.name != "Parent"
    ]
    assert {name: report.metrics[name].value for name in ("count", "stopped", "never_stopped", "orphans")} == {
        "count": 5,
        "stopped": 1,
        "never_stopped": 4,
        "orphans": 2,
    }


def test_handlers_of_exceptions_lie_in_the_activity_of_their_id() -> None:
    b = TraceBuilder(step_ns=1)
    start(b, "Job", 1)
    b.activity(guid(1)).event(ExceptionCatchStart_V0(0, 0, "Main", 0)).event(ExceptionCatchStop_V0())
    stop(b, "Job", 1)
    report = asked(b)
    assert [(r.name, r.parent_row, r.duration_ns, r.detail) for r in report.activities] == [
        ("Job", None, 3, None),
        ("ExceptionHandling", 0, 1, "Main"),
    ]


def test_without_ids_nobody_knows() -> None:
    b = TraceBuilder()
    start(b, "Job", 0)
    stop(b, "Job", 0)
    report = asked(b)
    assert report.coverage == "none"
    assert report.metrics["count"].value is None
    (note,) = [note for note in report.notes if note.id == "not-recorded"]
    assert note.record == "System.Threading.Tasks.TplEventSource:0x80:4"


def test_what_is_kept_has_a_limit_that_is_told() -> None:
    b = TraceBuilder()
    for number in range(1, 8):
        start(b, "Job", number)
    for number in range(1, 8):
        stop(b, "Job", number)
    report = asked(b, most=3)
    assert [row.end_kind for row in report.activities] == ["stop"] * 3
    assert report.facts.left_out == 4
    assert report.metrics["count"].value is None
    assert not len(report.orphans), "nobody knows whether their starts were left out"
    (note,) = [note for note in report.notes if note.id == "too-many-activities"]
    assert note.numbers == {"left_out": 4, "kept": 3}


# Random forests. ----------------------------------------------------------------------------------------------------


@attrs.define
class Happened:
    """What really happened to one activity."""

    id: int
    parent: int | None
    start_ns: int
    end_ns: int | None = None
    silent: bool = False


@attrs.define
class Program:
    """Writes a stream, and remembers what it did."""

    builder: TraceBuilder
    pool: int
    all: list[Happened] = attrs.field(factory=list)
    open: list[int] = attrs.field(factory=list)
    time: int = 0

    def step(self, action: tuple[str, int, int, int]) -> None:
        what, which, thread, number = action
        self.time += 10
        self.builder.thread(1 + thread).at(self.time)
        if what == "begin":
            parent = self.open[which % len(self.open)] if self.open and which % 4 else None
            id = 1 + (number % self.pool if self.pool else len(self.all))
            related = 0 if parent is None else self.all[parent].id
            self.all.append(Happened(id, parent, self.time))
            self.open.append(len(self.all) - 1)
            start(self.builder, "Work", id, related, 1 + thread)
        elif self.open:
            place = self.open.pop(which % len(self.open))
            if what == "stop":
                self.all[place].end_ns = self.time
                stop(self.builder, "Work", self.all[place].id, 1 + thread)
            elif what == "recur":
                self.all[place].silent = True
                stop(self.builder, "Work", 0, 1 + thread)
            elif what == "lose":
                self.builder.lose(1)
            else:
                assert what == "leak"


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(("begin", "begin", "begin", "stop", "stop", "recur", "lose", "leak")),
        st.integers(0, 20),
        st.integers(0, 3),
        st.integers(0, 20),
    ),
    max_size=60,
)


def ran(actions: Iterable[tuple[str, int, int, int]], pool: int) -> Program:
    program = Program(TraceBuilder(), pool)
    for thread in range(4):
        program.builder.thread(1 + thread).activity(NO_GUID).raw(APP, 9, name="Begun")
    program.time = 1000
    for action in actions:
        program.step(action)
    program.builder.at(program.time + 10)
    for thread in range(4):
        program.builder.thread(1 + thread).activity(NO_GUID).raw(APP, 9, name="Done")
    return program


def inside(report: ActivitiesReport) -> None:
    """Children start in their parents, and rows are numbered from 0."""
    rows = list(report.activities)
    assert [row.row for row in rows] == list(range(len(rows)))
    for row in rows:
        if row.parent_row is not None:
            parent = rows[row.parent_row]
            assert parent.row < row.row
            assert parent.start_ns <= row.start_ns
            assert parent.end_ns is None or row.start_ns <= parent.end_ns


@settings(max_examples=40, deadline=None)
@given(ACTIONS, st.integers(1, 6))
def test_reused_ids_make_parents_right_or_unknown(actions: list[tuple[str, int, int, int]], pool: int) -> None:
    # Of what is neither stopped nor lost, an id may be given again while it is open.
    program = ran([a for a in actions if a[0] in ("begin", "stop")], pool)
    report = asked(program.builder)
    inside(report)
    rows = list(report.activities)
    assert [row.start_ns for row in rows] == [one.start_ns for one in program.all]
    assert sum(row.end_kind == "stop" for row in rows) == sum(one.end_ns is not None for one in program.all)
    known = spoilt(program.all)
    for row, one, sure in zip(rows, program.all, known, strict=True):
        if sure:
            assert (row.end_ns, row.ambiguous and row.parent_row is not None) == (one.end_ns, False)
        else:
            assert row.ambiguous
        if row.parent_row is not None and known[row.parent_row]:
            assert row.parent_row == one.parent


def spoilt(all: list[Happened]) -> list[bool]:
    """Which activities were never open together with another one of their id."""

    def together(one: Happened, other: Happened) -> bool:
        first, second = sorted((one, other), key=lambda x: x.start_ns)
        return one is not other and one.id == other.id and (first.end_ns is None or first.end_ns > second.start_ns)

    return [not any(together(one, other) for other in all) for one in all]
