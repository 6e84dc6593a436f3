"""Security evidence and transparency of .NET Framework, from the private provider."""

from clrevents.schema.event import EventGroup, event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Boolean, UInt16, UInt32, UnicodeString

SECURITY_PRIVATE = EventGroup(PRIVATE, PrivateKeyword.SecurityPrivate, level=4)


@event(SECURITY_PRIVATE, id=177, version=0, aliases=("EvidenceGeneration/EvidenceGenerated",))
class EvidenceGenerated_V0:
    """Security evidence was generated for an assembly."""

    Type: UInt32
    AppDomain: UInt32
    ILImage: UnicodeString
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=178, version=0, aliases=("Transparency/ModuleTransparencyComputationStart",))
class ModuleTransparencyComputationStart_V0:
    """Computation of a module's security transparency started."""

    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=179, version=0, aliases=("Transparency/ModuleTransparencyComputationStop",))
class ModuleTransparencyComputationEnd_V0:
    """Computation of a module's security transparency ended."""

    Module: UnicodeString
    AppDomainID: UInt32
    IsAllCritical: Boolean
    IsAllTransparent: Boolean
    IsTreatAsSafe: Boolean
    IsOpportunisticallyCritical: Boolean
    SecurityRuleSet: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=180, version=0, aliases=("Transparency/TypeTransparencyComputationStart",))
class TypeTransparencyComputationStart_V0:
    """Computation of a type's security transparency started."""

    Type: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=181, version=0, aliases=("Transparency/TypeTransparencyComputationStop",))
class TypeTransparencyComputationEnd_V0:
    """Computation of a type's security transparency ended."""

    Type: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    IsAllCritical: Boolean
    IsAllTransparent: Boolean
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=182, version=0, aliases=("Transparency/MethodTransparencyComputationStart",))
class MethodTransparencyComputationStart_V0:
    """Computation of a method's security transparency started."""

    Method: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=183, version=0, aliases=("Transparency/MethodTransparencyComputationStop",))
class MethodTransparencyComputationEnd_V0:
    """Computation of a method's security transparency ended."""

    Method: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=184, version=0, aliases=("Transparency/FieldTransparencyComputationStart",))
class FieldTransparencyComputationStart_V0:
    """Computation of a field's security transparency started."""

    Field: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=185, version=0, aliases=("Transparency/FieldTransparencyComputationStop",))
class FieldTransparencyComputationEnd_V0:
    """Computation of a field's security transparency ended."""

    Field: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=186, version=0, aliases=("Transparency/TokenTransparencyComputationStart",))
class TokenTransparencyComputationStart_V0:
    """Computation of the security transparency of a metadata token started."""

    Token: UInt32
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(SECURITY_PRIVATE, id=187, version=0, aliases=("Transparency/TokenTransparencyComputationStop",))
class TokenTransparencyComputationEnd_V0:
    """Computation of the security transparency of a metadata token ended."""

    Token: UInt32
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16
