"""Fields of one chunk of events, by name, whatever type and place they have: what counters are read from.

A writer may describe an event in several shapes, each with columns of its own; a row has a field in one of them at
most. Knows texts of numbers, and no event.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.counters.counter_texts import (
    INFINITE,
    MISSING,
    NOT_A_NUMBER,
    NUMBER,
    UNREADABLE,
    read_number,
)
from clrevents.table.build import Column

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

NO_COUNT: Final = -1
NO_THREAD: Final = (1 << 64) - 1
_LARGEST: Final = float(1 << 53)


@attrs.frozen(eq=False)
class ReadNumbers:
    """A number of each row, NaN where there is none, and why, as a place in `REASONS`; what could not be read."""

    values: Floats
    reasons: Ints
    unread: dict[int, str]

    @property
    def known(self) -> Mask:
        """Which rows have one."""
        found: Mask = self.reasons == NUMBER
        return found


@attrs.frozen(eq=False)
class EventFields:
    """The fields of some rows; those inside the structs of the field `inside`, where it is given."""

    rows: Gathered
    inside: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def time_ns(self) -> Ints:
        """When each was written."""
        return self.rows.numbers("time_ns").astype(np.int64)

    @property
    def thread(self) -> NDArray[np.uint64]:
        """Who wrote each; `NO_THREAD` where nobody knows."""
        column = self.rows.column("thread_id")
        return np.where(column.known, column.values, np.uint64(NO_THREAD)).astype(np.uint64)

    def texts(self, name: str) -> list[str | None]:
        """A field as text; None where it is not there, or no text."""
        found: list[str | None] = [None] * len(self)
        for column, known in self._columns(name):
            if column.type.kind == "string":
                values = column.tolist()
                if known.all():
                    return values
                for row in np.flatnonzero(known).tolist():
                    found[row] = values[row]
        return found

    def numbers(self, name: str) -> ReadNumbers:
        """A field as a number, which may be written as text."""
        values = np.full(len(self), np.nan)
        reasons = np.full(len(self), MISSING, dtype=np.int64)
        unread: dict[int, str] = {}
        read = cache(read_number)
        for column, known in self._columns(name):
            rows = np.flatnonzero(known)
            if column.type.kind == "string":
                texts = column.take(rows).tolist()
                for row, text in zip(rows.tolist(), texts, strict=True):
                    values[row], reasons[row] = read(text)
                    if reasons[row] == UNREADABLE:
                        unread[row] = text
            elif column.type.kind in ("struct", "list", "binary", "timestamp", "bool"):
                reasons[rows] = UNREADABLE
            else:
                given = column.values[rows].astype(np.float64)
                finite = np.isfinite(given)
                values[rows] = np.where(finite, given, np.nan)
                reasons[rows] = np.where(finite, NUMBER, np.where(np.isnan(given), NOT_A_NUMBER, INFINITE))
        return ReadNumbers(values, reasons, unread)

    def missing(self, name: str) -> Mask:
        """Which rows do not have a field, or have null there."""
        found = np.ones(len(self), dtype=np.bool_)
        for _, known in self._columns(name):
            found &= ~known
        return found

    def counts(self, name: str) -> Ints:
        """A field as a whole number that is not negative; `NO_COUNT` where there is none."""
        values = self.numbers(name).values
        good = (values >= 0) & (values < _LARGEST)
        return np.where(good, np.where(good, values, 0), NO_COUNT).astype(np.int64)

    def times(self, name: str) -> tuple[Ints, Mask]:
        """A field as moments in ns, and which rows have one."""
        values, found = np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.bool_)
        for column, known in self._columns(name):
            if column.type.kind == "timestamp":
                values[known], found[known] = column.values[known], True
        return values, found

    def _columns(self, name: str) -> list[tuple[Column, Mask]]:
        """The columns of all fields of this name, and which rows have each."""
        wire = name if self.inside is None else self.inside
        found = []
        for field in self.rows.payload:
            if field.wire != wire:
                continue
            column = self.rows.column(field.name)
            if self.inside is None:
                found.append((column, column.known))
            elif column.type.kind == "struct" and name in column.type.names:
                child: Any = column.children[column.type.names.index(name)]
                found.append((child, column.known & child.known))
        return found
