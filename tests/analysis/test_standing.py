"""Threads that never move: in a lock or in a native call of the program, in every sample; and those that are none."""

from __future__ import annotations

from typing import Final

import pytest

from analysis.test_samples import MS, shop, traced
from clrevents.testing.builder import TraceBuilder

ENTER: Final = 0x7010
SLEEP: Final = 0x8010
EXTERNAL: Final = 1
MANAGED: Final = 2


def recorded(*stacks: tuple[int, ...] | None, seconds: float = 2.5, moves_at: int = -1) -> TraceBuilder:
    """Threads 7, 8, … with one stack each in every sample, of which the first is elsewhere in one of them."""
    builder = shop()
    builder.method_load("System.Threading.Monitor", "Enter_Slowpath", address=0x7000, size=0x100)
    builder.method_load("System.Threading.Thread", "SleepInternal", address=0x8000, size=0x100)
    for number in range(int(seconds * 100)):
        for place, stack in enumerate(stacks):
            builder.thread(7 + place).at((10 + 10 * number) * MS + place)
            if stack is not None:
                moved = place == 0 and number == moves_at
                builder.sample(*((0x1010,) if moved else stack), kind=EXTERNAL)
    return builder


LOCKED, NATIVE, SLEEPING = (ENTER, 0x2010, 0x1010), (0x3010, 0x1010), (SLEEP, 0x1010)


@pytest.mark.parametrize(
    ("builder", "expected", "found"),
    [
        (recorded(LOCKED), [(7, "lock", "Shop.Pay()")], True),
        (recorded(NATIVE, NATIVE), [(7, "native", "Shop.Wait()"), (8, "native", "Shop.Wait()")], True),
        (recorded(NATIVE, SLEEPING), [(7, "native", "Shop.Wait()")], False),
        (recorded(LOCKED, moves_at=120), [], False),
        (recorded(LOCKED, seconds=1.5), [], False),
        (recorded(SLEEPING, SLEEPING), [], False),
    ],
    ids=["a lock", "two native calls", "one native call", "moved once", "too short", "sleeping"],
)
def test_who_never_moved(builder: TraceBuilder, expected: list[tuple[int, str, str]], found: bool) -> None:
    trace = traced(builder)
    report = trace.report("top")
    assert [(row.thread_id, row.state, row.method) for row in report.standing] == expected
    assert report.metrics["standing"].value == len(expected)
    (finding,) = trace.doctor("lock.standing")
    assert finding.state == ("found" if found else "clear")


def test_samples_of_an_unknown_runtime_that_never_run_do_not_show_who_stands() -> None:
    """Of a recording that was killed, or attached to a program that only waits: nothing says that it is an old one."""
    report = traced(recorded(LOCKED, seconds=11)).report("top")
    (note,) = (note for note in report.notes if note.id == "running-unknown")
    text = "samples of this runtime do not show whether a thread ran managed code"
    assert note.message == f"{text}: this time is unknown, and waits are lower bounds"
    assert (report.metrics["standing"].value, report.metrics["standing"].reason) == (None, text)


@pytest.mark.parametrize(
    ("elsewhere", "seconds", "found"),
    [(0, 2.5, True), (2, 2.5, True), (60, 2.5, False), (0, 0.8, False)],
    ids=["at one address", "elsewhere twice", "in two places", "too short"],
)
def test_a_loop_of_one_address_is_no_work(elsewhere: int, seconds: float, found: bool) -> None:
    builder = shop()
    for number in range(int(seconds * 100)):
        # Another place of the same method is another address.
        builder.thread(7).at((10 + 10 * number) * MS).sample(
            0x1018 if 0 < number <= elsewhere else 0x1010, kind=MANAGED
        )
    trace = traced(builder)
    report = trace.report("top")
    assert [(row.thread_id, row.state, row.method) for row in report.standing] == [
        (7, "running", "Shop.Main()")
    ] * found
    assert report.metrics["standing"].value == 0
    assert {finding.state for finding in trace.doctor("lock.standing")} == {"clear"}
