"""Processes, mappings and symbols in NetTrace 6 files, which may describe any kind of process.

Process and thread of an event are in its header. A description in the file takes precedence over these; the events of
`Universal.Events` are always described and have no fixed ids, so they are not here.
"""

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.types import CountedUtf8, VarUInt

PROVIDER = "Universal.System"


@struct
class ProcessFields:
    """A process and its namespace."""

    NamespaceId: VarUInt
    Name: CountedUtf8
    NamespaceName: CountedUtf8


PROCESSES = EventGroup(PROVIDER, 0, level=0, only_undescribed=True)
PROCESSES.event(0, "ExistingProcess", "A process that was running when the session started.", ProcessFields)
PROCESSES.event(1, "ProcessCreate", "A process started.", ProcessFields)
PROCESSES.event(2, "ProcessExit", "A process ended.")


@struct
class ProcessMappingHead:
    """What the recorder describes of a mapping: its addresses, and the file offset in bytes."""

    Id: VarUInt
    StartAddress: VarUInt
    EndAddress: VarUInt
    FileOffset: VarUInt
    FileName: CountedUtf8
    MetadataId: VarUInt


@struct
class ProcessMappingWithMetadata(ProcessMappingHead):
    """A mapping with the two strings that the recorder writes and does not describe."""

    SymbolMetadata: CountedUtf8
    VersionMetadata: CountedUtf8


@event(PROVIDER, id=3, version=0, only_undescribed=True, otherwise=ProcessMappingWithMetadata)
class ProcessMapping_V0(ProcessMappingHead):
    """A file or anonymous memory was mapped into a process: its addresses, and the file offset in bytes."""


@event(PROVIDER, id=4, version=0, only_undescribed=True)
class ProcessSymbol_V0:
    """A named address range in a mapping."""

    Id: VarUInt
    MappingId: VarUInt
    StartAddress: VarUInt
    EndAddress: VarUInt
    Name: CountedUtf8


@event(PROVIDER, id=5, version=0, only_undescribed=True)
class ProcessMappingMetadata_V0:
    """Where to find the symbols of mapped files, and the version of the files; both strings are JSON."""

    Id: VarUInt
    SymbolMetadata: CountedUtf8
    VersionMetadata: CountedUtf8
