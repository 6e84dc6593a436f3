"""The exceptions report against the raw events, on every trace that has some."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
from shared_files import Shared, params, traces

import clrevents
from clrevents.analysis import read_samples

TRACES = traces("traces/own", "scenarios")
OPEN = {"in_flight", "handling", "unseen"}


@pytest.mark.parametrize("shared", params(TRACES))
def test_every_throw_is_counted_and_every_end_is_someone_s(shared: Shared) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        with clrevents.open(shared.path, errors="salvage") as trace:
            kinds: Counter[str] = Counter()
            types: Counter[tuple[str, bool]] = Counter()
            for event in trace.events("runtime/Exception*"):
                kinds[event.name] += 1
                if event.name == "ExceptionThrown" and not event.payload.ExceptionFlags & 4:
                    types[event.payload.ExceptionType, bool(event.payload.ExceptionFlags & 2)] += 1
            report = trace.report("exceptions")
    if not kinds:
        assert report.metrics["thrown"].value is None
        return
    value = {name: metric.value for name, metric in report.metrics.items()}
    assert value["count"] == types.total() == len(report.exceptions)
    if value["nested"] is not None:
        assert value["thrown"] + value["nested"] + value["rethrown_by_await"] == types.total()
    # Null where events are missing, and names that would show what an await rethrew.
    first = sum(n for (_, nested), n in types.items() if not nested) - (value["rethrown_by_await"] or 0)
    assert value["thrown"] in ([first] if report.coverage == "full" else [first, None])
    found: Counter[tuple[str | None, bool]] = Counter((one.type, one.nested) for one in report.exceptions)
    assert found == types
    # Every catch handler is the first of an exception or shows a rethrow, and every exception is closed or open.
    caught = sum(one.catching_method is not None for one in report.exceptions)
    assert kinds["ExceptionCatchStart"] == caught + sum(one.rethrown for one in report.exceptions)
    assert value["rethrown"] in (None, sum(one.rethrown for one in report.exceptions))
    assert kinds["ExceptionThrownStop"] == sum(one.outcome == "caught" for one in report.exceptions)
    assert sum(one.filters for one in report.exceptions) == kinds["ExceptionFilterStart"]
    outcomes = {o.outcome: o.count for o in report.outcomes}
    assert sum(outcomes.values()) == len(report.exceptions)
    # Null where the end of the trace is missing.
    assert {value["unmatched"], value["without_throw"]} <= {0, None}
    assert report.coverage == "partial" or None not in (value["nested"], value["rethrown"], value["unmatched"])
    if not report.exceptions["lossy"].any():
        assert not OPEN & set(outcomes)


@pytest.mark.parametrize("shared", params([t for t in TRACES if t.short == "net10-cpu"]))
def test_the_busiest_program_by_type_and_method(shared: Shared) -> None:
    with clrevents.open(shared.path) as trace:
        (group,) = trace.report("exceptions").groups
        samples = read_samples(trace, weight="ExceptionType")
    assert {name.splitlines()[-1] for name in samples.table().column("stack").tolist()} == {group.type}
    assert samples.total == group.thrown
    assert (group.type, group.thrown) == ("System.InvalidOperationException", 12_000)
    assert (group.throwing_method, group.catching_method) == ("Program.Exceptions(int)",) * 2
