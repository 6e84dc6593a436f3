"""Modules and assemblies: where code comes from, its PDBs, and when it was loaded.

Reads module and assembly events of all versions. Opens no file and searches for no PDB.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final
from uuid import UUID

import attrs

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.symbols.feed import CodeRow, Feed
from clrevents.symbols.lifetimes import ALWAYS

CORE: Final = "System.Private.CoreLib"
FRAMEWORK_KEYS: Final = frozenset(
    (
        "7cec85d7bea7798e",
        "b03f5f7f11d50a3a",
        "b77a5c561934e089",
        "cc7b13ffcd2ddd51",
        "31bf3856ad364e35",
        "adb9793829ddae60",
    )
)
"""Public keys that the runtime's libraries, those of ASP.NET and of Windows are signed with."""
_ENDINGS: Final = (".ni.dll", ".ni.exe", ".winmd", ".dll", ".exe")
"""The longest first."""
_CACHED: Final = 1 << 10


@frozen
class Pdb(Value):
    """The identity of a PDB file, by which symbol servers store it."""

    signature: UUID
    """The GUID in the file."""
    age: int
    """The revision in the file."""
    path: str
    """The path that the compiler wrote it to."""

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return file_name(self.path)


@frozen
class Module(Value):
    """A module as the trace reports it."""

    module_id: int
    """The runtime's id of the module, which may be reused after an unload."""
    assembly_id: int
    """The runtime's id of its assembly."""
    flags: ModuleFlags
    """The flags of the event that reported the module."""
    il_path: str
    """The path of the file with its IL; empty if unknown."""
    native_path: str = ""
    """The path of the file with its precompiled code; empty if there is none."""
    assembly: str = ""
    """The full name of its assembly; empty if unknown."""
    app_domain_id: int | None = None
    """The runtime's id of its app domain; None if unknown."""
    managed_pdb: Pdb | None = None
    """The PDB of its IL; None if unknown."""
    native_pdb: Pdb | None = None
    """The PDB of its precompiled code; None if unknown."""
    native_build_id: str = ""
    """The build id of its native file; empty if unknown."""
    process_id: int | None = None
    """The process; None if the trace does not say."""
    loaded_ns: int | None = None
    """When it was loaded, in nanoseconds since the session started; None if before the trace began."""
    unloaded_ns: int | None = None
    """When it was unloaded, in nanoseconds since the session started; None if not before the trace ended."""

    @property
    def name(self) -> str:
        """The name of the file without folder and extension, such as `System.Private.CoreLib`."""
        return module_name(self.il_path or self.native_path)


