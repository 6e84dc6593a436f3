"""Picks the engine that runs the kernels, once, and says which. The only importer of the kernels.

Hands their integers on as numpy columns; refuses to know what the integers mean.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from array import array
from pathlib import Path
from typing import Any, Final, Literal

import attrs
import numpy as np
from numpy.typing import NDArray


def _load(name: str) -> Any:
    """A kernel: compiled where it was built and is wanted, else the same source run by Python."""
    module = importlib.import_module(f"clrevents.decode.{name}")
    file = Path(module.__file__ or "")
    if file.suffix == ".py" or not os.environ.get("CLREVENTS_PURE"):
        return module
    source = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"clrevents.decode.{name}_interpreted", source)
    assert spec is not None
    assert spec.loader is not None
    interpreted = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(interpreted)
    return interpreted


_scan: Final = _load("scan")
COMPILED: Final = Path(_scan.__file__).suffix != ".py"
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not COMPILED:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the kernels are not compiled (see docs/hacking.md)")

PADDING: Final[int] = _scan.PADDING
Status = Literal["done", "truncated", "bad-varint"]
_STATUS: Final[dict[int, Status]] = {
    _scan.DONE: "done",
    _scan.TRUNCATED: "truncated",
    _scan.BAD_VARINT: "bad-varint",
}
_ROWS: Final = 1 << 14


def engine() -> str:
    """Which engine runs the inner loops: `"interpreted"`, or `"compiled"` where a compiler was at hand."""
    return "compiled" if COMPILED else "interpreted"


@attrs.define(eq=False)
class HeaderColumns:
    """Event headers of one block, one array an attribute; row i is the i-th event in file order.

    `times` are raw clock ticks; `offsets` are absolute in the stream. `runs` has a row (row, capture thread,
    sequence, processor) where a capture thread's run begins; `marks` a row (row, flags, offset or label id).
    """

    metadata_ids: NDArray[np.int64]
    thread_ids: NDArray[np.uint64]
    stack_ids: NDArray[np.int64]
    times: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    runs: NDArray[np.uint64]
    marks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.times)


class HeaderScanner:
    """Scans blocks with scratch columns that are used again and again. Not thread-safe; one a stream."""

    def __init__(self) -> None:
        self._columns = [scratch(_ROWS) for _ in range(6)]
        self._runs = scratch(4 * _ROWS)
        self._marks = scratch(3 * _ROWS)

    def scan(
        self, buf: bytes, start: int, end: int, base: int, labels: bool
    ) -> tuple[list[HeaderColumns], Status, int]:
        """The columns of `buf[start:end]`, how the scan ended, and where (in `buf`).

        `base` is the stream offset of `buf[0]`. `buf` must reach at least PADDING bytes beyond `end`.
        """
        state = scratch(_scan.STATE)
        state[_scan.POS] = start
        found = []
        while True:
            status = _scan.scan(buf, end, _ROWS, labels, state, *self._columns, self._runs, self._marks)
            rows, runs, marks = int(state[_scan.ROWS]), int(state[_scan.RUNS]), int(state[_scan.MARKS])
            if rows:
                ids, threads, stacks, times, offsets, sizes = (taken(c, rows) for c in self._columns)
                absolute = offsets.view(np.int64)
                absolute += base
                found.append(
                    HeaderColumns(
                        ids.view(np.int64),
                        threads,
                        stacks.view(np.int64),
                        times.view(np.int64),
                        absolute,
                        sizes.view(np.int64),
                        taken(self._runs, runs).reshape(-1, 4),
                        taken(self._marks, marks).view(np.int64).reshape(-1, 3),
                    )
                )
            if status != _scan.FULL:
                return found, _STATUS[status], int(state[_scan.POS])


def scratch(count: int) -> Any:
    """Room for `count` unsigned 64-bit numbers, in what the engine writes to fastest."""
    return np.zeros(count, dtype=np.uint64) if COMPILED else [0] * count


def taken(values: Any, count: int) -> NDArray[np.uint64]:
    """The first `count` numbers of a scratch column, as an array of their own."""
    if COMPILED:
        copy: NDArray[np.uint64] = values[:count].copy()
        return copy
    return np.frombuffer(array("Q", values[:count]), dtype=np.uint64)


def make_columns(
    rows: list[tuple[int, int, int, int, int, int]],
    runs: list[tuple[int, int, int, int]],
    marks: list[tuple[int, int, int]],
) -> HeaderColumns:
    """Columns from rows (metadata id, thread, stack id, time, absolute offset, size) that were read otherwise."""
    table = [np.array(column, dtype=np.uint64) for column in zip(*(_wrap(r) for r in rows), strict=True)]
    return HeaderColumns(
        table[0].view(np.int64),
        table[1],
        table[2].view(np.int64),
        table[3].view(np.int64),
        table[4].view(np.int64),
        table[5].view(np.int64),
        np.array(runs, dtype=np.uint64).reshape(-1, 4),
        np.array(marks, dtype=np.int64).reshape(-1, 3),
    )


def _wrap(row: tuple[int, int, int, int, int, int]) -> tuple[int, int, int, int, int, int]:
    """The same row with a time that may be negative as unsigned, as the scan has it."""
    return row[0], row[1], row[2], row[3] & ((1 << 64) - 1), row[4], row[5]
