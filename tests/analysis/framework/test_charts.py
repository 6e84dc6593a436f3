"""Charts: what they draw, what they leave out, and that no name becomes markup."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.render.charts import Chart, ChartDeclaration, Panel
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Question, TimeWindow, TraceIdentity
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, column, columns_of, row

pytestmark = pytest.mark.full

HOSTILE = "</text><script>alert(1)</script>\x1b[31m"


@row(at="time_ns")
class Size(Row):
    """One size."""

    time_ns: cells.Ns = column("When.")
    size_bytes: cells.Bytes | None = column("How much.")
    took_ns: cells.DurationNs = column("How long.")
    what: cells.CodeName | None = column("Of what.")


@row
class NoFacts:
    """Nothing."""


SIZES = ChartDeclaration(
    "sizes",
    "How much of what there was.",
    (Panel("sizes", "time_ns", "size_bytes", "area", by="what"), Panel("sizes", "time_ns", "took_ns", "point")),
)


@answer(name="sizes", charts=(SIZES,))
class SizeReport(Answer[NoFacts]):
    """Sizes."""

    sizes: ReportTable[Size] = table("Each size.")


def report(*sizes: tuple[int, int | None, int, str | None]) -> SizeReport:
    identity = TraceIdentity("app<b>.nettrace", "nettrace", 5, None, None, None)
    rows = [Size(time_ns=t, size_bytes=s, took_ns=d, what=w, process_id=None, lossy=False) for t, s, d, w in sizes]
    return SizeReport(
        question=Question("sizes", "How much?", {}, TimeWindow(), None, (None,), identity, "0"),
        coverage="full",
        notes=(),
        facts=NoFacts(),
        metrics={},
        sizes=ReportTable.of(Size, rows),
    )


def panels(chart: Chart) -> list[list[dict[str, Any]]]:
    """The points of each panel."""
    return [panel["data"]["values"] for panel in chart.to_dict()["vconcat"]]


def test_panels_hold_the_rows_that_are_known_in_the_units_that_they_name() -> None:
    (chart,) = report((2_000_000, 3_000_000, 500_000, "A"), (4_000_000, None, 7_000, None), (5, 1, 2, None)).charts()
    assert repr(chart) == "<Chart sizes: How much of what there was.>"
    assert panels(chart) == [
        [{"x": 2.0, "y": 3.0, "by": "A"}, {"x": 5e-6, "y": 1e-6, "by": "unknown"}],
        [{"x": 2.0, "y": 0.5}, {"x": 4.0, "y": 0.007}, {"x": 5e-6, "y": 2e-6}],
    ]
    first, second = chart.to_dict()["vconcat"]
    assert first["encoding"]["y"]["title"] == "size (MB)"
    assert second["encoding"]["y"]["title"] == "took (ms)"
    assert first["encoding"]["x"]["title"] == "ms since the session started"


def test_a_panel_without_a_value_but_0_is_not_drawn() -> None:
    """And an area of one moment is a bar, because it has no width."""
    (chart,) = report(
        (1_000_000, 3_000_000, 0, "A"), (1_000_000, 1_000_000, 0, "B"), (2_000_000, None, 0, None)
    ).charts()
    (drawn,) = chart.to_dict()["vconcat"]
    assert drawn["encoding"]["y"]["title"] == "size (MB)"
    assert drawn["mark"]["type"] == "bar"
    assert not chart.empty
    (nothing,) = report((1_000_000, 0, 0, "A"), (2_000_000, None, 0, None)).charts()
    assert nothing.empty
    assert nothing.figure(100_000) == ""


def test_times_of_a_long_trace_are_in_seconds() -> None:
    (chart,) = report((0, 1, 2, "A"), (10_000_000_000, 2, 3, "A")).charts()
    for panel in chart.to_dict()["vconcat"]:
        x = panel["encoding"]["x"]
        assert (x["title"], x["axis"]["labelExpr"]) == (
            "s since the session started",
            "format(datum.value / 1000, ',')",
        )


EACH = ChartDeclaration("each", "One for each.", (Panel("sizes", "time_ns", "took_ns", "steps", "what", each="what"),))


def test_each_value_of_a_column_has_a_small_picture_of_its_own() -> None:
    made = report((1_000_000, 1, 2_000_000, "A"), (2_000_000, 2, 9_000_000, None), (3_000_000, 3, 4_000_000, "A"))
    drawn = Chart(EACH, {"sizes": made.sizes}, "sizes").to_dict()
    (panel,) = drawn["vconcat"]
    assert panel["data"]["values"] == [
        {"x": 1.0, "y": 2.0, "by": "A", "each": "A"},
        {"x": 2.0, "y": 9.0, "by": "unknown", "each": "unknown"},
        {"x": 3.0, "y": 4.0, "by": "A", "each": "A"},
    ]
    assert panel["facet"]["field"] == "each"
    assert panel["resolve"] == {"scale": {"y": "independent"}}
    # A value is that of the time up to it.
    assert panel["spec"]["mark"]["interpolate"] == "step-before"


ALL = ChartDeclaration(
    "all",
    "Each mark.",
    (
        *(Panel("sizes", "time_ns", "took_ns", mark, "what") for mark in ("area", "line", "steps", "bar", "point")),
        Panel("sizes", "time_ns", "what", "span", "what", until="time_ns"),
        *EACH.panels,
    ),
)


def test_an_altair_chart_is_the_same_drawing() -> None:
    """Which altair finds to be valid."""
    chart = Chart(ALL, {"sizes": report((1_000_000, 1, 2_000_000, "A")).sizes}, "sizes")
    found = chart.to_altair().to_dict()
    assert found.pop("config")
    assert found == chart.to_dict()


def test_of_many_small_pictures_those_are_drawn_that_change_most_often() -> None:
    rows = [(time, 1, time % (n + 1), f"what {n:02}") for n in range(20) for time in range(60)]
    drawn = Chart(EACH, {"sizes": report(*rows).sizes}, "sizes").to_dict()
    (panel,) = drawn["vconcat"]
    assert {point["each"] for point in panel["data"]["values"]} == {*(f"what {n:02}" for n in range(1, 13))}


def test_the_largest_of_each_stretch_of_time_stays_of_a_long_table() -> None:
    rows = [(n // 2 * 1000, n % 100, n, "even" if n % 2 == 0 else "odd") for n in range(50_000)]
    (chart,) = report(*rows).charts()
    areas, points = panels(chart)
    assert len(areas) <= 2 * 1001
    assert len(points) <= 1001
    assert {point["by"] for point in areas} == {"even", "odd"}
    assert max(point["y"] for point in points) == 49_999 / 1e6
    # Both colours of the same moment, at which they are most together.
    assert [point["x"] for point in areas[::2]] == [point["x"] for point in areas[1::2]]
    assert {round((b["y"] - a["y"]) * 1e6) for a, b in zip(areas[::2], areas[1::2], strict=True)} == {1}
    assert max(point["y"] for point in areas) == 99 / 1e6
    assert [point["x"] for point in points] == sorted(point["x"] for point in points)


def test_a_drawing_has_no_script_and_names_stay_text() -> None:
    (chart,) = report((1, 2, 3, HOSTILE), (9_000_000, 4, 5, "plain")).charts()
    drawn = chart.svg()
    names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert "path" in names
    assert not names & {"script", "a", "image", "foreignObject", "use"}
    assert "\x1b" not in drawn
    texts = "".join(ElementTree.fromstring(drawn).itertext())
    assert "app<b>.nettrace" in texts
    assert "</text><script>" in texts


@pytest.mark.parametrize("before", range(4))
def test_long_names_of_any_characters_are_drawn(before: int) -> None:
    """The library shortens them, and would fail over half of a character."""
    name = "n" * before + "\U0001f600" * 300
    (chart,) = report((0, 1, 1, name), (1, 2, 2, None)).charts()
    assert "\ufffd" in chart.svg()


def test_an_empty_table_draws_an_empty_picture_and_no_figure() -> None:
    (chart,) = report().charts()
    assert panels(chart) == [[], []]
    assert chart.svg().startswith("<svg")
    assert chart.empty
    assert chart._repr_html_() is None


def drawing(figure: str) -> ElementTree.Element:
    """The SVG of a figure, which is XML as well."""
    (found,) = ElementTree.fromstring(figure).iter("{http://www.w3.org/2000/svg}svg")
    return found


def test_a_page_has_the_chart_inside_in_its_own_ink() -> None:
    (chart,) = report((1, 2, 3, HOSTILE), (9_000_000, 4, 5, "plain")).charts()
    figure = chart._repr_html_()
    assert figure is not None
    root = drawing(figure)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {"svg", "g", "path", "line", "text"}
    assert root.get("aria-label") == SIZES.description
    colours = {element.get("fill") for element in root.iter()} | {element.get("stroke") for element in root.iter()}
    assert "currentColor" in colours
    assert not colours & {"white", "#fff", "black", "#000"}
    texts = "".join(root.itertext())
    assert "</text><script>" in texts
    assert "\x1b" not in figure
    assert figure.endswith(f"<figcaption>{SIZES.description}</figcaption></figure>")
    # Less than half of what the library writes, and nothing that another drawing on the page could have, too.
    assert len(figure) < len(chart.svg()) / 2
    assert " id=" not in figure
    assert "url(" not in figure


def test_the_small_drawing_has_every_shape_at_its_place() -> None:
    """Looks that are said once for a group are still those of each shape."""
    (chart,) = report((1_000_000, 2_000_000, 3, "one"), (9_000_000, 4_000_000, 5, "two")).charts()
    small = drawing(chart.figure(50_000))
    shapes = list(looks(small, {}))
    areas = [shape for shape in shapes if shape["tag"] == "path" and shape.get("fill", "none") != "none"]
    # Two areas, two signs of them in the legend, and a sign for each duration.
    assert len(areas) == 6
    assert {shape["fill"] for shape in areas} == {"#4c78a8", "#f58518"}
    texts = [shape for shape in shapes if shape["tag"] == "text"]
    assert {"one", "two", "size (MB)"} <= {shape["text"] for shape in texts}
    assert {shape["fill"] for shape in texts} == {"currentColor"}
    assert all("font-size" in shape and "font-family" in shape for shape in texts)


def looks(element: ElementTree.Element, above: dict[str, str]) -> Iterator[dict[str, str]]:
    """What each shape looks like, with what it has from its groups."""
    mine = {**above, **element.attrib}
    if len(element) == 0:
        yield {**mine, "tag": element.tag.rpartition("}")[2], "text": element.text or ""}
    for child in element:
        yield from looks(child, mine)


@pytest.mark.parametrize("most", [300_000, 80_000, 40_000, 20_000])
def test_a_figure_is_as_small_as_it_must_be_and_says_so(most: int) -> None:
    rows = [(n * 1000, n * n % 977, n % 89, "even" if n % 2 == 0 else "odd") for n in range(3000)]
    (chart,) = report(*rows).charts()
    figure = chart.figure(most)
    assert figure.startswith("<figure")
    assert len(figure.encode()) <= most
    assert ("Drawn with less detail to fit here" in figure) == (most < 300_000)
    # The highest of all is still the highest that is drawn.
    assert max(point["y"] for point in panels(chart)[1]) == max(row[2] for row in rows) / 1e6


def test_what_cannot_fit_is_not_drawn() -> None:
    (chart,) = report((1, 2, 3, "one"), (9_000_000, 4, 5, "two")).charts()
    for most in (3000, -5):
        assert chart.figure(most) == "<p>chart sizes: too large to show here</p>"


def test_a_notebook_view_has_its_charts_and_stays_small() -> None:
    rows = [(n * 1000, n * n % 977, n % 89, f"kind {n % 3}") for n in range(1000)]
    page = report(*rows)._repr_html_()
    assert len(page.encode()) <= 50_000
    assert page.count("<svg") == 1
    assert page.index("1,000 rows") < page.index("<figure")
    many = [(n * 1000, n * n % 977, n % 89, f"kind {n}" * 30) for n in range(1000)]
    page = report(*many)._repr_html_()
    assert len(page.encode()) <= 50_000
    assert "<p>chart sizes: too large to show here</p>" in page


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    (chart,) = report((1, 2, 3, None)).charts()
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=r"a chart needs altair: pip install 'clrevents\[plot\]'"):
        chart.to_altair()
    with pytest.raises(ImportError, match=r"a chart as SVG needs vl_convert: pip install 'clrevents\[plot\]'"):
        chart.svg()
    assert chart._repr_html_() is None
    assert "<svg" not in report((1, 2, 3, None))._repr_html_()


def unfit(panel: Panel, row_class: type[Any]) -> bool:
    """Whether a panel names a column that is not there, or not what its place needs."""
    columns = {column.name: column for column in columns_of(row_class) if not column.many}
    if any(name not in columns for name in (panel.x, panel.y, panel.by, panel.until, panel.each) if name):
        return True
    if any(columns[name].cell.name != "time" for name in (panel.x, panel.until) if name):
        return True
    if panel.mark == "span":
        return panel.until is None or panel.each is not None
    return panel.until is not None or columns[panel.y].cell.python not in (int, float)


def test_all_declared_charts_fit_their_tables() -> None:
    for name in report_names():
        rows = {table.name: table.row_class for table in find_report(name).answer.tables()}
        for chart in find_report(name).answer.declared_charts:
            assert chart.description.endswith(".")
            assert not [panel for panel in chart.panels if unfit(panel, rows[panel.table])]


@pytest.mark.parametrize(
    "panel",
    [
        Panel("sizes", "time", "size_bytes"),
        Panel("sizes", "took_ns", "size_bytes"),
        Panel("sizes", "time_ns", "what"),
        Panel("sizes", "time_ns", "size_bytes", by="kind"),
        Panel("sizes", "time_ns", "what", "span"),
        Panel("sizes", "time_ns", "what", "span", until="took_ns"),
        Panel("sizes", "time_ns", "what", "span", until="time_ns", each="what"),
        Panel("sizes", "time_ns", "took_ns", until="time_ns"),
    ],
)
def test_a_panel_that_does_not_fit_is_found(panel: Panel) -> None:
    assert unfit(panel, Size)


def test_names_of_charts_are_unique_in_every_report() -> None:
    for name in report_names():
        declared = [chart.name for chart in find_report(name).answer.declared_charts]
        assert len(declared) == len(set(declared))
