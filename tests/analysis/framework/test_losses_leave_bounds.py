"""What reports say of a trace with losses is true of it without: real traces, of which events are taken by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

import report_laws
from clrevents.analysis.framework.run.asking import find_report
from losing import with_losses
from project_files import SHARED, fixture, fixtures, unpacked
from tiers import drawn

_FAST = (("net10-exceptions", 1, 0.03), ("net10-convoy", 1, 0.2))


def bounded(data: bytes, seed: int, share: float) -> None:
    lossy = with_losses(data, seed, share)
    with report_laws.opened(data) as trace:
        whole = trace.reports()
    with report_laws.opened(lossy) as trace:
        assert trace.lost
        for name, answer in trace.reports().items():
            try:
                report_laws.losses_leave_bounds(find_report(name), whole[name], answer)
            except AssertionError as broken:
                raise AssertionError(f"{name}: {broken}") from None


@pytest.mark.parametrize(("name", "seed", "share"), _FAST)
def test_losses_leave_bounds(name: str, seed: int, share: float) -> None:
    bounded(unpacked(fixture(name)), seed, share)


SWEEP = [
    pytest.param(path, seed, id=f"{path.name.partition('.')[0]}-{seed}")
    for path in fixtures()
    for seed in range(2)
    if drawn(4, "losses", path.name, str(seed)) or path.name.startswith("net10-starvation") > seed
]
"""A sample, and once the only one with a pool, tasks and requests."""


@pytest.mark.full
@pytest.mark.parametrize(("path", "seed"), SWEEP)
def test_losses_leave_bounds_on_any_fixture(path: Path, seed: int) -> None:
    bounded(unpacked(path), seed, 0.03 if seed else 0.2)


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared traces")
def test_numbers_of_a_lossy_recording_are_bounds() -> None:
    with report_laws.opened(unpacked(SHARED / "traces" / "own" / "net10-lossy.nettrace.gz")) as trace:
        threads = trace.report("threads")
    assert threads.coverage == "partial"
    metric = threads.metrics["threads"]
    assert (metric.value, metric.low, metric.high) == (15, 15, None)
    assert threads.metrics["running_total"].value is None
    assert threads.metrics["running_total"].reason == "events are missing that it depends on"
