"""Events that describe themselves: what the official decoder calls them, and where its fields are not the bytes'.

As in the table of the runtime's own events, a `Difference` predicts the official view exactly. Ids differ from run to
run, so the key is the event's name.
"""

from __future__ import annotations

import struct
from typing import Any, Final
from uuid import UUID

import attrs
from shared_differences import Difference, Fields

TPL: Final = "System.Threading.Tasks.TplEventSource"
SAMPLE: Final = "Clrevents-Sample"

# For tasks the official decoder has a manifest of its own, with names that the trace does not use.
_TASK_NAMES: Final = {
    7: "TaskScheduled/Send",
    8: "TaskExecute/Start",
    9: "TaskExecute/Stop",
    10: "TaskWait/Send",
    11: "TaskWait/Stop",
    12: "AwaitTaskContinuationScheduled/Send",
    14: "TraceOperation/Start",
    15: "TraceOperation/Stop",
    17: "TraceSynchronousWork/Start",
    18: "TraceSynchronousWork/Stop",
}

UNREADABLE: Final = "<<<EXCEPTION_DURING_VALUE_LOOKUP ArgumentOutOfRangeException>>>"


def official_name(provider: str, id: int, name: str, opcode: int) -> str:
    """What the official decoder makes of a described name: a slash before the opcode, given or found in the name."""
    if provider == TPL and id in _TASK_NAMES:
        return _TASK_NAMES[id]
    if opcode:
        ending = {1: "Start", 2: "Stop"}.get(opcode, str(opcode))
    else:
        ending = next((e for e in ("Start", "Stop") if name.lower().endswith(e.lower())), "")
    return f"{name.removesuffix(ending)}/{ending}" if ending else name


@attrs.frozen
class Begins:
    """Equal to every text that begins so: the official decoder read on behind the payload, into whatever was there."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.startswith(self.text)


class Single(float):
    """A number of 32 bits: equal to every number that has the same ones, however many digits it is shown with."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and struct.pack("<f", self) == struct.pack("<f", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__


class _Hand:
    """Reads numbers and GUIDs from front to back, one `struct` letter at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def one(self, letter: str) -> Any:
        format = "<16s" if letter == "g" else "<" + letter
        (value,) = struct.unpack_from(format, self._data, self._at)
        self._at += struct.calcsize(format)
        if letter == "f":
            return Single(value)
        return str(UUID(bytes_le=value)) if letter == "g" else value


def _wrapped(ours: Fields, version: int) -> Fields:
    return {"": ours}


def _without_app_domain(ours: Fields, version: int) -> Fields:
    return {name: value for name, value in ours.items() if name != "appDomain"}


_ALL_TYPES: Final = {
    "b": "?",
    "u8": "B",
    "i8": "b",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "f": "f",
    "d": "d",
    "c": "H",
    "g": "g",
    "t": "Q",
    "s": "t",
}


def _all_types_view(ours: Fields, version: int) -> Fields:
    """The same bytes, read as if the first field had four of them: three bytes late from there on."""
    values = {**ours, "c": ord(ours["c"])}
    data = b"".join(
        struct.pack("<" + letter, values[name]) for name, letter in _ALL_TYPES.items() if letter not in "gt"
    )
    at = struct.calcsize("<?BbhHiIqQfdH")
    middle = UUID(ours["g"]).bytes_le + struct.pack("<Q", ours["t"])
    data = data[:at] + middle + data[at + 8 :] + (ours["s"] + "\0").encode("utf-16-le")
    shown: Fields = {"b": bool(data[0])}
    hand = _Hand(data[4:])
    for name, letter in list(_ALL_TYPES.items())[1:-2]:
        shown[name] = hand.one(letter)
    shown["c"] = chr(shown["c"])
    # Late by three bytes, the date is beyond the last year; then the text begins behind the payload, or has no end.
    shown["t"] = UNREADABLE
    text = data[4 + struct.calcsize("<BbhHiIqQfdH16sQ") :]
    shown["s"] = Begins(text[: len(text) // 2 * 2].decode("utf-16-le")) if text else UNREADABLE
    return shown


_WRAPPED: Final = Difference(
    "the wrapper without a name, which holds all fields, is shown as a field with an empty name", _wrapped
)

DIFFERENT: Final[dict[tuple[str, str], Difference]] = {
    ("System.Runtime", "EventCounters"): _WRAPPED,
    ("MySource", "TestEvent"): _WRAPPED,
    ("MySource", "TestEvent1"): _WRAPPED,
    ("MySource", "TestEvent2"): _WRAPPED,
    ("MySource", "TestNestedStructs"): _WRAPPED,
    (TPL, "TaskScheduled"): Difference(
        "the last field, appDomain, is not in the decoder's own manifest", _without_app_domain
    ),
    (SAMPLE, "AllTypes"): Difference(
        "booleans have 1 byte but are described, and read, as 4; all later fields are garbage", _all_types_view
    ),
}
"""By (provider, name as the trace describes it). An event that is not here must be shown alike, field by field."""

RENAMED: Final = {
    (TPL, "AwaitTaskContinuationScheduled"): {
        "ContinuwWithTaskId": "ContinuationId",
        "ContinueWithTaskId": "ContinuationId",
    },
}
"""Fields that the decoder's own manifest calls otherwise than the trace, where old runtimes misspelled this one."""

WITHOUT_FIELDS: Final = {(SAMPLE, "Dyn")}
"""Events whose payload nobody can read, because the trace says nothing about it: shown as empty, it stays bytes."""
