"""Chunks → what begins, ends or carries on activities, one by one in order of time.

Knows which events these are and where their keys stand. Pairs nothing. Events of the runtime itself are not activities,
except for exception handlers, which TraceEvent counts among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import ReportChunk
from clrevents.analysis.gathering.groups import Gathered
from clrevents.analysis.shared.events.event_spans import CONTINUATION_ID, SYNCHRONOUS
from clrevents.schema.registry import FRAMEWORK, MONO, PRIVATE, RUNDOWN, RUNTIME, SAMPLE, STRESS, TPL

ACTIVITY_HEADERS: Final = ("time_ns", "thread_id", "activity_id", "related_activity_id", "opcode")
CATCHING: Final = "ExceptionHandling"
"""TraceEvent's name for a running exception handler."""

_BEGIN, _END = 1, 2
"""Opcodes."""
_NATIVE: Final = frozenset((RUNTIME, RUNDOWN, PRIVATE, STRESS, MONO, SAMPLE, TPL))

FlowKey: TypeAlias = tuple[str, int]


class SignalKind(IntEnum):
    """What an event does."""

    BEGIN = 0
    END = 1
    CATCH = 2
    CAUGHT = 3
    CREATE = 4
    RUN = 5
    DONE = 6
    IDLE = 7
    RESUME = 8
    """The continuation that was queued with this key runs."""
    RETURN = 9
    """What a wait or a continuation ran has returned."""


class FlowKind(IntEnum):
    """What sort of work a thread may carry on."""

    OTHER = 0
    SCHEDULED = 1
    """A task, whose creation counts once."""
    WAIT = 2
    AWAIT = 3


@frozen
class ActivitySource:
    """The events of an activity: their provider, and their name without `Start` or `Stop`."""

    provider: str
    name: str


class Signal(NamedTuple):
    """One event. A `source` where an activity begins or ends, a `key` where work is handed to a thread.

    Ids are sixteen bytes as they are written, None for none. Where work is handed over, `activity` is the current one.
    """

    kind: SignalKind
    time_ns: int
    thread_id: int
    activity: bytes | None
    related: bytes | None = None
    source: ActivitySource | None = None
    detail: str | None = None
    key: FlowKey | None = None
    flow: FlowKind = FlowKind.OTHER
    suffixed: bool = True
    """Whether the event is called `…Start` or `…Stop`."""


@frozen
class _Step:
    """What an event about work does: the field with its key, and the space of that."""

    kind: SignalKind
    space: str = ""
    fields: tuple[str, ...] = ()
    flow: FlowKind = FlowKind.OTHER


_CATCHES: Final = {
    "runtime/ExceptionCatchStart": SignalKind.CATCH,
    "runtime/ExceptionCatchStop": SignalKind.CAUGHT,
}
_STEPS: Final = {
    "tpl/TaskScheduled": _Step(SignalKind.CREATE, "task", ("TaskID",), FlowKind.SCHEDULED),
    "tpl/AwaitTaskContinuationScheduled": _Step(SignalKind.CREATE, "task", CONTINUATION_ID),
    "tpl/TaskWaitBegin": _Step(SignalKind.CREATE, "wait", ("TaskID",), FlowKind.AWAIT),
    "tpl/TaskStarted": _Step(SignalKind.RUN, "task", ("TaskID",)),
    "tpl/TaskWaitEnd": _Step(SignalKind.RUN, "wait", ("TaskID",), FlowKind.AWAIT),
    "tpl/TaskCompleted": _Step(SignalKind.DONE, "task", ("TaskID",)),
    "tpl/TaskWaitContinuationStarted": _Step(SignalKind.RESUME, "task", ("TaskID",)),
    "tpl/TaskWaitContinuationComplete": _Step(SignalKind.RETURN, "wait", ("TaskID",)),
    "runtime/ThreadPoolEnqueue": _Step(SignalKind.CREATE, "work", ("WorkID",)),
    "runtime/ThreadPoolDequeue": _Step(SignalKind.RUN, "work", ("WorkID",)),
    "runtime/ThreadPoolIOEnqueue": _Step(SignalKind.CREATE, "io", ("NativeOverlapped",)),
    "runtime/ThreadPoolIOPack": _Step(SignalKind.CREATE, "io", ("NativeOverlapped",)),
    "runtime/ThreadPoolIODequeue": _Step(SignalKind.RUN, "io", ("NativeOverlapped",)),
    "runtime/ThreadPoolWorkerThreadWait": _Step(SignalKind.IDLE),
    f"{FRAMEWORK}/ThreadPoolEnqueueWork": _Step(SignalKind.CREATE, "framework", ("workID",)),
    f"{FRAMEWORK}/ThreadPoolDequeueWork": _Step(SignalKind.RUN, "framework", ("workID",)),
    f"{FRAMEWORK}/ThreadTransferSend": _Step(SignalKind.CREATE, "transfer", ("id",)),
    f"{FRAMEWORK}/ThreadTransferReceive": _Step(SignalKind.RUN, "transfer", ("id",)),
}
EDGE_SELECTORS: Final = (*_CATCHES, "*Start", "*Stop")
"""The events that begin and end activities."""
ACTIVITY_SELECTORS: Final = (*EDGE_SELECTORS, *_STEPS)


