"""Stacks of threads → stacks of what was started where: own frames, then where the running task or await was created.

Asks the report on tasks what ran on each thread. Stacks of code outside tasks stay as they are, and so do those where
it is not certain where the code of a task begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES
from clrevents.analysis.gathering.groups import Interned, Ints, grouped, offsets
from clrevents.analysis.gathering.merged_stacks import ASYNC, MergedStacks, StackFrame, method_stacks
from clrevents.analysis.shared.samples.stack_shapes import folded
from clrevents.symbols.async_stacks import AWAITERS, BUILDERS, CONTINUATIONS, RUNTIME_ASYNC
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.trace import Trace

DEEPEST: Final = 200
"""The most frames of creators that are shown."""
_DEEP: Final = 128
_ROOM: Final = 1_000_000
"""For stacks with more frames than that, the most frames repeated above different creators; further ones stay
unchanged. No program's stacks are that deep in so many tasks."""

_STARTS: Final = (
    "System.Runtime.CompilerServices.TaskAwaiter.OutputWaitEtwEvents.lambda",
    "System.Runtime.CompilerServices.YieldAwaitable.YieldAwaiter.OutputCorrelationEtwEvent.lambda",
    "System.Threading.Tasks.Task.ExecuteWithThreadLocal(",
)
"""How the methods are named that write that something begins to run, and then run it."""
_MEANS: Final = (
    "System.Diagnostics.Tracing.",
    *BUILDERS,
    *AWAITERS,
    *RUNTIME_ASYNC,
    *CONTINUATIONS,
    "System.Threading.Tasks.Task.ExecuteWithThreadLocal(",
    "System.Threading.Tasks.Task.FireTaskScheduledIfNeeded(",
    "System.Threading.Tasks.Task.ScheduleAndStart(",
    "System.Threading.Tasks.TaskScheduler.InternalQueueTask(",
    "System.Threading.Tasks.TplEventSource.",
)
"""How those are named that only carry a method from where it stopped to where it goes on."""
_INVOKES: Final = re.compile(r"System\.Threading\.Tasks\.[^(]*\.InnerInvoke\(")
_MACHINE: Final = "(...)"
"""How the name of what runs an async method ends."""
_NOTHING: Final = 0


