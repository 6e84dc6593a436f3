"""Files and folders that appear under their name whole or not at all.

They grow beside their place under a hidden name and are moved at the end; after an error nothing of them is left, and
what was there before still is. Knows nothing of what is written.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

PARTIAL: Final = ".partial"
"""What the name of something unfinished ends with."""
_OLD: Final = ".replaced"


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file, open for bytes. What is there and is not a file (a device, a pipe) is written to as it is.

    Otherwise the same as `whole_path`. Raises OSError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    with whole_path(path) as unfinished, open(unfinished, "xb") as file:
        yield file


@contextmanager
def whole_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path at which to make the file that takes this one's place; it stands in a folder of its own.

    A link keeps pointing where it points, and a file that is replaced hands its permissions on. Raises OSError.
    """
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
    """A new folder that takes this one's place, also when that holds files. Raises OSError.

    Until then it is called `.<name>.partial`, so that the next attempt removes what a killed process left.
    """
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
    """Folders cannot be replaced in one step: the old one goes aside, and comes back if the new one cannot come."""
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
