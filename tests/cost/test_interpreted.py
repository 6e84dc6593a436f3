"""The interpreted engine's work for each byte of every costly stream: lines of Python, not time."""

from __future__ import annotations

import json
import os
from typing import Final

import pytest

from command_runs import environment, printed
from costly_families import FAMILIES
from project_files import ROOT, SOURCE
from tiers import drawn

pytestmark = pytest.mark.full

LINES: Final = 100_000
# The most is that of an event of two bytes whose records nest as deep as they may: some 260 lines find it empty.
LINES_A_BYTE: Final = 150
# Of one description with thousands of fields, and of a million zeros, even the smallest is long.
NAMES: Final = [
    family.name
    for family in FAMILIES
    if family.name not in ("zipped-nothing", "wide-kinds", "absent-fields", "located-fields", "located-array")
]


@pytest.mark.parametrize("mode", ["report", "salvage"])
def test_lines_of_each_byte(mode: str) -> None:
    """Salvage reads all that `report` reads of them, and more: of the latter a sample is enough."""
    names = [name for name in NAMES if mode == "salvage" or drawn(6, "lines", name)]
    script = ROOT / "tests" / "support" / "costs" / "costly_lines.py"
    search = os.pathsep.join((str(SOURCE.parent), str(script.parent)))
    interpreted = environment(PYTHONPATH=search, CLREVENTS_PURE="1", CLREVENTS_REQUIRE_COMPILED="")
    found = dict(map(json.loads, printed(script, mode, *names, env=interpreted).splitlines()))
    assert list(found) == names
    for name, ((few, least), (more, _), (most, largest)) in found.items():
        assert few < more < most, name
        assert largest <= LINES + LINES_A_BYTE * most, name
        assert largest - least <= LINES_A_BYTE * (most - few), name
