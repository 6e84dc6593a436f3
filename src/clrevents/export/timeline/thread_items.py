"""What threads did → their tracks: calls, states, waits for locks, compilations, exceptions, tasks.

Lengths are those of the reports' tables. A row without a beginning has no place in time and is left out. Knows no
format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, frame_names
from clrevents.export.sampled_calls import calls, rows_by_thread
from clrevents.export.timeline.lanes import placed
from clrevents.export.timeline.table_rows import grouped
from clrevents.export.timeline.timeline_items import GROUPS, Arrows, Details, Group, Instant, Placed, Stretch, Track

_STATE: Final = ("reason", "evidence", "lock_id", "owner_thread_id", "task_id", "lossy")
_LOCK: Final = ("lock_id", "native", "owner_thread_id", "owner_method", "duration_ns", "lossy")
_JIT: Final = ("tier", "module", "background", "il_bytes", "native_bytes", "recompiled", "dynamic", "lossy")
_THROWN: Final = (
    "message", "hresult", "throwing_method", "catching_method", "outcome", "duration_ns", "nested", "by_await", "lossy",
)  # fmt: skip


def sample_calls(samples: Samples, look: Look) -> Iterator[Placed]:
    """The calls that the profiler's samples show."""
    names = frame_names(samples, look)
    for thread, rows in zip(samples.threads, rows_by_thread(samples), strict=False):
        track = track_of("samples", thread.process_id, thread.thread_id)
        for call in calls(samples, rows):
            yield track, Stretch(call.start_ns, call.end_ns, names[call.frame])


def states(answer: Any) -> Iterator[Placed]:
    """What each thread did, by the report `threads`."""
    yield from _stretches(answer.intervals, "states", lambda row: row.state, _STATE)


def compilations(answer: Any) -> Iterator[Placed]:
    """What the JIT compiled, by the report `jit`."""
    yield from _stretches(answer.compilations, "jit", lambda row: row.method, _JIT)


def lock_waits(answer: Any, arrows: Arrows) -> Iterator[Placed]:
    """Who waited for locks, by the report `locks`; an arrow leads to the thread that held the lock at the begin."""
    table = answer.contentions
    for (process, thread), rows in grouped(table, ("process_id", "thread_id"), "start_ns", "end_ns"):
        waits = (
            Stretch(
                *(row.start_ns, row.end_ns, row.method or "a lock", details(row, _LOCK)),
                leaves=() if row.owner_thread_id is None else arrows("lock", place),
            )
            for place, row in rows
        )
        yield from placed(track_of("locks", process, thread), waits, nesting=True)
    for (process, owner), rows in grouped(table, ("process_id", "owner_thread_id"), "start_ns"):
        for place, row in rows if owner is not None else ():
            about = {"lock_id": row.lock_id, "waiting_thread_id": row.thread_id}
            held = Instant(row.start_ns, "holds a lock", about, reaches=arrows("lock", place))
            yield track_of("held", process, owner), held


def thrown(answer: Any) -> Iterator[Placed]:
    """When exceptions were thrown, by the report `exceptions`."""
    for (process, thread), rows in grouped(answer.exceptions, ("process_id", "thread_id"), "start_ns"):
        track = track_of("exceptions", process, thread)
        for _, row in rows:
            yield track, Instant(row.start_ns, row.type or "an exception", details(row, _THROWN))


def track_of(group: Group, process: int | None, thread: int | None = None) -> Track:
    """The track of a thread, or of the process where no thread is known."""
    return Track(group, GROUPS[group], process, thread)


def details(row: Any, names: tuple[str, ...]) -> Details:
    """Some cells of a row, without what the trace does not tell and what is false."""
    found = {}
    for name in names:
        value = getattr(row, name)
        if value is not None and value is not False:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _stretches(table: Any, group: Group, name: Callable[[Any], str], kept: tuple[str, ...]) -> Iterator[Placed]:
    for (process, thread), rows in grouped(table, ("process_id", "thread_id"), "start_ns", "end_ns"):
        items = (Stretch(row.start_ns, row.end_ns, name(row), details(row, kept)) for _, row in rows)
        yield from placed(track_of(group, process, thread), items, nesting=True)
