"""docs/events.md, from the registry: every event with its versions, keywords, level, fields and enums."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final

from clrevents.schema.flags import OpenFlag, named_values
from clrevents.schema.keywords import KEYWORDS
from clrevents.schema.layout import Field, Layout
from clrevents.schema.registry import DEFAULT, RUNDOWN, RUNTIME, SAMPLE, EventInfo
from clrevents.schema.wire import BytesType, CountedType, EnumType, PrefixedType, StructType, WireType

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "events.md"

FIRST: Final = (RUNTIME, RUNDOWN, SAMPLE)

HEAD: Final = """\
# Events

<!-- Made by tools/make.py of the registry: change the event modules instead. -->

All built-in events, by provider and id. Record classes are named after the event and its version: `GCStart_V2`.
Fields are in wire order; a later version that only adds fields is a subclass of the previous one, and *since* gives
the version that added a field. `X[Count]` means that the field `Count` gives the number of X. Keywords and level are
those of the newest runtime; traces from other runtimes may have others. If a trace describes one of these events
differently, its description counts where only that uses up the payload exactly;
[your own events](cookbook/own-events.md) are read as you declare them.

| type | on the wire |
|---|---|
| `UInt8` … `UInt64`, `Int32`, `Int64`, `Double` | little-endian numbers of that width |
| `Boolean` | four bytes, nonzero is true |
| `Pointer` | four or eight bytes, as wide as the process's pointers |
| `GUID` | sixteen bytes |
| `UnicodeString` | UTF-16 up to a zero unit; the runtime writes null as the text `NULL` |
| `AnsiString` | bytes up to a zero byte |
| `Bytes[Size]` | bytes; the field `Size` gives their number |
| `VarUInt` | one to ten bytes, seven bits each, low bits first |
| `VarInt` | the same of a zigzag-encoded number: 0, −1, 1, −2 … as 0, 1, 2, 3 … |
| `Delta` | `VarUInt`; after an array's first element the difference to the one before, as `VarInt` |
| `utf-8-text` | a 16-bit byte count, then UTF-8 |
"""


def builtin() -> Iterator[EventInfo]:
    """Without those that a test, or any other importer, registered."""
    return (info for info in DEFAULT.events() if info.record.__module__.startswith("clrevents."))


def files() -> dict[Path, str]:
    """The page with its text."""
    return {PAGE: render()}


def render() -> str:
    """The page's text."""
    known = sorted(builtin(), key=lambda i: (_order(i.provider), i.id, i.version))
    events: dict[tuple[str, int], list[EventInfo]] = {}
    for info in known:
        events.setdefault((info.provider, info.id), []).append(info)
    aliases = {(e.provider, e.id): e.aliases for e in DEFAULT.entries()}
    enums: dict[str, type[Enum]] = {}
    lines = [HEAD]
    provider = ""
    for key, versions in events.items():
        if key[0] != provider:
            provider = key[0]
            lines += [f"## {provider}", "", f"{_count(events, provider)}.", ""]
        lines += _event(versions, aliases[key], enums)
    lines += ["## Enums", "", "Values without a name stay numbers.", ""]
    for enum in (*KEYWORDS.values(), *(enums[name] for name in sorted(enums))):
        lines += _enum(enum)
    return "\n".join(lines).rstrip("\n") + "\n"


def _order(provider: str) -> tuple[int, str]:
    """The providers found in most traces come first."""
    return (FIRST.index(provider) if provider in FIRST else len(FIRST)), provider


def _count(events: dict[tuple[str, int], list[EventInfo]], provider: str) -> str:
    own = [versions for (p, _), versions in events.items() if p == provider]
    number, total = len(own), sum(map(len, own))
    return f"{number} event{'s' if number > 1 else ''}, {total} version{'s' if total > 1 else ''}"


