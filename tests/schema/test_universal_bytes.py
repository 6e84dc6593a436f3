"""What the Linux recorder writes, byte by byte from its source, and what it means.

`ExistingProcess` is in no recording at hand (the recorder writes the processes that were asked for, which began later):
its stream is built here. The other kinds have their expected decode in fixtures/net8-linux.expected.json, too.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow
from clrevents.schema.codes import TypeCode
from in_memory import ended
from project_files import FIXTURES

NUMBER, TEXT = TypeCode.VARUINT, 23
PROCESS = {"NamespaceId": NUMBER, "Name": TEXT, "NamespaceName": TEXT}
KINDS: dict[str, tuple[int, dict[str, int], bytes, dict[str, Any]]] = {
    "Universal.System/ExistingProcess": (
        *(0, PROCESS, b"\xac\x02\x04\x00bash\x07\x00Unknown"),
        {"NamespaceId": 300, "Name": "bash", "NamespaceName": "Unknown"},
    ),
    "Universal.System/ProcessCreate": (
        *(1, PROCESS, b"\x00\x06\x00dotnet\x00\x00"),
        {"NamespaceId": 0, "Name": "dotnet", "NamespaceName": ""},
    ),
    "Universal.System/ProcessExit": (2, {}, b"", {}),
    "Universal.System/ProcessMapping": (
        3,
        {
            **{"Id": NUMBER, "StartAddress": NUMBER, "EndAddress": NUMBER, "FileOffset": NUMBER},
            **{"FileName": TEXT, "MetadataId": NUMBER},
        },
        b"\x07\x80\x20\xff\x3f\x80\x01\x05\x00/a.so\x02\x02\x00{}\x00\x00",
        {
            **{"Id": 7, "StartAddress": 0x1000, "EndAddress": 0x1FFF, "FileOffset": 128},
            # The recorder writes two more strings than it describes.
            **{"FileName": "/a.so", "MetadataId": 2, "SymbolMetadata": "{}", "VersionMetadata": ""},
        },
    ),
    "Universal.System/ProcessSymbol": (
        4,
        {"Id": NUMBER, "MappingId": NUMBER, "StartAddress": NUMBER, "EndAddress": NUMBER, "Name": TEXT},
        b"\x01\x07\x80\x20\x8f\x20\x01\x00f",
        {"Id": 1, "MappingId": 7, "StartAddress": 0x1000, "EndAddress": 0x100F, "Name": "f"},
    ),
    "Universal.System/ProcessMappingMetadata": (
        5,
        {"Id": NUMBER, "SymbolMetadata": TEXT, "VersionMetadata": TEXT},
        b'\x02\x0e\x00{"type":"ELF"}\x00\x00',
        {"Id": 2, "SymbolMetadata": '{"type":"ELF"}', "VersionMetadata": ""},
    ),
    "Universal.Events/cpu": (6, {"Value": NUMBER}, b"\x01", {"Value": 1}),
    "Universal.Events/cswitch": (7, {"Value": NUMBER}, b"\xc0\x84\x3d", {"Value": 1_000_000}),
}


# Those of Universal.Events have no ids of their own: they are always described.
@pytest.mark.parametrize(
    ("event", "described"),
    [*((event, True) for event in KINDS), *((event, False) for event in KINDS if "System" in event)],
)
def test_expected_decode(event: str, described: bool) -> None:
    number, fields, payload, expected = KINDS[event]
    provider, _, name = event.partition("/")
    written = tuple(FieldDescription(field, code) for field, code in fields.items()) if described else ()
    writer = NetTrace6Writer(io.BytesIO())
    writer.metadata([MetadataRecord(1, provider, number, 0, name if described else "", fields=written)])
    writer.threads([ThreadRow(1, 0, 4711)])
    writer.events([EventRecord(1, 5, 1, payload)])
    (found,) = clrevents.open(ended(writer)).events()
    assert (found.provider, found.name, found.process_id) == (provider, name, 4711)
    assert clrevents.asdict(found.payload) == expected
    assert not found.payload_tail


def test_the_recording_in_fixtures_has_all_other_kinds() -> None:
    known = json.loads((FIXTURES / "net8-linux.expected.json").read_text())["first_of_each_kind"]
    assert {f"{e['provider']}/{e['name']}" for e in known} == set(KINDS) - {"Universal.System/ExistingProcess"}
