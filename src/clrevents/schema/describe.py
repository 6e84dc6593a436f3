"""Events described as data (a dict or TOML), and the reverse: a layout as a class body to paste.

For users' own events at run time. A description resembles a class body: field names with type names. Nothing in a
description is executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from clrevents.schema import types as vocabulary
from clrevents.schema import wire as wires
from clrevents.schema.dynamic import is_plain, make_class
from clrevents.schema.layout import Field, Layout
from clrevents.schema.registry import DEFAULT, EventInfo, Registry
from clrevents.schema.types import read_annotation

_TYPE: Final = re.compile(r"\s*(\w+)\s*(?:\[\s*(.*?)\s*\])?\s*")
_SIMPLE: Final[Mapping[str, wires.WireType]] = {
    name: read_annotation(getattr(vocabulary, name), name)[0]
    for name in (
        *("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double"),
        *("Boolean", "Boolean8", "Char", "Time", "Guid", "Pointer", "UnicodeString", "AnsiString", "CountedUtf8"),
        *("VarInt", "VarUInt", "Delta", "DotNetDecimal"),
    )
}
_NAMES: Final = {wire: name for name, wire in _SIMPLE.items()}
_KEYS: Final = frozenset({"provider", "id", "version", "name", "fields", "aliases", "keywords", "level", "meaning"})


def register(
    what: type[Any] | Mapping[str, Any] | str | os.PathLike[str],
    *,
    registry: Registry | None = None,
    replace: bool = False,
) -> list[type[Any]]:
    """Register events and return their record classes.

    `what` is an event class, a description, or TOML as text or as the path of a `.toml` file. A description is a dict
    `{"provider": …, "id": …, "version": …, "name": …, "fields": {"OrderId": "UInt32"}}`, or `{"event": […]}` with a
    list of such dicts. Types are names from `clrevents.types`. `"UInt64[Count]"` is an array whose length is the
    earlier field `Count`, `"Bytes[Size]"` is that many bytes, and `"UInt32[]"` is an array prefixed with its length.
    `registry` defaults to the global one.

    Raises TypeError for a class that is not an event class, ValueError for a malformed description, ValueError if
    another class has the same provider, id and version, unless `replace` is true, and OSError for a file that cannot
    be read.
    """
    target = registry or DEFAULT
    if isinstance(what, type):
        info: EventInfo | None = getattr(what, "__event__", None)
        if info is None:
            raise TypeError(f"{what!r} is not an event class: decorate it with @event")
        target.add(info, replace=replace)
        return [what]
    classes = []
    for described in _descriptions(what):
        info = _info(described)
        target.add(info, replace=replace)
        classes.append(info.record)
    return classes


def class_body(name: str, provider: str, id: int, version: int, layout: Layout | None) -> str:
    """The source of a class that declares such an event, to paste into code.

    Fields whose names are not identifiers get another name and a comment. Without a layout, there are no fields.
    """
    class_name = f"{_identifier(name, 'Event')}_V{version}"
    groups: dict[str, Layout] = {}
    lines = list(_field_lines(layout, groups)) if layout is not None else []
    if layout is None:
        lines = ["    # The trace does not describe its fields: declare them in wire order."]
    everything = [*lines, *(line for inner in groups.values() for line in _field_lines(inner, {}))]
    used = " ".join(line.partition("#")[0].partition(":")[2] for line in everything)
    imports = sorted(set(re.findall(r"\b[A-Z]\w+", used)))
    known = [n for n in imports if n in _SIMPLE or n in ("Counted", "Prefixed", "Bytes")]
    text = ["from typing import Annotated", ""] if "Annotated" in used else []
    helpers = [*(["by"] if " by(" in used else []), "event", *(["struct"] if groups else [])]
    text.append(f"from clrevents.types import {', '.join([*known, *helpers])}")
    for group, inner in groups.items():
        text += ["", "", "@struct", f"class {group}:", *(_field_lines(inner, {}) or ["    pass"])]
    text += ["", "", f"@event({provider!r}, id={id}, version={version})", f"class {class_name}:"]
    text.append('    """What this event says."""')
    if lines:
        text += ["", *lines]
    return "\n".join(text) + "\n"


def _descriptions(what: Mapping[str, Any] | str | os.PathLike[str]) -> Iterator[Mapping[str, Any]]:
    import tomllib

    if isinstance(what, Mapping):
        description: Any = what
    elif isinstance(what, os.PathLike) or (what.endswith(".toml") and "\n" not in what):
        with open(what, "rb") as file:
            description = tomllib.load(file)
    else:
        description = tomllib.loads(what)
    events = description.get("event", description)
    for described in events if isinstance(events, list) else [events]:
        if not isinstance(described, Mapping):
            raise ValueError(f"an event description must have provider, id, name and fields, not {described!r}")
        yield described


def _info(described: Mapping[str, Any]) -> EventInfo:
    unknown = sorted(set(described) - _KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in an event description; allowed: {', '.join(sorted(_KEYS))}")
    try:
        provider, id, name = str(described["provider"]), int(described["id"]), str(described["name"])
    except KeyError as missing:
        raise ValueError(f"an event description requires {missing.args[0]!r}") from None
    version = int(described.get("version", 0))
    fields = described.get("fields", {})
    try:
        layout = Layout(tuple(Field(str(n), _wire(str(t), f"{name}.{n}")) for n, t in fields.items()))
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
    record = make_class(f"{name}_V{version}", layout)
    record.__doc__ = str(described.get("meaning", "An event described at run time."))
    info = EventInfo(
        provider,
        id,
        version,
        name,
        tuple(map(str, described.get("aliases", ()))),
        int(described.get("keywords", 0)),
        int(described.get("level", 0)),
        record,
        layout,
    )
    record.__event__ = info
    return info


def _wire(text: str, where: str) -> wires.WireType:
    match = _TYPE.fullmatch(text)
    if match is None:
        raise ValueError(f"{where}: {text!r} is not a type")
    name, count = match[1], match[2]
    if name == "Bytes" and count:
        return wires.BytesType(count)
    element = _SIMPLE.get(name)
    if element is None:
        raise ValueError(f"{where}: {name!r} is not a type of clrevents.types")
    if count is None:
        return element
    return wires.CountedType(element, count) if count else wires.PrefixedType(element)


def _field_lines(layout: Layout, groups: dict[str, Layout]) -> Iterator[str]:
    for index, field in enumerate(layout.fields):
        comment = "" if is_plain(field.name) else f"  # {field.name!r} on the wire"
        name = field.name if is_plain(field.name) else f"field_{index}"
        yield f"    {name}: {_annotation(field.type, field.name, groups)}{comment}"


def _annotation(wire: wires.WireType, name: str, groups: dict[str, Layout]) -> str:
    match wire:
        case wires.CountedType():
            return f"Annotated[Counted[{_annotation(wire.element, name, groups)}], by({wire.count!r})]"
        case wires.BytesType():
            return f"Annotated[Bytes, by({wire.count!r})]"
        case wires.PrefixedType() if wire.text == "utf-8":
            return "CountedUtf8"
        case wires.PrefixedType():
            return f"Prefixed[{_annotation(wire.element, name, groups)}]"
        case wires.StructType():
            group = _identifier(name, "Group")
            groups[group] = wire.layout
            return group
        case wires.EnumType():
            return _annotation(wire.base, name, groups)
        case wires.FixedArrayType() | wires.LocatedType():
            return f"object  # {wire.name}: not available in class bodies"
        case _:
            # A self-described one-byte boolean has the name of the four-byte one.
            return _NAMES.get(wire) or ("Boolean8" if getattr(wire, "size", 0) == 1 else "UInt8")


def _identifier(text: str, otherwise: str) -> str:
    """An ASCII identifier made from a name in a file."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(w[:1].upper() + w[1:] for w in words)
    return name if name and is_plain(name) else otherwise + name
