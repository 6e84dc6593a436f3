"""`frozen` and `define` as attrs has them, for classes that are made in less than half the time.

attrs compiles the methods of each class for it alone. Here, what compares, hashes and shows an object is shared by all
classes, and only `__init__` is compiled: a command makes hundreds of classes before it reads its first byte. An option
that is not listed here makes the class as attrs does.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from attrs import define as define
    from attrs import frozen as frozen

_OPTIONS: Final = {"eq", "repr", "slots", "kw_only"}


def _eq(self: Any, other: Any) -> Any:
    return self._compared(self) == self._compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), self._hashed(self)))


def _repr(self: Any) -> str:
    name = type(self).__qualname__.rpartition(">.")[2]
    return f"{name}({', '.join([f'{field}={getattr(self, field)!r}' for field in self._shown])})"


def _values(fields: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*(fields or ["__class__"]))


def _class_of(body: Any, make: Callable[..., Any], frozen: bool, options: dict[str, Any]) -> Any:
    """The class of a class body, whose own methods stay."""
    if options.pop("repr", True) and "__repr__" not in vars(body):
        body.__repr__ = _repr
    if options.pop("eq", True) and "__eq__" not in vars(body):
        body.__eq__ = _eq
        if "__hash__" not in vars(body):
            body.__hash__ = _hash if frozen else None
    cls = make(eq=False, repr=False, **options)(body)
    fields = attrs.fields(cls)
    cls._shown = tuple([field.name for field in fields if field.repr])
    cls._compared = _values([field.name for field in fields if field.eq])
    cls._hashed = _values([field.name for field in fields if (field.eq if field.hash is None else field.hash)])
    return cls


def _decorator(make: Callable[..., Any], frozen: bool) -> Callable[..., Any]:
    def decorator(body: type[Any] | None = None, **options: Any) -> Any:
        if not options.keys() <= _OPTIONS:
            return make(body, **options)
        return (
            (lambda body: _class_of(body, make, frozen, {**options}))
            if body is None
            else _class_of(body, make, frozen, {})
        )

    return decorator


if not TYPE_CHECKING:
    define = _decorator(attrs.define, False)
    frozen = _decorator(attrs.frozen, True)
