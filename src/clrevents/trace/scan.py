"""One pass over all headers of a trace: counts, threads, losses, problems. Reads no payload and issues no warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import ThreadRow
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.kinds import EventKey, EventKind, KindIndex, by_event
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.decode.selection import EventName, Selection
from clrevents.decode.stream.losses import Loss
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode, Limits, Problems, TraceError
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import OWN, Registry
from clrevents.sources import Source


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
