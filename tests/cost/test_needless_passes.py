"""A trace is not read again for events that it is known not to have: whoever describes many kinds is read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import clrevents
import costly_containers
from clrevents.analysis.shared.samples.samples import read_samples, stacked_events
from clrevents.events import ExceptionThrown_V1, GCStart_V1
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import Trace
from hostile import cases

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")


def one_event() -> bytes:
    return TraceBuilder().thread(1).raw("P", 1, name="E").build()


def passes(data: bytes, read: Callable[[Trace], object]) -> int:
    """How often everything is read after all headers were."""
    ends = []
    with clrevents.open(data, progress=lambda done, total: ends.append(done)) as trace:
        trace.event_counts()
        ends.clear()
        read(trace)
    return ends.count(len(data))


@pytest.mark.parametrize(
    "read",
    [
        clrevents.Trace.reports,
        lambda trace: list(trace.events("GCStart")),
        lambda trace: list(trace.events(ExceptionThrown_V1, start="1%")),
        lambda trace: list(trace.events(provider="runtime")),
        lambda trace: trace.table("GCStart"),
        lambda trace: list(trace.table_parts("GCStart")),
        lambda trace: list(trace.tables("GC*", "ExceptionThrown")),
        lambda trace: trace.methods,
    ],
)
def test_nothing_is_read_for_events_that_are_not_there(read: Callable[[Trace], object]) -> None:
    assert passes(one_event(), read) == 0
    forgotten = b"".join(costly_containers.many_kinds(30, 3))
    assert passes(forgotten, read) == 0


def test_events_that_are_there_are_read() -> None:
    data = (
        TraceBuilder()
        .thread(1)
        .raw("P", 1, name="E")
        .event(GCStart_V1(1, 0, 0, 0, 0))
        .method_load("n", "m", address=16)
        .build()
    )
    assert passes(data, lambda trace: list(trace.events("GCStart"))) == 1
    assert passes(data, lambda trace: list(trace.events("P/E", provider="runtime"))) == 0
    assert passes(data, lambda trace: trace.table("E")) == 1
    assert passes(data, lambda trace: trace.methods) == 1
    assert passes(data, lambda trace: trace.check()) == 1


@pytest.mark.parametrize(
    "read",
    [
        read_samples,
        lambda trace: read_samples(trace, logical=True),
        lambda trace: read_samples(trace, weight="ExceptionType"),
        stacked_events,
    ],
)
def test_samples_that_are_not_there_take_one_pass(read: Callable[[Trace], Any]) -> None:
    data = b"".join(costly_containers.endless(5))
    ends = []
    with clrevents.open(data, errors="salvage", progress=lambda done, total: ends.append(done)) as trace:
        assert len(read(trace)) == (3 if read is stacked_events else 0)
    assert ends.count(len(data)) == 1


def test_events_with_stacks_are_counted_by_name() -> None:
    made = TraceBuilder().thread(1).raw("P", 1, name="E", stack=(7,)).raw("P", 2, name="F")
    data = made.raw("P", 2, name="F", stack=(8, 9)).raw("P", 2, name="F", version=1, stack=(7,)).build()
    with clrevents.open(data) as trace:
        assert list(stacked_events(trace).items()) == [(("P", "F"), 2), (("P", "E"), 1)]


def shape(table: clrevents.Table) -> object:
    return table.fields, len(table), table.metadata


def asked(trace: Trace, ask: Callable[[Trace], Any]) -> object:
    try:
        return ask(trace)
    except (clrevents.TraceError, KeyError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("errors", ["strict", "report", "salvage"])
@pytest.mark.parametrize("cut", [0, 3])
@pytest.mark.parametrize(
    "ask",
    [
        lambda trace: list(trace.events("GCStart")),
        lambda trace: list(trace.events("Nonsense")),
        lambda trace: shape(trace.table("GCStart")),
        lambda trace: shape(trace.table("GCStar*", enum_names=True)),
        lambda trace: shape(trace.table("GC*")),
        lambda trace: shape(trace.table("Nothing*")),
        lambda trace: shape(trace.table("GCStart", columns=["time_ns", "nonsense"])),
        lambda trace: [table.columns for table in trace.table_parts("GCStart")],
        lambda trace: list(trace.tables("GCStart")),
        lambda trace: len(list(trace.methods)),
        lambda trace: trace.problems,
    ],
)
def test_the_answer_is_that_of_reading(ask: Callable[[Trace], Any], cut: int, errors: Any) -> None:
    data = one_event()
    data = data[: len(data) - cut]
    with clrevents.open(data, errors=errors) as trace:
        read = asked(trace, ask)
        found = asked(trace, lambda trace: trace.event_counts())
    with clrevents.open(data, errors=errors) as trace:
        assert asked(trace, lambda trace: trace.event_counts()) == found
        assert asked(trace, ask) == read


@pytest.mark.parametrize(
    "read",
    [
        lambda trace: list(trace.events()),
        lambda trace: list(trace.events("GCStart")),
        lambda trace: trace.headers(),
    ],
)
def test_what_is_wrong_is_known_after_any_whole_pass(read: Callable[[Trace], Any]) -> None:
    for name, data in list(cases())[::8]:
        try:
            with clrevents.open(data, errors="salvage") as trace:
                wrong = trace.problems, trace.lost
        except clrevents.TraceError:
            continue
        ends: list[int] = []
        with clrevents.open(data, errors="salvage", progress=lambda done, total, ends=ends: ends.append(done)) as trace:
            read(trace)
            del ends[:]
            # What payloads have comes after it.
            assert (trace.problems[: len(wrong[0])], trace.lost) == wrong, name
            assert not ends, name
