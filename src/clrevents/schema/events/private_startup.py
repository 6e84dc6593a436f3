"""Startup of the runtime and of the program, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16


@event(PRIVATE, id=80, version=0, aliases=("Startup/EEStartupStart",), keywords=PrivateKeyword.Startup, level=4)
class EEStartupStart_V0:
    """Start of execution engine startup."""


@event(PRIVATE, id=80, version=1)
class EEStartupStart_V1(EEStartupStart_V0):
    """Start of execution engine startup. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=81, version=0, aliases=("Startup/EEStartupStop",), keywords=PrivateKeyword.Startup, level=4)
class EEStartupEnd_V0:
    """End of execution engine startup."""


@event(PRIVATE, id=81, version=1)
class EEStartupEnd_V1(EEStartupEnd_V0):
    """End of execution engine startup. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=82, version=0, aliases=("Startup/EEConfigSetupStart",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSetup_V0:
    """Start of reading the runtime's configuration."""


@event(PRIVATE, id=82, version=1)
class EEConfigSetup_V1(EEConfigSetup_V0):
    """Start of reading the runtime's configuration. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=83, version=0, aliases=("Startup/EEConfigSetupStop",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSetupEnd_V0:
    """End of reading the runtime's configuration."""


@event(PRIVATE, id=83, version=1)
class EEConfigSetupEnd_V1(EEConfigSetupEnd_V0):
    """End of reading the runtime's configuration. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=84, version=0, aliases=("Startup/LoadSystemBasesStart",), keywords=PrivateKeyword.Startup, level=4)
class LdSysBases_V0:
    """Start of loading the base system classes."""


@event(PRIVATE, id=84, version=1)
class LdSysBases_V1(LdSysBases_V0):
    """Start of loading the base system classes. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=85, version=0, aliases=("Startup/LoadSystemBasesStop",), keywords=PrivateKeyword.Startup, level=4)
class LdSysBasesEnd_V0:
    """End of loading the base system classes."""


@event(PRIVATE, id=85, version=1)
class LdSysBasesEnd_V1(LdSysBasesEnd_V0):
    """End of loading the base system classes. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=86, version=0, aliases=("Startup/ExecExeStart",), keywords=PrivateKeyword.Startup, level=4)
class ExecExe_V0:
    """Start of running the program's executable."""


@event(PRIVATE, id=86, version=1)
class ExecExe_V1(ExecExe_V0):
    """Start of running the program's executable. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=87, version=0, aliases=("Startup/ExecExeStop",), keywords=PrivateKeyword.Startup, level=4)
class ExecExeEnd_V0:
    """End of running the program's executable."""


@event(PRIVATE, id=87, version=1)
class ExecExeEnd_V1(ExecExeEnd_V0):
    """End of running the program's executable. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=88, version=0, aliases=("Startup/MainStart",), keywords=PrivateKeyword.Startup, level=4)
class Main_V0:
    """Start of the program's Main."""


@event(PRIVATE, id=88, version=1)
class Main_V1(Main_V0):
    """Start of the program's Main. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=89, version=0, aliases=("Startup/MainStop",), keywords=PrivateKeyword.Startup, level=4)
class MainEnd_V0:
    """End of the program's Main."""


@event(PRIVATE, id=89, version=1)
class MainEnd_V1(MainEnd_V0):
    """End of the program's Main. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
