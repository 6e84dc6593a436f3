"""Which method blocks: stacks of waits → the first method outside the waiting primitives, named once for all of them.

Knows stacks and names; no events and no times of waits.
"""

from __future__ import annotations

import itertools
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.gathering.merged_stacks import NO_STACK, MergedStacks, StackFrame, is_own, merged_stacks
from clrevents.analysis.shared.samples.leaf_states import StackStates, artefact_frames, stack_states
from clrevents.symbols.async_machinery import AWAITERS, BUILDERS, RUNTIME_ASYNC

Ints: TypeAlias = NDArray[np.int64]

MEANS: Final = (
    "System.Threading.",
    "System.Diagnostics.Tracing.",
    *AWAITERS,
    *BUILDERS,
    *RUNTIME_ASYNC,
    "Interop.",
)
"""The prefixes of methods that wait on behalf of their callers, or only report a wait."""
TRACING: Final = ("System.Diagnostics.Tracing.", "System.Threading.Tasks.TplEventSource.")
"""How those begin that write events."""


class BlockingMethods:
    """Names for many stacks at once, each as of one moment on one thread. They are asked for by place.

    With `my_code` the blocking method is the first one of the program, if there is one.
    """

    def __init__(
        self,
        context: Context,
        stack_ids: Ints,
        times: Ints,
        threads: NDArray[Any],
        raw: bool,
        my_code: bool = False,
    ) -> None:
        found = context.resolved(stack_ids, times, context.running(times, threads))
        self._merged: MergedStacks = merged_stacks(context.methods, found)
        self._raw = raw
        frames = self._merged.frames
        self._artefact = artefact_frames(frames)
        foreign = np.array([frame.kind in ("kernel", "native") for frame in frames], dtype=np.bool_)
        means = np.array([_begins(frame, (*MEANS, "[")) for frame in frames], dtype=np.bool_)
        self._means = means | foreign | self._artefact
        self._framework = np.array([not is_own(frame) for frame in frames], dtype=np.bool_)
        kernel = np.array([frame.kind == "kernel" for frame in frames], dtype=np.bool_)
        nameless = np.array([frame.reason is not None for frame in frames], dtype=np.bool_)
        unwanted = self._artefact | foreign | np.array([_begins(frame, TRACING) for frame in frames], dtype=np.bool_)
        others = (unwanted | nameless, unwanted, self._artefact | kernel)
        self._skipped = [*([self._framework] if my_code else []), self._means, *others]
        self.of: Ints = self._merged.of
        """Which stack each place has; equal numbers are equal stacks of methods."""
        count = len(self._merged.offsets) - 1
        self._methods: list[str | None] = [self._blocking(stack) for stack in range(count)]
        self._innermost: list[str | None] = [self._first(stack, self._artefact) for stack in range(count)]
        self.framework_only = np.array([bool(self._framework[self._frames(s)].all()) for s in range(count)], dtype=bool)
        """Which stacks have no method of a program, by number of the stack."""
        managed = np.array([frame.kind == "managed" for frame in frames], dtype=np.bool_)
        self.managed = np.array([bool(managed[self._frames(s)].any()) for s in range(count)], dtype=bool)
        """Which stacks hold managed code, of a recording that tells."""

    def states(self) -> StackStates:
        """What leaves say about each stack."""
        merged = self._merged
        return stack_states(merged.frames, merged.offsets, merged.values)

    def method(self, place: int) -> str | None:
        """The blocking method; None if no frame has a name."""
        return self._methods[int(self.of[place])]

    def innermost(self, place: int) -> str | None:
        """What runs, artefacts of sampling left out; None where it has no name."""
        return self._innermost[int(self.of[place])]

    def frames(self, stack: int) -> list[StackFrame]:
        """A stack by its number, innermost first."""
        return [self._merged.frames[frame] for frame in self._frames(stack).tolist()]

    def names(self, place: int) -> tuple[str, ...]:
        """The stack, innermost first, without what writes its event; empty for none."""
        frames = [self._merged.frames[frame] for frame in self._frames(int(self.of[place])).tolist()]
        told = itertools.dropwhile(lambda frame: _begins(frame, TRACING), frames)
        return tuple(frame.raw if self._raw else frame.name for frame in told if frame.reason != NO_STACK)

    def _blocking(self, stack: int) -> str | None:
        return next(filter(None, (self._first(stack, skipped) for skipped in self._skipped)), None)

    def _first(self, stack: int, skipped: NDArray[np.bool_]) -> str | None:
        frames = self._frames(stack)
        kept = frames[~skipped[frames]]
        if not len(kept):
            return None
        frame = self._merged.frames[int(kept[0])]
        if frame.reason == NO_STACK:
            return None
        return frame.raw if self._raw else frame.name

    def _frames(self, stack: int) -> Ints:
        found: Ints = self._merged.values[self._merged.offsets[stack] : self._merged.offsets[stack + 1]]
        return found


def _begins(frame: StackFrame, beginnings: tuple[str, ...]) -> bool:
    return frame.name.startswith(beginnings)
