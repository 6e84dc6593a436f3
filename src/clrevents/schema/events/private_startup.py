"""Startup of the runtime: domains, the assembly binder, policy, security and modules, from the private provider."""

from clrevents.schema.event import EventGroup, InstanceFields, extended, span
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE

STARTUP = EventGroup(PRIVATE, PrivateKeyword.Startup, level=4)

EEStartupStart_V0, EEStartupEnd_V0 = span(
    STARTUP, 80, "EEStartupStart", "Startup/EEStartup", "execution engine startup"
)
EEConfigSetup_V0, EEConfigSetupEnd_V0 = span(
    STARTUP, 82, "EEConfigSetup", "Startup/EEConfigSetup", "reading the runtime's configuration"
)
LdSysBases_V0, LdSysBasesEnd_V0 = span(
    STARTUP, 84, "LdSysBases", "Startup/LoadSystemBases", "loading the base system classes"
)
ExecExe_V0, ExecExeEnd_V0 = span(STARTUP, 86, "ExecExe", "Startup/ExecExe", "running the program's executable")
Main_V0, MainEnd_V0 = span(STARTUP, 88, "Main", "Startup/Main", "the program's Main")
ExplicitBindStart_V0, ExplicitBindEnd_V0 = span(
    STARTUP, 100, "ExplicitBindStart", "Startup/ExplicitBind", "an explicit bind"
)
ParseXml_V0, ParseXmlEnd_V0 = span(STARTUP, 102, "ParseXml", "Startup/ParseXml", "parsing an XML file")
InitDefaultDomain_V0, InitDefaultDomainEnd_V0 = span(
    STARTUP, 104, "InitDefaultDomain", "Startup/InitDefaultDomain", "initializing the default application domain"
)
InitSecurity_V0, InitSecurityEnd_V0 = span(STARTUP, 106, "InitSecurity", "Startup/InitSecurity", "security setup")
AllowBindingRedirs_V0, AllowBindingRedirsEnd_V0 = span(
    STARTUP, 108, "AllowBindingRedirs", "Startup/AllowBindingRedirs", "checking whether binding redirects are allowed"
)
EEConfigSync_V0, EEConfigSyncEnd_V0 = span(
    STARTUP, 110, "EEConfigSync", "Startup/EEConfigSync", "synchronizing the runtime's configuration"
)
FusionBinding_V0, FusionBindingEnd_V0 = span(
    STARTUP, 112, "FusionBinding", "Startup/Binding", "a bind by the assembly binder"
)
LoaderCatchCall_V0, LoaderCatchCallEnd_V0 = span(
    STARTUP, 114, "LoaderCatchCall", "Startup/LoaderCatchCall", "a guarded call of the loader"
)
FusionInit_V0, FusionInitEnd_V0 = span(
    STARTUP, 116, "FusionInit", "Startup/FusionInit", "setting up the assembly binder"
)
FusionAppCtx_V0, FusionAppCtxEnd_V0 = span(
    STARTUP, 118, "FusionAppCtx", "Startup/FusionAppCtx", "setting up the assembly binder's application context"
)
Fusion2EE_V0, Fusion2EEEnd_V0 = span(
    STARTUP, 120, "Fusion2EE", "Startup/Fusion2EE", "the transition from the assembly binder to the execution engine"
)
SecurityCatchCall_V0, SecurityCatchCallEnd_V0 = span(
    STARTUP, 122, "SecurityCatchCall", "Startup/SecurityCatchCall", "a guarded call of security"
)
ApplyPolicyStart_V0, ApplyPolicyEnd_V0 = span(
    STARTUP, 90, "ApplyPolicyStart", "Startup/ApplyPolicy", "applying binding policy"
)
LdLibShFolder_V0, LdLibShFolderEnd_V0 = span(
    STARTUP, 92, "LdLibShFolder", "Startup/LdLibShFolder", "loading the shell folder library"
)
PrestubWorker_V0, PrestubWorkerEnd_V0 = span(
    STARTUP, 94, "PrestubWorker", "Startup/PrestubWorker", "preparing a method's first call"
)
GetInstallationStart_V0, GetInstallationEnd_V0 = span(
    STARTUP, 96, "GetInstallationStart", "Startup/GetInstallation", "the search for the installation"
)
OpenHModule_V0, OpenHModuleEnd_V0 = span(STARTUP, 98, "OpenHModule", "Startup/OpenHModule", "opening a module")


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
