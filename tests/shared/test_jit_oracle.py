"""The JIT report against the official decoder's, method by method, on every trace of which there is one."""

from __future__ import annotations

import pytest
from shared_files import Shared, official, params, traces

import clrevents
from clrevents.symbols.modules import module_name
from project_files import without_shared

REPORTED = [t for t in traces("traces/own", "scenarios") if official(t, "jits")]


@pytest.mark.parametrize("trace", params(REPORTED))
def test_every_compilation(trace: Shared) -> None:
    expected = official(trace, "jits")
    assert expected is not None
    with clrevents.open(trace.path) as opened:
        report = opened.report("jit", raw=True)
        paths = {m.name: m.path for m in opened.report("modules").modules}
    theirs = [
        (
            jit["MethodName"],
            module_name(jit["ModuleILPath"]),
            jit["ILSize"],
            jit["NativeSize"],
            jit["ThreadID"],
            jit["Tier"],
            jit["VersionID"],
            jit["Kind"] == "TieredCompilationBackground",
        )
        for jit in expected["jits"]
    ]
    ours = [
        (c.method, c.module, c.il_bytes, c.native_bytes, c.thread_id, c.tier, c.version, c.background)
        for c in report.compilations
    ]
    assert ours == theirs
    for mine, jit in zip(report.compilations, expected["jits"], strict=True):
        assert mine.start_ns is not None
        assert mine.compile_ns is not None
        # It reckons in milliseconds as doubles, we in whole nanoseconds, cut.
        assert abs(mine.start_ns - jit["StartTimeMSec"] * 1e6) < 1.5
        assert abs(mine.compile_ns - jit["CompileCpuTimeMSec"] * 1e6) < 2
        assert mine.module is not None
        assert paths[mine.module] == jit["ModuleILPath"]
    totals = {name: metric.value for name, metric in report.metrics.items()}
    jit = expected["jit"]
    assert totals["compilations"] == jit["Count"]
    assert totals["il_total"] == jit["TotalILSize"]
    assert totals["native_total"] == jit["TotalNativeSize"]
    assert totals["foreground"] == jit["CountForeground"]
    assert totals["background"] == jit["CountBackgroundTieredCompilation"]
    assert abs((totals["compile_total"] or 0) - jit["TotalCpuTimeMSec"] * 1e6) < 2 * jit["Count"]
    assert (totals["unfinished"], totals["untimed"]) == (0, 0)


@pytest.mark.skipif(not REPORTED, reason=without_shared("the official decoder's reports"))
def test_the_two_that_must_be_there() -> None:
    names = {trace.short: len((official(trace, "jits") or {})["jits"]) for trace in REPORTED}
    assert (names["net8-all"], names["net10-all"]) == (149, 184)
    assert len(names) >= 9
    assert sum(names.values()) == 1885
