"""What goes wrong in a process that writes some of a trace's tables: each stands for the function that writes them."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

from clrevents._util.workers import give_up_if_told
from clrevents.export.files import directory
from clrevents.export.files.tables import Options


def dies(*_: Any) -> Any:
    os._exit(9)


def breaks(*_: Any) -> Any:
    raise ZeroDivisionError("only here")


def finds_no_room(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.parquet")


def sees_it_grow(path: str, *rest: Any) -> Any:
    done = really_written(path, *rest)
    with open(path, "ab") as file:
        file.write(b"\0" * 1000)
    return done


def reads_another(path: str, *rest: Any) -> Any:
    """The file is replaced before this process opens it."""
    other = Path(path).with_suffix(".other")
    other.write_bytes(Path(path).read_bytes()[:-1000])
    os.replace(other, path)
    return really_written(path, *rest)


def loses_a_file(path: str, *rest: Any) -> Any:
    """Somebody removes what was just finished."""
    done = really_written(path, *rest)
    folder: Path = rest[3]
    (folder / done.files[0]).unlink()
    return done


def never_ends(path: str, mark: object, errors: Any, limits: Any, folder: Path, options: Options, share: Any) -> Any:
    """Makes files until it is told to stop, and one after that."""
    for number in range(1000):
        (folder / "more").mkdir(parents=True, exist_ok=True)
        (folder / "more" / f"{number}.partial").write_bytes(b"\0")
        give_up_if_told()
        time.sleep(0.1)


really_written = directory._written
