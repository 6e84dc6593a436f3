"""`redact`: what is not on the allow-list is not in the bytes, in any encoding; and nothing else is changed."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from rewrite_events import reread, said

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from clrevents.events import (
    DiagnosticArgument,
    Event_V0,
    ExceptionThrown_V1,
    ExceptionThrownFlags,
    MethodLoadVerbose_V1,
    ModuleLoad_V2,
    RuntimeInformationStart_V0,
)
from clrevents.reference import codec
from clrevents.rewrite import Redacted, redact
from clrevents.schema.codes import TypeCode
from clrevents.schema.disclosure import disclosure_of, going
from clrevents.schema.dynamic import ClassCache, Variant
from clrevents.schema.registry import RUNTIME
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.testing.strategies import MadeTrace, traces
from clrevents.trace import RawPayload
from in_memory import ended
from planting import leaks, planted_copy
from project_files import unpacked
from tiers import each_fixture
from trace_walk import walk

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

TEXT, INT, BYTE, CHAR, UTF8 = TypeCode.STRING, TypeCode.INT32, TypeCode.UINT8, TypeCode.CHAR, TypeCode.UTF8
ARRAY, OBJECT, RELLOC, DATALOC = TypeCode.ARRAY, TypeCode.OBJECT, TypeCode.RELLOC, TypeCode.DATALOC
FORMATS: tuple[Format, ...] = ("nettrace4", "nettrace6", "netperf3")
COMMAND_LINE, LIBRARY = "shop --password hunter2", "/opt/acme/libclr.so"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("redact") / "out.nettrace"


def encodings(secret: str) -> tuple[bytes, bytes]:
    return secret.encode("utf-16-le"), secret.encode()


def is_there(secret: str, data: bytes) -> bool:
    """At any alignment, with and without what makes it longer in front."""
    return any(found in data for found in encodings(secret))


def redacted(data: bytes, out: Path, **options: Any) -> Redacted:
    with clrevents.open(data, errors="salvage") as trace:
        return redact(trace, out, **{"blank": True, **options})


def string_values(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every text of a payload, nested ones too, with its field: `Outer.Inner` for one of a field."""
    for name, value in fields(record):
        yield from _strings(f"{path}{name}", value)


