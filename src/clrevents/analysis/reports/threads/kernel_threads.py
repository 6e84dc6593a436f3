"""What the operating system tells of threads: lives in pieces by the kernel's switches, or lives with what it counted.

Between two times off its processor a thread ran; what lies before the first switch or after the last one is unknown.
Why the kernel saw a futex, the runtime's events may say; they take nothing from times on a processor.

Where it only counted, a thread has a processor or is ready in each window for as long as that says, and waits for the
rest; samples and events tell what it did then, but not where in a window it had the processor. That time is taken from
managed code first, then native code, then the rest; within these, in their order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import inf
from typing import Any, Final, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.vocabulary.answer_values import (
    NOT_COUNTED,
    Merge,
    Metric,
    MetricDeclaration,
    Note,
    TimeWindow,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import Ints, grouped, groups
from clrevents.analysis.reports.threads.lives import UNKNOWN, Piece, ThreadLife, meeting, proven, without
from clrevents.analysis.reports.threads.thread_events import Blocked, Doing
from clrevents.analysis.shared.events.gc_suspensions import StopFeed, ThreadStops
from clrevents.analysis.shared.processor.counted_events import COMPILERS, Counts, counted_window, portion
from clrevents.analysis.shared.samples.leaf_states import (
    STATES,
    WAITING,
    WORKING,
    BlockingMethods,
    StackStates,
    ThreadState,
)
from clrevents.analysis.shared.samples.off_processor import Switches, SwitchFeed, WhyAway, why_away
from clrevents.analysis.shared.weights.sample_runs import MANAGED, SampleRuns, stretches
from clrevents.analysis.shared.weights.weighing import CPU, CPU_COLUMNS, NO_THREAD, SampleColumns, cpu_field, weigh_cpu

SAMPLER: Final = "sample profiler"
"""The reason of threads that it stopped."""
_RANKS: Final = 3
"""Locks, handles and tasks; the rank after them is work."""


@frozen
class RuntimeReasons:
    """`waits` are what events prove of each thread, without overlap; `managed`, threads that samples were taken of.
    Times of events are right within `uncertainty_ns` on the kernel's clock.
    """

    waits: Mapping[int, Sequence[Piece]] = attrs.field(factory=dict)
    stops: ThreadStops = attrs.field(factory=ThreadStops)
    managed: Set[int] = frozenset()
    uncertainty_ns: int = 0

    def doing_of(self, thread: int, start: int, end: int, doing: Doing, managed: bool) -> Doing:
        """What a thread, that runs managed code or not, does that is off the processor so long, if the kernel knows no
        more than `doing`."""
        if doing.state not in WAITING or doing.system_call != "futex":
            return doing
        wait = self._waits(thread, start, end)
        if wait is not None:
            kept = {name: getattr(doing, name) for name in ("stack_id", "system_call", "alike")}
            return attrs.evolve(wait.doing, **kept, evidence="event")
        if doing.reason != "futex" or not managed:
            return doing
        stop = self.stops.of(thread, start, end)
        if stop == "collection":
            return attrs.evolve(doing, state="gc_suspended", reason=None)
        return doing if stop is None else attrs.evolve(doing, reason=SAMPLER)

    def _waits(self, thread: int, start: int, end: int) -> Piece | None:
        """The wait that covers most of a stretch, if at least half of it."""
        best, most = None, (end - start) // 2 - 2 * self.uncertainty_ns
        for piece in meeting(self.waits.get(thread, ()), start, end):
            common = min(piece.end, end) - max(piece.start, start)
            if common > max(most, 0):
                best, most = piece, common
        return best


def waits_of(
    blocked: Iterable[Blocked], states: Iterable[tuple[ThreadState, str | None]], stopped_ns: int
) -> dict[int, list[Piece]]:
    """What events prove of each thread; a wait without an end lasts until tracing stopped."""
    waits: dict[int, list[list[Piece]]] = {}
    for one, (state, event) in zip(blocked, states, strict=True):
        low, high = one.start or 0, stopped_ns if one.end is None else one.end
        if one.rank >= _RANKS or high <= low:
            continue
        doing = attrs.evolve(one.doing, state=state, reason=event, open=one.end is None)
        waits.setdefault(one.thread, [[] for _ in range(_RANKS)])[one.rank].append(Piece(low, high, doing))
    return {thread: proven(kinds) for thread, kinds in waits.items()}


_STATES: Final = ("states", "intervals")


def disagreements(
    lives: Sequence[ThreadLife], reasons: RuntimeReasons, runs: SampleRuns, stopped_ns: int
) -> list[Note]:
    """The notes on the threads of a process; samples count until tracing stopped."""
    return [*_spinning(lives, reasons), *_sampled(lives, runs, stopped_ns)]


def _spinning(lives: Sequence[ThreadLife], reasons: RuntimeReasons) -> list[Note]:
    waited = ran = 0
    for life in lives:
        waits = reasons.waits.get(life.thread_id, ())
        off = [piece for piece in life.pieces if piece.doing.state not in ("running", "unknown")]
        for wait in waits:
            waited += wait.end - wait.start
            ran += sum(left.end - left.start for left in without(wait, off))
    if not ran:
        return []
    text = (
        f"events say that threads waited for {duration_text(waited)}, during {duration_text(ran)} of which they had a "
        "processor: they spun first, or were on their way; that time is `running`"
    )
    return [Note("waits-on-processor", "info", text, _STATES, {"waited_ns": waited, "running_ns": ran})]


def _sampled(lives: Sequence[ThreadLife], runs: SampleRuns, stopped_ns: int) -> list[Note]:
    threads = {life.thread_id: life for life in lives}
    lows, highs = stretches(runs, stopped_ns)
    sampled = off = by_sampler = 0
    kept: dict[int, tuple[list[Piece], list[Piece]]] = {}
    columns = (runs.thread.tolist(), runs.type.tolist(), lows.tolist(), highs.tolist())
    for thread, type, low, high in zip(*columns, strict=True):
        life = threads.get(thread)
        if type != MANAGED or life is None or high <= low:
            continue
        if thread not in kept:
            known = [piece for piece in life.pieces if piece.doing.state != "unknown"]
            kept[thread] = (
                [piece for piece in known if piece.doing.state == "running"],
                [piece for piece in known if piece.doing.reason == SAMPLER],
            )
        ran, stopped = kept[thread]
        whole = Piece(max(low, life.start), min(high, life.end), life.pieces[0].doing)
        if whole.end <= whole.start:
            continue
        sampled += whole.end - whole.start
        off += sum(left.end - left.start for left in without(whole, ran))
        by_sampler += (whole.end - whole.start) - sum(left.end - left.start for left in without(whole, stopped))
    if not off:
        return []
    text = (
        f"the sample profiler saw threads run managed code for {duration_text(sampled)}, during {duration_text(off)} "
        f"of which they had no processor ({duration_text(by_sampler)} because it had stopped them)"
    )
    numbers = {"sampled_ns": sampled, "off_processor_ns": off, "stopped_ns": by_sampler}
    return [Note("sampled-off-processor", "info", text, _STATES, numbers)]


KERNEL_TELLS: Final[tuple[ThreadState, ...]] = ("running", "ready", "wait", "sleep", "io", "unknown")
"""The states that it tells of whatever is named; others only where managed methods have names."""
_DUE: Final = 5
"""After so many halves of a period without one, a sample was due."""
_RUNS: Final = Doing("running", "event")


class KernelFeed:
    """Keeps the switches and the CPU samples of a process, and when all of its threads were stopped."""

    def __init__(self) -> None:
        self.switches = SwitchFeed()
        self.stops = StopFeed()
        self._samples = Kept()

    def take(self, chunk: ReportChunk) -> None:
        """The next events; others are left alone."""
        self.switches.take(chunk)
        self.stops.take(chunk)
        self._samples.take(narrowed(chunk, {CPU: CPU_COLUMNS}))

    def samples(self, context: Context) -> SampleColumns:
        """The CPU samples of known threads, in order of time."""
        table = self._samples.all((CPU,), context.nothing)[CPU].table
        columns = SampleColumns.of(table, cpu_field(table), -1)
        return columns.take(np.flatnonzero((columns.thread >= 0) & (columns.thread != NO_THREAD)))


@frozen(eq=False)
class KernelThreads:
    """Threads in order of their beginning, with what each is for.

    What its CPU samples weigh in the window, and how long it ran there without one that was due.
    """

    lives: Sequence[ThreadLife]
    roles: Sequence[str]
    cpu_samples_ns: Sequence[int | None]
    unsampled_ns: Sequence[int | None]
    notes: Sequence[Note]


def kernel_threads(context: Context, feed: KernelFeed, reasons: RuntimeReasons) -> KernelThreads:
    """All threads that were switched or sampled; `reasons` are why they waited, as far as the runtime tells."""
    away, samples = feed.switches.finish(context), feed.samples(context)
    names = BlockingMethods(context, away.stack_id, away.start, away.thread, False)
    states = names.states
    whys = [why_away(names.frames(stack)) for stack in range(len(names.managed))]
    doings = [_doing(why, states, stack) for stack, why in enumerate(whys)]
    moments = {
        thread: (int(samples.time[rows[0]]), int(samples.time[rows[-1]])) for thread, rows in groups(samples.thread)
    }
    switched = dict(away.by_thread())
    lives = [
        _life(thread, away, switched.get(thread, _NO_ROWS), moments.get(thread), names, doings, whys, reasons)
        for thread in sorted({*switched, *moments})
    ]
    lives.sort(key=lambda life: (life.start, life.thread_id))
    weighed = weigh_cpu(samples, context.info, context.window)
    weights = {thread: int(weighed.weight[rows].sum()) for thread, rows in groups(weighed.rows.thread)}
    timed = weighed.unit == "nanoseconds" and len(samples) > 0
    sampled = {thread: samples.time[rows] for thread, rows in groups(samples.thread)}
    period = context.info.sampling_interval_ns or 0

    def unsampled(thread: int) -> int:
        rows = switched.get(thread, _NO_ROWS)
        turns = away.end[rows][:-1], away.start[rows][1:]
        return _unsampled(*turns, sampled.get(thread, _NO_ROWS), period, context.window)

    return KernelThreads(
        lives,
        [_role(context, life.thread_id, names, states, switched.get(life.thread_id, _NO_ROWS)) for life in lives],
        [weights.get(life.thread_id, 0) if timed else None for life in lives],
        [unsampled(life.thread_id) if timed else None for life in lives],
        away.notes("intervals", "threads"),
    )


_NO_ROWS: Final[Ints] = np.zeros(0, dtype=np.int64)


def _unsampled(begins: Ints, ends: Ints, samples: Ints, period: int, window: TimeWindow) -> int:
    """How long a thread had a processor, in its turns, when a sample was due and none came."""
    times = np.concatenate((begins, samples, ends))
    runs = np.repeat((1, 0, -1), (len(begins), len(samples), len(ends)))
    order = np.lexsort((runs, times))
    times, on = times[order], np.cumsum(runs[order]) > 0
    since, until = times[:-1], times[1:]
    late = on[:-1] & ((until - since) * 2 > _DUE * period)
    return int(window.overlap(since[late] + period, until[late]).sum())


def _doing(why: WhyAway, states: StackStates, stack: int) -> Doing:
    """What a stack says: for what the kernel knows a futex or a wait of another kind, methods may tell more."""
    leaf = STATES[states.leaf_state[stack]] if states.leaf_state[stack] >= 0 else None
    state = why.state_with(leaf)
    reason = states.reasons[states.reason[stack]] if state == leaf else why.word.replace("_", " ")
    return Doing(state, "event", reason, system_call=why.system_call, alike=stack)


def _life(
    thread: int,
    away: Switches,
    rows: Ints,
    sampled: tuple[int, int] | None,
    names: BlockingMethods,
    doings: Sequence[Doing],
    whys: Sequence[WhyAway],
    reasons: RuntimeReasons,
) -> ThreadLife:
    of = names.of
    # A signal stops managed code, and its stack does not reach below the handler.
    managed = thread in reasons.managed or bool(names.managed[of[rows]].any())
    pieces: list[Piece] = []
    first, last = sampled or (int(away.start[rows[0]]), 0)
    start = at = min(first, int(away.start[rows[0]])) if len(rows) else first
    ended = len(rows) > 0 and whys[of[rows[-1]]].word == "exit"
    columns = (away.start[rows].tolist(), away.end[rows].tolist(), away.stack_id[rows].tolist(), of[rows].tolist())
    for place, (low, high, stack_id, stack) in enumerate(zip(*columns, strict=True)):
        if low > at:
            pieces.append(Piece(at, low, _RUNS if place else UNKNOWN))
        if ended and place == len(rows) - 1:
            return ThreadLife(thread, start, low, "event", None, pieces)
        if high > low:
            doing = attrs.evolve(doings[stack], stack_id=stack_id)
            pieces.append(Piece(low, high, reasons.doing_of(thread, low, high, doing, managed)))
        at = high
    if last > at:
        pieces.append(Piece(at, last, UNKNOWN))
    return ThreadLife(thread, start, max(at, last), "inferred", None, pieces)


def _role(context: Context, thread: int, names: BlockingMethods, states: StackStates, rows: Ints) -> str:
    """The main thread has its process's id; others are told by their outermost methods, where these have names."""
    if thread == context.process_id:
        return "main"
    stacks = np.unique(names.of[rows])
    known = states.role[stacks]
    known = known[known >= 0]
    if len(known):
        return states.roles[int(known[0])]
    return "other" if not len(stacks) or names.managed[stacks].any() else "native"


