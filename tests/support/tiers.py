"""Which of many like tests are of the fast tier: one or a few that show what all of them show. And which cases of a
large sweep are of the sample that the full tier has.

CONTRIBUTING.md says what the tiers are.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

from project_files import fixtures

WHOLE_SWEEPS: Final = bool(os.environ.get("CLREVENTS_WHOLE_SWEEPS"))


def drawn(one_of: int, *case: str) -> bool:
    """Whether a sweep's sample of one in so many cases has this one: always the same ones, and all of them with
    CLREVENTS_WHOLE_SWEEPS=1. The names of the case begin with the sweep's, so that each sweep has its own sample."""
    return WHOLE_SWEEPS or random.Random("\n".join(case)).randrange(one_of) == 0


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
