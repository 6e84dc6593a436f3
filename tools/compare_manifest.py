"""Compares the registry with a runtime's event manifest and prints every difference.

    python tools/compare_manifest.py MANIFEST.json

The JSON has `providers`, each with `keywords`, `maps` and `events` (id, version, symbol, traceEventName, level,
keywords, fields). Run it on a new runtime's manifest to see what needs to be added. Differences with a known reason
(`EXPLAINED`, `SOURCE`) are printed last; only the others make the exit code 1.
"""

from __future__ import annotations

import fnmatch
import json
import keyword
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final

import attrs

from clrevents.schema.flags import OpenFlag, named_values
from clrevents.schema.keywords import KEYWORDS
from clrevents.schema.layout import Field, Layout
from clrevents.schema.registry import DEFAULT, PRIVATE, SHORT_PROVIDERS, EventInfo
from clrevents.schema.wire import BytesType, CountedType, EnumType, StructType, WireType

EXPLAINED: Final[dict[str, str]] = {
    "*/Stack: the manifest counts 2, the registry 1": "EventPipe's writer only supports named counts: one value",
    "runtime 208.0/Values.TotalRefs: padding of (0, 4) bytes": "the compiler aligns the pointers after three numbers",
    "runtime 209.0/Values.Count: padding of (2, 2) bytes": "the compiler aligns the number after a 16-bit one",
    "* TieredCompilationSettingsFlagsMap: the registry lacks None_ = 0": "zero needs no name",
    "runtime 146.0/JitAllocFlag: the registry has JitAllocFlag, the manifest no map": "the JIT's header names the bits",
    "*/MethodExtent: the registry has MethodExtent, the manifest no map": "the runtime's source names hot and cold",
}
"""Intended differences, as patterns, with their reasons."""

_REASON: Final = "gc/gc.h: "
_BULK: Final = "gc/gcinterface.ee.h: EtwGCRootKind ends with kEtwGCRootKindOther = 3"
_HANDLE: Final = "gc/gcinterface.h: "
_SUSPEND: Final = "vm/threadsuspend.h: "
_BINDER: Final = "binder/inc/bindertracing.h: "
_STARTUP: Final = "inc/mscoree.idl: "
_BUFFER: Final = "mono/metadata/profiler.h: "

SOURCE: Final[dict[str, str]] = {
    "GCReason.InducedCompacting": f"{_REASON}reason_induced_compacting",
    "GCReason.LowMemoryHost": f"{_REASON}reason_lowmemory_host",
    "GCReason.PMFullGC": f"{_REASON}reason_pm_full_gc",
    "GCReason.LowMemoryHostBlocking": f"{_REASON}reason_lowmemory_host_blocking",
    "GCReason.BGCTuningSmallObjectHeap": f"{_REASON}reason_bgc_tuning_soh",
    "GCReason.BGCTuningLargeObjectHeap": f"{_REASON}reason_bgc_tuning_loh",
    "GCReason.BGCStepping": f"{_REASON}reason_bgc_stepping",
    "GCReason.InducedAggressive": f"{_REASON}reason_induced_aggressive",
    "GCSuspendEEReason.SuspendForRejit": f"{_SUSPEND}SUSPEND_FOR_REJIT, once SUSPEND_FOR_CODE_PITCHING",
    "GCSuspendEEReason.SuspendForProfiler": f"{_SUSPEND}SUSPEND_FOR_PROFILER",
    "GCHandleKind.WeakNativeCom": f"{_HANDLE}HNDTYPE_WEAK_NATIVE_COM",
    "GCHandleKind.WeakInteriorPointer": f"{_HANDLE}HNDTYPE_WEAK_INTERIOR_POINTER",
    "GCHandleKind.CrossReference": f"{_HANDLE}HNDTYPE_CROSSREFERENCE",
    "GCBulkRootKind.Other": _BULK,
    "GCBulkRootKind.Older": _BULK,
    "GCBulkRootKind.SizedRef": _BULK,
    "GCBulkRootKind.Overflow": _BULK,
    "GCBulkRootKind.DependentHandle": _BULK,
    "GCBulkRootKind.NewFQ": _BULK,
    "GCBulkRootKind.Steal": _BULK,
    "GCBulkRootKind.BGC": _BULK,
    "AssemblyFlags.ReadyToRun": "inc/eventtracebase.h: ReadyToRunAssembly",
    "ResolutionAttemptedResult.IncompatibleVersion": f"{_BINDER}Result::IncompatibleVersion",
    "ResolutionAttemptedResult.MismatchedAssemblyName": f"{_BINDER}Result::MismatchedAssemblyName",
    "KnownPathSource.Bundle": f"{_BINDER}PathSource::Bundle",
    "StartupFlags.SINGLE_APPDOMAIN": f"{_STARTUP}STARTUP_SINGLE_APPDOMAIN",
    "StartupFlags.APPX_APP_MODEL": f"{_STARTUP}STARTUP_APPX_APP_MODEL",
    "StartupFlags.DISABLE_RANDOMIZED_STRING_HASHING": f"{_STARTUP}STARTUP_DISABLE_RANDOMIZED_STRING_HASHING",
    "ThreadAdjustmentReason.CooperativeBlocking": "PortableThreadPool: HillClimbing.StateOrTransition",
    "MonoExceptionClauseType.Fault": "mono/metadata/metadata.h: MONO_EXCEPTION_CLAUSE_FAULT",
    "MonoGCHandleType.WeakFields": "mono/sgen: HANDLE_WEAK_FIELDS",
    "MonoJitCodeBufferType.Monitor": f"{_BUFFER}MONO_PROFILER_CODE_BUFFER_MONITOR",
    "MonoJitCodeBufferType.DelegateInvoke": f"{_BUFFER}MONO_PROFILER_CODE_BUFFER_DELEGATE_INVOKE",
    "MonoJitCodeBufferType.ExceptionHandling": f"{_BUFFER}MONO_PROFILER_CODE_BUFFER_EXCEPTION_HANDLING",
}
"""Members for which the manifest differs from the runtime's source, and the deciding symbol there."""

