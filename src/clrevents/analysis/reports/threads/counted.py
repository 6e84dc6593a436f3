"""The threads report with what the operating system counted: lives, columns and metrics.

In each window a thread has a processor or is ready for as long as it counted, and waits for the rest. Samples and
events tell what it did then; where inside of a window it had the processor, nothing tells. Time on a processor is taken
from managed code first, then native code, then the rest; within these, in their order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, TypeAlias

import attrs

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import (
    NOT_COUNTED,
    Merge,
    Metric,
    MetricDeclaration,
    TimeWindow,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import grouped
from clrevents.analysis.reports.threads.lives import UNKNOWN, Piece, ThreadLife
from clrevents.analysis.shared.processor.counted_events import COMPILERS, Counts, counted_window, portion
from clrevents.analysis.shared.samples.leaf_states import WORKING, ThreadState

ENDED: Final = "ended"
"""The role of the row for threads that ended between two readings, or before the first one saw them."""
_UNREAD: Final = "the recorder could not read it"
_SUMS: Final = {
    "limit_periods": "ProcessLimits.Periods",
    "limited_periods": "ProcessLimits.ThrottledPeriods",
    "limited_total": "ProcessLimits.ThrottledNs",
    "machine_total": "MachineProcessorTime.BusyNs",
}


def _declared(name: str, unit: str, text: str, less: bool = False, merge: Merge = "sum") -> MetricDeclaration:
    return MetricDeclaration(name, text, "less" if less else "neither", merge, evidence="counted", unit=unit)


COUNTED_METRICS: Final = (
    _declared("processor_total", "ns", "How long all threads together had a processor, as it was counted.", True),
    _declared("available_total", "ns", "How long all processors together that the process may use could be used."),
    _declared("machine_total", "ns", "How long all processors of the machine were busy, with whatever."),
    _declared("limit", "processors", "The limit of processors of the process's control group.", merge="none"),
    _declared("limit_periods", "count", "Periods of that limit in which the program wanted a processor."),
    _declared("limited_periods", "count", "Those of them in which the limit stopped it.", True),
    _declared("limited_total", "ns", "How long the limit stopped it; some kernels add up processors.", True),
    _declared("resident_peak", "bytes", "The most memory that the process was seen to have.", True, "max"),
    _declared("memory_limit", "bytes", "The limit of memory of its control group.", merge="none"),
    _declared("limited_ready", "ns", "The part of `ready_total` in seconds in which the limit stopped it.", True),
)
_BUSY: Final[tuple[ThreadState, ...]] = ("running", "native", *WORKING)


def counted_role(name: str) -> str:
    """What a thread is for that only counts know."""
    return "tiering" if name.startswith(COMPILERS) else "native"


def counted_columns(lives: Sequence[ThreadLife], counts: Counts | None, window: TimeWindow) -> dict[str, Cells]:
    """The columns of threads that are counted; null where nothing was."""
    if counts is None:
        return {"processor_ns": [None] * len(lives), "thread_name": [None] * len(lives)}
    known = {*counts.windows.thread.tolist(), *counts.names}
    used = [
        sum(
            max(min(piece.end, window.high) - max(piece.start, window.low), 0)
            for piece in life.pieces
            if piece.doing.state in _BUSY and piece.doing.evidence == "counted"
        )
        for life in lives
    ]
    return {
        "processor_ns": [one if life.thread_id in known else None for one, life in zip(used, lives, strict=True)],
        "thread_name": [counts.names.get(life.thread_id) for life in lives],
    }


def ended_ns(counts: Counts, columns: Mapping[str, Any], window: TimeWindow) -> int:
    """What the process used by its own clock, and none of its threads."""
    return max(counts.used(window) - sum(one or 0 for one in columns["processor_ns"]), 0)


def with_ended(columns: Mapping[str, Any], used: int, counts: Counts) -> dict[str, Any]:
    """The columns with a row for the threads that ended, if they used anything."""
    if not used:
        return dict(columns)
    row = dict.fromkeys(columns)
    row |= {name: 0 for name in columns if name.endswith("_ns") and list(columns[name][:1]) != [None]}
    row |= {"thread_id": 0, "role": ENDED, "processor_ns": used}
    row |= {"start_ns": counts.until, "end_ns": counts.until, "start_evidence": "counted", "end_evidence": "counted"}
    return {name: [*column, row[name]] for name, column in columns.items()}


def counted_metrics(context: Context, counts: Counts | None, used: int, ready: int) -> dict[str, Metric]:
    """The metrics that are counted."""
    if counts is None:
        return {one.name: context.metric(one.name, None, reason=NOT_COUNTED) for one in COUNTED_METRICS}
    window = counted_window(context)
    metrics = {"processor_total": context.metric("processor_total", used)}
    if counts.windows.ready_known:
        metrics["ready_total"] = context.metric("ready_total", ready, evidence="counted")
    rows = counts.windows
    known: dict[str, int | float | None] = {
        **{name: counts.total(amount, window) for name, amount in _SUMS.items()},
        "available_total": counts.processors and counts.processors * counts.read_ns(window),
        "limit": counts.limit,
        "resident_peak": counts.peak("ProcessFacts.ResidentBytes", window),
        "memory_limit": counts.peak("ProcessLimits.MemoryLimitBytes", window),
        "limited_ready": int(portion(rows.start, rows.end, counts.limited_ready(), window).sum()),
    }
    for name, value in known.items():
        metrics[name] = context.metric(name, value, reason=None if value is not None else _UNREAD)
    return metrics


_FIRST: Final[Mapping[str, int]] = {
    "running": 0,
    **dict.fromkeys(WORKING, 0),
    "native": 1,
    "unknown": 2,
    "gc_suspended": 3,
}
"""What time on a processor is taken from first; from everything else last."""
_WAITS: Final[Mapping[ThreadState, ThreadState]] = dict.fromkeys((*_BUSY, "unknown"), "wait")
"""What a thread does that neither has a processor nor wants one, where something else seemed so."""
_Window: TypeAlias = tuple[int, int, int, int]
"""From when to when a thread had a processor for how long, and was ready."""


def counted_lives(lives: Sequence[ThreadLife], counts: Counts) -> list[ThreadLife]:
    """These lives, and those of threads that only counts know; all reach as far as their counts do."""
    rows = counts.windows
    columns = (rows.start, rows.end, rows.processor, rows.ready)
    windows: dict[int, list[_Window]] = {
        thread: list(zip(*(column[of].tolist() for column in columns), strict=True)) for thread, of in rows.by_thread()
    }
    lives_of_thread = grouped(lives, lambda life: life.thread_id)
    all_lives = []
    for thread in sorted({*lives_of_thread, *windows}):
        known = lives_of_thread.get(thread, [])
        of = _listed(windows.get(thread, []), counts.begun.get(thread), counts.ended.get(thread, counts.until))
        if not of:
            all_lives += known
            continue
        known = known or [ThreadLife(thread, of[0][0], of[0][0], "inferred", None, ())]
        bounds = [-inf, *(life.start for life in known[1:]), inf]
        for life, low, high in zip(known, bounds, bounds[1:], strict=False):
            all_lives.append(_counted(life, [one for one in of if low < one[1] <= high]))
    return sorted(all_lives, key=lambda life: (life.start, life.thread_id))


def _listed(windows: list[_Window], begun: int | None, until: int) -> list[_Window]:
    """The windows from when a thread was first listed to when it was last: what is between is without counts."""
    if not windows and begun is None:
        return []
    first = windows[0][0] if windows else until
    begun = first if begun is None else min(max(begun, 0), first)
    last = windows[-1][1] if windows else first
    return [one for one in ((begun, first, 0, 0), *windows, (last, until, 0, 0)) if one in windows or one[0] < one[1]]


def _counted(life: ThreadLife, windows: Sequence[_Window]) -> ThreadLife:
    """A life that covers these windows, which follow one another."""
    if not windows:
        return life
    start, end = min(life.start, windows[0][0]), max(life.end, windows[-1][1])
    pieces = [Piece(start, life.start, UNKNOWN), *life.pieces]
    pieces.append(Piece(pieces[-1].end, end, UNKNOWN))
    begins = [piece.start for piece in pieces]
    life_pieces: list[Piece] = []
    before, after = (start, windows[0][0], -1, -1), (windows[-1][1], end, -1, -1)
    for low, high, processor, ready in (before, *windows, after):
        inside = [
            attrs.evolve(piece, start=max(piece.start, low), end=min(piece.end, high))
            for piece in pieces[max(bisect_right(begins, low) - 1, 0) : bisect_left(begins, high)]
            if max(piece.start, low) < min(piece.end, high)
        ]
        for piece in inside if processor < 0 else _shared(inside, processor, ready):
            # Equal neighbours are one.
            if life_pieces and life_pieces[-1].end == piece.start and life_pieces[-1].doing == piece.doing:
                piece = attrs.evolve(life_pieces.pop(), end=piece.end)
            life_pieces.append(piece)
    return attrs.evolve(life, start=start, end=end, pieces=life_pieces)


def _shared(inside: Sequence[Piece], processor: int, ready: int) -> Iterator[Piece]:
    """The pieces of one window with its counts: each is ready first, then has the processor, then does what it did."""
    left = processor + ready
    taken = [0] * len(inside)
    for n in sorted(range(len(inside)), key=lambda n: _FIRST.get(inside[n].doing.state, len(_FIRST))):
        taken[n] = min(left, inside[n].end - inside[n].start)
        left -= taken[n]
    ready = min(ready, max(sum(taken) - processor, 0))
    for piece, took in zip(inside, taken, strict=True):
        waits = min(ready, took)
        ready -= waits
        state = piece.doing.state
        ran: ThreadState = state if state in _BUSY else "native"
        parts: tuple[tuple[int, ThreadState, bool], ...] = (
            (piece.start + waits, "ready", True),
            (piece.start + took, ran, True),
            (piece.end, _WAITS.get(state, state), state in _WAITS),
        )
        start = piece.start
        for end, doing, counted in parts:
            changed = attrs.evolve(piece.doing, state=doing, evidence="counted") if counted else piece.doing
            if end > start:
                yield Piece(start, end, changed)
            start = end
