"""Which fields of events, and which words, can be weights: amounts of something, which can be added up.

Goes by a field's declaration, and by its name if that is not enough. `exceptions` and `ExceptionType` need no event,
because they can mean only one; under a text, each event weighs 1. A rethrow by `throw;`, for which runtimes before .NET
9 write an event, is not a new exception. Reads no values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import Interned, offsets
from clrevents.analysis.gathering.merged_stacks import MergedStacks, StackFrame
from clrevents.analysis.shared.weights.allocations import ALLOC, SAMPLED, TICK
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ExceptionThrownFlags
from clrevents.table.table import TableField

_NUMBERS: Final = ("int", "uint", "float", "bool")
_SIZE: Final = "payload_size"
"""The only header column that is an amount."""
_NO_AMOUNT: Final = (
    ("an id", re.compile(r"[a-z0-9_].*IDs?$|^IDs?$|[a-z0-9_]Ids?$|^[Ii]ds?$|_ids?$|Token$|[a-z]Handle$|^Handle$")),
    ("a number of a thing", re.compile(r"[a-z]Number$|HeapNum$|GenNum$|Index$|Idx$|Generation$|^Heap$|^AppDomain$")),
    ("an address", re.compile(r"Address$|Pointer$|EIP$|EntryPoint$|RangeBegin$|Offset$")),
    (
        "a code",
        re.compile(r"Flags$|Mechanisms$|Reasons?\d*$|(?<!Jit)Code$|HRESULT$|Version$|Kind$|Type$|Mode$|LogLevel$"),
    ),
    ("a code", re.compile(r"LoadLevel$|Settings$|RuleSet$|Facility$|Category$|PdbAge$")),
    ("of unknown meaning", re.compile(r"^(Reserved|Unused)\d*$")),
    ("a time", re.compile(r"Timestamp$")),
)
_OF_ONE: Final = {(RUNTIME, name.partition("/")[2]): "ObjectSize" for name in (SAMPLED, TICK)}
"""The size of the one object in an event about many bytes."""


def check_weight(event: tuple[str, str] | None, fields: Sequence[TableField], name: str, texts: bool = False) -> None:
    """ValueError unless the field of this name, of an event's columns, can be a weight.

    It may be a text where `texts` are good for something.
    """
    field = next((field for field in fields if field.name == name), None)
    if field is None or (texts and field.type.kind == "string"):
        return
    if not field.type.kind.startswith(_NUMBERS):
        raise ValueError(f"{name!r} is not a number, so it cannot be a weight")
    if event is not None and _OF_ONE.get(event) == name:
        text = (
            f"{name!r} is the size of one object, not of everything that {event[1]} represents, so it cannot be a "
            "weight"
        )
        raise ValueError(f"{text}; use 'alloc' for allocated bytes")
    why = _no_amount(field)
    if why is not None:
        can = [other.name for other in fields if _may_weigh(other) and other.name != _OF_ONE.get(event or ("", ""))]
        rest = f"; use {' or '.join(can)}" if can else ""
        raise ValueError(f"{name!r} is {why}, so it cannot be a weight{rest}")


def _may_weigh(field: TableField) -> bool:
    return field.wire is not None and field.type.kind.startswith(_NUMBERS) and _no_amount(field) is None


def _no_amount(field: TableField) -> str | None:
    """What a number is that is not an amount; None if it may be one."""
    if field.wire is None:
        return None if field.name == _SIZE else "not an amount"
    if field.enum is not None:
        return "a code"
    if field.address:
        return "an address" if not _NO_AMOUNT[0][1].search(field.name) else "an id"
    return next((why for why, pattern in _NO_AMOUNT if pattern.search(field.wire)), None)


THROWN: Final = "runtime/ExceptionThrown"
WORDS: Final = {"exceptions": (THROWN, None), "ExceptionType": (THROWN, "ExceptionType")}
"""By word: the event, and its field."""
LEFT_OUT: Final = ("ExceptionFlags", int(ExceptionThrownFlags.ReThrown))
"""A field, and its bit that the events of `WORDS` must not have."""
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
