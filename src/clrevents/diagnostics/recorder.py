"""`Recorder`: keeps one file, or a ring of files, recording until someone or something ends it; `Tape`: one session
and its file, and what is known about that.

Every file of a ring is a session of its own, so each has its header, its names and its end: the next one begins before
the last one stops. Whatever happens, the sessions are stopped and everything received is on disk. Bytes go to the file
first and immediately. They are counted from the file, when there is time: a recorder that decodes while bytes wait
makes the process lose events. One loop, no threads.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final

import attrs

from clrevents._util.outputs import whole_file
from clrevents._util.value_classes import define, frozen
from clrevents.diagnostics.channel import STOP_SECONDS, Channel, End
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import attempt, run
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.live_stream import keep, make_empty, private_file, write_all
from clrevents.diagnostics.process_counts import Counting
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.side_sessions import (
    METRICS,
    collect_before_start,
    listed_now,
    may_list,
    with_last_collection,
)
from clrevents.diagnostics.transports import Endpoint
from clrevents.diagnostics.weave import OwnEvent, own_event
from clrevents.errors import TraceError
from clrevents.trace import EARLY_NAMES, Decoder, StreamTally

_PIECE: Final = 1 << 20
_SHARE: Final = 0.1
"""The share of a recording's work that may be counting, beyond what is done in pauses."""
_LITTLE: Final = 32 << 20
"""How many bytes are counted after the last one, however long that takes."""


@frozen
class Watch:
    """An event to wait for: a selector, and the required values of its fields."""

    selector: str
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Watch:
        """From `EVENT[:FIELD=VALUE[,FIELD=VALUE…]]`. Raises ValueError."""
        selector, _, rest = text.partition(":")
        fields = []
        for part in filter(None, rest.split(",")):
            name, sign, value = part.partition("=")
            if not sign or not name:
                raise ValueError(f"{part!r} is not FIELD=VALUE, as in --until GCEnd:Depth=2")
            fields.append((name, value))
        if not selector:
            raise ValueError("an event is needed, as in --until GCEnd:Depth=2")
        return cls(selector, tuple(fields))

    def meets(self, payload: Any) -> bool:
        """Whether the fields have the required values: as shown, by name or by number."""
        return all(value in _shown(getattr(payload, name, None)) for name, value in self.fields)


def _shown(value: Any) -> set[str]:
    shown = {str(value)}
    if isinstance(value, int):
        shown |= {str(int(value)), hex(value), str(bool(value)).lower()}
    name = getattr(value, "name", None)
    return shown | {name} if isinstance(name, str) else shown


@frozen
class RecordedFile:
    """What became of one file."""

    path: Path
    bytes: int
    events: int
    """As far as they were counted."""
    lost: int
    counted: bool
    """Whether all was counted."""
    end: End | None
    complete: bool
    """Whether the runtime wrote the trace's end, which follows the rundown: then only lost events are missing."""
    failure: OSError | None = None
    """Why not all received bytes could be written."""
    names: Path | None = None
    """The list of code that was made when the recording began, kept beside a file without its own."""
    uncounted: str | None = None
    """Why the process's processor time is not in the file, or not all of it; None if it was not asked for either."""


def _filter_marks(channel: Channel, settings: SessionSettings) -> list[OwnEvent]:
    """What says in the file that events were left out, if they were: the runtime does not say it."""
    marks = []
    for one in settings.filters if channel.filters else ():
        ids = ",".join(map(str, one.ids))
        marks.append(own_event(0, "EventsFiltered", int(one.only), f"{one.provider}:{ids}"))
    return marks


