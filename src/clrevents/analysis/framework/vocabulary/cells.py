"""Cells: the closed list of what a column may hold, each with its unit, Arrow type and privacy, and how people see it.

Schema, text, tables and redaction ask here. Knows no rows.
"""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, Final, Literal, TypeAlias

from clrevents._util.fitting import Kind, shortened
from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text, moment_text, number_text, safe, share_text, size_text
from clrevents.table.table import ColumnType

Privacy: TypeAlias = Literal["public", "code", "private"]
"""`public` reveals nothing about the program, `code` names its parts, `private` may contain users' input or data."""


@frozen
class Cell:
    """One type of cell: `kind` is its type in a table, `python` its class, `unit` its unit.

    No value is below `low` or above `high`, where these are given; `ReportTable` sees to it.
    """

    name: str
    kind: str
    python: type[Any]
    privacy: Privacy
    meaning: str
    unit: str | None = None
    low: int | None = None
    high: int | None = None


Ns: TypeAlias = Annotated[int, Cell("time", "int64", int, "public", "nanoseconds since the session started", "ns")]
DurationNs: TypeAlias = Annotated[int, Cell("duration", "int64", int, "public", "a duration in nanoseconds", "ns", 0)]
Count: TypeAlias = Annotated[int, Cell("count", "int64", int, "public", "a number of things", low=0)]
Bytes: TypeAlias = Annotated[int, Cell("bytes", "int64", int, "public", "a size in bytes", "bytes", 0)]
CountChange: TypeAlias = Annotated[
    int, Cell("count_change", "int64", int, "public", "how many more there are, negative for fewer")
]
BytesChange: TypeAlias = Annotated[
    int, Cell("bytes_change", "int64", int, "public", "a difference of sizes in bytes", "bytes")
]
Number: TypeAlias = Annotated[float, Cell("number", "float64", float, "public", "a measured number")]
Ratio: TypeAlias = Annotated[
    float, Cell("ratio", "float64", float, "public", "a share; 1.0 is everything", "ratio", 0, 1)
]
Ordinal: TypeAlias = Annotated[int, Cell("ordinal", "int64", int, "public", "a number used by the runtime, or a code")]
RowNumber: TypeAlias = Annotated[int, Cell("row", "int64", int, "public", "the number of a row, unique in its process")]
Flag: TypeAlias = Annotated[bool, Cell("flag", "bool", bool, "public", "true or false")]
ProcessId: TypeAlias = Annotated[int, Cell("process", "int64", int, "public", "the operating system's process id")]
ThreadId: TypeAlias = Annotated[int, Cell("thread", "uint64", int, "public", "the operating system's thread id")]
StackId: TypeAlias = Annotated[int, Cell("stack", "int32", int, "public", "a stack of the trace, 0 for none")]
Handle: TypeAlias = Annotated[int, Cell("handle", "uint64", int, "public", "the runtime's id of a thing")]
Address: TypeAlias = Annotated[int, Cell("address", "uint64", int, "public", "an address in the process")]
Word: TypeAlias = Annotated[str, Cell("word", "string", str, "public", "a word used by the runtime or the report")]
Guid: TypeAlias = Annotated[str, Cell("guid", "string", str, "public", "a GUID or another identity as text")]
CodeName: TypeAlias = Annotated[str, Cell("name", "string", str, "code", "the name of a method, type or module")]
CodeText: TypeAlias = Annotated[str, Cell("code", "string", str, "code", "code or a signature as text")]
FilePath: TypeAlias = Annotated[str, Cell("path", "string", str, "private", "the path of a file")]
PrivateText: TypeAlias = Annotated[str, Cell("text", "string", str, "private", "text from the program or its users")]

_CELL: Final = 60
_ALIASES: Final = (
    *(Ns, DurationNs, Count, Bytes, CountChange, BytesChange, Number, Ratio, Ordinal, RowNumber, Flag, ProcessId),
    *(ThreadId, StackId, Handle, Address, Word, Guid, CodeName, CodeText, FilePath, PrivateText),
)
CELLS: Final[dict[str, Cell]] = {cell.name: cell for alias in _ALIASES for cell in (typing.get_args(alias)[1],)}
"""The closed list, by name."""


@frozen
class ColumnDeclaration:
    """One column as it was declared: `many` holds several values in each cell, `nullable` says that it may be null.

    `importance` decides which columns a narrow screen shows: those of 0 to the last, those of 3 are the first to go.
    """

    name: str
    cell: Cell
    description: str
    nullable: bool = False
    many: bool = False
    importance: int = 2

    @property
    def type(self) -> ColumnType:
        """Its type in a table."""
        inner = ColumnType(self.cell.kind)
        return ColumnType("list", (inner,)) if self.many else inner


def column_of(name: str, hint: Any, description: str, importance: int = 2) -> ColumnDeclaration:
    """The column that an annotation declares. Raises TypeError, with the fix, for a type that is not in the list."""
    nullable = typing.get_origin(hint) in (types.UnionType, typing.Union)
    inner = hint
    if nullable:
        others = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        inner = others[0] if len(others) == 1 else None
    many = typing.get_origin(inner) is tuple
    if many:
        inner = typing.get_args(inner)[0]
    cell = next((part for part in getattr(inner, "__metadata__", ()) if isinstance(part, Cell)), None)
    if cell is None or CELLS.get(cell.name) is not cell:
        known = ", ".join(alias for alias, value in globals().items() if any(value is a for a in _ALIASES))
        raise TypeError(f"{name}: {hint} is not a cell type; use one of {known}, tuple[…, ...] of one, or `| None`")
    return ColumnDeclaration(name, cell, description, nullable, many, importance)


def cell_text(cell: Cell, value: Any, raw: bool = False) -> str:
    """A value for people, with a unit by its magnitude; a dash if it is null. `raw` leaves the number as it is."""
    if value is None:
        return "-"
    if isinstance(value, tuple | list):
        return ", ".join(cell_text(cell, item, raw) for item in value)
    if raw and cell.name in ("time", "duration", "bytes", "bytes_change", "ratio", "number"):
        return str(value)
    match cell.name:
        case "time":
            return moment_text(value)
        case "duration":
            return duration_text(value)
        case "bytes" | "bytes_change":
            return size_text(value)
        case "count" | "count_change" | "number":
            return number_text(value)
        case "ratio":
            return share_text(value)
        case "address" | "handle":
            return f"{value:#x}"
        case "flag":
            return "yes" if value else ""
        case _:
            return str(value)


def short_cell(column: ColumnDeclaration, value: Any, raw: bool = False) -> str:
    """A cell as text without line breaks, that is not too long for a page."""
    return shortened(safe(cell_text(column.cell, value, raw)), _CELL, text_kind(column.cell))


def heading(name: str, cell: Cell, raw: bool = False) -> str:
    """A column's name for people. Cells carry their units, unless `raw`: then the name does."""
    if cell.unit in ("ns", "bytes"):
        bare = name.removesuffix(f"_{cell.unit}")
        name = f"{bare}_{cell.unit}" if raw and bare != cell.unit else bare
    return name.replace("_", " ")


def text_kind(cell: Cell) -> Kind:
    """How a cell is shortened if there is little room: numbers, words and ids never are."""
    if is_number(cell):
        return "number"
    return {"name": "name", "code": "name", "path": "name", "text": "text"}.get(cell.name, "word")  # type: ignore[return-value]


def is_number(cell: Cell) -> bool:
    """Whether it is right-aligned."""
    return cell.python is not str and cell.name != "flag"
