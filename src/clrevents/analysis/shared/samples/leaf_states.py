"""What a stack's innermost frames say about its thread: whether it waits, in which method, or begins as the runtime's
own.

One table for all reports; `add_leaf` and `add_artefact` extend it for programs with their own means of waiting. Also
whether samples show if a thread ran at all: before .NET 5, most threads that ran are recorded as outside managed code,
and all in NativeAOT programs. Knows no waits and no times.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from functools import cache, cached_property
from typing import Any, Final, Literal, TypeAlias, get_args
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, ReadingNames
from clrevents.analysis.gathering.groups import Array, Interned, Ints, offsets
from clrevents.analysis.gathering.merged_stacks import (
    NATIVE_CALL,
    NO_STACK,
    MergedStacks,
    StackFrame,
    is_own,
    merged_stacks,
)
from clrevents.symbols.async_stacks import AWAITERS, BUILDERS, RUNTIME_ASYNC
from clrevents.table.read import cut_stacks
from clrevents.trace import TraceInfo

ThreadState: TypeAlias = Literal[
    "running", "ready", "native", "jit", "type_load", "lock", "wait", "sleep", "io", "join", "task_wait", "pool_idle",
    "gc_suspended", "unknown",
]  # fmt: skip
STATES: Final[tuple[ThreadState, ...]] = get_args(ThreadState)
"""What a thread may be doing, in the order in which it is shown."""
WAITING: Final[tuple[ThreadState, ...]] = ("lock", "wait", "sleep", "io", "join", "task_wait", "pool_idle")
"""The states in which a thread waits for something."""
BY_KERNEL: Final[tuple[ThreadState, ...]] = ("ready", "io")
"""Those that only a recording by the kernel tells: a thread wants a processor, or waits for a device."""
OFF_PROCESSOR: Final[tuple[ThreadState, ...]] = ("ready", *WAITING, "unknown")
"""Those of a thread off its processor."""
WORKING: Final[tuple[ThreadState, ...]] = ("jit", "type_load")
"""Those that only events tell: a thread works for the runtime. Its samples have a frame for that."""
SAMPLED: Final = tuple(state for state in STATES if state not in (*BY_KERNEL, *WORKING))
"""Those that samples of the profiler may be in."""

DEPTH: Final = 8
"""How many frames from the innermost one a state is looked for in, without those that have no name."""
_ROOTS: Final = 6
MAIN: Final = ("Main", "<Main>", "<Main>$")
"""How the compiler calls what a program begins with, the one that waits for an async Main among them."""
_STARTS: Final = tuple(f"System.Threading.{name}" for name in ("Thread.Start", "ThreadHelper.", "ExecutionContext."))
"""How methods begin that start a thread's own one. The first other frame with a name is the thread's root."""
_MEANS: Final = ("System.Threading.", "System.Diagnostics.Tracing.", "Interop.", "[")
"""Frames that may stand between the innermost one and the method that waits. The search ends at the first other one."""
_ANY_OTHER: Final = "a method"
"""Stands for the names of the many methods that fit nothing here."""
_RUNS: Final = ("System.Threading.ExecutionContext.Run", "System.Threading.Tasks.Task.InnerInvoke")
"""How methods begin that call other code. The search ends there, too: who waits for a task may run it."""


@frozen
class LeafRule:
    """A method in which a thread is in a state: `Namespace.Type.Method` without arguments; `*` at the end for any rest.

    Of several on a stack, the one with the highest rank determines the state; of those, the outermost.
    """

    method: str
    state: ThreadState
    rank: int = 2


def _rules(state: ThreadState, rank: int, *methods: str) -> list[LeafRule]:
    return [LeafRule(f"System.{method}", state, rank) for method in methods]


LEAVES: Final[list[LeafRule]] = [
    # Blocking on a task ends in a monitor, and so in a handle: the outermost names the reason.
    *_rules("task_wait", 4, "Threading.Tasks.Task.SpinThenBlockingWait", "Threading.Tasks.Task.InternalWait*"),
    *_rules("task_wait", 4, "Threading.Tasks.Task.Wait", "Threading.Tasks.Task.WaitAll*"),
    *_rules("task_wait", 4, "Threading.Tasks.Task.WaitAny", "Threading.Tasks.Task.WaitAnyCore"),
    *_rules("sleep", 3, "Threading.Thread.Sleep*", "Threading.Thread.UninterruptibleSleep*"),
    *_rules("join", 3, "Threading.Thread.Join*"),
    *_rules("pool_idle", 3, "Threading.LowLevelLifoSemaphore.Wait*"),
    *_rules("lock", 3, "Threading.Monitor.Enter*", "Threading.Monitor.TryEnter*", "Threading.Monitor.ReliableEnter*"),
    *_rules("lock", 3, "Threading.Lock.Enter*", "Threading.Lock.TryEnter*", "Threading.ReaderWriterLockSlim.Enter*"),
    *_rules("lock", 3, "Threading.ReaderWriterLockSlim.TryEnter*", "Threading.ReaderWriterLock.Acquire*"),
    *_rules("wait", 2, "Threading.Monitor.Wait", "Threading.Monitor.ObjWait", "Threading.ObjectNative.WaitTimeout"),
    *_rules("wait", 2, "Threading.ManualResetEventSlim.Wait", "Threading.CountdownEvent.Wait"),
    *_rules("wait", 2, "Threading.SemaphoreSlim.Wait", "Threading.SemaphoreSlim.WaitUntilCountOrTimeout"),
    *_rules("wait", 2, "Threading.SemaphoreSlim.WaitCore", "Threading.Barrier.SignalAndWait"),
    *_rules("wait", 2, "Threading.WaitHandle.Wait*", "Threading.WaitHandle.SignalAndWait*"),
    *_rules("wait", 2, "Threading.LowLevelLock.Wait*", "Threading.LowLevelMonitor.Wait*"),
    *_rules("wait", 2, "Threading.SynchronizationContext.Wait*"),
    # The loop of a socket engine waits in this one call; before .NET 11 its stub has no name.
    LeafRule("Interop.Sys.WaitForSocketEvents", "wait"),
    LeafRule(f"{NATIVE_CALL}System.Net.Sockets.SocketAsyncEngine.EventLoop", "wait"),
    # What waits for a device cannot be told from what uses it: these only give the state its reason.
    *_rules("native", 1, "Net.Sockets.Socket*", "IO.RandomAccess.Read*", "IO.RandomAccess.Write*"),
    *_rules("native", 1, "ConsolePal.Read*", "IO.FileSystem*", "Diagnostics.Process.WaitForExit*"),
]
"""Where threads wait, and where they are in the operating system."""

ARTEFACTS: Final[list[str]] = [
    # Where the runtime stopped a running thread to look at it (.NET 10).
    "System.Threading.Thread.PollGC*",
    # What blocks in the place of the operating system; native code before .NET 11.
    "System.Threading.WaitSubsystem.*",
    "System.Threading.LowLevelThreadBlocker.*",
    # What calls Main; native code before .NET 11, and the last two in programs that were compiled ahead of time.
    "System.Environment.CallEntryPoint",
    "<Module>.StartupCodeMain",
    "<Module>.MainMethodWrapper",
    # The dispatch of exceptions, between the method that throws and its handler (.NET 9 and later).
    "System.Runtime.EH.*",
]
"""Methods that are on stacks only because of how the runtime works: their callers count in their place."""

STOPS: Final[list[str]] = [
    "System.Runtime.CompilerServices.CastHelpers.*",
    "System.Runtime.CompilerServices.GenericsHelpers.*",
    "System.Runtime.CompilerServices.StaticsHelpers.*",
    "System.Runtime.CompilerServices.VirtualDispatchHelpers.*",
    "System.Runtime.CompilerServices.RuntimeHelpers.<GetHashCode>*",
    "System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode*",
    "System.RuntimeType.GetCorElementType",
    "System.RuntimeType.IsPrimitiveImpl",
    "System.Environment.GetEnvironmentVariableCore",
    "System.Object.MemberwiseClone",
    "System.Threading.Monitor.Enter_Slowpath",
    "System.Threading.Monitor.Exit_Slowpath",
    "System.Array.Copy",
    "System.Buffer.BulkMoveWithWriteBarrier",
    "System.Buffer._BulkMoveWithWriteBarrier",
    "System.Buffer.Memmove*",
    "System.SpanHelpers.Memmove*",
]
"""Short routines of the runtime at which its sampler stops threads that run (docs/top.md has a measurement)."""

ROOTS: Final[list[tuple[str, str]]] = [
    ("System.Threading.PortableThreadPool.GateThread.GateThreadStart", "pool_gate"),
    ("System.Threading.PortableThreadPool.WorkerThread.WorkerThreadStart", "pool_worker"),
    ("System.Threading.PortableThreadPool.WaitThread.WaitThreadStart", "pool_wait"),
    ("System.Threading.PortableThreadPool.IOCompletionPoller.Poll", "pool_io"),
    ("System.Threading.WindowsThreadPool.*", "pool_worker"),
    ("System.Threading._ThreadPoolWaitCallback.*", "pool_worker"),
    ("System.Net.Sockets.SocketAsyncEngine.*", "pool_io"),
    ("System.Threading.TimerQueue.TimerThread", "timer"),
    ("System.GC.RunFinalizers", "finalizer"),
    ("System.Runtime.__Finalizer.ProcessFinalizers", "finalizer"),
    ("System.Runtime.CompilerServices.TieredCompilation*", "tiering"),
]
"""The root methods of threads of the runtime, and their role. Any thread may call the methods beside them, as to create
a worker or the gate."""


def add_leaf(method: str, state: ThreadState, rank: int = 5) -> None:
    """Declare that a thread whose innermost frames include this method is in a state; it takes precedence over built-in
    rules.

    `method` is `Namespace.Type.Method` without arguments; `*` at its end matches any rest. Raises ValueError for an
    unknown state.
    """
    if state not in STATES:
        raise ValueError(f"no state {state!r}; there are {', '.join(STATES)}")
    LEAVES.append(LeafRule(method, state, rank))


def add_artefact(method: str) -> None:
    """Leave frames of this method (with `*` at its end, of all methods with this beginning) out of stacks."""
    ARTEFACTS.append(method)


def at_stops(methods: Iterable[str]) -> NDArray[np.bool_]:
    """Which of these methods are such routines."""
    stops = _Patterns(STOPS)
    return np.array([stops.fit(_method(name)) for name in methods], dtype=np.bool_)


@frozen(eq=False)
class StackStates:
    """What stacks say: numbers of `reasons` and of roles for each, -1 for none; `external` has yet to be asked.

    `leaf_state` is the place of a state in `STATES`, -1 where no known method waits.
    """

    leaf_state: Ints
    reason: Ints
    role: Ints
    reasons: tuple[str, ...]
    roles: tuple[str, ...]


def stack_states(frames: Sequence[StackFrame], offsets: Ints, values: Ints) -> StackStates:
    """The states of stacks of frames, innermost first: `values[offsets[i]:offsets[i + 1]]` are places in `frames`."""
    # What has no name fits no rule but that of its caller, and there may be as many of these as bytes in a trace.
    # Native code and the kernel's is around managed code, where a machine was recorded.
    foreign = [frame.kind in ("kernel", "native") for frame in frames]
    any_foreign = any(foreign)
    artefacts, leaves = _Patterns(ARTEFACTS), _Patterns([rule.method for rule in LEAVES])
    roots = _Patterns([pattern for pattern, _ in ROOTS])
    begins = (*artefacts.begins, *leaves.begins, *roots.begins, *_Patterns([*_MEANS, *_STARTS, *_RUNS]).begins)

    @cache
    def known(place: int) -> tuple[str, bool, LeafRule | None, str | None]:
        """The name of a frame, whether it is an artefact, its rule and its role: most are never at a stack's end."""
        frame = frames[place]
        if not frame.reason and not frame.may_begin(begins) and "Main" not in frame.raw:
            return _ANY_OTHER, False, None, None
        name = "" if frame.reason and not leaves.fit(frame.method) else frame.method
        if name and artefacts.fit(name):
            return "", True, None, None
        return name, False, _rule(name) if leaves.fit(name) else None, _role(name, roots) if name else None

    reasons: Interned[str] = Interned()
    roles: Interned[str] = Interned()
    count = len(offsets) - 1
    states, why, who = (np.full(count, -1, dtype=np.int64) for _ in range(3))
    bounds = offsets.tolist()
    cut = cut_stacks(np.diff(offsets)).tolist()
    for stack in range(count):
        stack_frames = values[bounds[stack] : bounds[stack + 1]].tolist()
        if any_foreign:
            stack_frames = [frame for frame in stack_frames if not foreign[frame]]
        best, seen = None, 0
        for frame in stack_frames:
            name, skipped, rule, _ = known(frame)
            # A call of the operating system goes through a stub that was compiled in advance, and is in no rundown.
            if skipped or (not seen and not name):
                continue
            if rule is not None and (best is None or rule.rank >= best[0].rank):
                best = rule, name
            seen += 1
            if seen == DEPTH or (rule is None and (not name.startswith(_MEANS) or name.startswith(_RUNS))):
                break
        if best is not None:
            states[stack] = STATES.index(best[0].state)
            why[stack] = reasons[best[1]]
        role = None if cut[stack] else _root_role(map(known, stack_frames[: -_ROOTS - 1 : -1]))
        if role is not None:
            who[stack] = roles[role]
    return StackStates(states, why, who, tuple(reasons), tuple(roles))