class Tape:
    """A running session and its file. `receive` until `end`, `count` when there is time, then `recorded`."""

    def __init__(
        self,
        path: Path,
        process: Process,
        settings: SessionSettings,
        stop_seconds: float,
        watch: Watch | None = None,
        count_every: float | None = None,
    ) -> None:
        self.path = path
        self.failure: OSError | None = None
        self.bytes = 0
        self.seen = False
        """Whether the event waited for came."""
        self._worked = time.thread_time()
        self._tally = StreamTally()
        self._watch = watch
        self._watcher = None if watch is None else Decoder(watch.selector)
        self._counted = 0
        self._spent = 0.0
        # Before the process is asked: where nothing can be written, nothing needs to be recorded. What the file holds
        # stays until there is something better.
        new = not path.exists()
        self._processor = Counting(count_every)
        self._file = private_file(path)
        self._reader = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            self._channel = run(Channel.opened(process.endpoint, settings, stop_seconds), "a recording", inf)
            self._processor.mark(*_filter_marks(self._channel, settings))
            self._processor.begin(self._channel.connection)
            make_empty(self._file)
            self._names = self._early_names(process.endpoint, settings)
        except BaseException:
            self._close_files()
            if new:
                path.unlink(missing_ok=True)
            raise

    @property
    def end(self) -> End | None:
        return self._channel.end

    @property
    def unmet(self) -> list[str]:
        """What was asked for and the runtime does not do, in words."""
        return self._channel.unmet

    @property
    def events(self) -> int:
        return self._tally.events

    @property
    def lost(self) -> int:
        return self._tally.lost

    @property
    def behind(self) -> int:
        """Bytes recorded but not yet counted."""
        return self.bytes - self._counted

    def receive(self, seconds: float) -> bool:
        """Write received bytes to the file; whether there were any."""
        data = self._channel.receive(seconds)
        if data:
            self._write(self._processor.feed(data))
        elif self.end is None:
            self._write(self._processor.quiet())
        return bool(data)

    def _write(self, pieces: Sequence[memoryview]) -> None:
        if self.failure is None:
            try:
                for piece in pieces:
                    write_all(self._file, piece)
            except OSError as error:
                # The session is ended in order all the same: the target must not wait for a reader.
                self.failure = error
                self.stop()
        self.bytes = os.fstat(self._file).st_size if self.failure else self.bytes + sum(map(len, pieces))

    def stop(self, followed: bool = False) -> None:
        """Ask for the end; `followed` as for `Channel.stop`."""
        run(self._channel.stop(followed), "the end of a recording", inf)

    def abandon(self) -> None:
        """Take nothing more."""
        self._channel.abandon()

    def count(self, seconds: float) -> None:
        """Count what is in the file, for this long, but at least one piece."""
        began = time.thread_time()
        while self._counted < self.bytes:
            piece = self._read(self._counted, min(_PIECE, self.bytes - self._counted))
            if not piece:
                break
            self._counted += len(piece)
            self._tally.feed(piece)
            self._look(partial(Decoder.feed, buffer=piece))
            if time.thread_time() - began >= seconds:
                break
        if self._counted == self.bytes:
            self._look(Decoder.flush)
        self._spent += time.thread_time() - began

    def count_a_little(self) -> None:
        """Count although more is waiting, in a small part of the time."""
        if self._spent < self._allowed:
            self.count(0.0)

    @property
    def _allowed(self) -> float:
        return _SHARE * (time.thread_time() - self._worked)

    def _look(self, step: Callable[[Decoder], Sequence[Any]]) -> None:
        """Whether the event waited for is among those of a step."""
        if self._watch is not None and self._watcher is not None and not self.seen:
            try:
                matching = step(self._watcher)
            except TraceError:
                # What cannot be read is recorded all the same.
                self._watcher = None
                return
            self.seen = any(self._watch.meets(event.payload) for batch in matching for event in batch)

    def recorded(self) -> RecordedFile:
        """Finish: flush the file to disk, count the rest within limits, close it."""
        self._write(self._processor.end())
        try:
            if self.failure is None:
                keep(self._file)
        except OSError as error:
            self.failure = error
        self.count(inf if self.behind <= _LITTLE else self._allowed - self._spent)
        all_counted = self._counted == self.bytes
        if all_counted:
            self._tally.close()
        ended = self._tally.complete if all_counted else self._ends_well()
        self._close_files()
        if self._names is not None and ended and self.failure is None:
            self._names.unlink(missing_ok=True)
            self._names = None
        return RecordedFile(
            *(self.path, self.bytes, self._tally.events, self._tally.lost, all_counted, self.end),
            complete=ended and self.failure is None,
            failure=self.failure,
            names=self._names,
            uncounted=self._processor.why,
        )

    def _early_names(self, endpoint: Endpoint, settings: SessionSettings) -> Path | None:
        """Keep a list of the code beside the file, until the one at its end is there: a recorder may be killed."""
        beside = Path(f"{self.path}{EARLY_NAMES}")
        beside.unlink(missing_ok=True)
        if settings.rundown is not True or not may_list(endpoint, settings.providers):
            return None
        listed = listed_now(endpoint)
        if listed is None:
            return None
        try:
            with whole_file(beside, str(self.path)) as file:
                file.write(listed)
        except OSError:
            # The recording itself matters more, and says so if it cannot be written either.
            return None
        return beside

    def _ends_well(self) -> bool:
        """Whether the last bytes end an object and are the mark after the last one (docs/format.md, "Objects")."""
        return self._read(max(self.bytes - 2, 0), 2) == b"\x06\x01"

    def _read(self, place: int, size: int) -> bytes:
        os.lseek(self._reader, place, os.SEEK_SET)
        return os.read(self._reader, size)

    def _close_files(self) -> None:
        self._processor.close()
        os.close(self._file)
        os.close(self._reader)


_WAIT: Final = 0.1
_GAP: Final = 0.1
"""Between two calls of `tell`, in seconds."""


@frozen
class RecordingPlan:
    """When a recording ends, and how it is cut. Times are seconds."""

    duration: float | None = None
    rotate: float | None = None
    """The time after which a new file begins."""
    keep: int | None = None
    """How many files of the ring to keep; older ones are deleted."""
    until: Watch | None = None
    after: float = 5.0
    """How long to continue after the event waited for."""
    stop_seconds: float = STOP_SECONDS
    processor: float | None = None
    """The time between two readings of the process's processor time; None: it is not recorded."""


