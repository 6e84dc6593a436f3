"""How many processes a module starts to work for this one; none may be left. Knows nothing about what they do."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from types import ModuleType

import pytest

from clrevents._util import workers


def started_by(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of each start, while the test runs; for a fixture to yield from."""
    numbers: list[int] = []

    def start(number: int) -> workers.Workers:
        numbers.append(number)
        return workers.Workers(number)

    monkeypatch.setattr(module, "Workers", start)
    yield numbers
    assert multiprocessing.active_children() == []
