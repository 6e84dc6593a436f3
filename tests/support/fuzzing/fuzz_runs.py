"""One input after the other, made by mutation, through one family of `product` after the other, under limits.

A find is what escapes, hangs (`SECONDS` of processor time, and `BYTE_SECONDS` for each byte) or takes more than
`MEMORY`; each place in the code counts once. Nothing is written: who runs it keeps what was found.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import random
import re
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

import attrs

import product
from clrevents import TraceError
from lying import lying_trace
from mutations import layout, meant, mutate
from plain_trace import GENERATIONS, PlainTrace

SECONDS: Final = 10
BYTE_SECONDS: Final = 10e-6
"""What reading three times may take."""
MEMORY: Final = 600 << 20
LARGEST: Final = 1 << 18
_HUGE: Final = 8 << 20
"""More bytes may take more memory: a million threads do."""
_DIGITS: Final = re.compile(r"[0-9].*")
_SUFFIXES: Final = (".nettrace", ".netperf")
_SHRINKING: Final = 60
"""Seconds of processor time to make a find smaller."""
_MOST: Final = 2_500_000
"""Packed bytes of a seed."""


class Hang(BaseException):
    """There was no answer in time."""


@attrs.frozen
class Find:
    """What went wrong with an input: `place` names it, and is the same for the same fault."""

    family: str
    place: str
    data: bytes
    text: str


def seeds(folders: Sequence[Path]) -> Iterator[PlainTrace]:
    """The traces below these folders, slimmed to a few events of each kind."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.removesuffix(".gz").endswith(_SUFFIXES) and path.stat().st_size <= _MOST:
                data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                with contextlib.suppress(TraceError, AssertionError):
                    yield PlainTrace.of(data).slim(6, 120)


@attrs.define
class Campaign:
    """Goes on as long as it is asked to; the same seed makes the same inputs."""

    traces: Sequence[PlainTrace]
    rng: random.Random
    others: Sequence[bytes] = ()
    families: Sequence[str] = tuple(product.FAMILIES)
    done: Counter[str] = attrs.field(factory=Counter)
    known: set[str] = attrs.field(factory=set)

    def step(self, before: Callable[[str, bytes], object] = lambda family, data: None) -> list[Find]:
        """One input through a few families; what is new about it."""
        data, found = self.made(), []
        for family in self.rng.sample(list(self.families), min(3, len(self.families))):
            before(family, data)
            self.done[family] += 1
            find = attempted(family, data)
            if find is not None and find.place not in self.known:
                self.known.add(find.place)
                found.append(find)
        return found

    def made(self) -> bytes:
        """An input: changed in its meaning, in its bytes, or in both."""
        while len(data := self._made()) > _HUGE:
            pass
        return data

    def _made(self) -> bytes:
        rng = self.rng
        if rng.random() < 0.1:
            return lying_trace(rng)
        if self.others and rng.random() < 0.1:
            return bytes(mutate(bytearray(rng.choice(self.others)), list(self.others), rng, LARGEST))
        trace = rng.choice(self.traces)
        way = rng.random()
        if way > 0.7:
            # Of a few events, the bytes that say how long something is are no longer rare.
            first = rng.randrange(len(trace.events) or 1)
            few = trace.events[first : first + rng.choice((1, 2, 5))]
            trace = attrs.evolve(trace, events=few, kinds={**trace.kinds})
            layout(trace, rng)
        data = meant(copy.deepcopy(trace), rng) if way < 0.8 else _written(trace, rng)
        if way > 0.6:
            other = _written(rng.choice(self.traces), rng)
            data = bytes(mutate(bytearray(data), [other], rng, LARGEST))
        return data


def _written(trace: PlainTrace, rng: random.Random) -> bytes:
    for generation in rng.sample(GENERATIONS, len(GENERATIONS)):
        with contextlib.suppress(ValueError):
            return trace.written(generation)
    return b""


def attempted(family: str, data: bytes) -> Find | None:
    """What is wrong with this family of this input; None if nothing is."""
    was = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS + BYTE_SECONDS * len(data))
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    try:
        product.run(family, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = _memory("VmHWM") - before
        if grown > MEMORY:
            return Find(family, f"{family}: memory", data, f"{grown >> 20} MB")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Find(family, _place(family, error), data, "".join(traceback.format_exception(error)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, was)
    return None


def shrunk(find: Find) -> Find:
    """The same fault in fewer events, where the trace can be read and written anew."""
    trace = PlainTrace.of(find.data)
    best = find
    for generation in GENERATIONS:
        with contextlib.suppress(ValueError):
            again = attempted(find.family, trace.written(generation))
            if again is not None and again.place == find.place:
                break
    else:
        return best
    size, until = len(trace.events), time.process_time() + _SHRINKING
    while size:
        at = 0
        while at < len(trace.events) and time.process_time() < until:
            fewer = attrs.evolve(trace, events=[*trace.events[:at], *trace.events[at + size :]])
            again = attempted(find.family, fewer.written(generation)) if fewer.events else None
            if again is not None and again.place == find.place:
                trace, best = fewer, again
            else:
                at += size
        size //= 2
    return best


def _late(number: int, frame: FrameType | None) -> None:
    raise Hang("no answer in time")


def _place(family: str, error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/clrevents/" in frame.filename] or list(frames)
    if isinstance(error, AssertionError):
        return f"{family}: {frames[-1].name}:{frames[-1].lineno} {_DIGITS.sub('#', str(error).partition(':')[0])[:60]}"
    if isinstance(error, Hang):
        return f"{family}: hang"
    return f"{type(error).__name__} {Path(ours[-1].filename).name}:{ours[-1].name}"


def _memory(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    return 0
