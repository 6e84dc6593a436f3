"""What the fuzzer found, each under the name of what it broke, is read again in many ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from exercise import exercise

FOUND = sorted((Path(__file__).parent / "corpus").glob("*.bin"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_stays_fixed(path: Path) -> None:
    exercise(path.read_bytes(), slicings=12)
