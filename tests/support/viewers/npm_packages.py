"""Packages of npm's registry, unpacked: programs of others that read what we write.

Nothing is installed and no script of a package is run by unpacking it.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import pytest

UNREACHABLE: Final = "needs npm, node and npm's registry"


@cache
def npm_package(wanted: str) -> Path:
    """The folder of a package, as `name@range`; the test is skipped where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip(UNREACHABLE)
    folder = Path(mkdtemp(prefix="npm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [npm, "pack", wanted, "--silent", "--fetch-retries=1", "--fetch-timeout=20000"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90)
    except subprocess.TimeoutExpired:
        pytest.skip(UNREACHABLE)
    if done.returncode:
        pytest.skip(UNREACHABLE)
    with tarfile.open(folder / done.stdout.split()[-1]) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"
