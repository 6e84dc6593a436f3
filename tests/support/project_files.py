"""Where the project's files are, and the fixtures' bytes. Tests in any sub-folder can import it."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src" / "clrevents"
FIXTURES: Final = ROOT / "fixtures"
SHARED: Final = ROOT.parent / "shared"
"""Reference material beside the repository; not part of the project, and often not there."""
NEEDS_SHARED: Final = "needs ../shared"
"""How the reason of a skip begins where this material is missing: the tests' summary and `.ci/run` go by it."""


def without_shared(what: str) -> str:
    """Why a test is skipped that reads this of the shared material."""
    return f"{NEEDS_SHARED}: {what}"


def fixtures() -> list[Path]:
    """The traces in `fixtures/`."""
    return sorted(FIXTURES.glob("*.net*.gz"))


def fixture(name: str) -> Path:
    """One trace by its name without ending: `net8-sample`."""
    (found,) = FIXTURES.glob(f"{name}.net*.gz")
    return found


def linux_recording(name: str) -> Path:
    """One of the Linux kernel's: the fixture, or one of the shared material."""
    return fixture("net8-linux") if name == "fixture" else SHARED / "linux" / f"net8-{name}-55.linux.nettrace.gz"


@cache
def unpacked(path: Path) -> bytes:
    """A trace's bytes, decompressed once."""
    return gzip.decompress(path.read_bytes())


@cache
def tool(name: str) -> ModuleType:
    """A script of `tools/` as a module."""
    return loaded(f"tools_{name}", ROOT / "tools" / f"{name}.py")


def loaded(name: str, path: Path) -> ModuleType:
    """A file run as a module of its own, whatever else it may be."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
