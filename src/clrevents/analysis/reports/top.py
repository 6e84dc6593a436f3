"""List the methods or modules with the most time.

Adds up what `samples` names and `hot` sorts, and says what the main thread's time divides into. Threads that every
sample shows at one place have not moved for as long as tracing went on, so what holds them up may have begun before.
Before .NET 10, samples show who waits for a lock in a native call. One that every sample shows at one address of the
program's code goes round in a loop of a few instructions. What is wrong with it is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from clrevents._util.fitting import shortened
from clrevents._util.words import counted, duration_text, share_text
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric, count_of
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, column, row
from clrevents.analysis.gathering.groups import Ints, Mask, groups, sum_by
from clrevents.analysis.gathering.merged_stacks import StackFrame, is_own
from clrevents.analysis.shared.samples.calltree import BY, By, counted_columns, hot_columns, telling_names
from clrevents.analysis.shared.samples.leaf_states import MAIN, STATES, UNTOLD, WAITING
from clrevents.analysis.shared.samples.runtime_work import FRAMES
from clrevents.analysis.shared.samples.sample_collector import (
    SAMPLE_METRICS,
    SAMPLE_NEEDS,
    SAMPLES_OF_PART,
    CollectedSamples,
    SampleCollector,
    SampleFacts,
    SampleParameters,
)
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weight_fields import AMOUNTS
from clrevents.table.table import Column, deferred_column

LONG: Final = 2_000_000_000
_ALWAYS: Final = 0.9
"""The share of the time from the first of them to the last sample of all that a thread's own must cover."""
_MOST: Final = 0.6
"""The share of a method's time in one that it calls, from which on that leads further."""
_NAMED: Final = 4
"""How many parts of the main thread's time are named at most."""
_PART: Final = 0.05
"""From which share of the time on."""
_MUCH: Final = 0.2
"""From which share of a part on it is said what the thread did in it."""
_WIDTH: Final = 50
"""Of a name among several; classes and methods are never cut."""
_MAINS: Final = tuple(f".{name}" for name in MAIN)
_FEW: Final = 3
"""So many methods are a loop that waits, and what it looks at."""
_APART: Final = 2048
"""Bytes between the code of a method and that of the same method, compiled again."""
_ONE: Final = 0.95
"""The share of a thread's samples, from the first at one address to the last, that are there."""


@row
class StandingThread(Row):
    """One thread."""

    thread_id: cells.ThreadId = column("The thread.", importance=0)
    state: cells.Word = column(
        "`lock`, or `native` for a native call of the method, which before .NET 10 may be a lock, too; `running` in a "
        "loop so small that it has one address."
    )
    stood_ns: cells.DurationNs = column("How long it stood there, at least.", importance=0)
    method: cells.CodeName | None = column("The innermost method of the program; null if there is none.", importance=0)


def standing(samples: Samples, unseen_ns: int = 0) -> list[StandingThread]:
    """Their rows. Only samples of the profiler, over two seconds and more, can tell; of each thread, so much time may
    be missing."""
    if samples.external is None or samples.state is None or not len(samples):
        return []
    ends = samples.time_ns + samples.weight.astype(np.int64)
    whole = int(ends.max()) - int(samples.time_ns.min())
    if whole < LONG - unseen_ns:
        return []
    rows = []
    last = int(ends.max())
    for thread, every in groups(samples.thread, np.flatnonzero(~samples.unsampled)):
        # From some time on until the end.
        stack = int(samples.stack[every[-1]])
        moved = np.flatnonzero(~samples.external[every] | (samples.stack[every] != stack))
        places = every[int(moved[-1]) + 1 if len(moved) else 0 :]
        stood = int(samples.weight[places].sum())
        thread_id = samples.threads[thread].thread_id
        if thread_id is None or stood < LONG - unseen_ns or not len(places):
            continue
        since = int(samples.time_ns[places[0]])
        if stood < _ALWAYS * (last - since) - unseen_ns:
            continue
        frames = [
            samples.frames[f] for f in samples.values[samples.offsets[stack] : samples.offsets[stack + 1]].tolist()
        ]
        state = STATES[int(samples.state[places[0]])]
        named = [frame for frame in frames if frame.reason is None]
        if state == "lock" or (state == "native" and named and is_own(named[0])):
            own = next((frame.name for frame in named if is_own(frame)), None)
            rows.append(StandingThread(thread_id=thread_id, state=state, stood_ns=stood, method=own))
    return rows


