"""Names from the symbol tables of ELF files, for mapped files whose symbols are not in a recording.

`SymbolFolders` looks for files below the user's folders and uses only those of the very build that was mapped. The
files may hold anything: what does not fit is not used, and what is read is bounded before it is read. Names stay
mangled, and those of code hold for a symbol's size and no further.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.symbols.frame import ANOTHER_BUILD, NATIVE, NO_BUILD_ID, UNUSABLE
from clrevents.symbols.lifetimes import Addresses, Ints, LastBeyond

Folders: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One folder or file, or several."""

_MOST_HEADERS: Final = 10_000
_MOST_BYTES: Final = 1 << 28
"""Of one table: of symbols, or of their names."""
_MOST_NOTES: Final = 1 << 16
_LONGEST_NAME: Final = 1 << 14
_MOST_ALIKE: Final = 16
_BUILD_ID: Final = 3
_EXECUTABLE: Final = 1
_FUNCTIONS: Final = (2, 10)
"""Functions, and those that are chosen when a program starts. Symbols of other kinds are no code, or have no size."""
_DATA: Final = (0, 1)
"""Symbols of no kind, and of data."""
_BINDINGS: Final = (1, 2, 0)
"""Of symbols at one address: global ones first, then weak, then local ones."""
_HEX: Final = frozenset("0123456789abcdef")
_PAGE: Final = 1 << 12
_MASK: Final = (1 << 64) - 1


@frozen
class MappedFile:
    """What a recording says about a mapped file; without a build id or a debug link, these are empty. `alone` if it is
    the only one that symbols are looked for."""

    path: str
    build_id: str = ""
    debug_link: str = ""
    alone: bool = False

    @classmethod
    def of(cls, path: str, metadata: str) -> MappedFile | None:
        """From a path and the mapping's metadata, which is JSON; None for a file of another kind."""
        # Only recordings of the kernel have mappings.
        import json

        try:
            metadata_values = json.loads(metadata)
        except (ValueError, RecursionError):
            metadata_values = None
        if not isinstance(metadata_values, dict):
            return cls(path)
        if metadata_values.get("type") != "ELF":
            return None
        build_id = str(metadata_values.get("build_id", "")).lower()
        return cls(path, build_id if set(build_id) <= _HEX else "", str(metadata_values.get("debug_link", "")))


@frozen
class Segment:
    """A part of a file as it is loaded; without bytes in a file that has only what debuggers need."""

    offset: int
    address: int
    file_size: int
    size: int


class SymbolTable:
    """Functions by their addresses in a file, as numbers, and where data begins. A name is read when asked for."""

    def __init__(self, rows: NDArray[Any], names: bytes) -> None:
        kind, binding = rows["info"] & 15, rows["info"] >> 4
        start, size = rows["value"].astype(np.uint64), rows["size"].astype(np.uint64)
        known = (rows["section"] != 0) & (rows["name"] < len(names))
        data = np.flatnonzero(known & np.isin(kind, _DATA))
        data = data[np.argsort(start[data], kind="stable")]
        self._data, self._data_name = start[data], rows["name"][data]
        kept = known & np.isin(kind, _FUNCTIONS)
        # Symbols of size 0 name nothing; what wraps around is none.
        kept &= start + size > start
        rank = np.full(len(rows), len(_BINDINGS), dtype=np.int64)
        for place, one in enumerate(_BINDINGS):
            rank[binding == one] = place
        chosen = np.flatnonzero(kept)
        chosen = chosen[np.lexsort((chosen, rank[chosen], start[chosen]))]
        first = np.ones(len(chosen), dtype=np.bool_)
        first[1:] = start[chosen[1:]] != start[chosen[:-1]]
        self._first, self._name = np.flatnonzero(first), rows["name"][chosen]
        chosen = chosen[first]
        self.starts: Addresses = start[chosen]
        self._beyond = LastBeyond(self.starts + size[chosen])
        self.sizes: Addresses = size[chosen]
        self._names = names

    def __len__(self) -> int:
        return len(self.starts)

    def find(self, addresses: Addresses) -> Ints:
        """The innermost symbol around each address; -1 without one."""
        places = np.searchsorted(self.starts, addresses, "right").tolist()
        return np.array(list(map(self._beyond.before, places, addresses.tolist())), dtype=np.int64)

    def name(self, index: int) -> str:
        """The name of a symbol, as it is in the file."""
        return self._text(int(self._name[self._first[index]]))

    def aliases(self, index: int) -> list[str]:
        """The names of a symbol, the best one first; the first few."""
        first = int(self._first[index])
        last = int(self._first[index + 1]) if index + 1 < len(self) else len(self._name)
        return [self._text(at) for at in self._name[first : min(last, first + _MOST_ALIKE)].tolist()]

    def data(self, address: int) -> list[str]:
        """The names of data that begins at an address, in the order of the file; the first few."""
        first, last = np.searchsorted(self._data, np.array([address, address + 1], dtype=np.uint64)).tolist()
        return [self._text(at) for at in self._data_name[first : min(last, first + _MOST_ALIKE)].tolist()]

    def _text(self, at: int) -> str:
        return self._names[at : at + _LONGEST_NAME].partition(b"\0")[0].decode("utf-8", "replace")


