"""`redact`: what users ask for: fields to keep and to drop, pseudonyms, reports, searches, packed output."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from rewrite_events import reread

import clrevents
from clrevents._util.varying import message_pattern, route_pattern
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.rewrite import Redacted, cut, redact, redaction_rules
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription
from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from project_files import fixture, unpacked

TEXT = TypeCode.STRING
NARROW = FieldDescription("", TypeCode.ARRAY, FieldDescription("", TypeCode.UTF8))
SAMPLE = (
    TraceBuilder()
    .described("Shop", "Opened", {"Path": (TEXT, "/home/bob/orders.db"), "User": (TEXT, "bob"), "n": (9, 3)})
    .described("Shop", "Closed", {"Path": (TEXT, "/home/bob/orders.db"), "User": (NARROW, "bob"), "Note": (TEXT, "")})
    .method_load("Acme.Shop", "Checkout", address=0x1000)
    .build()
)


def redacted(out: Path, data: bytes = SAMPLE, **options: Any) -> Redacted:
    with clrevents.open(data) as trace:
        return redact(trace, out, **options)


def values(out: Path) -> list[str]:
    opened, closed, _ = (event.payload for event in reread(out))
    return [opened["Path"], opened["User"], closed["Path"], closed["User"]]


# -- what is kept and what goes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ([], "...."),
        (["User"], ".u.u"),
        (["Shop/Opened.User"], ".u.."),
        (["Shop/*.Path"], "p.p."),
        (["Shop/Closed.*", "P*"], "p.pu"),
        (["Other/Opened.User", "user"], "...."),
    ],
)
def test_fields_can_be_kept(out: Path, keep: list[str], kept: str) -> None:
    done = redacted(out, keep=keep)
    wanted = [letter != "." for letter in kept]
    assert [value in ("bob", "/home/bob/orders.db") for value in values(out)] == wanted
    assert done.unused == (tuple(keep) if keep and not any(wanted) else ())
    assert done.replaced == wanted.count(False)


def test_fields_that_stay_can_be_asked_to_go(out: Path) -> None:
    redacted(out, fields=["^MethodN"], keep=["MethodName"], blank=True)
    *_, load = reread(out)
    assert (load.payload.MethodNamespace, load.payload.MethodName) == ("xxxxxxxxx", "xxxxxxxx")


def test_texts_that_stay_can_be_asked_to_go(out: Path) -> None:
    redacted(out, texts=["(?i)check|^Shop$"], blank=True)
    opened, _, load = reread(out)
    assert (load.payload.MethodNamespace, load.payload.MethodName) == ("Acme.Shop", "xxxxxxxx")
    # A name becomes a word, so that two of them stay two.
    assert opened.provider.startswith("x")
    assert opened.provider.strip("x")


def test_rules_are_those_that_are_followed(out: Path) -> None:
    with clrevents.open(SAMPLE) as trace:
        lines = list(map(str, redaction_rules(trace, keep=["Shop/Opened.User"], fields=["Signature"])))
    assert "goes   Shop/Opened.Path: a text that is not on the list" in lines
    assert "stays  Shop/Opened.User: kept by request" in lines
    assert "stays  runtime/MethodLoadVerbose.MethodName: names or describes code" in lines
    assert "goes   runtime/MethodLoadVerbose.MethodSignature: asked for" in lines
    assert "goes   trace/thread.name: a text that is not on the list" in lines
    assert not [line for line in lines if "Opened.n" in line]
    with clrevents.open(unpacked(fixture("net10-method-interop"))) as trace:
        there = list(map(str, redaction_rules(trace)))
    partly = "its file name is kept if it looks like one, the folder is removed"
    assert f"partly rundown/ModuleDCEnd.ModuleILPath: {partly}" in there
    assert len(there) == len(set(there))


# -- pseudonyms --------------------------------------------------------------------------------------------------


def test_blanks_have_the_length_of_what_they_replace(out: Path) -> None:
    redacted(out, blank=True)
    assert values(out) == ["x" * 19, "xxx", "x" * 19, "xxx"]


def test_pseudonyms_are_the_same_for_the_same_text(out: Path) -> None:
    """In both encodings, and of one length; of a path, for each of its parts."""
    redacted(out, blank=False)
    path, user, same_path, same_user = values(out)
    assert (path, user) == (same_path, same_user)
    assert path != user
    assert [len(part) for part in path.split("/")] == [0, 13, 13, 13]
    assert len(user) == 13


def test_texts_that_differ_in_numbers_only_become_words_that_do(out: Path) -> None:
    """So that reports still find what is alike; no number and no word is the original's."""
    built = TraceBuilder()
    texts = ("user 17 left", "user 18 left", "user 18 came", "/items/17", "/items/9", "/chain/9", "17", "x", "y")
    for text in texts:
        built.described("Shop", "Told", {"Text": (TEXT, text)})
    redacted(out, built.build())
    words = [event.payload["Text"] for event in reread(out)]
    assert len(set(words)) == len(texts)
    assert len({message_pattern(word) for word in words[:3]}) == 2
    assert [route_pattern(word).endswith("/{n}") for word in words[3:6]] == [True] * 3
    assert len({route_pattern(word) for word in words[3:6]}) == 2
    assert words[6].isdigit()
    assert not [word for word in words if any(part in word for part in ("17", "user", "items")) and len(word) < 9]


