"""What holds of every command that reads a trace: how it ends, what it says, and what it leaves of its output."""

from __future__ import annotations

import gzip
import os
import re
import resource
import shlex
import shutil
import stat
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import Result

from clrevents.analysis.framework.run.listing import report_names
from clrevents.events import GCEnd_V1, GCStart_V2
from clrevents.testing.builder import TraceBuilder
from command_runs import Run

MS: Final = 1_000_000

WRITERS: Final = (
    "flame FILE -o OUT.html",
    "flame FILE -o OUT.folded",
    "cut FILE -o OUT.nettrace",
    "redact FILE -o OUT.nettrace",
    "export FILE ThreadSample -o OUT.csv",
    "export FILE -o OUT.jsonl",
    "export FILE -o OUT.pftrace",
    "export FILE -o OUT --format parquet",
    "compare FILE --save OUT.json",
    # It draws for a second.
    pytest.param("report FILE -o OUT.html --jobs 1", marks=pytest.mark.full),
)
READERS: Final = (
    *("info FILE", "events FILE", "check FILE", "doctor FILE", "spans FILE GCStart GCEnd"),
    # SQL needs a package that the fast tier does not have.
    pytest.param("query FILE 'from headers'", marks=pytest.mark.full),
    *(f"{name} FILE{' Main' * (name == 'callers')}" for name in report_names()),
)
OWN_RULES: Final = ("doctor", "compare")
"""Their `--fail-on` is about what they find; damage does not fail them."""
every_command = pytest.mark.parametrize("command", [*READERS, *WRITERS])
every_writer = pytest.mark.parametrize("command", WRITERS)


def built(lost: int = 0) -> bytes:
    builder = TraceBuilder().method_load("Shop", "Main", address=0x1000).thread(7)
    for n in range(4):
        builder.at((10 + 10 * n) * MS).sample(0x1010).described(
            "Shop", "Ask\x1b[2J\x9b", {"W\x9b": (18, "t\u202e\x1b")}
        )
        builder.event(GCStart_V2(n + 1, 0, 0, 0, 0, 1)).at((11 + 10 * n) * MS).event(GCEnd_V1(n + 1, 0, 0))
        builder.sequence_point()
    return (builder.lose(lost).sample(0x1010) if lost else builder).build()


