"""Every chart of every report, of a real trace: what it draws is in the tables, and a drawing has no script."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names

pytestmark = needs_shared

TRACES = {
    "activities": "traces/own/net10-web",
    "alloc": "scenarios/net10-servergc-11",
    "counters": "scenarios/net8-meters-44",
    "exceptions": "scenarios/net10-exceptions-11",
    "gc": "scenarios/net10-servergc-11",
    "pool": "scenarios/net10-starvation-11",
    "requests": "traces/own/net10-web",
    "tasks": "scenarios/net10-starvation-11",
    "threads": "scenarios/net10-convoy-11",
}
CHARTS = [(name, chart.name) for name in report_names() for chart in find_report(name).answer.declared_charts]


@pytest.mark.parametrize(("report", "name"), CHARTS)
def test_charts_of_real_traces(report: str, name: str) -> None:
    with clrevents.open(SHARED / f"{TRACES[report]}.nettrace.gz") as trace:
        found = trace.report(report)
    chart = next(chart for chart in found.charts() if chart.name == name)
    whole = chart.to_dict()
    for panel, drawn in zip(chart.declared.panels, whole["vconcat"], strict=True):
        rows = found.table(panel.table)
        # A span without an end is not drawn.
        needed = [rows.column(name).tolist() for name in (panel.x, panel.y, panel.until or panel.y)]
        times = [values[0] / 1e6 for values in zip(*needed, strict=True) if None not in values]
        assert times
        assert sorted(point["x"] for point in drawn["data"]["values"]) == sorted(times)
    # Raises ValidationError unless it is Vega-Lite.
    assert len(chart.to_altair().vconcat) == len(whole["vconcat"])
    names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(chart.svg()).iter()}
    assert not names & {"script", "a", "image", "foreignObject"}
