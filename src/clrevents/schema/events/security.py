"""Verification of strong names and Authenticode signatures."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt16, UInt32, UnicodeString


@event(RUNTIME, id=181, version=0, aliases=("StrongNameVerification/Start",), keywords=RuntimeKeyword.Security, level=5)
class StrongNameVerificationStart_V0:
    """Strong name verification started."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNTIME, id=181, version=1)
class StrongNameVerificationStart_V1(StrongNameVerificationStart_V0):
    """Strong name verification started. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=182, version=0, aliases=("StrongNameVerification/Stop",), keywords=RuntimeKeyword.Security, level=4)
class StrongNameVerificationStop_V0:
    """Strong name verification ended; ErrorCode 0 is success."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNTIME, id=182, version=1)
class StrongNameVerificationStop_V1(StrongNameVerificationStop_V0):
    """Strong name verification ended; ErrorCode 0 is success. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNTIME, id=183, version=0, aliases=("AuthenticodeVerification/Start",), keywords=RuntimeKeyword.Security, level=5
)
class AuthenticodeVerificationStart_V0:
    """Authenticode verification started."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    ModulePath: UnicodeString


@event(RUNTIME, id=183, version=1)
class AuthenticodeVerificationStart_V1(AuthenticodeVerificationStart_V0):
    """Authenticode verification started. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNTIME, id=184, version=0, aliases=("AuthenticodeVerification/Stop",), keywords=RuntimeKeyword.Security, level=4
)
class AuthenticodeVerificationStop_V0:
    """Authenticode verification ended; ErrorCode 0 is success."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    ModulePath: UnicodeString


@event(RUNTIME, id=184, version=1)
class AuthenticodeVerificationStop_V1(AuthenticodeVerificationStop_V0):
    """Authenticode verification ended; ErrorCode 0 is success. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
