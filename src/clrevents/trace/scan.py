"""What a reading of all headers says: counts, threads, losses; the problems that passes find; where the next trace
begins.

Reads no payload. Each problem is kept once, however many passes find it, and there is one warning, for the caller's
line, however many of our own frames are in between. What a problem does to a pass is the stream's business. Of several
traces in a file, where one begins is known once the one before it was read to its end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, lost_events, safe
from clrevents.decode.container.blocks import ThreadRow
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.kinds import EventKey, EventKind, KindIndex, by_event
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.decode.selection import EventName, Selection
from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode, Limits, Problem, Problems, SourceError, TraceError, TraceWarning
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import OWN, Registry
from clrevents.sources import WINDOW, Source


@frozen
class ThreadInfo(Value):
    """A thread that events are about."""

    thread_id: int
    """The thread's id; -1 for events whose thread NetTrace 6 does not name."""
    events: int
    """The number of its events."""
    first_ns: int
    """The time of its first event, in nanoseconds since the session started."""
    last_ns: int
    """The time of its last event, in nanoseconds since the session started."""
    process_id: int | None = None
    """Its process; None if the trace does not say."""
    name: str | None = None
    """Its name, which only NetTrace 6 has; None if unknown."""


@frozen(eq=False, slots=False)
class HeaderScan:
    """The results of one pass over all headers; `error` is the exception that ended it."""

    counts: Mapping[EventKey, int]
    threads: tuple[ThreadInfo, ...]
    duration_ns: int
    stackless: Loss | None
    """The events whose stacks the trace does not have, as if these were lost."""
    known_ns: int
    """Until when the events of all threads are there, if the end is missing: each thread's last ones may be."""
    losses: tuple[Loss, ...]
    destroyed: tuple[Loss, ...]
    lost: int
    missing: int
    problems: Problems
    complete: bool
    losses_visible: bool
    error: TraceError | None
    kinds: tuple[EventKind, ...]
    kind_counts: tuple[int, ...]
    """How many events each of `kinds` has; in `counts` kinds of one key are added up."""

    @cached_property
    def kinds_by_name(self) -> KindIndex:
        """The same kinds, for names that are asked for one after the other."""
        return KindIndex(self.kinds)

    @cached_property
    def kinds_of(self) -> Mapping[EventName, Sequence[EventKind]]:
        """The kinds of each event: looking for those of one among all is quadratic where every kind is an event."""
        return by_event(self.kinds)

    def none_of(self, selection: Selection) -> bool:
        """Whether there is no event of a selected kind. If so, raises what a pass would raise at its end."""
        if any(self.kind_counts[kind.index] for kind in selection.chosen(self.kinds_by_name)):
            return False
        if self.error is not None:
            raise self.error
        selection.check_names(self.kinds)
        return True


def scan_headers(
    source: Source,
    windows: Iterable[bytes],
    errors: ErrorMode,
    limits: Limits,
    registry: Registry,
    seen: Sequence[EventKind] = (),
) -> HeaderScan:
    """Read `windows` of the source. Raises a TraceError only if there is no result at all.

    `seen` are the kinds of an earlier pass.
    """
    totals = Tally(limits.threads)
    stream = Stream(errors=errors, limits=limits, registry=registry, tally=totals, seen=seen)
    error: TraceError | None = None
    try:
        for data in windows:
            stream.feed(data)
        if source.fault is not None:
            stream.end_in(source.fault)
        stream.close()
        error = stream.error
    except TraceError as raised:
        error = raised
    if error is not None:
        error.path = error.path or source.path
        if stream.info is None:
            # The source has been removed or closed since it was opened.
            raise error
    assert stream.info is not None
    process_id = stream.info.process_id
    clock = stream.clock
    counts: Counter[EventKey] = Counter()
    kinds = tuple(stream.kinds.all)
    # The tally has more places than kinds, or fewer, where the last ones have no events.
    kind_counts = (*totals.kinds.tolist(), *(0 for _ in kinds))[: len(kinds)]
    for kind, count in zip(kinds, kind_counts, strict=True):
        if count:
            counts[kind.key] += count
    described = {row.thread_id: row for row in stream.threads.all}
    threads = tuple(
        _thread_info(thread, n, clock.ns(first), clock.ns(last), described.get(thread), process_id)
        for thread, (n, first, last) in sorted(totals.threads.items(), key=lambda t: (-t[1][0], t[0]))
        if thread != OWN_THREAD or not any(key.provider == OWN for key in counts)
    )
    return HeaderScan(
        counts=dict(counts.most_common()),
        threads=threads,
        duration_ns=max(clock.ns(stream.latest), 0) if counts else 0,
        stackless=stream.stackless,
        known_ns=stream.known_ns(stream.latest),
        losses=tuple(stream.losses),
        destroyed=tuple(stream.destroyed),
        lost=stream.lost,
        missing=stream.missing,
        problems=stream.problems,
        complete=stream.complete,
        losses_visible=stream.losses_visible,
        error=error,
        kinds=kinds,
        kind_counts=kind_counts,
    )


