"""Rows of counters, of heap snapshots and of methods by state: what they count, and when they are looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

import clrevents
from built_counters import SECOND, counter, increased, polled
from clrevents.analysis.compare.change import Change
from clrevents.analysis.compare.comparison import Comparison, lacking, told_rows
from clrevents.analysis.compare.measured import Measured
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES, SHARED, without_shared

HEAP = FIXTURES / "net8-heap.nettrace.gz"
COUNTERS = FIXTURES / "net8-counters.nettrace.gz"
METERS = FIXTURES / "net8-meters.nettrace.gz"
CONVOY = FIXTURES / "net10-convoy.nettrace.gz"


def measured(trace: bytes) -> Measured:
    with clrevents.open(trace) as opened:
        return clrevents.measure(opened)


def of(found: Comparison, family: str) -> dict[str, Change]:
    return {row.name: row for row in found.rows if row.family == family}


# Counters. ---------------------------------------------------------------------------------------------------------


def counted(mean: float, seed: int, seconds: int = 120, every: float = 1.0, more: str | None = None) -> Measured:
    """A level and an increase published every so many seconds, the latter of 6 a second; and `more`, 6 times."""
    draw = np.random.default_rng(seed)
    builder = TraceBuilder().thread(7)
    for at in range(int(seconds / every)):
        builder.at(int((at + 1) * every * SECOND))
        counter(builder, polled("heap", mean + 5 * draw.standard_normal()))
        counter(builder, increased("hits", 6 * every, IntervalSec=every), id=5)
        if more and at < 6:
            counter(builder, polled(more, 1.0), id=6)
    return measured(builder.build())


def test_means_of_counters_differ_beyond_chance() -> None:
    found = clrevents.compare(counted(100, 1), counted(130, 2))
    heap = of(found, "counters")["App/heap"]
    assert (heap.verdict, heap.unit, heap.adds, heap.towards) == ("differs", "MB", False, None)
    assert heap.base == pytest.approx(100, abs=1.5)
    assert heap.new == pytest.approx(130, abs=1.5)
    again = of(clrevents.compare(counted(100, 1), counted(100, 3)), "counters")["App/heap"]
    assert again.verdict == "same"
    assert again.smallest is not None
    assert 0.05 * 100 < again.smallest < 0.2 * 100


def test_increases_count_by_the_second() -> None:
    found = clrevents.compare(counted(100, 1, every=1), counted(100, 2, every=2))
    hits = of(found, "counters")["App/hits"]
    assert (hits.base, hits.new, hits.unit, hits.verdict) == (6.0, 6.0, "/s", "same")


def test_a_counter_of_one_side_is_not_comparable() -> None:
    found = clrevents.compare(counted(100, 1), counted(100, 2, more="queue"))
    queue = of(found, "counters")["App/queue"]
    assert (queue.verdict, queue.base, queue.new, queue.reason) == ("not comparable", None, None, "base: not published")
    assert [(note.message, note.record) for note in lacking(found)] == [("1 counter: base: not published", None)]


def test_few_values_tell_nothing() -> None:
    found = clrevents.compare(counted(100, 1, seconds=20), counted(200, 2, seconds=20))
    assert of(found, "counters")["App/heap"].verdict == "cannot tell"
    assert found.alarms == ()


@pytest.mark.parametrize("path", [COUNTERS, METERS], ids=lambda path: path.name)
def test_counters_have_the_means_of_their_report(path: Any) -> None:
    with clrevents.open(path) as trace:
        series = trace.report("counters").series
        told = {row.name: row for row in clrevents.measure(trace).rows if row.family == "counters"}
    columns = ("provider", "name", "tags", "kind", "mean", "per_second", "quantile")
    expected = {}
    for provider, name, tags, kind, mean, rate, quantile in zip(
        *(series.column(c).tolist() for c in columns), strict=True
    ):
        if quantile is None:
            key = f"{provider}/{name} {tags if kind not in ('rate', 'mean') else ''}".rstrip()
            expected[key] = rate if kind in ("rate", "counter") else mean
    assert expected.keys() == told.keys()
    for name, value in expected.items():
        # A rate is the mean of those of its intervals, which are not all of one length.
        assert told[name].value == pytest.approx(value, rel=1e-3)
    assert all((row.over.sum() > 0) for row in told.values() if row.over is not None)


def test_counters_are_kept_in_a_file() -> None:
    one = counted(100, 1, seconds=40)
    again = Measured.from_dict(one.to_dict())
    assert clrevents.compare(again, counted(130, 2)).to_dict() == clrevents.compare(one, counted(130, 2)).to_dict()
    data = one.to_dict()
    (row,) = (row for row in data["rows"] if row["name"] == "App/heap")
    row["over"] = [[], []]
    with pytest.raises(ValueError, match="a mean of no values"):
        Measured.from_dict(data)


# Heap snapshots. ---------------------------------------------------------------------------------------------------


def test_types_and_paths_are_those_of_the_heap_report() -> None:
    with clrevents.open(HEAP) as trace:
        answer, told = trace.report("heap"), clrevents.measure(trace)
    types = {row.label: row.value for row in told.rows if row.family == "heap types"}
    assert types == dict(zip(answer.types.column("type").tolist(), answer.types.column("bytes").tolist(), strict=True))
    lines = answer.dominators
    paths: list[str] = []
    for name, above in zip(lines.column("name").tolist(), lines.column("parent_row").tolist(), strict=True):
        paths.append(name if above is None else f"{paths[above]}\n{name}")
    found = {row.name: row.value for row in told.rows if row.family == "heap paths"}
    for path, size in zip(paths, lines.column("retained_bytes").tolist(), strict=True):
        if path != "others":
            assert found[path] == size
    assert len(found) > len(paths)


def test_a_snapshot_is_stated_and_never_an_alarm() -> None:
    one = clrevents.measure(HEAP)
    rows = [
        attrs.evolve(row, value=2 * row.value)
        if row.family.startswith("heap") and "Node" in row.name and row.value
        else row
        for row in one.rows
    ]
    found = clrevents.compare(one, attrs.evolve(one, rows=tuple(rows)))
    node = of(found, "heap types")["Node"]
    assert (node.verdict, node.base, node.new, node.adds) == ("stated", 542560, 1085120, False)
    assert found.alarms == ()
    assert {(row.family, row.name) for row in told_rows(found.rows)} >= {
        ("heap types", "Node"), ("heap paths", "static Root\nNode"),
    }  # fmt: skip
    assert told_rows(clrevents.compare(one, one).rows) == []


def test_a_snapshot_of_one_side_is_not_comparable() -> None:
    found = clrevents.compare(CONVOY, HEAP)
    assert not of(found, "heap types")
    (heap,) = (one for one in found.changes if one.key == "heap.bytes")
    assert (heap.verdict, heap.reason) == ("not comparable", "base: not recorded")
    assert heap.record is not None


def test_groups_look_at_types_if_the_heap_moved() -> None:
    one = clrevents.measure(HEAP)

    def side(factor: float, seed: int) -> Iterator[Measured]:
        for noise in np.random.default_rng(seed).normal(1, 0.01, 5).tolist():
            share = factor * noise
            yield attrs.evolve(
                one,
                metrics=tuple(
                    attrs.evolve(m, value=m.value * share) if m.family == "heap" and m.value else m for m in one.metrics
                ),
                rows=tuple(
                    attrs.evolve(r, value=r.value * share) if r.family.startswith("heap") and r.value else r
                    for r in one.rows
                ),
            )

    grown = clrevents.compare(list(side(1, 1)), list(side(1.5, 2)))
    assert of(grown, "heap types")["Node"].verdict == "regressed"
    assert of(clrevents.compare(list(side(1, 1)), list(side(1, 3))), "heap types") == {}


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason=without_shared("leaks in two snapshots each"))
@pytest.mark.parametrize(
    "kind", ["cache", "closure", "event-handler", "finalizer-queue", "static-list", "timer", "healthy"]
)
def test_what_leaks_between_two_files_grows_by_what_was_planted(kind: str) -> None:
    leaks = SHARED / "heap" / "leaks"
    grown = json.loads((leaks / f"net10-{kind}-1.truth.json").read_text())["visits_grown"]
    found = clrevents.compare(*(leaks / f"net10-{kind}-1.{n}.nettrace.gz" for n in (1, 2)), report="heap")
    visit = of(found, "heap types")["Leak.Visit"]
    assert visit.change == 32 * grown
    moved = [row for row in found.rows if row.verdict != "same"]
    assert bool(moved) == bool(grown)
    # Each visit has a text of 40 bytes and an array of 326; those of a cache are its keys, too.
    kept = [row for row in told_rows(found.rows) if row.family == "heap paths" and row.name.endswith("\nLeak.Visit")]
    assert [row.change for row in kept] == [(356 if kind == "cache" else 398) * grown] * bool(grown)


def test_snapshots_of_two_files_are_one_question() -> None:
    found = clrevents.compare(HEAP, HEAP, report="heap")
    assert {change.key for change in found.changes} == {"heap.bytes", "heap.nodes", "heap.reached_bytes"}
    assert {change.family for change in found.rows} == {"heap types", "heap paths"}
    assert {change.verdict for change in (*found.changes, *found.rows)} == {"same"}
    with pytest.raises(ValueError, match="leave type, snapshot and baseline out"):
        clrevents.compare(HEAP, HEAP, report="heap", type="Node")
    lacking = clrevents.compare(CONVOY, HEAP, report="heap")
    assert {change.verdict for change in lacking.changes} == {"not comparable"}


# Methods by state. -------------------------------------------------------------------------------------------------


def states(native: float, seed: int) -> bytes:
    """12 s in one method, for this share of the time in native code."""
    builder = TraceBuilder().thread(7).method_load("Shop.Orders", "Price", address=0x1000)
    builder.method_load("Shop.Orders", "Rest", address=0x2000)
    draw = np.random.default_rng(seed)
    for tick, (at, other) in enumerate(draw.random((12_000, 2)).tolist()):
        builder.at(tick * 1_000_000).sample(0x1010 if other < 0.8 else 0x2010, kind=1 if at < native else 2)
    return builder.build()


def test_states_of_methods_are_looked_at_if_times_by_state_moved() -> None:
    base, new = measured(states(0.3, 1)), measured(states(0.6, 2))
    by_state = {row.name: row.value for row in base.rows if row.family == "methods by state"}
    alone = {row.name: row.value for row in base.rows if row.family == "methods"}
    assert len(by_state) == 4
    for name, value in alone.items():
        assert sum(v for n, v in by_state.items() if n.startswith(f"{name}\n")) == pytest.approx(value)  # type: ignore[misc]
    found = clrevents.compare(base, new)
    assert {name: row.verdict for name, row in of(found, "methods").items()} == {
        "Shop.Orders.Price()": "same", "Shop.Orders.Rest()": "same",
    }  # fmt: skip
    rows = of(found, "methods by state")
    assert {name: (row.verdict, row.towards) for name, row in rows.items()} == {
        "Shop.Orders.Price() [native]": ("differs", None),
        "Shop.Orders.Price() [running]": ("differs", None),
        "Shop.Orders.Rest() [native]": ("differs", None),
        "Shop.Orders.Rest() [running]": ("differs", None),
    }
    assert of(clrevents.compare(base, measured(states(0.3, 3))), "methods by state") == {}


# Per call. ---------------------------------------------------------------------------------------------------------


def orders(every_ms: int, took_ms: int, seed: int) -> Measured:
    """12 s of a shop that begins an order every so often, and prices each for about as long."""
    builder = TraceBuilder().thread(7).method_load("Shop.Orders", "Price", address=0x1000)
    builder.method_load("Shop.Orders", "Wait", address=0x2000)
    draw = np.random.default_rng(seed)
    busy = 0
    for tick in range(12_000):
        builder.at(tick * 1_000_000)
        if tick % every_ms == 0:
            builder.raw("Shop", 1, name="OrderStart").raw("Shop", 2, name="Priced")
            busy = took_ms + int(draw.integers(-1, 2))
        builder.sample(0x1010 if busy > 0 else 0x2010)
        busy -= 1
    return measured(builder.build())


def test_a_method_that_is_called_less_often_is_not_better() -> None:
    base, rarer, slower = orders(20, 8, 1), orders(40, 8, 2), orders(40, 10, 3)
    price = of(clrevents.compare(base, rarer), "methods")["Shop.Orders.Price()"]
    assert (price.verdict, price.towards) == ("differs", None)
    assert price.relative(price.change) == pytest.approx(-0.5, abs=0.03)
    found = clrevents.compare(base, rarer, per="OrderStart")
    assert found.per == "Shop/OrderStart"
    price = of(found, "methods")["Shop.Orders.Price()"]
    assert price.verdict == "same"
    assert price.base == pytest.approx(8e6, rel=0.03)
    found = clrevents.compare(base, slower, per="Shop/OrderStart")
    price = of(found, "methods")["Shop.Orders.Price()"]
    assert (price.verdict, price.towards) == ("differs", "worse")
    assert found.facts.headline.startswith("2 methods slower: Shop.Orders.Wait() +")
    assert re.search(r"Orders\.Price\(\): [78]\.\d+ ms/OrderStart -> [\d.]+ ms/OrderStart, \+2\d", repr(found)), repr(
        found
    )


def test_what_can_be_divided_by_is_a_start_event() -> None:
    one = orders(20, 8, 1)
    assert {name: counts.sum() for name, counts in one.starts.items()} == {"Shop/OrderStart": 600}
    saved = Measured.from_dict(json.loads(json.dumps(one.to_dict())))
    other = orders(40, 8, 2)
    assert clrevents.compare(saved, other, per="OrderStart").to_dict() == (
        clrevents.compare(one, other, per="OrderStart").to_dict()
    )
    for per, wrong in (("Priced", "no denominator 'Priced'"), ("OrderStrt", "did you mean 'Shop/OrderStart'")):
        with pytest.raises(ValueError, match=wrong):
            clrevents.compare(one, other, per=per)
    with pytest.raises(ValueError, match="not every recording has that event"):
        clrevents.compare(one, measured(states(0.3, 1)), per="OrderStart")
    never = attrs.evolve(one, starts={name: 0 * counts for name, counts in one.starts.items()})
    with pytest.raises(ValueError, match="not every recording has that event"):
        clrevents.compare(one, never, per="OrderStart")
