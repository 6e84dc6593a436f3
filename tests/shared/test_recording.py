"""What recordings cost and prove on real traces: against each event alone, and how the sampler's stops are known."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from typing import Final

import attrs
import pytest
from shared_files import Shared, needs_shared, params, traces

import clrevents
from clrevents.analysis.framework.recording.recorded import recorded
from clrevents.analysis.shared.events.gc_suspensions import STEPS, recording_cost_of
from clrevents.schema.registry import RUNTIME, SAMPLE, provider_name
from clrevents.trace import passes_of
from slow_cost import Lost, Sampled, Suspending, slow_cost, whole_ones

NETPERF: Final = "netperf"
# 1.3 million events, and no rule that the others lack.
LARGE: Final = ("net10-big",)
# Samples of suspensions of which the trace lacks an event.
STRAY: Final = {"net10-lossy": 1, "net31-rundown": 2, "eventpipe-dotnetcore3.0-win-x64-objver4": 432}


@attrs.frozen
class Seen:
    """Events in order of time; `captures` are the threads that wrote samples (none in NetPerf, which has no such)."""

    suspensions: tuple[Suspending, ...]
    samples: tuple[Sampled, ...]
    losses: tuple[Lost, ...]
    captures: frozenset[int]
    duration_ns: int


@cache
def seen(trace: Shared) -> Seen:
    """One event at a time."""
    suspensions, samples, captures = [], [], set()
    with quiet(trace) as opened:
        for rows in passes_of(opened).event_rows(f"{SAMPLE}/ThreadSample", *STEPS):
            threads = zip(rows.thread_ids.tolist(), rows.capture_threads.tolist(), strict=True)
            for row, (thread, capture) in enumerate(threads):
                name, payload, time = rows.kind(row).key.name, rows.payloads[row], rows.times_ns[row]
                if name == "ThreadSample":
                    samples.append(Sampled(time, thread))
                    captures.add(capture)
                    continue
                kind = STEPS.index(f"runtime/{name}")
                told = () if kind else (payload.Reason, payload.Count)
                suspensions.append(Suspending(time, thread, kind, *told))
        losses = tuple(Lost(loss.thread_id, loss.start_ns, loss.end_ns) for loss in opened.losses)
        writers = frozenset() if NETPERF in trace.name else frozenset(captures)
        return Seen(tuple(suspensions), tuple(samples), losses, writers, opened.duration_ns)


def quiet(trace: Shared) -> clrevents.Trace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        opened = clrevents.open(trace.path)
        assert opened.lost >= 0
        return opened


ALL = [t for t in traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines") if t.short not in LARGE]


@needs_shared
@pytest.mark.parametrize("trace", params(ALL))
def test_cost_one_event_at_a_time(trace: Shared) -> None:
    """The sampler is known by another rule: who wrote the samples. (By the same one in NetPerf, which lacks that.)"""
    events = seen(trace)
    with quiet(trace) as opened:
        found = recording_cost_of(opened)
    if not events.captures and events.samples:
        # Two traces; in them nobody else suspends for reason 0.
        threads = {e.thread for e in events.suspensions if e.kind == 0 and e.reason == 0}
        assert len(threads) <= 1
    else:
        threads = set(events.captures)
    assert found == slow_cost(events.suspensions, events.samples, events.duration_ns, events.losses, threads)


@needs_shared
@pytest.mark.parametrize("trace", params(ALL))
def test_how_the_samplers_suspensions_are_known(trace: Shared) -> None:
    """One thread writes all samples, each between the two inner events of a suspension of its own, of reason 0."""
    events = seen(trace)
    assert len(events.captures) <= 1
    mine = {e.reason for e in events.suspensions if e.kind == 0 and e.thread in events.captures}
    assert mine <= {0}
    whole, _, _ = whole_ones(events.suspensions)
    sure = [one for one in whole if not one.lossy(events.losses)]
    spans = sorted((one.suspended, one.restarting, one.reason) for one in sure)
    # No two at the same time.
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    if not events.suspensions:
        return
    inside = [place for place in held(spans, [s.time for s in events.samples]) if place is not None]
    assert {spans[place][2] for place in inside} <= {0}
    assert len(events.samples) - len(inside) == STRAY.get(trace.name.rpartition(".")[0], 0)


def held(spans: list[tuple[int, int, int]], times: list[int]) -> list[int | None]:
    """Which span each of these times lies in; both in order."""
    found: list[int | None] = []
    place = 0
    for time in times:
        while place < len(spans) and spans[place][1] < time:
            place += 1
        found.append(place if place < len(spans) and spans[place][0] <= time else None)
    return found


# What the scenarios were recorded with, as their script says: all but the heap's are alike, but for levels and tasks.
ASKED: Final = 0x14C14FCCBD
HEAP: Final = 0x1980001
VERBOSE: Final = ("garbage", "servergc", "heap")
TASKS: Final = {"async": 0x1FF, "garbage": 0, "servergc": 0, "heap": 0}
SCRIPTED = [t for t in traces("scenarios") if t.short.endswith("-44") and "meters" not in t.short]


@needs_shared
@pytest.mark.parametrize("trace", params(SCRIPTED))
def test_what_is_proved_was_asked_for(trace: Shared) -> None:
    """And each event had a keyword that was asked for, or none: the rule that proofs rest on."""
    scenario = trace.short.split("-")[1]
    asked = {
        "runtime": (HEAP if scenario == "heap" else ASKED, 5 if scenario in VERBOSE else 4),
        "tpl": (TASKS.get(scenario, 0x1C7), 5),
        "sample": (0, 4),
    }
    with quiet(trace) as opened:
        found = recorded(opened)
    providers = {provider.provider: provider for provider in found}
    assert RUNTIME in providers
    for name, (keywords, level) in asked.items():
        provider = providers.get(provider_name(name))
        if provider is None:
            continue
        proved = {keyword.bit: keyword.level for keyword in provider.keywords if keyword.proved}
        assert all(bit & keywords and told is not None and told <= level for bit, told in proved.items())
        assert provider.level is not None
        assert provider.level <= level
        assert all(bits & keywords or not bits for bits, _ in provider.seen)
