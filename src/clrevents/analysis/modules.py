"""Which modules a process had: where they are, which PDB belongs to them, when they came and went, what ran of them.

Joins the modules of the symbols room with the methods that were compiled and looked up. Opens no file.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.compilations import NONE, column, compilations, picked
from clrevents.analysis.gather import Gathered, gather
from clrevents.analysis.lossy import FOREVER, LossWindows
from clrevents.analysis.missing import Missing, Part, missing
from clrevents.schema.loader_flags import ModuleFlags
from clrevents.symbols.modules import Module, Modules
from clrevents.table.build import UInt64, plain, row_table
from clrevents.table.table import Table
from clrevents.trace import Trace

SCHEMA: Final = "clrevents.modules/1"

Array: TypeAlias = NDArray[Any]

_EVENTS: Final = ("MethodJittingStarted", "MethodLoad", "MethodLoadVerbose", "R2RGetEntryPoint", "MethodDetails")
_MODULES, _LOADS = "ModuleDCEnd", "ModuleLoad"
_PARTS: Final = (
    Part("modules", (_MODULES, _LOADS), 0x8, 4),
    Part("when modules were loaded", (_LOADS,), 0x8, 4),
    Part("compiled methods", ("MethodLoad", "MethodLoadVerbose"), 0x18, 4),
    Part("times of compilation", ("MethodJittingStarted",), 0x18),
    Part("methods with precompiled code", ("R2RGetEntryPoint",), 0x6000000008, 4),
    Part("the modules of methods with precompiled code", ("MethodDetails",), 0x6000000008, 4),
)


@attrs.frozen
class ModuleRow:
    """One module. Times are ns since the session started, None beyond the trace's ends; durations ns, sizes bytes.

    `kind` is `ready-to-run`, `native`, `dynamic` or `IL`. `pdb_signature`, `pdb_age` and `pdb_path` are of the managed
    PDB. `jitted` and `precompiled` count methods that the JIT compiled and whose precompiled code was found, `missed`
    those that were looked up in vain. `lossy`: events were lost while it was there, so that counts may be low.
    """

    name: str
    kind: str
    path: str
    native_path: str
    assembly: str
    loaded_ns: int | None
    unloaded_ns: int | None
    jitted: int
    compilations: int
    compile_ns: int
    il_size: int
    native_size: int
    precompiled: int
    missed: int
    pdb_signature: str | None
    pdb_age: int | None
    pdb_path: str | None
    native_pdb_signature: str | None
    native_build_id: str
    flags: str
    module_id: UInt64
    assembly_id: UInt64
    app_domain_id: UInt64 | None
    process_id: int | None
    lossy: bool


@attrs.frozen
class ModuleReport:
    """The modules of a trace, in the order they were met. Plain values: it outlives the trace and pickles.

    `elsewhere` counts methods, compiled or looked up, of modules that the trace does not tell of.
    """

    modules: tuple[ModuleRow, ...]
    elsewhere: int
    lost: int
    missing: tuple[Missing, ...] = ()
    """Parts of this report of which the trace tells nothing, and how to record them."""

    def table(self) -> Table:
        """One row a module."""
        return row_table(ModuleRow, self.modules, {"name": "modules", "losses": str(self.lost)})

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; its first key says which version of the form this is."""
        return {"schema": SCHEMA, **plain(self)}


@attrs.frozen(eq=False)
class _Work:
    """Methods and what was done with them: their modules' ids and times, and the sizes of what was compiled."""

    module: Array
    time: Array
    method: Array
    compile_ns: Array
    il_size: Array
    native_size: Array


