"""Every surface has every report: its page, the command's list, its help, its schema; and the schemas are true."""

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
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names, report_summaries
from clrevents.analysis.framework.vocabulary.cells import CELLS
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.cli import root
from clrevents.export.timeline.report_items import SHOWN
from project_files import ROOT, fixture, tool
from report_schemas import validate, validator
from tiers import each_fixture

NAMES: Final = report_names()


def test_there_are_reports() -> None:
    assert {"jit", "modules", "startup", "stubs", "top"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_says_what_it_is(name: str) -> None:
    declared = find_report(name)
    assert declared.name == name
    assert declared.question.endswith("?")
    summary = report_summaries()[name]
    assert summary.endswith(".")
    assert len(summary) <= 66, "the first line of the docstring is shown in lists"
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
def test_it_has_a_page(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert f"clrevents {name} " in page
    assert f"`clrevents schema {name}`" in page


def test_the_site_lists_all_of_them() -> None:
    """By their questions, and with every table, whether somebody named them or not."""
    made = tool("derived/reports")
    questions, page = "\n".join(made.questions()), made.page()
    for name in NAMES:
        declared = find_report(name)
        assert f"| {declared.question} | [`clrevents {name} FILE`]({name}.md) |" in questions
        assert f"## {name}\n\n**{declared.question}**" in page
        for table in declared.answer.tables():
            assert f"### {table.name}" in page


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


@each_fixture("net10-exceptions")
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


def test_the_command_prints_any_schema() -> None:
    for name in NAMES:
        declared = find_report(name)
        shown = CliRunner().invoke(root, ["schema", name, "--json"])
        assert json.loads(shown.output) == report_schema(declared), name
        lines = [line.split() for line in CliRunner().invoke(root, ["schema", name]).output.splitlines()]
        told = {words[0] for words in lines if words} | {words[1].rstrip(":") for words in lines if len(words) > 1}
        columns = {column.name for table in declared.answer.tables() for column in columns_of(table.row_class)}
        named = {table.name for table in declared.answer.tables()} | {metric.name for metric in declared.metrics}
        assert columns | named <= told, name


def test_the_page_of_the_timeline_names_the_report_of_each_line() -> None:
    """In the rows of its table, by the line's name."""
    page = (ROOT / "docs" / "timeline.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in re.findall(r"^\| (.+) \|$", page, re.MULTILINE)]
    named = {(title, report) for titles, *_, last in rows for title in titles.split(", ") for report in links(last)}
    assert {(shown.title, shown.report) for shown in SHOWN if shown.group != "held"} <= named
    tables = {(shown.report, shown.table) for shown in SHOWN}
    for *_, last in rows:
        for report, table in re.findall(r"\]\((\w+)\.md\), `(\w+)`", last):
            assert (report, table) in tables or table.endswith("_ns") or report == "counters", last


def links(text: str) -> list[str]:
    """The pages that a text leads to."""
    return re.findall(r"\]\((\w+)\.md\)", text)
