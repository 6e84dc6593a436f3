"""Classes of named values as attrs makes them, in a tenth of its time: a command makes hundreds before it reads a byte.

What compares, hashes, shows and pickles an object is shared by all classes, and `__init__` is compiled when a class is
first called. Only what is used here is there. attrs knows these classes by their `__attrs_attrs__`, and type checkers
see its names instead of these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from types import MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from attrs import NOTHING as NOTHING
    from attrs import Factory as Factory
    from attrs import asdict as asdict
    from attrs import define as define
    from attrs import evolve as evolve
    from attrs import field as field
    from attrs import fields as fields
    from attrs import frozen as frozen


_NOTHING: Final = type("NOTHING", (), {"__repr__": lambda self: "NOTHING"})()


class _Factory:
    """Makes the default of a field for each object."""

    def __init__(self, factory: Callable[..., Any], takes_self: bool = False) -> None:
        self.factory = factory
        self.takes_self = takes_self


class _Field(SimpleNamespace):
    """What attrs says of a field."""

    def evolve(self, **changes: Any) -> _Field:
        return _Field(**{**vars(self), **changes})


def _field(*, default: Any = _NOTHING, factory: Any = None, metadata: Any = None, **options: Any) -> Any:
    default = default if factory is None else _Factory(factory)
    return _Field(**{**_OPTIONS, **options}, default=default, metadata=metadata or {})


_OPTIONS: Final[dict[str, Any]] = {
    **{"converter": None, "validator": None, "init": True, "kw_only": False, "inherited": False},
    **{"repr": True, "eq": True, "hash": None},
}


_SPECIAL: Final = frozenset(("__dict__", "__weakref__"))


def _fields(cls: type[Any]) -> tuple[_Field, ...]:
    declared: tuple[_Field, ...] = cls.__attrs_attrs__
    return declared


def _evolve(one: Any, **changes: Any) -> Any:
    kept = {f.alias: getattr(one, f.name) for f in _fields(type(one)) if f.init and f.alias not in changes}
    return type(one)(**kept, **changes)


def _asdict(one: Any) -> dict[str, Any]:
    return {f.name: getattr(one, f.name) for f in _fields(type(one))}


def _eq(self: Any, other: Any) -> Any:
    return self._compared(self) == self._compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), self._hashed(self)))


def _repr(self: Any) -> str:
    name = type(self).__qualname__.rpartition(">.")[2]
    return f"{name}({', '.join([f'{field}={getattr(self, field)!r}' for field in self._shown])})"


def _setstate(self: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


def _refuse(self: Any, *_: Any) -> None:
    from attrs.exceptions import FrozenInstanceError

    raise FrozenInstanceError


class _Init:
    """`__init__` of a class, compiled when it is first asked for."""

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls

    def __get__(self, one: Any, cls: type[Any]) -> Any:
        self._cls.__init__ = made = _compiled(self._cls)
        return made.__get__(one, cls)


def _compiled(cls: type[Any]) -> Any:
    names: dict[str, Any] = {"NOTHING": _NOTHING, "_set": object.__setattr__}
    plain, keyword, lines, checks = ["self"], ["*"], [], []
    for f in _fields(cls):
        value, default, made = f.alias, f"_{f.alias}_default", isinstance(f.default, _Factory)
        names[default] = f.default.factory if made else f.default
        called = f"{default}({'self' * f.default.takes_self})" if made else default
        if f.init:
            optional = "" if f.default is _NOTHING else "=NOTHING" if made else f"={default}"
            (keyword if f.kw_only else plain).append(value + optional)
            value = f"{called} if {value} is NOTHING else {value}" if made else value
        elif f.default is _NOTHING:
            continue
        else:
            value = called
        if f.converter is not None:
            names[f"_{f.alias}_converter"] = f.converter
            value = f"_{f.alias}_converter({value})"
        slot = getattr(cls, f.name, None)
        if type(slot) is MemberDescriptorType:
            names[f"_{f.alias}_set"] = slot.__set__
            lines.append(f"_{f.alias}_set(self, {value})")
        else:
            lines.append(f"_set(self, {f.name!r}, {value})")
        if f.validator is not None:
            names[f"_{f.alias}_check"], names[f"_{f.alias}_field"] = f.validator, f
            checks.append(f"_{f.alias}_check(self, _{f.alias}_field, self.{f.name})")
    if hasattr(cls, "__attrs_post_init__"):
        checks.append("self.__attrs_post_init__()")
    parameters = ", ".join(plain + keyword * (len(keyword) > 1))
    exec(f"def __init__({parameters}):\n " + "\n ".join([*lines, *checks, "return"]), names)
    init = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {f.alias: f.type for f in _fields(cls) if f.init and not f.converter} | {"return": None}
    return init


def _of_attrs(value: Any) -> Any:
    """A field that was declared with attrs itself."""
    import attrs

    (known,) = attrs.fields(attrs.make_class("_", {"value": value}))
    default = _NOTHING if known.default is attrs.NOTHING else known.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = _Factory(default.factory, default.takes_self)
    return _field(default=default, metadata=known.metadata, **{name: getattr(known, name) for name in _OPTIONS})


def _declared(body: Any, kw_only: bool) -> dict[str, _Field]:
    """The fields of a class body: inherited ones, then those that it declares itself."""
    inherited = [
        f.evolve(inherited=True) for base in body.__bases__[::-1] for f in getattr(base, "__attrs_attrs__", ())
    ]
    fields = {f.name: f for f in inherited}
    for name, kind in body.__annotations__.items():
        if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
            value = vars(body).get(name, _NOTHING)
            if type(value).__name__ == "_CountingAttr":
                value = _of_attrs(value)
            one = value if isinstance(value, _Field) else _field(default=value)
            fields.pop(name, None)
            more = {"name": name, "alias": name.lstrip("_"), "type": kind, "kw_only": kw_only or one.kw_only}
            fields[name] = one.evolve(**more)
    return fields


def _slotted(body: Any, names: list[str]) -> Any:
    """The class of a class body again, with slots for these names."""
    inherited = {name for base in body.__mro__[1:] for name in getattr(base, "__slots__", ())}
    inherited.update(name for base in body.__mro__[1:-1] for name in _SPECIAL & vars(base).keys())
    own = {name: value for name, value in vars(body).items() if name not in _SPECIAL.union(names)}
    if any(isinstance(value, cached_property) for value in own.values()):
        names.append("__dict__")
    more = {"__slots__": tuple([n for n in names if n not in inherited]), "__qualname__": body.__qualname__}
    cls = type(body)(body.__name__, body.__bases__, {**own, **more})
    for value in own.values():
        function = getattr(value, "fget", getattr(value, "__func__", getattr(value, "func", value)))
        free = function.__code__.co_freevars if hasattr(function, "__code__") else ()
        if "__class__" in free:
            # For `super()`: it was made for the body.
            function.__closure__[free.index("__class__")].cell_contents = cls
    return cls


def _class_of(
    body: Any,
    fixed: bool,
    *,
    eq: bool = True,
    repr: bool = True,
    slots: bool = True,
    weakref_slot: bool = True,
    kw_only: bool = False,
) -> Any:
    """The class of a class body, whose own methods stay."""
    by_name = _declared(body, kw_only)
    fields = tuple(by_name.values())
    methods = {
        **({"__repr__": _repr} if repr else {}),
        **({"__eq__": _eq, "__hash__": _hash if fixed else None} if eq and "__eq__" not in vars(body) else {}),
        **({"__setattr__": _refuse, "__delattr__": _refuse} if fixed else {}),
        **({"__getstate__": _asdict, "__setstate__": _setstate} if slots else {}),
    }
    for name, method in methods.items():
        if name not in vars(body):
            setattr(body, name, method)
    cls: Any = body
    own = [f.name for f in fields if not f.inherited]
    if slots:
        cls = _slotted(body, [*own, *["__weakref__"] * weakref_slot])
    else:
        for name in vars(cls).keys() & set(own):
            delattr(cls, name)
    cls.__attrs_attrs__ = fields
    cls.__match_args__ = tuple([f.name for f in fields if f.init and not f.kw_only])  # type: ignore[misc]
    cls._shown = tuple([f.name for f in fields if f.repr])
    cls._compared = attrgetter(*([f.name for f in fields if f.eq] or ["__class__"]))
    cls._hashed = attrgetter(*([f.name for f in fields if (f.eq if f.hash is None else f.hash)] or ["__class__"]))
    if "__init__" not in vars(body):
        cls.__init__ = _Init(cls)
    return cls


def _decorator(fixed: bool) -> Callable[..., Any]:
    def decorator(body: type[Any] | None = None, **options: Any) -> Any:
        return (lambda body: _class_of(body, fixed, **options)) if body is None else _class_of(body, fixed)

    return decorator


if not TYPE_CHECKING:
    NOTHING, Factory, asdict, evolve, field, fields = _NOTHING, _Factory, _asdict, _evolve, _field, _fields
    define, frozen = _decorator(False), _decorator(True)
