"""Charts of answers: declared beside the tables that they draw, drawn as Vega-Lite and as SVG by existing libraries.

One declaration serves pages, notebooks and the command. Draws what the table contains without computing anything,
except for long tables: of those, the largest value of each stretch of time, or the longest spans; the smaller the
drawing must be, the fewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from clrevents._util.notebook_views import MOST_HTML, Value, html_text
from clrevents._util.value_classes import frozen
from clrevents._util.words import safe
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of
from clrevents.table.table import needed

if TYPE_CHECKING:
    import altair

    from clrevents.analysis.framework.render.inline_svg import Drawing

_UNDRAWN: Final = "[\ufffe\uffff\U00010000-\U0010ffff]"

Mark: TypeAlias = Literal["area", "line", "steps", "bar", "point", "span"]


@frozen
class Fineness:
    """How much of a long table is drawn."""

    points: int = 1000
    """Stretches of time, each drawn with its largest value."""
    spans: int = 5000
    """The longest ones."""
    each: int = 12
    """The most pictures of one panel: those whose values change most often."""


_FIGURE: Final = (
    '<figure style="margin:1em 0"><div style="overflow-x:auto">{}</div><figcaption>{}{}</figcaption></figure>'
)
_SMALLEST: Final = 2000
_OF_A_MARK: Final = 8
_OF_A_COLOUR: Final = 100
"""No drawing has fewer bytes."""
COARSE: Final = " Drawn with less detail to fit here."
_FINE: Final = Fineness()
_COARSER: Final = (_FINE, Fineness(300, 500, 6), Fineness(100, 100, 4), Fineness(30, 40, 2))
_SMALL: Final = 60
_VEGA_LITE: Final = "https://vega.github.io/schema/vega-lite/v6.json"
_TIME: Final = "ms since the session started"
_LONG_MS: Final = 10_000
_ABOVE: Final = {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -8}
"""Where the name of lines stands: above their labels, which may be long."""
_WIDTH, _HEIGHT = 700, 160
_SCALES: Final[Mapping[str, tuple[float, str]]] = {"ns": (1e6, "ms"), "bytes": (1e6, "MB"), "ratio": (0.01, "%")}


@frozen
class Panel(Value):
    """One picture of a chart: a column of numbers over a column of times, a colour for each `by`.

    Areas are stacked, so their values must add up to something. The value of a `line` holds until the next time, that
    of `steps` since the previous one. Spans reach from `x` to `until`, on a line for each value of `y`. With `each`
    there is a small picture, with a scale of its own, for each value of that column.
    """

    table: str
    x: str
    y: str
    mark: Mark = "line"
    by: str | None = None
    until: str | None = None
    each: str | None = None


@frozen
class ChartDeclaration(Value):
    """One chart: panels below one another over the same time. The `description` is one sentence."""

    name: str
    description: str
    panels: tuple[Panel, ...]


@frozen(eq=False, repr=False)
class Chart:
    """A declared chart with the rows of one answer."""

    declared: ChartDeclaration
    tables: Mapping[str, ReportTable[object]]
    title: str

    @property
    def name(self) -> str:
        """Its name, for `--chart`."""
        return self.declared.name

    @property
    def _panels(self) -> list[Panel]:
        """Those that show something: a value other than 0."""
        return [panel for panel in self.declared.panels if _drawable(panel, self.tables[panel.table])]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw, because it did not happen or was not recorded."""
        return not self._panels

    def to_dict(self) -> dict[str, Any]:
        """The chart as Vega-Lite, with its data."""
        return self._drawn(_FINE)

    def to_altair(self) -> altair.VConcatChart:
        """Convert to an Altair chart. Raises ImportError unless altair is installed (the extra `plot`)."""
        chart: altair.VConcatChart = needed("altair", "plot", "a chart").VConcatChart.from_dict(self.to_dict())
        return chart

    def _drawn(self, fineness: Fineness) -> dict[str, Any]:
        panels = [_panel(panel, self.tables[panel.table], fineness) for panel in self._panels or self.declared.panels]
        _say_seconds(panels)
        return {
            "$schema": _VEGA_LITE,
            "title": {"text": _label(self.title), "subtitle": self.declared.description},
            "vconcat": panels,
            "resolve": {"scale": {"x": "shared", "color": "independent", "shape": "independent"}},
        }

    def svg(self) -> str:
        """The chart as SVG, without scripts or links.

        Raises ImportError unless vl-convert-python is installed (the extra `plot`).
        """
        from clrevents.analysis.framework.render.inline_svg import svg_of

        return svg_of(self.to_dict())

    def inline_svg(self, most: int) -> tuple[str, bool]:
        """The same in at most this many bytes, in the colours of the surrounding page, without the title; and whether
        it is coarser for that. Nothing if even the coarsest is larger.

        Raises ImportError unless vl-convert-python is installed (the extra `plot`).
        """
        for drawing, coarser in self.drawings(most):
            if svg := drawing.svg():
                return svg, coarser
        return "", True

    def drawings(self, most: int) -> Iterator[tuple[Drawing, bool]]:
        """What `inline_svg` tries in this order, and whether it is coarser; each is made when it is asked for."""
        from clrevents.analysis.framework.render.inline_svg import Drawing

        for fineness in _COARSER if most >= _SMALLEST else ():
            vega_lite = self._drawn(fineness)
            del vega_lite["title"]
            marks = [mark for panel in vega_lite["vconcat"] for mark in panel["data"]["values"]]
            # Not drawn at all where the drawing could not be so small.
            if most >= _OF_A_MARK * len(marks) + _OF_A_COLOUR * len({mark.get("by") for mark in marks}):
                yield Drawing(vega_lite, self.declared.description, most), fineness is not _FINE

    def figure(self, most: int) -> str:
        """The chart with its description, as HTML of at most this many bytes; a sentence if it does not fit. Empty if
        there is nothing to draw, and without the extra `plot`."""
        about = html_text(self.declared.description)
        if self.empty:
            return ""
        room = most - len(_FIGURE.encode()) - len(about.encode()) - len(COARSE)
        try:
            svg, coarser = self.inline_svg(room)
        except ImportError:
            return ""
        if not svg:
            return f"<p>chart {html_text(self.name)}: too large to show here</p>"
        return _FIGURE.format(svg, about, COARSE if coarser else "")

    def __repr__(self) -> str:
        return f"<Chart {self.name}: {self.declared.description}>"

    def _repr_html_(self) -> str | None:
        return self.figure(MOST_HTML) or None


