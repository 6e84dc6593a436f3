"""Sub-events of .NET 11's async profiler → awaits: which method awaited where, on what, and how it went on.

A dispatcher runs a chain of methods, each of which awaits the one before it. They go on one after the other, until one
awaits again; those that await it still do then. Of state machines, chains are told only when they go on: what they
await counts from when the chain suspended. Knows no tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.model.needs import EVERY_AWAIT, Need
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES
from clrevents.analysis.gathering.groups import NONE, Gathered, Ints
from clrevents.analysis.gathering.merged_stacks import StackFrame, is_own, method_frames
from clrevents.analysis.shared.events.event_spans import field_numbers
from clrevents.schema.registry import ASYNC

Moment: TypeAlias = tuple[int, int, int]
"""A time, a place in the order of events, and a thread."""
Frames: TypeAlias = list[tuple[int, int]]
"""An address and, of a state machine, its state, of each."""

SUSPENDED, CONTINUED, RETURNED = range(3)
"""What happened to an await: it began, it went on, and what went on awaits again or has ended."""
RESULT, FAULTED, CANCELLED = range(3)
"""How what it waited for ended."""

_CREATED, _RESUMED, _PAUSED, _ENDED, _UNWOUND, _STACK, _RESUMED_STACK, _APPENDED = range(8)
_GOES_ON, _RETURNS, _RESET = range(8, 11)
_AWAITER, _OUTCOME, _FAILED = _LATER = range(3, 6)
_KINDS: Final = ("Runtime", "StateMachine")
_NUMBERS: Final = {
    **{f"Create{kind}AsyncContext": _CREATED for kind in _KINDS},
    **{f"Resume{kind}AsyncContext": _RESUMED for kind in _KINDS},
    **{f"Suspend{kind}AsyncContext": _PAUSED for kind in _KINDS},
    **{f"Complete{kind}AsyncContext": _ENDED for kind in _KINDS},
    **{f"Unwind{kind}AsyncException": _UNWOUND for kind in _KINDS},
    **{f"Resume{kind}AsyncCallstack": _RESUMED_STACK for kind in _KINDS},
    **{f"Resume{kind}AsyncMethod": _GOES_ON for kind in _KINDS},
    **{f"Complete{kind}AsyncMethod": _RETURNS for kind in _KINDS},
    **dict.fromkeys(("CreateRuntimeAsyncCallstack", "SuspendRuntimeAsyncCallstack"), _STACK),
    "AppendStateMachineAsyncCallstack": _APPENDED,
    "ResetAsyncThreadContext": _RESET,
}
"""What each event says."""
_FIELDS: Final = {
    _CREATED: ("ParentDispatcherId", "DispatcherId"),
    _RESUMED: ("DispatcherId",),
    _UNWOUND: ("UnwoundFrames",),
    **dict.fromkeys((_STACK, _RESUMED_STACK, _APPENDED), ("DispatcherId", "Frames")),
}
AWAIT_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    f"{ASYNC}/{name}": ("time_ns", "thread_id", *_FIELDS.get(number, ())) for name, number in _NUMBERS.items()
}
"""What is needed of each event, by selector."""
_SINCE: Final = 11
AWAITED_EVENTS: Final = tuple(f"{ASYNC}/{name}" for name, number in _NUMBERS.items() if number == _CREATED)
RESUMED_EVENTS: Final = tuple(f"{ASYNC}/{name}" for name, number in _NUMBERS.items() if number == _RESUMED_STACK)
RUN_EVENTS: Final = tuple(f"{ASYNC}/{name}" for name, number in _NUMBERS.items() if number == _RETURNS)
RUNTIMES: Final = Need("when awaits begin that .NET 11 runs itself", AWAITED_EVENTS, EVERY_AWAIT, 4, ASYNC, proof=0x401)
"""What no event of tasks describes; older runtimes have none."""

_UNTOLD: Final[Frames] = [(0, NONE)]
"""The chain of what has not gone on: some method awaits."""
_LONGEST: Final = 1 << 12
"""The most frames of a chain that is appended to."""
Thrown: TypeAlias = Iterable[tuple[int, int, str, bool]]
"""Exceptions in order of time: when and on which thread, of which type, and whether they came out of an awaiter."""
_CANCELLATIONS: Final = ("System.OperationCanceledException", "System.Threading.Tasks.TaskCanceledException")


@frozen(eq=False)
class AsyncAwaits:
    """Awaits, by number, and what happened to them, in order of time.

    `address` is 0 where the method is unknown, `state` -1 of what is no state machine. `awaiter` is the await that
    waits for its method. `outcome` is that of what it waited for; `failed` is 1 if an exception left its own method, 0
    if it completed; both are -1 where unknown. `later` are those that may have begun after their chain suspended.
    """

    address: NDArray[np.uint64]
    state: Ints
    dispatcher: Ints
    awaiter: Ints
    outcome: Ints
    failed: Ints
    later: NDArray[np.bool_]
    what: Ints
    time: Ints
    thread: NDArray[np.uint64]
    number: Ints

    def __len__(self) -> int:
        return len(self.address)

    @property
    def begun(self) -> bool:
        """Whether it was recorded when any await began."""
        return bool((self.what == SUSPENDED).any())


@define(eq=False)
class _Chain:
    """Who awaits whom, innermost first; `awaits` are NONE where no method awaits. `told` says whether these are all, or
    only those known to remain; `since` is the moment when the innermost suspended."""

    frames: Frames = attrs.field(factory=list)
    awaits: list[int] = attrs.field(factory=list)
    since: Moment | None = None
    recorded: bool = False
    parent: int = 0

    def after(self, place: int, since: Moment | None = None) -> _Chain:
        """Those that still await when the one at this place awaits again."""
        return _Chain(self.frames[place + 1 :], self.awaits[place + 1 :], since)


@define(eq=False)
class _RunningChain:
    """A chain that goes on on a thread: `place` is the method that runs, or the next one to."""

    dispatcher: int
    machine: bool
    chain: _Chain = attrs.field(factory=_Chain)
    place: int = 0
    runs: bool = False
    outcome: int = NONE
    """How the method before this place ended."""
    thrown: list[tuple[str, bool]] = attrs.field(factory=list)


class _ChainFollower:
    def __init__(self, methods_told: tuple[bool, bool], exceptions_told: bool) -> None:
        self._methods_told, self._exceptions_told = methods_told, exceptions_told
        self.awaits: list[list[int]] = []
        """Address, state, dispatcher, awaiter, outcome, failed and later, of each."""
        self.steps: list[tuple[Moment, int, int]] = []
        """When what happened to which await."""
        self._chains: dict[int, _Chain] = {}
        """Those that are suspended."""
        self._left: dict[int, _Chain] = {}
        """Those that await what their dispatcher no longer runs."""
        self._threads: dict[int, list[_RunningChain]] = {}
        self._running: dict[int, _RunningChain] = {}

    def step(self, at: Moment, what: int, machine: bool, fields: tuple[int, int], frames: Frames) -> None:
        """The next event; `fields` are a dispatcher, or a number of frames, and the parent's dispatcher."""
        active = self._threads.setdefault(at[2], [])
        first, parent = fields
        if what == _CREATED:
            # A pooled state machine is created again with the number that it had.
            if first not in self._chains and first not in self._running:
                self._chains[first] = _Chain(since=at, parent=parent)
        elif what == _STACK:
            running = self._running.get(first)
            rest = _Chain() if running is None else running.chain.after(running.place)
            self._chains[first] = self._chain(first, frames, machine, at, rest)
        elif what == _RESUMED:
            active.append(_RunningChain(first, machine))
        elif what == _RESUMED_STACK:
            self._go_on(active, at, machine, first, frames)
        elif what == _RESET:
            while active:
                self._forget(active.pop())
        elif active and active[-1].machine == machine:
            # A state machine may complete inside what goes on on top of it, which is then not meant.
            self._of_running(active, at, what, first, frames)

    def _of_running(self, active: list[_RunningChain], at: Moment, what: int, first: int, frames: Frames) -> None:
        top, is_told = active[-1], self._methods_told[active[-1].machine]
        if what == _GOES_ON and is_told and not top.runs:
            self._begin(top, at)
        elif what == _RETURNS and top.runs:
            self._end(top, at, failed=0)
            top.place, top.outcome = top.place + 1, RESULT
        elif what == _UNWOUND and is_told:
            for _ in range(min(first, len(top.chain.awaits) - top.place)):
                if not top.runs:
                    self._begin(top, at)
                if top.thrown:
                    top.outcome = _outcome(top.thrown[-1][0])
                self._end(top, at, failed=1)
                top.place += 1
        elif what == _APPENDED and top.dispatcher == first and len(top.chain.awaits) < _LONGEST:
            more = self._chain(first, frames, True, None, _Chain())
            self._link([*top.chain.awaits[-1:], *more.awaits])
            top.chain.frames += more.frames
            top.chain.awaits += more.awaits
        elif what in (_PAUSED, _ENDED):
            active.pop()
            rest = top.chain.after(top.place, at)
            if top.runs:
                self._end(top, at, failed=NONE)
                if what == _ENDED:
                    self._left[top.dispatcher] = rest
                elif self._running.get(top.dispatcher) is top:
                    self._chains.setdefault(top.dispatcher, rest)
            self._forget(top)

    def _forget(self, running: _RunningChain) -> None:
        if self._running.get(running.dispatcher) is running:
            del self._running[running.dispatcher]

    def thrown(self, thread: int, type: str, awaited: bool) -> None:
        """An exception was thrown on the thread."""
        active = self._threads.get(thread)
        if active and active[-1].runs:
            active[-1].thrown.append((type, awaited))

    def finish(self) -> None:
        """What suspended for the last time has not gone on: which state machine awaits there is unknown."""
        for dispatcher, chain in self._chains.items():
            if not chain.recorded:
                self._chain(dispatcher, _UNTOLD, True, chain.since, _Chain())

    def result(self) -> AsyncAwaits:
        """All awaits, and what happened to them."""
        steps = sorted(self.steps, key=lambda step: (step[0], step[1] != SUSPENDED))
        each = list(zip(*self.awaits, strict=True))
        state, awaiter, outcome, failed = (np.array(each[field], dtype=np.int64) for field in (1, *_LATER))
        return AsyncAwaits(
            np.array(each[0], dtype=np.uint64),
            state,
            np.array(each[2], dtype=np.uint64).astype(np.int64),
            awaiter,
            outcome,
            failed,
            np.array(each[6], dtype=np.bool_),
            what=np.array([what for _, what, _ in steps], dtype=np.int64),
            time=np.array([at[0] for at, _, _ in steps], dtype=np.int64),
            thread=np.array([at[2] for at, _, _ in steps], dtype=np.uint64),
            number=np.array([number for _, _, number in steps], dtype=np.int64),
        )

    def _go_on(self, active: list[_RunningChain], at: Moment, machine: bool, dispatcher: int, frames: Frames) -> None:
        chain, before = self._chains.pop(dispatcher, None), self._running.get(dispatcher)
        if chain is None:
            # It went on before its thread said that it suspended.
            chain = _Chain() if before is None else before.chain.after(before.place)
        elif chain.parent:
            above = self._running.get(chain.parent)
            rest = self._left.get(chain.parent, _Chain()) if above is None else above.chain.after(above.place)
            chain = _Chain(rest.frames, rest.awaits, chain.since)
        if not chain.recorded or chain.frames != frames:
            chain = self._chain(dispatcher, frames, machine, None if chain.recorded else chain.since, chain)
        if active and active[-1].dispatcher == dispatcher and not active[-1].chain.recorded:
            # It follows the context of its own.
            active.pop()
        running = self._running[dispatcher] = _RunningChain(dispatcher, machine, chain)
        active.append(running)
        if not self._methods_told[machine]:
            while running.place + 1 < len(chain.awaits) and chain.awaits[running.place] == NONE:
                running.place += 1
            self._begin(running, at)
            running.runs = False

    def _chain(self, dispatcher: int, frames: Frames, machine: bool, since: Moment | None, rest: _Chain) -> _Chain:
        """The chain with these frames: those of the rest are the same awaits as before, others begin."""
        kept = len(rest.frames)
        if not kept or frames[-kept:] != rest.frames:
            kept = 0
        awaits = []
        for place, (address, state) in enumerate(frames[: len(frames) - kept]):
            if not address and frames != _UNTOLD:
                awaits.append(NONE)
                continue
            number = len(self.awaits)
            self.awaits.append([address, state, dispatcher, NONE, NONE, NONE, machine and place > 0])
            awaits.append(number)
            if since is not None:
                self.steps.append((since, SUSPENDED, number))
        awaits += rest.awaits[len(rest.awaits) - kept :]
        self._link(awaits)
        return _Chain(list(frames), awaits, since, recorded=True)

    def _link(self, awaits: list[int]) -> None:
        """Each is awaited by the next one that has a method."""
        for number, awaiter in itertools.pairwise(number for number in awaits if number != NONE):
            self.awaits[number][_AWAITER] = awaiter

    def _begin(self, running: _RunningChain, at: Moment) -> None:
        running.runs = True
        running.thrown.clear()
        number = running.chain.awaits[running.place] if running.place < len(running.chain.awaits) else NONE
        if number != NONE:
            self.awaits[number][_OUTCOME] = running.outcome
            self.steps.append((at, CONTINUED, number))

    def _end(self, running: _RunningChain, at: Moment, failed: int) -> None:
        number = running.chain.awaits[running.place] if running.place < len(running.chain.awaits) else NONE
        if number != NONE and running.runs:
            self.awaits[number][_FAILED] = failed
            self.steps.append((at, RETURNED, number))
            if running.place == 0:
                self.awaits[number][_OUTCOME] = self._first_outcome(running.thrown)
        running.runs = False

    def _first_outcome(self, thrown: list[tuple[str, bool]]) -> int:
        """How what the innermost method awaited has ended, by what came out of its awaiter."""
        if not thrown:
            return RESULT if self._exceptions_told else NONE
        type, awaited = thrown[0]
        return _outcome(type) if awaited else NONE


