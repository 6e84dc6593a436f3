"""The registry says what the runtime's manifest says: every event of the families, field by field.

The list of the 69 pairs is part of the test; the manifest itself is not part of the project.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from clrevents.schema.flags import OpenEnum, OpenFlag, named_values
from clrevents.schema.registry import DEFAULT, PRIVATE, RUNDOWN, RUNTIME, SHORT_PROVIDERS, EventInfo
from clrevents.schema.wire import BytesType, CountedType, EnumType, StructType, WireType
from project_files import SHARED, tool, without_shared
from registered import each_event

MANIFEST = SHARED / "reference" / "manifest.json"
SOURCE: dict[str, str] = tool("compare_manifest").SOURCE
SIGNED: frozenset[str] = tool("compare_manifest").SIGNED
SHORT = {full: short for short, full in SHORT_PROVIDERS.items()}

# Interop, method, tail calls, inlining, ready-to-run, tiering: provider → id → number of versions, from 0.
FAMILIES: dict[str, dict[int, int]] = {
    RUNTIME: {
        **dict.fromkeys((72, 88, 89, *range(135, 141), 146, 160, 185, 186, 188, 189, 191, 192), 1),
        **dict.fromkeys((*range(280, 285), 297, 298), 1),
        **dict.fromkeys((145, 159, 190), 2),
        **dict.fromkeys((141, 142, 143, 144), 3),
    },
    RUNDOWN: {**dict.fromkeys(range(141, 145), 3), **dict.fromkeys(range(145, 151), 2), 280: 1},
    PRIVATE: {189: 1, 202: 1},
}
PAIRS = [(p, i, v) for p, ids in FAMILIES.items() for i, count in ids.items() for v in range(count)]


@cache
def manifest() -> dict[str, Any]:
    if not MANIFEST.exists():
        pytest.skip(without_shared("the manifest"))
    providers: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))["providers"]
    return {p["name"]: p for p in providers}


@cache
def manifest_events() -> dict[tuple[str, int, int], dict[str, Any]]:
    return {(name, e["id"], e["version"]): e for name, p in manifest().items() for e in p["events"]}


def expected_of(info: EventInfo) -> dict[str, Any] | None:
    """What the manifest says of an event; None where its provider is not in the manifest."""
    return manifest_events()[info.provider, info.id, info.version] if info.provider in manifest() else None


def test_there_are_69_pairs() -> None:
    assert len(PAIRS) == len(set(PAIRS)) == 69


def test_pairs_are_registered() -> None:
    for provider, id, version in PAIRS:
        info = DEFAULT.get(provider, id, version)
        assert info is not None, (provider, id, version)
        assert (info.provider, info.id, info.version) == (provider, id, version)
        assert DEFAULT.get(provider, id, FAMILIES[provider][id]) is None or len(DEFAULT.versions(provider, id)) > 3


def wire_fields(fields: list[dict[str, Any]], struct: bool = False) -> list[tuple[Any, ...]]:
    """(name, type, count) of a manifest's fields; a count that is a number is none on the wire."""
    found: list[tuple[Any, ...]] = []
    for field in fields:
        if "struct" in field:
            found.append((field["name"], wire_fields(field["struct"]), field["count"]))
        else:
            count = field.get("count", field.get("length"))
            count = None if str(count).isdigit() else count
            found.append((field["name"], field["inType"].removeprefix("win:"), count))
    return found


def our_fields(layout: Any) -> list[tuple[Any, ...]]:
    """The same of a layout."""
    return [(f.name, *our_type(f.type)) for f in layout.fields]


def our_type(wire: WireType) -> tuple[Any, Any]:
    match wire:
        case CountedType():
            element, _ = our_type(wire.element)
            return element, wire.count
        case BytesType():
            return "Binary", wire.count
        case StructType():
            layout: Any = wire.record.__layout__  # type: ignore[attr-defined]
            return our_fields(layout), None
    return wire.name, None