def _root_role(outermost: Iterable[tuple[str, bool, LeafRule | None, str | None]]) -> str | None:
    """The role of the first frame from outside that is a thread's own."""
    started = False
    for name, _, _, role in outermost:
        if name.startswith(_STARTS):
            started = True
        elif name:
            # A thread that is started may begin with a method of any name.
            return None if started and role == "main" else role
    return None


def artefact_frames(frames: Sequence[StackFrame]) -> NDArray[np.bool_]:
    """Which frames are artefacts."""
    artefacts = _Patterns(ARTEFACTS)
    return np.array([not frame.reason and artefacts.fits(frame) for frame in frames], dtype=np.bool_)


def is_artefact(name: str) -> bool:
    """Whether a method, by its name with or without arguments, is an artefact."""
    return _Patterns(ARTEFACTS).fit(_method(name))


def _method(name: str) -> str:
    """The name without arguments; what a type's name has in parentheses does not occur."""
    return name.partition("(")[0]


def _rule(name: str) -> LeafRule | None:
    rules = [rule for rule in LEAVES if _fits(name, rule.method)]
    return max(rules, key=lambda rule: rule.rank) if rules else None


def _role(name: str, roots: _Patterns) -> str | None:
    if name.rpartition(".")[2] in MAIN:
        return "main"
    return next(role for pattern, role in ROOTS if _fits(name, pattern)) if roots.fit(name) else None


