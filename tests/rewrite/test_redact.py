"""`redact`: no planted secret is left in the bytes, in any encoding; and nothing else is changed."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from rewrite_events import differing, reread, said
from trace_walk import walk

import clrevents
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import (
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    ThreadRow,
    TraceHeader,
)
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
from clrevents.rewrite import RULES, Redacted, Rule, redact
from clrevents.schema.codes import LabelKind, TypeCode
from clrevents.schema.dynamic import ClassCache, Variant
from clrevents.schema.registry import RUNTIME
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.testing.strategies import MadeTrace, traces
from clrevents.trace import RawPayload
from project_files import fixture, fixtures, unpacked

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
        return redact(trace, out, **options)


def string_values(record: Any) -> Iterator[tuple[str, Any]]:
    """Every text of a payload, nested ones too, with the name of its field."""
    for name, value in fields(record):
        yield from _strings(name, value)


def _strings(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(name, item)
    elif hasattr(type(value), "__layout__"):
        yield from string_values(value)


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


def unchanged(out: Path, data: bytes, done: Redacted, names: bool = True) -> list[tuple[Any, Any]]:
    """Counts, times, threads, stacks, and payloads' sizes; pairs of events for further looks."""
    with clrevents.open(data, errors="salvage") as trace:
        before = list(trace.events())
        lost = trace.lost
    after = reread(out)
    assert done.copied.events == len(after) == len(before)
    walk(out.read_bytes())
    for ours, theirs in zip(after, before, strict=True):
        if names:
            assert said(ours, payload=False) == said(theirs, payload=False)
        else:
            assert (ours.time_ns, ours.thread_id, ours.stack) == (theirs.time_ns, theirs.thread_id, theirs.stack)
        assert len(ours.payload_bytes) == len(theirs.payload_bytes)
    with clrevents.open(out) as result:
        assert result.lost == lost
    return list(zip(after, before, strict=True))


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
    b.described("Acme-Web", "Log", {"Message": (TEXT, "bob logged in"), "n": (INT, 7), "Fine": (TEXT, "fine")})
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
            assert (now == before) == (before not in secrets), name
    paths = 6 if format == "netperf3" else 13
    assert done.replaced == {"command-line": 3, "path": paths, "message": 2, "value": 2, "address": 1}


def test_names_of_code_stay(out: Path) -> None:
    data, _ = planted("nettrace4")
    redacted(data, out)
    loads = [e.payload for e in reread(out) if isinstance(e.payload, MethodLoadVerbose_V1)]
    assert [(p.MethodNamespace, p.MethodName) for p in loads] == [("Acme.Shop", "Checkout")]


def test_secrets_around_events(out: Path) -> None:
    """NetTrace 6: key and value pairs of the trace, threads, labels, and descriptions."""
    path = out.with_name("made.nettrace")
    pairs = (("ProcessId", "42"), ("CommandLine", "secret-of-the-trace"), ("Note", "harmless"))
    with open(path, "wb") as file:
        writer = NetTrace6Writer(file, TraceHeader(process_id=42, key_values=pairs))
        writer.metadata(
            [
                MetadataRecord(
                    1,
                    "Acme",
                    1,
                    name="Said",
                    fields=(FieldDescription("Count", INT),),
                    attributes=(("source_file", "plain"), ("SourcePath", "secret-of-a-kind")),
                    description="what it is",
                    message="secret-of-a-message",
                )
            ]
        )
        attributes = (("Environment", "secret-of-a-thread"), ("Pool", "yes"))
        writer.threads([ThreadRow(0, 7, 42, "main", attributes)])
        writer.labels(
            1,
            [
                [Label(LabelKind.TEXT, "secret-of-a-label", "url"), Label(LabelKind.NUMBER, 4, "n")],
                [Label(LabelKind.TEXT, "harmless too", "color"), Label(LabelKind.LEVEL, 3)],
            ],
        )
        events = [EventRecord(1, 10 * i, payload=struct.pack("<i", i), label_id=i % 3) for i in range(9)]
        writer.events(events)
        writer.end()
    data = path.read_bytes()
    redacted(data, out)
    assert data.count(b"secret") == 5
    assert b"secret" not in out.read_bytes()
    with clrevents.open(data) as before, clrevents.open(out) as after:
        assert after.info.process_id == 42
        assert dict(after.info.key_values)["Note"] == "harmless"
        assert dict(after.info.key_values)["CommandLine"] != "secret-of-the-trace"
        assert [t.name for t in after.threads] == ["main"]
        for ours, theirs in zip(after.events(), before.events(), strict=True):
            assert ours.payload == theirs.payload
            assert (ours.level, ours.time_ns, ours.thread_id) == (theirs.level, theirs.time_ns, theirs.thread_id)
            assert ours.labels.keys() == theirs.labels.keys()
            assert ours.labels.get("n") == theirs.labels.get("n")
            assert ours.labels.get("color") == theirs.labels.get("color")
            if "url" in theirs.labels:
                assert len(str(ours.labels["url"])) == len("secret-of-a-label")


