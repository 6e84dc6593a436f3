"""Payloads of one kind → columns, by the layout's plan, or through records if it has none.

Decides which of a kind's layouts applies. Knows neither the source of payloads nor the consumers of problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column import Column
from clrevents.decode.payload.columns.column_builders import Build, column_builders
from clrevents.decode.payload.columns.column_types import column_type
from clrevents.decode.payload.columns.column_values import from_values
from clrevents.decode.payload.columns.dtypes import Ints
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.plan import Plan, plan
from clrevents.errors import Problem
from clrevents.schema.layout import BoundLayout

Report: TypeAlias = Callable[[Problem, int], None]


@frozen(eq=False)
class KindColumns:
    """Payload columns of some rows of a chunk, which share a kind and a layout; by wire name."""

    kind: EventKind
    rows: Ints
    columns: dict[str, Column]


@frozen(eq=False)
class Group:
    """Payloads of one kind: their places in `buf`, their rows in the chunk, and the stream offsets of all the chunk's
    payloads.
    """

    kind: EventKind
    buf: bytes
    starts: Ints
    ends: Ints
    offsets: Ints
    rows: Ints


@frozen(eq=False)
class _Planned:
    """A layout's plan, and the functions that build columns from what it finds."""

    plan: Plan
    builders: list[Build]

    @classmethod
    def of(cls, layout: BoundLayout) -> _Planned | None:
        """None if the layout has no plan."""
        made = plan(layout)
        return None if made is None else cls(made, column_builders(made))


_PlannedLayout: TypeAlias = tuple[BoundLayout, _Planned | None]


class ColumnMaker:
    """Makes columns of one trace's groups. `fields` (None for all) are wanted; `report` is called with each problem and
    the number of times it occurred."""

    def __init__(self, decoder: PayloadDecoder, fields: frozenset[str] | None, report: Report) -> None:
        self._decoder = decoder
        self._fields = fields
        self._report = report
        # By the identity of layouts, which many kinds may share.
        self._planned: dict[int, _PlannedLayout] = {}

    def columns_of(self, group: Group) -> Iterator[KindColumns]:
        """By the first layout that accounts for every payload exactly, otherwise row by row."""
        kind = group.kind
        ends = group.ends
        layouts = self._layouts_of(kind)
        for index, (layout, made) in enumerate(layouts):
            if made is None:
                break
            found = made.plan.find(group.buf, group.starts, ends)
            if not found.fits:
                continue
            # A layout without fields leaves no tail: records decide what such bytes are.
            tails = index == 0 and bool(layout.fields) and self._decoder.leaves_tails(kind)
            if not (tails or found.exact):
                continue
            if self._decoder.drifted(kind):
                self._read(group, 0)
            if not found.exact:
                over = np.flatnonzero(found.stops != ends)
                self._read(group, int(over[0]), len(over))
            wanted = self._fields
            columns = {
                field.name: build(found)
                for field, build in zip(layout.fields, made.builders, strict=True)
                if wanted is None or field.name in wanted
            }
            yield KindColumns(kind, group.rows, columns)
            return
        if layouts:
            yield from self._by_records(group)
        else:
            self._read(group, 0, len(group.rows))

    def _by_records(self, group: Group) -> Iterator[KindColumns]:
        """Row by row: payloads without a plan, damaged ones, and those written in several layouts."""
        found: dict[type[Any], tuple[list[int], list[Any]]] = {}
        for row in range(len(group.rows)):
            payload = self._read(group, row)
            if not isinstance(payload, RawPayload):
                rows, records = found.setdefault(type(payload), ([], []))
                rows.append(row)
                records.append(payload)
        for record, (rows, records) in found.items():
            cls: Any = record
            columns = {
                field.name: from_values(column_type(field.type), [getattr(r, attribute) for r in records])
                for field, attribute in zip(cls.__layout__.fields, cls.__fields__, strict=True)
                if self._fields is None or field.name in self._fields
            }
            yield KindColumns(group.kind, group.rows[rows], columns)

    def _read(self, group: Group, row: int, times: int = 1) -> Any:
        """One payload as a record; its problem is reported with the number of times it occurred."""
        data = group.buf[int(group.starts[row]) : int(group.ends[row])]
        payload, _, problem = self._decoder.read(group.kind, data, int(group.offsets[group.rows[row]]))
        if problem is not None:
            self._report(problem, times)
        return payload

    def _layouts_of(self, kind: EventKind) -> list[_PlannedLayout]:
        return [self._plan_of(layout) for layout, _ in self._decoder.layouts(kind)]

    def _plan_of(self, layout: BoundLayout) -> _PlannedLayout:
        known = self._planned.get(id(layout))
        if known is None:
            known = self._planned[id(layout)] = (layout, _Planned.of(layout))
        return known
