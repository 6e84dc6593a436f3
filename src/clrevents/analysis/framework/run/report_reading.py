"""One reading of events for many reports: chunks are dealt to collectors, process by process; at the end they answer.

The answers of processes become one: a fact that differs between them is null, metrics are merged as they declare it,
and nothing is computed anew but shares. Does not know where the chunks come from: `asking` feeds it from a trace or
from a decoder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import Collector, Context, ReadingNames, ReportChunk
from clrevents.analysis.framework.model.declaration import AnyReport
from clrevents.analysis.framework.model.needs import Hole, KindsOfProcesses, SeenKind, SeenKinds, Troubles
from clrevents.analysis.framework.vocabulary.answer_values import (
    ALWAYS,
    FOREVER,
    MANY_PROCESSES,
    MISSING,
    Coverage,
    JoinedRun,
    Metric,
    Note,
    Question,
    TimeWindow,
    TraceIdentity,
)
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, shape_of, shares_of
from clrevents.analysis.gathering.groups import Gathered, groups, near_ns, near_table
from clrevents.errors import TraceError
from clrevents.schema.matching import glob, is_glob
from clrevents.schema.own_marks import CUT, JOINED, marks_redaction
from clrevents.schema.registry import DEFAULT, Entry
from clrevents.table.read import TableChunk
from clrevents.table.table import Table
from clrevents.trace import Trace, TraceInfo, passes_of

if TYPE_CHECKING:
    from clrevents.symbols.async_stacks import AsyncStacks


def kinds_of_processes(trace: Trace) -> KindsOfProcesses:
    """The same by process, which takes a pass over the headers of a trace that has several."""
    passes = passes_of(trace)
    scan = passes.scan(raising=False)
    if trace.info.version < MANY_PROCESSES or len({thread.process_id for thread in scan.threads} - {None}) < 2:
        return KindsOfProcesses(SeenKinds.in_trace(trace))
    pass_ = passes.columns(passes.selection(()), headers=("process_id",), payloads=False)
    pairs: set[tuple[int, int]] = set()
    for numbers, chunk_kinds in _processes_and_kinds(passes, pass_):
        pairs |= set(map(tuple, np.unique(np.column_stack((numbers, chunk_kinds)), axis=0).tolist()))
    kinds = pass_.stream.kinds.all
    return KindsOfProcesses.of((None if p < 0 else p, SeenKind.of(kinds[index])) for p, index in sorted(pairs))


def busiest_processes(trace: Trace, selectors: Sequence[str], most: int) -> frozenset[int | None] | None:
    """Those `most` processes that have the most of these events; None if there are no more of them."""
    passes = passes_of(trace)
    threads = passes.scan(raising=False).threads if trace.info.version >= MANY_PROCESSES else ()
    if len({thread.process_id for thread in threads}) <= most:
        return None
    events = Counter[int | None]()
    pass_ = passes.columns(passes.selection(selectors), headers=("process_id",), payloads=False)
    for processes, _ in _processes_and_kinds(passes, pass_):
        numbers, counts = np.unique(processes, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            events[None if number < 0 else number] += count
    return frozenset(process for process, _ in events.most_common(most))


def _processes_and_kinds(passes: Any, pass_: Any) -> Iterator[tuple[Any, Any]]:
    """Of each chunk the events' processes, -1 where unknown, and their kinds.

    What broke the reading is raised by the pass that the answers come from.
    """
    with suppress(TraceError):
        for chunk in passes.chunks(pass_):
            process = chunk.headers["process_id"]
            yield np.where(process.known, process.values, -1), chunk.kinds


_SEVERAL: Final = "there are several processes, and there is no common value for them"


def merged(answers: Sequence[Answer[object]]) -> Answer[object]:
    """One answer of at least one, each about another process."""
    first = answers[0]
    if len(answers) == 1:
        return first
    processes = tuple(process for answer in answers for process in answer.question.processes)
    changed: dict[str, Any] = {
        "question": attrs.evolve(first.question, processes=processes),
        "coverage": _coverage([answer.coverage for answer in answers]),
        "notes": _notes(answers, len(processes)),
        "facts": _facts([answer.facts for answer in answers]),
        "metrics": {name: merged_metric([answer.metrics[name] for answer in answers]) for name in first.metrics},
    }
    for declared in first.tables():
        tables = [answer.table(declared.name) for answer in answers]
        changed[declared.name] = _with_shares(ReportTable.joined(declared.row_class, tables))
    return attrs.evolve(first, **changed)


def of_some(answer: Answer[object]) -> Answer[object]:
    """An answer of some processes as one of all: sums are lower bounds, and nothing is a share of the whole."""
    sums = {name: one for name, one in answer.metrics.items() if one.merge != "none"}
    bounds = {name: one.bound(least=one.merge != "min") for name, one in sums.items()}
    changed: dict[str, Any] = {"metrics": {**answer.metrics, **bounds}}
    for declared in answer.tables():
        rows = answer.table(declared.name)
        unknown = dict.fromkeys(shares_of(declared.row_class), [None] * len(rows))
        changed[declared.name] = rows.replaced(**unknown) if unknown else rows
    return attrs.evolve(answer, **changed)


def _with_shares(rows: ReportTable[object]) -> ReportTable[object]:
    """Rows whose shares are of the whole, heaviest first unless they are a tree."""
    tree = shape_of(rows.row_class).tree
    for share, names in shares_of(rows.row_class).items():
        weights = next((rows.column(name) for name in names if rows.column(name).known.any()), None)
        if weights is None:
            continue
        weight = weights.filled(0).astype(np.float64)
        whole = weight.sum() if tree is None else weight[rows.numbers(tree.depth) == 0].sum()
        rows = rows.replaced(**{share: weight / whole if whole else [None] * len(rows)})
        if tree is None:
            rows = rows.sorted_by(share, descending=True)
    return rows


def _coverage(coverages: Sequence[Coverage]) -> Coverage:
    if len(set(coverages)) == 1:
        return coverages[0]
    return "partial"


def _notes(answers: Sequence[Answer[object]], processes: int) -> tuple[Note, ...]:
    """Each note once."""
    notes = []
    for answer in answers:
        notes += [note for note in answer.notes if note not in notes]
    several = Note(
        "several-processes",
        "info",
        f"the trace has events of {processes} processes; facts that differ between them are not given",
        ("facts",),
        {"processes": processes},
        "ask for one of them with process_id",
    )
    return (*notes, several)


def _facts(by_process: Sequence[Any]) -> Any:
    """What all agree on."""
    first = by_process[0]
    differing = {
        field.name: () if isinstance(getattr(first, field.name), tuple) else None
        for field in attrs.fields(type(first))
        if any(getattr(facts, field.name) != getattr(first, field.name) for facts in by_process)
    }
    return attrs.evolve(first, **differing)


def merged_metric(metrics: Sequence[Metric], several: str = _SEVERAL) -> Metric:
    """One metric from several of the same name; null, with the reason, if one of them is.

    Also null, with the reason `several`, if its declaration says `none`.
    """
    first = metrics[0]
    if first.merge == "none":
        return attrs.evolve(first, value=None, low=None, high=None, reason=several)
    values = [metric.value for metric in metrics if metric.value is not None]
    if len(values) < len(metrics):
        # One that is unknown may be the largest: neither a sum nor a maximum is known then.
        reason = next(metric.reason for metric in metrics if metric.value is None)
        return first.unknown(reason)
    merge: Mapping[str, Any] = {"sum": sum, "max": max, "min": min}
    bounds: dict[str, Any] = {}
    for bound in ("low", "high"):
        limits = [getattr(m, bound) if getattr(m, bound) is not None else m.value for m in metrics]
        known = any(getattr(m, bound) is not None for m in metrics)
        # One that has only the other bound may be anything on this side.
        known = known and not any(m.bounded and getattr(m, bound) is None for m in metrics)
        bounds[bound] = merge[first.merge]([limit for limit in limits if limit is not None]) if known else None
    merged = attrs.evolve(first, value=merge[first.merge](values), reason=None, **bounds)
    return merged if merged.bounded or not any(m.bounded for m in metrics) else merged.unknown(MISSING)


_SPECIAL: Final = re.compile(r"([*?[])")


def patient(selector: str) -> str:
    """The selector for a pass: a name that no registry knows becomes a pattern that fits just this name.

    A pass refuses unknown names, but an event that only traces describe is unknown wherever it did not occur.
    """
    if is_glob(selector) or DEFAULT.named(selector):
        return selector
    return _SPECIAL.sub(r"[\1]", selector[:-1]) + f"[{selector[-1]}]"


def fits(pattern: str, event: tuple[str, str]) -> bool:
    """Whether a (provider, name) is one that the pattern means."""
    return glob(pattern)(Entry(event[0], 0, event[1], (), ()))


_PROCESS: Final = "process_id"
_WHOLE: Final = TimeWindow()
PROCESSES: Final = 100
"""The most processes with an answer; the runtimes of a machine are fewer."""


@frozen
class Asked:
    """One report with its parameters, and whether its slow tables are made as `late` as somebody reads them."""

    declaration: AnyReport
    parameters: Any
    late: bool = False


@frozen(eq=False)
class ReadingEnd:
    """What is known when the last event was read."""

    info: TraceInfo
    duration_ns: int
    kinds: KindsOfProcesses
    holes: tuple[Hole, ...]
    stackless: tuple[Hole, ...]
    """Where stacks are missing."""
    damaged: int
    complete: bool
    known_ns: int
    """Until when the events of all threads are there; FOREVER if no end is missing."""
    names: ReadingNames
    thread_names: Mapping[int, str]
    stopped_ns: Callable[[], int]
    """When tracing stopped: called only where it matters."""


class ReportReading:
    """Takes chunks in order of time and gives answers by name.

    `one_event` returns the (provider, name) that a selector means, or None as long as that is unknown; `nothing`
    returns its columns without a row. `busiest` are the processes with an answer, where it is known which have the most
    events; else they are the first ones.
    """

    busiest: frozenset[int | None] | None = None
    awaits: Callable[[], AsyncStacks | None] = staticmethod(lambda: None)

    def __init__(
        self,
        asked: Sequence[Asked],
        one_event: Callable[[str], tuple[str, str] | None],
        nothing: Callable[[str], Gathered],
        process_id: int | None = None,
    ) -> None:
        self.asked = tuple(asked)
        self._one_event = one_event
        # Asked at the end by every process, of which there may be many.
        self._nothing = nothing
        self._only = process_id
        self._collectors: list[dict[int | None, Collector[Any]]] = [{} for _ in asked]
        self._first = [one.declaration.collector(one.parameters) for one in asked]
        self._holes: list[Hole] = []
        self._place = 0
        self._processes: set[int | None] = set()
        self._left_out: set[int | None] = set()
        self._distant = 0
        self._usable: set[tuple[str, str]] = set()
        self._unfit: Counter[tuple[str, str]] = Counter()
        self._part = _WHOLE
        self._join: JoinedRun | None = None

    @property
    def selectors(self) -> tuple[str, ...]:
        """The events that any of the reports wants."""
        wanted = (name for collector in self._first for name in collector.selectors)
        wanted_selectors = tuple(dict.fromkeys(map(patient, wanted)))
        return (*wanted_selectors, patient(CUT.selector), patient(JOINED.selector)) if wanted_selectors else ()

    @property
    def names(self) -> tuple[str, ...]:
        """Those selectors of the reports that are names, not patterns: what `one_event` is asked for."""
        named = (name for collector in self._first for name in collector.selectors if not is_glob(name))
        return tuple(dict.fromkeys(named))

    @property
    def stacks(self) -> bool:
        """Whether any report wants stacks."""
        return any(collector.stacks for collector in self._first)

    @property
    def modules(self) -> bool:
        """Whether any report wants modules."""
        return any(collector.modules for collector in self._first)

    def headers(self, info: TraceInfo) -> tuple[str, ...]:
        """The header columns that the chunks must have."""
        wanted = dict.fromkeys(("time_ns", *(name for collector in self._first for name in collector.headers)))
        return (*wanted, _PROCESS) if info.version >= MANY_PROCESSES else tuple(wanted)

    def take(self, chunk: TableChunk, holes: Sequence[Hole], info: TraceInfo, window: TimeWindow = _WHOLE) -> None:
        """Deal a chunk, and the holes that ended since the one before.

        Holes go to every process, because it is unknown whose events are missing; one that appears later gets all
        earlier ones.
        """
        events = {}
        self._part, parts = _parts(self._part, chunk.tables.get(CUT.event))
        joined, joins = JoinedRun.of(chunk.tables.get(JOINED.event))
        self._join = self._join or joined
        self._unfit.update({mark: count for mark, count in ((CUT.event, parts), (JOINED.event, joins)) if count})
        window = window.within(self._part)
        for event, table in chunk.tables.items():
            rows, distant = near_table(table)
            events[event] = Gathered(event, rows, chunk.places[event] + self._place)
            self._distant += distant
        self._usable |= chunk.tables.keys()
        self._unfit.update(chunk.unfit)
        self._place += len(chunk.headers)
        processes = _by_process(events, info, self._takes)
        for place, (first, collectors) in enumerate(zip(self._first, self._collectors, strict=True)):
            known = list(collectors)
            for process, own in processes.items():
                wanted = self._wanted(first.selectors, own)
                if process in collectors:
                    if wanted or holes:
                        collectors[process].take(ReportChunk(wanted, tuple(holes), window, self.awaits))
                elif wanted.keys() - first.beside:
                    self._of(place, process).take(ReportChunk(wanted, (*self._holes, *holes), window, self.awaits))
            if holes:
                for process in known:
                    if process not in processes:
                        collectors[process].take(ReportChunk({}, tuple(holes), window))
        self._holes += holes

    def _takes(self, process: int | None) -> bool:
        """Whether a process is asked for, and one of the busiest, or first: each takes collectors and an answer of its
        own, and a crafted trace may have as many processes as threads.
        """
        if self._only is not None and process != self._only:
            return False
        if self._only is None and self.busiest is not None:
            taken = process in self.busiest
        else:
            taken = process in self._processes or len(self._processes) < PROCESSES
        if not taken:
            self._left_out.add(process)
            return False
        self._processes.add(process)
        return True

    def finish(self, known: ReadingEnd, window: TimeWindow, rest: Sequence[Hole] = ()) -> dict[str, Answer[object]]:
        """The answers, by the reports' names. `rest` are holes that ended after the last event."""
        window = window.within(self._part)
        default = known.info.process_id if self._only is None else self._only
        # The same for every process.
        nothing = cache(self._nothing)
        redacted = marks_redaction(known.kinds.every.providers)
        seen = known.kinds.without(frozenset(self._unfit.keys() - self._usable))
        troubles = Troubles(
            known.holes, known.damaged, known.complete, window, self._part, redacted, self._join, known.known_ns
        )
        without_stacks = attrs.evolve(troubles, holes=(*known.holes, *known.stackless))
        answers: dict[str, Answer[object]] = {}
        for place, one in enumerate(self.asked):
            collectors = self._collectors[place]
            own = without_stacks if known.stackless and self._first[place].stacks else troubles
            # Nothing that the report selects occurred in any process: then it is about no one of them.
            idle = not collectors and self._only is None
            if not collectors:
                self._tell(place, default, window)
            parts = []
            unfit = self._unfit_of(self._first[place].selectors)
            for process in sorted(collectors, key=lambda number: -1 if number is None else number):
                collector = collectors[process]
                if rest:
                    collector.take(ReportChunk({}, tuple(rest), window))
                kinds = seen.every if idle else seen.told_of(process)
                parts.append(collector.finish(self._context(one, process, known, kinds, own, nothing, unfit)))
            answers[one.declaration.name] = self._noted(merged(parts))
        return answers

    def _noted(self, answer: Answer[object]) -> Answer[object]:
        """With notes if processes were left out, or times differ from those in the trace."""
        tables = tuple(declared.name for declared in answer.tables())
        notes = []
        if self._distant:
            text = (
                f"{_events(self._distant)} more than a year from the start of the session, which indicates a damaged "
                "clock; they count as one year from it"
            )
            notes.append(Note("distant-times", "warning", text, tables, {"events": self._distant}))
        if self._left_out:
            left_out = len(self._left_out)
            which = "first" if self.busiest is None else "with the most events"
            text = (
                f"the trace has events of more than {PROCESSES} processes; {left_out:,} of them are left out, and the "
                f"{PROCESSES} {which} are here: sums are lower bounds, and shares of the whole are unknown"
            )
            advice = "ask for one of them with process_id"
            notes.append(Note("too-many-processes", "warning", text, tables, {"processes": left_out}, advice))
            answer = of_some(answer)
        if not notes:
            return answer
        # How many processes there are is told by the note on those that are left out.
        kept = [note for note in answer.notes if not (self._left_out and note.id == "several-processes")]
        return attrs.evolve(answer, coverage="partial", notes=(*kept, *notes))

    def _wanted(self, selectors: Iterable[str], events: Mapping[tuple[str, str], Gathered]) -> dict[str, Gathered]:
        """The events by the selector that means them; those that a pattern fits, by `Provider/Event`."""
        wanted: dict[str, Gathered] = {}
        for selector in selectors:
            if is_glob(selector):
                wanted |= {"/".join(event): rows for event, rows in events.items() if fits(selector, event)}
            else:
                event = self._one_event(selector)
                if event is not None and event in events:
                    wanted[selector] = events[event]
        return wanted

    def _of(self, place: int, process: int | None) -> Collector[Any]:
        """The collector of one process; the first gets the one that was made to ask for its selectors."""
        collectors, one = self._collectors[place], self.asked[place]
        if process not in collectors:
            collectors[process] = one.declaration.collector(one.parameters) if collectors else self._first[place]
        return collectors[process]

    def _unfit_of(self, selectors: Iterable[str]) -> dict[str, int]:
        """How many events that these mean, and marks of a part or of a join, could not be used, by `Provider/Event`."""
        one = {self._one_event(selector) for selector in selectors if not is_glob(selector)} | {CUT.event, JOINED.event}
        globs = [selector for selector in selectors if is_glob(selector)]
        return {
            "/".join(event): count
            for event, count in sorted(self._unfit.items())
            if event in one or any(fits(selector, event) for selector in globs)
        }

    def _tell(self, place: int, process: int | None, window: TimeWindow) -> None:
        """See that a process without events has a collector, which knows of all holes."""
        collector = self._of(place, process)
        if self._holes:
            collector.take(ReportChunk({}, tuple(self._holes), window))

    def _context(
        self,
        one: Asked,
        process: int | None,
        known: ReadingEnd,
        kinds: SeenKinds,
        troubles: Troubles,
        nothing: Callable[[str], Gathered],
        unfit: Mapping[str, int],
    ) -> Context:
        info, declared = known.info, one.declaration
        trace = TraceIdentity.of(info, known.duration_ns)
        asked = {field.name: getattr(one.parameters, field.name) for field in attrs.fields(type(one.parameters))}
        question = Question(
            declared.name, declared.question, asked, troubles.window, self._only, (process,), trace, __version__
        )
        return Context(
            question=question,
            process_id=process,
            info=info,
            duration_ns=near_ns(known.duration_ns),
            needs=declared.needs,
            metrics=declared.metrics,
            in_part=declared.in_part,
            kinds=kinds,
            troubles=troubles,
            nothing=nothing,
            names=known.names,
            thread_names=known.thread_names,
            unfit=unfit,
            stopped=known.stopped_ns,
            late=one.late,
        )