ENDED: Final = "ended"
"""The role of the row for threads that ended between two readings, or before the first one saw them."""
_UNREAD: Final = "the recorder could not read it"
_SUMS: Final = {
    "limit_periods": "ProcessLimits.Periods",
    "limited_periods": "ProcessLimits.ThrottledPeriods",
    "limited_total": "ProcessLimits.ThrottledNs",
    "machine_total": "MachineProcessorTime.BusyNs",
}


def _declared(name: str, unit: str, text: str, less: bool = False, merge: Merge = "sum") -> MetricDeclaration:
    return MetricDeclaration(name, text, "less" if less else "neither", merge, evidence="counted", unit=unit)


COUNTED_METRICS: Final = (
    _declared("processor_total", "ns", "How long all threads together had a processor, as it was counted.", True),
    _declared("available_total", "ns", "How long all processors together that the process may use could be used."),
    _declared("machine_total", "ns", "How long all processors of the machine were busy, with whatever."),
    _declared("limit", "processors", "The limit of processors of the process's control group.", merge="none"),
    _declared("limit_periods", "count", "Periods of that limit in which the program wanted a processor."),
    _declared("limited_periods", "count", "Those of them in which the limit stopped it.", True),
    _declared("limited_total", "ns", "How long the limit stopped it; some kernels add up processors.", True),
    _declared("resident_peak", "bytes", "The most memory that the process was seen to have.", True, "max"),
    _declared("memory_limit", "bytes", "The limit of memory of its control group.", merge="none"),
    _declared("limited_ready", "ns", "The part of `ready_total` in seconds in which the limit stopped it.", True),
)
_BUSY: Final[tuple[ThreadState, ...]] = ("running", "native", *WORKING)


