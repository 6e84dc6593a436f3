"""Use of types known only at run time, from the private provider."""

from clrevents.schema.event import EventGroup, InstanceFields, struct
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Int32, UInt16, UnicodeString


@struct
class TypeFields:
    """The name of a type."""

    TypeName: UnicodeString
    ClrInstanceID: UInt16


@struct
class TwoTypesFields:
    """Two names of types."""

    TypeName: UnicodeString
    SecondTypeName: UnicodeString
    ClrInstanceID: UInt16


@struct
class VarianceFields:
    """A type, the interface it was asked for, and the variant of it."""

    TypeName: UnicodeString
    InterfaceTypeName: UnicodeString
    VariantInterfaceTypeName: UnicodeString
    ClrInstanceID: UInt16


@struct
class VariantFields:
    """A type and the type code of a VARIANT."""

    TypeName: UnicodeString
    Int1: Int32
    ClrInstanceID: UInt16


DYNAMIC = EventGroup(PRIVATE, PrivateKeyword.DynamicTypeUsage, level=4, task="ClrDynamicTypeUsage")
DYNAMIC.event(
    400, "IInspectableRuntimeClassName", "The Windows Runtime class name of an object was requested.", TypeFields
)
DYNAMIC.event(401, "WinRTUnbox", "A boxed Windows Runtime value was unboxed.", TwoTypesFields)
DYNAMIC.event(402, "CreateRCW", "A runtime callable wrapper for a COM object was created.", TypeFields)
DYNAMIC.event(403, "RCWVariance", "A wrapped COM object was cast to a variant of an interface.", VarianceFields)
DYNAMIC.event(404, "RCWIEnumerableCasting", "A wrapped COM object was cast to an enumerable interface.", TwoTypesFields)
DYNAMIC.event(405, "CreateCCW", "A COM callable wrapper for a managed object was created.", TypeFields)
DYNAMIC.event(
    406, "CCWVariance", "A managed object exposed to COM was queried for a variant of an interface.", VarianceFields
)
DYNAMIC.event(
    407,
    "ObjectVariantMarshallingToNative",
    "An object was marshalled to native code as a VARIANT; Int1 is its type code.",
    VariantFields,
)
DYNAMIC.event(408, "GetTypeFromGUID", "A type was looked up by its GUID.", TwoTypesFields)
DYNAMIC.event(409, "GetTypeFromProgID", "A type was looked up by its ProgID.", TwoTypesFields)
DYNAMIC.event(410, "ConvertToCallbackEtw", "A conversion to a callback, and the two types.", TwoTypesFields)
DYNAMIC.event(411, "BeginCreateManagedReference", "Creation of a managed reference started.", InstanceFields)
DYNAMIC.event(412, "EndCreateManagedReference", "Creation of a managed reference ended.", InstanceFields)
DYNAMIC.event(
    413,
    "ObjectVariantMarshallingToManaged",
    "A VARIANT from native code was marshalled to an object; Int1 is its type code.",
    VariantFields,
)
