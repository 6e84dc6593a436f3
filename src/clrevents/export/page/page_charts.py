"""Charts of answers → SVG in the page's own ink, so that they are read on light and on dark paper.

Of what the drawing library writes only shapes, texts and their looks are kept, by a list; the rest is dropped. Without
the library the page says so. Decides nothing of what a chart shows.
"""

from __future__ import annotations

import math
import re
from importlib.util import find_spec
from typing import Any, Final
from xml.etree import ElementTree

from clrevents.analysis.framework.answer import Answer
from clrevents.analysis.framework.charts import Chart
from clrevents.table.table import needed

NO_CHARTS: Final = "charts need the extra plot: pip install 'clrevents[plot]'"

_LARGEST: Final = 200_000
"""No chart of the page has more bytes than this."""
_INK: Final = "currentColor"
_FAINT: Final = {"stroke": "transparent"}
_CONFIG: Final[dict[str, Any]] = {
    "aria": False,
    "background": "transparent",
    "view": _FAINT,
    "axis": {
        **dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), _INK),
        "gridOpacity": 0.15,
    },
    "legend": {"labelColor": _INK, "titleColor": _INK},
    "header": {"labelColor": _INK, "titleColor": _INK},
}
_SPACE: Final = "{http://www.w3.org/2000/svg}"
_ELEMENTS: Final = frozenset(f"{_SPACE}{name}" for name in ("svg", "g", "path", "line", "rect", "text", "circle"))
_LOOKS: Final = frozenset(
    (
        *("d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height", "viewBox", "transform"),
        *("fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray"),
        *("text-anchor", "font-size", "font-weight"),
    )
)
_DEFAULTS: Final = {"opacity": "1", "stroke-width": "1", "fill-opacity": "1"}


def charts_possible() -> bool:
    """Whether the libraries that draw charts are installed."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def page_charts(found: Answer[Any]) -> list[dict[str, str]]:
    """The charts of an answer that draw something. Each has an `svg`, or the reason why it has none."""
    return [_page_chart(found, chart) for chart in found.charts() if any(map(len, chart.tables.values()))]


def _page_chart(found: Answer[Any], chart: Chart) -> dict[str, str]:
    made = {"name": chart.name, "about": chart.declared.description, "svg": "", "why": ""}
    if not any(len(chart.tables[panel.table]) for panel in chart.declared.panels):
        return {**made, "why": "nothing to draw: no such thing happened, or it was not recorded"}
    try:
        drawing = chart.to_dict()
        drawing.pop("title", None)
        drawing["config"] = {**drawing.get("config", {}), **_CONFIG}
        svg = clean_svg(needed("vl_convert", "plot", "a chart as SVG").vegalite_to_svg(drawing))
    except ImportError:
        return {**made, "why": NO_CHARTS}
    if len(svg) > _LARGEST:
        return {**made, "why": f"too large for this page; clrevents {found.name} FILE --chart {chart.name} draws it"}
    return {**made, "svg": svg}


def clean_svg(text: str) -> str:
    """Only shapes, texts and their looks, in as few characters as say the same. Raises ParseError unless it is XML."""
    root = ElementTree.fromstring(text)
    _clean(root)
    ElementTree.register_namespace("", _SPACE[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element) -> None:
    for name, value in list(element.attrib.items()):
        if name not in _LOOKS or _DEFAULTS.get(name) == value:
            del element.attrib[name]
        elif name in ("d", "transform"):
            element.set(name, re.sub(r"-?\d+\.\d+", _short, value))
    if element.tag != f"{_SPACE}text":
        element.text = None
    element.tail = None
    for child in list(element):
        if child.tag in _ELEMENTS:
            _clean(child)
        if child.tag not in _ELEMENTS or _draws_nothing(child):
            element.remove(child)


def _draws_nothing(element: ElementTree.Element) -> bool:
    bare = not len(element) and not element.text
    if element.tag == f"{_SPACE}path":
        return "fill" not in element.attrib and "stroke" not in element.attrib and not element.get("d")
    return bare and element.tag in (f"{_SPACE}g", f"{_SPACE}text")


def _short(match: re.Match[str]) -> str:
    """A coordinate to a hundredth of a pixel."""
    value = round(float(match[0]), 2)
    return f"{value:g}" if math.isfinite(value) else "0"
