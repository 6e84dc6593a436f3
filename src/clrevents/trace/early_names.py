"""The code that a process listed in a short session of its own, for a recording whose own list comes later, or never.

Decides whether both are recordings of one process: by its id, and by clocks that say the same time. Knows no names.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKind
from clrevents.decode.push_passes import EventPass
from clrevents.decode.stream.stream import Stream
from clrevents.errors import Limits, TraceError
from clrevents.schema.registry import Registry
from clrevents.sources import Openable, open_source
from clrevents.symbols.feed import COMPLETE, CodeEvents

_APART_S: Final = 1.0
"""Headers have the time of day in milliseconds, and it may have been corrected between the two sessions."""


class _Listed(CodeEvents):
    """What is said about code, but not that the list is complete: it ends before the recording does."""

    def means(self, kind: EventKind) -> bool:
        return super().means(kind) and (kind.key.provider, kind.key.name) not in COMPLETE


def early_code(listed: Openable, info: TraceInfo, limits: Limits, registry: Registry) -> Iterator[DecodedRows]:
    """The events about code of `listed`, a whole recording, on the clock of the recording that `info` describes.

    Nothing if it is of another process, or after where it cannot be read.
    """
    try:
        source = open_source(listed, limits)
    except TraceError:
        return
    # Not by the passes of a trace: nobody asked about this file, and its damage is no news of the recording.
    stream = Stream(errors="salvage", limits=limits, registry=registry, in_time_order=False)
    events = EventPass(stream, _Listed(registry), lambda: 0, decode=False)
    clock = Clock(info.sync_qpc, info.frequency, info.start)
    try:
        for data in chain(source.windows(), (None,)):
            for rows in events.close() if data is None else events.feed(data):
                if stream.info is None or not _same_process(stream.info, info):
                    return
                rows.clock = clock
                yield rows
    except TraceError:
        return
    finally:
        source.close()


def _same_process(one: TraceInfo, other: TraceInfo) -> bool:
    if one.process_id != other.process_id or one.frequency != other.frequency or not one.start or not other.start:
        return False
    by_clock = (one.sync_qpc - other.sync_qpc) / one.frequency
    return abs((one.start - other.start).total_seconds() - by_clock) < _APART_S
