"""Verdicts on recordings made by hand, of which the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from built.built_measured import chain, recorded
from clrevents.analysis.compare.block_statistics import ENOUGH, SURE
from clrevents.analysis.compare.change import Change
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.judging import compared
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.vocabulary.report_table import ReportTable

BLOCKS = 256


def noisy(draw: np.random.Generator, mean: float, share: float = 0.1) -> Any:
    return mean * (1 + share * draw.standard_normal(BLOCKS)).clip(0)


def only(found: Comparison) -> Change:
    (change,) = found.changes
    return change


def pair(base: Any, new: Any, name: str = "threads.running_total") -> Change:
    return only(compared([recorded({name: base})], [recorded({name: new})]))


def side(seed: int, mean: float, count: int = 5) -> list[Measured]:
    draw = np.random.default_rng(seed)
    return [recorded({"threads.running_total": noisy(draw, mean * (1 + 0.02 * draw.random()))}) for _ in range(count)]


# One against one. --------------------------------------------------------------------------------------------------


def test_a_pair_differs_at_most() -> None:
    draw = np.random.default_rng(1)
    change = pair(noisy(draw, 1e7), noisy(draw, 1.2e7))
    assert (change.verdict, change.towards) == ("differs", "worse")
    assert change.low is not None
    assert change.high is not None
    assert change.base is not None
    assert change.low < 0.2 * change.base < change.high


def test_alike_blocks_are_the_same_within_what_their_noise_allows() -> None:
    draw = np.random.default_rng(2)
    change = pair(noisy(draw, 1e7), noisy(draw, 1e7))
    assert change.verdict == "same"
    assert change.smallest is not None
    assert change.base is not None
    assert change.within is not None
    assert change.within < 0.1 * change.base < change.smallest < 0.25 * change.base


def test_what_is_next_to_nothing_does_not_differ_by_doubling() -> None:
    """Twice 0.02 % of the time is below the floor in itself."""
    draw = np.random.default_rng(4)
    whole = 10e9 / BLOCKS
    assert pair(noisy(draw, 0.0002 * whole), noisy(draw, 0.0004 * whole)).verdict != "differs"
    assert pair(noisy(draw, 0.002 * whole), noisy(draw, 0.004 * whole)).verdict == "differs"


def test_what_few_blocks_could_show_is_not_said() -> None:
    """Between 30 and 45: the next recordings may have too few, however much there is to find."""
    draw = np.random.default_rng(15)
    seen = set()
    for _ in range(60):
        change = pair(*(1e7 * (0.5 + chain(draw, BLOCKS, 0.5, 5)) for _ in range(2)))
        if change.independent is None:
            continue
        few, sure = min(change.independent) < ENOUGH, min(change.independent) >= SURE
        seen.add((few, sure))
        assert (change.reason == "fewer than 30 independent blocks of time") == few
        assert sure or change.smallest is None
    assert seen == {(True, False), (False, False), (False, True)}


def test_recorded_on_one_side_only() -> None:
    change = pair(None, np.ones(BLOCKS), "locks.waited_total")
    assert (change.verdict, change.reason, change.new) == ("not comparable", "base: not recorded", None)


def collected(draw: np.random.Generator, rate: float, count: int) -> Measured:
    """So many collections, each after about as much was allocated, at this rate with a fifth more or less."""
    took = (1 + 0.2 * draw.standard_normal(count)).clip(0.3)
    ends = (np.cumsum(took) / took.sum() * BLOCKS - 1).round().astype(int).clip(0)
    blocks = np.zeros(BLOCKS)
    np.add.at(blocks, ends, rate * 1e10 / count)
    one = recorded({"gc.allocated_total_bytes": blocks})
    metrics = tuple(attrs.evolve(amount, since=True, evidence="event") for amount in one.metrics)
    return attrs.evolve(one, metrics=metrics)


@pytest.mark.parametrize(("count", "told"), [(46, 0.9), (22, 0.5)])
def test_what_came_about_since_the_last_one_is_compared_by_the_intervals(count: int, told: float) -> None:
    """Collections are points in time: between them, what was allocated is known for all of it."""
    draw = np.random.default_rng(count)
    more = [only(compared([collected(draw, 1, count)], [collected(draw, 1.5, count)])) for _ in range(40)]
    assert np.mean([change.verdict == "differs" for change in more]) >= told
    same = [only(compared([collected(draw, 1, count)], [collected(draw, 1, count)])) for _ in range(40)]
    assert sum(change.alarm for change in same) <= 1
    assert np.mean([change.verdict == "same" for change in same]) >= told
    few = only(compared([collected(draw, 1, 4)], [collected(draw, 2, 4)]))
    assert (few.verdict, few.reason) == ("stated", "one number a recording: how much it varies is unknown")


def test_per_request() -> None:
    """Twice the requests in twice the time is the same for each."""
    draw = np.random.default_rng(6)
    asked = draw.poisson(40, BLOCKS).astype(float)
    found = [
        recorded({"requests.server_count": factor * asked, "threads.running_total": factor * asked * 1e5})
        for factor in (1, 2)
    ]
    by_key = {change.key: change for change in compared(found[:1], found[1:]).changes}
    assert by_key["threads.running_total"].verdict == "same"
    by_key = {change.key: change for change in compared(found[:1], found[1:], "second").changes}
    assert by_key["threads.running_total"].verdict == "differs"
    with pytest.raises(ValueError, match="not every recording has requests"):
        compared(found[:1], [recorded({"threads.running_total": np.ones(BLOCKS)})], "request")


# Rows. -------------------------------------------------------------------------------------------------------------


def test_methods_are_looked_at_though_all_time_together_stays() -> None:
    draw = np.random.default_rng(7)
    rows = [
        {"methods.App!A.F()": noisy(draw, a * 1e7), "methods.App!A.G()": noisy(draw, b * 1e7)}
        for a, b in ((1, 3), (2, 2))
    ]
    base, new = (recorded({"threads.running_total": sum(side.values())}, side) for side in rows)
    found = compared([base], [new])
    assert [change.verdict for change in found.changes] == ["same"]
    assert {change.name: change.verdict for change in found.rows} == {"App!A.F()": "differs", "App!A.G()": "differs"}


def test_other_rows_are_looked_at_where_their_family_moved() -> None:
    draw = np.random.default_rng(8)

    def made(mean: float) -> Measured:
        blocks = noisy(draw, mean)
        return recorded({"alloc.bytes_total": blocks}, {"types.App.Order bytes": blocks})

    assert [change.name for change in compared([made(1e6)], [made(2e6)]).rows] == ["App.Order bytes"]
    assert compared([made(1e6)], [made(1e6)]).rows == ReportTable.empty(Change)


def test_rows_that_one_side_did_not_record_are_neither_gone_nor_new() -> None:
    draw = np.random.default_rng(13)
    rows = {"methods.App!A.F()": noisy(draw, 1e7)}
    told = recorded({"threads.running_total": noisy(draw, 1e7)}, rows)
    jit = {"jit.compile_total": noisy(draw, 1e6)}
    assert len(compared([told], [recorded(jit, {"methods.App!A.G()": rows["methods.App!A.F()"]})]).alarms) == 2
    for other in (
        recorded(jit, samples=None),
        recorded(jit, {"methods.App!A.F()": jit["jit.compile_total"]}, samples="C"),
    ):
        assert compared([told], [other]).rows == ReportTable.empty(Change)


def test_a_method_whose_number_moved_is_the_same_row() -> None:
    draw = np.random.default_rng(9)
    names = ("App!P+<Read>d__3.MoveNext()", "App!P+<Read>d__4.MoveNext()")
    base, new = (recorded({}, {f"methods.{name}": noisy(draw, 1e7)}) for name in names)
    (row,) = compared([base], [new]).rows
    assert row.verdict == "same"


# Groups. -----------------------------------------------------------------------------------------------------------


def test_a_difference_below_the_floor_is_none_however_certain() -> None:
    base, new = ([recorded({"gc.pause_max": m + n}) for n in range(5)] for m in (10_000, 10_300))
    change = only(compared(base, new))
    assert (change.verdict, change.chance) == ("same", pytest.approx(2 / 252))


def test_groups_that_are_alike() -> None:
    change = only(compared(side(3, 1e7), side(4, 1e7)))
    assert change.verdict == "same"
    assert change.smallest is not None
    assert change.base is not None
    assert change.smallest > 0.02 * change.base


def test_runs_that_vary_hide_what_pairs_would_call_different() -> None:
    """Each run is steady in itself and 20 % off the others: a pair differs, groups know better."""
    draw = np.random.default_rng(10)
    runs = [recorded({"threads.running_total": noisy(draw, m * 1e7)}) for m in (1, 1.4, 0.8, 1.2, 1.3, 0.9, 1.1, 1)]
    assert only(compared(runs[:1], runs[1:2])).verdict == "differs"
    assert only(compared(runs[:4], runs[4:])).verdict == "cannot tell"


@pytest.mark.full
@pytest.mark.parametrize(("base", "new"), [(5, 5), (6, 3)])
def test_groups_that_are_alike_rarely_raise_an_alarm(base: int, new: int) -> None:
    draw = np.random.default_rng(16)

    def runs(count: int) -> list[Measured]:
        return [
            recorded({f"threads.{name}_total": 1e9 * (1 + 0.1 * draw.standard_normal()) for name in "abcdefgh"})
            for _ in range(count)
        ]

    assert sum(bool(compared(runs(base), runs(new)).alarms) for _ in range(300)) <= 15


@pytest.mark.full
def test_pairs_that_are_alike_rarely_raise_an_alarm() -> None:
    """Times, numbers of events and intervals together, of 200 pairs: 2 % of them, and twice the deviation of that."""
    draw = np.random.default_rng(19)

    def made() -> Measured:
        one = recorded(
            {f"threads.{name}_total": noisy(draw, 1e7, 0.3) for name in "abc"}
            | {f"gc.{n}_count": draw.poisson(n / BLOCKS, BLOCKS).astype(float) for n in (20, 200)}
        )
        return attrs.evolve(one, metrics=(*one.metrics, *collected(draw, 1, int(draw.integers(22, 47))).metrics))

    assert sum(bool(compared([made()], [made()]).alarms) for _ in range(200)) <= 8


@pytest.mark.full
def test_the_smallest_change_of_groups_is_seen_four_times_out_of_five() -> None:
    draw = np.random.default_rng(17)

    def runs(mean: float) -> list[Measured]:
        return [
            recorded(
                {
                    f"threads.{name}_total": 1e9 * (1 + 0.05 * draw.standard_normal()) * (mean if name == "a" else 1)
                    for name in "abcdefgh"
                }
            )
            for _ in range(5)
        ]

    found = []
    for _ in range(200):
        change = compared(runs(1), runs(1)).changes[0]
        share = change.relative(change.smallest)
        assert share is not None
        found.append(compared(runs(1), runs(1 + share)).changes[0].verdict == "regressed")
    assert 0.77 < np.mean(found) < 0.95


@pytest.mark.full
@pytest.mark.parametrize("mean", [12, 400])
def test_the_smallest_change_of_a_number_of_events_is_not_too_large(mean: float) -> None:
    """Of more events the variance grows, and not the deviation: 12 events need 240 % more, not 1400 %."""
    draw = np.random.default_rng(18)

    def made(factor: float) -> list[Measured]:
        others = {f"threads.{name}_total": noisy(draw, 1e7) for name in "abc"}
        return [recorded({"gc.all_count": draw.poisson(factor * mean / BLOCKS, BLOCKS).astype(float), **others})]

    found = []
    for _ in range(100):
        change = compared(made(1), made(1)).changes[0]
        share = change.relative(change.smallest)
        assert share is not None
        found.append(compared(made(1), made(1 + share)).changes[0].verdict == "differs")
    assert 0.7 < np.mean(found) < 0.92


@pytest.mark.parametrize(
    ("base", "new", "enough"),
    [
        (1, 2, "4 against 4"),
        (2, 1, "4 against 4"),
        (3, 3, "4 against 4"),
        (5, 3, "5 against 4 or 6 against 3"),
        (3, 5, "3 against 6 or 4 against 5"),
        (2, 10, "2 against 11 or 3 against 10"),
        (1, 70, "2 against 70"),
    ],
)
def test_groups_of_too_few_arrangements_are_refused(base: int, new: int, enough: str) -> None:
    with pytest.raises(ValueError, match=f"however large it is; {enough} can"):
        compared(side(1, 1e7, base), side(2, 1e7, new))


@pytest.mark.parametrize(("base", "new", "ways"), [(6, 3, 84), (3, 6, 84), (5, 4, 126), (4, 5, 126), (2, 11, 78)])
def test_unequal_groups_of_enough_arrangements_differ(base: int, new: int, ways: int) -> None:
    """Whichever side is higher: beside what is, at most the arrangement from the other end differs as much."""
    assert 2 / ways <= 0.03
    for sign in (-1, 1):
        change = only(compared(side(1, 1e7, base), side(2, 1e7 * (1 + 0.4 * sign), new)))
        assert change.verdict == ("regressed" if sign > 0 else "improved")
        assert change.chance in (1 / ways, 2 / ways)


def test_what_does_not_count_is_no_reason_to_say_that_it_varies() -> None:
    """Four and nine collections a run, hardly ever one more or less: the floor of ten is why nothing is said."""
    base, new = ([recorded({"gc.full_count": m + n % 2}) for n in range(5)] for m in (4, 9))
    change = only(compared(base, new))
    assert (change.verdict, change.reason) == ("cannot tell", "a change by less than 10 in a recording does not count")
    base, new = ([recorded({"gc.pause_max": m * n}) for n in (1.0, 3.0, 2.0, 5.0, 1.0)] for m in (1e6, 1.2e6))
    assert only(compared(base, new)).reason == "it varies too much"


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((1, 5)),
    st.sampled_from((0.75, 0.9, 0.97, 1.0, 1.04, 1.12, 1.22)),
    st.sampled_from((0.02, 0.2, 1.0)),
)
def test_the_same_is_not_said_of_what_is_apart_nor_varying_of_what_is_steady(
    seed: int, runs: int, factor: float, share: float
) -> None:
    draw = np.random.default_rng(seed)

    def made(mean: float) -> list[Measured]:
        return [
            recorded(
                {f"threads.{n}_total": noisy(draw, mean * 1e7, share) for n in range(12)}
                | {"gc.few_count": draw.poisson(mean * 0.03, BLOCKS).astype(float)}
            )
            for _ in range(runs)
        ]

    for change in compared(made(1), made(factor)).changes:
        if change.low is None:
            continue
        assert change.base is not None
        assert change.new is not None
        assert change.high is not None
        if change.verdict == "same":
            assert change.within is not None
            assert change.low <= 0 <= change.high or change.within <= 0.05 * min(change.base, change.new)
        assert (change.reason is not None) == (change.verdict == "cannot tell")
        if change.reason == "it varies too much":
            assert change.high - change.low > 0.5 * (change.base + change.new) / 2


# Laws. -------------------------------------------------------------------------------------------------------------


@st.composite
def recordings(draw: st.DrawFn) -> Measured:
    seed = draw(st.integers(0, 2**32 - 1))
    made = np.random.default_rng(seed)
    length = draw(st.sampled_from((1, 3, 30)))
    mean = draw(st.sampled_from((0.0, 1e5, 1e7, 3e7)))
    states = chain(made, BLOCKS, 0.4, length) * mean
    counts = made.poisson(draw(st.sampled_from((0.01, 1, 30))), BLOCKS).astype(float)
    return recorded(
        {"threads.running_total": states, "gc.count": counts, "gc.pause_max": draw(st.sampled_from((None, 0, 7.5)))},
        {"methods.App!A.F()": states, "methods.App!A.G()": noisy(made, 1e6)},
        seconds=draw(st.sampled_from((1, 30))),
    )


def mirrored(change: Change) -> dict[str, Any]:
    verdicts = {"improved": "regressed", "regressed": "improved"}
    reason = change.reason
    if change.verdict == "not comparable" and reason is not None:
        swap = {"base": "new", "new": "base"}
        sides, _, rest = reason.partition(": ")
        reason = f"{' and '.join(sorted(swap[one] for one in sides.split(' and ')))}: {rest}"
    return {
        "verdict": verdicts.get(change.verdict, change.verdict),
        "base": change.new,
        "new": change.base,
        "low": None if change.high is None else -change.high,
        "high": None if change.low is None else -change.low,
        "smallest": change.smallest,
        "within": change.within,
        "chance": change.chance,
        "reason": reason,
    }


@settings(max_examples=20)
@given(recordings(), recordings())
def test_comparing_the_other_way_round_mirrors(base: Measured, new: Measured) -> None:
    one, other = compared([base], [new]), compared([new], [base])
    for there, back in zip((*one.changes, *one.rows), (*other.changes, *other.rows), strict=True):
        assert there.key == back.key
        for name, value in mirrored(there).items():
            found = getattr(back, name)
            assert found == (value if isinstance(value, str | None) else pytest.approx(value)), name


@settings(max_examples=10)
@given(recordings())
def test_a_recording_does_not_differ_from_itself(one: Measured) -> None:
    found = compared([one], [one])
    assert found.alarms == ()
    assert found.warnings == ()
    assert all(change.change in (0, None) for change in (*found.changes, *found.rows))


def test_warnings_say_what_differs_beside_the_program() -> None:
    base = recorded({}, runtime="8.0.4", processors=2, **{"sampling period": 1e6, "lost events": 0})
    new = recorded({}, runtime="10.0.12", processors=2, **{"sampling period": 1e7, "lost events": 12})
    assert compared([base], [new]).warnings == (
        "runtime: 8.0.4 before, 10.0.12 after",
        "sampling period: from 1 to 10 ms",
        "lost events: 0 before, 12 after",
    )


# Conditions. -------------------------------------------------------------------------------------------------------


def failing(base: Sequence[Measured], new: Sequence[Measured], *conditions: str) -> tuple[int, int]:
    failed, unknown = compared(base, new).failing(*conditions)
    return len(failed), len(unknown)


def test_a_condition_needs_a_change_that_is_told_from_chance() -> None:
    """Of twenty metrics one lies beyond its interval by chance."""
    draw = np.random.default_rng(14)
    names = [f"threads.{letter}_total" for letter in "abcdefghijklmnopqrst"]
    base, new = ({name: noisy(draw, 1e7) for name in names} for _ in range(2))
    new[names[0]] = base[names[0]] * 1.12
    changed = compared([recorded(base)], [recorded(new)])
    assert changed.changes[0].low is not None
    assert (changed.changes[0].low > 0, changed.alarms) == (True, ())
    assert [len(side) for side in changed.failing("threads.a_total>0%")] == [0, 1]


def test_the_smallest_change_is_larger_among_many() -> None:
    draw = np.random.default_rng(15)
    names = [f"threads.{letter}_total" for letter in "abcdefghijklmnopqrst"]
    base, new = ({name: noisy(draw, 1e7) for name in names} for _ in range(2))
    many = compared([recorded(base)], [recorded(new)]).changes[0].smallest
    one = pair(base[names[0]], new[names[0]], names[0]).smallest
    assert one is not None
    assert many is not None
    assert many > 1.1 * one


def test_numbers_of_events_are_exact() -> None:
    base, new = recorded({"gc.total_count": 2}), recorded({"gc.total_count": 3})
    assert failing([base], [new], "gc.total_count>5%") == (1, 0)
    assert failing([base], [new], "gc.total_count>50%") == (0, 0)
    assert failing([recorded({"gc.total_count": 0})], [new], "gc.total_count>5%") == (1, 0)


@pytest.mark.parametrize(
    ("condition", "wrong"),
    [
        ("gc.cuont>5%", "no metric"),
        ("gc.total_count=5%", "compared by"),
        ("gc.total_count>5ms", "ratio"),
        ("x", "not a"),
    ],
)
def test_conditions_that_are_none(condition: str, wrong: str) -> None:
    found = compared([recorded({"gc.total_count": 2})], [recorded({"gc.total_count": 3})])
    with pytest.raises(ValueError, match=wrong):
        found.failing(condition)


def test_a_hostile_name_is_escaped_wherever_it_is_shown() -> None:
    draw = np.random.default_rng(1)
    whole, part = noisy(draw, 1e7), noisy(draw, 1e6)
    one, other = (recorded({"threads.running_total": whole}, {"methods.A\x1b[31m.F()": part * f}) for f in (1, 5))
    found = compared([one], [other])
    assert "methods.A\\x1b[31m.F(): " in repr(found)
    assert "\x1b" not in repr(found) + found.markdown() + found._repr_html_()


def test_a_row_is_confirmed_by_the_same_row() -> None:
    draw = np.random.default_rng(20)

    def made(f: float, g: float) -> list[Measured]:
        return [recorded({}, {"methods.App!A.F()": noisy(draw, f * 1e7), "methods.App!A.G()": noisy(draw, g * 1e7)})]

    one, same, other = (compared(made(1, 1), made(f, g)) for f, g in ((1.3, 1), (1.3, 1), (1, 1.3)))
    failed, unknown = one.confirm(same).failing("methods:App!A.*>10%")
    assert [text.partition(" changed")[0] for text in failed] == ["methods:App!A.*>10%: methods.App!A.F()"]
    assert unknown == []
    failed, unknown = one.confirm(other).failing("methods:App!A.*>10%")
    assert failed == []
    assert len(unknown) == 1
