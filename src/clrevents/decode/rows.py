"""Rows of events during decoding: header columns, and the stream positions of the rest of each row.

The one representation of rows for every consumer. Reads neither headers nor payloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.decode.container.blocks import LabelList, ThreadRow
from clrevents.decode.kernels.engine import Ints, end_to_end
from clrevents.decode.kernels.header_scan import PADDING
from clrevents.decode.stacks import StackLookup, StackTable

UNKNOWN_THREAD: Final = (1 << 64) - 1
"""The thread id of rows whose thread is unknown."""
T = TypeVar("T", bound=np.generic)
V = TypeVar("V")


@frozen(eq=False)
class Runs:
    """Capture threads and processors of events: run i starts at the `firsts[i]`-th row of a release."""

    firsts: Ints
    captures: NDArray[np.uint64]
    processors: Ints

    def captures_of(self, file_rows: Ints) -> NDArray[np.uint64]:
        """The thread whose buffer each row came from (NetTrace 6: its place in the thread table)."""
        return self.captures[self._of(file_rows)]

    def processors_of(self, file_rows: Ints, about: NDArray[np.uint64]) -> Ints:
        """Processor numbers, -1 if unknown (including events about a thread other than the writing one)."""
        run = self._of(file_rows)
        return np.where(self.captures[run] == about, self.processors[run], -1)

    def only(self, file_row: int) -> Runs:
        """The run of one row, as if that row came first."""
        run = int(np.searchsorted(self.firsts, file_row, "right")) - 1
        one = slice(run, run + 1)
        return Runs(self.firsts[one] * 0, self.captures[one], self.processors[one])

    def _of(self, file_rows: Ints) -> Ints:
        return np.searchsorted(self.firsts, file_rows, "right") - 1


@define(eq=False)
class Release:
    """What all rows of one release refer to. Rows index into it by `file_rows`, their place in the file."""

    bases: Ints
    windows: list[bytes]
    stacks: StackTable
    lookup: StackLookup | None
    runs: Runs
    activity_rows: Ints
    activity_offsets: Ints
    related_rows: Ints
    related_offsets: Ints
    label_rows: Ints
    label_places: Ints
    label_lists: list[LabelList]
    thread_rows: list[ThreadRow]
    sequenced: bool


@frozen(eq=False)
class Guids:
    """A GUID for some rows: sixteen bytes, `each[places[row]]`; place -1 means none."""

    places: Ints
    each: list[bytes]

    def get(self, row: int) -> bytes | None:
        place = int(self.places[row])
        return None if place < 0 else self.each[place]

    def take(self, rows: Ints) -> Guids:
        return Guids(self.places[rows], self.each)

    def all(self) -> list[bytes | None]:
        """One item per row."""
        each = [*self.each, None]
        return [each[place] for place in self.places.tolist()]


@define(eq=False)
class Rows:
    """Event headers, one array per attribute, ready to be filtered.

    `kind_indexes` are indexes into the stream's kinds, `ticks` raw clock ticks, `region_stack_ids` are ids as the
    file has them, `offsets` stream offsets of payloads, `file_rows` places in the file within the `release`,
    `thread_places` places in the thread table of NetTrace 6 (else None).
    """

    kind_indexes: Ints
    ticks: Ints
    thread_ids: NDArray[np.uint64]
    region_stack_ids: Ints
    offsets: Ints
    sizes: Ints
    file_rows: Ints
    thread_places: Ints | None
    release: Release

    def __len__(self) -> int:
        return len(self.ticks)

    def take(self, wanted: NDArray[np.bool_] | Ints | slice) -> Rows:
        """The rows of a mask, of indexes or of a slice, in that order."""
        if isinstance(wanted, np.ndarray) and wanted.dtype == np.bool_:
            wanted = np.flatnonzero(wanted)

        def pick(column: NDArray[T]) -> NDArray[T]:
            # Not by an index, which takes half as long again.
            return column[wanted] if isinstance(wanted, slice) else column.take(wanted)

        return Rows(
            pick(self.kind_indexes),
            pick(self.ticks),
            pick(self.thread_ids),
            pick(self.region_stack_ids),
            pick(self.offsets),
            pick(self.sizes),
            pick(self.file_rows),
            None if self.thread_places is None else pick(self.thread_places),
            self.release,
        )

    @property
    def stack_ids(self) -> Ints:
        """Trace-wide stack numbers: 0 for none, -1 if the stack is missing."""
        lookup = self.release.lookup
        return self.region_stack_ids if lookup is None else lookup.unique(self.region_stack_ids)

    def payloads(self) -> list[bytes]:
        """Each row's payload bytes, copied out of the windows."""
        return self._slices(self.offsets, self.sizes)

    @property
    def capture_threads(self) -> NDArray[np.uint64]:
        """The thread whose buffer each row came from (NetTrace 6: its place in the thread table)."""
        return self.release.runs.captures_of(self.file_rows)

    @property
    def processors(self) -> Ints:
        """Processor numbers, -1 if unknown (including events about a thread other than the writing one)."""
        about = self.thread_ids if self.thread_places is None else self.thread_places.view(np.uint64)
        return self.release.runs.processors_of(self.file_rows, about)

    @property
    def activities(self) -> Guids | None:
        """The activity id of each row; None if no row has any."""
        return self.guids(self.release.activity_rows, self.release.activity_offsets)

    @property
    def related_activities(self) -> Guids | None:
        return self.guids(self.release.related_rows, self.release.related_offsets)

    @property
    def labels(self) -> list[LabelList | None] | None:
        """The label list of each row (NetTrace 6); None for all if no row has any."""
        release = self.release
        if not len(release.label_rows):
            return None
        at = np.searchsorted(release.label_rows, self.file_rows, "right") - 1
        places = np.where(at >= 0, release.label_places[at], -1).tolist()
        return [release.label_lists[place] if place >= 0 else None for place in places]

    @property
    def process_ids(self) -> list[int | None] | None:
        """Process ids if the thread table gives them; None for all if there is no such table."""
        if self.thread_places is None:
            return None
        threads = self.release.thread_rows
        if len(threads) > len(self):
            return [threads[place].process if place >= 0 else None for place in self.thread_places.tolist()]
        known = [*(row.process for row in threads), None]
        return [known[place] for place in self.thread_places.tolist()]

    def kinds_and_processes(self) -> set[tuple[int, int | None]]:
        """The different indexes of kinds, each with the process of its thread (None if the thread table has none)."""
        if self.thread_places is None:
            return {(kind, None) for kind in np.flatnonzero(np.bincount(self.kind_indexes)).tolist()}
        threads = self.release.thread_rows
        most = len(threads) + 1
        keys, _ = np.unique(self.kind_indexes * most + self.thread_places + 1, return_counts=True)
        pairs = zip((keys // most).tolist(), (keys % most - 1).tolist(), strict=True)
        return {(kind, threads[place].process if place >= 0 else None) for kind, place in pairs}

    def guids(self, rows: Ints, offsets: Ints) -> Guids | None:
        """The GUIDs that hold from some rows of the file on, at these stream offsets."""
        return marked_guids(self.file_rows, rows, offsets, lambda at: self._slices(at, np.full(len(at), 16)))

    def _slices(self, offsets: Ints, sizes: Ints) -> list[bytes]:
        windows, bases = self.release.windows, self.release.bases
        if len(windows) == 1:
            data = windows[0]
            starts = offsets - bases[0]
            return [data[a:b] for a, b in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
        which = np.searchsorted(bases, offsets, "right") - 1
        starts = offsets - bases[which]
        ends = starts + sizes
        return [windows[w][a:b] for w, a, b in zip(which.tolist(), starts.tolist(), ends.tolist(), strict=True)]


_ZERO_GUID = bytes(16)


def marked_guids(file_rows: Ints, rows: Ints, offsets: Ints, read: Callable[[Ints], list[bytes]]) -> Guids | None:
    """The GUIDs that hold from some `rows` on, at these stream offsets (negative where none is), for `file_rows`."""
    if not len(rows):
        return None
    at = np.searchsorted(rows, file_rows, "right") - 1
    used = np.zeros(len(rows) + 1, dtype=np.bool_)
    used[at] = True
    # Position -1 stands for the rows before the first mark.
    marks = np.flatnonzero(used[:-1] & (offsets >= 0))
    if not len(marks):
        return None
    places = np.full(len(rows) + 1, -1, dtype=np.int64)
    each = read(offsets[marks])
    places[marks] = np.where([guid != _ZERO_GUID for guid in each], np.arange(len(marks)), -1)
    return Guids(places[at], each)


def joined_windows(parts: list[Rows]) -> tuple[bytes, Ints, Ints]:
    """One buffer that holds all payloads, their stream offsets, and where in the buffer each one starts."""
    buf, bases, shifts = joined_stretches(parts)
    offsets = end_to_end([rows.offsets for rows in parts])
    if len(bases) == 1:
        return buf, offsets, offsets + shifts[0]
    return buf, offsets, offsets + shifts[np.searchsorted(bases, offsets, "right") - 1]


def joined_stretches(parts: list[Rows]) -> tuple[bytes, Ints, Ints]:
    """One buffer that holds all windows; stream offsets from `bases[i]` on are `shifts[i]` further in the buffer."""
    windows: dict[int, bytes] = {}
    for rows in parts:
        for base, window in zip(rows.release.bases.tolist(), rows.release.windows, strict=True):
            if len(window) > len(windows.get(base, b"")):
                windows[base] = window
    if len(windows) == 1:
        (base,) = windows
        return windows[base], np.array([base]), np.array([-base])
    # Windows overlap or nearly meet: usually they are one stretch of the stream. They end with padding, or with bytes
    # that are also in the next one.
    pieces: list[bytes | memoryview] = []
    stretches: list[tuple[int, int]] = []
    # Far enough before the first window that it starts a stretch.
    at, size = -2 * PADDING, 0
    for base in sorted(windows):
        window = windows[base]
        if base > at + PADDING:
            stretches.append((base, size - base))
            at = base
        elif base > at:
            pieces.append(bytes(base - at))
            size += base - at
            at = base
        whole = memoryview(window)[at - base : len(window) - PADDING]
        pieces.append(whole)
        size += len(whole)
        at += len(whole)
    pieces.append(bytes(PADDING))
    bases, shifts = np.array(stretches, dtype=np.int64).T
    return b"".join(pieces), bases, shifts


def joined_rows(parts: Sequence[Rows]) -> Rows | JoinedRows:
    """At least one part of one stream, in order."""
    return parts[0] if len(parts) == 1 else JoinedRows(parts)


def _joined(name: str) -> Any:
    """The numbers of all parts, end to end."""
    return property(lambda rows: end_to_end([getattr(part, name) for part in rows.parts]))


@frozen(eq=False)
class JoinedRows:
    """The header columns of `Rows`; each attribute is joined when it is asked for.

    A trace may release a few rows at a time: what makes columns is called once for many releases, not for each.
    """

    parts: Sequence[Rows]
    kind_indexes = _joined("kind_indexes")
    ticks = _joined("ticks")
    thread_ids = _joined("thread_ids")
    stack_ids = _joined("stack_ids")
    sizes = _joined("sizes")
    processors = _joined("processors")

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def thread_places(self) -> Ints | None:
        places = [rows.thread_places for rows in self.parts if rows.thread_places is not None]
        # Either every part of a stream has them or none.
        return end_to_end(places) if places else None

    @property
    def process_ids(self) -> list[int | None] | None:
        return self._listed(rows.process_ids for rows in self.parts)

    @property
    def activities(self) -> Guids | None:
        return self._guids([rows.activities for rows in self.parts])

    @property
    def related_activities(self) -> Guids | None:
        return self._guids([rows.related_activities for rows in self.parts])

    @property
    def labels(self) -> list[LabelList | None] | None:
        return self._listed(rows.labels for rows in self.parts)

    def _listed(self, each: Iterable[list[V | None] | None]) -> list[V | None] | None:
        """One item a row; None if no part has any."""
        joined: list[V | None] = []
        some = False
        for rows, items in zip(self.parts, each, strict=True):
            some = some or items is not None
            joined += [None] * len(rows) if items is None else items
        return joined if some else None

    def _guids(self, each: list[Guids | None]) -> Guids | None:
        if not any(guids is not None for guids in each):
            return None
        places: list[Ints] = []
        joined: list[bytes] = []
        for rows, guids in zip(self.parts, each, strict=True):
            if guids is None:
                places.append(np.full(len(rows), -1, dtype=np.int64))
            else:
                places.append(np.where(guids.places < 0, -1, guids.places + len(joined)))
                joined += guids.each
        return Guids(end_to_end(places), joined)
