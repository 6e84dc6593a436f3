"""Whether the fields of a description may be added to those that others of the same event have.

Counts fields and their names, since each costs something for each event. Knows no kinds.
"""

from __future__ import annotations

from collections.abc import Iterable

from clrevents.schema.dynamic import FieldDescription

# A description may use its whole limit, and later versions of the event may replace it this often.
_DESCRIPTIONS = 4
# An event's table may have so many columns for each field of the one with the fewest, and so many more: rows of that
# are null in most of them, and each null costs time.
_COLUMNS_EACH = 16
_COLUMNS = 512
# So many characters for each field of a description, and so many more: they are written for each event.
_NAMES_EACH = 64
_NAMES = 2048


class FieldsOfNames:
    """Bounds the different fields of all descriptions of an event by (provider, name): its table has a column for each,
    which is null in the rows of all others. And bounds how many events there are that only the trace describes.

    Remembers a few descriptions of each name, and then its different fields.
    """

    def __init__(self, fields: int, names: int) -> None:
        self._most = _DESCRIPTIONS * fields
        self._names = names
        self._described: dict[tuple[str, str], list[tuple[FieldDescription, ...]]] = {}
        self._fewest: dict[tuple[str, str], int] = {}
        self._distinct: dict[tuple[str, str], set[FieldDescription]] = {}
        self._size: dict[tuple[str, str], int] = {}

    def misfit(self, event: tuple[str, str], fields: tuple[FieldDescription, ...], unknown: bool = True) -> str:
        """Why these fields may not be added to those of an event; "" if they may, and were.

        `unknown` events are those that only the trace describes.
        """
        if sum(map(_name_length, fields)) > _NAMES_EACH * len(fields) + _NAMES:
            return "the names of its fields are too long"
        if event not in self._described:
            if unknown and not self._names:
                return "more events than Limits.learned have descriptions"
            self._names -= unknown
            self._described[event] = []
            self._size[event] = 0
        count = _field_count(fields)
        fewest = min(count, self._fewest.get(event, count))
        most = min(self._most, _COLUMNS_EACH * fewest + _COLUMNS)
        size = self._size[event] + count
        if event in self._distinct or size > most:
            if event not in self._distinct:
                # Equal fields count once from here on.
                distinct = self._distinct[event] = {field for each in self._described[event] for field in each}
                self._size[event] = _field_count(distinct)
                self._described[event] = []
            new = {*fields} - self._distinct[event]
            size = self._size[event] + _field_count(new)
            if size > self._most:
                return "it and others of this name declare more than four times as many fields as Limits.fields"
            if size > most:
                return "it and others of this name declare too many fields that some of them do not have"
            self._distinct[event] |= new
        else:
            self._described[event].append(fields)
        self._size[event] = size
        self._fewest[event] = fewest
        return ""


def _field_count(fields: Iterable[FieldDescription]) -> int:
    """The number of fields, with those inside them."""
    return sum(1 + _field_count(f.members) + (0 if f.element is None else _field_count((f.element,))) for f in fields)


def _name_length(field: FieldDescription) -> int:
    """The characters of a field's name, and of those inside it."""
    inside = field.members if field.element is None else (*field.members, field.element)
    return len(field.name) + sum(map(_name_length, inside))