def counted_role(name: str) -> str:
    """What a thread is for that only counts know."""
    return "tiering" if name.startswith(COMPILERS) else "native"


def counted_columns(lives: Sequence[ThreadLife], counts: Counts | None, window: TimeWindow) -> dict[str, Cells]:
    """The columns of threads that are counted; null where nothing was."""
    if counts is None:
        return {"processor_ns": [None] * len(lives), "thread_name": [None] * len(lives)}
    known = {*counts.windows.thread.tolist(), *counts.names}
    used = [
        sum(
            max(min(piece.end, window.high) - max(piece.start, window.low), 0)
            for piece in life.pieces
            if piece.doing.state in _BUSY and piece.doing.evidence == "counted"
        )
        for life in lives
    ]
    return {
        "processor_ns": [one if life.thread_id in known else None for one, life in zip(used, lives, strict=True)],
        "thread_name": [counts.names.get(life.thread_id) for life in lives],
    }


def ended_ns(counts: Counts, columns: Mapping[str, Any], window: TimeWindow) -> int:
    """What the process used by its own clock, and none of its threads."""
    return max(counts.used(window) - sum(one or 0 for one in columns["processor_ns"]), 0)


def with_ended(columns: Mapping[str, Any], used: int, counts: Counts) -> dict[str, Any]:
    """The columns with a row for the threads that ended, if they used anything."""
    if not used:
        return dict(columns)
    row = dict.fromkeys(columns)
    row |= {name: 0 for name in columns if name.endswith("_ns") and list(columns[name][:1]) != [None]}
    row |= {"thread_id": 0, "role": ENDED, "processor_ns": used}
    row |= {"start_ns": counts.until, "end_ns": counts.until, "start_evidence": "counted", "end_evidence": "counted"}
    return {name: [*column, row[name]] for name, column in columns.items()}


