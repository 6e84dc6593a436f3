"""Traces that fsspec reads: the same answers as of a file, each byte fetched at most once, and faults told."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

import clrevents
from clrevents import LimitError, Limits, SourceError, UnreadableError
from clrevents.cli import root
from clrevents.sources import is_url
from far_files import Reads, counted_file, served
from project_files import fixture, unpacked

pytestmark = pytest.mark.full

STARVATION = fixture("net10-starvation")
PLACES = ("memory", "http")


@attrs.frozen
class Far:
    url: str
    reads: Reads


@pytest.fixture(params=PLACES)
def far(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Puts a file far away."""
    opened: list[Any] = []

    def put(name: str, data: bytes) -> Far:
        if request.param == "memory":
            opened.append(counted_file(name, data))
            return Far(*opened[-1].__enter__())
        reads = Reads()
        opened.append(served({name: data}, reads))
        return Far(f"{opened[-1].__enter__()}/{name}", reads)

    yield put
    for one in opened:
        one.__exit__(None, None, None)


DATA = unpacked(STARVATION)


@pytest.mark.parametrize("packed", [False, True])
def test_questions_about_everything_fetch_each_byte_once(far: Any, packed: bool) -> None:
    stored = gzip.compress(DATA) if packed else DATA
    there = far("starvation.nettrace", stored)
    with clrevents.open(DATA) as here:
        counts, threads = here.event_counts(), here.threads
        names = [str(frame) for frame in next(e for e in here.events("ThreadSample") if e.stack).frames]
    with clrevents.open(there.url) as trace:
        assert trace.info.path == there.url
        assert trace.event_counts() == counts
        assert trace.threads == threads
        # Several passes, over events that come late.
        assert [str(frame) for frame in next(e for e in trace.events("ThreadSample") if e.stack).frames] == names
    assert there.reads.bytes == len(stored)
    assert not there.reads.twice


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_info_fetches_each_byte_once(far: Any, packed: bool) -> None:
    stored = STARVATION.read_bytes() if packed else DATA
    there = far("starvation.nettrace", stored)
    done = CliRunner().invoke(root, ["info", "--json", there.url])
    assert done.exit_code == 0, done.output
    near = CliRunner().invoke(root, ["info", "--json", str(STARVATION)])
    found, expected = json.loads(done.stdout), json.loads(near.stdout)
    assert found["question"]["trace"].pop("path") == there.url
    expected["question"]["trace"].pop("path")
    assert found == expected
    assert there.reads.bytes == len(stored)
    assert not there.reads.twice


@pytest.mark.parametrize("packed", [False, True])
def test_questions_about_the_head_fetch_little(far: Any, packed: bool) -> None:
    there = far("starvation.nettrace", gzip.compress(DATA, 0) if packed else DATA)
    with clrevents.open(there.url) as trace:
        assert trace.info.process_id == clrevents.open(DATA).info.process_id
        assert there.reads.bytes <= 1 << 16
        first = next(trace.events(order="file"))
        assert there.reads.bytes <= 1 << 19 < len(DATA)
    assert first.time_ns == next(clrevents.open(DATA).events(order="file")).time_ns


def test_two_readings_at_once(far: Any) -> None:
    """Each has its own place in the one copy."""
    there = far("starvation.nettrace", DATA)
    with clrevents.open(there.url) as trace:
        one, other = trace.events(), trace.events()
        for _ in range(30_000):
            next(one)
        assert next(other).time_ns == next(iter(trace.events())).time_ns
    assert not there.reads.twice


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_goes_dead_is_no_end_of_the_trace(far: Any, packed: bool) -> None:
    stored = gzip.compress(DATA, 0) if packed else DATA
    there = far("starvation.nettrace", stored)
    there.reads.fails_at = 700_000
    with clrevents.open(there.url, errors="salvage") as trace:
        for _ in range(2):
            with pytest.raises(SourceError) as raised:
                trace.event_counts()
            assert raised.value.path == there.url
            # 64 KiB, 128 KiB and 256 KiB came.
            assert raised.value.offset is not None
            assert 440_000 < raised.value.offset <= 700_000
            assert "cannot be read" in raised.value.reason
        with pytest.raises(SourceError):
            list(trace.events("GCStart"))
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), SourceError)


def test_a_server_without_ranges() -> None:
    """It is read in one go."""
    reads = Reads(ignores_ranges=True)
    with served({"a.nettrace": DATA}, reads) as server, clrevents.open(f"{server}/a.nettrace") as trace:
        assert trace.event_counts() == clrevents.open(DATA).event_counts()
    assert reads.bytes == len(DATA)


def test_a_first_answer_of_one_byte() -> None:
    """It does not yet say how the file is packed."""
    with counted_file("slow.nettrace.gz", STARVATION.read_bytes()) as (url, reads):
        reads.first = 1
        with clrevents.open(url) as trace:
            assert trace.event_counts() == clrevents.open(DATA).event_counts()


def test_what_cannot_be_opened(far: Any) -> None:
    there = far("empty.nettrace", b"")
    with pytest.raises(UnreadableError):
        clrevents.open(there.url)
    with pytest.raises(SourceError, match="cannot be read"):
        clrevents.open(there.url.replace("empty", "missing"))
    with pytest.raises(SourceError, match="cannot be read"):
        clrevents.open("nosuchplace://x.nettrace")


def test_the_copy_is_bounded_and_goes_with_the_trace(far: Any) -> None:
    there = far("starvation.nettrace", DATA)
    with clrevents.open(there.url, limits=Limits(spool_bytes=1 << 20)) as trace, pytest.raises(LimitError):
        trace.event_counts()
    trace = clrevents.open(there.url)
    trace.close()
    with pytest.raises(SourceError, match="the trace is closed"):
        trace.event_counts()


def test_what_is_a_url() -> None:
    for text in ("s3://bucket/a.nettrace", "memory://a", "simplecache::s3://b/c", "https://host/a?x=1"):
        assert is_url(text)
    for path in ("a.nettrace", "C://a.nettrace", "a/b://c", Path("s3://bucket"), b"s3://bucket", "://a"):
        assert not is_url(path)


def test_a_remote_trace_can_be_pickled(far: Any) -> None:
    there = far("starvation.nettrace", DATA)
    again = pickle.loads(pickle.dumps(clrevents.open(there.url)))
    assert again.event_counts() == clrevents.open(DATA).event_counts()