def _outcome(type: str) -> int:
    return CANCELLED if type in _CANCELLATIONS else FAULTED


def async_awaits(events: Mapping[str, Gathered], thrown: Thrown | None) -> AsyncAwaits | None:
    """The awaits that events by the selectors of `AWAIT_COLUMNS` tell; None if there are none.

    `thrown` are the exceptions of the process, None if they were not recorded.
    """
    parts = []
    recorded = {
        name.partition("/")[2]: gathered for name, gathered in events.items() if name in AWAIT_COLUMNS and len(gathered)
    }
    addresses, states, size = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int64)], 0
    for name, gathered in recorded.items():
        what, machine = _NUMBERS[name], "StateMachine" in name
        first = "UnwoundFrames" if what == _UNWOUND else "DispatcherId"
        columns = ["time_ns", first, "ParentDispatcherId", "thread_id"]
        low = high = np.zeros(len(gathered), dtype=np.int64)
        if "Frames" in gathered.table:
            frames = gathered.column("Frames")
            assert frames.offsets is not None
            values = [field.values for field in frames.children[0].children]
            low, high = size + frames.offsets[:-1].astype(np.int64), size + frames.offsets[1:].astype(np.int64)
            size += len(values[0])
            addresses.append(values[0])
            states.append(values[1] if machine else np.full(len(values[0]), NONE))
        time, *ids = (field_numbers(gathered, column) for column in columns)
        same = (np.full(len(gathered), number) for number in (what, int(machine)))
        parts.append((time, gathered.places, *(id.astype(np.uint64) for id in ids), *same, low, high))
    if not parts:
        return None
    frames_of = np.concatenate(addresses), np.concatenate(states).astype(np.int64)
    rows = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort((rows[1], rows[0]))
    # What an earlier session left in the buffers is not of this recording.
    order = order[rows[0][order] >= 0]
    methods = [{f"Resume{kind}AsyncMethod", f"Complete{kind}AsyncMethod"} <= recorded.keys() for kind in _KINDS]
    follower = _ChainFollower((methods[0], methods[1]), thrown is not None)
    raised = iter(thrown or ())
    following = next(raised, None)
    for time, place, first, parent, thread, what, machine, low, high in zip(
        *(column[order].tolist() for column in rows), strict=True
    ):
        while following is not None and following[0] <= time:
            follower.thrown(*following[1:])
            following = next(raised, None)
        stack = list(zip(*(of[low:high].tolist() for of in frames_of), strict=True)) if low < high else []
        follower.step((time, place, thread), what, bool(machine), (first, parent), stack)
    follower.finish()
    return follower.result() if follower.awaits else None


