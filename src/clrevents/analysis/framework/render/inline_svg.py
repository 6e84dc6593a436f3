"""Drawings for pages with colours of their own: SVG in the page's ink, without a background, small.

Of what the drawing library writes only shapes, texts and their looks are kept, by a list; the rest is dropped, so that
nothing in it can run, be fetched, or be taken for a part of another drawing. Decides nothing of what is drawn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final
from xml.etree import ElementTree

from clrevents._util.value_classes import frozen
from clrevents.table.table import needed

_INK: Final = "currentColor"
_FRAME: Final = {"stroke": "transparent"}
_SIZES: Final = {"labelFontSize": 12, "titleFontSize": 12}
_PAGE_COLOURS: Final[dict[str, Any]] = {
    "aria": False,
    "background": "transparent",
    "view": _FRAME,
    "axis": {
        **dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), _INK),
        "gridOpacity": 0.15,
        **_SIZES,
        "titlePadding": 8,
    },
    # Below, so that the page's width is the picture's.
    "legend": {
        **dict.fromkeys(("labelColor", "titleColor"), _INK),
        **_SIZES,
        **{"orient": "bottom", "columns": 3, "columnPadding": 30, "labelLimit": 180, "symbolLimit": 12},
    },
    "header": {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12},
}
"""What Vega-Lite calls `config`: read on light and on dark paper."""
_SPACE: Final = "{http://www.w3.org/2000/svg}"
_GROUP: Final = f"{_SPACE}g"
_ELEMENTS: Final = frozenset(f"{_SPACE}{name}" for name in ("svg", "g", "path", "line", "rect", "text", "circle"))
_LOOKS: Final = frozenset(
    {
        *("d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "viewBox"),
        *("fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray"),
        *("transform", "text-anchor", "font-family", "font-size", "font-weight"),
    }
)
_INHERITED: Final = ("fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight", "text-anchor")
_DEFAULTS: Final = {"opacity": "1", "stroke-width": "1", "fill-opacity": "1"}


@frozen(eq=False)
class Drawing:
    """What to draw, as Vega-Lite, and in how many bytes at most: a value that another process can draw."""

    vega_lite: Mapping[str, Any]
    label: str
    most: int

    def svg(self) -> str:
        """Nothing if it would be larger. Raises ImportError unless vl-convert-python is installed (the extra
        `plot`)."""
        drawn = svg_of({**self.vega_lite, "config": _PAGE_COLOURS})
        cleaned = clean_svg(drawn, self.label)
        return cleaned if len(cleaned.encode()) <= self.most else ""


def svg_of(vega_lite: Mapping[str, object]) -> str:
    """As the library draws it. Raises ImportError unless it is installed."""
    svg: str = needed("vl_convert", "plot", "a chart as SVG").vegalite_to_svg(vega_lite)
    return svg


def clean_svg(text: str, label: str) -> str:
    """Only shapes, texts and their looks, in as few characters as say the same; `label` is read out instead of them.

    Raises ParseError unless it is XML.
    """
    root = ElementTree.fromstring(text)
    _clean(root)
    # A page's letters may be wider than those that the library measured.
    root.set("overflow", "visible")
    root.set("role", "img")
    root.set("aria-label", label)
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
    for place, child in enumerate(element):
        if child.tag == _GROUP and not child.attrib and len(child) == 1:
            element[place] = child[0]
    if element.tag == _GROUP:
        _say_once(element)


def _say_once(group: ElementTree.Element) -> None:
    """What all children say of their looks is said of their group."""
    for name in _INHERITED:
        values = {child.get(name) for child in group}
        if len(values) == 1 and None not in values:
            group.set(name, values.pop() or "")
            for child in group:
                del child.attrib[name]


def _draws_nothing(element: ElementTree.Element) -> bool:
    bare = not len(element) and not element.text
    if element.tag == f"{_SPACE}path":
        return "fill" not in element.attrib and "stroke" not in element.attrib
    return bare and element.tag in (_GROUP, f"{_SPACE}text")


def _short(match: re.Match[str]) -> str:
    """A coordinate to a hundredth of a pixel."""
    value = round(float(match[0]), 2)
    return f"{value:g}" if math.isfinite(value) else "0"