@frozen(eq=False)
class TaskTrails:
    """What ran on each thread and when, and where it was created."""

    trace: Trace
    process: Ints
    thread: Ints
    started: Ints
    ended: Ints
    parent: Ints
    created: Ints
    stack: Ints
    resumes: NDArray[np.bool_]
    """Whether it goes on in the method that created it, as what awaits does; a task is another method."""

    @classmethod
    def of(cls, trace: Trace) -> TaskTrails:
        """Of all tasks of a trace."""
        rows = trace.report("tasks").tasks
        names = (
            *("process_id", "row", "parent_row", "thread_id"),
            *("started_ns", "completed_ns", "created_ns", "stack_id"),
        )
        columns = (rows.numbers(name, -1).astype(np.int64) for name in names)
        process, row, parent, thread, started, ended, created, stack = columns
        place = {key: index for index, key in enumerate(zip(process.tolist(), row.tolist(), strict=True))}
        parents = [place.get(key, -1) for key in zip(process.tolist(), parent.tolist(), strict=True)]
        resumes = np.array([kind != "task" for kind in rows.column("kind").tolist()], dtype=np.bool_)
        return cls(trace, process, thread, started, ended, np.array(parents, np.int64), created, stack, resumes)

    def joined(self, merged: MergedStacks, time: Ints, thread: Ints, process: Ints) -> MergedStacks:
        """The stacks of uses at these times on these threads, with those of creators below their own frames."""
        if not len(time):
            return merged
        trace = self.trace
        apart = trace.info.version >= MANY_PROCESSES
        resolved = resolve_stacks(
            trace.methods, trace.stacks.arrays, self.stack, np.maximum(self.created, 0), self.process if apart else None
        )
        creators = folded(method_stacks(trace.methods, resolved))
        running = self._running(time, thread, process if apart else np.full(len(time), -1), apart)
        return _Joiner(self, merged, creators).joined(merged.of, running)

    def _running(self, time: Ints, thread: Ints, process: Ints, apart: bool) -> Ints:
        """What runs innermost at each time, -1 for nothing."""
        running = np.full(len(time), -1, dtype=np.int64)
        known = np.flatnonzero((self.started >= 0) & (self.ended >= 0))
        owner = self.process if apart else np.full(len(self.process), -1)
        in_order = known[np.argsort(self.started[known], kind="stable")].tolist()
        of = grouped(in_order, lambda piece: (int(owner[piece]), int(self.thread[piece])))
        keys = grouped(range(len(time)), list(zip(process.tolist(), thread.tolist(), strict=True)).__getitem__)
        for key, pieces in of.items():
            if key in keys:
                uses = np.array(keys[key], dtype=np.int64)
                times, tops = self._changes(pieces)
                place = np.searchsorted(times, time[uses], "right") - 1
                running[uses] = np.where(place >= 0, tops[np.maximum(place, 0)], -1)
        return running

    def _changes(self, pieces: Sequence[int]) -> tuple[Ints, Ints]:
        """When what runs innermost on a thread changes, and to what; `pieces` are in order of their begins."""
        times: list[int] = []
        tops: list[int] = []
        around: list[int] = []
        for piece in [*pieces, -1]:
            begin = int(self.started[piece]) if piece >= 0 else None
            while around and (begin is None or self.ended[around[-1]] <= begin):
                times.append(int(self.ended[around.pop()]))
                tops.append(around[-1] if around else -1)
            if begin is not None:
                times.append(begin)
                tops.append(piece)
                around.append(piece)
        return np.array(times, dtype=np.int64), np.array(tops, dtype=np.int64)


