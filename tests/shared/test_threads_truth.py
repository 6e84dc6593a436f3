"""The report on threads, held against what scripted programs measured of themselves, and its tiling on every trace."""

from __future__ import annotations

import gzip
import json
import warnings
from collections import Counter
from functools import cache

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from clrevents.analysis import read_samples
from thread_tiles import tiles

pytestmark = needs_shared

SCENARIOS = SHARED / "scenarios"
STATES = {"burn": "running", "lock": "lock", "sleep": "sleep", "event": "wait"}
TRACES = traces("traces/own", "traces/perfview", "scenarios")
_LARGEST = 3_000_000


class Story:
    """A scenario with its truth, its report and the phases that the scripted thread wrote."""

    def __init__(self, name: str) -> None:
        truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
        self.script = [(kind, round(took * 1e6)) for kind, _, took in truth.get("script", ())]
        with clrevents.open(SCENARIOS / f"{name}.nettrace.gz") as trace:
            self.report = trace.report("threads")
            marks = [(e.time_ns, e.thread_id, e.payload.name) for e in trace.events("PhaseStart", "PhaseStop")]
            events = ("ContentionStart", "ContentionStop")
            self.contentions = [(e.name, e.time_ns, e.thread_id) for e in trace.events(*events)]
        own = [mark for mark in marks if mark[2] != "all"]
        self.thread = own[0][1] if own else None
        self.phases = [(*begin[::2], end[0]) for begin, end in zip(own[::2], own[1::2], strict=True)]
        self.intervals = [i for i in self.report.intervals if i.thread_id == self.thread]

    def total(self, state: str) -> int:
        row = next(row for row in self.report.threads if row.thread_id == self.thread)
        found: int = getattr(row, f"{state}_ns")
        return found

    def wanted(self, *kinds: str) -> int:
        return sum(took for kind, took in self.script if kind in kinds)


@cache
def story(name: str) -> Story:
    return Story(name)


@pytest.mark.parametrize(
    ("name", "within", "rest"),
    # On .NET 11 a sample or two hit the end of the thread, and its wait for one that held the lock.
    [("net11-states-31", 0.03, 2e6), ("net10-states-11", 0.03, 0), ("net8-states-44", 0.04, 0)],
)
def test_totals_of_the_scripted_thread(name: str, within: float, rest: float) -> None:
    told = story(name)
    assert len(told.script) == len(told.phases) == 24
    for kind, state in STATES.items():
        assert told.total(state) == pytest.approx(told.wanted(kind), rel=within), kind
    # Compilation and the start of the threads that hold the locks.
    assert told.total("native") < 14e6
    assert told.total("unknown") + told.total("join") <= rest
    assert not told.total("task_wait")


def test_totals_where_samples_do_not_tell_running_from_native() -> None:
    """The sampler of .NET Core 3.1 calls what runs external, and Thread.Sleep is inlined there: both are unknown."""
    told = story("net31-states-44")
    assert told.total("lock") == pytest.approx(told.wanted("lock"), rel=0.04)
    assert told.total("wait") == pytest.approx(told.wanted("event"), rel=0.04)
    assert told.total("unknown") == pytest.approx(told.wanted("burn", "sleep"), rel=0.04)
    assert {told.total(state) for state in ("sleep", "native", "running", "gc_suspended")} == {None}


@pytest.mark.parametrize("name", ["net11-states-31", "net10-states-11", "net8-states-44"])
def test_the_borders_of_each_step(name: str) -> None:
    """A step's state begins within two periods of its event, and ends so.

    A lock is waited for once the thread that holds it has started, which takes up to 2.4 ms, twice that on .NET 11, and
    there the border is that of the event.
    """
    told = story(name)
    period = told.report.facts.sampling_period_ns
    assert period is not None
    assert 1_000_000 < period < 1_200_000
    stops = {time for kind, time, thread in told.contentions if thread == told.thread and kind == "ContentionStop"}
    starts = {time for kind, time, thread in told.contentions if thread == told.thread and kind == "ContentionStart"}
    for kind, start, end in [(kind, begin, end) for begin, kind, end in told.phases]:
        mine = [
            (max(i.start_ns, start), min(i.end_ns, end), i)
            for i in told.intervals
            if i.state == STATES[kind] and i.start_ns < end and i.end_ns > start
        ]
        assert mine, (kind, start)
        if kind == "lock":
            ((low, high, interval),) = mine
            assert (low, high) == (interval.start_ns, interval.end_ns)
            assert low in starts
            assert high in stops
            assert interval.evidence == "event"
            assert interval.owner_thread_id not in (None, told.thread) or name.startswith("net31")
            assert low - start < (4_800_000 if name.startswith("net11") else 2_400_000)
        else:
            assert mine[0][0] - start < (2 * period if kind != "event" else 2.1 * period)
            assert {i.evidence for _, _, i in mine} == {"sample"}
        assert end - mine[-1][1] < 2 * period, (kind, start)


