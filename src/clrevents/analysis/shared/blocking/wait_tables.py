"""Waits → the rows, tables, facts and sums of the report, of those in the window. A wait inside another is not counted.

Waits of runtime threads, and of pool workers without work, are kept separate: they cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import grouped, heaviest
from clrevents.analysis.shared.blocking.known_waits import KnownWait
from clrevents.analysis.shared.events.event_spans import longest_first
from clrevents.analysis.shared.samples.leaf_states import MAIN


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Wait(SpanRow):
    """One wait of one thread."""

    thread_id: cells.ThreadId = column("The thread that waited.")
    kind: cells.Word = column(
        "What it waited for: `lock`, `handle`, `monitor`, `task`, `join`, `sleep` or `idle`; where the kernel recorded "
        "it and no method tells more, `futex`, `input`, `output`, `disk`, `page_fault` or `kernel`."
    )
    start_ns: cells.Ns | None = column("When the wait began; null if unknown.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column(
        "How long it lasted; null if unknown. From samples, several short waits may be one row."
    )
    open: cells.Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    evidence: cells.Word = column("`event` if recorded, `sample` if seen in samples.")
    task_wait: cells.Flag = column("Whether the thread blocks until a task is done.")
    task_id: cells.Ordinal | None = column("The task's number; null if unknown.", hidden=True)
    inside: cells.Word | None = column(
        "What the wait is part of, and so is not counted again: `lock` or `task`; usually null."
    )
    method: cells.CodeName | None = column(
        "The blocking method: the first one outside System.Threading; null if unknown."
    )
    waiting_in: cells.CodeName | None = column("The method that does the waiting for it; null if unknown.", hidden=True)
    system_call: cells.Word | None = column("The system call that it waited in; null unless the kernel recorded it.")
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class WaitKind(Row):
    """All waits of one kind, except those inside others."""

    kind: cells.Word = column("What threads waited for.")
    evidence: cells.Word = column("`event` or `sample`.")
    count: cells.Count | None = column("How many began; null for samples, which do not separate waits.")
    waited_ns: cells.DurationNs | None = column("How long all threads together waited; null if no length is known.")
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    threads: cells.Count = column("How many threads waited.")


@row
class BlockingMethod(Row):
    """A method that blocks its thread."""

    method: cells.CodeName | None = column("The method; null for stacks without names.", importance=0)
    kind: cells.Word = column("What it waits for.", importance=1)
    task_wait: cells.Flag = column("Whether it blocks until a task is done, which asynchronous code need not do.")
    evidence: cells.Word = column("`event` or `sample`.", importance=3)
    count: cells.Count | None = column(
        "How many waits began; null for samples, which do not separate waits.", importance=1
    )
    waited_ns: cells.DurationNs | None = column(
        "How long it waited, on all threads; null if no length is known.", importance=0
    )
    share: cells.Ratio | None = column(
        "Its share of all waiting in this report except `idle`; null for `idle`, or if no length is known."
    )
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    threads: cells.Count = column("How many threads waited in it.")
    waiting_in: cells.CodeName | None = column("The method that does the waiting, from one of its stacks.", hidden=True)
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row
class BlockedThread(Row):
    """A thread that waited."""

    thread_id: cells.ThreadId = column("The thread.")
    thread_name: cells.Word | None = column("Its name; null if unknown.")
    count: cells.Count | None = column("How many waits of the program began; null if some were seen only in samples.")
    waited_ns: cells.DurationNs | None = column("How long it waited; null if no length is known.")
    max_ns: cells.DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    method: cells.CodeName | None = column("The method that waited longest on it; null if unknown.")


@row
class WaitsFacts:
    """The facts of a report on waits."""

    sync_over_async: cells.Word | None = column(
        "The method that blocked on tasks longest and could await; null if none."
    )
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )


IDLE: Final = "idle"
_OVERRIDES: Final = ("Dispose", "Finalize", "Equals", "GetHashCode", "ToString", "Compare", "CompareTo")
_MEMBERS: Final = ("get_", "set_", "add_", "remove_", "op_")
_SYNCHRONOUS: Final = frozenset((*MAIN, *_OVERRIDES, "ctor", "cctor"))


def can_await(method: str | None) -> bool:
    """Whether a method of this name may be made asynchronous: constructors, properties and what implements synchronous
    members of the framework cannot, and nothing is gained in Main."""
    name = (method or "").partition("(")[0].rpartition(".")[2]
    return name not in _SYNCHRONOUS and not name.startswith(_MEMBERS)


class WaitTables:
    """The tables of one process."""

    def __init__(self, context: Context, waits: Sequence[KnownWait]) -> None:
        self._context = context
        self._all = waits
        window = context.window
        first = np.array([ALWAYS if wait.start is None else wait.start for wait in waits], dtype=np.int64)
        last = np.array([FOREVER if wait.until is None else wait.until for wait in waits], dtype=np.int64)
        self.waits = [wait for wait, inside in zip(waits, window.meets(first, last).tolist(), strict=True) if inside]
        self._counted = [wait for wait in self.waits if wait.inside is None]
        self.programs = [wait for wait in self._counted if wait.kind != IDLE]
        """Waits of the program itself."""
        self._low, self._high = window.low, window.high

    def rows(self) -> ReportTable[Wait]:
        """Each wait, in order of time."""
        rows = [
            Wait(
                thread_id=wait.thread,
                kind=wait.kind,
                start_ns=wait.start,
                end_ns=wait.end,
                duration_ns=wait.length,
                open=wait.goes_on,
                evidence=wait.evidence,
                task_wait=wait.kind == "task",
                task_id=wait.task_id,
                inside=wait.inside,
                method=wait.method,
                waiting_in=wait.waiting_in,
                system_call=wait.system_call,
                stack_id=wait.stack_id,
            )
            for wait in self._all
        ]
        return self._context.table(Wait, rows)

    def kinds(self) -> ReportTable[WaitKind]:
        """By kind and evidence."""
        rows = [
            WaitKind(
                kind=kind,
                evidence=evidence,
                **self._sums(waits),
                threads=_threads(waits),
            )
            for (kind, evidence), waits in grouped(self._counted, lambda wait: (wait.kind, wait.evidence)).items()
        ]
        return self._context.summed(WaitKind, longest_first(rows))

    def methods(self) -> ReportTable[BlockingMethod]:
        """By the blocking method, idle ones last."""
        total = self.waited(self.programs)
        rows = []
        groups = grouped(self._counted, lambda wait: (wait.method, wait.kind, wait.evidence))
        for (method, kind, evidence), waits in groups.items():
            sums = self._sums(waits)
            waited = sums["waited_ns"]
            rows.append(
                BlockingMethod(
                    method=method,
                    kind=kind,
                    task_wait=kind == "task",
                    evidence=evidence,
                    **sums,
                    share=waited / total if total and kind != IDLE and waited is not None else None,
                    threads=_threads(waits),
                    waiting_in=waits[0].waiting_in,
                    stack_id=waits[0].stack_id,
                )
            )
        rows = longest_first(rows)
        rows.sort(key=lambda row: row.kind == IDLE)
        return self._context.summed(BlockingMethod, rows)

    def threads(self) -> ReportTable[BlockedThread]:
        """By thread."""
        rows = []
        for thread, waits in grouped(self.programs, lambda wait: wait.thread).items():
            rows.append(
                BlockedThread(
                    thread_id=thread,
                    thread_name=self._context.thread_names.get(thread),
                    **self._sums(waits),
                    method=heaviest((wait.method, self._part(wait)) for wait in waits),
                )
            )
        rows = longest_first(rows)
        return self._context.table(BlockedThread, rows, [self._context.touched(row.thread_id) for row in rows])

    def sync_over_async(self) -> str | None:
        """The method that blocked on tasks longest, of those that could await."""
        blocking = (wait for wait in self.programs if wait.kind == "task" and wait.method is not None)
        return heaviest((wait.method, self._part(wait)) for wait in blocking if can_await(wait.method))

    def count(self, waits: Iterable[KnownWait]) -> int:
        """How many count in the window: those that begin in it. In a part of a trace, what has no begin began before
        it."""
        known = [wait for wait in waits if wait.start is not None or self._context.has_start]
        return sum(self._low <= wait.place < self._high for wait in known)

    def waited(self, waits: Iterable[KnownWait]) -> int:
        """How long they lasted in the window."""
        return sum(map(self._part, waits))

    def of(self, kind: str) -> list[KnownWait]:
        """Counted waits of this kind."""
        return [wait for wait in self._counted if wait.kind == kind]

    def nested(self) -> list[KnownWait]:
        """Waits inside another wait."""
        return [wait for wait in self.waits if wait.inside is not None]

    def _sums(self, waits: Sequence[KnownWait]) -> dict[str, Any]:
        # Of samples, several short waits that follow one another look like one, and one may look like two.
        sampled = any(wait.evidence == "sample" for wait in waits)
        lengths = [wait.length for wait in waits if wait.length is not None and not sampled]
        return {
            "count": None if sampled else self.count(waits),
            "waited_ns": self.waited(waits) if any(wait.length is not None for wait in waits) else None,
            "max_ns": max(lengths) if lengths else None,
            "open": sum(wait.goes_on for wait in waits),
        }

    def _part(self, wait: KnownWait) -> int:
        return wait.within(self._low, self._high)


def _threads(waits: Sequence[KnownWait]) -> int:
    return len({wait.thread for wait in waits})
