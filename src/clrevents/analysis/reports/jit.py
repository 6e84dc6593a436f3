"""Show what the JIT compiled, when, and for how long.

Joins what several events say about one compilation: its names, sizes, tier, thread and the decisions inside it; and
counts what happened around them: look-ups of precompiled code, pauses of the background thread. Knows only the trace's
clock: a compilation lasts from its first to its last event, whatever else the thread did meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import itemgetter
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import (
    FOREVER,
    Dated,
    Metric,
    TimeWindow,
    count_of,
    size_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import (
    NONE,
    Array,
    Gathered,
    Interned,
    Ints,
    Mask,
    group_numbers,
    grouped,
    matched,
    nulled,
)
from clrevents.analysis.shared.events.event_spans import EventSpans, compilations, inside, tier_name
from clrevents.schema.runtime_flags import MethodFlags, OptimizationTier, TieredCompilationFlags
from clrevents.symbols.display_names import display_name, raw_name
from clrevents.table.table import deferred_column

INLINING: Final = "inlining"
TAIL_CALL: Final = "tail call"


@frozen
class DecisionEvent:
    """An event that records a decision: its selector, the outcome, and its field for the reason."""

    selector: str
    what: str
    accepted: bool
    reason: str | None = None


EVENTS: Final = (
    DecisionEvent("runtime/MethodJitInliningSucceeded", INLINING, True),
    DecisionEvent("runtime/MethodJitInliningFailed", INLINING, False, "FailReason"),
    DecisionEvent("runtime/MethodJitInliningFailedAnsi", INLINING, False, "FailReason"),
    DecisionEvent("runtime/MethodJitTailCallSucceeded", TAIL_CALL, True, "TailCallType"),
    DecisionEvent("runtime/MethodJitTailCallFailed", TAIL_CALL, False, "FailReason"),
    DecisionEvent("runtime/MethodJitTailCallFailedAnsi", TAIL_CALL, False, "FailReason"),
)
OUTCOMES: Final = {
    "inlined": (INLINING, True),
    "not_inlined": (INLINING, False),
    "tail_calls": (TAIL_CALL, True),
    "no_tail_calls": (TAIL_CALL, False),
}
"""Columns and metrics that count decisions."""


@frozen
class DecisionKind:
    """What was decided, how, and why."""

    what: str
    accepted: bool
    reason: str | None


@frozen(eq=False)
class Decisions:
    """All decisions, as arrays: `kind` is the place in `kinds`."""

    kinds: tuple[DecisionKind, ...]
    place: Ints
    time: Ints
    thread: NDArray[np.uint64]
    kind: NDArray[np.int32]

    def by_compilation(self, jitted: EventSpans) -> dict[str, Ints]:
        """How many of each of `OUTCOMES` each compilation has."""
        of = inside(jitted, self.thread, self.place)
        counts = {}
        for name, outcome in OUTCOMES.items():
            numbers = of[(of >= 0) & self._outcomes[outcome][self.kind]]
            counts[name] = np.bincount(numbers, minlength=len(jitted)).astype(np.int64)
        return counts

    def totals(self, window: TimeWindow) -> dict[str, int]:
        """How many of each of `OUTCOMES` lie in a window."""
        in_window = window.holds(self.time)
        return {name: int((in_window & self._outcomes[o][self.kind]).sum()) for name, o in OUTCOMES.items()}

    def columns(self, window: TimeWindow) -> dict[str, Cells]:
        """The columns of the table of decisions in a window, most frequent first for each outcome."""
        in_window = window.holds(self.time)
        of, counts = self.kinds, np.bincount(self.kind[in_window], minlength=len(self.kinds)).tolist()
        order = [n for n, count in enumerate(counts) if count]
        order.sort(key=lambda n: (of[n].what, not of[n].accepted, -counts[n], of[n].reason or ""))
        kinds = [of[n] for n in order]
        return {
            "what": [kind.what for kind in kinds],
            "accepted": [kind.accepted for kind in kinds],
            "count": [counts[n] for n in order],
            "reason": [kind.reason for kind in kinds],
        }

    @cached_property
    def _outcomes(self) -> dict[tuple[str, bool], NDArray[np.bool_]]:
        return {
            outcome: np.array([(kind.what, kind.accepted) == outcome for kind in self.kinds], dtype=np.bool_)
            for outcome in OUTCOMES.values()
        }


class DecisionLog:
    """Takes the events of decisions. Memory grows with them, by 29 bytes each."""

    def __init__(self) -> None:
        self._kinds: Interned[DecisionKind] = Interned()
        self._parts: list[tuple[Array, ...]] = []

    def take(self, chunk: ReportChunk) -> None:
        """Keep what is in a chunk."""
        for event in EVENTS:
            rows = chunk.events.get(event.selector)
            if rows is not None and len(rows):
                columns = rows.places, rows.numbers("time_ns"), rows.numbers("thread_id")
                self._parts.append((*columns, self._numbered(event, rows)))

    def all(self) -> Decisions:
        """Everything that came."""
        types: Sequence[Any] = (np.int64, np.int64, np.uint64, np.int32)
        empty = tuple(np.zeros(0, dtype=type) for type in types)
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        return Decisions(tuple(self._kinds), *columns)

    def _numbered(self, event: DecisionEvent, rows: Gathered) -> NDArray[np.int32]:
        """The kind of each row, as its number."""
        if event.reason is None:
            kind = DecisionKind(event.what, event.accepted, None)
            return np.full(len(rows), self._kinds[kind], dtype=np.int32)
        column = rows.column(event.reason)
        enum = next(field.enum for field in rows.payload if field.name == event.reason)
        numbers, _ = group_numbers([[column]], [len(rows)])
        _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        reasons = [str(enum(value)) if enum else value for value in column.take(first).tolist()]
        kinds = [DecisionKind(event.what, event.accepted, reason) for reason in reasons]
        return self._kinds.of(kinds).astype(np.int32)[place.reshape(-1)]


SETTINGS = ("runtime/TieredCompilationSettings", "rundown/TieredCompilationSettingsDCStart")
TURN, TURN_END = "runtime/TieredCompilationBackgroundJitStart", "runtime/TieredCompilationBackgroundJitStop"
PAUSE, RESUME = "runtime/TieredCompilationPause", "runtime/TieredCompilationResume"
LOOKUP, FOUND = "runtime/R2RGetEntryPointStart", "runtime/R2RGetEntryPoint"


def lookups(rows: Mapping[str, Gathered], window: TimeWindow) -> dict[str, int | None]:
    """Look-ups of precompiled code that ended in the window, and the time of those whose start and end are known.

    Earlier runtimes do not record starts: then no time is known.
    """
    starts, ends = rows[LOOKUP], rows[FOUND]
    in_window = _in_window(ends, window)
    hit = in_window & (ends.numbers("EntryPoint") != 0)
    return {
        "lookups": int(in_window.sum()),
        "lookup_hits": int(hit.sum()),
        "lookup_misses": int((in_window & ~hit).sum()),
        "lookup_methods": len(set(ends.numbers("MethodID")[hit].tolist())),
        "lookup_total": _took(starts, ends, ("thread_id", "MethodID"), window)
        if len(starts) or not len(ends)
        else None,
    }


def turns(rows: Mapping[str, Gathered], window: TimeWindow) -> dict[str, int | None]:
    """The background thread's turns and pauses. Turns, pauses and methods count where their events lie; None for what
    only ends tell if there are none."""
    starts, stops, pauses = rows[TURN], rows[TURN_END], rows[PAUSE]
    return {
        "turns": int(_in_window(starts, window).sum()),
        "turn_methods": int(stops.numbers("JittedMethodCount")[_in_window(stops, window)].sum())
        if len(stops) or not len(starts)
        else None,
        "turn_total": _took(starts, stops, ("thread_id",), window),
        "pauses": int(_in_window(pauses, window).sum()),
        "paused_total": _took(pauses, rows[RESUME], (), window),
    }


def settings(rows: Mapping[str, Gathered]) -> str | None:
    """The settings of tiered compilation; None if not recorded."""
    flags = [int(rows[name].numbers("Flags")[0]) for name in SETTINGS if len(rows[name])]
    return str(TieredCompilationFlags(flags[0])) if flags else None


def _in_window(rows: Gathered, window: TimeWindow) -> Mask:
    return window.holds(rows.numbers("time_ns"))


def _took(begins: Gathered, ends: Gathered, keys: tuple[str, ...], window: TimeWindow) -> int | None:
    first, second = matched([begins], [ends], keys)
    if len(begins) and not len(ends):
        return None
    return int(window.overlap(begins.numbers("time_ns")[first], ends.numbers("time_ns")[second]).sum())


Texts: TypeAlias = tuple[str, str, str]
MethodKey: TypeAlias = tuple[int, str, str, str]

BEGIN: Final = "runtime/MethodJittingStarted"
LOADS: Final = ("runtime/MethodLoad", "runtime/MethodLoadVerbose")
_REJECTED: Final = MethodFlags.ProfilerRejectedPrecompiledCode | MethodFlags.ReadyToRunRejectedPrecompiledCode
_QUICK: Final = (str(OptimizationTier.QuickJitted), str(OptimizationTier.QuickJittedInstrumented))


@frozen(eq=False)
class BuiltCompilations:
    """All compilations of a trace, in order of time: the columns of their table, and the key of each one's method.

    Ids of dynamic methods are reused, so the names belong to the key. `by_turns` says whether turns of the background
    thread were recorded; without them, what it compiled is inferred from versions.
    """

    columns: Mapping[str, Any]
    keys: Sequence[MethodKey]
    started: Mask
    end_ns: Ints
    by_turns: bool

    def never_tiered_up(self) -> frozenset[MethodKey]:
        """Methods compiled for a quick start, with no optimized code later."""
        tiers: dict[MethodKey, bool] = {}
        for key, tier in zip(self.keys, self.columns["tier"], strict=True):
            if tier is not None:
                tiers[key] = tiers.get(key, True) and tier in _QUICK
        return frozenset(key for key, quick in tiers.items() if quick)

    def in_window(self, window: TimeWindow) -> dict[str, Cells]:
        """The columns without compilations only known to have ended outside a window."""
        if window.whole:
            return dict(self.columns)
        kept = self.started | window.holds(self.end_ns)
        method = self.columns["method"].take(np.flatnonzero(kept))
        columns = {name: values for name, values in self.columns.items() if name != "method"}
        return {"method": method, **{name: list(compress(values, kept.tolist())) for name, values in columns.items()}}


def built(context: Context, rows: Mapping[str, Gathered], decisions: Decisions | None, raw: bool) -> BuiltCompilations:
    """From the rows of all events by selector. Without `decisions` the columns that count them are null."""
    jitted = compilations(rows[BEGIN], [rows[name] for name in LOADS])
    loaded, started = jitted.ended, jitted.begun
    flags, version = (jitted.at_end(name).astype(np.int64) for name in ("MethodFlags", "ReJITID"))
    address, methods = jitted.at_end("MethodStartAddress"), jitted.either("MethodID").astype(np.uint64).tolist()
    texts = _texts(context, rows, jitted, address)
    # What has no end may have lost it at any time.
    until = np.where(loaded, jitted.end_ns, FOREVER)
    shown = raw_name if raw else display_name
    keys = [(method, *text) for method, text in zip(methods, texts, strict=True)]
    columns: dict[str, Cells] = {
        "method": deferred_column(len(texts), lambda place: shown(*texts[place]), np.arange(len(texts))),
        "module": _modules(context, jitted.either("ModuleID"), jitted.low_ns),
        "tier": [tier_name(f) if end else None for f, end in zip(flags.tolist(), loaded, strict=True)],
        "version": nulled(version, loaded),
        "background": _background(rows, jitted, version, flags),
        "thread_id": nulled(jitted.thread, jitted.known("thread_id")),
        "start_ns": nulled(jitted.start_ns, started),
        "end_ns": nulled(jitted.end_ns, loaded),
        "compile_ns": nulled(jitted.end_ns - jitted.start_ns, jitted.closed),
        "il_bytes": nulled(jitted.at_begin("MethodILSize"), started),
        "native_bytes": nulled(jitted.at_end("MethodSize"), loaded),
        **_decided(jitted, decisions),
        "recompiled": _recompiled(keys),
        "dynamic": nulled((flags & int(MethodFlags.Dynamic)) > 0, loaded),
        "rejected": nulled((flags & int(_REJECTED)) > 0, loaded),
        "method_id": methods,
        "address": nulled(address, loaded),
        "namespace": [text[0] for text in texts],
        "name": [text[1] for text in texts],
        "signature": [text[2] for text in texts],
        "lossy": context.marks.touched(jitted.low_ns, until, [jitted.thread]).tolist(),
    }
    return BuiltCompilations(columns, keys, started, jitted.end_ns, len(rows[TURN]) > 0)


def _modules(context: Context, modules: Array, since: Ints) -> list[str | None]:
    """Names of modules as they were then; None for unknown ones."""
    known = context.names.modules
    names = []
    for module, time in zip(modules.tolist(), since.tolist(), strict=True):
        then = known.at(module, time, context.process_id)
        names.append(then.name if then else None)
    return names


def _texts(context: Context, rows: Mapping[str, Gathered], jitted: EventSpans, address: Array) -> list[Texts]:
    """Namespace, name and signature, from whichever event has them."""
    fields = ("MethodNamespace", "MethodName", "MethodSignature")
    begins, plain_loads, loads = (rows[name] for name in (BEGIN, *LOADS))
    verbose = jitted.end - len(plain_loads)
    ours = [begins.column(f).take(jitted.begin[jitted.begin != NONE]).tolist() for f in fields]
    alone = jitted.begin == NONE
    theirs = [loads.column(f).take(verbose[alone & (verbose >= 0)]).tolist() for f in fields]
    own, other = zip(*ours, strict=True), zip(*theirs, strict=True)
    texts = []
    for begin, load, code, end in zip(
        jitted.begin.tolist(), verbose.tolist(), address.tolist(), jitted.end_ns.tolist(), strict=True
    ):
        if begin != NONE:
            texts.append(next(own))
        elif load >= 0:
            texts.append(next(other))
        else:
            frame = context.methods.at(code, end, context.process_id)
            texts.append((frame.namespace, frame.name or f"[{code:#x}]", frame.signature))
    return texts


def _recompiled(keys: Sequence[MethodKey]) -> list[bool]:
    """Whether the same method came before."""
    seen: set[MethodKey] = set()
    recompiled = []
    for key in keys:
        recompiled.append(key in seen)
        seen.add(key)
    return recompiled


def _decided(jitted: EventSpans, decisions: Decisions | None) -> dict[str, list[int | None]]:
    """How many decisions of each kind lie in each compilation; null if its start or end is unknown."""
    if decisions is None:
        nothing: list[int | None] = [None] * len(jitted)
        return dict.fromkeys(OUTCOMES, nothing)
    return {name: nulled(counts, jitted.closed) for name, counts in decisions.by_compilation(jitted).items()}


def _background(rows: Mapping[str, Gathered], jitted: EventSpans, version: Ints, flags: Ints) -> list[bool | None]:
    """Whether the tiering thread did it: inside one of its turns, where these were recorded."""
    starts, stops = rows[TURN], rows[TURN_END]
    if not len(starts):
        # Later versions come from there, but those that replace a loop while it runs: right for 1,885 of 1,885.
        osr = (flags >> 7 & 7) == OptimizationTier.OptimizedTier1OSR
        return nulled((version > 0) & ~osr, jitted.end != NONE)
    first, second = matched([starts], [stops], ("thread_id",))
    until = np.full(len(starts), FOREVER, dtype=np.int64)
    until[first] = stops.places[second]
    # The last turn of its thread before it: turns and compilations in order of thread and place, turns first.
    threads = np.concatenate((starts.numbers("thread_id").astype(np.uint64), jitted.thread))
    is_turn = np.arange(len(threads)) < len(starts)
    order = np.lexsort((~is_turn, np.concatenate((starts.places, jitted.low_place)), threads))
    last = np.maximum.accumulate(np.where(is_turn[order], np.arange(len(order)), -1))
    before = np.full(len(threads), -1, dtype=np.int64)
    before[order[last >= 0]] = order[last[last >= 0]]
    turn = before[len(starts) :]
    within = (turn >= 0) & (threads[turn] == jitted.thread)
    inside: list[bool | None] = (within & (until[np.where(within, turn, 0)] >= jitted.low_place)).tolist()
    return inside


@row(since="first_ns")
class JittedMethod(Row):
    """One method with all its compilations that lie in the window."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it.", importance=0)
    module: cells.CodeName | None = column("The module that declares it.", hidden=True)
    compilations: cells.Count = column("How many compilations of it began.", hidden=True)
    rejits: cells.Count = column("How many of them were not the first of this method in the trace.", hidden=True)
    tiers: tuple[cells.Word, ...] = column("The tiers of its finished compilations, in order of time.", importance=3)
    ready_ns: tuple[cells.Ns, ...] = column("When each of them was ready to run.", hidden=True)
    compile_ns: cells.DurationNs | None = column("How long its compilations took within the window.", importance=0)
    background_ns: cells.DurationNs | None = column("How much of that was on the background thread.", hidden=True)
    il_bytes: cells.Bytes | None = column("The size of its IL, at the last compilation.", importance=2)
    native_bytes: cells.Bytes | None = column("The size of its code, at the last compilation.")
    inlined: cells.Count | None = column("Calls that were inlined in its compilations.", importance=3)
    not_inlined: cells.Count | None = column("Calls that could not be inlined in its compilations.", importance=3)
    never_tiered_up: cells.Flag = column(
        "It was compiled for a quick start and never optimized in the whole trace.", hidden=True
    )
    rejected: cells.Flag = column("It had precompiled code that could not be used.", hidden=True)
    first_ns: cells.Ns = column("When its first compilation began; if that is unknown, when it was ready.", hidden=True)
    method_id: cells.Handle = column("The runtime's id of the method. Ids of dynamic methods are reused.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Compilation(SpanRow):
    """One compilation of a method, finished or not."""

    method: cells.CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: cells.CodeName | None = column("The module that declares it.", hidden=True)
    tier: cells.Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    version: cells.Ordinal | None = column(
        "The number of this version of the method's code; 0 is the first.", hidden=True
    )
    background: cells.Flag | None = column("Whether the thread that raises methods to higher tiers compiled it.")
    thread_id: cells.ThreadId | None = column("The thread that compiled it.")
    start_ns: cells.Ns | None = column("When the compilation began.")
    end_ns: cells.Ns | None = column("When the code was loaded.", hidden=True)
    compile_ns: cells.DurationNs | None = column("The time between the two, including any part outside the window.")
    il_bytes: cells.Bytes | None = column("The size of the IL.")
    native_bytes: cells.Bytes | None = column("The size of the code alone.")
    inlined: cells.Count | None = column("Calls that were inlined.", hidden=True)
    not_inlined: cells.Count | None = column("Calls that could not be inlined.", hidden=True)
    tail_calls: cells.Count | None = column("Calls that became tail calls.", hidden=True)
    no_tail_calls: cells.Count | None = column("Calls that could not become tail calls.", hidden=True)
    recompiled: cells.Flag = column("The same method was compiled before, in this trace.", hidden=True)
    dynamic: cells.Flag | None = column("It is a dynamic method or a stub, generated at run time.", hidden=True)
    rejected: cells.Flag | None = column("There was precompiled code that could not be used.", hidden=True)
    method_id: cells.Handle = column("The runtime's id of the method.", hidden=True)
    address: cells.Address | None = column("Where the code begins.", hidden=True)
    namespace: cells.CodeName = column("The method's type, as the runtime writes it.", hidden=True)
    name: cells.CodeName = column("The method's name, as the runtime writes it.", hidden=True)
    signature: cells.CodeText = column("The method's signature, as the runtime writes it.", hidden=True)


@row
class TierTotal(Row):
    """All compilations at one tier."""

    tier: cells.Word | None = column("The tier, as the runtime names it; null for unfinished compilations.")
    compilations: cells.Count = column("How many compilations began.")
    compile_ns: cells.DurationNs | None = column("How long they took within the window.")
    il_bytes: cells.Bytes | None = column("The size of their IL.")
    native_bytes: cells.Bytes | None = column("The size of their code.")


@row(threads=("thread_id",))
class JitThread(Row):
    """All compilations on one thread."""

    thread_id: cells.ThreadId | None = column("The thread.")
    compilations: cells.Count = column("How many compilations began on it.")
    background: cells.Count = column("How many of them raised methods to higher tiers in the background.")
    compile_ns: cells.DurationNs | None = column("How long they took within the window.")
    il_bytes: cells.Bytes | None = column("The size of their IL.")
    native_bytes: cells.Bytes | None = column("The size of their code.")


@row
class JitDecision(Row):
    """One outcome of the JIT's decisions about calls, and the reason."""

    what: cells.Word = column("What was decided: `inlining` or `tail call`.")
    accepted: cells.Flag = column("Whether the JIT did it.")
    count: cells.Count = column("How many calls had this outcome.")
    reason: cells.Word | None = column("The JIT's word for why not, or for how it made a tail call.")


@row
class JitFacts:
    """The facts of a JIT report."""

    tiering: cells.Word | None = column("The settings of tiered compilation, as the runtime names them.")
    background_by: cells.Word | None = column(
        "How background compilations are recognized: by recorded `turns` of their thread, or only by `versions` of "
        "methods."
    )


class _Amount:
    """A number of each compilation: 0 where it does not count in the window, None where it is not known."""

    def __init__(self, values: Array, known: Mask) -> None:
        # Lists, because most groups have one row, for which numpy is slow.
        self._values: list[int | None] = nulled(values, known)

    def sum(self, rows: Sequence[int]) -> int | None:
        """Over these rows."""
        if len(rows) == 1:
            return self._values[rows[0]]
        values = [value for value in map(self._values.__getitem__, rows) if value is not None]
        return sum(values) if values else None

    def total(self) -> int:
        """Over all rows."""
        return self.sum(range(len(self._values))) or 0


class CompilationSums:
    """Everything that is summed up over the compilations of a window."""

    def __init__(self, context: Context, listed: ReportTable[Compilation], never: Collection[MethodKey]) -> None:
        self._context, self._listed, self._never = context, listed, never
        begun, took = context.begun(listed), context.overlap(listed)
        background = _true(listed, "background")
        timed = _known(listed, "compile_ns")
        self._took = _Amount(took, timed)
        self._took_in_background = _Amount(np.where(background, took, 0), timed)
        self._il, self._native, self._inlined, self._not_inlined = (
            _Amount(np.where(begun, listed.numbers(name), 0), _known(listed, name))
            for name in ("il_bytes", "native_bytes", "inlined", "not_inlined")
        )
        everywhere = np.ones(len(listed), dtype=np.bool_)
        self._marks = {
            name: _Amount(begun & marked, everywhere)
            for name, marked in {
                "compilations": everywhere,
                "foreground": ~background,
                "background": background,
                "rejits": _true(listed, "recompiled"),
                "unfinished": ~_known(listed, "end_ns"),
                "untimed": ~_known(listed, "start_ns"),
                "rejected": _true(listed, "rejected"),
            }.items()
        }
        self._keys = _keys(listed)
        # One that began before the window, and is not known to have lasted into it, is in no group.
        self._counted: list[int] = np.flatnonzero(begun | (took > 0)).tolist()

    def metrics(self) -> dict[str, int]:
        """The metrics that are made of compilations."""
        methods = {self._keys[row] for row in self._counted}
        return {
            "methods": len(methods),
            "never_tiered_up": len(methods & set(self._never)),
            "compile_total": self._took.total(),
            "background_total": self._took_in_background.total(),
            "il_total": self._il.total(),
            "native_total": self._native.total(),
            **{name: marked.total() for name, marked in self._marks.items()},
        }

    def methods(self, only_never: bool) -> ReportTable[JittedMethod]:
        """By method, longest time first; `only_never` leaves those that stayed at the quick tier."""
        groups = grouped(self._counted, self._keys.__getitem__)
        if only_never:
            groups = {key: rows for key, rows in groups.items() if key in self._never}
        of = self._values("tier", "start_ns", "end_ns", "rejected")
        took = {key: self._took.sum(rows) for key, rows in groups.items()}
        as_long, keys = grouped(groups, lambda key: took[key] or 0), list[MethodKey]()
        for time in sorted(as_long, reverse=True):
            tied = as_long[time]
            if len(tied) > 1:
                # Only then, as names cost more than all else.
                names = self._listed.column("method").take(np.array([groups[key][-1] for key in tied])).tolist()
                tied = [key for _, key in sorted(zip(names, tied, strict=True), key=itemgetter(0))]
            keys += tied
        every = [groups[key] for key in keys]
        # As they were at last.
        last = np.array([rows[-1] for rows in every], dtype=np.int64)
        first_ns = ((of["start_ns"][rows[0]], of["end_ns"][rows[0]]) for rows in every)
        columns: dict[str, Cells] = {
            **{name: self._listed.column(name).take(last) for name in ("method", "module", "il_bytes", "native_bytes")},
            "compilations": [self._count("compilations", rows) for rows in every],
            "rejits": [self._count("rejits", rows) for rows in every],
            "tiers": [tuple(tier for row in rows if (tier := of["tier"][row]) is not None) for rows in every],
            "ready_ns": [tuple(end for row in rows if (end := of["end_ns"][row]) is not None) for rows in every],
            "compile_ns": [took[key] for key in keys],
            "background_ns": list(map(self._took_in_background.sum, every)),
            "inlined": list(map(self._inlined.sum, every)),
            "not_inlined": list(map(self._not_inlined.sum, every)),
            "never_tiered_up": [key in self._never for key in keys],
            "rejected": [any(of["rejected"][row] for row in rows) for rows in every],
            "first_ns": [end if start is None else start for start, end in first_ns],
            "method_id": [key[0] for key in keys],
        }
        return self._context.table(JittedMethod, columns)

    def tiers(self) -> ReportTable[TierTotal]:
        """By tier, most compilations first."""
        (tiers,) = self._values("tier").values()
        totals = [
            TierTotal(tier=tier, **self._sums(rows)) for tier, rows in grouped(self._counted, tiers.__getitem__).items()
        ]
        totals.sort(key=lambda total: -total.compilations)
        return self._context.table(TierTotal, totals)

    def threads(self) -> ReportTable[JitThread]:
        """By thread, longest time first."""
        (threads,) = self._values("thread_id").values()
        totals = [
            JitThread(thread_id=t, background=self._count("background", rows), **self._sums(rows))
            for t, rows in grouped(self._counted, threads.__getitem__).items()
        ]
        totals.sort(key=lambda total: -(total.compile_ns or 0))
        return self._context.table(JitThread, totals)

    def _sums(self, rows: Sequence[int]) -> dict[str, Any]:
        return {
            "compilations": self._count("compilations", rows),
            "compile_ns": self._took.sum(rows),
            "il_bytes": self._il.sum(rows),
            "native_bytes": self._native.sum(rows),
        }

    def _count(self, name: str, rows: Sequence[int]) -> int:
        return self._marks[name].sum(rows) or 0

    def _values(self, *names: str) -> dict[str, list[Any]]:
        return {name: self._listed.column(name).tolist() for name in names}


def _keys(listed: ReportTable[Compilation]) -> list[MethodKey]:
    names = ("method_id", "namespace", "name", "signature")
    return list(zip(*(listed.column(name).tolist() for name in names), strict=True))


def _known(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.column(name).known


def _true(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.numbers(name).astype(np.bool_)


_HEADERS: Final = ("time_ns", "thread_id")
_NAMES: Final = ("MethodNamespace", "MethodName", "MethodSignature")
_CODE: Final = ("MethodID", "ModuleID", "MethodStartAddress", "MethodSize", "MethodFlags", "ReJITID")
_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    BEGIN: ("MethodID", "ModuleID", "MethodILSize", *_NAMES),
    LOADS[0]: _CODE,
    LOADS[1]: (*_CODE, *_NAMES),
    LOOKUP: ("MethodID",),
    FOUND: ("MethodID", "EntryPoint"),
    **dict.fromkeys(SETTINGS, ("Flags",)),
    PAUSE: (),
    RESUME: (),
    TURN: (),
    TURN_END: ("JittedMethodCount",),
}
"""What is kept of each event, beside its headers."""

_COMPILATIONS: Final = "compilations"
_TIMES: Final = "times and IL sizes"
_DECISIONS: Final = "decisions about inlining and tail calls"
_LOOKUPS: Final = "look-ups of precompiled code"
_TURNS: Final = "the background compiler's turns"
_NEEDS: Final = (
    Need(_COMPILATIONS, ("MethodLoadVerbose", "MethodLoad"), 0x18, essential=True, proof=0x10),
    Need(_TIMES, ("MethodJittingStarted",), 0x18, 5, proof=0x10),
    Need(_DECISIONS, tuple(e.selector.partition("/")[2] for e in EVENTS), 0x1018, 5, proof=0x1000),
    Need(_LOOKUPS, ("R2RGetEntryPoint",), 0x2000000018, proof=0x2000000000),
    Need(
        _TURNS,
        ("TieredCompilationBackgroundJitStart", "TieredCompilationPause", "TieredCompilationSettings"),
        0x1000000018,
        proof=0x1000000000,
    ),
)
_METRICS: Final = (
    count_of("compilations", "Compilations that began.", quantity="jit.compilations", dated=Dated("compilations")),
    count_of("methods", "Methods that were compiled.", windows=False),
    count_of("foreground", "Compilations not known to be in the background.", lossy="unknown"),
    count_of("background", "Compilations on the thread that raises methods to higher tiers."),
    time_of(
        "compile_total",
        "How long all compilations took, on all threads.",
        better="less",
        quantity="jit.compile_time",
        dated=Dated("compilations", amount="compile_ns"),
        hides="compilations/compile_ns",
    ),
    time_of("background_total", "How much of that was in the background."),
    size_of("il_total", "The size of the IL that was compiled."),
    size_of("native_total", "The size of the code compiled from it.", quantity="jit.native_bytes"),
    count_of("rejits", "Compilations that were not the first of their method."),
    count_of("unfinished", "Compilations whose end is not in the trace.", lossy="unknown"),
    count_of("untimed", "Compilations whose start is not in the trace.", lossy="unknown"),
    count_of("never_tiered_up", "Methods that stayed at the quick tier.", windows=False, lossy="unknown"),
    count_of("rejected", "Compilations whose precompiled code could not be used."),
    count_of("precompiled_loads", "Loads of precompiled code."),
    count_of("inlined", "Calls that were inlined."),
    count_of("not_inlined", "Calls that could not be inlined."),
    count_of("tail_calls", "Calls that became tail calls."),
    count_of("no_tail_calls", "Calls that could not become tail calls."),
    count_of("lookups", "Look-ups of precompiled code that ended."),
    count_of("lookup_hits", "Look-ups that found code."),
    count_of("lookup_misses", "Look-ups that found none."),
    count_of(
        "lookup_methods", "Methods whose precompiled code was found.", windows=False, quantity="jit.precompiled_methods"
    ),
    time_of("lookup_total", "How long look-ups took, over those whose start and end are known.", better="less"),
    count_of("turns", "Turns of the background thread that began."),
    count_of("turn_methods", "Methods that it compiled, according to the ends of its turns."),
    time_of("turn_total", "How long its turns took, over those whose start and end are known.", lossy="unknown"),
    count_of("pauses", "How often it began to wait because new methods kept being called."),
    time_of("paused_total", "How long it waited, where start and end are known.", lossy="unknown"),
)
_NEEDED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("compile_total", "background_total", "il_total"), _TIMES),
    **dict.fromkeys(OUTCOMES, _DECISIONS),
    **{m.name: _LOOKUPS for m in _METRICS if m.name.startswith("lookup")},
    **dict.fromkeys(("turns", "turn_methods", "turn_total", "pauses", "paused_total"), _TURNS),
}
"""What a metric needs to be recorded; the others need compilations."""


