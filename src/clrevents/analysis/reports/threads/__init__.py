"""What each thread did at every moment, and how that is known.

Keeps runs of samples and the events of waits; names of code tell at the end in which of them a thread waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Final

import attrs
import numpy as np

from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.declaration import NoParameters, ReportDeclaration
from clrevents.analysis.framework.model.needs import ONLY_MACHINE, Need, met
from clrevents.analysis.framework.vocabulary.answer_values import Dated, Metric, Note, count_of, time_of
from clrevents.analysis.gathering.groups import Gathered, Stretches
from clrevents.analysis.reports.threads.kernel_threads import (
    COUNTED_METRICS,
    KERNEL_TELLS,
    SAMPLER,
    KernelFeed,
    RuntimeReasons,
    counted_columns,
    counted_lives,
    counted_metrics,
    counted_role,
    disagreements,
    ended_ns,
    kernel_threads,
    waits_of,
    with_ended,
)
from clrevents.analysis.reports.threads.lives import (
    BETWEEN,
    UNKNOWN,
    Lives,
    NamedTrails,
    Piece,
    ThreadLife,
    ThreadTrail,
    Tiler,
    named,
    proven,
    role_of,
)
from clrevents.analysis.reports.threads.thread_events import (
    COMPILING,
    FINALIZING,
    HEADERS,
    IDLE,
    KEPT,
    LISTED,
    RETIRED,
    WORKER,
    Blocked,
    Doing,
    StopMaker,
    blocked,
    creations,
    ints,
)
from clrevents.analysis.reports.threads.thread_rows import (
    ThreadFacts,
    ThreadInterval,
    ThreadRow,
    interval_columns,
    role_table,
    state_table,
    thread_columns,
    unseen_columns,
    untold_columns,
)
from clrevents.analysis.reports.threads.thread_rows import ThreadsReport as ThreadsReport
from clrevents.analysis.shared.events.event_spans import VERSION_EVENTS, ends_recorded, versions_of, whole_of
from clrevents.analysis.shared.events.gc_suspensions import RESTARTED, SUSPENDING
from clrevents.analysis.shared.processor.counted_events import COUNT_EVENTS, SLOWER, CountFeed, Counts, counted_window
from clrevents.analysis.shared.samples.leaf_states import BY_KERNEL, STATES, UNTOLD, WORKING, ThreadState, tells_running
from clrevents.analysis.shared.samples.off_processor import SWITCH, switches_recorded
from clrevents.analysis.shared.samples.runtime_work import FRAMES, WORK_EVENTS, RuntimeWork
from clrevents.analysis.shared.samples.stack_shapes import UNTELLABLE
from clrevents.analysis.shared.weights.sample_runs import (
    SAMPLES,
    RunMaker,
    SampleRuns,
    keep_samples,
    terminations,
    unseen,
)
from clrevents.analysis.shared.weights.weighing import CPU
from clrevents.schema.registry import SAMPLE, TPL

_ANYTHING: Final = "threads"
_SAMPLED: Final = "what threads do between events"
_LOCKS: Final = "waits for locks"
_HANDLES: Final = "both ends of waits for handles and monitors"
_TASKS: Final = "both ends of waits for tasks"
_CREATED: Final = "when threads began"
_STOPPED: Final = "when threads were stopped for a garbage collection"
_TIERED: Final = Need("compilations in the background", ("TieredCompilationBackgroundJitStart",), 0x1000000000)
"""Not what this report is about; but without it, what the thread that compiles does is unknown."""
_WORK: Final = {
    "jit": Need("when methods were compiled", ("MethodJittingStarted",), 0x10, 5),
    "type_load": Need("when types were loaded", ("TypeLoadStart",), 0x8000000000),
}
_WORKERS: Final = Need("workers of the pool", (WORKER.partition("/")[2], IDLE.partition("/")[2]), 0x10000)
"""Without it, that workers are idle is known from samples alone."""
_ALL: Final = (_SAMPLED, _CREATED, _STOPPED)
"""What shows that there is a thread: many do nothing that any other event tells."""
_BY_EVENTS: Final[dict[str, ThreadState]] = {_LOCKS: "lock", _TASKS: "task_wait", _STOPPED: "gc_suspended"}
"""What events tell of times that the kernel recorded."""
_WAITS: Final[frozenset[ThreadState]] = frozenset(("wait", "sleep", "join", "task_wait", "pool_idle"))
"""What samples tell by the names of methods."""
_MUCH: Final = 0.05
_SHOWS_LOCKS: Final = 10
"""From this .NET on, samples show waits for locks."""
UNNAMED: Final = "methods have no names, by which samples tell what a thread does out of managed code"
"""Why the number is unknown."""


class ThreadsCollector(Collector[ThreadsReport]):
    """Keeps runs of equal samples, and each event of a wait."""

    selectors = (SAMPLES, SUSPENDING, RESTARTED, *KEPT, *VERSION_EVENTS, SWITCH, CPU, *COUNT_EVENTS, *WORK_EVENTS)
    headers = HEADERS
    stacks = True

    def __init__(self, asked: NoParameters) -> None:
        self._runs = RunMaker()
        self._stops = StopMaker()
        self._kept = Kept()
        self._versions: set[int] = set()
        self._kernel = KernelFeed()
        self._counts = CountFeed()
        self._work = RuntimeWork()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._kernel.take(chunk)
        self._counts.take(chunk)
        keep_samples(self._runs, chunk.events)
        for name in WORK_EVENTS:
            if name in chunk.events:
                self._work.take(name, chunk.events[name].table)
        self._versions |= versions_of(chunk.events)
        self._stops.take(chunk.events.get(SUSPENDING), chunk.events.get(RESTARTED))
        kept = narrowed(chunk, KEPT).events
        known = {name: events.only(np.flatnonzero(events.column("thread_id").known)) for name, events in kept.items()}
        self._kept.take(ReportChunk(known))

    def finish(self, context: Context) -> ThreadsReport:
        """Give the answer."""
        events = self._kept.all(KEPT, context.nothing)
        runs = self._runs.runs()
        waits, lost = blocked(events, ends_recorded(context), context.info)
        running_told = tells_running(context.info, self._versions, runs.managed, runs.samples)
        names = named(context, runs, waits, running_told)
        trails = self._trails(events, runs, waits, names, running_told)
        if switches_recorded(context):
            reasons = RuntimeReasons(
                waits_of(waits, names.waits, context.known_ns if waits else 0),
                self._kernel.stops.finish(context),
                frozenset(runs.thread.tolist()),
                context.uncertainty_ns,
            )
            return self._by_kernel(context, reasons, trails, runs)
        for thread, work in _worked(self._work).items():
            if thread in trails:
                trails[thread].work = work
        stopped = self._stops.spans
        tiler = Tiler(
            runs.period_ns,
            Stretches(stopped if running_told else []),
            Stretches([*stopped, *runs.sampling.late()]),
            BETWEEN if running_told else UNKNOWN,
        )
        lives = Lives(tiler, context.known_ns if trails else 0, terminations(events), _unseen(runs))
        every = [life for thread, trail in trails.items() for life in lives.of(thread, trail)]
        every.sort(key=lambda life: (life.start, life.thread_id))
        counts = self._counts.finish()
        if counts is not None:
            every = counted_lives(every, counts)
        # Programs stop themselves in the same way, so that without a sample nobody is the sampler.
        sampling = self._stops.sampling if runs.samples else set()
        none = ThreadTrail()
        # The main thread of a program that was compiled ahead of time, which lists no threads: its id is the process's
        # on Linux, and no thread's elsewhere.
        stops, main = self._stops, context.info.process_id if context.info.native_aot else None
        roles = [role_of(trails.get(life.thread_id, none), life, sampling, stops.collecting, main) for life in every]
        if counts is not None:
            names_of = counts.names
            roles = [
                counted_role(names_of.get(life.thread_id, ""))
                if role == "other" and life.thread_id not in trails
                else role
                for life, role in zip(every, roles, strict=True)
            ]
        return self._answer(context, every, roles, trails, runs, lost, running_told, counts)

    def _by_kernel(
        self, context: Context, reasons: RuntimeReasons, trails: Mapping[int, ThreadTrail], runs: SampleRuns
    ) -> ThreadsReport:
        """The answer where the kernel recorded when threads had a processor: samples of the profiler tell less."""
        kernel = kernel_threads(context, self._kernel, reasons)
        lives = [_created(life, trails.get(life.thread_id)) for life in kernel.lives]
        roles = [
            self._role(trails[life.thread_id], life, role) if life.thread_id in trails else role
            for life, role in zip(lives, kernel.roles, strict=True)
        ]
        listed = {thread: trail.listed for thread, trail in trails.items()}
        seen_states = {piece.doing.state for life in lives for piece in life.pieces}
        # Why a thread was off the processor is known by the kernel's methods: where no switch has a reason, they have
        # no names, and nothing is known of any reason.
        always = {"running", "unknown"}
        reasoned = set(KERNEL_TELLS) if seen_states & (set(KERNEL_TELLS) - always) else always
        reasoned |= {state for need, state in _BY_EVENTS.items() if need not in context.unknown}
        untold = [state for state in STATES if state not in seen_states and state not in reasoned]
        states = state_table(context, lives)
        totals = dict(zip(states.column("state").tolist(), states.column("total_ns").tolist(), strict=True))
        metrics: dict[str, int | Metric | None] = {
            f"{state}_total": None
            if state in untold
            else context.metric(f"{state}_total", totals.get(state, 0), evidence="event")
            for state in STATES
        }
        columns = thread_columns(lives, roles, listed, context.thread_names, context.window)
        columns |= untold_columns(metrics, totals, len(lives))
        columns |= {"cpu_samples_ns": kernel.cpu_samples_ns, "unsampled_ns": kernel.unsampled_ns}
        columns |= counted_columns(lives, None, context.window)
        metrics |= counted_metrics(context, None, 0, 0)
        threads = context.table(ThreadRow, columns)
        return context.answer(
            ThreadsReport,
            facts=_facts_by_kernel(lives, roles, runs),
            metrics={**metrics, "threads": len(threads), "sampler_total": None},
            notes=[*kernel.notes, *disagreements(lives, reasons, runs, context.stopped_ns if len(runs) else 0)],
            threads=threads,
            roles=role_table(context, threads),
            states=states,
            intervals=lambda: context.table(ThreadInterval, interval_columns(lives)),
        )

    def _role(self, trail: ThreadTrail, life: ThreadLife, by_kernel: str) -> str:
        """What a thread is for by the runtime; by the kernel, where that does not tell."""
        role = role_of(trail, life, self._stops.sampling, self._stops.collecting)
        return by_kernel if role == "other" else role

    def _answer(
        self,
        context: Context,
        lives: Sequence[ThreadLife],
        roles: Sequence[str],
        trails: Mapping[int, ThreadTrail],
        runs: SampleRuns,
        lost: int,
        running_told: bool,
        counts: Counts | None,
    ) -> ThreadsReport:
        listed = {thread: trail.listed for thread, trail in trails.items()}
        columns = thread_columns(lives, roles, listed, context.thread_names, context.window)
        states = state_table(context, lives)
        totals = dict(zip(states.column("state").tolist(), states.column("total_ns").tolist(), strict=True))
        # Where .NET 8 waits for a lock, its caller is the innermost frame: no lock seen is then no proof.
        seen = {piece.doing.state for life in lives for piece in life.pieces}
        known_states = _known_states(context) - (set() if _LOCKS not in context.unknown else {"lock"} - seen)
        # Neither is it where the methods are not named that these waits are found by.
        # Without the names of methods a wait seems to be native code; where events tell of waits, none is none.
        named = context.named
        known_states -= {
            state for state, need in _WORK.items() if state not in seen and met(need, context.kinds) == "unknown"
        }
        known_states -= (
            set() if named else {*_WAITS, "native"} - ({"wait"} - seen if _HANDLES not in context.unknown else set())
        )
        metrics: dict[str, int | Metric | None] = {
            f"{state}_total": totals.get(state, 0) if state in known_states else None for state in STATES
        }
        if not running_told:
            metrics |= _seen(context, totals, _WAITS, UNTOLD)
            metrics |= {f"{state}_total": context.metric(f"{state}_total", None, reason=UNTOLD) for state in UNTELLABLE}
        elif not named and _SAMPLED not in context.unknown:
            metrics |= _seen(context, totals, _WAITS - known_states, UNNAMED)
        more, less = self._vague(context, totals.get("unknown", 0), seen)
        for state in {*more, *less}:
            name = f"{state}_total"
            if not isinstance(took := metrics[name], int) or (state not in more and not took):
                continue
            metric = context.metric(name, took, least=state not in less)
            if state in more and (not took or (state in less and _SAMPLED in context.unknown)):
                metric = context.metric(name, None, reason="not all that it depends on was recorded")
            elif state in more and state in less:
                # Whatever else sampled threads did, and one that compiles in the background, may have been this.
                metric = attrs.evolve(metric, low=0, high=sum(totals.values()) + context.recorded.high)
            elif state in less:
                metric = attrs.evolve(metric, high=took)
            metrics[name] = metric
        for state in BY_KERNEL:
            metrics[f"{state}_total"] = context.metric(f"{state}_total", None, reason=ONLY_MACHINE)
        window = counted_window(context)
        columns |= counted_columns(lives, counts, window)
        ended = 0 if counts is None else ended_ns(counts, columns, window)
        used = ended + sum(one or 0 for one in columns["processor_ns"])
        metrics |= counted_metrics(context, counts, used, totals.get("ready", 0))
        columns |= {} if running_told else unseen_columns(columns)
        columns |= untold_columns(metrics, totals, len(lives))
        columns |= dict.fromkeys(("cpu_samples_ns", "unsampled_ns"), [None] * len(lives))
        threads = context.table(ThreadRow, columns)
        metrics["threads"] = None if _ANYTHING in context.unknown else len(threads)
        by_role = role_table(context, threads)
        if counts is not None:
            threads = context.table(ThreadRow, with_ended(columns, ended, counts))
        notes = []
        if not running_told:
            text = f"{UNTOLD}: everything but known waits is unknown, and waits seen only in samples are lower bounds"
            notes.append(Note("running-unknown", "warning", text, ("threads", "states", "intervals")))
        if lost:
            text = (
                f"{lost:,} starts or ends of waits have no counterpart: those waits are known from samples, or "
                "not at all"
            )
            notes.append(Note("unmatched", "info", text, ("intervals",), {"events": lost}))
        samplers = {life.thread_id for life, role in zip(lives, roles, strict=True) if role == "sampler"}
        stopped = self._sampler_stops(context, samplers)
        share = stopped / context.duration_ns if stopped is not None and context.duration_ns > 0 else None
        metrics["sampler_total"] = context.metric("sampler_total", stopped, most=True)
        if share is not None:
            text = (
                f"the sampler held threads for at most {100 * share:.2f} % of the time, which is included in all states"
            )
            remedy = f"with counts, {SLOWER}" if counts is not None and share > _MUCH else None
            notes.append(Note("sampler-cost", "info", text, ("states",), {"share": share}, remedy))
        return context.answer(
            ThreadsReport,
            facts=ThreadFacts(
                sampler_running_ns=None,
                sampler_stopped_ns=None,
                samples=None if _SAMPLED in context.unknown else runs.samples,
                sampling_period_ns=runs.period_ns or None,
                sampler_held_ns=stopped,
                sampler_share=share,
                used=None if counts is None else counts.use_text(window, samplers),
                unmatched=lost,
            ),
            metrics=metrics,
            notes=notes,
            threads=threads,
            roles=by_role,
            states=states,
            intervals=lambda: context.table(ThreadInterval, interval_columns(lives)),
        )

    def _vague(self, context: Context, gaps_ns: int, seen: Set[str]) -> tuple[Set[str], Set[str]]:
        """The states of which there may be more than what was recorded tells, and those of which there may be less."""
        unknown = context.unknown
        more: set[str] = set() if ends_recorded(context) and _TASKS not in unknown else {"task_wait"}
        less: set[str] = set() if _TASKS not in unknown or _HANDLES in unknown else {"wait"}
        # What threads do for collections and compilations is known only from events of these.
        if met(_TIERED, context.kinds) == "unknown":
            more |= {"running", "native", *WORKING}
        if _STOPPED in unknown:
            # Threads that were stopped seem to run, or between two samples far apart nothing is known.
            more |= {"running", "native", "lock", *(_WAITS if gaps_ns else ())}
            less |= {"running"}
        if _LOCKS in unknown:
            more |= {"lock", "gc_suspended"}
            less |= {"wait", *(("running", "native") if min(self._versions, default=0) < _SHOWS_LOCKS else ())}
        if met(_WORKERS, context.kinds) == "unknown":
            more |= {"pool_idle", "gc_suspended"}
        if not context.named or _SAMPLED in unknown:
            more |= {"lock", "wait", "gc_suspended", *WORKING}
        if not context.named:
            # Nor is it known then which threads have nothing to do.
            less |= {"wait"}
        return more, less

    def _sampler_stops(self, context: Context, samplers: Set[int]) -> int | None:
        """How long the sampler's stops lasted; None where there are none, or one may be two whose events were lost."""
        threads = [thread for thread in samplers if thread in self._stops.lengths]
        ids = np.array(threads, dtype=np.int64).astype(np.uint64)
        starts = np.zeros(len(ids), dtype=np.int64)
        if not threads or context.marks.touched(starts, starts + context.duration_ns, (ids,)).any():
            return None
        return sum(self._stops.lengths[thread] for thread in threads)

    def _trails(
        self,
        events: Mapping[str, Gathered],
        runs: SampleRuns,
        waits: Sequence[Blocked],
        names: NamedTrails,
        running_told: bool,
    ) -> dict[int, ThreadTrail]:
        trails: dict[int, ThreadTrail] = {}

        def trail(thread: int) -> ThreadTrail:
            if thread not in trails:
                trails[thread] = ThreadTrail()
            return trails[thread]

        for place, thread in enumerate(runs.thread.tolist()):
            trail(thread).seen.append(names.seen[place])
        for place, one in enumerate(waits):
            state, event = names.waits[place]
            if not running_told and state in UNTELLABLE:
                state = "unknown"
            doing = attrs.evolve(one.doing, state=state, reason=event)
            trail(one.thread).blocked.append(attrs.evolve(one, doing=doing))
        for thread, role in names.roles:
            trail(thread).roles.add(role)
        for name in (IDLE, WORKER, RETIRED, FINALIZING, COMPILING):
            rows = events[name]
            for thread, time in zip(ints(rows, "thread_id"), ints(rows, "time_ns"), strict=True):
                own = trail(thread)
                (own.idle if name == IDLE else own.moments).append(time)
                own.roles.add({FINALIZING: "finalizer", COMPILING: "tiering"}.get(name, "pool_worker"))
        for creation in creations(events, trails):
            trail(creation.thread).creations.append(creation)
        rows = events[LISTED]
        for thread, index, flags in zip(
            whole_of(ints(rows, "OSThreadID"), trails),
            ints(rows, "ManagedThreadIndex"),
            ints(rows, "Flags"),
            strict=True,
        ):
            if thread in trails:
                trails[thread].listed = (index, flags)
        for thread, (first, last) in self._stops.moments.items():
            trail(thread).moments += [first, last]
        for own in trails.values():
            own.idle.sort()
        return trails


