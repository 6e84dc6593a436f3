"""`@event`: turns a class body into an immutable record, a `Layout` and an entry of the registry.

Knows how annotations become fields, how a class is named, and the repr of records, whose long texts and arrays are cut;
knows no families, bytes or traces. A subclass adds fields after its parent's, so `isinstance(p, MethodLoad_V1)` means
"version 1 or later".
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any, Final, NamedTuple, TypeVar, cast, dataclass_transform

import attrs

from clrevents._util.notebook_views import fields_html
from clrevents.schema.layout import Field, Layout
from clrevents.schema.registry import DEFAULT, EventInfo, Registry, make_late
from clrevents.schema.types import UInt16, read_annotation

_ITEMS: Final = 10
# More than twice as many as any event of the runtime has.
_FIELDS: Final = 40
_NAME: Final = 80
_TEXT: Final = 1000
_WHOLE: Final = 2200


def record_text(name: str, fields: Iterable[tuple[str, Any]]) -> str:
    """The repr of a record with these fields and values: at most 40 of them, and 2,300 characters."""
    parts: list[str] = []
    size = 0
    for field, value in fields:
        if size > _WHOLE or len(parts) == _FIELDS:
            # A crafted record has many fields without a byte.
            parts.append("…")
            break
        parts.append(f"{field}={value_text(value)}")
        size += len(parts[-1])
    shown = ", ".join(parts)
    return f"{name[:_NAME]}({shown if len(shown) <= _WHOLE else shown[:_WHOLE] + ' …'})"


def value_text(value: Any) -> str:
    """The repr of a value; of a long text or array, that of its beginning, with how long it is."""
    if value is None or type(value) is int:
        return repr(value)
    if isinstance(value, list | tuple) and len(value) > _ITEMS:
        head = ", ".join(map(value_text, value[:_ITEMS]))
        return f"[{head}, … {_ITEMS} of {len(value):,}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {value_text(part)}' for key, part in value.items())}}}"
    if isinstance(value, str | bytes) and len(value) > _TEXT:
        return f"{value[:_TEXT]!r}… {_TEXT:,} of {len(value):,}"
    return repr(value)


C = TypeVar("C", bound=type)

_VERSIONED = r"(.+)_V(\d+)"
_MOMENT = "(?<=.)(Begin|End)(?![a-z])"
_OPCODES = {"Begin": "Start", "End": "Stop"}


class EventGroup(NamedTuple):
    """What several events of one provider share.

    Its methods declare events that have no fields of their own. Their classes are made when one of the event's versions
    is first asked for, and named in the module that calls; type checkers see them in `events.pyi`.
    """

    provider: str
    keywords: int
    level: int
    task: str = ""
    """What ETW calls them: the alias of `GCFinalizersBegin` of the task `GC` is `GC/FinalizersStart`. Without: none."""
    fields: tuple[type[Any], ...] = ()
    """Classes made by `@struct`: the fields of the first version of each event, and those that later ones add."""
    later: int | None = None
    """The keywords of all versions but the first, if they differ."""
    only_undescribed: bool = False
    """See `event`."""

    def event(self, id: int, name: str, what: str, *fields: type[Any], alias: str = "", version: int = 0) -> None:
        """An event with the group's fields, or with `fields`; `what` says what it means.

        Its first version is `version`. `alias` replaces the one by the task.
        """
        self._declare(sys._getframe(1).f_globals, id, name, what, fields, alias, version)

    def span(self, id: int, begin: str, what: str, alias: str = "") -> None:
        """Two events of something that takes time: this one says that it starts, the next that it ends.

        `begin` is the name of the first; that of the second has `End` there, in place of `Start` if it ends so. Behind
        `alias` comes `Start` or `Stop`.
        """
        stem = begin.removesuffix("Start")
        alias = alias or f"{self.task}/{stem.removeprefix(self.task)}"
        family = sys._getframe(1).f_globals
        self._declare(family, id, begin, f"Start of {what}.", (), f"{alias}Start")
        self._declare(family, id + 1, f"{stem}End", f"End of {what}.", (), f"{alias}Stop")

    def _declare(
        self,
        family: dict[str, Any],
        id: int,
        name: str,
        what: str,
        fields: tuple[type[Any], ...],
        alias: str,
        version: int = 0,
    ) -> None:
        if self.task and not alias:
            moment = re.sub(_MOMENT, lambda match: _OPCODES[match[0]], name.removeprefix("Prv").removeprefix(self.task))
            alias = f"{self.task}/{moment}"
        first, *added = fields or self.fields or (object,)
        aliases = (alias,) if alias else ()

        def make() -> None:
            cls: Any = type(f"{name}_V{version}", (first,), {"__doc__": what, "__module__": family["__name__"]})
            cls = event(self, id=id, version=version, aliases=aliases, only_undescribed=self.only_undescribed)(cls)
            family[cls.__name__] = cls
            for each in added:
                cls = extended(cls, each, self.later)
                family[cls.__name__] = cls

        family.setdefault("__getattr__", partial(_late_class, family))
        make_late(self.provider, id, make)


def _late_class(family: dict[str, Any], name: str) -> Any:
    """What a family's module gives for the name of a class that is made only now."""
    for entry in DEFAULT.named(name.rpartition("_V")[0]):
        DEFAULT.versions(entry.provider, entry.id)
    if name not in family:
        raise AttributeError(f"module {family['__name__']!r} has no attribute {name!r}")
    return family[name]


