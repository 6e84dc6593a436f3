"""Mapped files and symbols of any process, and programs that were compiled ahead of time (NativeAOT).

NetTrace 6 describes mappings and symbols: each exists from its event on, until something else is there or its process's
id is another one's; what the recording begins with always existed. Symbols of jitted code are parsed, which are written
as in perf maps (`void [Module] Type::Method(int32)[Optimized]`). Of NativeAOT, module events of version 3 (.NET 10) say
which file was loaded where; only its symbols have names. The user's files are asked about addresses without a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.schema.runtime_flags import ModuleFlags, OptimizationTier
from clrevents.symbols.elf import FileSymbols, MappedFile, SymbolFolders
from clrevents.symbols.feed import Feed
from clrevents.symbols.frame import ANOTHER_BUILD, NATIVE, NO_SYMBOLS, NOT_MANAGED, RESOLVED, STUB, UNUSABLE
from clrevents.symbols.lifetimes import FOREVER, LISTED, LOAD, Addresses, Ints, Ranges, Sightings, lifetimes
from clrevents.symbols.modules import Module, file_name

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


@frozen
class Symbol:
    """A name for a range of addresses: a native function, or jitted code named by a perf map. `display` is the name for
    people, where it is another one."""

    module: str
    namespace: str
    name: str
    signature: str
    tier: OptimizationTier | None = None
    display: str = ""


@frozen
class _Piece:
    process: int
    time: int
    start: int
    end: int
    value: Any


@frozen
class _MappedPiece:
    """A mapped file: its name to show, its path, where in it the mapping begins, and what is told of its build."""

    name: str
    path: str
    offset: int
    metadata: int
    build: str


@frozen
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
                symbol_metadata = str(getattr(record, "SymbolMetadata", ""))
                offset, metadata = _address(record, "FileOffset"), _address(record, "MetadataId")
                mapped = _MappedPiece(file_name(path), path, offset, metadata, symbol_metadata)
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
        return self.symbols[int(self.names.lives.row[index])]

    def file(self, index: int) -> str:
        """The file of a range of `mappings`."""
        return self._files[int(self.mappings.lives.row[index])].name

    def beyond_names(self, addresses: Addresses, mappings: Ints) -> tuple[Ints, NDArray[np.uint8]]:
        """For addresses in mappings that have no name in the recording, the symbols in the user's files: places in
        `in_files`, or -1 and the reason."""
        places = np.full(len(addresses), -1, dtype=np.int64)
        reason = np.where(self._stubs[self.mappings.lives.row[mappings]], STUB, NATIVE).astype(np.uint8)
        if self.folders is None:
            return places, reason
        for mapping in np.unique(mappings[reason == NATIVE]).tolist():
            rows = np.flatnonzero(mappings == mapping)
            lives, mapped = self.mappings.lives, self._files[int(self.mappings.lives.row[mapping])]
            file = MappedFile.of(mapped.path, mapped.build or self._metadata.get(mapped.metadata, ""))
            symbols = NATIVE if file is None else self.folders.of(file)
            if isinstance(symbols, int):
                reason[rows] = symbols
                continue
            start, size = int(lives.start[mapping]), int(lives.size[mapping])
            symbol, begin, why = symbols.find(addresses[rows], start, start + size, mapped.offset)
            reason[rows] = why
            for number in np.unique(symbol[symbol >= 0]).tolist():
                here = np.flatnonzero(symbol == number)
                name, size = symbols.table.name(number), int(symbols.table.sizes[number])
                named = partial(Symbol, mapped.name, "", name, "")
                places[rows[here]] = self.place_of((mapping, number), named, int(begin[here[0]]), size)
        return places, reason

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
    module_part = _MODULE.search(text)
    if module_part is None or not text.endswith("]"):
        return Symbol("" if _of_perf_map(file) else file_name(file), "", text, "")
    head, inside = text[: module_part.start()], module_part[1]
    method, _, tier = text[module_part.end() : -1].rpartition("[")
    owner, colons, called = method.partition("::")
    if not colons:
        owner, called = "", method
    name, paren, arguments = called.partition("(")
    known = OptimizationTier.__members__.get(_TIERS.get(tier, tier), OptimizationTier.Unknown)
    return Symbol(inside, owner, name, _signature(head, arguments) if paren else "", known)


def _signature(returned: str, arguments: str) -> str:
    """As the runtime's events write it: without assemblies, classes in full, and marked where it is generic."""
    text = _PRIMITIVE_CLASS.sub(lambda matched: f"class System.{matched[0].title()}", f"{returned}  ({arguments}")
    text = _ASSEMBLY.sub("", text).replace("valuetype ", "value class ")
    if "!!" not in text:
        return text
    rest = text.removeprefix("instance ")
    return f"{text[: len(text) - len(rest)]}generic {rest}"


def _next_owners(feed: Feed) -> dict[int, list[int]]:
    """By id of a process, when it became another one's: a process began with it after one had ended.

    A process that only runs another program keeps its id without an end, and its threads may outlive its own.
    """
    owners: dict[int, list[int]] = {}
    ended: set[int] = set()
    for process, time, began in sorted(feed.processes, key=lambda each: each[1]):
        if not began:
            ended.add(process)
        elif process in ended:
            ended.discard(process)
            owners.setdefault(process, []).append(time)
    return owners


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
    lives = lifetimes(seen, lambda _a, _b: True)
    for process in others.keys() & number.keys():
        low, high = np.searchsorted(lives.space, (number[process], number[process] + 1))
        ends = np.array([*others[process], FOREVER], dtype=np.int64)
        end = lives.end[low:high]
        np.minimum(end, ends[np.searchsorted(ends[:-1], lives.seen[low:high], "right")], out=end)
    return Ranges(lives, processes)


