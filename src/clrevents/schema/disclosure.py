"""What texts may be shared with a trace: the allow-list of fields, by provider and event.

A text that is not declared here is private, and so are bytes. Numbers stay; only those are declared that identify a
process, a thread, an activity, an endpoint or a moment: they are replaced on request. Names of providers, events and
fields stay, because they are code. Knows neither traces nor how a value is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents.schema.registry import MONO, OWN, PRIVATE, RUNDOWN, RUNTIME, TPL

Staying: TypeAlias = Literal["all", "file", "number", "word", "equality", "nothing"]
"""How much of a text is kept: all of it, the name of a module's file in a path, all if it is a number, all if it is a
known word.

Of a number that identifies, `equality` stays: which others are the same, or how far they are apart.
"""
NumberForm: TypeAlias = Literal["number", "varuint", "varint", "guid", "filetime"]
"""How a number stands in a payload."""
Form: TypeAlias = Literal["text", "character", "bytes", "padding"] | NumberForm
"""How anything stands there that may have to go."""


@frozen
class Disclosure:
    """How much of a field is kept, and why. `words` are the only texts kept of a `word`."""

    name: str
    stays: Staying
    why: str
    words: frozenset[str] = frozenset()


CODE: Final = Disclosure("code", "all", "names or describes code")
INSTRUMENT: Final = Disclosure("instrument", "all", "names a counter, a meter, an instrument or a unit")
WORDING: Final = Disclosure("wording", "all", "the runtime's own words")
MODULE: Final = Disclosure("module", "file", "its file name is kept if it looks like one, the folder is removed")
NUMBER: Final = Disclosure("number", "number", "kept if it is a number or a GUID")
PACKED: Final = Disclosure("packed", "all", "numbers that the runtime packed into bytes")
TEXT: Final = Disclosure("text", "nothing", "a text that is not on the list")
BYTES: Final = Disclosure("bytes", "nothing", "bytes that are not on the list")
PROCESS: Final = Disclosure("process", "equality", "a process id")
THREAD: Final = Disclosure("thread", "equality", "a thread id of the operating system")
GUID: Final = Disclosure("guid", "equality", "an id of an activity or the like")
CLOCK: Final = Disclosure("clock", "equality", "a reading of the machine's clock")
DATE: Final = Disclosure("date", "equality", "a date and time")
PORT: Final = Disclosure("port", "equality", "a port of an endpoint")
ASKED: Final = Disclosure("asked", "nothing", "asked for")
PLAIN: Final = Disclosure("plain", "all", "a number that identifies nothing")
KEPT: Final = Disclosure("kept", "all", "kept by request")

_NUMBER: Final = r"(?:[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|NaN|[-+]?∞|[-+]?Infinity)"
_NUMBERS: Final = re.compile(
    rf"(?:Interval=)?{_NUMBER}(?:[=;:]{_NUMBER})*|[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}"
)


_MODULE_FILE: Final = re.compile(
    r"[\w .()+@-]{1,128}\.(?:dll|exe|pdb|winmd|netmodule|so|dylib|dbg|debug)(?:\.\d+)*", re.IGNORECASE
)
_PROGRAM_FILE: Final = re.compile(r"(?:/|[A-Za-z]:\\).+[/\\][\w.+-]{1,64}", re.DOTALL)
"""Programs of Unix have no suffix: only a whole path shows what they are."""
_NO_FILES: Final = frozenset(
    [
        *("[vdso]", "[vsyscall]", "vmlinux", "memfd:doublemapper (deleted)", "NULL", "RefEmit_InMemoryManifestModule"),
        "Anonymously Hosted DynamicMethods Assembly",
    ]
)


def _names_module(path: str, last: str) -> bool:
    """Whether the last part of a path is a file's name, by its shape: a program calls a module that it makes at run
    time whatever it likes."""
    return not last or last in _NO_FILES or bool(_MODULE_FILE.fullmatch(last)) or bool(_PROGRAM_FILE.fullmatch(path))


def _words(*words: str) -> Disclosure:
    return Disclosure("word", "word", f"kept if it is one of {', '.join(words)}", frozenset(words))


_CODE_FIELDS: Final = (
    *("MethodNamespace", "MethodName", "MethodSignature", "Method", "Type", "Field", "TypeName"),
    *("CalleeNamespace", "CalleeName", "CalleeNameSignature", "CallerNamespace", "CallerName", "CallerNameSignature"),
    *("InlineeNamespace", "InlineeName", "InlineeNameSignature"),
    *("InlinerNamespace", "InlinerName", "InlinerNameSignature"),
    *("MethodBeingCompiledNamespace", "MethodBeingCompiledName", "MethodBeingCompiledNameSignature"),
    *("ManagedInteropMethodNamespace", "ManagedInteropMethodName", "ManagedInteropMethodSignature"),
    *("NativeMethodSignature", "StubMethodSignature", "StubMethodILCode", "HandlerName"),
    *("NameSpace", "ClassName", "InterfaceTypeName", "VariantInterfaceTypeName", "SecondTypeName", "ExceptionType"),
    *("AssemblyName", "ResultAssemblyName", "RequestingAssembly", "FullyQualifiedAssemblyName"),
    *("EventSourceName", "EventName", "NativeBuildID", "ModuleSignature"),
    *("ManagedPdbSignature", "NativePdbSignature", "ComObjectGuid"),
)
_MODULE_FIELDS: Final = (
    *("ModuleILPath", "ModuleNativePath", "ModulePath", "ModuleName", "Module", "ILImage", "RuntimeDllPath"),
    *("ManagedPdbBuildPath", "NativePdbBuildPath", "AssemblyCodebase", "AssemblyPath", "ResultAssemblyPath"),
    *("RequestingAssemblyPath", "ComputedRequestedAssemblyPath"),
)
_DEFAULT_CONTEXT: Final = _words("Default")
_RUNTIME: Final[Mapping[str, Mapping[str, Disclosure]]] = {
    "*": {
        **dict.fromkeys(_CODE_FIELDS, CODE),
        **dict.fromkeys(_MODULE_FIELDS, MODULE),
        "FailReason": WORDING,
        "Operation": WORDING,
        "AppDomainName": _words("clrhost", "DefaultDomain"),
        "AssemblyLoadContext": _DEFAULT_CONTEXT,
        "RequestingAssemblyLoadContext": _DEFAULT_CONTEXT,
    },
    "BulkType": {"Values.Name": CODE},
    "GCBulkRootStaticVar": {"Values.FieldName": CODE},
    "KnownPathProbed": {"FilePath": MODULE},
    "ExecutionCheckpoint": {"Name": WORDING},
    "ExecutionCheckpointDCEnd": {"Name": WORDING},
    "GCDynamicEvent": {"Name": WORDING, "Data": PACKED},
}
_BRIDGE: Final = {"SourceName": CODE, "EventName": CODE, "ActivityName": CODE, "Arguments.Key": CODE}
_METRICS: Final = {
    **dict.fromkeys(("meterName", "meterVersion", "instrumentName", "unit"), INSTRUMENT),
    "instrumentType": CODE,
    **dict.fromkeys(("sessionId", "rate", "value", "lastValue", "quantiles", "count", "sum"), NUMBER),
}
_COUNTERS: Final = {
    "Payload.Name": INSTRUMENT,
    "Payload.DisplayName": INSTRUMENT,
    "Payload.DisplayUnits": INSTRUMENT,
    "Payload.CounterType": _words("Mean", "Sum"),
    "Payload.Series": NUMBER,
    "Payload.DisplayRateTimeScale": NUMBER,
}
_SYSTEMS: Final = _words("Windows", "Linux", "macOS", "OSX", "Android", "iOS", "FreeBSD", "Unknown")
_MACHINES: Final = _words("x86", "x64", "arm", "arm32", "arm64", "loongarch64", "riscv64", "s390x", "Unknown")
_RUNTIME_THREADS: Final = _words(
    *(".NET EventPipe", ".NET SynchManag", ".NET SigHandler", ".NET Finalizer", ".NET Sockets", ".NET Timer"),
    *(".NET Tiered JIT", ".NET Tiered Com", ".NET TP Worker", ".NET TP Gate", ".NET TP Wait", ".NET Long Runni"),
    *(".NET Server GC", ".NET BGC", ".NET File Watch", ".NET DebugPipe", ".NET Debugger", "dotnet"),
)

ANY: Final = "*"
DECLARED: Final[Mapping[str, Mapping[str, Mapping[str, Disclosure]]]] = {
    **dict.fromkeys((RUNTIME, RUNDOWN, PRIVATE, MONO), _RUNTIME),
    "Universal.System": {"ProcessSymbol": {"Name": CODE}, "ProcessMapping": {"FileName": MODULE}},
    "Microsoft-DotNETCore-EventPipe": {"ProcessInfo": {"OSInformation": _SYSTEMS, "ArchInformation": _MACHINES}},
    TPL: {
        "TraceOperationBegin": {"OperationName": CODE},
        "DebugFacilityMessage": {"Facility": WORDING},
        "DebugFacilityMessage1": {"Facility": WORDING},
    },
    "Microsoft-Diagnostics-DiagnosticSource": {ANY: _BRIDGE},
    "System.Diagnostics.Metrics": {ANY: _METRICS},
    OWN: {"ThreadName": {"Name": _RUNTIME_THREADS}, "EventsFiltered": {"FilteredEvents": CODE}},
    "Microsoft-Extensions-Logging": {ANY: {"LoggerName": CODE, "EventName": CODE}},
    ANY: {"EventCounters": _COUNTERS},
}
"""By provider, event and field; `*` is any provider or event. A field of a field is written `Outer.Inner`."""

IDENTIFIERS: Final[Mapping[str, Disclosure]] = {
    **dict.fromkeys(("processid", "pid", "parentprocessid", "parentpid", "ppid", "clientprocessid"), PROCESS),
    **dict.fromkeys(("threadid", "tid", "osthreadid", "nativethreadid", "lockownerthreadid"), THREAD),
    **dict.fromkeys(("port", "localport", "remoteport", "serverport", "clientport", "peerport"), PORT),
    **dict.fromkeys(("sourceport", "destinationport", "listenport"), PORT),
}
"""Integers that identify, in events of any provider, by the name of the field in small letters without `_`."""
_MORE_IDENTIFIERS: Final[Mapping[tuple[str, str], Disclosure]] = {
    ("ExecutionCheckpoint", "Timestamp"): CLOCK,
    ("ExecutionCheckpointDCEnd", "Timestamp"): CLOCK,
    ("AsyncBuffer", "StartTimestamp"): CLOCK,
    ("AsyncBuffer", "EndTimestamp"): CLOCK,
    ("AsyncProfilerMetadata", "Timestamp"): CLOCK,
    ("AsyncProfilerMetadata", "UtcFileTime"): DATE,
    ("AsyncProfilerSyncClock", "Timestamp"): CLOCK,
    ("AsyncProfilerSyncClock", "UtcFileTime"): DATE,
    ("ExistingProcess", "NamespaceId"): PROCESS,
    ("ProcessCreate", "NamespaceId"): PROCESS,
}
"""The same where the name of the field says nothing without its event."""

HEADER_KEYS: Final = frozenset(("ProcessId", "HardwareThreadCount", "ExpectedCPUSamplingRate", "SystemPageSize"))
"""Keys of a trace's own header pairs that stay, with values that are numbers."""


