"""`ReportTable`: the rows of one table of a report, kept as columns, and which of them lost events may affect.

Row objects are made on demand. A hole is a stretch of time in which events of a thread are missing, because the runtime
dropped them or because the bytes are damaged; `Marks` alone decides, for all reports, which rows touch one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value, framed_html
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text, missing_stacks
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, JoinedRun, Note, TimeWindow
from clrevents.analysis.framework.vocabulary.row_class import columns_of, shape_of
from clrevents.analysis.framework.vocabulary.row_texts import row_lines, rows_html
from clrevents.analysis.gathering.groups import Array, Ints, Mask, groups, near_ns
from clrevents.table.display import LINES
from clrevents.table.table import Column, ColumnType, Table, TableField, from_values, number_column
from clrevents.trace import Loss, Trace, passes_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@frozen
class Hole:
    """Events of a thread (None: of any) that are missing between two of its events, and why: for those who look at
    stacks, an event without its own is missing."""

    thread_id: int | None
    count: int
    start_ns: int
    end_ns: int
    cause: Literal["loss", "damage", "stacks"]
    followed: bool = True
    """Whether it ends with the thread's next event; if not, what began in it may have gone on."""


def holes_of(losses: Iterable[Loss], destroyed: Iterable[Loss], lost: int, missing: int) -> tuple[Hole, ...]:
    """The holes of a trace, in order of their ends.

    `lost` and `missing` count all events; if the limited lists are shorter, whatever they leave out lies at an unknown
    time after their last entry.
    """
    holes = []
    for listed, total, cause in ((list(losses), lost, "loss"), (list(destroyed), missing, "damage")):
        holes += [_hole(loss, cause) for loss in listed]
        rest = total - sum(loss.count for loss in listed)
        if listed and rest > 0:
            holes.append(_hole(Loss(-1, rest, listed[-1].start_ns, FOREVER), cause))
    return tuple(sorted(holes, key=lambda hole: (hole.end_ns, hole.start_ns)))


def trace_holes(trace: Trace) -> tuple[Hole, ...]:
    """Everything that is missing from a trace."""
    scan = passes_of(trace).scan(raising=False)
    return holes_of(scan.losses, scan.destroyed, scan.lost, scan.missing)


def stack_holes(stackless: Loss | None) -> tuple[Hole, ...]:
    """Where stacks are missing."""
    return () if stackless is None else (_hole(stackless, "stacks"),)


def _hole(loss: Loss, cause: Any) -> Hole:
    thread = None if loss.thread_id < 0 else loss.thread_id
    end = FOREVER if loss.end_ns == FOREVER else near_ns(loss.end_ns)
    return Hole(thread, loss.count, near_ns(loss.start_ns), end, cause, loss.followed)


class Marks:
    """The holes of a trace, to be asked about many spans at once."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        self._all = _Stretches(holes)
        by_thread: dict[int | None, list[Hole]] = {}
        for hole in holes:
            by_thread.setdefault(hole.thread_id, []).append(hole)
        self._nobody = _Stretches(by_thread.pop(None, []))
        self._threads = {thread: _Stretches(stretches) for thread, stretches in by_thread.items() if thread is not None}

    def __bool__(self) -> bool:
        return bool(self._all)

    def touched(self, starts: Ints, ends: Ints, threads: Sequence[Array] = ()) -> Mask:
        """Whether each span, both ends included, touches a hole: of one of its threads, or, without, of any."""
        if not threads:
            return self._all.touched(starts, ends)
        touched = self._nobody.touched(starts, ends)
        if not self._threads:
            return touched
        known = np.array(sorted(self._threads), dtype=np.uint64)
        for column in threads:
            numbers = column.astype(np.uint64)
            place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            rows = np.flatnonzero(known[place] == numbers)
            # Each row is looked at for its own thread only, however many there are.
            for number, spans in groups(place, rows):
                touched[spans] |= self._threads[int(known[number])].touched(starts[spans], ends[spans])
        return touched


class _Stretches:
    """Stretches in order of their start, and how far those so far reach."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        stretches = sorted((hole.start_ns, hole.end_ns) for hole in holes)
        self.starts = np.array([start for start, _ in stretches], dtype=np.int64)
        self.reach = np.maximum.accumulate(np.array([end for _, end in stretches], dtype=np.int64))

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def touched(self, starts: Ints, ends: Ints) -> Mask:
        if not len(self.starts):
            return np.zeros(len(starts), dtype=np.bool_)
        last = np.searchsorted(self.starts, ends, side="right") - 1
        return (last >= 0) & (self.reach[np.maximum(last, 0)] >= starts)


