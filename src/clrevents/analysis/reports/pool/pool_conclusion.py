"""What the report concludes: the verdict for the window, why, and a description of the times in which work was
stuck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text, moment_text
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import as_columns
from clrevents.analysis.reports.pool.pool_rows import PoolFacts, PoolShortage
from clrevents.analysis.reports.pool.starvation import BlockedWorkers, Shortage, Verdict, verdict
from clrevents.analysis.shared.blocking.known_waits import KnownWait
from clrevents.analysis.shared.blocking.wait_feed import HIDDEN
from clrevents.analysis.shared.samples.blocking_methods import BlockingMethods
from clrevents.schema.runtime_flags import ThreadAdjustmentReason

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

    told: bool
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
        mine = [one for one, meets in zip(shortages, inside, strict=True) if meets]
        self.verdict: Verdict
        self.verdict, self._why = verdict(mine, around.told, not context.touched(), around.longest_ns)
        self._worst = max((one for one in mine if one.starved), key=lambda one: one.end - one.start, default=None)

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
                {
                    "start_ns": one.start,
                    "end_ns": one.end,
                    "duration_ns": one.end - one.start,
                    "verdict": "starved" if one.starved else "unknown",
                    "reason": str(one.reason),
                    "raises": len(one.raised),
                    "workers_before": one.raised[0].before,
                    "workers_after": one.raised[-1].goal,
                    "blocked_threads": self._threads(one) or None,
                    "kind": None if culprit is None else culprit.kind,
                    "method": None if culprit is None else culprit.method,
                }
            )
        return self._context.table(PoolShortage, as_columns(PoolShortage, rows))

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
        found = [
            f"from {moment_text(one.start)} to {moment_text(one.end)} the pool raised its goal "
            f"{counted(len(one.raised), 'time')}{self._goals(one)} for {one.reason}: {_WORDS[one.reason]}"
        ]
        culprit = self._culprit(one)
        if culprit is not None:
            count = self._threads(one)
            of = "all of them" if culprit.threads == count else f"{culprit.threads:,} of them"
            found.append(
                f"{counted(count, 'worker was', 'workers were')} blocked, {of} in "
                f"{culprit.method or 'a method without a name'} ({culprit.kind})"
            )
        if self._around.longest_ns is not None:
            found.append(f"work waited up to {duration_text(self._around.longest_ns)} for a worker")
        least, processors = self._around.min_workers, self._context.info.processors
        if least is not None and processors:
            of = f"{counted(least, 'worker')} on {counted(processors, 'processor')}"
            found.append(f"the configured minimum is {of}; more are created only after a delay")
        return found

    def _goals(self, one: Shortage) -> str:
        before = one.raised[0].before
        return "" if before is None else f" from {before:,} to {counted(one.raised[-1].goal, 'worker')}"

    def _threads(self, one: Shortage) -> int:
        return len({wait.thread for wait in self._blocked.during(one.start, one.end)})

    def _culprit(self, one: Shortage) -> Culprit | None:
        groups: dict[tuple[str | None, str], list[KnownWait]] = {}
        for wait in self._blocked.during(one.start, one.end):
            groups.setdefault((wait.method, wait.kind), []).append(wait)
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


def metrics_of_blocking(context: Context, blocked: BlockedWorkers, hidden: bool, some: bool) -> dict[str, Any]:
    """How long workers were blocked in the window, and how many; at least, if samples may hide waits, or not all
    was recorded that shows `some` of them."""
    starts = np.array([wait.place for wait in blocked.waits], dtype=np.int64)
    ends = np.array([wait.until for wait in blocked.waits], dtype=np.int64)
    inside = context.window.meets(starts, ends).tolist()
    mine = [wait for wait, meets in zip(blocked.waits, inside, strict=True) if meets]
    known = not hidden and not some
    least = not known or any(wait.end is None for wait in mine)
    if hidden and not mine:
        return {name: context.metric(name, None, reason=HIDDEN) for name in ("blocked_total", "blocked_workers")}
    return {
        "blocked_total": context.metric("blocked_total", int(context.window.overlap(starts, ends).sum()), least=least),
        "blocked_workers": context.metric("blocked_workers", len({wait.thread for wait in mine}), least=not known),
    }