@parameters
class JitParameters:
    """How methods are named and which are listed."""

    raw: bool = RAW
    never_tiered_up: bool = parameter(False, "Only methods that stayed at the quick tier.")


@answer(
    name="jit",
    summary="compilations methods compile_total background_total native_total rejits never_tiered_up tiering",
)
class JitReport(Answer[JitFacts]):
    """What the JIT compiled, when, on which thread, for how long, and what it decided on the way.

    The time of a compilation is wall-clock time, from its first event to the load of its code: it includes
    interruptions and methods that had to be compiled meanwhile, so the sum over all threads may exceed the elapsed
    time.

    Tiers: QuickJitted is compiled fast and runs slowly, OptimizedTier1 is optimized after many calls, the Instrumented
    ones count what the code does, OptimizedTier1OSR replaces a loop while it runs, and Optimized is optimized
    immediately. A method never tiered up if all of its code in the whole trace is of a quick tier.

    Where turns of the background thread were not recorded, a compilation counts as in the background if it makes a
    later version of a method and does not replace a running loop.

    In a window, a compilation counts where it began, with the part of its time inside the window. Methods and their
    details are those of the compilations in it.

    A compilation is lossy if events of its thread were lost meanwhile; a method, if any event was lost after its first
    compilation began, because a later one may be missing. The sums of a thread are lossy if any event of that thread
    was lost, other sums if any event was. How often a method was called is not recorded.
    """

    methods: ReportTable[JittedMethod] = table("Each method that was compiled, longest time first.")
    compilations: ReportTable[Compilation] = table("Each compilation, in order of time.", bulk=True)
    tiers: ReportTable[TierTotal] = table("All compilations at each tier.")
    threads: ReportTable[JitThread] = table("All compilations on each thread, longest time first.")
    decisions: ReportTable[JitDecision] = table("What became of calls: inlined, made tail calls, or why not.")


