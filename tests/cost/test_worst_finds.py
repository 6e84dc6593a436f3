"""The worst that searches have found, small: functions called for each further byte, in reading and in all reports.

The full tier runs each of them in every way under limits of memory and time.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Final

import pytest

import clrevents
from clrevents import Trace
from costly_families import FAMILIES, Family
from counting import operations

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

LARGE: Final = ("located-fields", "wide-kinds", "wide-names", "absent-fields", "null-columns", "zipped-nothing")
"""Of these even the smallest is long."""
OF_REPORTS: Final = FAMILIES[[family.name for family in FAMILIES].index("vast-method") :]
PER_PROCESS: Final = ("processes", "runtimes")
"""Every process has answers of its own; how many there may be is limited."""


def read(trace: Trace) -> None:
    for event in trace.events():
        event.payload  # noqa: B018


def report(trace: Trace) -> None:
    trace.reports()


def calls(family: Family, ask: Callable[[Trace], None]) -> list[tuple[int, int]]:
    """Of a stream of one piece and one of two: bytes, and the functions that are called to answer, again."""

    def run(data: bytes) -> None:
        try:
            with clrevents.open(io.BytesIO(data), errors="salvage") as trace:
                ask(trace)
        except clrevents.TraceError:
            pass

    streams = [family.make(pieces * max(family.small // 40, 1)) for pieces in (1, 2)]
    run(streams[0])
    return [(len(data), operations(partial(run, data))) for data in streams]


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.name not in LARGE], ids=lambda family: family.name)
def test_reading_calls_a_bounded_number_for_each_byte(family: Family) -> None:
    (few, less), (many, more) = calls(family, read)
    assert more - less <= 40 * (many - few) + 2000
    assert more <= 30 * many + 40_000


@pytest.mark.parametrize(
    "family", [f for f in OF_REPORTS if f.name not in (*LARGE, *PER_PROCESS)], ids=lambda family: family.name
)
def test_reports_call_a_bounded_number_for_each_byte(family: Family) -> None:
    (few, less), (many, more) = calls(family, report)
    assert more - less <= 40 * (many - few) + 20_000
    # That of a trace with nothing in it is most of it.
    assert more <= 40 * many + 250_000
