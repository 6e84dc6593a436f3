"""Weighted stacks → pprof's profile, uncompressed.

The format is a protobuf message, https://github.com/google/pprof/blob/main/proto/profile.proto, of which little is
needed: the field numbers are below, and so is the encoder for the three kinds of value. Knows no events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clrevents.analysis.calltree import StackSums, stack_sums
from clrevents.analysis.samples import Samples
from clrevents.export.flame import Look, frame_names, thread_labels

# Profile
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRINGS = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _COMMENT, _DEFAULT_TYPE = 9, 10, 13, 14
# Sample
_LOCATIONS, _VALUES, _LABELS = 1, 2, 3
# ValueType, Label, Mapping, Location, Line, Function
_TYPE, _UNIT = 1, 2
_KEY, _TEXT, _NUMBER = 1, 2, 3
_ID, _FILE, _HAS_FUNCTIONS = 1, 5, 7
_LOCATION_MAPPING, _LINE = 2, 4
_LINE_FUNCTION = 1
_NAME, _SYSTEM_NAME, _FILE_NAME = 2, 3, 4

_BYTES: Final = 2
_EPOCH_SECONDS: Final = 10**9


class _Strings(dict[str, int]):
    """The string table: number 0 is the empty string."""

    def __init__(self) -> None:
        super().__init__({"": 0})

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


def render(samples: Samples, look: Look) -> bytes:
    """The message. Each sample has two values, its number of samples and its weight; threads are labels."""
    strings = _Strings()
    sums = stack_sums(samples, look.merge_threads)
    what = "wall" if samples.timed else samples.event
    parts = [
        _message(_SAMPLE_TYPE, _value_type(strings, "samples" if samples.timed else "events", "count")),
        _message(_SAMPLE_TYPE, _value_type(strings, what, samples.unit if samples.unit != "none" else "count")),
        *_samples(samples, sums, look, strings),
        *_modules(samples, strings),
        *_frames(samples, frame_names(samples, look), strings),
    ]
    if look.start is not None:
        begin = int(look.start.timestamp()) * _EPOCH_SECONDS + look.start.microsecond * 1000
        parts.append(_number(_TIME, begin + (int(samples.time[0]) if len(samples) else 0)))
    if len(samples):
        end = samples.time + (samples.weight.astype("int64") if samples.timed else 0)
        parts.append(_number(_DURATION, int(end.max()) - int(samples.time[0])))
    parts.append(_message(_COMMENT, _varint(strings[f"{look.title} ({look.producer})"])))
    parts.append(_number(_DEFAULT_TYPE, strings[what]))
    parts += [_message(_STRINGS, text.encode("utf-8", "replace"), keep=True) for text in strings]
    return b"".join(parts)


def _samples(samples: Samples, sums: StackSums, look: Look, strings: _Strings) -> Iterable[bytes]:
    ids = [_varint(number + 1) for number in range(len(samples.frames))]
    threads = [
        _message(_LABELS, _number(_KEY, strings["thread"]) + _number(_TEXT, strings[label]))
        for label in thread_labels(samples)
    ]
    stacks: dict[int, bytes] = {}
    columns = (sums.thread.tolist(), sums.stack.tolist(), sums.count.tolist(), sums.weight.tolist())
    for thread, stack, count, weight in zip(*columns, strict=True):
        locations = stacks.get(stack)
        if locations is None:
            packed = b"".join([ids[frame] for frame in samples.frame_ids(stack)])
            locations = stacks[stack] = _message(_LOCATIONS, packed)
        values = _message(_VALUES, _varint(count) + _varint(round(weight)))
        yield _message(_SAMPLE, locations + values + (b"" if thread < 0 else threads[thread]))


def _modules(samples: Samples, strings: _Strings) -> Iterable[bytes]:
    """Mappings without addresses, which say that names are known and where code comes from."""
    for number, module in enumerate(_module_names(samples), 1):
        fields = _number(_ID, number) + _number(_FILE, strings[module]) + _number(_HAS_FUNCTIONS, 1)
        yield _message(_MAPPING, fields)


def _frames(samples: Samples, names: list[str], strings: _Strings) -> Iterable[bytes]:
    modules = {module: number for number, module in enumerate(_module_names(samples), 1)}
    for number, (frame, name) in enumerate(zip(samples.frames, names, strict=True), 1):
        line = _message(_LINE, _number(_LINE_FUNCTION, number))
        mapping = _number(_LOCATION_MAPPING, modules[frame.module or "[unknown]"])
        yield _message(_LOCATION, _number(_ID, number) + mapping + line)
        yield _message(
            _FUNCTION,
            _number(_ID, number)
            + _number(_NAME, strings[name])
            + _number(_SYSTEM_NAME, strings[frame.raw])
            + _number(_FILE_NAME, strings[frame.module]),
        )


def _module_names(samples: Samples) -> list[str]:
    return list(dict.fromkeys(frame.module or "[unknown]" for frame in samples.frames))


def _value_type(strings: _Strings, type: str, unit: str) -> bytes:
    return _number(_TYPE, strings[type]) + _number(_UNIT, strings[unit])


def _number(field: int, value: int) -> bytes:
    """A non-negative number; 0 is the default of a missing one."""
    return _varint(field << 3) + _varint(value) if value else b""


def _message(field: int, data: bytes, keep: bool = False) -> bytes:
    """Length-prefixed bytes: texts, messages, packed numbers. Empty ones are left out unless kept."""
    return _varint(field << 3 | _BYTES) + _varint(len(data)) + data if data or keep else b""


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; all but the last have the top bit set."""
    if value < 0x80:
        return bytes((value,))
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
