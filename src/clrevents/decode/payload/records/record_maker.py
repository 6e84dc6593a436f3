"""Payloads of a whole batch → records, a kind at a time: for the interpreted engine.

Decides which rows justify a group's calls. Leaves every inexact fit to `payload_decoder`, which alone decides what is
a problem.
"""

from __future__ import annotations

import numpy as np

from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.dtypes import Ints
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.payload.plan import plan
from clrevents.decode.payload.records.record_groups import GroupedRecords, RecordGroup
from clrevents.decode.payload.records.record_recipe import Recipe

# Fewer payloads of a kind than this, and fewer bytes, are read one by one: that is cheaper than a group's calls.
_FEW = 24
_FEW_BYTES = 1 << 12


class RecordMaker:
    """Makes records of whole groups of one trace's events; recipes are made when a kind first occurs."""

    def __init__(self, decoder: PayloadDecoder) -> None:
        self._decoder = decoder
        self._recipes: dict[int, Recipe | None] = {}

    def read(
        self, kinds: list[EventKind], places: Ints, data: bytes, starts: Ints, ends: Ints
    ) -> tuple[GroupedRecords, list[int]]:
        """The payloads, and the rows, in ascending order, whose payload is still missing."""
        records = GroupedRecords(len(places))
        left: list[Ints] = []
        order, groups = arranged(places)
        starts, ends = starts.take(order), ends.take(order)
        for index, part in groups:
            rows = order[part]
            worth = len(rows) >= _FEW or int((ends[part] - starts[part]).sum()) >= _FEW_BYTES
            recipe = self._recipe(kinds[index]) if worth else None
            columns = None if recipe is None else recipe.exact(data, starts[part], ends[part])
            if recipe is None or columns is None:
                left.append(rows)
            else:
                layout = self._decoder.layouts(kinds[index])[0][0]
                records.add(RecordGroup(rows, recipe.construct(columns), layout))
        return records, np.sort(np.concatenate(left)).tolist() if left else []

    def _recipe(self, kind: EventKind) -> Recipe | None:
        """None for what must be read one by one: unknown, newer than the registry, or ambiguous."""
        if kind.index not in self._recipes:
            self._recipes[kind.index] = None if kind.newer else self._make(kind)
        recipe = self._recipes[kind.index]
        return None if recipe is None or self._decoder.drifted(kind) else recipe

    def _make(self, kind: EventKind) -> Recipe | None:
        layouts = self._decoder.layouts(kind)
        if not layouts:
            return None
        made = plan(layouts[0][0])
        record = self._decoder.record(kind)
        return None if made is None or record is None else Recipe.of(made, record)
