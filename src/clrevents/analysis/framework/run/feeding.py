"""`ReportFeed`: reports about a stream, fed with what a decoder reads, answered at its end or so far.

A question about a whole trace is for `asking`, which loads no decoder.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from clrevents._util.notebook_views import Summary
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import ReadingNames
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.model.needs import KindsOfProcesses, SeenKind, SeenKinds, holes_of, stack_holes
from clrevents.analysis.framework.run.asking import asked_by_name, check_options, damaged_places
from clrevents.analysis.framework.run.report_reading import Asked, HoleQueue, ReadingEnd, ReportReading
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, TimeWindow
from clrevents.analysis.gathering.groups import Gathered, near_ns
from clrevents.table.read import stacks_of_bytes
from clrevents.trace import (
    Batch,
    DecodedRows,
    Decoder,
    StreamTables,
    TraceInfo,
    observe,
    pass_of,
    rows_of,
    stream_moment,
    tables_of,
)

if TYPE_CHECKING:
    from clrevents.symbols.methods import Methods


class ReportFeed(Summary):
    """Reports about a stream: have it `observe` a decoder, or give a decoder its `selectors` and pass on the batches;
    and call `finish` at the end.

    Memory is bounded by what the answers contain, not by the stream. Names are those that the decoder knows at the end:
    create it with `symbols=True`. The options are those of a report on a whole trace; a moment in percent raises
    ValueError when the first batch comes.
    """

    def __init__(self, asked: Sequence[Asked], options: WindowOptions | None = None) -> None:
        options = options or {}
        check_options(options)
        self._names = ", ".join(one.declaration.name for one in asked)
        self._reading = ReportReading(asked, self._one_event, self._nothing, options.get("process_id"))
        self._moments = options.get("start"), options.get("end")
        self._window: TimeWindow | None = None
        self._events: dict[str, tuple[str, str]] = {}
        self._tables: StreamTables | None = None
        self._kinds: Sequence[Any] = ()
        self._holes = HoleQueue()
        self._stacks: dict[int, bytes] = {}
        self._given = [0, 0]

    def __repr__(self) -> str:
        return f"<ReportFeed of {self._names}>"

    @property
    def selectors(self) -> tuple[str, ...]:
        """What the decoder has to select: every event that any of the reports wants."""
        return self._reading.selectors

    def observe(self, decoder: Decoder) -> None:
        """Take from a decoder every event that the reports want, whatever events that selects; instead of `take`."""
        observe(decoder, self.selectors, partial(self._take, decoder))

    def take(self, decoder: Decoder, batches: Iterable[Batch]) -> None:
        """Take the next batches of a decoder, in its order."""
        for batch in batches:
            self._take(decoder, rows_of(batch))

    def _take(self, decoder: Decoder, rows: DecodedRows) -> None:
        info = self._see(decoder)
        assert self._tables is not None
        chunk = self._tables.chunk(rows)
        if self._reading.stacks:
            self._stacks.update(rows.stack_bytes)
        ended = self._holes.until(int(chunk.headers["time_ns"][-1])) if len(chunk.headers) else []
        self._reading.take(chunk, ended, info, self._asked_window(decoder))

    def so_far(self, decoder: Decoder) -> dict[str, Answer[object]]:
        """The answers as if the stream ended here; the feed goes on. This copies everything that the answers hold so
        far.

        Raises ValueError if the decoder has not seen a trace header.
        """
        return copy.deepcopy(self).finish(decoder)

    def finish(self, decoder: Decoder) -> dict[str, Answer[object]]:
        """The answers, by the reports' names. Call it once, after `close`. Raises ValueError if the decoder has not
        seen a trace header."""
        info, reading = self._see(decoder), pass_of(decoder)
        stream = reading.stream
        window = self._asked_window(decoder)
        occurred = [(info.process_id if p is None else p, SeenKind.of(kind)) for p, kind in reading.occurred]
        several = len({process for process, _ in occurred} - {None}) > 1
        kinds = (
            KindsOfProcesses.of(occurred) if several else KindsOfProcesses(SeenKinds.of((k for _, k in occurred), info))
        )
        holes = holes_of(stream.losses, stream.destroyed, stream.lost, stream.missing)
        # Of a stream, nothing is known of what a thread has not written yet.
        names: ReadingNames = ReadingNames(
            lambda: _methods(decoder),
            lambda: names.methods.modules,
            lambda: stacks_of_bytes(self._stacks, info.pointer_size),
            lambda: None,
        )
        rows = stream.threads.all
        threads = {row.thread_id: row.name for row in rows if row.name and row.thread_id is not None}
        known = reading.known_ns
        reached = ReadingEnd(
            info,
            reading.duration_ns,
            kinds,
            holes,
            stack_holes(stream.stackless),
            damaged_places(stream),
            stream.complete,
            FOREVER if known is None else near_ns(known),
            names,
            threads,
            lambda: reading.stopped_ns,
        )
        return self._reading.finish(reached, window, self._holes.rest())

    def _asked_window(self, decoder: Decoder) -> TimeWindow:
        """The window, once the trace's clock is known."""
        if self._window is None:
            self._window = TimeWindow.between(*self._moments, partial(stream_moment, decoder))
        return self._window

    def _see(self, decoder: Decoder) -> TraceInfo:
        """Take note of the header, and of what is missing since the last time."""
        info, stream = decoder.info, pass_of(decoder).stream
        if info is None:
            raise ValueError("the decoder has not seen a trace header yet")
        if self._tables is None:
            self._tables = tables_of(decoder, self._reading.names, self._reading.headers(info))
        self._kinds = stream.kinds.all
        losses, destroyed = stream.losses[self._given[0] :], stream.destroyed[self._given[1] :]
        self._given = [len(stream.losses), len(stream.destroyed)]
        self._holes.add(holes_of(losses, destroyed, 0, 0))
        return info

    def _one_event(self, selector: str) -> tuple[str, str] | None:
        known = self._events.get(selector)
        if known is None and self._tables is not None:
            known = self._tables.one_event(selector)
            if known is not None:
                self._events[selector] = known
        return known

    def _nothing(self, selector: str) -> Gathered:
        assert self._tables is not None
        return Gathered.empty(*self._tables.nothing(selector, self._kinds))


def _methods(decoder: Decoder) -> Methods:
    """The code that a decoder knows; none if it was not to."""
    try:
        return decoder.methods
    except ValueError:
        from clrevents.symbols.methods import no_methods

        return no_methods()


def feed_reports(*names: str, **window: Unpack[WindowOptions]) -> ReportFeed:
    """Several reports (all of them, unless `names` says which) about the batches of a `Decoder`.

    The window is as in `Trace.reports`. Raises ValueError for an unknown name and, with the first batch, for a moment
    in percent.
    """
    return ReportFeed(asked_by_name(names), window)