def also_needed(versions: Iterable[int]) -> tuple[Need, ...]:
    """What awaits need of a process that ran these versions of .NET, beside the events of tasks."""
    return (RUNTIMES,) if max(versions, default=0) >= _SINCE else ()


@frozen(eq=False)
class AwaitSites:
    """Where each await is: its method's name, and offsets in its native code and IL; None where unknown."""

    methods: list[str | None]
    native: list[int | None]
    il: list[int | None]

    @classmethod
    def of(cls, awaits: AsyncAwaits, context: Context, raw: bool, my_code: bool) -> AwaitSites:
        """With `my_code` the method is the program's own that awaits it, if there is one."""
        last = np.zeros(len(awaits), dtype=np.int64)
        last[awaits.number] = awaits.time
        methods, process = context.methods, context.process_id if context.info.version >= MANY_PROCESSES else None
        index, reason = methods.find(awaits.address, last, process)
        _, first, of = np.unique(
            np.stack((index, awaits.address.view(np.int64))), axis=1, return_index=True, return_inverse=True
        )
        frames, natives, ils = [], [], []
        for row in first.tolist():
            address, code = int(awaits.address[row]), int(index[row])
            frame = methods.frame(address, code, int(reason[row]), process_id=process)
            frames.append(method_frames(methods, [code])[0] if code >= 0 else None)
            inside = code >= 0 and awaits.state[row] == NONE
            natives.append(address - methods[code].address if inside else None)
            ils.append(frame.il_offset if inside else None)
        each = of.reshape(-1).tolist()
        names = [frames[place] for place in each]
        if my_code:
            names = _own(names, awaits.awaiter.tolist())
        shown = [None if frame is None else frame.raw if raw else frame.name for frame in names]
        return cls(shown, [natives[place] for place in each], [ils[place] for place in each])


def _own(names: list[StackFrame | None], awaiter: list[int]) -> list[StackFrame | None]:
    """For each await the first method of the program among its own and those that await it; else its own."""
    methods: dict[int, StackFrame | None] = {NONE: None}
    for number in range(len(names)):
        path = []
        while number not in methods:
            frame = names[number]
            methods[number] = frame if frame is not None and is_own(frame) else None
            if methods[number] is None:
                path.append(number)
                number = awaiter[number]
        methods.update(dict.fromkeys(path, methods[number]))
    return [methods[number] or name for number, name in enumerate(names)]
