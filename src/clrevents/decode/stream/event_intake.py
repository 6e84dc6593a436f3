"""Event blocks → the region, or a tally; and what a problem does to the reading in each error mode.

Passes events to the parts concerned, in the order that the format requires: plausibility, ids, sequence numbers. Sees
no bytes but those of buffers and of lost events.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import define
from clrevents._util.words import counted
from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.kernels.header_scan import HeaderColumns, Tally
from clrevents.decode.kinds import Kinds
from clrevents.decode.rows import Ints
from clrevents.decode.stream.async_buffers import AsyncBuffers
from clrevents.decode.stream.losses import LossLog
from clrevents.decode.stream.region import Region
from clrevents.decode.stream.resolver import ResolvedRows, Resolver, ThreadTable
from clrevents.decode.stream.salvage import PlausibilityCheck, span_differs
from clrevents.errors import (
    ERROR_MODES,
    DamageError,
    ErrorMode,
    Limits,
    PayloadError,
    Problem,
    Problems,
    TraceError,
    damage,
    raised,
)

NEVER: Final = -(1 << 63)
"""Before every tick."""


@define(eq=False, repr=False, slots=False)
class EventIntake:
    """Takes the events of one stream. With a `tally` they are counted in file order, and none reaches the region."""

    _kinds: Kinds
    _limits: Limits
    _threads: ThreadTable
    _resolver: Resolver
    _losses: LossLog
    _rows: Region
    _errors: ErrorPolicy
    _tally: Tally | None
    pointer_size: int = 8
    """That of the traced process, once the trace's header was read."""
    # Sub-events of the rows of a block so far, which are added behind them.
    _opened: list[ResolvedRows] = attrs.field(factory=list, init=False)
    _latest: int = attrs.field(default=NEVER, init=False)
    sorted_tick: int = attrs.field(default=NEVER, init=False)
    """The last time of an event that is flagged as sorted: all events of all threads until then were read."""
    _indexes: Ints = attrs.field(factory=partial(np.arange, 0), init=False)

    @cached_property
    def _plausibility(self) -> PlausibilityCheck:
        return PlausibilityCheck(self._kinds, self._limits, self._losses.numbers.steps_back, self.pointer_size)

    @cached_property
    def _buffers(self) -> AsyncBuffers:
        return AsyncBuffers(self._kinds, self._threads)

    @property
    def latest(self) -> int:
        """The last tick of all events so far; only with a tally, or in NetTrace 6."""
        return self._latest if self._tally is None else self._tally.latest

    def take(self, block: Events, offset: int) -> None:
        """Take an event block; `offset` is where problems with its sequence numbers are reported."""
        salvage = self._errors.salvage
        check = salvage or block.broken
        wrong_span = salvage and span_differs(block)
        for index, piece in enumerate(block.columns):
            columns = piece
            if check:
                columns = self._plausibility.plausible(piece, block, self._rows.stacks.lookup, wrong_span)
            sound = len(columns)
            whole = sound == len(piece)
            if not whole:
                # What its sound rows seem to lack may be in its damaged bytes, or they are no rows.
                self._losses.damaged()
            if sound:
                self._note_sorted(columns)
                self._take_piece(columns, block, index == 0, offset)
            if not whole:
                self._add_opened(block)
                if not block.broken:
                    self._leave_out(piece, sound)
                break
            if self._errors.stopped:
                return
        self._add_opened(block)
        note = self._rows.bound_rows(offset)
        if note is not None:
            self._errors.report(note)

    def take_together(self, block: Events, together: Together) -> bool:
        """Take several small blocks in one piece; returns False, having done nothing, if one of them may be wrong."""
        (columns,) = block.columns
        doubtful = not self._rows.room_for(columns) or (
            self._errors.salvage and self._plausibility.doubtful(block, together)
        )
        if doubtful:
            return False
        self._note_sorted(columns)
        if self._tally is not None and not block.labelled:
            if not self._count(columns, columns.metadata_ids, self._kinds.table):
                return False
            self._note_missing(columns, block, 0)
            self._open(columns, None, block)
        elif self._resolver.all_known(columns, block):
            columns.marks = together.marks_and_ends(block.labelled)
            self._take_piece(columns, block, True, 0)
        else:
            return False
        self._add_opened(block)
        return True

    def _take_piece(self, columns: HeaderColumns, block: Events, first: bool, offset: int) -> None:
        """Count or collect one piece of a block; `first` says whether it is the block's first."""
        # Counted at once if every row has a known kind.
        if (
            self._tally is not None
            and not block.labelled
            and self._count(columns, columns.metadata_ids, self._kinds.table)
        ):
            self._note_missing(columns, block, offset)
            self._open(columns, None, block)
            return
        rows = self._resolver.resolve(columns, block, first)
        self._errors.report_all(rows.problems)
        if len(rows):
            self._note_missing(rows.columns, block, offset)
            self._add(rows, block, first)
            self._open(rows.columns, rows.thread_places, block)
        if rows.fault is not None:
            self._add_opened(block)
            self._errors.report_all((rows.fault,))

    def _open(self, columns: HeaderColumns, places: Ints | None, block: Events) -> None:
        """Read the buffers that these rows carry, if any."""
        if self._kinds.carriers:
            carried = [columns.metadata_ids == kind for kind in self._kinds.carriers]
            carriers = np.flatnonzero(np.logical_or.reduce(carried)).tolist()
            rows, problems = self._buffers.open(columns, carriers, places, block) if carriers else (None, [])
            if rows is not None:
                self._opened.append(rows)
            self._errors.report_all(problems)

    def _add_opened(self, block: Events) -> None:
        """Sub-events follow their block like one of their own: no ids carry over to them, nor from them."""
        opened, self._opened = self._opened, []
        for rows in opened:
            self._add(rows, block, True)

    def _add(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        """Count or collect resolved rows."""
        if self._tally is None:
            self._gather(rows, block, first)
            return
        if len(self._kinds.all) > len(self._indexes):
            self._indexes = np.arange(2 * len(self._kinds.all))
        counted = self._count(rows.columns, rows.kind_indexes, self._indexes)
        assert counted, "these are kinds"

    def _gather(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        if block.labelled:
            self._latest = max(self._latest, int(rows.columns.ticks.max()))
        self._rows.add(rows, block, first)

    def _count(self, columns: HeaderColumns, ids: Ints, kind_indexes: Ints) -> bool:
        """Count rows whose kinds are `kind_indexes[ids]`; returns False, without counting, if one has none."""
        assert self._tally is not None
        counted = self._tally.add(columns, ids, kind_indexes, len(self._kinds.all))
        if counted:
            self._rows.count(columns)
        return counted

    def _note_sorted(self, columns: HeaderColumns) -> None:
        if columns.sorted_tick is not None:
            self.sorted_tick = max(self.sorted_tick, columns.sorted_tick)

    def _note_missing(self, columns: HeaderColumns, block: Events, offset: int) -> None:
        """Take note of what these rows say of missing ones."""
        if self._kinds.lacked:
            for row in np.flatnonzero(np.isin(columns.metadata_ids, list(self._kinds.lacked))).tolist():
                start = int(columns.offsets[row]) - block.base
                problem, times = self._losses.lacked(block.window[start : start + int(columns.sizes[row])])
                # Not damage of this file, which is read on in every mode.
                self._errors.problems.add(problem, times)
        if block.counted:
            problems = self._losses.follow(columns, offset, block.together)
            if problems:
                self._errors.report_found(problems)

    def _leave_out(self, columns: HeaderColumns, row: int) -> None:
        """Drop the invalid rows of a block that ends at its declared size."""
        self._losses.damaged()
        at = int(columns.offsets[row])
        length = int(columns.offsets[-1] + columns.sizes[-1]) - at
        text = f"{counted(len(columns) - row, 'event is', 'events are')} invalid; skipped with the rest of their block"
        self._errors.report_all((damage("bad-event", text, at, length, "these events"),))


class ErrorPolicy:
    """Collects `problems`, and stops the reading if the mode requires it: `error` is then the exception to raise.

    Collected `rows` are released at that moment. Raises ValueError for an unknown mode.
    """

    def __init__(self, mode: ErrorMode, limits: Limits, rows: Region) -> None:
        if mode not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {mode!r}")
        self.mode: ErrorMode = mode
        self.problems = Problems(limits.problems)
        self.error: TraceError | None = None
        self.stopped = False
        self._rows = rows

    @property
    def salvage(self) -> bool:
        return self.mode == "salvage"

    def report(self, problem: Problem, times: int = 1) -> bool:
        """Record a problem found `times` times; returns False if it ends the reading."""
        self.problems.add(problem, times)
        if problem.severity == "note" or self.mode == "salvage":
            return True
        if problem.severity == "payload" and self.mode == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self.stop(raised(kind, problem))
        return False

    def report_all(self, problems: Iterable[Problem | None]) -> None:
        """Record problems until one ends the reading. All of them are computed, even after that."""
        for problem in problems:
            if problem is not None and not self.stopped:
                self.report(problem)

    def report_found(self, problems: Iterable[tuple[Problem, int]]) -> None:
        """As `report_all`, of problems with the number of times that each was found."""
        for problem, times in problems:
            if not self.stopped:
                self.report(problem, times)

    def stop(self, error: TraceError | None = None) -> None:
        """Read no further. Collected rows are released before the exception is raised."""
        if not self.stopped:
            self.stopped = True
            self.error = error
            self._rows.release()
