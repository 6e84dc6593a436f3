"""The underlying push parser: bytes in, in any slicing; rows of events out, in order.

Sans-IO: no files, threads, warnings or logging. A composition: block reader → block handler → row queue, with one
error policy; a call that was interrupted makes the stream unusable. Knows neither payloads nor what rows are used for.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TypeAlias

from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import Rows
from clrevents.decode.stream.block_handler import BlockHandler, ErrorPolicy
from clrevents.decode.stream.block_reader import BlockReader, InputBuffer
from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.region import RowQueue
from clrevents.decode.stream.resolver import ThreadTable
from clrevents.errors import DamageError, ErrorMode, Limits, Problem, TraceError
from clrevents.schema.registry import DEFAULT, Registry

_NUMBERED = 4
"""From this version on, a runtime numbers what its threads raise."""
_LINUX = "Universal."
"""How the providers of the Linux recorder begin."""


class Calls:
    """A context manager around each call, which may be nested. Once interrupted, entering it raises RuntimeError.

    A TraceError is an end of its own and interrupts nothing, nor does any exception before `begin`.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._begun = False
        self._interrupted_by: str | None = None

    def begin(self) -> None:
        """From here on the call changes the stream."""
        self._begun = True

    def __enter__(self) -> None:
        if self._interrupted_by is not None:
            raise RuntimeError(
                f"an earlier call was interrupted by {self._interrupted_by}, and events may be missing; "
                "start again with a new decoder"
            )
        if not self._depth:
            self._begun = False
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if kind is not None and self._begun and not issubclass(kind, TraceError):
            self._interrupted_by = kind.__name__


Buffer: TypeAlias = bytes | bytearray | memoryview