class _SameId:
    """Places of modules that had one id one after the other."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._times: list[int] = []

    def add(self, place: int, loaded_ns: int | None) -> None:
        """The next module; its time is not before those of the modules added already."""
        if loaded_ns is None:
            # Nothing tells that it was not there all the time, so those before it are never meant.
            self._places.clear()
            self._times.clear()
        self._places.append(place)
        self._times.append(ALWAYS if loaded_ns is None else loaded_ns)

    @property
    def first(self) -> int:
        return self._places[0]

    @property
    def last(self) -> int:
        return self._places[-1]

    def at(self, time_ns: int | None) -> int | None:
        """The last one that was loaded by then, or ever; None before the first."""
        count = len(self._times) if time_ns is None else bisect_right(self._times, time_ns)
        return self._places[count - 1] if count else None


class Modules(Summary):
    """All modules of a trace; iterating yields them in the order of their first events."""

    def __init__(self, feed: Feed) -> None:
        self._all: list[Module] = []
        # By module id alone, and by id and process.
        self._by_id: dict[int, _SameId] = {}
        self._by_process: dict[tuple[int, int | None], _SameId] = {}
        self._assemblies: dict[tuple[int, int], str] = {}
        self._own: dict[str, bool] | None = None
        records = [(row, feed.record(row.kind, row.data)) for row in sorted(feed.modules, key=lambda r: r.time_ns)]
        for row, record in records:
            if hasattr(record, "FullyQualifiedAssemblyName"):
                self._assemblies[row.process, record.AssemblyID] = record.FullyQualifiedAssemblyName
        for row, record in records:
            if hasattr(record, "ModuleID"):
                self._meet(row, record)

    def __len__(self) -> int:
        """The number of modules."""
        return len(self._all)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._all)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'module')}>"

    def at(self, module_id: int, time_ns: int | None = None, process_id: int | None = None) -> Module | None:
        """The module that `module_id` meant at `time_ns`, or None if there is none.

        `time_ns` is in nanoseconds since the session started; None selects the last module of this id, because ids are
        reused after an unload. `process_id` matters only for traces of several processes.
        """
        if process_id is None:
            known = [self._by_id.get(module_id)]
        else:
            known = [self._by_process.get((module_id, process)) for process in (process_id, None)]
        every = [places for places in known if places is not None]
        places_at = [place for places in every if (place := places.at(time_ns)) is not None]
        if places_at:
            return self._all[max(places_at)]
        # Code may be loaded a moment before its module's event is written.
        return self._all[min(places.first for places in every)] if every else None

    def of_program(self, name: str) -> bool | None:
        """Whether the module of this `name` is the program's own; None where its assembly does not tell.

        A program is the first file that its process loaded after the runtime's, and what lies beside that one and is
        signed with the same key, or with none. A framework's library is not, unless the program is signed as these are.
        """
        if self._own is None:
            self._own = {}
            for process in {module.process_id for module in self._all}:
                modules = (module for module in self._all if module.process_id == process and module.il_path)
                for own, known in _owned(sorted(modules, key=lambda module: module.loaded_ns is not None)):
                    self._own[known] = self._own.get(known, False) or own
        return self._own.get(name)

    def gone(self) -> Iterator[tuple[int, int, int]]:
        """(process or -1, module id, time) of every unload."""
        for module in self._all:
            if module.unloaded_ns is not None:
                yield process_number(module.process_id), module.module_id, module.unloaded_ns

    def _meet(self, row: CodeRow, record: Any) -> None:
        module = self._module(row, record)
        key = module.module_id, module.process_id
        before = self._by_process.get(key)
        place = None if before is None else before.last
        old = None if place is None else self._all[place]
        name = row.kind.key.name
        load = name in ("ModuleLoad", "DomainModuleLoad")
        if place is None or old is None or old.il_path != module.il_path or (load and old.unloaded_ns is not None):
            place = len(self._all)
            loaded_ns = row.time_ns if load else None
            self._all.append(attrs.evolve(module, loaded_ns=loaded_ns))
            self._by_id.setdefault(module.module_id, _SameId()).add(place, loaded_ns)
            self._by_process.setdefault(key, _SameId()).add(place, loaded_ns)
        else:
            # A listing after an unload shows that it still exists: see `lifetimes`.
            self._all[place] = _merge(old, module)
        if name == "ModuleUnload":
            self._all[place] = attrs.evolve(self._all[place], unloaded_ns=row.time_ns)

    def _module(self, row: CodeRow, record: Any) -> Module:
        return Module(
            record.ModuleID,
            record.AssemblyID,
            record.ModuleFlags,
            record.ModuleILPath,
            # A program that was compiled ahead of time may be written as on the command line, with a blank behind it.
            record.ModuleNativePath.rstrip(),
            self._assemblies.get((row.process, record.AssemblyID), ""),
            getattr(record, "AppDomainID", None),
            _pdb(record, "Managed"),
            _pdb(record, "Native"),
            getattr(record, "NativeBuildID", "") or "",
            None if row.process < 0 else row.process,
        )


def _owned(modules: Sequence[Module]) -> Iterator[tuple[bool, str]]:
    """Whose the modules of a process are, as far as they tell; in the order in which they were loaded."""
    core = next((_folders(module) for module in modules if module.name == CORE), None)
    if core is None:
        return
    # Every framework lies in a folder of its own, beside the runtime's; a program that has its runtime, in its folder.
    apart = (module for module in modules if "" not in _folders(module) and _folders(module)[0] != core[0])
    after = (module for module in modules if module.name != CORE and _key(module) not in FRAMEWORK_KEYS)
    entry = next(chain(apart, after), None)
    if entry is None:
        return
    signed = FRAMEWORK_KEYS if _key(entry) in FRAMEWORK_KEYS else {_key(entry)}
    for module in modules:
        if module.assembly and not module.flags & ModuleFlags.Dynamic:
            if _folders(module) == _folders(entry):
                yield _key(module) in signed or _key(module) == "null", module.name
            elif _key(module) in FRAMEWORK_KEYS:
                yield False, module.name


def _key(module: Module) -> str:
    return module.assembly.rpartition("PublicKeyToken=")[2]


def _folders(module: Module) -> tuple[str, str]:
    """The folder two above that of a module's file, and the way from there to the file's; empty without."""
    *above, one, two, _ = ("", "", "", *module.il_path.replace("\\", "/").split("/"))
    return "/".join(above), f"{one}/{two}" if one else ""


def _merge(old: Module, new: Module) -> Module:
    """The facts of both events; the newer one determines whether the module is loaded."""
    return attrs.evolve(
        new,
        assembly=new.assembly or old.assembly,
        # The later one may have letters behind it that are none: see docs/errata.md.
        native_path=old.native_path or new.native_path,
        app_domain_id=old.app_domain_id if new.app_domain_id is None else new.app_domain_id,
        managed_pdb=new.managed_pdb or old.managed_pdb,
        native_pdb=new.native_pdb or old.native_pdb,
        native_build_id=new.native_build_id or old.native_build_id,
        loaded_ns=old.loaded_ns,
    )


def _pdb(record: Any, which: str) -> Pdb | None:
    signature = getattr(record, f"{which}PdbSignature", None)
    if not isinstance(signature, UUID) or not signature.int:
        return None
    return Pdb(signature, getattr(record, f"{which}PdbAge"), getattr(record, f"{which}PdbBuildPath"))


def process_number(process: int | None) -> int:
    return -1 if process is None else process


def file_name(path: str) -> str:
    """The last part of a path from any operating system."""
    return path.replace("\\", "/").rpartition("/")[2]


@lru_cache(_CACHED)
def module_name(path: str) -> str:
    """A file's name without folder and extension."""
    name = file_name(path)
    for ending in _ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name
