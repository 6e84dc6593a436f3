"""Charts of answers → SVG in the page's own ink, so that they are read on light and on dark paper.

Without the drawing library the page says so. Decides nothing of what a chart shows.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.render.charts import COARSE, Chart

NO_CHARTS: Final = "charts need the extra plot: pip install 'clrevents[plot]'"

_LARGEST: Final = 200_000
"""No chart of the page has more bytes than this."""


def charts_possible() -> bool:
    """Whether the libraries that draw charts are installed."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def page_charts(found: Answer[Any]) -> list[dict[str, str]]:
    """The charts of an answer that draw something. Each has an `svg`, or the reason why it has none."""
    return [_page_chart(found, chart) for chart in found.charts() if any(map(len, chart.tables.values()))]


def _page_chart(found: Answer[Any], chart: Chart) -> dict[str, str]:
    made = {"name": chart.name, "about": chart.declared.description, "svg": "", "why": ""}
    if chart.empty:
        return {**made, "why": "nothing to draw: no such thing happened, or it was not recorded"}
    try:
        svg, coarser = chart.inline_svg(_LARGEST)
    except ImportError:
        return {**made, "why": NO_CHARTS}
    if not svg:
        return {**made, "why": f"too large for this page; clrevents {found.name} FILE --chart {chart.name} draws it"}
    return {**made, "svg": svg, "about": f"{made['about']}{COARSE if coarser else ''}"}
