"""Picks the engine that runs the kernels, once, and calls the walk kernel. The only importer of the kernels.

Allocates their arrays in the form that the engine reads fastest, and has the array tools that numpy lacks. Knows
instructions by number: what the integers mean is for others.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from array import array
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen

_NAMES: Final = ("scan", "walk", "slots")


def _load(name: str, interpreted: bool) -> Any:
    """A kernel as it was built, or the same source run by Python."""
    if not interpreted:
        return importlib.import_module(f"clrevents.decode.kernels.{name}")
    source = os.path.join(os.path.dirname(__file__), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"clrevents.decode.kernels.{name}_interpreted", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(name: str) -> bool:
    """Whether a kernel was compiled when the package was installed."""
    spec = importlib.util.find_spec(f"clrevents.decode.kernels.{name}")
    return spec is not None and spec.origin is not None and not spec.origin.endswith(".py")


# One engine for all kernels: their arguments differ.
COMPILED: Final = not os.environ.get("CLREVENTS_PURE") and all(map(_built, _NAMES))
SCAN, WALK, SLOTS = (_load(name, not COMPILED) for name in _NAMES)
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not COMPILED:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the kernels are not compiled (see docs/hacking.md)")

if not COMPILED:
    from clrevents.decode.kernels import plain

    vars(WALK).update((name, value) for name, value in vars(plain).items() if not name.startswith("_"))


def engine() -> str:
    """The engine that runs the inner loops: `"compiled"`, or `"interpreted"` if installed without a compiler."""
    return "compiled" if COMPILED else "interpreted"


def given(values: NDArray[Any]) -> Any:
    """Numbers for a kernel, in the form that the engine reads fastest."""
    if not COMPILED:
        return values.tolist()
    return values if values.flags.c_contiguous else np.ascontiguousarray(values)


def zeros(count: int, dtype: type[np.generic] = np.int64) -> Any:
    """`count` numbers, all 0."""
    return np.zeros(count, dtype=dtype) if COMPILED else [0] * count


_units: Any = None


def ones(count: int) -> Any:
    """`count` times the number 1, made as rarely as possible."""
    global _units
    if not COMPILED:
        return [1] * count
    units = _units
    if units is None or len(units) < count:
        _units = units = np.ones(max(2 * count, 1 << 16), dtype=np.int64)
    return units[:count]


def numbers_room(count: int) -> Any:
    """Room for `count` signed numbers."""
    return np.empty(count, dtype=np.int64) if COMPILED else [0] * count


def scratch(count: int) -> Any:
    """Room for `count` unsigned 64-bit numbers, in the form that the engine writes fastest; uninitialized."""
    return np.empty(count, dtype=np.uint64) if COMPILED else [0] * count


def taken(values: Any, count: int, own: bool = True) -> NDArray[np.uint64]:
    """The first `count` numbers of a scratch column, as a separate array (unless the scratch is given up)."""
    if COMPILED:
        numbers: NDArray[np.uint64] = values[:count]
        return numbers.copy() if own else numbers
    return np.frombuffer(array("Q", values[:count]), dtype=np.uint64)


INSTRUCTION: Final[int] = WALK.WIDTH


@frozen(eq=False)
class Walk:
    """What a program found: `places[k]` and `counts[k]` are instruction k's two cells, one number per run.

    `stops` are the positions after the rows; `fits` says whether every row was walked to the end.
    """

    places: list[NDArray[np.int64]]
    counts: list[NDArray[np.int64]]
    stops: NDArray[np.int64]
    fits: bool


class Program:
    """A layout's instructions, in the form that the engine reads fastest."""

    def __init__(self, numbers: list[int]) -> None:
        self.length = len(numbers)
        self.steps = len(numbers) // INSTRUCTION
        self.code: Any = np.array(numbers, dtype=np.int64) if COMPILED else numbers

    def walk(
        self,
        buf: bytes,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        repeats: NDArray[np.int64] | None = None,
    ) -> Walk:
        """Run over the payloads `buf[starts[i]:ends[i]]`, `repeats[i]` times each (once if None)."""
        rows = len(starts)
        total = rows if repeats is None else int(repeats.sum())
        times = ones(rows) if repeats is None else given(repeats)
        cells, stops, states = scratch(2 * self.steps * total), numbers_room(rows), numbers_room(rows)
        bad = WALK.walk(
            buf, rows, total, self.code, self.length, given(starts), given(ends), times, cells, stops, states
        )
        table = taken(cells, 2 * self.steps * total, own=False).view(np.int64).reshape(2 * self.steps, total)
        columns = list(table)
        return Walk(columns[0::2], columns[1::2], np.asarray(stops, dtype=np.int64), not bad)


