"""Every fixture cut at evenly spread lengths: a result or a TraceError, and a prefix in each capture thread.

A capture thread's events stand in the file in the order it wrote them, so a cut may only take from their end.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents import DamageError, TraceError, UnreadableError
from clrevents.errors import ERROR_MODES
from exercise import ask
from project_files import unpacked
from seen import Row, visible_of
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


def visible(e: clrevents.Event[Any]) -> Row:
    """All but the number of the stack, which depends on how the stream came."""
    return visible_of(e)[:9] + visible_of(e)[10:]


@EACH
def test_every_question_to_a_cut_file_is_answered_or_refused(path: Path) -> None:
    data = unpacked(path)
    for length in lengths(path)[::6]:
        for errors in ERROR_MODES:
            ask(data[:length], errors)
        with suppress(UnreadableError):
            assert not clrevents.open(data[:length]).check().complete
