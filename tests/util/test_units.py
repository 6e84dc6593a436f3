"""Numbers for people: the unit of the magnitude, three or four digits, and never a digit that was not measured."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents._util.words import amount_text, duration_text, moment_text, number_text, raw_text, share_text, size_text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 s"),
        (1, "1 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (340_000, "340 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (9_994_999, "9.99 ms"),
        (9_995_000, "10.0 ms"),
        (12_200_000, "12.2 ms"),
        (1_780_345_112, "1.78 s"),
        (99_949_000_000, "99.9 s"),
        (338_000_000_000, "338 s"),
        (599_000_000_000, "599 s"),
        (600_000_000_000, "10 min"),
        (7_500_000_000_000, "2 h 5 min"),
        (-5_000_000, "-5.00 ms"),
    ],
)
def test_durations(ns: int, text: str) -> None:
    assert duration_text(ns) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (3_200_000, "3.2 MB"),
        (58_140_000, "58.1 MB"),
        (581_400_000, "581 MB"),
        (6_205_491_476, "6.2 GB"),
        (2**63, "9.2 EB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text
    assert amount_text(size, "bytes/s") == f"{text}/s"


def test_other_amounts() -> None:
    assert [share_text(share) for share in (0, 1, 0.29774, 0.0005, 0.00001, 0.99999)] == [
        *("0 %", "100 %", "29.8 %", "0.05 %", "<0.01 %", "100.0 %")
    ]
    assert [number_text(n) for n in (4711, 49.25, 1234567.8, 0.001234, 3.0)] == [
        *("4,711", "49.25", "1,234,568", "0.001234", "3")
    ]
    assert [moment_text(ns) for ns in (52_329_564, 12_003_345_112)] == ["52.330 ms", "12.003 s"]
    assert amount_text(3.5, "/s") == "3.500/s"
    assert (raw_text(1780345112, "ns"), raw_text(0.25, "ratio"), raw_text(7, "count")) == ("1780345112 ns", "0.25", "7")


SIZES = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}


@given(st.integers(1, 599 * 10**9))
def test_a_duration_is_what_was_measured(ns: int) -> None:
    """Within half of its last digit, with at most three digits, and a number of at least one unless it is of ns."""
    number, unit = duration_text(ns).split()
    digits = re.sub(r"\D", "", number)
    step = SIZES[unit] * 10 ** -len(number.partition(".")[2])
    assert abs(float(number) * SIZES[unit] - ns) <= step / 2 * (1 + 1e-9)
    assert len(digits) <= 3
    assert 1 <= float(number) < 1000
