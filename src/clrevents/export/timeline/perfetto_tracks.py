"""A timeline's tracks → descriptors of Perfetto's format, one when a track is first needed.

Processes and threads have their numbers where the format can hold them, and otherwise only names. Knows no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from clrevents.export.protobuf_wire import kept_number, message, number, text
from clrevents.export.timeline.timeline_items import GROUPS, ThreadName, Track

# TracePacket
_DESCRIPTOR = 60
# TrackDescriptor
_UUID, _NAME, _PROCESS, _THREAD, _PARENT, _COUNTER, _ORDERING, _RANK = 1, 2, 3, 4, 5, 8, 11, 12
# ProcessDescriptor, ThreadDescriptor, CounterDescriptor
_PID, _PROCESS_NAME = 1, 6
_TID, _THREAD_NAME = 2, 5
_UNIT, _UNIT_NAME = 3, 6

_EXPLICIT: Final = 3
_UNITS: Final = {"": 0, "ns": 1, "count": 2, "bytes": 3, "B": 3}
_RANKS: Final = {group: place for place, group in enumerate(GROUPS)}
_MOST: Final = (1 << 31) - 1
"""The largest number of a process or thread that the format can hold; 0 means another thing in it."""


class PerfettoTracks:
    """The numbers of tracks; `packet` gets the descriptor of each new one."""

    def __init__(self, title: str, threads: Iterable[ThreadName], packet: Callable[[bytes], object]) -> None:
        self._title = title
        self._names = {(name.process_id, name.thread_id): name for name in threads}
        self._packet = packet
        self._numbers: dict[Track, int] = {}
        self._processes: dict[int | None, int] = {}
        self._threads: dict[tuple[int | None, int], int] = {}
        self._count = 0

    def of(self, track: Track) -> int:
        """A track's number, which its events need."""
        found = self._numbers.get(track)
        if found is None:
            found = self._numbers[track] = self._make(track)
        return found

    def name_all(self) -> None:
        """Describe the threads that nothing was said of yet, too."""
        for process, thread in self._names:
            self._thread(process, thread)

    def _make(self, track: Track) -> int:
        if track.thread_id is None:
            parent = self._process(track.process_id)
        else:
            parent = self._thread(track.process_id, track.thread_id)
            if track.group == "samples":
                return parent
        counter = b""
        if track.group == "counters":
            unit = _UNITS.get(track.unit)
            counter = message(_COUNTER, text(_UNIT_NAME, track.unit) if unit is None else number(_UNIT, unit), True)
        rank = number(_RANK, _RANKS[track.group])
        return self._described(number(_PARENT, parent) + text(_NAME, track.name) + rank + counter)

    def _process(self, process: int | None) -> int:
        found = self._processes.get(process)
        if found is None:
            if _fits(process):
                about = message(_PROCESS, number(_PID, process or 0) + text(_PROCESS_NAME, self._title))
            else:
                about = text(_NAME, self._title if process is None else f"{self._title} (process {process})")
            found = self._processes[process] = self._described(about + number(_ORDERING, _EXPLICIT))
        return found

    def _thread(self, process: int | None, thread: int) -> int:
        found = self._threads.get((process, thread))
        if found is None:
            known = self._names.get((process, thread))
            name = known.name if known else "thread"
            parent = self._process(process)
            if _fits(process) and _fits(thread):
                ids = number(_PID, process or 0) + number(_TID, thread)
                about = message(_THREAD, ids + text(_THREAD_NAME, name))
            else:
                about = number(_PARENT, parent) + text(_NAME, f"{name} {thread}")
            found = self._threads[process, thread] = self._described(about + number(_ORDERING, _EXPLICIT))
        return found

    def _described(self, about: bytes) -> int:
        self._count += 1
        self._packet(message(_DESCRIPTOR, kept_number(_UUID, self._count) + about))
        return self._count


def _fits(id: int | None) -> bool:
    return id is not None and 0 < id <= _MOST
