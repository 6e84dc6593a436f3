"""Every report obeys the laws on every fixture: those that are registered, and the samples."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import built_pauses
import report_laws
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import NoParameters
from clrevents.testing.builder import Format
from drawn_answers import answers
from project_files import fixture, fixtures, unpacked
from report_cases import every_report
from report_slices import pauses
from together import PROCESSES, together

REPORTS = every_report()
# Recorded unlike: what one of them recorded proves nothing of another.
TRIPLE = ("net10-garbage", "net10-method-interop", "net10-exceptions")
PAIRS = (
    ("net8-method-interop", "net8-unload-verbose"),
    ("net10-method-interop", "net8-method-interop"),
)


@pytest.mark.parametrize("law", report_laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_obeys(name: str, path: Path, law: report_laws.Law) -> None:
    declaration = REPORTS[name]
    law(declaration, declaration.parameters(), unpacked(path))


@pytest.mark.parametrize("law", report_laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("format", built_pauses.FORMATS)
def test_pairs_on_both_sides_of_losses_obey(format: Format, seed: int, law: report_laws.Law) -> None:
    law(pauses.REPORT, NoParameters(), built_pauses.pauses(format, seed))


@pytest.mark.parametrize("names", PAIRS, ids=lambda names: "-and-".join(names))
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_keeps_processes_apart(name: str, names: tuple[str, str]) -> None:
    alone, both = together(tuple(unpacked(fixture(one)) for one in names))
    declaration = REPORTS[name]
    report_laws.processes_do_not_disturb(declaration, declaration.parameters(), alone, both, PROCESSES)


@pytest.mark.parametrize(
    "name", [n if n in ("jit", "gc") else pytest.param(n, marks=pytest.mark.full) for n in REPORTS]
)
def test_what_was_recorded_is_judged_by_process(name: str) -> None:
    processes = (*PROCESSES, 303)
    alone, all_three = together(tuple(unpacked(fixture(one)) for one in TRIPLE), processes)
    declaration = REPORTS[name]
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
    @settings(max_examples=8, suppress_health_check=list(HealthCheck))
    @given(answers(REPORTS[name]))
    def check(report: Answer[Any]) -> None:
        report_laws.shows_safely(report)
        report_laws.reads_back_equal(report)
        assert pickle.loads(pickle.dumps(report)) == report

    check()
