"""Weighted stacks → a file for a viewer, in any of the available formats.

Folded lines are `outer;inner;innermost weight`, with threads as the outermost frames. Speedscope's JSON is that of
https://www.speedscope.app/file-format-schema.json, pprof's profile the protobuf message of
https://github.com/google/pprof/blob/main/proto/profile.proto, of which little is needed. Pages are imported on use.
Opens no file.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from typing import Any, Final, TypeAlias, get_args

import numpy as np

from clrevents._util.words import safe
from clrevents.analysis.gathering.groups import Interned, changes
from clrevents.analysis.shared.samples.calltree import StackSums, stack_sums
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.analysis.shared.weights.weight_fields import CPU_TIME, OFF_CPU
from clrevents.export.look import Look, frame_names, rows_by_thread, thread_labels
from clrevents.export.protobuf_wire import message, number, text, varint

FLAME_FORMATS: Final[tuple[FlameFormat, ...]] = get_args(FlameFormat)

_BREAKS: Final = re.compile("[;\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Would end a frame or a line, or is not valid text. What else a terminal would obey is escaped."""
SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_UNITS: Final = {"nanoseconds": "nanoseconds", "bytes": "bytes"}
"""The others are counts, for which its unit is `none`."""


def flame_bytes(
    samples: Samples, format: FlameFormat, look: Look, pack: bool = False, against: tuple[str, Samples] | None = None
) -> bytes:
    """The whole file. `pack` compresses it; pprof files always are.

    A page can compare the samples with those of another trace, given with its name. Raises ValueError if their weights
    have different units.
    """
    if format == "html":
        from clrevents.export.flame.flame_html import compared_data, flame_page, render

        if against is None:
            data = render(samples, look)
        else:
            name, before = against
            look = look._replace(title=f"{look.title} compared with {name}")
            data = flame_page(compared_data(samples, before, name, look), look)
    else:
        data = {"folded": folded, "speedscope": speedscope, "pprof": pprof}[format](samples, look)
    # Without a timestamp, so that the same samples give the same bytes.
    return gzip.compress(data, 6, mtime=0) if pack or format == "pprof" else data


def folded(samples: Samples, look: Look) -> bytes:
    """The lines in alphabetical order; weights are whole numbers in the samples' unit, stacks of weight 0 are left out.

    Characters that would end a frame's name become a colon or a space.
    """
    names = [_plain(name) for name in frame_names(samples, look)]
    roots = [_plain(label) for label in thread_labels(samples)]
    stacks: dict[int, str] = {}
    sums = stack_sums(samples, look.merge_threads)
    lines: dict[str, int | float] = {}
    for thread, stack, weight in zip(sums.thread.tolist(), sums.stack.tolist(), sums.weight.tolist(), strict=True):
        text = stacks.get(stack)
        if text is None:
            text = stacks[stack] = ";".join([names[frame] for frame in reversed(samples.frame_ids(stack))])
        line = text if thread < 0 else f"{roots[thread]};{text}"
        # Overloads may have the same name.
        lines[line] = lines.get(line, 0) + weight
    lines_with_weights = [f"{line} {round(weight)}" for line, weight in sorted(lines.items()) if round(weight)]
    return "\n".join([*lines_with_weights, ""]).encode()


def _plain(name: str) -> str:
    return safe(_BREAKS.sub(lambda match: ":" if match[0] == ";" else " ", name))


def speedscope(samples: Samples, look: Look) -> bytes:
    """The file. Consecutive identical stacks are merged into one sample with their total weight."""
    if look.merge_threads:
        profiles = [_profile(samples, np.arange(len(samples)), "all threads")]
    else:
        profiles = [
            _profile(samples, rows, label)
            for rows, label in zip(rows_by_thread(samples), thread_labels(samples), strict=True)
        ]
    whole = [sum(profile["weights"]) for profile in profiles]
    names = frame_names(samples, look)
    frames = [
        {"name": name, "file": frame.module} if frame.module else {"name": name}
        for name, frame in zip(names, samples.frames, strict=True)
    ]
    document = {
        "$schema": SCHEMA,
        "name": look.title,
        "exporter": look.producer,
        "activeProfileIndex": whole.index(max(whole)) if whole else None,
        "shared": {"frames": frames},
        "profiles": profiles,
    }
    if not profiles:
        del document["activeProfileIndex"]
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def _profile(samples: Samples, rows: np.ndarray[Any, np.dtype[np.int64]], name: str) -> dict[str, Any]:
    stack = samples.stack[rows]
    begins = np.flatnonzero(changes(stack))
    weights = np.add.reduceat(samples.weight[rows], begins).tolist() if len(rows) else []
    start = int(samples.time_ns[rows[0]]) if samples.timed and len(rows) else 0
    return {
        "type": "sampled",
        "name": name,
        "unit": _UNITS.get(samples.unit, "none"),
        "startValue": start,
        "endValue": start + sum(weights),
        # Outermost first here.
        "samples": [samples.frame_ids(number)[::-1] for number in stack[begins].tolist()],
        "weights": weights,
    }


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

