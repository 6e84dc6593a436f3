"""The rows of the threads report: threads, roles, states, and the intervals that they are added up from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import nulled
from clrevents.analysis.reports.threads.lives import ThreadLife
from clrevents.analysis.shared.samples.leaf_states import BY_KERNEL, STATES, WAITING, ThreadState
from clrevents.table.table import text_column


def _time(what: str, importance: int = 2) -> Any:
    return column(f"How long it {what} in the window.", windowed=True, importance=importance)


def _sampled_time(what: str, importance: int = 2) -> Any:
    """A time that samples of old runtimes do not show."""
    return column(f"How long it {what} in the window; null before .NET 5.", windowed=True, importance=importance)


def _by_kernel(what: str, hidden: bool = False) -> Any:
    """A time that only the kernel tells."""
    text = f"How long it {what} in the window; null unless the kernel recorded or counted it."
    return column(text, windowed=True, hidden=hidden)


def _working(what: str) -> Any:
    """A time that events of the runtime's own work tell."""
    return column(f"How long it {what} in the window; null if that was not recorded.", windowed=True)


def _part(what: str) -> Any:
    """A part of `waiting_ns`."""
    return column(f"How long it {what} in the window.", windowed=True, hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class ThreadInterval(SpanRow):
    """A time in which a thread did one thing. The intervals of a thread follow one another without gaps."""

    thread_id: cells.ThreadId = column("The thread.")
    start_ns: cells.Ns = column("When it began.")
    end_ns: cells.Ns = column("When it ended.")
    duration_ns: cells.DurationNs = column("Its length.")
    state: cells.Word = column("What the thread did: one of the states in docs/threads.md.")
    evidence: cells.Word = column(
        "`event`: both ends were recorded; `sample`: seen by samples, so the ends are accurate to within two "
        "sampling periods; `counted`: the operating system counted how long, about then; `inferred`: concluded, not "
        "recorded by any event or sample."
    )
    open: cells.Flag = column("A wait still going on when tracing stopped, so its length is a lower bound.")
    reason: cells.CodeName | None = column(
        "The method that it waited in, or the event that tells it; where the kernel recorded it and no method tells "
        "more, what for, such as `futex`, `disk` or `preempted`; null if nothing tells."
    )
    stack_id: cells.StackId = column("The stack of its first sample or event.", hidden=True)
    lock_id: cells.Handle | None = column("The lock that it waited for; null except for locks.")
    object_address: cells.Address | None = column(
        "The address of the object that it waited for; null if unknown.", hidden=True
    )
    owner_thread_id: cells.ThreadId | None = column(
        "The thread that held the lock when the wait began; null if unknown."
    )
    task_id: cells.Ordinal | None = column("The task that it waited for; null if unknown.", hidden=True)
    system_call: cells.Word | None = column(
        "The system call that it was off its processor in; null for none, or if unknown."
    )


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class ThreadRow(SpanRow):
    """One thread."""

    thread_id: cells.ThreadId = column("The operating system's id, which may be reused by later threads.", importance=0)
    role: cells.Word = column(
        "What it is for: `main`, `finalizer`, `tiering`, `pool_worker`, `pool_io`, `pool_gate`, `pool_wait`, `timer`, "
        "`sampler`, `gc`, `native` (the kernel saw no managed code on it), `other`, or `ended` for all threads "
        "together that counts do not show because they ended: what only the process's own clock has.",
        importance=0,
    )
    life_ns: cells.DurationNs = _time("existed, as far as is known,")
    processor_ns: cells.DurationNs | None = column(
        "How long it had a processor in the window, as the operating system counted it; null unless it did.",
        windowed=True,
        importance=0,
    )
    running_ns: cells.DurationNs | None = _sampled_time(
        "ran managed code; where the kernel recorded it, had a processor", importance=1
    )
    ready_ns: cells.DurationNs | None = _by_kernel("wanted a processor and had none")
    native_ns: cells.DurationNs | None = _sampled_time("was out of managed code, computing or waiting,")
    jit_ns: cells.DurationNs | None = _working("compiled methods")
    type_load_ns: cells.DurationNs | None = _working("loaded types")
    waiting_ns: cells.DurationNs | None = _time(
        "waited: for a lock, a handle, time, a thread, a task, or work", importance=1
    )
    main_wait: cells.Word | None = column(
        "The waiting state that took longest; null if there was none.", windowed=True, importance=1
    )
    unknown_ns: cells.DurationNs | None = _time("did something unknown", importance=3)
    gc_suspended_ns: cells.DurationNs | None = _sampled_time("would have run but for a garbage collection")
    lock_ns: cells.DurationNs | None = _part("waited for a lock")
    wait_ns: cells.DurationNs | None = _part(
        "waited for a handle or a monitor; by the kernel, for anything that has no state here"
    )
    sleep_ns: cells.DurationNs | None = _part("slept")
    io_ns: cells.DurationNs | None = _by_kernel("waited for input, output, a disk or a page", True)
    join_ns: cells.DurationNs | None = _part("waited for a thread to end")
    task_wait_ns: cells.DurationNs | None = _part("waited for a task")
    pool_idle_ns: cells.DurationNs | None = _part("had no work, as a worker of the thread pool,")
    cpu_samples_ns: cells.DurationNs | None = column(
        "What its CPU samples weigh in the window; null without any.", windowed=True
    )
    unsampled_ns: cells.DurationNs | None = column(
        "How much of its time on a processor was not sampled although a sample was due: what is beyond one period "
        "where more than 2.5 passed without any. Either the processor itself stood still, as a virtual one does while "
        "its host runs others, or samples were lost. Null without CPU samples.",
        windowed=True,
        importance=3,
    )
    managed_index: cells.Ordinal | None = column(
        "The number that the program knows it by, `ManagedThreadId`; null if unknown.", hidden=True
    )
    name: cells.PrivateText | None = column("Its name; null if unknown.")
    thread_name: cells.PrivateText | None = column(
        "The first 15 bytes of its name in the operating system, as counts have it; null without them."
    )
    start_ns: cells.Ns = column("When it was created, or first seen.", hidden=True)
    end_ns: cells.Ns = column(
        "When it ended, or was last seen, plus the time covered by its last sample; never after tracing stopped.",
        hidden=True,
    )
    start_evidence: cells.Word = column("`event` if its creation is in the trace, otherwise `inferred`.", hidden=True)
    end_evidence: cells.Word = column("`event` if its end is in the trace, otherwise `inferred`.", hidden=True)


@row
class RoleRow(Row):
    """All threads of one role."""

    role: cells.Word = column("What the threads are for.")
    threads: cells.Count = column("How many existed in the window.", windowed=True)
    life_ns: cells.DurationNs = _time("existed, as far as is known,")
    running_ns: cells.DurationNs | None = _sampled_time(
        "ran managed code; where the kernel recorded it, had a processor"
    )
    ready_ns: cells.DurationNs | None = _by_kernel("wanted a processor and had none")
    native_ns: cells.DurationNs | None = _sampled_time("was out of managed code, computing or waiting,")
    jit_ns: cells.DurationNs | None = _working("compiled methods")
    type_load_ns: cells.DurationNs | None = _working("loaded types")
    waiting_ns: cells.DurationNs | None = _time("waited: for a lock, a handle, time, a thread, a task, or work")
    main_wait: cells.Word | None = column("The waiting state that took longest; null if there was none.", windowed=True)
    unknown_ns: cells.DurationNs | None = _time("did something unknown")
    gc_suspended_ns: cells.DurationNs | None = _sampled_time("would have run but for a garbage collection")
    lock_ns: cells.DurationNs | None = _part("waited for a lock")
    wait_ns: cells.DurationNs | None = _part(
        "waited for a handle or a monitor; by the kernel, for anything that has no state here"
    )
    sleep_ns: cells.DurationNs | None = _part("slept")
    io_ns: cells.DurationNs | None = _by_kernel("waited for input, output, a disk or a page", True)
    join_ns: cells.DurationNs | None = _part("waited for a thread to end")
    task_wait_ns: cells.DurationNs | None = _part("waited for a task")
    pool_idle_ns: cells.DurationNs | None = _part("had no work, as a worker of the thread pool,")


@row
class StateRow(Row):
    """All time in one state."""

    state: cells.Word = column("The state.")
    total_ns: cells.DurationNs = column("How long all threads together were in it in the window.", windowed=True)
    share: cells.Ratio | None = column("The same as a share of all threads' lifetimes; null if there are none.")
    threads: cells.Count = column("How many threads were in it in the window.", windowed=True)
    intervals: cells.Count = column("How many intervals reach into the window.", windowed=True)


@row
class ThreadFacts:
    """The facts of a threads report."""

    samples: cells.Count | None = column("How many samples the whole trace has.")
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )
    sampler_held_ns: cells.DurationNs | None = column(
        "The total duration of the sample profiler's stops in the whole trace; null if unknown."
    )
    sampler_share: cells.Ratio | None = column(
        "The same as a share of the trace: the most of the time for which it held a thread; null if unknown."
    )
    sampler_running_ns: cells.DurationNs | None = column(
        "How long the sample profiler's own thread had a processor in the whole trace; null unless the kernel recorded "
        "it."
    )
    sampler_stopped_ns: cells.DurationNs | None = column(
        "How long threads together were off their processors in the whole trace because the sample profiler had "
        "stopped them; null unless the kernel recorded it."
    )
    used: cells.Word | None = column(
        "What the process used of its processors, of it for compilation and for samples, and how long threads waited "
        "for a processor; null unless it was counted."
    )
    unmatched: cells.Count | None = column("Starts and ends of waits whose counterpart is missing.")


