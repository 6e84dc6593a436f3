"""Mapped files and symbols of NetTrace 6 traces, which may describe any kind of process.

A mapping or symbol exists from the start of the trace, or from the end of what preceded it; nothing reports an end.
Symbols of jitted code are written as in perf maps (`void [Module] Type::Method(int32)[Optimized]`) and are parsed.
Reads no ELF file.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from clrevents.schema.method_flags import OptimizationTier
from clrevents.symbols.feed import Feed
from clrevents.symbols.lifetimes import LISTED, Sightings, lifetimes
from clrevents.symbols.modules import file_name
from clrevents.symbols.ranges import Ranges

_LARGEST_SYMBOL: Final = 1 << 32
_JITTED: Final = "/memfd:doublemapper"


@attrs.frozen
class Symbol:
    """A name for a range of addresses: a native function, or jitted code named by a perf map."""

    module: str
    namespace: str
    name: str
    signature: str
    tier: OptimizationTier | None = None


@attrs.frozen
class _Piece:
    process: int
    time: int
    start: int
    end: int
    value: Any


class Native:
    """Mappings (by file name) and symbols, each with an index by address."""

    def __init__(self, feed: Feed) -> None:
        mappings: list[_Piece] = []
        symbols: list[_Piece] = []
        files: dict[int, list[tuple[int, str]]] = {}
        for row in feed.native:
            record = feed.record(row.kind, row.data)
            start, end = (_address(record, name) for name in ("StartAddress", "EndAddress"))
            if end <= start:
                continue
            if hasattr(record, "FileName"):
                files.setdefault(_address(record, "Id"), []).append((row.process, str(record.FileName)))
                mappings.append(_Piece(row.process, row.time_ns, start, end, file_name(str(record.FileName))))
            elif hasattr(record, "MappingId") and end - start <= _LARGEST_SYMBOL:
                symbols.append(_Piece(row.process, row.time_ns, start, end, record))
        self.files: list[str] = [piece.value for piece in mappings]
        self.mappings = _index(mappings)
        self.symbols: list[Symbol] = []
        placed: list[_Piece] = []
        for piece in symbols:
            # A mapping may be shared by processes together with its symbols, which are written once.
            owners = files.get(_address(piece.value, "MappingId"), [])
            symbol = parse_symbol(str(piece.value.Name), owners[0][1] if owners else "")
            for process in sorted({p for p, _ in owners} or {piece.process}):
                placed.append(attrs.evolve(piece, process=process))
                self.symbols.append(symbol)
        self.names = _index(placed)

    def symbol(self, index: int) -> Symbol:
        """The symbol of a range of `names`."""
        return self.symbols[int(self.names.made.row[index])]

    def file(self, index: int) -> str:
        """The file of a range of `mappings`."""
        return self.files[int(self.mappings.made.row[index])]


def parse_symbol(text: str, file: str) -> Symbol:
    """A symbol's parts. Names other than those of jitted code stay whole, with the mapped file as module."""
    module = file_name(file)
    head, bracket, rest = text.partition(" [")
    inside, closed, method = rest.partition("] ")
    if not (bracket and closed and method.endswith("]")):
        return Symbol("" if file.startswith(_JITTED) else module, "", text, "")
    method, _, tier = method[:-1].rpartition("[")
    owner, colons, called = method.partition("::")
    if not colons:
        owner, called = "", method
    name, paren, arguments = called.partition("(")
    known = OptimizationTier.__members__.get(tier, OptimizationTier.Unknown)
    return Symbol(inside, owner, name, f"{head}  ({arguments}" if paren else "", known)


def _index(pieces: list[_Piece]) -> Ranges:
    processes = tuple(sorted({p.process for p in pieces}))
    place = {process: n for n, process in enumerate(processes)}
    count = len(pieces)
    nothing = np.zeros(count, dtype=np.bool_)
    seen = Sightings(
        np.full(count, LISTED, dtype=np.int8),
        np.array([p.time for p in pieces], dtype=np.int64),
        np.array([place[p.process] for p in pieces], dtype=np.int64),
        np.array([p.start for p in pieces], dtype=np.uint64),
        np.array([p.end - p.start for p in pieces], dtype=np.uint64),
        # Each stands alone: two mappings at one address followed each other.
        np.arange(count, dtype=np.uint64),
        np.zeros(count, dtype=np.uint64),
        nothing,
        nothing,
        nothing,
    )
    return Ranges(lifetimes(seen, lambda _a, _b: True), processes)


def _address(record: Any, name: str) -> int:
    value = getattr(record, name, 0)
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0
