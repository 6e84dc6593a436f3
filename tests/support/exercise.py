"""Asks everything that can be asked of some bytes, in every error mode; used by the fuzzer and its corpus.

Only `TraceError` may come out. What a whole feed and a feed in pieces find must be the same.
"""

from __future__ import annotations

import contextlib
import pickle
import random
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import attrs

from clrevents import Limits, TraceError, TraceWarning
from clrevents import open as open_trace
from clrevents.errors import ERROR_MODES, ErrorMode
from clrevents.trace.decoder import Decoder
from clrevents.trace.event import Event
from seen import Row, Seen, read_events, same, visible_of


def exercise(data: bytes, slicings: int = 1) -> None:
    """Read `data` in all ways. Raises AssertionError for a difference, or whatever the library lets escape."""
    for errors in ERROR_MODES:
        whole = decode(data, errors, None)
        for number in range(slicings):
            sliced = decode(data, errors, random.Random(zlib.crc32(data) + number))
            if whole.error:
                # What came at once was looked at behind the event that ended the reading.
                assert set(sliced.losses) <= set(whole.losses), f"{errors}: other losses in pieces"
                sliced = attrs.evolve(whole, events=sliced.events, error=sliced.error)
            same(sliced, whole, f"{errors}, in pieces")
        ask(data, errors)


def decode(data: bytes, errors: ErrorMode, pieces: random.Random | None) -> Seen:
    """Events, problems, losses and the final error of one pass."""
    decoder = Decoder(errors=errors, limits=Limits(problems=100_000))
    return read_events(slices(data, pieces), decoder, touch, failed)


def failed(error: TraceError) -> None:
    error.hexdump()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def slices(data: bytes, pieces: random.Random | None) -> Iterator[bytes]:
    """All at once, or in pieces of random sizes."""
    if pieces is None:
        yield data
        return
    at = 0
    while at < len(data):
        size = pieces.choice((1, 2, 3, 7, 16, 61, 300, 1000, 5000))
        yield data[at : at + size]
        at += size


def touch(event: Event[Any]) -> Row:
    """Every attribute of an event, and how it shows itself."""
    html = event._repr_html_()
    assert event == event
    hash(event)
    return *visible_of(event), event.time, repr(event), len(html)


def ask(data: bytes, errors: ErrorMode) -> None:
    """Every question about the whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            trace = open_trace(data, errors=errors)
        except TraceError:
            return
        repr(trace)
        trace._repr_html_()
        repr(trace.info)
        report = trace.check()
        assert report.verdict
        _ = report.ok
        assert all(str(p) for p in trace.problems)
        for question in (
            lambda: trace.event_counts(),
            lambda: trace.threads,
            lambda: trace.losses,
            lambda: trace.duration_ns,
            lambda: pickle.loads(pickle.dumps(list(trace.events(order="file"))[:3])),
            lambda: list(trace.events("*", thread_id=1, start="10%", end="90%")),
        ):
            with contextlib.suppress(TraceError):
                question()
