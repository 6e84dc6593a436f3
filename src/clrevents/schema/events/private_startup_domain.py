"""Runtime startup: binding, security and the default domain, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16


@event(PRIVATE, id=100, version=0, aliases=("Startup/ExplicitBindStart",), keywords=PrivateKeyword.Startup, level=4)
class ExplicitBindStart_V0:
    """Start of an explicit bind."""


@event(PRIVATE, id=100, version=1)
class ExplicitBindStart_V1(ExplicitBindStart_V0):
    """Start of an explicit bind. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=101, version=0, aliases=("Startup/ExplicitBindStop",), keywords=PrivateKeyword.Startup, level=4)
class ExplicitBindEnd_V0:
    """End of an explicit bind."""


@event(PRIVATE, id=101, version=1)
class ExplicitBindEnd_V1(ExplicitBindEnd_V0):
    """End of an explicit bind. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=102, version=0, aliases=("Startup/ParseXmlStart",), keywords=PrivateKeyword.Startup, level=4)
class ParseXml_V0:
    """Start of parsing an XML file."""


@event(PRIVATE, id=102, version=1)
class ParseXml_V1(ParseXml_V0):
    """Start of parsing an XML file. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=103, version=0, aliases=("Startup/ParseXmlStop",), keywords=PrivateKeyword.Startup, level=4)
class ParseXmlEnd_V0:
    """End of parsing an XML file."""


@event(PRIVATE, id=103, version=1)
class ParseXmlEnd_V1(ParseXmlEnd_V0):
    """End of parsing an XML file. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE, id=104, version=0, aliases=("Startup/InitDefaultDomainStart",), keywords=PrivateKeyword.Startup, level=4
)
class InitDefaultDomain_V0:
    """Start of initializing the default application domain."""


@event(PRIVATE, id=104, version=1)
class InitDefaultDomain_V1(InitDefaultDomain_V0):
    """Start of initializing the default application domain. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=105, version=0, aliases=("Startup/InitDefaultDomainStop",), keywords=PrivateKeyword.Startup, level=4)
class InitDefaultDomainEnd_V0:
    """End of initializing the default application domain."""


@event(PRIVATE, id=105, version=1)
class InitDefaultDomainEnd_V1(InitDefaultDomainEnd_V0):
    """End of initializing the default application domain. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=106, version=0, aliases=("Startup/InitSecurityStart",), keywords=PrivateKeyword.Startup, level=4)
class InitSecurity_V0:
    """Start of security setup."""


@event(PRIVATE, id=106, version=1)
class InitSecurity_V1(InitSecurity_V0):
    """Start of security setup. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=107, version=0, aliases=("Startup/InitSecurityStop",), keywords=PrivateKeyword.Startup, level=4)
class InitSecurityEnd_V0:
    """End of security setup."""


@event(PRIVATE, id=107, version=1)
class InitSecurityEnd_V1(InitSecurityEnd_V0):
    """End of security setup. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE, id=108, version=0, aliases=("Startup/AllowBindingRedirsStart",), keywords=PrivateKeyword.Startup, level=4
)
class AllowBindingRedirs_V0:
    """Start of checking whether binding redirects are allowed."""


@event(PRIVATE, id=108, version=1)
class AllowBindingRedirs_V1(AllowBindingRedirs_V0):
    """Start of checking whether binding redirects are allowed. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE, id=109, version=0, aliases=("Startup/AllowBindingRedirsStop",), keywords=PrivateKeyword.Startup, level=4
)
class AllowBindingRedirsEnd_V0:
    """End of checking whether binding redirects are allowed."""


@event(PRIVATE, id=109, version=1)
class AllowBindingRedirsEnd_V1(AllowBindingRedirsEnd_V0):
    """End of checking whether binding redirects are allowed. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=110, version=0, aliases=("Startup/EEConfigSyncStart",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSync_V0:
    """Start of synchronizing the runtime's configuration."""


@event(PRIVATE, id=110, version=1)
class EEConfigSync_V1(EEConfigSync_V0):
    """Start of synchronizing the runtime's configuration. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=111, version=0, aliases=("Startup/EEConfigSyncStop",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSyncEnd_V0:
    """End of synchronizing the runtime's configuration."""


@event(PRIVATE, id=111, version=1)
class EEConfigSyncEnd_V1(EEConfigSyncEnd_V0):
    """End of synchronizing the runtime's configuration. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
