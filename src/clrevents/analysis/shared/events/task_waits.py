"""Waits for tasks that block a thread: TaskWaitBegin with the behavior 1 → TaskWaitEnd of the same task and thread.

Knows which events record waits for tasks, and separates those that block from awaits, which block nothing.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.wait_events import EndsOfThreads, WaitSpans, field_numbers, wait_spans
from clrevents.schema.registry import TPL

TASK_BEGIN: Final = "tpl/TaskWaitBegin"
TASK_END: Final = "tpl/TaskWaitEnd"
_ENDS: Final = Need("when waits for tasks end", ("TaskWaitEnd",), 0x2, 5, TPL)
SYNCHRONOUS: Final = 1
"""The behavior of a wait that blocks its thread; the other one is that of an await."""


CONTINUATION_ID: Final = ("ContinueWithTaskId", "ContinuwWithTaskId")
"""The field of AwaitTaskContinuationScheduled with the id of the continuation; .NET Core 3.1 misspells it."""


def task_wait_spans(
    begins: Gathered, ends: Gathered, context: Context, threads: EndsOfThreads | None = None
) -> WaitSpans:
    """Waits that block; rows are those of `begins` that block, and of `ends`.

    An end alone may be that of an await, which any thread ends. Where ends were not recorded, no wait is known to be
    open.
    """
    found = wait_spans(blocking(begins), ends, ("TaskID", "thread_id"), orphans=False)
    if not ends_recorded(context):
        return attrs.evolve(found, last=np.zeros(len(found), dtype=np.bool_))
    return found.in_trace(context, threads)


def ends_recorded(context: Context) -> bool:
    """Whether the ends of waits for tasks were recorded, which takes a higher level than their starts."""
    return met(_ENDS, context.kinds) != "unknown"


def blocking(begins: Gathered) -> Gathered:
    """The begins of waits that block."""
    return begins.only(np.flatnonzero(field_numbers(begins, "Behavior") == SYNCHRONOUS))
