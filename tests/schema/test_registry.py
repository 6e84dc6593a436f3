"""What holds for every registered event, and how a registry answers: by key, by name, by version."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from typing import Any

import attrs
import pytest

import clrevents.events
import clrevents.schema.events
from clrevents.schema._index import EVENTS
from clrevents.schema.flags import OpenEnum, OpenFlag
from clrevents.schema.matching import glob, select_entries
from clrevents.schema.registry import (
    DEFAULT,
    RUNDOWN,
    RUNTIME,
    SHORT_PROVIDERS,
    Entry,
    EventInfo,
    match_exact,
    provider_name,
)
from clrevents.schema.wire import EnumType
from clrevents.types import Registry, UInt16, UInt32, event
from registered import each_event


def builtin() -> list[EventInfo]:
    found = (i for i in DEFAULT.events() if i.record.__module__.startswith("clrevents."))
    return sorted(found, key=lambda i: (i.provider, i.id, i.version))


@each_event
def test_record_is_immutable_slotted_and_plain(info: EventInfo) -> None:
    record: Any = info.record
    names = [f.name for f in info.layout.fields]
    assert [a.name for a in attrs.fields(record)] == names
    assert "__dict__" not in dir(record(*range(len(names))))
    public = {n for n in dir(record) if not n.startswith("_")}
    assert public == set(names), "records have no public attribute but their fields"
    made = record(*range(len(names)))
    with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
        setattr(made, names[0] if names else "x", 1)
    assert made == record(*range(len(names)))


@each_event
def test_event_has_a_meaning_in_one_line(info: EventInfo) -> None:
    assert info.meaning
    assert len(info.meaning) <= 120
    assert not info.meaning.startswith(info.record.__name__), "the docstring, not a generated signature"
    assert vars(info.record)["__event__"] is info


@each_event
def test_fields_have_the_manifests_spelling(info: EventInfo) -> None:
    """PascalCase, as everything that comes from the wire."""
    for field in info.layout.fields:
        assert re.fullmatch(r"[A-Z][A-Za-z0-9]*", field.name)


@each_event
def test_subclass_exactly_where_the_wire_appends(info: EventInfo) -> None:
    """So that `isinstance(p, MethodLoad_V1)` means version 1 or later, and nothing else."""
    for version in DEFAULT.versions(info.provider, info.id):
        other = DEFAULT.get(info.provider, info.id, version)
        assert other is not None
        older = other.version < info.version
        appends = older and info.layout.fields[: len(other.layout.fields)] == other.layout.fields
        assert (issubclass(info.record, other.record) and info is not other) == appends


@each_event
def test_unrelated_events_share_no_class(info: EventInfo) -> None:
    bases = [b for b in info.record.__mro__[1:] if hasattr(b, "__event__")]
    keys = {(b.__event__.provider, b.__event__.id) for b in bases}
    assert keys <= {(info.provider, info.id)}


@each_event
def test_event_is_a_public_name(info: EventInfo) -> None:
    assert getattr(clrevents.events, info.record.__name__) is info.record


def test_enums_are_public_names() -> None:
    for info in builtin():
        for field in info.layout.fields:
            if isinstance(field.type, EnumType):
                enum = field.type.enum
                assert getattr(clrevents.events, enum.__name__) is enum
                assert issubclass(enum, OpenEnum | OpenFlag)
                assert enum.__doc__


def test_class_names_are_unique() -> None:
    """The flat module can hold them all."""
    counts = Counter(i.record.__name__ for i in builtin())
    assert max(counts.values()) == 1


def test_index_knows_what_the_families_declare() -> None:
    """The generated index is exactly what the modules register."""
    for module in pkgutil.iter_modules(clrevents.schema.events.__path__):
        importlib.import_module(f"clrevents.schema.events.{module.name}")
    indexed = {
        (provider, id): ({name, *aliases}, versions)
        for (provider, _), events in EVENTS.items()
        for id, name, aliases, versions in events
    }
    declared: dict[tuple[str, int], tuple[set[str], tuple[int, ...]]] = {}
    for info in builtin():
        names, versions = declared.get((info.provider, info.id), (set(), ()))
        declared[info.provider, info.id] = {*names, info.name, *info.aliases}, (*versions, info.version)
    assert indexed == declared


def test_best_version() -> None:
    def best(id: int, version: int) -> str | None:
        info = DEFAULT.best(RUNTIME, id, version)
        return info.record.__name__ if info else None

    assert best(143, 0) == "MethodLoadVerbose_V0"
    assert best(143, 2) == "MethodLoadVerbose_V2"
    assert best(143, 9) == "MethodLoadVerbose_V2"
    assert best(1303, 0) is None
    assert DEFAULT.versions(RUNTIME, 1303) == ()
    assert DEFAULT.get(RUNTIME, 143, 3) is None


def test_a_newer_version_says_nothing_of_an_older_one() -> None:
    registry = Registry(parent=None)

    @event("My", id=1, version=3, registry=registry)
    class Thing_V3:
        """Known from its third version on."""

        Number: UInt16

    found = [registry.best("My", 1, version) for version in (0, 2, 3, 4)]
    assert [info and info.record for info in found] == [None, None, Thing_V3, Thing_V3]


def names(entries: list[Entry]) -> list[str]:
    return sorted(f"{e.provider.removeprefix('Microsoft-Windows-')}/{e.name}" for e in entries)


def test_exact_names() -> None:
    """By name, else by alias, else by provider and either."""
    assert names(DEFAULT.named("MethodLoadVerbose")) == ["DotNETRuntime/MethodLoadVerbose"]
    assert names(DEFAULT.named("Method/LoadVerbose")) == ["DotNETRuntime/MethodLoadVerbose"]
    assert names(DEFAULT.named(f"{RUNTIME}/MethodLoadVerbose")) == ["DotNETRuntime/MethodLoadVerbose"]
    assert names(DEFAULT.named("runtime/MethodLoadVerbose")) == ["DotNETRuntime/MethodLoadVerbose"]
    assert names(DEFAULT.named("runtime/Method/LoadVerbose")) == ["DotNETRuntime/MethodLoadVerbose"]
    assert DEFAULT.named("rundown/MethodLoadVerbose") == []
    assert DEFAULT.named("methodloadverbose") == [], "case matters"
    # One alias, two providers.
    assert names(DEFAULT.named("Runtime/Start")) == [
        "DotNETRuntime/RuntimeInformationStart",
        "DotNETRuntimeRundown/RuntimeInformationDCStart",
    ]


def test_a_name_goes_before_an_alias() -> None:
    entries = [
        Entry("P", 1, "Real", ("Other",), (0,)),
        Entry("P", 2, "Other", (), (0,)),
        Entry("Q/R", 3, "Real", (), (0,)),
    ]
    assert match_exact("Other", entries) == [entries[1]]
    assert match_exact("Real", entries) == [entries[0], entries[2]]
    assert match_exact("Q/R/Real", entries) == [entries[2]], "split at the last slash"
    slashed = [Entry("Q", 4, "R/Real", (), (0,)), entries[2]]
    assert match_exact("Q/R/Real", slashed) == [entries[2]]
    assert match_exact("Q/R/Real", slashed[:1]) == [slashed[0]], "an event's name may have a slash"
    assert match_exact("P/Other", entries) == [entries[1]]
    assert match_exact("Nothing", entries) == []


def test_short_provider_names() -> None:
    assert sorted(SHORT_PROVIDERS) == ["mono", "private", "rundown", "runtime", "sample", "stress", "tpl"]
    assert provider_name("rundown") == RUNDOWN
    assert provider_name("Mine") == "Mine"


def test_globs() -> None:
    entries = list(DEFAULT.entries())
    stubs = ["DotNETRuntime/ILStubCacheHit", "DotNETRuntime/ILStubGenerated"]
    assert names(select_entries("ILStub*", entries)) == stubs
    # Also over aliases and `Provider/Event`, where the provider may be short.
    assert names(select_entries("ILStub/*", entries)) == stubs
    assert names(select_entries("private/Jitted*", entries)) == ["DotNETRuntimePrivate/JittedMethodRichDebugInfo"]
    assert select_entries("ilstub*", entries) == []
    assert glob("Method[DL]*Verbose")(DEFAULT.named("MethodLoadVerbose")[0])
    assert not glob("Method[DL]*Verbose")(DEFAULT.named("MethodUnloadVerbose")[0])


def test_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(clrevents.UnknownEventError, match="did you mean MethodLoadVerbose"):
        select_entries("MethodLoadVerbos", DEFAULT.entries())
    with pytest.raises(clrevents.UnknownEventError, match="did you mean MethodLoadVerbose"):
        select_entries("methodloadverbose", DEFAULT.entries())
    with pytest.raises(LookupError, match=r"^no event 'zzz'$"):
        select_entries("zzz", DEFAULT.entries())


def test_child_registry_hides_and_falls_through() -> None:
    child = Registry()

    @event(RUNTIME, id=143, version=2, registry=child, replace=True)
    class MethodLoadVerbose_V2:
        """Mine."""

        Number: UInt32

    @event("My", id=1, version=0, registry=child)
    class Thing_V0:
        """Mine as well."""

        Number: UInt16

    mine = child.get(RUNTIME, 143, 2)
    assert mine is not None
    assert mine.record is MethodLoadVerbose_V2
    other = child.get(RUNTIME, 143, 1)
    assert other is not None
    assert other.record is clrevents.events.MethodLoadVerbose_V1
    assert child.versions(RUNTIME, 143) == (0, 1, 2)
    assert [e.name for e in child.named("Thing")] == ["Thing"]
    assert len([e for e in child.entries() if (e.provider, e.id) == (RUNTIME, 143)]) == 1
    # Nothing of it is seen from outside.
    assert DEFAULT.get("My", 1, 0) is None
    assert DEFAULT.get(RUNTIME, 143, 2) is clrevents.events.MethodLoadVerbose_V2.__event__  # type: ignore[attr-defined]
    assert DEFAULT.named("Thing") == []