def circling(samples: Samples) -> list[StandingThread]:
    """Threads that ran at one address of a method of the program, in nearly every sample of a second and more: work has
    several. A loop that calls something may be seen only where the call returns to; what it calls must be as small, and
    each time that code is compiled again there is one address more."""
    if samples.external is None or samples.address is None:
        return []
    rows = []
    for thread, every in groups(samples.thread, np.flatnonzero(~samples.unsampled & ~samples.external)):
        leaves = samples.values[samples.offsets[samples.stack[every]]]
        at = _one_address(leaves, samples.address[every].astype(np.int64))
        methods, sizes = np.unique(leaves[at], return_counts=True)
        few = methods[np.argsort(-sizes)][:_FEW]
        method = next((samples.frames[frame] for frame in few.tolist() if is_own(samples.frames[frame])), None)
        thread_id = samples.threads[thread].thread_id
        if method is None or thread_id is None:
            continue
        names = np.array([frame.name == method.name for frame in samples.frames], dtype=np.bool_)
        own = np.flatnonzero(at & names[leaves])
        since, until = int(own[0]), int(own[-1]) + 1
        in_loop = (at & np.isin(leaves, few))[since:until]
        stood = int(samples.weight[every[since:until][in_loop]].sum())
        if stood < LONG // 2 or in_loop.sum() < _ONE * (until - since):
            continue
        rows.append(StandingThread(thread_id=thread_id, state="running", stood_ns=stood, method=method.name))
    return rows


def _one_address(leaves: Ints, addresses: Ints) -> Mask:
    """Which samples are at the most frequent address of what they ran: of a method, as it was compiled one time."""
    order = np.lexsort((addresses, leaves))
    leaf, address = leaves[order], addresses[order]
    code = np.cumsum(np.append(True, (leaf[1:] != leaf[:-1]) | (address[1:] - address[:-1] > _APART)))
    place = np.cumsum(np.append(True, (np.diff(code) > 0) | (np.diff(address) > 0))) - 1
    times = np.bincount(place)[place]
    most = np.zeros(int(code[-1]) + 1, dtype=np.int64)
    np.maximum.at(most, code, times)
    at = np.zeros(len(leaves), dtype=np.bool_)
    at[order] = times == most[code]
    return at


@row
class Branch(Row):
    """One of the methods among which the main thread's time divides."""

    below: cells.CodeName = column(
        "The method that calls them: most of the time is in it, as in all that lead from Main to it."
    )
    name: cells.CodeName = column("The method that it calls.", importance=0)
    inclusive_ns: cells.DurationNs = column("Its time, including everything it called.", importance=0)
    share: cells.Ratio = column("The same as a share of the thread's sampled time.")
    jit_ns: cells.DurationNs = column("How much of it the thread spent compiling methods, where that was recorded.")
    waiting_ns: cells.DurationNs = column("How much of it the thread spent waiting, in a method known to wait.")


def branches(samples: Samples) -> list[Branch]:
    """Their rows, longest first, down to a hundredth; none where most of the time leads to one place."""
    mains = [
        place for place, frame in enumerate(samples.frames) if "Main" in frame.raw and frame.method.endswith(_MAINS)
    ]
    if samples.state is None or not mains or not len(samples):
        return []
    # The frame of each stack that is looked at next, from Main inwards: stacks begin with the innermost one.
    places = np.flatnonzero(np.isin(samples.values, mains))
    main = np.full(len(samples.offsets) - 1, -1, dtype=np.int64)
    np.maximum.at(main, np.searchsorted(samples.offsets, places, side="right") - 1, places)
    at, first = main[samples.stack], samples.offsets[samples.stack]
    weights = samples.weight.astype(np.int64)
    by_thread = sum_by(samples.thread, np.where(at >= 0, weights, 0), len(samples.threads))
    of_thread = samples.thread == by_thread.argmax()
    whole = max(int(weights[of_thread].sum()), 1)
    active = np.flatnonzero(of_thread & (at >= 0))
    at = at[active]
    below, total = "", int(weights[active].sum())
    while True:
        frames, which = np.unique(samples.values[at], return_inverse=True)
        took = sum_by(which, weights[active], len(frames))
        if took.sum() <= (1 - _MOST) * total or total <= (1 - _MOST) * whole:
            # Most of it is the method's own, or nowhere below.
            return []
        if took.max() <= _MOST * total:
            break
        below, total = samples.frames[int(frames[took.argmax()])].name, int(took.max())
        inner = (which == took.argmax()) & (at > first[active])
        active, at = active[inner], at[inner] - 1
    compiling = np.array([frame.raw == FRAMES["jit"] for frame in samples.frames], dtype=np.bool_)
    jit = compiling[samples.values[first[active]]]
    waits = np.isin(samples.state[active], [STATES.index(state) for state in WAITING])
    jits, waiting = (sum_by(which, np.where(mask, weights[active], 0), len(frames)) for mask in (jit, waits))
    return [
        Branch(
            below=below,
            name=samples.frames[int(frames[place])].name,
            inclusive_ns=int(took[place]),
            share=took[place] / whole,
            jit_ns=int(jits[place]),
            waiting_ns=int(waiting[place]),
        )
        for place in np.argsort(-took, kind="stable").tolist()
        if took[place] >= whole / 100
    ]


