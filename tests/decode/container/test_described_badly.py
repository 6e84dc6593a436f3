"""NetTrace 6: a field list that cannot be true is damage, one of long names unusable, and the event keeps its bytes."""

from __future__ import annotations

import io

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription
from in_memory import ended

STRING = 18


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("code", [TypeCode.RELLOC, TypeCode.DATALOC])
@pytest.mark.parametrize("name", ["Odd", "!Odd", ""])
def test_elements_without_a_size(code: int, name: str) -> None:
    field = FieldDescription(name, code, FieldDescription("", STRING))
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads([ThreadRow(1, 7)])
    writer.metadata([MetadataRecord(1, "Own", 5, name="E", fields=(field,))])
    writer.events([EventRecord(1, 1000, 1, b"abc", sequence=1)])
    with clrevents.open(ended(writer), errors="salvage") as trace:
        (event,) = trace.events()
        (problem,) = (p for p in trace.problems if p.kind.startswith("bad-"))
    assert (problem.kind, problem.severity) == ("bad-metadata", "damage")
    assert problem.message == f"Own/E: field {name!r} is a located array, but its elements have no fixed size"
    assert isinstance(event.payload, clrevents.RawPayload)
    assert event.payload.data == b"abc"


def test_names_of_fields_have_a_bounded_length() -> None:
    def opened(*lengths: int) -> clrevents.Trace:
        described = tuple(FieldDescription("x" * length, TypeCode.UINT8) for length in lengths)
        writer = NetTrace6Writer(io.BytesIO())
        writer.threads([ThreadRow(1, 7)])
        writer.metadata([MetadataRecord(1, "P", 5, name="E", fields=described)])
        writer.events([EventRecord(1, 1000, 1, bytes(len(lengths)))])
        return clrevents.open(ended(writer))

    with opened(2048 + 63, 65) as trace:
        (event,) = trace.events()
        assert event.payload["x" * 65] == 0
        assert trace.problems == ()
    with opened(2048 + 64, 65) as trace:
        (event,) = trace.events()
        assert isinstance(event.payload, clrevents.RawPayload)
        note = trace.problems[0]
        assert (note.kind, note.severity) == ("bad-fields", "note")
        assert note.message == "unusable event description: the names of its fields are too long"
