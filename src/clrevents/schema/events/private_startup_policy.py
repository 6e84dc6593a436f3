"""Runtime startup: policy, libraries and modules, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16


@event(PRIVATE, id=90, version=0, aliases=("Startup/ApplyPolicyStart",), keywords=PrivateKeyword.Startup, level=4)
class ApplyPolicyStart_V0:
    """Start of applying binding policy."""


@event(PRIVATE, id=90, version=1)
class ApplyPolicyStart_V1(ApplyPolicyStart_V0):
    """Start of applying binding policy. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=91, version=0, aliases=("Startup/ApplyPolicyStop",), keywords=PrivateKeyword.Startup, level=4)
class ApplyPolicyEnd_V0:
    """End of applying binding policy."""


@event(PRIVATE, id=91, version=1)
class ApplyPolicyEnd_V1(ApplyPolicyEnd_V0):
    """End of applying binding policy. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=92, version=0, aliases=("Startup/LdLibShFolderStart",), keywords=PrivateKeyword.Startup, level=4)
class LdLibShFolder_V0:
    """Start of loading the shell folder library."""


@event(PRIVATE, id=92, version=1)
class LdLibShFolder_V1(LdLibShFolder_V0):
    """Start of loading the shell folder library. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=93, version=0, aliases=("Startup/LdLibShFolderStop",), keywords=PrivateKeyword.Startup, level=4)
class LdLibShFolderEnd_V0:
    """End of loading the shell folder library."""


@event(PRIVATE, id=93, version=1)
class LdLibShFolderEnd_V1(LdLibShFolderEnd_V0):
    """End of loading the shell folder library. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=94, version=0, aliases=("Startup/PrestubWorkerStart",), keywords=PrivateKeyword.Startup, level=4)
class PrestubWorker_V0:
    """Start of preparing a method's first call."""


@event(PRIVATE, id=94, version=1)
class PrestubWorker_V1(PrestubWorker_V0):
    """Start of preparing a method's first call. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=95, version=0, aliases=("Startup/PrestubWorkerStop",), keywords=PrivateKeyword.Startup, level=4)
class PrestubWorkerEnd_V0:
    """End of preparing a method's first call."""


@event(PRIVATE, id=95, version=1)
class PrestubWorkerEnd_V1(PrestubWorkerEnd_V0):
    """End of preparing a method's first call. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=96, version=0, aliases=("Startup/GetInstallationStart",), keywords=PrivateKeyword.Startup, level=4)
class GetInstallationStart_V0:
    """Start of the search for the installation."""


@event(PRIVATE, id=96, version=1)
class GetInstallationStart_V1(GetInstallationStart_V0):
    """Start of the search for the installation. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=97, version=0, aliases=("Startup/GetInstallationStop",), keywords=PrivateKeyword.Startup, level=4)
class GetInstallationEnd_V0:
    """End of the search for the installation."""


@event(PRIVATE, id=97, version=1)
class GetInstallationEnd_V1(GetInstallationEnd_V0):
    """End of the search for the installation. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=98, version=0, aliases=("Startup/OpenHModuleStart",), keywords=PrivateKeyword.Startup, level=4)
class OpenHModule_V0:
    """Start of opening a module."""


@event(PRIVATE, id=98, version=1)
class OpenHModule_V1(OpenHModule_V0):
    """Start of opening a module. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=99, version=0, aliases=("Startup/OpenHModuleStop",), keywords=PrivateKeyword.Startup, level=4)
class OpenHModuleEnd_V0:
    """End of opening a module."""


@event(PRIVATE, id=99, version=1)
class OpenHModuleEnd_V1(OpenHModuleEnd_V0):
    """End of opening a module. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