@pytest.mark.parametrize("name", ["net11-cpu-31", "net10-cpu-11"])
def test_running_threads_of_a_scenario(name: str) -> None:
    told = story(name)
    truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
    running = sorted((row.running_ns for row in told.report.threads), reverse=True)[:2]
    assert running == [pytest.approx(truth[f"Burn{which}_ms"] * 1e6, rel=0.03) for which in "AB"]
    main = next(row for row in told.report.threads if row.role == "main")
    assert main.sleep_ns + main.join_ns > 0.95 * main.life_ns
    roles = {row.role: row.threads for row in told.report.roles}
    assert roles["main"] == roles["finalizer"] == roles["tiering"] == 1


@pytest.mark.parametrize("name", ["net11-states-31", "net10-states-11"])
def test_roles(name: str) -> None:
    roles = Counter(row.role for row in story(name).report.threads)
    fixed = {"main": 1, "finalizer": 1, "tiering": 1, "sampler": 1, "timer": 1, "pool_worker": 2, "pool_gate": 1}
    assert {role: count for role, count in roles.items() if role != "other"} == fixed


@pytest.mark.parametrize(
    "shared",
    [t for t in TRACES if t.path.stat().st_size < _LARGEST],
    ids=lambda shared: shared.name,
)
def test_states_tile_every_thread(shared: Shared) -> None:
    data = gzip.decompress(shared.path.read_bytes())
    with clrevents.open(data, errors="salvage") as trace, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tiles(trace.report("threads"))


def test_top_of_what_runs_and_of_what_waits() -> None:
    truth = json.loads((SCENARIOS / "net10-cpu-11.truth.json").read_text())
    with clrevents.open(SCENARIOS / "net10-cpu-11.nettrace.gz") as trace:
        running, waiting = trace.report("top", running=True), trace.report("top", waiting=True)
        whole = trace.report("top")
        raw = trace.report("top", artefacts=True)
    took = {row.name: row.inclusive_ns for row in running.methods}
    for which in "AB":
        assert took[f"Scenarios.Burn{which}(int)"] == pytest.approx(truth[f"Burn{which}_ms"] * 1e6, rel=0.03)
    assert not any("PollGC" in row.name for row in whole.methods)
    assert any("PollGC" in row.name and row.samples > 1_900 for row in raw.methods)
    asleep = ("System.Threading.Thread.Sleep(int)", "System.Threading.Thread.Join(int)")
    assert not any(row.exclusive_ns for row in running.methods if row.name in asleep)
    assert {row.name for row in waiting.methods if row.exclusive_ns} == set(asleep)
    for row in whole.methods:
        if row.name in asleep:
            assert row.waiting_ns == row.exclusive_ns


def test_callers_of_what_runs() -> None:
    """The two methods that burn call a third; whatever is folded, the time of either is that which it measured."""
    truth = {k: v * 1e6 for k, v in json.loads((SCENARIOS / "net10-cpu-11.truth.json").read_text()).items() if "_" in k}
    with clrevents.open(SCENARIOS / "net10-cpu-11.nettrace.gz") as trace:
        burn = trace.report("callers", method="Burn", running=True, my_code=True)
        each = {which: trace.report("callers", method=f"Burn{which}", running=True) for which in "AB"}
        folded = trace.report("top", running=True, fold="Scenarios.Burn;System.*")
        without = trace.report("top", running=True, exclude="Burn?;*.BurnA", my_code=True)
        whole = trace.report("top", running=True)
        samples = read_samples(trace).in_states("running")
    callers = {row.name: row.inclusive_ns for row in burn.callers if row.depth == 1}
    assert set(callers) == {"Scenarios.BurnA(int)", "Scenarios.BurnB(int)"}
    own = {row.name: row.exclusive_ns for row in folded.methods}
    for which, report in each.items():
        name, took = f"Scenarios.Burn{which}(int)", truth[f"Burn{which}_ms"]
        assert callers[name] == pytest.approx(took, rel=0.03)
        assert own[name] == report.callees[0].inclusive_ns == report.metrics["inclusive"].value
        assert own[name] == pytest.approx(took, rel=0.03)
    assert sum(callers.values()) == burn.metrics["inclusive"].value
    assert folded.metrics["total"].value == whole.metrics["total"].value == samples.total
    left = samples.total - (each["A"].metrics["inclusive"].value or 0)
    assert without.metrics["total"].value == left