@frozen(eq=False)
class _Elf:
    """What is used of a file: `table` is the best that it has, `whole` whether it lists all of its functions; `start`
    and `end` are where it begins and ends in memory, as the file counts."""

    build_id: str
    segments: tuple[Segment, ...]
    table: SymbolTable | None
    whole: bool
    start: int = 0
    end: int = 0


@frozen(eq=False)
class FileSymbols:
    """The functions of one build of a file, which takes `size` bytes from the address `start` on, as it counts."""

    table: SymbolTable
    segments: tuple[Segment, ...]
    start: int = 0
    size: int = 0

    def find(self, addresses: Addresses, start: int, end: int, offset: int) -> tuple[Ints, Addresses, int]:
        """The symbol at each address in a mapping of the file from `offset` on, and where it starts in memory.

        -1 where there is none; then also the reason. A file that lost its code has no offsets. Its segment is
        recognized where just one has as many pages as the mapping.
        """
        where = np.zeros(len(addresses), dtype=np.uint64)
        inside = np.zeros(len(addresses), dtype=np.bool_)
        reason = NATIVE
        from_start = addresses - np.uint64(start)
        if any(segment.file_size for segment in self.segments):
            for segment in self.segments:
                distance = from_start + np.uint64((offset - segment.offset) & _MASK)
                here = ~inside & (distance < np.uint64(segment.file_size))
                where[here] = distance[here] + np.uint64(segment.address)
                inside |= here
        else:
            alike = [first for first, last in map(_pages, self.segments) if last - first == end - start]
            if len(alike) == 1:
                where, inside = from_start + np.uint64(alike[0]), np.ones_like(inside)
            else:
                reason = UNUSABLE
        symbols = np.where(inside, self.table.find(where), -1)
        starts = self.table.starts[symbols] if len(self.table) else where
        return symbols, addresses - where + starts, reason


class SymbolFolders:
    """Finds symbols of mapped files below some folders; a file that is given itself may have any name.

    Raises ValueError for what is neither a folder nor a file, and ImportError without pyelftools.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        given = tuple(folders)
        self.folders = tuple(path for path in given if os.path.isdir(path))
        self.files = tuple(path for path in given if _is_file(path))
        for path in given:
            if path not in (*self.folders, *self.files):
                raise ValueError(f"symbols: {path} is not a folder or a file")
        try:
            import elftools  # noqa: F401
        except ImportError as error:
            raise ImportError("symbols of ELF files need pyelftools: pip install 'clrevents[elf]'") from error
        self._known: dict[MappedFile, FileSymbols | int] = {}
        self._read: dict[tuple[str, str], _Elf | None] = {}

    def of(self, file: MappedFile) -> FileSymbols | int:
        """The symbols of a mapped file, or the reason why it has none."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._look(file)
        return known

    def _look(self, file: MappedFile) -> FileSymbols | int:
        reason = NATIVE
        files: list[_Elf] = []
        for path in dict.fromkeys(self._paths(file)):
            # A pipe or a device would be waited for.
            if not _is_file(path):
                continue
            if not file.build_id:
                return NO_BUILD_ID
            key = path, file.build_id
            if key not in self._read:
                self._read[key] = _read(path, file.build_id)
            read = self._read[key]
            if read is not None and read.build_id == file.build_id:
                files.append(read)
            elif path in self.files and not file.alone:
                # It may be of any file that was mapped.
                continue
            elif read is None:
                reason = UNUSABLE if reason == NATIVE else reason
            else:
                reason = ANOTHER_BUILD
        if not files:
            return reason
        tables = sorted((elf for elf in files if elf.table is not None), key=lambda elf: not elf.whole)
        segments = [elf.segments for elf in files if any(each.file_size for each in elf.segments)] + [files[0].segments]
        if not tables or tables[0].table is None:
            return UNUSABLE
        return FileSymbols(tables[0].table, segments[0], files[0].start, files[0].end - files[0].start)

    def _paths(self, file: MappedFile) -> Iterator[str]:
        """Where files of a mapped file may be. The trace's texts lead nowhere out of the folders."""
        yield from self.files
        parts = [part for part in file.path.split("/") if part not in ("", ".", "..")]
        link = file.debug_link.rpartition("/")[2]
        if not parts or any(os.path.basename(part) != part or "\0" in part for part in (*parts, link)):
            return
        *above, name = parts
        names = [each for each in (link, name, f"{name}.debug", f"{name}.dbg") if each not in ("", ".", "..")]
        for folder in self.folders:
            if len(file.build_id) > 2:
                yield os.path.join(folder, ".build-id", file.build_id[:2], f"{file.build_id[2:]}.debug")
            for inside in (os.path.join(folder, *above), folder):
                yield from (os.path.join(inside, each) for each in names)
                yield from (os.path.join(inside, ".debug", each) for each in names)


