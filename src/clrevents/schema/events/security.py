"""Verification of strong names and Authenticode signatures."""

from clrevents.schema.event import InstanceFields, event, extended
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt32, UnicodeString


@event(RUNTIME, id=181, version=0, aliases=("StrongNameVerification/Start",), keywords=RuntimeKeyword.Security, level=5)
class StrongNameVerificationStart_V0:
    """Strong name verification started."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    FullyQualifiedAssemblyName: UnicodeString


StrongNameVerificationStart_V1 = extended(StrongNameVerificationStart_V0, InstanceFields)


@event(RUNTIME, id=182, version=0, aliases=("StrongNameVerification/Stop",), keywords=RuntimeKeyword.Security, level=4)
class StrongNameVerificationStop_V0:
    """Strong name verification ended; ErrorCode 0 is success."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    FullyQualifiedAssemblyName: UnicodeString


StrongNameVerificationStop_V1 = extended(StrongNameVerificationStop_V0, InstanceFields)


@event(
    RUNTIME, id=183, version=0, aliases=("AuthenticodeVerification/Start",), keywords=RuntimeKeyword.Security, level=5
)
class AuthenticodeVerificationStart_V0:
    """Authenticode verification started."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    ModulePath: UnicodeString


AuthenticodeVerificationStart_V1 = extended(AuthenticodeVerificationStart_V0, InstanceFields)


@event(
    RUNTIME, id=184, version=0, aliases=("AuthenticodeVerification/Stop",), keywords=RuntimeKeyword.Security, level=4
)
class AuthenticodeVerificationStop_V0:
    """Authenticode verification ended; ErrorCode 0 is success."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    ModulePath: UnicodeString


AuthenticodeVerificationStop_V1 = extended(AuthenticodeVerificationStop_V0, InstanceFields)