_SHORT: Final = {full: short for short, full in SHORT_PROVIDERS.items()}
_TYPES: Final = {"GUID": "GUID", "Binary": "Bytes"}
_MAPS: Final = ("runtime 190", "rundown 149", "rundown 150")
SIGNED: Final = frozenset(
    (
        "runtime 9.1/Count",
        "runtime 203.2/JoinID",
        *(f"{event}.{version}/ILOffsets" for event in _MAPS for version in (0, 1)),
    )
)
"""Fields that the manifest declares as unsigned and in which the runtime writes -1, -2 or -3."""


@attrs.frozen
class Difference:
    """One difference: where (`runtime 82.0/Stack`) and what; `reason` if it is intended."""

    where: str
    what: str
    member: str = ""
    """The member of an enum that differs (`GCReason.PMFullGC`), or an empty string."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"

    @property
    def reason(self) -> str:
        """Why it is intended, or an empty string."""
        if self.member in SOURCE:
            return SOURCE[self.member]
        return next((why for pattern, why in EXPLAINED.items() if fnmatch.fnmatchcase(str(self), pattern)), "")


def compare(manifest: dict[str, Any]) -> list[Difference]:
    """Every difference between a manifest and the registry, in the manifest's order."""
    found = [
        Difference(_SHORT.get(p["name"], p["name"]), "a provider that is not known")
        for p in manifest["providers"]
        if p["name"] not in KEYWORDS
    ]
    providers = [p for p in manifest["providers"] if p["name"] in KEYWORDS]
    owners: dict[str, set[tuple[str, int]]] = {}
    for provider in providers:
        for event in provider["events"]:
            owners.setdefault(_base(event["symbol"]), set()).add((provider["name"], event["id"]))
    known = list(DEFAULT.events())
    aliases = {(e.provider, e.id): e.aliases for e in DEFAULT.entries()}
    for provider in providers:
        name = provider["name"]
        short = _SHORT[name]
        found += _keywords(short, provider)
        declared = {(e["id"], e["version"]): e for e in provider["events"]}
        infos = {(i.id, i.version): i for i in known if i.provider == name}
        for id, version in sorted(infos.keys() - declared.keys()):
            found.append(Difference(f"{short} {id}.{version}", "not in the manifest"))
        enums: dict[str, set[type[Enum]]] = {}
        for (id, version), event in sorted(declared.items()):
            where = f"{short} {id}.{version}"
            info = infos.get((id, version))
            if info is None:
                found.append(Difference(where, f"the registry lacks {event['symbol']}"))
                continue
            newest = max((e for e in provider["events"] if e["id"] == id), key=lambda e: e["version"])
            base = _base(newest["symbol"])
            shared = owners[base] != {(name, id)}
            found += _names(where, info, event, f"Prv{base}" if shared and name == PRIVATE else base, aliases[name, id])
            mask = event["keywordMask"]
            if info.keywords != mask:
                found.append(Difference(where, f"keywords are {mask:#x}, in the registry {info.keywords:#x}"))
            if info.level != event["level"]:
                found.append(Difference(where, f"the level is {event['level']}, in the registry {info.level}"))
            found += _fields(f"{where}/", event["fields"], info.layouts[-1], enums)
        for map_name, entry in provider["maps"].items():
            found += _map(f"{short} {map_name}", entry, enums.get(map_name, set()))
    return found


def _base(symbol: str) -> str:
    """The symbol without its version."""
    return re.sub(r"_V\d+$", "", symbol)


