"""What the kernel recorded of threads → lives in pieces: on a processor, wanting one, waiting for something named.

Between two times off its processor a thread ran. Its life is from its first to its last event; what lies in it before
the first switch or after the last one is unknown, and so is what was before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.vocabulary.answer_values import Note, TimeWindow
from clrevents.analysis.gathering.groups import Ints, groups
from clrevents.analysis.reports.threads.lives import ThreadLife
from clrevents.analysis.reports.threads.runtime_reasons import RuntimeReasons
from clrevents.analysis.reports.threads.tiling import UNKNOWN, Doing, Piece
from clrevents.analysis.shared.events.gc_suspensions import StopFeed
from clrevents.analysis.shared.samples.leaf_states import STATES, BlockingMethods, StackStates, ThreadState
from clrevents.analysis.shared.samples.off_processor import Switches, SwitchFeed, WhyAway, why_away
from clrevents.analysis.shared.weights.weighing import CPU, CPU_COLUMNS, NO_THREAD, SampleColumns, cpu_field, weigh_cpu

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
        found = SampleColumns.of(table, cpu_field(table), -1)
        return found.take(np.flatnonzero((found.thread >= 0) & (found.thread != NO_THREAD)))


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
    away, samples = feed.switches.found(context), feed.samples(context)
    names = BlockingMethods(context, away.stack_id, away.start, away.thread, False)
    states = names.states()
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
            pieces.append(Piece(low, high, reasons.told(thread, low, high, doing, managed)))
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
