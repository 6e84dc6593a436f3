"""Events of compilations and of decisions about calls → the columns of compilations, each with its decisions.

Joins what several events say about one compilation: its names, sizes, tier, thread and the decisions inside it; and
counts what happened around them: look-ups of precompiled code, pauses of the background thread. Sees the whole trace;
what a window cuts off is for later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, TimeWindow
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import (
    NONE,
    Array,
    Gathered,
    Interned,
    Ints,
    Mask,
    group_numbers,
    matched,
    nulled,
)
from clrevents.analysis.shared.events.event_spans import EventSpans, compilations, inside, tier_name
from clrevents.schema.runtime_flags import MethodFlags, OptimizationTier, TieredCompilationFlags
from clrevents.symbols.display_names import display_name, raw_name

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
        counts = np.bincount(self.kind[in_window], minlength=len(self.kinds)).tolist()
        order = [n for n, count in enumerate(counts) if count]
        order.sort(key=lambda n: _order(self.kinds[n], counts[n]))
        kinds = [self.kinds[n] for n in order]
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
                self._parts.append(self._part(event, rows))

    def all(self) -> Decisions:
        """Everything that came."""
        types: Sequence[Any] = (np.int64, np.int64, np.uint64, np.int32)
        empty = tuple(np.zeros(0, dtype=type) for type in types)
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        return Decisions(tuple(self._kinds), *columns)

    def _part(self, event: DecisionEvent, rows: Gathered) -> tuple[Array, ...]:
        return rows.places, rows.numbers("time_ns"), rows.numbers("thread_id"), self._numbered(event, rows)

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


def _order(kind: DecisionKind, count: int) -> tuple[object, ...]:
    return kind.what, not kind.accepted, -count, kind.reason or ""


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

    columns: Mapping[str, Sequence[Any]]
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

    def in_window(self, window: TimeWindow) -> dict[str, Sequence[object]]:
        """The columns without compilations only known to have ended outside a window."""
        if window.whole:
            return dict(self.columns)
        kept = (self.started | window.holds(self.end_ns)).tolist()
        return {name: list(compress(values, kept)) for name, values in self.columns.items()}


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
    columns: dict[str, Sequence[object]] = {
        "method": [shown(*text) for text in texts],
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
