"""A page's texts, each held once, and its template with its style, its script and its data.

Makes every text safe to show and no longer than a reader needs. The files are beside this module; data is JSON, of
which no text can end its block, and the page's policy lets only these scripts run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from clrevents._util.words import counted, safe
from clrevents.analysis.gathering.groups import Interned
from clrevents.export.flame.flame_html import escaped_json, filled_page

_LONG: Final = 600


class PageTexts:
    """Texts in order of their first use."""

    def __init__(self) -> None:
        self._places: Interned[str] = Interned()

    def place(self, text: str) -> int:
        """The number of a text, as it is shown."""
        return self._places[shown_text(text)]

    @property
    def all(self) -> list[str]:
        """The texts, by their numbers."""
        return [*self._places]


def shown_text(text: str) -> str:
    """A text on the page: invisible characters, and those that reverse text, are escaped; a long text is cut.

    Newlines stay.
    """
    cut = text[:_LONG]
    text_shown = "\n".join(map(safe, cut.split("\n")))
    return text_shown if len(cut) == len(text) else f"{text_shown}… ({counted(len(text), 'character')})"


def assembled_page(
    template: str, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any], flames: bool = False
) -> bytes:
    """The page of these texts; the policy names its style and its script by their hashes. `flames` says that the
    template has a place for flame graphs."""
    style, script = "\n".join(styles), "\n".join(['"use strict";', *scripts])
    parts = {
        "__POLICY__": f"script-src {_hash(script)}; style-src {_hash(style)}",
        "__STYLE__": style,
        **({"__FLAMES__": page_texts_of(("flames_part.html",))[0]} if flames else {}),
        "__DATA__": escaped_json(data),
        "__SCRIPT__": script,
    }
    return filled_page(Path(__file__).with_name(template), parts)


def page_texts_of(names: Sequence[str]) -> list[str]:
    """The texts of files beside this module."""
    return [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names]


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
