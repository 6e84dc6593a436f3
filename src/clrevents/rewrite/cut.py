"""`cut`: a valid smaller trace with the selected events, and the events that explain them, wherever they are.

Decides what is context and which losses belong to the part; copying is done by `copy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, Literal, Unpack

import attrs

from clrevents.rewrite.copy import Copied, Copier, every_destroyed, lacks, new_trace
from clrevents.schema.async_forms import in_buffer
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.own_marks import CUT, JOINED, LEAST, MOST, REDACTED
from clrevents.trace import FilterOptions, Filters, Loss, Selector, Trace, passes_of

CONTEXT: Final = (
    *(*NAMING_EVENTS, "runtime/R2RGetEntryPoint", "*/ProcessInfo"),
    *("clrevents/ProcessorCounting", "clrevents/ThreadName", "clrevents/EventsFiltered"),
)
"""Selectors of the events needed to resolve addresses, to name threads, and to know what was left out, whenever they
were written."""


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
    window touches `start` to `end`, each with all its events; with `thread_id`, only those of the selected threads. If
    there are more losses than `Limits.problems`, only the first are known. What else the original lacked (its end,
    damaged places) is recorded by events `clrevents/Lacked`, which are not counted either. Sub-events of the async
    profiler become events of their own; the `AsyncEvents` that carried them are written only if no such are selected.

    `out` is compressed if its name ends in `.gz`, and appears only when complete. Raises the exceptions of
    `Trace.events`, TraceError for what does not fit into a block of the new trace, ValueError if `out` is the trace
    itself, and OSError.
    """
    if "thread_id" in filters and not isinstance(filters["thread_id"], int | None):
        # Used twice: an iterator would be exhausted by then.
        filters["thread_id"] = tuple(filters["thread_id"])
    # A part of a redacted trace says that it is one, too.
    kept = (REDACTED.selector, JOINED.selector, CUT.selector)
    always = (*CONTEXT, *kept) if rundown else kept
    rows = passes_of(trace).event_rows(*selectors, always=always, decode=False, filters=filters)
    low, high = (_edge_ns(trace, filters, name) for name in ("start", "end"))
    losses = _inside(trace.losses, low, high, filters.get("thread_id"))
    marks = [*lacks(trace, _inside(every_destroyed(trace), low, high, filters.get("thread_id")))]
    if low is not None or high is not None:
        marks.append((CUT, CUT.payload(LEAST if low is None else low, MOST if high is None else high)))
    scan, selection = passes_of(trace).scan(raising=False), passes_of(trace).selection(selectors, Filters.of(filters))
    packed = not any(in_buffer(kind.row.provider, kind.row.id) for kind in selection.chosen(scan.kinds_by_name))
    with new_trace(out, trace.info.path) as file:
        copier = Copier(file, trace.info, losses, marks, packed)
        for decoded in rows:
            copier.add(decoded)
        return copier.finish()


def _edge_ns(trace: Trace, filters: FilterOptions, name: Literal["start", "end"]) -> int | None:
    """Where the selected window begins or ends; None where it is open."""
    given = filters.get(name)
    return None if given is None else passes_of(trace).moment_ns(given, name)


def _inside(
    losses: Iterable[Loss], low: int | None, high: int | None, thread_id: int | Iterable[int] | None
) -> list[Loss]:
    """The losses that may concern the selected window, as far as they lie in it."""
    threads = None if thread_id is None else {thread_id} if isinstance(thread_id, int) else set(thread_id)
    return [
        attrs.evolve(
            loss,
            start_ns=loss.start_ns if low is None else max(loss.start_ns, low),
            end_ns=loss.end_ns if high is None else min(loss.end_ns, high),
        )
        for loss in losses
        if (low is None or loss.end_ns >= low)
        and (high is None or loss.start_ns < high)
        and (threads is None or loss.thread_id in threads)
    ]