def divided_text(branches: Sequence[Branch]) -> str | None:
    """What the main thread's time divides into, in words; None if it does not."""
    named: list[str] = []
    for branch in branches[:_NAMED]:
        if branch.share >= _PART:
            did = {"compiling": branch.jit_ns, "waiting": branch.waiting_ns}
            most = max(did, key=lambda what: did[what])
            share = did[most] / max(branch.inclusive_ns, 1)
            how = f" ({share_text(share)} {most})" if share >= _MUCH else ""
            named.append(f"{share_text(branch.share)} in {_brief(branch.name)}{how}")
    return f"of its sampled time, below {_brief(branches[0].below)}: {', '.join(named)}" if named else None


def _brief(method: str) -> str:
    return shortened(method.partition("(")[0], _WIDTH, "name")


@row
class HotRow(Row):
    """One method or module."""

    name: cells.CodeName = column(
        "The method as in C#, or the module; if it has no name, the reason in brackets.", importance=0
    )
    module: cells.CodeName | None = column("The module; null if unknown.")
    kind: cells.Word | None = column(
        "Whose code it is: `kernel`, `native` or `managed`; null unless the trace maps files."
    )
    reason: cells.Word | None = column("Why a method has no name; null if it has one.", hidden=True)
    samples: cells.Count = column("How many samples or events were taken in it.", importance=3)
    inclusive_samples: cells.Count = column("How many were taken in it or in methods it called.", hidden=True)
    processor_ns: cells.DurationNs | None = column(
        "Its own processor time, estimated from what the operating system counted; null unless it did.", importance=0
    )
    processor_low_ns: cells.DurationNs | None = column("The least that it may be.", hidden=True)
    processor_high_ns: cells.DurationNs | None = column("The most that it may be.", hidden=True)
    inclusive_processor_ns: cells.DurationNs | None = column(
        "Its processor time, including everything it called; null unless it was counted.", importance=1
    )
    inclusive_processor_low_ns: cells.DurationNs | None = column("The least that this may be.", hidden=True)
    inclusive_processor_high_ns: cells.DurationNs | None = column("The most that this may be.", hidden=True)
    ready_ns: cells.DurationNs | None = column(
        "How long threads in it wanted a processor and had none, estimated; null unless it was counted.", importance=1
    )
    exclusive_ns: cells.DurationNs | None = column("Its own time; null if the weights are not times.")
    inclusive_ns: cells.DurationNs | None = column(
        "Its time, including everything it called; null if the weights are not times.", importance=1
    )
    exclusive_bytes: cells.Bytes | None = column("Its own bytes; null if the weights are not sizes.")
    inclusive_bytes: cells.Bytes | None = column(
        "Its bytes, including everything it called; null if the weights are not sizes."
    )
    exclusive: cells.Number | None = column("Its own weight; null unless the weight is a field without a unit.")
    inclusive: cells.Number | None = column(
        "Its weight, including everything it called; null unless the weight is a field without a unit."
    )
    share: cells.Ratio | None = column(
        "The exclusive weight as a share of the total; null if that is 0.",
        share_of=("exclusive_ns", "exclusive_bytes", "exclusive"),
        importance=0,
    )
    running_ns: cells.DurationNs | None = column(
        "How much of the exclusive time threads spent running managed code; null except for the sample profiler.",
        importance=1,
    )
    waiting_ns: cells.DurationNs | None = column(
        "How much of it they spent waiting, in a method known to wait; null except for the sample profiler, or where "
        "its name was not recorded.",
        importance=1,
    )
    external_ns: cells.DurationNs | None = column(
        "How much of the exclusive time was in native code or waiting; null except for the sample profiler.",
        hidden=True,
    )
    external_share: cells.Ratio | None = column(
        "The same as a share of the exclusive time; null if that is 0 or unknown.", hidden=True
    )
    own: cells.Flag | None = column("Whether it is the program's; null for modules.", hidden=True)
    own_caller: cells.CodeName | None = column(
        "The program's method nearest above it, of several the one with most weight; null if there is none.",
        hidden=True,
    )
    own_callee: cells.CodeName | None = column(
        "The program's method nearest below it, which it calls, as a timer does; null if there is none.", hidden=True
    )


