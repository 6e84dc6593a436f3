"""`top` and `threads` weigh samples by one rule, and differ by where a change of state lies between two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from project_files import fixture, fixtures
from state_times import states_agree


@pytest.mark.parametrize("name", ["net8-netperf3", "net10-convoy"])
def test_states_agree(name: str) -> None:
    assert states_agree(fixture(name)) > 10


@pytest.mark.full
@pytest.mark.parametrize("path", fixtures(), ids=lambda path: path.name.partition(".")[0])
def test_states_agree_on_every_fixture(path: Path) -> None:
    states_agree(path)