_HEAD: Final = re.compile(r"\w*(?:\.\w+)?")


class _Patterns:
    """Patterns that hardly any of very many names fit, all of them tried at once."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._whole = frozenset(pattern for pattern in patterns if not pattern.endswith("*"))
        self._heads = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
        # Those that begin with a mark fit only names that do. With two words: of `System` alone are very many.
        self.begins = tuple(head for each in patterns if (head := _HEAD.findall(each)[0]) or each == "*")

    def fit(self, name: str) -> bool:
        """Whether the name fits any."""
        return name in self._whole or name.startswith(self._heads)

    def fits(self, frame: StackFrame) -> bool:
        """Whether a frame's method fits any."""
        return frame.may_begin(self.begins) and self.fit(frame.method)


def _fits(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


MEANS: Final = ("System.Threading.", "System.Diagnostics.Tracing.", *AWAITERS, *BUILDERS, *RUNTIME_ASYNC, "Interop.")
"""The prefixes of methods that wait on behalf of their callers, or only report a wait."""
TRACING: Final = ("System.Diagnostics.Tracing.", "System.Threading.Tasks.TplEventSource.")
"""How those begin that write events."""


_OF_READING: Final[WeakKeyDictionary[ReadingNames, dict[Hashable, list[tuple[Any, BlockingMethods]]]]] = (
    WeakKeyDictionary()
)


class BlockingMethods:
    """Names for many stacks at once, each as of one moment on one thread. They are asked for by place.

    With `my_code` the blocking method is the first one of the program, if there is one.
    """

    def __init__(
        self, context: Context, stack_ids: Ints, times: Ints, threads: Array, raw: bool, my_code: bool = False
    ) -> None:
        resolved = context.resolved(stack_ids, times, context.running(times, threads))
        self._merged: MergedStacks = merged_stacks(context.methods, resolved)
        self._raw = raw
        frames = self._merged.frames
        foreign = np.array([frame.kind in ("kernel", "native") for frame in frames], dtype=np.bool_)
        means = np.array([_begins(frame, (*MEANS, "[")) for frame in frames], dtype=np.bool_)
        framework = np.array([not is_own(frame) for frame in frames], dtype=np.bool_)
        kernel = np.array([frame.kind == "kernel" for frame in frames], dtype=np.bool_)
        nameless = np.array([frame.reason is not None for frame in frames], dtype=np.bool_)
        artefact = artefact_frames(frames)
        unwanted = artefact | foreign | np.array([_begins(frame, TRACING) for frame in frames], dtype=np.bool_)
        others = (means | foreign | artefact, unwanted | nameless, unwanted, artefact | kernel)
        self._methods = self._first(framework if my_code else others[0])
        for skipped in others:
            self._methods = np.where(self._methods < 0, self._first(skipped), self._methods)
        self._innermost = self._first(artefact)
        self.of: Ints = self._merged.of
        """Which stack each place has; equal numbers are equal stacks of methods."""
        self.framework_only = self._first(framework) < 0
        """Which stacks have no method of a program, by number of the stack."""
        managed = np.array([frame.kind == "managed" for frame in frames], dtype=np.bool_)
        self.managed = self._first(~managed) >= 0
        """Which stacks hold managed code, of a recording that tells."""

    @classmethod
    def of_reading(
        cls, context: Context, lots: Sequence[tuple[Ints, Ints, Array]], raw: bool, my_code: bool
    ) -> BlockingMethods:
        """Names for several lots of stack ids, times and threads, for all reports of a reading that ask for these, or
        for some of them later."""
        known = _OF_READING.setdefault(context.names, {}).setdefault((context.process_id, raw, my_code), [])
        keys = [tuple([column.tobytes() for column in lot]) for lot in lots]
        for places, names in known:
            if places.keys() >= set(keys):
                some = copy(names)
                some.of = np.concatenate([names.of[places[key]] for key in keys])
                return some
        ids, times, threads = (np.concatenate(column) for column in zip(*lots, strict=True))
        names = cls(context, ids, times, threads, raw, my_code)
        edges = offsets([len(lot[0]) for lot in lots]).tolist()
        known.append((dict(zip(keys, itertools.starmap(slice, itertools.pairwise(edges)), strict=True)), names))
        return names

    @cached_property
    def states(self) -> StackStates:
        """What leaves say about each stack."""
        merged = self._merged
        return stack_states(merged.frames, merged.offsets, merged.values)

    def method(self, place: int) -> str | None:
        """The blocking method; None if no frame has a name."""
        return self._name(self._methods, place)

    def innermost(self, place: int) -> str | None:
        """What runs, artefacts of sampling left out; None where it has no name."""
        return self._name(self._innermost, place)

    def frames(self, stack: int) -> list[StackFrame]:
        """A stack by its number, innermost first."""
        return [self._merged.frames[frame] for frame in self._frames(stack).tolist()]

    def names(self, place: int) -> tuple[str, ...]:
        """The stack, innermost first, without what writes its event; empty for none."""
        frames = [self._merged.frames[frame] for frame in self._frames(int(self.of[place])).tolist()]
        own_frames = itertools.dropwhile(lambda frame: _begins(frame, TRACING), frames)
        return tuple(frame.raw if self._raw else frame.name for frame in own_frames if frame.reason != NO_STACK)

    def _first(self, skipped: NDArray[np.bool_]) -> Ints:
        """The first frame of each stack that is not skipped; -1 where all are."""
        values, offsets = self._merged.values, self._merged.offsets
        kept = np.append(np.flatnonzero(~skipped[values]), len(values))
        first = kept[np.searchsorted(kept, offsets[:-1])]
        return np.where(first < offsets[1:], np.append(values, -1)[first], -1)

    def _name(self, of_stacks: Ints, place: int) -> str | None:
        frame = self._merged.frames[number] if (number := int(of_stacks[self.of[place]])) >= 0 else None
        if frame is None or frame.reason == NO_STACK:
            return None
        return (frame.raw if self._raw else frame.name) or None

    def _frames(self, stack: int) -> Ints:
        frames: Ints = self._merged.values[self._merged.offsets[stack] : self._merged.offsets[stack + 1]]
        return frames


def _begins(frame: StackFrame, beginnings: tuple[str, ...]) -> bool:
    return frame.method.startswith(beginnings)


UNTOLD: Final = "samples of this runtime do not show whether a thread ran managed code"
"""Why the number is unknown."""

_FIRST: Final = 5
_FEW: Final = 0.01
_ENOUGH: Final = 1000


def tells_running(info: TraceInfo, versions: Iterable[int], managed: int, samples: int) -> bool:
    """Whether samples tell it of a runtime of these versions; so many of them say that they are in managed code."""
    if info.native_aot:
        return not samples
    known = list(versions)
    if known:
        return min(known) >= _FIRST
    return samples < _ENOUGH or managed >= _FEW * samples