def _created(life: ThreadLife, trail: ThreadTrail | None) -> ThreadLife:
    """The thread with its creation, if no other thread had its id."""
    known = [] if trail is None else trail.creations
    return attrs.evolve(life, creation=known[0]) if len(known) == 1 else life


def _facts_by_kernel(lives: Sequence[ThreadLife], roles: Sequence[str], runs: SampleRuns) -> ThreadFacts:
    """What the sample profiler cost, where it was on beside the recorder."""
    pieces = [(piece, role) for life, role in zip(lives, roles, strict=True) for piece in life.pieces]
    ran = sum(piece.end - piece.start for piece, role in pieces if (piece.doing.state, role) == ("running", "sampler"))
    stopped = sum(piece.end - piece.start for piece, _ in pieces if piece.doing.reason == SAMPLER)
    on = len(runs) > 0
    return ThreadFacts(
        samples=runs.samples if on else None,
        sampling_period_ns=runs.period_ns or None,
        sampler_held_ns=None,
        sampler_share=None,
        sampler_running_ns=ran if on and "sampler" in roles else None,
        sampler_stopped_ns=stopped if on else None,
        used=None,
        unmatched=None,
    )


def _unseen(runs: SampleRuns) -> Callable[[int, int], bool]:
    def of(thread: int, since: int) -> bool:
        return bool(unseen(runs, np.array([thread], dtype=np.uint64), np.array([since]))[0])

    return of


