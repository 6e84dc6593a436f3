"""Phases of assembly binding, and its log, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Boolean, UInt16, UInt32, UInt64, UnicodeString


@event(PRIVATE, id=159, version=0, aliases=("Binding/PolicyPhaseStart",), keywords=PrivateKeyword.Binding, level=4)
class BindingPolicyPhaseStart_V0:
    """Start of the policy phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=160, version=0, aliases=("Binding/PolicyPhaseStop",), keywords=PrivateKeyword.Binding, level=4)
class BindingPolicyPhaseEnd_V0:
    """End of the policy phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=161, version=0, aliases=("Binding/NgenPhaseStart",), keywords=PrivateKeyword.Binding, level=4)
class BindingNgenPhaseStart_V0:
    """Start of the native image phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=162, version=0, aliases=("Binding/NgenPhaseStop",), keywords=PrivateKeyword.Binding, level=4)
class BindingNgenPhaseEnd_V0:
    """End of the native image phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=163,
    version=0,
    aliases=("Binding/LoopupAndProbingPhaseStart",),
    keywords=PrivateKeyword.Binding,
    level=4,
)
class BindingLookupAndProbingPhaseStart_V0:
    """Start of the file lookup and probing phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE, id=164, version=0, aliases=("Binding/LookupAndProbingPhaseStop",), keywords=PrivateKeyword.Binding, level=4
)
class BindingLookupAndProbingPhaseEnd_V0:
    """End of the file lookup and probing phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=167, version=0, aliases=("Binding/PhaseStart",), keywords=PrivateKeyword.Binding, level=4)
class BindingPhaseStart_V0:
    """Start of the binding phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=168, version=0, aliases=("Binding/PhaseStop",), keywords=PrivateKeyword.Binding, level=4)
class BindingPhaseEnd_V0:
    """End of the binding phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=169, version=0, aliases=("Binding/DownloadPhaseStart",), keywords=PrivateKeyword.Binding, level=4)
class BindingDownloadPhaseStart_V0:
    """Start of the download phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=170, version=0, aliases=("Binding/DownloadPhaseStop",), keywords=PrivateKeyword.Binding, level=4)
class BindingDownloadPhaseEnd_V0:
    """End of the download phase of an assembly bind."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=188, version=0, aliases=("NgenBinder/NgenBind",), keywords=PrivateKeyword.PrivateFusion, level=4)
class NgenBindEvent_V0:
    """Why a native image was used or rejected for an assembly."""

    ClrInstanceID: UInt16
    BindingID: UInt64
    ReasonCode: UInt32
    AssemblyName: UnicodeString


@event(PRIVATE, id=196, version=0, aliases=("Binding/FusionMessage",), keywords=PrivateKeyword.Binding, level=4)
class FusionMessageEvent_V0:
    """A line of the assembly binding log."""

    ClrInstanceID: UInt16
    Prepend: Boolean
    Message: UnicodeString


@event(PRIVATE, id=197, version=0, keywords=PrivateKeyword.Binding, level=4)
class FusionErrorCodeEvent_V0:
    """An error code of assembly binding, and its category."""

    ClrInstanceID: UInt16
    Category: UInt32
    ErrorCode: UInt32