class JitCollector(Collector[JitReport]):
    """Keeps a few columns of each event of a compilation, a look-up or a turn, and 29 bytes of each decision."""

    modules = True
    selectors = (*_KEPT, *(event.selector for event in EVENTS))
    headers = _HEADERS

    def __init__(self, asked: JitParameters) -> None:
        self._asked = asked
        self._kept = Kept({selector: (*_HEADERS, *columns) for selector, columns in _KEPT.items()})
        self._decisions = DecisionLog()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._decisions.take(chunk)
        self._kept.take(attrs.evolve(chunk, events={name: e for name, e in chunk.events.items() if name in _KEPT}))

    def finish(self, context: Context) -> JitReport:
        """Give the answer."""
        window = context.window
        rows = self._kept.all(_KEPT, context.nothing)
        decisions = self._decisions.all()
        compiled = built(context, rows, None if _DECISIONS in context.unknown else decisions, self._asked.raw)
        listed = context.table(Compilation, compiled.in_window(window))
        sums = CompilationSums(context, listed, compiled.never_tiered_up())
        numbers = {
            **sums.metrics(),
            **decisions.totals(window),
            **lookups(rows, window),
            **turns(rows, window),
            "precompiled_loads": _precompiled(context, [rows[name] for name in LOADS]),
        }
        return context.answer(
            JitReport,
            facts=JitFacts(tiering=settings(rows), background_by=_background_by(compiled)),
            metrics={name: _metric(context, name, value, compiled) for name, value in numbers.items()},
            methods=lambda: sums.methods(self._asked.never_tiered_up),
            compilations=listed,
            tiers=sums.tiers,
            threads=sums.threads(),
            decisions=context.table(JitDecision, decisions.columns(window)),
        )


