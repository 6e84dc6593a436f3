"""Weighted stacks → Chrome's trace events, which Perfetto (https://ui.perfetto.dev) shows as a timeline.

A call shared by adjacent samples is one slice of its thread. The format is the JSON object variant of the "Trace
Event Format", with times in microseconds. Knows no events.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from clrevents.analysis.shared.samples.samples import SampledThread, Samples
from clrevents.export.look import Look, frame_names
from clrevents.export.sampled_calls import calls, rows_by_thread


def render(samples: Samples, look: Look) -> bytes:
    """The file. Samples with a duration are slices (`X`), other events are instants (`i`) with weight and stack."""
    if look.merge_threads:
        raise ValueError("the chrome format shows threads over time, so they cannot be merged")
    names = frame_names(samples, look)
    events: list[dict[str, Any]] = []
    for process in {track.process_id: None for track in samples.threads}:
        events.append(_metadata("process_name", process, None, look.title or "process"))
    for track, rows in zip(samples.threads, rows_by_thread(samples), strict=True):
        events.append(_metadata("thread_name", track.process_id, track.thread_id, str(track)))
        events += _slices(samples, rows, track, names) if samples.timed else _instants(samples, rows, track, names)
    found = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {"producer": look.producer, "trace": look.title, "event": samples.event},
    }
    return json.dumps(found, separators=(",", ":"), allow_nan=False).encode()


def _metadata(name: str, process: int | None, thread: int | None, text: str) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": process or 0, "tid": thread or 0, "args": {"name": text}}


def _slices(
    samples: Samples, rows: np.ndarray[Any, np.dtype[np.int64]], track: SampledThread, names: list[str]
) -> list[dict[str, Any]]:
    head = {"ph": "X", "cat": "sample", "pid": track.process_id or 0, "tid": track.thread_id or 0}
    return [
        {**head, "name": names[call.frame], "ts": call.start_ns / 1000, "dur": (call.end_ns - call.start_ns) / 1000}
        for call in calls(samples, rows)
    ]


def _instants(
    samples: Samples, rows: np.ndarray[Any, np.dtype[np.int64]], track: SampledThread, names: list[str]
) -> list[dict[str, Any]]:
    head = {"ph": "i", "s": "t", "cat": samples.event, "pid": track.process_id or 0, "tid": track.thread_id or 0}
    stacks: dict[int, list[str]] = {}
    found = []
    columns = (samples.stack[rows].tolist(), samples.time[rows].tolist(), samples.weight[rows].tolist())
    for stack, time, weight in zip(*columns, strict=True):
        lines = stacks.get(stack)
        if lines is None:
            lines = stacks[stack] = [names[frame] for frame in samples.frame_ids(stack)]
        found.append({**head, "name": lines[0], "ts": time / 1000, "args": {"weight": weight, "stack": lines}})
    return found
