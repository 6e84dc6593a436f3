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
    """Security evidence was made for an assembly."""

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
    """The runtime begins to find out how far a module is trusted."""

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
    """The runtime found out how far a module is trusted."""

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
    """The runtime begins to find out how far a type is trusted."""

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
    """The runtime found out how far a type is trusted."""

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
    """The runtime begins to find out how far a method is trusted."""

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
    """The runtime found out how far a method is trusted."""

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
    """The runtime begins to find out how far a field is trusted."""

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
    """The runtime found out how far a field is trusted."""

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
    """The runtime begins to find out how far what a metadata token names is trusted."""

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
    """The runtime found out how far what a metadata token names is trusted."""

    Token: UInt32
    Module: UnicodeString
    AppDomainID: UInt32
    IsCritical: Boolean
    IsTreatAsSafe: Boolean
    ClrInstanceID: UInt16
