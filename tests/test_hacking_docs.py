"""docs/hacking.md leads into the code: each name that it links is defined in the file that the link names."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from project_files import ROOT
from test_declarations import check_declaration

PAGE = ROOT / "docs" / "hacking.md"
LINKS = sorted(set(re.findall(r"\[`([\w.]+)`\]\((\.\./src/[\w/]+\.py)\)", PAGE.read_text(encoding="utf-8"))))


def defined(path: Path) -> set[str]:
    """Names at the top of a module, and `Class.method`."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def test_there_are_links() -> None:
    assert len(LINKS) > 20


@pytest.mark.parametrize(("name", "link"), LINKS)
def test_a_linked_name_is_in_its_file(name: str, link: str) -> None:
    assert name in defined((PAGE.parent / link).resolve())


def test_the_page_is_read_in_one_go() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 2000


def test_the_example_of_an_event_is_one_that_our_tests_take() -> None:
    (example,) = re.findall(r"(?ms)^   ```python\n(.*?)^   ```", PAGE.read_text(encoding="utf-8"))
    classes = [node for node in ast.parse(textwrap.dedent(example)).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == ["MadeUp_V0", "MadeUp_V1"]
    for node in classes:
        check_declaration(node, node.name)
