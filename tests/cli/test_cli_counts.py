"""One of anything is written as one, in every command; more as more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clrevents
from cli.test_command_laws import Asked, every_command
from clrevents._util.words import counted, lost_events
from clrevents.events import (
    GCStart_V2,
    MethodFlags,
    MethodJitInliningSucceeded_V0,
    MethodJitTailCallSucceeded_V0,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V1,
    ModuleLoad_V1,
    R2RGetEntryPoint_V1,
    TieredCompilationBackgroundJitStart_V0,
    TieredCompilationPause_V0,
)
from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from project_files import SOURCE

# A one in front of a plural, as `1 notes`; not `11 notes`, `0.1 ms` or the columns of a table.
WRONG = re.compile(
    r"(?<![\d.,#/:-])1 (?:more |lost )?(?!ms\b|is\b|was\b|has\b|class\b)[a-z-]+s\b"
    r"|(?<![\d.,])(?<!of )1 \w+ (?:are|were|have) "
)


def test_counted() -> None:
    assert [counted(n, "note") for n in (0, 1, 2, 12_345)] == ["0 notes", "1 note", "2 notes", "12,345 notes"]
    assert [counted(n, "loss", "losses") for n in (1, 2)] == ["1 loss", "2 losses"]
    assert [lost_events(n) for n in (1, 1000)] == [
        "1 event was lost while recording",
        "1,000 events were lost while recording",
    ]


@pytest.mark.parametrize("text", ["1 notes", "lost: 1 events were lost", "and 1 more threads", "1 payload are newer"])
def test_the_search_finds_mistakes(text: str) -> None:
    assert WRONG.search(text)


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """A trace that has one of everything: thread, method, loss, note, event without a layout."""
    builder = TraceBuilder().thread(7).event(ModuleLoad_V1(77, 3, 0x20, 0, "/app/App.dll", "", 0))
    builder.event(MethodJittingStarted_V1(1, 77, 0x06000001, 1, "N.T", "M", "void  ()", 0)).wait(1000)
    builder.event(MethodJitInliningSucceeded_V0("N.T", "M", "", "N.T", "M", "", "N.U", "C", "", 0))
    builder.event(MethodJitTailCallSucceeded_V0("N.T", "M", "", "N.T", "M", "", "N.U", "C", "", False, 1, 0))
    builder.event(MethodLoadVerbose_V1(1, 77, 4096, 1, 0x06000001, MethodFlags(8 | 3 << 7), "N.T", "M", "void  ()", 0))
    builder.event(R2RGetEntryPoint_V1(1, "N.T", "M", "void  ()", 1, 0, 1))
    builder.event(TieredCompilationPause_V0(0)).event(TieredCompilationBackgroundJitStart_V0(0, 1))
    builder.raw("Own", 1, payload=b"a", name="Raw").event(GCStart_V2(1, 0, 0, 0, 0, 0)).sample(4096).lose(1).sample()
    path = tmp_path / "single.nettrace"
    path.write_bytes(builder.build())
    return path


def test_the_library_counts_well(single: Path) -> None:
    with clrevents.open(single) as trace, pytest.warns(clrevents.TraceWarning):
        assert trace.check().verdict == (
            "12 events; 1 event was lost while recording, on 1 thread; 1 event has no layout and stays raw"
        )


@every_command
def test_every_command(run: Run, single: Path, tmp_path: Path, command: str) -> None:
    result = Asked(run, command.replace("GCEnd", "ThreadSample"), tmp_path, single.read_bytes())()
    assert result.exit_code in (0, 3), result.stderr
    told = result.stdout + result.stderr
    assert not (found := WRONG.search(told)), found[0] if found else told


def test_no_command_writes_a_plural_of_its_own() -> None:
    """A number with separators, and a plural right after it: that is what `counted` is for."""
    bare = re.compile(r":,\}? (?:more )?[a-z-]+s\b")
    allowed = {"foreground", "has", "is", "was"}
    for path in sorted((SOURCE / "cli").glob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = bare.search(line)
            assert found is None or found[0].split()[-1] in allowed, f"{path.name}:{number}: {line.strip()}"