def _drawable(panel: Panel, rows: ReportTable[object]) -> bool:
    columns = [rows.column(name) for name in (panel.x, panel.y, panel.until) if name is not None]
    known = np.logical_and.reduce([column.known for column in columns])
    return bool(known.any() if panel.mark == "span" else columns[1].filled(0)[known].any())


def _say_seconds(panels: Sequence[dict[str, Any]]) -> None:
    """The times of a long trace, in seconds."""
    times = [mark.get("until", mark["x"]) for panel in panels for mark in panel["data"]["values"]]
    if max(times, default=0) >= _LONG_MS:
        for panel in panels:
            x = panel.get("spec", panel)["encoding"]["x"]
            x["title"] = _TIME.replace("ms", "s", 1)
            x["axis"]["labelExpr"] = "format(datum.value / 1000, ',')"


def _panel(panel: Panel, rows: ReportTable[object], fineness: Fineness) -> dict[str, Any]:
    if panel.until is not None:
        return _spans(panel, panel.until, rows, fineness.spans)
    columns = {column.name: column for column in columns_of(rows.row_class)}
    y = columns[panel.y]
    kinds = {kind: name for kind, name in (("by", panel.by), ("each", panel.each)) if name is not None}
    lists = [rows.column(name).tolist() for name in (panel.x, panel.y, *kinds.values())]
    points = [point for point in zip(*lists, strict=True) if point[0] is not None and point[1] is not None]
    if panel.each is not None:
        points = _most_changing(points, fineness.each)
    points = _thinned(points, panel.mark == "area", fineness.points)
    divisor, _ = _scale(y)
    values = [
        {
            "x": point[0] / 1e6,
            "y": point[1] / divisor,
            **{k: "unknown" if v is None else _label(v) for k, v in zip(kinds, point[2:], strict=True)},
        }
        for point in points
    ]
    # Steps: a size holds until the next time that it is told.
    marks = {
        "area": {"type": "area", "interpolate": "step-after", "opacity": 0.8},
        "line": {"type": "line", "interpolate": "step-after"},
        "steps": {"type": "line", "interpolate": "step-before", "point": True},
        "bar": {"type": "bar", "width": 2},
        "point": {"type": "point", "filled": True},
    }
    # Of one moment, areas and lines show nothing.
    alone = panel.mark in ("area", "line") and len({value["x"] for value in values}) == 1
    coding = {
        "x": _time(),
        "y": {"field": "y", "type": "quantitative", "title": None if panel.each else _title(y)},
    }
    if panel.by is not None:
        coding["color"] = _colour(panel.by)
        # Told apart by their shape, too, where they are points.
        if panel.mark == "point":
            coding["shape"] = {"field": "by", "type": "nominal", "title": _words(panel.by)}
    panel_json = {"mark": marks["bar" if alone else panel.mark], "encoding": coding, "width": _WIDTH, "height": _HEIGHT}
    if panel.each is None:
        return {"data": {"values": values}, **panel_json}
    return {
        "data": {"values": values},
        "facet": {
            "field": "each",
            "type": "nominal",
            "title": None,
            "header": {"orient": "top", "labelAnchor": "start"},
        },
        "spec": {**panel_json, "height": _SMALL},
        "columns": 1,
        "resolve": {"scale": {"y": "independent"}},
    }


