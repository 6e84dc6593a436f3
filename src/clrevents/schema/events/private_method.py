"""Methods, from the private provider: rich debug information and multicore JIT."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Bytes, Int32, UInt16, UInt32, UInt64, UnicodeString, by


@event(PRIVATE, id=189, version=0, keywords=PrivateKeyword.JittedMethodRichDebugInfo, level=4)
class JittedMethodRichDebugInfo_V0:
    """A chunk of the inline tree and IL mapping of a jitted method; bit 31 of ChunkIndex marks the last."""

    ClrInstanceID: UInt16
    MethodID: UInt64
    ReJITID: UInt64
    ILVersionID: UInt64
    ChunkIndex: UInt32
    DataSize: UInt32
    Data: Annotated[Bytes, by("DataSize")]


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
