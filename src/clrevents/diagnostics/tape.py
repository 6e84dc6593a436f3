"""`Tape`: one session that goes into one file, and what is known about that file.

Bytes go to the file first and immediately. They are counted from the file, when there is time: a recorder that decodes
while bytes wait makes the process lose events.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final

from clrevents._util.outputs import whole_file
from clrevents._util.value_classes import frozen
from clrevents.diagnostics.channel import Channel, End
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.driving import run
from clrevents.diagnostics.live_stream import keep, make_empty, private_file, write_all
from clrevents.diagnostics.process_counts import Counting
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.side_sessions import listed_now, may_list
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
