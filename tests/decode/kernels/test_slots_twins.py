"""Both engines of the kernel that makes objects: the same objects, the same errors, and nothing kept or lost.

The compiled one writes slots where they are in memory and hides objects from the garbage collector; so references are
counted, and input is as wrong as a caller could make it.
"""

from __future__ import annotations

import gc
import struct
import sysconfig
import weakref
from abc import ABC, abstractmethod
from contextlib import nullcontext
from random import Random
from sys import getrefcount
from typing import Any, Final
from uuid import UUID

import attrs
import pytest

import kernel_cases as cases
from kernel_cases import Pair, Plain, Record, Referred, Seven, Uncollected, WithDict, contents, slots
from kernel_twins import Engine, Making, Objects, Reading, interpreted, twins

CALLS = 300
EMPTY = [0] * 8


@pytest.fixture(scope="module")
def engines() -> tuple[Engine, Engine]:
    return twins()


@pytest.fixture(params=["interpreted", "compiled"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return interpreted() if request.param == "interpreted" else twins()[1]


def filled(cls: Any, count: int) -> Objects:
    return Objects(cls, [*slots(cls).values()][:count])


def one_field(*numbers: int, data: bytes, cls: Any = Plain, more: tuple[list[int], ...] = ()) -> Reading:
    """A record of one field, and one payload."""
    code = [*numbers, *EMPTY][:8] + [number for field in more for number in [*field, *EMPTY][:8]]
    return Reading(filled(cls, 1), code, [*cases.PARTS], 1, -1, b"\xfe" + data + b"\xfe", [1], [1 + len(data)])


def value(engine: Engine, *numbers: int, data: bytes, more: tuple[list[int], ...] = ()) -> Any:
    """The value of a field, or `...` if the payload does not fit."""
    stopped, fits, made = engine.read(one_field(*numbers, data=data, more=more))
    assert stopped == 1
    return made[0].a if fits[0] else ...


def test_records_of_any_payloads(engines: tuple[Engine, Engine]) -> None:
    """Sound calls and wrong ones, as drawn: both raise the same, or make the same records of the same payloads."""
    rng = Random(9)
    raised = set()
    fitting = misfits = 0
    for _ in range(CALLS):
        given = cases.reading(rng)
        first, second = (engine.read(given) for engine in engines)
        assert cases.alike(contents(first), contents(second)), given
        if len(first) == 1:
            raised.add(first[0])
        else:
            fitting += sum(first[1])
            misfits += len(first[1]) - sum(first[1])
    # The last where a count was never set, and is another when the payload is read again.
    assert {IndexError} <= raised <= {IndexError, OverflowError, TypeError, ValueError}
    assert fitting > CALLS
    assert misfits > CALLS / 4


def test_payloads_are_all_that_is_read(engine: Engine) -> None:
    """What lies between them changes nothing, and what is in them does."""
    rng = Random(3)
    for _ in range(CALLS // 5):
        given = cases.reading(rng)
        other = bytearray([rng.choice((0, 0xFF))]) * len(given.buf)
        for start, end in zip(given.starts, given.ends, strict=True):
            other[start:end] = given.buf[start:end]
        found = [engine.read(attrs.evolve(given, buf=buf)) for buf in (given.buf, bytes(other))]
        assert cases.alike(contents(found[0]), contents(found[1]))


def test_numbers(engine: Engine) -> None:
    for size in (1, 2, 4, 8):
        data = bytes(range(0x81, 0x81 + size))
        assert value(engine, cases.UNSIGNED, 0, size, -1, data=data) == int.from_bytes(data, "little")
        assert value(engine, cases.SIGNED, 0, size, -1, data=data) == int.from_bytes(data, "little", signed=True)
        assert value(engine, cases.CONVERTED, 0, size, -1, 2, 1, data=b"\xff" * size) == "-0x1"
        assert value(engine, cases.CONVERTED, 0, size, -1, 2, 0, data=b"\xff" * size) == "0x" + "ff" * size
        assert value(engine, cases.BOOL, 0, size, -1, data=bytes(size)) is False
        assert value(engine, cases.BOOL, 0, size, -1, data=bytes(size - 1) + b"\x80") is True
        assert value(engine, cases.UNSIGNED, 2, size, -1, data=b"\xff\xff" + data) == int.from_bytes(data, "little")
        for wrong in (data[1:], data + b"\0", b""):
            assert value(engine, cases.UNSIGNED, 0, size, -1, data=wrong) is ...
    assert (
        value(engine, cases.REAL, 0, 4, data=struct.pack("<f", 0.1)) == struct.unpack("<f", struct.pack("<f", 0.1))[0]
    )
    assert value(engine, cases.REAL, 0, 8, data=struct.pack("<d", -0.1)) == -0.1
    for number in (0, 1, 127, 128, (1 << 63) + 5, (1 << 64) - 1):
        data = bytes(
            number >> shift & 127 | 128 * (number >> shift + 7 > 0)
            for shift in range(0, max(number.bit_length(), 1), 7)
        )
        assert value(engine, cases.VARINT, 0, 1, 0, data=data) == number
        assert value(engine, cases.VARINT, 0, 1, 1, data=data) == (number >> 1) ^ -(number & 1)
        assert value(engine, cases.VARINT, 0, 1, 0, data=data[:-1] + bytes([data[-1] | 128])) is ...
    assert value(engine, cases.VARINT, 0, 1, 0, data=b"\xff" * 9 + b"\x7f") == (1 << 64) - 1
    assert value(engine, cases.VARINT, 0, 1, 0, data=b"\xff" * 10 + b"\x01") is ...


def test_differences_begin_anew_in_each_array(engine: Engine) -> None:
    """Arrays in an array: the first number of each is itself, all others are added to the one before."""
    inner = [cases.ARRAY, 0, 2, -1, 16, 1, 0], [cases.VARINT, 0, 1, 2]
    data = b"\2\0" + b"\3\0\x09\1\4" + b"\2\0\5\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"
    found = value(engine, cases.ARRAY, 0, 2, -1, 8, 2, 0, data=data, more=inner)
    assert found == ((9, 8, 10), (5, (5 - (1 << 63)) % (1 << 64)))


@pytest.mark.parametrize("text", ["", "a", "abcd", "abcdefghi", "aÿb", "Āb", "a\ud800", "😀 text", "\ufeffx", "\ufffd"])
def test_texts(engine: Engine, text: str) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    count = struct.pack("<H", len(units) // 2)
    for data in (units + b"\0\0", b"\0" + units + b"\0\0"):
        assert value(engine, cases.UTF16, len(data) & 1, 2, data=data) == text
        assert value(engine, cases.UTF16, len(data) & 1, 2, data=data[:-1]) is ...
    assert value(engine, cases.SPAN, 0, 2, -1, 2, 2, data=count + units) == text
    assert value(engine, cases.SPAN, 0, 2, -1, 2, 2, data=count + units[1:]) is (... if units else "")
    octets = text.encode("utf-8", "surrogatepass")
    narrow = octets.decode("latin-1") if "\ud800" in text else text
    assert value(engine, cases.BYTE_TEXT, 0, 1, data=octets + b"\0") == narrow
    assert value(engine, cases.BYTE_TEXT, 0, 1, data=octets) is ...
    size = struct.pack("<H", len(octets))
    assert value(engine, cases.SPAN, 0, 2, -1, 1, 1, data=size + octets) == octets.decode("utf-8", "replace")
    assert value(engine, cases.SPAN, 0, 2, -1, 0, 1, data=size + octets) == octets
    assert value(engine, cases.SPAN, 0, 0, -2 - len(octets), 0, 1, data=octets) == octets


def test_sixteen_bytes(engine: Engine) -> None:
    data = bytes(range(16))
    made = value(engine, cases.GUID, 0, 16, 0, 0, 1, data=data)
    assert (type(made), made.number, made.other) == (Pair, UUID(bytes_le=data).int, "unknown")
    assert value(engine, cases.RAW, 0, 16, 0, 3, data=data) == data.hex()
    assert value(engine, cases.RAW, 0, 16, 0, 3, data=data[1:]) is ...


def test_many(engine: Engine) -> None:
    """A 16-bit count, a count that is known, and one from a field before; of numbers and of structs."""
    two = [cases.UNSIGNED, 0, 2, -1]
    data = struct.pack("<3H", 2, 7, 8)
    assert value(engine, cases.ARRAY, 0, 2, -1, 8, 2, 1, data=data, more=(two,)) == (7, 8)
    assert value(engine, cases.ARRAY, 0, 0, -5, 8, 2, 1, data=data, more=(two,)) == (2, 7, 8)
    assert value(engine, cases.ARRAY, 0, 0, -2, 8, 2, 1, data=b"", more=(two,)) == ()
    assert value(engine, cases.ARRAY, 0, 2, -1, 8, 2, 1, data=data[:-1], more=(two,)) is ...
    assert value(engine, cases.ARRAY, 0, 2, -1, 8, 2, 0, data=b"\xff\xff" + bytes(90), more=(two,)) is ...
    inner = (
        [cases.STRUCT, 0, 0, 4, 16, 3],
        [cases.UNSIGNED, 0, 1, 1],
        [cases.SPAN, 0, 0, 1, 0, 1],
        [cases.UTF16, 0, 2],
    )
    data = b"\x02\0" + b"\x03abcx\0\0\0" + b"\0\0\0"
    first, second = value(engine, cases.ARRAY, 0, 2, -1, 8, 3, 0, data=data, more=inner)
    assert (type(first), first.a, first.b, first.c) == (Plain, 3, b"abc", "x")
    assert (second.a, second.b, second.c) == (0, b"", "")
    # Counts with a sign, and such as no payload could have.
    for operation, size in ((cases.SIGNED, 4), (cases.UNSIGNED, 8), (cases.CONVERTED, 8)):
        code = [operation, 0, size, 0, 2, 1, 0, 0, cases.SPAN, 0, 0, 0, 0, 1, 0, 0]
        given = Reading(filled(Plain, 2), code, [*cases.PARTS], 2, -1, b"\xff" * 40, [0], [40])
        assert engine.read(given)[1] == [0]
        buf = (3).to_bytes(size, "little") + b"abc"
        _, fits, made = engine.read(attrs.evolve(given, buf=buf, ends=[len(buf)]))
        assert fits == [1]
        assert made[0].b == b"abc"


def test_the_same_bytes_again_are_the_same_array_in_the_same_field_only(engine: Engine) -> None:
    """Arrays of fields that read the same bytes otherwise, and of bytes that differ in the middle, stay different."""
    arrays = [[cases.ARRAY, 0, 2, -1, 8 * (2 + k), 1, 1, 0] for k in range(2)]
    numbers = [cases.UNSIGNED, 0, 1, -1, 0, 0, 0, 0], [cases.SIGNED, 0, 1, -1, 0, 0, 0, 0]
    code = [number for field in (*arrays, *numbers) for number in field]
    counted = {size: [struct.pack("<H", size) + bytes([255 - k]) * size for k in range(2)] for size in (1, 20, 300)}
    for size, (one, other) in counted.items():
        mixed = one[: size // 2 + 2] + other[size // 2 + 2 : size // 2 + 3] + one[size // 2 + 3 :]
        rows = [one * 2, one + other, mixed + one, *(each + bytes(2) for each in (one, mixed, one)), mixed * 2] * 3
        ends = [sum(map(len, rows[: k + 1])) for k in range(len(rows))]
        starts = [end - len(row) for end, row in zip(ends, rows, strict=True)]
        given = Reading(filled(Plain, 2), code, [], 2, -1, b"".join(rows), starts, ends)
        expected = [(tuple(row[2 : 2 + size]), tuple(n - 256 for n in row[4 + size :])) for row in rows]
        assert [(r.a, r.b) for r in engine.read(given)[2]] == expected


def test_rows_that_are_not_read(engine: Engine) -> None:
    """Those of a kind without a program are single, and reading stops at a kind that is not known yet."""
    given = one_field(cases.UNSIGNED, 0, 1, -1, data=b"\x07")
    assert engine.read(given, entry=-1) == (1, [0], ["single"])
    assert engine.read(given, entry=-2) == (0, [0], [])
    two = attrs.evolve(given, starts=[1, 1], ends=[2, 3])
    stopped, fits, made = engine.read(two)
    assert (stopped, fits, made[0].a, made[1]) == (2, [1, 0], 7, None)


def test_a_size_that_is_known(engine: Engine) -> None:
    given = attrs.evolve(one_field(cases.UNSIGNED, 0, 1, -1, data=b"\x07\x08"), size=1)
    assert engine.read(given)[1] == [0]
    assert engine.read(attrs.evolve(given, ends=[2]))[1] == [1]


@pytest.mark.parametrize(
    ("change", "options", "error"),
    [
        ({"starts": [-1]}, {}, IndexError),
        ({"ends": [0]}, {}, IndexError),
        ({"ends": [4]}, {}, IndexError),
        ({"ends": [1 << 40]}, {}, IndexError),
        ({"starts": [-1]}, {"fit": True}, IndexError),
        ({}, {"rows": 2}, IndexError),
        ({}, {"entry": 1}, IndexError),
        ({"parts": []}, {}, IndexError),
        ({"code": [0, 0, 1]}, {}, IndexError),
        ({"fields": 2}, {}, IndexError),
        ({"record": filled(Plain, 0)}, {}, IndexError),
        ({"code": [cases.UNSIGNED, 0, 1, 40, 0, 0, 0, 0]}, {}, IndexError),
        ({"ends": [3]}, {"fit": True}, ValueError),
    ],
)
def test_what_is_wrong_is_an_error(
    engine: Engine, change: dict[str, Any], options: dict[str, Any], error: type[Exception]
) -> None:
    """Never a look at foreign memory."""
    operation = cases.CONVERTED if "parts" in change else cases.UNSIGNED
    given = one_field(operation, 0, 1, -1, 2, data=b"\x07")
    assert len(engine.read(given)) == 3
    assert engine.read(attrs.evolve(given, **change), **options) == (error,)


WRONG: dict[str, Objects] = {
    "a slot that is a number": Objects(Plain, [5]),
    "a slot that is None": Objects(Plain, [None]),
    "a function for a slot": Objects(Plain, [len]),
    "a property": Objects(Plain, [property()]),
    "another class's slot": Objects(Plain, [*slots(Record).values()][:1]),
    "a child's slot": Objects(Plain, [slots(Referred)["f"]]),
    "a member of a built-in class": Objects(slice, [slice.start]),
    "a number for a class": Objects(5, [*slots(Plain).values()][:1]),
    "None for a class": Objects(None, []),
}


@pytest.mark.parametrize("name", WRONG)
def test_only_slots_of_the_class_are_filled(engine: Engine, name: str) -> None:
    with pytest.raises(TypeError):
        engine.slotted(WRONG[name])


@pytest.mark.parametrize("cls", [int, list, type])
def test_only_slotted_classes_are_made(engine: Engine, cls: type[Any]) -> None:
    given = attrs.evolve(one_field(data=b""), record=Objects(cls, []), code=[], fields=0)
    assert engine.read(given) == (TypeError,)


def test_abstract_classes_cannot_be_made(engine: Engine) -> None:
    class Idea(ABC):
        __slots__ = ()

        @abstractmethod
        def method(self) -> None: ...

    given = attrs.evolve(one_field(data=b""), record=Objects(Idea, []), code=[], fields=0)
    assert engine.read(given) == (TypeError,)


def test_a_class_that_makes_itself_is_not_asked(engine: Engine) -> None:
    """No `__new__` and no `__init__` runs, in either engine."""

    class Own:
        __slots__ = ("a",)

        def __new__(cls) -> Own:
            raise AssertionError("asked")

        def __init__(self) -> None:
            raise AssertionError("asked")

    given = attrs.evolve(one_field(cases.UNSIGNED, 0, 1, -1, data=b"\x07"), record=Objects(Own, [vars(Own)["a"]]))
    assert engine.read(given)[2][0].a == 7


@pytest.mark.parametrize("cls", cases.CLASSES)
def test_slots_that_nobody_set_are_empty(engine: Engine, cls: type[Any]) -> None:
    given = attrs.evolve(one_field(data=b""), record=Objects(cls, []), code=[], fields=0)
    (one,) = engine.read(given)[2]
    assert type(one) is cls
    for name in slots(cls):
        with pytest.raises(AttributeError):
            getattr(one, name)
    if cls is WithDict:
        one.more = 1
        assert vars(one) == {"more": 1}


class Value:
    """Something whose references can be counted."""


@pytest.mark.parametrize("cls", [Plain, Referred, WithDict, Record])
@pytest.mark.parametrize("wrong", [False, True])
def test_references_are_neither_kept_nor_lost(engine: Engine, cls: type[Any], wrong: bool) -> None:
    """Values live as long as their objects; the class is let go with them; also after an error in the middle."""
    kept = Value()
    numbers = iter(range(1 << 20))

    def made_of(number: int) -> Value:
        if wrong and next(numbers) % 50 == 49:
            raise KeyError
        return kept

    code = [cases.CONVERTED, 0, 1, -1, 0, 0, 0, 0]
    given = Reading(filled(cls, 1), code, [made_of], 1, -1, bytes(100), [*range(100)], [*range(1, 101)])
    gc.collect()
    before, classes = getrefcount(kept), getrefcount(cls)
    for _ in range(3):
        found = engine.read(given)
        if wrong:
            assert found == (KeyError,)
        else:
            assert getrefcount(kept) == before + 100
        del found
    gc.collect()
    assert (getrefcount(kept), getrefcount(cls)) == (before, classes)


def test_references_of_events(engine: Engine) -> None:
    values = [Value() for _ in range(50)]
    # Not a constant of this module: constants may live for ever, without being counted.
    rows, kinds = Value(), [cases.Named("".join(["A", "number"])), cases.Named("B")]
    threads = [1 << 40, (1 << 40) + 1] * 25
    given = Making(filled(Seven, 6), kinds, [0, 1] * 25, [*range(50)], None, threads, False, 0, values)
    names = kinds[0].name, rows

    def counts() -> list[int]:
        return [getrefcount(one) for one in (*names, *values)]

    before = counts()
    for _ in range(3):
        made: Any = engine.events(given, rows)
        assert [after - old for after, old in zip(counts(), before, strict=True)] == [25, 50] + [1] * 50
        # One number for all events of a thread.
        assert made[0].d is made[2].d
        del made
    assert counts() == before


def test_objects_go_when_nobody_has_them(engine: Engine) -> None:
    """Without the collector, which is not told of the compiled engine's."""
    value = Value()
    watched = weakref.ref(value)
    given = Reading(
        filled(Referred, 1), [cases.CONVERTED, 0, 1, -1, *[0] * 4], [{7: value}.pop], 1, -1, b"\x07", [0], [1]
    )
    made = engine.read(given)[2]
    one = weakref.ref(made[0])
    gc.disable()
    try:
        del value
        assert one() is made[0]
        assert watched() is not None
        del made
        assert one() is None
        assert watched() is None
    finally:
        gc.enable()


def numbered(cls: Any, rows: int = 40) -> Reading:
    """Records of one number each: 1000, 1001, …"""
    buf = b"".join((1000 + row).to_bytes(2, "little") for row in range(rows))
    places = [*range(0, 2 * rows, 2)]
    code = [cases.UNSIGNED, 0, 2, -1, *[0] * 4]
    return Reading(Objects(cls, [slots(cls)["a"]]), code, [], 1, 2, buf, places, [place + 2 for place in places])


class Six:
    """As many slots as an event has."""

    __slots__ = ("a", "b", "c", "d", "e", "f")


class One:
    """One slot, and what makes weak references possible."""

    __slots__ = ("__weakref__", "a")


class More(One):
    """One slot more than is filled."""

    __slots__ = ("b",)


class Mourned:
    """Says when one of its objects ends."""

    __slots__ = ("a",)
    ended: Final[list[int]] = []

    def __del__(self) -> None:
        self.ended.append(self.a)


def fills_again(engine: Engine) -> bool:
    """Not without the GIL: another thread could take an object after its references were counted."""
    return engine.name == "compiled" and not sysconfig.get_config_var("Py_GIL_DISABLED")


@pytest.mark.parametrize("cls", [One, More, Referred, WithDict])
def test_what_somebody_has_stays_as_it_is(engine: Engine, cls: type[Any]) -> None:
    """Held as such, by a weak reference only as long as it lives, or with something in a slot of its own."""
    kept: list[Any] = []
    gone: list[int] = []
    seen: list[int] = []

    def see(made: list[Any]) -> None:
        seen.extend(one.a for one in made)
        assert not any(hasattr(one, "b") and cls is More for one in made)
        kept.append(made[1])
        weakref.finalize(made[2], gone.append, made[2].a)
        if cls is More:
            made[3].b = "mine"

    engine.turns(numbered(cls), see)
    assert seen == [*range(1000, 1040)]
    assert [one.a for one in kept] == [*range(1001, 1040, 4)]
    assert gone == [*range(1002, 1040, 4)]


def test_records_that_nobody_has_become_others(engine: Engine) -> None:
    """The compiled engine fills them again: where they were before are the next ones."""
    places: list[set[int]] = []
    engine.turns(numbered(One), lambda made: places.append({id(one) for one in made}))
    assert len(places) == 10
    if fills_again(engine):
        assert all(one == places[0] for one in places)


def test_what_is_in_a_list_that_somebody_has_stays_as_it_is(engine: Engine) -> None:
    """Somebody may have the list alone: a copy of its iterator, a debugger's look at a frame."""
    lists: list[list[Any]] = []
    engine.turns(numbered(One), lists.append)
    assert [one.a for made in lists for one in made] == [*range(1000, 1040)]

    every, payloads = [cases.Named("A")], [Value() for _ in range(8)]
    given = Making(Objects(Six, [*slots(Six).values()]), every, [0] * 8, [*range(8)], None, [5] * 8, False, 0, payloads)
    filler = engine.filler(given)
    first = filler.events("rows", 0, payloads[:4])
    second = filler.events("rows", 4, payloads[4:])
    assert [(one.c, one.f) for one in [*first, *second]] == [*enumerate(payloads)]


def test_payloads_are_read_by_one_at_a_time(engine: Engine) -> None:
    """A part of a program runs in Python, where another thread may come."""
    reading: list[Any] = []

    def again(number: int) -> int:
        with pytest.raises(RuntimeError, match="already being read"):
            reading[0].read(0, 1)
        return number

    given = one_field(cases.CONVERTED, 0, 1, -1, 0, data=b"\x07")
    given = attrs.evolve(given, parts=[again])
    seen: list[int] = []
    engine.turns(given, lambda made: seen.append(made[0].a), begin=reading.append)
    assert seen == [7]


def test_a_class_that_mourns_its_objects(engine: Engine) -> None:
    Mourned.ended.clear()
    engine.turns(numbered(Mourned), len)
    assert sorted(Mourned.ended) == [*range(1000, 1040)]


@pytest.mark.parametrize("wrong", [False, True])
def test_references_of_records_in_turns(engine: Engine, wrong: bool) -> None:
    kept = Value()
    left = iter(range(60))

    def made_of(number: int) -> Value:
        if wrong and next(left) == 50:
            raise KeyError
        return kept

    code = [cases.CONVERTED, 0, 2, -1, 0, *[0] * 3, cases.UTF16, 0, 2, *[0] * 5]
    text = "a text".encode("utf-16-le") + b"\0\0"
    buf = b"".join(bytes([row, 0]) + text for row in range(60))
    size = 2 + len(text)
    starts = [*range(0, len(buf), size)]
    given = Reading(filled(Pair, 2), code, [made_of], 2, -1, buf, starts, [start + size for start in starts])
    counts: list[int] = []
    before = getrefcount(kept)
    with pytest.raises(KeyError) if wrong else nullcontext():
        engine.turns(given, lambda made: counts.append(getrefcount(kept) - before))
    assert set(counts) == {4}
    assert getrefcount(kept) == before


def test_events_that_nobody_has_become_others(engine: Engine) -> None:
    every, payloads = [cases.Named("A")], [Value() for _ in range(8)]
    given = Making(Objects(Six, [*slots(Six).values()]), every, [0] * 8, [*range(8)], None, [5] * 8, False, 0, payloads)
    filler = engine.filler(given)
    first = filler.events("rows", 0, payloads[:4])
    kept, places = first[2], {id(one) for one in first}
    del first
    others = payloads[4:]
    second = filler.events("others", 4, others)
    assert [(one.a, one.b, one.c, one.f) for one in second] == [("others", i, 4 + i, payloads[4 + i]) for i in range(4)]
    assert (kept.a, kept.b, kept.c, kept.f) == ("rows", 2, 2, payloads[2])
    if fills_again(engine):
        assert len(places & {id(one) for one in second}) == 3
        # What was their payload can become another, too.
        assert others == [*payloads[:2], payloads[6], payloads[3]]
    del second, kept, filler, others
    assert len({getrefcount(one) for one in payloads}) == 1


@pytest.mark.parametrize("cls", [Plain, Record, WithDict])
def test_the_collector_sees_only_the_interpreted_ones(engine: Engine, cls: type[Any]) -> None:
    code = [cases.ARRAY, 0, 0, -3, 8, 1, 0, 0, cases.UNSIGNED, 0, 1, -1, *[0] * 4]
    given = attrs.evolve(one_field(data=b"\x07"), record=filled(cls, 1), code=code)
    name = given.record.setters[0].__name__
    holder: dict[str, Any] = {}

    def see(made: list[Any]) -> None:
        found = {gc.is_tracked(made), gc.is_tracked(made[0]), gc.is_tracked(getattr(made[0], name))}
        assert found == {engine.name == "interpreted"}
        # Whatever the collector is told later, it finds them sound.
        holder.update(made=made, one=made[0])

    engine.turns(given, see)
    gc.collect()
    assert getattr(holder["one"], name) == (7,)


def test_events_of_any_rows(engines: tuple[Engine, Engine]) -> None:
    rng = Random(11)
    raised = set()
    for _ in range(CALLS):
        given = cases.making(rng)
        first, second = (engine.events(given, given) for engine in engines)
        assert cases.alike(contents(first), contents(second)), given
        if isinstance(first, type):
            raised.add(first)
    assert raised == {IndexError}


def test_events_by_hand(engine: Engine) -> None:
    every = [cases.Named("A"), cases.Named("B")]
    most = (1 << 64) - 1
    given = Making(filled(Seven, 6), every, [0, 1, 0], [5, -6, 7], None, [most, most, 9], True, 1, ["x", "y"])
    made: Any = engine.events(given, "rows")
    assert [(e.a, e.b, e.c, e.d, e.e, e.f) for e in made] == [
        ("rows", 0, -6, -1, "B", "x"),
        ("rows", 1, 7, 9, "A", "y"),
    ]
    known = attrs.evolve(given, missing=False, exact=[1, 1 << 70, 3])
    assert [(e.c, e.d) for e in engine.events(known, 0)] == [(1 << 70, most), (3, 9)]  # type: ignore[union-attr]


def test_objects_without_slots(engine: Engine) -> None:
    given = attrs.evolve(one_field(data=b""), record=Objects(Uncollected, []), code=[], fields=0)
    given = attrs.evolve(given, starts=[1] * 5, ends=[1] * 5)
    assert [type(one) for one in engine.read(given)[2]] == [Uncollected] * 5