@dataclass_transform(frozen_default=True)
def event(
    provider: str | EventGroup,
    *,
    id: int,
    version: int,
    aliases: tuple[str, ...] = (),
    keywords: int | None = None,
    level: int | None = None,
    name: str | None = None,
    registry: Registry | None = None,
    replace: bool = False,
    only_undescribed: bool = False,
    otherwise: type[Any] | None = None,
) -> Callable[[C], C]:
    """Class decorator that declares the payload of one version of one event, and registers it.

    The class body lists the fields in wire order, with types from `clrevents.types`. A version that only adds fields
    is a subclass of the previous one. Returns the class as an immutable record.

    `provider` is the provider's full name, or a group that has it, `id` the event id and `version` the version of the
    layout. The event's `name` defaults to the class name without `_V<n>`; `aliases` are additional names that select
    it. `keywords` and `level` are for documentation only and default to those of the extended version. `registry`
    defaults to the global one. With `only_undescribed`, the class is used only for traces that do not describe the
    event's fields themselves. `otherwise` is a class made by `@struct`: payloads that do not fit this class exactly,
    but do fit that one, are its records.

    Registering the same class again replaces it, for example when a notebook cell is rerun. Raises ValueError if
    another class has the same provider, id and version, unless `replace` is true, and TypeError for a malformed
    annotation or a class name whose `_V<n>` is not `version`.
    """
    if isinstance(provider, EventGroup):
        full_name, keywords, level = provider[:3]
    else:
        full_name = provider

    def decorate(cls: C) -> C:
        record = make_record(cls, sys._getframe(1))
        extended: EventInfo | None = getattr(cls, "__event__", None)
        if keywords is not None or extended is None:
            mask = int(keywords or 0)
        else:
            mask = extended.keywords
        info = EventInfo(
            provider=full_name,
            id=id,
            version=version,
            name=name or event_name(cls.__name__, version),
            aliases=aliases,
            keywords=mask,
            level=extended.level if level is None and extended is not None else level or 0,
            only_undescribed=only_undescribed,
            record=record,
            layout=record.__layout__,
            otherwise=otherwise,
        )
        record.__event__ = info
        (registry or DEFAULT).add(info, replace=replace)
        return cast("C", record)

    return decorate


@dataclass_transform(frozen_default=True)
def struct(cls: C) -> C:
    """Class decorator that declares a group of fields that repeats inside a payload.

    `cls` lists its fields like an event class. Fields of an event use it as
    `Values: Annotated[Counted[X], by("Count")]`. Returns the class as an immutable record. Raises TypeError for a
    malformed annotation.
    """
    return cast("C", make_record(cls, sys._getframe(1)))


