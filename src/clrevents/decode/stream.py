"""The push parser under everything: bytes in, in any slicing; rows of events out, in order.

Sans-IO: no files, threads, warnings or logging. Knows lifetimes, order, losses and which faults end the
reading; knows neither payloads nor what anyone wants of them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from clrevents.decode.blocks import (
    Block,
    End,
    Events,
    Fault,
    Header,
    Metadata,
    SequencePoint,
    Stacks,
    TraceInfo,
)
from clrevents.decode.clock import Clock
from clrevents.decode.container.base import Container, cut, damage, incomplete
from clrevents.decode.container.detect import detect
from clrevents.decode.kernels import PADDING, HeaderColumns
from clrevents.decode.region import Region, Rows
from clrevents.decode.tables import Kinds, Loss, SequenceNumbers, ticks_to_loss
from clrevents.decode.window import NeedMore, Window
from clrevents.errors import (
    ERROR_MODES,
    DamageError,
    ErrorMode,
    Limits,
    PayloadError,
    Problem,
    Problems,
    TraceError,
    UnreadableError,
)
from clrevents.schema.registry import DEFAULT, Registry

Buffer: TypeAlias = bytes | bytearray | memoryview

_PADDING = bytes(PADDING)


class Stream:
    """One pass over one trace. `feed` and `close` return rows; after a fatal error each call raises it again."""

    def __init__(
        self,
        *,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        in_time_order: bool = True,
    ) -> None:
        if errors not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {errors!r}")
        self.errors = errors
        self.limits = limits or Limits()
        self.kinds = Kinds(registry or DEFAULT, self.limits)
        self.problems = Problems(self.limits.problems)
        self.losses: list[Loss] = []
        self.lost = 0
        self.info: TraceInfo | None = None
        self.complete = False
        self._clock: Clock | None = None
        self._in_time_order = in_time_order
        self._container: Container | None = None
        self._numbers = SequenceNumbers(self.limits)
        self._region = Region()
        self._chunks: list[bytes] = []
        self._held = 0
        self._need = 1
        self._offset = 0
        self._out: list[Rows] = []
        self._error: TraceError | None = None
        self._stopped = False
        self._closed = False

    @property
    def clock(self) -> Clock:
        """The recording clock; only after the header was read."""
        assert self._clock is not None
        return self._clock

    @property
    def error(self) -> TraceError | None:
        """What ended the reading; raised once the rows before it were handed out."""
        return self._error

    @property
    def offset(self) -> int:
        """How many bytes were parsed so far."""
        return self._offset

    def feed(self, data: Buffer) -> list[Rows]:
        """Take more bytes (they are not kept); the rows that became ready. Raises the TraceError that ended it."""
        if self._error is not None:
            raise self._error
        if self._closed:
            raise ValueError("this decoder is closed")
        if self._stopped or not len(data):
            return self._ready()
        self._chunks.append(data if isinstance(data, bytes) else bytes(data))
        self._held += len(data)
        if self._held >= self._need:
            self._parse(final=False)
        return self._ready()

    def flush(self) -> list[Rows]:
        """Release what waits for its order; later rows may then be earlier in time."""
        if self._error is not None:
            raise self._error
        self._release()
        return self._ready()

    def close(self) -> list[Rows]:
        """The stream has ended: parse what is there of a cut block, release everything."""
        if self._error is not None:
            raise self._error
        if not self._closed:
            self._closed = True
            if not self._stopped:
                self._parse(final=True)
            self._release()
        return self._ready()

    def report(self, problem: Problem) -> bool:
        """Note a problem; False when it ends the reading in this stream's error mode."""
        self.problems.add(problem)
        if problem.severity == "note" or self.errors == "salvage":
            return True
        if problem.severity == "payload" and self.errors == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self._stop(
            kind(
                problem.message,
                offset=problem.offset,
                event=problem.event,
                field=problem.field,
                block=None,
            )
        )
        return False

    def _stop(self, error: TraceError | None = None) -> None:
        """Parse no further. What was gathered is released before the error is raised."""
        if not self._stopped:
            self._stopped = True
            self._error = error
            self._release()

    def _ready(self) -> list[Rows]:
        out, self._out = self._out, []
        if not out and self._error is not None:
            raise self._error
        return out

    def _parse(self, final: bool) -> None:
        data = b"".join((*self._chunks, _PADDING))
        window = Window(data, len(data) - PADDING, self._offset, final)
        self._chunks.clear()
        try:
            self._need = self._blocks(window)
        except TraceError as error:
            window.context(error)
            self._stop(error)
        if self._error is not None:
            window.context(self._error)
        rest = window.data[window.pos : window.end]
        self._offset = window.base + window.pos
        self._held = len(rest)
        if rest and not self._stopped:
            self._chunks.append(rest)

    def _blocks(self, window: Window) -> int:
        """Parse while there are whole blocks; how many bytes the next one needs from here."""
        try:
            if self._container is None:
                self._container = detect(window, self.limits)
            while window.pos < window.end and not self._stopped:
                if self.complete:
                    self._trailing(window)
                    return 1
                for block in self._container.read(window):
                    self._take(block, window)
                    if self._stopped:
                        return 1
        except NeedMore as more:
            if not window.final:
                return more.needed
            if self.info is None:
                raise UnreadableError(
                    "the file ends inside its header",
                    offset=window.offset,
                    needed=more.needed,
                    available=window.available,
                ) from None
            self.report(cut("the beginning of a block", window.offset, more.needed, window.available))
            self._stop()
            return 1
        if window.final and not self._stopped and not self.complete:
            if self.info is None:
                raise UnreadableError("the file ends before the trace's own header", offset=window.offset)
            self.report(incomplete(window.offset))
        return 1

    def _trailing(self, window: Window) -> None:
        text = f"{window.available} bytes follow the end of the trace and are ignored"
        if not self.problems.counts["trailing-data"]:
            self.report(Problem("trailing-data", "note", text, window.offset, window.available))
        window.pos = window.end

    def _take(self, block: Block, window: Window) -> None:
        match block:
            case Events():
                self._events(block)
            case Stacks():
                self._region.stacks.add(block)
            case Metadata():
                for row in block.rows:
                    problem = self.kinds.define(row)
                    if problem is not None and not self.report(problem):
                        return
            case SequencePoint():
                self._numbers.sequence_point(block, self._lost)
                self._release()
                self._region.end()
            case Header():
                self.info = block.info
                self._clock = Clock(block.info.sync_qpc, block.info.frequency, block.info.start)
            case Fault():
                if self.report(block.problem) and block.fatal:
                    self._stop()
            case End():
                self.complete = True

    def _events(self, block: Events) -> None:
        for index, piece in enumerate(block.columns):
            columns, stop = piece, None
            kinds, missing = self.kinds.indexes(columns.metadata_ids)
            if missing:
                first = next(i for i, k in enumerate(kinds.tolist()) if self.kinds.all[k].undefined)
                stop = self._undefined(columns, first, kinds)
                if stop and self.errors != "salvage":
                    columns, kinds = _head(columns, first), kinds[:first]
            if len(columns):
                self._numbers.events(columns, self._lost, self._odd)
                self._region.add(columns, kinds, block, index == 0)
            if stop is not None and not self.report(stop):
                return
        limits = self.limits
        if self._region.events > limits.region_events or self._region.bytes > limits.region_bytes:
            self.report(
                Problem(
                    "region-too-long",
                    "note",
                    f"{self._region.events} events without a sequence point; they are given in file order",
                    self._offset,
                    breaks="the time order of these events",
                )
            )
            self._release(in_time_order=False)

    def _undefined(self, columns: HeaderColumns, first: int, kinds: object) -> Problem:
        metadata_id = int(columns.metadata_ids[first])
        return damage(
            "undefined-metadata",
            f"an event refers to description {metadata_id}, which the trace has not given",
            int(columns.offsets[first]),
            int(columns.sizes[first]),
            "what this event is",
        )

    def _lost(self, thread: int, count: int, start: int, end: int) -> None:
        self.lost += count
        if len(self.losses) < self.limits.problems:
            self.losses.append(ticks_to_loss(self.clock, thread, count, start, end))

    def _odd(self, thread: int, row: int) -> None:
        self.report(
            Problem(
                "sequence-backwards",
                "note",
                f"thread {thread}'s event numbers step back: its id was used again, or events are doubled",
                self._offset,
                breaks="the count of lost events of this thread",
            )
        )

    def _release(self, in_time_order: bool | None = None) -> None:
        rows = self._region.release(self._in_time_order if in_time_order is None else in_time_order)
        if rows is not None:
            self._out.append(rows)


def _head(columns: HeaderColumns, count: int) -> HeaderColumns:
    """The first rows of a block's columns."""
    return HeaderColumns(
        columns.metadata_ids[:count],
        columns.thread_ids[:count],
        columns.stack_ids[:count],
        columns.times[:count],
        columns.offsets[:count],
        columns.sizes[:count],
        columns.runs[columns.runs[:, 0] < np.uint64(count)],
        columns.marks[columns.marks[:, 0] < count],
    )