def chained(buf: bytes, pos: int, stop: int, kind: int, most: int, count: int) -> tuple[Any, int]:
    """Blocks of one kind that follow each other, each behind its size in three bytes and its kind; and how many.

    At most `count`, of at most `most` bytes each, and all of them before `stop`. Three numbers each, in the form that
    the engine reads fastest: the places of its size, its start and its end.
    """
    places = numbers_room(3 * count)
    return places, WALK.chain(buf, pos, stop, kind, most, count, places)


def chained_objects(
    buf: bytes, heads: bytes, pos: int, stop: int, turn: int, tag: int, most: int, count: int
) -> tuple[Any, int, list[int]]:
    """Objects that follow each other, each behind one of two heads, a size of four bytes and padding, and before a tag.

    Heads are equally long, and their versions may differ. Padding ends at a multiple of four of place and `turn`; all
    tags are before `stop`. At most `count` of either, of at most `most` bytes each: those behind the first head in the
    same form, and the numbers of the others one after the other.
    """
    places, others = numbers_room(3 * count), numbers_room(3 * count + 1)
    done = WALK.objects(buf, heads, len(heads) // 2, pos, stop, turn, tag, most, count, places, others)
    numbers = others[: 3 * int(others[3 * count])]
    return places, done, numbers.tolist() if COMPILED else numbers


def narrow(
    buf: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-16LE text of `lengths[i]` bytes at `starts[i]` as UTF-8: all bytes, and the end of each row in them."""
    rows = len(starts)
    room = int(lengths.sum()) // 2 * 3
    out = np.empty(room, dtype=np.uint8) if COMPILED else bytearray(room)
    ends = numbers_room(rows)
    size = WALK.narrow(buf, rows, given(starts), given(lengths), out, ends)
    return np.frombuffer(out, dtype=np.uint8)[:size].copy(), np.asarray(ends, dtype=np.int64)


def gather(buf: bytes | NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The bytes of all rows, concatenated."""
    size = int(lengths.sum())
    out = np.empty(size, dtype=np.uint8) if COMPILED else bytearray(size)
    WALK.gather(buf, len(starts), given(starts), given(lengths), out)
    return np.frombuffer(out, dtype=np.uint8)


def pick(buf: bytes, places: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
    """`size` bytes at each of these places, concatenated."""
    if COMPILED:
        out = np.empty(len(places) * size, dtype=np.uint8)
        WALK.pick(buf, len(places), given(places), size, out)
        return out
    # A single step in numpy, but slow in the kernel under Python.
    every = np.ndarray((len(buf) - size + 1,), dtype=np.dtype((np.void, size)), buffer=buf, strides=(1,))
    return every[places].view(np.uint8)


Ints: TypeAlias = NDArray[np.int64]

_NO_INTS: Ints = np.empty(0, dtype=np.int64)


def end_to_end(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """All parts concatenated; a single part is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row starts, followed by the end of the last."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def ragged(starts: NDArray[np.int64], lengths: NDArray[np.int64], step: int = 1) -> NDArray[np.int64]:
    """The places `starts[i], starts[i] + step, …`, `lengths[i]` of them for each row, concatenated."""
    ends = np.cumsum(lengths)
    if not len(ends) or not ends[-1]:
        return _NO_INTS
    first = starts - (ends - lengths) * step
    return np.repeat(first, lengths) + np.arange(int(ends[-1]), dtype=np.int64) * step