_CHART: Final = ChartDeclaration(
    "states",
    "What each thread did over time; if there are very many intervals, the longest.",
    (Panel("intervals", "start_ns", "thread_id", "span", by="state", until="end_ns"),),
)


@answer(
    name="threads",
    summary="used threads running_total native_total lock_total wait_total sleep_total unknown_total "
    "sampling_period_ns",
    charts=(_CHART,),
)
class ThreadsReport(Answer[ThreadFacts]):
    """What each thread did at every moment, and how that is known.

    A thread's life is cut into intervals without gaps or overlaps. The events of contentions, wait handles and tasks
    give both ends of a wait; between them, a sample shows what its thread does until halfway to the next one. If a
    thread has no sample for more than three periods, its state is `unknown`. Each moment counts once: a handle wait
    inside a contention is part of it.

    `running` is managed code, on a processor or ready for one. `native` is a call out of managed code in which no known
    method waits: it may compute or wait. `gc_suspended` only replaces `running`, because a waiting thread is not
    stopped; the thread that collects counts as stopped, too. `jit` and `type_load` are from event to event, whatever
    samples saw in between: what a thread compiles or loads while it compiles counts as `jit`.

    Where the kernel recorded context switches, these tell when a thread had a processor (`running`), wanted one
    (`ready`) and waited; events of the runtime in the same trace tell why: which lock, which task, a collection
    (`gc_suspended`) or the sample profiler, whose stops are waits with that reason.

    Where the recorder read what the operating system counts, threads had a processor (`running` in managed code,
    `native` outside of it) and were `ready` for as long as it counted, and waited for the rest; where that lies between
    two readings is an estimate, with the evidence `counted`. The rows' `processor_ns` add up to what the process used.

    Threads are those with samples or with an event that this report reads, or with counts. The end of a thread is
    rarely in a trace: it is assumed to be where it was last seen. Times of several threads are added up, so they may
    exceed the length of the trace.
    """

    threads: ReportTable[ThreadRow] = table("Each thread with its time in each state, in order of the threads' starts.")
    roles: ReportTable[RoleRow] = table("The same for all threads of a role.")
    states: ReportTable[StateRow] = table("How long all threads were in each state.")
    intervals: ReportTable[ThreadInterval] = table("What each thread did from when to when.", bulk=True)


