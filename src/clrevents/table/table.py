"""`Table`: columns by name, in Arrow's layout, and the ways into pandas, polars, pyarrow and the Arrow stream.

Needs numpy alone; every other library is imported when it is asked for. pyarrow carries the Arrow stream,
because pandas, Parquet and duckdb come to need it anyway. Knows no event.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.payload.column import NUMBERS, Column, concat, nulls
from clrevents.table.arrow import arrow_array, arrow_schema
from clrevents.table.display import table_html
from clrevents.table.event_schema import TableField

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Columns: TypeAlias = Sequence[Column]


@attrs.frozen(eq=False, repr=False)
class Table:
    """Typed columns of equal length. Made by `Trace.table`, `batches`, `headers`, `stacks.table` and analyses.

    `fields` say each column's name and type, `metadata` what is true of the whole. The rows are held in
    `parts`, runs of columns in the fields' order. A table owns its data: it outlives the trace and pickles.
    """

    fields: tuple[TableField, ...]
    parts: tuple[tuple[Column, ...], ...] = ()
    metadata: Mapping[str, str] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return sum(len(part[0]) for part in self.parts) if self.fields else 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def column(self, name: str) -> Column:
        """One column whole. KeyError, naming those there are, when there is none of this name."""
        for index, field in enumerate(self.fields):
            if field.name == name:
                if not self.parts:
                    return attrs.evolve(nulls(field.type, 0), valid=None)
                return concat(field.type, [part[index] for part in self.parts])
        raise KeyError(f"no column {name!r}; the columns are {', '.join(self.columns)}")

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column as numpy: numbers and times (masked where null), objects for text, bytes and lists."""
        return self.column(name).numpy()

    def __contains__(self, name: object) -> bool:
        return any(field.name == name for field in self.fields)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Row by row as dicts of Python values; times are nanoseconds since 1970."""
        for part in self.parts:
            for values in zip(*(column.tolist() for column in part), strict=True):
                yield dict(zip(self.columns, values, strict=True))

    def select(self, *names: str) -> Table:
        """Only these columns, in this order."""
        places = {field.name: index for index, field in enumerate(self.fields)}
        for name in names:
            if name not in places:
                raise KeyError(f"no column {name!r}; the columns are {', '.join(self.columns)}")
        chosen = [places[name] for name in names]
        fields = tuple(self.fields[i] for i in chosen)
        return Table(fields, tuple(tuple(part[i] for i in chosen) for part in self.parts), self.metadata)

    def __repr__(self) -> str:
        what = self.metadata.get("name", "")
        columns = "\n".join(f"  {field.name}: {field.type}" for field in self.fields)
        return f"<Table{' of ' + what if what else ''}, {len(self):,} rows>\n{columns}"

    def _repr_html_(self) -> str:
        head = [column.slice(0, min(len(column), 10)) for column in self.parts[0]] if self.parts else []
        return table_html(self.fields, [c.tolist() for c in head], len(self))

    def to_arrow(self) -> pyarrow.Table:
        """A `pyarrow.Table`; shares the memory where it can. ImportError without pyarrow."""
        pa = needed("pyarrow", "arrow", "an Arrow table")
        schema = arrow_schema(self.fields, self.metadata)
        parts = [pa.record_batch([arrow_array(column) for column in part], schema=schema) for part in self.parts]
        return pa.Table.from_batches(parts, schema=schema)

    def to_pandas(self) -> pandas.DataFrame:
        """A `pandas.DataFrame`; columns that may be null have pandas' nullable types, so no integer becomes a float."""
        pd = needed("pandas", "pandas", "a data frame")
        columns = {}
        for index, field in enumerate(self.fields):
            parts = [part[index] for part in self.parts]
            whole = concat(field.type, parts) if parts else attrs.evolve(nulls(field.type, 0), valid=None)
            columns[field.name] = _series(pd, field, whole)
        return pd.DataFrame(columns, columns=self.columns)

    def to_polars(self) -> polars.DataFrame:
        """A `polars.DataFrame`."""
        pl = needed("polars", "polars", "a polars data frame")
        return pl.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow stream, which pandas, polars, duckdb and others take as it is."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def needed(library: str, extra: str, what: str) -> Any:
    """Import an optional library. ImportError with what to install."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"{what} needs {library.partition('.')[0]}: pip install 'clrevents[{extra}]'") from error


def _series(pd: Any, field: TableField, column: Column) -> Any:
    """One column of a data frame: nullable types where the schema allows null, plain numpy elsewhere."""
    kind = column.type.kind
    mask = np.zeros(len(column), dtype=np.bool_) if column.valid is None else ~column.valid
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
