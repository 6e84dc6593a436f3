"""Startup of the runtime: domains, the assembly binder, policy, security and modules, from the private provider."""

from clrevents.schema.event import EventGroup, InstanceFields, event, extended
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE

STARTUP = EventGroup(PRIVATE, PrivateKeyword.Startup, level=4)


@event(STARTUP, id=80, version=0, aliases=("Startup/EEStartupStart",))
class EEStartupStart_V0:
    """Start of execution engine startup."""


@event(STARTUP, id=81, version=0, aliases=("Startup/EEStartupStop",))
class EEStartupEnd_V0:
    """End of execution engine startup."""


@event(STARTUP, id=82, version=0, aliases=("Startup/EEConfigSetupStart",))
class EEConfigSetup_V0:
    """Start of reading the runtime's configuration."""


@event(STARTUP, id=83, version=0, aliases=("Startup/EEConfigSetupStop",))
class EEConfigSetupEnd_V0:
    """End of reading the runtime's configuration."""


@event(STARTUP, id=84, version=0, aliases=("Startup/LoadSystemBasesStart",))
class LdSysBases_V0:
    """Start of loading the base system classes."""


@event(STARTUP, id=85, version=0, aliases=("Startup/LoadSystemBasesStop",))
class LdSysBasesEnd_V0:
    """End of loading the base system classes."""


@event(STARTUP, id=86, version=0, aliases=("Startup/ExecExeStart",))
class ExecExe_V0:
    """Start of running the program's executable."""


@event(STARTUP, id=87, version=0, aliases=("Startup/ExecExeStop",))
class ExecExeEnd_V0:
    """End of running the program's executable."""


@event(STARTUP, id=88, version=0, aliases=("Startup/MainStart",))
class Main_V0:
    """Start of the program's Main."""


@event(STARTUP, id=89, version=0, aliases=("Startup/MainStop",))
class MainEnd_V0:
    """End of the program's Main."""


@event(STARTUP, id=100, version=0, aliases=("Startup/ExplicitBindStart",))
class ExplicitBindStart_V0:
    """Start of an explicit bind."""


@event(STARTUP, id=101, version=0, aliases=("Startup/ExplicitBindStop",))
class ExplicitBindEnd_V0:
    """End of an explicit bind."""


@event(STARTUP, id=102, version=0, aliases=("Startup/ParseXmlStart",))
class ParseXml_V0:
    """Start of parsing an XML file."""


@event(STARTUP, id=103, version=0, aliases=("Startup/ParseXmlStop",))
class ParseXmlEnd_V0:
    """End of parsing an XML file."""


@event(STARTUP, id=104, version=0, aliases=("Startup/InitDefaultDomainStart",))
class InitDefaultDomain_V0:
    """Start of initializing the default application domain."""


@event(STARTUP, id=105, version=0, aliases=("Startup/InitDefaultDomainStop",))
class InitDefaultDomainEnd_V0:
    """End of initializing the default application domain."""


@event(STARTUP, id=106, version=0, aliases=("Startup/InitSecurityStart",))
class InitSecurity_V0:
    """Start of security setup."""


@event(STARTUP, id=107, version=0, aliases=("Startup/InitSecurityStop",))
class InitSecurityEnd_V0:
    """End of security setup."""


@event(STARTUP, id=108, version=0, aliases=("Startup/AllowBindingRedirsStart",))
class AllowBindingRedirs_V0:
    """Start of checking whether binding redirects are allowed."""


@event(STARTUP, id=109, version=0, aliases=("Startup/AllowBindingRedirsStop",))
class AllowBindingRedirsEnd_V0:
    """End of checking whether binding redirects are allowed."""


@event(STARTUP, id=110, version=0, aliases=("Startup/EEConfigSyncStart",))
class EEConfigSync_V0:
    """Start of synchronizing the runtime's configuration."""


