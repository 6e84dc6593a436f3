"""What stands instead of a text: as many `x`, or a word that only a key can connect with it.

Knows encodings and lengths, and how much of a text may stay; knows no fields. Remembers texts, a bounded number of
them, to be fast.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

import attrs

from clrevents.schema.disclosure import Disclosure, going

_BLANK: Final = "x"
_MOST: Final = 1 << 16
_LONGEST: Final = 512
_DIGITS: Final = 12


@attrs.define
class Replacer:
    """Replaces texts. With `pseudonyms` equal texts become equal words, which differ from key to key.

    A text that one of `also` matches goes as a whole, whatever may stay of it.
    """

    key: bytes = attrs.field(repr=False)
    pseudonyms: bool = False
    also: tuple[re.Pattern[str], ...] = ()
    _known: dict[tuple[Disclosure, int, bool, bytes], bytes] = attrs.field(factory=dict, init=False, repr=False)
    _keys: dict[str, str] = attrs.field(factory=dict, init=False, repr=False)
    _digest: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._digest = hashlib.sha256(self.key).digest()

    def encoded(self, raw: bytes, disclosure: Disclosure, width: int, fixed: bool) -> bytes:
        """The bytes of a text in UTF-16 (`width` 2) or UTF-8 after replacement: with `fixed` as many as before."""
        if disclosure.stays == "nothing" and not self.pseudonyms:
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
        return (self.word(gone) if self.pseudonyms else _BLANK * count) + text[count:]

    def name(self, name: str) -> str:
        """A name of code: as it is, or if it matches, a word, so that different names stay different."""
        return self.word(name) if self.matches(name) else name

    def label_key(self, name: str) -> str:
        """A key that nobody knows: a number, the same for equal keys, or a word."""
        if self.pseudonyms:
            return self.word(name)
        return self._keys.setdefault(name, f"key{len(self._keys) + 1}")

    def matches(self, text: str) -> bool:
        """Whether a text was asked to go."""
        return any(pattern.search(text) for pattern in self.also)

    def word(self, text: str) -> str:
        """The word of a text: no longer or shorter for a longer text."""
        data = text.encode("utf-8", "surrogatepass")
        return _BLANK + hashlib.blake2b(data, key=self._digest, digest_size=_DIGITS // 2).hexdigest()

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
        if not self.pseudonyms:
            return _BLANK.encode(encoding) * (size // width) + rest
        word = self.word(text[:count])
        if fixed:
            word = word.ljust(size // width, _BLANK)[: size // width]
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