def folders_of(symbols: Folders) -> SymbolFolders | None:
    """From what users give; None for no folders."""
    given = (symbols,) if isinstance(symbols, str | os.PathLike) else tuple(symbols)
    return SymbolFolders(os.fspath(folder) for folder in given) if given else None


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except (OSError, ValueError):
        return False


def _is_loaded(header: Any) -> bool:
    return bool(header["p_type"] == "PT_LOAD")


def _pages(segment: Segment) -> tuple[int, int]:
    """The pages that a segment takes in memory: the first address, and the one behind the last."""
    return segment.address // _PAGE * _PAGE, -(-(segment.address + segment.size) // _PAGE) * _PAGE


def _read(path: str, build_id: str) -> _Elf | None:
    """A file's build id, and of this build its segments and symbols; None for what is no sound ELF file."""
    from elftools.common.exceptions import ELFError

    try:
        with open(path, "rb") as stream:
            return _ElfReader(stream).read(build_id)
    except (ELFError, ArithmeticError, LookupError, OSError, TypeError, UnicodeError, ValueError):
        return None


class _ElfReader:
    """Reads one file with the structures of pyelftools. Its objects for sections and segments are not made: those of
    some kinds read as much as the file tells them to."""

    def __init__(self, stream: IO[bytes]) -> None:
        from elftools.elf.elffile import ELFFile

        self._stream = stream
        self._elf: Any = ELFFile(stream)
        self._length = int(self._elf.stream_len)

    def read(self, wanted: str) -> _Elf:
        sections = self._headers("sh", self._elf.structs.Elf_Shdr)
        segments = self._headers("ph", self._elf.structs.Elf_Phdr)
        build_id = next(filter(None, (self._note(each) for each in sections if each["sh_type"] == "SHT_NOTE")), "")
        if build_id != wanted:
            return _Elf(build_id, (), None, False)
        tables = {each["sh_type"]: each for each in reversed(sections)}
        whole = "SHT_SYMTAB" in tables
        loaded = [_pages(Segment(0, each["p_vaddr"], 0, each["p_memsz"])) for each in segments if _is_loaded(each)]
        table = tables.get("SHT_SYMTAB") or tables.get("SHT_DYNSYM")
        return _Elf(
            build_id,
            tuple(
                Segment(each["p_offset"], each["p_vaddr"], each["p_filesz"], each["p_memsz"])
                for each in segments
                if _is_loaded(each) and each["p_flags"] & _EXECUTABLE
            ),
            None if table is None else self._table(table, sections[table["sh_link"]]),
            whole,
            min((start for start, _ in loaded), default=0),
            max((end for _, end in loaded), default=0),
        )

    def _headers(self, kind: str, struct: Any) -> list[Any]:
        from elftools.common.utils import struct_parse

        start, count, size = (self._elf[f"e_{kind}{what}"] for what in ("off", "num", "entsize"))
        if count > _MOST_HEADERS or (count and size < struct.sizeof()) or start + count * size > self._length:
            raise ValueError("headers beyond the file")
        return [struct_parse(struct, self._stream, start + n * size) for n in range(count)]

    def _bytes(self, section: Any, most: int = _MOST_BYTES) -> bytes:
        start, size = section["sh_offset"], section["sh_size"]
        if size > most or start + size > self._length:
            raise ValueError("a section beyond the file")
        self._stream.seek(start)
        return self._stream.read(size)

    def _note(self, section: Any) -> str:
        """The build id in a section of notes; empty without one."""
        data = self._bytes(section, _MOST_NOTES)
        order = self._order
        at = 0
        while at + 12 <= len(data):
            name_size, size, kind = (int(n) for n in np.frombuffer(data, f"{order}u4", 3, at))
            name, at = data[at + 12 : at + 12 + name_size], at + 12 + -(-name_size // 4) * 4
            if kind == _BUILD_ID and name == b"GNU\0":
                return data[at : at + size].hex()
            at += -(-size // 4) * 4
        return ""

    @property
    def _order(self) -> str:
        return "<" if self._elf.little_endian else ">"

    def _table(self, section: Any, names: Any) -> SymbolTable:
        if names["sh_type"] != "SHT_STRTAB":
            raise ValueError("symbols without names")
        word = "u8" if self._elf.elfclass == 64 else "u4"
        small = [("info", "u1"), ("other", "u1"), ("section", "u2")]
        large = [("value", word), ("size", word)]
        fields = [("name", "u4"), *(small + large if word == "u8" else large + small)]
        dtype = np.dtype([(name, f"{self._order}{kind}") for name, kind in fields])
        data = self._bytes(section)
        rows = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
        return SymbolTable(rows, self._bytes(names))
