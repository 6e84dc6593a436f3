"""Layouts: what may be declared, what binding a pointer size resolves, which runs of fields are read together."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from clrevents.schema.event import make_record
from clrevents.schema.layout import Field, FixedStep, Layout, VariableStep
from clrevents.schema.types import read_annotation
from clrevents.schema.wire import PointerType, Scalar
from clrevents.types import (
    AnsiString,
    Boolean,
    Boolean8,
    Bytes,
    Counted,
    Double,
    Float,
    Guid,
    Int8,
    Int16,
    Int32,
    Int64,
    OpenEnum,
    Pointer,
    Registry,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UnicodeString,
    by,
    event,
    pad,
    struct,
)

U8 = Scalar("UInt8", 1, "B")


class Colour(OpenEnum):
    Red = 0


def layout_of(**annotations: Any) -> Layout:
    """The layout of a class body with these annotations."""
    body = type("Body", (), {"__annotations__": annotations})
    layout: Layout = make_record(body).__layout__
    return layout


def test_sizes_of_the_vocabulary() -> None:
    """The wire rules of the runtime: booleans of four bytes, pointers as wide as the traced process's."""
    sizes: dict[Any, tuple[int | None, int | None]] = {
        Int8: (1, 1),
        UInt8: (1, 1),
        Int16: (2, 2),
        UInt16: (2, 2),
        Int32: (4, 4),
        UInt32: (4, 4),
        Int64: (8, 8),
        UInt64: (8, 8),
        Float: (4, 4),
        Double: (8, 8),
        Boolean: (4, 4),
        Boolean8: (1, 1),
        Guid: (16, 16),
        Pointer: (4, 8),
        Annotated[Colour, UInt16]: (2, 2),
        UnicodeString: (None, None),
        AnsiString: (None, None),
    }
    for annotation, (on32, on64) in sizes.items():
        layout = layout_of(X=annotation)
        assert layout.bind(4).fixed_size == on32
        assert layout.bind(8).fixed_size == on64
    assert layout_of(X=UnicodeString).bind(8).min_size == 2
    assert layout_of(X=AnsiString).bind(8).min_size == 0, "a null is written as nothing"


def test_fields_are_read_in_runs() -> None:
    layout = layout_of(A=UInt16, P=Pointer, S=UnicodeString, B=UInt32, G=Guid, N=UInt8, D=Annotated[Bytes, by("N")])
    bound = layout.bind(8)
    first, text, second, data = bound.steps
    assert isinstance(first, FixedStep)
    assert (first.first, first.format, first.size) == (0, "<HQ", 10)
    assert isinstance(text, VariableStep)
    assert (text.index, text.count_index) == (2, -1)
    assert isinstance(second, FixedStep)
    assert (second.first, second.format, second.size) == (3, "<I16sB", 21)
    assert isinstance(data, VariableStep)
    assert (data.index, data.count_index) == (6, 5)
    assert bound.fixed_size is None
    assert bound.min_size == 10 + 2 + 21
    assert layout.bind(4).steps[0] == FixedStep(0, layout.bind(4).fields[:2], "<HI", 6)


def test_padding_depends_on_the_pointer_size() -> None:
    layout = layout_of(A=UInt16, B=Annotated[UInt32, pad(2, 2)], C=Annotated[Pointer, pad(0, 4)])
    assert layout.bind(4).steps[0].format == "<H2xII"  # type: ignore[union-attr]
    assert layout.bind(8).steps[0].format == "<H2xI4xQ"  # type: ignore[union-attr]
    assert (layout.bind(4).fixed_size, layout.bind(8).fixed_size) == (12, 20)


@pytest.mark.parametrize("size", [0, 2, 16, "8"])
def test_pointers_are_of_four_or_eight_bytes(size: Any) -> None:
    with pytest.raises(ValueError, match="pointer size must be 4 or 8"):
        Layout().bind(size)


def test_binding_is_cached() -> None:
    layout = Layout((Field("X", PointerType()),))
    assert layout.bind(8) is layout.bind(8)
    assert layout.bind(8) == Layout((Field("X", PointerType()),)).bind(8)


def test_field_twice() -> None:
    with pytest.raises(TypeError, match="field 'A' is declared twice"):
        Layout((Field("A", U8), Field("A", U8)))

    class Parent:
        A: UInt16

    parent = make_record(Parent)

    with pytest.raises(TypeError, match="Child: field 'A' is declared twice"):
        make_record(type("Child", (parent,), {"__annotations__": {"A": UInt16}}))


@pytest.mark.parametrize("counter", ["UnicodeString", "Double", "Missing", "Guid", "Boolean"])
def test_only_an_integer_before_it_counts_a_field(counter: str) -> None:
    fields: dict[str, Any] = {"UnicodeString": UnicodeString, "Double": Double, "Guid": Guid, "Boolean": Boolean}
    with pytest.raises(TypeError, match=f"'Items' is counted by {counter!r}, which is not an integer field before it"):
        layout_of(**fields, Items=Annotated[Counted[UInt16], by(counter)], Missing=UInt16)


def test_an_enum_may_count() -> None:
    layout = layout_of(N=Annotated[Colour, UInt8], Items=Annotated[Counted[UInt16], by("N")])
    assert layout.bind(8).min_size == 1


@pytest.mark.parametrize("annotation", [int, str, "int", list[int], Annotated[int, "nothing"], None])
def test_only_wire_types_are_fields(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"Body\.X: .* is not a wire type; use one of clrevents\.types"):
        layout_of(X=annotation)


def test_counted_needs_its_count() -> None:
    with pytest.raises(TypeError, match=r'a counted field requires its count: Annotated\[\.\.\., by\("Count"\)\]'):
        layout_of(X=Counted[UInt16])
    with pytest.raises(TypeError, match="a counted field requires its count"):
        layout_of(X=Bytes)
    with pytest.raises(TypeError, match="applies only to Counted and Bytes"):
        layout_of(N=UInt16, X=Annotated[UInt32, by("N")])


def test_private_names_are_refused() -> None:
    with pytest.raises(TypeError, match="must not start with an underscore"):
        layout_of(_x=UInt16)


def test_structs_are_types() -> None:
    @struct
    class Pair:
        """Two."""

        A: UInt16
        P: Pointer

    layout = layout_of(N=UInt8, Pairs=Annotated[Counted[Pair], by("N")], One=Pair)
    assert layout.bind(8).min_size == 1 + 10
    assert layout.bind(4).min_size == 1 + 6
    assert layout.fields[1].type.name == "Pair[N]"
    assert layout.fields[2].type.name == "Pair"


def test_type_names_for_people() -> None:
    wire, _ = read_annotation(Annotated[Counted[UInt64], by("Count")], "X")
    assert wire.name == "UInt64[Count]"
    wire, padding = read_annotation(Annotated[Pointer, pad(1, 2)], "X")
    assert wire.name == "Pointer"
    assert padding is not None
    assert (padding.bytes32, padding.bytes64) == (1, 2)


def test_class_name_must_agree_with_the_version() -> None:
    with pytest.raises(TypeError, match="class Thing_V2 ends in _V2 but declares version 1"):

        @event("My", id=1, version=1, registry=Registry(parent=None))
        class Thing_V2:
            """Wrong."""