def _parts(part: TimeWindow, marks: Table | None) -> tuple[TimeWindow, int]:
    """Of which part of another trace this one is a part, as these marks say, too, and how many of them say nothing that
    can be."""
    impossible = 0
    if marks is not None:
        edges = (marks.column(name).tolist() for name in ("StartNs", "EndNs"))
        for start, end in zip(*edges, strict=True):
            if start > end:
                impossible += 1
                continue
            part = part.within(TimeWindow(None if start == ALWAYS else start, None if end == FOREVER else end))
    return part, impossible


def _events(count: int) -> str:
    return "1 event has a time" if count == 1 else f"{count:,} events have times"


def _by_process(
    events: Mapping[tuple[str, str], Gathered], info: TraceInfo, takes: Callable[[int | None], bool]
) -> dict[int | None, dict[tuple[str, str], Gathered]]:
    """The rows of each process that is taken; of a trace that has one, all."""
    if info.version < MANY_PROCESSES:
        return {info.process_id: dict(events)} if takes(info.process_id) else {}
    gathered: dict[int | None, dict[tuple[str, str], Gathered]] = {}
    for event, rows in events.items():
        column = rows.table.column(_PROCESS)
        numbers = np.where(column.known, column.values.astype(np.int64), -1)
        for number, places in groups(numbers):
            process = None if number < 0 else number
            if takes(process):
                gathered.setdefault(process, {})[event] = rows if len(places) == len(numbers) else rows.only(places)
    return gathered


class HoleQueue:
    """Holes that wait for the events of their time, so that collectors get them in order."""

    def __init__(self, holes: Iterable[Hole] = ()) -> None:
        self._waiting = list(holes)

    def add(self, holes: Iterable[Hole]) -> None:
        """More of them."""
        self._waiting = sorted([*self._waiting, *holes], key=lambda hole: (hole.end_ns, hole.start_ns))

    def until(self, time_ns: int) -> list[Hole]:
        """Those that ended by then, each once."""
        ready = [hole for hole in self._waiting if hole.end_ns <= time_ns]
        self._waiting = self._waiting[len(ready) :]
        return ready

    def rest(self) -> list[Hole]:
        """All that are left."""
        waiting, self._waiting = self._waiting, []
        return waiting
