"""Answers in a notebook that is executed: each cell shows itself, small enough to keep, and says nothing besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import nbformat
import pytest
from nbclient import NotebookClient

from clrevents.analysis.framework.run.listing import report_names
from project_files import ROOT, fixture, tool
from report_cases import made_for

pytestmark = pytest.mark.full

SHOWS: Final = {name: made_for(name) for name in report_names()}
CELL_BYTES: Final = 50_000


@pytest.fixture(scope="module")
def executed() -> Any:
    """A notebook with a cell for each report, and one for its charts."""
    cells = ["import clrevents"]
    for name, trace in SHOWS.items():
        asked = f"with clrevents.open({str(fixture(trace))!r}) as trace:\n    {name} = trace.report({name!r})"
        cells.append(f"{asked}\n{name}")
        cells.append(f"display(*{name}.charts())")
    garbage = str(fixture("net10-garbage"))
    cells.append(f"from clrevents.analysis import read_samples\ntrace = clrevents.open({garbage!r})")
    cells += OTHERS
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    return book


@pytest.mark.parametrize("name", SHOWS)
def test_a_report_shows_itself(executed: Any, name: str) -> None:
    (cell,) = [cell for cell in executed.cells if cell.source.endswith(f"\n{name}")]
    (shown,) = cell.outputs
    assert shown.output_type == "execute_result"
    assert shown.data["text/plain"].startswith(f"<{name} report: ")
    assert len(shown.data["text/plain"].splitlines()) <= 25
    assert "<table>" in shown.data["text/html"]
    assert len(shown.data["text/html"].encode()) <= CELL_BYTES


@pytest.mark.parametrize("name", ["alloc", "counters", "exceptions", "gc", "pool", "tasks", "threads"])
def test_its_charts_are_drawn_in_the_page(executed: Any, name: str) -> None:
    (cell,) = [cell for cell in executed.cells if cell.source == f"display(*{name}.charts())"]
    assert cell.outputs
    for shown in cell.outputs:
        assert shown.data["text/html"].startswith("<figure")
        assert "<script" not in shown.data["text/html"]
        assert len(shown.data["text/html"].encode()) <= CELL_BYTES


@pytest.mark.parametrize("name", ["alloc", "counters", "exceptions", "gc", "pool", "tasks", "threads"])
def test_a_report_has_its_charts_inside(executed: Any, name: str) -> None:
    (cell,) = [cell for cell in executed.cells if cell.source.endswith(f"\n{name}")]
    drawn = [shown.data["text/html"] for shown in charts_of(executed, name) if "<svg" in shown.data["text/html"]]
    assert cell.outputs[0].data["text/html"].count("<svg") == len(drawn) > 0


def charts_of(executed: Any, name: str) -> Any:
    (cell,) = [cell for cell in executed.cells if cell.source == f"display(*{name}.charts())"]
    return cell.outputs


OTHERS: Final = {
    "trace": "<b>",
    "trace.table('GCStart')": "<table>",
    "trace.headers()": "<table>",
    "next(trace.events('GCStart'))": "<b>GCStart</b>",
    "trace.check()": "<table>",
    "gc.collections": "<table>",
    "read_samples(trace)": "samples of",
}


@pytest.mark.parametrize("what", OTHERS)
def test_everything_else_shows_itself(executed: Any, what: str) -> None:
    (cell,) = [cell for cell in executed.cells if cell.source == what]
    (shown,) = cell.outputs
    assert OTHERS[what] in shown.data["text/html"]
    assert "<script" not in shown.data["text/html"]
    assert len(shown.data["text/html"].encode()) <= CELL_BYTES
    assert len(shown.data["text/plain"].splitlines()) <= 25


def test_nothing_is_said_besides(executed: Any) -> None:
    streams = [output for cell in executed.cells for output in cell.outputs if output.output_type == "stream"]
    assert streams == []


EXAMPLES: Final = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_it_said(path: Path) -> None:
    made = tool("derived/notebooks")
    book = made.executed(path)
    assert list(made.complaints(path, book)) == []
    kept = nbformat.read(path, as_version=4)
    assert made.said(book) == made.said(kept)
    assert list(made.complaints(path, kept)) == []


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} == {"first-look", "why-slow", "memory", "compare", "folder"}
