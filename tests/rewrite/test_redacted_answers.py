"""What reports say of a redacted copy: as many rows and series as of the original, the same numbers, and a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clrevents.rewrite import redact
from project_files import SHARED, fixture, fixtures
from reading import opened

SHARED_TRACES = [path for folder in ("rare", "linux") for path in sorted((SHARED / folder).glob("*.net*.gz"))]
"""tests/shared/test_redacted.py has the others."""
FAST = [fixture(name) for name in ("net8-meters", "net10-exceptions", "net10-starvation")]


def answers(path: Path | bytes) -> dict[str, Any]:
    with opened(path) as trace:
        return trace.reports()


def told(found: dict[str, Any]) -> dict[str, Any]:
    """How many rows each table has, and every metric's value, by report."""
    return {
        name: {
            **{declared.name: len(answer.table(declared.name)) for declared in answer.tables()},
            **{metric: value.value for metric, value in answer.metrics.items()},
        }
        for name, answer in found.items()
    }


def same_answers(path: Path, out: Path) -> None:
    with opened(path) as trace:
        redact(trace, out)
    mine, theirs = answers(path), answers(out)
    assert told(theirs) == told(mine)
    for name, answer in theirs.items():
        assert [note.id for note in answer.notes].count("redacted") == 1, name
        assert not [note for note in mine[name].notes if note.id == "redacted"], name


@pytest.mark.parametrize("path", FAST, ids=lambda path: path.name.partition(".")[0])
def test_a_redacted_copy_has_the_same_rows(path: Path, tmp_path: Path) -> None:
    same_answers(path, tmp_path / "out.nettrace")


@pytest.mark.full
@pytest.mark.parametrize("path", [p for p in fixtures() if p not in FAST], ids=lambda path: path.name.partition(".")[0])
def test_of_every_fixture(path: Path, tmp_path: Path) -> None:
    same_answers(path, tmp_path / "out.nettrace")


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.parametrize("path", SHARED_TRACES, ids=lambda path: path.name.partition(".net")[0])
def test_of_rare_events_and_of_linux(path: Path, tmp_path: Path) -> None:
    same_answers(path, tmp_path / "out.nettrace")
