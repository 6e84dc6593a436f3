"""Rules about async methods: whether their awaits wait for one another's turn.

An await that is let go by another one of the same method, as by the release of a semaphore, ends right after that one
went on; what timers and answers end, ends by itself. Knows no semaphores: few events name what is awaited.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Cited, Clear, Rule, Threshold, Verdict
from clrevents.analysis.gathering.groups import numbered
from clrevents.analysis.gathering.merged_stacks import is_own_name

_SOON: Final = 1_000_000
"""So soon after another await of the same method, one goes on that it lets go."""
_NEARLY_ALL: Final = 0.8
_SELDOM: Final = 0.5
"""Where both follow the other more often than that, something else ends both, as when several timers are due."""
_DEPTH: Final = 32
"""Of a framework's async methods that one of the program awaits."""


def _turns(case: Case, limit: float) -> Verdict:
    rows, count = case.rows("tasks", "tasks"), case.cited("tasks.awaits")
    what = "async methods waited for one another's turn"
    if not len(rows):
        return Clear(f"no {what}", (count,), ns=limit)
    of, names = numbered(rows.column("method").tolist())
    is_own = np.array([name is not None and is_own_name(name) for name in names], dtype=np.bool_)
    ended, is_known = rows.numbers("started_ns"), rows.column("created_ns").known & rows.column("started_ns").known
    awaits = is_known & (np.array(rows.column("kind").tolist(), dtype=object) == "await")
    took = np.where(awaits, ended - rows.numbers("created_ns"), 0)
    numbers, awaiters = rows.numbers("row"), rows.numbers("awaiter_row", -1)
    awaiter = np.minimum(np.searchsorted(numbers, awaiters), len(rows) - 1)
    awaiter[numbers[awaiter] != awaiters] = -1
    awaits_none = np.ones(len(rows), dtype=np.bool_)
    awaits_none[awaiter[awaiter >= 0]] = False
    # What a framework's method awaits, the method of the program does that awaits this one.
    every = np.arange(len(rows))
    owner = every.copy()
    for _ in range(_DEPTH):
        further = ~is_own[of[owner]] & (awaiter[owner] >= 0)
        owner[further] = awaiter[owner[further]]
    method, is_inside = of[owner], owner != every
    goes_along = np.zeros(len(rows), dtype=np.bool_)
    goes_along[owner[awaits_none & is_inside]] = True
    places = [np.where(is_inside, -1, rows.numbers(name, -1)) for name in ("state", "native_offset")]
    columns = np.stack([method, of, *places, rows.column("queued").filled(False)])
    site = np.unique(columns, axis=1, return_inverse=True)[1].reshape(-1)
    waited: Counter[str | None] = Counter()
    for one in np.flatnonzero(np.bincount(site, weights=took * awaits_none) >= limit).tolist():
        here = np.flatnonzero(awaits & awaits_none & (site == one))
        whose = int(method[here[0]])
        others = awaits & ~goes_along & (method == whose) & (site != one)
        if is_own[whose] and _let_go(ended[here], ended[others], case.window_ns):
            waited[names[whose]] += int(took[here].sum())
    side = "at least " if case.bounded("tasks.awaits") else ""
    cost = Cited("tasks.awaits", waited.total(), "ns", side=side)
    title = f"{what} for {cost.text} together"
    if cost.value < limit:
        return Clear(title, (count,), ns=limit - cost.value)
    return Ailment(title, cost, (count,), case.share(cost.value), waited.most_common(1)[0][0])


def _let_go(ends: NDArray[np.int64], others: NDArray[np.int64], window_ns: int) -> bool:
    """Whether awaits end right after others go on, but these do not right after those."""
    by_chance = len(others) * _SOON / max(window_ns, 1)
    follow = _after(ends, others)
    return bool(len(others)) and follow >= max(_NEARLY_ALL, 2 * by_chance) and _after(others, ends) <= _SELDOM


def _after(ends: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """The part of these that end soon after one of the others."""
    others = np.sort(others)
    near = np.searchsorted(others, ends, side="right") > np.searchsorted(others, ends - _SOON)
    return float(near.mean())


RULES: Final = (
    Rule(
        "wait.awaited",
        "Do async methods wait for their turn?",
        ("tasks.awaits",),
        Threshold(
            0.5,
            "50 % of the time and 500 ms, added up over awaits that end when another one of the same method goes on",
            of=WINDOW,
            least=500_000_000,
        ),
        "No thread waits, and none is missing: requests are slow though nothing is busy.",
        "Let more in at once if what is guarded allows it, or await nothing slow between WaitAsync and Release.",
        "it limits on purpose how much is done at once, as to protect another service.",
        "tasks {file}",
        _turns,
        "inferred",
    ),
)