def _seen(context: Context, totals: Mapping[str, int], states: Set[str], why: str) -> dict[str, Metric]:
    """The metrics of waits of which only some are seen."""
    metrics = {}
    for state in states:
        took = totals.get(state, 0)
        metric = context.metric(f"{state}_total", took or None, reason=None if took else why, least=bool(took))
        metrics[f"{state}_total"] = metric
    return metrics


def _known_states(context: Context) -> frozenset[str]:
    """The states whose times are completely known."""
    if _SAMPLED not in context.unknown:
        return frozenset(set(STATES) - {*BY_KERNEL, *(["gc_suspended"] if _STOPPED in context.unknown else [])})
    known = {state for need, state in ((_LOCKS, "lock"),) if need not in context.unknown}
    return frozenset(known if _ANYTHING in context.unknown else {*known, "unknown"})


_DOES: Final = {
    "running": "ran managed code",
    "ready": "wanted a processor and had none",
    "native": "were out of managed code, computing or waiting",
    "jit": "compiled methods",
    "type_load": "loaded types",
    "lock": "waited for locks",
    "wait": "waited for handles or monitors",
    "sleep": "slept",
    "io": "waited for input, output, a disk or a page",
    "join": "waited for threads to end",
    "task_wait": "waited for tasks",
    "pool_idle": "had no work, as workers of the thread pool",
    "gc_suspended": "would have run but for a garbage collection",
    "unknown": "did something unknown",
}


