"""`Table`: columns by name, in Arrow's layout, and conversions to pandas, polars, pyarrow and the Arrow stream.

Requires only numpy; every other library is imported on use. pyarrow provides the Arrow stream, because pandas, Parquet
and duckdb require it anyway. Knows no event.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.payload.columns.column import NUMBERS, Column, ColumnType, concat, nulls
from clrevents.table.arrow import arrow_array, arrow_schema
from clrevents.table.display import table_html, table_text
from clrevents.table.event_schema import TableField

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


_CELLS: Final = 1 << 18
"""The most cells that become Python values at once, but at least a row."""


def portions(columns: Sequence[Column]) -> Iterator[tuple[Column, ...]]:
    """The rows of columns, which have one length, in consecutive portions."""
    if not columns:
        return
    length = len(columns[0])
    rows = max(1, _CELLS // len(columns))
    for at in range(0, length, rows):
        yield tuple(column.slice(at, min(at + rows, length)) for column in columns)


Columns: TypeAlias = Sequence[Column]


@frozen(eq=False, repr=False)
class Table:
    """Typed columns of equal length, made by `Trace.table`, `Trace.headers`, `Stacks.table` and analyses.

    A table owns its data: it outlives the trace and can be pickled. `name in table` tests whether there is such a
    column, and iterating yields the names of the columns.
    """

    fields: tuple[TableField, ...]
    """The name and type of each column."""
    parts: tuple[tuple[Column, ...], ...] = ()
    """The rows in consecutive parts; each part has one `Column` per field, in the same order."""
    metadata: Mapping[str, str] = attrs.field(factory=dict)
    """Facts about the whole table, such as the event's name."""
    _places: dict[str, int] = attrs.field(factory=dict, init=False)
    """Of columns by name, once one is looked for: searching all fields for each is quadratic."""

    def __len__(self) -> int:
        """The number of rows."""
        return sum(len(part[0]) for part in self.parts) if self.fields else 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def column(self, name: str) -> Column:
        """The whole column called `name`. Raises KeyError if there is none."""
        if not self._places:
            self._places.update({field.name: index for index, field in enumerate(self.fields)})
        index = self._places.get(name)
        if index is None:
            raise KeyError(f"no column {name!r}; available: {', '.join(self.columns)}")
        type = self.fields[index].type
        if not self.parts:
            return _no_cells(type)
        return concat(type, [part[index] for part in self.parts])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The column called `name` as a numpy array. Raises KeyError if there is none.

        Numbers and times are masked arrays if values may be null; text, bytes and lists are arrays of objects.
        """
        return self.column(name).numpy()

    def __contains__(self, name: object) -> bool:
        return any(field.name == name for field in self.fields)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dicts of Python values; timestamps are integers, in nanoseconds since 1970."""
        names = self.columns
        for part in self.parts:
            for columns in portions(part):
                for values in zip(*(column.tolist() for column in columns), strict=True):
                    yield dict(zip(names, values, strict=True))

    def select(self, *names: str) -> Table:
        """A table of the columns with these `names`, in this order. Raises KeyError for an unknown name."""
        places = {field.name: index for index, field in enumerate(self.fields)}
        for name in names:
            if name not in places:
                raise KeyError(f"no column {name!r}; available: {', '.join(self.columns)}")
        chosen = [places[name] for name in names]
        fields = tuple(self.fields[i] for i in chosen)
        return Table(fields, tuple(tuple(part[i] for i in chosen) for part in self.parts), self.metadata)

    def __repr__(self) -> str:
        return table_text(self.metadata.get("name", ""), self.fields, len(self))

    def _repr_html_(self) -> str:
        head = [column.slice(0, min(len(column), 10)) for column in self.parts[0]] if self.parts else []
        return table_html(self.fields, [c.tolist() for c in head], len(self))

    def to_arrow(self) -> pyarrow.Table:
        """Convert to a `pyarrow.Table`; shares memory if possible. Raises ImportError unless pyarrow is installed."""
        pa = needed("pyarrow", "arrow", "an Arrow table")
        schema = arrow_schema(self.fields, self.metadata)
        parts = [pa.record_batch([arrow_array(column) for column in part], schema=schema) for part in self.parts]
        return pa.Table.from_batches(parts, schema=schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a `pandas.DataFrame`. Raises ImportError unless pandas and pyarrow are installed.

        Nullable columns get pandas' nullable types, so that integers stay integers.
        """
        pd = needed("pandas", "pandas", "a data frame")
        needed("pyarrow", "pandas", "a data frame")
        columns = {}
        for index, field in enumerate(self.fields):
            parts = [part[index] for part in self.parts]
            whole = concat(field.type, parts) if parts else attrs.evolve(nulls(field.type, 0), valid=None)
            columns[field.name] = _series(pd, field, whole)
        return pd.DataFrame(columns, columns=self.columns)

    def to_polars(self) -> polars.DataFrame:
        """Convert to a `polars.DataFrame`. Raises ImportError unless polars and pyarrow are installed."""
        pl = needed("polars", "polars", "a polars data frame")
        return pl.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export as an Arrow C stream, which polars, duckdb and others read.

        `requested_schema` is a capsule with the schema to cast to, or None. Raises ImportError unless pyarrow is
        installed.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)


@lru_cache(256)
def _no_cells(type: ColumnType) -> Column:
    """A column without a row: what reports of processes without events mostly consist of."""
    return attrs.evolve(nulls(type, 0), valid=None)


def needed(library: str, extra: str, what: str) -> Any:
    """Import an optional library. Raises ImportError, naming the package to install, if it is missing."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"{what} needs {library.partition('.')[0]}: pip install 'clrevents[{extra}]'") from error


def _series(pd: Any, field: TableField, column: Column) -> Any:
    """A column of a data frame, of a nullable type if the schema allows null and of a numpy type otherwise."""
    kind = column.type.kind
    mask = ~column.known
    if kind == "timestamp":
        values = np.where(mask, np.datetime64("NaT", "ns"), column.values.view("datetime64[ns]"))
        return pd.Series(values).dt.tz_localize("UTC")
    if kind in NUMBERS:
        values = np.ascontiguousarray(column.values)
        if not field.nullable:
            return pd.Series(values)
        arrays = pd.arrays
        made = (
            arrays.BooleanArray if kind == "bool" else arrays.FloatingArray if kind[0] == "f" else arrays.IntegerArray
        )
        return pd.Series(made(values.copy(), mask))
    if kind == "string":
        return pd.Series(pd.StringDtype().__from_arrow__(arrow_array(column)))
    return pd.Series(column.tolist(), dtype=object)
