"""Every report obeys the laws on every fixture: those that are registered, and a sample."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import built_pauses
import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import NoParameters
from clrevents.testing.builder import Format, TraceBuilder
from drawn_answers import answers
from project_files import fixture, fixtures, unpacked
from report_cases import every_report, made_for
from tiers import drawn, each_fixture, one_in
from together import PROCESSES, together

REPORTS = dict(sorted(every_report().items(), key=lambda one: made_for(one[0])))
"""Those of one fixture side by side."""
# Recorded unlike: what one of them recorded proves nothing of another.
TRIPLE = ("net10-garbage", "net10-method-interop", "net10-exceptions")
PAIRS = (
    ("net8-method-interop", "net8-unload-verbose"),
    ("net10-method-interop", "net8-method-interop"),
)


def obeys(name: str, data: bytes, laws: Sequence[report_laws.Law] = report_laws.LAWS) -> None:
    declaration = REPORTS[name]
    report_laws.obeys(declaration, declaration.parameters(), data, laws)


@cache
def damaged(path: Path) -> bytes:
    """A fixture with bytes wiped where its events are, so that salvage leaves holes."""
    data = bytearray(unpacked(path))
    for part in (3, 5, 7):
        at = len(data) * part // 10
        data[at : at + 700] = bytes(700)
    return bytes(data)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_obeys(name: str) -> None:
    """On the fixture made for it, a trace without events, and a damaged one; asked with others of the same fixture."""
    made = made_for(name)
    # A copy is sound, so that nothing touches a hole in it; and where the begin of a compilation is missing, windows
    # before its end do not have it.
    besides = {
        report_laws.a_redacted_copy_says_the_same,
        *([report_laws.adjacent_windows_add_up] if name == "jit" else []),
    }
    with report_laws.in_company([declaration for one, declaration in REPORTS.items() if made_for(one) == made]):
        obeys(name, unpacked(fixture(made)))
        obeys(name, TraceBuilder().build())
        obeys(name, damaged(fixture(made)), [law for law in report_laws.LAWS if law not in besides])


# Fixtures by the reports that they are made for. Each is read a dozen times: the fast tier tries those whose reports
# need most kinds of events.
NEEDY = ("gc", "jit", "locks", "modules", "startup", "threads")
FULLEST = {made_for(name) for name in NEEDY}


@each_fixture(*FULLEST)
def test_what_is_removed_is_never_zero(path: Path) -> None:
    report_laws.what_is_removed_is_never_zero([*REPORTS.values()], unpacked(path))


@pytest.mark.full
@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name.partition(".")[0])
def test_reports_obey_on_every_fixture(path: Path) -> None:
    """All of them the laws that are one reading for all, and a sample of them the one that needs windows of its own."""
    data, fixture = unpacked(path), path.name.partition(".")[0]
    own = report_laws.adjacent_windows_add_up
    report_laws.obey_together([*REPORTS.values()], data, [law for law in report_laws.LAWS if law is not own])
    for name in REPORTS:
        if fixture != made_for(name) and drawn(6, "laws", fixture, name):
            obeys(name, data, [own])


@pytest.mark.parametrize("seed", one_in(4, range(4)))
@pytest.mark.parametrize("format", built_pauses.FORMATS)
def test_pairs_on_both_sides_of_losses_obey(format: Format, seed: int) -> None:
    obeys("sample-pauses", built_pauses.pauses(format, seed))


@pytest.mark.parametrize("names", one_in(2, PAIRS), ids=lambda names: "-and-".join(names))
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_keeps_processes_apart(name: str, names: tuple[str, str]) -> None:
    alone, both = together(tuple(unpacked(fixture(one)) for one in names))
    declaration = REPORTS[name]
    with report_laws.in_company([*REPORTS.values()]):
        report_laws.processes_do_not_disturb(declaration, declaration.parameters(), alone, both, PROCESSES)


@pytest.mark.parametrize("name", REPORTS)
def test_what_was_recorded_is_judged_by_process(name: str) -> None:
    processes = (*PROCESSES, 303)
    alone, all_three = together(tuple(unpacked(fixture(one)) for one in TRIPLE), processes)
    declaration = REPORTS[name]
    with report_laws.in_company([*REPORTS.values()]):
        report_laws.processes_do_not_disturb(declaration, declaration.parameters(), alone, all_three, processes)


def test_processes_that_stop_in_turn_are_kept_apart() -> None:
    built = tuple(built_pauses.pauses(seed=seed) for seed in (1, 2))
    alone, both = together(built)
    report_laws.processes_do_not_disturb(pauses.REPORT, NoParameters(), alone, both, PROCESSES)


@settings(max_examples=8)
@given(st.integers(0, 1 << 32), st.integers(0, 1 << 32))
def test_no_cut_and_no_window_of_small_traces_matters(seed: int, trace: int) -> None:
    data = built_pauses.pauses(seed=trace, events=12)
    report_laws.any_cut_gives_the_same(pauses.REPORT, NoParameters(), data, seed)
    report_laws.adjacent_windows_add_up(pauses.REPORT, NoParameters(), data, seed)


@pytest.mark.parametrize("name", REPORTS)
def test_rows_of_any_content_are_shown_safely_and_read_back(name: str) -> None:
    @settings(max_examples=settings().max_examples // 8, suppress_health_check=list(HealthCheck))
    @given(answers(REPORTS[name]))
    def check(report: Answer[Any]) -> None:
        report_laws.shows_safely(report)
        report_laws.reads_back_equal(report)
        assert pickle.loads(pickle.dumps(report)) == report

    check()
