"""Methods that are gone and others that came: what is proposed of them, and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clrevents
from built.built_measured import recorded
from clrevents.analysis.compare.judging import compared
from clrevents.testing import builder

MUCH, MORE = 3e6, 6e6


def told(before: dict[str, float], after: dict[str, float]) -> list[tuple[str, str, str]]:
    """By methods with their own time in a block."""
    draw = np.random.default_rng(7)

    def rows(times: dict[str, float]) -> dict[str, Any]:
        return {f"methods.{name}": each * (1 + 0.1 * draw.standard_normal(256)).clip(0) for name, each in times.items()}

    def side(times: dict[str, float]) -> Any:
        whole = 2e7 * (1 + 0.01 * draw.standard_normal(256))
        return recorded({"threads.running_total": whole}, rows(times))

    found = compared([side(before)], [side(after)])
    return [(one.kind, one.gone, one.into) for one in found.proposals]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"A.B.F(int)": MUCH}, {"A.B.G(int)": MUCH}, [("renamed", "A.B.F(int)", "A.B.G(int)")]),
        ({"A.B.F(int)": MUCH}, {"A.C.F(int)": MUCH}, [("renamed", "A.B.F(int)", "A.C.F(int)")]),
        # Another signature, another type and name, and much more time: another method.
        ({"A.B.F(int)": MUCH}, {"A.B.G(long)": MUCH}, []),
        ({"A.B.F(int)": MUCH}, {"A.C.G(int)": MUCH}, []),
        ({"A.B.F(int)": MUCH}, {"A.B.G(int)": 2 * MUCH}, []),
        # Either could be meant.
        ({"A.B.F(int)": MUCH}, {"A.B.G(int)": MUCH, "A.B.H(int)": MUCH}, []),
        (
            {"A.B.F(int)": MUCH, "X.Y.Z()": MORE},
            {"X.Y.Z()": MORE + MUCH},
            [("inlined", "A.B.F(int)", "X.Y.Z()")],
        ),
        ({"A.B.F(int)": MUCH, "X.Y.Z()": MORE}, {"X.Y.Z()": MORE}, []),
        ({"A.B.F(int)": MUCH, "X.Y.Z()": MORE}, {"X.Y.Z()": MORE + 3 * MUCH}, []),
    ],
)
def test_by_signature_and_time(
    before: dict[str, float], after: dict[str, float], expected: list[tuple[str, str, str]]
) -> None:
    assert told(before, after) == expected


def test_from_traces(tmp_path: Path) -> None:
    """A caller takes its callee in: its own time grows by what the callee's was, and its time with callees stays."""

    def trace(inlined: bool) -> Path:
        built = builder.TraceBuilder().thread(7)
        for place, name in enumerate(("Main", "Price", "Round"), 1):
            built.method_load("Shop.Orders", name, address=place * 0x1000)
        draw = np.random.default_rng(5 + inlined)
        for tick in range(12_000):
            inner = draw.random() < 0.5
            stack = (0x2010, 0x1010) if inlined or not inner else (0x3010, 0x2010, 0x1010)
            built.at(tick * 1_000_000).sample(*stack)
        path = tmp_path / f"{inlined}.nettrace"
        path.write_bytes(built.build())
        return path

    found = clrevents.compare(trace(False), trace(True))
    assert [str(one) for one in found.proposals] == [
        "perhaps inlined: Shop.Orders.Round() is gone, "
        "and Shop.Orders.Price() takes as much more itself, but not with callees"
    ]
    assert str(found.proposals[0]) in repr(found)
    assert "- perhaps inlined: Shop.Orders.Round" in found.markdown()
    assert found.to_dict()["tables"]["proposals"] == [
        {"kind": "inlined", "gone": "Shop.Orders.Round()", "into": "Shop.Orders.Price()"}
    ]
