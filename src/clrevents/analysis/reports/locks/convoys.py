"""Convoys: periods in which several threads wait for one lock most of the time, and take it in turn.

Decides only by starts, ends and owners of contentions. Names nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clrevents._util.value_classes import frozen

FEWEST_THREADS: Final = 3
"""The fewest threads in a convoy, waiting in turn."""
FEWEST_HANDOVERS: Final = 2
"""How often, at least, a thread that had waited was seen to hold the lock for which others then waited."""
WAKING_NS: Final = 1_000_000
"""How long, at most, a thread takes to wake that a lock is handed over to."""


@frozen
class LockWait:
    """One contention; `row` is its place in a table. An owner of 0 is unknown."""

    row: int
    thread: int
    owner: int
    start_ns: int
    end_ns: int
    ended: bool


@frozen
class ConvoyFound:
    """One convoy: which contentions it has, and what makes it one."""

    waits: tuple[LockWait, ...]
    start_ns: int
    end_ns: int
    threads: int
    most_waiters: int
    crowded_ns: int
    handovers: int


def convoys(waits: Sequence[LockWait], owners_told: bool) -> list[ConvoyFound]:
    """The convoys on one lock. Without owners, threads that wait again stand for those that had held it in between."""
    found = []
    for stretch in _stretches(sorted(waits, key=lambda wait: (wait.start_ns, wait.end_ns))):
        covered, crowded, most = _crowding(stretch)
        threads = len({wait.thread for wait in stretch})
        handovers = _handovers(stretch) if owners_told else _returns(stretch)
        if threads < FEWEST_THREADS or handovers < FEWEST_HANDOVERS or 2 * crowded <= covered:
            continue
        start, end = stretch[0].start_ns, max(wait.end_ns for wait in stretch)
        found.append(ConvoyFound(tuple(stretch), start, end, threads, most, crowded, handovers))
    return found


def _stretches(waits: Sequence[LockWait]) -> list[list[LockWait]]:
    """Waits that overlap, or that lie closer together than what is waited before and after the gap between them.

    So waits cover more than half of each stretch.
    """
    unions: list[tuple[int, int, list[LockWait]]] = []
    for wait in waits:
        if unions and wait.start_ns <= unions[-1][1]:
            low, high, held = unions[-1]
            held.append(wait)
            unions[-1] = (low, max(high, wait.end_ns), held)
        else:
            unions.append((wait.start_ns, wait.end_ns, [wait]))
    found: list[list[LockWait]] = []
    covered = reached = 0
    for low, high, held in unions:
        if found and low - reached < min(covered, high - low):
            found[-1] += held
            covered += high - low
        else:
            found.append(held)
            covered = high - low
        reached = high
    return found


def _crowding(waits: Sequence[LockWait]) -> tuple[int, int, int]:
    """How long at least one waited, how long at least two did, and how many did at most."""
    steps = sorted([(wait.start_ns, 1) for wait in waits] + [(wait.end_ns, -1) for wait in waits])
    covered = crowded = waiting = most = 0
    since = 0
    for time, step in steps:
        covered += time - since if waiting >= 1 else 0
        crowded += time - since if waiting >= 2 else 0
        waiting += step
        most, since = max(most, waiting), time
    return covered, crowded, most


def _handovers(waits: Sequence[LockWait]) -> int:
    """How many begins found a thread owning the lock that had waited for it in this stretch, each wait once.

    A lock without an owner is just being handed over: to the thread whose wait ends next, if that is at once.
    """
    done: dict[int, int] = {}
    counted: set[tuple[int, int]] = set()
    ends = sorted((wait.end_ns, wait.thread) for wait in waits if wait.ended)
    place = 0
    for wait in waits:
        while place < len(ends) and ends[place][0] <= wait.start_ns:
            done[ends[place][1]] = ends[place][0]
            place += 1
        if wait.owner in done:
            counted.add((wait.owner, done[wait.owner]))
        elif not wait.owner and place < len(ends):
            end, thread = ends[place]
            if end - wait.start_ns <= WAKING_NS and thread != wait.thread:
                counted.add((thread, end))
    return len(counted)


def _returns(waits: Sequence[LockWait]) -> int:
    """How many begins are of a thread that had waited in this stretch, while others still wait."""
    ends = sorted((wait.end_ns, wait.thread) for wait in waits)
    done: set[int] = set()
    found = place = 0
    for begun, wait in enumerate(waits):
        while place < len(ends) and ends[place][0] <= wait.start_ns:
            done.add(ends[place][1])
            place += 1
        found += wait.thread in done and begun > place
    return found
