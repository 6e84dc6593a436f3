"""When a thread pool is starved: the rule, in one place, and the times to which it applies.

Knows goals, counts and waits; no events, no stacks and no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text
from clrevents.analysis.shared.blocking.known_waits import KnownWait
from clrevents.schema.runtime_flags import ThreadAdjustmentReason

Ints: TypeAlias = NDArray[np.int64]
Verdict: TypeAlias = Literal["starved", "healthy", "unknown"]

STUCK: Final = (ThreadAdjustmentReason.Starvation, ThreadAdjustmentReason.CooperativeBlocking)
"""The reasons for which the pool adds a worker because queued work is not being picked up."""
LONG_NS: Final = 500_000_000
"""The shortest time from the first of these workers to the last in a shortage; without one, no item waits longer."""
LEAST_RAISES: Final = 2
"""The fewest workers added in one."""
PAUSE_NS: Final = 10_000_000_000
"""If the pool adds none for longer, what follows is another shortage."""
BLOCKED_SHARE: Final = 0.5
"""It is starved if at least this share of its workers was blocked at most of the moments when it added one."""


@frozen
class Raise:
    """The pool raised its goal for one of the reasons in `STUCK`. `before` is the goal until then, None if unknown."""

    time: int
    reason: ThreadAdjustmentReason
    before: int | None
    goal: int


@frozen
class Goal:
    """One adjustment."""

    time: int
    reason: ThreadAdjustmentReason
    goal: int


def raises(goals: Sequence[Goal], least: int | None) -> list[tuple[Goal, Raise | None]]:
    """The adjustments in order of time, with what is a raise. `least` is the configured minimum, where it is known."""
    before = least
    found: list[tuple[Goal, Raise | None]] = []
    for goal in goals:
        up = goal.reason in STUCK and (
            goal.goal > before if before is not None else goal.reason == ThreadAdjustmentReason.Starvation
        )
        found.append((goal, Raise(goal.time, goal.reason, before, goal.goal) if up else None))
        before = goal.goal
    return found


@frozen
class BlockedWorkers:
    """Waits of workers in the code they run, none of which is part of another."""

    waits: Sequence[KnownWait]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, waits: Sequence[KnownWait]) -> BlockedWorkers:
        """Those of these waits whose begin is known, and whose end unless they go on."""
        held = [wait for wait in waits if wait.held is not None]
        starts = sorted(wait.start for wait in held if wait.start is not None)
        ends = sorted(wait.until for wait in held if wait.until is not None and not wait.goes_on)
        return cls(held, np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))

    def at(self, moment: int) -> int:
        """How many workers are blocked then."""
        begun, ended = (int(np.searchsorted(side, moment, "right")) for side in (self.starts, self.ends))
        return begun - ended

    def during(self, low: int, high: int) -> list[KnownWait]:
        """The waits that reach into a stretch of time."""
        return [
            wait
            for wait in self.waits
            if wait.start is not None
            and wait.start <= high
            and (wait.goes_on or wait.until is None or wait.until > low)
        ]


@frozen
class Shortage:
    """Raises that followed one another, and how many workers were blocked at each; None where unknown.

    `start` and `end` are as in the table; `counts` are how many workers there were at each raise.
    """

    raised: Sequence[Raise]
    start: int
    end: int
    counts: Sequence[int | None]
    blocked: Sequence[int]

    @property
    def starved(self) -> bool:
        """Whether the workers are known to have been blocked."""
        mostly = [
            there is not None and blocked > 0 and blocked >= BLOCKED_SHARE * there
            for there, blocked in zip(self.counts, self.blocked, strict=True)
        ]
        return 2 * sum(mostly) > len(mostly)

    @property
    def reason(self) -> ThreadAdjustmentReason:
        """Why most workers were added; the first of equals."""
        reasons = [one.reason for one in self.raised]
        return max(dict.fromkeys(reasons), key=reasons.count)


def shortages(
    steps: Sequence[tuple[Goal, Raise | None]], existing: tuple[Ints, Ints], blocked: BlockedWorkers
) -> list[Shortage]:
    """The shortages of a process. `existing` are times and how many workers there were from each of them on.

    One ends with a lower goal, unless the goal is as high again within `LONG_NS`: each blocked worker that returns
    lowers it for a moment.
    """
    found: list[Shortage] = []
    raised: list[Raise] = []
    low: Goal | None = None
    again: list[Raise] = []

    def done(end: int | None) -> None:
        if len(raised) >= LEAST_RAISES and raised[-1].time - raised[0].time >= LONG_NS:
            found.append(_shortage(list(raised), end, existing, blocked))
        raised.clear()

    for goal, up in steps:
        if low is not None and goal.time - low.time > LONG_NS:
            done(low.time)
            raised, again, low = again, [], None
        if raised and goal.time - raised[-1].time > PAUSE_NS:
            done(None)
        if low is not None:
            if up is not None:
                again.append(up)
            elif again and goal.goal < again[-1].goal:
                again.clear()
            if goal.goal >= raised[-1].goal:
                raised, again, low = raised + again, [], None
        elif up is not None:
            raised.append(up)
        elif raised and goal.goal < raised[-1].goal:
            low = goal
    done(None if low is None else low.time)
    return found


def _shortage(
    raised: Sequence[Raise], end: int | None, existing: tuple[Ints, Ints], blocked: BlockedWorkers
) -> Shortage:
    first = raised[0].time
    since = [wait.start for wait in blocked.during(first, first) if wait.start is not None]
    counts = []
    for one in raised:
        place = int(np.searchsorted(existing[0], one.time, "right")) - 1
        # Where no event tells how many there are, there are as many as the pool wanted.
        counts.append(int(existing[1][place]) if place >= 0 else one.before)
    return Shortage(
        raised,
        max(since, default=first),
        raised[-1].time if end is None else end,
        counts,
        [blocked.at(one.time) for one in raised],
    )


def verdict(found: Sequence[Shortage], told: bool, complete: bool, longest_ns: int | None) -> tuple[Verdict, list[str]]:
    """The verdict, and why it is unknown where it is.

    `found` are the shortages in question. `told` says whether the trace would show one, `complete` that no event is
    missing, `longest_ns` the longest wait of an item, None if unknown.
    """
    if any(one.starved for one in found):
        return "starved", []
    why = []
    if found:
        count = sum(len(one.raised) for one in found)
        text = f"the pool raised its goal {count:,} times because work was stuck"
        why.append(f"{text}, but the trace does not show that its workers were blocked")
    elif not told:
        why.append("how the pool changed its number of workers was not recorded")
    elif not complete:
        why.append("events are missing, and may be those that would show a shortage")
    if not found and longest_ns is not None and longest_ns >= LONG_NS:
        why.append(f"work waited up to {duration_text(longest_ns)}, though the pool did not add workers for it")
    return ("unknown", why) if why else ("healthy", [])
