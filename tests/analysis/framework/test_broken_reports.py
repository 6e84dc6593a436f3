"""The laws notice what breaks them: each broken report breaks one law, and its sound original none."""

from __future__ import annotations

import attrs
import pytest

import broken_reports
import built_pauses
import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.declaration import NoParameters
from project_files import fixture, unpacked
from together import PROCESSES, together

TRACES = [
    *(built_pauses.pauses("nettrace4", seed) for seed in range(4)),
    unpacked(fixture("net8-unload-verbose")),
]


@pytest.mark.parametrize(("law", "collector"), broken_reports.BROKEN, ids=lambda value: value.__name__)
def test_a_law_notices(law: report_laws.Law, collector: type[pauses.Pauses]) -> None:
    noticed = 0
    for data in TRACES:
        try:
            law(broken_reports.declared(collector), NoParameters(), data)
        except (AssertionError, ValueError):
            noticed += 1
    assert noticed


def test_a_law_notices_mixed_processes() -> None:
    alone, both = together(tuple(built_pauses.pauses(seed=seed) for seed in (1, 2)))
    broken = broken_reports.declared(broken_reports.MixesProcesses)
    with pytest.raises(AssertionError):
        report_laws.processes_do_not_disturb(broken, NoParameters(), alone, both, PROCESSES)


class _Script(pauses.PauseReport):
    def _repr_html_(self) -> str:
        return "<script>alert(1)</script>"


class _Wide(pauses.PauseReport):
    def __repr__(self) -> str:
        return "x" * 101


class _Long(pauses.PauseReport):
    def __repr__(self) -> str:
        return "x\n" * 26


class _Obeyed(pauses.PauseReport):
    def __repr__(self) -> str:
        return "\x1b[2J"


class _Large(pauses.PauseReport):
    def _repr_html_(self) -> str:
        return "x" * 50_001


@pytest.mark.parametrize("shown", [_Script, _Wide, _Long, _Obeyed, _Large])
def test_a_law_notices_how_an_answer_is_shown(shown: type[pauses.PauseReport]) -> None:
    sound = report_laws.whole_answer(pauses.REPORT, NoParameters(), TRACES[0])
    report_laws.shows_safely(sound)
    fields = {field.name: getattr(sound, field.name) for field in attrs.fields(pauses.PauseReport)}
    with pytest.raises(AssertionError):
        report_laws.shows_safely(shown(**fields))
