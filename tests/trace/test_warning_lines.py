"""A TraceWarning names the line of whoever uses the library, and from the command it is one plain sentence."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import clrevents
from command_runs import python
from project_files import fixture, unpacked

SAMPLE = fixture("net8-sample")


@pytest.fixture
def trace() -> clrevents.Trace:
    """A trace that is damaged in the middle; the reading goes on."""
    data = unpacked(SAMPLE)
    return clrevents.open(data[:200_000], errors="salvage")


def here() -> int:
    """The line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


@contextmanager
def warned() -> Iterator[list[tuple[str, int]]]:
    """Where the warnings given inside point."""
    places: list[tuple[str, int]] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield places
    assert [w.category for w in found] == [clrevents.TraceWarning]
    places += [(w.filename, w.lineno) for w in found]


def test_a_loop_over_events(trace: clrevents.Trace) -> None:
    with warned() as places:
        line = here() + 1
        for _ in trace.events():
            pass
    assert places == [(__file__, line)]


def test_a_loop_over_a_generator_of_events(trace: clrevents.Trace) -> None:
    events = trace.events("MethodLoadVerbose", "rundown/*")
    names = (event.name for event in events)
    line = here() - 1
    with warned() as places:
        for _ in names:
            pass
    # Its own code is the user's too, and nearer.
    assert places == [(__file__, line)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda trace: trace.table("MethodDCEndVerbose"),
        lambda trace: trace.threads,
        lambda trace: trace.duration_ns,
        lambda trace: trace.headers(),
        lambda trace: list(trace.table_parts("MethodDCEndVerbose")),
        lambda trace: trace.stacks,
        lambda trace: trace.methods,
        lambda trace: trace.check(),
        lambda trace: trace.summary(),
        lambda trace: trace.problems,
    ],
)
def test_questions(trace: clrevents.Trace, ask: Callable[[clrevents.Trace], object]) -> None:
    with warned() as places:
        ask(trace)
    assert places == [(__file__, ask.__code__.co_firstlineno)]


def test_losses_too() -> None:
    from clrevents.testing.builder import TraceBuilder

    lossy = TraceBuilder().thread(2).sample().lose(3).sample().build()
    for ask in (
        lambda trace: trace.table("ThreadSample"),
        lambda trace: list(trace.events()),
        lambda trace: trace.lost,
    ):
        trace = clrevents.open(lossy)
        with warned() as places:
            ask(trace)
        assert places == [(__file__, ask.__code__.co_firstlineno)]


def test_a_script_sees_its_own_line(tmp_path: Path) -> None:
    """As people meet it: on stderr, with the line itself."""
    script = tmp_path / "mine.py"
    cut = tmp_path / "cut.nettrace"
    cut.write_bytes(unpacked(SAMPLE)[:200_000])
    script.write_text(f"import clrevents\ntrace = clrevents.open({str(cut)!r}, errors='salvage')\nprint(trace.lost)\n")
    first, second = python(script).stderr.splitlines()
    assert first.startswith(f"{script}:3: TraceWarning: {cut}: the trace is damaged: ")
    assert second == "  print(trace.lost)"


@pytest.mark.parametrize("command", ["info", "events", "check", "jit"])
def test_the_command_shows_no_line_of_code(tmp_path: Path, command: str) -> None:
    cut = tmp_path / "cut.nettrace"
    cut.write_bytes(unpacked(SAMPLE)[:200_000])
    done = python("-m", "clrevents", command, cut)
    assert done.returncode == 3
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"clrevents: {cut} at offset 0x")
    assert not any(word in done.stderr for word in ("TraceWarning", ".py", "Traceback", "warnings"))
