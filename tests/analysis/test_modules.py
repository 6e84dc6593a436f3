"""The modules report: modules of real traces with what ran of them, and ids that are used again."""

from __future__ import annotations

import json
import pickle
from functools import partial
from typing import Any

import pytest

import clrevents
from clrevents.analysis.reports.modules import ModulesReport
from clrevents.events import (
    MethodDetails_V0,
    MethodFlags,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V1,
    ModuleFlags,
    ModuleLoad_V1,
    ModuleUnload_V1,
    R2RGetEntryPoint_V0,
)
from clrevents.testing.builder import TraceBuilder
from project_files import fixture
from reading import asked

report = partial(asked, "modules")


def number(found: ModulesReport, name: str) -> int:
    value = found.metrics[name].value
    assert isinstance(value, int)
    return value


def module(path: str, identity: int = 77, flags: int = 8) -> tuple[ModuleLoad_V1, ModuleUnload_V1]:
    values = identity, 5, ModuleFlags(flags), 0, path, "", 0
    return ModuleLoad_V1(*values), ModuleUnload_V1(*values)


def compiled(builder: TraceBuilder, method_id: int, identity: int = 77) -> TraceBuilder:
    builder.event(MethodJittingStarted_V1(method_id, identity, 6, 10, "N.T", "M", "()", 0))
    return builder.event(MethodLoadVerbose_V1(method_id, identity, 4096, 30, 6, MethodFlags(8), "N.T", "M", "()", 0))


def test_what_was_compiled_and_looked_up() -> None:
    builder = TraceBuilder().event(module("/app/App.dll")[0])
    compiled(compiled(compiled(builder, 1), 1), 2)
    compiled(builder, 3, 99)
    builder.event(MethodDetails_V0(11, 0, 6, 0, 77, ())).event(MethodDetails_V0(12, 0, 6, 0, 77, ()))
    builder.event(R2RGetEntryPoint_V0(11, "N", "A", "", 1, 0)).event(R2RGetEntryPoint_V0(11, "N", "A", "", 1, 0))
    builder.event(R2RGetEntryPoint_V0(12, "N", "B", "", 0, 0)).event(R2RGetEntryPoint_V0(13, "N", "C", "", 1, 0))
    found = report(builder)
    (app,) = found.modules
    assert (app.name, app.path, app.kind, app.loaded_ns, app.unloaded_ns) == ("App", "/app/App.dll", "IL", 0, None)
    assert (app.jitted, app.compilations, app.compile_ns, app.il_bytes, app.native_bytes) == (2, 3, 3000, 30, 90)
    assert (app.precompiled, app.missed) == (1, 1)
    assert number(found, "elsewhere") == 2
    assert number(found, "count") == 1
    assert (number(found, "jitted"), number(found, "compilations"), number(found, "compile_total")) == (3, 4, 4000)
    assert (number(found, "native_total"), number(found, "precompiled"), number(found, "missed")) == (120, 2, 1)
    assert (app.pdb_signature, app.pdb_age, app.pdb_path, app.lossy) == (None, None, None, False)
    assert pickle.loads(pickle.dumps(found)) == found


def test_look_ups_of_unknown_modules_are_in_no_row() -> None:
    """Without MethodDetails nothing says which module a method was looked up in: null, and not 0."""
    builder = TraceBuilder().event(module("/app/App.dll")[0])
    builder.event(R2RGetEntryPoint_V0(11, "N", "A", "", 1, 0)).event(R2RGetEntryPoint_V0(12, "N", "B", "", 0, 0))
    found = report(builder)
    assert [(row.precompiled, row.missed) for row in found.modules] == [(None, None)]
    assert [number(found, name) for name in ("precompiled", "missed")] == [1, 1]
    # Compiled methods, of which it counts too, were not recorded.
    assert found.metrics["elsewhere"].value is None


def test_an_id_that_is_used_again() -> None:
    builder = TraceBuilder()
    for name, methods in (("One", (1,)), ("Two", (2, 3))):
        load, unload = module(f"/app/{name}.dll")
        builder.event(load)
        for method in methods:
            compiled(builder, method)
        builder.event(unload)
    found = report(builder)
    assert [(m.name, m.jitted, m.loaded_ns, m.unloaded_ns) for m in found.modules] == [
        ("One", 1, 0, 3000),
        ("Two", 2, 4000, 9000),
    ]
    # Look-ups were not recorded: their methods may have been of other modules.
    assert found.metrics["elsewhere"].value is None
    # The same ids in another module are other methods.
    assert number(found, "jitted") == 3


METRICS = {
    "compilations": "compilations",
    "compile_ns": "compile_total",
    "native_bytes": "native_total",
    "precompiled": "precompiled",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("net8-method-interop", (12, 115, 125, 28_910_031, 24_086, 1053, 33, 14)),
        ("net10-method-interop", (15, 135, 146, 37_798_854, 29_493, 1194, 45, 13)),
    ],
)
def test_real_traces(name: str, expected: tuple[int, ...]) -> None:
    with clrevents.open(fixture(name)) as trace:
        found = trace.report("modules")
        events: list[Any] = [e.payload for e in trace.events("ModuleLoad")]
        hits = {e.payload.MethodID for e in trace.events("R2RGetEntryPoint") if e.payload.EntryPoint}
    assert [m.path for m in found.modules] == [p.ModuleILPath for p in events]
    assert [m.pdb_signature for m in found.modules] == [
        str(p.ManagedPdbSignature) if p.ManagedPdbSignature.int else None for p in events
    ]
    names = ("count", "jitted", "compilations", "compile_total", "native_total", "precompiled", "missed", "elsewhere")
    assert tuple(number(found, name) for name in names) == expected
    for name, metric in METRICS.items():
        assert sum(getattr(m, name) for m in found.modules) == number(found, metric), name
    assert number(found, "precompiled") == len(hits)
    kinds = {m.name: m.kind for m in found.modules}
    assert kinds["System.Private.CoreLib"] == "ready-to-run"
    assert kinds["Workload"] == "IL"
    assert kinds["Anonymously Hosted DynamicMethods Assembly"] == "dynamic"
    assert all(m.loaded_ns is not None and m.unloaded_ns is None for m in found.modules)
    whole = json.loads(json.dumps(found.to_dict()))
    assert whole["schema"] == "clrevents.modules/1"
    assert ModulesReport.from_dict(whole) == found
    assert found.coverage == "full"
    assert found.facts.complete


def test_modules_of_the_rundown_only() -> None:
    with clrevents.open(fixture("net8-counters")) as trace:
        found = trace.report("modules")
    assert (len(found.modules), found.coverage, number(found, "count")) == (12, "partial", 12)
    assert all((m.loaded_ns, m.jitted, m.precompiled) == (None, None, None) for m in found.modules)
    metric = found.metrics["elsewhere"]
    assert (metric.value, metric.reason) == (None, "not recorded")
    assert "modules" not in {what for note in found.notes for what in note.touches}
