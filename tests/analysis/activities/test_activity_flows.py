"""Activities of programs with tasks, recursion and odd ids: parents are right or unknown, and within what is kept."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from analysis.activities.test_activity_forest import asked, inside
from built_flows import Fault, FlowProgram, Oddities, flow_program, tree
from clrevents.analysis.framework.run.feeding import ReportFeed
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.reports.activities import REPORT, ActivitiesReport

SEEDS = st.integers(0, 1 << 32)
FAULTS: st.SearchStrategy[Fault] = st.sampled_from(("", "lost", "spurious"))
MANY = settings(max_examples=20, deadline=None)


def right(made: FlowProgram, report: ActivitiesReport, *, ends: bool = True) -> Counter[str | None]:
    """No row says anything that is wrong; how parents are known."""
    inside(report)
    rows = list(report.activities)
    truth = {one.start_ns: one for one in made.all}
    for row in rows:
        one = truth[row.start_ns]
        if row.parent_row is not None:
            # Of activities that others ended, the innermost is not always told; the one around it is right, too.
            wanted = [one.related] if row.parent_by == "related_id" else [one.maker, *one.around]
            assert rows[row.parent_row].start_ns in [parent.start_ns for parent in wanted if parent is not None]
        if ends and row.end_ns is not None and not row.ambiguous:
            assert row.end_ns == one.end_ns
    return Counter(row.parent_by for row in rows)


def test_calls_of_a_recursion_are_a_tree() -> None:
    made = tree(3, 3)
    report = asked(made.built())
    right(made, report)
    rows = list(report.activities)
    assert len(rows) == 40
    assert Counter(Counter(row.parent_row for row in rows).values()) == {3: 13, 1: 1}
    assert [row.parent_row for row in rows] == [
        None if one.caller is None else made.all.index(one.caller) for one in made.all
    ]
    assert report.facts.parents_by_task == 39
    assert Counter(row.end_kind for row in rows) == {"stop": 27, "superseded": 13}


def test_calls_whose_related_ids_are_those_of_what_ran_before() -> None:
    made = tree(3, 3, Oddities(stale=True))
    report = asked(made.built())
    right(made, report, ends=False)
    assert report.facts.parents_by_task > 20
    assert {note.id for note in report.notes} >= {"stale-related-ids", "ambiguous-ids"}
    (note,) = [note for note in report.notes if note.id == "stale-related-ids"]
    assert "end_ns" in note.touches, "stops may have the ids of others, too"


@MANY
@given(SEEDS, FAULTS, st.sampled_from((0.0, 0.1)), st.sampled_from((0.0, 0.3)))
def test_parents_are_right_or_unknown(seed: int, fault: Fault, leaking: float, unflowed: float) -> None:
    made = flow_program(seed, Oddities(fault=fault, leaking=leaking, unflowed=unflowed))
    report = asked(made.built())
    right(made, report)
    if not fault:
        open_by_ids = {row.start_ns: row for row in report.activities}
        for one in made.all:
            assert one.related is None or open_by_ids[one.start_ns].parent_by == "related_id"


@MANY
@given(SEEDS, st.sampled_from((0.02, 0.2)), st.sampled_from((0.0, 0.1)))
def test_losses_leave_parents_right_or_unknown(seed: int, losing: float, leaking: float) -> None:
    right(made := flow_program(seed, Oddities(losing=losing, leaking=leaking)), asked(made.built()))


@MANY
@given(SEEDS, FAULTS, st.integers(1, 12))
def test_ids_of_tasks_that_are_given_again_leave_parents_right_or_unknown(seed: int, fault: Fault, ids: int) -> None:
    right(made := flow_program(seed, Oddities(fault=fault, ids=ids)), asked(made.built()))


@MANY
@given(SEEDS)
def test_ids_that_threads_keep_are_no_parents(seed: int) -> None:
    right(made := flow_program(seed, Oddities(stale=True)), asked(made.built()), ends=False)


@MANY
@given(SEEDS)
def test_continuations_that_nothing_tells_of_have_no_parent_of_others(seed: int) -> None:
    right(made := flow_program(seed, Oddities(hidden=0.2)), asked(made.built()))


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(1, 30), st.integers(50, 2000))
def test_a_decoder_is_bounded_and_tells_the_same(seed: int, most: int, size: int) -> None:
    made = flow_program(seed, Oddities(leaking=0.2, losing=0.02))
    builder = made.built()
    whole, data = asked(builder, most=most), builder.build()
    feed = ReportFeed([Asked(REPORT, REPORT.parameters(most=most))])
    decoder = clrevents.Decoder(*feed.selectors)
    for at in range(0, len(data), size):
        feed.take(decoder, decoder.feed(data[at : at + size]))
    feed.take(decoder, decoder.close())
    report = feed.finish(decoder)["activities"]
    assert report.to_dict() == whole.to_dict()
    assert len(whole.activities) <= most
    left_out = whole.facts.left_out
    assert ("too-many-activities" in {note.id for note in whole.notes}) == bool(left_out)
    right(made, whole, ends=not left_out)