class Stream:
    """One pass over one trace. `feed` and `close` return rows; after a fatal error each call raises it again.

    `walk_stacks` checks every stack block, which otherwise happens only if a stack is requested. With a `tally` no rows
    come out: every piece of a block is counted in it, in file order. `calls` is entered by every call, and by those
    who do more within the same one. `seen` are the kinds of an earlier pass over the same trace.
    """

    def __init__(
        self,
        *,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        in_time_order: bool = True,
        walk_stacks: bool = False,
        tally: Tally | None = None,
        seen: Sequence[EventKind] = (),
    ) -> None:
        self.limits = limits = limits or Limits()
        self.threads = ThreadTable(limits)
        self._rows = RowQueue(limits, self.threads, in_time_order, walk_stacks, tally is None)
        self._errors = ErrorPolicy(errors, limits, self._rows)
        self.errors = errors
        self.problems = self._errors.problems
        self._input = InputBuffer()
        self._reader = BlockReader(limits, self._errors.salvage, self.problems)
        self._handler = BlockHandler(registry or DEFAULT, limits, self.threads, self._rows, self._errors, tally, seen)
        self.kinds = self._handler.kinds
        self._closed = False
        self.calls = Calls()

    @property
    def info(self) -> TraceInfo | None:
        """The contents of the trace's header; None until it was read."""
        return self._handler.info

    @property
    def clock(self) -> Clock:
        """The recording clock; available once the header was read."""
        assert self._handler.clock is not None
        return self._handler.clock

    @property
    def complete(self) -> bool:
        """Whether the end of the trace was read, and for a copy, of its original too."""
        return self._reader.complete and self._handler.losses.unended_ns is None

    @property
    def unended(self) -> bool:
        """Whether it is over, and the end of the trace was not read."""
        return (self._closed or self._errors.stopped) and not self.complete

    @property
    def error(self) -> TraceError | None:
        """The exception that ended the reading; raised once the rows before it were delivered."""
        return self._errors.error

    @property
    def offset(self) -> int:
        """How many bytes have been parsed so far."""
        return self._input.offset

    @property
    def losses(self) -> list[Loss]:
        """Losses so far, at most `Limits.problems`."""
        return self._handler.losses.losses

    @property
    def next_trace(self) -> int | None:
        """The offset at which another trace begins, of which nothing is read."""
        return self._reader.next_trace

    @property
    def losses_visible(self) -> bool:
        """Whether lost events would show. NetPerf does not number events, the Linux recorder only those it writes."""
        if self.info is None or self.info.version < _NUMBERED or self._handler.losses.unnumbered:
            return False
        return not any(kind.row.provider.startswith(_LINUX) for kind in self.kinds.all)

    @property
    def lost(self) -> int:
        """How many events were lost so far."""
        return self._handler.losses.lost

    @property
    def destroyed(self) -> list[Loss]:
        """The events that stood in damaged bytes, where sequence numbers show whose they were; bounded as `losses`."""
        return self._handler.losses.destroyed

    @property
    def missing(self) -> int:
        """How many events are missing where the file is damaged."""
        return self._handler.losses.missing

    @property
    def stackless(self) -> Loss | None:
        """The events whose stacks the trace does not have, as if these were lost; None if there are none."""
        if self._rows.stackless is None:
            return None
        count, first, last = self._rows.stackless
        return Loss(-1, count, self.clock.nearest_ns(first), self.clock.nearest_ns(last))

    def known_ns(self, latest: int) -> int:
        """Until when the events of all threads were read, if the last has this tick; of later ones some may be."""
        known, copied = self.clock.nearest_ns(min(self._handler.known_until, latest)), self._handler.losses.unended_ns
        return known if copied is None else min(known, copied)

    @property
    def latest(self) -> int:
        """The last tick of all events so far; only with a tally, or in NetTrace 6."""
        return self._handler.latest

    def feed(self, data: Buffer) -> list[Rows]:
        """Take more bytes (not kept); returns rows that became ready. Raises the TraceError that ended the stream.

        If any other exception leaves a call that has begun, such as KeyboardInterrupt, later ones raise RuntimeError.
        """
        with self.calls:
            if self.error is not None:
                raise self.error
            if self._closed:
                raise ValueError("this decoder is closed")
            taken = data if isinstance(data, bytes) else bytes(memoryview(data))
            self.calls.begin()
            if len(taken) and not self._errors.stopped:
                self._input.add(taken)
                if self._input.enough:
                    self._parse(final=False)
            return self._ready()

    def flush(self) -> list[Rows]:
        """Release the rows waiting to be ordered; later rows may then be earlier in time."""
        with self.calls:
            if self.error is not None:
                raise self.error
            self.calls.begin()
            self._rows.release()
            return self._ready()

    def close(self) -> list[Rows]:
        """End the stream: parse the rest of a truncated block, release everything."""
        with self.calls:
            self.calls.begin()
            if not self._closed and self.error is None:
                self._closed = True
                self._parse(final=True)
                self._errors.report_all(self._rows.end_region())
            return self._ready()

    def end_in(self, fault: Problem) -> None:
        """The source itself is damaged where the stream ends: to be called before `close`.

        Intact events of the block truncated there still count, and the fault is the error, not the truncation.
        """
        self.problems.add(fault)
        if not self._errors.stopped:
            self._parse(final=True)
            self._errors.stop()
            if self.errors != "salvage":
                self._errors.error = DamageError(fault.message, offset=fault.offset)

    def report(self, problem: Problem) -> bool:
        """Record a problem; returns False if it ends the reading in this stream's error mode."""
        return self._errors.report(problem)

    def _ready(self) -> list[Rows]:
        rows = self._rows.take()
        if not rows and self.error is not None:
            raise self.error
        return rows

    def _parse(self, final: bool) -> None:
        """Parse the fed bytes: the complete blocks, or all of them if `final`."""
        while not self._errors.stopped and (final or self._input.enough):
            window = self._input.window(final)
            start = window.pos
            try:
                for block in self._reader.read(window):
                    self._handler.take(block, window.offset)
                    # Memory that is free again is used for the next block.
                    del block
                    if self._errors.stopped:
                        break
            except TraceError as error:
                self._errors.stop(error)
            if self.error is not None:
                window.context(self.error)
            self._input.consume(window.pos - start, self._reader.needed)
            if self._errors.stopped:
                self._input.clear()
            if final:
                return
