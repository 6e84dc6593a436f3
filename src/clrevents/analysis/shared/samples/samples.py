"""Call stacks with weights: of the sample profiler, weighted by time, or of any event, weighted by count or by a field.

The input of flame graphs and lists of hot methods. A sample's weight is the time to the same thread's next sample,
because the profiler says where threads were, not what they used: it is wall-clock time, waiting included. Shows the
heaviest innermost frames, escaped; draws nothing else and writes no file itself.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value, escaped, framed_html, html_table, shortened
from clrevents._util.offered import offered
from clrevents._util.value_classes import frozen
from clrevents._util.words import amount_text, counted, moment_text, safe, share_text
from clrevents.analysis.framework.model.collector import Kept, ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES, TimeWindow
from clrevents.analysis.gathering.groups import Gathered, Ints, groups, near_table, sum_by
from clrevents.analysis.gathering.merged_stacks import (
    NO_STACK,
    NOT_SAMPLED,
    SKIPPED,
    MergedStacks,
    StackFrame,
    merged_stacks,
    used,
)
from clrevents.analysis.shared.events.event_spans import VERSION_EVENTS, versions_of
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING, of_sampling, stops_of
from clrevents.analysis.shared.processor.counted_events import (
    COUNT_EVENTS,
    NOTHING,
    WAITING,
    CountFeed,
    Counts,
    Divided,
    divided,
)
from clrevents.analysis.shared.processor.counted_events import MANAGED as IN_MANAGED
from clrevents.analysis.shared.samples.leaf_states import STATES, UNTOLD, ThreadState, at_stops, tells_running
from clrevents.analysis.shared.samples.off_processor import SWITCH, SWITCH_EVENT, Switches, away_states
from clrevents.analysis.shared.samples.runtime_work import WORK_EVENTS, RuntimeWork, with_work
from clrevents.analysis.shared.samples.stack_shapes import (
    FOLDED,
    StackShape,
    StateCodes,
    chosen_states,
    folded,
    in_states,
    sampled_states,
    tellable,
)
from clrevents.analysis.shared.weights.allocations import ALLOC, BYTES, SELECTORS, AllocationRows
from clrevents.analysis.shared.weights.sample_runs import MANAGED, SAMPLE_TYPE, SAMPLES
from clrevents.analysis.shared.weights.weighing import (
    CPU,
    CPU_COUNT,
    CPU_EVENT,
    SAMPLE_HEADERS,
    SampleColumns,
    Unit,
    WeighedColumns,
    Weights,
    cpu_field,
    weigh_cpu,
    weigh_events,
    weigh_times,
)
from clrevents.analysis.shared.weights.weight_fields import (
    CPU_TIME,
    OFF_CPU,
    check_weight,
    event_and_weight,
    left_out,
    under_texts,
)
from clrevents.schema.registry import SAMPLE
from clrevents.symbols.async_stacks import AsyncStacks, resumes
from clrevents.symbols.frame import NAMELESS
from clrevents.symbols.frame_tables import resolve_stacks
from clrevents.symbols.methods import Methods, no_methods
from clrevents.symbols.native import check_kind
from clrevents.table.display import LINES, fitted, text_rows
from clrevents.table.read import AddressStacks, Wanted, cut_stacks
from clrevents.table.table import ColumnType, Table, TableField, from_values, number_column, text_column
from clrevents.trace import FilterOptions, Filters, Moment, Selector, ThreadIds, Trace, TraceInfo, passes_of

if TYPE_CHECKING:
    from clrevents.analysis.shared.samples.logical_stacks import TaskTrails


FlameFormat: TypeAlias = Literal["speedscope", "folded", "html", "pprof"]
"""What samples can be written as."""

_SAMPLE_EVENT: Final = SAMPLE, SAMPLES.partition("/")[2]
_NATIVE: Final = STATES.index("native")
_COMPILER: Final = ".CompilerServices."
_STOPPED: Final = 0.1
"""Less of the running time misleads nobody."""
_NOBODY: Final = -1
"""The process of events before it is known whose they are."""
_NO_ROWS: Final[Ints] = np.zeros(0, dtype=np.int64)


@functools.total_ordering
@frozen
class SampledThread(Value):
    """One thread of one process; None if unknown. In order by process, then thread, None first."""

    thread_id: int | None
    process_id: int | None = None
    name: str | None = None

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, SampledThread):
            return NotImplemented
        return self._order() < other._order()

    def _order(self) -> tuple[int, int, str]:
        known = [-1 if number is None else number for number in (self.process_id, self.thread_id)]
        return known[0], known[1], self.name or ""

    def __str__(self) -> str:
        text = "unknown thread" if self.thread_id is None else f"thread {self.thread_id}"
        return f"{text} ({self.name})" if self.name else text


@frozen(eq=False, repr=False, slots=False)
class Samples:
    """Weighted stacks in order of time, a number in each array for every one of them; owns its data.

    `time_ns` counts from the start of the session and is when a stack begins to count: the time of its event, or a
    little earlier for the first sample of a thread after a gap. `thread` is a place in `threads`, `weight` is in
    `unit`, `external` says which samples were in native code or waiting (None if unknown). Stack `stack[i]` is
    `values[offsets[stack[i]]:offsets[stack[i] + 1]]`, places in `frames`, innermost first; no two stacks are alike.
    Time between two samples of a thread that no sample covers has a stack of the one frame `[not sampled]`.
    """

    event: str
    unit: Unit
    timed: bool
    """Whether a weight is the time that a stack lasted, so that stacks of a thread follow one another."""
    time_ns: Ints
    thread: Ints
    weight: Weights
    stack: Ints
    offsets: Ints
    values: Ints
    threads: tuple[SampledThread, ...]
    frames: tuple[StackFrame, ...]
    external: NDArray[np.bool_] | None = None
    advice: str | None = None
    """What to record next time to get names for more frames; None if nothing was left unrecorded."""
    running_told: bool = True
    """Whether these samples show if a thread ran managed code."""
    state: StateCodes | None = None
    """What the thread did at each sample of the profiler, or off its processor: a place in `leaf_states.STATES`; None
    for other events."""
    info: TraceInfo | None = None
    """The header of the trace that they are from."""
    off_processor: bool = False
    """Whether these are times of threads off a processor, by context switches."""
    cut: NDArray[np.bool_] | None = None
    """Which have as many frames as a runtime writes: their callers further out are missing. None if none has."""
    unawaited: NDArray[np.bool_] | None = None
    """Which end in a dispatcher of async methods, because it is unknown what awaits these. None if none does."""
    address: NDArray[np.uint64] | None = None
    """The innermost address of each sample of the profiler, 0 without a stack; None for other events."""
    counted: Divided | None = None
    """What the operating system counted of their threads' processor time, divided among them; None if it did not."""

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def total(self) -> int | float:
        """All weights together."""
        sum_of_weights: int | float = self.weight.sum().item()
        return sum_of_weights

    @property
    def on_processor(self) -> bool:
        """Whether these weigh processor time: as CPU samples, or by counts."""
        return self.by_counts or (self.event == CPU_EVENT[1] and self.unit == "nanoseconds")

    @property
    def by_counts(self) -> bool:
        """Whether these are the profiler's samples, each weighted by its part of the counted processor time."""
        return self.counted is not None and not self.timed

    @property
    def cut_total(self) -> int | float:
        """How much of the total has stacks that the runtime cut."""
        return 0 if self.cut is None else self.weight_of(self.cut)

    @property
    def cut_text(self) -> str | None:
        """What a reader of inclusive weights must know; None where no stack was cut."""
        if self.cut is None or not self.cut.any():
            return None
        share = share_text(self.cut_total / self.total if self.total else 0)
        return (
            f"the runtime cut {counted(int(self.cut.sum()), 'stack')} ({share} of the weight), which have as many "
            "frames as it writes: methods further out are missing, so that inclusive weights are too low and calls "
            "seem to begin in the middle"
        )

    @property
    def unawaited_text(self) -> str | None:
        """Where stacks do not go on in what awaits their method; None if all do that can."""
        if self.unawaited is None or not self.unawaited.any():
            return None
        stacks = counted(int(self.unawaited.sum()), "stack")
        share = share_text(self.weight_of(self.unawaited) / self.total if self.total else 0)
        return (
            f"what awaits the resumed async method is unknown in {stacks} ({share} of the weight), which end in the "
            "dispatcher: threads had not written it when the recording stopped, the async profiler's resume call "
            "stacks were not recorded, or the frames do not show which method it is"
        )

    @property
    def at_safe_points(self) -> bool:
        """Whether the sampler saw threads only where the compiler had them stop."""
        profiled = self.timed and self.state is not None and not self.off_processor
        return profiled and self.info is not None and self.info.native_aot

    @property
    def stopped_text(self) -> str | None:
        """How much time seems to be of routines at which the sampler stops threads; None if it is little."""
        if not self.timed or self.state is None or not len(self):
            return None
        weight = self.weight if self.counted is None else self.counted.of_samples(len(self))[0]
        ran = weight * in_states(self.state, ("running",))
        by_leaf = np.bincount(self.values[self.offsets[self.stack]], ran, len(self.frames))
        places = np.flatnonzero(by_leaf)
        stops = places[at_stops(self.frames[place].method for place in places.tolist())]
        stopped = by_leaf[stops]
        if stopped.sum() <= _STOPPED * ran.sum():
            return None
        most = self.frames[int(stops[stopped.argmax()])].method
        return (
            f"{share_text(stopped.sum() / ran.sum())} of the running time is in short routines at which the sampler "
            f"stops threads, most in {most}: before, threads ran something else; trust the inclusive times of methods "
            "further out"
        )

    @property
    def nameless(self) -> int:
        """How many frames lack a name because it was not recorded."""
        return sum(frame.reason not in (None, NO_STACK, FOLDED, NOT_SAMPLED, SKIPPED) for frame in self.frames)

    @cached_property
    def unsampled(self) -> NDArray[np.bool_]:
        """Which are not samples but unsampled time between two of a thread."""
        places = [place for place, frame in enumerate(self.frames) if frame.reason == NOT_SAMPLED]
        if not places or not len(self):
            return np.zeros(len(self), dtype=np.bool_)
        mask: NDArray[np.bool_] = self.values[self.offsets[self.stack]] == places[0]
        return mask

    @property
    def count(self) -> int:
        """How many samples or events there are."""
        return int((~self.unsampled).sum())

    @property
    def unsampled_total(self) -> int | float:
        """How much of the total no sample covers."""
        return self.weight_of(self.unsampled)

    def in_states(self, *states: ThreadState) -> Samples:
        """Those whose thread was in one of these states; weights are unchanged.

        Raises ValueError for an unknown state, for one that these samples do not show, and unless these are samples of
        the profiler or times off a processor.
        """
        if self.state is None:
            raise ValueError(f"samples of {self.event or 'no event'} have no states; only profiler samples do")
        for name in states:
            chosen_states(False, False, name, self.off_processor)
        if not self.running_told and not tellable(states):
            raise ValueError(UNTOLD)
        return self._only(np.flatnonzero(in_states(self.state, states)))

    def of_process(self, process_id: int) -> Samples:
        """Those of one process; what does not say its process is of none."""
        of_process = np.array([thread.process_id == process_id for thread in self.threads], dtype=np.bool_)
        return self._only(np.flatnonzero(of_process[self.thread]))

    def of_kind(self, kind: str | None) -> Samples:
        """Those whose innermost frame is of this kind of code: `kernel`, `native` or `managed`; None is unknown.

        Raises ValueError for another kind.
        """
        check_kind(kind)
        of_kind = np.array([frame.kind == kind for frame in self.frames], dtype=np.bool_)
        leaf = self.values[self.offsets[self.stack]] if len(self) else self.stack
        return self._only(np.flatnonzero(of_kind[leaf]))

    def shaped(
        self,
        *,
        group: str | None = None,
        include: str | None = None,
        exclude: str | None = None,
        fold: str | None = None,
        my_code: bool = False,
        fold_kernel: bool = False,
    ) -> Samples:
        """The same with grouped frames, with only some samples, and without some frames, in this order.

        `fold_kernel` shows the kernel's frames of a stack as one, named after what the kernel was entered for. `group`
        renames frames, `include` keeps only samples with matching frames on their stacks, `exclude` leaves those out,
        `my_code` removes frames of the runtime and the framework from stacks, and `fold` those that match.
        Weights are unchanged. Patterns are as in docs/top.md. Raises ValueError for an invalid pattern.
        """
        return self.in_shape(StackShape.of(group, include, exclude, fold, my_code, fold_kernel))

    def seen(self) -> Samples:
        """Only the samples, without unsampled time."""
        if not self.unsampled.any():
            return self
        return self._only(np.flatnonzero(~self.unsampled))

    def in_shape(self, shape: StackShape) -> Samples:
        """The same, by a shape."""
        if not shape:
            return self
        stacks, kept = shape.apply(self._stacks)
        return self._only(np.flatnonzero(kept[self.stack]), stacks)

    @property
    def _stacks(self) -> MergedStacks:
        return MergedStacks(self.stack, self.offsets, self.values, self.frames)

    def _only(self, kept: Ints, stacks: MergedStacks | None = None) -> Samples:
        """Some of the samples; their stacks are of these, or unchanged."""
        stacks = stacks or self._stacks
        merged = used(MergedStacks(stacks.of[kept], stacks.offsets, stacks.values, stacks.frames))
        threads, thread = np.unique(self.thread[kept], return_inverse=True)
        return attrs.evolve(
            self,
            time_ns=self.time_ns[kept],
            thread=thread,
            weight=self.weight[kept],
            stack=merged.of,
            offsets=merged.offsets,
            values=merged.values,
            threads=tuple(self.threads[place] for place in threads.tolist()),
            frames=merged.frames,
            external=None if self.external is None else self.external[kept],
            state=None if self.state is None else self.state[kept],
            cut=None if self.cut is None else self.cut[kept],
            unawaited=None if self.unawaited is None else self.unawaited[kept],
            address=None if self.address is None else self.address[kept],
            counted=None if self.counted is None else self.counted.only(kept, len(self)),
        )

    def with_counts(self, counts: Counts) -> Samples:
        """The same, all samples of a process, with what was counted divided among them.

        Unchanged where samples do not show whether a thread ran.
        """
        if self.state is None or not self.running_told:
            return self
        ids = np.array([-1 if one.thread_id is None else one.thread_id for one in self.threads], dtype=np.int64)
        leaf = self.values[self.offsets[self.stack]] if len(self) else self.stack
        codes = {"running": IN_MANAGED, "unknown": NOTHING}
        doing = np.array([codes.get(state, WAITING) for state in STATES], dtype=np.int64)[self.state]
        method = np.where(self.state == STATES.index("native"), leaf, doing)
        columns = ids[self.thread], counts.since(ids.tolist())[self.thread], self.time_ns, self._end_ns, method
        return attrs.evolve(self, counted=divided(counts.windows, counts.ended_windows, *columns))

    def by_processor(self) -> Samples:
        """The same weighted by the counted processor time, without those that have none.

        Raises ValueError where processor time was not counted.
        """
        if self.counted is None:
            raise ValueError("the trace has no counts of processor time: record it on Linux with clrevents collect")
        used, _ = self.counted.of_samples(len(self))
        kept = np.flatnonzero(used > 0)
        samples = self._only(kept)
        return attrs.evolve(samples, weight=used[kept], timed=False)

    @property
    def _end_ns(self) -> Ints:
        """Until when each of the profiler's holds."""
        return self.time_ns + self.weight.astype(np.int64)

    def within(self, window: TimeWindow, thread_ids: Sequence[int] | None = None) -> Samples:
        """Those of profiler samples that reach into a window, with their time there; of some threads, or all."""
        end = self._end_ns
        meets = window.meets(self.time_ns, end) & (window.high > window.low)
        if thread_ids is not None:
            meets &= np.isin(self.thread, [n for n, one in enumerate(self.threads) if one.thread_id in thread_ids])
        kept = np.flatnonzero(meets)
        if len(kept) == len(self) and window.whole:
            return self
        samples = self._only(kept)
        return attrs.evolve(
            samples,
            time_ns=np.maximum(samples.time_ns, window.low),
            weight=window.overlap(samples.time_ns, samples._end_ns),
            counted=None if samples.counted is None else samples.counted.within(window),
        )

    def table(self, raw: bool = False) -> Table:
        """A row for each sample: `time_ns`, `thread_id`, `process_id`, `weight`, `leaf`, `stack`, `state`,
        `processor_ns` and `ready_ns`.

        `leaf` is the innermost frame's name, `stack` all names, innermost first, a line each; with `raw` as the runtime
        writes them. `state` is what the thread did, null except for the profiler's samples. `processor_ns` and
        `ready_ns` are its part of what the operating system counted, null if it did not. The metadata has `name` (the
        event) and `unit`.
        """
        if self.unsampled.any():
            return self.seen().table(raw)
        names = [frame.raw if raw else frame.name for frame in self.frames]
        stacks = [[names[frame] for frame in self.frame_ids(stack)] for stack in range(len(self.offsets) - 1)]
        threads = from_values(ColumnType("uint64"), [thread.thread_id for thread in self.threads])
        processes = from_values(ColumnType("int64"), [thread.process_id for thread in self.threads])
        columns = (
            number_column("int64", self.time_ns),
            threads.take(self.thread),
            processes.take(self.thread),
            number_column("float64" if self.weight.dtype.kind == "f" else "int64", self.weight),
            text_column([stack[0] for stack in stacks], self.stack),
            text_column(["\n".join(stack) for stack in stacks], self.stack),
            from_values(ColumnType("string"), [None] * len(self))
            if self.state is None
            else text_column(list(STATES), self.state.astype(np.int64)),
            *(
                [from_values(ColumnType("int64"), [None] * len(self))] * 2
                if self.counted is None
                else [number_column("int64", column) for column in self.counted.of_samples(len(self))]
            ),
        )
        columns_of = (
            *("time_ns", "thread_id", "process_id", "weight", "leaf", "stack", "state"),
            *("processor_ns", "ready_ns"),
        )
        always = ("time_ns", "weight", "leaf", "stack")
        fields = [TableField(n, c.type, n not in always) for n, c in zip(columns_of, columns, strict=True)]
        return Table(tuple(fields), (columns,) if len(self) else (), {"name": self.event, "unit": self.unit})

    def __repr__(self) -> str:
        return samples_text(self)

    def _repr_html_(self) -> str:
        return samples_html(self)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: FlameFormat | None = None,
        title: str | None = None,
        merge_threads: bool = False,
        raw: bool = False,
        against: Samples | None = None,
    ) -> None:
        """Write a flame graph, or a file for another viewer. It appears complete or not at all; `.gz` compresses it.

        `format` is `"html"`, `"speedscope"`, `"folded"` or `"pprof"`, by default what the path's suffix means
        (docs/flame.md). `title` is by default the trace's file name; `raw` writes names as the runtime does. With other
        samples to compare these `against`, the page shows how shares changed since those.

        Raises ValueError for an unknown or unsuitable format, and for samples with different units; OSError if it
        cannot be written.
        """
        offered("write_samples")(self, path, format, self._titled(title), merge_threads, raw, against)

    def show(self, *, title: str | None = None, merge_threads: bool = False, height: int | None = None) -> None:
        """Show a zoomable, searchable flame graph: below a notebook's cell, otherwise in a browser.

        In a notebook it is one sandboxed frame of at most 1 MB: a graph with more boxes shows the lightest ones of each
        caller as one, and says so. `title` is by default the trace's file name; `height` is in pixels. Elsewhere the
        whole graph is written to a temporary file and opened; raises OSError if no browser can be started.
        """
        offered("show_samples")(self, self._titled(title), merge_threads, height)

    def _titled(self, title: str | None) -> str:
        path = None if self.info is None else self.info.path
        return os.path.basename(path or "") if title is None else title

    def frame_ids(self, stack: int) -> list[int]:
        """One stack's frames, innermost first."""
        numbers: list[int] = self.values[self.offsets[stack] : self.offsets[stack + 1]].tolist()
        return numbers

    def weight_of(self, mask: NDArray[np.bool_]) -> int | float:
        """The total weight of some samples."""
        weight: int | float = self.weight[mask].sum().item()
        return weight


