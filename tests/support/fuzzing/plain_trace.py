"""A trace as plain values: its kinds, and its events in order, which can be changed and written in any generation.

Reads and writes what the encoders write; knows no meaning of an event. What it leaves out: labels but those
of activities, and what was lost.
"""

from __future__ import annotations

import dataclasses
import io
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import attrs

from clrevents.decode.container.blocks import MetadataRow
from clrevents.decode.rows import Rows
from clrevents.decode.stream.stream import Stream
from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import NO_GUID, EventRecord, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.schema.codes import LabelKind
from oldest_writer import NetPerf12Writer
from stack_data import stack_data

GENERATIONS: Final = ("NetTrace 4", "NetTrace 6", "NetPerf 3", "NetPerf 2")
R = TypeVar("R", EventRecord, MetadataRecord)
_BLOCK: Final = 200
_FIRST: Final = 5
"""Of stacks and labels in each region: there are ids below."""
_ACTIVITIES: Final = (LabelKind.ACTIVITY_ID, LabelKind.RELATED_ACTIVITY_ID)
_LOADS: Final = (143, 144)
"""The runtime's events that begin with a method's address and size behind two ids."""
_LOAD: Final = struct.Struct("<16xQI")


@attrs.define
class PlainTrace:
    """Kinds by number; events with the bytes of their stacks; the process of each thread, and its id where events have
    another number for it."""

    header: TraceHeader
    kinds: dict[int, MetadataRecord]
    events: list[EventRecord]
    processes: dict[int, int] = attrs.field(factory=dict)
    thread_ids: dict[int, int] = attrs.field(factory=dict)

    @classmethod
    def of(cls, data: bytes) -> PlainTrace:
        """What can be read of these bytes."""
        stream = Stream(errors="salvage")
        regions = [*stream.feed(data), *stream.close()]
        info = stream.info
        assert info is not None
        size = info.pointer_size
        header = TraceHeader(
            sync_qpc=info.sync_qpc,
            frequency=info.frequency,
            pointer_size=size,
            process_id=info.process_id,
            processors=2,
        )
        found = cls(header, {}, [])
        for rows in regions:
            for event, process in _records(rows):
                found.events.append(event)
                if process is not None:
                    found.processes[event.thread_id] = process
        found.kinds = {number: described(kind.row, number) for number, kind in enumerate(stream.kinds.all, 1)}
        return found

    def slim(self, each: int, middle: int) -> PlainTrace:
        """The first events of each kind, some that follow one another, and the methods that their stacks name."""
        seen: Counter[int] = Counter()
        first = max(len(self.events) // 3, 0)
        kept = set(range(first, min(first + middle, len(self.events))))
        for place, event in enumerate(self.events):
            seen[event.metadata_id] += 1
            if seen[event.metadata_id] <= each:
                kept.add(place)
        word = {4: "I", 8: "Q"}[self.header.pointer_size]
        addresses = sorted({a for place in kept for (a,) in struct.iter_unpack(f"<{word}", self.events[place].stack)})
        for place, event in enumerate(self.events):
            kind = self.kinds[event.metadata_id]
            if kind.id in _LOADS and len(event.payload) >= _LOAD.size and len(kept) < 1500:
                start, length = _LOAD.unpack_from(event.payload)
                if any(start <= address < start + length for address in addresses):
                    kept.add(place)
        return attrs.evolve(self, events=[self.events[place] for place in sorted(kept)])

    def written(self, generation: str) -> bytes:
        """The trace as this generation has it."""
        sink = io.BytesIO()
        if generation == "NetTrace 4":
            self._regions(NetTrace4Writer(sink, self.header))
        elif generation == "NetTrace 6":
            self._regions(NetTrace6Writer(sink, self.header))
        else:
            made: Any = NetPerf3Writer(sink, self.header)
            if generation == "NetPerf 2":
                sink = io.BytesIO()
                made = NetPerf12Writer(sink, 2, self.header)
            self._records(made)
        return sink.getvalue()

    def _regions(self, writer: NetTrace4Writer | NetTrace6Writer) -> None:
        told: set[int] = set()
        threads: set[int] = set()
        for at in range(0, len(self.events), _BLOCK):
            part = self.events[at : at + _BLOCK]
            new = {event.metadata_id for event in part} - told
            told |= new
            if new & self.kinds.keys():
                writer.metadata([self.kinds[number] for number in sorted(new & self.kinds.keys())])
            fresh = {t for event in part for t in (event.thread_id, event.capture_thread_id) if t is not None} - threads
            threads |= fresh
            stacks = _numbers(e.stack for e in part if e.stack)
            if stacks:
                writer.stacks(_FIRST, list(stacks))
            if isinstance(writer, NetTrace6Writer):
                ids = [(t, self.thread_ids.get(t, t)) for t in sorted(fresh)]
                writer.threads(ThreadRow(t, id, self.processes.get(t, 1), f"thread {id % 97}") for t, id in ids)
                labels = _numbers(
                    pair for e in part if (pair := (e.activity_id, e.related_activity_id)) != (NO_GUID, NO_GUID)
                )
                numbers = [e.label_id or labels.get((e.activity_id, e.related_activity_id), 0) for e in part]
                part = [changed(e, label_id=number) for e, number in zip(part, numbers, strict=True)]
                part = [changed(e, activity_id=NO_GUID, related_activity_id=NO_GUID) for e in part]
                if labels:
                    writer.labels(_FIRST, [list(map(Label, _ACTIVITIES, pair)) for pair in labels])
            writer.events([changed(e, stack_id=e.stack_id or stacks.get(e.stack, 0), stack=b"") for e in part])
            writer.sequence_point(max(0, *(event.time for event in part)))
        writer.end()

    def _records(self, writer: Any) -> None:
        told: set[int] = set()
        for at in range(0, len(self.events), _BLOCK):
            part: list[EventRecord | MetadataRecord] = []
            for event in self.events[at : at + _BLOCK]:
                if event.metadata_id not in told and event.metadata_id in self.kinds:
                    told.add(event.metadata_id)
                    part.append(_bare(self.kinds[event.metadata_id], isinstance(writer, NetPerf12Writer)))
                part.append(EventRecord(event.metadata_id, event.time, event.thread_id & 0x7FFFFFFF, event.payload,
                                        stack=event.stack))  # fmt: skip
            writer.events(part)
        writer.end()


def changed(record: R, **values: Any) -> R:
    """The event, or kind, with other values."""
    return dataclasses.replace(record, **values)


def _numbers(values: Iterable[Any]) -> dict[Any, int]:
    """Different values, numbered."""
    return {value: number for number, value in enumerate(dict.fromkeys(values), _FIRST)}


def _records(rows: Rows) -> Iterator[tuple[EventRecord, int | None]]:
    count = len(rows)
    activities = rows.activities.all() if rows.activities is not None else [None] * count
    related = rows.related_activities.all() if rows.related_activities is not None else [None] * count
    columns = zip(
        rows.kind_indexes.tolist(),
        rows.ticks.tolist(),
        rows.thread_ids.tolist(),
        rows.payloads(),
        rows.stack_ids.tolist(),
        activities,
        related,
        rows.labels or [None] * count,
        rows.process_ids or [None] * count,
        strict=True,
    )
    for kind, time, thread, payload, stack, activity, other, labels, process in columns:
        if labels is not None:
            activity, other = labels.activity_id or activity, labels.related_activity_id or other
        data = stack_data(rows.release.stacks, stack) or b"" if stack > 0 else b""
        yield (
            EventRecord(
                kind + 1,
                time,
                thread,
                payload,
                activity_id=activity or NO_GUID,
                related_activity_id=other or NO_GUID,
                stack=data,
            ),
            process,
        )


def described(row: MetadataRow, number: int, **more: Any) -> MetadataRecord:
    """A description that was read, to be written again with this number."""
    return MetadataRecord(
        number, row.provider, row.id, row.version, row.name, row.keywords, row.level, row.opcode, row.fields, **more
    )


def _bare(known: MetadataRecord, old: bool) -> MetadataRecord:
    """NetPerf 1 and 2 have no opcode and no arrays."""
    if not old:
        return known
    return changed(known, opcode=None, fields=())
