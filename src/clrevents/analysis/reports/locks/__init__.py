"""Show which locks threads waited for, who held them, and convoys."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.declaration import ReportDeclaration, StackParameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import (
    CODE,
    ComparedRows,
    Dated,
    Metric,
    Note,
    count_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Mask
from clrevents.analysis.reports.locks import lock_tables
from clrevents.analysis.shared.events.event_spans import (
    CONTENDED,
    CONTENTION_COLUMNS,
    CONTENTION_HEADERS,
    ENTERED,
    OWNER_COLUMNS,
    ContentionSpans,
    LockOwners,
    still_waiting,
)
from clrevents.analysis.shared.events.gc_suspensions import stops_recorded
from clrevents.analysis.shared.samples.off_processor import SWITCH, SwitchFeed
from clrevents.analysis.shared.weights.sample_runs import (
    SAMPLER_EVENTS,
    THREAD_COLUMNS,
    RunMaker,
    ThreadEnds,
    keep_samples,
)
from clrevents.schema.registry import SAMPLE

_KEPT: Final = {**CONTENTION_COLUMNS, **THREAD_COLUMNS, **OWNER_COLUMNS}
_CONTENTIONS: Final = "contentions"
_SAMPLES: Final = "what lock holders do"
_NEEDS: Final = (
    # From .NET 11 on, owners are numbers of threads, which only the creation of those explains.
    Need(_CONTENTIONS, ("ContentionStart", "ContentionStop"), 0x14000, 4, essential=True, proof=0x4000),
    Need(_SAMPLES, ("ThreadSample",), 0, 4, SAMPLE),
)
_SHOWN: Final = (_CONTENTIONS, _SAMPLES, CODE)
"""Samples show by names who waits for a lock; only contentions tell whether those of this runtime do."""
_METRICS: Final = (
    count_of("deadlocks", "Deadlocks when tracing stopped.", "less", windows=False),
    count_of("count", "Contentions for the program's locks that began.", "less", dated=Dated("contentions")),
    time_of(
        "waited_total",
        "How long all threads together waited for them.",
        "less",
        dated=Dated("contentions", amount="duration_ns", until="end_ns"),
        hides="contentions/duration_ns",
    ),
    time_of("waited_max", "The longest wait.", "less", "max", hides="contentions/duration_ns"),
    time_of("waited_median", "The median wait, by nearest rank.", "less", "none", windows=False),
    time_of("waited_p95", "The 95th percentile of the waits, by nearest rank.", "less", "none", windows=False),
    count_of("locks", "Locks of the program that threads waited for.", windows=False),
    count_of("convoys", "Convoys that lie in the window or reach into it.", "less", windows=False),
    count_of("unfinished", "Contentions whose end is not in the trace.", "less", lossy="unknown"),
    count_of("native_count", "Contentions for the runtime's own locks.", "less"),
    time_of("native_waited_total", "How long all threads together waited for those.", "less"),
    time_of(
        "sampled_total",
        "How long samples show threads waiting to enter locks.",
        "less",
        evidence="sample",
        needs=_SHOWN,
    ),
    time_of(
        "unseen_total",
        "How much of that is outside any contention.",
        "less",
        evidence="sample",
        needs=_SHOWN,
        lossy="unknown",
    ),
)


@answer(
    name="locks",
    summary="deadlock deadlocks count waited_total waited_max locks convoys",
)
class LocksReport(Answer[lock_tables.LocksFacts]):
    """Which locks threads waited for, where, for how long, and who held them meanwhile.

    A contention is one wait of one thread, from when it gave up spinning. Its duration is as measured by the runtime.
    Waits of several threads add up, so the total may exceed the elapsed time. Locks are the monitors that `lock` uses,
    and `System.Threading.Lock`; the runtime's own (native) locks are counted separately.

    The waiting method is the first one of the stack outside System.Threading. The owner is the thread that held the
    lock when the wait began; what it did then is known from a sample in between, or from equal ones before and after.
    The table `holders` adds up the samples of threads that held a lock while others waited; who that was is recorded at
    each start and each end of a wait, so a lock that changes hands in between goes unnoticed.

    A convoy is a period in which at least three threads waited for one lock, waits cover more than half of the time,
    more than half of that with two or more threads waiting, and at least twice a thread that had waited was the next
    one seen as the owner. A convoy has far fewer contentions than the number of times the lock is taken: a thread that
    releases a lock and immediately takes it again does not wait, while others sleep through many of its turns. How
    often a lock was taken, and for how long it was held each time, is not recorded. If neither lock nor owner is
    recorded (.NET Core 3.1), threads that wait again at the same place count instead, and the evidence is `inferred`.

    A deadlock is a cycle of threads still waiting when tracing stopped, each for a lock whose last known owner is the
    next one. Waits without an end lasted at least until then: sums, shares and sort order include them up to that
    point, rows say how many are `open`, and metrics are lower bounds.

    Percentiles are nearest ranks over the contentions that began in the window and have an end. In a window, a
    contention counts where it began, with the part of its time inside the window.

    A contention is lossy if events of its thread were lost meanwhile; a convoy, if any were; the sums of a thread, if
    events of that thread were lost in the window; other sums, if any were.
    """

    locks: ReportTable[lock_tables.ContendedLock] = table("Each lock, longest wait first; native ones last.")
    deadlocks: ReportTable[lock_tables.DeadlockedThread] = table("The threads in deadlocks, and whom each waited for.")
    convoys: ReportTable[lock_tables.Convoy] = table(
        "Periods in which threads waited for one lock in turn, most of the time."
    )
    methods: ReportTable[lock_tables.WaitingMethod] = table("Each method that waited for a lock of the program.")
    holders: ReportTable[lock_tables.LockHolder] = table(
        "What was done while a lock was held and others waited, from samples."
    )
    owners: ReportTable[lock_tables.LockOwner] = table("Each thread that held a lock when others began to wait.")
    threads: ReportTable[lock_tables.WaitingThread] = table("Each thread that waited for a lock of the program.")
    contentions: ReportTable[lock_tables.Contention] = table("Each contention, in order of time.", bulk=True)


class LocksCollector(Collector[LocksReport]):
    """Keeps a few columns of each contention, and runs of equal samples."""

    selectors = (*_KEPT, *SAMPLER_EVENTS, SWITCH)
    beside = frozenset((SWITCH,))
    headers = CONTENTION_HEADERS
    stacks = True

    def __init__(self, asked: StackParameters) -> None:
        self._asked = asked
        self._kept = Kept()
        self._runs = RunMaker()
        self._switches = SwitchFeed()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        keep_samples(self._runs, chunk.events)
        self._switches.take(chunk)
        self._kept.take(narrowed(chunk, _KEPT))

    def finish(self, context: Context) -> LocksReport:
        """Give the answer."""
        events = self._kept.all(_KEPT, context.nothing)
        runs = self._runs.runs()
        contentions = ContentionSpans.of(
            events[CONTENDED], events[ENTERED], context, ThreadEnds(events, runs), LockOwners.of(events, context.info)
        )
        tables = lock_tables.LockTables(context, contentions, runs, self._switches.finish(context), self._asked)
        convoys = tables.convoys()
        deadlocks = tables.deadlocks()
        known = _CONTENTIONS not in context.unknown
        managed, native = tables.inside & ~contentions.native, tables.inside & contentions.native
        median, p95 = (tables.percentile(np.flatnonzero(managed), percent) for percent in (50, 95))
        entering = tables.entering()
        unlocked = known and bool(managed.any()) and not bool(contentions.lock[managed].any())

        def sum_of(name: str, which: Mask, value: int) -> Metric:
            # Of a wait that goes on, and of one whose end is lost, nobody knows how long it was.
            return context.metric(name, value, least=bool((which & ~contentions.spans.ended).any()))

        numbers: dict[str, int | Metric | None] = {
            "deadlocks": len(set(deadlocks.column("deadlock").tolist())),
            "count": int((tables.begun & ~contentions.native).sum()),
            "waited_total": sum_of("waited_total", managed, int(tables.waited[managed].sum())),
            "waited_max": sum_of("waited_max", managed, tables.longest(np.flatnonzero(managed)) or 0),
            "waited_median": median,
            "waited_p95": p95,
            "locks": len(set(contentions.lock[managed & (contentions.lock != 0)].tolist())),
            # One is told by the ends of its waits.
            "convoys": len(convoys) if not managed.any() or contentions.duration_known[managed].any() else None,
            "unfinished": int((tables.begun & ~contentions.native & ~contentions.spans.ended).sum()),
            "native_count": int((tables.begun & contentions.native).sum()),
            "native_waited_total": sum_of("native_waited_total", native, int(tables.waited[native].sum())),
        }
        metrics: dict[str, int | Metric | None] = {name: value if known else None for name, value in numbers.items()}
        metrics.update(_sampled(context, entering, len(runs) > 0, known))
        if unlocked:
            for name in ("deadlocks", "locks"):
                metrics[name] = context.metric(name, None, reason="the events do not name locks")
        if known and median is None:
            for name in ("waited_median", "waited_p95"):
                metrics[name] = context.metric(name, None, reason="no contention began and ended")
        has_id = contentions.lock[~contentions.native] != 0
        return context.answer(
            LocksReport,
            facts=lock_tables.LocksFacts(
                deadlock=_circle(deadlocks),
                locks_told=bool(has_id.all()) if len(has_id) else None,
                sampling_period_ns=runs.period_ns or None,
            ),
            metrics=metrics,
            notes=[*_deadlock_notes(deadlocks), *_notes(tables, convoys)],
            occurred=("sampled_total",) if tables.entered else (),
            deadlocks=deadlocks,
            locks=tables.locks,
            convoys=convoys,
            methods=tables.methods,
            holders=tables.holders,
            owners=tables.owners,
            threads=tables.threads,
            contentions=tables.contentions,
        )


def _sampled(
    context: Context, entering: tuple[int, int] | None, sampled: bool, known: bool
) -> dict[str, int | Metric | None]:
    """What samples show about waiting for locks."""
    if entering is None:
        reason = "this runtime's samples do not show it" if sampled else "the trace has no samples"
        names = ("sampled_total", "unseen_total")
        return {name: context.metric(name, None, reason=reason) for name in names}
    short = not stops_recorded(context)
    metrics = {
        name: context.metric(name, took, least=short and took > 0)
        for name, took in zip(("sampled_total", "unseen_total"), entering, strict=True)
    }
    return {**metrics, **({} if known else {"unseen_total": None})}


def _circle(deadlocks: ReportTable[lock_tables.DeadlockedThread]) -> str | None:
    """The first deadlock, in one sentence."""
    rows = [row for row in deadlocks if row.deadlock == 1]
    waits = [
        f"thread {row.thread_id} in {row.method or 'unknown code'} waits for lock {row.lock_id:#x} of thread "
        f"{row.owner_thread_id}"
        for row in rows
    ]
    return ", ".join(waits) or None


def _deadlock_notes(deadlocks: ReportTable[lock_tables.DeadlockedThread]) -> list[Note]:
    circle = _circle(deadlocks)
    if circle is None:
        return []
    count, longest = len(set(deadlocks.column("deadlock").tolist())), max(row.waited_ns for row in deadlocks)
    text = (
        f"{counted(count, 'deadlock')}: {circle}; they waited for up to {duration_text(longest)} when tracing stopped"
    )
    numbers = {"deadlocks": count, "threads": len(deadlocks), "longest_ns": longest}
    return [Note("deadlock", "error", text, ("deadlocks",), numbers, "take the locks in the same order everywhere")]


def _notes(tables: lock_tables.LockTables, convoys: ReportTable[lock_tables.Convoy]) -> list[Note]:
    contentions, notes = tables.contended, []
    inside = tables.inside & ~contentions.native
    if len(convoys):
        count = sum(convoys.column("count").tolist())
        worst = next(iter(convoys))
        lock = "a lock" if worst.lock_id is None else f"lock {worst.lock_id:#x}"
        text = (
            f"{counted(len(convoys), 'convoy')}: {worst.threads} threads waited in turn for {lock} in "
            f"{worst.method or 'unknown code'}, for {duration_text(worst.end_ns - worst.start_ns)}; there are fewer "
            "contentions than turns, because a thread that immediately takes the lock again does not wait"
        )
        notes.append(Note("convoy", "warning", text, ("count",), {"convoys": len(convoys), "contentions": count}))
    nameless = int((inside & (contentions.lock == 0) & contentions.spans.begun).sum())
    if nameless:
        text = f"{counted(nameless, 'contention does', 'contentions do')} not name the lock and its owner"
        notes.append(Note("no-lock-ids", "info", text, ("lock_id", "owner_thread_id"), {"contentions": nameless}))
    waiting = np.flatnonzero(inside & contentions.spans.open)
    if len(waiting):
        notes.append(still_waiting(len(waiting), int(contentions.duration_ns[waiting].max())))
    lost = int((inside & (~contentions.spans.begun | (~contentions.spans.ended & ~contentions.spans.unended))).sum())
    if lost:
        text = f"{counted(lost, 'contention has', 'contentions have')} only a start or only an end in the trace"
        notes.append(Note("unmatched", "info", text, ("contentions",), {"contentions": lost}))
    return notes


_OF_WHOLE_WAITS: Final = (
    "count",
    "waited_total",
    "waited_max",
    "waited_median",
    "waited_p95",
    "unfinished",
    "native_waited_total",
    "sampled_total",
    "unseen_total",
)
"""What a part of a trace may count or measure wrong, where the start or the end of a wait is missing."""

REPORT: Final = ReportDeclaration(
    answer=LocksReport,
    question="Which locks did threads wait for, and who held them?",
    topic="waiting",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=LocksCollector,
    in_part={"*": "at least", **dict.fromkeys(_OF_WHOLE_WAITS, "unknown")},
    parameters=StackParameters,
    urgent="deadlocks",
    shown=("lock_id", "native", "count", "waited_ns", "max_ns", "open", "method", "holder"),
    examples=(
        ("Which locks did threads wait for longest?", "clrevents locks app.nettrace"),
        ("Who held them, and what were they doing?", "clrevents locks app.nettrace --table holders"),
        ("Which code waited?", "clrevents locks app.nettrace --table methods"),
        ("Is there a deadlock?", "clrevents locks app.nettrace --table deadlocks"),
        ("Is there a convoy?", "clrevents locks app.nettrace --table convoys"),
        ("When was each wait?", "clrevents locks app.nettrace --table contentions --start 2s --end 3s"),
        ("Fail if threads waited for more than a second:", "clrevents locks app.nettrace --assert 'waited_total<1s'"),
    ),
    compared=(ComparedRows("locks", "contentions", ("method",), "duration_ns", "ns"),),
)
