"""Values to write: events, their descriptions, threads, labels and the trace header; and single values as bytes.

A value is checked when it is written, because only the container knows what fits: ValueError, with its name. Times are
raw clock ticks, ids are the container's own. Nothing here knows about layouts (docs/format.md, "Notation").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from clrevents.schema.codes import HeaderFlag, LabelKind
from clrevents.schema.dynamic import FieldDescription as FieldDescription

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
_SMALL = [bytes((n,)) for n in range(128)]


def checked(value: int, low: int, high: int, what: str) -> int:
    """Return `value` if it is an integer in `low..high`. Raises ValueError naming `what` otherwise."""
    if not isinstance(value, int):
        raise ValueError(f"{what} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{what} must be in {low}..{high}, not {value}")
    return value


def unsigned(value: int, size: int, what: str) -> bytes:
    """`size` bytes, little-endian, no sign."""
    return checked(value, 0, (1 << 8 * size) - 1, what).to_bytes(size, "little")


def signed(value: int, size: int, what: str) -> bytes:
    """`size` bytes, little-endian, two's complement."""
    half = 1 << (8 * size - 1)
    return checked(value, -half, half - 1, what).to_bytes(size, "little", signed=True)


def either(value: int, size: int, what: str) -> bytes:
    """`size` bytes for a number that some read as signed and others as unsigned: both ranges are accepted."""
    checked(value, -(1 << (8 * size - 1)), (1 << 8 * size) - 1, what)
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def varuint(value: int, bits: int, what: str) -> bytes:
    """LEB128: seven bits per byte, low first, the high bit says that more follow; at most 5 or 10 bytes."""
    if value.__class__ is int and 0 <= value < 128:
        return _SMALL[value]
    checked(value, 0, (1 << bits) - 1, what)
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int, what: str) -> bytes:
    """A signed 64-bit number, zigzag LEB128."""
    checked(value, -(1 << 63), (1 << 63) - 1, what)
    return varuint((value << 1 ^ value >> 63) & M64, 64, what)


def guid(value: bytes | UUID, what: str) -> bytes:
    """Sixteen bytes as stored; a UUID is stored with its first three groups little-endian."""
    data = value.bytes_le if isinstance(value, UUID) else bytes(value)
    if len(data) != 16:
        raise ValueError(f"{what} must be 16 bytes, not {len(data)}")
    return data


def utf16z(text: str, what: str) -> bytes:
    """UTF-16LE units and a zero unit; lone surrogates are kept (docs/format.md, "Texts")."""
    if "\0" in text:
        raise ValueError(f"{what} contains a NUL, which would end it there: {text!r}")
    return text.encode("utf-16-le", "surrogatepass") + b"\0\0"


def utf8(text: str, what: str) -> bytes:
    """A varuint byte count and UTF-8 bytes."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has a lone surrogate, which UTF-8 cannot encode: {text!r}") from None
    return varuint(len(data), 32, f"the length of {what}") + data


NO_GUID = bytes(16)

Guid: TypeAlias = bytes | UUID
Stack: TypeAlias = bytes | Sequence[int]
"""Address bytes as stored, or addresses, innermost first, in words of the trace's pointer size."""
SystemTime: TypeAlias = tuple[int, int, int, int, int, int, int, int]
"""Year, month, day of the week (Sunday is 0), day, hour, minute, second, millisecond (docs/format.md, "Notation")."""