def test_asked_text_leaves_no_trace(out: Path) -> None:
    """A text that was asked for goes wherever it stands: names of providers, events, fields, threads and keys too."""
    path = out.with_name("made.nettrace")
    with open(path, "wb") as file:
        writer = NetTrace6Writer(file, TraceHeader(key_values=(("AcmeKey", "of acme"),)))
        inner = FieldDescription("acme inner", INT)
        described = (FieldDescription("by acme", OBJECT, None, (inner,)), FieldDescription("Text", TEXT))
        writer.metadata([MetadataRecord(1, "Acme-Web", 1, name="AcmeRequest", fields=described)])
        writer.threads([ThreadRow(0, 7, 42, "acme worker", (("acme", "x"),))])
        writer.labels(1, [[Label(LabelKind.TEXT, "x", "acme label")]])
        payload = struct.pack("<i", 5) + "see Acme.Shop for more\0".encode("utf-16-le")
        writer.events([EventRecord(1, 10, payload=payload, label_id=1)])
        writer.end()
    done = redacted(path.read_bytes(), out, rules=[Rule("asked", None, re.compile("(?i)acme"))])
    assert b"acme" not in out.read_bytes().lower().replace(b"\0", b"")
    assert done.replaced == {"asked": 10}
    (event,) = reread(out)
    assert event.payload_bytes[:4] == struct.pack("<i", 5)


def test_bytes_between_located_fields(out: Path) -> None:
    """Elements that stand behind the fields may leave room between them, which no field shows."""
    text = FieldDescription("", CHAR)
    described = (
        FieldDescription("Where", RELLOC, text),
        FieldDescription("Path", DATALOC, FieldDescription("", UTF8)),
        FieldDescription("n", INT),
    )
    record = record_of(described)
    good = codec(record).build(record("here", "/home/bob", 3))
    hidden = struct.pack("<HHHHi", 8 + 6, 2, 12, 0, 3) + b"hidden" + b"\0" * 2 + "x".encode("utf-16-le")
    path = out.with_name("made.nettrace")
    with open(path, "wb") as file:
        writer = NetTrace6Writer(file, TraceHeader(sync_qpc=0))
        writer.metadata([MetadataRecord(1, "P", 1, name="E", fields=described)])
        writer.threads([ThreadRow(0, 7)])
        writer.events([EventRecord(1, 1, payload=good), EventRecord(1, 2, payload=hidden)])
        writer.end()
    done = redacted(path.read_bytes(), out)
    first, second = reread(out)
    assert first.payload["Where"] == "here"
    assert first.payload["n"] == 3
    assert first.payload["Path"] != "/home/bob"
    assert len(first.payload["Path"]) == len("/home/bob")
    assert (done.blanked, dict(done.replaced)) == (1, {"path": 1})
    assert second.payload_bytes == bytes(len(hidden))


