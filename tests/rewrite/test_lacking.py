"""What the original of a copy lacked is known of the copy, and of a copy of that."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.rewrite import cut, redact
from clrevents.schema.own_marks import LACKED, PROVIDER, Lack, Lacking, lack_of
from clrevents.testing.builder import Format, TraceBuilder
from command_runs import Run
from project_files import fixture, unpacked

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

COPIES: Final[dict[str, Callable[[clrevents.Trace, Path], object]]] = {"cut": cut, "redact": redact}


def trust(trace: clrevents.Trace) -> tuple[Any, ...]:
    """What a trace says of itself: as a whole, and what is known to be missing."""
    check, report = trace.check(), trace.report("threads")
    notes = {(note.id, note.message) for note in report.notes if note.id in ("damage", "no-end", "losses")}
    return check.complete, check.severities.get("damage", 0), check.ok, check.lost, notes


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_copies_are_no_sounder(copy: Any, format: Format, tmp_path: Path, data: st.DataObject) -> None:
    """Of a trace that is cut off anywhere, or has zeros somewhere; and so is the copy of a copy."""
    builder = TraceBuilder(format)
    for turn in range(40):
        builder.thread(turn % 2).sample(turn + 1)
        if turn % 9 == 8:
            builder.lose(turn % 4)
    whole = builder.sequence_point().sample(1).build()
    least = whole.index("Sample".encode("utf-16-le" if format == "nettrace4" else "utf-8"))
    if data.draw(st.booleans()):
        bad = whole[: data.draw(st.integers(least, len(whole)))]
    else:
        at = data.draw(st.integers(least, len(whole) - 20))
        bad = whole[:at] + bytes(20) + whole[at + 20 :]
    first, second = tmp_path / "first", tmp_path / "second"
    with clrevents.open(bad, errors="salvage") as trace:
        expected = trust(trace)
        copy(trace, first)
    with clrevents.open(first) as trace:
        assert trust(trace) == expected
        copy(trace, second)
    with clrevents.open(second, errors="strict") as trace:
        assert trust(trace) == expected


def test_destroyed_events_of_a_part(tmp_path: Path) -> None:
    """A part knows those that concern it; that the file was damaged it knows in any case."""
    builder = TraceBuilder()
    for turn in range(4):
        builder.thread(7).at(turn * 1000).sample(1).sequence_point()
    data = builder.build()
    block = [at for at in range(len(data)) if data.startswith(b"EventBlock", at)][1]
    with clrevents.open(data[: block + 20] + bytes(20) + data[block + 40 :], errors="salvage") as trace:
        (gone,) = [p for p in trace.problems if p.kind == "missing-events"]
        assert gone.message == "thread 7 lacks 1 event after damage"
        for end, missing in ((1, False), (2000, True)):
            cut(trace, tmp_path / "part", end=end)
            with clrevents.open(tmp_path / "part") as part:
                assert part.check().damaged
                assert ("missing-events" in part.check().problem_counts) == missing


@given(payload=st.binary(max_size=45))
def test_foreign_marks(payload: bytes) -> None:
    """Any bytes as a mark: damage that is reported, or values that could have been written."""
    data = TraceBuilder().raw(PROVIDER, LACKED.id, payload=payload, name=LACKED.name).sample().build()
    with clrevents.open(data, errors="strict") as trace:
        lack = lack_of(payload)
        assert len(list(trace.events())) == 2
        assert trace.check().complete == (lack is None or lack.what != Lacking.END)
        if lack is None:
            assert [p.kind for p in trace.problems if p.severity == "damage"] == ["original-damaged"]


@pytest.mark.parametrize(("name", "visible"), [("net8-netperf3", False), ("net8-linux", False), ("net8-sample", True)])
def test_losses_that_cannot_be_seen(name: str, visible: bool, run: Run, tmp_path: Path) -> None:
    """Nothing claims that nothing was lost where the format would not show it; nor of a copy in another format."""
    cut_out = tmp_path / "cut"
    with clrevents.open(fixture(name)) as trace:
        cut(trace, cut_out, provider="Microsoft-Windows-DotNETRuntime", rundown=False)
    for path in (fixture(name), cut_out):
        with clrevents.open(path) as trace:
            assert trace.check().losses_visible == visible
        for command in ("info", "check"):
            assert ("no loss can be seen" in " ".join(run(command, path).stdout.split())) != visible


def test_payloads() -> None:
    for lack in (Lack(Lacking.END), Lack(Lacking.DAMAGE, 3), Lack(Lacking.EVENTS, 5, 7, -1, 1 << 40)):
        assert lack_of(lack.payload()) == lack


def test_commands(run: Run, tmp_path: Path) -> None:
    """Commands say so; names that end in .gz are compressed."""
    (tmp_path / "short").write_bytes(unpacked(fixture("net8-sample"))[:-1])
    for name in COPIES:
        out = tmp_path / f"{name}.gz"
        assert run(name, tmp_path / "short", "-o", out).exit_code == 0
        assert gzip.decompress(out.read_bytes()).startswith(b"Nettrace")
        assert "the end is missing" in run("info", out).stdout
        assert run("check", out).exit_code == 0
        assert run("check", out, "--fail-on", "end").exit_code == run("info", out, "--fail-on", "end").exit_code == 3
        checked = run("check", out).stdout.splitlines()[0]
        assert checked.partition("; ")[2] == (
            "the end is missing: the program or the recorder ended early; 1 event has no layout and stays raw"
        )
