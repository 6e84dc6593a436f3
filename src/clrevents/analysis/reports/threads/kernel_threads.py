"""What the kernel recorded of threads → lives in pieces: on a processor, wanting one, waiting for something named.

Between two times off its processor a thread ran. Its life is from its first to its last event; what lies in it before
the first switch or after the last one is unknown. Why the kernel saw a futex, the runtime's events may say; they take
nothing from times on a processor. Where the two say different things of the same time, notes say how much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.vocabulary.answer_values import Note, TimeWindow
from clrevents.analysis.gathering.groups import Ints, groups
from clrevents.analysis.reports.threads.lives import UNKNOWN, Piece, ThreadLife, meeting, proven, without
from clrevents.analysis.reports.threads.thread_events import Blocked, Doing
from clrevents.analysis.shared.events.gc_suspensions import StopFeed, ThreadStops
from clrevents.analysis.shared.samples.leaf_states import STATES, WAITING, BlockingMethods, StackStates, ThreadState
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
