"""Paths, bytes, files, pipes and packed files give the same trace; what is no source is refused."""

from __future__ import annotations

import gc
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents import DamageError, LimitError, Limits, SourceError, TraceError, TraceWarning, UnreadableError
from clrevents.trace import passes_of
from project_files import fixture, unpacked

SAMPLE = fixture("net8-sample")


def pipe_of(data: bytes) -> Any:
    """A binary file that cannot seek."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.rest = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            return self.rest.read(min(size, 1000))

    return Pipe()


def test_sources_agree(tmp_path: Path) -> None:
    data = unpacked(SAMPLE)
    plain = tmp_path / "plain.nettrace"
    plain.write_bytes(data)
    double = tmp_path / "members.gz"
    double.write_bytes(gzip.compress(data[:1000]) + gzip.compress(data[1000:]) + bytes(100))
    offset = io.BytesIO(b"something in front" + data)
    offset.seek(18)
    sources: list[Callable[[], Any]] = [
        lambda: data,
        lambda: bytearray(data),
        lambda: memoryview(data),
        lambda: plain,
        lambda: str(plain),
        lambda: SAMPLE,
        lambda: double,
        lambda: SAMPLE.read_bytes(),
        lambda: io.BytesIO(data),
        lambda: offset,
        lambda: pipe_of(data),
        lambda: pipe_of(SAMPLE.read_bytes()),
    ]
    expected = clrevents.open(data).event_counts()
    for source in sources:
        with clrevents.open(source()) as trace:
            assert trace.event_counts() == expected
            assert Counter(e.name for e in trace.events("Request*")) == {"RequestStart": 100, "RequestStop": 100}
    with plain.open("rb") as file, clrevents.open(file) as trace:
        assert trace.event_counts() == expected
        assert trace.info.path == str(plain)


def test_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    child = os.fork()
    if child == 0:
        with path.open("wb") as file:
            file.write(unpacked(SAMPLE))
        os._exit(0)
    with clrevents.open(path) as trace:
        os.waitpid(child, 0)
        assert sum(trace.event_counts().values()) == 1696
        assert len(list(trace.events())) == 1696


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.nettrace", "No such file"), ("", "is a directory"), ("a\0b", "null byte")],
)
def test_what_cannot_be_opened(tmp_path: Path, name: str, message: str) -> None:
    path = f"{tmp_path}/{name}"
    with pytest.raises(SourceError, match=message) as caught:
        clrevents.open(path)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ".replace("\0", r"\x00"))


@pytest.mark.parametrize("source", [None, 5, io.StringIO("text"), ["a"]])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(TypeError):
        clrevents.open(source)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.nettrace"
    path.write_bytes(b"This is a text and no trace.")
    with pytest.raises(TraceError) as caught:
        clrevents.open(path)
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(f"{path} at offset 0x0: this is not a .NET trace")
    cut = tmp_path / "cut.nettrace"
    cut.write_bytes(unpacked(SAMPLE)[:100_000])
    with pytest.warns(TraceWarning, match=r"cut\.nettrace: the trace is damaged"), pytest.raises(DamageError) as damage:
        list(clrevents.open(cut).events())
    assert damage.value.path == str(cut)


def test_cut_gzip_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "cut.nettrace.gz"
    path.write_bytes(SAMPLE.read_bytes()[:40_000])
    trace = clrevents.open(path, errors="salvage")
    with pytest.warns(TraceWarning):
        found = list(trace.events())
    assert 0 < len(found) < 1696
    assert "compressed-stream" in {p.kind for p in trace.problems}


@pytest.mark.parametrize("at", ["data", "magic", "header", "checksum", "behind"])
def test_damaged_gzip_gives_what_is_there_and_says_so(at: str) -> None:
    """The damage is in the second of two members, or what follows it is no third."""
    data = unpacked(SAMPLE)
    first, second = gzip.compress(data[:300_000]), bytearray(gzip.compress(data[300_000:]))
    if at == "behind":
        second += b"\0\0behind"
    elif at == "data":
        middle = len(second) // 2
        second[middle : middle + 100] = b"\xff" * 100
    else:
        second[{"magic": 1, "header": 2, "checksum": -6}[at]] ^= 4
    with clrevents.open(first + second, errors="salvage") as trace:
        with pytest.warns(TraceWarning):
            found = sum(trace.event_counts().values())
        (problem,) = (p for p in trace.problems if p.kind == "compressed-stream")
        assert trace.check().problem_counts["compressed-stream"] == 1
    whole = sum(clrevents.open(data).event_counts().values())
    with clrevents.open(data[:300_000], errors="salvage") as trace, pytest.warns(TraceWarning):
        part = sum(trace.event_counts().values())
    assert problem.offset is not None
    assert problem.offset >= 300_000
    if at in ("checksum", "behind"):
        assert found == whole
    else:
        assert part <= found < whole
    if at == "data":
        # What came before the damage in the same window is read, too.
        assert found > part


def test_a_first_answer_of_one_byte() -> None:
    """It does not yet say how the file is packed."""

    class Hesitant(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(1 if self.tell() == 0 and size else size)

    for stored in (SAMPLE.read_bytes(), unpacked(SAMPLE)):
        with clrevents.open(Hesitant(stored)) as trace:
            assert sum(trace.event_counts().values()) == 1696


def test_spool_limit() -> None:
    with pytest.raises(LimitError, match="spool_bytes"):
        clrevents.open(SAMPLE, limits=Limits(spool_bytes=1000))
    size = len(unpacked(SAMPLE))
    with clrevents.open(SAMPLE, limits=Limits(spool_bytes=size)) as trace:
        assert trace.info
    with pytest.raises(LimitError, match="spool_bytes"):
        clrevents.open(SAMPLE, limits=Limits(spool_bytes=size - 1))
    with pytest.raises(ValueError, match=r"Limits\.problems must be a positive integer"):
        Limits(problems=0)
    assert Limits(problems=1).problems == 1


def test_dropping_a_trace_closes_its_copy(recwarn: pytest.WarningsRecorder) -> None:
    """`with` is recommended, not required."""
    for source in (SAMPLE, pipe_of(unpacked(SAMPLE))):
        trace = clrevents.open(source)
        assert trace.duration_ns > 0
        del trace
        gc.collect()
    assert list(recwarn) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("packed", [True, False])
def test_forked_processes_read_side_by_side(packed: bool, tmp_path: Path) -> None:
    """They share the place where an open file stands, so reading must not depend on it."""
    data = unpacked(SAMPLE)
    plain = tmp_path / "plain.nettrace"
    plain.write_bytes(data)
    assert len(data) > 100_000
    with plain.open("rb") as file, clrevents.open(SAMPLE if packed else file) as trace:
        source = passes_of(trace).source
        ours = source.windows(1000)
        found = next(ours)
        child = os.fork()
        if child == 0:
            # Some of it, so that the file stands somewhere in the middle.
            os._exit(0 if b"".join(islice(source.windows(500), 100)) == data[:50_000] else 1)
        _, status = os.waitpid(child, 0)
        found += b"".join(ours)
        assert os.waitstatus_to_exitcode(status) == 0
        assert found == data


def test_a_file_that_unpacks_is_read_through_itself() -> None:
    """Its descriptor gives the packed bytes."""
    with gzip.open(SAMPLE) as file, clrevents.open(file) as trace, clrevents.open(SAMPLE) as same:
        assert trace.event_counts() == same.event_counts()


def test_no_copy_of_what_is_no_trace(tmp_path: Path) -> None:
    """Its head says so: gigabytes of zeros, packed or from a pipe, are not copied first."""
    asked = 0

    class Zeros(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            nonlocal asked
            asked += 1
            assert asked < 5
            return bytes(size)

    with pytest.raises(UnreadableError, match=r"not a \.NET trace"):
        clrevents.open(Zeros())
    packer = zlib.compressobj(9, wbits=31)
    packed = tmp_path / "zeros.gz"
    packed.write_bytes(packer.compress(bytes(1 << 26)) + packer.flush())
    # A copy of all of it would exceed the limit.
    with pytest.raises(UnreadableError, match=r"not a \.NET trace"):
        clrevents.open(packed, limits=Limits(spool_bytes=1 << 21))
    for head in (b"Nettrace", b"\x14\0\0\0!FastSerialization.1"):
        packed.write_bytes(gzip.compress(head + bytes(1 << 22)))
        with pytest.raises(LimitError, match="spool_bytes"):
            clrevents.open(packed, limits=Limits(spool_bytes=1 << 21))
    # Byte by byte, in members of their own.
    packed.write_bytes(
        b"".join(gzip.compress(b"Nettracy"[at : at + 1]) for at in range(8)) + gzip.compress(bytes(1 << 24))
    )
    with pytest.raises(UnreadableError, match=r"not a \.NET trace"):
        clrevents.open(packed, limits=Limits(spool_bytes=1 << 21))
