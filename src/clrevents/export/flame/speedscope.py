"""Weighted stacks → speedscope's JSON: one sampled profile for each thread, or one for all of them.

The format: https://www.speedscope.app/file-format-schema.json. Knows nothing of events.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from clrevents.analysis.gathering.groups import changes
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, frame_names, thread_labels
from clrevents.export.sampled_calls import rows_by_thread

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"
_UNITS: Final = {"nanoseconds": "nanoseconds", "bytes": "bytes"}
"""The others are counts, for which its unit is `none`."""


def render(samples: Samples, look: Look) -> bytes:
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
