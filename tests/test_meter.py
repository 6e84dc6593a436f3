"""`progress=True`: a bar on a terminal and below a notebook's cell, only for long work, and nothing of it stays."""

from __future__ import annotations

import io
import sys
from typing import Any, Final

import pytest

import clrevents
from clrevents._util.meter import Meter
from project_files import fixture, unpacked

TRACE: Final = "net8-sample"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A time that goes on only when it is told to."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Slow(io.BytesIO):
    """A file of which each read takes half a second and gives a few bytes."""

    clock: Clock

    def read(self, size: int | None = -1) -> bytes:
        self.clock.now += 0.5
        return super().read(min(size or 0, 4096))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    for module in ("clrevents._util.meter", "clrevents.trace.passes"):
        monkeypatch.setattr(f"{module}.time", found)
    return found


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error from here on. No fixture: what it sets pytest sets back before the test begins."""
    monkeypatch.setenv("TERM", "xterm")
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def slow(clock: Clock) -> Slow:
    found = Slow(unpacked(fixture(TRACE)))
    found.clock = clock
    return found


def test_a_long_pass_draws_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    screen = terminal(monkeypatch)
    trace = clrevents.open(slow(clock), progress=True)
    assert screen.getvalue() == ""
    assert len(list(trace.events())) > 1000
    drawn = screen.getvalue()
    assert "reading" in drawn
    assert "kB" in drawn
    # The line is erased, and the cursor shown again.
    assert drawn.index("\x1b[?25l") < drawn.rindex("\x1b[2K") < drawn.rindex("\x1b[?25h")


def test_a_pass_that_is_left_takes_its_bar_along(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    screen = terminal(monkeypatch)
    events = clrevents.open(slow(clock), progress=True).events()
    while not screen.getvalue():
        next(events)
    assert "\x1b[?25h" not in screen.getvalue()
    del events
    assert "\x1b[?25h" in screen.getvalue()


def test_a_short_pass_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    assert len(list(clrevents.open(fixture(TRACE), progress=True).events())) > 1000
    assert screen.getvalue() == ""


def test_where_nobody_looks_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert Meter.anywhere().hook is None
    monkeypatch.setattr(sys, "stderr", None)
    assert Meter.anywhere().hook is None
    assert len(list(clrevents.open(fixture(TRACE), progress=True).events())) > 1000


def test_the_patience_begins_anew_with_each_pass(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    screen = terminal(monkeypatch)
    meter = Meter.anywhere()
    for _ in range(3):
        meter.tell(1, 10)
        clock.now += 0.9
        meter.tell(9, 10)
        meter.restart()
    assert screen.getvalue() == ""
    meter.tell(1, 10)
    clock.now += 1.1
    meter.tell(9, 10)
    assert "9 B of 10 B" in screen.getvalue()


def test_false_is_none() -> None:
    assert len(list(clrevents.open(fixture(TRACE), progress=False).events())) > 1000


SLOW: Final = """
import gzip, io, clrevents, clrevents._util.meter, clrevents.trace.passes
class Clock:
    now = 0.0
    def monotonic(self):
        return self.now
clock = clrevents._util.meter.time = clrevents.trace.passes.time = Clock()
class Slow(io.BytesIO):
    def read(self, size=-1):
        clock.now += 0.5
        return super().read(min(size, 4096))
"""


def executed(*cells: str) -> Any:
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    seen: list[dict[str, Any]] = []

    class Watched(NotebookClient):
        def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
            if msg["msg_type"] in ("display_data", "update_display_data"):
                seen.append(msg["content"]["data"])
            return super().process_message(msg, cell, cell_index)

    Watched(book, timeout=120, kernel_name="python3").execute()
    return book, seen


@pytest.mark.full
def test_a_notebook_has_a_bar_while_it_reads() -> None:
    path = str(fixture(TRACE))
    count = f"len(list(clrevents.open(Slow(gzip.open({path!r}).read()), progress=True).events())) > 1000"
    book, seen = executed(SLOW, count)
    assert len(seen) > 3
    assert all("<progress" in data["text/html"] for data in seen[:-1])
    assert "value='" in seen[1]["text/html"]
    # It is gone when the cell has run: what a notebook keeps is the answer.
    bar, answer = book.cells[1].outputs
    assert bar.data == {"text/html": "", "text/plain": ""}
    assert answer.data == {"text/plain": "True"}


@pytest.mark.full
def test_a_short_pass_leaves_a_notebook_alone() -> None:
    count = f"len(list(clrevents.open({str(fixture(TRACE))!r}, progress=True).events()))"
    book, seen = executed(f"import clrevents\n{count}")
    (answer,) = book.cells[0].outputs
    assert seen == []
    assert answer.output_type == "execute_result"
