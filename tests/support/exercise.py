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

from clrevents import Limits, TraceError, TraceWarning
from clrevents import open as open_trace
from clrevents.errors import ERROR_MODES, ErrorMode
from clrevents.trace.decoder import Decoder
from clrevents.trace.event import Event

Seen = tuple[list[Any], list[str], list[Any], str]


def exercise(data: bytes, slicings: int = 1) -> None:
    """Read `data` in all ways. Raises AssertionError for a difference, or whatever the library lets escape."""
    for errors in ERROR_MODES:
        whole = decode(data, errors, None)
        for number in range(slicings):
            sliced = decode(data, errors, random.Random(zlib.crc32(data) + number))
            assert whole[3] == sliced[3], f"{errors}: whole ended with {whole[3]!r}, in pieces with {sliced[3]!r}"
            assert whole[0] == sliced[0], f"{errors}: other events in pieces: {_first_difference(whole[0], sliced[0])}"
            # What came at once was looked at behind the event that ended the reading.
            same = set(sliced[2]) <= set(whole[2]) if whole[3] else whole[2] == sliced[2]
            assert same, f"{errors}: other losses in pieces"
            if not whole[3]:
                assert whole[1] == sliced[1], f"{errors}: other problems: {_first_difference(whole[1], sliced[1])}"
        ask(data, errors)


def decode(data: bytes, errors: ErrorMode, pieces: random.Random | None) -> Seen:
    """Events, problems, losses and the final error of one pass."""
    decoder = Decoder(errors=errors, limits=Limits(problems=100_000))
    events: list[Any] = []
    ended = ""
    try:
        for piece in slices(data, pieces):
            for batch in decoder.feed(piece):
                events += map(touch, batch)
        for batch in decoder.close():
            events += map(touch, batch)
    except TraceError as error:
        ended = f"{error} | {error.offset}"
        error.hexdump()
        check_pickle(error)
    return events, sorted(map(repr, decoder.problems)), list(decoder.losses), ended


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


def touch(event: Event[Any]) -> tuple[Any, ...]:
    """Every attribute of an event."""
    html = event._repr_html_()
    assert event == event
    hash(event)
    return (
        event.key,
        event.opcode,
        event.level,
        event.keywords,
        event.time_ns,
        event.time,
        event.thread_id,
        event.process_id,
        event.processor,
        event.activity_id,
        event.related_activity_id,
        event.trace_id,
        event.span_id,
        event.labels,
        event.stack,
        event.stack_id,
        event.payload_bytes,
        event.payload_tail,
        repr(event),
        len(html),
    )


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


def check_pickle(error: TraceError) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def _first_difference(one: list[Any], other: list[Any]) -> str:
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"[{index}] {a!r} / {b!r}"[:800]
    return f"{len(one)} / {len(other)}: {(one[len(other) :] or other[len(one) :])[:2]!r}"[:800]
