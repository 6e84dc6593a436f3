"""The tables of one trace, written by several processes: the same files as by one, or none."""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import failing_shares
from clrevents.errors import ErrorMode
from clrevents.export.files import directory, lake, tables
from clrevents.export.files.formats import FORMATS, Format
from clrevents.export.files.lake import Outcome
from clrevents.export.files.tables import EVERYTHING, Options, dealt
from clrevents.schema.registry import RUNTIME
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES
from started_workers import started_by

Fault = Callable[..., Any]


@pytest.fixture(autouse=True)
def _at_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small traces are not worth another process; here each has one, and its tables are dealt out evenly."""
    monkeypatch.setattr(tables, "_GAIN", 1000)
    monkeypatch.setattr(directory, "_LATE", 0)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many processes each export started; none is left at the end."""
    yield from started_by(directory, monkeypatch)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "interop.nettrace"
    path.write_bytes(gzip.decompress((FIXTURES / "net10-method-interop.nettrace.gz").read_bytes()))
    return path


def exported(
    trace: Path, out: Path, processes: int, options: Options | None = None, errors: ErrorMode = "salvage"
) -> Outcome:
    (job,) = lake.jobs([str(trace)], out, options or Options(), errors)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return lake.export_trace(job, processes=processes)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_bytes(trace: Path, tmp_path: Path, started: list[int], format: Format) -> None:
    options = Options(format, activity_ids=True)
    one = exported(trace, tmp_path / "1", 1, options)
    three = exported(trace, tmp_path / "3", 3, options)
    assert started == [2]
    assert contents(tmp_path / "1") == contents(tmp_path / "3")
    assert one.written == three.written
    assert one.written is not None
    assert one.written.rows == 6688


@pytest.mark.parametrize(("times", "attempts"), [(20, 1), (400, 2)])
def test_problems_are_those_of_one_process(
    tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch, times: int, attempts: int
) -> None:
    """By their places, though each process meets some; which of too many are listed only one process can tell."""
    builder = TraceBuilder().described("Shop", "sold", {"Price": (9, 1)}, id=1)
    for _ in range(times):
        for id in (1, 2, 10):
            builder.raw(RUNTIME, id, 2, payload=b"xy")
    builder.described("Shop", "Sold", {"Price": (9, 2)}, id=2).raw("Own", 7, name="Raw").lose(3).sample()
    trace = tmp_path / "bad.nettrace"
    trace.write_bytes(builder.build())
    one = exported(trace, tmp_path / "1", 1)
    made = []
    really = lake._exported

    def counted(job: lake.Job, opened: Any, progress: Any, processes: int) -> Outcome:
        made.append(processes)
        return really(job, opened, progress, processes)

    monkeypatch.setattr(lake, "_exported", counted)
    three = exported(trace, tmp_path / "3", 3)
    assert made == [3, 1][:attempts]
    assert started == [2]
    assert contents(tmp_path / "1") == contents(tmp_path / "3")
    assert one.written is not None
    assert (one.written, one.problems, one.lost) == (three.written, three.problems, 3)
    places = [problem.offset or 0 for problem in one.written.problems if problem.severity == "payload"]
    assert len(places) == min(3 * times, 1000)
    assert places == sorted(places)
    assert sum(path.is_file() for path in (tmp_path / "3" / "bad" / "Shop").iterdir()) == 2


@pytest.mark.parametrize("fault", [failing_shares.dies, failing_shares.breaks])
def test_what_goes_wrong_elsewhere_is_done_again_here(
    trace: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    exported(trace, tmp_path / "1", 1)
    monkeypatch.setattr(directory, "_written", fault)
    assert exported(trace, tmp_path / "2", 2).written is not None
    assert started == [1]
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.mark.parametrize("change", [failing_shares.sees_it_grow, failing_shares.reads_another])
def test_a_file_that_changes_meanwhile_is_read_by_one_process(
    trace: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch, change: Fault
) -> None:
    monkeypatch.setattr(directory, "_written", change)
    two = exported(trace, tmp_path / "2", 2)
    assert started == [1]
    # It is now as it was when it was read again.
    one = exported(trace, tmp_path / "1", 1)
    assert [problem.kind for problem in one.problems] == [problem.kind for problem in two.problems]
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (failing_shares.finds_no_room, "No space left on device"),
        (failing_shares.loses_a_file, "No such file or directory"),
    ],
)
def test_what_cannot_be_written_elsewhere(
    trace: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch, fault: Fault, text: str
) -> None:
    monkeypatch.setattr(directory, "_written", fault)
    with pytest.raises(OSError, match=text):
        exported(trace, tmp_path / "out", 2)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_interrupt_waits_for_the_others(
    trace: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they write would otherwise appear in the folder that is being removed."""
    unfinished, late = tmp_path / "out" / ".interop.partial", time.monotonic() + 30

    def interrupted(parts: directory.Parts) -> None:
        while not (unfinished / "more" / "2.partial").exists() and time.monotonic() < late:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(directory, "_written", failing_shares.never_ends)
    monkeypatch.setattr(directory.Parts, "_look", interrupted)
    with pytest.raises(KeyboardInterrupt):
        exported(trace, tmp_path / "out", 2)
    assert list((tmp_path / "out").iterdir()) == []


def test_when_no_process_can_be_started(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(number: int) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    exported(trace, tmp_path / "1", 1)
    monkeypatch.setattr(directory, "Workers", start)
    exported(trace, tmp_path / "2", 2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_what_is_read_by_one_process(
    trace: Path, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One core, a compressed file, the first problem that ends it all; and a small trace."""
    exported(trace, tmp_path / "1", 1)
    exported(FIXTURES / "net10-method-interop.nettrace.gz", tmp_path / "2", 2)
    exported(trace, tmp_path / "3", 2, errors="strict")
    monkeypatch.undo()
    monkeypatch.setattr(directory, "Workers", started.append)
    exported(trace, tmp_path / "4", 8)
    assert started == []


def test_every_table_is_dealt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    rows = {("P", f"E{n}"): 10 * n for n in range(400)}
    found = dealt(rows, 8, 10_000)
    assert 2 < len(found) <= 8
    assert sorted(chain.from_iterable(share.events or () for share in found)) == sorted(rows)
    assert [(share.headers, share.stacks) for share in found].count((True, True)) == 1
    assert dealt(rows, 1, 500_000)[0].events == frozenset(rows)
    assert len(dealt({("P", "E"): 10_000}, 8, 500_000)) == 1
    # One giant table beside the headers: no third process would be done sooner.
    assert len(dealt({("P", "E"): 10_000_000}, 8, 500_000)) == 2
    assert ("P", "E7") in EVERYTHING