FEW: Final = 100
"""So many lost events say what they can have changed at the worst; of more, that is anything."""


@frozen(eq=False, slots=False)
class Troubles:
    """What is missing from a trace, computed once for all of its processes and reports."""

    holes: tuple[Hole, ...]
    damaged: int
    """How many places of the file are damaged."""
    complete: bool
    window: TimeWindow
    part: TimeWindow = TimeWindow()
    """Which part of another trace this one is."""
    redacted: bool = False
    join: JoinedRun | None = None
    """How the clocks of two recordings were aligned, where it is both of a run."""
    known_ns: int = FOREVER
    """Until when the events of all threads are there, if the end is missing."""

    @cached_property
    def marks(self) -> Marks:
        """The holes, to be asked about spans."""
        return Marks(self.holes)

    @cached_property
    def few(self) -> tuple[Hole, ...]:
        """What was lost in the window, where that is little and nothing else is missing: it bounds what may have been;
        else nothing."""
        lost = tuple(hole for hole in self.holes if _meets(hole, self.window))
        known = all(hole.cause == "loss" and hole.end_ns < FOREVER and hole.followed for hole in lost)
        alone = self.complete and not self.damaged and self.part.whole and self.join is None
        return lost if known and alone and sum(hole.count for hole in lost) <= FEW else ()

    @cached_property
    def gaps(self) -> Marks:
        """Those in which events are missing, not only their stacks."""
        return Marks([hole for hole in self.holes if hole.cause != "stacks"])

    def beyond(self, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """What ends where events may be missing because the end is."""
        return np.asarray(ends >= self.known_ns) if self.known_ns < FOREVER else np.zeros(len(ends), dtype=np.bool_)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on what was lost and what is damaged in the window, and on what was replaced."""
        notes = []
        for cause, id, what in (("loss", "losses", "lost while recording"), ("damage", "damage", "destroyed")):
            own_holes = [h for h in self.holes if h.cause == cause and _meets(h, self.window)]
            if own_holes:
                count = sum(h.count for h in own_holes)
                threads = len({h.thread_id for h in own_holes})
                text = f"{counted(count, 'event was', 'events were')} {what} on {counted(threads, 'thread')}"
                text += "; rows that may be affected are marked, and facts count what was recorded"
                notes.append(Note(id, "warning", text, ("lossy", "facts"), {"events": count}))
        if self.damaged and not any(note.id == "damage" for note in notes):
            text = f"the file is damaged in {counted(self.damaged, 'place')}; events may be missing nearby"
            notes.append(Note("damage", "error", text, ("facts",), {"places": self.damaged}))
        stackless = sum(hole.count for hole in self.holes if hole.cause == "stacks" and _meets(hole, self.window))
        if stackless:
            notes.append(
                Note("missing-stacks", "error", missing_stacks(stackless), ("lossy", "facts"), {"events": stackless})
            )
        if not self.part.whole:
            text = "the trace is a part of another; what happened before or after it is unknown"
            notes.append(Note("cut", "info", text))
        if not self.complete and self.window.high > self.known_ns:
            text = (
                f"the end of the trace is missing: from {duration_text(self.known_ns)} on events may be missing, and "
                "anything without an end may in fact have ended; facts count what was recorded"
            )
            notes.append(Note("no-end", "warning", text, ("facts",)))
        if self.join is not None:
            notes.append(self.join.note())
        if self.redacted:
            text = "the trace is redacted: sensitive texts are replaced, different texts by different words"
            notes.append(Note("redacted", "info", text))
        return tuple(notes)


def _meets(hole: Hole, window: TimeWindow) -> bool:
    return hole.end_ns >= window.low and hole.start_ns < window.high


R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Cells: TypeAlias = Column | Array | Sequence[object]
"""The values of a column as they are given: with nulls, as numbers without, or as Python values."""

_SHOWN: Final = 20
"""How many rows a notebook shows."""
_FIELDS: Final[dict[type[Any], tuple[TableField, ...]]] = {}
"""By row class, once one was asked for."""


@frozen(eq=False, repr=False)
class ReportTable(Generic[R_co]):
    """Rows of one class, in order: iterate over them, index them, or convert them to a data frame.

    `left_out` is the number of rows of a bulk table that a saved answer does not contain; None if all are here.
    """

    row_class: type[R_co]
    table: Table
    left_out: int | None = None

    @classmethod
    def of(cls, row_class: type[R], rows: Iterable[R]) -> ReportTable[R]:
        """A table of these rows."""
        listed = list(rows)
        return cls.from_columns(
            row_class, {c.name: [getattr(row, c.name) for row in listed] for c in columns_of(row_class)}
        )

    @classmethod
    def from_columns(cls, row_class: type[R], values: Mapping[str, Cells]) -> ReportTable[R]:
        """A table from columns: `Column`s, numpy arrays without nulls, or sequences of Python values.

        Raises ValueError unless they are the columns of the row class, all of one length.
        """
        declared = columns_of(row_class)
        if set(values) != {c.name for c in declared}:
            odd = sorted(set(values) ^ {c.name for c in declared})
            raise ValueError(f"{row_class.__name__}: missing or unexpected columns: {', '.join(odd)}")
        if not any(map(len, values.values())):
            # Most tables of most processes, of which there may be many.
            return cls.empty(row_class)
        fields = _fields_of(row_class)
        columns = tuple(_column(field, values[field.name]) for field in fields)
        if len({len(column) for column in columns}) > 1:
            sizes = ", ".join(f"{f.name} {len(c)}" for f, c in zip(fields, columns, strict=True))
            raise ValueError(f"{row_class.__name__}: columns of different lengths: {sizes}")
        return ReportTable(row_class, Table(fields, (columns,) if len(columns[0]) else ()))

    @classmethod
    def empty(cls, row_class: type[R]) -> ReportTable[R]:
        """A table without a row."""
        return ReportTable(row_class, Table(_fields_of(row_class)))

    @classmethod
    def joined(cls, row_class: type[R], tables: Sequence[ReportTable[R]]) -> ReportTable[R]:
        """All rows of several tables of one class."""
        parts = tuple(part for table in tables for part in table.table.parts)
        return ReportTable(row_class, Table(_fields_of(row_class), parts))

    def __len__(self) -> int:
        return len(self.table) if self.left_out is None else self.left_out

    def __iter__(self) -> Iterator[R_co]:
        names = self.table.columns
        lists = [tuple(map(tuple, values)) if _is_list(field) else values for field, values in self._lists()]
        for values in zip(*lists, strict=True):
            yield self.row_class(**dict(zip(names, values, strict=True)))

    @overload
    def __getitem__(self, index: int) -> R_co: ...
    @overload
    def __getitem__(self, index: slice) -> ReportTable[R_co]: ...
    @overload
    def __getitem__(self, index: str) -> Array: ...
    def __getitem__(self, index: int | slice | str) -> R_co | ReportTable[R_co] | Array:
        """A row, some rows, or a column as a numpy array (masked where it may be null)."""
        if isinstance(index, str):
            return self.table[index]
        if isinstance(index, slice):
            return self.take(np.arange(len(self.table))[index])
        place = index + len(self.table) if index < 0 else index
        if not 0 <= place < len(self.table):
            raise IndexError(f"row {index} of {len(self.table)}")
        return next(iter(self.take(np.array([place]))))

    def take(self, rows: NDArray[np.int64]) -> ReportTable[R_co]:
        """These rows in this order."""
        columns = tuple(self.table.column(field.name).take(rows) for field in self.table.fields)
        return ReportTable(self.row_class, Table(self.table.fields, (columns,) if len(rows) else ()))

    def head(self, count: int) -> ReportTable[R_co]:
        """The first rows; of a tree, the heaviest ones with all their ancestors, in the tree's order."""
        tree = shape_of(self.row_class).tree
        if tree is None or count >= len(self.table):
            return self[:count]
        weights = self.numbers(tree.weight, -1)
        return self.take(np.sort(np.argsort(-weights, kind="stable")[: max(count, 0)]))

    def replaced(self, **columns: Any) -> ReportTable[R_co]:
        """The same rows with other values in some columns."""
        column_values = {field.name: self.table.column(field.name) for field in self.table.fields}
        return ReportTable.from_columns(self.row_class, {**column_values, **columns})

    def column(self, name: str) -> Column:
        """A column with its nulls. Raises KeyError if there is none."""
        return self.table.column(name)

    def numbers(self, name: str, null: int = 0) -> Array:
        """A column of numbers, with this one for null."""
        return self.table.column(name).filled(null)

    def sorted_by(self, name: str, descending: bool = False) -> ReportTable[R_co]:
        """The rows sorted by a column, nulls last; the sort is stable.

        Raises KeyError if there is no such column.
        """
        return self.take(self.order(name, descending))

    def order(self, name: str, descending: bool = False) -> NDArray[np.int64]:
        """The places of the rows, as `sorted_by` has them."""
        values = self.table.column(name).tolist()
        known = [place for place, value in enumerate(values) if value is not None]
        known.sort(key=lambda place: values[place], reverse=descending)
        null = [place for place, value in enumerate(values) if value is None]
        return np.array([*known, *null], dtype=np.int64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReportTable):
            return NotImplemented
        return (
            self.row_class is other.row_class
            and self.left_out == other.left_out
            and [values for _, values in self._lists()] == [values for _, values in other._lists()]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        what = f"{counted(len(self), 'row')} of {self.row_class.__name__}"
        if not len(self) or self.left_out is not None:
            return f"<{what}: {', '.join(self.table.columns)}>"
        return "\n".join([f"<{what}>", *row_lines(self, LINES - 1, self.row_class.__name__)])

    def _repr_html_(self) -> str:
        return framed_html(rows_html(self, _SHOWN), lambda: repr(self))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows in JSON types."""
        return self.table.rows()

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a `pandas.DataFrame`. Raises ImportError unless pandas and pyarrow are installed."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Convert to a `polars.DataFrame`. Raises ImportError unless polars and pyarrow are installed."""
        return self.table.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        """Convert to a `pyarrow.Table`. Raises ImportError unless pyarrow is installed."""
        return self.table.to_arrow()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export as an Arrow C stream. Raises ImportError unless pyarrow is installed."""
        return self.table.__arrow_c_stream__(requested_schema)

    def _lists(self) -> list[tuple[TableField, list[Any]]]:
        return [(field, self.table.column(field.name).tolist()) for field in self.table.fields]


@frozen
class TableDeclaration(Value):
    """One table of a report, as it was declared."""

    name: str
    row_class: type[Any]
    description: str
    bulk: bool


def _fields_of(row_class: type[Any]) -> tuple[TableField, ...]:
    known = _FIELDS.get(row_class)
    if known is None:
        known = _FIELDS[row_class] = tuple(
            TableField(c.name, c.type, c.nullable, address=c.cell.name == "address") for c in columns_of(row_class)
        )
    return known


def _is_list(field: TableField) -> bool:
    return field.type.kind == "list"


def _clipped(type: ColumnType, cells: list[int | None]) -> list[int | None]:
    room = np.iinfo(type.dtype)
    return [None if cell is None else max(int(room.min), min(cell, int(room.max))) for cell in cells]


def _column(field: TableField, values: Any) -> Column:
    if isinstance(values, Column):
        if values.type != field.type:
            raise ValueError(f"{field.name} is {values.type}, and {field.type} was declared")
        column = values
    elif isinstance(values, np.ndarray) and values.dtype != object:
        column = number_column(field.type.kind, values)
    else:
        cells = list(values)
        try:
            column = from_values(field.type, cells)
        except OverflowError:
            # A sum of crafted numbers: the nearest that the column can hold.
            column = from_values(field.type, _clipped(field.type, cells))
    if not field.nullable and column.valid is not None and not column.valid.all():
        raise ValueError(f"{field.name} has nulls, but was not declared with `| None`")
    return column
