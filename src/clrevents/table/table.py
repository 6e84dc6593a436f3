"""`Table`: columns by name, in Arrow's layout, made of arrays or plain rows, and conversions to what people use.

Requires only numpy; pandas, polars, pyarrow and the Arrow stream are imported on use. Everything that analyses and
exports need from columns is here, because their rooms may not look deeper than tables. Knows no event.
"""

from __future__ import annotations

import importlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.header_columns import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS, TABLE_HEADERS
from clrevents.decode.payload.column import (
    NUMBERS,
    STRING,
    Column,
    ColumnType,
    DeferredTexts,
    concat,
    from_values,
    nulls,
)
from clrevents.table.arrow import arrow_array, arrow_schema
from clrevents.table.display import WIDTH, fitted, screen_lines, table_html, table_text
from clrevents.table.event_schema import TableField, header_fields, named, shown_fields, unique_name

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


UInt64: TypeAlias = Annotated[int, "uint64"]
"""An address or an id in a row class, which may exceed a signed integer."""

_PLAIN: Final = {int: "int64", float: "float64", str: "string", bool: "bool"}


def number_column(kind: str, values: NDArray[Any], known: NDArray[np.bool_] | None = None) -> Column:
    """Numbers as a column of this type (`int64`, `bool`, …), null where they are not `known`."""
    type = ColumnType(kind)
    return Column(type, len(values), values.astype(type.dtype), valid=known)


def text_column(texts: Sequence[str | None], places: NDArray[Any]) -> Column:
    """A text column, each different text stored once: row i has `texts[places[i]]`; None is null."""
    known: dict[str | None, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts]
    if len(known) < len(codes):
        places = np.array(codes, dtype=np.int32)[places]
    distinct = from_values(STRING, [*known])
    valid = None if distinct.valid is None else distinct.valid[places]
    return Column(STRING, len(places), places.astype(np.int32), valid=valid, texts=attrs.evolve(distinct, valid=None))


def deferred_column(count: int, text: Callable[[int], str], places: NDArray[np.int64]) -> Column:
    """The same of `count` texts that are made when they are asked for, by their numbers; -1 in `places` is null."""
    known = places >= 0
    if not known.any():
        return nulls(STRING, len(places))
    numbers = np.where(known, places, places.max()).astype(np.int32)
    valid = None if known.all() else known
    return Column(STRING, len(places), numbers, valid=valid, texts=DeferredTexts(count, text))


def row_table(row_class: type[Any], rows: Iterable[Any], metadata: Mapping[str, str] | None = None) -> Table:
    """A table with a column for each attribute of an attrs class, typed by its annotations.

    Annotations are int, `UInt64`, float, str, bool, an enum (shown by name), tuples of these, or any of them with
    `| None`, which makes the column nullable. An attribute with the metadata `{"table": False}` is left out.
    """
    fields = row_fields(row_class)
    listed = list(rows)
    if not listed:
        return Table(fields, (), metadata or {})
    columns = tuple(from_values(f.type, [plain(getattr(row, f.name)) for row in listed]) for f in fields)
    return Table(fields, (columns,), metadata or {})


def row_fields(row_class: type[Any]) -> tuple[TableField, ...]:
    """The columns of `row_table`."""
    hints = typing.get_type_hints(row_class, include_extras=True)
    names = [a.name for a in attrs.fields(row_class) if a.metadata.get("table", True)]
    return tuple(
        TableField(name, *_typed(hints[name]), address=name == "address" or name.endswith("_address")) for name in names
    )


def _typed(hint: Any) -> tuple[ColumnType, bool]:
    """A column's type and whether it is nullable."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (inner,) = (arg for arg in typing.get_args(hint) if arg is not type(None))
        return _typed(inner)[0], True
    if typing.get_origin(hint) is Annotated:
        return ColumnType(typing.get_args(hint)[1]), False
    if typing.get_origin(hint) is tuple:
        return ColumnType("list", (_typed(typing.get_args(hint)[0])[0],)), False
    if isinstance(hint, type) and issubclass(hint, Enum):
        return STRING, False
    return ColumnType(_PLAIN[hint]), False


def plain(value: Any) -> Any:
    """A result in JSON types: attrs objects as dicts, tuples as lists, enums by name."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if attrs.has(type(value)):
        return {a.name: plain(getattr(value, a.name)) for a in attrs.fields(type(value))}
    return value


def renamed(fields: Sequence[TableField], taken: Iterable[str]) -> tuple[TableField, ...]:
    """The fields renamed so that none clashes with `taken`: `payload.<Name>` instead of a taken name."""
    used = dict.fromkeys((name.lower() for name in taken), 2)
    return tuple(attrs.evolve(field, name=unique_name(field.name, used)) for field in fields)


__all__ = [
    "ACTIVITY_HEADERS",
    "DEFAULT_HEADERS",
    "EVENT_HEADERS",
    "TABLE_HEADERS",
    "Column",
    "ColumnType",
    "TableField",
    "UInt64",
    "deferred_column",
    "from_values",
    "header_fields",
    "named",
    "number_column",
    "plain",
    "renamed",
    "row_fields",
    "row_table",
    "shown_fields",
    "text_column",
]


T = TypeVar("T")

_SHOWN = 20


class Listed(tuple[T, ...]):
    """A tuple; where its usual repr would fill more than a screen, it shows the first items, a line each."""

    __slots__ = ()

    def __repr__(self) -> str:
        head = self[:_SHOWN]
        text = super().__repr__() if len(self) <= _SHOWN * WIDTH else ""
        if text and screen_lines(text) <= _SHOWN:
            return text
        lines = [f"<{counted(len(self), 'item')}>", *(fitted(f"  {item!r}") for item in head)]
        if len(head) < len(self):
            lines.append(f"  {len(head)} of {counted(len(self), 'item')}")
        return "\n".join(lines)


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
        index = self._place(name)
        type = self.fields[index].type
        if not self.parts:
            return _no_cells(type)
        return concat(type, [part[index] for part in self.parts])

    def _place(self, name: str) -> int:
        if not self._places:
            self._places.update({field.name: index for index, field in enumerate(self.fields)})
        index = self._places.get(name)
        if index is None:
            raise KeyError(f"no column {name!r}; available: {', '.join(self.columns)}")
        return index

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
        chosen = [self._place(name) for name in names]
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
        columns = {field.name: _series(pd, field, self.column(field.name)) for field in self.fields}
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
        array_type = (
            arrays.BooleanArray if kind == "bool" else arrays.FloatingArray if kind[0] == "f" else arrays.IntegerArray
        )
        return pd.Series(array_type(values.copy(), mask))
    if kind == "string":
        return pd.Series(pd.StringDtype().__from_arrow__(arrow_array(column)))
    return pd.Series(column.tolist(), dtype=object)
