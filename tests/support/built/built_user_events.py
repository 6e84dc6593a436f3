"""A recorder's file with the runtime's events in it, as its source describes them; nobody has seen a real one.

Facts from microsoft/one-collect (nettrace.rs, dotnet/os/linux.rs). The runtime's own events are described by provider
and id alone: version 0, no fields, no keywords, no level, and the name `Unknown(id)`. Which version an event has is in
its labels, with its opcode and activities. An event of an EventSource has its name and fields. All events are of one
capture thread; where no stack was recorded, there is one frame, of address 0.
"""

from __future__ import annotations

import io
from typing import Any, Final

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, Label, LabelKind, MetadataRecord, ThreadRow, TraceHeader
from clrevents.schema.own_marks import JOINED
from clrevents.trace import passes_of

_NO_STACK: Final = (0,)
_NOTHING_TOLD: Final = (Label(LabelKind.TEXT, "Expected actual values", "Error"),)


def user_events(joined: clrevents.Trace, *without: str) -> bytes:
    """The events of a joined trace, but for its mark and some providers, in the recorder's layout."""
    info = joined.info
    assert info.start is not None
    sink = io.BytesIO()
    header = TraceHeader(
        *(info.start, info.sync_qpc, info.frequency, info.pointer_size, None),
        *(info.processors, info.sampling_interval_ns),
    )
    writer = NetTrace6Writer(sink, header)
    kinds = {kind.key: kind for kind in passes_of(joined).scan().kinds}
    described: dict[Any, MetadataRecord] = {}
    stacks: dict[tuple[int, ...], int] = {}
    labels: dict[tuple[Label, ...], int] = {}
    threads = {(0, 0): 0}
    events = []
    for event in joined.events():
        key = event.key
        if (key.provider, key.name) == JOINED.event or key.provider in without:
            continue
        machine = key.provider.startswith("Universal.")
        row = kinds[key].row
        manifest = not machine and not row.fields
        name = f"Unknown({key.id})" if manifest else row.name or key.name
        # One description for all versions that processes have.
        which = (key.provider, key.id, name, row.fields)
        if which not in described:
            described[which] = MetadataRecord(len(described) + 1, key.provider, key.id, 0, name, fields=row.fields)
        thread = (event.process_id or 0, event.thread_id)
        system = key.provider == "Universal.System"
        told = _NOTHING_TOLD if machine else _labels(event)
        events.append(
            EventRecord(
                described[which].metadata_id,
                info.sync_qpc + event.time_ns * info.frequency // 1_000_000_000,
                threads.setdefault(thread, len(threads)),
                event.payload_bytes,
                capture_thread_id=0,
                processor=event.processor or 0,
                stack_id=0 if system else stacks.setdefault(event.stack or _NO_STACK, len(stacks) + 1),
                label_id=0 if system else labels.setdefault(told, len(labels) + 1),
                is_sorted=False,
            )
        )
    writer.metadata(described.values())
    writer.sequence_point(info.sync_qpc, {})
    writer.stacks(1, stacks)
    writer.threads(ThreadRow(index, thread, process) for (process, thread), index in threads.items())
    writer.labels(1, labels)
    writer.events(events)
    writer.end()
    return sink.getvalue()


def _labels(event: clrevents.Event[Any]) -> tuple[Label, ...]:
    found = []
    if event.version or event.opcode:
        found += [Label(LabelKind.VERSION, event.version), Label(LabelKind.OPCODE, event.opcode & 0xFF)]
    for kind, activity in (
        (LabelKind.ACTIVITY_ID, event.activity_id),
        (LabelKind.RELATED_ACTIVITY_ID, event.related_activity_id),
    ):
        if activity is not None:
            found.append(Label(kind, activity))
    return tuple(found) or _NOTHING_TOLD