def module_report(trace: Trace) -> ModuleReport:
    """All modules with path, PDB and lifetime, and how many of their methods were compiled or found precompiled.

    Modules need the keyword Loader (0x8) or the rundown; compiled methods Jit (0x10) at level 5; look-ups of
    precompiled code CompilationDiagnostic (0x2000000000), and MethodDiagnostic (0x4000000000) to tell their modules.
    One pass over the trace, and one for the modules.
    """
    rows = dict(zip(_EVENTS, gather(trace, [f"runtime/{name}" for name in _EVENTS]), strict=True))
    modules = trace.methods.modules
    jitted, looked = _jitted(rows), _looked_up(rows)
    hit = rows["R2RGetEntryPoint"].numbers("EntryPoint") != 0
    jitted_of, looked_of = _owners(modules, jitted), _owners(modules, looked)
    windows = LossWindows(trace)
    found = []
    for index, module in enumerate(modules):
        mine, asked = jitted_of == index, looked_of == index
        pdb = module.managed_pdb
        found.append(
            ModuleRow(
                name=module.name,
                kind=_kind(module),
                path=module.il_path,
                native_path=module.native_path,
                assembly=module.assembly,
                loaded_ns=module.loaded_ns,
                unloaded_ns=module.unloaded_ns,
                jitted=_distinct(jitted.method[mine]),
                compilations=int(mine.sum()),
                compile_ns=int(jitted.compile_ns[mine].sum()),
                il_size=int(jitted.il_size[mine].sum()),
                native_size=int(jitted.native_size[mine].sum()),
                precompiled=_distinct(looked.method[asked & hit]),
                missed=_distinct(looked.method[asked & ~hit]),
                pdb_signature=None if pdb is None else str(pdb.signature),
                pdb_age=None if pdb is None else pdb.age,
                pdb_path=None if pdb is None else pdb.path,
                native_pdb_signature=None if module.native_pdb is None else str(module.native_pdb.signature),
                native_build_id=module.native_build_id,
                flags=str(module.flags),
                module_id=module.module_id,
                assembly_id=module.assembly_id,
                app_domain_id=module.app_domain_id,
                process_id=module.process_id,
                lossy=windows.touches(
                    module.loaded_ns or 0, FOREVER if module.unloaded_ns is None else module.unloaded_ns
                ),
            )
        )
    nowhere = np.concatenate((jitted.method[jitted_of == NONE], looked.method[looked_of == NONE]))
    met = [name for name, of in rows.items() if len(of)]
    if found:
        met.append(_MODULES)
    if any(module.loaded_ns is not None for module in modules):
        met.append(_LOADS)
    return ModuleReport(tuple(found), _distinct(nowhere), trace.lost, missing(_PARTS, met))


def _jitted(rows: dict[str, Gathered]) -> _Work:
    begins, loads = rows["MethodJittingStarted"], [rows["MethodLoad"], rows["MethodLoadVerbose"]]
    made = compilations(begins, loads)
    started, loaded = made.begin != NONE, made.load != NONE
    modules = picked(begins.numbers("ModuleID"), made.begin), picked(column(loads, "ModuleID"), made.load)
    return _Work(
        np.where(started, *modules),
        np.where(started, made.start_ns, made.end_ns),
        made.method_id,
        np.where(started & loaded, made.end_ns - made.start_ns, 0),
        picked(begins.numbers("MethodILSize"), made.begin).astype(np.int64),
        picked(column(loads, "MethodSize"), made.load).astype(np.int64),
    )


def _looked_up(rows: dict[str, Gathered]) -> _Work:
    """Look-ups of precompiled code; the event in front of them says which module a method id is of."""
    lookups, details = rows["R2RGetEntryPoint"], rows["MethodDetails"]
    known, first = np.unique(details.numbers("MethodID"), return_index=True)
    method = lookups.numbers("MethodID")
    module = np.zeros(len(method), dtype=np.uint64)
    if len(known):
        at = np.minimum(np.searchsorted(known, method), len(known) - 1)
        module = np.where(known[at] == method, details.numbers("LoaderModuleID")[first][at], 0).astype(np.uint64)
    none = np.zeros(len(method), dtype=np.int64)
    return _Work(module, lookups.numbers("time_ns"), method, none, none, none)


def _owners(modules: Modules, work: _Work) -> NDArray[np.int64]:
    """Which module each row belongs to; -1 for one that the trace does not tell of. Ids are used again."""
    places: dict[int, list[int]] = {}
    index = {}
    for place, module in enumerate(modules):
        places.setdefault(module.module_id, []).append(place)
        index[id(module)] = place
    found = np.full(len(work.module), NONE, dtype=np.int64)
    for identity, having in places.items():
        mine = np.flatnonzero(work.module == np.uint64(identity))
        if len(having) == 1:
            found[mine] = having[0]
            continue
        for row in mine.tolist():
            then = modules.at(identity, int(work.time[row]))
            found[row] = NONE if then is None else index[id(then)]
    return found


def _kind(module: Module) -> str:
    flags = module.flags
    if flags & (ModuleFlags.ReadyToRunModule | ModuleFlags.PartialReadyToRunModule):
        return "ready-to-run"
    if flags & ModuleFlags.Dynamic:
        return "dynamic"
    return "native" if flags & ModuleFlags.Native else "IL"


def _distinct(values: Array) -> int:
    return len(np.unique(values))
