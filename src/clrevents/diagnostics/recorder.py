"""`Recorder`: keeps one file, or a ring of files, recording until someone or something ends it.

Every file of a ring is a session of its own, so each has its header, its names and its end: the next one begins before
the last one stops. Whatever happens, the sessions are stopped and everything received is on disk. One loop, no threads.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs

from clrevents._util.value_classes import define, frozen
from clrevents.diagnostics.channel import STOP_SECONDS
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import attempt
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.side_sessions import METRICS, collect_before_start, with_last_collection
from clrevents.diagnostics.tape import RecordedFile, Tape, Watch

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
