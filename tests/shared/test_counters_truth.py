"""The report on counters, held against raw payloads, and against what the program that made the metrics does."""

from __future__ import annotations

from typing import Any

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents

METERS = SHARED / "scenarios/net8-meters-44.nettrace.gz"
COUNTERS = SHARED / "traces/own/net8-counters.nettrace.gz"
SMALL = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < 3_000_000
]
METRICS = "System.Diagnostics.Metrics"

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def raw_counters(trace: clrevents.Trace) -> list[tuple[Any, ...]]:
    """All EventCounters, in a loop that knows nothing of reports."""
    found = []
    for event in trace.events():
        if event.name != "EventCounters":
            continue
        told = clrevents.asdict(event.payload)["Payload"]
        rate = told["CounterType"] == "Sum"
        value = told["Increment"] if rate else told["Mean"]
        statistics = [None] * 4 if rate else [told[name] for name in ("Count", "Min", "Max", "StandardDeviation")]
        count, *others = statistics
        names = [told[name] for name in ("Name", "Metadata", "DisplayUnits")]
        known = [value, round(told["IntervalSec"] * 1e9), count, event.thread_id, "rate" if rate else "mean"]
        found.append((event.time_ns, event.provider, *names, *known, *others))
    return found


def raw_meters(trace: clrevents.Trace) -> list[tuple[Any, ...]]:
    """All values of instruments, with the interval of the collection around them."""
    found = []
    interval = None
    for event in trace.events():
        if event.provider != METRICS:
            continue
        told = clrevents.asdict(event.payload)
        if event.name == "CollectionStart":
            interval = (int(told["intervalEndTime"]) - int(told["intervalStartTime"])) * 100
        elif event.name == "CollectionStop":
            interval = None
        elif event.name.endswith("ValuePublished"):
            head = [event.time_ns, *(told[name] for name in ("meterName", "instrumentName", "tags", "unit"))]
            session = told["sessionId"]
            if event.name == "HistogramValuePublished":
                count, total = told["count"], told["sum"]
                found.append((*head, total / count, interval, count, session, None, total, None, None))
                for piece in told["quantiles"].split(";"):
                    quantile, value = map(float, piece.split("="))
                    found.append((*head, value, interval, None, session, quantile, None, None, None))
            else:
                rate, value = float(told["rate"]), float(told["value"])
                shown = value if event.name.startswith("UpDown") else rate
                found.append((*head, shown, interval, None, session, None, None, rate, value))
    return found


@pytest.mark.parametrize("shared", SMALL, ids=lambda shared: shared.name)
def test_every_value_is_that_of_its_payload(shared: Shared) -> None:
    with clrevents.open(shared.path, errors="salvage") as trace:
        found = trace.report("counters")
        kinds = {kind.name for kind in trace.event_counts()} | {kind.provider for kind in trace.event_counts()}
        counters = raw_counters(trace) if "EventCounters" in kinds else []
        meters = raw_meters(trace) if METRICS in kinds else []
    rows = list(found.values)
    both = ("time_ns", "provider", "name", "tags", "unit", "value", "interval_ns", "count")
    of_counters = (*both, "thread_id", "kind", "min", "max", "stddev")
    of_meters = (*both, "session_id", "quantile", "sum", "change", "total")
    assert [tuple(getattr(row, name) for name in of_counters) for row in rows if row.session_id is None] == counters
    assert [tuple(getattr(row, name) for name in of_meters) for row in rows if row.session_id is not None] == meters
    assert (found.coverage == "none") == (not rows)
    assert len(counters) == (135 if shared.path == COUNTERS else 0)
    assert len(meters) == (48 if shared.path == METERS else 0)


def test_rates_are_increases_by_their_interval() -> None:
    with clrevents.open(COUNTERS) as trace:
        found = trace.report("counters")
        raw = [row for row in raw_counters(trace) if row[9] == "rate"]
    for row in found.series:
        mine = [told for told in raw if told[2] == row.name]
        assert (row.kind == "rate") == bool(mine)
        if mine:
            assert row.total == sum(told[5] for told in mine)
            assert row.per_second == pytest.approx(row.total / (sum(told[6] for told in mine) / 1e9), rel=1e-12)
    assert found.facts.counter_interval_ns == 1_000_367_522


def test_metrics_are_what_the_program_does() -> None:
    """Each 20 ms, number n: a counter +2, an up-down counter -1 if n is a multiple of 3 and else +1, a measurement of
    n % 50 hundredths of a second; all with the tag `ro,ute` `/a=<n % 2>`.
    """
    with clrevents.open(METERS) as trace:
        found = trace.report("counters")
    tags = ("ro,ute=/a=0", "ro,ute=/a=1")
    assert {(row.name, row.kind, row.tags, row.unit, row.instrument) for row in found.series} == {
        (name, kind, tag, unit, instrument)
        for name, kind, unit, instrument in (
            ("jobs", "counter", "{job}", "Counter`1"),
            ("depth", "updown", "{item}", "UpDownCounter`1"),
            ("time", "histogram", "s", "Histogram`1"),
        )
        for tag in tags
    }
    assert {(row.tag_names, row.tag_values, row.tags_ambiguous) for row in found.series} == {
        (("ro,ute",), ("/a=0",), True),
        (("ro,ute",), ("/a=1",), True),
    }
    told: dict[tuple[str, str], list[Any]] = {}
    for row in found.values:
        if row.quantile is None:
            told.setdefault((row.name, row.tags), []).append(row)
    counts = [sum(int(told["jobs", tag][i].value) // 2 for tag in tags) for i in range(4)]
    assert [count // 49 for count in counts] == [1, 1, 1, 1], "about 50 in each second"
    # With which number the session began nobody knows; a period of all that is done is 150.
    begins = [n for n in range(150) if _fits(n, counts, told, tags)]
    assert len(begins) == 1
    for row in found.values:
        if row.name == "jobs":
            assert (row.interval_ns, row.per_second) == (1_000_000_000, row.value)
            assert row.total == sum(v.value for v in told["jobs", row.tags] if v.time_ns <= row.time_ns)


def _fits(first: int, counts: list[int], told: dict[tuple[str, str], list[Any]], tags: tuple[str, str]) -> bool:
    """Whether all values are those of a program that began with this number."""
    for interval, count in enumerate(counts):
        numbers = range(first, first + count)
        first += count
        for parity, tag in enumerate(tags):
            mine = [n for n in numbers if n % 2 == parity]
            depth, time = told["depth", tag][interval], told["time", tag][interval]
            if told["jobs", tag][interval].value != 2 * len(mine) or time.count != len(mine):
                return False
            if depth.change != sum(-1 if n % 3 == 0 else 1 for n in mine):
                return False
            if time.sum != pytest.approx(sum(0.01 * (n % 50) for n in mine)):
                return False
    return True