TIMES: Final = tuple(f"{state}_ns" for state in STATES)
"""The columns of times, in the order of states."""

_WHAT: Final = ("stack_id", "lock_id", "object_address", "owner_thread_id", "task_id")


def interval_columns(lives: Sequence[ThreadLife]) -> dict[str, Cells]:
    """All intervals, thread by thread."""
    pieces = [(life.thread_id, piece) for life in lives for piece in life.pieces]
    # Many pieces share what the thread does in them.
    doings = {id(piece.doing): piece.doing for _, piece in pieces}
    numbers = {identity: number for number, identity in enumerate(doings)}
    of = np.array([numbers[id(piece.doing)] for _, piece in pieces], dtype=np.int64)
    columns: dict[str, Cells] = {
        "thread_id": [thread for thread, _ in pieces],
        "start_ns": [piece.start for _, piece in pieces],
        "end_ns": [piece.end for _, piece in pieces],
        "duration_ns": [piece.end - piece.start for _, piece in pieces],
    }
    for name in ("state", "evidence", "reason", "system_call"):
        columns[name] = text_column([getattr(doing, name) for doing in doings.values()], of)
    columns["open"] = [piece.doing.open and piece.end == life.end for life in lives for piece in life.pieces]
    for name in _WHAT:
        values = [getattr(doing, name) for doing in doings.values()]
        columns[name] = [values[number] for number in of.tolist()]
    return columns


def thread_columns(
    lives: Sequence[ThreadLife],
    roles: Sequence[str],
    listed: Mapping[int, tuple[int, int] | None],
    names: Mapping[int, str],
    window: Any,
) -> dict[str, Any]:
    """All threads; `window` cuts their times."""
    count = len(lives)
    times = np.zeros((len(STATES), count), dtype=np.int64)
    for n, life in enumerate(lives):
        for piece in life.pieces:
            inside = min(piece.end, window.high) - max(piece.start, window.low)
            if inside > 0:
                times[STATES.index(piece.doing.state), n] += inside
    index: list[int | None] = []
    for life in lives:
        known = listed.get(life.thread_id)
        index.append(life.creation.managed_index if life.creation else (known[0] if known else None))
    columns: dict[str, Any] = {
        "thread_id": [life.thread_id for life in lives],
        "managed_index": index,
        "role": list(roles),
        "name": [names.get(life.thread_id) for life in lives],
        "start_ns": [life.start for life in lives],
        "end_ns": [life.end for life in lives],
        "start_evidence": ["inferred" if life.creation is None else "event" for life in lives],
        "end_evidence": [life.end_evidence for life in lives],
        "life_ns": times.sum(axis=0),
        **_waits(times),
    }
    return {**columns, **{name: times[n] for n, name in enumerate(TIMES)}}


