"""Startup of the runtime: domains, the assembly binder, policy, security and modules, from the private provider."""

from clrevents.schema.event import EventGroup, InstanceFields
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE

STARTUP = EventGroup(PRIVATE, PrivateKeyword.Startup, level=4, task="Startup", fields=(object, InstanceFields))
STARTUP.span(80, "EEStartupStart", "execution engine startup")
STARTUP.span(82, "EEConfigSetup", "reading the runtime's configuration")
STARTUP.span(84, "LdSysBases", "loading the base system classes", alias="Startup/LoadSystemBases")
STARTUP.span(86, "ExecExe", "running the program's executable")
STARTUP.span(88, "Main", "the program's Main")
STARTUP.span(100, "ExplicitBindStart", "an explicit bind")
STARTUP.span(102, "ParseXml", "parsing an XML file")
STARTUP.span(104, "InitDefaultDomain", "initializing the default application domain")
STARTUP.span(106, "InitSecurity", "security setup")
STARTUP.span(108, "AllowBindingRedirs", "checking whether binding redirects are allowed")
STARTUP.span(110, "EEConfigSync", "synchronizing the runtime's configuration")
STARTUP.span(112, "FusionBinding", "a bind by the assembly binder", alias="Startup/Binding")
STARTUP.span(114, "LoaderCatchCall", "a guarded call of the loader")
STARTUP.span(116, "FusionInit", "setting up the assembly binder")
STARTUP.span(118, "FusionAppCtx", "setting up the assembly binder's application context")
STARTUP.span(120, "Fusion2EE", "the transition from the assembly binder to the execution engine")
STARTUP.span(122, "SecurityCatchCall", "a guarded call of security")
STARTUP.span(90, "ApplyPolicyStart", "applying binding policy")
STARTUP.span(92, "LdLibShFolder", "loading the shell folder library")
STARTUP.span(94, "PrestubWorker", "preparing a method's first call")
STARTUP.span(96, "GetInstallationStart", "the search for the installation")
STARTUP.span(98, "OpenHModule", "opening a module")
