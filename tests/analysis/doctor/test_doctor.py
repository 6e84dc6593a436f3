"""What rules say of recordings whose truth is known, and the laws that every diagnosis obeys."""

from __future__ import annotations

import pickle
import re
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
import pytest

import clrevents
from clrevents._util.words import amount_text
from clrevents.analysis.doctor.diagnosing import asked_of, case_of, concluded, rules_of, trace_metrics, verdict
from clrevents.analysis.doctor.diagnosis import Diagnosis, diagnosis_lines
from clrevents.analysis.doctor.rule import Ailment, Case, Unknown
from clrevents.analysis.doctor.rulebook import FAMILIES, RULES
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import SeenKinds, coverage
from clrevents.analysis.framework.run.answerable import needs_of
from clrevents.analysis.framework.run.asking import ask
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.events import ThreadCreated_V0, ThreadFlags
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES, unpacked
from project_files import fixture as fixture_file
from reading import Passed, opened
from report_laws import are_possible, reads_back_equal, removable, shows_safely, without
from tiers import each_fixture, few


def fixture(name: str) -> bytes:
    return (FIXTURES / f"{name}.nettrace.gz").read_bytes()


@lru_cache(maxsize=32)
def diagnosis(name: str, *rules: str, **window: Any) -> Diagnosis:
    with clrevents.open(FIXTURES / f"{name}.nettrace.gz") as trace:
        found: Diagnosis = trace.doctor(*rules, **window)
    return found


def short(found: Diagnosis) -> list[tuple[str, int, str | None]]:
    return [(one.rule, one.impact.value, one.culprit) for one in found.found]  # type: ignore[union-attr, misc]


@lru_cache(maxsize=8)
def case_from(data: bytes) -> Case:
    with opened(data) as trace:
        kinds = SeenKinds.in_trace(trace)
        return case_of(ask(trace, asked_of(RULES, kinds), {}), trace_metrics(trace), RULES, kinds)


def test_a_starved_pool_is_found_with_who_blocks_it() -> None:
    blocked = "Scenarios.SyncOverAsync(int)"
    assert short(diagnosis("net10-starvation")) == [
        ("pool.sync_over_async", 25_067_279_248, blocked),
        ("pool.starved", 1_817_149_061, blocked),
    ]


