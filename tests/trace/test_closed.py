"""A trace that is asked after its end says in plain words that it is closed, or answers as before."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.testing.builder import TraceBuilder

DATA = TraceBuilder().method_load("N", "M", address=0x1000).thread(7).sample(0x1010).build()
CLOSED = "the trace is closed, but must be read again to answer this; ask inside `with`, or reopen it"
FILE_CLOSED = "the file was closed, but must be read again to answer this; keep it open as long as the trace"

READING: dict[str, Callable[[clrevents.Trace], Any]] = {
    "events": lambda trace: len(list(trace.events())),
    "table": lambda trace: len(trace.table("ThreadSample")),
    "table_parts": lambda trace: sum(map(len, trace.table_parts("ThreadSample"))),
    "batches": lambda trace: sum(map(len, trace.batches("ThreadSample"))),
    "tables": lambda trace: len(list(trace.tables())),
    "headers": lambda trace: len(trace.headers()),
    "methods": lambda trace: len(trace.methods),
    "stacks": lambda trace: len(trace.stacks),
    "check": lambda trace: len(trace.check().kinds),
    "threads": lambda trace: len(trace.threads),
    "losses": lambda trace: trace.losses,
    "problems": lambda trace: trace.problems,
    "duration_ns": lambda trace: trace.duration_ns,
    "event_counts": lambda trace: trace.event_counts(),
    "summary": lambda trace: trace.summary(),
}
ask = pytest.mark.parametrize("question", READING.values(), ids=READING)


@contextmanager
def piped(data: bytes) -> Iterator[Any]:
    """The reading end of a pipe with these bytes in it."""
    out, into = os.pipe()

    def write() -> None:
        with open(into, "wb") as file:
            file.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb") as file:
        yield file
    writer.join()


@ask
def test_a_copy_is_gone(question: Callable[[clrevents.Trace], Any], tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace.gz"
    path.write_bytes(gzip.compress(DATA))
    with clrevents.open(path) as trace:
        pass
    with pytest.raises(clrevents.SourceError) as caught:
        question(trace)
    assert (caught.value.reason, caught.value.path) == (CLOSED, str(path))
    with piped(DATA) as pipe, clrevents.open(pipe) as trace:
        pass
    with pytest.raises(clrevents.SourceError) as caught:
        question(trace)
    assert caught.value.reason == CLOSED


@ask
def test_what_needs_no_copy_can_still_be_read(question: Callable[[clrevents.Trace], Any], tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(DATA)
    sources: list[Callable[[], Any]] = [lambda: path, lambda: DATA, lambda: BytesIO(DATA)]
    for source in sources:
        with clrevents.open(source()) as trace:
            expected = question(trace)
        with clrevents.open(source()) as trace:
            pass
        assert question(trace) == expected


@ask
def test_a_file_that_its_owner_closed(question: Callable[[clrevents.Trace], Any], tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(DATA)
    with open(path, "rb") as file:
        trace = clrevents.open(file)
    with pytest.raises(clrevents.SourceError) as caught:
        question(trace)
    assert (caught.value.reason, caught.value.path) == (FILE_CLOSED, str(path))


def test_in_the_middle_of_reading() -> None:
    builder = TraceBuilder()
    for number in range(3000):
        builder.described("My-App", "Big", {"Text": (18, f"{number}" * 400)}, id=1).sequence_point()
    with clrevents.open(gzip.compress(builder.build())) as trace:
        events = trace.events()
        next(events)
    with pytest.raises(clrevents.SourceError, match="the trace is closed"):
        list(events)


def test_what_was_found_out_before_stays() -> None:
    with clrevents.open(gzip.compress(DATA)) as trace:
        counts, methods, (event,) = trace.event_counts(), trace.methods, trace.events("ThreadSample")
    assert trace.event_counts() == counts
    assert trace.methods is methods
    assert event.frames[0].name == "M"
