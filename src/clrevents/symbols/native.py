"""Mapped files and symbols of NetTrace 6 traces, which may describe any kind of process.

A mapping or symbol exists from its event on, until something else is there or its process's id is another one's; what
the recording begins with always existed. Symbols of jitted code are written as in perf maps (`void [Module]
Type::Method(int32)[Optimized]`) and are parsed. Files of the user's, if there are any, are asked about addresses that
the recording has no symbol for, and about no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary
from clrevents._util.words import counted
from clrevents.schema.method_flags import OptimizationTier
from clrevents.symbols.elf import MappedFile, SymbolFolders
from clrevents.symbols.feed import Feed
from clrevents.symbols.lifetimes import FOREVER, LISTED, LOAD, Addresses, Ints, Sightings, lifetimes
from clrevents.symbols.method import NATIVE, STUB
from clrevents.symbols.modules import file_name
from clrevents.symbols.ranges import Ranges

_LARGEST_SYMBOL: Final = 1 << 32
_COPIES: Final = 100_000
_COPIES_PER_EVENT: Final = 16
"""How often symbols may be repeated, all together, because their mapping is shared by processes: so often, and more
for each mapping and symbol. Beyond, they belong to the first of these processes."""
_JITTED: Final = "/memfd:doublemapper"
_STUBS: Final = 1 << 14
"""The runtime maps its stubs in pieces of this size, each followed by as much memory for what they jump to. Code of
methods it maps in pieces that grow."""
_PAGE: Final = 1 << 12
_KERNEL: Final = 1 << 63
"""Addresses from here on are the kernel's."""
_MODULE: Final = re.compile(r" \[([^\[\]]*)\] ")
"""Stands between the returned type and the method. Modules of types in signatures have no blank behind them."""
_ASSEMBLY: Final = re.compile(r"\[[A-Za-z_][^\[\],]*\]")
_PRIMITIVE_CLASS: Final = re.compile(r"(?<![\w.+/`\[!])(?:string|object)(?![\w.`+/])")
_TIERS: Final = {
    "InstrumentedTier": "QuickJittedInstrumented",
    "InstrumentedTierOptimized": "OptimizedTier1Instrumented",
}
"""Names of the runtime's own code, where the events have others."""
_LAST: Final = (1 << 64) - 1
_MANAGED_FILES: Final = (".dll", ".exe")

CodeKind: TypeAlias = Literal["kernel", "native", "managed"]
KINDS: Final[tuple[CodeKind, ...]] = get_args(CodeKind)


