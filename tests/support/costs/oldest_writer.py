"""Writes NetPerf 1 and 2, which nothing writes today (docs/format.md, "NetPerf 1 and 2").

One object holds every record, unpadded. An event refers to its description by the file offset of that record, so the
writer remembers these; the `metadata_id` of the values is only a name for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clrevents.encode import blocks
from clrevents.encode.blocks import ObjectWriter
from clrevents.encode.metadata import fields_v1
from clrevents.encode.nettrace4 import full_record
from clrevents.encode.values import EventRecord, MetadataRecord, Sink, TraceHeader, guid, signed, unsigned, utf16z
from clrevents.schema.codes import FAST_SERIALIZATION, ObjectName, ObjectTag


class NetPerf12Writer(ObjectWriter):
    """A NetPerf 1 or 2 stream. `places` has the offset of each description by its `metadata_id`."""

    def __init__(self, sink: Sink, version: int, header: TraceHeader | None = None) -> None:
        super().__init__(sink, ObjectTag.BEGIN)
        self._version = version
        self.places: dict[int, int] = {}
        head = self.type_header(ObjectName.NETPERF12, version, 0)
        # Behind the type is the place of forward references.
        self.raw(FAST_SERIALIZATION + head + bytes(4) + blocks.clock(header or TraceHeader()))

    def metadata(self, records: Sequence[MetadataRecord]) -> None:
        self.events(records)

    def events(self, items: Sequence[EventRecord | MetadataRecord]) -> None:
        """Events and descriptions, in this order. Raises ValueError for an event that was not described."""
        describe = partial(described, version=self._version)
        for item in items:
            if isinstance(item, MetadataRecord):
                self.places[item.metadata_id] = self.offset
            if item.metadata_id not in self.places:
                raise ValueError("no description with this id was written")
            data = full_record(item, self.places[item.metadata_id], 8, describe)
            self.raw(signed(len(data), 4, "the record's size") + data)

    def end(self, *, footer: bool = True) -> None:
        """Close the object; `footer` adds 16 bytes (docs/format.md, "Footer of NetPerf 1 and 2")."""
        close = self.offset
        numbers = (1, close, close + 1, close + 9) if footer else ()
        self.raw(bytes((ObjectTag.END,)) + b"".join(signed(each, 4, "the footer") for each in numbers))


def described(one: MetadataRecord, version: int) -> bytes:
    """A description, of version 1 by guid or 2 by name (docs/format.md, "Descriptions of NetPerf 1 and 2").

    One without a name, fields, keywords and level is written as the runtime writes native events.
    """
    provider = guid(one.provider_guid or b"", "guid") if version == 1 else utf16z(one.provider, "provider")
    number, layout = unsigned(one.id, 2, "id") + bytes(2), unsigned(one.version, 1, "version") + bytes(3)
    more = b""
    if one.name or one.fields or one.keywords or one.level:
        text, keywords = utf16z(one.name, "name"), unsigned(one.keywords, 8, "keywords")
        level = unsigned(one.level, 1, "level") + bytes(3)
        more = number + text + keywords + layout + level + fields_v1(one.fields)
    return provider + number + layout + signed(len(more), 4, "the description's size") + more