def test_a_redacted_trace_says_so_and_so_does_its_part(out: Path) -> None:
    with clrevents.open(SAMPLE) as trace:
        assert not trace.redacted
    for blank in (False, True):
        redacted(out, blank=blank)
        with clrevents.open(out) as trace:
            mark = next(trace.events())
            assert (trace.redacted, mark.name, mark.payload["Blank"], mark.payload["Ids"]) == (
                True,
                "Redacted",
                blank,
                0,
            )
            part = out.with_name("part.nettrace")
            cut(trace, part, "Closed")
        with clrevents.open(part) as trace:
            assert trace.redacted
            assert [note.id for note in trace.report("gc").notes].count("redacted") == 1


def test_pseudonyms_depend_on_the_key_alone(out: Path) -> None:
    def words(key: bytes | None) -> list[str]:
        redacted(out, blank=False, key=key)
        return values(out)

    assert words(b"a") == words(b"a")
    assert words(b"b") != words(b"a")
    assert words(b"a" * 1000) != words(b"a" * 999)
    assert words(None) != words(None)


def test_a_pseudonym_fits_where_the_length_is_fixed(out: Path) -> None:
    letter = FieldDescription("", TypeCode.CHAR)
    described = (
        FieldDescription("Four", TypeCode.FIXED_ARRAY, letter, (), 4),
        FieldDescription("One", TypeCode.CHAR),
        FieldDescription("Forty", TypeCode.FIXED_ARRAY, letter, (), 40),
    )
    with open(out.with_name("in.nettrace"), "wb") as file:
        writer = NetTrace6Writer(file)
        writer.metadata([MetadataRecord(1, "P", 1, name="E", fields=described)])
        writer.threads([ThreadRow(0, 7)])
        writer.events([EventRecord(1, 1, payload=("bobs" + "!" + "secret " * 5 + "here.").encode("utf-16-le"))])
        writer.end()
    redacted(out, out.with_name("in.nettrace").read_bytes(), blank=False)
    (event,) = reread(out)
    assert [len(event.payload[name]) for name in ("Four", "One", "Forty")] == [4, 1, 40]
    assert event.payload["Four"] not in ("bobs", "xxxx")
    assert event.payload["One"] == "x"
    assert event.payload["Forty"].rstrip("x") != ""


# -- reports, searches, packed output ----------------------------------------------------------------------------


def test_a_word_that_is_left_stops_the_writing(out: Path) -> None:
    out.write_bytes(b"as before")
    done = redacted(out, check=["bob", "Checkout"])
    assert [(found.word, found.encoding, found.count) for found in done.found] == [("Checkout", "UTF-16", 1)]
    assert out.read_bytes() == b"as before"
    assert list(out.parent.iterdir()) == [out]
    assert redacted(out, check=["bob", "Checkout"], texts=["Checkout"]).found == ()
    assert out.read_bytes() != b"as before"


def test_packed_output_is_the_same_trace(out: Path) -> None:
    redacted(out, key=b"k")
    packed = out.with_name("out.nettrace.gz")
    redacted(packed, key=b"k")
    first = packed.read_bytes()
    assert gzip.decompress(first) == out.read_bytes()
    redacted(packed, key=b"k")
    assert packed.read_bytes() == first


def test_command(run: Run, out: Path) -> None:
    path, report = out.with_name("in.nettrace"), out.with_name("report.json")
    path.write_bytes(SAMPLE)
    result = run("redact", path, "-o", out, "--report", report, "--keep", "Nothing", "--check", "bob")
    assert result.exit_code == 0
    assert "3 events; 4 texts replaced; payloads blanked: 0" in result.stderr
    assert "--keep Nothing: the trace has no text field with this name" in result.stderr
    assert json.loads(report.read_text()) == {
        "schema": "clrevents.redaction/1",
        "replaced": [
            {"provider": "Shop", "event": event, "field": field, "texts": 1}
            for event in ("Closed", "Opened")
            for field in ("Path", "User")
        ],
        "identifiers": [],
        "blanked": [],
        "tails": [],
    }
    result = run("redact", path, "--rules", "--keep", "User")
    assert result.exit_code == 0
    assert "stays  Shop/Closed.User: kept by request\n" in result.stdout
    out.unlink()
    result = run("redact", path, "-o", out, "--check", "checkout")
    assert result.exit_code == 3
    assert "still there: 'checkout', 1 time as UTF-16\n" in result.stderr
    assert not out.exists()
    run("redact", path, "-o", out, "--key", "k" * 100)
    first = out.read_bytes()
    run("redact", path, "-o", out, "--key", "k" * 100)
    assert out.read_bytes() == first


def test_command_refuses(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.nettrace"
    path = fixture("net8-sample")
    for wrong, message in (
        (["-o", out, "--text", "("], "not a regular expression"),
        (["-o", out, "--rules"], "either -o OUT or --rules"),
        ([], "either -o OUT or --rules"),
        (["-o", out, "--report", out], "the same file"),
    ):
        result = run("redact", path, *wrong)
        assert result.exit_code == 1
        assert message in result.stderr
    assert list(tmp_path.iterdir()) == []