def test_fields_that_are_not_there(out: Path) -> None:
    """A writer older than its description leaves the last fields out: the others are still rewritten."""
    described = tuple(FieldDescription(name, TEXT) for name in ("Path", "Other", "More"))
    payload = "/home/bob\0fine\0".encode("utf-16-le")
    path = out.with_name("made.nettrace")
    with open(path, "wb") as file:
        writer = NetTrace4Writer(file, TraceHeader(sync_qpc=0))
        writer.metadata([MetadataRecord(1, "P", 1, name="E", fields=described)])
        writer.events([EventRecord(1, 1, 7, payload)])
        writer.end()
    done = redacted(path.read_bytes(), out)
    (event,) = reread(out)
    assert done.blanked == 0
    assert event.payload["Other"] == "fine"
    assert event.payload["More"] is None
    assert event.payload["Path"] != "/home/bob"


def test_text_that_is_no_utf8(out: Path) -> None:
    """Latin-1 in a narrow string cannot be written back as it was: the payload goes as a whole, if any of it goes."""
    described = (FieldDescription("Path", ARRAY, FieldDescription("", UTF8)),)
    path = out.with_name("made.nettrace")
    secret = "Ünterlagen".encode("latin-1")
    with open(path, "wb") as file:
        writer = NetTrace4Writer(file, TraceHeader(sync_qpc=0))
        writer.metadata([MetadataRecord(1, "P", 1, name="E", fields=described)])
        writer.events([EventRecord(1, 1, 7, struct.pack("<H", len(secret)) + secret)])
        writer.end()
    assert redacted(path.read_bytes(), out).blanked == 1
    assert secret not in out.read_bytes()


# -- any trace ---------------------------------------------------------------------------------------------------


@settings(suppress_health_check=list(HealthCheck))
@given(made=traces())
def test_any_trace(out: Path, made: MadeTrace) -> None:
    """All strings that some rule takes are gone; everything else is as it was."""
    done = redacted(made.data, out)
    total: Counter[str] = Counter()
    for ours, theirs in unchanged(out, made.data, done):
        if not any(ours.payload_bytes) and any(theirs.payload_bytes):
            continue
        assert same_but_strings(ours.payload, theirs.payload)
        for (name, now), (_, before) in zip(string_values(ours.payload), string_values(theirs.payload), strict=True):
            rule = next((r for r in RULES if before and r.takes(name, before)), None)
            total.update([rule.name] if rule else [])
            if rule is None:
                assert now == before
            elif len(before) > 2:
                assert now != before
    if not done.blanked:
        assert all(done.replaced[name] >= count for name, count in total.items())


# -- real traces -------------------------------------------------------------------------------------------------


def paths_in(data: bytes) -> set[str]:
    """Absolute paths in UTF-16, found without reading the trace."""
    found = re.findall(rb"(?:/\0)(?:[\x20-\x7e]\0){8,}", data)
    paths = {text.decode("utf-16-le") for text in found}
    return {p for p in paths if p.count("/") >= 3 and ".dll" in p}


def test_paths_of_a_real_trace(out: Path) -> None:
    data = unpacked(fixture("net8-method-interop"))
    secrets = paths_in(data)
    assert len(secrets) >= 3
    done = redacted(data, out)
    result = out.read_bytes()
    assert not [secret for secret in secrets if is_there(secret, result)]
    assert paths_in(result) == set()
    assert done.replaced["path"] >= len(secrets)
    pairs = unchanged(out, data, done)
    for ours, theirs in pairs:
        if not isinstance(theirs.payload, RawPayload):
            assert same_but_strings(ours.payload, theirs.payload)


