"""Events of compilations → rows of the JIT report.

Joins what several events tell of one compilation: its names, sizes, tier, thread and what was decided inside of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.compilations import NONE, Compilations, column, inside, picked
from clrevents.analysis.gather import Gathered, matched
from clrevents.analysis.jit_facts import INLINED, NO_TAIL_CALLS, NOT_INLINED, TAIL_CALLS
from clrevents.analysis.jit_rows import Compilation
from clrevents.analysis.lossy import FOREVER, LossWindows
from clrevents.schema.method_flags import MethodFlags, OptimizationTier
from clrevents.symbols.method_names import display_name, raw_name
from clrevents.trace import Trace

Ints: TypeAlias = NDArray[np.int64]
Texts: TypeAlias = tuple[str, str, str]

LOADS: Final = ("MethodLoad", "MethodLoadVerbose")
_REJECTED: Final = MethodFlags.ProfilerRejectedPrecompiledCode | MethodFlags.ReadyToRunRejectedPrecompiledCode
_NOBODY: Final = np.uint64((1 << 64) - 1)


def compilation_rows(
    trace: Trace, rows: Mapping[str, Gathered], made: Compilations, raw: bool
) -> tuple[Compilation, ...]:
    """One row for each compilation."""
    begins, loads = rows["MethodJittingStarted"], [rows[name] for name in LOADS]
    loaded, started = made.load != NONE, made.begin != NONE
    flags = picked(column(loads, "MethodFlags"), made.load).astype(np.int64)
    version = picked(column(loads, "ReJITID"), made.load).astype(np.int64)
    address = picked(column(loads, "MethodStartAddress"), made.load)
    modules = _either(made, begins, loads, "ModuleID")
    texts = _texts(trace, rows, made, address)
    # What has no end may have lost it at any time.
    until = np.where(loaded, made.end_ns, FOREVER)
    since = np.where(started, made.start_ns, made.end_ns)
    memory = rows["MethodJitMemoryAllocatedForCode"]
    of_memory = inside(made, memory.numbers("thread_id"), memory.places)
    if len(made):
        of_memory = np.where(made.method_id[of_memory] == memory.numbers("MethodID"), of_memory, NONE)
    shown = raw_name if raw else display_name
    columns: dict[str, Sequence[Any]] = {
        "method": [shown(*text) for text in texts],
        "module": _modules(trace, modules, since),
        "tier": [MethodFlags(f).tier if end else None for f, end in zip(flags.tolist(), loaded, strict=True)],
        "version": version.tolist(),
        "background": _background(rows, made, version, flags),
        "thread_id": _or_none(made.thread, made.thread != _NOBODY),
        "start_ns": _or_none(made.start_ns, started),
        "end_ns": _or_none(made.end_ns, loaded),
        "compile_ns": _or_none(made.end_ns - made.start_ns, started & loaded),
        "il_size": _or_none(picked(begins.numbers("MethodILSize"), made.begin), started),
        "native_size": _or_none(picked(column(loads, "MethodSize"), made.load), loaded),
        "code_size": _memory(made, of_memory, memory, "JitHotCodeRequestSize"),
        "data_size": _memory(made, of_memory, memory, "JitRODataRequestSize"),
        "allocated": _memory(made, of_memory, memory, "AllocatedSizeForJitCode"),
        "inlined": _counts(made, rows, INLINED),
        "not_inlined": _counts(made, rows, NOT_INLINED),
        "tail_calls": _counts(made, rows, TAIL_CALLS),
        "no_tail_calls": _counts(made, rows, NO_TAIL_CALLS),
        "dynamic": ((flags & int(MethodFlags.Dynamic)) > 0).tolist(),
        "rejected": ((flags & int(_REJECTED)) > 0).tolist(),
        "method_id": made.method_id.tolist(),
        "address": _or_none(address, loaded),
        "namespace": [text[0] for text in texts],
        "name": [text[1] for text in texts],
        "signature": [text[2] for text in texts],
        "lossy": LossWindows(trace).touched(since, until, made.thread).tolist(),
    }
    return tuple(Compilation(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _either(made: Compilations, begins: Gathered, loads: Sequence[Gathered], name: str) -> NDArray[Any]:
    """A field of the begin, or of the load where there is no begin."""
    first = picked(begins.numbers(name), made.begin)
    return np.where(made.begin != NONE, first, picked(column(loads, name), made.load))


def _modules(trace: Trace, modules: NDArray[Any], since: Ints) -> list[str]:
    """Names of modules as they were then; empty for those that the trace does not tell of."""
    found = []
    for module, time in zip(modules.tolist(), since.tolist(), strict=True):
        known = trace.methods.modules.at(module, time)
        found.append(known.name if known else "")
    return found


def _texts(trace: Trace, rows: Mapping[str, Gathered], made: Compilations, address: NDArray[Any]) -> list[Texts]:
    """Namespace, name and signature, from whichever event has them."""
    fields = ("MethodNamespace", "MethodName", "MethodSignature")
    begins, plain_loads, loads = (rows[name] for name in ("MethodJittingStarted", *LOADS))
    verbose = made.load - len(plain_loads)
    ours = [begins.column(f).take(made.begin[made.begin != NONE]).tolist() for f in fields]
    alone = made.begin == NONE
    theirs = [loads.column(f).take(verbose[alone & (verbose >= 0)]).tolist() for f in fields]
    own, other = zip(*ours, strict=True), zip(*theirs, strict=True)
    found = []
    for begin, load, code, end in zip(
        made.begin.tolist(), verbose.tolist(), address.tolist(), made.end_ns.tolist(), strict=True
    ):
        if begin != NONE:
            found.append(next(own))
        elif load >= 0:
            found.append(next(other))
        else:
            frame = trace.methods.at(code, end)
            found.append((frame.namespace, frame.name or f"[{code:#x}]", frame.signature))
    return found


def _counts(made: Compilations, rows: Mapping[str, Gathered], names: Sequence[str]) -> list[int]:
    """How many of these events each compilation has."""
    found = np.zeros(len(made), dtype=np.int64)
    for name in names:
        of = inside(made, rows[name].numbers("thread_id"), rows[name].places)
        found += np.bincount(of[of >= 0], minlength=len(made))
    return found.tolist()


def _memory(made: Compilations, of: Ints, rows: Gathered, name: str) -> list[int | None]:
    """What an event of the memory given tells of each compilation."""
    values = np.full(len(made), NONE, dtype=np.int64)
    values[of[of >= 0]] = rows.numbers(name)[of >= 0].astype(np.int64)
    return _or_none(values, values != NONE)


def _background(rows: Mapping[str, Gathered], made: Compilations, version: Ints, flags: Ints) -> list[bool | None]:
    """Whether the tiering thread did it: inside of one of its turns, where the trace has them."""
    starts, stops = rows["TieredCompilationBackgroundJitStart"], rows["TieredCompilationBackgroundJitStop"]
    if not len(starts):
        # Later versions come from there, but those that replace a loop while it runs: right for 1,885 of 1,885.
        osr = (flags >> 7 & 7) == OptimizationTier.OptimizedTier1OSR
        return [bool(b) if known else None for b, known in zip((version > 0) & ~osr, made.load != NONE, strict=True)]
    first, second = matched([starts], [stops], ("thread_id",))
    until = np.full(len(starts), FOREVER, dtype=np.int64)
    until[first] = stops.places[second]
    found = np.zeros(len(made), dtype=np.bool_)
    for thread in np.unique(starts.numbers("thread_id")):
        mine = np.flatnonzero(starts.numbers("thread_id") == thread)
        place = np.searchsorted(starts.places[mine], made.start_place) - 1
        within = (place >= 0) & (until[mine][np.maximum(place, 0)] >= made.start_place)
        found |= within & (made.thread == thread)
    return [bool(b) for b in found]


def _or_none(values: NDArray[Any], known: NDArray[np.bool_]) -> list[Any]:
    return [value if good else None for value, good in zip(values.tolist(), known.tolist(), strict=True)]