def read_samples(
    trace: Trace,
    event: Selector | None = None,
    weight: str | None = None,
    *,
    thread_id: ThreadIds = None,
    start: Moment | None = None,
    end: Moment | None = None,
    artefacts: bool = False,
    logical: bool = False,
) -> Samples:
    """Read the stacks of the sample profiler, each weighted by the ns to its thread's next sample, or of any `event`.

    Each event has a weight of 1, or the value of its field `weight`; if that is a text, the weight is 1, and the text
    is the outermost frame of the stack. Without an event, the weight `alloc` reads allocations from the best source in
    the trace, each weighted by the bytes that it represents; `exceptions` reads thrown exceptions, each once however
    often `throw;` rethrows it; and `ExceptionType` the same by type; `off-cpu` reads context switches of the Linux
    recorder, each weighted by the ns that its thread was off a processor; `cpu` reads the sample profiler's, each
    weighted by its part of the processor time that the operating system counted, an estimate. The window from `start`
    to before `end` clips a sample's time, so windows add up to the whole. The runtime's suspension and
    exception-dispatch frames are left out, and async methods are followed by those that await them where .NET 11's
    async profiler tells, unless `artefacts` is true. With `logical`, stacks in tasks and in resumed awaits continue
    where these were created, instead of in the thread pool.

    Raises KeyError for a field that the event lacks, ValueError for weights that are negative or meaningless, such as
    ids, and for `cpu` where nothing was counted, and AmbiguousEventError and UnknownEventError as `Trace.table` does.
    """
    if event is None and weight == CPU_TIME:
        every = read_samples(trace, thread_id=thread_id, start=start, end=end, artefacts=artefacts, logical=logical)
        return every.by_processor()
    passes = passes_of(trace)
    window = TimeWindow.between(start, end, passes.moment_ns)
    threads = Filters.of({"thread_id": thread_id}).thread_ids
    trails = _trails(trace) if logical else None
    reader = SampleReader(event, weight)
    if trace.info.version >= MANY_PROCESSES:
        passes.scan(raising=False)  # threads are named from it; it also tells if there is nothing to read
    of_processors = reader.timed and has_cpu_samples(trace)
    selectors = (CPU,) if of_processors else tuple(name for name in reader.selectors if name != CPU)
    stacks = AddressStacks.of(())
    if len(selectors) > 1:
        # All are read: what a window or a thread has depends on the others.
        meant = {passes.selection((name,)).one_event(): name for name in selectors}
        parts = []
        headers = (*SAMPLE_HEADERS, "process_id")
        for chunk in passes.table_chunks(*selectors, columns=headers, headers=(), known=True):
            parts.append(chunk.stacks)
            for kind, table in chunk.tables.items():
                reader.take(meant[kind], Gathered(kind, near_table(table)[0], chunk.places[kind]))
        stacks = AddressStacks.of(parts)
    elif not (reader.away and _never(trace, SWITCH_EVENT)):
        columns = reader.columns(selectors[0])
        if of_processors or reader.away:
            # Each trace describes these by itself.
            fields = passes.fields(CPU_EVENT if of_processors else SWITCH_EVENT, known=True)
            there = {*SAMPLE_HEADERS, "process_id", *(field.name for field in fields)}
            columns = tuple(name for name in columns if name in there)
        # A time off a processor may reach into the window from before it.
        options: FilterOptions = {"thread_id": thread_id}
        filters = Filters.of(options if reader.away else {**options, "start": start, "end": end})
        table, stacks = passes.table(selectors[0], Wanted(columns, known=True), filters, "time", stacks=True)
        kind = table.metadata.get("provider", ""), table.metadata.get("name", "")
        if reader.field is not None and not reader.timed:
            check_weight(kind, (*table.fields, *passes.fields(kind, known=True)), reader.field, texts=True)
        reader.take(selectors[0], Gathered(kind, table, np.arange(len(table))))
    read = reader.read(window, trace.info, trace.duration_ns if reader.away else 0, _nothing, threads, of_processors)
    known = len(read.weighed.rows) > 0
    apart = trace.info.version >= MANY_PROCESSES
    samples = reader.named(
        read,
        window,
        threads,
        # Where there are none, no pass for names: what failed to find samples is often damaged, and dear to read.
        trace.methods if known else no_methods(),
        stacks,
        {t.thread_id: t.name for t in trace.threads if t.name} if apart else {},
        apart,
        artefacts,
        trails,
        passes.async_stacks if known else None,
    )
    return attrs.evolve(samples, info=trace.info)


