"""`cut`: a valid smaller trace with the selected events, and the events that explain them, wherever they are.

Decides what is context and which losses belong to the part; copying is done by `copy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, Literal, Unpack

from clrevents._util.outputs import whole_file
from clrevents.rewrite.copy import Copied, Copier
from clrevents.schema.cut_mark import CUT
from clrevents.schema.join_mark import SELECTOR as JOINED
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.redaction_mark import SELECTOR
from clrevents.trace import FilterOptions, Loss, Selector, Trace, passes_of

_ALWAYS: Final = -(1 << 63)
_FOREVER: Final = (1 << 63) - 1
_MARK: Final = "/".join(CUT)
CONTEXT: Final = (*NAMING_EVENTS, "runtime/R2RGetEntryPoint", "*/ProcessInfo")
"""Selectors of the events needed to resolve addresses, whenever they were written."""


def cut(
    trace: Trace,
    out: str | os.PathLike[str],
    *selectors: Selector,
    rundown: bool = True,
    **filters: Unpack[FilterOptions],
) -> Copied:
    """Write the selected events of `trace` to the file `out`, in time order and with all their header fields.

    `selectors` and `filters` are those of `Trace.events`. With `rundown`, the events of `CONTEXT` are included whatever
    the filters say. With `start` or `end`, an event `clrevents/Cut`, which is not counted, records the bounds of the
    part: reports cover that window. Sequence numbers are rewritten so that the result shows the original's losses whose
    window is inside `start` to `end`; with `thread_id`, only those of the selected threads. If there are more losses
    than `Limits.problems`, only the first are known. `out` appears only when complete. Raises the exceptions of
    `Trace.events`, TraceError for what does not fit into a block of the new trace, ValueError if `out` is the trace
    itself, and OSError.
    """
    if "thread_id" in filters and not isinstance(filters["thread_id"], int | None):
        # Used twice: an iterator would be exhausted by then.
        filters["thread_id"] = tuple(filters["thread_id"])
    # A part of a redacted trace says that it is one, too.
    marks = (SELECTOR, JOINED, _MARK)
    always = (*CONTEXT, *marks) if rundown else marks
    rows = passes_of(trace).event_rows(*selectors, always=always, decode=False, filters=filters)
    low, high = (_edge_ns(trace, filters, name) for name in ("start", "end"))
    losses = _inside(trace, low, high, filters.get("thread_id"))
    with whole_file(out, trace.info.path) as file:
        copier = Copier(file, trace.info, losses)
        if low is not None or high is not None:
            # Damaged clocks give moments that 64 bits do not hold.
            edges = (_ALWAYS if low is None else low, _FOREVER if high is None else high)
            copier.part(*(min(max(edge, _ALWAYS), _FOREVER) for edge in edges))
        for found in rows:
            copier.add(found)
        return copier.finish()


def _edge_ns(trace: Trace, filters: FilterOptions, name: Literal["start", "end"]) -> int | None:
    """Where the selected window begins or ends; None where it is open."""
    given = filters.get(name)
    return None if given is None else passes_of(trace).moment_ns(given, name)


def _inside(trace: Trace, low: int | None, high: int | None, thread_id: int | Iterable[int] | None) -> Iterable[Loss]:
    """The losses whose window is inside the selected one."""
    threads = None if thread_id is None else {thread_id} if isinstance(thread_id, int) else set(thread_id)
    return [
        loss
        for loss in trace.losses
        if (low is None or loss.start_ns >= low)
        and (high is None or loss.end_ns < high)
        and (threads is None or loss.thread_id in threads)
    ]
