"""What `outputs` writes is there whole or not at all, and what was there before stays until then."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents._util.outputs import whole_file, whole_folder, whole_path
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.files import lake
from clrevents.export.files.tables import Options
from clrevents.rewrite import cut, redact
from clrevents.testing.builder import TraceBuilder
from project_files import SOURCE, fixture, unpacked


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fill(target: Any, text: bytes) -> None:
    """Write into whatever was handed out: an open file, or a path that nothing has yet."""
    if isinstance(target, Path):
        assert not target.exists()
        target.write_bytes(text)
    else:
        target.write(text)


@pytest.mark.parametrize("whole", [whole_file, whole_path])
@pytest.mark.parametrize("before", [None, b"as before"])
def test_a_file_comes_at_the_end(tmp_path: Path, whole: Any, before: bytes | None) -> None:
    out = tmp_path / "out.csv"
    if before is not None:
        out.write_bytes(before)
    with whole(out) as target:
        fill(target, b"new")
        assert (out.read_bytes() if out.exists() else None) == before
    assert out.read_bytes() == b"new"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("whole", [whole_file, whole_path])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, GeneratorExit])
def test_after_an_error_all_is_as_before(tmp_path: Path, whole: Any, error: type[BaseException]) -> None:
    out = tmp_path / "out.csv"
    for before in ([], ["out.csv"]):
        with pytest.raises(error), whole(out) as target:  # noqa: PT012
            fill(target, b"half")
            raise error
        assert names(tmp_path) == before
        out.write_bytes(b"as before")
    assert out.read_bytes() == b"as before"


@pytest.mark.parametrize("whole", [whole_file, whole_path])
def test_what_cannot_be_moved_into_place_leaves_nothing(
    tmp_path: Path, whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*_: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(PermissionError), whole(tmp_path / "out.csv") as target:
        fill(target, b"new")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    """Not replaced by a file: a pipe gets the bytes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as target:
            target.write(b"new")
        assert os.read(reader, 65536) == b"new"
    finally:
        os.close(reader)
    assert names(tmp_path) == ["pipe"]


def test_two_at_a_time_do_not_meet(tmp_path: Path) -> None:
    """The last one to end wins, whole; a writer's own unfinished files go too."""
    out = tmp_path / "out.csv"
    with whole_path(out) as first:
        first.write_bytes(b"first")
        with whole_path(out) as second:
            second.write_bytes(b"second")
            (second.parent / "scratch").write_bytes(b"")
        assert out.read_bytes() == b"second"
    assert out.read_bytes() == b"first"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("whole", [whole_file, whole_path])
def test_permissions_stay(tmp_path: Path, whole: Any) -> None:
    out, plain = tmp_path / "out.csv", tmp_path / "plain"
    plain.touch()
    with whole(out) as target:
        fill(target, b"1")
    assert out.stat().st_mode == plain.stat().st_mode
    out.chmod(0o600)
    with whole(out) as target:
        fill(target, b"2")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.parametrize("whole", [whole_file, whole_path])
def test_a_link_stays_a_link(tmp_path: Path, whole: Any) -> None:
    (tmp_path / "elsewhere").mkdir()
    out, there = tmp_path / "out.csv", tmp_path / "elsewhere" / "there.csv"
    for _ in range(2):
        # At first it points at nothing.
        out.unlink(missing_ok=True)
        out.symlink_to(there)
        with whole(out) as target:
            fill(target, b"new")
        assert out.is_symlink()
        assert there.read_bytes() == b"new"
    assert names(tmp_path) == ["elsewhere", "out.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs locks of folders")
def test_what_the_killed_left_is_removed(tmp_path: Path) -> None:
    """By the next one that writes the same output; what a living process writes stays, and so do others' outputs."""
    script = "import sys, time\nfrom clrevents._util.outputs import whole_path\n"
    script += f"with whole_path({str(tmp_path / 'out.csv')!r}) as path:\n"
    script += "    path.write_bytes(b'half'); print(); sys.stdout.flush(); time.sleep(60)\n"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(SOURCE.parent)}
        )
        for _ in "ab"
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        (tmp_path / ".other.csv.0123456789ab.partial").mkdir()
        writers[0].kill()
        writers[0].wait()
        for room in tmp_path.iterdir():
            os.utime(room, (0, 0))
        with whole_path(tmp_path / "out.csv") as path:
            path.write_bytes(b"whole")
        left = names(tmp_path)
        assert [name for name in left if ".other" not in name and name != "out.csv"] == [
            name for name in left if name.startswith(".out.csv.")
        ]
        assert len(left) == 3
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def flame(trace: Any, out: Path) -> None:
    read_samples(trace).write(out, format="html")


