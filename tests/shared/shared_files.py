"""The `shared` folder beside the repository: which traces it holds and what the official decoder made of them.

None of it is part of the project, so every test here is skipped where the folder is missing.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs
import pytest

from project_files import loaded, without_shared

SHARED: Final = Path(__file__).resolve().parents[3] / "shared"

_MISSING: Final = without_shared("traces and official dumps")

needs_shared: Final = pytest.mark.skipif(not SHARED.is_dir(), reason=_MISSING)

# Its events are only summed up: a dump of 1.3 million events would be larger than all others together.
SUMMED_ONLY: Final = {"net10-big"}


@attrs.frozen
class Shared:
    """One trace and what came with it; `name` is the file's without `.gz`."""

    name: str
    path: Path

    @property
    def short(self) -> str:
        return self.name.partition(".nettrace")[0]

    @property
    def dump(self) -> Path:
        return SHARED / "oracle" / f"{self.name}.jsonl.gz"

    def beside(self, ending: str) -> Path:
        """A file named after the trace, next to the dumps or next to the trace itself."""
        here = self.path.with_name(self.short + ending)
        return here if here.exists() else SHARED / "oracle" / (self.short + ending)


def traces(*folders: str) -> list[Shared]:
    """The traces of some folders of `shared`, by name; none where the folder is missing."""
    found = []
    for folder in folders:
        for ending in ("nettrace", "netperf"):
            found += [Shared(p.name.removesuffix(".gz"), p) for p in (SHARED / folder).glob(f"*.{ending}.gz")]
    return sorted(found, key=lambda trace: trace.name)


def dumped() -> list[Shared]:
    """Every trace of which there is a dump."""
    return [t for t in traces("traces/own", "traces/perfview") if t.dump.exists()]


def summed() -> list[Shared]:
    """Every trace of which there are checksums."""
    found = traces("traces/own", "scenarios", "scenarios/lines")
    return [t for t in found if t.beside(".sums.json").exists()]


def with_stacks() -> list[Shared]:
    """Every trace of which there are the official decoder's stacks."""
    return [t for t in traces("traces/own", "scenarios") if t.beside(".stacks.jsonl.gz").exists()]


def official(trace: Shared, of: str) -> dict[str, Any] | None:
    """The official decoder's report of one trace; None without one, or where it has none of these."""
    path = trace.beside(".runtime.json.gz")
    if not path.exists():
        return None
    (report,) = json.loads(gzip.decompress(path.read_bytes()))
    return report if report[of] else None


def params(found: list[Shared]) -> list[Any]:
    """The traces as parameters of a test; one that skips and says why where there are none."""
    if not found:
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=_MISSING))]
    return [pytest.param(trace, id=trace.name) for trace in found]


def json_lines(path: Path) -> Iterator[Any]:
    """The values of a compressed file of JSON lines, one at a time."""
    with gzip.open(path, "rb") as lines:
        for line in lines:
            yield json.loads(line)


def unpacked(trace: Shared) -> bytes:
    """The trace's bytes."""
    return gzip.decompress(trace.path.read_bytes())


@cache
def checksums() -> ModuleType:
    """The script that defines the checksums: `canon` is the text that a value is hashed as."""
    return loaded("shared_checksums", SHARED / "oracle" / "checksums.py")
