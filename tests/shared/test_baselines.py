"""The third-party traces against their baselines: each name selects as many events, the first at its time and thread.

For the oldest trace, NetPerf 2, which the official decoder of today refuses, these are the only reference.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
from shared_described import TPL, official_name
from shared_files import SHARED, Shared, needs_shared, params, traces

import clrevents
from clrevents.schema.registry import DEFAULT

BASELINES: Final = {
    trace: path
    for trace in traces("traces/perfview")
    if (path := SHARED / "traces" / "perfview" / f"{trace.name}.baseline.txt").exists()
}
_ROW: Final = re.compile(r'(.+?), (\d+), <Event MSec=\s*"([\d.]+)".*? TID=\s*"(\d+)"')
OTHERWISE: Final = {
    "Microsoft-DotNETCore-SampleProfiler/Thread/Sample": ("ThreadSample",),
    "Microsoft-Windows-DotNETRuntime/GC": ("IncreaseMemoryPressure", "DecreaseMemoryPressure"),
}
"""Names that are no aliases of ours: samples have none at all, memory pressure goes by its task's."""
SUPPRESSED: Final = {"MethodILToNativeMap", "MethodDCEndVerbose", "MethodDCEndILToNativeMap"}
"""The converter that made the baselines uses up the methods and maps of the rundown."""


@pytest.mark.parametrize("trace", params([*BASELINES]))
def test_as_the_baseline_says(trace: Shared) -> None:
    """Names of the runtime's events are aliases of ours."""
    found: dict[tuple[str, str], tuple[int, int, int]] = {}
    with clrevents.open(trace.path) as opened:
        for event in opened.events():
            known = event.provider != TPL and DEFAULT.best(event.provider, event.id, event.version)
            name = event.name if known else official_name(event.provider, event.id, event.name, event.opcode)
            place = event.provider, name
            count, *first = found.get(place, (0, event.time_ns, event.thread_id))
            found[place] = (count + 1, *first)
    for line in BASELINES[trace].read_text("utf-8-sig").splitlines():
        row = _ROW.match(line)
        assert row is not None
        provider, _, name = row[1].partition("/")
        known = OTHERWISE.get(row[1]) or [entry.name for entry in DEFAULT.named(row[1])] or [name]
        some = [found.pop((provider, one)) for one in known if (provider, one) in found]
        assert some, row[1]
        time, thread = min(first for _, *first in some)
        assert (sum(count for count, *_ in some), thread) == (int(row[2]), int(row[4])), row[1]
        assert abs(time / 1e6 - float(row[3])) < 0.0001, row[1]
    assert {name for _, name in found} <= SUPPRESSED


@needs_shared
def test_all_baselines_are_here() -> None:
    assert len(BASELINES) == 7
