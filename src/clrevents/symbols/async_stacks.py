"""Who awaits whom: stacks of threads that run async methods, continued with the methods that await the innermost one.

Knows how .NET 11's async profiler says what runs on a thread, and which frames are its machinery. A stack is only
continued where the method that runs is the one that the profiler names there; all others stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.decode.kernels.engine import offsets_of
from clrevents.decode.push_passes import Chunk
from clrevents.decode.stacks import StackArrays, join
from clrevents.schema.async_forms import FIRST_ID
from clrevents.schema.registry import ASYNC
from clrevents.symbols.frame import Frame
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.symbols.methods import Methods

_SERVICES: Final = "System.Runtime.CompilerServices."
_TASKS: Final = "System.Threading.Tasks."

BUILDERS: Final = (
    f"{_SERVICES}AsyncIteratorMethodBuilder",
    f"{_SERVICES}AsyncMethodBuilderCore",
    f"{_SERVICES}AsyncTaskMethodBuilder",
    f"{_SERVICES}AsyncValueTaskMethodBuilder",
    f"{_SERVICES}AsyncVoidMethodBuilder",
    f"{_SERVICES}PoolingAsyncValueTaskMethodBuilder",
)
"""What runs state machines."""
AWAITERS: Final = (
    f"{_SERVICES}ConfiguredTaskAwaitable",
    f"{_SERVICES}ConfiguredValueTaskAwaitable",
    f"{_SERVICES}TaskAwaiter",
    f"{_SERVICES}ValueTaskAwaiter",
    f"{_SERVICES}YieldAwaitable",
)
"""What an await calls, and what blocks and throws for `GetResult`."""
RUNTIME_ASYNC: Final = (
    f"{_SERVICES}AsyncHelpers.",
    f"{_SERVICES}AsyncProfiler.",
)
"""What suspends and resumes the methods that the runtime itself awaits, and blocks for an async Main."""
CONTINUATIONS: Final = (
    "System.Threading.ExecutionContext.Run",
    f"{_TASKS}AwaitTaskContinuation.",
    f"{_TASKS}Task.FinishContinuations(",
    f"{_TASKS}Task.RunContinuations(",
)
"""What calls methods back when what they await is done."""


Ints: TypeAlias = NDArray[np.int64]

_RESUMED, _RESUMED_STACK, _WRAPPED = {2: False, 12: True}, {7: False, 16: True}, 21
_LEFT, _APPENDED, _RESET = (3, 4, 13, 14), 19, 20
HEADERS: Final = ("time_ns", "thread_id", "process_id")
SELECTORS: Final = tuple(
    f"{ASYNC}/{name}"
    for name in (
        *("ResumeRuntimeAsyncContext", "ResumeStateMachineAsyncContext", "ResumeRuntimeAsyncCallstack"),
        *("ResumeStateMachineAsyncCallstack", "AppendStateMachineAsyncCallstack", "ResetAsyncThreadContext"),
        *("SuspendRuntimeAsyncContext", "CompleteRuntimeAsyncContext", "ResetAsyncContinuationWrapperIndex"),
        *("SuspendStateMachineAsyncContext", "CompleteStateMachineAsyncContext"),
    )
)
"""The events that tell what runs on a thread."""

_NEVER: Final = 0, -1
_WRAPPERS: Final = 32
_COMPILER: Final = re.escape(_SERVICES)
_WRAPPER: Final = re.compile(_COMPILER + r"AsyncProfiler\.ContinuationWrapper\.Continuation_Wrapper_(\d+)\(")
_BOX: Final = re.compile(rf"{_COMPILER}\w+<.*>\.\w*AsyncStateMachineBox<.*>\.\w+\(")
_DISPATCHER: Final = re.compile(rf"{_COMPILER}\w+<.*>\.\w*AsyncStateMachineBox<.*>\.MoveNextAsDispatcher\(")
_MEANS: Final = (
    *BUILDERS,
    *CONTINUATIONS,
    "System.Threading.Tasks.Task.TrySetResult(",
    "System.Threading.Tasks.Task.TrySetException(",
    "System.Threading.Tasks.Task<",
)
"""How those frames are named that carry the end of one state machine to the one that awaits it."""


@frozen
class _Context:
    """What a dispatcher runs: its stack, None if not recorded, and how often the numbers of wrappers began again."""

    dispatcher: int
    machine: bool
    stack: bytes | None = None
    wraps: int = 0


@define(eq=False)
class _ThreadContexts:
    """What runs innermost on a thread from each of these times on: a place among all contexts, -1 for nothing."""

    times: list[int] = attrs.field(factory=list)
    contexts: list[int] = attrs.field(factory=list)
    active: list[_Context] = attrs.field(factory=list)


class AsyncStacks:
    """What ran on the threads of a trace, as its sub-events tell, which are to be taken chunk by chunk.

    `known` says from when to when those of a thread are all there, by its process (-1 where unknown) and its number.
    """

    def __init__(self, known: Mapping[tuple[int, int], tuple[int, int]]) -> None:
        self.known = known
        self._threads: dict[tuple[int, int], _ThreadContexts] = {}
        self._numbers: dict[_Context, int] = {}
        self._contexts: list[_Context] = []
        self._stacks: dict[bytes, bytes] = {}
        """Each stack once: many contexts have the same."""

    def take(self, chunk: Chunk) -> None:
        """The next events of `SELECTORS`, with `HEADERS` as columns."""
        number = np.zeros(chunk.length, dtype=np.int64)
        dispatcher = np.zeros(chunk.length, dtype=np.uint64)
        stacks: dict[int, bytes] = {}
        for part in chunk.payloads:
            if part.kind.row.fields:
                # The trace describes it: it was in no buffer.
                continue
            number[part.rows] = part.kind.key.id - FIRST_ID
            if "DispatcherId" in part.columns:
                dispatcher[part.rows] = part.columns["DispatcherId"].values
            if "Frames" in part.columns:
                frames = part.columns["Frames"]
                ends, addresses = frames.offsets, frames.children[0].children[0].values
                assert ends is not None
                for row, first, last in zip(part.rows.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True):
                    stacks[row] = addresses[first:last].tobytes()
        process = chunk.headers["process_id"].filled(-1).astype(np.int64)
        columns = (process, chunk.headers["thread_id"].values, chunk.headers["time_ns"].values, number, dispatcher)
        for row, (owner, id, time, what, whose) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            thread = self._threads.setdefault((owner, id), _ThreadContexts())
            self._step(thread.active, what, whose, stacks.get(row))
            top = thread.active[-1] if thread.active else None
            thread.times.append(time)
            thread.contexts.append(-1 if top is None else self._numbers.setdefault(top, len(self._contexts)))
            if thread.contexts[-1] == len(self._contexts) and top is not None:
                self._contexts.append(top)

    def _step(self, active: list[_Context], what: int, dispatcher: int, frames: bytes | None) -> None:
        top = active[-1] if active else None
        same = top is not None and top.dispatcher == dispatcher
        if what in _RESUMED:
            active.append(_Context(dispatcher, _RESUMED[what]))
        elif what in _RESUMED_STACK and frames is not None:
            if top is not None and same and top.stack is None:
                # It follows the context of its own.
                active.pop()
            active.append(_Context(dispatcher, _RESUMED_STACK[what], self._stacks.setdefault(frames, frames)))
        elif what == _APPENDED and frames is not None and top is not None and same and top.stack is not None:
            whole = top.stack + frames
            active[-1] = attrs.evolve(top, stack=self._stacks.setdefault(whole, whole))
        elif what == _WRAPPED and top is not None:
            active[-1] = attrs.evolve(top, wraps=top.wraps + 1)
        elif what == _RESET:
            active.clear()
        elif what in _LEFT and active:
            active.pop()

    def joined(
        self,
        methods: Methods,
        stacks: StackArrays,
        stack_ids: Ints,
        times: Ints,
        running: Ints,
        processes: Ints | None = None,
    ) -> tuple[StackArrays, Ints]:
        """The stacks of uses at these times, and more such; and each use's, its own or a longer one.

        `running` is what `running` gives; `processes` are -1 where unknown; None if there is only one.
        """
        uses = np.flatnonzero((running >= 0) & (stack_ids > 0))
        if not len(uses):
            return stacks, stack_ids
        keys = stack_ids[uses] * len(self._contexts) + running[uses]
        _, first, of = np.unique(keys, return_index=True, return_inverse=True)
        rows = uses[first]
        whose = None if processes is None else processes[rows]
        named = resolve_stacks(methods, stacks, stack_ids[rows], times[rows], whose)
        numbers: dict[bytes, int] = {}
        new = stack_ids[rows].copy()
        begin = 1 + max(int(stacks.ids.max(initial=0)), int(stack_ids.max()))
        labels: dict[int, str] = {}
        for row, (use, of_stack) in enumerate(zip(rows.tolist(), named.of.tolist(), strict=True)):
            frames = named.values[slice(*named.offsets[of_stack : of_stack + 2])] if of_stack >= 0 else named.values[:0]
            for frame in frames.tolist():
                if frame not in labels:
                    labels[frame] = named.table.frame(frame).label
            owner = None if processes is None or processes[use] < 0 else int(processes[use])
            names = [labels[frame] for frame in frames.tolist()]
            above = self._above(methods, names, self._contexts[running[use]], int(times[use]), owner)
            if above is not None:
                depth, addresses = above
                whole = np.concatenate((named.table.address[frames[:depth]], addresses)).tobytes()
                new[row] = numbers.setdefault(whole, begin + len(numbers))
        ids = stack_ids.copy()
        ids[uses] = new[of]
        more = StackArrays(
            np.arange(begin, begin + len(numbers)),
            offsets_of(np.array([len(whole) // 8 for whole in numbers], dtype=np.int64)),
            np.frombuffer(b"".join(numbers), dtype=np.uint64),
        )
        return join((stacks, more)), ids

    def running(self, times: Ints, threads: NDArray[np.integer[Any]], processes: Ints | None = None) -> Ints:
        """The number of the context that is innermost on each thread at each time, -1 for none."""
        contexts = np.full(len(times), -1, dtype=np.int64)
        for (owner, id), thread in self._threads.items():
            of_thread = threads == id
            if processes is not None:
                of_thread &= processes == owner
            uses = np.flatnonzero(of_thread)
            if len(uses):
                at = np.searchsorted(np.array(thread.times, dtype=np.int64), times[uses], "right") - 1
                since, until = self.known.get((owner, id), _NEVER)
                unknown = (at < 0) | (times[uses] < since) | (times[uses] > until)
                contexts[uses] = np.where(unknown, -1, np.array(thread.contexts, dtype=np.int64)[at])
        return contexts

    def frames(
        self, methods: Methods, stack: tuple[int, ...], time: int, thread: int, process: int | None
    ) -> tuple[Frame, ...]:
        """The frames of one stack at this time on this thread, continued where it can be."""
        frames = methods.frames(stack, time, process)
        for owner in dict.fromkeys((-1 if process is None else process, -1)):
            known = self._threads.get((owner, thread))
            at = -1 if known is None else bisect_right(known.times, time) - 1
            since, until = self.known.get((owner, thread), _NEVER)
            if known is not None and at >= 0 and since <= time <= until and known.contexts[at] >= 0:
                context = self._contexts[known.contexts[at]]
                above = self._above(methods, [frame.label for frame in frames], context, time, process)
                if above is not None:
                    depth, addresses = above
                    return frames[:depth] + methods.frames(tuple(addresses.tolist()), time, process)
        return frames

    def _above(
        self, methods: Methods, names: list[str], context: _Context, time: int, process: int | None
    ) -> tuple[int, NDArray[np.uint64]] | None:
        """How many frames come before the machinery, and the addresses of those that await them; None if uncertain."""
        place = None if context.stack is None else _place(names, context)
        if place is None or context.stack is None:
            return None
        depth, position = place
        awaiting = np.frombuffer(context.stack, dtype=np.uint64)
        running = awaiting[position : position + 1]
        if not position and running.tolist() == [0] and names[depth - 1].startswith(_SERVICES):
            # The awaited operation itself is being completed.
            return depth, _methods(awaiting[position + 1 :])
        index, reason = methods.find(running, np.full(len(running), time), process)
        if not len(running) or methods.frame(int(running[0]), int(index[0]), int(reason[0])).label != names[depth - 1]:
            return None
        return depth, _methods(awaiting[position + 1 :])


def _methods(awaiting: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Without steps that have no method."""
    methods: NDArray[np.uint64] = awaiting[awaiting != 0]
    return methods


def resumes(method: str) -> bool:
    """Whether a method, by its name without parameters, resumes an async one, as the async profiler has it done: its
    stack goes on there in the dispatcher, not in what awaits the method."""
    name = f"{method}("
    return _WRAPPER.match(name) is not None or _DISPATCHER.match(name) is not None


def _place(names: list[str], context: _Context) -> tuple[int, int] | None:
    """How many frames come before the machinery, and the place of the last of them in the context's stack."""
    for depth, name in enumerate(names):
        wrapper = _WRAPPER.match(name)
        if wrapper is not None:
            position = int(wrapper[1]) + _WRAPPERS * context.wraps
            return None if context.machine or not depth else (depth, position)
        if _BOX.match(name):
            groups = _groups(names[depth:])
            return None if not context.machine or not depth or groups is None else (depth, groups)
    return None


def _groups(names: list[str]) -> int | None:
    """How many groups of other frames there are among the machinery of state machines before the dispatcher's; None if
    there is no dispatcher."""
    groups, inside = 0, True
    for name in names:
        if _DISPATCHER.match(name):
            return groups
        machinery = _BOX.match(name) is not None or name.startswith(_MEANS)
        groups += inside and not machinery
        inside = machinery
    return None
