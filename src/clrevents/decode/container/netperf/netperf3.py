"""NetPerf 3: blocks of records in the object envelope (docs/format.md, "NetPerf 3").

Written in time order, without sequence numbers or sequence points.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.decode.container.blocks import Block, Fault, Header
from clrevents.decode.container.container import bad_event, read_trace_header
from clrevents.decode.container.metadata import read_record
from clrevents.decode.container.netperf.netperf_records import walk_records
from clrevents.decode.container.object_envelope import Body, ObjectContainer
from clrevents.decode.container.window import Window
from clrevents.errors import Limits, Problem, UnreadableError
from clrevents.schema.codes import ObjectName, ObjectTag


class NetPerf3(ObjectContainer):
    """NetPerf 3: blocks of records, each padded to a multiple of four within its declared size."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        super().__init__(ObjectTag.BEGIN, (ObjectName.EVENTS,), limits, salvage)

    def _header(self, window: Window, version: int) -> Header:
        if version != 3:
            raise UnreadableError(
                f"unsupported NetPerf version {version}; versions 1 to 3 can be read", offset=window.offset
            )
        return Header(read_trace_header(window, "NetPerf", version))

    def _content(self, window: Window, body: Body) -> Iterator[Block]:
        if body.name != ObjectName.EVENTS:
            note = f"skipped a block of unknown kind {body.name!r}"
            yield Fault(Problem("unknown-block", "note", note, window.base + body.start, body.end - body.start))
            return
        limits = self._limits
        pos, stopped = yield from walk_records(
            window, body.start, body.end, limits, lambda _, cursor: read_record(cursor, limits), False, body.broken
        )
        if stopped and not body.broken:
            yield bad_event("truncated", window.base + pos, body.end - pos)
