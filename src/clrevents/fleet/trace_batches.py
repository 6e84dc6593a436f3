"""One trace as Arrow record batches with a schema known beforehand: what an engine's data source reads.

`event_table` gives that schema from the registry alone, so any number of traces agree. Knows no engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from clrevents._util.value_classes import define
from clrevents.decode.payload.column import common
from clrevents.decode.selection import FilterOptions, Filters, Selection, Selector
from clrevents.errors import TraceError, TraceWarning, UnknownEventError
from clrevents.fleet.joined import fitted, with_trace
from clrevents.fleet.questions import SALVAGING, UNREAD, Opening, TraceProblem, error_row, found_in
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.event_schema import shown_fields
from clrevents.table.read import Wanted, event_fields, facts
from clrevents.table.table import Table
from clrevents.trace import Trace


def event_table(
    selector: Selector,
    columns: Sequence[str] | None = None,
    enum_names: bool = False,
    registry: Registry = DEFAULT,
) -> Table:
    """The columns of an event's table from the registry alone, with `trace` in front, and no row.

    Raises UnknownEventError for an event that the registry does not know, AmbiguousEventError for a selector that means
    several, and KeyError for an unknown column.
    """
    selection = Selection((selector,), Filters(), registry)
    event = selection.one_event(())
    selection.check_names(())
    if event is None:
        raise UnknownEventError(f"no event of the registry matches {selector!r}")
    wanted = Wanted.of(columns, enum_names)
    fields = wanted.choose(event_fields(registry, event, (), None), event[1])
    return with_trace("", Table(shown_fields(fields, enum_names), (), facts(event, registry, (), 0, 0)))


@define(eq=False)
class TraceBatches:
    """Iterates over the rows of one event in one trace as `pyarrow.RecordBatch`; afterwards `problems` are known.

    Every batch has the columns of `like`, a table from `event_table`, in its order: additional columns of a trace are
    left out, and missing ones are null. `columns` are those that `like` was made with. Damage ends the rows or makes
    them incomplete, as `opening` says, and raises nothing. Can be pickled until it is iterated over.
    """

    path: str
    selector: Selector
    like: Table
    opening: Opening = SALVAGING
    columns: tuple[str, ...] | None = None
    enum_names: bool = False
    rows: int = 1 << 16
    filters: FilterOptions = attrs.field(factory=FilterOptions)
    problems: tuple[TraceProblem, ...] = attrs.field(default=(), init=False)

    def __iter__(self) -> Iterator[Any]:
        reader = self._read()
        while True:
            # Not around the whole loop: what the reader warns of is no business of ours.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TraceWarning)
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def _read(self) -> Iterator[object]:
        trace: Trace | None = None
        rows: tuple[TraceProblem, ...] = ()
        try:
            with self.opening.trace(self.path) as trace:
                yield from self._batches(trace)
        except UnknownEventError:
            # Another trace may have it.
            pass
        except (TraceError, _Misfit) as error:
            rows = (error.args[0] if isinstance(error, _Misfit) else error_row(self.path, error),)
        self.problems = (*rows, *found_in(self.path, trace))

    def _batches(self, trace: Trace) -> Iterator[object]:
        for table in trace.table_parts(
            self.selector, rows=self.rows, enum_names=self.enum_names, columns=self.columns, **self.filters
        ):
            own = with_trace(self.path, table)
            types = {field.name: field.type for field in own.fields}
            for field in self.like.fields:
                if field.name in types and common(field.type, types[field.name]) != field.type:
                    why = f"{field.name} is {types[field.name]} in this trace and {field.type} in the schema"
                    raise _Misfit(TraceProblem(self.path, "columns", UNREAD, why, impact="the rows after it"))
            parts = tuple(tuple(fitted(self.like.fields, own.fields, part)) for part in own.parts)
            yield from Table(self.like.fields, parts, self.like.metadata).to_arrow().to_batches()


class _Misfit(Exception):
    """A column of another type than the schema's."""