def _event(versions: list[EventInfo], aliases: tuple[str, ...], enums: dict[str, type[Enum]]) -> Iterator[str]:
    """One event: a line of facts, then each shape with its meaning and fields."""
    newest = versions[-1]
    numbers = ", ".join(str(v.version) for v in versions)
    facts = [f"id {newest.id}", f"version{'s' if len(versions) > 1 else ''} {numbers}"]
    facts += _changing("keywords", [(v, _keywords(v)) for v in versions])
    facts += _changing("level", [(v, str(v.level)) for v in versions])
    if aliases:
        facts.append("also " + ", ".join(f"`{a}`" for a in aliases))
    yield from (f"### {newest.name}", "", " · ".join(facts), "")
    shapes: list[list[EventInfo]] = []
    for version in versions:
        if shapes and issubclass(version.record, shapes[-1][-1].record):
            shapes[-1].append(version)
        else:
            shapes.append([version])
    for shape in shapes:
        first = shape[0]
        yield f"**Version {first.version}.** {first.meaning}" if len(versions) > 1 else first.meaning
        yield ""
        for version in shape[1:]:
            _, adds, what = version.meaning.partition(" Adds ")
            title = f"**Version {version.version}**"
            yield f"{title} adds {what}" if adds else f"{title[:-2]}.** {version.meaning}"
            yield ""
        yield from _table(shape, enums)
        other: Any = shape[-1].otherwise
        if other is not None:
            yield from (f"Payloads that these fields do not fit are `{other.__name__}`: {other.__doc__}", "")
            yield from _fields(other.__layout__.fields, enums)


def _changing(what: str, values: list[tuple[EventInfo, str]]) -> Iterator[str]:
    """A fact that is usually the same for all versions."""
    text = ""
    last = None
    for version, value in values:
        if value != last:
            text += f"{', from version ' + str(version.version) if last is not None else what} {value}"
            last = value
    if text != f"{what} none":
        yield text


def _keywords(info: EventInfo) -> str:
    enum = KEYWORDS.get(info.provider)
    if not info.keywords or enum is None:
        return "none"
    return ", ".join(f"`{name}`" for name in str(enum(info.keywords)).split("|"))


def _table(shape: list[EventInfo], enums: dict[str, type[Enum]]) -> Iterator[str]:
    """The fields of versions that build on each other."""
    fields = shape[-1].layout.fields
    if not fields:
        yield from ("No fields.", "")
        return
    several = len(shape) > 1
    if not several:
        yield from _fields(fields, enums)
        return
    yield "| field | type | since |"
    yield "|---|---|---|"
    for index, field in enumerate(fields):
        since = next(v.version for v in shape if len(v.layout) > index)
        yield f"| {field.name} | {_type(field, enums)} | {since} |"
    yield ""


def _fields(fields: tuple[Field, ...], enums: dict[str, type[Enum]]) -> Iterator[str]:
    yield from ("| field | type |", "|---|---|")
    yield from (f"| {field.name} | {_type(field, enums)} |" for field in fields)
    yield ""


def _type(field: Field, enums: dict[str, type[Enum]]) -> str:
    text = _wire(field.type, enums)
    if field.pad is not None:
        bytes32, bytes64 = field.pad.bytes32, field.pad.bytes64
        padding = f"{bytes64}" if bytes32 == bytes64 else f"{bytes64} ({bytes32} in 32-bit processes)"
        text += f" after {padding} bytes of padding"
    return text


def _wire(wire: WireType, enums: dict[str, type[Enum]]) -> str:
    match wire:
        case EnumType():
            enums[wire.enum.__name__] = wire.enum
            return f"[{wire.enum.__name__}](#{wire.enum.__name__.lower()}) as `{wire.name}`"
        case CountedType(element=StructType() as inner) | PrefixedType(element=StructType() as inner):
            layout: Layout = inner.record.__layout__  # type: ignore[attr-defined]
            members = ", ".join(f"{f.name} {_type(f, enums)}" for f in layout.fields)
            return f"`{wire.name}` of: {members}"
        case CountedType() | BytesType():
            return f"`{wire.name}`"
    return f"`{wire.name}`"


def _enum(enum: type[Enum]) -> Iterator[str]:
    flags = issubclass(enum, OpenFlag)
    yield from (f"### {enum.__name__}", "", (enum.__doc__ or "").strip().partition("\n")[0], "")
    yield from ("| bit | name |" if flags else "| number | name |", "|---|---|")
    for name, value in named_values(enum):
        yield f"| {value:#x} | {name} |" if flags else f"| {value} | {name} |"
    for field in _bit_fields(enum):
        low, high = field.shift, field.shift + field.width - 1
        values = ", ".join(f"{value} {name}" for name, value in named_values(field.enum))
        yield f"| bits {low}-{high} | {field.name}: {values} |"
    yield ""


def _bit_fields(enum: type[Enum]) -> tuple[Any, ...]:
    return enum.bit_fields() if issubclass(enum, OpenFlag) else ()
