"""`AsyncKnown`: of each thread, from when to when the sub-events of .NET 11's async profiler are there.

A thread's buffer is written when it is full, and by a timer once the thread is idle; what is not written when tracing
stops is missing, and comes to the next session. Goes by the heads of buffers: a thread without any is not known at all,
and where one is damaged or its event was lost, all before is in doubt.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, TypeAlias

import attrs

from clrevents._util.value_classes import define, frozen
from clrevents.decode.decoded import DecodedRows
from clrevents.schema.async_forms import CARRIER_ID, FIRST_ID, HEAD, HEAD_SIZE, LENGTH_SIZE, METADATA
from clrevents.schema.registry import ASYNC
from clrevents.trace.scan import HeaderScan

Thread: TypeAlias = tuple[int, int]
"""A process, -1 where unknown, and one of its threads."""
_ANNOUNCING: Final = "AsyncProfilerMetadata", "AsyncProfilerSyncClock", "ResetAsyncThreadContext"
SELECTORS: Final = tuple(f"{ASYNC}/{name}" for name in ("AsyncEvents", "AsyncBuffer", *_ANNOUNCING))
# By then the timer has certainly written the buffer of an idle thread.
_SECONDS: Final = "1.3 s"
# That takes microseconds, unless the thread is stopped in between.
_WRITING_NS: Final = 10_000_000


@frozen
class AsyncKnown:
    """What is there of async events, in nanoseconds since the session started."""

    threads: Mapping[Thread, tuple[int, int]]
    """From when to when all sub-events of a thread are there; what it did later, or earlier, is not known."""
    earlier: int
    """Sub-events in buffers that an earlier session left: not of this recording, since their times are negative."""
    own: int
    """Sub-events in all other buffers, without those that only announce."""

    def span(self, process: int | None, thread: int) -> tuple[int, int] | None:
        """From when to when the sub-events of a thread are all there; None if that is not known."""
        return self.threads.get((-1 if process is None else process, thread))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is missing altogether, a sentence at most."""
        if self.own:
            return ()
        return (f"no async event was written before recording stopped: stop once the program was idle for {_SECONDS}",)


@frozen
class _Head:
    thread: Thread
    first: int
    last: int
    count: int


@define(eq=False)
class AsyncHeads:
    """Takes the rows of `SELECTORS`, undecoded, in any order."""

    buffers: dict[bytes, _Head] = attrs.field(factory=dict)
    carriers: dict[bytes, int] = attrs.field(factory=dict)
    # When each process first announced its kinds of sub-events, and how many sub-events tell of nothing that ran.
    announced: dict[int, int] = attrs.field(factory=dict)
    silent: int = 0

    def take(self, rows: DecodedRows) -> None:
        times, threads, ids = rows.clock.ns_list(rows.ticks), rows.thread_ids.tolist(), rows.process_ids
        starts, ends = rows.starts.tolist(), rows.ends.tolist()
        for row, (time, thread, start, end) in enumerate(zip(times, threads, starts, ends, strict=True)):
            id = rows.kind(row).key.id
            process = rows.process_id if ids is None else ids[row]
            owner = -1 if process is None else process
            if id == CARRIER_ID:
                head = rows.data[start + LENGTH_SIZE : end][:HEAD_SIZE]
                self.carriers[head] = time
            elif id > FIRST_ID:
                self.silent += time >= 0
                if id == FIRST_ID + METADATA:
                    self.announced[owner] = min(time, self.announced.get(owner, time))
            elif end - start == HEAD_SIZE:
                head = rows.data[start:end]
                *_, count, _, last = struct.unpack(HEAD, head)
                self.buffers[head] = _Head((owner, thread), time, rows.clock.nearest_ns(last), count)

    def known(self, scan: HeaderScan) -> AsyncKnown:
        """What these heads mean in a trace with this scan."""
        # Lost and destroyed events may have carried buffers, of whatever thread.
        doubts = [written for head, written in self.carriers.items() if head not in self.buffers]
        doubt = max([*doubts, *(loss.end_ns for loss in (*scan.losses, *scan.destroyed))], default=None)
        threads: dict[Thread, tuple[int, int]] = {}
        earlier = own = 0
        for head, buffer in self.buffers.items():
            if buffer.last < 0:
                earlier += buffer.count
                continue
            own += buffer.count
            until = buffer.last
            if head in self.carriers:
                # Nothing had happened since, except what a full buffer, or another session, has it written for.
                until = max(until, self.carriers[head] - _WRITING_NS)
            since = max(buffer.first, 0)
            since = min(since, max(self.announced.get(buffer.thread[0], since), 0))
            if doubt is not None:
                since = max(since, doubt)
            if not scan.complete:
                until = min(until, scan.known_ns)
            if since <= until:
                low, high = threads.get(buffer.thread, (since, until))
                threads[buffer.thread] = min(low, since), max(high, until)
        return AsyncKnown(threads, earlier, max(own - self.silent, 0))
