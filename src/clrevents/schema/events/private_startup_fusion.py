"""Runtime startup: the assembly binder, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16


@event(PRIVATE, id=112, version=0, aliases=("Startup/BindingStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionBinding_V0:
    """Start of a bind by the assembly binder."""


@event(PRIVATE, id=112, version=1)
class FusionBinding_V1(FusionBinding_V0):
    """Start of a bind by the assembly binder. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=113, version=0, aliases=("Startup/BindingStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionBindingEnd_V0:
    """End of a bind by the assembly binder."""


@event(PRIVATE, id=113, version=1)
class FusionBindingEnd_V1(FusionBindingEnd_V0):
    """End of a bind by the assembly binder. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=114, version=0, aliases=("Startup/LoaderCatchCallStart",), keywords=PrivateKeyword.Startup, level=4)
class LoaderCatchCall_V0:
    """Start of a guarded call of the loader."""


@event(PRIVATE, id=114, version=1)
class LoaderCatchCall_V1(LoaderCatchCall_V0):
    """Start of a guarded call of the loader. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=115, version=0, aliases=("Startup/LoaderCatchCallStop",), keywords=PrivateKeyword.Startup, level=4)
class LoaderCatchCallEnd_V0:
    """End of a guarded call of the loader."""


@event(PRIVATE, id=115, version=1)
class LoaderCatchCallEnd_V1(LoaderCatchCallEnd_V0):
    """End of a guarded call of the loader. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=116, version=0, aliases=("Startup/FusionInitStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionInit_V0:
    """Start of setting up the assembly binder."""


@event(PRIVATE, id=116, version=1)
class FusionInit_V1(FusionInit_V0):
    """Start of setting up the assembly binder. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=117, version=0, aliases=("Startup/FusionInitStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionInitEnd_V0:
    """End of setting up the assembly binder."""


@event(PRIVATE, id=117, version=1)
class FusionInitEnd_V1(FusionInitEnd_V0):
    """End of setting up the assembly binder. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=118, version=0, aliases=("Startup/FusionAppCtxStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionAppCtx_V0:
    """Start of setting up the assembly binder's application context."""


@event(PRIVATE, id=118, version=1)
class FusionAppCtx_V1(FusionAppCtx_V0):
    """Start of setting up the assembly binder's application context. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=119, version=0, aliases=("Startup/FusionAppCtxStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionAppCtxEnd_V0:
    """End of setting up the assembly binder's application context."""


@event(PRIVATE, id=119, version=1)
class FusionAppCtxEnd_V1(FusionAppCtxEnd_V0):
    """End of setting up the assembly binder's application context. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=120, version=0, aliases=("Startup/Fusion2EEStart",), keywords=PrivateKeyword.Startup, level=4)
class Fusion2EE_V0:
    """Start of the transition from the assembly binder to the execution engine."""


@event(PRIVATE, id=120, version=1)
class Fusion2EE_V1(Fusion2EE_V0):
    """Start of the transition from the assembly binder to the execution engine. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=121, version=0, aliases=("Startup/Fusion2EEStop",), keywords=PrivateKeyword.Startup, level=4)
class Fusion2EEEnd_V0:
    """End of the transition from the assembly binder to the execution engine."""


@event(PRIVATE, id=121, version=1)
class Fusion2EEEnd_V1(Fusion2EEEnd_V0):
    """End of the transition from the assembly binder to the execution engine. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE, id=122, version=0, aliases=("Startup/SecurityCatchCallStart",), keywords=PrivateKeyword.Startup, level=4
)
class SecurityCatchCall_V0:
    """Start of a guarded call of security."""


@event(PRIVATE, id=122, version=1)
class SecurityCatchCall_V1(SecurityCatchCall_V0):
    """Start of a guarded call of security. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=123, version=0, aliases=("Startup/SecurityCatchCallStop",), keywords=PrivateKeyword.Startup, level=4)
class SecurityCatchCallEnd_V0:
    """End of a guarded call of security."""


@event(PRIVATE, id=123, version=1)
class SecurityCatchCallEnd_V1(SecurityCatchCallEnd_V0):
    """End of a guarded call of security. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
