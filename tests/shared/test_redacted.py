"""Redacted copies of shared traces: no planted secret is left in any, and all reports, flame graphs and events are the
same in a sample of them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from shared_files import Shared, needs_shared, traces

import clrevents
import report_laws
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.flame.flame_formats import folded as render
from clrevents.export.look import Look
from clrevents.rewrite import redact
from clrevents.rewrite.replacement import ORIGIN
from planting import leaks, planted_copy
from tiers import drawn

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]

_LARGEST = 1_000_000
"""Larger files, compressed, take minutes and hold nothing else."""
TRACES = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < _LARGEST
]


def some_traces(sweep: str) -> pytest.MarkDecorator:
    """An eighth of them."""
    chosen = [shared for shared in TRACES if drawn(8, sweep, shared.name)]
    return pytest.mark.parametrize("shared", chosen, ids=lambda shared: shared.name)


@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_no_planted_secret_is_left(shared: Shared, tmp_path: Path) -> None:
    data, planted = planted_copy(gzip.decompress(shared.path.read_bytes()))
    # One trace has three events, and no text that could be another one.
    assert bool(leaks(data)) == bool(planted.total()) == ("executioncheckpoints" not in shared.name)
    out = tmp_path / "out.nettrace"
    with clrevents.open(data, errors="salvage") as trace:
        redact(trace, out)
    assert leaks(out.read_bytes()) == []
    with clrevents.open(out, errors="strict") as trace:
        assert sum(1 for _ in trace.events()) > 0


@some_traces("flame graphs of redacted copies")
def test_flame_graphs_are_the_same(shared: Shared) -> None:
    data = gzip.decompress(shared.path.read_bytes())
    assert flame(report_laws.redacted_copy(data)) == flame(data)


def flame(data: bytes) -> Any:
    """All stacks by name, with their weights; why not, if there are none."""
    with report_laws.opened(data) as trace:
        try:
            return render(read_samples(trace), Look("t"))
        except ValueError as error:
            return str(error)


def answers(data: bytes) -> dict[str, Answer[Any]]:
    """What all reports say, from one pass."""
    with report_laws.opened(data) as trace:
        return trace.reports()


@some_traces("reports of redacted copies")
def test_all_reports_say_the_same(shared: Shared) -> None:
    data = gzip.decompress(shared.path.read_bytes())
    whole = answers(data)
    blank, named, other = (
        answers(report_laws.redacted_copy(data, pseudonyms, ids))
        for pseudonyms, ids in ((False, False), (True, False), (True, True))
    )
    assert set(whole) == set(report_names())
    for name, report in whole.items():
        report_laws.says_the_same(report, blank[name])
        report_laws.says_the_same(report, named[name])
        report_laws.same_but_for_ids(named[name], other[name])


@some_traces("events of redacted copies")
def test_events_but_for_their_ids_are_the_same(shared: Shared) -> None:
    data = gzip.decompress(shared.path.read_bytes())
    with report_laws.opened(report_laws.redacted_copy(data, pseudonyms=True)) as trace:
        before = list(trace.events())
    threads: dict[Any, Any] = {}
    activities: dict[Any, Any] = {}
    with report_laws.opened(report_laws.redacted_copy(data, pseudonyms=True, ids=True)) as trace:
        assert trace.info.start in (None, ORIGIN)
        for ours, theirs in zip(trace.events(), before, strict=True):
            assert (ours.key, ours.time_ns, ours.processor) == (theirs.key, theirs.time_ns, theirs.processor)
            assert ours.stack == theirs.stack
            assert threads.setdefault(theirs.thread_id, ours.thread_id) == ours.thread_id
            for one, other in (
                (ours.activity_id, theirs.activity_id),
                (ours.related_activity_id, theirs.related_activity_id),
            ):
                assert activities.setdefault(other, one) == one
    known = sorted(set(threads) - {None})
    assert [threads[thread] for thread in known] == sorted(threads[thread] for thread in known)
    assert len(set(threads.values())) == len(threads)
    assert len(set(activities.values())) == len(activities)