def test_the_longest_of_a_trace_without_its_end_is_said_to_be_a_bound() -> None:
    data = unpacked(fixture_file("net10-convoy"))
    with opened(data[: len(data) // 2]) as trace:
        (one,) = trace.doctor("lock.waited")
    assert "for at least 988 ms together, one for at least 300 ms, as far" in one.title
    (whole,) = diagnosis("net10-convoy", "lock.waited")
    assert "for 988 ms together, 300 ms at most" in whole.title


def test_a_convoy_is_found_with_who_holds_the_lock() -> None:
    found = diagnosis("net10-convoy")
    assert short(found) == [("lock.convoy", 988_004_211, "Scenarios.Convoy.lambda_1()")]
    (one,) = found.found
    assert one.title == "4 threads waited for one lock in turn, for 988 ms together in 338 ms"
    assert one.next_command.endswith("net10-convoy.nettrace.gz --table convoys --start 740ms --end 1080ms")
    assert (one.state, one.confidence, one.share) == ("found", "event", None)


def test_requested_collections_are_found_with_who_requests_them() -> None:
    found = diagnosis("net10-garbage")
    assert [(rule, culprit) for rule, _, culprit in short(found)] == [("gc.induced", "Scenarios.Garbage(Random)")]
    places = [(row.place, row.value, row.of_rows) for row in found.evidence if row.rule == "gc.induced"]
    assert places[0] == ("gc.induced", 4.0, None)


def test_nothing_is_wrong_with_a_few_exceptions() -> None:
    found = diagnosis("net10-exceptions")
    assert found.found == ()
    assert found.facts.worst is None
    (one,) = (one for one in found if one.rule == "exceptions.control_flow")
    assert (one.state, one.impact) == ("clear", None)


def test_what_was_not_recorded_cannot_be_told_and_says_how_to_record_it() -> None:
    found = diagnosis("net10-garbage", "exceptions.*")
    assert {(one.state, one.title) for one in found} == {
        ("cannot tell", "not in the trace: exceptions (none, or not recorded)")
    }
    assert {one.record for one in found} == {"Microsoft-Windows-DotNETRuntime:0x8000:4"}
    assert (found.coverage, found.metrics["unknown"].value) == ("none", 4)


def test_where_nothing_occurred_a_rule_is_clear_though_its_numbers_are_unknown() -> None:
    (one,) = diagnosis("net10-convoy", "gc.long_pause")
    assert (one.state, one.title) == ("clear", "nothing of the kind occurred: gc.count is 0")


def test_one_pass_feeds_all_rules() -> None:
    """The file is read as often as for one of their reports, which wants names of code and when tracing stopped."""
    doctor, pool = (Passed(unpacked(fixture_file("net10-starvation"))) for _ in range(2))
    with clrevents.open(doctor) as trace:
        trace.doctor()
    with clrevents.open(pool) as trace:
        trace.report("pool")
    assert 3 < doctor.passes == pool.passes


def test_what_cannot_be_told_is_not_asked() -> None:
    """Nobody reads the events of reports that lack what they need, and `trace.cut` needs no report."""
    with clrevents.open(FIXTURES / "net10-garbage.nettrace.gz") as trace:
        kinds = SeenKinds.in_trace(trace)
        asked = [[one.declaration.name for one in asked_of(rules_of(r), kinds)] for r in ((), ("http.*",))]
    assert asked == [["top", "gc", "threads", "alloc", "waits", "startup", "jit"], ["gc"]]


@each_fixture("net10-convoy", "net10-garbage", "net8-linux")
def test_what_was_not_asked_would_have_said_the_same(path: Any) -> None:
    """Neither reports that know nothing, nor tables that no rule reads."""
    with clrevents.open(path, errors="salvage") as trace:
        everything = ask(trace, [attrs.evolve(one, late=False) for one in asked_of(RULES)], {})
        whole, kinds = concluded(everything, trace_metrics(trace), RULES), SeenKinds.in_trace(trace)
        assert trace.doctor() == whole
        for rule in RULES:
            for name in rule.metrics:
                report, _, metric = name.partition(".")
                if report in everything and coverage(needs_of(report), kinds) == "none":
                    assert everything[report].metrics[metric].value is None, name


def test_rules_are_asked_one_by_one_or_by_family() -> None:
    assert {one.rule for one in diagnosis("net10-convoy", "lock.*", "trace.cut")} == {
        *("lock.deadlock", "lock.standing", "lock.convoy", "lock.waited", "lock.sampled"),
        "trace.cut",
    }
    assert [one.state for one in diagnosis("net10-convoy", "trace.cut")] == ["clear"]
    with pytest.raises(ValueError, match=r"no rule 'lock\.convoi'; did you mean 'lock\.convoy'\?"):
        rules_of(["lock.convoi"])


def test_conditions_name_a_rule_and_what_it_may_cost() -> None:
    found = diagnosis("net10-starvation")
    assert found.failing({"pool.starved": None, "lock.deadlock": None}) == [
        "pool.starved: the pool was starved for 1.82 s, and raised its goal 17 times"
    ]
    assert found.failing({"pool.starved": Metric(2e9, "ns")}) == []
    assert len(found.failing({"pool.starved": Metric(0.5, "ratio")})) == 1
    with pytest.raises(ValueError, match=r"pool\.starved: its impact is in ns, so the limit is too, or in %"):
        found.failing({"pool.starved": Metric(1, "bytes")})
    with pytest.raises(ValueError, match="no rule 'pool'"):
        found.failing({"pool": None})


def test_every_rule_says_all_that_a_reader_needs() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES) == sum(len(family.RULES) for family in FAMILIES)
    for rule in RULES:
        assert rule.question.endswith("?"), rule.id
        assert [text[-1] for text in (rule.why, rule.advice, rule.trap)] == [".", ".", "."], rule.id
        assert rule.trap[0].islower(), rule.id
        assert "{file}" in rule.see, rule.id
        assert rule.threshold.source, rule.id
        # Its first report decides whether it is asked, so that nothing else may clear it.
        assert not rule.nothing or rule.nothing.partition(".")[0] == rule.reports[0], rule.id


@each_fixture("net10-starvation", "net10-garbage", "net8-rich")
def test_every_number_is_the_reports(path: Any) -> None:
    """Whatever a rule cites stands in the report that a user asks."""
    case = case_from(path.read_bytes())
    with clrevents.open(path, errors="salvage") as trace:
        asked = ask(trace, asked_of(RULES), {})
        for rule in RULES:
            found = verdict(case, rule)
            if isinstance(found, Unknown):
                continue
            for cited in found.evidence:
                report, _, place = cited.place.replace("/", ".", 1).partition(".")
                if report == "trace":
                    continue
                answer: Answer[Any] = asked[report]
                if "/" not in place:
                    assert answer.metrics[place].value == cited.value, (rule.id, cited)
                    continue
                table, column = place.split("/")
                values = answer.table(table).column(column).take(np.array(cited.rows, dtype=np.int64)).tolist()
                assert sum(value or 0 for value in values) == cited.value, (rule.id, cited)
            if isinstance(found, Ailment):
                assert found.impact.value > 0
                assert found.evidence
                assert found.impact in found.evidence or rule.id in _OF_PARTS, rule.id


_OF_PARTS = {"gc.growth", "exceptions.rate", "exceptions.control_flow", "trace.cut", "http.new_connections"}
"""Rules whose impact is a difference of what they cite, or stands beside it."""


@pytest.mark.full
@pytest.mark.parametrize("name", ["net10-convoy", "net10-garbage"])
def test_what_is_removed_is_never_clear(name: str) -> None:
    """Without a provider, or a keyword of the runtime, what was found is found or cannot be told: never clear."""
    data = fixture(name)
    whole = {rule: verdict(case_from(data), rule) for rule in RULES}
    cleared = []
    for removed, kinds in removable(data).items():
        less = case_from(without(data, kinds))
        for rule, before in whole.items():
            after = verdict(less, rule)
            if (
                isinstance(before, Ailment)
                and not isinstance(after, Ailment | Unknown)
                and not _less(before, after, less)
            ):
                cleared.append(f"{rule.id} is clear without {removed}: {after.title}")
    assert not cleared, "\n".join(cleared)


def _less(before: Ailment, after: Any, case: Case) -> bool:
    """Whether what it says is about as much as before: at the threshold, either is right."""
    return any(cited.value >= 0.9 * before.impact.value for cited in after.evidence)


@pytest.mark.parametrize(
    "name", few(["net10-starvation", "net10-garbage", "net8-heap", "net8-linux"], lambda n: "garb" in n)
)
def test_a_diagnosis_is_an_answer(name: str) -> None:
    found = diagnosis(name)
    reads_back_equal(found)
    shows_safely(found)
    are_possible(found)
    assert pickle.loads(pickle.dumps(found)) == found
    assert [one.state for one in found] == sorted(
        (one.state for one in found), key=("found", "cannot tell", "clear").index
    )


def test_findings_are_ranked_by_what_they_cost() -> None:
    found = diagnosis("net10-starvation").found
    assert [one.impact_ns for one in found] == sorted((one.impact_ns or 0 for one in found), reverse=True)


def test_lost_events_leave_nothing_clear_that_is_only_known_in_part() -> None:
    with clrevents.open(FIXTURES / "net10-convoy.nettrace.gz") as trace:
        answers = ask(trace, asked_of(rules_of(["lock.waited"])), {})
        numbers = {**trace_metrics(trace), "lost": Metric(3, "count")}
    bounds = {name: attrs.evolve(m, low=m.value) for name, m in answers["locks"].metrics.items()}
    lossy = {"locks": attrs.evolve(answers["locks"], metrics=bounds)}
    (one,) = concluded(lossy, numbers, rules_of(["lock.waited"]))
    assert one.state == "cannot tell"
    assert one.title.startswith("events are missing: threads waited for locks for at least 988 ms together")


@each_fixture("net10-starvation", "net10-garbage", "net10-convoy")
def test_no_bound_of_one_number_is_said_of_another(path: Any) -> None:
    """With each metric in turn known as a lower bound: neither sentence nor impact takes it from another number."""
    with clrevents.open(path) as trace:
        answers, numbers = ask(trace, asked_of(RULES), {}), trace_metrics(trace)
    before = {rule: verdict(case_of(answers, numbers), rule) for rule in RULES}
    lost = {**numbers, "lost": Metric(3, "count")}
    for rule in RULES:
        (plain,) = concluded(answers, lost, [rule])
        for name in rule.metrics:
            report, _, metric = name.partition(".")
            if report == "trace" or (value := answers[report].metrics[metric].value) is None:
                continue
            whole = answers[report].metrics
            bounded = {**whole, metric: attrs.evolve(whole[metric], low=value, high=None)}
            less = {**answers, report: attrs.evolve(answers[report], metrics=bounded)}
            (one,) = concluded(less, lost, [rule])
            was = before[rule]
            if isinstance(was, Ailment):
                own = was.impact.place
                same = own == name or own.startswith(f"{report}/") or plain.at_least
                assert (one.state, one.at_least) == ("found", same), (rule.id, name)
                assert one.title.replace("at least ", "") == was.title.replace("at least ", "")
                cost = amount_text(was.impact.value, was.impact.unit)
                if cost in was.title:
                    assert (f"at least {cost}" in one.title) == same, one.title
            elif not isinstance(was, Unknown) and not rule.nothing:
                said, plainly = (
                    re.sub("at least |; [^;]* would have been found$", "", t) for t in (one.title, was.title)
                )
                missing = f"events are missing: {plainly}, as far as was recorded"
                assert (one.state, said) == ("cannot tell", missing) or said.startswith(plainly), rule.id


def test_a_lower_bound_stays_one() -> None:
    with clrevents.open(FIXTURES / "net10-starvation.nettrace.gz") as trace:
        answers = ask(trace, asked_of(rules_of(["pool.*"])), {})
        numbers = trace_metrics(trace)
    metrics = answers["pool"].metrics
    bounded = {**metrics, "blocked_total": attrs.evolve(metrics["blocked_total"], low=metrics["blocked_total"].value)}
    found = concluded({"pool": attrs.evolve(answers["pool"], metrics=bounded)}, numbers, rules_of(["pool.*"]))
    (one,) = (one for one in found.found if one.rule == "pool.sync_over_async")
    assert (one.at_least, str(one.impact)) == (True, "<Metric at least 25.1 s>")
    assert [one.at_least for one in found.found if one.rule == "pool.starved"] == [False]


def test_an_upper_bound_stays_one() -> None:
    """How long the sampler held threads is known from above only."""
    with clrevents.open(FIXTURES / "net10-convoy.nettrace.gz") as trace:
        answers, (rule,) = ask(trace, asked_of(rules_of(["trace.sampler"])), {}), rules_of(["trace.sampler"])
        numbers = trace_metrics(trace)
    rule = attrs.evolve(rule, metrics=("threads.sampler_total",), need=None, judge=_held)
    (one,) = concluded(answers, numbers, [rule])
    assert (one.at_least, one.at_most) == (False, True)
    assert repr(one.impact) == "<Metric at most 15.8 ms>"


def _held(case: Case, limit: float) -> Ailment:
    held = case.cited("threads.sampler_total")
    return Ailment(held.text, held, (held,))


def test_without_contentions_samples_show_the_wait_for_locks() -> None:
    """The convoy's 988 ms, to within a sampling period at both ends of each of its 8 waits."""
    data = fixture("net10-convoy")
    contentions = {key for keys in removable(data).values() for key in keys if key.name.startswith("Contention")}
    with opened(without(data, contentions)) as trace:
        found = {one.rule: one for one in trace.doctor("lock.*")}
    one = found["lock.sampled"]
    assert (one.state, found["lock.convoy"].state, one.culprit) == (
        "found",
        "cannot tell",
        "Scenarios.Convoy.lambda_1()",
    )
    assert one.impact_ns == pytest.approx(988_004_211, abs=8 * 2_200_000)
    assert one.advice == "Record contentions, which tell who held the lock: clrevents collect --for locks."
    assert diagnosis("net10-convoy", "lock.sampled").found == ()


@pytest.mark.parametrize(("threads", "lived_ms", "state"), [(60, 5, "found"), (49, 5, "clear"), (60, 1200, "clear")])
def test_threads_that_no_sample_sees_any_more_have_ended(threads: int, lived_ms: int, state: str) -> None:
    trace = TraceBuilder()
    moments = [(at, 1, False) for at in range(6000)]
    for number in range(threads):
        moments += [(10 * number, 100 + number, True), (10 * number + lived_ms, 100 + number, False)]
    for at, thread, created in sorted(moments):
        trace.thread(thread).at(at * 1_000_000)
        if created:
            trace.event(ThreadCreated_V0(thread, 1, ThreadFlags(0), thread, thread, 9))
        else:
            trace.sample(0x1000)
    with opened(trace.build()) as found:
        (one,) = found.doctor("thread.brief")
    assert one.state == state
    assert one.title.startswith(f"{threads if lived_ms < 1000 else 0} threads of {threads + 1} lived")


def test_a_diagnosis_says_what_the_program_did() -> None:
    facts = diagnosis("net8-rich").facts
    assert facts.ran == "2.85 s of running time, 99.8 % of it in Scenarios.Burn"
    assert facts.waited == "2.64 s for threads to end in Scenarios.Cpu"
    assert facts.allocated is None
    assert diagnosis("net10-garbage").facts.allocated == "115 MB, 98.6 % of it System.Byte[]"
    assert "\nran        2.85 s of " in "\n".join(diagnosis_lines(diagnosis("net8-rich"), 80))
