"""Which of many like tests are of the fast tier: one or a few that show what all of them show.

CONTRIBUTING.md says what the tiers are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from project_files import fixtures


def few(cases: Iterable[Any], fast: Callable[..., bool]) -> list[Any]:
    """These cases for `parametrize`, of which the fast tier has those that `fast` says, given the case's values."""
    found = []
    for case in cases:
        given = case if hasattr(case, "values") and hasattr(case, "marks") else pytest.param(case)
        marks = given.marks if fast(*given.values) else (*given.marks, pytest.mark.full)
        found.append(pytest.param(*given.values, id=given.id, marks=marks))
    return found


def one_in(nth: int, cases: Iterable[Any]) -> list[Any]:
    """These cases for `parametrize`, of which the fast tier has the first of each `nth`."""
    listed = list(cases)
    numbers = iter(range(len(listed)))
    return few(listed, lambda *_: next(numbers) % nth == 0)


def each_fixture(*fast: str) -> pytest.MarkDecorator:
    """Runs a test with the `path` of each fixture; in the fast tier of those that are named."""
    cases = [pytest.param(path, id=path.name.partition(".")[0]) for path in fixtures()]
    assert set(fast) <= {case.id for case in cases}
    return pytest.mark.parametrize("path", few(cases, lambda path: path.name.partition(".")[0] in fast))
