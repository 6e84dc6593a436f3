"""Every report obeys the laws on every fixture: those that are registered, and the samples."""

from __future__ import annotations

from pathlib import Path

import pytest

import report_laws
from project_files import fixture, fixtures, unpacked
from report_cases import every_report
from together import PROCESSES, together

REPORTS = every_report()
PAIRS = (
    ("net8-method-interop", "net8-unload-verbose"),
    ("net10-method-interop", "net8-sample"),
)


@pytest.mark.parametrize("law", report_laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_obeys(name: str, path: Path, law: report_laws.Law) -> None:
    declaration = REPORTS[name]
    law(declaration, declaration.parameters(), unpacked(path))


@pytest.mark.parametrize("names", PAIRS, ids=lambda names: "-and-".join(names))
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_keeps_processes_apart(name: str, names: tuple[str, str]) -> None:
    alone, both = together(tuple(unpacked(fixture(one)) for one in names))
    declaration = REPORTS[name]
    report_laws.processes_do_not_disturb(declaration, declaration.parameters(), alone, both, PROCESSES)
