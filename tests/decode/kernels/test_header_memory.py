"""Columns of headers are written over only where an interpreter's counts of references can be believed.

Changes what `sys` says of the interpreter. What the scanner does on this one is tested in test_kernels.py.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clrevents.decode.kernels.engine import COMPILED
from clrevents.decode.kernels.header_scan import PADDING, HeaderScanner

EVENTS = 3000


def ticks(scanner: HeaderScanner, step: int) -> Any:
    """The times of a block whose events are so many ticks apart, or of its first ones."""
    first = bytes([0b10001111, 1, 0, 5, 0, 7, 0, step, 0])
    block = first + bytes([0, step]) * (EVENTS - 1)
    columns, status, _ = scanner.scan(block + bytes(PADDING), 0, len(block), 0, False)
    assert status == "done"
    assert sum(map(len, columns)) == EVENTS
    return columns[0].ticks


def overwritten(scanner: HeaderScanner) -> int:
    """How many of many kept columns no longer hold what was scanned."""
    kept = [(ticks(scanner, step), step) for step in range(1, 101)]
    return sum(not _even(column, step) for column, step in kept)


def _even(column: Any, step: int) -> bool:
    return bool((np.diff(column) == step).all())


def test_counts_that_are_wrong_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the other tests rule out does happen here, where it can: the interpreted engine uses no memory again."""
    monkeypatch.setattr(sys, "getrefcount", lambda _: 0)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert overwritten(HeaderScanner()) == (99 if COMPILED else 0)


def test_without_the_gil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "getrefcount", lambda _: 0)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert overwritten(HeaderScanner()) == 0


def test_a_gil_that_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns made without it are not written over with it: how many references they had by themselves is not known."""
    monkeypatch.setattr(sys, "getrefcount", lambda _: 0)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    scanner = HeaderScanner()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    first, second = ticks(scanner, 1), ticks(scanner, 2)
    assert _even(first, 1)
    assert _even(second, 2)


def test_an_interpreter_that_counts_no_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(**vars(sys.implementation) | {"name": "pypy"}))
    monkeypatch.delattr(sys, "getrefcount")
    assert overwritten(HeaderScanner()) == 0
