"""The allow-list: which declared fields are private, and what stays of a text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.schema.disclosure import (
    CODE,
    DECLARED,
    INSTRUMENT,
    MODULE,
    NUMBER,
    PACKED,
    TEXT,
    Disclosure,
    disclosure_of,
    going,
    identifier_of,
)
from clrevents.schema.layout import Layout
from clrevents.schema.registry import DEFAULT, MONO, RUNDOWN, RUNTIME, EventInfo
from clrevents.schema.wire import (
    AnsiZ,
    ArrayType,
    BytesType,
    GuidType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

PRIVATE = {
    "AsyncEvents.Buffer",
    *("CommandLine", "ErrorMessage", "ExceptionMessage", "FailFastUserMessage", "HeapCollectParam", "RootKeyName"),
    *("ThreadName", "SymbolMetadata", "VersionMetadata", "Arguments.Value"),
    *(f"{event}.Message" for event in ("FusionMessageEvent", "ProfilerMessage", "StressLogEvent")),
    *(f"{event}.{name}" for event in ("ExistingProcess", "ProcessCreate") for name in ("Name", "NamespaceName")),
    *("EventSource.Payload", "MulticoreJit.String1", "MulticoreJit.String2"),
    *("CodeSymbols.Chunk", "JittedMethodRichDebugInfo.Data"),
    *("JitInstrumentationData.Data", "JitInstrumentationDataVerbose.Data"),
}
"""Every declared text and array of bytes of which nothing stays. A new one belongs here or on the allow-list."""


def declared() -> list[EventInfo]:
    """The events that the package declares; other tests register their own in the same process."""
    return [info for info in DEFAULT.events() if info.record.__module__.startswith("clrevents.")]


def texts(layout: Layout, path: str = "") -> list[str]:
    """The fields with texts, bytes or GUIDs, nested ones too."""
    return [name for field in layout for name in _texts(field.type, f"{path}{field.name}")]


def _texts(wire: WireType, path: str) -> list[str]:
    match wire:
        case StructType():
            return texts(wire.layout, f"{path}.")
        case Utf16Z() | AnsiZ() | BytesType() | GuidType():
            return [path]
        case ArrayType() if wire.text:
            return [path]
        case ArrayType():
            return _texts(wire.element, path)
    return []


def test_every_declared_text_is_on_one_of_both_lists() -> None:
    private = set()
    for info in declared():
        for field in (name for layout in info.layouts for name in texts(layout)):
            if disclosure_of(info.provider, info.name, field).stays == "nothing":
                private.add(field if field in PRIVATE else f"{info.name}.{field}")
    assert private == PRIVATE


def test_every_declaration_of_the_runtime_is_of_a_field_that_there_is() -> None:
    there = {(info.name, field) for info in declared() for layout in info.layouts for field in texts(layout)}
    names = {field for _, field in there}
    for provider in (RUNTIME, RUNDOWN, MONO, "Universal.System", "Microsoft-DotNETCore-EventPipe"):
        for event, fields in DECLARED[provider].items():
            for field in fields:
                assert (event, field) in there or (event == "*" and field in names), (event, field)


@pytest.mark.parametrize(
    ("provider", "event", "field", "expected"),
    [
        (RUNTIME, "MethodLoadVerbose", "MethodName", CODE),
        (RUNTIME, "BulkType", "Values.Name", CODE),
        (RUNTIME, "BulkType", "Name", TEXT),
        (RUNDOWN, "ModuleDCEnd", "ModuleILPath", MODULE),
        (RUNTIME, "GCDynamicEvent", "Data", PACKED),
        (RUNTIME, "CodeSymbols", "Data", TEXT),
        ("Acme", "Log", "MethodName", TEXT),
        ("Acme", "EventCounters", "Payload.DisplayName", INSTRUMENT),
        ("Acme", "EventCounters", "Payload.Metadata", TEXT),
        ("Acme", "Other", "Payload.DisplayName", TEXT),
        ("System.Diagnostics.Metrics", "GaugeValuePublished", "instrumentName", INSTRUMENT),
        ("System.Diagnostics.Metrics", "GaugeValuePublished", "tags", TEXT),
        ("System.Diagnostics.Metrics", "GaugeValuePublished", "lastValue", NUMBER),
        ("Universal.System", "ProcessSymbol", "Name", CODE),
        ("Universal.System", "ProcessCreate", "Name", TEXT),
        ("Microsoft-Extensions-Logging", "MessageJson", "ArgumentsJson", TEXT),
        ("Microsoft-Extensions-Logging", "MessageJson", "LoggerName", CODE),
    ],
)
def test_a_field_is_declared_by_provider_and_event(provider: str, event: str, field: str, expected: Disclosure) -> None:
    assert disclosure_of(provider, event, field) is expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/home/bob/shop.dll", "/shop.dll"),
        (r"C:\Users\bob\shop.dll", r"\shop.dll"),
        (r"/home/bob/odd\name.dll", r"\name.dll"),
        ("shop.dll", "shop.dll"),
        ("/home/bob/", "/"),
        ("", ""),
    ],
)
def test_of_a_module_its_file_name_stays(text: str, kept: str) -> None:
    assert text[going(MODULE, text) :] == kept


@pytest.mark.parametrize(
    "text",
    [
        *("0", "-1.5", "1,234.5", "5E-07", "NaN", "-∞", ".5", "00:01:00", "Interval=1000"),
        *("0.5=0.24;0.95=0.46", "9ede2424-c10c-493e-be5b-7f1b320a5493"),
    ],
)
def test_a_number_stays(text: str) -> None:
    assert going(NUMBER, text) == 0


@pytest.mark.parametrize(
    "text", ["a", "1 2", "10.0.0.1 bob", "0.5=bob", "Interval=x", "1;", "-", "9ede2424c10c493ebe5b7f1b320a5493", " 1"]
)
def test_what_is_not_a_number_goes_whole(text: str) -> None:
    assert going(NUMBER, text) == len(text)


def test_of_a_word_only_known_ones_stay() -> None:
    system = disclosure_of("Microsoft-DotNETCore-EventPipe", "ProcessInfo", "OSInformation")
    assert going(system, "Linux") == 0
    assert going(system, "Linux on bobs-laptop") == len("Linux on bobs-laptop")


def test_the_declared_numbers_that_identify() -> None:
    found = set()
    for info in declared():
        for field in info.layout:
            if isinstance(field.type, Scalar | VarIntType):
                identifier = identifier_of(info.provider, info.name, field.name, "number")
                if identifier.stays != "all":
                    found.add((field.name, identifier.name))
    assert found == {
        ("OSThreadID", "thread"),
        ("OSThreadId", "thread"),
        ("ThreadID", "thread"),
        ("LockOwnerThreadID", "thread"),
        ("NamespaceId", "process"),
        ("Timestamp", "clock"),
        ("StartTimestamp", "clock"),
        ("EndTimestamp", "clock"),
        ("UtcFileTime", "date"),
    }


FILE = r".*\.(dll|exe|pdb|winmd|netmodule|so|dylib|dbg|debug)(\.\d+)*"
NAMES = st.text("ab/\\. 7-_:Zé'=\n", max_size=20)
SUFFIXES = st.sampled_from(["", ".dll", ".so.1", ".exe", ".dll.txt"])


@given(st.tuples(st.sampled_from(["", "/", "C:\\", "/app/bin/"]), NAMES, SUFFIXES).map("".join))
def test_of_a_module_only_the_name_of_a_file_stays(text: str) -> None:
    """By its shape: what has no suffix is one only in a whole path, since a program may call its modules anything."""
    stays = text[going(MODULE, text) :]
    assert text.endswith(stays)
    assert not re.search(r"[/\\]", stays[1:]), "no folder stays"
    if stays not in ("", "/", "\\"):
        assert re.fullmatch(FILE, stays) or re.match(r"(?s)(/|[A-Z]:\\).+[/\\]", text)
        assert re.fullmatch(r"[/\\]?[\w .()+@-]{1,150}", stays), "no sentence stays"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        *(("hunter2", ""), ("Proxy of Server=db;Password=hunter2", ""), ("a/hunter2", ""), ("/hunter2", "")),
        *(("Shop.dll", "Shop.dll"), (r"C:\app\Shop.ni.dll", r"\Shop.ni.dll"), ("/lib/ld-linux-x86-64.so.2",) * 2),
        *(("/usr/bin/dotnet", "/dotnet"), ("vmlinux", "vmlinux"), ("[vdso]", "[vdso]"), ("NULL", "NULL")),
    ],
)
def test_of_modules(text: str, stays: str) -> None:
    assert text[going(MODULE, text) :] == stays.removeprefix("/lib")
