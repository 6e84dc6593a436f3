"""Which format a name means, and what all formats have in common."""

from __future__ import annotations

import gzip

import pytest

from clrevents.export.flame.flame_formats import FLAME_FORMATS, FlameFormat, flame_bytes, flame_format
from clrevents.export.look import Look
from hand_made import Row, hand_made

ROWS: list[Row] = [(7, 5, ("a", "b"), False), (8, 3, ("a",), True), (7, 2, ("a", "b", "c"), False)]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.html", "html"),
        ("X.HTM", "html"),
        ("x.json", "speedscope"),
        ("x.speedscope.json.gz", "speedscope"),
        ("x.folded", "folded"),
        ("x.collapsed.gz", "folded"),
        ("x.txt", "folded"),
        ("x.pb.gz", "pprof"),
        ("x.pprof", "pprof"),
        ("x.nettrace", None),
        ("x.gz", None),
        ("-", None),
        ("json", None),
    ],
)
def test_formats_by_name(name: str, format: str | None) -> None:
    assert flame_format(name) == format


@pytest.mark.parametrize("format", FLAME_FORMATS)
def test_packed_is_the_same_packed(format: FlameFormat) -> None:
    """pprof is always packed; and the same samples give the same bytes."""
    plain = flame_bytes(hand_made(ROWS), format, Look("t"))
    packed = flame_bytes(hand_made(ROWS), format, Look("t"), pack=True)
    assert packed[:2] == b"\x1f\x8b"
    if format == "pprof":
        assert packed == plain
    else:
        assert gzip.decompress(packed) == plain
    assert packed[4:8] == bytes(4), "the time inside would make each file another"


@pytest.mark.parametrize("format", FLAME_FORMATS)
@pytest.mark.parametrize("timed", [True, False])
def test_nothing_makes_a_file_too(format: FlameFormat, timed: bool) -> None:
    assert flame_bytes(hand_made([], timed=timed), format, Look()) or format == "folded"


@pytest.mark.parametrize("format", [f for f in FLAME_FORMATS if f != "pprof"])
@pytest.mark.parametrize("raw", [True, False])
def test_names_in_both_spellings(format: FlameFormat, raw: bool) -> None:
    text = flame_bytes(hand_made(ROWS), format, Look(raw=raw))
    assert (b"raw!c" in text) == raw


@pytest.mark.parametrize("format", FLAME_FORMATS)
def test_odd_names_do_not_stop_it(format: FlameFormat) -> None:
    odd = ("\ud800", "</script><!--", "a;b\n", "\x00\u2028", "é" * 300, "\U0001f525", "")
    assert flame_bytes(hand_made([(1, 3, odd, False)]), format, Look("\udc80</title>"))