def has_cpu_samples(trace: Trace) -> bool:
    """Whether the Linux recorder took any: then they are what is read, because only they tell processor time."""
    return trace.info.version >= MANY_PROCESSES and not _never(trace, CPU_EVENT)


def _never(trace: Trace, event: tuple[str, str]) -> bool:
    return all((kind.provider, kind.name) != event for kind in trace.event_counts())


def _nothing(selector: str) -> Gathered:
    return Gathered.empty(None, Table((), ()))


def _trails(trace: Trace) -> TaskTrails:
    """Loaded on demand: nothing else here needs reports."""
    from clrevents.analysis.shared.samples.logical_stacks import TaskTrails

    return TaskTrails.of(trace)


@frozen(eq=False)
class ReadSamples:
    """Weighed events without names. `profiled` are all samples of the profiler, whatever the window, None for other
    events; `switches` the times off a processor."""

    event: str
    weighed: WeighedColumns
    profiled: SampleColumns | None = None
    running_told: bool = True
    switches: Switches | None = None


class SampleReader:
    """Takes events, chunk by chunk, and keeps a few numbers of each: its time, thread, stack and one field.

    `event` and `weight` are those of `read_samples`. The events are of all processes, which a column tells, or of
    `one_process`, as those of a report are.
    """

    def __init__(self, event: Selector | None, weight: str | None, one_process: bool = False) -> None:
        self._left_out = left_out(event, weight)
        if event is None:
            event, weight = event_and_weight(weight)
        self.timed = event is None and weight is None
        """Whether these are samples of the profiler, or of processors where these were recorded."""
        self.away = event is None and weight == OFF_CPU
        """Whether these are times off a processor."""
        self._weight = weight
        self.field = SAMPLE_TYPE if self.timed else weight if event is not None else None
        """The payload field or header column that is kept."""
        self.allocations = AllocationRows() if event is None and weight == ALLOC else None
        self.selectors: tuple[Any, ...] = (event,)
        if self.timed:
            self.selectors = (SAMPLES, CPU, SUSPENDING, *COUNT_EVENTS, *VERSION_EVENTS, *WORK_EVENTS)
        elif self.allocations is not None:
            self.selectors = SELECTORS
        elif self.away:
            self.selectors = (SWITCH,)
        self._one_process = one_process
        self._kept = Kept()
        self._versions: set[int] = set()
        self._stops: dict[int, list[Ints]] = {}
        self._counts = CountFeed()
        self._work = RuntimeWork()
        self.samplers: set[int] = set()
        """The threads that took samples."""

    def columns(self, selector: Selector) -> tuple[str, ...]:
        """The columns that are kept of the events with the stacks."""
        field = CPU_COUNT if selector in (CPU, SWITCH) else self.field
        more = () if self._left_out is None else self._left_out[:1]
        process = () if self._one_process else ("process_id",)
        return tuple(dict.fromkeys((*SAMPLE_HEADERS, *process, *([] if field is None else [field]), *more)))

    def take(self, selector: Any, events: Gathered) -> None:
        """Take the next events that one of `selectors` means."""
        table, process = events.table, _NOBODY if self._one_process else None
        if self.allocations is not None:
            self.allocations.take(selector, table, process)
        elif self.timed and selector in COUNT_EVENTS:
            self._counts.add(selector, table)
        elif self.timed and selector in VERSION_EVENTS:
            self._versions |= versions_of({selector: events})
        elif self.timed and selector in WORK_EVENTS:
            self._work.take(selector, table)
        elif self.timed and selector == SUSPENDING:
            sampling, stops = of_sampling(events), stops_of(events)
            of = np.full(len(stops), _NOBODY)
            if process is None:
                of = table.column("process_id").filled(_NOBODY).astype(np.int64)[sampling]
            for owner, rows in groups(of):
                self._stops.setdefault(owner, []).append(stops[rows])
            self.samplers.update(events.numbers("thread_id")[sampling].tolist())
        else:
            columns = [name for name in self.columns(selector) if name in table]
            self._kept.take(ReportChunk({selector: attrs.evolve(events, table=table.select(*columns))}))

    @property
    def counts(self) -> Counts | None:
        """What the operating system counted; None if nothing."""
        return self._counts.finish()

    def read(
        self,
        window: TimeWindow,
        info: TraceInfo,
        end_ns: int,
        nothing: Callable[[str], Gathered],
        threads: Sequence[int] | None = None,
        of_processors: bool = False,
        owner: int | None = None,
    ) -> ReadSamples:
        """Everything that was taken, weighed: in a window, of some threads or all, and of the process `owner`, if the
        events are of one.

        `nothing` gives the columns of an event that never came; the trace ends at `end_ns`; `of_processors` asks for
        the samples of the Linux recorder.
        """

        def rows(selector: Any, field: Callable[[Table], str | None]) -> SampleColumns:
            table = self._kept.all((selector,), nothing)[selector].table
            return SampleColumns.of(table, field(table), owner, left_out=self._left_out)

        if self.allocations is not None:
            name, columns = self.allocations.best()
            if owner is not None:
                columns = attrs.evolve(columns, process=np.full(len(columns), owner, dtype=np.int64))
            return ReadSamples(name, weigh_events(columns.of_threads(threads), BYTES, window))
        if self.away:
            table = self._kept.all((SWITCH,), nothing)[SWITCH].table
            away = Switches.of(table, end_ns, _NOBODY if owner is None else owner).of_threads(threads)
            return ReadSamples(SWITCH_EVENT[1], away.weighed(window), switches=away)
        if of_processors:
            return ReadSamples(CPU_EVENT[1], weigh_cpu(rows(CPU, cpu_field).of_threads(threads), info, window))
        selector = self.selectors[0]
        event = _SAMPLE_EVENT if self.timed else self._kept.all((selector,), nothing)[selector].event
        name = "" if event is None else event[1]
        columns = rows(selector, lambda _: self.field)
        if not self.timed:
            return ReadSamples(name, weigh_events(columns.of_threads(threads), self._weight, window))
        running_told = columns.field is None or tells_running(
            info, self._versions, int((columns.field == MANAGED).sum()), len(columns)
        )
        weighed = weigh_times(columns, window, self._stopped(owner), threads)
        return ReadSamples(name, weighed, columns, running_told)

    def _stopped(self, owner: int | None) -> dict[int, Ints]:
        """When the sampler stopped each process."""
        stops = {of: np.concatenate(parts) for of, parts in self._stops.items()}
        return stops if owner is None else {owner: stops.get(_NOBODY, _NO_ROWS)}

    def named(
        self,
        read: ReadSamples,
        window: TimeWindow,
        threads: Sequence[int] | None,
        methods: Methods,
        stacks: AddressStacks,
        names: Mapping[int, str],
        apart: bool,
        artefacts: bool,
        trails: TaskTrails | None = None,
        awaits: AsyncStacks | None = None,
        owner: int | None = None,
    ) -> Samples:
        """The samples with names, with the runtime's work, and with what was counted divided among them. `names` are
        those of threads.

        A stack is named as of its event's own time, also where a window cuts that time; if `apart`, only by code of its
        event's process. With `awaits`, stacks of async methods continue with what awaits these.
        """
        counts = None if read.profiled is None else self.counts
        weighed, running_told = read.weighed, read.running_told
        if counts is not None and read.profiled is not None:
            # Division is of the whole, so that windows and threads add up.
            weighed = weigh_times(read.profiled, TimeWindow(), self._stopped(owner))
        rows = weighed.rows
        tracks, of = _sampled_threads(rows, names)
        processes = rows.process if apart else None
        arrays, ids = stacks.arrays, rows.stack_id
        if awaits is not None and not artefacts:
            arrays, ids = awaits.joined(
                methods, arrays, ids, rows.time, awaits.running(rows.time, rows.thread, processes), processes
            )
        merged = merged_stacks(methods, resolve_stacks(methods, arrays, ids, rows.time, processes))
        timed, weight = weighed.gap is not None, weighed.weight
        state = None if not timed or rows.field is None else sampled_states(merged, rows.field, running_told)
        if weighed.away:
            states, ended = away_states(merged)
            # What a stack weighs whose thread has ended is no time off a processor.
            weight = np.where(ended[merged.of], 0, weighed.weight)
            state = states[merged.of].astype(np.int8)
        # Only the runtime cuts stacks: the Linux recorder, whose traces hold many processes, unwinds them itself.
        deep = stacks.arrays.ids[cut_stacks(np.diff(stacks.arrays.offsets))]
        cut = np.isin(rows.stack_id, deep) & (ids == rows.stack_id) & (not apart)
        unawaited = np.zeros(len(merged.of), dtype=np.bool_) if artefacts else _unawaited(merged)
        merged = merged if artefacts else folded(merged)
        if trails is not None:
            merged = used(trails.joined(merged, rows.time, rows.thread, rows.process))
        if read.profiled is not None:
            inside = self._work.inside(rows.time, rows.thread.astype(np.int64))
            merged = with_work(merged, inside)
            if state is not None and running_told:
                # A method that waits, or runs, is on the stack before it is compiled.
                state = np.where((inside >= 0).any(axis=0), _NATIVE, state).astype(np.int8)
        if rows.texts is not None and rows.field is not None:
            merged = used(under_texts(merged, rows.field, rows.texts))
        if weighed.unsampled is not None and weighed.unsampled.any():
            cut &= ~weighed.unsampled
            unawaited &= ~weighed.unsampled
            merged = _with_unsampled(merged, weighed.unsampled)
        lacking = any(frame.reason in NAMELESS for frame in merged.frames)
        samples = Samples(
            event=read.event,
            unit=weighed.unit,
            timed=timed,
            time_ns=weighed.shown,
            thread=of,
            weight=weight,
            stack=merged.of,
            offsets=merged.offsets,
            values=merged.values.astype(np.int64),
            threads=tracks,
            frames=merged.frames,
            external=weighed.external if running_told else None,
            advice=methods.advice if lacking else None,
            running_told=running_told,
            state=state,
            off_processor=weighed.away,
            cut=cut if cut.any() else None,
            unawaited=unawaited if unawaited.any() else None,
            address=None if state is None or weighed.away else _innermost(stacks, rows.stack_id),
        )
        return samples if counts is None else samples.with_counts(counts).within(window, threads)


