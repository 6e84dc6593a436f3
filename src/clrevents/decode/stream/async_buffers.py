"""The buffers that `AsyncEvents` carry → rows of their sub-events, which are events like all others from there on.

A sub-event's payload stays where it is, in the window of the event that carries it. Knows the head of a buffer and what
announces the kinds of sub-events; what these mean is the registry's business. A buffer that does not add up gives no
rows but a problem: nothing in it can be trusted.
"""

from __future__ import annotations

from itertools import compress, groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted
from clrevents.decode.container.blocks import Events
from clrevents.decode.kernels.engine import COMPILED, SCAN, Ints, given, numbers_room, pick, scratch, taken
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.stream.resolver import ResolvedRows, ThreadTable
from clrevents.errors import Problem
from clrevents.schema.async_forms import FORMS, HEAD, HEAD_SIZE, LENGTH_SIZE, METADATA, VERSION, Form

_HEADED: Final = ("version", "length", "context", "thread", "count", "first", "last")
_HEAD: Final = np.dtype([(name, f"<{code}") for name, code in zip(_HEADED, HEAD[1:], strict=True)])
_KINDS: Final = 256
# A sub-event is a number and a time, of at least one byte each.
_LEAST: Final = 2
# Rows of the memory that blocks share; at a power of two all columns would map to the same cache sets.
_ARENA: Final = (1 << 17) + 72
_NO_PROCESSOR: Final = 0xFFFFFFFF
_ANNOUNCED, _UNKNOWN_KIND = 1, 3
_UNNAMED: Final = -2


class _Forms:
    """The kinds of sub-events of one process: the width of each, and its kind of event where that was looked up.

    `announced` has three bytes of each: its number, version and width; None if nothing was announced. `table` is in the
    form of the kernel.
    """

    def __init__(self, announced: bytes | None = None) -> None:
        self.announced = announced
        forms = FORMS
        if announced is not None:
            numbered = zip(announced[0::3], announced[1::3], announced[2::3], strict=True)
            forms = {number: Form(version, width) for number, version, width in numbered}
        # Whoever announces the others has to be readable before that.
        self._of = forms = {**forms, METADATA: FORMS[METADATA]}
        widths = [forms[n].width if n in forms else -1 for n in range(_KINDS)]
        self.table: Any = given(np.array(widths + _KINDS * [_UNNAMED], np.int64))

    def name(self, number: int, carrier: int, kinds: Kinds) -> None:
        """Look up the kind of a sub-event, or of a buffer; it is -1 if there is no room for one more."""
        version = self._of[number].version if number else VERSION
        self.table[_KINDS + number] = kinds.inside(carrier, number, version)


class AsyncBuffers:
    """Opens the buffers of one stream, and remembers what each process has announced."""

    def __init__(self, kinds: Kinds, threads: ThreadTable) -> None:
        self._kinds = kinds
        self._threads = threads
        self._forms: dict[int | None, _Forms] = {}
        self._first_forms = _Forms()
        # The place of each thread of each process, of as many places as were looked at.
        self._places: dict[tuple[int | None, int | None], int] = {}
        self._placed = 0
        # Of so many rows, so many of which are written.
        self._memory, self._written = np.empty((5, 0), dtype=np.uint64), 0
        self._nothing: Ints = np.empty(0, dtype=np.int64)

    def _room(self, rows: int) -> list[Any]:
        """Where the kernel writes so many rows: the system gives memory in large pieces in a fraction of the time."""
        if not COMPILED:
            return [numbers_room(rows), *(scratch(rows) for _ in range(4))]
        if self._written + rows > self._memory.shape[1]:
            self._memory, self._written = np.empty((5, max(rows, _ARENA)), dtype=np.uint64), 0
        kinds, *others = self._memory[:, self._written : self._written + rows]
        return [kinds.view(np.int64), *others]

    def open(
        self, columns: HeaderColumns, carriers: list[int], places: Ints | None, block: Events
    ) -> tuple[ResolvedRows | None, list[Problem]]:
        """The sub-events of these rows, if any, each after its buffer; and a problem for each buffer without.

        `places` are those of all rows in the thread table of NetTrace 6.
        """
        rows = np.array(carriers, dtype=np.int64)
        payloads = (column.take(rows) for column in (columns.offsets, columns.sizes, columns.ticks))
        candidates, buffers, problems = _buffers(block, *payloads)
        rows = rows.take(candidates)
        room = len(rows) + int(buffers[:, 4].sum())
        outputs = self._room(room)
        processes = [self._process(places, row) for row in rows.tolist()] if places is not None else [None] * len(rows)
        ends, used, at = np.empty(len(rows), dtype=np.int64), 0, 0
        for process, group in groupby(processes):
            part = slice(at, at := at + len(list(group)))
            carrier = int(columns.metadata_ids[rows[part.start]])
            ends[part] = self._unpack(buffers[part], block, process, carrier, outputs, used)
            used = max(used, int(ends[part].max()))
        sound = ends >= 0
        problems += _wrong(columns.offsets[rows[~sound]], "what it holds does not add up")
        if not used:
            return None, problems
        rows, ends, about = rows[sound], ends[sound], buffers[sound, -1]
        kind_indexes = np.asarray(outputs[0][:used], dtype=np.int64)
        if kind_indexes.min() < 0:
            problems += _wrong(columns.offsets[rows], "there are too many kinds of events")
            return None, problems
        threads, *others = (taken(column, used, own=False) for column in outputs[1:])
        times, offsets, sizes = (column.view(np.int64) for column in others)
        firsts = np.concatenate(([0], ends[:-1]))
        run_of = np.searchsorted(columns.runs[:, 0], rows.view(np.uint64), "right") - 1
        runs = np.zeros((len(rows), 4), dtype=np.uint64)
        runs[:, 0] = firsts
        runs[:, 1] = columns.runs[run_of, 1]
        runs[:, 3] = _NO_PROCESSOR
        self._written += used
        if used > len(self._nothing):
            self._nothing = np.zeros(used, dtype=np.int64)
        nothing = self._nothing[:used]
        opened = HeaderColumns(
            nothing,
            threads,
            nothing,
            times,
            offsets,
            sizes,
            runs,
            columns.marks[:0],
        )
        if places is None:
            return ResolvedRows(opened, kind_indexes), problems
        each = zip(compress(processes, sound.tolist()), about.tolist(), strict=True)
        own = np.array([self._place(process, thread) for process, thread in each], dtype=np.int64)
        return ResolvedRows(opened, kind_indexes, np.repeat(own, ends - firsts), []), problems

    def _unpack(
        self, buffers: NDArray[np.uint64], block: Events, process: int | None, carrier: int, outputs: list[Any], at: int
    ) -> Any:
        """Write the rows of buffers of one process from row `at` on; where each ends, -1 for those that are wrong."""
        forms = sound = self._forms.setdefault(process, self._first_forms)
        forms.name(0, carrier, self._kinds)
        heads = given(buffers.reshape(-1))
        ends, state = numbers_room(len(buffers)), given(np.array([0, at, 0, 0, 0], np.int64))
        *_, offsets, sizes = outputs
        fixed = block.base, METADATA, HEAD_SIZE
        # In which buffer kinds were announced last.
        changed = -1
        while status := SCAN.unpack(block.window, *fixed, forms.table, heads, len(buffers), state, *outputs, ends):
            which = int(state[3])
            if status == _UNKNOWN_KIND:
                forms.name(block.window[int(state[0])], carrier, self._kinds)
            elif status == _ANNOUNCED:
                row = int(state[1]) - 1
                start = int(offsets[row]) - block.base
                announced = _announced(block.window[start : start + int(sizes[row])])
                if announced not in (None, forms.announced):
                    if which != changed:
                        changed, sound = which, forms
                    forms = _Forms(announced)
                    forms.name(0, carrier, self._kinds)
            elif which - 1 == changed:
                forms = sound
        self._forms[process] = forms
        return ends

    def _process(self, places: Ints, row: int) -> int | None:
        place = int(places[row])
        return self._threads.all[place].process if place >= 0 else None

    def _place(self, process: int | None, thread: int) -> int:
        """The place of a thread; -1 if the table does not have it."""
        for place in range(self._placed, len(self._threads.all)):
            row = self._threads.all[place]
            self._places[row.process, row.thread_id] = place
        self._placed = len(self._threads.all)
        return self._places.get((process, thread), -1)


