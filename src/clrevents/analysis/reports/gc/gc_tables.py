"""The tables of what collections are made of: suspensions, generations, heaps, kinds of root, as columns.

Takes whole columns at a time, because there may be many rows. What each row is of was found out before (`gc_build`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import Ints
from clrevents.analysis.reports.gc.gc_build import Built, time_of
from clrevents.analysis.reports.gc.gc_collections import Collected
from clrevents.analysis.reports.gc.gc_heaps import known_column
from clrevents.analysis.reports.gc.gc_words import enum_word
from clrevents.analysis.shared.events.gc_suspensions import NOTHING, SUSPENDING, Suspensions
from clrevents.schema.runtime_flags import GCRootKind
from clrevents.table.build import Column, ColumnType, from_values, text_column

MARKED: Final = "runtime/GCMarkWithType"


def suspension_columns(built: Built, chosen: Suspensions, owners: Sequence[Sequence[Collected]]) -> dict[str, Any]:
    """A table of suspensions."""
    times = [
        known_column("int64", step, places != NOTHING) for step, places in zip(chosen.times, chosen.places, strict=True)
    ]
    paused, stopping = chosen.known(0, 3), chosen.known(0, 1)
    held_up = chosen.held_up(built.others if chosen is built.held else built.every)
    reasons, which = np.unique(chosen.reason, return_inverse=True)
    texts = [
        None if reason == NOTHING else enum_word(built.rows[SUSPENDING], "Reason", reason)
        for reason in reasons.tolist()
    ]
    return {
        "start_ns": times[0],
        "end_ns": times[3],
        "pause_ns": known_column("int64", chosen.times[3] - chosen.times[0], paused),
        "suspend_ns": known_column("int64", chosen.times[1] - chosen.times[0], stopping),
        "held_up_ns": known_column("int64", held_up, stopping),
        "stopped_ns": times[1],
        "reason": text_column(texts, which),
        "number": [mine[0].number if mine else None for mine in owners],
        "others": [[c.number for c in mine[1:]] for mine in owners],
        "thread_id": known_column("uint64", chosen.thread.astype(np.uint64), chosen.thread_known),
    }


def generation_columns(built: Built) -> dict[str, Any]:
    """The table of generations, of all heaps together."""
    of, columns = built.parts.summed()
    return {**columns, **_times(built, of)}


def heap_columns(built: Built) -> dict[str, Any]:
    """The table of heaps."""
    return {**built.parts.columns(), "heap": built.parts.heap, **_times(built, built.parts.collection)}


def mark_columns(built: Built) -> dict[str, Any]:
    """The table of kinds of root."""
    rows = built.rows[MARKED]
    of = built.walk.at(rows.places)
    chosen = np.flatnonzero(of != NOTHING)
    of = of[chosen]
    heap, time = rows.numbers("HeapNum")[chosen].astype(np.int64), rows.numbers("time_ns")[chosen]
    order = np.lexsort((rows.places[chosen], heap, of))
    same = np.zeros(len(order), dtype=np.bool_)
    same[1:] = (of[order][1:] == of[order][:-1]) & (heap[order][1:] == heap[order][:-1])
    begins = np.array([NOTHING if c.start is None else c.start.time_ns for c in built.collections], dtype=np.int64)
    since = np.where(same, np.roll(time[order], 1), begins[of[order]] if len(order) else time[order])
    took = np.zeros(len(order), dtype=np.int64)
    took[order] = time[order] - since
    kinds, which = np.unique(rows.numbers("Type")[chosen], return_inverse=True)
    times = _times(built, of)
    del times["start_thread_id"], times["end_thread_id"]
    return {
        "heap": heap,
        "kind": text_column([str(GCRootKind(kind)) for kind in kinds.tolist()], which),
        "mark_ns": took,
        "marked_bytes": rows.numbers("Bytes")[chosen].astype(np.int64),
        "time_ns": time,
        "thread_id": rows.column("thread_id").take(chosen),
        **times,
    }


def _moments(built: Built) -> dict[str, Column]:
    """What the tables of parts of collections have of each collection."""
    starts, ends = ([c.start for c in built.collections], [c.end for c in built.collections])
    found: dict[str, tuple[str, list[Any]]] = {
        "number": ("int64", [c.number for c in built.collections]),
        "start_ns": ("int64", [time_of(moment) for moment in starts]),
        "end_ns": ("int64", [time_of(moment) for moment in ends]),
        "start_thread_id": ("uint64", [None if m is None else m.thread_id for m in starts]),
        "end_thread_id": ("uint64", [None if m is None else m.thread_id for m in ends]),
    }
    return {name: from_values(ColumnType(kind), values) for name, (kind, values) in found.items()}


def _times(built: Built, of: Ints) -> dict[str, Any]:
    """Which collection each row is of, and where that lies in time."""
    return {name: column.take(of) for name, column in _moments(built).items()}
