"""Startup of the runtime: domains, the assembly binder, policy, security and modules, from the private provider."""

from clrevents.schema.event import InstanceFields, event, extended
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE


@event(PRIVATE, id=80, version=0, aliases=("Startup/EEStartupStart",), keywords=PrivateKeyword.Startup, level=4)
class EEStartupStart_V0:
    """Start of execution engine startup."""


@event(PRIVATE, id=81, version=0, aliases=("Startup/EEStartupStop",), keywords=PrivateKeyword.Startup, level=4)
class EEStartupEnd_V0:
    """End of execution engine startup."""


@event(PRIVATE, id=82, version=0, aliases=("Startup/EEConfigSetupStart",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSetup_V0:
    """Start of reading the runtime's configuration."""


@event(PRIVATE, id=83, version=0, aliases=("Startup/EEConfigSetupStop",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSetupEnd_V0:
    """End of reading the runtime's configuration."""


@event(PRIVATE, id=84, version=0, aliases=("Startup/LoadSystemBasesStart",), keywords=PrivateKeyword.Startup, level=4)
class LdSysBases_V0:
    """Start of loading the base system classes."""


@event(PRIVATE, id=85, version=0, aliases=("Startup/LoadSystemBasesStop",), keywords=PrivateKeyword.Startup, level=4)
class LdSysBasesEnd_V0:
    """End of loading the base system classes."""


@event(PRIVATE, id=86, version=0, aliases=("Startup/ExecExeStart",), keywords=PrivateKeyword.Startup, level=4)
class ExecExe_V0:
    """Start of running the program's executable."""


@event(PRIVATE, id=87, version=0, aliases=("Startup/ExecExeStop",), keywords=PrivateKeyword.Startup, level=4)
class ExecExeEnd_V0:
    """End of running the program's executable."""


@event(PRIVATE, id=88, version=0, aliases=("Startup/MainStart",), keywords=PrivateKeyword.Startup, level=4)
class Main_V0:
    """Start of the program's Main."""


@event(PRIVATE, id=89, version=0, aliases=("Startup/MainStop",), keywords=PrivateKeyword.Startup, level=4)
class MainEnd_V0:
    """End of the program's Main."""


@event(PRIVATE, id=100, version=0, aliases=("Startup/ExplicitBindStart",), keywords=PrivateKeyword.Startup, level=4)
class ExplicitBindStart_V0:
    """Start of an explicit bind."""


@event(PRIVATE, id=101, version=0, aliases=("Startup/ExplicitBindStop",), keywords=PrivateKeyword.Startup, level=4)
class ExplicitBindEnd_V0:
    """End of an explicit bind."""


@event(PRIVATE, id=102, version=0, aliases=("Startup/ParseXmlStart",), keywords=PrivateKeyword.Startup, level=4)
class ParseXml_V0:
    """Start of parsing an XML file."""


@event(PRIVATE, id=103, version=0, aliases=("Startup/ParseXmlStop",), keywords=PrivateKeyword.Startup, level=4)
class ParseXmlEnd_V0:
    """End of parsing an XML file."""


@event(
    PRIVATE, id=104, version=0, aliases=("Startup/InitDefaultDomainStart",), keywords=PrivateKeyword.Startup, level=4
)
class InitDefaultDomain_V0:
    """Start of initializing the default application domain."""


@event(PRIVATE, id=105, version=0, aliases=("Startup/InitDefaultDomainStop",), keywords=PrivateKeyword.Startup, level=4)
class InitDefaultDomainEnd_V0:
    """End of initializing the default application domain."""


@event(PRIVATE, id=106, version=0, aliases=("Startup/InitSecurityStart",), keywords=PrivateKeyword.Startup, level=4)
class InitSecurity_V0:
    """Start of security setup."""


@event(PRIVATE, id=107, version=0, aliases=("Startup/InitSecurityStop",), keywords=PrivateKeyword.Startup, level=4)
class InitSecurityEnd_V0:
    """End of security setup."""


@event(
    PRIVATE, id=108, version=0, aliases=("Startup/AllowBindingRedirsStart",), keywords=PrivateKeyword.Startup, level=4
)
class AllowBindingRedirs_V0:
    """Start of checking whether binding redirects are allowed."""


@event(
    PRIVATE, id=109, version=0, aliases=("Startup/AllowBindingRedirsStop",), keywords=PrivateKeyword.Startup, level=4
)
class AllowBindingRedirsEnd_V0:
    """End of checking whether binding redirects are allowed."""


@event(PRIVATE, id=110, version=0, aliases=("Startup/EEConfigSyncStart",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSync_V0:
    """Start of synchronizing the runtime's configuration."""


@event(PRIVATE, id=111, version=0, aliases=("Startup/EEConfigSyncStop",), keywords=PrivateKeyword.Startup, level=4)
class EEConfigSyncEnd_V0:
    """End of synchronizing the runtime's configuration."""


@event(PRIVATE, id=112, version=0, aliases=("Startup/BindingStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionBinding_V0:
    """Start of a bind by the assembly binder."""


@event(PRIVATE, id=113, version=0, aliases=("Startup/BindingStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionBindingEnd_V0:
    """End of a bind by the assembly binder."""


@event(PRIVATE, id=114, version=0, aliases=("Startup/LoaderCatchCallStart",), keywords=PrivateKeyword.Startup, level=4)
class LoaderCatchCall_V0:
    """Start of a guarded call of the loader."""


@event(PRIVATE, id=115, version=0, aliases=("Startup/LoaderCatchCallStop",), keywords=PrivateKeyword.Startup, level=4)
class LoaderCatchCallEnd_V0:
    """End of a guarded call of the loader."""


@event(PRIVATE, id=116, version=0, aliases=("Startup/FusionInitStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionInit_V0:
    """Start of setting up the assembly binder."""


@event(PRIVATE, id=117, version=0, aliases=("Startup/FusionInitStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionInitEnd_V0:
    """End of setting up the assembly binder."""


@event(PRIVATE, id=118, version=0, aliases=("Startup/FusionAppCtxStart",), keywords=PrivateKeyword.Startup, level=4)
class FusionAppCtx_V0:
    """Start of setting up the assembly binder's application context."""


@event(PRIVATE, id=119, version=0, aliases=("Startup/FusionAppCtxStop",), keywords=PrivateKeyword.Startup, level=4)
class FusionAppCtxEnd_V0:
    """End of setting up the assembly binder's application context."""


@event(PRIVATE, id=120, version=0, aliases=("Startup/Fusion2EEStart",), keywords=PrivateKeyword.Startup, level=4)
class Fusion2EE_V0:
    """Start of the transition from the assembly binder to the execution engine."""


@event(PRIVATE, id=121, version=0, aliases=("Startup/Fusion2EEStop",), keywords=PrivateKeyword.Startup, level=4)
class Fusion2EEEnd_V0:
    """End of the transition from the assembly binder to the execution engine."""


@event(
    PRIVATE, id=122, version=0, aliases=("Startup/SecurityCatchCallStart",), keywords=PrivateKeyword.Startup, level=4
)
class SecurityCatchCall_V0:
    """Start of a guarded call of security."""


@event(PRIVATE, id=123, version=0, aliases=("Startup/SecurityCatchCallStop",), keywords=PrivateKeyword.Startup, level=4)
class SecurityCatchCallEnd_V0:
    """End of a guarded call of security."""


@event(PRIVATE, id=90, version=0, aliases=("Startup/ApplyPolicyStart",), keywords=PrivateKeyword.Startup, level=4)
class ApplyPolicyStart_V0:
    """Start of applying binding policy."""


@event(PRIVATE, id=91, version=0, aliases=("Startup/ApplyPolicyStop",), keywords=PrivateKeyword.Startup, level=4)
class ApplyPolicyEnd_V0:
    """End of applying binding policy."""


@event(PRIVATE, id=92, version=0, aliases=("Startup/LdLibShFolderStart",), keywords=PrivateKeyword.Startup, level=4)
class LdLibShFolder_V0:
    """Start of loading the shell folder library."""


@event(PRIVATE, id=93, version=0, aliases=("Startup/LdLibShFolderStop",), keywords=PrivateKeyword.Startup, level=4)
class LdLibShFolderEnd_V0:
    """End of loading the shell folder library."""


@event(PRIVATE, id=94, version=0, aliases=("Startup/PrestubWorkerStart",), keywords=PrivateKeyword.Startup, level=4)
class PrestubWorker_V0:
    """Start of preparing a method's first call."""


@event(PRIVATE, id=95, version=0, aliases=("Startup/PrestubWorkerStop",), keywords=PrivateKeyword.Startup, level=4)
class PrestubWorkerEnd_V0:
    """End of preparing a method's first call."""


@event(PRIVATE, id=96, version=0, aliases=("Startup/GetInstallationStart",), keywords=PrivateKeyword.Startup, level=4)
class GetInstallationStart_V0:
    """Start of the search for the installation."""


@event(PRIVATE, id=97, version=0, aliases=("Startup/GetInstallationStop",), keywords=PrivateKeyword.Startup, level=4)
class GetInstallationEnd_V0:
    """End of the search for the installation."""


@event(PRIVATE, id=98, version=0, aliases=("Startup/OpenHModuleStart",), keywords=PrivateKeyword.Startup, level=4)
class OpenHModule_V0:
    """Start of opening a module."""


@event(PRIVATE, id=99, version=0, aliases=("Startup/OpenHModuleStop",), keywords=PrivateKeyword.Startup, level=4)
class OpenHModuleEnd_V0:
    """End of opening a module."""


# The same in the versions that runtimes have written since .NET Framework 4.
EEStartupStart_V1 = extended(EEStartupStart_V0, InstanceFields)
EEStartupEnd_V1 = extended(EEStartupEnd_V0, InstanceFields)
EEConfigSetup_V1 = extended(EEConfigSetup_V0, InstanceFields)
EEConfigSetupEnd_V1 = extended(EEConfigSetupEnd_V0, InstanceFields)
LdSysBases_V1 = extended(LdSysBases_V0, InstanceFields)
LdSysBasesEnd_V1 = extended(LdSysBasesEnd_V0, InstanceFields)
ExecExe_V1 = extended(ExecExe_V0, InstanceFields)
ExecExeEnd_V1 = extended(ExecExeEnd_V0, InstanceFields)
Main_V1 = extended(Main_V0, InstanceFields)
MainEnd_V1 = extended(MainEnd_V0, InstanceFields)
ExplicitBindStart_V1 = extended(ExplicitBindStart_V0, InstanceFields)
ExplicitBindEnd_V1 = extended(ExplicitBindEnd_V0, InstanceFields)
ParseXml_V1 = extended(ParseXml_V0, InstanceFields)
ParseXmlEnd_V1 = extended(ParseXmlEnd_V0, InstanceFields)
InitDefaultDomain_V1 = extended(InitDefaultDomain_V0, InstanceFields)
InitDefaultDomainEnd_V1 = extended(InitDefaultDomainEnd_V0, InstanceFields)
InitSecurity_V1 = extended(InitSecurity_V0, InstanceFields)
InitSecurityEnd_V1 = extended(InitSecurityEnd_V0, InstanceFields)
AllowBindingRedirs_V1 = extended(AllowBindingRedirs_V0, InstanceFields)
AllowBindingRedirsEnd_V1 = extended(AllowBindingRedirsEnd_V0, InstanceFields)
EEConfigSync_V1 = extended(EEConfigSync_V0, InstanceFields)
EEConfigSyncEnd_V1 = extended(EEConfigSyncEnd_V0, InstanceFields)
FusionBinding_V1 = extended(FusionBinding_V0, InstanceFields)
FusionBindingEnd_V1 = extended(FusionBindingEnd_V0, InstanceFields)
LoaderCatchCall_V1 = extended(LoaderCatchCall_V0, InstanceFields)
LoaderCatchCallEnd_V1 = extended(LoaderCatchCallEnd_V0, InstanceFields)
FusionInit_V1 = extended(FusionInit_V0, InstanceFields)
FusionInitEnd_V1 = extended(FusionInitEnd_V0, InstanceFields)
FusionAppCtx_V1 = extended(FusionAppCtx_V0, InstanceFields)
FusionAppCtxEnd_V1 = extended(FusionAppCtxEnd_V0, InstanceFields)
Fusion2EE_V1 = extended(Fusion2EE_V0, InstanceFields)
Fusion2EEEnd_V1 = extended(Fusion2EEEnd_V0, InstanceFields)
SecurityCatchCall_V1 = extended(SecurityCatchCall_V0, InstanceFields)
SecurityCatchCallEnd_V1 = extended(SecurityCatchCallEnd_V0, InstanceFields)
ApplyPolicyStart_V1 = extended(ApplyPolicyStart_V0, InstanceFields)
ApplyPolicyEnd_V1 = extended(ApplyPolicyEnd_V0, InstanceFields)
LdLibShFolder_V1 = extended(LdLibShFolder_V0, InstanceFields)
LdLibShFolderEnd_V1 = extended(LdLibShFolderEnd_V0, InstanceFields)
PrestubWorker_V1 = extended(PrestubWorker_V0, InstanceFields)
PrestubWorkerEnd_V1 = extended(PrestubWorkerEnd_V0, InstanceFields)
GetInstallationStart_V1 = extended(GetInstallationStart_V0, InstanceFields)
GetInstallationEnd_V1 = extended(GetInstallationEnd_V0, InstanceFields)
OpenHModule_V1 = extended(OpenHModule_V0, InstanceFields)
OpenHModuleEnd_V1 = extended(OpenHModuleEnd_V0, InstanceFields)
