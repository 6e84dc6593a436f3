"""What the tests of rewriting share: events read once, results read strictly, and what differs between events."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import clrevents
from clrevents.schema.own_marks import CUT, LACKED, PROVIDER
from project_files import unpacked

_NOTES = {"lost-events", "unknown-event", "payload-tail", "newer-version"}
_OF_THE_ORIGINAL = {"missing-end", "original-damaged", "unseen-losses"}


@lru_cache(maxsize=2)
def events_of(path: Path) -> list[clrevents.Event[Any]]:
    """All events of a fixture."""
    with clrevents.open(unpacked(path)) as trace:
        return list(trace.events())


def reread(out: Path) -> list[clrevents.Event[Any]]:
    """The result's events but for our marks, read strictly: a problem that is not the original's fails the test."""
    with clrevents.open(out, errors="strict") as trace:
        events = [event for event in trace.events() if (event.provider, event.name) not in (CUT.event, LACKED.event)]
        if trace.redacted:
            assert str(events.pop(0).key) == "clrevents/Redacted (id 1, version 0)"
        assert {p.kind for p in trace.problems} <= _NOTES | _OF_THE_ORIGINAL
    return events


def marks_in(out: Path) -> int:
    """How many of its events are marks of ours."""
    with clrevents.open(out) as trace:
        counts = trace.event_counts().items()
        # From 16 on they are what a recorder counted.
        return sum(count for key, count in counts if key.provider == PROVIDER and key.id < 16)


def differing(ours: Iterable[Any], theirs: Iterable[Any]) -> str:
    """The first two events that are not the same in all they say; nothing when there are none."""
    for number, (a, b) in enumerate(zip_longest(ours, theirs)):
        # A number that is none is not equal to itself, so such payloads are compared by how they look.
        if a is None or b is None or not (a == b or (said(a) == said(b) and repr(a.payload) == repr(b.payload))):
            return f"event {number}: {a!r} is not {b!r}"
    return ""


def said(event: clrevents.Event[Any], payload: bool = True) -> tuple[Any, ...]:
    """All that an event says of itself; with `payload` its bytes too."""
    return (
        event.key,
        event.opcode,
        event.level,
        event.keywords,
        event.time_ns,
        event.thread_id,
        event.process_id,
        event.processor,
        event.activity_id,
        event.related_activity_id,
        event.trace_id,
        event.span_id,
        event.stack,
        *((event.labels, event.payload_bytes, event.payload_tail) if payload else ()),
    )