def _spans(panel: Panel, until: str, rows: ReportTable[object], most: int) -> dict[str, Any]:
    names = [panel.x, until, panel.y, panel.by or panel.y]
    lists = [rows.column(name).tolist() for name in names]
    # One without an end is a row of the table, and nothing that can be drawn.
    spans = [span for span in zip(*lists, strict=True) if None not in span[:3]]
    spans.sort(key=lambda span: span[0] - span[1])
    lines = sorted({span[2] for span in spans})
    values = [
        {"x": begin / 1e6, "until": end / 1e6, "y": _label(y), "by": "unknown" if by is None else _label(by)}
        for begin, end, y, by in sorted(spans[:most])
    ]
    coding = {
        "x": _time(),
        "x2": {"field": "until"},
        "y": {
            "field": "y",
            "type": "nominal",
            "title": _words(panel.y),
            "axis": _ABOVE,
            "sort": [_label(line) for line in lines],
        },
    }
    if panel.by is not None:
        coding["color"] = _colour(panel.by)
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "height": 9},
        "encoding": coding,
        "width": _WIDTH,
        "height": {"step": 14},
    }


def _time() -> dict[str, Any]:
    # Labels at the ends stay where their ticks are, clear of their neighbours.
    axis = {"labelFlush": False, "tickCount": 8}
    return {"field": "x", "type": "quantitative", "title": _TIME, "scale": {"zero": False}, "axis": axis}


def _colour(column: str) -> dict[str, Any]:
    return {"field": "by", "type": "nominal", "title": _words(column), "scale": {"scheme": "tableau10"}}


def _words(column: str) -> str:
    return column.replace("_", " ")


def _label(value: object) -> str:
    """A text in a picture. The library shortens long ones, and fails where it halves a character beyond U+FFFF; and
    it ends the process where a character cannot be in XML."""
    return re.sub(_UNDRAWN, "\ufffd", safe(str(value)))


def _most_changing(points: Sequence[tuple[Any, ...]], most: int) -> list[tuple[Any, ...]]:
    """The points of those pictures, by their last value, whose lines (of the other values) change most often."""
    changes: dict[Any, int] = {}
    last: dict[Any, Any] = {}
    for point in points:
        changes[point[-1]] = changes.get(point[-1], 0) + (last.get(point[2:], point[1]) != point[1])
        last[point[2:]] = point[1]
    kept = set(sorted(changes, key=lambda each: (-changes[each], str(each)))[:most])
    return [point for point in points if point[-1] in kept]


def _thinned(points: Sequence[tuple[Any, ...]], together: bool, most: int) -> list[tuple[Any, ...]]:
    """The largest of each stretch of time, of each colour, where there are more points than a picture has places.

    Of those that lie on one another, all of the one moment at which they are largest `together`.
    """
    if len(points) <= most:
        return list(points)
    times = [point[0] for point in points]
    low, span = min(times), max(max(times) - min(times), 1)
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for place, point in enumerate(points):
        groups.setdefault((point[0],) if together else (point[0], place), []).append(point)
    best: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for group in groups.values():
        key = ((group[0][0] - low) * most // span, *(() if together else group[0][2:]))
        if key not in best or _sum(group) > _sum(best[key]):
            best[key] = group
    return sorted((point for group in best.values() for point in group), key=lambda point: point[0])


def _sum(points: Sequence[tuple[Any, ...]]) -> int | float:
    total: int | float = sum(point[1] for point in points)
    return total


def _scale(column: ColumnDeclaration) -> tuple[float, str]:
    return _SCALES.get(column.cell.unit or "", (1, ""))


def _title(column: ColumnDeclaration) -> str:
    _, unit = _scale(column)
    name = column.name.removesuffix("_ns").removesuffix("_bytes").replace("_", " ")
    return f"{name} ({unit})" if unit else name