@pytest.mark.parametrize("write", [cut, redact, clrevents.write_report, flame])
def test_no_writer_replaces_the_trace_it_reads(tmp_path: Path, write: Any) -> None:
    """Under none of its names: a link, a hard link, a way round."""
    path = tmp_path / "a.nettrace"
    data = unpacked(fixture("net10-convoy"))
    path.write_bytes(data)
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    (tmp_path / "inside").mkdir()
    outs = [path, tmp_path / "link", tmp_path / "hard", tmp_path / "inside" / ".." / "a.nettrace"]
    with path.open("rb") as file:
        for source in (path, file):
            with clrevents.open(source) as trace:
                for out in outs:
                    with pytest.raises(ValueError, match="is the trace itself"):
                        write(trace, out)
    assert path.read_bytes() == data
    assert names(tmp_path) == ["a.nettrace", "hard", "inside", "link"]


def test_a_folder_comes_at_the_end(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    for text in ("one", "two"):
        with whole_folder(out) as folder:
            (folder / text).write_text(text)
            assert names(tmp_path / "deep") == [".out.partial", *(["out"] if text == "two" else [])]
        assert names(out) == [text]
    with pytest.raises(KeyboardInterrupt), whole_folder(out):
        raise KeyboardInterrupt
    assert names(tmp_path / "deep") == ["out"]
    assert names(out) == ["two"]


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").touch()
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == ".out.partial":
            raise PermissionError("no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(PermissionError), whole_folder(out):
        pass
    assert names(tmp_path) == ["out"]
    assert names(out) == ["old"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("whole", [whole_file, whole_path])
@pytest.mark.parametrize("mode", [0o400, 0o600, 0o640, 0o604, 0o644, 0o666])
@pytest.mark.parametrize("group", [None, 65534])
def test_permissions_are_no_more_than_those_of_inputs(tmp_path: Path, whole: Any, mode: int, group: int | None) -> None:
    """A group has them only if it is the same one, or everybody does."""
    if group is not None and os.getuid() != 0:
        pytest.skip("needs root, who may give files to any group")
    inputs = [tmp_path / "in", tmp_path / "other"]
    for path in inputs:
        path.touch()
    inputs[0].chmod(mode)
    if group is not None:
        os.chown(inputs[0], -1, group)
        mode = mode & 0o707 | (mode & 7) << 3
    for before in (None, 0o644, 0o660):
        out = tmp_path / "out"
        if before is not None:
            out.chmod(before)
        with whole(out, *map(str, inputs)) as target:
            fill(target, b"1")
        assert stat.S_IMODE(out.stat().st_mode) == (before or 0o644) & 0o644 & (mode | 0o600)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("whole", [whole_file, whole_path])
def test_an_unfinished_file_is_private(tmp_path: Path, whole: Any) -> None:
    with whole(tmp_path / "out.csv") as target:
        fill(target, b"1")
        (room,) = tmp_path.iterdir()
        assert stat.S_IMODE(room.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
@pytest.mark.parametrize("inputs", [(), ("in",)])
def test_a_folder_passes_on_its_group(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    """Where folders of a team do so, what is exported belongs to the team."""
    (tmp_path / "in").touch()
    tmp_path.chmod(0o2755)
    with whole_folder(tmp_path / "out", *(str(tmp_path / name) for name in inputs)) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o2700
        (folder / "part").mkdir()
    for path in (tmp_path / "out", tmp_path / "out" / "part"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o2755


def test_two_that_write_one_folder(tmp_path: Path) -> None:
    """One wins and the other says so, in whichever order; nothing vanishes."""
    out = tmp_path / "out"
    with whole_folder(out) as first:
        (first / "first").touch()
        with pytest.raises(FileExistsError, match="is being written by another process"), whole_folder(out):
            pass
    assert names(tmp_path) == ["out"]
    assert names(out) == ["first"]


@pytest.mark.parametrize("late", [False, True])
def test_two_exports_of_equally_named_traces(tmp_path: Path, late: bool) -> None:
    """Both have chosen the same folder; the second begins while the first one writes, or after it."""
    out, chosen = tmp_path / "out", []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.nettrace").write_bytes(TraceBuilder().thread(ord(name)).sample(1).build())
        chosen += lake.jobs([str(tmp_path / name / "app.nettrace")], out, Options())
    assert chosen[0].folder == chosen[1].folder == out / "app"

    def other(share: float) -> None:
        if not late:
            with pytest.raises(FileExistsError, match="by another process"):
                lake.export_trace(chosen[1])

    assert lake.export_trace(chosen[0], progress=other).written is not None
    if late:
        with pytest.raises(FileExistsError, match="of another trace"):
            lake.export_trace(chosen[1])
    assert names(out) == ["app"]
    (again,) = lake.jobs([str(tmp_path / "b" / "app.nettrace")], out, Options())
    assert lake.export_trace(again).written is not None
    assert len(names(out)) == 2


def test_nothing_else_moves_files_into_place() -> None:
    """One module knows how; only a table's own file takes its name inside an unfinished folder."""
    moving = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("os.replace(", ".rename(", "partial.replace("))
    }
    assert moving == {"_util/outputs.py", "export/files/buffered.py"}