WHOLE: Final = built()
CUT: Final = WHOLE[: len(WHOLE) * 2 // 3]


class Asked:
    """A command with a trace in a folder of its own, where its output comes."""

    def __init__(self, run: Run, command: str, folder: Path, data: bytes = WHOLE) -> None:
        self.name, *self._words = shlex.split(command)
        self._run, self.folder = run, folder
        self.trace = folder / "a.nettrace"
        self.trace.write_bytes(data)
        self.outs = [folder / word for word in self._words if word.startswith("OUT")]

    def __call__(self, *more: object, file: object = None, out: Path | None = None, **options: Any) -> Result:
        places = {"FILE": file or self.trace, **{path.name: out or path for path in self.outs}}
        return self._run(self.name, *(places.get(word, word) for word in self._words), *more, **options)

    def left(self) -> list[str]:
        """What is in the folder besides the trace."""
        return sorted(path.name for path in self.folder.iterdir() if path != self.trace)


def one_sentence(result: Result) -> str:
    assert result.stderr.startswith("clrevents: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    return result.stderr


@every_command
def test_a_trace_may_come_on_standard_input(run: Run, tmp_path: Path, command: str) -> None:
    asked = Asked(run, command, tmp_path)
    of_file = asked()
    assert of_file.exit_code == 0
    written = [path.read_bytes() for path in asked.outs if path.is_file()]
    of_input = asked(file="-", input=gzip.compress(WHOLE))
    assert of_input.exit_code == 0
    if asked.name not in ("info", "check"):
        assert of_input.stdout == of_file.stdout
    assert [len(path.read_bytes()) > 0 for path in asked.outs if path.is_file()] == [True] * len(written)


@every_command
def test_what_is_no_trace_is_one_sentence(run: Run, tmp_path: Path, command: str) -> None:
    asked = Asked(run, command, tmp_path)
    future = WHOLE.replace(b"\4\0\0\0\4\0\0\0\5\0\0\0Trace", b"\x63\0\0\0\x63\0\0\0\5\0\0\0Trace")
    assert future != WHOLE
    for content, words in {
        b"": "the file is empty",
        b"hello, this is text\n" * 50: "not a .NET trace",
        b"Nettrace": "ends",
        bytes(5000): "not a .NET trace",
        b"\x1f\x8b nothing that was compressed": "",
        future: "99",
    }.items():
        asked.trace.write_bytes(content)
        for result in (asked(), asked(file="-", input=content)):
            assert (result.exit_code, result.stdout) == (2, "")
            assert words in one_sentence(result)
    if asked.name != "export":
        missing = asked(file=tmp_path / "none.nettrace")
        assert (missing.exit_code, missing.stdout) == (2, "")
        assert "none.nettrace: cannot be read: No such file or directory" in one_sentence(missing)
    assert not any(asked.folder.glob("OUT*.*"))


@every_command
def test_damage_is_said_and_fails_if_asked(run: Run, tmp_path: Path, command: str) -> None:
    asked = Asked(run, command, tmp_path, CUT)
    result = asked()
    assert result.exit_code == (0 if asked.name in OWN_RULES else 3)
    # The only damage, and no note about the missing end.
    assert re.search(rf"^clrevents: {asked.trace} at offset 0x\w+: the file ends [^(]+$", result.stderr, re.MULTILINE)
    # Where people look first, what is damaged is told, and no note.
    assert asked.name != "info" or ("\ndamage: the file ends" in result.stdout and "\nnote: " not in result.stdout)
    assert all(path.exists() for path in asked.outs)
    for path in asked.outs:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if asked.name != "check":
        for mode in ("strict", "report"):
            stopped = asked("--errors", mode)
            assert stopped.exit_code == 3
            assert "at offset 0x" in stopped.stderr
            # A page shows what the reports have that came to an end.
            assert (asked.name, mode) == ("report", "report") or not any(
                path.is_file() for path in asked.folder.rglob("*") if path != asked.trace
            )
    if asked.name not in OWN_RULES:
        assert asked("--fail-on", "none").exit_code == 0


@every_command
def test_losses_are_said_and_fail_if_asked(run: Run, tmp_path: Path, command: str) -> None:
    asked = Asked(run, command, tmp_path, built(lost=3))
    result = asked()
    assert result.exit_code == (3 if asked.name == "check" else 0)
    assert "3 lost ones" in result.stderr or "3 events were lost while recording" in result.stderr
    if asked.name not in OWN_RULES:
        assert asked("--fail-on", "loss").exit_code == 3


@every_command
def test_nothing_of_a_trace_is_a_control(run: Run, tmp_path: Path, command: str) -> None:
    result = Asked(run, command, tmp_path)()
    assert not set("\x1b\x9b\u202e\r") & set(result.stdout + result.stderr)


@pytest.mark.parametrize("command", [one for one in WRITERS if "OUT " not in str(one)])
@pytest.mark.parametrize("way", ["itself", "symbolic link", "hard link", "in a linked folder"])
def test_a_trace_is_never_written_over(run: Run, tmp_path: Path, command: str, way: str) -> None:
    asked = Asked(run, command, tmp_path)
    (out,) = asked.outs
    # An output has its suffix, whatever the trace is called.
    trace = out.with_stem("trace")
    asked.trace.rename(trace)
    if way == "symbolic link":
        out.symlink_to(trace)
    elif way == "hard link":
        os.link(trace, out)
    elif way == "in a linked folder":
        (tmp_path / "folder").symlink_to(tmp_path)
        out = tmp_path / "folder" / trace.name
    else:
        out = trace
    result = asked(file=trace, out=out)
    assert result.exit_code == 1
    assert "is the trace itself" in result.stderr
    assert trace.read_bytes() == WHOLE


@every_writer
@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_leaves_what_was_there(run: Run, tmp_path: Path, command: str, before: bool) -> None:
    """A limit on the size of files stands for the disk."""
    asked = Asked(run, command, tmp_path)
    if before:
        assert asked().exit_code == 0
    there = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        result = asked()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.exit_code == 2
    assert "clrevents: cannot write " in result.stderr
    assert "File too large" in result.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == there


@every_writer
def test_where_nothing_can_be_written_it_is_said(run: Run, tmp_path: Path, command: str) -> None:
    asked = Asked(run, command, tmp_path)
    (out,) = asked.outs
    (tmp_path / "file").write_text("x")
    result = asked(out=tmp_path / "file" / out.name)
    assert result.exit_code == 2
    assert result.stderr.startswith("clrevents: cannot write ")
    assert str(tmp_path / "file") in one_sentence(result)
    assert asked.left() == ["file"]


@pytest.mark.full
@pytest.mark.parametrize(
    "command",
    [*WRITERS, "redact FILE -o OUT.nettrace.gz --report OUT.json", "compare FILE --against FILE -o OUT.html"],
)
def test_what_is_made_from_a_private_trace_is_private(run: Run, tmp_path: Path, command: str) -> None:
    """In new files, and over those that everybody may read."""
    asked = Asked(run, command, tmp_path)
    asked.trace.chmod(0o600)
    for again in (False, True):
        assert asked().exit_code == 0
        # A folder for several traces is nobody's in particular.
        made = {*tmp_path.rglob("*")} - {asked.trace, *(path for path in asked.outs if path.is_dir())}
        assert len(made) >= len(asked.outs)
        for path in made:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, (path, again)
            path.chmod(0o755 if path.is_dir() else 0o644)
