"""Small streams in the making, what reading some bytes gives, and third-party traces by name."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import pytest

import clrevents
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from clrevents.errors import ErrorMode, Problem, TraceError
from clrevents.schema.registry import Registry
from project_files import SHARED, without_shared


@cache
def perfview(name: str) -> bytes:
    """A third-party trace by the beginning of its name; the test is skipped where the shared folder is not."""
    found = sorted((SHARED / "traces" / "perfview").glob(f"eventpipe-{name}*.gz"))
    if not found:
        pytest.skip(without_shared("third-party traces"))
    return gzip.decompress(found[0].read_bytes())


PROVIDER: Final = "My-Provider"
VALUE: Final = (FieldDescription("Value", 9),)


def described(metadata_id: int = 1, fields: tuple[FieldDescription, ...] = VALUE, **more: Any) -> MetadataRecord:
    """An event with an Int32, unless told otherwise; id and name tell the metadata id."""
    return MetadataRecord(metadata_id, PROVIDER, 100 + metadata_id, name=f"Event{metadata_id}", fields=fields, **more)


def event(time: int, value: int = 0, thread: int = 7, metadata_id: int = 1, **more: Any) -> EventRecord:
    """An event whose payload is an Int32."""
    return EventRecord(metadata_id, time, thread, value.to_bytes(4, "little", signed=True), **more)


class Built4:
    """A NetTrace 4 stream in the making; `writer` with one description."""

    def __init__(self, **header: Any) -> None:
        self.sink = io.BytesIO()
        self.writer: Any = NetTrace4Writer(self.sink, TraceHeader(**header))
        self.writer.metadata([described()])

    def build(self, end: bool = True) -> bytes:
        if end:
            self.writer.end()
        return self.sink.getvalue()


class Built6(Built4):
    """A NetTrace 6 stream in the making; `writer` with one description and the thread 7 at its index 7."""

    def __init__(self, **header: Any) -> None:
        self.sink = io.BytesIO()
        self.writer: Any = NetTrace6Writer(self.sink, TraceHeader(**header))
        self.writer.metadata([described()])
        self.writer.threads([ThreadRow(7, 7)])


class Read:
    """All that reading some bytes gives: events in order, the error that ended it, and what was reported."""

    def __init__(self, data: bytes, errors: ErrorMode = "report", registry: Registry | None = None) -> None:
        decoder = clrevents.Decoder(errors=errors, registry=registry)
        self.events: list[clrevents.Event[Any]] = []
        self.error: TraceError | None = None
        try:
            for batch in decoder.feed(data):
                self.events += batch
            for batch in decoder.close():
                self.events += batch
        except TraceError as error:
            self.error = error
        self.info = decoder.info
        self.problems: tuple[Problem, ...] = decoder.problems
        self.losses = decoder.losses

    @property
    def values(self) -> list[Any]:
        """The field `Value` of each event."""
        return [event.payload["Value"] for event in self.events]

    @property
    def kinds(self) -> list[str]:
        """What the problems are."""
        return [problem.kind for problem in self.problems]


def sound(data: bytes) -> Read:
    """Read strictly; no problem of any kind, no loss, no error."""
    read = Read(data, "strict")
    assert read.error is None
    assert read.problems == ()
    assert read.losses == ()
    return read


def kept(found: Iterable[clrevents.Event[Any]]) -> list[tuple[Any, ...]]:
    """What two readings of the same event must agree on."""
    return [(e.key, e.time_ns, e.thread_id, e.payload_bytes, e.stack, e.activity_id) for e in found]
