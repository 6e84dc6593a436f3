"""`Session`: records a running process and yields its events as they come, like a `Decoder`.

Blocks while it waits, starts no threads but the one that reads processor time. `AsyncSession` is the same in an event
loop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from math import inf
from typing import Any, Unpack

from clrevents._util.notebook_views import Summary
from clrevents.diagnostics.channel import QUIET_SECONDS, STOP_SECONDS, Channel, End
from clrevents.diagnostics.discovery import find_process
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import Steps, Within, run
from clrevents.diagnostics.live_stream import LiveStream
from clrevents.diagnostics.profiles import joined_profiles, providers_for
from clrevents.diagnostics.providers import Provider, united
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.side_sessions import (
    LISTING,
    METRICS,
    PATIENCE,
    collect_before_start,
    early_list,
    may_list,
    with_last_collection,
)
from clrevents.errors import ErrorMode, Limits
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.trace import Batch, Decoder, FilterOptions, Loss, Selector

_PATIENCE = 0.25
"""The longest wait: so that limits are looked at."""


class SessionOptions(Summary):
    """The options of both kinds of session, and what both know.

    `process` is a process id, the name of a program, or a `Process`. `selectors` and `filters` choose the events to
    yield, as in `Decoder`. `profile` (one name or several, comma-separated) and `providers` (`Provider`, or text as for
    dotnet-trace) determine what is recorded; without either, it is what the selectors need, and without those the
    profile `default`. `record` is a file that gets every byte, selected or not. `reports` are gathered as the events
    come, for `report`: by default those that the profile feeds; `()` saves their cost. After `duration` the session
    stops by itself; what has not come `stop_seconds` later is given up. `buffer_mb` is the most memory that the
    process may use to buffer events.

    `errors`, `limits` and `registry` are those of `Decoder`. With `errors="salvage"`, the last events received wait for
    the next ones, which show that they are complete.

    Code that was compiled before is listed at the end, and by a second session of a moment when this one begins, so
    that it has names while events come. Set `rundown` to False for no list at the end, `early_names` for none at the
    beginning (by default there is one if there is one at the end), `stacks` for no stacks, and `symbols` for no
    `methods`, whose memory grows with the code that the process loads.

    With `processor`, seconds such as 0.05, a thread reads as often what Linux counts of the process's processor time,
    and events `clrevents/ProcessorTime` and the like are among the others. `uncounted` says why they are not.
    """

    _channel: Channel | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of process {self.process.pid}>"

    def __init__(
        self,
        process: int | str | Process,
        *selectors: Selector,
        profile: str | None = None,
        providers: Iterable[Provider | str] = (),
        buffer_mb: int = 256,
        rundown: bool | int | None = None,
        early_names: bool | None = None,
        stacks: bool = True,
        record: str | os.PathLike[str] | None = None,
        reports: Iterable[str] | None = None,
        duration: timedelta | float | None = None,
        stop_seconds: float = STOP_SECONDS,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        symbols: bool = True,
        processor: float | None = None,
        **filters: Unpack[FilterOptions],
    ) -> None:
        self.process = process if isinstance(process, Process) else _process(process)
        wanted = [Provider.parse(one) if isinstance(one, str) else one for one in providers]
        if profile is None and not wanted and selectors:
            wanted = list(providers_for(selectors, registry or DEFAULT))
        chosen = None
        if profile is not None or not wanted:
            chosen = joined_profiles((profile or "default").split(","))
        if chosen is not None:
            # What is asked for by itself means more than what a profile says of the same provider.
            named = {one.name for one in wanted}
            wanted += [one for one in chosen.providers if one.name not in named]
        if rundown is None:
            rundown = True if chosen is None else chosen.rundown
        self.settings = SessionSettings(united(wanted), buffer_mb, rundown, stacks)
        self.settings.for_runtime(0).commands()
        self._early = (rundown is True if early_names is None else early_names) and symbols
        self._early = self._early and may_list(self.process.endpoint, wanted)
        if reports is None:
            reports = chosen.reports if chosen is not None and not selectors else ()
        names = tuple(reports)
        symbols = symbols or bool(names)
        decoder = Decoder(*selectors, errors=errors, limits=limits, registry=registry, symbols=symbols, **filters)
        self._stream = LiveStream(decoder, names, processor)
        self._record = record
        self._duration = duration.total_seconds() if isinstance(duration, timedelta) else duration
        self._stop_seconds = stop_seconds
        self._until: float | None = None

    @property
    def decoder(self) -> Decoder:
        """The decoder of the yielded events, with `info`, `problems`, `losses` and `methods`."""
        return self._stream.decoder

    @property
    def methods(self) -> Any:
        """The code known so far; what was loaded before the session is listed when it has begun, and at its end."""
        return self._stream.decoder.methods

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The events lost so far: written faster than they were read, for a buffer too small, or larger than 64 KB."""
        return self._stream.decoder.losses

    @property
    def uncounted(self) -> str | None:
        """Why `processor` time was not recorded, or not all of it; None if it was, or was not asked for."""
        return self._stream.processor.why

    @property
    def end(self) -> End | None:
        """How the stream ended; None until then."""
        return None if self._channel is None else self._channel.end

    @property
    def bytes(self) -> int:
        """How many bytes were received."""
        return self._stream.bytes

    def report(self, name: str) -> Any:
        """The answer of the report `name` about the events so far; after the session, about all of them.

        Raises ValueError for one that is not gathered, and before the first events.
        """
        return self._stream.report(name)

    def _begin(self) -> Steps[None]:
        """Begin to record. Each request has a time limit of its own."""
        endpoint = self.process.endpoint
        yield Within(collect_before_start(endpoint, self.settings), METRICS)
        self._channel = channel = yield from Channel.opened(endpoint, self.settings, self._stop_seconds)
        try:
            self._stream.begin_file(self._record)
            self._stream.processor.begin(channel.connection)
            if self._duration is not None:
                self._until = time.monotonic() + with_last_collection(self._duration, self.settings)
            if self._early:
                self._stream.learn((yield Within(early_list(endpoint), LISTING, PATIENCE)))
        except BaseException:
            channel.abandon()
            raise

    def _is_over(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until

    def _wait(self) -> float:
        longest = _PATIENCE if self._until is None else max(min(_PATIENCE, self._until - time.monotonic()), 0.001)
        return min(longest, QUIET_SECONDS) if self._stream.waits else longest


class Session(SessionOptions):
    """A recording of a running process that yields batches of events as they come; takes `SessionOptions`.

    Use it in a `with` statement, which starts the recording and stops it on exit, however that happens. Iteration ends
    when the process ends, after `duration`, or after `stop()` when the last events have come.
    """

    _asked = 0
    """Once to stop, twice to give up: done by the iterating code, so signal handlers and threads may ask."""

    def __enter__(self) -> Session:
        run(self._begin(), "a recording", inf)
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop, and take the remaining events, for the file and for reports."""
        assert self._channel is not None
        try:
            self.stop()
            for _ in self:
                pass
        finally:
            self._channel.abandon()
            self._stream.close_file()

    def stop(self) -> None:
        """Ask the process to end the recording: the remaining events arrive, then iteration ends. May be called from
        any thread or signal handler."""
        self._asked = max(self._asked, 1)

    def abandon(self) -> None:
        """Receive nothing more, not even the list at the end: methods compiled before the session have no names
        then."""
        self._asked = 2

    def __iter__(self) -> Iterator[Batch]:
        if self._channel is None:
            raise ValueError("use a session with `with`, which starts it")
        while self._channel.end is None:
            if self._asked > 1:
                self._channel.abandon()
            elif self._asked or self._is_over():
                run(self._channel.stop(), "the end of a recording", inf)
            data = self._channel.receive(self._wait())
            if data is None:
                if self._stream.waits:
                    yield from self._stream.quiet()
            elif data:
                yield from self._stream.take(data)
        yield from self._stream.end()


def _process(process: int | str) -> Process:
    return find_process(process) if isinstance(process, int) else find_process(name=process)
