"""Security evidence and transparency of .NET Framework, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Boolean, UInt16, UInt32, UnicodeString


@event(
    PRIVATE,
    id=177,
    version=0,
    aliases=("EvidenceGeneration/EvidenceGenerated",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class EvidenceGenerated_V0:
    """Security evidence was generated for an assembly."""

    Type: UInt32
    AppDomain: UInt32
    ILImage: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=178,
    version=0,
    aliases=("Transparency/ModuleTransparencyComputationStart",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class ModuleTransparencyComputationStart_V0:
    """Computation of a module's security transparency started."""

    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=179,
    version=0,
    aliases=("Transparency/ModuleTransparencyComputationStop",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
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


@event(
    PRIVATE,
    id=180,
    version=0,
    aliases=("Transparency/TypeTransparencyComputationStart",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class TypeTransparencyComputationStart_V0:
    """Computation of a type's security transparency started."""

    Type: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=181,
    version=0,
    aliases=("Transparency/TypeTransparencyComputationStop",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
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


@event(
    PRIVATE,
    id=182,
    version=0,
    aliases=("Transparency/MethodTransparencyComputationStart",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class MethodTransparencyComputationStart_V0:
    """Computation of a method's security transparency started."""

    Method: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=183,
    version=0,
    aliases=("Transparency/MethodTransparencyComputationStop",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class MethodTransparencyComputationEnd_V0:
    """Computation of a method's security transparency ended."""

    Method: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=184,
    version=0,
    aliases=("Transparency/FieldTransparencyComputationStart",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class FieldTransparencyComputationStart_V0:
    """Computation of a field's security transparency started."""

    Field: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=185,
    version=0,
    aliases=("Transparency/FieldTransparencyComputationStop",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class FieldTransparencyComputationEnd_V0:
    """Computation of a field's security transparency ended."""

    Field: UnicodeString
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=186,
    version=0,
    aliases=("Transparency/TokenTransparencyComputationStart",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class TokenTransparencyComputationStart_V0:
    """Computation of the security transparency of a metadata token started."""

    Token: UInt32
    Module: UnicodeString
    AppDomainID: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=187,
    version=0,
    aliases=("Transparency/TokenTransparencyComputationStop",),
    keywords=PrivateKeyword.SecurityPrivate,
    level=4,
)
class TokenTransparencyComputationEnd_V0:
    """Computation of the security transparency of a metadata token ended."""

    Token: UInt32
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16
