"""The texts of a page, each held once; cells refer to them by their number.

Makes every text safe to show and no longer than a reader needs, and says how much was cut.
"""

from __future__ import annotations

from typing import Final

from clrevents._util.words import safe
from clrevents.analysis.gathering.groups import Numbers

_LONG: Final = 600


class PageTexts:
    """Texts in order of their first use."""

    def __init__(self) -> None:
        self._places: Numbers[str] = Numbers()

    def place(self, text: str) -> int:
        """The number of a text, as it is shown."""
        return self._places[shown_text(text)]

    @property
    def all(self) -> list[str]:
        """The texts, by their numbers."""
        return [*self._places]


def shown_text(text: str) -> str:
    """A text on the page: what would not be seen, or would turn others round, is escaped; the end of a long one is cut.

    Newlines stay.
    """
    cut = text[:_LONG]
    made = "\n".join(map(safe, cut.split("\n")))
    return made if len(cut) == len(text) else f"{made}… ({len(text):,} characters)"
