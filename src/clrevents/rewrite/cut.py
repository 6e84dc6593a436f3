"""`cut`: a valid smaller trace with the selected events, and the events that explain them, wherever they are.

Decides what is context and which losses belong to the part; copying is done by `copy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, Unpack

from clrevents._util.outputs import whole_file
from clrevents.rewrite.copy import Copied, Copier
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.redaction_mark import SELECTOR
from clrevents.trace import FilterOptions, Loss, Selector, Trace, passes_of

_STOPPED: Final = "*/ProcessInfo"
"""What a runtime writes when tracing stops: in a part that ends before, it would say that tracing went on."""
CONTEXT: Final = (*NAMING_EVENTS, _STOPPED)
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
    the filters say, but for `ProcessInfo` where an `end` is given. Sequence numbers are rewritten so that the result
    shows the original's losses whose window is inside `start` to `end`; with `thread_id`, only those of the selected
    threads. Of more losses than `Limits.problems`, only the first are known. `out` appears only when complete. Raises
    the exceptions of `Trace.events`, TraceError for what does not fit into a block of the new trace, and OSError.
    """
    if "thread_id" in filters and not isinstance(filters["thread_id"], int | None):
        # Used twice: an iterator would be exhausted by then.
        filters["thread_id"] = tuple(filters["thread_id"])
    context = CONTEXT if filters.get("end") is None else NAMING_EVENTS
    # A part of a redacted trace says that it is one, too.
    always = (SELECTOR, *context) if rundown else (SELECTOR,)
    rows = passes_of(trace).event_rows(*selectors, always=always, decode=False, filters=filters)
    losses = _inside(trace, filters)
    with whole_file(out) as file:
        copier = Copier(file, trace.info, losses)
        for found in rows:
            copier.add(found)
        return copier.finish()


def _inside(trace: Trace, filters: FilterOptions) -> Iterable[Loss]:
    """The losses whose window is inside the selected one."""
    start, end, thread_id = filters.get("start"), filters.get("end"), filters.get("thread_id")
    moment_ns = passes_of(trace).moment_ns
    low = None if start is None else moment_ns(start, "start")
    high = None if end is None else moment_ns(end, "end")
    threads = None if thread_id is None else {thread_id} if isinstance(thread_id, int) else set(thread_id)
    return [
        loss
        for loss in trace.losses
        if (low is None or loss.start_ns >= low)
        and (high is None or loss.end_ns < high)
        and (threads is None or loss.thread_id in threads)
    ]
