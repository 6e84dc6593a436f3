"""Events described as data, and layouts written as class bodies: what is said is what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.reference import codec
from clrevents.schema.describe import class_body, register
from clrevents.schema.registry import RUNTIME, Registry
from clrevents.testing.builder import TraceBuilder

ORDER: dict[str, Any] = {
    "provider": "MyCompany-Orders",
    "id": 7,
    "version": 0,
    "name": "OrderPlaced",
    "fields": {
        "OrderId": "UInt32",
        "Customer": "UnicodeString",
        "Count": "UInt16",
        "Items": "UInt64[Count]",
        "Size": "UInt8",
        "Blob": "Bytes[Size]",
        "Tags": "UnicodeString[]",
    },
}


def test_a_description_reads_a_trace() -> None:
    registry = Registry()
    (made,) = register(ORDER, registry=registry)
    record = made(42, "Ada", 2, (1, 2), 3, b"abc", ("x", "yz"))
    payload = codec(made).build(record)
    data = TraceBuilder().raw("MyCompany-Orders", 7, payload=payload).build()
    with clrevents.open(data, registry=registry) as trace:
        (event,) = trace.events("OrderPlaced")
        (same,) = trace.events(made)
    assert event.payload == record
    assert event.payload.Items == (1, 2)
    assert event.payload["Blob"] == b"abc"
    assert same.payload.Tags == ("x", "yz")


def test_toml_text_and_file(tmp_path: Path) -> None:
    text = '[[event]]\nprovider = "P"\nid = 1\nname = "One"\n[event.fields]\nA = "Guid"\n'
    text += '[[event]]\nprovider = "P"\nid = 2\nname = "Two"\n'
    file = tmp_path / "events.toml"
    file.write_text(text)
    for source in (text, file, str(file)):
        one, two = register(source, registry=Registry())
        assert [f.type.name for f in one.__layout__] == ["GUID"]
        assert len(two.__layout__) == 0


def test_an_event_class_goes_into_another_registry() -> None:
    from clrevents.events import MethodLoad_V1

    registry = Registry(parent=None)
    assert register(MethodLoad_V1, registry=registry) == [MethodLoad_V1]
    assert [e.name for e in registry.entries()] == ["MethodLoad"]


def test_the_same_again_is_fine_and_another_is_not() -> None:
    registry = Registry()
    register(ORDER, registry=registry)
    register(ORDER, registry=registry)
    other = {**ORDER, "name": "SomethingElse", "fields": {"X": "UInt8"}}
    with pytest.raises(ValueError, match=r"is already .*OrderPlaced_V0"):
        register(other, registry=registry)
    (made,) = register(other, registry=registry, replace=True)
    assert [e.name for e in registry.named("SomethingElse")] == ["SomethingElse"]
    assert made.__name__ == "SomethingElse_V0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": {"A": "UInt33"}}, "OrderPlaced.A: 'UInt33' is not a type"),
        ({"fields": {"A": "UInt32["}}, "is not a type"),
        ({"fields": {"A": "UInt64[B]", "B": "UInt8"}}, "counted by 'B'"),
        ({"feilds": {}}, "unknown key 'feilds'"),
    ],
)
def test_descriptions_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        register({**ORDER, **change}, registry=Registry())


def test_a_description_needs_its_name() -> None:
    with pytest.raises(ValueError, match="requires 'name'"):
        register({"provider": "P", "id": 1}, registry=Registry())
    with pytest.raises(TypeError, match="not an event class"):
        register(int)


def test_a_printed_class_body_declares_the_same_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clrevents.schema.event.DEFAULT", Registry())
    (made,) = register(ORDER, registry=Registry())
    text = class_body("OrderPlaced", "MyCompany-Pasted", 7, 0, made.__layout__)
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "pasted", "exec", dont_inherit=True), space)
    assert space["OrderPlaced_V0"].__layout__ == made.__layout__


def test_hostile_names_stay_out_of_the_class_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clrevents.schema.event.DEFAULT", Registry())
    fields = {'"\nimport os\n#': "UInt8", "class": "UInt8", "ok": "UInt8"}
    (made,) = register({**ORDER, "fields": fields}, registry=Registry())
    text = class_body('x"); import os; ("', 'P"\n', 7, 0, made.__layout__)
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "pasted", "exec", dont_inherit=True), space)
    (pasted,) = [v for v in space.values() if hasattr(v, "__event__")]
    assert [f.name for f in pasted.__layout__] == ["field_0", "field_1", "ok"]
    assert "\nimport os" not in text
    assert pasted.__event__.provider == 'P"\n'


def test_a_trace_that_disagrees_with_a_built_in_event_is_reported() -> None:
    data = (
        TraceBuilder()
        .described(RUNTIME, "GCEnd", {"Count": (9, 1), "Depth": (11, 2)}, id=2)
        .described(RUNTIME, "GCEnd", {"Count": (9, 1), "Depth": (11, 3)}, id=2)
        .build()
    )
    with clrevents.open(data) as trace:
        events = list(trace.events())
        (drift,) = trace.problems
    assert drift.kind == "schema-drift"
    assert "field Depth: the registry has UInt16, the trace describes Int64" in drift.message
    # The trace's own description uses up the payload where the registry's does not.
    assert [event.payload["Depth"] for event in events] == [2, 3]
    assert not any(event.payload_tail for event in events)
