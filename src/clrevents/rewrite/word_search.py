"""Looks for words in bytes that are being written, in every encoding that a program might have used.

UTF-8, UTF-16 of both byte orders and Latin-1, in any case; escaped as in JSON and in URLs; as hexadecimal digits and as
base64 at any offset, and all of these as UTF-16. Cannot see anything compressed, encrypted or split.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.encode.values import Sink

_ENOUGH = 1 << 20
# Shorter pieces of base64 are in any large file by chance.
_LEAST_BASE64 = 6
_TURNED = "UTF-16, big-endian"


@frozen
class FoundWord(Value):
    """A word that is there, in one encoding."""

    word: str
    """The word."""
    encoding: str
    """Such as `UTF-16` or `base64 of UTF-8`."""
    count: int
    """How often."""


class WordSearch:
    """Passes on what is written to `sink`, and looks for the words in it."""

    def __init__(self, sink: Sink, words: Iterable[str]) -> None:
        self._sink = sink
        self._needles = [needle for word in dict.fromkeys(words) if word for needle in _needles(word)]
        self._overlap = max((len(data) for *_, data in self._needles), default=1) - 1
        self._waiting: list[bytes] = []
        self._size = 0
        self._before = b""
        self._counts: Counter[tuple[str, str]] = Counter()

    def write(self, data: bytes) -> None:
        self._sink.write(data)
        if self._needles:
            self._waiting.append(data)
            self._size += len(data)
            if self._size >= _ENOUGH:
                self._look()

    def found(self) -> tuple[FoundWord, ...]:
        """What was found in everything written so far."""
        self._look()
        return tuple(
            FoundWord(word, encoding, count)
            for (word, encoding), count in self._counts.items()
            # After a zero byte, ASCII in one byte order is also ASCII in the other.
            if encoding != _TURNED or (word, "UTF-16") not in self._counts
        )

    def _look(self) -> None:
        data = self._before + b"".join(self._waiting)
        folded = data.lower()
        kept = len(self._before)
        for word, encoding, cased, needle in self._needles:
            # Those that end before what is new were counted last time.
            start = max(kept - len(needle) + 1, 0)
            count = (data if cased else folded).count(needle, start)
            if count:
                self._counts[word, encoding] += count
        self._before = data[len(data) - self._overlap :] if self._overlap else b""
        self._waiting, self._size = [], 0


def _needles(word: str) -> Iterator[tuple[str, str, bool, bytes]]:
    """(word, encoding, whether case matters, bytes), each bytes once."""
    seen = set()
    for encoding, cased, data in _encodings(word):
        for name, needle in ((encoding, data), *_wide(encoding, data)):
            needle = needle if cased else needle.lower()
            if (cased, needle) not in seen:
                seen.add((cased, needle))
                yield word, name, cased, needle


def _encodings(word: str) -> Iterator[tuple[str, bool, bytes]]:
    plain = {"UTF-8": "utf-8", "UTF-16": "utf-16-le", _TURNED: "utf-16-be", "Latin-1": "latin-1"}
    for form in dict.fromkeys((word, word.lower(), word.upper())):
        for name, codec in plain.items():
            try:
                data = form.encode(codec)
            except UnicodeEncodeError:
                continue
            yield name, False, data
            if name != "Latin-1":
                yield f"hexadecimal {name}", False, data.hex().encode()
        yield "JSON", False, json.dumps(form)[1:-1].encode()
        yield "URL", False, quote(form, safe="").encode("ascii")
    for name, codec in plain.items():
        try:
            data = word.encode(codec)
        except UnicodeEncodeError:
            continue
        for piece in _base64(data):
            yield f"base64 of {name}", True, piece


def _wide(encoding: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Text of text: what is ASCII already may itself be UTF-16."""
    if encoding.startswith(("base64", "hexadecimal", "JSON", "URL")):
        yield f"{encoding}, in UTF-16", data.decode("ascii").encode("utf-16-le")


def _base64(data: bytes) -> Iterator[bytes]:
    """The base64 text that any text with these bytes contains, for each offset to its groups of three."""
    for offset in range(3):
        digits = base64.b64encode(bytes(offset) + data)
        # The digits at both ends also hold bits of the neighbours.
        first, last = -(-offset * 8 // 6), (offset + len(data)) * 8 // 6
        for piece in dict.fromkeys((digits[first:last], digits[first:last].translate(_URL_SAFE))):
            if len(piece) >= _LEAST_BASE64:
                yield piece


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