@frozen
class Progress:
    """How far a recording is, over all its files."""

    seconds: float
    bytes: int
    events: int
    lost: int
    behind: int
    """Bytes recorded but not yet counted."""
    stopping: bool


@define(eq=False, repr=False, slots=False)
class Recorder:
    """Records a process by a plan, into the files that `paths` names, one after the other.

    `interrupted` says how often the user has asked to stop: once ends in order, twice gives up what is still to come.
    """

    _process: Process
    _settings: SessionSettings
    _paths: Iterator[Path]
    _plan: RecordingPlan
    _interrupted: Callable[[], int] = lambda: 0
    _tapes: deque[Tape] = attrs.field(factory=deque, init=False)
    _done: deque[RecordedFile] = attrs.field(factory=deque, init=False)
    _began: float = attrs.field(factory=time.monotonic, init=False)
    _cut: float = attrs.field(factory=time.monotonic, init=False)
    _event_at: float | None = attrs.field(default=None, init=False)
    _stopping: bool = attrs.field(default=False, init=False)
    why: str = attrs.field(default="", init=False)
    """What ended the recording, for people."""

    @property
    def found(self) -> bool:
        """Whether the event waited for came."""
        return self._event_at is not None

    @property
    def unmet(self) -> list[str]:
        """What was asked for and the runtime does not do, in words, once it has begun."""
        return self._tapes[0].unmet if self._tapes else []

    def start(self) -> None:
        """Begin. Raises DiagnosticsError if the process refuses, OSError if the file cannot be created."""
        attempt(collect_before_start(self._process.endpoint, self._settings), METRICS)
        self._began = self._cut = time.monotonic()
        self._add()

    def run(self, tell: Callable[[Progress], None] = lambda progress: None) -> list[RecordedFile]:
        """Go on until the end; what became of each file that was kept, oldest first."""
        told_at = 0.0
        try:
            while self._tapes:
                self._step()
                now = time.monotonic()
                if now - told_at >= _GAP:
                    told_at = now
                    tell(self._progress(now))
        finally:
            # Only an error in here, or in `tell`, leaves any.
            for tape in self._tapes:
                tape.abandon()
                self._done.append(tape.recorded())
        return list(self._done)

    def _step(self) -> None:
        for tape in list(self._tapes):
            if tape.receive(_WAIT / len(self._tapes)):
                tape.count_a_little()
            elif tape.end is None:
                tape.count(_WAIT)
            if tape.seen and self._event_at is None:
                self._event_at = time.monotonic()
            if tape.end is not None:
                self._tapes.remove(tape)
                self._finish(tape)
        self._decide(time.monotonic())

    def _finish(self, tape: Tape) -> None:
        recorded = tape.recorded()
        if recorded.failure is not None:
            self._stop(f"the file cannot be written further: {recorded.failure.strerror or recorded.failure}")
        elif not self._stopping and recorded.end == "ended":
            self._stop("the process ended")
        elif not self._stopping and recorded.end == "broken":
            self._stop("the connection to the process broke")
        self._done.append(recorded)
        while self._plan.keep is not None and len(self._done) + len(self._tapes) > self._plan.keep:
            oldest = self._done.popleft()
            oldest.path.unlink(missing_ok=True)
            if oldest.names is not None:
                oldest.names.unlink(missing_ok=True)

    def _decide(self, now: float) -> None:
        asked = self._interrupted()
        plan = self._plan
        if asked > 1:
            for tape in self._tapes:
                tape.abandon()
        elif asked:
            self._stop("stopped")
        elif plan.duration is not None and now - self._began >= with_last_collection(plan.duration, self._settings):
            self._stop("the time was up")
        elif self._event_at is not None and now - self._event_at >= plan.after:
            self._stop(f"{plan.until.selector if plan.until else 'the event'} came")
        elif plan.rotate is not None and now - self._cut >= plan.rotate and not self._stopping:
            self._rotate(now)

    def _rotate(self, now: float) -> None:
        self._cut = now
        running = list(self._tapes)
        try:
            self._add()
        except (DiagnosticsError, OSError) as error:
            # The file that is being written goes on: better one that is too long than none.
            if not running:
                raise
            self.why = str(error)
            return
        for tape in running:
            tape.stop(followed=True)

    def _add(self) -> None:
        plan = self._plan
        tape = Tape(next(self._paths), self._process, self._settings, plan.stop_seconds, plan.until, plan.processor)
        self._tapes.append(tape)

    def _stop(self, why: str) -> None:
        if not self._stopping:
            self._stopping = True
            self.why = why
            for tape in self._tapes:
                tape.stop()

    def _progress(self, now: float) -> Progress:
        files: list[RecordedFile | Tape] = [*self._done, *self._tapes]
        return Progress(
            now - self._began,
            sum(file.bytes for file in files),
            sum(file.events for file in files),
            sum(file.lost for file in files),
            sum(tape.behind for tape in self._tapes),
            self._stopping,
        )
