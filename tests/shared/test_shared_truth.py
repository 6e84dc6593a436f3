"""The laws of true numbers over all shared traces and all reports, each trace read once for all of them."""

from __future__ import annotations

import gzip
import random
import warnings
from collections.abc import Iterator

import pytest
from shared_files import Shared, needs_shared, traces

import clrevents
import report_laws
from clrevents.analysis import Answer

pytestmark = [needs_shared, pytest.mark.full]

_OTHERS = ("scenarios/lines", "rare", "linux")
_FOLDERS = ("traces/own", "traces/perfview", "scenarios", *_OTHERS)
_LARGEST = 3_000_000
"""Larger files, compressed, take minutes and hold nothing else."""
_SMALL = 800_000
TRACES = [shared for shared in traces(*_FOLDERS) if shared.path.stat().st_size < _LARGEST]


def answers(shared: Shared) -> Iterator[Answer[object]]:
    """What every report says of a trace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with clrevents.open(shared.path, errors="salvage") as trace:
            yield from trace.reports().values()


def test_numbers_are_possible() -> None:
    """In the other folders: in those above `test_reports_obey` asks this, among more."""
    found = traces(*_OTHERS)
    assert len(found) > 20
    for shared in found:
        for answer in answers(shared):
            try:
                report_laws.are_possible(answer)
            except AssertionError as broken:
                raise AssertionError(f"{answer.name} of {shared.name}: {broken}") from None


@pytest.mark.parametrize("seed", range(2))
def test_a_part_says_what_its_window_says(seed: int) -> None:
    """Cuts at moments drawn by chance, of a quarter of the traces for each seed."""
    rng = random.Random(seed)
    for shared in [shared for shared in TRACES if shared.path.stat().st_size < _SMALL][seed::4]:
        data = gzip.decompress(shared.path.read_bytes())
        with report_laws.opened(data) as trace:
            start, end = sorted(rng.randrange(trace.duration_ns + 1) for _ in "ab")
            window = trace.reports(start=start, end=end)
        with report_laws.opened(report_laws.part_of(data, start, end)) as part:
            for name, answer in part.reports().items():
                try:
                    report_laws.of_a_part(window[name], answer)
                except AssertionError as broken:
                    raise AssertionError(f"{name} of {shared.name}, {start} to {end}: {broken}") from None
