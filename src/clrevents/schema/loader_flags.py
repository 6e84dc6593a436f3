"""Flags that several families of loader events share. Declares them; decides nothing."""

from clrevents.schema.flags import OpenFlag


class AppDomainFlags(OpenFlag):
    """The kind of an application domain (manifest: AppDomainFlagsMap)."""

    Default = 0x1
    Executable = 0x2
    Shared = 0x4


class AssemblyFlags(OpenFlag):
    """The kind of an assembly (manifest: AssemblyFlagsMap, up to 0x8).

    Source: `LoaderStructs::AssemblyFlags`, inc/eventtracebase.h.
    """

    DomainNeutral = 0x1
    Dynamic = 0x2
    Native = 0x4
    Collectible = 0x8
    ReadyToRun = 0x10


class ModuleFlags(OpenFlag):
    """The kind of a module (manifest: ModuleFlagsMap; source: `ModuleFlags`, eventtracebase.h)."""

    DomainNeutral = 0x1
    Native = 0x2
    Dynamic = 0x4
    Manifest = 0x8
    IbcOptimized = 0x10
    ReadyToRunModule = 0x20
    PartialReadyToRunModule = 0x40


class ModuleRangeType(OpenFlag):
    """The kind of code or data in a range (manifest: ModuleRangeTypeMap)."""

    ColdRange = 0x4
