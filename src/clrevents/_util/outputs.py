"""Files and folders that appear under their final name complete or not at all.

They are written beside their destination under a hidden name and moved at the end. After an error nothing of them
remains, and what was there before is unchanged. Knows nothing of the contents.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

PARTIAL: Final = ".partial"
"""The suffix of unfinished output."""
_OLD: Final = ".replaced"


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
    room = target.with_name(f".{target.name[:50]}.{secrets.token_hex(6)}{PARTIAL}")
    room.mkdir()
    try:
        unfinished = room / target.name
        yield unfinished
        if target.is_file():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        shutil.rmtree(room, ignore_errors=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder that replaces this one, even if that contains files. Raises OSError.

    Until then it is called `.<name>.partial`, so that the next attempt removes what a killed process left. A symbolic
    link keeps its target.
    """
    folder = Path(os.path.realpath(folder))
    unfinished = folder.with_name(f".{folder.name}{PARTIAL}")
    shutil.rmtree(unfinished, ignore_errors=True)
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
