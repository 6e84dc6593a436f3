"""The numbers and names that containers use as tags: object tags, block kinds, flags, items, type codes.

One place for readers and writers; the format page has the same tables. Knows no layout and no byte order. Unknown
numbers are legal in a trace, so readers compare plain integers with these members and never convert to them.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag, StrEnum
from typing import Final

NETTRACE: Final = b"Nettrace"
"""The first bytes of every NetTrace stream."""
FAST_SERIALIZATION: Final = b"\x14\0\0\0!FastSerialization.1"
"""The serializer's magic: the first bytes of NetPerf, and of NetTrace 4 after `NETTRACE`."""
UNSORTED: Final = 1 << 31
"""The bit of a full event header's metadata id that means "not sorted" (docs/format.md, "Full event headers")."""


class ObjectTag(IntEnum):
    """Tags of the object envelope (docs/format.md, "Objects")."""

    NULL = 1
    BEGIN = 4
    BEGIN_PRIVATE = 5
    END = 6


class ObjectName(StrEnum):
    """Type names of objects (docs/format.md, "Objects")."""

    TRACE = "Trace"
    EVENTS = "EventBlock"
    METADATA = "MetadataBlock"
    STACKS = "StackBlock"
    SEQUENCE_POINT = "SPBlock"
    NETPERF12 = "Microsoft.DotNet.Runtime.EventPipeFile"


class BlockKind(IntEnum):
    """Kinds of block in NetTrace 6 (docs/format.md, "NetTrace 6")."""

    END = 0
    TRACE = 1
    EVENTS = 2
    METADATA = 3
    SEQUENCE_POINT = 4
    STACKS = 5
    THREADS = 6
    REMOVED_THREADS = 7
    LABELS = 8


class BlockFlag(IntFlag):
    """Flags of the header of an event block (docs/format.md, "Block header")."""

    COMPRESSED = 0x01


class HeaderFlag(IntFlag):
    """Flags of a compressed event header: the parts that follow (docs/format.md, "Compressed event headers")."""

    NONE = 0
    METADATA = 0x01
    CAPTURE = 0x02
    """Sequence number, capture thread and processor, which only occur together."""
    THREAD = 0x04
    STACK = 0x08
    ACTIVITY = 0x10
    RELATED = 0x20
    SORTED = 0x40
    """Adds no part: a promise that no later event has an earlier time."""
    SIZE = 0x80

    LABELS = 0x10
    """NetTrace 6 has a label list id where NetTrace 4 has the activity id."""
    PARTS = 0xBF
    """All flags that add a part."""


class Forget(IntFlag):
    """What a sequence point of NetTrace 6 ends besides stacks and label lists (docs/format.md, "Sequence points")."""

    NOTHING = 0
    THREADS = 1
    METADATA = 2


class MetadataTag(IntEnum):
    """Tags after the fields of a metadata record (docs/format.md, "Description tags")."""

    OPCODE = 1
    PARAMETERS = 2
    """Fields in layout 2, in place of those in layout 1."""


class MetadataItem(IntEnum):
    """Optional items of a metadata row of NetTrace 6 (docs/format.md, "Description rows")."""

    OPCODE = 1
    KEYWORDS = 3
    MESSAGE = 4
    DESCRIPTION = 5
    ATTRIBUTE = 6
    PROVIDER_GUID = 7
    LEVEL = 8
    VERSION = 9


class ThreadItem(IntEnum):
    """Items of a thread row of NetTrace 6 (docs/format.md, "Threads")."""

    NAME = 1
    PROCESS_ID = 2
    THREAD_ID = 3
    ATTRIBUTE = 4


class LabelKind(IntEnum):
    """Kinds of label in NetTrace 6 (docs/format.md, "Label lists")."""

    ACTIVITY_ID = 1
    RELATED_ACTIVITY_ID = 2
    TRACE_ID = 3
    SPAN_ID = 4
    TEXT = 5
    NUMBER = 6
    OPCODE = 7
    KEYWORDS = 8
    LEVEL = 9
    VERSION = 10


LAST_LABEL: Final = 0x80
"""The bit of a label's kind that ends its list."""


class TypeCode(IntEnum):
    """Types of fields, as numbered in event descriptions (docs/format.md, "Type codes")."""

    OBJECT = 1
    """A struct: nested fields."""
    NULL = 2
    BOOLEAN = 3
    """Four bytes; `BOOLEAN8` has one."""
    CHAR = 4
    """A UTF-16 code unit."""
    INT8 = 5
    UINT8 = 6
    INT16 = 7
    UINT16 = 8
    INT32 = 9
    UINT32 = 10
    INT64 = 11
    UINT64 = 12
    FLOAT = 13
    DOUBLE = 14
    DECIMAL = 15
    FILETIME = 16
    GUID = 17
    STRING = 18
    """UTF-16 up to a zero unit."""
    ARRAY = 19
    """A 16-bit count, then the elements. `FIXED_ARRAY` has its count in the description."""
    VARINT = 20
    VARUINT = 21
    FIXED_ARRAY = 22
    UTF8 = 23
    """A UTF-8 code unit."""
    RELLOC = 24
    """Position and size of elements elsewhere in the payload, counted from the end of these bytes."""
    DATALOC = 25
    """The same, counted from the payload's start."""
    BOOLEAN8 = 26


ARRAYS: Final = frozenset({TypeCode.ARRAY, TypeCode.FIXED_ARRAY, TypeCode.RELLOC, TypeCode.DATALOC})
"""Codes followed by an element's type."""