def counted_metrics(context: Context, counts: Counts | None, used: int, ready: int) -> dict[str, Metric]:
    """The metrics that are counted."""
    if counts is None:
        return {one.name: context.metric(one.name, None, reason=NOT_COUNTED) for one in COUNTED_METRICS}
    window = counted_window(context)
    metrics = {"processor_total": context.metric("processor_total", used)}
    if counts.windows.ready_known:
        metrics["ready_total"] = context.metric("ready_total", ready, evidence="counted")
    rows = counts.windows
    known: dict[str, int | float | None] = {
        **{name: counts.total(amount, window) for name, amount in _SUMS.items()},
        "available_total": counts.processors and counts.processors * counts.read_ns(window),
        "limit": counts.limit,
        "resident_peak": counts.peak("ProcessFacts.ResidentBytes", window),
        "memory_limit": counts.peak("ProcessLimits.MemoryLimitBytes", window),
        "limited_ready": int(portion(rows.start, rows.end, counts.limited_ready(), window).sum()),
    }
    for name, value in known.items():
        metrics[name] = context.metric(name, value, reason=None if value is not None else _UNREAD)
    return metrics


_FIRST: Final[Mapping[str, int]] = {
    "running": 0,
    **dict.fromkeys(WORKING, 0),
    "native": 1,
    "unknown": 2,
    "gc_suspended": 3,
}
"""What time on a processor is taken from first; from everything else last."""
_WAITS: Final[Mapping[ThreadState, ThreadState]] = dict.fromkeys((*_BUSY, "unknown"), "wait")
"""What a thread does that neither has a processor nor wants one, where something else seemed so."""
_Window: TypeAlias = tuple[int, int, int, int]
"""From when to when a thread had a processor for how long, and was ready."""


