"""Collects weighted stacks for reports: the sample profiler's, allocations', or those of any event.

Reads, weights, names and chooses them as parameters say, and knows what limits them. Adding them up is left to each
report.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import MY_CODE, RAW, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import (
    MANY_PROCESSES,
    Evidence,
    InPart,
    Metric,
    Note,
    count_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import column, row
from clrevents.analysis.gathering.groups import Gathered, Ints, nearest_rank
from clrevents.analysis.shared.events.gc_suspensions import stops_recorded
from clrevents.analysis.shared.processor.counted_events import counted_window
from clrevents.analysis.shared.samples.leaf_states import UNTOLD
from clrevents.analysis.shared.samples.off_processor import (
    OFF_CPU_CAVEAT,
    SWITCH_EVENT,
)
from clrevents.analysis.shared.samples.samples import ReadSamples, SampleReader, Samples
from clrevents.analysis.shared.samples.stack_shapes import SEPARATOR, NamePattern, StackShape, chosen_states, tellable
from clrevents.analysis.shared.weights.allocations import NEEDED, certainty
from clrevents.analysis.shared.weights.sample_runs import TOLERATED
from clrevents.analysis.shared.weights.weighing import (
    CAVEAT,
    COUNTED_CAVEAT,
    CPU,
    CPU_CAVEAT,
    CPU_EVENT,
    ON_PROCESSOR,
    SAFE_POINT_CAVEAT,
    SAMPLE_HEADERS,
    WeighedColumns,
    Weights,
    capacity_ns,
)
from clrevents.analysis.shared.weights.weight_fields import (
    ALONE,
    OFF_CPU,
    THROWN,
    check_weight,
)
from clrevents.errors import AmbiguousEventError
from clrevents.schema.registry import DEFAULT, RUNTIME, SAMPLE
from clrevents.symbols.native import KINDS as KINDS
from clrevents.symbols.native import check_kind
from clrevents.table.read import Wanted


@parameters
class SampleParameters:
    """Which samples are added up, and how their stacks are shown."""

    event: str | None = parameter(
        None, "Add up the stacks of this event instead of the sample profiler's.", selector=True
    )
    weight: str | None = parameter(
        None,
        "The field of `event` to use as its weight (by default, each event has a weight of 1); for a text, each "
        "event has a weight of 1 below it. Without `event`: `alloc` for bytes allocated, `exceptions` or "
        "`ExceptionType` for exceptions thrown, `off-cpu` for time off a processor.",
    )
    thread_id: int | None = parameter(None, "Only samples of this thread.")
    running: bool = parameter(False, "Only samples of threads that were running managed code.")
    waiting: bool = parameter(False, "Only samples of threads that were waiting, in a method known to wait.")
    state: str | None = parameter(None, "Only samples of threads in this state, such as `lock` or `native`.")
    kind: str | None = parameter(
        None,
        ("Only samples whose innermost frame is `kernel`, `native` or `managed`; only known in machine recordings."),
    )
    group: str | None = parameter(
        None,
        "Show methods that match as one: PATTERN->NAME, or PATTERN=>NAME to distinguish by which method the group "
        "was entered.",
        joined=SEPARATOR,
    )
    include: str | None = parameter(None, "Only samples whose stacks have a method that matches.", joined=SEPARATOR)
    exclude: str | None = parameter(None, "Only samples whose stacks have no method that matches.", joined=SEPARATOR)
    fold: str | None = parameter(
        None, "Remove methods that match from stacks; their weight goes to their callers.", joined=SEPARATOR
    )
    fold_kernel: bool = parameter(
        False, "Show the kernel's frames of a stack as one: the system call, page fault or interrupt."
    )
    my_code: bool = MY_CODE
    artefacts: bool = parameter(
        False, "Keep the runtime's suspension and exception-dispatch frames, and those that dispatch async methods."
    )
    raw: bool = RAW

    def check(self) -> None:
        """ValueError for contradictory parameters."""
        stated = self.running or self.waiting or self.state is not None
        if stated and (self.event or self.weight not in (None, OFF_CPU)):
            raise ValueError("only profiler samples show whether a thread ran or waited")
        check_kind(self.kind)
        if self.event is None and self.weight not in (None, *ALONE):
            raise ValueError("weight needs event: profiler samples are weighted by time")


A_co = TypeVar("A_co", bound=Answer[object], covariant=True)

SAMPLE_NEEDS: Final = (Need("where threads spend their time", ("ThreadSample", CPU), 0, 4, SAMPLE, essential=True),)
OFF_CPU_NEED: Final = Need("time off a processor", (SWITCH_EVENT[1],), 0, 4, SWITCH_EVENT[0], essential=True)
SAMPLE_METRICS: Final = (
    # A sample that reaches into the next window is in both.
    count_of("samples", "The number of samples or events.", windows=False, evidence="sample"),
    time_of("total", "Their total weight, in bytes or another unit if the weights are not times.", hides="sample"),
    time_of(
        "unsampled_total",
        "How long threads were not sampled, between samples before and after.",
        "less",
        lossy="unknown",
    ),
    time_of(
        "cut_total",
        "The weight of those whose stacks the runtime cut, so that the methods further out lack it.",
        "less",
        # Deeper stacks, or what the async profiler knows of these, may be among what is missing.
        lossy="unknown",
        hides="sample",
    ),
)
SAMPLES_OF_PART: Final[Mapping[str, InPart]] = {"samples": "at least", "*": "unknown"}
"""A part of a trace lacks the sample that its threads were seen with before, and those after it; and how far samples
hold over a gap is judged by those that it has. What other events weigh is the same in every part."""
WEIGHTS: Final[Mapping[str, tuple[str | None, str]]] = {
    "nanoseconds": ("_ns", "ns"),
    "bytes": ("_bytes", "bytes"),
    "count": (None, "count"),
    "none": ("", ""),
}
"""By unit of the samples: the ending of the columns that hold such weights, and the unit of the metrics."""

_MEANT: Final = {THROWN: (RUNTIME, THROWN.partition("/")[2])}
"""The events that a word stands for: users learn how to record these, too."""
_NOBODY: Final = -1
_NO_ROWS: Final[Ints] = np.zeros(0, dtype=np.int64)


@row
class SampleFacts:
    """The facts of a report on weighted stacks."""

    event: cells.CodeName | None = column("The event whose stacks were added up.")
    unit: cells.Word | None = column("The unit of the weights: `nanoseconds`, `bytes`, `count`, or `none` if unknown.")
    threads: cells.Count | None = column("The number of sampled threads.")
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of one thread, or the period of CPU samples; null for other events."
    )
    processors: cells.Count | None = column("The number of processors; null unless these are CPU samples.")
    capacity_ns: cells.DurationNs | None = column(
        "The total time of all processors; null unless these are CPU samples."
    )
    used: cells.Word | None = column(
        "What the process used of its processors, of it for compilation and for samples, and how long threads waited "
        "for a processor; null unless it was counted."
    )
    advice: cells.Word | None = column("What to record to get names for more frames; null if nothing is missing.")


@frozen(eq=False)
class CollectedSamples:
    """The chosen samples, and what an answer must say about them."""

    context: Context
    samples: Samples
    lossy: bool
    """Whether a sample, in an unknown method, may be missing in the window."""
    unknown: str | None
    """Why the samples' weights are unknown; None if they are known."""
    evidence: Evidence
    period_ns: int | None
    notes: tuple[Note, ...]
    cannot: Note | None
    of_processors: bool
    """Whether these are CPU samples."""
    used: str | None
    """What the process used of its processors, in words; None where that was not counted."""
    vague: bool
    """Whether some of the time that was not sampled may belong to samples: stops were not recorded."""

    @property
    def facts(self) -> dict[str, Any]:
        """The values of `SampleFacts`."""
        context = self.context
        capacity = capacity_ns(context.info, context.duration_ns, context.window) if self.of_processors else None
        return {
            "event": self.samples.event or None,
            "unit": self.samples.unit,
            "threads": len(self.samples.threads),
            "sampling_period_ns": self.period_ns,
            "processors": context.info.processors if self.of_processors else None,
            "capacity_ns": capacity,
            "used": self.used,
            "advice": self.samples.advice,
        }

    def weight(self, value: int | float) -> Metric:
        """A metric in the unit of the weights."""
        _, unit = WEIGHTS[self.samples.unit]
        if self.unknown is None:
            return Metric(value, unit, evidence=self.evidence, low=value if self.vague else None)
        return Metric(None, unit, evidence=self.evidence, reason=self.unknown)

    @property
    def sample_ns(self) -> int | None:
        """How much of all times one sample tells at the most; None if these are no times, or if other events may
        continue its stack."""
        if not self.samples.timed or not self.period_ns or self.context.names.awaits is not None:
            return None
        return TOLERATED * self.period_ns

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of `SAMPLE_METRICS`."""
        samples = self.samples
        unsampled = self.weight(samples.unsampled_total)
        if unsampled.low is not None:
            unsampled = attrs.evolve(unsampled, low=None, high=unsampled.value)
        if self.of_processors:
            unsampled = attrs.evolve(unsampled, value=None, reason="CPU samples do not cover time")
        elif not samples.timed:
            unsampled = attrs.evolve(
                unsampled, value=None, low=None, unit="ns", reason="these are not profiler samples"
            )
        count = Metric(samples.count, "count", evidence="sample")
        if self.unknown in (UNTOLD, ON_PROCESSOR):
            count = attrs.evolve(count, value=None, reason=self.unknown)
        return {
            "samples": count,
            "total": self.weight(samples.total - samples.unsampled_total),
            "unsampled_total": unsampled,
            "cut_total": self.weight(samples.cut_total),
        }

    def columns(
        self, name: str, values: list[int | float] | Weights
    ) -> dict[str, Sequence[int | float | None] | Weights]:
        """The columns of a weight by unit, of which one has the values: `name_ns`, `name_bytes` and `name`."""
        ending, _ = WEIGHTS[self.samples.unit]
        none = [None] * len(values)
        return {name + which: values if which == ending else none for which in ("_ns", "_bytes", "")}


class SampleCollector(Collector[A_co]):
    """Keeps a few numbers of every event: its time, thread, stack and one field.

    So its memory grows with the number of events, not only with the answer: names are known after the last event, and
    the window is cut then.
    """

    stacks = True
    texts = True
    """Whether stacks may be put under a text."""
    tables: tuple[str, ...] = ()
    """The tables of its answer, which limits of the weights are limits of."""

    def __init__(self, asked: SampleParameters, keep: tuple[NamePattern, ...] = ()) -> None:
        asked.check()
        self._asked = asked
        self._reader = SampleReader(asked.event, asked.weight, one_process=True)
        self._states = chosen_states(asked.running, asked.waiting, asked.state, self._reader.away)
        self._threads = None if asked.thread_id is None else (asked.thread_id,)
        patterns = (asked.group, asked.include, asked.exclude, asked.fold)
        shape = StackShape.of(*patterns, asked.my_code, asked.fold_kernel)
        self._shape = attrs.evolve(shape, keep=keep) if shape else shape
        self.selectors = self._reader.selectors
        # A weight may be a header column, too.
        field = () if self._reader.field is None else (self._reader.field,)
        self.headers = tuple(dict.fromkeys((*SAMPLE_HEADERS, *Wanted.of(field).headers)))
        self._event: tuple[str, str] | None = None
        self.collected: CollectedSamples | None = None
        """What the answer was made of; None before it is."""

    @abstractmethod
    def answer(self, collected: CollectedSamples) -> A_co:
        """Make the answer of all samples."""

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        reader = self._reader
        for selector, events in chunk.events.items():
            if len(reader.selectors) == 1 and not reader.away:
                # A pattern may be what was asked for.
                selector = reader.selectors[0]
                if self._event not in (None, events.event):
                    raise AmbiguousEventError(f"{selector!r} means several events")
                self._event = events.event
                self._check(events)
            reader.take(selector, events)

    def finish(self, context: Context) -> A_co:
        """Give the answer."""
        reader = self._reader
        of_processors = reader.timed and _occurs(CPU_EVENT, context)
        cannot, notes, needs = None, [], context.needs
        event: tuple[str, str] | None = CPU_EVENT
        threads: tuple[int, ...] | None = self._threads
        if of_processors and self._states is not None:
            # Nothing is shown rather than all of them.
            threads = ()
            cannot = Note("on-processor", "warning", ON_PROCESSOR, (*self.tables, "total"))
        elif not of_processors and reader.allocations is None and not reader.away:
            events = context.nothing(reader.selectors[0])
            self._check(events)
            event = self._event or events.event
            needs = self._needs(event or _MEANT.get(reader.selectors[0]))
            if event is None:
                text = f"the trace has no event that matches {reader.selectors[0]!r}"
                cannot = Note("no-events", "warning", text, self.tables)
        owner = _NOBODY if context.process_id is None else context.process_id
        read = reader.read(
            context.window, context.info, context.duration_ns, context.nothing, threads, of_processors, owner
        )
        known = cannot is None if of_processors else _occurs(event, context)
        if reader.allocations is not None:
            caveat = certainty(read.event)
            notes = [] if caveat is None else [Note("estimated", "info", caveat, (*self.tables, "total"))]
            needs = (NEEDED,)
            known = NEEDED.what not in attrs.evolve(context, needs=needs).unknown
        elif read.switches is not None:
            notes = [Note("off-cpu", "info", OFF_CPU_CAVEAT, (*self.tables, "total"))] if len(read.switches) else []
            notes += read.switches.notes("total", "total")
            needs, known = (OFF_CPU_NEED,), _occurs(SWITCH_EVENT, context)
        context = attrs.evolve(context, needs=needs)
        return self.answer(self._collected(context, read, owner, known, notes, cannot, of_processors))

    def _collected(
        self,
        context: Context,
        read: ReadSamples,
        owner: int,
        known: bool,
        notes: list[Note],
        cannot: Note | None,
        of_processors: bool,
    ) -> CollectedSamples:
        weighed = read.weighed
        if read.switches is None and read.profiled is None:
            context = attrs.evolve(context, in_part={})
        unknown = None if known else ON_PROCESSOR if of_processors else "the trace has no such event"
        counts = None if read.profiled is None else self._reader.counts
        evidence: Evidence = "sample" if not weighed.away and (self._reader.timed or notes) else "event"
        samples = self._reader.named(
            read,
            context.window,
            self._threads,
            context.methods,
            context.stacks,
            context.thread_names,
            context.info.version >= MANY_PROCESSES,
            self._asked.artefacts,
            awaits=context.names.awaits,
            owner=owner,
        )
        if counts is not None and self._threads is None and samples.counted is not None:
            nobodys = counts.used(counted_window(context)) - int(samples.counted.processor.sum())
            text = f"{duration_text(nobodys)} of processor time are of threads without a sample, and of no method"
            notes.append(Note("unassigned", "info", text, self.tables, {"unassigned_ns": nobodys}))
        if self._states is not None and not read.running_told and not tellable(self._states):
            # Nothing is shown rather than what samples happen to say.
            samples, unknown = samples.in_states(), UNTOLD
            cannot = cannot or Note("running-unknown", "warning", UNTOLD, (*self.tables, "total"))
        elif self._states is not None and samples.state is not None:
            samples = samples.in_states(*self._states)
        if self._asked.kind is not None:
            samples = samples.of_kind(self._asked.kind)
        samples = attrs.evolve(samples.in_shape(self._shape), info=context.info)
        # A loss before the window counts from the first sample on whose time reaches into it.
        first = next(iter(weighed.rows.time[:1].tolist()), None)
        self.collected = CollectedSamples(
            context=context,
            samples=samples,
            lossy=context.touched(self._asked.thread_id, first),
            unknown=unknown,
            evidence=evidence,
            period_ns=context.info.sampling_interval_ns if of_processors else _period(weighed),
            notes=(*notes, *_notes(samples, self.tables, of_processors)),
            cannot=cannot,
            of_processors=of_processors,
            used=None if counts is None else counts.use_text(counted_window(context), self._reader.samplers),
            vague=weighed.unsampled is not None and bool(weighed.unsampled.any()) and not stops_recorded(context),
        )
        return self.collected

    def _check(self, gathered: Gathered) -> None:
        """KeyError for a weight that the event does not have, ValueError for one that is meaningless."""
        field = self._reader.field
        if field is not None and gathered.event is not None:
            Wanted.of((field,)).choose(gathered.payload, gathered.event[1])
            if not self._reader.timed:
                check_weight(gathered.event, gathered.table.fields, field, self.texts)

    def _needs(self, event: tuple[str, str] | None) -> tuple[Need, ...]:
        if self._reader.timed:
            return SAMPLE_NEEDS
        if event is None:
            return ()
        provider, name = event
        infos = [DEFAULT.best(provider, id, DEFAULT.versions(provider, id)[-1]) for id in DEFAULT.ids(provider, name)]
        known = [(info.keywords, info.level) for info in infos if info is not None]
        keywords, level = known[0] if known else (0, 5)
        return (Need(f"where {name} events come from", (name,), keywords, level, provider, essential=True),)


def _period(weighed: WeighedColumns) -> int | None:
    """The median time between two samples of a thread; of an even number, the lower one in the middle."""
    if weighed.gap is None:
        return None
    return nearest_rank(np.sort(weighed.gap[weighed.gap >= 0]), 50)


def _occurs(event: tuple[str, str] | None, context: Context) -> bool:
    return any((kind.provider, kind.name) == event for kind in context.kinds)


def _notes(samples: Samples, tables: tuple[str, ...], of_processors: bool) -> tuple[Note, ...]:
    notes = []
    if of_processors and len(samples):
        notes.append(Note("processor-time", "info", CPU_CAVEAT, (*tables, "total")))
    if samples.timed and len(samples):
        text = CAVEAT if samples.counted is None else f"{CAVEAT}, which has columns of its own: {COUNTED_CAVEAT}"
        notes.append(Note("clock-time", "info", text, (*tables, "total")))
        if samples.at_safe_points:
            notes.append(Note("safe-points", "info", SAFE_POINT_CAVEAT, tables))
    if samples.stopped_text is not None:
        notes.append(Note("stop-points", "info", samples.stopped_text, (*tables, "running_ns")))
    if not samples.running_told:
        text = f"{UNTOLD}: this time is unknown, and waits are lower bounds"
        notes_of = (*tables, "running_ns", "waiting_ns")
        notes.append(Note("running-unknown", "info", text, notes_of))
    if samples.timed and samples.unsampled_total:
        took, whole = samples.unsampled_total, samples.total
        text = (
            f"{duration_text(took)} ({took / whole:.0%} of the time) were not sampled: what threads did then is unknown"
        )
        notes.append(Note("not-sampled", "info", text, (*tables, "unsampled_total"), {"unsampled_ns": took}))
    if samples.cut is not None and samples.cut_text is not None:
        numbers = {"stacks": int(samples.cut.sum()), "weight": samples.cut_total}
        notes.append(Note("cut-stacks", "warning", samples.cut_text, (*tables, "cut_total"), numbers))
    if samples.unawaited is not None and samples.unawaited_text is not None:
        numbers = {"stacks": int(samples.unawaited.sum()), "weight": samples.weight_of(samples.unawaited)}
        notes.append(Note("unknown-awaits", "warning", samples.unawaited_text, tables, numbers))
    if samples.advice is not None:
        nameless = samples.nameless
        frames = counted(len(samples.frames), "frame")
        text = f"{nameless:,} of {frames} {'has' if nameless == 1 else 'have'} no name"
        numbers = {"nameless": nameless, "frames": len(samples.frames)}
        notes.append(Note("no-names", "warning", text, ("name",), numbers, samples.advice))
    return tuple(notes)
