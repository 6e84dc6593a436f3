"""What is read of events that only traces describe: needed fields, and such as old runtimes lack, with their types.

The registry has the layouts of all others. What a trace describes otherwise is not the event that is meant here. Pure
data; knows no reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from clrevents.schema.own_marks import CUT, JOINED, REDACTED
from clrevents.schema.registry import FRAMEWORK, TPL

_TASK: Final = ("TaskID",)
_ORIGIN: Final = "OriginatingTaskID?"


class ReadField(NamedTuple):
    """A field by name, the type that holds its values, and whether every runtime that has the event writes it."""

    name: str
    type: str
    needed: bool


def _fields(*texts: str) -> tuple[ReadField, ...]:
    """From `Name`, `Name:type` and, of what may be missing, `Name?`."""
    parts = [(*text.rstrip("?").partition(":"), not text.endswith("?")) for text in texts]
    return tuple(ReadField(name, type or "int64", needed) for name, _, type, needed in parts)


SELF_DESCRIBED: Final[Mapping[tuple[str, str], tuple[ReadField, ...]]] = {
    (TPL, "TaskScheduled"): _fields(*_TASK, _ORIGIN, "OriginatingTaskSchedulerID?", "TaskCreationOptions?"),
    (TPL, "TaskStarted"): _fields(*_TASK),
    (TPL, "TaskCompleted"): _fields(*_TASK, "IsExceptional:bool?"),
    (TPL, "TaskWaitBegin"): _fields(*_TASK, "Behavior?", "ContinueWithTaskID?", _ORIGIN),
    (TPL, "TaskWaitEnd"): _fields(*_TASK),
    # .NET Core 3.1 misspells the one.
    (TPL, "AwaitTaskContinuationScheduled"): _fields("ContinueWithTaskId?", "ContinuwWithTaskId?", _ORIGIN),
    (TPL, "TaskWaitContinuationStarted"): _fields(*_TASK),
    (TPL, "TaskWaitContinuationComplete"): _fields(*_TASK),
    (TPL, "TraceOperationBegin"): _fields(*_TASK, "OperationName:string?"),
    (FRAMEWORK, "ThreadPoolEnqueueWork"): _fields("workID"),
    (FRAMEWORK, "ThreadPoolDequeueWork"): _fields("workID"),
    (FRAMEWORK, "ThreadTransferSend"): _fields("id"),
    (FRAMEWORK, "ThreadTransferReceive"): _fields("id"),
    ("Universal.Events", "cpu"): _fields("Value:uint64?"),
    ("Universal.Events", "cswitch"): _fields("Value:uint64"),
    **{mark.event: _fields(*mark.names) for mark in (CUT, JOINED, REDACTED)},
}
"""By provider and name."""
MARKS: Final = frozenset((CUT.event, JOINED.event, REDACTED.event))
"""Those that we write ourselves into what we make of a trace."""