def _address(record: Any, name: str) -> int:
    value = getattr(record, name, 0)
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0


_ADVICE: Final = (
    "the program was compiled ahead of time, and no event has its names: give --symbols the symbol file of this very "
    "build, which publishing writes beside the program ({name}.dbg)"
)
_MOST: Final = 64
"""Programs, of as many processes."""
_WRONG: Final = {
    ANOTHER_BUILD: "; the file that was given is of another build",
    UNUSABLE: "; in the file that was given, there are no usable symbols",
}


@frozen
class Image:
    """A program's file: `start` is where it was loaded."""

    process_id: int | None
    start: int
    file: MappedFile

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return self.file.path.rpartition("/")[2]


class Images:
    """The files of programs that were compiled ahead of time; none in other traces."""

    def __init__(self, modules: Iterable[Module], folders: SymbolFolders | None) -> None:
        self._folders = folders
        # A process has one such program; a crafted trace may have any number of either.
        programs: dict[int | None, Image] = {}
        for module in modules:
            if module.native_build_id and module.flags == ModuleFlags.Native and not module.il_path:
                file = MappedFile(module.native_path, module.native_build_id.lower(), alone=True)
                programs.setdefault(module.process_id, Image(module.process_id, module.module_id, file))
        self._every = tuple(programs.values())[:_MOST]
        self._types: dict[tuple[int, int | None], str | None] = {}

    def __len__(self) -> int:
        return len(self._every)

    @property
    def processes(self) -> set[int]:
        """Those with such a program."""
        return {image.process_id for image in self._every if image.process_id is not None}

    @property
    def advice(self) -> str | None:
        """What gives names to the first of them that has none; None if all have."""
        for image in self._every:
            symbols = self._symbols(image)
            if isinstance(symbols, int):
                return _ADVICE.format(name=image.name) + _WRONG.get(symbols, "")
        return None

    def find(
        self, addresses: Addresses, process_id: int | None, native: Native
    ) -> tuple[Ints, NDArray[np.uint8], NDArray[np.bool_]]:
        """For each address its place in `native.in_files`, or -1 and the reason; and whether any program holds it."""
        place = np.full(len(addresses), -1, dtype=np.int64)
        reason = np.full(len(addresses), NOT_MANAGED, dtype=np.uint8)
        known = np.zeros(len(addresses), dtype=np.bool_)
        for number, image in enumerate(self._every):
            if not _is_of(image, process_id):
                continue
            symbols = self._symbols(image)
            from_start = addresses - np.uint64(image.start)
            rows = np.flatnonzero((addresses >= np.uint64(image.start)) & ~known)
            if isinstance(symbols, int):
                # How far it reaches is in the file. All stacks that its runtime writes are of its own code.
                known[rows], reason[rows] = True, symbols
                continue
            rows = rows[from_start[rows] < np.uint64(min(symbols.size, (1 << 64) - 1))]
            known[rows], reason[rows] = True, NATIVE
            where = from_start[rows] + np.uint64(symbols.start)
            places = symbols.table.find(where)
            for each in np.unique(places[places >= 0]).tolist():
                begin = (image.start + int(symbols.table.starts[each]) - symbols.start) % (1 << 64)
                named, size = partial(_symbol, image, symbols, each), int(symbols.table.sizes[each])
                place[rows[places == each]] = native.place_of((-1 - number, each), named, begin, size)
            reason[place >= 0] = RESOLVED
        return place, reason, known

    def file(self, address: int, process_id: int | None) -> str:
        """The name of the file that holds an address; empty if there is none."""
        images = [each for each in self._every if _is_of(each, process_id) and address >= each.start]
        return images[0].name if images else ""

    def process_of(self, mapping: int) -> int | None:
        """The process of a symbol whose `mapping` is negative."""
        return self._every[-1 - mapping].process_id

    def type_name(self, type_id: int, process_id: int | None = None) -> str | None:
        """The type with this id, which is an address; None if nothing names it."""
        key = type_id, process_id
        if key not in self._types:
            self._types[key] = self._type_name(type_id, process_id)
        return self._types[key]

    def _type_name(self, type_id: int, process_id: int | None) -> str | None:
        from clrevents.symbols.aot_names import TYPE, aot_type

        for image in self._every:
            symbols = self._symbols(image)
            if isinstance(symbols, int) or not _is_of(image, process_id):
                continue
            if 0 <= type_id - image.start < symbols.size:
                names = symbols.table.data((type_id - image.start + symbols.start) % (1 << 64))
                types = [aot_type(name, image.name) or name for name in names if name.startswith((TYPE, "__GC"))]
                return types[0] if types else None
        return None

    def _symbols(self, image: Image) -> FileSymbols | int:
        symbols = NATIVE if self._folders is None else self._folders.of(image.file)
        return NO_SYMBOLS if symbols == NATIVE else symbols


def _is_of(image: Image, process_id: int | None) -> bool:
    return process_id is None or process_id < 0 or image.process_id in (None, process_id)


def _symbol(image: Image, symbols: FileSymbols, number: int) -> Symbol:
    from clrevents.symbols.aot_names import aot_method

    names = symbols.table.aliases(number)
    for name in names:
        # What native code calls has a name for that, too.
        if known := aot_method(name, image.name):
            return Symbol(known.assembly or image.name, "", name, "", display=known.display)
    return Symbol(image.name, "", names[0], "")
