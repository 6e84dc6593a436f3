"""Weighted stacks → a file for a viewer, in any of the available formats.

Text formats are here: folded lines, `outer;inner;innermost weight`, with threads as the outermost frames, and
speedscope's JSON (https://www.speedscope.app/file-format-schema.json). Pages and pprof are imported on use. Opens no
file.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any, Final, get_args

import numpy as np

from clrevents._util.words import safe
from clrevents.analysis.gathering.groups import changes
from clrevents.analysis.shared.samples.calltree import stack_sums
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.export.look import Look, frame_names, rows_by_thread, thread_labels

FLAME_FORMATS: Final[tuple[FlameFormat, ...]] = get_args(FlameFormat)

_BREAKS: Final = re.compile("[;\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Would end a frame or a line, or is not valid text. What else a terminal would obey is escaped."""
SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_UNITS: Final = {"nanoseconds": "nanoseconds", "bytes": "bytes"}
"""The others are counts, for which its unit is `none`."""


def flame_bytes(samples: Samples, format: FlameFormat, look: Look, pack: bool = False) -> bytes:
    """The whole file. `pack` compresses it; pprof files always are."""
    if format == "html":
        from clrevents.export.flame.flame_html import render
    elif format == "pprof":
        from clrevents.export.flame.pprof import render
    else:
        render = folded if format == "folded" else speedscope
    made = render(samples, look)
    return _packed(made) if pack or format == "pprof" else made


def compared_bytes(after: Samples, before: Samples, name: str, look: Look, pack: bool = False) -> bytes:
    """The page of a flame graph comparing two traces, the other of which is called `name`. Raises ValueError if their
    weights have different units."""
    from clrevents.export.flame.flame_html import render_compared

    made = render_compared(after, before, name, look)
    return _packed(made) if pack else made


def _packed(made: bytes) -> bytes:
    """Without a timestamp, so that the same samples give the same bytes."""
    return gzip.compress(made, 6, mtime=0)


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
    found = [f"{line} {round(weight)}" for line, weight in sorted(lines.items()) if round(weight)]
    return "\n".join([*found, ""]).encode()


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
    found = {
        "$schema": SCHEMA,
        "name": look.title,
        "exporter": look.producer,
        "activeProfileIndex": whole.index(max(whole)) if whole else None,
        "shared": {"frames": frames},
        "profiles": profiles,
    }
    if not profiles:
        del found["activeProfileIndex"]
    return json.dumps(found, separators=(",", ":"), allow_nan=False).encode()


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
