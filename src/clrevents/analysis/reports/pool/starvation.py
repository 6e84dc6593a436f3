"""When a thread pool is starved: the rule, in one place, the times to which it applies, and a window's verdict.

The rule knows goals, counts and waits; no events, no stacks and no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text, moment_text
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Ints, grouped
from clrevents.analysis.reports.pool.pool_rows import PoolFacts, PoolShortage
from clrevents.analysis.shared.blocking.known_waits import HIDDEN, FoundWaits, KnownWait
from clrevents.analysis.shared.samples.leaf_states import BlockingMethods
from clrevents.analysis.shared.weights.sample_runs import TOLERATED
from clrevents.schema.runtime_flags import ThreadAdjustmentReason

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
class Goal:
    """One adjustment. `before` is the goal until then, None if unknown."""

    time: int
    reason: ThreadAdjustmentReason
    before: int | None
    goal: int

    @property
    def raised(self) -> bool:
        """Whether the pool raised its goal for one of the reasons in `STUCK`."""
        if self.before is None:
            return self.reason == ThreadAdjustmentReason.Starvation
        return self.reason in STUCK and self.goal > self.before


@frozen
class BlockedWorkers:
    """Waits of workers in the code they run, none of which is part of another."""

    waits: Sequence[KnownWait]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, waits: Sequence[KnownWait]) -> BlockedWorkers:
        """Those of these waits whose begin is known, and whose end unless they go on."""
        known = [wait for wait in waits if wait.length is not None]
        starts = sorted(wait.start for wait in known if wait.start is not None)
        ends = sorted(wait.until for wait in known if wait.until is not None and not wait.goes_on)
        return cls(known, np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))

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

    raised: Sequence[Goal]
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
    goals: Sequence[Goal], existing: tuple[Ints, Ints], blocked: BlockedWorkers, at_once: int
) -> list[Shortage]:
    """The shortages of a process. `existing` are times and how many workers there were from each of them on.

    If workers wait for tasks, others come `at_once` until there are that many: up to then nothing is stuck.

    A shortage ends with a lower goal, unless the goal is as high again within `LONG_NS`: each blocked worker that
    returns lowers it for a moment.
    """
    shortages_seen: list[Shortage] = []
    raised: list[Goal] = []
    low: Goal | None = None
    again: list[Goal] = []

    def done(end: int | None) -> None:
        stuck = any(one.reason == ThreadAdjustmentReason.Starvation or one.goal > at_once for one in raised)
        if stuck and len(raised) >= LEAST_RAISES and raised[-1].time - raised[0].time >= LONG_NS:
            shortages_seen.append(_shortage(list(raised), end, existing, blocked))
        raised.clear()

    for goal in goals:
        if low is not None and goal.time - low.time > LONG_NS:
            done(low.time)
            raised, again, low = again, [], None
        if raised and goal.time - raised[-1].time > PAUSE_NS:
            done(None)
        if low is not None:
            if goal.raised:
                again.append(goal)
            elif again and goal.goal < again[-1].goal:
                again.clear()
            if goal.goal >= raised[-1].goal:
                raised, again, low = raised + again, [], None
        elif goal.raised:
            raised.append(goal)
        elif raised and goal.goal < raised[-1].goal:
            low = goal
    done(None if low is None else low.time)
    return shortages_seen


def _shortage(
    raised: Sequence[Goal], end: int | None, existing: tuple[Ints, Ints], blocked: BlockedWorkers
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


def verdict(
    shortages: Sequence[Shortage], shown: bool, complete: bool, longest_ns: int | None
) -> tuple[Verdict, list[str]]:
    """The verdict, and why it is unknown where it is.

    `shortages` are those in question. `shown` says whether the trace would show one, `complete` that no event is
    missing, `longest_ns` the longest wait of an item, None if unknown.
    """
    if any(one.starved for one in shortages):
        return "starved", []
    why = []
    if shortages:
        count = sum(len(one.raised) for one in shortages)
        text = f"the pool raised its goal {count:,} times because work was stuck"
        why.append(f"{text}, but the trace does not show that its workers were blocked")
    elif not shown:
        why.append("how the pool changed its number of workers was not recorded")
    elif not complete:
        why.append("events are missing, and may be those that would show a shortage")
    if not shortages and longest_ns is not None and longest_ns >= LONG_NS:
        why.append(f"work waited up to {duration_text(longest_ns)}, though the pool did not add workers for it")
    return ("unknown", why) if why else ("healthy", [])


_WORDS: Final = {
    ThreadAdjustmentReason.Starvation: "nothing was taken from the queue for half a second or longer",
    ThreadAdjustmentReason.CooperativeBlocking: "workers blocked until tasks were done",
}


@frozen
class Culprit:
    """The method that blocked workers longest: what it waited for, how many workers, and one of its waits."""

    method: str | None
    kind: str
    threads: int
    wait: KnownWait


@frozen
class Circumstances:
    """What else is known; None for anything unknown."""

    shown: bool
    raises: int
    longest_ns: int | None
    min_workers: int | None
    max_workers: int | None
    latency_source: str | None


class Conclusion:
    """The verdict on one process in the window that was asked for."""

    def __init__(
        self, context: Context, shortages: Sequence[Shortage], blocked: BlockedWorkers, around: Circumstances, raw: bool
    ) -> None:
        self._context, self._blocked, self._around, self._raw = context, blocked, around, raw
        starts = np.array([one.start for one in shortages], dtype=np.int64)
        ends = np.array([one.end for one in shortages], dtype=np.int64)
        self._all = shortages
        inside = context.window.meets(starts, ends).tolist()
        meeting = [one for one, meets in zip(shortages, inside, strict=True) if meets]
        self.verdict: Verdict
        # Goals were raised twice at least where work was stuck.
        lost = sum(hole.count for hole in context.troubles.few)
        complete = not context.touched() or 0 < lost < LEAST_RAISES - around.raises
        self.verdict, self._why = verdict(meeting, around.shown, complete, around.longest_ns)
        self._worst = max((one for one in meeting if one.starved), key=lambda one: one.end - one.start, default=None)

    @property
    def starved_ns(self) -> int:
        """How long the pool was starved in the window."""
        starved = [one for one in self._all if one.starved]
        starts, ends = (np.array([getattr(one, side) for one in starved], dtype=np.int64) for side in ("start", "end"))
        return int(self._context.window.overlap(starts, ends).sum())

    def table(self) -> ReportTable[PoolShortage]:
        """The times in which work was stuck."""
        rows = []
        for one in self._all:
            culprit = self._culprit(one)
            rows.append(
                PoolShortage(
                    start_ns=one.start,
                    end_ns=one.end,
                    duration_ns=one.end - one.start,
                    verdict="starved" if one.starved else "unknown",
                    reason=str(one.reason),
                    raises=len(one.raised),
                    workers_before=one.raised[0].before,
                    workers_after=one.raised[-1].goal,
                    blocked_threads=self._threads(one) or None,
                    kind=None if culprit is None else culprit.kind,
                    method=None if culprit is None else culprit.method,
                )
            )
        return self._context.table(PoolShortage, rows)

    def facts(self) -> PoolFacts:
        """The verdict and its basis: of several times in which work was stuck, the longest."""
        worst = self._worst
        culprit = None if worst is None else self._culprit(worst)
        return PoolFacts(
            verdict=self.verdict,
            evidence=tuple(self._evidence()),
            since_ns=None if worst is None else worst.start,
            until_ns=None if worst is None else worst.end,
            culprit=None if culprit is None else culprit.method,
            culprit_stack=() if culprit is None else self._stack(culprit.wait),
            blocked_meanwhile=None if worst is None else self._threads(worst),
            reason=None if worst is None else str(worst.reason),
            min_workers=self._around.min_workers,
            max_workers=self._around.max_workers,
            processors=self._context.info.processors or None,
            latency_source=self._around.latency_source,
        )

    def notes(self) -> list[Note]:
        """The verdict, if it calls for action."""
        if self.verdict == "healthy":
            return []
        text = "; ".join(self._evidence())
        if self._worst is None:
            return [Note("verdict-unknown", "warning", f"whether the pool is starved is unknown: {text}", ("verdict",))]
        culprit = self._culprit(self._worst)
        tasks = culprit is not None and culprit.kind == "task"
        remedy = "await the tasks instead" if tasks else "do not block workers of the pool"
        numbers = {
            "raises": len(self._worst.raised),
            "blocked_workers": self._threads(self._worst),
            "duration_ns": self._worst.end - self._worst.start,
        }
        return [Note("starved", "warning", f"the pool was starved: {text}", ("verdict",), numbers, remedy)]

    def _evidence(self) -> list[str]:
        if self.verdict == "unknown":
            return list(self._why)
        if self._worst is None:
            return ["the pool never had to add workers for long because work was stuck"]
        one = self._worst
        sentences = [
            f"from {moment_text(one.start)} to {moment_text(one.end)} the pool raised its goal "
            f"{counted(len(one.raised), 'time')}{self._goals(one)} for {one.reason}: {_WORDS[one.reason]}"
        ]
        culprit = self._culprit(one)
        if culprit is not None:
            count = self._threads(one)
            of = "all of them" if culprit.threads == count else f"{culprit.threads:,} of them"
            sentences.append(
                f"{counted(count, 'worker was', 'workers were')} blocked, {of} in "
                f"{culprit.method or 'a method without a name'} ({culprit.kind})"
            )
        if self._around.longest_ns is not None:
            sentences.append(f"work waited up to {duration_text(self._around.longest_ns)} for a worker")
        least, processors = self._around.min_workers, self._context.info.processors
        if least is not None and processors:
            of = f"{counted(least, 'worker')} on {counted(processors, 'processor')}"
            sentences.append(f"the configured minimum is {of}; more are created only after a delay")
        return sentences

    def _goals(self, one: Shortage) -> str:
        before = one.raised[0].before
        return "" if before is None else f" from {before:,} to {counted(one.raised[-1].goal, 'worker')}"

    def _threads(self, one: Shortage) -> int:
        return len({wait.thread for wait in self._blocked.during(one.start, one.end)})

    def _culprit(self, one: Shortage) -> Culprit | None:
        groups = grouped(self._blocked.during(one.start, one.end), lambda wait: (wait.method, wait.kind))
        if not groups:
            return None

        def part(wait: KnownWait) -> int:
            return wait.within(one.start, one.end)

        (method, kind), waits = max(groups.items(), key=lambda item: sum(map(part, item[1])))
        return Culprit(method, kind, len({wait.thread for wait in waits}), max(waits, key=part))

    def _stack(self, wait: KnownWait) -> tuple[str, ...]:
        stacks, times = np.array([wait.stack_id], dtype=np.int64), np.array([wait.place], dtype=np.int64)
        threads = np.array([wait.thread], dtype=np.uint64)
        return BlockingMethods(self._context, stacks, times, threads, self._raw).names(0)


def metrics_of_blocking(
    context: Context, blocked: BlockedWorkers, waits: FoundWaits, some: bool
) -> dict[str, Metric | int | None]:
    """How long workers were blocked in the window, and how many; at least, if samples may hide waits, or not all
    was recorded that shows `some` of them."""
    starts = np.array([wait.place for wait in blocked.waits], dtype=np.int64)
    ends = np.array([wait.until for wait in blocked.waits], dtype=np.int64)
    inside = context.window.meets(starts, ends).tolist()
    counted = [wait for wait, meets in zip(blocked.waits, inside, strict=True) if meets]
    known = not waits.hidden and not some
    least = not known or any(wait.end is None for wait in counted)
    if waits.hidden and not counted:
        return {name: context.metric(name, None, reason=HIDDEN) for name in ("blocked_total", "blocked_workers")}
    amounts = context.window.overlap(starts, ends)
    threads = np.array([wait.thread for wait in blocked.waits], dtype=np.uint64)
    total = context.metric("blocked_total", int(amounts.sum()), least=least)
    touched = context.marks.touched(starts, ends, [threads])
    return {
        "blocked_total": context.with_few(total, starts, ends, amounts, touched, TOLERATED * waits.period_ns),
        "blocked_workers": context.metric("blocked_workers", len({wait.thread for wait in counted}), least=not known),
    }
