"""What a batch asks for tables, and what it gets: decoding leaves tables to whoever gives a batch a `Tabler`.

Types only; the table room has what they stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from clrevents.decode.select import Selector

if TYPE_CHECKING:
    from clrevents.decode.batch import Batch


class AnyTable(Protocol):
    """A `clrevents.Table`, as far as decoding knows it."""

    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def select(self, *names: str) -> AnyTable: ...
    def to_arrow(self) -> Any: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class Tabler(Protocol):
    """Makes tables of batches."""

    def table(self, batch: Batch, selector: Selector, columns: Sequence[str] | None, names: bool) -> AnyTable: ...
