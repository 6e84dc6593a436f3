"""Events that users declare: registering again, replacing, isolation, and `asdict`."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import attrs
import pytest

import clrevents
from clrevents.events import MethodFlags, MethodLoadVerbose_V2
from clrevents.schema.registry import DEFAULT, RUNTIME
from clrevents.types import Bytes, Counted, Registry, UInt8, UInt16, UInt32, UnicodeString, by, event, struct

OWN = Registry()


@event("Test-Users-Events", id=1, version=0, aliases=("Thing/Happened",), keywords=3, level=5, registry=OWN)
class Happened_V0:
    """Something happened."""

    Number: UInt32


@event("Test-Users-Events", id=1, version=1, registry=OWN)
class Happened_V1(Happened_V0):
    """Something happened. Adds Text."""

    Text: UnicodeString


@struct
class Part:
    """One."""

    A: UInt8
    B: UnicodeString


@event("Test-Users-Events", id=8, version=0, registry=OWN)
class Whole_V0:
    """Many."""

    N: UInt8
    Parts: Annotated[Counted[Part], by("N")]
    Numbers: Annotated[Counted[UInt16], by("N")]
    Data: Annotated[Bytes, by("N")]
    Flags: Annotated[MethodFlags, UInt32]


def cell(registry: Registry, wire: Any = UInt32, name: str = "Cell_V0", **options: Any) -> type[Any]:
    """The class that a notebook's cell declares, however often it is run."""
    body = {"__annotations__": {"X": wire}, "__doc__": "A cell.", "__module__": "__main__", "__qualname__": name}
    return event("Test-Cells", id=7, version=0, registry=registry, **options)(type(name, (), body))


def test_record_is_a_value() -> None:
    record = Happened_V1(7, "seven")
    assert record == Happened_V1(Number=7, Text="seven")
    assert repr(record) == "Happened_V1(Number=7, Text='seven')"
    assert isinstance(record, Happened_V0)
    assert pickle.loads(pickle.dumps(record)) == record
    assert hash(record) == hash(Happened_V1(7, "seven"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        record.Number = 8  # type: ignore[misc]


def test_a_class_in_a_function_may_use_the_functions_names() -> None:
    """Annotations are text here, and what they name is no name of the module."""
    from clrevents.types import Int64

    registry = Registry(parent=None)

    @struct
    class Pair:
        A: Int64

    @event("Test-Users-Events", id=2, version=0, registry=registry)
    class Local_V0:
        N: UInt8
        Pairs: Annotated[Counted[Pair], by("N")]

    assert [field.name for field in Local_V0.__layout__.fields] == ["N", "Pairs"]  # type: ignore[attr-defined]
    assert Local_V0(1, (Pair(5),)) == Local_V0(1, (Pair(5),))


def test_an_annotation_without_a_meaning_is_named() -> None:
    def declare(wire: object) -> None:
        def inner() -> None:
            # `wire` is no name of this function, because nothing but the text of the annotation uses it.
            @event("Test-Users-Events", id=3, version=0, registry=Registry(parent=None))
            class Lost_V0:
                X: wire  # type: ignore[valid-type]

        inner()

    with pytest.raises(TypeError, match=r"^Lost_V0: an annotation uses 'wire', which is not defined"):
        declare(UInt32)


def test_the_same_class_again_replaces() -> None:
    registry = Registry(parent=None)
    first = cell(registry)
    second = cell(registry, UInt16)
    assert first is not second
    info = registry.get("Test-Cells", 7, 0)
    assert info is not None
    assert info.record is second
    assert info.layout == second.__layout__


def test_something_else_is_refused_and_named() -> None:
    registry = Registry(parent=None)
    first = cell(registry)
    with pytest.raises(ValueError, match=r"Test-Cells event 7 version 0 is already __main__\.Cell_V0.*replace=True"):
        cell(registry, UInt16, name="Other_V0")
    info = registry.get("Test-Cells", 7, 0)
    assert info is not None
    assert info.record is first, "a refused declaration changes nothing"


def test_another_name_for_the_same_fields_is_refused() -> None:
    registry = Registry(parent=None)
    cell(registry)
    with pytest.raises(ValueError, match="is already"):
        cell(registry, UInt32, name="Other_V0")


def test_replace_overrides() -> None:
    registry = Registry(parent=None)
    cell(registry)
    other = cell(registry, UInt16, name="Other_V0", replace=True)
    info = registry.get("Test-Cells", 7, 0)
    assert info is not None
    assert info.record is other
    assert [e.name for e in registry.entries()] == ["Other"]


def test_builtin_events_are_taken() -> None:
    for registry in (None, Registry()):
        with pytest.raises(ValueError, match="MethodLoadVerbose_V2"):

            @event(RUNTIME, id=143, version=2, registry=registry)
            class Mine_V2:
                """Not allowed."""

                X: UInt32

    info = DEFAULT.get(RUNTIME, 143, 2)
    assert info is not None
    assert info.record is MethodLoadVerbose_V2


def test_a_registry_of_its_own_isolates() -> None:
    one, two = Registry(), Registry()
    mine = cell(one)
    theirs = cell(two, UInt16, name="Other_V0")
    for registry, record in ((one, mine), (two, theirs)):
        info = registry.get("Test-Cells", 7, 0)
        assert info is not None
        assert info.record is record
    assert DEFAULT.get("Test-Cells", 7, 0) is None


def test_what_is_registered_globally_is_seen_by_children() -> None:
    child = Registry()

    @event("Test-Globally", id=1, version=0)
    class Global_V0:
        """For a moment."""

        X: UInt32

    try:
        for registry in (DEFAULT, child, OWN):
            info = registry.get("Test-Globally", 1, 0)
            assert info is not None
            assert info.record is Global_V0
            assert [e.provider for e in registry.named("Global")] == ["Test-Globally"]
        assert Registry(parent=None).get("Test-Globally", 1, 0) is None
    finally:
        # Other tests list all that is registered.
        del DEFAULT._events["Test-Globally", 1]


def test_asdict() -> None:
    record = Whole_V0(2, (Part(1, "x"), Part(2, "y")), (5, 6), b"\0\1", MethodFlags(0x8))
    assert clrevents.asdict(record) == {
        "N": 2,
        "Parts": [{"A": 1, "B": "x"}, {"A": 2, "B": "y"}],
        "Numbers": [5, 6],
        "Data": b"\0\1",
        "Flags": MethodFlags.Jitted,
    }
    assert list(clrevents.asdict(record)) == ["N", "Parts", "Numbers", "Data", "Flags"], "in wire order"


@pytest.mark.parametrize("other", [None, 1, "x", {}, UUID(int=0), Decimal(1), clrevents.RawPayload(b"", "why")])
def test_asdict_takes_records_only(other: Any) -> None:
    with pytest.raises(TypeError, match="is not an event record"):
        clrevents.asdict(other)
