"""Interop: the stubs for calls between managed and native code.

The runtime truncates strings to 1,024 bytes (the stub's IL: 32,768), ending in `...`; nothing here detects it.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString


class StubFlags(OpenFlag):
    """The purpose of an IL stub (manifest: ILStubGeneratedFlagsMap; source: `ETW_IL_STUB_FLAGS`, vm/dllimport.h)."""

    ReverseInterop = 0x1
    ComInterop = 0x2
    NGenedStub = 0x4
    Delegate = 0x8
    VarArg = 0x10
    UnmanagedCallee = 0x20
    StructMarshal = 0x40


@event(RUNTIME, id=88, version=0, aliases=("ILStub/StubGenerated",), keywords=RuntimeKeyword.Interop, level=4)
class ILStubGenerated_V0:
    """The runtime generated an IL stub for a P/Invoke, a COM call, a delegate or a struct."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    StubMethodID: UInt64
    StubFlags: Annotated[StubFlags, UInt32]
    ManagedInteropMethodToken: UInt32
    ManagedInteropMethodNamespace: UnicodeString
    ManagedInteropMethodName: UnicodeString
    ManagedInteropMethodSignature: UnicodeString
    NativeMethodSignature: UnicodeString
    StubMethodSignature: UnicodeString
    StubMethodILCode: UnicodeString


@event(RUNTIME, id=89, version=0, aliases=("ILStub/StubCacheHit",), keywords=RuntimeKeyword.Interop, level=4)
class ILStubCacheHit_V0:
    """An IL stub was found in the cache instead of being generated. Never sent by .NET."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    StubMethodID: UInt64
    ManagedInteropMethodToken: UInt32
    ManagedInteropMethodNamespace: UnicodeString
    ManagedInteropMethodName: UnicodeString
    ManagedInteropMethodSignature: UnicodeString
