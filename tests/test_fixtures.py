"""The real traces and their expected decodes agree, none is without the other, and the folder stays small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import clrevents
from project_files import FIXTURES, fixtures, tool, unpacked

LARGEST = 6 << 20
EACH = pytest.mark.parametrize("path", fixtures(), ids=lambda p: p.name.partition(".")[0])


@EACH
def test_decode_is_the_expected_one(path: Path) -> None:
    tools = tool("regenerate_fixtures")
    expected = json.loads(tools.expected_path(path).read_text(encoding="ascii"))
    found = tools.describe(unpacked(path))
    for part in expected | found:
        assert found.get(part) == expected.get(part), f"{part}; if this is meant: tools/regenerate_fixtures.py"


@EACH
def test_expected_text_is_what_the_tool_writes(path: Path) -> None:
    """So that a regenerated file differs only where the decode does."""
    tools = tool("regenerate_fixtures")
    text = tools.expected_path(path).read_text(encoding="ascii")
    assert tools.render(json.loads(text)) == text


def test_no_orphans() -> None:
    tools = tool("regenerate_fixtures")
    expected = {tools.expected_path(path).name for path in fixtures()}
    here = {path.name for path in FIXTURES.iterdir()}
    assert here == {path.name for path in fixtures()} | expected | {"README.md"}
    assert len(fixtures()) >= 3


def test_every_fixture_has_a_line_of_origin() -> None:
    text = (FIXTURES / "README.md").read_text(encoding="utf-8")
    for path in fixtures():
        assert f"| `{path.name}` | .NET" in text


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in FIXTURES.iterdir()) <= LARGEST


@EACH
def test_a_path_reads_as_its_bytes_do(path: Path) -> None:
    """Compressed, by path: the same events as from the plain bytes."""
    with clrevents.open(path) as packed, clrevents.open(unpacked(path)) as plain:
        assert packed.info.path == str(path)
        assert packed.event_counts() == plain.event_counts()
        assert list(packed.events("Method*")) == list(plain.events("Method*"))