def _worked(work: RuntimeWork) -> dict[int, list[Piece]]:
    """What each thread did for the runtime, without overlap: what it loads while it compiles is part of that."""
    kinds: dict[int, list[list[Piece]]] = {}
    for place, state in enumerate(WORKING):
        doing = Doing(state, "event")
        for thread, start, end in zip(*(column.tolist() for column in work.spans(FRAMES[state])), strict=True):
            kinds.setdefault(thread, [[] for _ in WORKING])[place].append(Piece(start, end, doing))
    return {thread: proven(pieces) for thread, pieces in kinds.items()}


REPORT: Final = ReportDeclaration(
    answer=ThreadsReport,
    question="What did each thread do at every moment?",
    topic="waiting",
    needs=(
        Need(
            _ANYTHING,
            (
                *(f"{SAMPLE}/ThreadSample", "ThreadCreated", "ContentionStart", "WaitHandleWaitStart"),
                *("ThreadPoolWorkerThreadWait", "GCSuspendEEBegin", f"{TPL}/TaskWaitBegin", SWITCH),
            ),
            0x10000,
            4,
            essential=True,
        ),
        Need(_SAMPLED, ("ThreadSample", SWITCH), 0, 4, SAMPLE),
        Need(_LOCKS, ("ContentionStart",), 0x4000, 4),
        Need(_HANDLES, ("WaitHandleWaitStart",), 0x40000000000, 5),
        Need(_TASKS, ("TaskWaitBegin",), 0x3, 4, TPL),
        Need(_CREATED, ("ThreadCreated",), 0x10000, 4),
        Need(_STOPPED, ("GCSuspendEEBegin",), 0x1, 4),
    ),
    metrics=(
        *(
            time_of(
                f"{state}_total",
                f"How long all threads together {does}.",
                evidence="sample",
                # Where an event is missing, a thread seems to do something else.
                lossy="unknown",
                dated=None
                if state == "unknown"
                else Dated("intervals", amount="duration_ns", where=("state", state), until="end_ns"),
            )
            for state, does in _DOES.items()
        ),
        *COUNTED_METRICS,
        time_of("sampler_total", "How long the sampler held all threads, at most.", windows=False),
        count_of("threads", "The number of threads.", windows=False, needs=_ALL),
    ),
    collector=ThreadsCollector,
    in_part={"*": "unknown", "threads": "at least"},
    parameters=NoParameters,
    shown=(
        *("thread_id", "role", "processor_ns", "running_ns", "ready_ns", "native_ns", "jit_ns"),
        *("type_load_ns", "waiting_ns", "main_wait"),
        *("unknown_ns", "cpu_samples_ns", "name", "thread_name"),
    ),
    examples=(
        ("What did each thread do?", "clrevents threads app.nettrace"),
        ("How long did all threads wait, and for what?", "clrevents threads app.nettrace --table states"),
        ("When did each thread do what?", "clrevents threads app.nettrace --table intervals --csv"),
        ("What do the runtime's own threads do?", "clrevents threads app.nettrace --table roles"),
    ),
)
