"""How often `clrevents compare` cries wolf, and how small a change it finds.

    python benchmarks/compare_power.py TRACE... [--trials 200] [--seed 1]

Cuts what was measured of each trace into stretches of a tenth of a second and deals them, again and again, to two
sides: these are alike. Then slows one thing down on one side and looks whether it is found. Dealt recordings are kinder
than real ones: stretches of one trace know nothing of how runs differ, so that is drawn: every amount of a run is
multiplied by a factor of its own, with this relative deviation. docs/compare.md has the tables that this prints.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import attrs
import numpy as np

import clrevents
from clrevents.analysis.compare.block_statistics import MOST_BLOCKS
from clrevents.analysis.compare.change import BY_STATE, EXCLUSIVE, INCLUSIVE, Change
from clrevents.analysis.compare.judging import compared
from clrevents.analysis.compare.measured import Amount, Measured

STRETCH_NS: Final = 100_000_000
SIDES: Final = ((2, 1), (20, 1), (120, 1), (20, 5))
"""Seconds of each recording, and recordings a side."""
SLOWER: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
_OF_METHODS: Final = (EXCLUSIVE, INCLUSIVE, BY_STATE)
TYPICAL: Final = 0.1
"""Of all methods, the one is slowed down whose share is closest to this."""


def dealt(one: Measured, seconds: float, draw: np.random.Generator, deviation: float) -> Measured:
    """A recording of this length, of stretches drawn from another one."""
    block = one.span_ns / one.count
    long = max(round(STRETCH_NS / block), 1)
    many = max(round(seconds * 1e9 / block / long), 1)
    starts = draw.integers(0, max(one.count - long, 0) + 1, many)
    places = (starts[:, None] + np.arange(long)).ravel() % one.count
    count = min(MOST_BLOCKS, len(places))
    edges = np.arange(count) * len(places) // count

    def drawn(amount: Amount) -> Amount:
        assert amount.blocks is not None
        blocks = np.add.reduceat(amount.blocks[places], edges) * np.exp(deviation * draw.standard_normal())
        if amount.over is None:
            return attrs.evolve(amount, value=float(blocks.sum()), blocks=blocks)
        over = np.add.reduceat(amount.over[places], edges)
        mean = float(blocks.sum() / over.sum()) if over.any() else None
        return attrs.evolve(amount, value=mean, blocks=blocks, over=over if mean is not None else None)

    return attrs.evolve(
        one,
        count=count,
        span_ns=int(block * len(places)),
        metrics=tuple(map(drawn, (amount for amount in one.metrics if amount.blocks is not None))),
        rows=tuple(map(drawn, one.rows)),
    )


def slowed(one: Measured, keys: frozenset[tuple[str, str]], share: float) -> Measured:
    """The same with more of some amounts."""

    def more(amount: Amount) -> Amount:
        if (amount.family, amount.name) not in keys:
            return amount
        assert amount.blocks is not None
        assert amount.value is not None
        return attrs.evolve(amount, value=amount.value * (1 + share), blocks=amount.blocks * (1 + share))

    return attrs.evolve(one, metrics=tuple(map(more, one.metrics)), rows=tuple(map(more, one.rows)))


def planted(one: Measured) -> dict[str, tuple[str, str]]:
    """What can be slowed down in it, by the row or metric that should be found."""
    found = {}
    for what, key in (
        ("allocation", ("alloc", "bytes_total")),
        ("pauses", ("gc", "pause_total")),
        ("locks", ("locks", "waited_total")),
    ):
        if any((amount.family, amount.name) == key and amount.value for amount in one.metrics):
            found[what] = key
    methods = [row for row in one.rows if row.family == EXCLUSIVE]
    whole = sum(row.value or 0 for row in methods)
    if whole:
        row = min(methods, key=lambda row: abs((row.value or 0) / whole - TYPICAL))
        found["method"] = (EXCLUSIVE, row.name)
    return found


def lean(one: Measured) -> Measured:
    """Without rows that are next to nothing, which are never looked at."""
    whole = sum(row.value or 0 for row in one.rows if row.family == EXCLUSIVE)
    kept = [row for row in one.rows if row.family not in _OF_METHODS or (row.value or 0) > 0.004 * whole]
    return attrs.evolve(one, rows=tuple(row for row in kept if row.blocks is not None))


Deal = Callable[[], list[Measured]]


def deals(one: Measured, seconds: int, runs: int, draw: np.random.Generator, deviation: float) -> Deal:
    return lambda: [dealt(one, seconds, draw, deviation) for _ in range(runs)]


def change_of(key: tuple[str, str], base: Sequence[Measured], new: Sequence[Measured]) -> Change | None:
    """The verdict on one metric or row."""
    found = compared(base, new, "second")
    family, name = key
    labels = {row.label or row.name for row in (*base[0].metrics, *base[0].rows) if (row.family, row.name) == key}
    return next((c for c in (*found.metrics, *found.rows) if c.family == family and c.name in {*labels, name}), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--power", type=int, default=50, help="trials for each planted change")
    parser.add_argument("--deviation", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = [lean(clrevents.measure(path)) for path in asked.traces]
    draw = np.random.default_rng(asked.seed)
    print("| a side | runs vary by | comparisons | with any alarm |", "|---|--:|--:|--:|", sep="\n")
    for seconds, runs in SIDES:
        for deviation in (0.0, asked.deviation):
            wrong = 0
            for trial in range(asked.trials):
                deal = deals(held[trial % len(held)], seconds, runs, draw, deviation)
                wrong += bool(compared(deal(), deal(), "second").alarms)
            side = f"{runs} x {seconds} s"
            print(f"| {side} | {deviation:.0%} | {asked.trials} | {wrong} |", flush=True)
    print()
    print("| slowed down | a side |", *(f"+{share:.0%} |" for share in SLOWER), "at the smallest |")
    print("|---|---|", *("--:|" for _ in (*SLOWER, 0)))
    for what in ("method", "allocation", "pauses", "locks"):
        fit = [one for one in held if what in planted(one)]
        for seconds, runs in SIDES if fit else ():
            deviation = asked.deviation if runs > 1 else 0.0
            shares: list[str] = []
            for share in (*SLOWER, None):
                found = Counter[bool]()
                for trial in range(asked.power):
                    one = fit[trial % len(fit)]
                    key = planted(one)[what]
                    deal = deals(one, seconds, runs, draw, deviation)
                    size = share
                    if size is None:
                        alike = change_of(key, deal(), deal())
                        size = None if alike is None else alike.relative(alike.smallest)
                        if size is None:
                            continue
                    keys = frozenset([key, (INCLUSIVE, key[1])])
                    told = change_of(key, deal(), [slowed(side, keys, size) for side in deal()])
                    found[told is not None and told.alarm] += 1
                total = sum(found.values())
                # Of the smallest change, how many pairs gave one counts, too.
                of = f" of {total}" if share is None else ""
                shares.append(f"{found[True] / total:.0%}{of}" if total else "-")
            print(f"| {what} | {runs} x {seconds} s |", *(f"{text} |" for text in shares), flush=True)


if __name__ == "__main__":
    main()
