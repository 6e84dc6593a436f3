"""Files and folders that appear under their final name complete or not at all.

They are written beside their destination under a hidden name and moved at the end. After an error nothing of them
remains, and what was there before is unchanged. Nobody may read them who may not read what they are made from. Knows
nothing of the contents.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

fcntl: Any
try:
    import fcntl
except ImportError:
    # Windows has none: there, what a killed process left stays.
    fcntl = None

PARTIAL: Final = ".partial"
"""The suffix of unfinished output."""
_OLD: Final = ".replaced"
_JUST_MADE: Final = 0.5
"""Seconds after which a process that made a folder surely holds it."""


def refuse_replacing(path: str | os.PathLike[str], *inputs: str | int | None) -> None:
    """Raises ValueError where `path` is one of these files (paths or descriptors), by whichever name or link."""
    for one in inputs:
        try:
            there, input_status = os.stat(path), os.stat(one)  # type: ignore[arg-type]
        except (OSError, ValueError, TypeError):
            # One of them is no file.
            continue
        if stat.S_ISREG(there.st_mode) and os.path.samestat(there, input_status):
            raise ValueError(f"{os.fspath(path)} is the trace itself; write to another file")


def _as_private(path: Path, mode: int, inputs: Iterable[str | None]) -> None:
    """Give a file or folder those permissions of `mode` that all inputs give; its owner keeps all."""
    own = os.stat(path)
    for one in inputs:
        # Of a URL, standard input or what is gone by now nobody knows.
        with suppress(OSError, ValueError, TypeError):
            given = os.stat(one)  # type: ignore[arg-type]
            others = given.st_mode & stat.S_IRWXO
            group = given.st_mode & stat.S_IRWXG if given.st_gid == own.st_gid else others << 3
            # Who may read a folder may look into it.
            shared = group | others | (((group | others) & 0o044) >> 2 if stat.S_ISDIR(own.st_mode) else 0)
            mode &= shared | ~(stat.S_IRWXG | stat.S_IRWXO)
    os.chmod(path, stat.S_IMODE(mode))


@contextmanager
def whole_file(path: str | os.PathLike[str], *inputs: str | None) -> Iterator[IO[bytes]]:
    """A new file, open for writing bytes. A path that is not a file (a device, a pipe) is written to directly.

    Otherwise the same as `whole_path`. Raises OSError, and ValueError where the file is one of the `inputs`.
    """
    refuse_replacing(path, *inputs)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    with whole_path(path, *inputs) as unfinished, open(unfinished, "xb") as file:
        yield file


@contextmanager
def whole_path(path: str | os.PathLike[str], *inputs: str | None) -> Iterator[Path]:
    """A path in a temporary folder at which to create the file that then replaces this one.

    A symbolic link keeps its target, and a replaced file passes on its permissions, except for those that the `inputs`
    do not give. Raises OSError, and ValueError where the file is one of the `inputs`.
    """
    refuse_replacing(path, *inputs)
    target = Path(os.path.realpath(path))
    # Another process may be writing the same file.
    like = f".{target.name[:50]}."
    _remove_abandoned(target.parent, like)
    room = target.with_name(f"{like}{os.urandom(6).hex()}{PARTIAL}")
    lock = None
    try:
        room.mkdir(0o700)
        lock = _hold(room)
        unfinished = room / target.name
        yield unfinished
        _as_private(unfinished, (target if target.is_file() else unfinished).stat().st_mode, inputs)
        os.replace(unfinished, target)
    except OSError as error:
        # People know the file that they asked for.
        if error.filename is None or str(error.filename).startswith(str(room)):
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        shutil.rmtree(room, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _hold(room: Path, wait: bool = True) -> int | None:
    """The folder, locked for as long as this process lives or keeps it open; None if another one has it, or no lock is
    to be had here."""
    if fcntl is None:
        return None
    try:
        folder = os.open(room, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(folder)
        return None
    return folder


def _remove_abandoned(folder: Path, like: str) -> None:
    """Remove what a process left that was killed: the folders of this name that nobody holds any more."""
    if not folder.is_dir():
        return
    for room in folder.glob(f"{glob.escape(like)}{'[0-9a-f]' * 12}{PARTIAL}"):
        # Its owner may remove it at this moment.
        with suppress(FileNotFoundError):
            # One that was just made is about to be held.
            lock = _hold(room, wait=False) if time.time() - room.stat().st_mtime > _JUST_MADE else None
            if lock is not None:
                shutil.rmtree(room, ignore_errors=True)
                os.close(lock)


def remove_unfinished(folder: Path) -> None:
    """Remove what a process left that died while it wrote this folder, unless another one writes it."""
    folder = Path(os.path.realpath(folder))
    unfinished = folder.with_name(f".{folder.name}{PARTIAL}")
    lock = _hold(unfinished, wait=False)
    if lock is not None or fcntl is None:
        shutil.rmtree(unfinished, ignore_errors=True)
    if lock is not None:
        os.close(lock)


@contextmanager
def whole_folder(folder: Path, *inputs: str | None) -> Iterator[Path]:
    """A new folder that replaces this one, even if that contains files.

    Until then it is called `.<name>.partial`, so that the next attempt removes what a killed process left. A symbolic
    link keeps its target. Raises OSError, also where another process is writing the folder.
    """
    folder = Path(os.path.realpath(folder))
    unfinished = folder.with_name(f".{folder.name}{PARTIAL}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Nobody else removes or makes it in between.
    turn = _hold(folder.parent)
    try:
        remove_unfinished(folder)
        unfinished.mkdir()
        lock = _hold(unfinished)
    except FileExistsError:
        why = f"is being written by another process; if there is none, remove {unfinished.name}"
        raise FileExistsError(None, why, str(folder)) from None
    finally:
        if turn is not None:
            os.close(turn)
    try:
        mode = unfinished.stat().st_mode
        # A folder that passes on its group goes on doing so.
        unfinished.chmod(stat.S_IMODE(mode) & ~(stat.S_IRWXG | stat.S_IRWXO))
        yield unfinished
        for path in unfinished.rglob("*"):
            _as_private(path, path.stat().st_mode, inputs)
        _as_private(unfinished, mode, inputs)
        _replace_folder(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _replace_folder(new: Path, folder: Path) -> None:
    """Folders cannot be replaced atomically: the old one is moved aside, and moved back on failure."""
    if not folder.exists():
        new.rename(folder)
        return
    old = folder.with_name(f".{folder.name}{_OLD}")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    try:
        new.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
