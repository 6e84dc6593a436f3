"""Files and folders that appear under their final name complete or not at all.

They are written beside their destination under a hidden name and moved at the end. After an error nothing of them
remains, and what was there before is unchanged. Knows nothing of the contents.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import time
from collections.abc import Iterator
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
            there, held = os.stat(path), os.stat(one)  # type: ignore[arg-type]
        except (OSError, ValueError, TypeError):
            # One of them is no file.
            continue
        if stat.S_ISREG(there.st_mode) and os.path.samestat(there, held):
            raise ValueError(f"{os.fspath(path)} is the trace itself; write to another file")


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
    with whole_path(path) as unfinished, open(unfinished, "xb") as file:
        yield file


@contextmanager
def whole_path(path: str | os.PathLike[str], *inputs: str | None) -> Iterator[Path]:
    """A path in a temporary folder at which to create the file that then replaces this one.

    A symbolic link keeps its target, and a replaced file passes on its permissions. Raises OSError, and ValueError
    where the file is one of the `inputs`.
    """
    refuse_replacing(path, *inputs)
    target = Path(os.path.realpath(path))
    # Another process may be writing the same file.
    like = f".{target.name[:50]}."
    _remove_abandoned(target.parent, like)
    room = target.with_name(f"{like}{os.urandom(6).hex()}{PARTIAL}")
    room.mkdir()
    held = _hold(room)
    try:
        unfinished = room / target.name
        yield unfinished
        if target.is_file():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        shutil.rmtree(room, ignore_errors=True)
        if held is not None:
            os.close(held)


def _hold(room: Path, wait: bool = True) -> int | None:
    """The folder, locked for as long as this process lives or keeps it open; None if another one has it, or no lock is
    to be had here."""
    if fcntl is None:
        return None
    try:
        held = os.open(room, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(held)
        return None
    return held


def _remove_abandoned(folder: Path, like: str) -> None:
    """Remove what a process left that was killed: the folders of this name that nobody holds any more."""
    if not folder.is_dir():
        return
    for room in folder.glob(f"{glob.escape(like)}{'[0-9a-f]' * 12}{PARTIAL}"):
        # Its owner may remove it at this moment.
        with suppress(FileNotFoundError):
            # One that was just made is about to be held.
            held = _hold(room, wait=False) if time.time() - room.stat().st_mtime > _JUST_MADE else None
            if held is not None:
                shutil.rmtree(room, ignore_errors=True)
                os.close(held)


def remove_unfinished(folder: Path) -> None:
    """Remove what a process left that died while it wrote this folder."""
    folder = Path(os.path.realpath(folder))
    shutil.rmtree(folder.with_name(f".{folder.name}{PARTIAL}"), ignore_errors=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder that replaces this one, even if that contains files. Raises OSError.

    Until then it is called `.<name>.partial`, so that the next attempt removes what a killed process left. A symbolic
    link keeps its target.
    """
    remove_unfinished(folder)
    folder = Path(os.path.realpath(folder))
    unfinished = folder.with_name(f".{folder.name}{PARTIAL}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        _replace_folder(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


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
