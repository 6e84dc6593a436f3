"""Both engines of the kernel that makes objects: the same objects, the same errors, and nothing kept or lost.

The compiled one sets slots by C's own functions and hides objects from the garbage collector; so references are
counted, and input is as wrong as a caller could make it.
"""

from __future__ import annotations

import gc
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random
from sys import getrefcount
from typing import Any

import pytest

import kernel_cases as cases
from kernel_cases import Plain, Record, Referred, Uncollected, WithDict, contents, slots
from kernel_twins import Engine, Objects, interpreted, twins

CALLS = 3000
Fill = Callable[[Engine], Any]


@pytest.fixture(scope="module")
def engines() -> tuple[Engine, Engine]:
    return twins()


@pytest.fixture(params=["interpreted", "compiled"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return interpreted() if request.param == "interpreted" else twins()[1]


def of_lists(cls: Any, columns: list[Any], setters: list[Any] | None = None, rows: int = 1) -> Objects:
    """All slots of a class, or some, from lists alone."""
    chosen = [*slots(cls).values()][: len(columns)] if setters is None else setters
    return Objects(cls, chosen, columns, [0] * len(chosen), [], [], 0, rows)


def test_objects_of_any_values(engines: tuple[Engine, Engine]) -> None:
    """Sound calls and wrong ones, as drawn: both raise the same, or give the same objects in the same slots."""
    rng = Random(9)
    raised = set()
    made = holes = 0
    for _ in range(CALLS):
        given = cases.objects(rng)
        first, second = (engine.fill(given) for engine in engines)
        assert cases.alike(contents(first), contents(second)), given
        if isinstance(first, list):
            made += len(first)
            holes += sum(... in row for row in contents(first))
            assert all(type(one) is given.cls for one in first)
        else:
            raised.add(first)
    assert raised == {IndexError}
    assert made > CALLS
    assert 0 < holes < made


def test_each_value_where_it_belongs(engine: Engine) -> None:
    """By hand: a list, an unsigned and a signed number, in that order of slots and from the second object on."""
    big = 1 << 70
    numbers = [7, 8, 9, (1 << 64) - 1, (1 << 63) - 1, 1 << 63]
    signed = [n - (n >> 63 << 64) for n in numbers]
    setters = [*slots(Record).values()]
    made = engine.fill(Objects(Record, setters, [[None, big, "x"], None, None], [0, 3, -4], numbers, signed, 1, 3))
    assert made == [Record(big, (1 << 63) - 1, (1 << 63) - 1), Record("x", 1 << 63, -(1 << 63))]
    assert isinstance(made, list)
    assert made[0].a is big


@pytest.mark.parametrize("cls", cases.CLASSES)
def test_slots_that_nobody_set_are_empty(engine: Engine, cls: type[Any]) -> None:
    (one,) = engine.fill(of_lists(cls, []))  # type: ignore[misc]
    assert type(one) is cls
    for name in slots(cls):
        with pytest.raises(AttributeError):
            getattr(one, name)
    if cls is WithDict:
        one.more = 1
        assert vars(one) == {"more": 1}


WRONG: dict[str, tuple[Objects, type[Exception]]] = {
    "a slot that is a number": (of_lists(Plain, [[1]], [5]), AttributeError),
    "a slot that is None": (of_lists(Plain, [[1]], [None]), AttributeError),
    "a function for a slot": (of_lists(Plain, [[1]], [len]), AttributeError),
    "a property without a setter": (of_lists(Plain, [[1]], [property()]), AttributeError),
    "another class's slot": (of_lists(Plain, [[1]], [*slots(Record).values()][:1]), TypeError),
    "a number for a class": (of_lists(5, [[1]], [*slots(Plain).values()][:1]), TypeError),
    "None for a class": (of_lists(None, [], []), TypeError),
    "a class of numbers": (of_lists(int, []), TypeError),
    "a class of lists": (of_lists(list, []), TypeError),
    "a class of classes": (of_lists(type, []), TypeError),
    "a number for a column": (of_lists(Plain, [7]), TypeError),
    "a column too short": (of_lists(Plain, [[1, 2], [3]], rows=2), IndexError),
    "fewer columns than slots": (of_lists(Plain, [[1]], [*slots(Plain).values()]), IndexError),
    "a number where none is": (Objects(Plain, [*slots(Plain).values()][:1], [None], [0], [], [], 0, 1), IndexError),
    "a signed one": (Objects(Plain, [*slots(Plain).values()][:1], [None], [-1], [], [], 0, 1), IndexError),
    "no place": (Objects(Plain, [*slots(Plain).values()][:1], [None], [], [1], [1], 0, 1), IndexError),
    "a place beyond": (Objects(Plain, [*slots(Plain).values()][:1], [None], [1 << 62], [1], [1], 0, 1), IndexError),
    "one below": (Objects(Plain, [*slots(Plain).values()][:1], [None], [-(1 << 62)], [1], [1], 0, 1), IndexError),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_an_error(engine: Engine, name: str) -> None:
    given, error = WRONG[name]
    assert engine.fill(given) is error


def test_abstract_classes_cannot_be_made(engine: Engine) -> None:
    class Idea(ABC):
        __slots__ = ()

        @abstractmethod
        def method(self) -> None: ...

    assert engine.fill(of_lists(Idea, [])) is TypeError


def test_a_class_that_makes_itself_is_not_asked(engine: Engine) -> None:
    """No `__new__` and no `__init__` runs, in either engine."""

    class Own:
        __slots__ = ("a",)

        def __new__(cls) -> Own:
            raise AssertionError("asked")

        def __init__(self) -> None:
            raise AssertionError("asked")

    assert [one.a for one in engine.fill(of_lists(Own, [[1, 2]], rows=2))] == [1, 2]  # type: ignore[union-attr]


def test_the_compiled_engine_refuses_what_the_other_takes(engines: tuple[Engine, Engine]) -> None:
    """Its lists are lists, and in columns of numbers it does not count from the end."""
    one, other = engines
    tuples = of_lists(Plain, [(1,)])
    assert contents(one.fill(tuples)) == [(Plain, 1, ..., ..., ..., ...)]
    assert other.fill(tuples) is TypeError
    negative = Objects(Uncollected, [], [], [], [], [], -1, 1)
    assert [len(engine.fill(negative)) for engine in engines] == [2, 2]  # type: ignore[arg-type]
    numbers = Objects(Plain, [*slots(Plain).values()][:1], [None], [0], [1, 2], [1, 2], -1, 1)
    assert [row[1] for row in contents(one.fill(numbers))] == [2, 1]
    assert other.fill(numbers) is IndexError


class Value:
    """Something whose references can be counted."""


@pytest.mark.parametrize("cls", [Plain, Referred, WithDict, Record])
@pytest.mark.parametrize("wrong", [False, True])
def test_references_are_neither_kept_nor_lost(engine: Engine, cls: type[Any], wrong: bool) -> None:
    """Values live as long as their objects; the class is let go with them; also after an error in the middle."""
    values = [Value() for _ in range(100)]
    names = [*slots(cls)]
    columns = [list(values) for _ in names]
    if wrong:
        del columns[-1][50:]
    given = of_lists(cls, columns, rows=100)
    gc.collect()
    before = [getrefcount(value) for value in values]
    classes, setters = getrefcount(cls), [getrefcount(setter) for setter in given.setters]
    for _ in range(3):
        made = engine.fill(given)
        if wrong:
            assert made is IndexError
        else:
            assert [getrefcount(value) for value in values] == [old + len(names) for old in before]
        del made
    gc.collect()
    assert [getrefcount(value) for value in values] == before
    assert getrefcount(cls) == classes
    assert [getrefcount(setter) for setter in given.setters] == setters


def test_objects_go_when_nobody_has_them(engine: Engine) -> None:
    """Without the collector, which is not told of the compiled engine's."""
    gone: list[int] = []
    value = Value()
    weakref.finalize(value, gone.append, 1)
    made: Any = engine.fill(of_lists(Referred, [[value]]))
    watch = weakref.ref(made[0])
    gc.disable()
    try:
        del value
        assert watch() is made[0]
        assert not gone
        del made
        assert watch() is None
        assert gone == [1]
    finally:
        gc.enable()


@pytest.mark.parametrize("cls", [Plain, Record, WithDict])
def test_the_collector_sees_only_the_interpreted_ones(engine: Engine, cls: type[Any]) -> None:
    made: Any = engine.fill(of_lists(cls, [[[]]]))
    assert gc.is_tracked(made) == gc.is_tracked(made[0]) == (engine.name == "interpreted")
    # Whatever the collector is told later, it finds them sound.
    holder = {"made": made, "one": made[0]}
    gc.collect()
    assert contents(holder["made"])[0][1] == []


def test_objects_without_slots(engine: Engine) -> None:
    made: Any = engine.fill(of_lists(Uncollected, [], rows=5))
    assert len({id(one) for one in made}) == 5


def test_scattering(engines: tuple[Engine, Engine]) -> None:
    """Rows twice, outside and missing: both write the same places before they stop."""
    rng = Random(10)
    ends = set()
    for _ in range(CALLS // 3):
        size = rng.randrange(30)
        values = [cases.anything(rng) for _ in range(rng.randrange(30))]
        rows = [rng.randrange(size + rng.choice((0, 0, 0, 2))) if size else 0 for _ in values]
        if rng.random() < 0.1:
            del rows[len(rows) // 2 :]
        intos: list[list[Any]] = [[...] * size, [...] * size]
        first, second = (engine.scatter(into, rows, values) for engine, into in zip(engines, intos, strict=True))
        assert first == second
        assert cases.alike([tuple(intos[0])], [tuple(intos[1])])
        if isinstance(first, int):
            assert first == len(values)
            last = dict(zip(rows, values, strict=True))
            assert all(one is last.get(row, ...) for row, one in enumerate(intos[0]))
        ends.add(first if isinstance(first, type) else int)
    assert ends == {int, IndexError}


def test_scattering_keeps_count_of_references(engine: Engine) -> None:
    old, new = Value(), Value()
    counts = getrefcount(old), getrefcount(new)
    into = [old] * 5
    assert engine.scatter(into, [1, 1, 3], [new] * 3) == 3
    assert into == [old, new, old, new, old]
    assert (getrefcount(old), getrefcount(new)) == (counts[0] + 3, counts[1] + 2)
    assert engine.scatter(into, [0, 5], [new] * 2) is IndexError
    del into
    assert (getrefcount(old), getrefcount(new)) == counts
    assert engine.scatter((old,), [0], [new]) is TypeError  # type: ignore[arg-type]
