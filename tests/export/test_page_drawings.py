"""Another process draws the charts of a page: always the same page, and no process is left."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import clrevents
import failing_drawings
from clrevents._util import workers
from clrevents.analysis.framework.render.inline_svg import Drawing
from clrevents.export.page import page_drawings
from clrevents.export.page.page_drawings import drawn_meanwhile
from clrevents.export.page.page_sections import NO_CHARTS
from clrevents.export.page.report_page import report_page
from project_files import fixture
from started_workers import started_by

pytestmark = pytest.mark.full

Fault = Callable[..., Any]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many processes each page started; none is left at the end."""
    yield from started_by(page_drawings, monkeypatch)


@pytest.fixture(scope="module")
def trace() -> Iterator[clrevents.Trace]:
    with clrevents.open(fixture("net10-garbage")) as trace:
        yield trace


@pytest.fixture(scope="module")
def alone(trace: clrevents.Trace) -> bytes:
    """The page that this process makes."""
    made = report_page(trace)
    assert made.count(rb"\u003csvg ") > 3
    return made


def test_another_process_draws(trace: clrevents.Trace, alone: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it, and this one nothing."""

    def start(number: int) -> workers.Workers:
        made = workers.Workers(number)
        monkeypatch.setattr(Drawing, "svg", failing_drawings.breaks)
        return made

    monkeypatch.setattr(page_drawings, "Workers", start)
    assert report_page(trace, jobs=2) == alone
    assert multiprocessing.active_children() == []


def test_one_that_must_be_small_is_drawn_again(trace: clrevents.Trace, started: list[int]) -> None:
    charts = trace.report("gc").charts()
    with drawn_meanwhile(2) as begin:
        waiting = [(chart, most, begin(chart, most)) for chart in charts for most in (60_000, 20_000, 8_000, -5)]
        for chart, most, found in waiting:
            assert found() == chart.inline_svg(most)
    assert started == [1]


@pytest.mark.parametrize("fault", [failing_drawings.dies, failing_drawings.breaks])
def test_what_goes_wrong_elsewhere_is_drawn_here(
    trace: clrevents.Trace, alone: bytes, started: list[int], monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(page_drawings, "_drawn", fault)
    assert report_page(trace, jobs=8) == alone
    assert started == [1]


def test_when_no_process_can_be_started(trace: clrevents.Trace, alone: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(number: int) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(page_drawings, "Workers", start)
    assert report_page(trace, jobs=2) == alone


def test_an_interrupt_ends_it(
    trace: clrevents.Trace, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it draws at that moment, and no page is left."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(page_drawings, "_drawn", failing_drawings.never_ends)
    monkeypatch.setattr(page_drawings, "_result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clrevents.write_report(trace, tmp_path / "page.html", jobs=2)
    assert started == [1]
    assert list(tmp_path.iterdir()) == []


def test_one_process_is_enough(
    trace: clrevents.Trace, alone: bytes, tmp_path: Path, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default, and without the library that draws."""
    clrevents.write_report(trace, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == alone
    monkeypatch.setattr(page_drawings, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert NO_CHARTS.encode() in report_page(trace, jobs=2)
    assert started == []
    with pytest.raises(ValueError, match="jobs must be positive, not 0"):
        clrevents.write_report(trace, tmp_path / "page.html", jobs=0)