class Sink(Protocol):
    """The destination of bytes: a binary file, or any object with its `write`."""

    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One event, complete.

    `time` is in clock ticks (64 bits); `thread_id` is the thread the event is about, `capture_thread_id` the one that
    wrote it (None: the same); in NetTrace 6 both are thread indexes. A `sequence` of None is the next number of the
    capture thread, counted from 1 (docs/format.md, "Sequence numbers and losses"). `processor` -1 is unknown.
    `stack_id` and `label_id` refer to `stacks` and `labels` of the same region; `stack` is for NetPerf, which stores
    it in the event and neither numbers nor sorts events. `is_sorted` promises that no later event has an earlier time
    (docs/format.md, "Order of events").
    """

    metadata_id: int
    time: int
    thread_id: int = 0
    payload: bytes = b""
    capture_thread_id: int | None = None
    sequence: int | None = None
    processor: int = -1
    stack_id: int = 0
    activity_id: Guid = NO_GUID
    related_activity_id: Guid = NO_GUID
    is_sorted: bool = True
    label_id: int = 0
    stack: Stack = b""


@dataclass(frozen=True, slots=True)
class MetadataStyle:
    """How a description is written where the format leaves a choice, and bytes that readers must skip.

    `layout`: of NetTrace 4's field list; "auto" selects "v2" if a field is an array at any depth, as the runtime does
    (docs/format.md, "Description tags"); "none" omits even the count. `opcode_slack`, `parameter_slack` and
    `field_slack` follow the values in the opcode tag, the parameter tag and each field; `tags` are additional (kind,
    payload) tags. NetTrace 6: `field_slack` as before, `row_slack` at the row's end, `optional` are raw bytes after the
    known optional items; `write_zeros` writes keywords, level and version even if 0.
    """

    layout: Literal["auto", "v1", "v2", "none"] = "auto"
    opcode_slack: bytes = b""
    parameter_slack: bytes = b""
    field_slack: bytes = b""
    tags: tuple[tuple[int, bytes], ...] = ()
    tail: bytes = b""
    row_slack: bytes = b""
    optional: bytes = b""
    write_zeros: bool = False


PLAIN = MetadataStyle()


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One event description (docs/format.md, "Event descriptions", "Description rows"); events refer to `metadata_id`.

    `opcode` None omits it. `attributes`, `description`, `message` and `provider_guid` exist only in NetTrace 6, but
    NetPerf 1 requires the guid, because it stores no name. `time`, `thread_id` and `processor` are those of the record
    itself, which is an event of its own before NetTrace 6.
    """

    metadata_id: int
    provider: str
    id: int
    version: int = 0
    name: str = ""
    keywords: int = 0
    level: int = 0
    opcode: int | None = None
    fields: tuple[FieldDescription, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    description: str = ""
    message: str = ""
    provider_guid: Guid | None = None
    time: int = 0
    thread_id: int = 0
    processor: int = -1
    style: MetadataStyle = PLAIN


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """The trace header (docs/format.md, "Trace header"). None is written as 0 or, in NetTrace 6, omitted.

    `start` is the time of `sync_qpc`; `frequency` is in clock ticks per second. NetTrace 6 writes `key_values`, then
    `process_id`, `processors` and `sampling_interval_ns` under their standard keys unless already given.
    """

    start: datetime | SystemTime = datetime(2024, 1, 1, tzinfo=UTC)
    sync_qpc: int = 0
    frequency: int = 1_000_000_000
    pointer_size: int = 8
    process_id: int | None = None
    processors: int | None = None
    sampling_interval_ns: int | None = None
    key_values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread of NetTrace 6 (docs/format.md, "Threads"); None values are omitted. `slack` ends the row."""

    index: int
    thread_id: int | None = None
    process_id: int | None = None
    name: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    slack: bytes = b""


@dataclass(frozen=True, slots=True)
class Label:
    """One label: 16 bytes for ids except the span's, text or a number for the others; `key` for TEXT and NUMBER."""

    kind: LabelKind
    value: bytes | UUID | int | str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """How a block of events is written where the format leaves a choice.

    `compressed`: compressed or full headers. `header_size`: size of the block header, at least 20 bytes. `span`: the
    (first, last) tick it declares; None uses the events' own. `force`: parts of compressed headers written even if they
    repeat the previous event; `avoid`: parts that must not be written, which raises if an event requires them. Both
    apply to the whole block or have one value per event. `padded`: full headers round each event up to a multiple of
    four bytes (docs/format.md, "Full event headers").
    """

    compressed: bool = True
    header_size: int = 20
    span: tuple[int, int] | None = None
    force: HeaderFlag | Sequence[HeaderFlag] = HeaderFlag.NONE
    avoid: HeaderFlag | Sequence[HeaderFlag] = HeaderFlag.NONE
    padded: bool = False
    flags: int = field(default=0)
    """Additional bits of the block header's flags; bit 0 is `compressed`."""


SHORTEST = Choices()