def check_kind(kind: str | None) -> None:
    """ValueError for what is no kind of code; None is all."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(KINDS)}")


def code_kind(address: int, file: str, managed: bool | None) -> CodeKind | None:
    """Whose code is at an address, in a mapped file if it has a name; `managed` is None where it has no name itself.

    None where nothing tells: no mapping holds the address.
    """
    if address >= _KERNEL:
        return "kernel"
    if managed is None:
        if not file:
            return None
        managed = file.lower().endswith(_MANAGED_FILES) or f"/{file}".startswith(_JITTED)
    return "managed" if managed else "native"


@attrs.frozen
class Symbol:
    """A name for a range of addresses: a native function, or jitted code named by a perf map. `display` is the name for
    people, where it is another one."""

    module: str
    namespace: str
    name: str
    signature: str
    tier: OptimizationTier | None = None
    display: str = ""


@attrs.frozen
class _Piece:
    process: int
    time: int
    start: int
    end: int
    value: Any


@attrs.frozen
class _MappedPiece:
    """A mapped file: its name to show, its path, where in it the mapping begins, and what is told of its build."""

    name: str
    path: str
    offset: int
    metadata: int
    told: str


@attrs.frozen
class FileSymbol:
    """A function in a file of the user's, where it was mapped: `mapping` is the place of that in `mappings`, negative
    for a program that was compiled ahead of time (`Images.process_of`)."""

    mapping: int
    symbol: Symbol
    address: int
    size: int


class Native(Summary):
    """Mappings (by file name) and symbols, each with an index by address."""

    def __repr__(self) -> str:
        return f"<{counted(len(self.names), 'native symbol')}, {counted(len(self.mappings), 'mapping')}>"

    def __init__(self, feed: Feed, folders: SymbolFolders | None = None) -> None:
        self.folders = folders
        self.in_files: list[FileSymbol] = []
        """Those that were asked for, in this order."""
        self._place_in_files: dict[tuple[int, int], int] = {}
        self._metadata: dict[int, str] = {}
        mappings: list[_Piece] = []
        symbols: list[_Piece] = []
        files: dict[int, str] = {}
        owners: dict[int, set[int]] = {}
        for row in feed.native:
            record = feed.record(row.kind, row.data)
            start, end = (_address(record, name) for name in ("StartAddress", "EndAddress"))
            end = _limit(end, files.get(_address(record, "MappingId")))
            if end <= start:
                if hasattr(record, "SymbolMetadata") and not hasattr(record, "FileName"):
                    self._metadata.setdefault(_address(record, "Id"), str(record.SymbolMetadata))
                continue
            if hasattr(record, "FileName"):
                files.setdefault(_address(record, "Id"), str(record.FileName))
                owners.setdefault(_address(record, "Id"), set()).add(row.process)
                path = str(record.FileName)
                told = str(getattr(record, "SymbolMetadata", ""))
                offset, metadata = _address(record, "FileOffset"), _address(record, "MetadataId")
                mapped = _MappedPiece(file_name(path), path, offset, metadata, told)
                mappings.append(_Piece(row.process, row.time_ns, start, end, mapped))
            # A trace that describes its events may do so without any of their fields.
            elif hasattr(record, "MappingId") and hasattr(record, "Name") and end - start <= _LARGEST_SYMBOL:
                symbols.append(_Piece(row.process, row.time_ns, start, end, record))
        self._files: list[_MappedPiece] = [piece.value for piece in mappings]
        self._stubs = _stubs(mappings)
        others = _next_owners(feed)
        self.mappings = _index(mappings, [(piece.process,) for piece in mappings], others)
        self.symbols: list[Symbol] = []
        places: list[Sequence[int]] = []
        shared = {identity: sorted(processes) for identity, processes in owners.items()}
        left = _COPIES + _COPIES_PER_EVENT * len(feed.native)
        for piece in symbols:
            # A mapping may be shared by processes together with its symbols, which are written once.
            identity = _address(piece.value, "MappingId")
            processes = shared.get(identity, (piece.process,))[: left + 1]
            left -= len(processes) - 1
            symbol = parse_symbol(str(piece.value.Name), files.get(identity, ""))
            self.symbols += [symbol] * len(processes)
            places.append(processes)
        self.names = _index(symbols, places, others)

    def symbol(self, index: int) -> Symbol:
        """The symbol of a range of `names`."""
        return self.symbols[int(self.names.made.row[index])]

    def file(self, index: int) -> str:
        """The file of a range of `mappings`."""
        return self._files[int(self.mappings.made.row[index])].name

    def is_stubs(self, index: int) -> bool:
        """Whether a range of `mappings` holds only stubs of the runtime's."""
        return bool(self._stubs[int(self.mappings.made.row[index])])

    def beyond_names(self, addresses: Addresses, mappings: Ints) -> tuple[Ints, NDArray[np.uint8]]:
        """For addresses in mappings that have no name in the recording, the symbols in the user's files: places in
        `in_files`, or -1 and the reason."""
        found = np.full(len(addresses), -1, dtype=np.int64)
        reason = np.where(self._stubs[self.mappings.made.row[mappings]], STUB, NATIVE).astype(np.uint8)
        if self.folders is None:
            return found, reason
        for mapping in np.unique(mappings[reason == NATIVE]).tolist():
            mine = np.flatnonzero(mappings == mapping)
            made, mapped = self.mappings.made, self._files[int(self.mappings.made.row[mapping])]
            file = MappedFile.of(mapped.path, mapped.told or self._metadata.get(mapped.metadata, ""))
            symbols = NATIVE if file is None else self.folders.of(file)
            if isinstance(symbols, int):
                reason[mine] = symbols
                continue
            start, size = int(made.start[mapping]), int(made.size[mapping])
            symbol, begin, why = symbols.find(addresses[mine], start, start + size, mapped.offset)
            reason[mine] = why
            for number in np.unique(symbol[symbol >= 0]).tolist():
                here = np.flatnonzero(symbol == number)
                name, size = symbols.table.name(number), int(symbols.table.sizes[number])
                named = partial(Symbol, mapped.name, "", name, "")
                found[mine[here]] = self.place_of((mapping, number), named, int(begin[here[0]]), size)
        return found, reason

    def place_of(self, key: tuple[int, int], symbol: Callable[[], Symbol], address: int, size: int) -> int:
        """The place in `in_files` of a mapping's symbol, by their numbers; it is made when it is asked for first."""
        place = self._place_in_files.setdefault(key, len(self.in_files))
        if place == len(self.in_files):
            self.in_files.append(FileSymbol(key[0], symbol(), address, size))
        return place


