"""Owners of locks, told by the system's ids or by the runtime's numbers."""

from __future__ import annotations

import numpy as np
import pytest

from clrevents.analysis.shared.events.event_spans import LockOwners, whole_ids

CREATED = {5: [(10, 100), (50, 200)], 6: [(20, 300)], 300: [(0, 5)]}


@pytest.mark.parametrize(
    ("numbered", "wanted"),
    [
        # A number is used again; before its first thread, and without any, nobody knows whose it is.
        (True, [0, 100, 200, 0, 5, 0]),
        # Otherwise only what is the id of no thread can be a number.
        (False, [5, 5, 5, 7, 300, 9]),
    ],
)
def test_numbers_are_those_of_threads_at_that_time(numbered: bool, wanted: list[int]) -> None:
    owners = LockOwners(numbered, CREATED)
    told, times = np.array([5, 5, 5, 7, 300, 9], dtype=np.uint64), np.array([5, 20, 60, 60, 60, 60])
    found = owners.threads(told, times, np.array([7, 9], dtype=np.uint64))
    assert found.tolist() == wanted
    # Of a `Lock` of .NET 9 and 10: no thread has the id 6.
    assert owners.threads(told[:1] + np.uint64(1), times[1:2], told[:0]).tolist() == [300]


def test_an_id_that_was_cut_is_that_of_the_only_thread_with_its_lower_half() -> None:
    headers = np.array([7, 2**32 + 5, 2**32 + 7, 2**33 + 6, 2**34 + 6], dtype=np.uint64)
    found = whole_ids(np.array([5, 6, 7, 8], dtype=np.uint64), headers)
    assert found.tolist() == [2**32 + 5, 6, 7, 8]
