"""Verification of strong names and Authenticode signatures."""

from clrevents.schema.event import EventGroup, InstanceFields, struct
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt32, UnicodeString


@struct
class StrongNameFields:
    """An assembly, and the result of verifying its strong name."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    FullyQualifiedAssemblyName: UnicodeString


@struct
class AuthenticodeFields:
    """A module, and the result of verifying its signature."""

    VerificationFlags: UInt32
    ErrorCode: UInt32
    ModulePath: UnicodeString


SECURITY = EventGroup(RUNTIME, RuntimeKeyword.Security, level=4)
STRONG_NAMES = SECURITY._replace(task="StrongNameVerification", fields=(StrongNameFields, InstanceFields))
STRONG_NAMES._replace(level=5).event(181, "StrongNameVerificationStart", "Strong name verification started.")
STRONG_NAMES.event(182, "StrongNameVerificationStop", "Strong name verification ended; ErrorCode 0 is success.")
SIGNATURES = SECURITY._replace(task="AuthenticodeVerification", fields=(AuthenticodeFields, InstanceFields))
SIGNATURES._replace(level=5).event(183, "AuthenticodeVerificationStart", "Authenticode verification started.")
SIGNATURES.event(184, "AuthenticodeVerificationStop", "Authenticode verification ended; ErrorCode 0 is success.")
