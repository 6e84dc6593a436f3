"""The buffers that `AsyncEvents` carry → rows of their sub-events, which are events like all others from there on.

A sub-event's payload stays where it is, in the window of the event that carries it. Knows the head of a buffer and what
announces the kinds of sub-events; what these mean is the registry's business. A buffer that does not add up gives no
rows but a problem: nothing in it can be trusted.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.container.blocks import Events
from clrevents.decode.kernels.engine import SCAN, given, scratch, taken
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
_ANNOUNCED, _WRONG = 1, 2


class _Forms:
    """The kinds of sub-events of one process: the width of each in the form of the kernel, and its kind of event."""

    def __init__(self, forms: dict[int, Form]) -> None:
        # Whoever announces the others has to be readable before that.
        self.of = forms = {**forms, METADATA: FORMS[METADATA]}
        self.widths: Any = given(np.array([forms[n].width if n in forms else -1 for n in range(_KINDS)], np.int64))
        self._kinds: Ints = np.full(_KINDS, -1, dtype=np.int64)

    def kinds_of(self, numbers: Ints, carrier: int, kinds: Kinds) -> Ints:
        """Indexes of kinds; -1 where there is no room for one more."""
        found = self._kinds[numbers]
        if found.min() < 0:
            for number in np.unique(numbers[found < 0]).tolist():
                version = self.of[number].version if number else VERSION
                self._kinds[number] = kinds.inside(carrier, number, version)
            found = self._kinds[numbers]
        return found


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
        found = [scratch(room) for _ in range(4)]
        kind_indexes = np.empty(room, dtype=np.int64)
        used, opened = 0, []
        for row, buffer in buffers:
            process = None if places is None else self._process(int(places[row]))
            end = self._unpack(buffer, block, process, found, used)
            kinds = None
            if end > used:
                numbers = np.asarray(found[0][used:end], dtype=np.int64)
                kinds = self._forms[process].kinds_of(numbers, int(columns.metadata_ids[row]), self._kinds)
            if kinds is None or kinds.min() < 0:
                problems.append(_wrong(int(columns.offsets[row]), "what it holds does not add up"))
            else:
                kind_indexes[used:end] = kinds
                opened.append((row, used, end, buffer.thread, process))
                used = end
        if not used:
            return None, problems
        _, times, offsets, sizes = (taken(column, used).view(np.int64) for column in found)
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
            return ResolvedRows(rows, kind_indexes[:used]), problems
        own = [self._place(process, thread) for *_, thread, process in opened]
        return ResolvedRows(rows, kind_indexes[:used], np.repeat(np.array(own, dtype=np.int64), counts), []), problems

    def _unpack(self, buffer: _Buffer, block: Events, process: int | None, found: list[Any], at: int) -> int:
        """Write the buffer and its sub-events from row `at` on; returns where they end, `at` if something is wrong."""
        forms = known = self._forms.setdefault(process, _Forms(FORMS))
        numbers, times, offsets, sizes = found
        numbers[at], times[at], offsets[at], sizes[at] = 0, buffer.first_tick, block.base + buffer.start, HEAD_SIZE
        full = at + 1 + buffer.count
        state = scratch(3)
        state[0], state[1], state[2] = buffer.start + HEAD_SIZE, at + 1, buffer.first_tick
        status = _ANNOUNCED
        while status == _ANNOUNCED:
            arguments = (block.base, buffer.last_tick, METADATA, forms.widths, full, state)
            status = SCAN.unpack(block.window, buffer.end, *arguments, *found)
            if status == _ANNOUNCED:
                row = int(state[1]) - 1
                start = int(offsets[row]) - block.base
                announced = _announced(block.window[start : start + int(sizes[row])])
                forms = forms if announced in (None, forms.of) else _Forms(announced or {})
        if status == _WRONG or int(state[1]) != full:
            return at
        if forms is not known:
            self._forms[process] = forms
        return full

    def _process(self, place: int) -> int | None:
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


def _announced(payload: bytes) -> dict[int, Form] | None:
    """The kinds of sub-events that a metadata sub-event announces; None if it cannot be read."""
    try:
        at = 0
        for _ in ("frequency", "clock", "date", "buffer size"):
            while payload[at] > 0x7F:
                at += 1
            at += 1
        at += 1
        forms = payload[at + 1 : at + 1 + 3 * payload[at]]
        if len(forms) < 3 * payload[at] or any(width > 2 for width in forms[2::3]):
            return None
    except IndexError:
        return None
    return {
        number: Form(version, width)
        for number, version, width in zip(forms[0::3], forms[1::3], forms[2::3], strict=True)
    }
