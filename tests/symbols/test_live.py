"""Names on a decoder: what is known so far."""

from __future__ import annotations

import pickle

import pytest

import clrevents
from clrevents.events import MethodFlags, MethodLoadVerbose_V1, MethodUnloadVerbose_V1
from clrevents.symbols.methods import LiveMethods
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of

SECOND = 1_000_000_000


def two_parts() -> tuple[bytes, bytes]:
    trace = TraceBuilder().method_load("Program", "Main", address=0x1000).sample(0x1010, 0x5000).sequence_point()
    first = len(trace.build(complete=False))
    trace.method_load("Program", "Late", address=0x5000).sample(0x5010, 0x1010)
    whole = trace.rundown().build()
    return whole[:first], whole[first:]


def test_names_as_known_so_far() -> None:
    first, second = two_parts()
    decoder = clrevents.Decoder("ThreadSample", symbols=True)
    (batch,) = decoder.feed(first)
    assert decoder.methods.at(0x5010).reason == "no rundown"
    (event,) = batch
    assert [f.name or f.reason for f in event.frames] == ["Main", "no rundown"]
    batches = [*decoder.feed(second), *decoder.close()]
    (event,) = [e for b in batches for e in b]
    assert [f.name for f in event.frames] == ["Late", "Main"]
    assert decoder.methods.complete
    assert pickle.loads(pickle.dumps(event)).frames == event.frames


def test_selected_code_events_come_once() -> None:
    first, second = two_parts()
    decoder = clrevents.Decoder("MethodLoadVerbose", symbols=True)
    batches = [*decoder.feed(first + second), *decoder.flush(), *decoder.close()]
    assert [e.payload.MethodName for b in batches for e in b] == ["Main", "Late"]
    assert len(decoder.methods) == 2


def test_without_symbols_nobody_follows() -> None:
    first, _ = two_parts()
    decoder = clrevents.Decoder("ThreadSample")
    with pytest.raises(ValueError, match="symbols=True"):
        decoder.methods  # noqa: B018
    ((event,),) = decoder.feed(first)
    assert [f.reason for f in event.frames] == ["no names", "no names"]


def churn(rounds: int, limits: clrevents.Limits) -> LiveMethods:
    """Dynamic methods that come and go at 100 addresses, one generation in a second; one method stays."""
    live = LiveMethods(limits)
    for round_ in range(rounds):
        trace = TraceBuilder()
        if not round_:
            trace.method_load("Program", "Main", address=0x1000)
        trace.at(round_ * SECOND)
        for kind in (MethodLoadVerbose_V1, MethodUnloadVerbose_V1):
            for start in range(0x10000, 0x10000 + 64 * 100, 64):
                values = (start, 1, start, 64, 0, MethodFlags(9), "dynamicClass", f"D{round_}", "void  ()", 0)
                trace.event(kind(*values))
        for batch in passes_of(clrevents.open(trace.build())).event_rows(decode=False):
            live.take(batch)
    return live


def test_code_that_is_long_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clrevents.symbols.methods._KEPT_NS", 5 * SECOND)
    monkeypatch.setattr("clrevents.symbols.methods._ROOM", 500)
    live = churn(30, clrevents.Limits())
    # Five generations of 200 events each are remembered, and as many may come before the next look.
    assert live._feed.kept_rows <= 2 * 1201
    assert live.methods.at(0x1000, 29 * SECOND).name == "Main"
    assert live.methods.at(0x10000, 29 * SECOND + 10).name == "D29"
    assert live.methods.at(0x10000, 26 * SECOND + 10).name == "D26"
    assert not live.methods.at(0x10000, 10 * SECOND + 10).resolved


def test_a_limit_is_no_end_of_a_session() -> None:
    live = churn(3, clrevents.Limits(code_events=300))
    assert live._full
    assert live.methods.at(0x1000, SECOND).name == "Main"
    trace = TraceBuilder().method_load("A", "B", address=0x1000).method_load("A", "C", address=0x2000).build()
    with pytest.raises(clrevents.LimitError, match="code_events"):
        clrevents.open(trace, errors="strict", limits=clrevents.Limits(code_events=1)).methods  # noqa: B018