_WAITS: Final = [STATES.index(state) for state in WAITING]


def _waits(times: Any) -> dict[str, Any]:
    """From times by state: all waiting, and the waiting state that took longest."""
    part = times[_WAITS]
    total = part.sum(axis=0)
    longest = part.argmax(axis=0).tolist() if part.size else []
    named = [WAITING[place] if took else None for place, took in zip(longest, total.tolist(), strict=True)]
    return {"waiting_ns": total, "main_wait": named}


def untold_columns(
    metrics: Mapping[str, int | Metric | None], totals: Mapping[str, int], count: int
) -> dict[str, Cells]:
    """Nulls for the times of which nothing is known, by the metrics: no thread's 0 is one then."""
    known = {name: metric.value if isinstance(metric, Metric) else metric for name, metric in metrics.items()}
    untold = {state for state in STATES if known[f"{state}_total"] is None and not totals.get(state)}
    names = [f"{state}_ns" for state in untold]
    if untold & (set(WAITING) - set(BY_KERNEL)) and not any(totals.get(state) for state in WAITING):
        names.append("waiting_ns")
    return {name: [None] * count for name in names}


def unseen_columns(columns: Mapping[str, Cells]) -> dict[str, Cells]:
    """Nulls for the waits that were not seen of threads of which a part is unknown, where samples show only some."""
    known = np.asarray(columns["unknown_ns"]) == 0
    names = ["waiting_ns", *(f"{state}_ns" for state in WAITING if state not in ("lock", *BY_KERNEL))]
    return {name: nulled(values := np.asarray(columns[name]), known | (values > 0)) for name in names}


def role_table(context: Context, threads: ReportTable[ThreadRow]) -> ReportTable[RoleRow]:
    """The threads of the window by their role, longest lifetimes first."""
    roles = np.array(threads.column("role").tolist(), dtype=object)
    names = list(dict.fromkeys(roles.tolist()))
    life = {name: int(threads.numbers("life_ns")[roles == name].sum()) for name in names}
    names.sort(key=lambda name: (-life[name], name))
    columns: dict[str, Any] = {
        "role": names,
        "threads": [int((roles == name).sum()) for name in names],
        "lossy": [bool(threads.numbers("lossy")[roles == name].any()) for name in names],
    }
    times = np.zeros((len(TIMES), len(names)), dtype=np.int64)
    for n, column_name in enumerate(TIMES):
        values = threads.numbers(column_name)
        times[n] = [int(values[roles == name].sum()) for name in names]
    columns |= {"life_ns": [life[name] for name in names], **_waits(times), **dict(zip(TIMES, times, strict=True))}
    for column_name in ("waiting_ns", *TIMES):
        known = threads.column(column_name).known
        # What is known of some of them is a lower bound, unless it is nothing.
        all_told = np.array([bool(known[roles == name].all()) for name in names], dtype=np.bool_)
        columns[column_name] = nulled(columns[column_name], all_told | (columns[column_name] > 0))
    return context.table(RoleRow, columns)


def state_table(context: Context, lives: Sequence[ThreadLife]) -> ReportTable[StateRow]:
    """The intervals of the window by state, most time first; states that do not occur have no row."""
    spans: dict[ThreadState, list[tuple[int, int, int]]] = {state: [] for state in STATES}
    for life in lives:
        for piece in life.pieces:
            spans[piece.doing.state].append((piece.start, piece.end, life.thread_id))
    rows = []
    for state, of_state in spans.items():
        starts, ends = (np.array([span[edge] for span in of_state], dtype=np.int64) for edge in (0, 1))
        inside = context.window.meets(starts, ends)
        if inside.any():
            took = int(context.window.overlap(starts, ends).sum())
            threads = {span[2] for span in compress(of_state, inside.tolist())}
            rows.append((state, took, len(threads), int(inside.sum())))
    rows.sort(key=lambda row: -row[1])
    whole = sum(row[1] for row in rows)
    return context.table(
        StateRow,
        {
            "state": [row[0] for row in rows],
            "total_ns": [row[1] for row in rows],
            "share": [row[1] / whole if whole else None for row in rows],
            "threads": [row[2] for row in rows],
            "intervals": [row[3] for row in rows],
            # Each has its share of all.
            "lossy": [context.touched()] * len(rows),
        },
    )
