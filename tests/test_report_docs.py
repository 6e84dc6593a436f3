"""Every surface has every report: the page, the schemas, the command's list, its help; and the schemas are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import jsonschema
import pytest
from click.testing import CliRunner

import clrevents
from clrevents.analysis.framework.model.declaration import parameters_of
from clrevents.analysis.framework.model.json_schema import report_schema
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.analysis.framework.run.listing import report_names, report_summaries
from clrevents.analysis.framework.vocabulary.cells import CELLS
from clrevents.analysis.framework.vocabulary.row_class import columns_of
from clrevents.cli import root
from project_files import ROOT, fixture, fixtures, tool
from report_schemas import validate, validator

DOCS: Final = tool("make_report_docs")
NAMES: Final = report_names()


def test_the_pages_are_current() -> None:
    wanted = DOCS.pages()
    for path, text in wanted.items():
        assert path.read_text("utf-8") == text, f"{path} is stale: run python tools/make_report_docs.py"
    assert {path.name for path in (ROOT / "docs" / "schemas").iterdir()} == {f"{name}.json" for name in NAMES}


def test_there_are_reports() -> None:
    assert {"jit", "modules", "startup", "stubs", "top"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_says_what_it_is(name: str) -> None:
    declared = find_report(name)
    assert declared.name == name
    assert declared.question.endswith("?")
    summary = report_summaries()[name]
    assert summary.endswith(".")
    assert len(summary) <= 66
    assert len(declared.description) > 80
    assert declared.needs
    assert any(need.essential for need in declared.needs)
    tables = {table.name: table.row_class for table in declared.answer.tables()}
    columns = {column.name for column in columns_of(tables[declared.headline])}
    assert set(declared.shown) <= columns
    assert len({metric.name for metric in declared.metrics}) == len(declared.metrics)
    parameters_of(declared.parameters)
    columns_of(declared.answer.facts_class())


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_described(name: str) -> None:
    declared = find_report(name)
    texts = [table.description for table in declared.answer.tables()]
    texts += [column.description for t in declared.answer.tables() for column in columns_of(t.row_class)]
    texts += [metric.description for metric in declared.metrics]
    for text in texts:
        assert re.fullmatch(r"[A-Z`].*\.", text), text
    cells = {column.cell.name for t in declared.answer.tables() for column in columns_of(t.row_class)}
    assert cells <= set(CELLS)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_and_the_readme_know_it(name: str) -> None:
    declared = find_report(name)
    page = (ROOT / "docs" / "reports.md").read_text("utf-8")
    assert f"## {name}\n\n**{declared.question}**" in page
    for table in declared.answer.tables():
        assert f"### {table.name}" in page
    assert f"docs/{name}.md" in (ROOT / "README.md").read_text("utf-8")
    own = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert f"clrevents {name} " in own
    assert f"reports.md#{name}" in own


@pytest.mark.parametrize("name", NAMES)
def test_the_command_knows_it(name: str) -> None:
    declared = find_report(name)
    listed = CliRunner().invoke(root, ["--help"]).output
    assert re.search(rf"^  {name} +{re.escape(report_summaries()[name])}$", listed, re.MULTILINE)
    shown = CliRunner().invoke(root, [name, "--help"], terminal_width=200, max_content_width=200).output
    for parameter in parameters_of(declared.parameters):
        assert parameter.flag in shown
    for option in ("--start", "--end", "--process", "--table", "--columns", "--sort", "--limit", "--csv", "--json"):
        assert option in shown
    assert "dotnet-trace collect --providers" in shown


@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name)
def test_fixtures_give_what_the_schemas_say(path: Path) -> None:
    validate(path)


def test_what_is_not_declared_is_refused() -> None:
    """The check above would see a key, a type or a null that the schema does not have."""
    name = NAMES[0]
    check = validator(name)
    with clrevents.open(fixture("net10-method-interop")) as trace:
        data = trace.report(name).to_dict()
    check.validate(data)
    for change in (
        lambda d: d.update(more=1),
        lambda d: d["question"]["window"].update(start_ns="0"),
        lambda d: d["rows"].popitem(),
        lambda d: next(iter(d["metrics"].values())).update(value="-"),
        lambda d: d.update(coverage="most"),
    ):
        spoilt = json.loads(json.dumps(data))
        change(spoilt)
        with pytest.raises(jsonschema.ValidationError):
            check.validate(spoilt)


def test_schemas_are_those_of_the_declarations() -> None:
    for name in NAMES:
        assert json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text("utf-8")) == report_schema(
            find_report(name)
        )
