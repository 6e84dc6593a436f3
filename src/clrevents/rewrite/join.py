"""`join`: two recordings of one run, the Linux recorder's and EventPipe's, in one trace on one clock.

So that everything that reads traces reads both at once. Which process it is, and how the clocks lie, is decided by
`same_run`; copying is done by `copy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from heapq import merge
from typing import BinaryIO, Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.rewrite.copy import Copied, Copier, Origin, Part, every_destroyed, lacks, new_trace
from clrevents.schema.own_marks import JOINED, REDACTED
from clrevents.trace import DecodedRows, Loss, SameRun, ShiftedRows, Trace, TraceInfo, passes_of, same_run

_MS: Final = 1_000_000


@frozen
class JoinResult(Copied):
    """What was written to the joined trace, and how the clocks were aligned."""

    same_run: SameRun
    """How the other recording lies in the Linux recorder's."""


def join(linux: Trace, other: Trace, out: str | os.PathLike[str] | BinaryIO) -> JoinResult:
    """Write `linux`, a recording of the Linux recorder, and `other`, EventPipe's of the same run, as one trace.

    The trace is on the clock of `linux`, in time order, with all header fields and losses of both; an event
    `clrevents/Joined`, which is not counted, says how the clocks were aligned. All reports read it: what threads did
    and which code had processors is answered by the kernel, why they waited and what the runtime did by the runtime.
    It is redacted only if both are.

    Reads both traces twice. `out` is a file, which appears only when complete and is compressed if its name ends in
    `.gz`, or an open binary file. Raises ValueError unless both are of one run, or if `linux` is joined already or
    `out` is one of them; the exceptions of `Trace.events`; TraceError for what does not fit into a block of the new
    trace; and OSError.
    """
    if any((key.provider, key.name) == JOINED.event for key in linux.event_counts()):
        raise ValueError("the trace is joined with another one already")
    run = same_run(linux, other)
    # A trace begins with whichever recording began first, at a whole millisecond, which is what its header holds.
    moved = min(run.shift_ns, 0) // _MS * _MS
    info = _info(linux.info, moved)
    start = run.shift_ns - moved
    times = (start, start + passes_of(other).stopped_ns(), start + other.duration_ns)
    error = -1 if run.error_ns is None else run.error_ns
    mark = JOINED.payload(
        *(run.process_id, run.shift_ns, run.uncertainty_ns, run.compared, run.contradicting, error, *times)
    )
    losses = [*_later(linux.losses, -moved), *_later(other.losses, start)]
    destroyed = [*_later(every_destroyed(linux), -moved), *_later(every_destroyed(other), start)]
    marks = [(JOINED, mark), *lacks(linux, destroyed), *lacks(other, ())]
    with new_trace(out, linux.info.path, other.info.path) as file:
        copier = Copier(file, info, losses, marks)
        rows = ShiftedRows(linux.info, run.process_id, run.shift_ns)
        placed = _placed(_rows(linux), copier.first)
        theirs = _placed(map(rows.of, _rows(other)), copier.another())
        redacted = linux.redacted and other.redacted
        for _, part, row in merge(placed, theirs, key=lambda placed: placed[0]):
            if redacted or (part.events.kinds[row].row.provider, part.events.kinds[row].row.name) != REDACTED.event:
                copier.copy(part, row)
        copied = copier.finish()
    return JoinResult(copied.events, copied.lost, copied.undescribed, copied.bytes, run)


def _later(losses: Iterable[Loss], ns: int) -> list[Loss]:
    return [attrs.evolve(loss, start_ns=loss.start_ns + ns, end_ns=loss.end_ns + ns) for loss in losses]


def _rows(trace: Trace) -> Iterator[DecodedRows]:
    return passes_of(trace).event_rows(decode=False)


def _placed(given: Iterator[DecodedRows], origin: Origin) -> Iterator[tuple[int, Part, int]]:
    """Each row with its time."""
    for rows in given:
        part = Part(rows, origin)
        for row, tick in enumerate(part.ticks):
            yield tick, part, row


def _info(info: TraceInfo, later_ns: int) -> TraceInfo:
    """The same of a session that began so much later."""
    start = None if info.start is None else info.start + timedelta(milliseconds=later_ns // _MS)
    return attrs.evolve(info, start=start, sync_qpc=info.sync_qpc + later_ns * info.frequency // 1_000_000_000)