def extended(parent: Any, added: type[Any], keywords: int | None = None) -> Any:
    """The next version of an event, whose payload has more fields at its end: those of a class made by `@struct`.

    That class's docstring says what was added, for the docstrings of all versions that add it. Type checkers see the
    new class in `events.pyi`.
    """
    info: EventInfo = parent.__event__
    version = info.version + 1
    what = parent.__doc__.partition(" Adds ")[0]
    body = {
        "__doc__": f"{what} {added.__doc__}",
        "__module__": parent.__module__,
        "__annotations__": inspect.get_annotations(added, eval_str=True),
    }
    cls = type(f"{info.name}_V{version}", (parent,), body)
    return event(info.provider, id=info.id, version=version, keywords=keywords)(cls)


def event_name(class_name: str, version: int) -> str:
    """The class name without its `_V<n>`. Raises TypeError if `<n>` is not the version."""
    match = re.fullmatch(_VERSIONED, class_name)
    if match is None:
        return class_name
    if int(match[2]) != version:
        raise TypeError(f"class {class_name} ends in _V{match[2]} but declares version {version}")
    return match[1]


def make_record(cls: Any, declared: FrameType | None = None) -> Any:
    """Make the frozen, slotted attrs class of a class body, with its `__layout__`.

    `declared` is the frame of the class statement: string annotations may use names local to a function. Raises
    TypeError for a malformed annotation.
    """
    parent = next((b.__layout__ for b in cls.__mro__[1:] if hasattr(b, "__layout__")), Layout())
    own = []
    for field, annotation in _annotations(cls, declared).items():
        if field.startswith("_"):
            raise TypeError(f"{cls.__name__}.{field}: a field name must not start with an underscore")
        wire, padding = read_annotation(annotation, f"{cls.__name__}.{field}")
        own.append(Field(field, wire, padding))
    try:
        layout = Layout((*parent.fields, *own))
    except TypeError as error:
        raise TypeError(f"{cls.__name__}: {error}") from None
    # Shared by all records, because compiling them for each class is most of the cost of loading a family.
    cls.__repr__, cls._repr_html_, cls.__eq__, cls.__hash__ = _repr, fields_html, _eq, _hash
    record = attrs.define(slots=True, frozen=True, repr=False, eq=False)(cls)
    record.__layout__ = layout
    # As in classes learned from a trace, whose attributes may differ from the fields' wire names.
    record.__fields__ = tuple(field.name for field in layout.fields)
    return record


def _annotations(cls: Any, declared: FrameType | None) -> dict[str, Any]:
    """The class's own annotations, evaluated; uses the function's names only if the module's do not suffice."""
    try:
        return inspect.get_annotations(cls, eval_str=True)
    except NameError:
        pass
    try:
        names = {} if declared is None else declared.f_locals
        return inspect.get_annotations(cls, eval_str=True, locals={**names, **vars(cls)})
    except NameError as error:
        raise TypeError(
            f"{cls.__name__}: an annotation uses {error.name!r}, which is not defined in the module or in the "
            "function that contains the class"
        ) from None


def _values(record: Any) -> tuple[Any, ...]:
    return tuple([getattr(record, field.name) for field in type(record).__layout__.fields])


def _repr(self: Any) -> str:
    fields = type(self).__layout__.fields
    return record_text(type(self).__name__, ((field.name, getattr(self, field.name)) for field in fields))


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), _values(self)))


def asdict(record: Any) -> dict[str, Any]:
    """The fields of a payload by their wire names, in wire order.

    `record` is an event's payload; arrays become lists, and repeating groups become dicts. Raises TypeError unless
    it is a record, for instance for a `RawPayload`.
    """
    layout: Layout | None = getattr(type(record), "__layout__", None)
    if layout is None:
        raise TypeError(f"{record!r} is not an event record")
    attributes: tuple[str, ...] = type(record).__fields__
    return {field.name: _plain(getattr(record, a)) for field, a in zip(layout.fields, attributes, strict=True)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return asdict(value) if hasattr(type(value), "__layout__") else value


@struct
class InstanceFields:
    """Adds ClrInstanceID."""

    ClrInstanceID: UInt16
