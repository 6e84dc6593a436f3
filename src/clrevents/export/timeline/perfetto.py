"""A timeline → Perfetto's protobuf format, packet by packet: https://ui.perfetto.dev shows it.

The messages are those of https://github.com/google/perfetto/tree/main/protos/perfetto/trace, of which few fields are
needed: their numbers are below. Holds open stretches and the texts that were written; asks no report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, Final

from clrevents.export.protobuf_wire import double, fixed64, kept_number, message, number, text
from clrevents.export.timeline.timeline_items import GROUPS, Instant, Level, Placed, Stretch, ThreadName, Track

# TracePacket
_DESCRIPTOR = 60
# TrackDescriptor
_UUID, _TRACK_NAME, _PROCESS, _THREAD, _PARENT, _TRACK_COUNTER, _ORDERING, _RANK = 1, 2, 3, 4, 5, 8, 11, 12
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
        track_id = self._numbers.get(track)
        if track_id is None:
            track_id = self._numbers[track] = self._make(track)
        return track_id

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
            counter = message(
                _TRACK_COUNTER, text(_UNIT_NAME, track.unit) if unit is None else number(_UNIT, unit), True
            )
        rank = number(_RANK, _RANKS[track.group])
        return self._described(number(_PARENT, parent) + text(_TRACK_NAME, track.name) + rank + counter)

    def _process(self, process: int | None) -> int:
        track_id = self._processes.get(process)
        if track_id is None:
            if _fits(process):
                about = message(_PROCESS, number(_PID, process or 0) + text(_PROCESS_NAME, self._title))
            else:
                about = text(_TRACK_NAME, self._title if process is None else f"{self._title} (process {process})")
            track_id = self._processes[process] = self._described(about + number(_ORDERING, _EXPLICIT))
        return track_id

    def _thread(self, process: int | None, thread: int) -> int:
        track_id = self._threads.get((process, thread))
        if track_id is None:
            known = self._names.get((process, thread))
            name = known.name if known else "thread"
            parent = self._process(process)
            if _fits(process) and _fits(thread):
                ids = number(_PID, process or 0) + number(_TID, thread)
                about = message(_THREAD, ids + text(_THREAD_NAME, name))
            else:
                about = number(_PARENT, parent) + text(_TRACK_NAME, f"{name} {thread}")
            track_id = self._threads[process, thread] = self._described(about + number(_ORDERING, _EXPLICIT))
        return track_id

    def _described(self, about: bytes) -> int:
        self._count += 1
        self._packet(message(_DESCRIPTOR, kept_number(_UUID, self._count) + about))
        return self._count


def _fits(id: int | None) -> bool:
    return id is not None and 0 < id <= _MOST


# Trace, and TracePacket
_PACKET = 1
_CLOCKS, _TIME, _SEQUENCE, _EVENT, _INTERNED, _FLAGS = 6, 8, 10, 11, 12, 13
# ClockSnapshot, and Clock
_CLOCK = 1
_CLOCK_ID, _CLOCK_TIME = 1, 2
# TrackEvent
_CATEGORY_IID, _DETAIL, _TYPE, _NAME_IID, _TRACK, _NAME = 3, 4, 9, 10, 11, 23
_CATEGORY, _COUNTER_VALUE, _LEAVES, _REACHES = 22, 44, 47, 48
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_TYPES: Final = {kind: kept_number(_TYPE, kind) for kind in (_BEGIN, _END, _INSTANT, _COUNTER)}
# InternedData, and its entries
_CATEGORIES, _NAMES, _DETAIL_NAMES, _DETAIL_TEXTS = 1, 2, 3, 29
_IID, _TEXT = 1, 2
# DebugAnnotation
_D_NAME_IID, _D_BOOL, _D_UINT, _D_INT, _D_DOUBLE, _D_TEXT = 1, 2, 3, 4, 5, 6
_D_NAME, _D_ENTRIES, _D_VALUES, _D_TEXT_IID = 10, 11, 12, 17

_REALTIME, _BOOTTIME = 1, 6
"""Clocks: the one of the wall, and the default one, which is ours since the session started."""
_CLEARED, _NEEDED = 1, 2
"""Flags of packets: nothing is interned yet; something interned is needed."""
_ENDINGS: Final = {flags: number(_SEQUENCE, 1) + number(_FLAGS, flags) for flags in (_CLEARED, _NEEDED)}
_MOST_TEXTS: Final = 1 << 16
_LONGEST: Final = 256
_BUFFER: Final = 1 << 20
_LAST: Final = (1 << 63) - 1


class PerfettoFile:
    """A trace that is being written. `threads` are the names of threads; their tracks need not be used."""

    def __init__(self, stream: IO[bytes], title: str, start_ns: int | None, threads: Iterable[ThreadName]) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._size = 0
        self._interned = b""
        self._texts: dict[int, dict[str, bytes]] = {
            kind: {} for kind in (_CATEGORIES, _NAMES, _DETAIL_NAMES, _DETAIL_TEXTS)
        }
        self._open: dict[int, list[int]] = {}
        self._tracks = PerfettoTracks(title, threads, self._packet)
        clocks = [(_BOOTTIME, 0), *([] if start_ns is None else [(_REALTIME, start_ns)])]
        times = [kept_number(_CLOCK_ID, clock) + kept_number(_CLOCK_TIME, time) for clock, time in clocks]
        self._packet(message(_CLOCKS, b"".join(message(_CLOCK, one) for one in times)), _CLEARED)

    def write(self, items: Iterable[Placed]) -> None:
        """Write items. Those of one track are in order of time, over all calls."""
        for track, item in items:
            place = self._tracks.of(track)
            open_ = self._open.setdefault(place, [])
            while open_ and open_[-1] <= item.start_ns:
                self._end(place, open_.pop())
            if isinstance(item, Level):
                value = _TYPES[_COUNTER] + double(_COUNTER_VALUE, item.value)
                self._event(place, item.start_ns, value)
                continue
            kind = _INSTANT if isinstance(item, Instant) else _BEGIN
            self._event(place, item.start_ns, _TYPES[kind] + self._about(track, item))
            if isinstance(item, Stretch) and item.end_ns is not None:
                if item.end_ns <= item.start_ns:
                    self._end(place, item.start_ns)
                else:
                    open_.append(item.end_ns)

    def close(self) -> None:
        """Write all ends, and the names of threads on which nothing happened; the stream stays open."""
        for place, open_ in self._open.items():
            while open_:
                self._end(place, open_.pop())
        self._tracks.name_all()
        self._flush()

    def _about(self, track: Track, item: Stretch | Instant) -> bytes:
        """Name, category, details and arrows."""
        parts = [
            self._said(_NAMES, item.name, _NAME_IID, _NAME),
            self._said(_CATEGORIES, track.group, _CATEGORY_IID, _CATEGORY),
        ]
        parts += [message(_DETAIL, self._key(name) + self._value(value)) for name, value in item.details.items()]
        parts += [fixed64(_LEAVES, arrow) for arrow in item.leaves]
        parts += [fixed64(_REACHES, arrow) for arrow in item.reaches]
        return b"".join(parts)

    def _key(self, name: str) -> bytes:
        return self._said(_DETAIL_NAMES, name, _D_NAME_IID, _D_NAME)

    def _value(self, value: object) -> bytes:
        """What a detail is; nothing for None."""
        match value:
            case None:
                return b""
            case bool():
                return kept_number(_D_BOOL, value)
            case int() if -(1 << 63) <= value < 1 << 64:
                return kept_number(_D_INT if value < 1 << 63 else _D_UINT, value)
            case float():
                return double(_D_DOUBLE, value)
            case dict():
                entries = [self._key(str(name)) + self._value(inner) for name, inner in value.items()]
                return b"".join(message(_D_ENTRIES, entry, keep=True) for entry in entries)
            case list() | tuple():
                return b"".join(message(_D_VALUES, self._value(inner), keep=True) for inner in value)
            case _:
                return self._said(_DETAIL_TEXTS, str(value), _D_TEXT_IID, _D_TEXT)

    def _said(self, kind: int, value: str, iid: int, plain: int) -> bytes:
        """A text by its number, which is given here if it is new; long ones, and new ones after many, as they are."""
        known = self._texts[kind]
        encoded = known.get(value)
        if encoded is None:
            if len(known) >= _MOST_TEXTS or len(value) > _LONGEST:
                return text(plain, value)
            if (written := value.encode("utf-8", "replace").decode()) != value:
                # Halves of surrogate pairs are written alike.
                return self._said(kind, written, iid, plain)
            place = len(known) + 1
            self._interned += message(kind, number(_IID, place) + text(_TEXT, value))
            encoded = known[value] = number(iid, place)
        return encoded

    def _end(self, place: int, time: int) -> None:
        self._event(place, time, _TYPES[_END])

    def _event(self, place: int, time: int, about: bytes) -> None:
        event = message(_EVENT, number(_TRACK, place) + about)
        if self._interned:
            event += message(_INTERNED, self._interned)
            self._interned = b""
        # Nothing there is before the beginning: a number below 0 would be centuries away.
        self._packet(kept_number(_TIME, min(max(time, 0), _LAST)) + event)

    def _packet(self, content: bytes, flags: int = _NEEDED) -> None:
        whole = message(_PACKET, content + _ENDINGS[flags])
        self._waiting.append(whole)
        self._size += len(whole)
        if self._size >= _BUFFER:
            self._flush()

    def _flush(self) -> None:
        self._stream.writelines(self._waiting)
        self._waiting.clear()
        self._size = 0