def _stubs(mappings: list[_Piece]) -> NDArray[np.bool_]:
    """Which mappings hold only stubs of the runtime's, by their size and place.

    On seven recordings of .NET 8 these are 302 mappings, and none of 7,350 methods is in them.
    """
    ends: dict[tuple[int, int], set[int]] = {}
    for piece in mappings:
        ends.setdefault((piece.process, piece.start), set()).add(piece.end)
    return np.array(
        [
            piece.value.path.startswith(_JITTED)
            and piece.start % (2 * _STUBS) == 0
            and ends[piece.process, piece.start] == {piece.start + _STUBS}
            for piece in mappings
        ],
        dtype=np.bool_,
    )


def parse_symbol(text: str, file: str) -> Symbol:
    """A symbol's parts. Names other than those of jitted code stay whole, with the mapped file as module."""
    found = _MODULE.search(text)
    if found is None or not text.endswith("]"):
        return Symbol("" if _of_perf_map(file) else file_name(file), "", text, "")
    head, inside = text[: found.start()], found[1]
    method, _, tier = text[found.end() : -1].rpartition("[")
    owner, colons, called = method.partition("::")
    if not colons:
        owner, called = "", method
    name, paren, arguments = called.partition("(")
    known = OptimizationTier.__members__.get(_TIERS.get(tier, tier), OptimizationTier.Unknown)
    return Symbol(inside, owner, name, _signature(head, arguments) if paren else "", known)


def _signature(returned: str, arguments: str) -> str:
    """As the runtime's events write it: without assemblies, classes in full, and marked where it is generic."""
    text = _PRIMITIVE_CLASS.sub(lambda found: f"class System.{found[0].title()}", f"{returned}  ({arguments}")
    text = _ASSEMBLY.sub("", text).replace("valuetype ", "value class ")
    if "!!" not in text:
        return text
    rest = text.removeprefix("instance ")
    return f"{text[: len(text) - len(rest)]}generic {rest}"


def _next_owners(feed: Feed) -> dict[int, list[int]]:
    """By id of a process, when it became another one's: a process began with it after one had ended.

    A process that only runs another program keeps its id without an end, and its threads may outlive its own.
    """
    found: dict[int, list[int]] = {}
    ended: set[int] = set()
    for process, time, began in sorted(feed.processes, key=lambda each: each[1]):
        if not began:
            ended.add(process)
        elif process in ended:
            ended.discard(process)
            found.setdefault(process, []).append(time)
    return found


def _limit(end: int, symbols_file: str | None) -> int:
    """The first address behind a mapping, or behind a symbol in a file.

    The recorder writes the last address of symbols in files and of mappings that it saw made, and the next one of
    jitted code, by the perf map, and of mappings that it found, which end where a page does.
    """
    exclusive = end % _PAGE == 0 if symbols_file is None else _of_perf_map(symbols_file)
    return end if exclusive or end == _LAST else end + 1


def _of_perf_map(file: str) -> bool:
    """Whether a mapping holds code that only a perf map names."""
    return not file or file.startswith(("/memfd:", "//anon", "[anon"))


def _index(pieces: list[_Piece], places: list[Sequence[int]], others: Mapping[int, list[int]]) -> Ranges:
    """The pieces, each in all the processes at its place in `places`, until the ids of these are other ones'."""
    processes = tuple(sorted({process for each in places for process in each}))
    number = {process: n for n, process in enumerate(processes)}
    times = [len(each) for each in places]
    count = sum(times)
    nothing = np.zeros(count, dtype=np.bool_)
    time = np.repeat(np.array([p.time for p in pieces], dtype=np.int64), times)
    seen = Sightings(
        np.where(time > 0, LOAD, LISTED).astype(np.int8),
        time,
        np.array([number[process] for each in places for process in each], dtype=np.int64),
        np.repeat(np.array([p.start for p in pieces], dtype=np.uint64), times),
        np.repeat(np.array([p.end - p.start for p in pieces], dtype=np.uint64), times),
        # Each stands alone: two mappings at one address followed each other.
        np.arange(count, dtype=np.uint64),
        np.zeros(count, dtype=np.uint64),
        nothing,
        nothing,
        nothing,
    )
    made = lifetimes(seen, lambda _a, _b: True)
    for process in others.keys() & number.keys():
        low, high = np.searchsorted(made.space, (number[process], number[process] + 1))
        ends = np.array([*others[process], FOREVER], dtype=np.int64)
        end = made.end[low:high]
        np.minimum(end, ends[np.searchsorted(ends[:-1], made.seen[low:high], "right")], out=end)
    return Ranges(made, processes)


def _address(record: Any, name: str) -> int:
    value = getattr(record, name, 0)
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0