class _Joiner:
    """Frames of both kinds of stacks as one list, and trails as paths in a tree whose root is the outermost frame."""

    def __init__(self, trails: TaskTrails, merged: MergedStacks, creators: MergedStacks) -> None:
        self._trails, self._merged, self._creators = trails, merged, creators
        self._frames: dict[StackFrame, int] = {}
        self._means: list[bool] = []
        self._starts: list[bool] = []
        self._places = [self._numbers(merged.frames), self._numbers(creators.frames)]
        self._up = [-1]
        self._frame = [-1]
        self._depth = [0]
        self._below: dict[tuple[int, int], int] = {}
        self._trail: list[int] = []
        self._created: dict[int, tuple[tuple[int, ...] | None, tuple[int, ...]]] = {}
        self._room = _ROOM
        self._segments: dict[tuple[int, tuple[int, ...]], int] = {}
        self._ends: dict[int, tuple[int, tuple[int, ...]]] = {}
        for piece in range(len(trails.parent)):
            self._trail.append(self._follow(piece))

    def joined(self, of: Ints, running: Ints) -> MergedStacks:
        """The stack of each use."""
        stacks: Interned[tuple[int, ...]] = Interned()
        known: dict[tuple[int, int, bool], int] = {}
        stack_numbers = np.zeros(len(of), dtype=np.int64)
        resumes = self._trails.resumes.tolist()
        for use, (stack, piece) in enumerate(zip(of.tolist(), running.tolist(), strict=True)):
            key = (stack, -1, False) if piece < 0 else (stack, self._trail[piece], resumes[piece])
            if key not in known:
                known[key] = stacks[self._stack(*key)]
            stack_numbers[use] = known[key]
        values = np.array([frame for stack in stacks for frame in stack], dtype=np.int64)
        return MergedStacks(stack_numbers, offsets([*map(len, stacks)]), values, tuple(self._frames))

    def _numbers(self, frames: Sequence[StackFrame]) -> list[int]:
        numbers = []
        for frame in frames:
            shown = frame
            if frame.reason is None and frame.name.endswith(_MACHINE):
                shown = attrs.evolve(frame, name=f"{ASYNC}{frame.name.removesuffix(_MACHINE)}")
            if shown not in self._frames:
                self._frames[shown] = len(self._frames)
                self._starts.append(frame.name.startswith(_STARTS))
                self._means.append(frame.name.startswith(_MEANS) or _INVOKES.match(frame.name) is not None)
            numbers.append(self._frames[shown])
        return numbers

    def _stack(self, stack: int, node: int, resumes: bool) -> tuple[int, ...]:
        """One use's frames, innermost first, above those that end at a node of the tree; -1 for none."""
        frames = self._physical(0, stack)
        if node < 0:
            return tuple(frames)
        if len(frames) > _DEEP:
            self._room -= len(frames)
        own = self._own(frames) if self._room >= 0 else None
        if own is None:
            return tuple(frames)
        if own and resumes and own[-1] == self._frame[node]:
            own.pop()
        while node != _NOTHING:
            own.append(self._frame[node])
            node = self._up[node]
        return tuple(own) if own else tuple(frames)

    def _follow(self, piece: int) -> int:
        """Where in the tree the stack ends that created a piece of work. Its creator's is known already."""
        trails, parent = self._trails, int(self._trails.parent[piece])
        node = self._trail[parent] if parent >= 0 else _NOTHING
        own, every = self._creation(int(self._creators.of[piece])) if trails.stack[piece] > 0 else (None, ())
        if parent < 0:
            own = every
        elif own is None:
            # Where the creator's own code begins is not certain, so its creators are not shown.
            node, own = _NOTHING, every
        if own and parent >= 0 and trails.resumes[parent] and own[-1] == self._frame[node]:
            own = own[:-1]
        return self._pushed(node, own[-DEEPEST:])

    def _creation(self, stack: int) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
        """The frames of a creator's own code, None where it is not seen to begin, and of all code.

        Of each the outermost, as many as are shown at most: many pieces may have one deep stack.
        """
        creation = self._created.get(stack)
        if creation is None:
            frames = self._physical(1, stack)
            own = self._own(frames)
            every = tuple(frame for frame in frames if not self._means[frame])[-DEEPEST - 1 :]
            creation = self._created[stack] = None if own is None else tuple(own[-DEEPEST - 1 :]), every
        return creation

    def _pushed(self, node: int, own: tuple[int, ...]) -> int:
        """The node below it with these frames; the same one if they stand in its path already, which is recursion."""
        if not own:
            return node
        key = node, own
        if key in self._segments:
            return self._segments[key]
        at: int = node
        while at in self._ends:
            above, segment = self._ends[at]
            if segment == own:
                self._segments[key] = at
                return at
            at = above
        last = node
        for frame in own[::-1]:
            if self._depth[last] >= DEEPEST:
                break
            last = self._child(last, frame)
        if last != node:
            self._ends.setdefault(last, (node, own))
        self._segments[key] = last
        return last

    def _child(self, node: int, frame: int) -> int:
        child = self._below.get((node, frame))
        if child is None:
            child = self._below[node, frame] = len(self._up)
            self._up.append(node)
            self._frame.append(frame)
            self._depth.append(self._depth[node] + 1)
        return child

    def _physical(self, side: int, stack: int) -> list[int]:
        merged = (self._merged, self._creators)[side]
        places = self._places[side]
        return [places[frame] for frame in merged.values[merged.offsets[stack] : merged.offsets[stack + 1]].tolist()]

    def _own(self, frames: Sequence[int]) -> list[int] | None:
        """The frames of what runs, without the means of running it; None where it is not seen to begin."""
        own_frames: list[int] = []
        for frame in frames:
            if self._starts[frame]:
                return own_frames
            if not self._means[frame]:
                own_frames.append(frame)
        return None