class SignalReader:
    """Reads them from chunks."""

    def __init__(self) -> None:
        self._sources: dict[tuple[str, str, int], tuple[SignalKind, ActivitySource, bool] | None] = {}

    def read(self, chunk: ReportChunk) -> list[Signal]:
        """Those of a chunk, in order."""
        places: list[Any] = []
        signals: list[Signal] = []
        for selector, events in chunk.events.items():
            if selector in _STEPS:
                signals_of_events = _steps(events, _STEPS[selector])
            elif selector in _CATCHES:
                signals_of_events = _catches(events, _CATCHES[selector])
            else:
                signals_of_events, kept = self._edges(events)
                signals += signals_of_events
                places.append(events.places[kept])
                continue
            signals += signals_of_events
            places.append(events.places)
        if len(places) < 2:
            return signals
        order = np.argsort(np.concatenate(places), kind="stable")
        return [signals[place] for place in order.tolist()]

    def _edges(self, events: Gathered) -> tuple[list[Signal], list[int]]:
        """Begins and ends of the activities of a provider, and which rows of it they are."""
        assert events.event is not None
        provider, name = events.event
        read: list[Signal] = []
        kept: list[int] = []
        if provider in _NATIVE:
            return read, kept
        opcodes = events.numbers("opcode").tolist()
        details = _details(events)
        for row, (time, thread, activity, related) in enumerate(_headers(events)):
            what = self._source(provider, name, opcodes[row])
            if what is not None:
                kept.append(row)
                read.append(Signal(what[0], time, thread, activity, related, what[1], details[row], suffixed=what[2]))
        return read, kept

    def _source(self, provider: str, name: str, opcode: int) -> tuple[SignalKind, ActivitySource, bool] | None:
        key = (provider, name, opcode)
        if key not in self._sources:
            self._sources[key] = edge_of(*key)
        return self._sources[key]


def edge_of(provider: str, name: str, opcode: int) -> tuple[SignalKind, ActivitySource, bool] | None:
    """What an event does to which activity, by its opcode, or, where that is 0, by its name; None for others.

    Also whether its name ends in `Start` or `Stop`.
    """
    if opcode not in (0, _BEGIN, _END) or provider in _NATIVE:
        return None
    for code, kind, suffix in ((_BEGIN, SignalKind.BEGIN, "Start"), (_END, SignalKind.END, "Stop")):
        suffixed = name.endswith(suffix) and name != suffix
        if opcode == code or (not opcode and suffixed):
            return kind, ActivitySource(provider, name.removesuffix(suffix) if suffixed else name), suffixed
    return None


def _steps(events: Gathered, step: _Step) -> list[Signal]:
    count = len(events)
    keys: list[FlowKey | None] = [None] * count
    if step.fields:
        numbers = np.zeros(count, dtype=np.uint64)
        for field in step.fields:
            numbers += events.numbers(field).astype(np.uint64)
        keys = [(step.space, number) for number in numbers.tolist()]
    flows = [step.flow] * count
    if step.kind == SignalKind.CREATE and step.flow == FlowKind.AWAIT:
        flows = [
            FlowKind.WAIT if behavior == SYNCHRONOUS else FlowKind.AWAIT
            for behavior in events.numbers("Behavior").tolist()
        ]
    return [
        Signal(step.kind, time, thread, activity, key=key, flow=flow)
        for (time, thread, activity, _), key, flow in zip(_headers(events), keys, flows, strict=True)
    ]


def _catches(events: Gathered, kind: SignalKind) -> list[Signal]:
    source = ActivitySource(RUNTIME, CATCHING)
    return [
        Signal(kind, time, thread, activity, None, source, detail)
        for (time, thread, activity, _), detail in zip(_headers(events), events.cells("MethodName"), strict=True)
    ]


def _headers(events: Gathered) -> Iterator[tuple[int, int, bytes | None, bytes | None]]:
    return zip(
        events.numbers("time_ns").tolist(),
        events.numbers("thread_id").tolist(),
        events.column("activity_id").tolist(),
        events.column("related_activity_id").tolist(),
        strict=True,
    )


def _details(events: Gathered) -> list[str | None]:
    """The first field, if that is text."""
    first = next(iter(events.payload), None)
    if first is None or first.type.kind != "string":
        return [None] * len(events)
    return events.column(first.name).tolist()
