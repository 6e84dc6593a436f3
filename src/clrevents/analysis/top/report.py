"""The top report: methods or modules by the time of the sample profiler's samples, or by the weight of other events.

Adds up what `samples` names and `hot` sorts. Says for each number in which unit it is.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import attrs
import numpy as np

from clrevents.analysis.allocation_events import ALLOC, NEEDED
from clrevents.analysis.allocation_rows import BYTES, AllocationRows, certainty
from clrevents.analysis.allocation_rows import SELECTORS as ALLOCATIONS
from clrevents.analysis.framework.answer_values import (
    MANY_PROCESSES,
    Evidence,
    Metric,
    MetricDeclaration,
    Note,
)
from clrevents.analysis.framework.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.declaration import ReportDeclaration, WindowOptions
from clrevents.analysis.framework.kept import Kept
from clrevents.analysis.framework.needs import Need
from clrevents.analysis.framework.report_table import ReportTable
from clrevents.analysis.gather import Gathered
from clrevents.analysis.reports import ask_one
from clrevents.analysis.sample_states import chosen_states
from clrevents.analysis.samples import SAMPLES, Samples, name_samples
from clrevents.analysis.top.hot import BY, CAVEAT, By, HotMethod, hottest
from clrevents.analysis.top.hot_rows import HotRow as HotRow
from clrevents.analysis.top.hot_rows import TopFacts, TopParameters
from clrevents.analysis.top.hot_rows import TopReport as TopReport
from clrevents.analysis.weighing import (
    SAMPLE_HEADERS,
    SAMPLE_TYPE,
    SampleColumns,
    WeighedColumns,
    weigh_events,
    weigh_times,
)
from clrevents.analysis.weight_fields import check_weight
from clrevents.errors import AmbiguousEventError
from clrevents.schema.registry import DEFAULT, SAMPLE
from clrevents.table.read import Wanted
from clrevents.trace import Trace, passes_of
from clrevents.words import counted

_NOBODY: Final = -1
_UNITS: Final = {"nanoseconds": ("_ns", "ns"), "bytes": ("_bytes", "bytes"), "count": (None, "count"), "none": ("", "")}
"""By unit of the samples: the ending of the columns that hold such weights, and the unit of the metric."""


class TopCollector(Collector[TopReport]):
    """Keeps a few numbers of every event: its time, thread, stack and one field.

    So its memory grows with the number of events, and not only with the answer: names are known when the last event
    was read, and the window cuts then.
    """

    stacks = True

    def __init__(self, asked: TopParameters) -> None:
        asked = _with_weight(asked)
        self._asked = asked
        self._states = chosen_states(asked.running, asked.waiting, asked.state)
        self._by: By = "module" if asked.by == "module" else "method"
        self._allocations = AllocationRows() if asked.event is None and asked.weight == ALLOC else None
        self._timed = asked.event is None and self._allocations is None
        self._selector = SAMPLES if asked.event is None else asked.event
        self._field = SAMPLE_TYPE if self._timed else asked.weight if self._allocations is None else None
        field = () if self._field is None else (self._field,)
        self._columns = tuple(dict.fromkeys((*SAMPLE_HEADERS, *field)))
        self.selectors = (self._selector,) if self._allocations is None else ALLOCATIONS
        # A weight may be a header column, too.
        self.headers = tuple(dict.fromkeys((*SAMPLE_HEADERS, *Wanted.of(field).headers)))
        self._event: tuple[str, str] | None = None
        self._kept = Kept({self._selector: self._columns})

    def take(self, chunk: ReportChunk) -> None:
        for selector, found in chunk.events.items():
            if self._allocations is not None:
                self._allocations.take(selector, found.table, _NOBODY)
                continue
            if self._event not in (None, found.event):
                raise AmbiguousEventError(f"{self._selector!r} means several events")
            self._event = found.event
            self._check(found)
            self._kept.take(ReportChunk({self._selector: self._of_thread(found)}))

    def finish(self, context: Context) -> TopReport:
        process = _NOBODY if context.process_id is None else context.process_id
        if self._allocations is not None:
            name, rows = self._allocations.best()
            rows = attrs.evolve(rows, process=np.full(len(rows), process, dtype=np.int64))
            if self._asked.thread_id is not None:
                rows = rows.take(np.flatnonzero(rows.thread == self._asked.thread_id))
            caveat = certainty(name)
            notes = () if caveat is None else (Note("estimated", "info", caveat, ("methods", "total")),)
            context = attrs.evolve(context, needs=(NEEDED,))
            return self._answer(context, name, rows, NEEDED.what not in context.unknown, notes)
        events = context.nothing(self._selector)
        self._check(events)
        if (self._event or events.event) is not None:
            # A pattern that nothing matches has no fields.
            events = self._kept.all(self.selectors, context.nothing)[self._selector]
        rows = SampleColumns.of(events.table, self._field, process)
        name = "" if events.event is None else events.event[1]
        text = f"the trace has no event that matches {self._selector!r}"
        none = None if events.event is not None else Note("no-events", "warning", text, ("methods",))
        context = attrs.evolve(context, needs=self._needs(events.event))
        return self._answer(context, name, rows, _occurs(events.event, context), (), none)

    def _answer(
        self,
        context: Context,
        name: str,
        rows: SampleColumns,
        known: bool,
        notes: tuple[Note, ...],
        cannot: Note | None = None,
    ) -> TopReport:
        """`known` says whether the trace tells the total."""
        weighed = self._weighed(rows, context)
        apart = context.info.version >= MANY_PROCESSES
        samples = name_samples(
            *(name, weighed, context.methods, context.stacks, context.thread_names, apart, self._asked.artefacts)
        )
        if self._states is not None and samples.state is not None:
            samples = samples.in_states(*self._states)
        made: TopReport = context.answer(
            TopReport,
            facts=TopFacts(
                event=name or None,
                unit=samples.unit,
                threads=len(samples.threads),
                sampling_period_ns=_period(weighed),
                advice=samples.advice,
            ),
            metrics={"samples": len(samples), "total": _total(samples, known, bool(notes))},
            notes=(*notes, *_notes(samples)),
            cannot=cannot,
            methods=self._table(context, samples, weighed),
        )
        return made

    def _check(self, found: Gathered) -> None:
        """KeyError for a weight that the event does not have, ValueError for one that means nothing."""
        if self._field is not None and found.event is not None:
            Wanted.of((self._field,)).choose(found.payload, found.event[1])
            if not self._timed:
                check_weight(found.event, found.table.fields, self._field)

    def _of_thread(self, found: Gathered) -> Gathered:
        """The events of the thread that was asked for."""
        if self._asked.thread_id is None:
            return found
        thread = found.column("thread_id")
        mine = thread.values == self._asked.thread_id
        return found.only(np.flatnonzero(mine & thread.known), self._columns)

    def _weighed(self, rows: SampleColumns, context: Context) -> WeighedColumns:
        if self._timed:
            return weigh_times(rows, context.window)
        return weigh_events(rows, self._asked.weight if self._allocations is None else BYTES, context.window)

    def _needs(self, event: tuple[str, str] | None) -> tuple[Need, ...]:
        if self._timed:
            return _NEEDS
        if event is None:
            return ()
        provider, name = event
        infos = [DEFAULT.best(provider, id, DEFAULT.versions(provider, id)[-1]) for id in DEFAULT.ids(provider, name)]
        known = [(info.keywords, info.level) for info in infos if info is not None]
        keywords, level = known[0] if known else (0, 5)
        return (Need(f"where {name} events come from", (name,), keywords, level, provider, essential=True),)

    def _table(self, context: Context, samples: Samples, weighed: WeighedColumns) -> ReportTable[HotRow]:
        found = hottest(samples, self._by)
        ending, _ = _UNITS[samples.unit]
        values: dict[str, list[Any]] = {
            "name": [hot.raw if self._asked.raw else hot.name for hot in found],
            "runtime_name": [hot.raw for hot in found],
            "module": [hot.module or None for hot in found],
            "samples": [hot.samples for hot in found],
            "inclusive_samples": [hot.inclusive_samples for hot in found],
            "share": [_share(hot.exclusive, samples.total) for hot in found],
            "running_ns": [hot.running for hot in found],
            "waiting_ns": [hot.waiting for hot in found],
            "external_ns": [hot.external for hot in found],
            "external_share": [_share(hot.external, hot.exclusive) for hot in found],
        }
        for which in ("_ns", "_bytes", ""):
            for name in ("exclusive", "inclusive"):
                values[name + which] = [_weight(hot, name) if which == ending else None for hot in found]
        lossy = self._lossy(context, weighed)
        return context.table(HotRow, {**values, "lossy": [lossy] * len(found)})

    def _lossy(self, context: Context, weighed: WeighedColumns) -> bool:
        """Whether a sample may be missing in the window: nobody knows which method it was in."""
        # A loss before the window counts from the first sample on whose time reaches into it.
        return context.touched(self._asked.thread_id, next(iter(weighed.rows.time[:1].tolist()), None))


def _with_weight(asked: TopParameters) -> TopParameters:
    """The same with the weight apart. ValueError for a weight without what it weighs."""
    if asked.by not in BY:
        if asked.weight is not None or (asked.event is None and asked.by != ALLOC):
            others = [] if asked.weight is not None else [repr(ALLOC), "a field of event"]
            known = [*map(repr, BY), *others]
            raise ValueError(f"by must be {', '.join(known[:-1])} or {known[-1]}, not {asked.by!r}")
        changed: TopParameters = attrs.evolve(asked, by=BY[0], weight=asked.by)  # type: ignore[misc]
        return _with_weight(changed)
    if (asked.running or asked.waiting or asked.state is not None) and (asked.event or asked.weight):
        raise ValueError("only samples of the profiler tell whether a thread ran or waited")
    if asked.event is None and asked.weight not in (None, ALLOC):
        raise ValueError("weight needs event: samples of the profiler weigh the time that they stand for")
    return asked


def _weight(hot: HotMethod, name: str) -> int | float:
    found: int | float = getattr(hot, name)
    return found


def _share(part: int | float | None, whole: int | float) -> float | None:
    return None if part is None or not whole else part / whole


def _period(weighed: WeighedColumns) -> int | None:
    """The median time between two samples of a thread; of an even number, the lower one in the middle."""
    if weighed.gap is None:
        return None
    known = np.sort(weighed.gap[weighed.gap >= 0])
    return int(known[(len(known) - 1) // 2]) if len(known) else None


def _occurs(event: tuple[str, str] | None, context: Context) -> bool:
    return any((kind.provider, kind.name) == event for kind in context.kinds)


def _total(samples: Samples, known: bool, estimated: bool) -> Metric:
    _, unit = _UNITS[samples.unit]
    evidence: Evidence = "sample" if samples.timed or estimated else "event"
    if known:
        return Metric(samples.total, unit, evidence=evidence)
    return Metric(None, unit, evidence=evidence, reason="the trace has no such event")


def _notes(samples: Samples) -> tuple[Note, ...]:
    found = []
    if samples.timed and len(samples):
        found.append(Note("clock-time", "info", CAVEAT, ("methods", "total")))
    if samples.advice is not None:
        nameless = sum(frame.reason is not None for frame in samples.frames)
        frames = counted(len(samples.frames), "frame")
        text = f"{nameless:,} of {frames} {'has' if nameless == 1 else 'have'} no name"
        numbers = {"nameless": nameless, "frames": len(samples.frames)}
        found.append(Note("no-names", "warning", text, ("name",), numbers, samples.advice))
    return tuple(found)


def top_report(
    trace: Trace,
    *,
    by: str = "method",
    event: str | None = None,
    weight: str | None = None,
    thread_id: int | None = None,
    running: bool = False,
    waiting: bool = False,
    state: str | None = None,
    artefacts: bool = False,
    raw: bool = False,
    **window: Unpack[WindowOptions],
) -> TopReport:
    """Report the methods (`by="module"`: the modules) with the most time, by the sample profiler's samples.

    `event` selects the stacks of another event, each of which weighs 1 or what its field `weight` says. The weight
    `alloc`, without an event, is the bytes that were allocated. `by` takes a weight too, and adds up methods then.
    `start` and `end` are half-open. Of the profiler's samples, `running`, `waiting` or `state` choose those of threads
    that did so; stacks have no frames of the runtime's own doings, unless `artefacts` are asked for.

    Raises KeyError for a field that the event does not have, ValueError for a weight that is not an amount or below
    zero, or without an event; AmbiguousEventError and UnknownEventError as `Trace.table` does.
    """
    if event is not None:
        # At once, and not only when events of several names were read.
        passes_of(trace).one_event(event)
    asked = TopParameters(
        by=by,
        event=event,
        weight=weight,
        thread_id=thread_id,
        running=running,
        waiting=waiting,
        state=state,
        artefacts=artefacts,
        raw=raw,
    )
    return ask_one(trace, REPORT, asked, window)


_NEEDS: Final = (Need("where threads spend their time", ("ThreadSample",), 0, 4, SAMPLE, essential=True),)

REPORT: Final = ReportDeclaration(
    TopReport,
    "Where is the time?",
    _NEEDS,
    (
        # A sample that reaches into the next window is in both.
        MetricDeclaration("samples", "count", "The number of samples or events.", windows=False, evidence="sample"),
        MetricDeclaration("total", "ns", "All weights together, in bytes or another unit if they are not times."),
    ),
    TopCollector,
    "methods",
    TopParameters,
    shown=(
        *("share", "running_ns", "waiting_ns", "exclusive_ns", "inclusive_ns", "exclusive_bytes", "inclusive_bytes"),
        *("exclusive", "inclusive", "samples", "name"),
    ),
    examples=(
        ("Where is the time?", "clrevents top app.nettrace"),
        ("What do threads wait for?", "clrevents top app.nettrace --waiting"),
        ("Which methods allocate, in bytes?", "clrevents top app.nettrace --by alloc"),
        ("Which modules do?", "clrevents top app.nettrace --by module --weight alloc"),
    ),
)
