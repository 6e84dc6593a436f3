"""How this room signals a payload that does not fit its layout: `ShortValue` for a value, `Misfit` for a record.

Neither leaves the room: a misfit becomes a RawPayload and a Problem. Knows no layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ShortValue(Exception):
    """Raised while a value is read; the caller that knows the field turns it into a Misfit.

    `whole`: `offset` is the start of the field, so none of it was available. `field` is the position inside the field
    (`[3].Name`).
    """

    def __init__(self, offset: int, needed: int, why: str, field: str = "", whole: bool = False) -> None:
        super().__init__(why)
        self.whole = whole
        self.offset = offset
        self.needed = needed
        self.why = why
        self.field = field

    def inside(self, names: Sequence[str], read: int) -> None:
        """Say that it is in a record inside another one, after this many of its fields were read."""
        self.whole = False
        self.field = f".{_named(names, read)}{self.field}"


class Misfit(Exception):
    """A payload that does not fit its layout: the field, where and why, and the values of the fields before it."""

    def __init__(self, field: str, offset: int, needed: int, available: int, why: str, partial: dict[str, Any]):
        super().__init__(field)
        self.field = field
        self.offset = offset
        self.needed = needed
        self.available = available
        self.why = why
        self.partial = partial

    @classmethod
    def of(cls, short: ShortValue, end: int, names: Sequence[str], values: Sequence[Any]) -> Misfit:
        """Of a payload that ends at `end`, after `values` of the fields `names` were read."""
        field = _named(names, len(values))
        partial = dict(zip(names, values, strict=False))
        return cls(field + short.field, short.offset, short.needed, max(end - short.offset, 0), short.why, partial)


def _named(names: Sequence[str], read: int) -> str:
    """The field that follows those that were read."""
    return names[read] if read < len(names) else names[-1]
