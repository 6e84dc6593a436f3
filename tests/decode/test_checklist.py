"""No case of the container format's checklist is left out: each has a test here, a vector, or a reason."""

from __future__ import annotations

import re

import pytest
import test_checklist_files
import test_checklist_records
import test_checklist_untested
from checklist_cases import COVERED_BY_VECTORS, NOT_APPLICABLE, TESTED, UNTESTED_ELSEWHERE

from project_files import SHARED

MODULES = (test_checklist_files, test_checklist_records, test_checklist_untested)
NUMBERED = range(1, 76)


def test_every_case_is_covered() -> None:
    covered = {*TESTED, *COVERED_BY_VECTORS, *NOT_APPLICABLE}
    assert [n for n in NUMBERED if n not in covered] == []
    assert [name for name in UNTESTED_ELSEWHERE if name not in covered] == []
    assert covered == {*NUMBERED, *UNTESTED_ELSEWHERE}, "a case that the checklist does not have"
    assert not {*TESTED, *COVERED_BY_VECTORS} & {*NOT_APPLICABLE}


def test_the_tests_exist() -> None:
    there = {name for module in MODULES for name in vars(module) if name.startswith("test_")}
    assert {name for tests in TESTED.values() for name in tests} <= there


def test_the_numbers_are_the_checklists() -> None:
    """The list itself, where it is at hand, has as many cases."""
    path = SHARED / "reference" / "format.md"
    if not path.is_file():
        pytest.skip(f"the description of the format is not at {path}")
    text = path.read_text("utf-8")
    checklist = text[text.index("\n# 4. ") : text.index("\n# 5. ")]
    numbers = {int(n) for n in re.findall(r"(?:^|[.:] |, )(\d{1,2})\. `?[A-Z(]", checklist, re.M)}
    assert numbers <= {*NUMBERED}
    assert max(numbers) == NUMBERED[-1]


def test_the_vectors_are_there() -> None:
    folder = SHARED / "vectors"
    if not folder.is_dir():
        pytest.skip(f"the vectors are not at {folder}")
    names = {p.stem for p in folder.glob("*.nettrace")}
    assert {name for found in COVERED_BY_VECTORS.values() for name in found} <= names