@pytest.mark.shared
@each_event
def test_fields_are_the_manifests(info: EventInfo) -> None:
    expected = expected_of(info)
    if expected is None:
        return
    # Of two layouts it declares the one in bytes.
    ours, theirs = our_fields(info.layouts[-1]), wire_fields(expected["fields"])
    assert [signed(info, *field) for field in theirs] == ours


def signed(info: EventInfo, name: str, type: Any, count: Any) -> tuple[Any, ...]:
    """A field of the manifest as it is written."""
    place = f"{SHORT[info.provider]} {info.id}.{info.version}/{name}"
    return name, "Int32" if place in SIGNED and type == "UInt32" else type, count


@pytest.mark.shared
@each_event
def test_keywords_and_level_are_the_manifests(info: EventInfo) -> None:
    expected = expected_of(info)
    if expected is None:
        return
    assert (info.keywords, info.level) == (expected["keywordMask"], expected["level"])


def symbol_name(symbol: str) -> str:
    """The manifest's symbol without the version at its end."""
    return re.sub(r"_V\d+$", "", symbol)


@pytest.mark.shared
@each_event
def test_name_and_alias_follow_the_symbol(info: EventInfo) -> None:
    """The newest symbol names all versions; the official decoder's name is an alias; the class shows the version."""
    if expected_of(info) is None:
        return
    versions = [e for (p, i, _), e in manifest_events().items() if (p, i) == (info.provider, info.id)]
    newest = symbol_name(max(versions, key=lambda e: e["version"])["symbol"])
    taken = info.provider == PRIVATE and any(
        symbol_name(e["symbol"]) == newest for (p, _, _), e in manifest_events().items() if p == RUNTIME
    )
    name = f"Prv{newest}" if taken else newest
    assert info.name == name
    assert info.record.__name__ == f"{name}_V{info.version}"
    (entry,) = [e for e in DEFAULT.entries() if (e.provider, e.id) == (info.provider, info.id)]
    assert entry.name == name
    assert info.version in entry.versions
    official = {e["traceEventName"] for e in versions if e.get("traceEventName")}
    older = {symbol_name(e["symbol"]) for e in versions} - {newest}
    assert (official | older) - {name} <= set(entry.aliases)


@pytest.mark.shared
@each_event
def test_enums_have_the_manifests_names(info: EventInfo) -> None:
    """A field with a map is an enum with its values (a zero may have no name), except where the source decides."""
    expected = expected_of(info)
    if expected is None:
        return
    maps = manifest()[info.provider]["maps"]
    wires = {f.name: f.type for f in info.layout.fields}
    for field in expected["fields"]:
        if "map" not in field:
            continue
        wire = wires[field["name"]]
        assert isinstance(wire, EnumType), field["name"]
        bits = maps[field["map"]]["kind"] == "bitMap"
        assert issubclass(wire.enum, OpenFlag if bits else OpenEnum)
        declared = {m.partition(".")[2] for m in SOURCE if m.partition(".")[0] == wire.enum.__name__}
        theirs = {e["value"] for e in maps[field["map"]]["entries"] if e["name"] not in declared}
        ours = {value for name, value in named_values(wire.enum) if name not in declared}
        assert theirs - {0} <= ours, f"{wire.enum.__name__} lacks values"
        assert ours <= theirs, f"{wire.enum.__name__} has values of its own"


@pytest.mark.shared
def test_keyword_enums_are_the_manifests() -> None:
    from clrevents.schema import keywords

    enums = {
        "Runtime": keywords.RuntimeKeyword,
        "RuntimeRundown": keywords.RundownKeyword,
        "RuntimePrivate": keywords.PrivateKeyword,
        "RuntimeStress": keywords.StressKeyword,
        "RuntimeMonoProfiler": keywords.MonoKeyword,
    }
    compared = 0
    for provider, description in manifest().items():
        enum = enums[provider.rpartition("DotNET")[2]]
        theirs = set(description["keywords"].values())
        assert {value for _, value in named_values(enum)} == theirs
        compared += len(theirs)
    assert compared == 39 + 13 + 14 + 1 + 18