@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name.partition(".")[0])
def test_without_rules_only_the_unreadable_goes(path: Path, out: Path) -> None:
    data = unpacked(path)
    done = redacted(data, out, rules=())
    assert done.replaced == {}
    readable = [(a, b) for a, b in unchanged(out, data, done) if not isinstance(b.payload, RawPayload)]
    readable = [(a, b) for a, b in readable if not b.payload_tail]
    assert not differing((a for a, _ in readable), (b for _, b in readable))


# -- tokens ------------------------------------------------------------------------------------------------------


def tokens(out: Path, key: bytes | None) -> list[str]:
    redacted(planted("nettrace4")[0], out, key=key)
    (first, *_) = (e.payload for e in reread(out) if isinstance(e.payload, RuntimeInformationStart_V0))
    return [first.CommandLine, first.RuntimeDllPath]


def test_tokens_with_a_key_are_stable(out: Path) -> None:
    first, second = tokens(out, b"a"), tokens(out, b"a")
    assert first == second
    assert tokens(out, b"b") != first
    assert tokens(out, b"a" * 1000) not in (first, tokens(out, b"a" * 999))


def test_tokens_without_a_key_are_not(out: Path) -> None:
    assert tokens(out, None) != tokens(out, None)


def test_tokens_look_alike_and_tell_texts_apart(out: Path) -> None:
    b = TraceBuilder()
    texts = ["a/b", "a/b", "a longer text of a path", "a longer text of a path", "a longer text of a pa\U0001f600"]
    for text in texts:
        b.described("P", "E", {"Path": (TEXT, text)})
    redacted(b.build(), out)
    found = [event.payload["Path"] for event in reread(out)]
    assert found[0] == found[1] != texts[0]
    assert found[2] == found[3] != found[4]
    assert [len(t.encode("utf-16")) for t in found] == [len(t.encode("utf-16")) for t in texts]
    assert found[2].endswith("-path--")


# -- the command -------------------------------------------------------------------------------------------------


def test_command(run: Callable[..., Result], tmp_path: Path) -> None:
    data, secrets = planted("nettrace4")
    path, out = tmp_path / "in.nettrace", tmp_path / "out.nettrace"
    path.write_bytes(data)
    result = run("redact", path, "-o", out)
    assert result.exit_code == 0
    assert not leaks(secrets, out)
    assert "payloads blanked: 2" in result.stderr
    assert "2 payloads are newer" in result.stderr
    assert "3 command-line" in result.stderr
    result = run("redact", path, "-o", out, "--keep", "command-line", "--keep", "path", "--field", "^MethodName$")
    assert result.exit_code == 0
    assert COMMAND_LINE in leaks(secrets, out)
    assert "1 asked" in result.stderr
    assert not leaks(["Checkout"], out)
    result = run("redact", path, "-o", out, "--text", "(?i)ACME", "--key", "k" * 100)
    assert result.exit_code == 0
    assert not leaks(["Acme", "acme"], out)
    first = out.read_bytes()
    run("redact", path, "-o", out, "--text", "(?i)ACME", "--key", "k" * 100)
    assert out.read_bytes() == first


def leaks(secrets: Iterable[str], out: Path) -> list[str]:
    data = out.read_bytes()
    return [secret for secret in secrets if is_there(secret, data)]


def test_command_refuses(run: Callable[..., Result], tmp_path: Path) -> None:
    out = tmp_path / "out.nettrace"
    path = fixture("net8-sample")
    for wrong, message in ((["--text", "("], "not a regular expression"), (["--keep", "x"], "--keep")):
        result = run("redact", path, "-o", out, *wrong)
        assert result.exit_code == 1
        assert message in result.stderr
    assert run("redact", tmp_path / "absent", "-o", out).exit_code == 2
    assert run("redact", path, "-o", tmp_path / "no" / "out").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("clrevents.rewrite.copy.Copier.finish", fail)
    with clrevents.open(unpacked(fixture("net8-sample"))) as trace, pytest.raises(RuntimeError):
        redact(trace, tmp_path / "out.nettrace")
    assert list(tmp_path.iterdir()) == []
