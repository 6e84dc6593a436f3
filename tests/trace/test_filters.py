"""Filters are the same everywhere, and a wrong one is refused at once, with what there is instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import clrevents
from clrevents.rewrite import cut
from clrevents.testing.builder import TraceBuilder
from project_files import fixture

FILTERS: Final = ("provider", "process_id", "thread_id", "start", "end")
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def trace() -> clrevents.Trace:
    return clrevents.open(fixture("net8-method-interop"))


def calls(trace: clrevents.Trace, out: Path) -> dict[str, Call]:
    """Everything that takes filters."""
    return {
        "events": trace.events,
        "table": lambda **filters: trace.table("MethodLoadVerbose", **filters),
        "batches": trace.batches,
        "table_parts": lambda **filters: trace.table_parts("MethodLoadVerbose", **filters),
        "tables": trace.tables,
        "headers": trace.headers,
        "Decoder": clrevents.Decoder,
        "cut": lambda **filters: cut(trace, out, **filters),
    }


NAMES: Final = ("events", "batches", "table", "table_parts", "tables", "headers", "Decoder", "cut")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_filter_is_named_with_all_there_are(trace: clrevents.Trace, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.nettrace"
    with pytest.raises(TypeError) as caught:
        calls(trace, out)[name](thread=1)
    assert str(caught.value) == f"unexpected keyword argument 'thread'; the filters are {', '.join(FILTERS)}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("filters", "error", "says"),
    [
        ({"start": 1.5}, TypeError, "start must be an int in nanoseconds, .*, not 1.5"),
        ({"end": 0.0}, TypeError, "end must be an int in nanoseconds, .*, not 0.0"),
        ({"start": "soon"}, ValueError, "start='soon'"),
        ({"end": "2026-01-01T00:00:00"}, TypeError, "end='2026-01-01T00:00:00' has no time zone"),
        ({"thread_id": "7"}, TypeError, "thread_id must be .*, not '7'"),
        ({"thread_id": [1, 2.0]}, TypeError, "thread_id must be .*, not 2.0"),
        ({"provider": 3}, TypeError, "provider must be a name, not 3"),
    ],
    ids=repr,
)
def test_a_wrong_filter_is_refused_at_once(
    trace: clrevents.Trace, tmp_path: Path, name: str, filters: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        calls(trace, tmp_path / "out.nettrace")[name](**filters)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["events", "batches", "table", "table_parts", "tables", "headers", "Decoder"])
def test_an_unknown_order_is_refused(trace: clrevents.Trace, tmp_path: Path, name: str) -> None:
    asked = calls(trace, tmp_path)[name]
    with pytest.raises(ValueError, match='order must be "time" or "file", not \'random\''):
        # What is made in bounded memory begins when the first of it is asked for.
        next(asked(order="random"))


def test_all_filters_at_once(trace: clrevents.Trace, tmp_path: Path) -> None:
    """The same events by every way in."""
    thread = trace.threads[0].thread_id
    filters: clrevents.FilterOptions = {
        "provider": "rundown",
        "process_id": 5947,
        "thread_id": [thread, 1],
        "start": "10%",
        "end": 10**12,
    }
    names = [event.name for event in trace.events(**filters)]
    low = trace.duration_ns // 10
    assert names == [e.name for e in trace.events("rundown/*") if e.thread_id == thread and low <= e.time_ns < 10**12]
    assert len(names) > 1000
    assert [event.name for batch in trace.batches(**filters) for event in batch] == names
    assert len(trace.headers(**filters)) == len(names)
    assert sum(len(t) for chunk in trace.tables(**filters) for t in chunk.values()) == len(names)
    once = names.count("MethodDCEndVerbose")
    assert len(trace.table("MethodDCEndVerbose", **filters)) == once
    assert sum(len(t) for t in trace.table_parts("MethodDCEndVerbose", **filters)) == once
    assert cut(trace, tmp_path / "out.nettrace", rundown=False, **filters).events == len(names)


def test_a_decoder_filters_by_thread() -> None:
    data = TraceBuilder().thread(2).sample().thread(3).sample().sample().build()
    decoder = clrevents.Decoder(thread_id=3, process_id=None)
    batches = [*decoder.feed(data), *decoder.close()]
    assert [event.thread_id for batch in batches for event in batch] == [3, 3]