def _precompiled(context: Context, loads: list[Gathered]) -> int:
    """How many loads in the window are of precompiled code."""
    return sum(
        int(((np.int64(MethodFlags.Jitted) & rows.numbers("MethodFlags").astype(np.int64)) == 0)[in_window].sum())
        for rows in loads
        for in_window in (context.window.holds(rows.numbers("time_ns")),)
    )


def _background_by(compiled: BuiltCompilations) -> str | None:
    if not len(compiled.keys):
        return None
    return "turns" if compiled.by_turns else "versions"


def _metric(context: Context, name: str, value: int | None, compiled: BuiltCompilations) -> Metric:
    """A metric; without a value if what it needs was not recorded."""
    if _NEEDED.get(name, _COMPILATIONS) in context.unknown:
        return context.metric(name, None)
    guessed = name in ("foreground", "background", "background_total") and not compiled.by_turns
    return context.metric(name, value, evidence="inferred" if guessed else None)


REPORT: Final = ReportDeclaration(
    answer=JitReport,
    question="What did the JIT compile, and how long did it take?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=JitCollector,
    in_part={
        **dict.fromkeys(
            ("compilations", "methods", "foreground", "native_total", "rejits", "rejected", "never_tiered_up"),
            "at most",
        ),
        **dict.fromkeys(
            ("compile_total", "background_total", "turn_total", "paused_total", "lookup_total"), "at least"
        ),
        **dict.fromkeys(("background", "unfinished", "untimed"), "unknown"),
    },
    parameters=JitParameters,
    shown=("compile_ns", "il_bytes", "native_bytes", "inlined", "not_inlined", "tiers", "method"),
    examples=(
        ("Which methods took the JIT longest?", "clrevents jit app.nettrace"),
        (
            "What was compiled while the application started?",
            "clrevents jit app.nettrace --table compilations --end 2s",
        ),
        ("Which methods run slow code that was never optimized?", "clrevents jit app.nettrace --never-tiered-up"),
        ("Why were calls not inlined?", "clrevents jit app.nettrace --table decisions"),
        ("How long did the JIT take in total?", "clrevents jit app.nettrace --json | jq .metrics.compile_total.value"),
    ),
)
