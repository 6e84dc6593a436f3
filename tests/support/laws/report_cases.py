"""Which reports the laws are held against: all that are registered, and samples that use every part of the frame."""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.run.catalogue import find_report, report_names
from report_slices import activities, compilations, pauses, states

SAMPLES: Final[dict[str, ReportDeclaration[Any, Any]]] = {
    "sample-activities": activities.REPORT,
    "sample-compilations": compilations.REPORT,
    "sample-pauses": pauses.REPORT,
    "sample-states": states.REPORT,
}


def every_report() -> dict[str, ReportDeclaration[Any, Any]]:
    """All of them by name."""
    return {**{name: find_report(name) for name in report_names()}, **SAMPLES}
