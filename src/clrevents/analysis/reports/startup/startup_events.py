"""The events that a start is made of, and how texts and values of them are read. Knows no order among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.reports.startup.self_time import ThreadSpans

_METHOD: Final = ("time_ns", "thread_id", "MethodID", "MethodNamespace", "MethodName", "MethodSignature")
_MODULE: Final = ("time_ns", "ModuleID", "AssemblyID", "ModuleFlags", "ModuleILPath")
_IDENTITY: Final = ("time_ns", "AssemblyID", "FullyQualifiedAssemblyName")
_ASSEMBLY: Final = ("AssemblyName", "AssemblyPath", "RequestingAssembly")
PROCESS: Final = "Microsoft-DotNETCore-EventPipe/ProcessInfo"
KEPT: Final[Mapping[str, tuple[str, ...] | None]] = {
    "runtime/RuntimeInformationStart": None,
    "rundown/RuntimeInformationDCStart": None,
    PROCESS: None,
    "runtime/ModuleLoad": _MODULE,
    "rundown/ModuleDCEnd": _MODULE,
    "runtime/AssemblyLoad": _IDENTITY,
    "rundown/AssemblyDCEnd": _IDENTITY,
    "runtime/MethodJittingStarted": (*_METHOD, "ModuleID"),
    "runtime/MethodLoad": ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodFlags"),
    "runtime/MethodLoadVerbose": (*_METHOD, "ModuleID", "MethodFlags"),
    "runtime/R2RGetEntryPointStart": ("time_ns", "thread_id", "MethodID"),
    "runtime/R2RGetEntryPoint": (*_METHOD, "EntryPoint"),
    "runtime/MethodDetails": ("time_ns", "MethodID", "LoaderModuleID"),
    "runtime/AssemblyLoadStart": ("time_ns", "thread_id", *_ASSEMBLY),
    "runtime/AssemblyLoadStop": ("time_ns", "thread_id", *_ASSEMBLY, "Success", "ResultAssemblyPath", "Cached"),
    "runtime/TypeLoadStart": ("time_ns", "thread_id", "TypeLoadStartID"),
    "runtime/TypeLoadStop": ("time_ns", "thread_id", "TypeLoadStartID", "LoadLevel", "TypeID", "TypeName"),
    "runtime/TieredCompilationResume": ("time_ns", "NewMethodCount"),
    "runtime/ExecutionCheckpoint": ("time_ns", "Name", "Timestamp"),
    "rundown/ExecutionCheckpointDCEnd": ("time_ns", "Name", "Timestamp"),
    "sample/ThreadSample": ("time_ns", "stack_id"),
}
CHECKPOINTS: Final = ("runtime/ExecutionCheckpoint", "rundown/ExecutionCheckpointDCEnd")
STARTED, LISTED = "runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart"
BEGINS, VERBOSE, LOOKUPS = "runtime/MethodJittingStarted", "runtime/MethodLoadVerbose", "runtime/R2RGetEntryPoint"
LOADS: Final = ("runtime/MethodLoad", VERBOSE)


def modules_of(lookups: Gathered, details: Gathered) -> list[int]:
    """The module of each method that was looked up; 0 if unknown."""
    known = dict(zip(details.numbers("MethodID").tolist(), details.numbers("LoaderModuleID").tolist(), strict=True))
    return [known.get(method, 0) for method in lookups.numbers("MethodID").tolist()]


def first_text(rows: Gathered, name: str) -> str | None:
    """The text in the first row; None for an empty one."""
    return rows.column(name).tolist()[0] or None if len(rows) else None


def method_texts(rows: Gathered) -> list[tuple[str, str, str]]:
    columns = (rows.column(name).tolist() for name in ("MethodNamespace", "MethodName", "MethodSignature"))
    return list(zip(*columns, strict=True))


def either_of(spans: ThreadSpans, begins: Sequence[Any] | None, ends: Sequence[Any]) -> list[Any]:
    """A value of each span: from its begin, or its end where it has none (or `begins` is None); else null."""
    found: list[Any] = []
    for begin, end in zip(spans.begin.tolist(), spans.end.tolist(), strict=True):
        if begins is not None and begin != NONE:
            found.append(begins[begin])
        else:
            found.append(ends[end] if end != NONE else None)
    return found


def flags(values: Iterable[Any]) -> list[bool | None]:
    return [None if value is None else bool(value) for value in values]