@row
class TopFacts(SampleFacts):
    """The facts of a top report."""

    time: cells.CodeText | None = column(
        "How long was recorded, and what shares are of; null for other events than samples by time."
    )
    main: cells.CodeText | None = column(
        "What the main thread's time divides into, and whether it compiled or waited there; null without `branches`."
    )


@parameters
class TopParameters(SampleParameters):
    """What is added up, from which event, and how names are written."""

    by: str = parameter(
        "method", "Add up by `method` or by `module`; or methods by a weight: `alloc`, or a field of `event`."
    )


@answer(name="top", summary="time main used event total samples processors advice")
class TopReport(Answer[TopFacts]):
    """The methods or modules with the most time, or with the most of another event's weight.

    *Exclusive* is a method's own weight, *inclusive* its weight with everything it calls; a method that calls itself
    counts once. A sample of the sample profiler is weighted by the time until the next sample of its thread, cut at the
    edges of the window. The profiler records where each managed thread is, whether it runs or waits, so this is
    wall-clock time, not processor time. `running_ns` and `waiting_ns` separate the two by the innermost methods; the
    rest was in native code, which computes or waits.

    Where the operating system's counts were recorded, `processor_ns`, `inclusive_processor_ns` and `ready_ns` divide
    what it counted of each thread among the samples of the same moments. Sums over a thread are exact, the division is
    an estimate with an interval, and the methods with the most processor time are first.

    Other events have a weight of 1, or the value of one of their fields. The weight `alloc` is the number of allocated
    bytes, from the best source in the trace (see the report `alloc`).

    Times, sizes and numbers have columns of their own, and those that do not apply are null; for events with a weight
    of 1, `samples` and `inclusive_samples` are the weights.
    """

    methods: ReportTable[HotRow] = table("The methods or modules, most exclusive weight first.")
    standing: ReportTable[StandingThread] = table(
        "Threads that every sample shows at one place of the program: for the last two seconds or more waiting for a "
        "lock or in a native call, or for any second or more running."
    )
    branches: ReportTable[Branch] = table(
        "What the main thread's time divides into, where samples show Main and not most of it is in one place."
    )