def stacked_events(trace: Trace) -> dict[tuple[str, str], int]:
    """How many events with a stack there are, by (provider, name), most first: the events that `read_samples`
    accepts."""
    passes = passes_of(trace)
    columns = passes.columns(passes.selection(()), headers=("stack_id",), payloads=False)
    event_counts: Counter[tuple[str, str]] = Counter()
    for chunk in passes.chunks(columns):
        kinds, counts = np.unique(chunk.kinds[chunk.headers["stack_id"].values > 0], return_counts=True)
        for index, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            key = columns.stream.kinds.all[index].key
            event_counts[key.provider, key.name] += count
    return dict(sorted(event_counts.items(), key=lambda item: (-item[1], item[0])))


def _innermost(stacks: AddressStacks, ids: Ints) -> NDArray[np.uint64]:
    arrays = stacks.arrays
    known = np.isin(ids, arrays.ids[np.diff(arrays.offsets) > 0])
    addresses = np.zeros(len(ids), dtype=np.uint64)
    addresses[known] = arrays.addresses[arrays.offsets[np.searchsorted(arrays.ids, ids[known])]]
    return addresses


def _unawaited(merged: MergedStacks) -> NDArray[np.bool_]:
    """Which uses end in a dispatcher of async methods."""
    frames = np.array(
        [frame.reason is None and _COMPILER in frame.raw and resumes(frame.method) for frame in merged.frames],
        dtype=np.bool_,
    )
    stacks = np.repeat(np.arange(len(merged.offsets) - 1), np.diff(merged.offsets))[frames[merged.values]]
    return np.isin(merged.of, stacks)