def counted_lives(lives: Sequence[ThreadLife], counts: Counts) -> list[ThreadLife]:
    """These lives, and those of threads that only counts know; all reach as far as their counts do."""
    rows = counts.windows
    columns = (rows.start, rows.end, rows.processor, rows.ready)
    windows: dict[int, list[_Window]] = {
        thread: list(zip(*(column[of].tolist() for column in columns), strict=True)) for thread, of in rows.by_thread()
    }
    lives_of_thread = grouped(lives, lambda life: life.thread_id)
    all_lives = []
    for thread in sorted({*lives_of_thread, *windows}):
        known = lives_of_thread.get(thread, [])
        of = _listed(windows.get(thread, []), counts.begun.get(thread), counts.ended.get(thread, counts.until))
        if not of:
            all_lives += known
            continue
        known = known or [ThreadLife(thread, of[0][0], of[0][0], "inferred", None, ())]
        bounds = [-inf, *(life.start for life in known[1:]), inf]
        for life, low, high in zip(known, bounds, bounds[1:], strict=False):
            all_lives.append(_counted(life, [one for one in of if low < one[1] <= high]))
    return sorted(all_lives, key=lambda life: (life.start, life.thread_id))


def _listed(windows: list[_Window], begun: int | None, until: int) -> list[_Window]:
    """The windows from when a thread was first listed to when it was last: what is between is without counts."""
    if not windows and begun is None:
        return []
    first = windows[0][0] if windows else until
    begun = first if begun is None else min(max(begun, 0), first)
    last = windows[-1][1] if windows else first
    return [one for one in ((begun, first, 0, 0), *windows, (last, until, 0, 0)) if one in windows or one[0] < one[1]]


