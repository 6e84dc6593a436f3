"""What happened when: a lane for each thread, and tracks of collections, locks, exceptions, requests, compilations.

Shows what every timeline does. Items shorter than a two-thousandth of the trace are merged with their neighbours, with
a count, so the size of the picture does not grow with the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import changes, grouped, groups, near_ns
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.export.page.page_assembly import PageTexts
from clrevents.export.timeline.report_items import SHOWN, ShownRows
from clrevents.export.timeline.timeline_items import GROUPS
from clrevents.trace import Loss

Ints: TypeAlias = NDArray[np.int64]

_PARTS: Final = 2000
"""How many parts the time is divided into; everything inside one part is drawn as one."""
_LANES: Final = 50
_LONGEST: Final = 800
"""How many of a track's longest spans are drawn individually."""
_ROWS: Final = 6


_TRACKS: Final = tuple(
    next(shown for shown in SHOWN if shown.group == group)
    for group in ("collections", "pauses", "locks", "exceptions", "requests", "jit")
)
"""What has a track, in this order; requests have one for each side."""


def page_timeline(
    answers: Mapping[str, Answer[object]], losses: Sequence[Loss], duration_ns: int, texts: PageTexts
) -> dict[str, object]:
    """The lanes and tracks that have something in them; times count in units of `tick_ns`."""
    scale = _Scale(near_ns(max(duration_ns, 1)))
    lanes, more = _lanes(answers["threads"], scale, texts) if "threads" in answers else ([], 0)
    tracks = [_track(answers[track.report], track, scale, texts) for track in _TRACKS if track.report in answers]
    return {
        "tick_ns": scale.tick,
        "ticks": -(-scale.whole // scale.tick),
        "part_ns": scale.part,
        "states": STATES,
        "lanes": lanes,
        "more": more,
        "tracks": [track for track in (_lost(losses, scale, texts), *tracks) if track is not None],
    }


@frozen
class _Scale:
    """How times are written: from the start of the session, in at most a million ticks."""

    whole: int

    @property
    def tick(self) -> int:
        return max(1, self.whole // 1_000_000)

    @property
    def part(self) -> int:
        return max(1, self.whole // _PARTS)

    def ticks(self, times: Ints) -> list[int]:
        ticks: list[int] = (np.clip(times, 0, self.whole) // self.tick).tolist()
        return ticks


def _lanes(answer: Answer[object], scale: _Scale, texts: PageTexts) -> tuple[list[dict[str, Any]], int]:
    """The threads that did most, in order of their beginning, and how many more there are."""
    threads, intervals = answer.table("threads"), answer.table("intervals")
    if not len(threads) or intervals.left_out is not None:
        return [], 0
    processes = len(set(threads.column("process_id").tolist())) > 1
    busy = threads.numbers("running_ns") + threads.numbers("native_ns")
    chosen = np.sort(np.argsort(-busy, kind="stable")[:_LANES])
    keys = list(zip(*(intervals.column(name).tolist() for name in ("process_id", "thread_id")), strict=True))
    of = grouped(range(len(keys)), keys.__getitem__)
    lanes = []
    rank = {place: number for number, place in enumerate(np.argsort(-busy, kind="stable").tolist())}
    for place, row in zip(chosen.tolist(), threads.take(chosen).rows(), strict=True):
        name = f" {row['name']}" if row["name"] else ""
        process = f" of process {row['process_id']}" if processes else ""
        # A thread id may be that of one thread after another: each has the intervals of its own life.
        moments = intervals.take(np.array(of.get((row["process_id"], row["thread_id"]), ()), dtype=np.int64))
        starts = moments.numbers("start_ns")
        moments = moments.take(np.flatnonzero((starts >= row["start_ns"]) & (starts <= row["end_ns"])))
        title = texts.place(f"{row['thread_id']} {row['role']}{name}{process}")
        lanes.append({"title": title, "rank": rank[place], **_pieces(moments, scale)})
    return [lane for lane in lanes if lane["starts"]], len(threads) - len(chosen)


def _pieces(rows: ReportTable[object], scale: _Scale) -> dict[str, object]:
    """The intervals of a thread; short ones of the same part as one, with the state that took most of it."""
    rows = rows.sorted_by("start_ns")
    starts, ends = rows.numbers("start_ns"), rows.numbers("end_ns")
    lasted = np.maximum(ends - starts, 0)
    group = _grouped(starts, lasted, scale.part)
    count = int(group[-1]) + 1 if len(group) else 0
    places = {state: place for place, state in enumerate(STATES)}
    states = np.array([places[state] for state in rows.column("state").tolist()], dtype=np.int64)
    sums = np.zeros((count, len(STATES)), dtype=np.int64)
    np.add.at(sums, (group, states), np.maximum(lasted, 1))
    first = np.flatnonzero(changes(group))
    last = np.append(first[1:], len(group)) - 1 if count else first
    state = sums.argmax(axis=1) if count else np.zeros(0, dtype=np.int64)
    whole = np.maximum(sums.sum(axis=1), 1)
    return {
        "starts": scale.ticks(starts[first]),
        "ends": scale.ticks(ends[last]),
        "states": state.tolist(),
        "counts": np.bincount(group, minlength=count).tolist() if count else [],
        "shares": (100 * sums.max(axis=1, initial=0) // whole).tolist() if count else [],
    }


def _grouped(starts: Ints, lasted: Ints, part: int) -> Ints:
    """The group of each interval, in order: those that last a part stand alone, the others of a part together."""
    alone = lasted >= part
    place = starts // part
    begins = alone | np.append(True, alone[:-1]) | changes(place) if len(starts) else alone
    return np.cumsum(begins) - 1


def _track(answer: Answer[object], track: ShownRows, scale: _Scale, texts: PageTexts) -> dict[str, object] | None:
    rows = answer.table(track.table)
    if not len(rows) or rows.left_out is not None:
        return None
    begins = rows.column(track.start)
    ends = begins if track.end is None else rows.column(track.end)
    known = np.flatnonzero(begins.known & ends.known)
    starts, until = begins.filled(0)[known], ends.filled(0)[known]
    order = np.argsort(starts, kind="stable")
    starts, until, known = starts[order], np.maximum(until[order], starts[order]), known[order]
    items = _items(starts, until, scale)
    label = track.label or track.name
    names = [label(row) for row in rows.take(known[[item.longest for item in items]])]
    return _bars(GROUPS[track.group], items, names, (len(rows), len(rows) - len(known)), scale, texts)


def _lost(losses: Sequence[Loss], scale: _Scale, texts: PageTexts) -> dict[str, object] | None:
    """When events were lost or destroyed, and of which thread: the drawing below may be wrong there."""
    if not losses:
        return None
    spans = np.array(
        sorted((loss.start_ns, max(loss.end_ns, loss.start_ns), place) for place, loss in enumerate(losses))
    )
    items = _items(spans[:, 0], spans[:, 1], scale)
    lost = [losses[int(spans[item.longest, 2])] for item in items]
    names = [
        f"{counted(loss.count, 'event')} of thread {'unknown' if loss.thread_id < 0 else loss.thread_id}"
        for loss in lost
    ]
    return _bars("events missing", items, names, (len(losses), 0), scale, texts)


def _bars(
    title: str, items: list[_Item], names: list[str], counts: tuple[int, int], scale: _Scale, texts: PageTexts
) -> dict[str, object]:
    """A track for the script; `counts` are of all rows, and of those that cannot be drawn."""
    return {
        "title": title,
        "count": counts[0],
        "unplaced": counts[1],
        "starts": scale.ticks(np.array([item.start for item in items], dtype=np.int64)),
        "ends": scale.ticks(np.array([item.end for item in items], dtype=np.int64)),
        "counts": [item.count for item in items],
        "labels": [texts.place(name) for name in names],
        "rows": _packed(items),
    }


@frozen
class _Item:
    """One bar of a track; `longest` is the place of the longest span that it stands for."""

    start: int
    end: int
    count: int
    longest: int


def _items(starts: Ints, until: Ints, scale: _Scale) -> list[_Item]:
    """Bars of spans in order of their starts: the long ones each by itself, the others of a part of the time as one."""
    lasted = until - starts
    alone = lasted >= scale.part
    if alone.sum() > _LONGEST:
        alone[np.argsort(-lasted, kind="stable")[_LONGEST:]] = False
    items = [_Item(int(starts[place]), int(until[place]), 1, place) for place in np.flatnonzero(alone).tolist()]
    others = np.flatnonzero(~alone)
    for _, group in groups(starts // scale.part, others):
        longest = int(group[np.argmax(until[group] - starts[group])])
        items.append(_Item(int(starts[group].min()), int(until[group].max()), len(group), longest))
    return sorted(items, key=lambda item: (item.start, item.end))


def _packed(items: list[_Item]) -> list[int]:
    """A row for each bar, so that few lie on one another: the first that is free, else the one that is free first."""
    free = [0] * _ROWS
    rows = []
    for item in items:
        row = next((row for row, end in enumerate(free) if end <= item.start), None)
        row = min(range(_ROWS), key=free.__getitem__) if row is None else row
        free[row] = max(free[row], item.end)
        rows.append(row)
    return rows