def _strings(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(name, item)
    elif hasattr(type(value), "__layout__"):
        yield from string_values(value, f"{name}.")


def fields(record: Any) -> Iterator[tuple[str, Any]]:
    kind = type(record)
    attributes = getattr(kind, "__fields__", [f.name for f in kind.__layout__.fields])
    for field, attribute in zip(kind.__layout__.fields, attributes, strict=True):
        yield field.name, getattr(record, attribute)


def same_but_strings(ours: Any, theirs: Any) -> bool:
    """Equal where no string is, and as many strings; bytes may have become zeros."""
    if isinstance(theirs, str):
        return isinstance(ours, str)
    if isinstance(theirs, bytes):
        return bool(ours == theirs or ours == bytes(len(theirs)))
    if isinstance(theirs, tuple):
        if theirs and ours == (0,) * len(theirs):
            return True
        return len(ours) == len(theirs) and all(map(same_but_strings, ours, theirs))
    if hasattr(type(theirs), "__layout__"):
        pairs = zip(fields(ours), fields(theirs), strict=True)
        return all(a[0] == b[0] and same_but_strings(a[1], b[1]) for a, b in pairs)
    return bool(ours == theirs or repr(ours) == repr(theirs))


def unchanged(out: Path, data: bytes, done: Redacted) -> list[tuple[Any, Any]]:
    """Counts, times, threads, stacks, and payloads' sizes; pairs of events for further looks."""
    with clrevents.open(data, errors="salvage") as trace:
        before = list(trace.events())
        lost = trace.lost
    after = reread(out)
    assert done.copied.events == len(after) == len(before)
    walk(out.read_bytes())
    for ours, theirs in zip(after, before, strict=True):
        assert said(ours, payload=False) == said(theirs, payload=False)
        # Zeros that can be read may be longer than what cannot.
        raw = isinstance(theirs.payload, RawPayload)
        assert len(ours.payload_bytes) == len(theirs.payload_bytes) or (raw and not any(ours.payload_bytes))
    with clrevents.open(out) as result:
        assert result.lost == lost
    return list(zip(after, before, strict=True))


def assert_replaced(event: clrevents.Event[Any], field: str, now: str, before: str) -> None:
    """Only `x` stand where a text had what may not stay."""
    gone = going(disclosure_of(event.provider, event.name, field), before)
    kept = before[gone:]
    assert now.endswith(kept), field
    assert set(now[: len(now) - len(kept)]) == ({"x"} if gone else set()), field


# -- planted secrets ---------------------------------------------------------------------------------------------


def runtime_information() -> RuntimeInformationStart_V0:
    values = empty(RuntimeInformationStart_V0)
    values |= {"CommandLine": COMMAND_LINE, "RuntimeDllPath": LIBRARY, "Sku": 2, "VMMajorVersion": 9}
    return RuntimeInformationStart_V0(**values)


def empty(kind: Any) -> dict[str, Any]:
    """The fields of a record that is all zeros."""
    return dict(fields(codec(kind).parse(bytes(kind.__layout__.bind(8).min_size))))


def planted(format: Format) -> tuple[bytes, list[str]]:
    """A trace with secrets of all sorts, and the secrets."""
    b = TraceBuilder(format)
    arrays = format != "netperf3"
    b.thread(7).event(runtime_information(), stack=[1, 2])
    b.event(
        ExceptionThrown_V1("System.Exception", "cannot open Álvaro's file", 5, 6, ExceptionThrownFlags(7), 8), stack=[3]
    )
    module = empty(ModuleLoad_V2) | {
        "ModuleID": 99,
        "ModuleILPath": r"C:\Users\bob\shop.dll",
        "ManagedPdbBuildPath": "/Build Dir/shop.pdb",
    }
    b.thread(8).event(ModuleLoad_V2(**module))
    arguments = (DiagnosticArgument("Url", "top-secret-value"), DiagnosticArgument("Count", "4711-0815"))
    b.event(Event_V0("Microsoft.AspNetCore", "Request", arguments))
    b.thread(7).method_load("Acme.Shop", "Checkout", address=0x1000)
    b.described("Acme-Web", "Log", {"Message": (TEXT, "bob logged in"), "n": (INT, 7), "MethodName": (TEXT, "fine")})
    b.described("Acme-Web", "Query", {"sql": (TEXT, "https://acme.example/a"), "Empty": (TEXT, "")})
    secrets = [COMMAND_LINE, LIBRARY, "cannot open Álvaro's file", r"C:\Users\bob\shop.dll", "/Build Dir/shop.pdb"]
    secrets += ["top-secret-value", "4711-0815", "bob logged in", "https://acme.example/a"]
    inner = (FieldDescription("FilePath", TEXT), FieldDescription("Size", INT))
    nested = record_of(inner)
    group = FieldDescription("", OBJECT, None, inner)
    b.described("Acme-Web", "Nested", {"File": (group, nested("inner-file-name", 3)), "after": (INT, 9)})
    secrets.append("inner-file-name")
    if arrays:
        b.described(
            "Acme-Web",
            "Arrays",
            {
                "Files": (FieldDescription("", ARRAY, group), (nested("first-file", 1), nested("second-file", 2))),
                "Path": (FieldDescription("", ARRAY, FieldDescription("", UTF8)), "utf8-counted-ü"),
                "FileName": (FieldDescription("", ARRAY, FieldDescription("", CHAR)), "utf16-counted"),
                "Paths": (FieldDescription("", ARRAY, FieldDescription("", TEXT)), ("one-of-many", "two-of-many")),
                "PathBytes": (FieldDescription("", ARRAY, FieldDescription("", BYTE)), tuple(b"bytes-of-a-path")),
                "Numbers": (FieldDescription("", ARRAY, FieldDescription("", BYTE)), (1, 2, 3)),
                "last": (INT, -1),
            },
        )
        secrets += ["first-file", "second-file", "utf8-counted-ü", "utf16-counted", "one-of-many", "two-of-many"]
        secrets.append("bytes-of-a-path")
    # What cannot be read: a stranger, a payload that ends early, and one with more behind its fields.
    b.raw("Stranger", 5, payload=b"\1" + "secret of a stranger".encode("utf-16-le"))
    b.raw("Stranger", 6, payload=b"")
    payload = codec(RuntimeInformationStart_V0).build(runtime_information())
    b.raw(RUNTIME, 187, payload=payload[:-10])
    b.raw(RUNTIME, 187, version=3, payload=payload + "secret of a newer version".encode("utf-16-le"))
    b.raw(RUNTIME, 187, payload=payload + b"odd secret")
    secrets += ["secret of a stranger", "secret of a newer version", "odd secret"]
    return b.build(), secrets


def record_of(described: tuple[FieldDescription, ...]) -> Any:
    cache = ClassCache(10)
    layout = cache.layout(described, Variant())
    assert layout is not None
    return cache.get("Record", layout)


@pytest.mark.parametrize("format", FORMATS)
def test_planted_secrets_are_gone(format: Format, out: Path) -> None:
    data, secrets = planted(format)
    done = redacted(data, out)
    result = out.read_bytes()
    for secret in secrets:
        assert is_there(secret, data), secret
        assert not is_there(secret, result), secret
    pairs = unchanged(out, data, done)
    # The stranger and the short one; the newer one and the odd one keep their known fields.
    assert (done.blanked, done.tails) == (2, 2)
    for ours, theirs in pairs:
        if isinstance(theirs.payload, RawPayload):
            assert not any(ours.payload_bytes)
            continue
        assert same_but_strings(ours.payload, theirs.payload)
        assert ours.payload_tail == bytes(len(theirs.payload_tail))
        for (name, now), (other, before) in zip(
            string_values(ours.payload), string_values(theirs.payload), strict=True
        ):
            assert name == other
            assert_replaced(theirs, name, now, before)
    assert done.counts.replaced["Acme-Web", "Log", "Message"] == 1
    assert done.counts.replaced[RUNTIME, "ModuleLoad", "ModuleILPath"] == 1


def test_names_of_code_stay(out: Path) -> None:
    data, _ = planted("nettrace4")
    redacted(data, out)
    loads = [e.payload for e in reread(out) if isinstance(e.payload, MethodLoadVerbose_V1)]
    assert [(p.MethodNamespace, p.MethodName) for p in loads] == [("Acme.Shop", "Checkout")]


# -- what cannot be replaced text by text ------------------------------------------------------------------------


def test_bytes_between_located_fields(out: Path) -> None:
    """Elements that stand behind the fields may leave room between them, which no field shows."""
    described = (
        FieldDescription("Where", RELLOC, FieldDescription("", CHAR)),
        FieldDescription("Path", DATALOC, FieldDescription("", UTF8)),
        FieldDescription("n", INT),
    )
    good = codec(record_of(described)).build(record_of(described)("here", "/home/bob", 3))
    hidden = struct.pack("<HHHHi", 8 + 6, 2, 12, 0, 3) + b"hidden" + b"\0" * 2 + "y".encode("utf-16-le")
    # The path lies over the number, which must not become another one.
    over = struct.pack("<HHHHi", 8, 0, 8, 4, 0x41424344)
    done = redacted(of_one_kind(described, good, hidden, over), out)
    first, second, third = reread(out)
    assert (first.payload["Where"], first.payload["Path"], first.payload["n"]) == ("xxxx", "x" * 9, 3)
    assert (second.payload["Where"], second.payload["n"]) == ("x", 3)
    assert b"hidden" not in out.read_bytes()
    assert not any(third.payload_bytes)
    assert done.blanked == 1


def test_located_values_over_each_other(out: Path) -> None:
    """What goes for one field does not come back with another that shows the same bytes."""
    both = FieldDescription("", UTF8)
    described = (FieldDescription("FileName", DATALOC, both), FieldDescription("Other", DATALOC, both))
    payload = struct.pack("<HHHH", 8, 9, 8, 9) + b"/bob/x.so"
    data = of_one_kind(described, payload, provider="Universal.System", name="ProcessMapping")
    redacted(data, out)
    (event,) = reread(out)
    assert (event.payload["FileName"], event.payload["Other"]) == ("xxxxxxxxx", "xxxxxxxxx")


@pytest.mark.parametrize("text", ["/home/bob/a/long/way", "b"])
def test_a_text_before_a_located_value_keeps_its_length(out: Path, text: str) -> None:
    """What is located behind it would be looked for in another place, were the word longer or shorter."""
    described = (FieldDescription("Path", TEXT), FieldDescription("Other", DATALOC, FieldDescription("", UTF8)))
    raw = f"{text}\0".encode("utf-16-le")
    payload = raw + struct.pack("<HH", len(raw) + 4, 8) + b"bob/x.so"
    redacted(of_one_kind(described, payload), out, key=b"k", blank=False)
    (event,) = reread(out)
    assert len(event.payload["Path"]) == len(text)
    assert len(event.payload["Other"]) == 8
    assert "bob" not in event.payload["Path"] + event.payload["Other"]


def test_fields_that_are_not_there(out: Path) -> None:
    """A payload that ends between two fields does not fit: nothing in it is taken for what is described."""
    described = tuple(FieldDescription(name, TEXT) for name in ("Path", "Other", "More"))
    done = redacted(of_one_kind(described, "/home/bob\0fine\0".encode("utf-16-le")), out)
    (event,) = reread(out)
    assert done.blanked == 1
    assert (event.payload["Path"], event.payload["Other"], event.payload["More"]) == ("", "", "")


def test_text_that_is_no_utf8(out: Path) -> None:
    """Latin-1 in a narrow text is replaced like any other."""
    described = (FieldDescription("Path", ARRAY, FieldDescription("", UTF8)),)
    secret = "Ünterlagen".encode("latin-1")
    assert redacted(of_one_kind(described, struct.pack("<H", len(secret)) + secret), out).blanked == 0
    assert [event.payload["Path"] for event in reread(out)] == ["x" * len(secret)]


def test_a_payload_that_does_not_fit_can_be_read_strictly(out: Path) -> None:
    """Even one that is shorter than any payload of its kind."""
    described = (FieldDescription("n", TypeCode.INT64), FieldDescription("Text", TEXT))
    data = of_one_kind(described, struct.pack("<q", 5) + b"no end", b"\1\2\3")
    with pytest.raises(clrevents.PayloadError), clrevents.open(data, errors="strict") as trace:
        list(trace.events())
    done = redacted(data, out)
    assert [event.payload["Text"] for event in reread(out)] == ["", ""]
    assert (done.blanked, done.counts.blanked) == (2, {("P", "E"): 2})


def test_a_payload_that_would_be_read_in_another_way_is_blanked(out: Path) -> None:
    """A flag of one byte before the text: seven of eight ways to read it end elsewhere."""
    described = (FieldDescription("Flag", TypeCode.BOOLEAN), FieldDescription("Text", TEXT))
    texts = ("", "a", "ab", "some text", "\u0100\u0200", "\u6100\u0061")
    payloads = [b"\1" + f"{text}\0".encode("utf-16-le") for text in texts]
    with clrevents.open(of_one_kind(described, *payloads)) as trace:
        assert [event.payload["Text"] for event in trace.events()] == list(texts)
    done = redacted(of_one_kind(described, *payloads), out)
    found = [event.payload["Text"] for event in reread(out)]
    assert found == ["x" * len(text) for text in texts]
    assert done.blanked == 0


def of_one_kind(
    described: tuple[FieldDescription, ...], *payloads: bytes, provider: str = "P", name: str = "E"
) -> bytes:
    """A NetTrace 6 with these payloads of one kind of event."""
    writer = NetTrace6Writer(io.BytesIO(), TraceHeader(sync_qpc=0))
    writer.metadata([MetadataRecord(1, provider, 99, name=name, fields=described)])
    writer.threads([ThreadRow(0, 7)])
    writer.events([EventRecord(1, 1 + i, payload=payload) for i, payload in enumerate(payloads)])
    return ended(writer)


# -- any trace ---------------------------------------------------------------------------------------------------


@settings(suppress_health_check=list(HealthCheck))
@given(made=traces())
def test_any_trace(out: Path, made: MadeTrace) -> None:
    """Of every text there is what the allow-list says and nothing else; all that is no text is as it was."""
    done = redacted(made.data, out)
    for ours, theirs in unchanged(out, made.data, done):
        assert same_but_strings(ours.payload, theirs.payload)
        for (name, now), (_, before) in zip(string_values(ours.payload), string_values(theirs.payload), strict=True):
            assert_replaced(theirs, name, now, before)


# -- real traces -------------------------------------------------------------------------------------------------


@each_fixture("net8-sample", "net10-servergc")
def test_planted_in_real_traces(path: Path, out: Path) -> None:
    data, planted = planted_copy(unpacked(path))
    assert planted.total() > 0
    assert leaks(data)
    for pseudonyms in (False, True):
        redacted(data, out, blank=not pseudonyms)
        assert leaks(out.read_bytes()) == []
        reread(out)


@each_fixture("net8-sample", "net10-servergc")
def test_all_else_stays(path: Path, out: Path) -> None:
    data = unpacked(path)
    for ours, theirs in unchanged(out, data, redacted(data, out)):
        if not isinstance(theirs.payload, RawPayload):
            assert same_but_strings(ours.payload, theirs.payload)
