"""List modules, their lifetimes, and how much of each was compiled.

Joins the modules of the symbols room with the methods that were compiled and looked up. Opens no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import NoParameters, ReportDeclaration
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import CODE, TimeWindow, count_of, size_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, SpanRow, row
from clrevents.analysis.framework.vocabulary.report_table import column as declared
from clrevents.analysis.gathering.groups import NONE, Array, Gathered, Ints, groups
from clrevents.analysis.shared.events.event_spans import compilations
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.symbols.modules import Module, Modules

_KEPT: Final = {
    "runtime/MethodJittingStarted": ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodILSize"),
    "runtime/MethodLoad": ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodFlags", "MethodSize"),
    "runtime/MethodLoadVerbose": ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodFlags", "MethodSize"),
    "runtime/R2RGetEntryPoint": ("time_ns", "thread_id", "MethodID", "EntryPoint"),
    "runtime/MethodDetails": ("time_ns", "thread_id", "MethodID", "LoaderModuleID"),
    # So that a process of which only its modules are known has an answer too.
    "runtime/ModuleLoad": ("time_ns",),
    "rundown/ModuleDCStart": ("time_ns",),
    "rundown/ModuleDCEnd": ("time_ns",),
}


@row(span=("loaded_ns", "unloaded_ns"))
class LoadedModule(SpanRow):
    """One module of a process."""

    name: cells.CodeName = declared("The name of its assembly or, if that is unknown, of its file.", importance=0)
    kind: cells.Word = declared("`ready-to-run`, `native`, `dynamic` or `IL`.", importance=3)
    path: cells.FilePath = declared("The file with its IL; empty for a dynamic module.")
    loaded_ns: cells.Ns | None = declared("When it was loaded; null if before the trace began.", importance=1)
    unloaded_ns: cells.Ns | None = declared("When it was unloaded; null if it was still loaded when the trace ended.")
    jitted: cells.Count | None = declared("Methods that the JIT compiled; null if not recorded.", importance=1)
    compilations: cells.Count | None = declared("How often the JIT compiled them.", hidden=True)
    compile_ns: cells.DurationNs | None = declared(
        "How long that took; a compilation inside another counts for both.", importance=1
    )
    il_bytes: cells.Bytes | None = declared("The size of the compiled methods' IL.", hidden=True)
    native_bytes: cells.Bytes | None = declared("The size of the resulting machine code.")
    precompiled: cells.Count | None = declared(
        "Methods whose precompiled code was looked up and found; null if their module was not recorded."
    )
    missed: cells.Count | None = declared(
        "Methods whose precompiled code was looked up but not found; null if their module was not recorded."
    )
    pdb_signature: cells.Guid | None = declared("The GUID of its managed PDB.", hidden=True)
    pdb_age: cells.Ordinal | None = declared("The age of its managed PDB.", hidden=True)
    pdb_path: cells.FilePath | None = declared("Where the compiler wrote its managed PDB.", hidden=True)
    native_pdb_signature: cells.Guid | None = declared("The GUID of the PDB of its precompiled code.", hidden=True)
    native_build_id: cells.Guid | None = declared("The build id of the file with its precompiled code.", hidden=True)
    flags: cells.Word = declared("The runtime's flags for the module.", hidden=True)
    module_id: cells.Handle = declared("The runtime's id of the module; reused after an unload.", hidden=True)


@row
class ModuleFacts:
    """The facts of a modules report."""

    complete: cells.Flag | None = declared("Whether the trace lists all managed code, so no module is missing.")


@answer(
    name="modules",
    summary="count ready_to_run jitted compilations compile_total complete",
)
class ModulesReport(Answer[ModuleFacts]):
    """The modules of a process: their files, PDBs and lifetimes, and how much of each was compiled or precompiled.

    Modules are in the order in which the trace first mentions them. A module that is loaded again has another row, with
    the methods of that time, even if the runtime reuses the id. Methods of modules that the trace does not mention have
    no row; the metric `elsewhere` counts them. Columns whose events were not recorded are null. In a part of a trace,
    rows are complete, and metrics cover the part.
    """

    modules: ReportTable[LoadedModule] = table("The modules that the process had at some time.")


@frozen(eq=False)
class _Work:
    """Methods and what was done with them: module ids, times, and compiled sizes.

    A span is null, -1, without a start or an end; `time` is always known.
    """

    module: Array
    time: Ints
    method: Array
    start: Ints
    end: Ints
    il_size: Ints
    native_size: Ints

    def begun(self, window: TimeWindow) -> NDArray[np.bool_]:
        """What began in the window."""
        return window.holds(self.time)

    def took(self, window: TimeWindow) -> Ints:
        """How much of each compilation lies in the window, in ns."""
        known = (self.start != NONE) & (self.end != NONE)
        return np.where(known, window.overlap(self.start, self.end), 0)


class ModuleCollector(KeepingCollector[ModulesReport]):
    """Keeps compilations and look-ups until the modules are known."""

    selectors = tuple(_KEPT)
    headers = ("time_ns", "thread_id")

    def __init__(self, parameters: NoParameters) -> None:
        self._kept = Kept(_KEPT)

    def finish(self, context: Context) -> ModulesReport:
        rows = self._kept.all(self.selectors, context.nothing)
        window, process = context.window, context.process_id
        known = context.methods.modules
        places = [place for place, module in enumerate(known) if module.process_id in (process, None)]
        jitted, looked, hit = _jitted(rows), *_looked_up(rows)
        tells_jit, tells_r2r = len(jitted.time) > 0, len(looked.time) > 0
        # Only these say which module a method was looked up in: without them, no module has known look-ups.
        tells_where = tells_r2r and len(rows["runtime/MethodDetails"]) > 0
        jitted_of, looked_of = _owners(known, jitted, process), _owners(known, looked, process)
        begun, took, asked = jitted.begun(window), jitted.took(window), looked.begun(window)
        whole, timed = jitted.took(TimeWindow()), (jitted.start != NONE) & (jitted.end != NONE)
        all_modules = list(known)
        listed = []
        for place in places:
            of, looked_up = jitted_of == place, looked_of == place
            module, pdb = all_modules[place], all_modules[place].managed_pdb
            listed.append(
                LoadedModule(
                    name=module.assembly.partition(",")[0] or module.name,
                    kind=_kind(module),
                    path=module.il_path,
                    loaded_ns=module.loaded_ns,
                    unloaded_ns=module.unloaded_ns,
                    pdb_signature=None if pdb is None else str(pdb.signature),
                    pdb_age=None if pdb is None else pdb.age,
                    pdb_path=None if pdb is None else pdb.path,
                    native_pdb_signature=None if module.native_pdb is None else str(module.native_pdb.signature),
                    native_build_id=module.native_build_id or None,
                    flags=str(module.flags),
                    module_id=module.module_id,
                    jitted=_distinct(jitted.method[of]) if tells_jit else None,
                    compilations=int(of.sum()) if tells_jit else None,
                    compile_ns=int(whole[of].sum()) if tells_jit and _any(timed, of) else None,
                    il_bytes=int(jitted.il_size[of].sum()) if tells_jit and _any(jitted.start != NONE, of) else None,
                    native_bytes=int(jitted.native_size[of].sum()) if tells_jit else None,
                    precompiled=_distinct(looked.method[looked_up & hit]) if tells_where else None,
                    missed=_distinct(looked.method[looked_up & ~hit]) if tells_where else None,
                )
            )
        unknown = jitted.method[(jitted_of == NONE) & begun], looked.method[(looked_of == NONE) & asked]
        modules = context.table(LoadedModule, listed)
        metrics: Mapping[str, int | None] = {
            "count": len(modules),
            "ready_to_run": modules.column("kind").tolist().count("ready-to-run"),
            "jitted": _pairs(jitted_of, jitted.method, begun) if tells_jit else None,
            "compilations": int(begun.sum()) if tells_jit else None,
            "compile_total": int(took.sum()) if tells_jit else None,
            "native_total": int(jitted.native_size[begun].sum()) if tells_jit else None,
            "precompiled": _pairs(looked_of, looked.method, asked & hit) if tells_r2r else None,
            "missed": _pairs(looked_of, looked.method, asked & ~hit) if tells_r2r else None,
            # Without their details, all methods that were looked up seem to be elsewhere.
            "elsewhere": _distinct(np.concatenate(unknown))
            if (tells_jit or tells_r2r) and (tells_where or not tells_r2r)
            else None,
        }
        facts = ModuleFacts(complete=context.methods.complete)
        return context.answer(ModulesReport, facts=facts, metrics=metrics, modules=modules)


def _any(known: NDArray[np.bool_], of: NDArray[np.bool_]) -> bool:
    """Whether something is known of these, if there are any."""
    return bool(known[of].any()) or not of.any()


def _jitted(rows: dict[str, Gathered]) -> _Work:
    loads = [rows["runtime/MethodLoad"], rows["runtime/MethodLoadVerbose"]]
    compiled = compilations(rows["runtime/MethodJittingStarted"], loads)
    return _Work(
        compiled.either("ModuleID"),
        compiled.low_ns,
        compiled.either("MethodID").astype(np.uint64),
        np.where(compiled.begun, compiled.start_ns, NONE),
        np.where(compiled.ended, compiled.end_ns, NONE),
        compiled.at_begin("MethodILSize").astype(np.int64),
        compiled.at_end("MethodSize").astype(np.int64),
    )


def _looked_up(rows: dict[str, Gathered]) -> tuple[_Work, NDArray[np.bool_]]:
    """Look-ups of precompiled code, and which found it; MethodDetails says which module a method id is of."""
    lookups, details = rows["runtime/R2RGetEntryPoint"], rows["runtime/MethodDetails"]
    known, first = np.unique(details.numbers("MethodID"), return_index=True)
    method = lookups.numbers("MethodID")
    module = np.zeros(len(method), dtype=np.uint64)
    if len(known):
        at = np.minimum(np.searchsorted(known, method), len(known) - 1)
        module = np.where(known[at] == method, details.numbers("LoaderModuleID")[first][at], 0).astype(np.uint64)
    none = np.full(len(method), NONE, dtype=np.int64)
    work = _Work(module, lookups.numbers("time_ns"), method, none, none, none, none)
    return work, lookups.numbers("EntryPoint") != 0


def _owners(modules: Modules, work: _Work, process_id: int | None) -> Ints:
    """Which module each row belongs to; -1 if unknown. Ids are reused."""
    places: dict[int, list[int]] = {}
    index = {}
    for place, module in enumerate(modules):
        if module.process_id in (process_id, None):
            places.setdefault(module.module_id, []).append(place)
        index[id(module)] = place
    owners = np.full(len(work.module), NONE, dtype=np.int64)
    for number, rows in groups(work.module):
        identity = int(number)
        having = places.get(identity, [])
        if not having:
            continue
        if len(having) == 1:
            owners[rows] = having[0]
            continue
        for line in rows.tolist():
            then = modules.at(identity, int(work.time[line]), process_id)
            owners[line] = NONE if then is None else index[id(then)]
    return owners


def _kind(module: Module) -> str:
    flags = module.flags
    if flags & (ModuleFlags.ReadyToRunModule | ModuleFlags.PartialReadyToRunModule):
        return "ready-to-run"
    if flags & ModuleFlags.Dynamic:
        return "dynamic"
    return "native" if flags & ModuleFlags.Native else "IL"


def _distinct(values: Array) -> int:
    return len(np.unique(values))


def _pairs(owners: Ints, methods: Array, which: NDArray[np.bool_]) -> int:
    """How many methods there are; one of another module is another method, even if it has the same id."""
    return len(set(zip(owners[which].tolist(), methods[which].tolist(), strict=True)))


_COMPILED: Final = "compiled methods"
_LOOKED_UP: Final = "methods with precompiled code"
_JIT: Final = ("MethodLoadVerbose", "MethodLoad", "MethodJittingStarted")

REPORT: Final = ReportDeclaration(
    answer=ModulesReport,
    question="Which modules did the process have, and how much of each was compiled?",
    topic="program",
    needs=(
        Need("modules", ("ModuleLoad", "rundown/ModuleDCEnd", "rundown/ModuleDCStart"), 0x8, 4, essential=True),
        Need("when modules were loaded", ("ModuleLoad",), 0x8, 4),
        Need(_COMPILED, _JIT[:2], 0x18, 4, proof=0x10),
        Need("compilation times", _JIT[2:], 0x18, 5, proof=0x10),
        Need(_LOOKED_UP, ("R2RGetEntryPoint",), 0x6000000008, 4, proof=0x2000000000),
        Need("the modules of methods with precompiled code", ("MethodDetails",), 0x6000000008, 4, proof=0x4000000000),
    ),
    metrics=(
        count_of("count", "Modules that were loaded at some time.", windows=False, needs=(CODE,)),
        count_of("ready_to_run", "Modules with precompiled code.", windows=False, needs=(CODE,)),
        count_of("jitted", "Methods that the JIT compiled.", better="less", windows=False),
        count_of("compilations", "How often the JIT compiled a method.", better="less", quantity="jit.compilations"),
        time_of(
            "compile_total",
            "The total duration of all compilations.",
            better="less",
            quantity="jit.compile_time",
            needs=("compilation times",),
        ),
        size_of("native_total", "Machine code generated by the JIT.", quantity="jit.native_bytes"),
        count_of(
            "precompiled",
            "Methods whose precompiled code was found.",
            windows=False,
            quantity="jit.precompiled_methods",
        ),
        count_of("missed", "Methods looked up but not found.", better="less", windows=False),
        count_of(
            "elsewhere",
            "Methods of modules that the trace does not mention.",
            windows=False,
            needs=(_COMPILED, _LOOKED_UP),
            lossy="unknown",
        ),
    ),
    collector=ModuleCollector,
    in_part={
        **dict.fromkeys(("compilations", "elsewhere", "jitted", "native_total"), "at most"),
        "compile_total": "at least",
    },
    parameters=NoParameters,
    sort="compile_ns",
    shown=("loaded_ns", "unloaded_ns", "jitted", "compile_ns", "native_bytes", "precompiled", "kind", "name"),
    examples=(
        ("Which modules were loaded?", "clrevents modules FILE"),
        ("Where are they, and which PDBs belong to them?", "clrevents modules FILE --columns name,path,pdb_signature"),
    ),
    not_compared="its metrics depend on where a program was started",
)
