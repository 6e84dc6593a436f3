"""The laws of reports on shared traces: real losses, several versions, older formats."""

from __future__ import annotations

import gzip
import random

import pytest
from shared_files import Shared, needs_shared, traces

import report_laws
from report_cases import every_report
from report_schemas import validate
from tiers import drawn

pytestmark = needs_shared

_LARGEST = 2_000_000
"""Larger files, compressed, take minutes and hold nothing else."""

FOUND = [*traces("traces/own", "traces/perfview"), *(t for t in traces("scenarios") if drawn(3, "laws", t.name))]
"""Scenarios are a few programs, each on several runtimes."""
TRACES = [shared for shared in FOUND if shared.path.stat().st_size < _LARGEST]


@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_reports_obey(shared: Shared) -> None:
    """Read twice for all of them, and not for each."""
    data = gzip.decompress(shared.path.read_bytes())
    report_laws.obey_together([*every_report().values()], data, report_laws.TWO_READINGS)


_OTHERS = ("scenarios/lines", "rare", "linux")
_SMALL = 800_000
SMALL = [
    shared
    for shared in traces("traces/own", "traces/perfview", "scenarios", *_OTHERS)
    if shared.path.stat().st_size < _SMALL
]


def test_numbers_are_possible() -> None:
    """In the other folders: in those above `test_reports_obey` asks this, among more."""
    found = traces(*_OTHERS)
    assert len(found) > 20
    for shared in found:
        with report_laws.opened(gzip.decompress(shared.path.read_bytes())) as trace:
            answers = trace.reports().values()
        for answer in answers:
            try:
                report_laws.are_possible(answer)
            except AssertionError as broken:
                broken.add_note(f"{answer.name} of {shared.name}")
                raise


@pytest.mark.parametrize("seed", range(2))
def test_a_part_says_what_its_window_says(seed: int) -> None:
    """Cuts at moments drawn by chance, of a quarter of the traces for each seed."""
    rng = random.Random(seed)
    for shared in SMALL[seed::4]:
        data = gzip.decompress(shared.path.read_bytes())
        with report_laws.opened(data) as trace:
            start, end = sorted(rng.randrange(trace.duration_ns + 1) for _ in "ab")
            window = trace.reports(start=start, end=end)
        with report_laws.opened(report_laws.part_of(data, start, end)) as part:
            for name, answer in part.reports().items():
                try:
                    report_laws.of_a_part(window[name], answer)
                except AssertionError as broken:
                    broken.add_note(f"{name} of {shared.name}, {start} to {end}")
                    raise


SCHEMAS = [
    trace
    for trace in traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
    if drawn(6, "schemas", trace.name)
]


@pytest.mark.parametrize("trace", SCHEMAS, ids=lambda trace: trace.name)
def test_answers_fit_the_published_schemas(trace: Shared) -> None:
    validate(trace.path)
