"""Texts made visible: what nobody sees is spelled out."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from clrevents._util.words import safe, visible

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u2060\u2063\u2800\u3164\ufe0f\ufeff\uffa0\U000e0001\U000e0041"
)


@given(st.text() | st.text(UNSEEN + "a\u00e9\u4e2d\n"))
def test_nothing_is_hidden(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & set(UNSEEN)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    assert visible(shown) == shown
    seen = re.sub(r"\\(x..|u....|U........|[nrt])", "", shown)
    assert all(char in text for char in seen)


def test_what_is_seen_stays() -> None:
    assert visible("Grüße, 世界 ½ – “x” 🙂") == "Grüße, 世界 ½ – “x” 🙂"
    assert visible("a\u200bb\U000e0041\t") == r"a\u200bb\U000e0041\t"
    assert safe("می\u200cخواهم") == "می\u200cخواهم", "for people, joiners are part of their language"
