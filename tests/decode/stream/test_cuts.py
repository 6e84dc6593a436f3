"""Every fixture cut at evenly spread lengths: a result or a TraceError, and a prefix in each capture thread.

A capture thread's events stand in the file in the order it wrote them, so a cut may only take from their end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import clrevents
from clrevents import DamageError, TraceError, UnreadableError
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode
from project_files import unpacked
from tiers import each_fixture

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

CUTS = 60
SAMPLED = -1
EACH = each_fixture("net8-sample")


def cuts(path: Path) -> int:
    """How often a file is cut: the largest one less often, because each cut is read anew."""
    return CUTS if len(unpacked(path)) < 2 << 20 else CUTS // 4


def lengths(path: Path) -> list[int]:
    """From nothing to one byte less than all."""
    size, many = len(unpacked(path)), cuts(path)
    return [i * (size - 1) // (many - 1) for i in range(many)]


@attrs.frozen
class Found:
    """The rows of one reading in file order, as columns; `kinds` and `stacks` say what their numbers mean."""

    columns: tuple[np.ndarray[Any, Any], ...]
    captures: np.ndarray[Any, Any]
    kinds: list[Any]
    stacks: dict[int, bytes | None]
    payloads: list[bytes]
    error: TraceError | None

    def __len__(self) -> int:
        return len(self.captures)


def rows(data: bytes, errors: ErrorMode) -> Found:
    """All that headers say, and the payload bytes, without decoding any."""
    stream = Stream(errors=errors, in_time_order=False)
    released = []
    error: TraceError | None = None
    try:
        # One after the other: where nothing is left to release, the end raises at once.
        released += stream.feed(data)
        released += stream.close()
        error = stream.error
    except TraceError as raised:
        error = raised
    parts = [
        (r.kind_indexes, r.ticks, r.thread_ids, r.stack_ids, r.offsets, r.sizes, r.capture_threads) for r in released
    ]
    *columns, captures = (np.concatenate(c) for c in zip(*parts, strict=True)) if parts else [np.empty(0)] * 7
    stacks = {n: r.release.stacks.data(n) for r in released for n in np.unique(r.stack_ids).tolist()}
    payloads = [p for r in released for p in r.payloads()]
    return Found(tuple(columns), captures, [k.row for k in stream.kinds.all], stacks, payloads, error)


@lru_cache(maxsize=2)
def whole_rows(path: Path) -> Found:
    found = rows(unpacked(path), "strict")
    assert found.error is None
    return found


@EACH
def test_events_of_a_cut_file_are_a_prefix_in_each_thread(path: Path) -> None:
    """The same through the public surface, payloads decoded; but for samples every event is about its capture thread.

    NetPerf does not write capture threads; its events are in order of time as they stand.
    """
    if path.name.startswith("net10-exceptions"):
        return  # The sampler writes about other threads.
    data = unpacked(path)
    whole: dict[int, list[Any]] = defaultdict(list)
    for e in clrevents.open(data).events():
        whole[home(e)].append(visible(e))
    captures = Counter(whole_rows(path).captures.tolist())
    if captures.keys() != {0}:
        counts = Counter({t: len(events) for t, events in whole.items()})
        sampled = counts.pop(SAMPLED, 0)
        assert sorted((captures - counts).values()) == [sampled] * (sampled > 0), "all samples come from one thread"
        assert not counts - captures
    errors: list[TraceError] = []
    for length in lengths(path)[::3]:
        found: dict[int, list[Any]] = defaultdict(list)
        last = 0
        try:
            for e in clrevents.open(data[:length]).events():
                assert e.time_ns >= last
                last = e.time_ns
                found[home(e)].append(visible(e))
        except TraceError as error:
            errors.append(error)
        for thread, events in found.items():
            assert events == whole[thread][: len(events)], f"thread {thread} of the first {length} bytes"
    assert len(errors) > cuts(path) // 6, "nearly every cut falls inside a block"
    for ended in errors:
        assert isinstance(ended, UnreadableError | DamageError)
        assert ended.offset is not None
        assert 0 <= ended.offset <= len(data)
        assert str(ended)


def home(e: clrevents.Event[Any]) -> int:
    """The thread that wrote an event; all samples come from one."""
    return SAMPLED if e.name == "ThreadSample" else e.thread_id


def visible(e: clrevents.Event[Any]) -> tuple[Any, ...]:
    """What can be compared across traces: learned classes are each trace's own, so their records by text."""
    return e.key, e.time_ns, e.activity_id, e.stack, e.payload_bytes, repr(e.payload)


@EACH
def test_every_question_to_a_cut_file_is_answered_or_refused(path: Path) -> None:
    data = unpacked(path)
    for length in lengths(path)[::6]:
        try:
            trace = clrevents.open(data[:length])
        except UnreadableError:
            continue
        report = trace.check()
        assert not report.complete
        assert sum(report.problem_counts.values()) >= len(report.problems) >= 1
        assert repr(trace)
        for question in (trace.event_counts, lambda t=trace: t.threads, lambda t=trace: t.duration_ns):
            with suppress(DamageError):
                question()
        assert trace.problems