_EPOCH_SECONDS: Final = 10**9
_TIME_LIMIT: Final = 1 << 63


_Strings: TypeAlias = Interned[str]
"""The string table: number 0 is the empty string."""


def pprof(samples: Samples, look: Look) -> bytes:
    """The message, uncompressed. Each sample has two values, its number of samples and its weight; threads are labels.

    Where the operating system counted, processor time is a third one, and what viewers show first.
    """
    strings: _Strings = Interned({"": 0})
    sums = stack_sums(samples, look.merge_threads)
    counted = samples.counted if samples.timed else None
    what = (
        CPU_TIME
        if samples.by_counts
        else "wall"
        if samples.timed
        else OFF_CPU
        if samples.off_processor
        else samples.event
    )
    parts = [
        message(
            _SAMPLE_TYPE,
            _value_type(strings, "samples" if samples.timed or samples.on_processor else "events", "count"),
        ),
        message(_SAMPLE_TYPE, _value_type(strings, what, samples.unit if samples.unit != "none" else "count")),
        *([message(_SAMPLE_TYPE, _value_type(strings, CPU_TIME, "nanoseconds"))] if counted else []),
        *_samples(samples, sums, look, strings),
        *_modules(samples, strings),
        *_frames(samples, frame_names(samples, look), strings),
    ]
    if look.start is not None:
        begin = int(look.start.timestamp()) * _EPOCH_SECONDS + look.start.microsecond * 1000
        begin += int(samples.time_ns[0]) if len(samples) else 0
        # A number of nanoseconds since 1970 in 63 bits; a trace may claim any date.
        parts.append(number(_TIME, begin if 0 < begin < _TIME_LIMIT else 0))
    if len(samples):
        end = samples.time_ns + (samples.weight.astype("int64") if samples.timed else 0)
        parts.append(number(_DURATION, int(end.max()) - int(samples.time_ns[0])))
    parts.append(message(_COMMENT, varint(strings[f"{look.title} ({look.producer})"])))
    parts.append(number(_DEFAULT_TYPE, strings[CPU_TIME if counted else what]))
    parts += [text(_STRINGS, one) for one in strings]
    return b"".join(parts)


def _samples(samples: Samples, sums: StackSums, look: Look, strings: _Strings) -> Iterable[bytes]:
    ids = [varint(place + 1) for place in range(len(samples.frames))]
    threads = [
        message(_LABELS, number(_KEY, strings["thread"]) + number(_TEXT, strings[label]))
        for label in thread_labels(samples)
    ]
    stacks: dict[int, bytes] = {}
    columns = (sums.thread.tolist(), sums.stack.tolist(), sums.count.tolist(), sums.weight.tolist())
    used = None if sums.counted is None or not samples.timed else sums.counted[0].tolist()
    for row, (thread, stack, count, weight) in enumerate(zip(*columns, strict=True)):
        locations = stacks.get(stack)
        if locations is None:
            packed = b"".join([ids[frame] for frame in samples.frame_ids(stack)])
            locations = stacks[stack] = message(_LOCATIONS, packed)
        values = message(_VALUES, varint(count) + varint(round(weight)) + (b"" if used is None else varint(used[row])))
        yield message(_SAMPLE, locations + values + (b"" if thread < 0 else threads[thread]))


def _modules(samples: Samples, strings: _Strings) -> Iterable[bytes]:
    """Mappings without addresses, which say that names are known and where code comes from."""
    for place, module in enumerate(_module_names(samples), 1):
        fields = number(_ID, place) + number(_FILE, strings[module]) + number(_HAS_FUNCTIONS, 1)
        yield message(_MAPPING, fields)


def _frames(samples: Samples, names: list[str], strings: _Strings) -> Iterable[bytes]:
    modules = {module: place for place, module in enumerate(_module_names(samples), 1)}
    for place, (frame, name) in enumerate(zip(samples.frames, names, strict=True), 1):
        line = message(_LINE, number(_LINE_FUNCTION, place))
        mapping = number(_LOCATION_MAPPING, modules[frame.module or "[unknown]"])
        yield message(_LOCATION, number(_ID, place) + mapping + line)
        yield message(
            _FUNCTION,
            number(_ID, place)
            + number(_NAME, strings[name])
            + number(_SYSTEM_NAME, strings[frame.raw])
            + number(_FILE_NAME, strings[frame.module]),
        )


def _module_names(samples: Samples) -> list[str]:
    return list(dict.fromkeys(frame.module or "[unknown]" for frame in samples.frames))


def _value_type(strings: _Strings, type: str, unit: str) -> bytes:
    return number(_TYPE, strings[type]) + number(_UNIT, strings[unit])
