"""Words are found in every encoding, wherever the writes are cut, and as often as they are there."""

from __future__ import annotations

import base64
import io
import json
import random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.rewrite import word_search
from clrevents.rewrite.word_search import WordSearch

WORD = "hünter2"


def found(data: bytes, *words: str, cuts: int = 0) -> dict[str, int]:
    sink = io.BytesIO()
    search = WordSearch(sink, words or (WORD,))
    places = sorted(random.Random(5).choices(range(len(data) + 1), k=cuts)) if cuts else []
    for start, stop in zip((0, *places), (*places, len(data)), strict=True):
        search.write(data[start:stop])
    everything = {f"{one.word} {one.encoding}": one.count for one in search.found()}
    assert sink.getvalue() == data
    return everything


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (WORD.encode(), "UTF-8"),
        (WORD.upper().encode(), "UTF-8"),
        (b"\0" + WORD.encode("utf-16-le"), "UTF-16"),
        ("HÜNTER2".encode("utf-16-le"), "UTF-16"),
        (WORD.encode("utf-16-be"), "UTF-16, big-endian"),
        (WORD.encode("latin-1"), "Latin-1"),
        (json.dumps(f"a {WORD}").encode(), "JSON"),
        (json.dumps(f"a {WORD}").encode("utf-16-le"), "JSON, in UTF-16"),
        (quote(f"a {WORD}").encode(), "URL"),
        (WORD.encode().hex().upper().encode(), "hexadecimal UTF-8"),
        (WORD.encode("utf-16-le").hex().encode("utf-16-le"), "hexadecimal UTF-16, in UTF-16"),
        *((base64.b64encode(b"a" * n + WORD.encode() + b"zz"), "base64 of UTF-8") for n in range(3)),
        *((base64.b64encode(b"a" * n + WORD.encode("utf-16-le")), "base64 of UTF-16") for n in range(3)),
        (base64.b64encode(WORD.encode()).decode().encode("utf-16-le"), "base64 of UTF-8, in UTF-16"),
    ],
)
def test_every_encoding(data: bytes, encoding: str) -> None:
    assert f"{WORD} {encoding}" in found(b"before " + data + b" after")


def test_what_is_not_there_is_not_found() -> None:
    assert found(b"hunter2 " + "hunter2".encode("utf-16-le") + base64.b64encode(b"hunter2")) == {}
    assert found(b"", "") == {}


@given(st.lists(st.sampled_from([b"bob", b"bo", b"b", b"\0", b"xyz"]), max_size=40), st.integers(0, 30))
def test_each_place_counts_once_wherever_writes_are_cut(pieces: list[bytes], cuts: int) -> None:
    data = b"".join(pieces)
    wanted = {"bob UTF-8": data.count(b"bob")} if b"bob" in data else {}
    assert found(data, "bob", cuts=cuts) == wanted


def test_places_at_the_border_of_what_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_search, "_ENOUGH", 4)
    data = b"..bob....bob.." * 20
    assert found(data, "bob", cuts=70) == {"bob UTF-8": 40}
