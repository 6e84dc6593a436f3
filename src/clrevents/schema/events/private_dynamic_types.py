"""Use of types known only at run time, from the private provider."""

from clrevents.schema.event import EventGroup, InstanceFields, event, struct
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Int32, UInt16, UnicodeString

DYNAMIC_TYPE_USAGE = EventGroup(PRIVATE, PrivateKeyword.DynamicTypeUsage, level=4)


@event(DYNAMIC_TYPE_USAGE, id=400, version=0, aliases=("ClrDynamicTypeUsage/IInspectableRuntimeClassName",))
class IInspectableRuntimeClassName_V0:
    """The Windows Runtime class name of an object was requested."""

    TypeName: UnicodeString
    ClrInstanceID: UInt16


@struct
class TypeNameFields:
    """Two names of types."""

    TypeName: UnicodeString
    SecondTypeName: UnicodeString
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=401, version=0, aliases=("ClrDynamicTypeUsage/WinRTUnbox",))
class WinRTUnbox_V0(TypeNameFields):
    """A boxed Windows Runtime value was unboxed."""


@event(DYNAMIC_TYPE_USAGE, id=402, version=0, aliases=("ClrDynamicTypeUsage/CreateRCW",))
class CreateRCW_V0:
    """A runtime callable wrapper for a COM object was created."""

    TypeName: UnicodeString
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=403, version=0, aliases=("ClrDynamicTypeUsage/RCWVariance",))
class RCWVariance_V0:
    """A wrapped COM object was cast to a variant of an interface."""

    TypeName: UnicodeString
    InterfaceTypeName: UnicodeString
    VariantInterfaceTypeName: UnicodeString
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=404, version=0, aliases=("ClrDynamicTypeUsage/RCWIEnumerableCasting",))
class RCWIEnumerableCasting_V0(TypeNameFields):
    """A wrapped COM object was cast to an enumerable interface."""


@event(DYNAMIC_TYPE_USAGE, id=405, version=0, aliases=("ClrDynamicTypeUsage/CreateCCW",))
class CreateCCW_V0:
    """A COM callable wrapper for a managed object was created."""

    TypeName: UnicodeString
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=406, version=0, aliases=("ClrDynamicTypeUsage/CCWVariance",))
class CCWVariance_V0:
    """A managed object exposed to COM was queried for a variant of an interface."""

    TypeName: UnicodeString
    InterfaceTypeName: UnicodeString
    VariantInterfaceTypeName: UnicodeString
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=407, version=0, aliases=("ClrDynamicTypeUsage/ObjectVariantMarshallingToNative",))
class ObjectVariantMarshallingToNative_V0:
    """An object was marshalled to native code as a VARIANT; Int1 is its type code."""

    TypeName: UnicodeString
    Int1: Int32
    ClrInstanceID: UInt16


@event(DYNAMIC_TYPE_USAGE, id=408, version=0, aliases=("ClrDynamicTypeUsage/GetTypeFromGUID",))
class GetTypeFromGUID_V0(TypeNameFields):
    """A type was looked up by its GUID."""


@event(DYNAMIC_TYPE_USAGE, id=409, version=0, aliases=("ClrDynamicTypeUsage/GetTypeFromProgID",))
class GetTypeFromProgID_V0(TypeNameFields):
    """A type was looked up by its ProgID."""


@event(DYNAMIC_TYPE_USAGE, id=410, version=0, aliases=("ClrDynamicTypeUsage/ConvertToCallbackEtw",))
class ConvertToCallbackEtw_V0(TypeNameFields):
    """A conversion to a callback, and the two types."""


@event(DYNAMIC_TYPE_USAGE, id=411, version=0, aliases=("ClrDynamicTypeUsage/BeginCreateManagedReference",))
class BeginCreateManagedReference_V0(InstanceFields):
    """Creation of a managed reference started."""


@event(DYNAMIC_TYPE_USAGE, id=412, version=0, aliases=("ClrDynamicTypeUsage/EndCreateManagedReference",))
class EndCreateManagedReference_V0(InstanceFields):
    """Creation of a managed reference ended."""


@event(DYNAMIC_TYPE_USAGE, id=413, version=0, aliases=("ClrDynamicTypeUsage/ObjectVariantMarshallingToManaged",))
class ObjectVariantMarshallingToManaged_V0:
    """A VARIANT from native code was marshalled to an object; Int1 is its type code."""

    TypeName: UnicodeString
    Int1: Int32
    ClrInstanceID: UInt16
