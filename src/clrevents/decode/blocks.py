"""What every container generation yields: the same few values, in file order.

Pure values. A container turns bytes into these; everything behind it sees nothing else.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import attrs

from clrevents.decode.kernels import HeaderColumns
from clrevents.errors import Problem


@attrs.frozen
class TraceInfo:
    """What the trace's own header says. Unknown is None; nothing here needs a scan.

    `start` is the moment of `sync_qpc`, good to a millisecond; `frequency` is clock ticks a second.
    """

    format: str
    version: int
    start: datetime | None
    sync_qpc: int
    frequency: int
    pointer_size: int
    process_id: int | None = None
    processors: int | None = None
    sampling_interval_ns: int | None = None
    path: str | None = None
    key_values: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class FieldDescription:
    """One field as the trace's metadata describes it: its name, type code, and what it contains."""

    name: str
    code: int
    element: FieldDescription | None = None
    members: tuple[FieldDescription, ...] = ()
    count: int = 0


@attrs.frozen
class MetadataRow:
    """One event description of the trace. Native events have no name and no fields."""

    metadata_id: int
    provider: str
    id: int
    version: int
    name: str = ""
    keywords: int = 0
    level: int = 0
    opcode: int | None = None
    fields: tuple[FieldDescription, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    description: str = ""
    message: str = ""
    provider_guid: UUID | None = None
    offset: int = attrs.field(default=0, eq=False)


@attrs.frozen(eq=False)
class Header:
    info: TraceInfo


@attrs.frozen(eq=False)
class Metadata:
    rows: tuple[MetadataRow, ...]


@attrs.frozen(eq=False)
class Events:
    """Event headers of one block; their payloads stand in `window`, whose first byte is at `base`."""

    columns: list[HeaderColumns]
    window: bytes
    base: int


@attrs.frozen(eq=False)
class Stacks:
    """Stacks `first_id`, `first_id + 1`, …, each behind its byte count, in `window[start:end]`.

    Not walked here: most questions never look at a stack. `base` is the stream offset of `window[0]`.
    """

    first_id: int
    count: int
    window: bytes
    start: int
    end: int
    base: int


@attrs.frozen(eq=False)
class SequencePoint:
    """No event before it is later, none after it is earlier. Stack ids end here."""

    time: int
    threads: tuple[tuple[int, int], ...]
    offset: int
    forget_threads: bool = False
    forget_metadata: bool = False


@attrs.frozen(eq=False)
class Fault:
    """Something is wrong here; `fatal` when the container cannot go on behind it."""

    problem: Problem
    fatal: bool = False


@attrs.frozen(eq=False)
class End:
    """The stream says that it is complete."""

    offset: int


Block: TypeAlias = Header | Metadata | Events | Stacks | SequencePoint | Fault | End
