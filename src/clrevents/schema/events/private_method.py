"""Methods, from the private provider: rich debug information and multicore JIT."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Bytes, Counted, Int32, Pointer, UInt8, UInt16, UInt32, UInt64, UnicodeString, by


class RichDebugSource(OpenFlag):
    """Why the JIT recorded where the code of an IL offset is."""

    SequencePoint = 0x1
    StackEmpty = 0x2
    CallSite = 0x4
    NativeEndOffsetUnknown = 0x8
    CallInstruction = 0x10


@struct
class RichInlineNode:
    """A method of an inline tree; Child and Sibling are indexes of other nodes, 0 for none.

    The first node is the compiled method itself. ILOffset is that of the call in its parent, -1 for the first. The JIT
    leaves out calls that it did not inline, and with them what they lead to: not every node is linked.
    """

    Method: Pointer
    ILOffset: Int32
    Child: UInt32
    Sibling: UInt32


@struct
class RichDebugMapping:
    """Where the native code of an IL offset begins; Inlinee is the index of the method's node in the inline tree."""

    ILOffset: Int32
    Inlinee: UInt32
    NativeOffset: UInt32
    Source: Annotated[RichDebugSource, UInt8]


@struct
class RichDebugInfoHead:
    """What each event about a method's rich debug information begins with."""

    ClrInstanceID: UInt16
    MethodID: UInt64
    ReJITID: UInt64
    ILVersionID: UInt64
    ChunkIndex: UInt32
    DataSize: UInt32


@struct
class JittedMethodRichDebugInfoPiece(RichDebugInfoHead):
    """A piece of what does not fit into one event: 40,000 bytes, the last piece has the rest."""

    Data: Annotated[Bytes, by("DataSize")]


@event(
    PRIVATE,
    id=189,
    version=0,
    keywords=PrivateKeyword.JittedMethodRichDebugInfo,
    level=4,
    otherwise=JittedMethodRichDebugInfoPiece,
)
class JittedMethodRichDebugInfo_V0(RichDebugInfoHead):
    """The inline tree and the native-to-IL mapping of a jitted method; bit 31 of ChunkIndex marks the last event."""

    InlineTreeCount: UInt32
    MappingCount: UInt32
    InlineTree: Annotated[Counted[RichInlineNode], by("InlineTreeCount")]
    Mappings: Annotated[Counted[RichDebugMapping], by("MappingCount")]


@event(
    PRIVATE,
    id=201,
    version=0,
    aliases=("ClrMulticoreJit/Common",),
    keywords=PrivateKeyword.MulticoreJitPrivate,
    level=4,
)
class MulticoreJit_V0:
    """A step of multicore JIT, with strings and numbers whose meaning depends on the step."""

    ClrInstanceID: UInt16
    String1: UnicodeString
    String2: UnicodeString
    Int1: Int32
    Int2: Int32
    Int3: Int32


@event(
    PRIVATE,
    id=202,
    version=0,
    aliases=("ClrMulticoreJit/MethodCodeReturned",),
    keywords=PrivateKeyword.MulticoreJitPrivate,
    level=4,
)
class MulticoreJitMethodCodeReturned_V0:
    """Multicore JIT returned code that it had compiled before the first call."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    MethodID: UInt64