@event(STARTUP, id=111, version=0, aliases=("Startup/EEConfigSyncStop",))
class EEConfigSyncEnd_V0:
    """End of synchronizing the runtime's configuration."""


@event(STARTUP, id=112, version=0, aliases=("Startup/BindingStart",))
class FusionBinding_V0:
    """Start of a bind by the assembly binder."""


@event(STARTUP, id=113, version=0, aliases=("Startup/BindingStop",))
class FusionBindingEnd_V0:
    """End of a bind by the assembly binder."""


@event(STARTUP, id=114, version=0, aliases=("Startup/LoaderCatchCallStart",))
class LoaderCatchCall_V0:
    """Start of a guarded call of the loader."""


@event(STARTUP, id=115, version=0, aliases=("Startup/LoaderCatchCallStop",))
class LoaderCatchCallEnd_V0:
    """End of a guarded call of the loader."""


@event(STARTUP, id=116, version=0, aliases=("Startup/FusionInitStart",))
class FusionInit_V0:
    """Start of setting up the assembly binder."""


@event(STARTUP, id=117, version=0, aliases=("Startup/FusionInitStop",))
class FusionInitEnd_V0:
    """End of setting up the assembly binder."""


@event(STARTUP, id=118, version=0, aliases=("Startup/FusionAppCtxStart",))
class FusionAppCtx_V0:
    """Start of setting up the assembly binder's application context."""


@event(STARTUP, id=119, version=0, aliases=("Startup/FusionAppCtxStop",))
class FusionAppCtxEnd_V0:
    """End of setting up the assembly binder's application context."""


@event(STARTUP, id=120, version=0, aliases=("Startup/Fusion2EEStart",))
class Fusion2EE_V0:
    """Start of the transition from the assembly binder to the execution engine."""


@event(STARTUP, id=121, version=0, aliases=("Startup/Fusion2EEStop",))
class Fusion2EEEnd_V0:
    """End of the transition from the assembly binder to the execution engine."""


@event(STARTUP, id=122, version=0, aliases=("Startup/SecurityCatchCallStart",))
class SecurityCatchCall_V0:
    """Start of a guarded call of security."""


@event(STARTUP, id=123, version=0, aliases=("Startup/SecurityCatchCallStop",))
class SecurityCatchCallEnd_V0:
    """End of a guarded call of security."""


@event(STARTUP, id=90, version=0, aliases=("Startup/ApplyPolicyStart",))
class ApplyPolicyStart_V0:
    """Start of applying binding policy."""


@event(STARTUP, id=91, version=0, aliases=("Startup/ApplyPolicyStop",))
class ApplyPolicyEnd_V0:
    """End of applying binding policy."""


@event(STARTUP, id=92, version=0, aliases=("Startup/LdLibShFolderStart",))
class LdLibShFolder_V0:
    """Start of loading the shell folder library."""


@event(STARTUP, id=93, version=0, aliases=("Startup/LdLibShFolderStop",))
class LdLibShFolderEnd_V0:
    """End of loading the shell folder library."""


@event(STARTUP, id=94, version=0, aliases=("Startup/PrestubWorkerStart",))
class PrestubWorker_V0:
    """Start of preparing a method's first call."""


@event(STARTUP, id=95, version=0, aliases=("Startup/PrestubWorkerStop",))
class PrestubWorkerEnd_V0:
    """End of preparing a method's first call."""


@event(STARTUP, id=96, version=0, aliases=("Startup/GetInstallationStart",))
class GetInstallationStart_V0:
    """Start of the search for the installation."""


@event(STARTUP, id=97, version=0, aliases=("Startup/GetInstallationStop",))
class GetInstallationEnd_V0:
    """End of the search for the installation."""


@event(STARTUP, id=98, version=0, aliases=("Startup/OpenHModuleStart",))
class OpenHModule_V0:
    """Start of opening a module."""


@event(STARTUP, id=99, version=0, aliases=("Startup/OpenHModuleStop",))
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
