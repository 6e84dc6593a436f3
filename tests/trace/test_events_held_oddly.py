"""Events become others once nobody has them: so however one is held, it stays what it was."""

from __future__ import annotations

import copy
import gc
import itertools
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

import clrevents
from clrevents.testing.builder import TraceBuilder

Events: TypeAlias = Iterator[clrevents.Event[Any]]
Held: TypeAlias = list[tuple[int, clrevents.Event[Any]]]
COUNT = 1000
EVERY = 37


def fields_of(number: int) -> dict[str, tuple[int, Any]]:
    return {"number": (9, number), "text": (18, f"text {number}")}


def trace() -> bytes:
    builder = TraceBuilder()
    for number in range(COUNT):
        builder.at(10 * number).described("P", f"E{number % 3}", fields_of(number))
    return builder.build()


def by_enumerate(events: Events) -> Held:
    return [pair for pair in enumerate(events) if not pair[0] % EVERY]


def by_zip(events: Events) -> Held:
    return [(a, b) for a, b, _ in zip(itertools.count(), events, itertools.count(), strict=False) if not a % EVERY]


def by_pairwise(events: Events) -> Held:
    return [(number, one) for number, (one, _) in enumerate(itertools.pairwise(events)) if not number % EVERY]


def by_tee(events: Events) -> Held:
    first, second = itertools.tee(events)
    assert sum(1 for _ in first) == COUNT
    return [*enumerate(second)]


def by_deque(events: Events) -> Held:
    (last,) = deque(enumerate(events), maxlen=1)
    return [last]


def by_groups(events: Events) -> Held:
    firsts = [next(group) for _, group in itertools.groupby(events, lambda event: event.time_ns // (10 * EVERY))]
    return [(number * EVERY, event) for number, event in enumerate(firsts)]


def by_frames(events: Events) -> Held:
    """Generators that stopped in the middle, and an error's traceback."""

    def stopped(event: clrevents.Event[Any]) -> Iterator[clrevents.Event[Any]]:
        yield event
        yield event

    def fails(event: clrevents.Event[Any]) -> None:
        raise ValueError

    generators, errors = [], []
    for number, event in enumerate(events):
        if not number % EVERY:
            generators.append((number, stopped(event)))
            next(generators[-1][1])
            try:
                fails(event)
            except ValueError as error:
                errors.append((number, error))
    held = [(number, next(one)) for number, one in generators]
    for number, wrong in errors:
        assert wrong.__traceback__ is not None
        assert wrong.__traceback__.tb_next is not None
        held.append((number, wrong.__traceback__.tb_next.tb_frame.f_locals["event"]))
    return held


def by_a_thread(events: Events) -> Held:
    held: Held = []
    go, gone = threading.Event(), threading.Event()

    def hold(number: int, event: clrevents.Event[Any]) -> None:
        gone.set()
        go.wait(60)
        held.append((number, event))

    threads = []
    for number, event in enumerate(events):
        if number in (5, 300):
            threads.append(threading.Thread(target=hold, args=(number, event)))
            threads[-1].start()
            gone.wait(60)
            gone.clear()
    go.set()
    for thread in threads:
        thread.join()
    return held


def by_payloads(events: Events) -> Held:
    """Weak references to payloads alone, as long as these live: an event that is kept keeps its own."""
    held: Held = []
    watched = []
    for number, event in enumerate(events):
        if not number % EVERY:
            held.append((number, event))
        watched.append((number, weakref.ref(event.payload)))
    alive = [(number, found) for number, ref in watched if (found := ref()) is not None]
    # And the last few, which wait for the next.
    assert {number for number, _ in held} <= {number for number, _ in alive}
    assert all(payload.number == number for number, payload in alive)
    return held


def by_copies_of_iterators(events: Events) -> Held:
    """As `copy` gives them, through all that is inside: before Python 3.14."""
    if sys.version_info >= (3, 14):
        pytest.skip("iterators of itertools cannot be copied")
    inner: Any = events
    next(inner)
    while isinstance(inner, itertools.chain):
        inner = inner.__reduce__()[2][1]
    other = copy.copy(inner)
    del inner
    assert sum(1 for _ in events) == COUNT - 1
    return [*enumerate(other, 1)]


def by_the_collector(events: Events) -> Held:
    """What it tells of is held, too."""
    held: Held = []
    for number, _ in enumerate(events):
        if number == 300:
            lists = [gc.get_referents(one) for one in gc.get_objects() if type(one) is type(iter([]))]
            every = [event for found in lists for one in found if type(one) is list for event in one]
            held = [(event.payload.number, event) for event in every if isinstance(event, clrevents.Event)]
    return held


WAYS = [value for name, value in [*globals().items()] if name.startswith("by_")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_event_that_is_held_stays_what_it_was(way: Callable[[Events], Held]) -> None:
    with clrevents.open(trace()) as opened:
        held = way(opened.events())
    assert held or clrevents.engine() == "interpreted"
    for number, event in held:
        assert (event.payload.number, event.payload.text) == (number, f"text {number}")
        assert (event.name, event.time_ns) == (f"E{number % 3}", 10 * number)
