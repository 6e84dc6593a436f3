"""Words for weights: some imply an event of their own, and some are texts that stacks are put under.

`exceptions` and `ExceptionType` need no event, because they can mean only one. A text is not an amount: each event then
has a weight of 1, and its stack starts at the text. A rethrow by `throw;` is not a new exception: where runtimes write
an event for it (before .NET 9), that is left out. Reads no trace.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import Interned, offsets
from clrevents.analysis.gathering.merged_stacks import MergedStacks, StackFrame
from clrevents.analysis.shared.weights.allocation_events import ALLOC
from clrevents.schema.runtime_flags import ExceptionThrownFlags

THROWN: Final = "runtime/ExceptionThrown"
WORDS: Final = {"exceptions": (THROWN, None), "ExceptionType": (THROWN, "ExceptionType")}
"""By word: the event, and its field."""
LEFT_OUT: Final = ("ExceptionFlags", int(ExceptionThrownFlags.ReThrown))
"""A field, and its bit that the events of `WORDS` must not have."""
QUANTITIES: Final = {ALLOC: "allocated.bytes", "exceptions": "exceptions.thrown"}
"""What all weights together are, by word: the quantity that other reports' metrics declare."""
OFF_CPU: Final = "off-cpu"
"""The word for time off a processor as a weight."""
CPU_TIME: Final = "cpu"
"""The word for counted processor time as a weight of the profiler's samples."""
AMOUNTS: Final = (ALLOC, OFF_CPU, *(word for word, (_, field) in WORDS.items() if field is None))
"""The weights that need no event and are amounts."""
ALONE: Final = (ALLOC, OFF_CPU, *WORDS)
"""All that need no event."""


def event_and_weight(weight: str | None) -> tuple[str | None, str | None]:
    """What is meant by a weight that came without an event."""
    return WORDS.get(weight or "", (None, weight))


def left_out(event: object, weight: str | None) -> tuple[str, int] | None:
    """Of which field which bit leaves events out of what was asked for."""
    return LEFT_OUT if event is None and weight in WORDS else None


def under_texts(merged: MergedStacks, places: NDArray[np.int64], texts: tuple[str | None, ...]) -> MergedStacks:
    """The stacks with one more frame, the outermost: the use's text, which is at `places`; none where it is null."""
    outer = [None if text is None else StackFrame(text, text) for text in texts]
    numbers = Interned({frame: place for place, frame in enumerate(merged.frames)})
    of_text = np.array([-1 if frame is None else numbers[frame] for frame in outer], dtype=np.int64)
    pairs, of = np.unique(np.stack((merged.of, of_text[places]), axis=1), axis=0, return_inverse=True)
    values = []
    for stack, text in pairs.tolist():
        values.append(merged.values[merged.offsets[stack] : merged.offsets[stack + 1]])
        values.append(np.array([text] if text >= 0 else [], dtype=np.int64))
    sizes = np.diff(merged.offsets)[pairs[:, 0]] + (pairs[:, 1] >= 0)
    return MergedStacks(of.reshape(-1), offsets(sizes), np.concatenate([merged.values[:0], *values]), tuple(numbers))
