"""Perfetto's format, read by protobuf's own library with the published messages; and its sums are those of reports."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.export.file_formats import file_format
from clrevents.export.timeline.perfetto import PerfettoFile
from clrevents.export.timeline.report_items import placed
from clrevents.export.timeline.timeline_items import Instant, Item, Level, Placed, Stretch, ThreadName, Track
from perfetto_reading import (
    INSTANT,
    ReadEvent,
    calls_of_events,
    counters_of_events,
    exported,
    read_perfetto,
    sums_of_events,
)
from project_files import FIXTURES
from timeline_sums import sums_of_calls, sums_of_counters, sums_of_reports

pytestmark = pytest.mark.full

TRACES = ("net10-garbage", "net10-convoy", "net10-exceptions", "net10-starvation", "net8-counters", "net8-netperf3")
T = Track("states", "state", 7, 70)


def written(items: Sequence[Placed], threads: Sequence[ThreadName] = ()) -> list[ReadEvent]:
    stream = io.BytesIO()
    file = PerfettoFile(stream, "app.nettrace", 1_700_000_000_000_000_000, threads)
    file.write(items)
    file.close()
    return read_perfetto(stream.getvalue())


@pytest.mark.parametrize("name", TRACES)
def test_sums_are_those_of_the_reports(name: str) -> None:
    with clrevents.open(next(FIXTURES.glob(f"{name}.net*.gz"))) as trace:
        events = exported(trace)
        assert sums_of_events(events) == sums_of_reports(trace)
        assert calls_of_events(events) == sums_of_calls(trace)
        assert counters_of_events(events) == sums_of_counters(trace)


def test_what_the_sums_are_of() -> None:
    """That sums are equal says little where there is nothing."""
    found: Counter[str] = Counter()
    for name in ("net10-garbage", "net10-convoy", "net10-exceptions", "net10-starvation", "net8-sample"):
        with clrevents.open(FIXTURES / f"{name}.nettrace.gz") as trace:
            found.update(event.category for event in exported(trace))
    least = {"samples": 800, "states": 140, "pauses": 11, "collections": 11, "suspensions": 3000, "jit": 590}
    least |= {"locks": 8, "held": 6, "exceptions": 65, "events": 200, "tasks": 57, "created": 57, "activities": 1}
    assert set(found) == set(least)
    assert {group for group, count in least.items() if found[group] < count} == set()


def test_threads_and_processes() -> None:
    threads = [
        ThreadName(7, 70, "main"),
        ThreadName(7, 71, "Idle"),
        ThreadName(None, 5, "lost"),
        ThreadName(7, 0, "zero"),
    ]
    large = 1 << 40
    items: list[Placed] = [
        (T, Instant(1, "a")),
        (Track("samples", "calls", 7, 70), Stretch(2, 3, "Main")),
        (Track("states", "state", 7, 72), Instant(3, "b")),
        (Track("pauses", "GC pauses", 7), Instant(4, "c")),
        (Track("states", "state", None, 5), Instant(5, "d")),
        (Track("states", "state", large, 70), Instant(6, "e")),
        (Track("states", "state", 7, large), Instant(7, "f")),
        (Track("states", "state", 7, 0), Instant(8, "g")),
        (Track("events", "events", None, None), Instant(9, "h")),
    ]
    assert {event.name: event.track[:3] for event in written(items, threads)} == {
        "a": (("app.nettrace", "main", "state"), 7, 70),
        "Main": (("app.nettrace", "main"), 7, 70),
        "b": (("app.nettrace", "thread", "state"), 7, 72),
        "c": (("app.nettrace", "GC pauses"), 7, None),
        "d": (("app.nettrace", "lost 5", "state"), None, None),
        "e": ((f"app.nettrace (process {large})", "thread 70", "state"), None, None),
        "f": (("app.nettrace", f"thread {large}", "state"), 7, None),
        "g": (("app.nettrace", "zero 0", "state"), 7, None),
        "h": (("app.nettrace", "events"), None, None),
    }


def test_names_and_details_are_what_they_were() -> None:
    names = ["", "</script>", "\x00\r\n", "\u202eevil", "a" * 100_000, "\U0001f600", "half \ud800"]
    details = {
        "text": "x", "long": "y" * 1000, "yes": True, "no": False, "zero": 0, "least": -(1 << 63),
        "most": (1 << 64) - 1, "too much": 1 << 64, "float": -0.5, "nothing": None,
        "list": [1, "x", [], {"a": None}], "": {"b": [2.5]},
    }  # fmt: skip
    found = written([(T, Instant(n, name, details)) for n, name in enumerate(names * 2)])
    assert [event.name for event in found] == [*names[:-1], "half ?"] * 2
    # An empty list has no form of its own in the format.
    wanted = {**details, "too much": str(1 << 64), "list": [1, "x", None, {"a": None}]}
    assert all(event.details == wanted for event in found)


def test_more_names_than_are_kept() -> None:
    many = [f"name {n}" for n in range((1 << 16) + 10)] * 2
    stream = io.BytesIO()
    file = PerfettoFile(stream, "app", None, ())
    file.write((T, Instant(n, name)) for n, name in enumerate(many))
    file.close()
    assert stream.getvalue().count(b"name 5\x12") <= 1
    assert [event.name for event in read_perfetto(stream.getvalue())] == many


def test_stretches_end_where_they_end() -> None:
    items: list[Placed] = [
        (T, Stretch(10, 40, "outer")),
        (T, Stretch(10, 20, "first")),
        (T, Stretch(20, 20, "nothing")),
        (T, Stretch(20, 40, "second")),
        (T, Stretch(40, 40, "after")),
        (T, Stretch(50, None, "open")),
        (T, Stretch(60, 70, "in it")),
    ]
    assert [(e.name, e.start, e.end, e.depth) for e in written(items)] == [
        ("outer", 10, 40, 0), ("first", 10, 20, 1), ("nothing", 20, 20, 1), ("second", 20, 40, 1), ("after", 40, 40, 0),
        ("open", 50, None, 0), ("in it", 60, 70, 1),
    ]  # fmt: skip


def test_counters() -> None:
    tracks = [Track("counters", unit, 7, None, unit) for unit in ("bytes", "count", "requests/s", "")]
    found = written([(track, Level(n, value)) for track in tracks for n, value in enumerate((0, 1.5, -2e300))])
    assert [(event.track.unit, event.value) for event in found] == [
        (unit, value)
        for unit in ("UNIT_SIZE_BYTES", "UNIT_COUNT", "requests/s", "UNIT_UNSPECIFIED")
        for value in (0, 1.5, -2e300)
    ]


spans = st.lists(st.tuples(st.integers(0, 30), st.one_of(st.none(), st.integers(0, 30))), max_size=40)


@given(spans, st.booleans())
def test_lanes_keep_every_stretch(drawn: list[tuple[int, int | None]], nesting: bool) -> None:
    """Ends are where they were, which they are not if stretches cross on a track."""
    items: list[Item] = [
        Stretch(start, None if took is None else start + took, str(n)) for n, (start, took) in enumerate(drawn)
    ]
    items.sort(key=lambda item: (item.start_ns, -(getattr(item, "end_ns", None) or 1000)))
    lanes = list(placed(T, items, nesting))
    found = {event.name: (event.start, event.end) for event in written(lanes)}
    assert found == {item.name: (item.start_ns, item.end_ns) for item in items if isinstance(item, Stretch)}
    if not nesting:
        assert all(event.depth == 0 for event in written(lanes))


def test_lanes_are_used_again() -> None:
    items = [Stretch(n, n + 3, str(n)) for n in range(100)]
    assert {track.lane for track, _ in placed(T, items)} == {0, 1, 2}


@pytest.mark.parametrize("name", ["a.pftrace", "a.PFTRACE.gz", "trace.perfetto-trace"])
def test_file_names(name: str) -> None:
    assert file_format(name, "timeline") == "perfetto"


@pytest.mark.parametrize("name", ["a.json", "pftrace", "a.nettrace", "a.pftrace.zip"])
def test_names_of_other_files(name: str) -> None:
    assert file_format(name, "timeline") is None


def test_only_the_events_that_were_asked_for() -> None:
    with clrevents.open(FIXTURES / "net8-sample.nettrace.gz") as trace:
        events = [event for event in exported(trace, "AllTypes", "GCStart") if event.category == "events"]
        assert [event.name for event in events] == [event.name for event in trace.events("AllTypes", "GCStart")]
        assert {event.kind for event in events} == {INSTANT}
    shown = next(event for event in events if event.name == "AllTypes")
    assert shown.details["provider"] == "Clrevents-Sample"
    wanted = {"b": True, "i8": -2, "f": 1.25, "s": "naïve ✓ 😀", "g": "00112233-4455-6677-8899-aabbccddeeff"}
    assert wanted.items() <= shown.details["payload"].items()
