"""A far file system that fails in the middle: never a shorter trace, but an error with URL and place, or a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import clrevents
from clrevents import SourceError
from far_files import Reads, counted_file, served
from project_files import fixture, unpacked

pytestmark = pytest.mark.full

DATA = unpacked(fixture("net10-starvation"))
AT = 700_000
# 64, 128 and 256 KiB come before the piece that fails.
BEFORE = (64 + 128 + 256) << 10
ALWAYS, ONCE = None, 1
WAYS = ("file system", "refusing server", "dropping server", "dropping server without ranges")


@pytest.fixture(params=WAYS)
def failing(request: pytest.FixtureRequest) -> Iterator[tuple[str, Reads]]:
    """A far trace whose reading fails at a place."""
    if request.param == "file system":
        with counted_file("far.nettrace", DATA) as (url, reads):
            reads.fails_at = AT
            yield url, reads
        return
    reads = Reads(
        fails_at=AT,
        drops=request.param.startswith("dropping"),
        ignores_ranges=request.param.endswith("without ranges"),
    )
    with served({"far.nettrace": DATA}, reads) as server:
        yield f"{server}/far.nettrace", reads


def is_place(offset: int | None, reads: Reads) -> bool:
    """Whether this many bytes may have come. Without ranges half the trace was sent, and what the client had not taken
    when the line broke is gone.
    """
    low, high = (0, len(DATA) // 2) if reads.ignores_ranges else (BEFORE, BEFORE)
    return offset is not None and low <= offset <= high


@pytest.mark.parametrize("times", [ONCE, ALWAYS], ids=["once", "always"])
@pytest.mark.parametrize("errors", ["salvage", "report"])
def test_a_failure_ends_the_reading_with_url_and_place(
    failing: tuple[str, Reads], times: int | None, errors: Any
) -> None:
    """The open trace stays without an answer; one that is opened anew has it, if the file system works again."""
    url, reads = failing
    reads.failures_left = times
    with clrevents.open(url, errors=errors) as trace:
        for _ in range(2):
            with pytest.raises(SourceError) as raised:
                trace.event_counts()
            offset = raised.value.offset
            assert raised.value.path == url
            assert is_place(offset, reads)
            assert str(raised.value).startswith(f"{url} at offset {offset:#x}: cannot be read: ")
    if times is ONCE:
        with clrevents.open(url) as trace:
            assert trace.event_counts() == clrevents.open(DATA).event_counts()
    else:
        with pytest.raises(SourceError), clrevents.open(url) as trace:
            trace.event_counts()


def test_what_is_shown_of_it_is_no_shorter_trace(failing: tuple[str, Reads]) -> None:
    """Neither a summary, a notebook nor the list of problems tells of the part that came as if it were all."""
    url, reads = failing
    reads.failures_left = ALWAYS
    for shown in (lambda t: t.summary(), lambda t: t._repr_html_(), lambda t: t.problems, lambda t: t.check()):
        with pytest.raises(SourceError), clrevents.open(url) as trace:
            shown(trace)


# The counted file system is known to one process only.
@pytest.mark.parametrize(
    ("failing", "jobs"),
    [(way, jobs) for way in WAYS for jobs in (1, 2) if (way, jobs) != ("file system", 2)],
    indirect=["failing"],
)
def test_a_failure_is_a_problem_of_one_of_many(failing: tuple[str, Reads], jobs: int) -> None:
    """And the next question reads that trace anew."""
    url, reads = failing
    near = str(fixture("net8-sample"))
    reads.failures_left = ONCE
    with clrevents.open_many([url, near], jobs=jobs) as traces:
        assert set(traces.event_counts()["trace"].tolist()) == {near}
        (row,) = traces.problems.rows()
        assert (row["trace"], row["kind"], row["severity"]) == (url, "source", "error")
        assert is_place(row["offset"], reads)
        assert row["message"].startswith("cannot be read")
        assert traces.overview()["trace"].tolist() == [url, near]
        assert traces.overview()["events"].tolist()[0] == sum(clrevents.open(DATA).event_counts().values())
