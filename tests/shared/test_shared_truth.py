"""The laws of true numbers over all shared traces and all reports, each trace read once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from shared_files import Shared, needs_shared, traces

import clrevents
import report_laws
from clrevents.analysis import Answer

pytestmark = [needs_shared, pytest.mark.full]

_FOLDERS = ("traces/own", "traces/perfview", "scenarios", "scenarios/lines", "rare", "linux")
_LARGEST = 3_000_000
"""Larger files, compressed, take minutes and hold nothing else."""
TRACES = [shared for shared in traces(*_FOLDERS) if shared.path.stat().st_size < _LARGEST]


def answers(shared: Shared) -> Iterator[Answer[object]]:
    """What every report says of a trace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with clrevents.open(shared.path, errors="salvage") as trace:
            yield from trace.reports().values()


def test_numbers_are_possible() -> None:
    assert len(TRACES) > 40
    for shared in TRACES:
        for answer in answers(shared):
            try:
                report_laws.are_possible(answer)
            except AssertionError as broken:
                raise AssertionError(f"{answer.name} of {shared.name}: {broken}") from None
