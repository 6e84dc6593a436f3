"""No case of the container format's checklist is left out: each has a test here, a vector, or a reason."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import test_checklist_files
import test_checklist_records
import test_checklist_untested

from checklist_cases import (
    COVERED_BY_BASELINES,
    COVERED_BY_VECTORS,
    NOT_APPLICABLE,
    TESTED,
    TESTED_ON_SHARED,
    UNTESTED_ELSEWHERE,
    always_run,
    more_with_shared,
)
from project_files import SHARED, without_shared

MODULES = (test_checklist_files, test_checklist_records, test_checklist_untested)
NUMBERED = range(1, 76)


def test_every_case_is_covered() -> None:
    covered = {*TESTED, *TESTED_ON_SHARED, *COVERED_BY_VECTORS, *COVERED_BY_BASELINES, *NOT_APPLICABLE}
    assert [n for n in NUMBERED if n not in covered] == []
    assert [name for name in UNTESTED_ELSEWHERE if name not in covered] == []
    assert covered == {*NUMBERED, *UNTESTED_ELSEWHERE}, "a case that the checklist does not have"
    assert not {*TESTED, *TESTED_ON_SHARED, *COVERED_BY_VECTORS} & {*NOT_APPLICABLE}


def test_how_many_cases_run_in_this_checkout(record_property: Callable[[str, object], None]) -> None:
    """Streams that tests make themselves cover these; the rest needs what is not part of the project."""
    here, more = always_run(), more_with_shared()
    assert not here & more
    assert here >= {*UNTESTED_ELSEWHERE} - {*NOT_APPLICABLE}
    assert (len(here), len(more), len(NOT_APPLICABLE)) == (32, 63, 3)
    record_property("checklist", [len(here), len(more)])


def test_the_tests_exist() -> None:
    """Where they are said to be: those that any checkout runs are in modules that need nothing from outside."""
    there = {name for module in MODULES for name in vars(module) if name.startswith("test_")}
    on_shared = {name for name in vars(test_checklist_files) if name.startswith("test_")}
    assert {name for tests in TESTED.values() for name in tests} <= there - on_shared
    assert {name for tests in TESTED_ON_SHARED.values() for name in tests} == on_shared


@pytest.mark.shared
def test_the_numbers_are_the_checklists() -> None:
    """The list itself, where it is at hand, has as many cases."""
    path = SHARED / "reference" / "format.md"
    if not path.is_file():
        pytest.skip(without_shared("the description of the format"))
    text = path.read_text("utf-8")
    checklist = text[text.index("\n# 4. ") : text.index("\n# 5. ")]
    numbers = {int(n) for n in re.findall(r"(?:^|[.:] |, )(\d{1,2})\. `?[A-Z(]", checklist, re.M)}
    assert numbers <= {*NUMBERED}
    assert max(numbers) == NUMBERED[-1]


@pytest.mark.shared
def test_the_vectors_are_there() -> None:
    folder = SHARED / "vectors"
    if not folder.is_dir():
        pytest.skip(without_shared("the vectors"))
    names = {p.stem for p in folder.glob("*.nettrace")}
    assert {name for found in COVERED_BY_VECTORS.values() for name in found} <= names