def _buffers(block: Events, offsets: Ints, sizes: Ints, ticks: Ints) -> tuple[Ints, NDArray[np.uint64], list[Problem]]:
    """Which of these payloads may be sound, and what each of those carries, in the form of the kernel; and why others
    cannot be read. Times after the event itself are wrong.
    """
    lengths = sizes - LENGTH_SIZE
    whole = np.flatnonzero(lengths >= HEAD_SIZE)
    starts = offsets[whole] - block.base + LENGTH_SIZE
    heads = pick(block.window, starts, HEAD_SIZE).view(_HEAD)
    lengths, ticks = lengths[whole], ticks[whole]
    counts = heads["count"].astype(np.int64)
    known = heads["version"] == VERSION
    fits = (heads["length"] == lengths) & (counts <= (lengths - HEAD_SIZE) // _LEAST)
    ordered = (heads["first"] <= heads["last"]) & (heads["last"] <= ticks.view(np.uint64)) & (ticks >= 0)
    sound = np.flatnonzero(known & fits & ordered)
    table = np.empty((len(sound), 6), dtype=np.uint64)
    numbers = starts, starts + lengths, heads["first"], heads["last"], counts, heads["thread"]
    for column, values in enumerate(numbers):
        table[:, column] = values[sound]
    problems = _wrong(offsets[sizes < LENGTH_SIZE + HEAD_SIZE], "its head is incomplete")
    for at in np.flatnonzero(~(known & fits & ordered)).tolist():
        version, length, _, _, count, *_ = heads[at].tolist()
        why = "it ends before it begins, or after it was written"
        if not known[at]:
            why = f"its version, {version}, is not known"
        elif not fits[at]:
            why = f"its head claims {counted(length, 'byte')} and {counted(count, 'sub-event')}"
        problems += _wrong(offsets[whole[at : at + 1]], why)
    return whole[sound], table, problems


def _wrong(offsets: Ints, why: str) -> list[Problem]:
    text = f"the buffer of an AsyncEvents cannot be read: {why}"
    return [
        Problem("bad-async-buffer", "payload", text, offset, event="AsyncEvents", impact="its sub-events")
        for offset in offsets.tolist()
    ]


def _announced(payload: bytes) -> bytes | None:
    """What a metadata sub-event announces, as `_Forms` takes it; None if it cannot be read."""
    try:
        at = 0
        for _ in ("frequency", "clock", "date", "buffer size"):
            while payload[at] > 0x7F:
                at += 1
            at += 1
        at += 1
        forms = payload[at + 1 : at + 1 + 3 * payload[at]]
        return None if len(forms) < 3 * payload[at] or any(width > 2 for width in forms[2::3]) else forms
    except IndexError:
        return None