def _with_unsampled(merged: MergedStacks, unsampled: NDArray[np.bool_]) -> MergedStacks:
    """The stacks where some uses are time that no sample covers."""
    frames = (*merged.frames, StackFrame(f"[{NOT_SAMPLED}]", f"[{NOT_SAMPLED}]", reason=NOT_SAMPLED))
    of = np.where(unsampled, len(merged.offsets) - 1, merged.of)
    offsets, values = np.append(merged.offsets, len(merged.values) + 1), np.append(merged.values, len(frames) - 1)
    return used(MergedStacks(of, offsets, values, frames))


def _sampled_threads(rows: SampleColumns, names: Mapping[int, str]) -> tuple[tuple[SampledThread, ...], Ints]:
    """The threads in order of their first sample, and which of them each row is of."""
    threads, thread = np.unique(rows.thread, return_inverse=True)
    processes, process = np.unique(rows.process, return_inverse=True)
    pairs, first, of = np.unique(process * len(threads) + thread, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    tracks = []
    for pair in pairs[order].tolist():
        number, owner = int(threads[pair % len(threads)]), int(processes[pair // len(threads)])
        name = names.get(number)
        tracks.append(SampledThread(None if number < 0 else number, None if owner < 0 else owner, name))
    return tuple(tracks), place[of]


_ROWS: Final = 50
_HEAD: Final = ("weight", "samples", "innermost frame")


def samples_text(samples: Samples) -> str:
    """The repr of samples."""
    lines = [f"<Samples: {_title(samples)}>", *(f"  {name:<9} {value}" for name, value in _facts(samples))]
    lines = [fitted(line) for line in lines]
    if not len(samples):
        return "\n".join(lines)
    rows = _heaviest(samples)
    return "\n".join([*lines, *text_rows(_HEAD, rows, len(rows), "innermost frames", LINES - len(lines))])


def samples_html(samples: Samples) -> str:
    """The notebook view of samples."""
    parts = [f"<b>{escaped(_title(samples))}</b>", html_table((), _facts(samples))]
    rows = _heaviest(samples)
    parts.append(html_table(_HEAD, [(*numbers, shortened(name)) for *numbers, name in rows[:_ROWS]]))
    if len(rows) > _ROWS:
        parts.append(f"<p>{_ROWS} of {len(rows):,} innermost frames</p>")
    return framed_html("".join(parts), lambda: samples_text(samples))


def _title(samples: Samples) -> str:
    threads = counted(len(samples.threads), "thread")
    return safe(f"{counted(samples.count, 'sample')} of {samples.event or 'no event'} on {threads}")


def _facts(samples: Samples) -> list[tuple[str, str]]:
    if not len(samples):
        return []
    first, last = int(samples.time_ns.min()), int(samples.time_ns.max())
    facts = [
        ("total", _amount(samples, samples.total)),
        ("time", f"{moment_text(first)} to {moment_text(last)}"),
        ("stacks", f"{counted(len(samples.offsets) - 1, 'stack')} of {counted(len(samples.frames), 'frame')}"),
    ]
    if samples.unsampled_total:
        facts.append(("unsampled", _amount(samples, samples.unsampled_total)))
    if samples.cut_text is not None:
        facts.append(("cut", samples.cut_text))
    return facts if samples.advice is None else [*facts, ("names", f"some are missing: {safe(samples.advice)}")]


def _heaviest(samples: Samples) -> list[tuple[str, ...]]:
    """The innermost frames with their own weight and number of samples, heaviest first."""
    leaf = samples.values[samples.offsets[samples.stack]] if len(samples) else samples.stack
    weight = sum_by(leaf, samples.weight, len(samples.frames))
    count = np.bincount(leaf[~samples.unsampled], minlength=len(samples.frames))
    weights, counts = weight.tolist(), count.tolist()
    order = sorted(np.unique(leaf).tolist(), key=lambda i: (-weights[i], -counts[i], samples.frames[i].raw))
    return [(_amount(samples, weights[i]), f"{counts[i]:,}", samples.frames[i].name) for i in order]


def _amount(samples: Samples, weight: int | float) -> str:
    return amount_text(weight, {"nanoseconds": "ns", "bytes": "bytes"}.get(samples.unit))