class TopCollector(SampleCollector[TopReport]):
    """Adds up samples by method or by module."""

    tables = ("methods",)
    texts = False

    def __init__(self, asked: TopParameters) -> None:
        asked = _with_weight(asked)
        super().__init__(asked)
        self._by: By = "module" if asked.by == "module" else "method"
        self._raw = asked.raw

    def answer(self, collected: CollectedSamples) -> TopReport:
        """Make the answer of all samples."""
        divides = branches(collected.samples)
        waiting = standing(collected.samples)
        still = collected.context.summed(StandingThread, [*waiting, *circling(collected.samples)])
        number: int | Metric | None = len(waiting) if collected.samples.state is not None else None
        lost = sum(hole.count for hole in collected.context.troubles.few)
        if number == 0 and lost and collected.sample_ns and not standing(collected.samples, lost * collected.sample_ns):
            # Without a sample or two, more threads seem to stand, unless there are too few then to tell.
            number = Metric(0, "count", evidence="sample", low=0, high=0, unseen=0)
        if not collected.samples.running_told:
            number = Metric(None, "count", evidence="sample", reason=UNTOLD)
        report: TopReport = collected.context.answer(
            TopReport,
            facts=TopFacts(**collected.facts, time=_time(collected), main=divided_text(divides)),
            metrics={**collected.metrics, "standing": number},
            notes=collected.notes,
            cannot=collected.cannot,
            sample_ns=collected.sample_ns,
            methods=self._table(collected),
            standing=still,
            branches=collected.context.summed(Branch, divides),
        )
        return report

    def _table(self, collected: CollectedSamples) -> ReportTable[HotRow]:
        samples = collected.samples
        total = samples.total
        hot, columns = hot_columns(samples, self._by)
        exclusive, every = columns["exclusive"], np.arange(len(hot))
        values: dict[str, Cells] = {
            "name": self._spelled(hot) if self._raw else deferred_column(len(hot), telling_names(hot), every),
            "module": [frame.module or None for frame in hot],
            "share": [_share(own, total) for own in exclusive],
            **{name: columns[name] for name in ("kind", "reason", "samples", "own", "inclusive_samples")},
            **{f"{name}_ns": columns[name] for name in ("running", "waiting", "external")},
            "external_share": [_share(part, own) for part, own in zip(columns["external"], exclusive, strict=True)],
            "own_caller": self._spelled(columns["own_caller"]),
            "own_callee": self._spelled(columns["own_callee"]),
            **counted_columns(columns["counted"]),
            **collected.columns("exclusive", exclusive),
            **collected.columns("inclusive", columns["inclusive"]),
        }
        return collected.context.table(HotRow, {**values, "lossy": [collected.lossy] * len(hot)})

    def _spelled(self, frames: Sequence[StackFrame | None]) -> Column:
        """Their names as a column."""
        # The collector, which knows the trace, is not kept.
        known, raw = [frame for frame in frames if frame is not None], self._raw
        there = np.array([frame is not None for frame in frames], dtype=np.bool_)
        places = np.where(there, np.cumsum(there) - 1, -1)
        return deferred_column(len(known), lambda i: known[i].raw if raw else known[i].name, places)


def _time(collected: CollectedSamples) -> str | None:
    """How long was recorded, and of what shares are, as sums over threads exceed that."""
    samples, context = collected.samples, collected.context
    if not samples.timed or collected.unknown is not None:
        return None
    length = max(min(context.window.high, context.duration_ns) - max(context.window.low, 0), 0)
    what = "processor time of " if samples.on_processor else ""
    whole = f"{duration_text(samples.total)} of {what}{counted(len(samples.threads), 'thread')}"
    return f"{duration_text(length)} recorded; shares are of {whole}"


def _with_weight(asked: TopParameters) -> TopParameters:
    """The same with the weight separate. ValueError for a weight without an event to weigh."""
    if asked.by in BY:
        return asked
    if asked.weight is not None or (asked.event is None and asked.by not in AMOUNTS):
        others = [] if asked.weight is not None else [*map(repr, AMOUNTS), "a field of event"]
        known = [*map(repr, BY), *others]
        raise ValueError(f"by must be {', '.join(known[:-1])} or {known[-1]}, not {asked.by!r}")
    changed: TopParameters = attrs.evolve(asked, by=BY[0], weight=asked.by)  # type: ignore[misc]
    return changed


def _share(part: int | float | None, whole: int | float) -> float | None:
    return None if part is None or not whole else part / whole


REPORT: Final = ReportDeclaration(
    TopReport,
    "Where is the time spent?",
    "time",
    SAMPLE_NEEDS,
    (
        *SAMPLE_METRICS,
        count_of(
            "standing",
            "Threads that did not move at all, in a lock or in a native call of the program.",
            "less",
            "sum",
            evidence="sample",
            windows=False,
            lossy="unknown",
        ),
    ),
    TopCollector,
    TopParameters,
    shown=(
        *("processor_ns", "inclusive_processor_ns", "ready_ns"),
        *("share", "running_ns", "waiting_ns", "exclusive_ns", "inclusive_ns", "exclusive_bytes", "inclusive_bytes"),
        *("exclusive", "inclusive", "samples", "kind", "name"),
    ),
    examples=(
        ("Where is the time spent?", "clrevents top app.nettrace"),
        ("What do threads wait for?", "clrevents top app.nettrace --waiting"),
        ("Which of my methods cost most?", "clrevents top app.nettrace --my-code"),
        ("Which methods allocate, in bytes?", "clrevents top app.nettrace --by alloc"),
        ("And which modules?", "clrevents top app.nettrace --by module --weight alloc"),
        ("What got slower since another trace?", "clrevents top after.nettrace --against before.nettrace"),
    ),
    in_part=SAMPLES_OF_PART,
    against=True,
    not_compared="its metrics are about the sampler; methods are compared as rows",
)
