"""Captures of `../shared/processor` with what Linux counted put into their traces, as our recorder declares it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from heapq import merge
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import clrevents
from clrevents.rewrite.copy import Copier, Origin, Part
from clrevents.schema.events.recorder import (
    ProcessLimits_V0,
    ProcessorCounting_V0,
    ProcessorTime_V0,
    ProcessProcessorTime_V0,
    ThreadName_V0,
)
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import Trace, passes_of
from project_files import SHARED

COUNTS: Final = SHARED / "processor"
CAPTURES: Final = ("net11-two", "net11-one", "net11-limited", "net11-alone", "net8-one")
PARTS: Final = ("Multiply", "Strings", "Sorting", "Native", "Spin", "Asleep", "Locked", "Files")
NOBODY: Final = (1 << 32) - 1
"""The thread of our own events."""


def truth(capture: str, folder: Path = COUNTS) -> Counter[str]:
    """What each part of the program cost all of its threads, in ns of processor time, as they measured it."""
    found: Counter[str] = Counter()
    for line in (folder / f"{capture}.truth.jsonl").read_text().splitlines():
        if line:
            row = json.loads(line)
            found[row["part"]] += row["cpu_ns"]
    return found


def readings(capture: str, folder: Path = COUNTS) -> list[dict[str, Any]]:
    """What was read beside the recording, in order of time."""
    return [json.loads(line) for line in (folder / f"{capture}.proc.jsonl").read_text().splitlines()]


@cache
def counted(capture: str, folder: Path = COUNTS) -> bytes:
    """The capture with its counts."""
    path = next(path for end in ("nettrace.gz", "nettrace") if (path := folder / f"{capture}.{end}").exists())
    with clrevents.open(path) as trace:
        return with_counts(trace, readings(capture, folder))


def with_counts(trace: Trace, lines: Iterable[dict[str, Any]]) -> bytes:
    """A trace with counts: of each reading after it began, the differences to the one before."""
    builder = TraceBuilder(sync_qpc=trace.info.sync_qpc, process_id=trace.info.process_id or 0)
    builder.thread(NOBODY).at(0).event(ProcessorCounting_V0(1, 50_000_000, 2, trace.info.processors or -1, 0))
    for time, record in _records(lines, trace.info.sync_qpc):
        builder.at(time).event(record)
    sink = BytesIO()
    with clrevents.open(builder.build()) as counts:
        copier = Copier(sink, trace.info)
        origins = ((trace, copier.first), (counts, copier.another()))
        for _, part, row in merge(*(_rows(one, origin) for one, origin in origins), key=lambda placed: placed[0]):
            copier.copy(part, row)
        copier.finish()
    return sink.getvalue()


def _records(lines: Iterable[dict[str, Any]], sync: int) -> Iterator[tuple[int, Any]]:
    threads: dict[int, tuple[int, int, int]] = {}
    names: dict[int, str] = {}
    limits: dict[str, int] = {}
    before, begun = 0, False
    for line in lines:
        time = (line["t0"] + line["t1"]) // 2 - sync
        news = dict(line.get("names", ()))
        names |= news
        process = line.get("process", {})
        if time > 0:
            yield from ((time, ThreadName_V0(thread, name)) for thread, name in (news if begun else names).items())
            used = 0
            for thread, *now in line["threads"]:
                was = threads.get(thread, (0, 0, 0))
                cpu, ready, slices = (new - old for new, old in zip(now, was, strict=True))
                yield time, ProcessorTime_V0(thread, time - before, cpu, ready, slices)
                used += cpu
            yield time, ProcessProcessorTime_V0(time - before, used, len(threads), 0)
            if "nr_periods" in process and limits:
                of = [process[name] - limits[name] for name in ("nr_periods", "nr_throttled", "throttled_time")]
                quota = 40_000_000 if process["nr_periods"] else -1
                yield time, ProcessLimits_V0(1_000_000_000, quota, 100_000_000, -1, *of, -1, -1)
            begun = True
        threads |= {thread: tuple(now) for thread, *now in line["threads"]}
        limits = process or limits
        before = time


def _rows(trace: Trace, origin: Origin) -> Iterator[tuple[int, Part, int]]:
    for rows in passes_of(trace).event_rows(decode=False):
        part = Part(rows, origin)
        yield from ((tick, part, row) for row, tick in enumerate(part.ticks))
