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
from clrevents.export.flame.flame_html import FLAME_SCRIPT, FLAME_STYLE, escaped_json, filled_page

_HERE: Final = Path(__file__).parent
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
    body: str, styles: Sequence[str], scripts: Sequence[str], data: dict[str, Any], flames: bool = False
) -> bytes:
    """The page of these files; the policy names its style and its script by their hashes. `flames` says that the
    body has a place for flame graphs."""
    style = "\n".join([*([FLAME_STYLE] if flames else []), *map(_text, styles)])
    script = "\n".join(['"use strict";', *([FLAME_SCRIPT] if flames else []), *map(_text, scripts)])
    parts = {
        "__POLICY__": f"script-src {_hash(script)}; style-src {_hash(style)}",
        "__STYLE__": style,
        "__BODY__": _text(body).replace("__FLAMES__", _text("flames_part.html")),
        "__DATA__": escaped_json(data),
        "__SCRIPT__": script,
    }
    return filled_page(_HERE / "frame.html", parts)


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
