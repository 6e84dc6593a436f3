"""What replaces a text: a word that only a key can connect with it, or the same number of `x`.

Texts that reports treat as alike, because they differ only in numbers, become words that they treat as alike. Knows
encodings and lengths, and how much of a text may stay; knows no fields. Remembers some texts, for speed, and counts
what was replaced.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define
from clrevents._util.varying import is_id, message_pattern
from clrevents.schema.disclosure import Disclosure, going

_BLANK: Final = "x"
_MOST: Final = 1 << 16
_LONGEST: Final = 512
_LETTERS: Final = "ghjkmnpqrstuvwyz"
"""For words: without digits and those that stand for some, so that no part of a word looks like a number."""
_WORD: Final = 12
_NUMBERS: Final = 10**11
_MOST_PARTS: Final = 64
SCHEMA: Final = "clrevents.redaction/1"


@define
class Replacer:
    """Replaces texts: equal ones by equal words, different ones by different words, which depend on the key; with
    `blank`, all by `x`.

    A text that matches one of `also` is replaced entirely, whatever may stay of it.
    """

    key: bytes = attrs.field(repr=False)
    blank: bool = False
    also: tuple[re.Pattern[str], ...] = ()
    _known: dict[tuple[Disclosure, int, bool, bytes], bytes] = attrs.field(factory=dict, init=False, repr=False)
    _keys: dict[str, str] = attrs.field(factory=dict, init=False, repr=False)
    _digest: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._digest = hashlib.sha256(self.key).digest()

    def encoded(self, raw: bytes, disclosure: Disclosure, width: int, fixed: bool) -> bytes:
        """The bytes of a text in UTF-16 (`width` 2) or UTF-8 after replacement: with `fixed` as many as before."""
        if disclosure.stays == "nothing" and self.blank:
            return _BLANK.encode(_ENCODINGS[width]) * (len(raw) // width)
        key = disclosure, width, fixed, raw
        known = self._known.get(key)
        if known is None:
            known = self._encoded(raw, disclosure, width, fixed)
            if len(raw) <= _LONGEST:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[key] = known
        return known

    def text(self, text: str, disclosure: Disclosure) -> str:
        """The same of a text that is not in a payload."""
        count = self._going(text, disclosure)
        if not count:
            return text
        gone = text[:count]
        if self.blank:
            return _BLANK * count + text[count:]
        return self.word(gone) + text[count:] if count < len(text) else self._words(gone)

    def name(self, name: str) -> str:
        """A name of code: unchanged, or a word if it matches, so different names stay different."""
        return self.word(name) if self.matches(name) else name

    def label_key(self, name: str) -> str:
        """An unknown key: a number, the same for equal keys, or a word."""
        if self.blank:
            return self._keys.setdefault(name, f"key{len(self._keys) + 1}")
        return self.word(name)

    def matches(self, text: str) -> bool:
        """Whether a text must be replaced by request."""
        return any(pattern.search(text) for pattern in self.also)

    def word(self, text: str) -> str:
        """The word of a text: no longer or shorter for a longer text."""
        digest = self._hash(text)
        return _BLANK + "".join(_LETTERS[byte >> shift & 15] for byte in digest[: _WORD // 2] for shift in (4, 0))

    def _words(self, text: str) -> str:
        """The word of a whole text; for a path, of each of its parts."""
        parts = text.split("/") if text.startswith("/") else [text]
        if len(parts) > _MOST_PARTS:
            return self.word(text)
        return "/".join(part and self._varying(part) for part in parts)

    def _varying(self, text: str) -> str:
        """A word; texts that differ only in numbers get the same one, followed by different numbers."""
        pattern = message_pattern(text)
        if pattern == text:
            return self.word(text)
        number = int.from_bytes(self._hash(text)) % (9 * _NUMBERS) + _NUMBERS
        return str(number) if is_id(text) else f"{self.word(pattern)}-{number}"

    def _hash(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._digest, digest_size=8).digest()

    def _going(self, text: str, disclosure: Disclosure) -> int:
        return len(text) if self.also and self.matches(text) else going(disclosure, text)

    def _encoded(self, raw: bytes, disclosure: Disclosure, width: int, fixed: bool) -> bytes:
        encoding = _ENCODINGS[width]
        text = _decoded(raw, width)
        count = self._going(text, disclosure)
        if not count:
            return raw
        rest = raw[len(_again(text[:count], raw, width)) :]
        size = len(raw) - len(rest)
        if self.blank:
            return _BLANK.encode(encoding) * (size // width) + rest
        if fixed:
            return self.word(text[:count]).ljust(size // width, _BLANK)[: size // width].encode(encoding) + rest
        word = self._words(text) if count == len(text) else self.word(text[:count])
        return word.encode(encoding) + rest


_ENCODINGS: Final = {1: "utf-8", 2: "utf-16-le"}


def _decoded(raw: bytes, width: int) -> str:
    """A text as readers show it: narrow bytes that are not UTF-8 are Latin-1."""
    if width == 2:
        return raw.decode("utf-16-le", "surrogatepass")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _again(text: str, raw: bytes, width: int) -> bytes:
    """The bytes that a part of `raw` was decoded from."""
    if width == 2:
        return text.encode("utf-16-le", "surrogatepass")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return text.encode("latin-1")
    return text.encode("utf-8")


@define
class RedactionCounts(Value):
    """Counts that grow while a trace is redacted."""

    replaced: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced texts, arrays of bytes and characters, by provider, event and field."""
    identifiers: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced identifying numbers in payloads, by provider, event and field."""
    blanked: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads that became zeros, by provider and event."""
    tails: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads in which only the bytes after the known fields became zeros."""

    def to_dict(self) -> dict[str, Any]:
        """What `--report` writes."""
        return {
            "schema": SCHEMA,
            "replaced": [
                {"provider": provider, "event": event, "field": field, "texts": count}
                for (provider, event, field), count in sorted(self.replaced.items())
            ],
            "identifiers": [
                {"provider": provider, "event": event, "field": field, "numbers": count}
                for (provider, event, field), count in sorted(self.identifiers.items())
            ],
            "blanked": _payloads(self.blanked),
            "tails": _payloads(self.tails),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _payloads(counts: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"provider": p, "event": e, "payloads": count} for (p, e), count in sorted(counts.items())]
