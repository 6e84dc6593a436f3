"""A folder of many traces: the fixtures cut and redacted, built ones, and some that are damaged, empty or no trace."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Final

import attrs

import clrevents
from clrevents.rewrite.cut import cut
from clrevents.rewrite.redact import redact
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked

_INT, _LONG, _TEXT = 9, 11, 18
SMALL: Final = ("net8-sample", "net8-counters", "net8-meters", "net10-servergc", "net8-unload-verbose")
"""Fixtures that are cut and redacted: of several runtimes, with and without collections, counters and stacks."""


@attrs.frozen
class BuiltFleet:
    """The folder, and the names of the files in it that are not sound."""

    folder: Path
    damaged: frozenset[str]
    empty: frozenset[str]
    foreign: frozenset[str]

    @property
    def paths(self) -> list[str]:
        """All of them, in order of their names."""
        return sorted(map(str, self.folder.iterdir()))

    @property
    def readable(self) -> list[str]:
        """Those with a header that can be read."""
        return [path for path in self.paths if Path(path).name not in self.empty | self.foreign]


def build_fleet(
    folder: Path, count: int, *, damaged: int, empty: int, seed: int = 1, recorded: bool = False
) -> BuiltFleet:
    """So many traces; one of them is no trace. Four in five are built and small; with `recorded` none is, and all have
    their rundown, so that they are some hundred kB each.
    """
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    varied = _varied(folder.parent / "varied", rundown=recorded)
    names = [f"t{number:05}.nettrace" for number in range(count)]
    odd = chance.sample(names, damaged + empty + 1)
    broken, nothing, foreign = set(odd[:damaged]), set(odd[damaged:-1]), odd[-1]
    for number, name in enumerate(names):
        if name in nothing:
            data = b""
        elif name == foreign:
            data = b"Dear sirs, this is a letter."
        else:
            data = chance.choice(varied) if recorded or chance.random() < 0.2 else _built(number)
            if name in broken:
                # In the middle, or cut off.
                at = len(data) // 2
                data = data[:at] if number % 2 else data[:at] + b"\xff" * 64 + data[at + 64 :]
        if number % 3 == 0 and data:
            (folder / f"{name}.gz").write_bytes(gzip.compress(data, 1))
        else:
            (folder / name).write_bytes(data)
    kinds = (broken, nothing, {foreign})
    there = {path.name.removesuffix(".gz"): path.name for path in folder.iterdir()}
    return BuiltFleet(folder, *(frozenset(there[name] for name in kind) for kind in kinds))


def _varied(folder: Path, rundown: bool) -> list[bytes]:
    """Windows of the fixtures, and redacted copies of these."""
    folder.mkdir(exist_ok=True)
    found = []
    for name in SMALL:
        for start in (0, 30, 60):
            path = folder / f"{name}-{start}.nettrace"
            with clrevents.open(unpacked(fixture(name))) as trace:
                cut(trace, path, start=f"{start}%", end=f"{start + 30}%", rundown=rundown)
            found.append(path.read_bytes())
            private = folder / f"{name}-{start}-private.nettrace"
            with clrevents.open(str(path)) as trace:
                redact(trace, private)
            found.append(private.read_bytes())
    return found


def _built(number: int) -> bytes:
    """A trace of its own: methods, samples of them, an event that only the trace describes, losses now and then."""
    chance = random.Random(number)
    builder = TraceBuilder(("nettrace4", "nettrace6")[number % 2], process_id=1000 + number, step_ns=10_000 + number)
    for method in range(5):
        builder.method_load("Program", f"Method{method}", address=0x1000 * (method + 1))
    for _ in range(chance.randrange(5, 60)):
        builder.thread(chance.randrange(1, 4)).sample(*(0x1000 * chance.randrange(1, 6) + 4 for _ in range(3)))
        builder.described("Fleet", "Turn", _turn(number, chance.randrange(100)))
    if number % 10 == 0:
        builder.lose(3).sample(0x1004)
    return builder.build()


def _turn(number: int, value: int) -> dict[str, tuple[int, object]]:
    """Fields that are not the same in all traces: wider in some, one more in others, of another type in a few."""
    if number % 50 == 49:
        return {"number": (_TEXT, str(value))}
    fields: dict[str, tuple[int, object]] = {
        "number": (_LONG if number % 7 == 0 else _INT, value),
        "text": (_TEXT, "x"),
    }
    return {**fields, "more": (_INT, number)} if number % 11 == 0 else fields
