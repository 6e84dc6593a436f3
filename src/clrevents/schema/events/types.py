"""Types: names and loading."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Counted, UInt8, UInt16, UInt32, UInt64, UnicodeString, by


class TypeFlags(OpenFlag):
    """The kind of a type; six bits hold the rank of an array (manifest: TypeFlagsMap).

    Source: `EtwTypeFlags`, eventtracebase.h; only NativeAOT's has ModuleBaseAddress.
    """

    Delegate = 0x1
    Finalizable = 0x2
    ExternallyImplementedCOMObject = 0x4
    Array = 0x8
    ModuleBaseAddress = 0x10
    ArrayRankBit0 = 0x100
    ArrayRankBit1 = 0x200
    ArrayRankBit2 = 0x400
    ArrayRankBit3 = 0x800
    ArrayRankBit4 = 0x1000
    ArrayRankBit5 = 0x2000


@struct
class BulkTypeValue:
    """One type."""

    TypeID: UInt64
    ModuleID: UInt64
    TypeNameID: UInt32
    Flags: Annotated[TypeFlags, UInt32]
    CorElementType: UInt8
    Name: UnicodeString
    TypeParameterCount: UInt32
    TypeParameters: Annotated[Counted[UInt64], by("TypeParameterCount")]


@event(RUNTIME, id=15, version=0, aliases=("Type/BulkType",), keywords=RuntimeKeyword.Type, level=4)
class BulkType_V0:
    """Types that other events refer to by TypeID, with names and type arguments."""

    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[BulkTypeValue], by("Count")]


@event(RUNTIME, id=73, version=0, aliases=("TypeLoad/Start",), keywords=RuntimeKeyword.TypeDiagnostic, level=4)
class TypeLoadStart_V0:
    """A type load started; its TypeLoadStop has the same TypeLoadStartID."""

    TypeLoadStartID: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=74, version=0, aliases=("TypeLoad/Stop",), keywords=RuntimeKeyword.TypeDiagnostic, level=4)
class TypeLoadStop_V0:
    """A type load ended: the level reached, and which type it is."""

    TypeLoadStartID: UInt32
    ClrInstanceID: UInt16
    LoadLevel: UInt16
    TypeID: UInt64
    TypeName: UnicodeString
