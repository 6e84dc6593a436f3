"""Programs that chance made, which know what created what: the report is right, or says that it cannot tell."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clrevents
from built_tasks import Program, program
from clrevents.analysis.framework.run.feeding import ReportFeed
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.reports.tasks import REPORT, TasksReport
from reading import asked

SEEDS = st.integers(0, 1 << 32)
MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def told(made: Program) -> TasksReport:
    found: TasksReport = asked("tasks", made.data)
    return found


def check_rows(made: Program, found: TasksReport) -> None:
    """No row says anything that is wrong."""
    rows = {row.row: row for row in found.tasks}
    # What only began to run is known by that; the end of a wait whose begin is lost is no piece of work at all.
    created = {
        row.row: made.began.get(row.started_ns or 0) if row.created_ns is None else row.created_ns
        for row in rows.values()
    }
    for row in rows.values():
        at = created[row.row]
        if row.parent_row is not None:
            assert at is not None
            assert row.created_by == "task"
            assert made.parents[at] == created[row.parent_row]
            assert row.parent_row < row.row
            assert row.parent_task_id == rows[row.parent_row].task_id
        elif row.created_by == "thread":
            assert at is not None
            assert made.parents[at] is None
        if row.started_ns is not None and at is not None:
            assert made.began[row.started_ns] == at
        if row.kind == "await" and row.scheduled_ns is not None:
            assert at is not None
            assert made.queued[at] == row.scheduled_ns


@MANY
@given(SEEDS, st.integers(1, 4))
def test_everything_is_known_of_a_program(seed: int, threads: int) -> None:
    made = program(seed, threads=threads)
    found = told(made)
    check_rows(made, found)
    rows = list(found.tasks)
    assert sorted(row.created_ns or 0 for row in rows) == sorted(made.parents)
    assert {row.started_ns for row in rows} - {None} == set(made.began)
    for row in rows:
        assert row.created_by != "unknown"
        assert not row.ambiguous
        assert not row.lossy
        if row.kind == "await":
            queued = made.queued.get(row.created_ns or 0)
            assert row.scheduled_ns == (queued if row.started_ns is not None else row.scheduled_ns)


@MANY
@given(SEEDS, st.integers(1, 4))
def test_awaits_of_one_task_are_told_apart_or_ambiguous(seed: int, threads: int) -> None:
    made = program(seed, threads=threads, sharing=0.5)
    found = told(made)
    check_rows(made, found)
    assert sum(row.created_ns is not None for row in found.tasks) == len(made.parents)
    assert all(row.ambiguous for row in found.tasks if row.created_ns is None)
    # Creators of what was created are known whatever resumed.
    assert found.metrics["unknown_creators"].value == 0


@MANY
@given(SEEDS, st.integers(1, 4), st.sampled_from((0.02, 0.1, 0.3)))
def test_with_losses_creators_are_right_or_unknown(seed: int, threads: int, losing: float) -> None:
    made = program(seed, threads=threads, losing=losing)
    check_rows(made, told(made))


@MANY
@given(SEEDS, st.integers(1, 12), st.sampled_from((0.0, 0.1)))
def test_ids_that_are_given_again_leave_creators_right_or_unknown(seed: int, ids: int, losing: float) -> None:
    made = program(seed, ids=ids, losing=losing)
    check_rows(made, told(made))


@MANY
@given(SEEDS, st.integers(1, 200), st.integers(100, 4000))
def test_a_decoder_keeps_no_more_than_the_limit_and_tells_the_same(seed: int, most: int, size: int) -> None:
    data = program(seed, losing=0.02).data
    whole = asked("tasks", data, most=most)
    feed = ReportFeed([Asked(REPORT, REPORT.parameters(most=most))])
    decoder = clrevents.Decoder(*feed.selectors, errors="salvage")
    for at in range(0, len(data), size):
        feed.take(decoder, decoder.feed(data[at : at + size]))
    feed.take(decoder, decoder.close())
    found = feed.finish(decoder)["tasks"]
    assert found.to_dict() == whole.to_dict()
    assert len(whole.tasks) <= most
    assert ("too-many-events" in {note.id for note in whole.notes}) == bool(whole.facts.left_out)
