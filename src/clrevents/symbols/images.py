"""Programs that were compiled ahead of time (NativeAOT): names of their code and types, by the symbols of their files.

Module events of version 3, from .NET 10 on, say where the program's file was loaded, and which build it was. No event
names its methods or types. Without the file's symbols, nothing has a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.symbols.elf import FileSymbols, MappedFile, SymbolFolders
from clrevents.symbols.lifetimes import Addresses, Ints
from clrevents.symbols.method import ANOTHER_BUILD, NATIVE, NO_SYMBOLS, NOT_MANAGED, RESOLVED, UNUSABLE
from clrevents.symbols.modules import Module
from clrevents.symbols.native import Native, Symbol

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


@attrs.frozen
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
            mine = np.flatnonzero((addresses >= np.uint64(image.start)) & ~known)
            if isinstance(symbols, int):
                # How far it reaches is in the file. All stacks that its runtime writes are of its own code.
                known[mine], reason[mine] = True, symbols
                continue
            mine = mine[from_start[mine] < np.uint64(min(symbols.size, (1 << 64) - 1))]
            known[mine], reason[mine] = True, NATIVE
            where = from_start[mine] + np.uint64(symbols.start)
            found = symbols.table.find(where)
            for each in np.unique(found[found >= 0]).tolist():
                begin = (image.start + int(symbols.table.starts[each]) - symbols.start) % (1 << 64)
                named, size = partial(_symbol, image, symbols, each), int(symbols.table.sizes[each])
                place[mine[found == each]] = native.place_of((-1 - number, each), named, begin, size)
            reason[place >= 0] = RESOLVED
        return place, reason, known

    def file(self, address: int, process_id: int | None) -> str:
        """The name of the file that holds an address; empty if there is none."""
        held = [each for each in self._every if _is_of(each, process_id) and address >= each.start]
        return held[0].name if held else ""

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
                found = [aot_type(name, image.name) or name for name in names if name.startswith((TYPE, "__GC"))]
                return found[0] if found else None
        return None

    def _symbols(self, image: Image) -> FileSymbols | int:
        found = NATIVE if self._folders is None else self._folders.of(image.file)
        return NO_SYMBOLS if found == NATIVE else found


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
