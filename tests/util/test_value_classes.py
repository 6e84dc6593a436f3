"""Our classes of values against those that attrs makes of the same bodies."""

from __future__ import annotations

import copy
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import attrs
import pytest

from clrevents._util import value_classes


def _above_zero(_: Any, field: Any, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{field.name} is {value}")


def _classes(a: Any) -> dict[str, Any]:
    """The same classes, made by attrs or by us."""

    class Named(ABC):
        @property
        @abstractmethod
        def name(self) -> str: ...

    @a.frozen
    class Base(Named):
        KIND: ClassVar[str] = "base"
        name: str = a.field()
        count: int = a.field(default=3, validator=_above_zero)
        _hidden: list[int] = a.field(factory=list, eq=False, repr=False)

        def text(self) -> str:
            return f"{self.KIND} {self.name}"

    @a.frozen
    class Derived(Base):
        KIND = "derived"
        count: int = a.field(default="7", converter=int)
        more: dict[str, int] = a.field(factory=dict, hash=False)
        late: int = a.field(init=False, default=5)
        last: str = a.field(default=a.Factory(lambda self: f"of {self.name}", takes_self=True), kw_only=True)

        def text(self) -> str:
            return super().text() + " and more"

        @cached_property
        def size(self) -> int:
            return len(self.name)

    @a.frozen(kw_only=True, repr=False, eq=False)
    class Keyed:
        x: int
        y: int = 0

        def __attrs_post_init__(self) -> None:
            object.__setattr__(self, "y", self.y + self.x)

    @a.define
    class Open:
        x: int = 0

    @a.frozen(slots=False)
    class Loose:
        x: int = 1

        @cached_property
        def twice(self) -> int:
            return self.x * 2

    return {cls.__name__: cls for cls in (Base, Derived, Keyed, Open, Loose)}


OURS, THEIRS = _classes(value_classes), _classes(attrs)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Base", ("a",), {}),
    ("Base", ("a", 4, [1]), {}),
    ("Base", ("a",), {"hidden": [2]}),
    ("Base", ("a", 0), {}),
    ("Base", (), {}),
    ("Base", ("a",), {"_hidden": []}),
    ("Derived", ("abc",), {}),
    ("Derived", ("abc", [3], "12", {"k": 1}), {"last": "z"}),
    ("Derived", ("abc", [3], "12", {}, "z"), {}),
    ("Derived", ("abc",), {"late": 1}),
    ("Keyed", (), {"x": 2}),
    ("Keyed", (2,), {}),
    ("Open", (3,), {}),
    ("Loose", (), {}),
]


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:
        return type(error).__name__, str(error).rpartition(">.")[2]


def _shown(value: Any) -> Any:
    return {field.name: getattr(value, field.name, None) for field in attrs.fields(type(value))}


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_objects_are_like_those_of_attrs(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    def outcomes(classes: dict[str, Any]) -> list[Any]:
        cls = classes[name]
        one = _outcome(lambda: cls(*args, **kwargs))
        if not isinstance(one, cls):
            return [one]
        other = cls(*args, **kwargs)
        change = {"x": 9} if hasattr(one, "x") else {"name": "b"}
        return [
            repr(one).rpartition(">.")[2] if name != "Keyed" else None,
            *(_shown(one), attrs.asdict(one), _outcome(lambda: _shown(attrs.evolve(one, **change)))),
            *(one == other, one != other, one != 3, _outcome(lambda: hash(one) == hash(other))),
            *(_shown(copy.copy(one)), copy.copy(one) == one),
            *(_outcome(lambda: setattr(one, "x", 4)), _outcome(lambda: delattr(one, "x"))),
            *(_outcome(lambda: one.text()), _outcome(lambda: one.size), _outcome(lambda: one.twice)),
        ]

    assert outcomes(OURS) == outcomes(THEIRS)


@pytest.mark.parametrize("name", OURS)
def test_classes_say_of_themselves_what_those_of_attrs_do(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    told = ("name", "alias", "repr", "eq", "hash", "init", "kw_only", "inherited", "metadata", "type")
    assert [[getattr(f, n) for n in told] for f in attrs.fields(ours)] == [
        [getattr(f, n) for n in told] for f in attrs.fields(theirs)
    ]


def test_fields_that_attrs_declares_are_taken() -> None:
    @value_classes.frozen
    class Mixed:
        x: int = attrs.field(default=2, metadata={"unit": "ns"})
        y: list[int] = attrs.field(factory=list)

    assert (Mixed().x, Mixed(y=[1]).y, attrs.fields(Mixed)[0].metadata) == (2, [1], {"unit": "ns"})
    assert Mixed().y is not Mixed().y


@value_classes.frozen
class Kept:
    name: str
    _count: int = 0


def test_values_pickle() -> None:
    kept = Kept("a", 3)
    assert pickle.loads(pickle.dumps(kept)) == kept
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        kept.name = "b"  # type: ignore[misc]
