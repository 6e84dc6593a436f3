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
from clrevents.analysis.framework.run.listing import report_names
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


RECORDED_BY = {
    "activities": "System.Threading.Tasks.TplEventSource:0x80:4",
    "alloc": "Microsoft-Windows-DotNETRuntime:0x1:5",
    "callers": "Microsoft-DotNETCore-SampleProfiler:0x0:4",
    "counters": "System.Runtime:0x0:4:EventCounterIntervalSec=1",
    "exceptions": "Microsoft-Windows-DotNETRuntime:0x8000:2",
    "gc": "Microsoft-Windows-DotNETRuntime:0x1:4",
    "heap": "Microsoft-Windows-DotNETRuntime:0x1980001:5",
    "jit": "Microsoft-Windows-DotNETRuntime:0x18:4",
    "locks": "Microsoft-Windows-DotNETRuntime:0x14000:4",
    "modules": "Microsoft-Windows-DotNETRuntime:0x8:4",
    "pool": "Microsoft-Windows-DotNETRuntime:0x10000:4",
    "requests": "System.Net.Http:0x0:4",
    "startup": "Microsoft-Windows-DotNETRuntime:0x8:4",
    "stubs": "Microsoft-Windows-DotNETRuntime:0x2000:4",
    "tasks": "System.Threading.Tasks.TplEventSource:0x3:4",
    "threads": "Microsoft-Windows-DotNETRuntime:0x10000:4",
    "top": "Microsoft-DotNETCore-SampleProfiler:0x0:4",
    "waits": "Microsoft-DotNETCore-SampleProfiler:0x0:4",
}
"""What records each report's essential events."""


@pytest.mark.parametrize("name", report_names())
def test_nothing_recorded_is_not_nothing_that_happened(name: str) -> None:
    """Of a trace without events of the report every number is unknown, and the first note says what records them."""
    declaration = REPORTS[name]
    data = TraceBuilder().thread(7).raw("Another", 1, name="Event").build()
    answer = report_laws.whole_answer(declaration, declaration.parameters(), data)
    assert answer.coverage == "none"
    assert {metric.value for metric in answer.metrics.values()} == {None}
    assert all(metric.reason for metric in answer.metrics.values())
    assert {len(answer.table(table.name)) for table in answer.tables()} == {0}
    notes = [note for note in answer.notes if note.id == "not-recorded"]
    assert [note.severity for note in notes] == ["warning"] + ["info"] * (len(notes) - 1)
    assert notes[0].record == RECORDED_BY.get(name, "a line in RECORDED_BY")


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
