"""The buffers that `AsyncEvents` carry → rows of their sub-events, which are events like all others from there on.

A sub-event's payload stays where it is, in the window of the event that carries it. Knows the head of a buffer and what
announces the kinds of sub-events; what these mean is the registry's business. A buffer that does not add up gives no
rows but a problem: nothing in it can be trusted.
"""

from __future__ import annotations

import struct
from itertools import groupby
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.container.blocks import Events
from clrevents.decode.kernels.engine import SCAN, given, numbers_room, scratch, taken
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.rows import Ints
from clrevents.decode.stream.resolver import ResolvedRows, ThreadTable
from clrevents.errors import Problem
from clrevents.schema.async_forms import FORMS, HEAD, HEAD_SIZE, LENGTH_SIZE, METADATA, VERSION, Form

_HEAD: Final = struct.Struct(HEAD)
_KINDS: Final = 256
# A sub-event is a number and a time, of at least one byte each.
_LEAST: Final = 2
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


@frozen
class _Buffer:
    """Where a buffer is in its window, whose it is, and what its head says of it."""

    start: int
    end: int
    thread: int
    count: int
    first_tick: int
    last_tick: int


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

    def open(
        self, columns: HeaderColumns, carriers: list[int], places: Ints | None, block: Events
    ) -> tuple[ResolvedRows | None, list[Problem]]:
        """The sub-events of these rows, if any, each after its buffer; and a problem for each buffer without.

        `places` are those of all rows in the thread table of NetTrace 6.
        """
        problems: list[Problem] = []
        buffers: list[tuple[int, _Buffer]] = []
        for row in carriers:
            buffer = _buffer(block, int(columns.offsets[row]), int(columns.sizes[row]), int(columns.ticks[row]))
            if isinstance(buffer, Problem):
                problems.append(buffer)
            else:
                buffers.append((row, buffer))
        room = sum(1 + buffer.count for _, buffer in buffers)
        outputs = [numbers_room(room), *(scratch(room) for _ in range(3))]
        used, opened = 0, []
        for process, group in groupby(buffers, lambda each: self._process(places, each[0])):
            those = list(group)
            carrier = int(columns.metadata_ids[those[0][0]])
            ends = self._unpack([buffer for _, buffer in those], block, process, carrier, outputs, used)
            for (row, buffer), end in zip(those, ends, strict=True):
                if end < 0:
                    problems.append(_wrong(int(columns.offsets[row]), "what it holds does not add up"))
                else:
                    opened.append((row, used, end, buffer.thread, process))
                    used = end
        if not used:
            return None, problems
        kind_indexes = np.asarray(outputs[0][:used], dtype=np.int64)
        if kind_indexes.min() < 0:
            problems += [_wrong(int(columns.offsets[row]), "there are too many kinds of events") for row, *_ in opened]
            return None, problems
        times, offsets, sizes = (taken(column, used, own=False).view(np.int64) for column in outputs[1:])
        counts = [end - first for _, first, end, _, _ in opened]
        run_of = np.searchsorted(columns.runs[:, 0], np.array([row for row, *_ in opened], np.uint64), "right") - 1
        runs = np.zeros((len(opened), 4), dtype=np.uint64)
        runs[:, 0] = [first for _, first, *_ in opened]
        runs[:, 1] = columns.runs[run_of, 1]
        runs[:, 3] = _NO_PROCESSOR
        rows = HeaderColumns(
            np.zeros(used, dtype=np.int64),
            np.repeat(np.array([thread for *_, thread, _ in opened], dtype=np.uint64), counts),
            np.zeros(used, dtype=np.int64),
            times,
            offsets,
            sizes,
            runs,
            columns.marks[:0],
        )
        if places is None:
            return ResolvedRows(rows, kind_indexes), problems
        own = [self._place(process, thread) for *_, thread, process in opened]
        return ResolvedRows(rows, kind_indexes, np.repeat(np.array(own, dtype=np.int64), counts), []), problems

    def _unpack(
        self, buffers: list[_Buffer], block: Events, process: int | None, carrier: int, outputs: list[Any], at: int
    ) -> list[int]:
        """Write the rows of buffers of one process from row `at` on; where each ends, -1 for those that are wrong."""
        forms = sound = self._forms.setdefault(process, self._first_forms)
        forms.name(0, carrier, self._kinds)
        numbered = [(b.start, b.end, b.first_tick, b.last_tick, b.count) for b in buffers]
        heads = given(np.array(numbered, dtype=np.int64).reshape(-1))
        ends, state = numbers_room(len(buffers)), given(np.array([0, at, 0, 0, 0], np.int64))
        _, _, offsets, sizes = outputs
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
        return ends if isinstance(ends, list) else ends.tolist()

    def _process(self, places: Ints | None, row: int) -> int | None:
        place = -1 if places is None else int(places[row])
        return self._threads.all[place].process if place >= 0 else None

    def _place(self, process: int | None, thread: int) -> int:
        """The place of a thread; -1 if the table does not have it."""
        for place in range(self._placed, len(self._threads.all)):
            row = self._threads.all[place]
            self._places[row.process, row.thread_id] = place
        self._placed = len(self._threads.all)
        return self._places.get((process, thread), -1)


def _buffer(block: Events, offset: int, size: int, tick: int) -> _Buffer | Problem:
    """What an event with this payload carries, or why it cannot be read; times after the event itself are wrong."""
    start = offset - block.base + LENGTH_SIZE
    end = start - LENGTH_SIZE + size
    if end - start < HEAD_SIZE:
        return _wrong(offset, "its head is incomplete")
    version, length, _, thread, count, first_tick, last_tick = _HEAD.unpack_from(block.window, start)
    if version != VERSION:
        return _wrong(offset, f"its version, {version}, is not known")
    if length != end - start or count > (length - HEAD_SIZE) // _LEAST:
        return _wrong(offset, f"its head claims {counted(length, 'byte')} and {counted(count, 'sub-event')}")
    if not first_tick <= last_tick <= tick:
        return _wrong(offset, "it ends before it begins, or after it was written")
    return _Buffer(start, end, thread, count, first_tick, last_tick)


def _wrong(offset: int, why: str) -> Problem:
    text = f"the buffer of an AsyncEvents cannot be read: {why}"
    return Problem("bad-async-buffer", "payload", text, offset, event="AsyncEvents", impact="its sub-events")


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
