"""Perfetto's traces, decoded by protobuf's own library with the published messages, and the rules that they follow.

What it gives is what any reader of the format sees. Each broken rule is an AssertionError.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest

import clrevents
from clrevents.export.look import Look
from clrevents.export.timeline.timeline_file import write_timeline
from timeline_sums import Sums

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class ReadTrack(NamedTuple):
    """A track with its place: names from the process down, and the process and thread that it is of."""

    path: tuple[str, ...]
    pid: int | None
    tid: int | None
    unit: str


class ReadEvent(NamedTuple):
    """A slice (`end` None if it never ends), an instant (`end` is its time), or a value of a counter."""

    track: ReadTrack
    kind: int
    start: int
    end: int | None
    name: str
    category: str
    details: dict[str, Any]
    depth: int
    value: float
    leaves: tuple[int, ...]
    reaches: tuple[int, ...]


def read_perfetto(data: bytes) -> list[ReadEvent]:
    """All events, in order of tracks, after checking everything that holds for the whole."""
    perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = perfetto.Trace.FromString(data)
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == len(data), "a field is not published, or longer than the library would write it"
    return list(_Reader().events(trace))


def exported(trace: clrevents.Trace, *selectors: str) -> list[ReadEvent]:
    """The timeline of a trace, written and read."""
    stream = io.BytesIO()
    write_timeline(trace, stream, Look("app.nettrace", start=trace.info.start), "perfetto", selectors)
    return read_perfetto(stream.getvalue())


def sums_of_events(events: Sequence[ReadEvent]) -> Sums:
    """As `timeline_sums` has them."""
    found: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for event in events:
        if event.category not in ("samples", "events") and event.kind != COUNTER:
            sums = found[event.category, event.track.tid, event.name]
            sums[0] += 1
            sums[1] += 0 if event.end is None else event.end - event.start
    return {key: (count, total) for key, (count, total) in found.items()}


def counters_of_events(events: Sequence[ReadEvent]) -> dict[str, list[float]]:
    """The values of each counter."""
    found: dict[str, list[float]] = defaultdict(list)
    for event in events:
        if event.kind == COUNTER:
            found[event.track.path[-1]].append(event.value)
    return dict(found)


def arrows_of_events(events: Sequence[ReadEvent]) -> list[tuple[ReadEvent, ReadEvent]]:
    """From where to where each leads."""
    ends = {arrow: event for event in events for arrow in event.reaches}
    return [(event, ends[arrow]) for event in events for arrow in event.leaves]


def calls_of_events(events: Sequence[ReadEvent]) -> dict[Any, int]:
    """Of each method the outermost calls, because those inside are part of them."""
    found: dict[Any, int] = defaultdict(int)
    until: dict[Any, int] = defaultdict(int)
    for event in events:
        if event.category == "samples" and event.start >= until[event.track.tid, event.name]:
            assert event.end is not None
            until[event.track.tid, event.name] = event.end
            found[event.track.tid, event.name] += event.end - event.start
    return dict(found)


class _Reader:
    def __init__(self) -> None:
        self.tracks: dict[int, ReadTrack] = {}
        self.texts: dict[str, dict[int, str]] = defaultdict(dict)
        self.said: set[tuple[str, str]] = set()
        self.found: dict[int, list[list[Any]]] = defaultdict(list)
        self.open: dict[int, list[int]] = defaultdict(list)
        self.last: dict[int, int] = defaultdict(int)
        self.arrows: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def events(self, trace: Any) -> Iterator[ReadEvent]:
        for number, packet in enumerate(trace.packet):
            assert packet.trusted_packet_sequence_id == 1
            assert packet.sequence_flags == (1 if number == 0 else 2)
            self.packet(packet)
        for arrow, ends in self.arrows.items():
            sides = Counter(side for _, side in ends)
            assert sides == {"leaves": 1, "reaches": 1}, f"arrow {arrow} has {sides}"
            leaves, reaches = (next(time for time, side in ends if side == one) for one in ("leaves", "reaches"))
            assert leaves <= reaches
        for uuid, events in self.found.items():
            for event in events:
                yield ReadEvent(self.tracks[uuid], *event)

    def packet(self, packet: Any) -> None:
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                text = entry.str.decode() if field.name == "debug_annotation_string_values" else entry.name
                assert entry.iid > 0
                assert entry.iid not in self.texts[field.name]
                assert (field.name, text) not in self.said, "interned twice"
                self.said.add((field.name, text))
                self.texts[field.name][entry.iid] = text
        if packet.HasField("track_descriptor"):
            self.describe(packet.track_descriptor)
        if packet.HasField("track_event"):
            assert packet.HasField("timestamp")
            self.event(packet.track_event, packet.timestamp)

    def describe(self, about: Any) -> None:
        assert about.uuid not in self.tracks
        parent = self.tracks[about.parent_uuid] if about.HasField("parent_uuid") else None
        unit = ""
        if about.HasField("process"):
            assert about.process.pid > 0
            found = ReadTrack((about.process.process_name,), about.process.pid, None, "")
        elif about.HasField("thread"):
            assert about.thread.tid > 0
            process = next(t for t in self.tracks.values() if t.pid == about.thread.pid and t.tid is None)
            found = ReadTrack((*process.path, about.thread.thread_name), about.thread.pid, about.thread.tid, "")
        else:
            if about.HasField("counter"):
                unit = about.counter.unit_name or about.counter.Unit.Name(about.counter.unit)
            path = (*(parent.path if parent else ()), about.name)
            found = ReadTrack(path, parent.pid if parent else None, parent.tid if parent else None, unit)
        self.tracks[about.uuid] = found

    def event(self, event: Any, time: int) -> None:
        uuid = event.track_uuid
        assert uuid in self.tracks, "an event before the description of its track"
        # Perfetto sorts by time; but what has a begin and an end must be nested as it is written.
        assert time >= self.last[uuid] or event.type == INSTANT, f"{self.tracks[uuid]} goes back in time"
        self.last[uuid] = max(time, self.last[uuid])
        open_, mine = self.open[uuid], self.found[uuid]
        if event.type == END:
            assert open_, f"{self.tracks[uuid]}: an end without a start"
            mine[open_.pop()][2] = time
            return
        assert (event.type == COUNTER) == bool(self.tracks[uuid].unit)
        name = self.text("event_names", event, "name_iid", "name") if event.type != COUNTER else ""
        category = "".join(self.texts["event_categories"][iid] for iid in event.category_iids)
        details = {}
        for one in event.debug_annotations:
            key, value = self.detail(one)
            assert key not in details
            details[key] = value
        if event.type == BEGIN:
            open_.append(len(mine))
        depth = len(open_) - (event.type == BEGIN)
        end = time if event.type == INSTANT else None
        arrows = (tuple(event.flow_ids), tuple(event.terminating_flow_ids))
        mine.append([event.type, time, end, name, category, details, depth, event.double_counter_value, *arrows])
        for side, numbers in zip(("leaves", "reaches"), arrows, strict=True):
            for arrow in numbers:
                self.arrows[arrow].append((time, side))

    def text(self, kind: str, message: Any, iid: str, plain: str) -> str:
        assert message.HasField(iid) != message.HasField(plain)
        return self.texts[kind][getattr(message, iid)] if message.HasField(iid) else getattr(message, plain)

    def detail(self, one: Any) -> tuple[str, Any]:
        return self.text("debug_annotation_names", one, "name_iid", "name"), self.value(one)

    def value(self, one: Any) -> Any:
        if one.dict_entries:
            return dict(self.detail(entry) for entry in one.dict_entries)
        if one.array_values:
            return [self.value(entry) for entry in one.array_values]
        if one.HasField("string_value_iid"):
            return self.texts["debug_annotation_string_values"][one.string_value_iid]
        kind = one.WhichOneof("value")
        return None if kind is None else getattr(one, kind)