def _thread_info(
    thread: int, events: int, first_ns: int, last_ns: int, row: ThreadRow | None, process_id: int | None
) -> ThreadInfo:
    """What the trace says about a thread (NetTrace 6) combined with what its events show."""
    process = process_id if row is None or row.process is None else row.process
    thread = -1 if thread == UNKNOWN_THREAD and row is None else thread
    return ThreadInfo(thread, events, first_ns, last_ns, process, None if row is None else row.name)


class _Rest:
    """A source from one position on."""

    def __init__(self, whole: Source, start: int) -> None:
        self._whole = whole
        self._start = start
        self.path = whole.path
        self.size = whole.size - start
        self.fault = whole.fault

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        skip = self._start
        for data in self._whole.windows(size):
            if skip < len(data):
                yield data[skip:]
            skip = max(skip - len(data), 0)

    def close(self) -> None:
        self._whole.close()


def nth_trace(source: Source, number: int, limits: Limits) -> Source:
    """The source from where its trace of this number begins, counted from 1; reads those before it.

    Raises ValueError for a number below 1, SourceError if there are fewer traces, and what reading these raises.
    """
    if number < 1:
        raise ValueError(f"trace must be at least 1, not {number!r}")
    for before in range(1, number):
        stream = Stream(errors="salvage", limits=limits, tally=Tally(limits.threads))
        for data in source.windows():
            stream.feed(data)
        stream.close()
        if stream.next_trace is None:
            raise SourceError(f"has {counted(before, 'trace')}: there is none of number {number}", path=source.path)
        source = _Rest(source, stream.next_trace)
    return source


# A pass ends inside context managers, whose own frames belong to contextlib. The name lacks its extension because
# `warnings` (3.12, 3.13) skips a file only if the prefix is shorter than its name.
_SKIPPED: Final = (
    os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),
    os.path.splitext(contextlib.__file__)[0],
)


def warn_caller(text: str) -> None:
    """Issue a TraceWarning for the line that called into this package.

    For a generator, that is the line that requests the next item: the `for` of a loop.
    """
    if sys.version_info >= (3, 12):
        warnings.warn(text, TraceWarning, skip_file_prefixes=_SKIPPED)
    else:
        warnings.warn(text, TraceWarning, stacklevel=_level())


def _level() -> int:
    """The number of frames `warnings.warn` must go up from `warn_caller`; 1 is `warn_caller` itself."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    return level


class FoundProblems:
    """At most `Limits.problems` of each severity. Of damage and lost events, the first is warned about."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._problems: dict[tuple[object, ...], Problem] = {}
        self._counts: Counter[str] = Counter()
        self._warned = False

    @property
    def every(self) -> tuple[Problem, ...]:
        """In the order in which they were found."""
        return tuple(self._problems.values())

    def after(self, listed: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """`listed`, and then those that are not in it."""
        known = {_identity(problem) for problem in listed}
        return (*listed, *(problem for key, problem in self._problems.items() if key not in known))

    def add(self, problem: Problem) -> None:
        """Keep a problem, and warn of damage."""
        key = _identity(problem)
        if key not in self._problems and self._counts[problem.severity] < self._limits.problems:
            self._problems[key] = problem
            self._counts[problem.severity] += 1
        self.warn_of(problem)

    def warn_of(self, problem: Problem) -> None:
        """Warn of a problem if it is damage, or if it says that there is more than was read."""
        if problem.kind == "another-trace":
            self._warn(problem.message)
        if problem.severity == "damage":
            self._warn(f"the trace is damaged: {problem.message}")

    def warn_of_losses(self, losses: tuple[Loss, ...]) -> None:
        """Warn of the losses found so far: there may be more."""
        if losses:
            self._warn(f"at least {lost_events(sum(loss.count for loss in losses))}")

    def warn_of_lost(self, count: int) -> None:
        """Warn of all lost events of a trace that was read to its end."""
        if count:
            self._warn(lost_events(count))

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            path = f"{self._source.path}: " if self._source.path else ""
            warn_caller(safe(f"{path}{text}"))


def _identity(problem: Problem) -> tuple[object, ...]:
    return problem.kind, problem.offset, problem.event, problem.field
