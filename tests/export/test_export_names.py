"""Names of files: harmless, the same for every trace, and never the same for two events."""

from __future__ import annotations

import itertools
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.export.files.directory import export_directory
from clrevents.export.files.formats import Format
from clrevents.export.files.tables import Names, Options, name_hash, safe_name, trace_stem
from clrevents.testing.builder import TraceBuilder

ODD = ["", ".", "..", "../../etc/passwd", "a/b", "a\\b", "CON", "con.txt", "nul", "COM1", "lpt¹.x"]
ODD += ["_headers", "_trace"]
ODD += [".hidden", "-rf", "a b", "a=b", "*", "?", "[x]", "a:b", "x.", "x ", "\0", "\n", "\ud800", "é" * 90]
ODD += ["x" * 300, "~"]
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@pytest.mark.parametrize("name", ["GCStart", "EventID(303)", "Microsoft-Windows-DotNETRuntime", "a.b", "naïve", "漢字"])
def test_harmless_names_stay(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ODD)
def test_odd_names(name: str) -> None:
    check(name)
    assert "~" in safe_name(name), "it cannot be mistaken for a harmless name"


@given(st.text())
def test_any_name(name: str) -> None:
    check(name)


def check(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set('/\\:*?"<>|=[]{} %\0\n')
    assert safe[0] not in "._-"
    assert safe[-1] not in ". "
    assert not RESERVED.fullmatch(safe)
    assert len(safe.encode("utf-8")) <= 110
    assert unicodedata.normalize("NFC", safe) == safe
    assert safe_name(name) == safe


@given(st.lists(st.text(alphabet="aA/._ßs\u0301e", max_size=4), unique=True))
def test_no_two_names_meet(names: list[str]) -> None:
    folder = Names()
    found = [folder.of(name) for name in names]
    assert len({unicodedata.normalize("NFC", f.casefold()) for f in found}) == len(names)
    assert [folder.of(name) for name in names] == found


def test_names_that_differ_in_case_only() -> None:
    folder = Names()
    assert folder.of("Start") == "Start"
    assert re.fullmatch(r"start~[0-9a-f]{8}", folder.of("start"))
    assert Names().of("start") == "start"


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("a/b/app.nettrace", "app"),
        ("app.nettrace.gz", "app"),
        ("app.NetPerf", "app"),
        ("app.2026-01-01.nettrace", "app.2026-01-01"),
        ("trace.bin", "trace.bin"),
        ("x.gz", "x"),
    ],
)
def test_a_trace_is_called_like_its_file(file: str, stem: str) -> None:
    assert trace_stem(file) == stem


def alike() -> tuple[str, str]:
    """Two names that look the same as files and have the same short hash, as anybody can make them."""
    seen: dict[str, str] = {}
    for odd in itertools.product('\x01\x02\x03\x04\x05\x06\x07\x08*?<>|:"/', repeat=5):
        name = f"E{''.join(odd)}"
        if (other := seen.setdefault(name_hash(name), name)) != name:
            return other, name
    raise AssertionError("no two of a million names have the same 32 bits")


def test_names_made_to_meet() -> None:
    one, two = alike()
    assert safe_name(one) == safe_name(two)
    for names in ([one, two], [two, one], ["E_____", "e_____", one, two], ["e_____", one, "E_____", two]):
        folder = Names()
        found = [folder.of(name) for name in names]
        assert len({f.casefold() for f in found}) == len(names)
        assert [folder.of(name) for name in names] == found
        assert max(map(len, found)) < 200


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_trace_with_such_names_can_be_exported(tmp_path: Path, format: Format) -> None:
    builder = TraceBuilder()
    for number, name in enumerate(alike()):
        builder.described("App", name, {"X": (9, number)}, id=number + 1)
    with clrevents.open(builder.build()) as trace:
        written = export_directory(trace, tmp_path / "out", Options(format), {})
    assert (written.tables, written.rows) == (2, 2)
    assert len(list((tmp_path / "out" / "App").iterdir())) == 2
