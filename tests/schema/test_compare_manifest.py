"""The registry holds the whole manifest, and the comparison that says so sees every kind of difference."""

from __future__ import annotations

import copy
import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from clrevents.schema.registry import DEFAULT, MONO, PRIVATE, RUNDOWN, RUNTIME, STRESS
from project_files import SHARED, tool, without_shared

MANIFEST = SHARED / "reference" / "manifest.json"
PAIRS = {RUNTIME: 212, RUNDOWN: 51, STRESS: 3, PRIVATE: 185, MONO: 65}

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not MANIFEST.exists(), reason=without_shared("the manifest"))]


@cache
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return found


def test_all_pairs_are_there() -> None:
    assert Counter(i.provider for i in DEFAULT.events() if i.provider in PAIRS) == PAIRS
    assert sum(PAIRS.values()) == 516


def test_no_difference_but_the_explained() -> None:
    found = tool("compare_manifest").compare(manifest())
    assert [str(d) for d in found if not d.reason] == []
    # No reason stands there for a difference that is gone.
    used = {d.reason for d in found}
    assert used == {*tool("compare_manifest").EXPLAINED.values(), *tool("compare_manifest").SOURCE.values()}


def test_the_source_decides_for_the_declared_members_only() -> None:
    explained = {d.member for d in tool("compare_manifest").compare(manifest()) if d.member and d.reason}
    # `None_` has an explanation of its own: no bit set needs no name.
    assert explained - {"TieredCompilationFlags.None_"} == set(tool("compare_manifest").SOURCE)


def test_undeclared_member_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(tool("compare_manifest").SOURCE, "GCReason.PMFullGC")
    found = [str(d) for d in tool("compare_manifest").compare(manifest()) if not d.reason]
    assert found == ["runtime GCReasonMap: only the registry has PMFullGC = 12"]


def changed(change: str) -> dict[str, Any]:
    """The manifest with one thing in it changed."""
    copied = copy.deepcopy(manifest())
    runtime = next(p for p in copied["providers"] if p["name"] == RUNTIME)
    events = {(e["id"], e["version"]): e for e in runtime["events"]}
    start = events[1, 2]
    match change:
        case "new provider":
            copied["providers"].append({"name": "New", "events": [], "maps": {}, "keywords": {}})
        case "new version":
            runtime["events"].append({**start, "version": 3, "symbol": "GCStart_V3"})
        case "old version gone":
            runtime["events"].remove(events[1, 1])
        case "name":
            start["symbol"] = "GCBegin_V2"
        case "official name":
            start["traceEventName"] = "GC/Begin"
        case "keywords":
            start["keywordMask"] = 3
        case "level":
            start["level"] = 5
        case "field more":
            start["fields"].append({"name": "More", "inType": "win:UInt8"})
        case "field renamed":
            start["fields"][0]["name"] = "Number"
        case "type":
            start["fields"][1]["inType"] = "win:UInt16"
        case "map":
            start["fields"][1]["map"] = "GCTypeMap"
        case "count":
            events[72, 0]["fields"][-1]["count"] = "MethodToken"
        case "in a struct":
            events[19, 0]["fields"][-1]["struct"][0]["inType"] = "win:UInt64"
        case "map entry":
            runtime["maps"]["GCTypeMap"]["entries"].append({"name": "NewGC", "value": 3})
        case "map value":
            runtime["maps"]["GCTypeMap"]["entries"][1]["value"] = 7
        case "map kind":
            runtime["maps"]["GCTypeMap"]["kind"] = "bitMap"
        case "keyword":
            runtime["keywords"]["NewKeyword"] = 1 << 50
    return copied


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("new provider", "New: a provider that is not known"),
        ("new version", "runtime 1.3: the registry lacks GCStart_V3"),
        ("old version gone", "runtime 1.1: not in the manifest"),
        ("name", "runtime 1.2: the name should be GCBegin, it is GCStart"),
        ("official name", "runtime 1.2: GC/Begin is no alias"),
        ("keywords", "runtime 1.2: keywords are 0x3, in the registry 0x1"),
        ("level", "runtime 1.2: the level is 5, in the registry 4"),
        ("field more", "runtime 1.2: the fields are Count, Depth, Reason, Type, ClrInstanceID, ClientSequenceNumber"),
        ("field renamed", "runtime 1.2: the fields are Number, Depth"),
        ("type", "runtime 1.2/Depth: the type is UInt16, in the registry UInt32"),
        ("map", "runtime 1.2/Depth: the manifest has GCTypeMap, the registry a number"),
        ("count", "runtime 72.0/TypeParameters: the manifest counts MethodToken, the registry TypeParameterCount"),
        ("in a struct", "runtime 19.0/Values.Value: the type is UInt64, in the registry Pointer"),
        ("map entry", "runtime GCTypeMap: the registry lacks NewGC = 3"),
        ("map value", "runtime GCTypeMap: BackgroundGC is 7, in the registry 1"),
        ("map kind", "runtime GCTypeMap: a bitMap, in the registry GCType"),
        ("keyword", "runtime: keyword New is"),
    ],
)
def test_difference_is_seen(change: str, said: str) -> None:
    found = [str(d) for d in tool("compare_manifest").compare(changed(change)) if not d.reason]
    assert any(text.startswith(said) for text in found), found