def _counted(life: ThreadLife, windows: Sequence[_Window]) -> ThreadLife:
    """A life that covers these windows, which follow one another."""
    if not windows:
        return life
    start, end = min(life.start, windows[0][0]), max(life.end, windows[-1][1])
    pieces = [Piece(start, life.start, UNKNOWN), *life.pieces]
    pieces.append(Piece(pieces[-1].end, end, UNKNOWN))
    begins = [piece.start for piece in pieces]
    life_pieces: list[Piece] = []
    before, after = (start, windows[0][0], -1, -1), (windows[-1][1], end, -1, -1)
    for low, high, processor, ready in (before, *windows, after):
        inside = [
            attrs.evolve(piece, start=max(piece.start, low), end=min(piece.end, high))
            for piece in pieces[max(bisect_right(begins, low) - 1, 0) : bisect_left(begins, high)]
            if max(piece.start, low) < min(piece.end, high)
        ]
        for piece in inside if processor < 0 else _shared(inside, processor, ready):
            # Equal neighbours are one.
            if life_pieces and life_pieces[-1].end == piece.start and life_pieces[-1].doing == piece.doing:
                piece = attrs.evolve(life_pieces.pop(), end=piece.end)
            life_pieces.append(piece)
    return attrs.evolve(life, start=start, end=end, pieces=life_pieces)


def _shared(inside: Sequence[Piece], processor: int, ready: int) -> Iterator[Piece]:
    """The pieces of one window with its counts: each is ready first, then has the processor, then does what it did."""
    left = processor + ready
    taken = [0] * len(inside)
    for n in sorted(range(len(inside)), key=lambda n: _FIRST.get(inside[n].doing.state, len(_FIRST))):
        taken[n] = min(left, inside[n].end - inside[n].start)
        left -= taken[n]
    ready = min(ready, max(sum(taken) - processor, 0))
    for piece, took in zip(inside, taken, strict=True):
        waits = min(ready, took)
        ready -= waits
        state = piece.doing.state
        ran: ThreadState = state if state in _BUSY else "native"
        parts: tuple[tuple[int, ThreadState, bool], ...] = (
            (piece.start + waits, "ready", True),
            (piece.start + took, ran, True),
            (piece.end, _WAITS.get(state, state), state in _WAITS),
        )
        start = piece.start
        for end, doing, counted in parts:
            changed = attrs.evolve(piece.doing, state=doing, evidence="counted") if counted else piece.doing
            if end > start:
                yield Piece(start, end, changed)
            start = end