def _keywords(where: str, provider: dict[str, Any]) -> Iterator[Difference]:
    ours = dict(named_values(KEYWORDS[provider["name"]]))
    theirs = {name.removesuffix("Keyword"): value for name, value in provider["keywords"].items()}
    for name in theirs.keys() | ours.keys():
        if theirs.get(name) != ours.get(name):
            what = f"keyword {name} is {theirs.get(name)}, in the registry {ours.get(name)}"
            yield Difference(where, what)


def _names(
    where: str, info: EventInfo, event: dict[str, Any], name: str, aliases: tuple[str, ...]
) -> Iterator[Difference]:
    """The newest symbol names all versions; if two providers share a symbol, the private provider's gets a prefix."""
    if info.name != name:
        yield Difference(where, f"the name should be {name}, it is {info.name}")
    if info.record.__name__ != f"{name}_V{info.version}":
        yield Difference(where, f"the class should be {name}_V{info.version}, it is {info.record.__name__}")
    for other in (_base(event["symbol"]), event.get("traceEventName")):
        if other and other not in (name, *aliases):
            yield Difference(where, f"{other} is no alias")


def _fields(
    where: str, theirs: list[dict[str, Any]], layout: Layout, enums: dict[str, set[type[Enum]]]
) -> Iterator[Difference]:
    ours = layout.fields
    if [f["name"] for f in theirs] != [f.name for f in ours]:
        names = ", ".join(f["name"] for f in theirs), ", ".join(f.name for f in ours)
        yield Difference(where.rstrip("/"), f"the fields are {names[0]}, in the registry {names[1]}")
        return
    for their, our in zip(theirs, ours, strict=True):
        yield from _field(where + their["name"], their, our, enums)


def _field(where: str, their: dict[str, Any], our: Field, enums: dict[str, set[type[Enum]]]) -> Iterator[Difference]:
    if our.pad is not None:
        yield Difference(where, f"padding of {(our.pad.bytes32, our.pad.bytes64)} bytes")
    wire, counted_by = _counted(our.type)
    count = str(their.get("count", their.get("length", 1)))
    if count != counted_by:
        yield Difference(where, f"the manifest counts {count}, the registry {counted_by}")
    if "struct" in their:
        if isinstance(wire, StructType):
            yield from _fields(f"{where}.", their["struct"], wire.record.__layout__, enums)  # type: ignore[attr-defined]
        else:
            yield Difference(where, f"a struct, in the registry {wire.name}")
        return
    named = their["inType"].removeprefix("win:")
    kind = "Bytes" if isinstance(wire, BytesType) else wire.name
    if where in SIGNED and named == "UInt32":
        named = "Int32"
    if _TYPES.get(named, named) != kind:
        yield Difference(where, f"the type is {named}, in the registry {kind}")
    enum = wire.enum if isinstance(wire, EnumType) else None
    if "map" in their:
        if enum is None:
            yield Difference(where, f"the manifest has {their['map']}, the registry a number")
        else:
            enums.setdefault(their["map"], set()).add(enum)
    elif enum is not None:
        yield Difference(where, f"the registry has {enum.__name__}, the manifest no map")


def _counted(wire: WireType) -> tuple[WireType, str]:
    """The element type of a counted field and the field with its count."""
    if isinstance(wire, CountedType):
        return wire.element, wire.count
    return wire, wire.count if isinstance(wire, BytesType) else "1"


def _map(where: str, entry: dict[str, Any], enums: set[type[Enum]]) -> Iterator[Difference]:
    """Compares one map with the enums of the fields that use it. A map that no field uses needs none."""
    for enum in sorted(enums, key=lambda e: e.__name__):
        if issubclass(enum, OpenFlag) != (entry["kind"] == "bitMap"):
            yield Difference(where, f"a {entry['kind']}, in the registry {enum.__name__}")
        ours = dict(named_values(enum))
        theirs = {_identifier(e["name"]): e["value"] for e in entry["entries"]}
        for name, value in theirs.items():
            if name not in ours:
                yield Difference(where, f"the registry lacks {name} = {value}", f"{enum.__name__}.{name}")
            elif ours[name] != value:
                what = f"{name} is {value}, in the registry {ours[name]}"
                yield Difference(where, what, f"{enum.__name__}.{name}")
        for name in ours.keys() - theirs.keys():
            what = f"only the registry has {name} = {ours[name]}"
            yield Difference(where, what, f"{enum.__name__}.{name}")


def _identifier(name: str) -> str:
    """A map entry's name as a member name: an underscore is appended to Python keywords."""
    return f"{name}_" if keyword.iskeyword(name) else name


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    found = compare(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    unexplained = [d for d in found if not d.reason]
    for difference in unexplained:
        print(difference)
    for difference in found:
        if difference.reason:
            print(f"{difference} ({difference.reason})")
    print(f"{len(unexplained)} differences, {len(found) - len(unexplained)} with a reason")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