def disclosure_of(provider: str, event: str, field: str, default: Disclosure = TEXT) -> Disclosure:
    """What may be disclosed of a field; `default` if it is not declared. The more precise declaration counts."""
    for events in (DECLARED.get(provider, {}), DECLARED[ANY]):
        for name in (event, ANY):
            disclosure = events.get(name, {}).get(field)
            if disclosure is not None:
                return disclosure
    return default


def identifier_of(provider: str, event: str, field: str, form: NumberForm) -> Disclosure:
    """What a number identifies; PLAIN if nothing. GUIDs and dates do, unless a GUID is declared as code."""
    if form == "guid":
        return disclosure_of(provider, event, field, GUID)
    if form == "filetime":
        return DATE
    last = field.rpartition(".")[2]
    return _MORE_IDENTIFIERS.get((event, last)) or IDENTIFIERS.get(last.replace("_", "").lower(), PLAIN)


def going(disclosure: Disclosure, text: str) -> int:
    """How many of the text's first characters are removed; the rest is kept."""
    match disclosure.stays:
        case "all":
            return 0
        case "file":
            # The last separator stays, so that what follows is still a file name.
            folder = max(text.rfind("/"), text.rfind("\\"))
            return max(folder, 0) if _names_module(text, text[folder + 1 :]) else len(text)
        case "number":
            return 0 if _NUMBERS.fullmatch(text) else len(text)
        case "word":
            return 0 if text in disclosure.words else len(text)
        case "equality" | "nothing":
            return len(text)
