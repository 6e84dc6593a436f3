"""What the fuzzer found, each under the name of what it broke, is read again in many ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import product
from exercise import exercise

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.bin")), ids=lambda path: path.stem)
def test_what_was_found_stays_fixed(path: Path) -> None:
    exercise(path.read_bytes(), slicings=12)


FAMILIES = {family.replace(" ", "-"): family for family in product.FAMILIES}


def _of_families() -> list[Any]:
    found = []
    for path in sorted(CORPUS.glob("*/*.bin")):
        name = path.parent.name
        # Perfetto's files and far ones are read by libraries that only the full tier has.
        marks = [pytest.mark.full] if name in ("export-perfetto", "sources") else []
        found.append(pytest.param(path, marks=marks, id=f"{name}/{path.stem}"))
    return found


@pytest.mark.parametrize("path", _of_families())
def test_what_was_found_of_a_family_stays_fixed(path: Path) -> None:
    product.run(FAMILIES[path.parent.name], path.read_bytes())
