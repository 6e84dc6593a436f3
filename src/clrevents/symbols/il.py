"""IL offsets from native ones, by the maps in the JIT's events.

Version 1 of the events says which compilation of a method a map belongs to. Version 0 does not: there a map is used
only if its last offset fits the code and no other compilation of the method is possible.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from clrevents._util.value_classes import frozen
from clrevents.symbols.feed import CodeRow, Feed

_HEAD = 16


@frozen
class _Map:
    """Native offsets in order, with the IL offset that starts at each (negative: none)."""

    native: tuple[int, ...]
    il: tuple[int, ...]


class _MapsInOrder:
    """Maps of one compilation's key, in the order of the trace."""

    def __init__(self) -> None:
        self.count = 0
        self._first: CodeRow | None = None
        # Those that are older than all after them; no other is the last one before any time.
        self._rows: list[CodeRow] = []
        self._times: list[int] = []

    def add(self, row: CodeRow) -> None:
        self.count += 1
        self._first = self._first or row
        while self._times and self._times[-1] >= row.time_ns:
            self._times.pop()
            self._rows.pop()
        self._times.append(row.time_ns)
        self._rows.append(row)

    def before(self, time_ns: int) -> CodeRow:
        """The last one before a time, or else the first."""
        place = bisect_left(self._times, time_ns)
        row = self._rows[place - 1] if place else self._first
        assert row is not None
        return row


class ILMaps:
    """All maps of a trace; each is read on first use."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._rows: dict[tuple[int, int, int], _MapsInOrder] = {}
        for row in feed.maps:
            if len(row.data) >= _HEAD:
                method, version = (int.from_bytes(row.data[at : at + 8], "little") for at in (0, 8))
                # Version 0 has the IL's version here, which says nothing about the compilation.
                key = (row.process, method, version if row.kind.key.version else -1)
                self._rows.setdefault(key, _MapsInOrder()).add(row)
        self._read: dict[int, _Map] = {}

    def __len__(self) -> int:
        return sum(rows.count for rows in self._rows.values())

    def offset(
        self, process: int, method: int, version: int, alone: bool, size: int, life: tuple[int, int], native: int
    ) -> int | None:
        """The IL offset of a native one, in bytes; None without a map, or if the native offset belongs to no IL.

        `alone` if the method was compiled only once; `life` is the code's lifetime, which tells apart maps of a reused
        method id.
        """
        rows = self._rows.get((process, method, version)) or (self._rows.get((process, method, -1)) if alone else None)
        if rows is None:
            return None
        row = rows.before(life[1])
        offsets = self._read.get(id(row))
        if offsets is None:
            offsets = self._read[id(row)] = self._parse(row)
        if not offsets.native or offsets.native[-1] > size:
            return None
        place = bisect_right(offsets.native, native) - 1
        if place < 0 or offsets.il[place] < 0:
            return None
        return offsets.il[place]

    def _parse(self, row: CodeRow) -> _Map:
        record = self._feed.record(row.kind, row.data)
        if record is None:
            return _Map((), ())
        pairs = sorted(zip(record.NativeOffsets, record.ILOffsets, strict=True), key=lambda pair: pair[0])
        return _Map(tuple(n for n, _ in pairs), tuple(i for _, i in pairs))
