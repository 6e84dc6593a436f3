"""The site's page of public names has every one of them, and its docstring says what it should."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from project_files import ROOT, tool

API: Final = tool("derived/api")
# Where fields and parameters are not yet explained one by one.
TERSE: Final = ("clrevents.analysis.", "clrevents.decode.payload.column", "clrevents.table.event_schema")


def every_item() -> Iterator[Any]:
    """Everything on the page, members after their class."""
    for section in API.SECTIONS:
        for item in API.items(section):
            yield item
            yield from item.members


ITEMS: Final = tuple(every_item())
CLASSES: Final = {item.name: item for item in ITEMS if item.kind == "class"}


def terse(item: Any) -> bool:
    return bool((item.home or CLASSES[item.owner].home).startswith(TERSE))


def ids(item: Any) -> str:
    return str(item.full_name)


@pytest.mark.parametrize("name", ["clrevents", "clrevents.analysis", "clrevents.rewrite"])
def test_every_public_name_is_on_the_page_once(name: str) -> None:
    listed = [n for section in API.SECTIONS if section.module == name for n in section.names]
    assert sorted(listed) == sorted(importlib.import_module(name).__all__)


def test_testing_is_what_its_own_page_imports() -> None:
    """`clrevents.testing` exports nothing itself: users import from its modules."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    imports = re.findall(r"from (clrevents\.testing\.\w+) import ([\w, ]+)", page)
    used = {(module, name) for module, names in imports for name in names.split(", ")}
    listed = {(s.module, name) for s in API.SECTIONS for name in s.names}
    assert used <= listed
    assert len(used) == 4


def test_headings_of_the_page() -> None:
    headings = re.findall(r"^### `?(\w+)`?$", API.page(), re.MULTILINE)
    names = [item.name for item in ITEMS if not item.owner]
    assert headings == names
    assert len(set(names)) == len(names)


def test_types_and_events_are_summarised() -> None:
    import clrevents.events
    import clrevents.types

    types, events = API.page().split("## Types of fields")[1].split("## Event classes")
    for name in clrevents.types.__all__:
        assert f"`{name}`" in types
    assert f"{len(dir(clrevents.events))} names" in events


@pytest.mark.parametrize("item", ITEMS, ids=ids)
def test_every_name_has_a_proper_docstring(item: Any) -> None:
    text = item.text
    if not text and item.kind == "field":
        # Explained with the others, in the docstring of the class.
        assert terse(item) or f"`{item.name}`" in CLASSES[item.owner].text, f"{item.full_name} has no docstring"
        return
    assert text, f"{item.full_name} has no docstring"
    assert text.rstrip("`\"')").endswith((".", "}")) or text.splitlines()[-1].startswith("    "), text


@pytest.mark.parametrize("item", [item for item in ITEMS if item.parameters and not terse(item)], ids=ids)
def test_every_parameter_is_explained(item: Any) -> None:
    """In the docstring, or in that of the class for what is the same in all its methods."""
    text = item.text + (CLASSES[item.owner].text if item.owner else "")
    if item.kind == "class":
        text += "".join(f"`{member.name}`" for member in item.members if member.kind == "field")
    missing = [name for name in item.parameters if not re.search(rf"`(?:\w+\.)?\*{{0,2}}{name}\b", text)]
    assert not missing, f"{item.full_name} does not say what {', '.join(missing)} is"
