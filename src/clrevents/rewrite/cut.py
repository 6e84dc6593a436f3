"""`cut`: a valid smaller trace with the events asked for, and what makes sense of them wherever it stands.

Decides what is context and which losses belong to the part; copying is done by `copy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, Unpack

from clrevents.outputs import whole_file
from clrevents.rewrite.copy import Copied, Copier
from clrevents.trace import FilterOptions, Loss, Selector, Trace, passes_of

CONTEXT: Final = (
    "rundown/*",
    "runtime/MethodLoad*",
    "runtime/MethodUnload*",
    "runtime/MethodILToNativeMap*",
    "runtime/Module[LU]*",
    "runtime/DomainModule*",
    "runtime/AssemblyLoad",
    "runtime/AssemblyUnload",
    "runtime/AppDomain[LU]*",
    "runtime/RuntimeInformationStart",
    "*/ProcessInfo",
    "Universal.System/*",
)
"""Kinds of event that names and addresses need, whenever they were written."""


def cut(
    trace: Trace,
    out: str | os.PathLike[str],
    *selectors: Selector,
    rundown: bool = True,
    **filters: Unpack[FilterOptions],
) -> Copied:
    """Write the selected events to `out`, in the time order and with everything they say of themselves.

    Selectors and filters are those of `Trace.events`. With `rundown` the kinds of `CONTEXT` come along wherever
    they stand. Sequence numbers are rewritten, so that the losses of the result are the original's losses whose
    window lies inside `start` to `end` (and, with `thread_id`, whose thread is asked for); of more losses than
    `Limits.problems` only the first are known. `out` appears only when it is complete. Raises what `Trace.events`
    raises, and OSError.
    """
    if "thread_id" in filters and not isinstance(filters["thread_id"], int | None):
        # Asked for twice: an iterator would be empty by then.
        filters["thread_id"] = tuple(filters["thread_id"])
    rows = passes_of(trace).event_rows(*selectors, always=CONTEXT if rundown else (), decode=False, filters=filters)
    losses = _inside(trace, filters)
    with whole_file(out) as file:
        copier = Copier(file, trace.info, losses)
        for found in rows:
            copier.add(found)
        return copier.finish()


def _inside(trace: Trace, filters: FilterOptions) -> Iterable[Loss]:
    """The losses whose window lies inside what is asked for."""
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
