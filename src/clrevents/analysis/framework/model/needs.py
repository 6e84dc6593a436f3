"""What a trace lacks: what a report needs and was not recorded, with the line that records it; and what was lost.

Distinguishes "recorded, but nothing happened" from "unknown": an event proves that one of its keywords was on.

A hole is a stretch of time in which events of a thread are missing, because the runtime dropped them or because the
bytes are damaged; `Marks` alone decides, for all reports, which rows touch one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text, missing_stacks
from clrevents.analysis.framework.recording.recorded import proves, record_line
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER, Coverage, JoinedRun, Note, TimeWindow
from clrevents.analysis.gathering.groups import Array, Ints, Mask, groups, near_ns
from clrevents.schema.registry import ASYNC, OWN, RUNTIME, provider_name
from clrevents.trace import Loss, Trace, TraceInfo, passes_of

_MACHINE: Final = "Universal."
"""Providers of the Linux recorder, which records all processes alike."""
EVERY_AWAIT: Final = 0x3FFFF
"""All keywords of .NET 11's async profiler."""
_FILTERED: Final = "EventsFiltered"
"""Our own mark on a recording that left out single events: then nothing proves that what did not occur was recorded."""
_COMMAND: Final = "sudo dotnet-trace collect-linux --profile thread-time"
BY_MACHINE: Final = f"record with the Linux recorder: {_COMMAND}"
"""What gets events that no session of a runtime has."""
ONLY_MACHINE: Final = f"only the Linux recorder tells: {_COMMAND}"
"""Why a number is null that only those events tell."""

Met: TypeAlias = Literal["seen", "quiet", "unknown"]

NOT_RECORDED: Final = "not-recorded"
"""The id of the note on a need about which nothing is known."""
NEVER_RECORDED: Final = "never-recorded"
"""The same where no recording of such a program has it."""
NEVER: Final = "NativeAOT programs do not record"
"""How the reason begins then."""
_NEVER: Final = (
    *("Method", "R2R", "TieredCompilation", "TypeLoad", "AssemblyLoad", "ILStub", "RuntimeInformation"),
    *("ExceptionCatch", "ExceptionFilter", "ExceptionFinally", "ExceptionThrownStop", "GCBulkRootStaticVar"),
)
"""How events of the runtime begin that programs which were compiled ahead of time never write (.NET 9 to 11)."""
_SINCE_10: Final = (
    "ThreadSample",
    "AllocationSampled",
    "ModuleLoad",
    "GCBulkNode",
    "GCBulkEdge",
    "GCBulkRootEdge",
    "BulkType",
)
"""Events that they write from .NET 10 on. Only since then, they have a rundown."""
_RUNDOWN_ENDS: Final = "DCEndComplete"


@frozen
class Need:
    """One thing that a report shows: `what`, from any of the provider's `events`, which these keywords and this level
    record. Without an `essential` one the report has no data; the others only make it more complete. An event written
    as `rundown/ModuleDCEnd` is of another provider: it says the same, but is not what one records for this; one written
    as `*/EventCounters` may be any provider's. `argument` is what the provider needs as an argument when recording.
    `proof` are the keywords any one of which shows that this was recorded, by default all of them.
    """

    what: str
    events: tuple[str, ...]
    keywords: int
    level: int = 4
    provider: str = RUNTIME
    essential: bool = False
    proof: int | None = None
    argument: str = ""

    @property
    def by_machine(self) -> bool:
        """Whether only the recorder of a machine writes its events."""
        return self.provider.startswith(_MACHINE)


@frozen
class SeenKind:
    """A kind of event that occurred in a trace."""

    provider: str
    name: str
    keywords: int
    level: int

    @classmethod
    def of(cls, kind: Any) -> SeenKind:
        """What a trace says of it."""
        return cls(kind.key.provider, kind.key.name, kind.row.keywords, kind.row.level)


class SeenKinds(tuple[SeenKind, ...]):
    """The kinds of a trace, which keep what they show about a need: every process and report asks the same.

    A need looks up its events: a trace may have very many kinds, and there are dozens of needs. `unfit` are events,
    by provider and name, of which none could be used; they are no kinds here, and nothing proves that they are quiet.
    `native_aot` if the program was compiled ahead of time.
    """

    unfit: frozenset[tuple[str, str]] = frozenset()
    native_aot: bool = False

    @classmethod
    def of(cls, kinds: Iterable[SeenKind], info: TraceInfo) -> SeenKinds:
        """The kinds of a trace with this header."""
        seen = cls(kinds)
        seen.native_aot = info.native_aot
        return seen

    @classmethod
    def in_trace(cls, trace: Trace) -> SeenKinds:
        """Those that occur in a trace."""
        scan = passes_of(trace).scan(raising=False)
        return cls.of((SeenKind.of(kind) for kind in scan.kinds if kind.key in scan.counts), trace.info)

    def without(self, unfit: frozenset[tuple[str, str]]) -> SeenKinds:
        """The kinds that could be used."""
        if not unfit:
            return self
        usable = SeenKinds(kind for kind in self if (kind.provider, kind.name) not in unfit)
        usable.unfit, usable.native_aot = unfit, self.native_aot
        return usable

    @cached_property
    def needs_met(self) -> dict[Need, Met]:
        """What was computed so far."""
        return {}

    @cached_property
    def providers(self) -> dict[str, set[str]]:
        """By the name of an event, the providers of those that have it."""
        by_name: dict[str, set[str]] = {}
        for kind in self:
            by_name.setdefault(kind.name, set()).add(kind.provider)
        return by_name

    @cached_property
    def recorded(self) -> set[tuple[str, int, int]]:
        """The different providers, keywords and levels."""
        return {(kind.provider, kind.keywords, kind.level) for kind in self}


@frozen(eq=False)
class KindsOfProcesses:
    """The kinds of a trace, and of each of its processes where it has several: what one process recorded proves nothing
    about another, except what the machine's own recorder writes about all."""

    every: SeenKinds
    by_process: Mapping[int | None, SeenKinds] | None = None

    @classmethod
    def of(cls, pairs: Iterable[tuple[int | None, SeenKind]]) -> KindsOfProcesses:
        """Of the kinds that occurred, each with the process that it occurred in."""
        listed = list(pairs)
        machine = list(dict.fromkeys(kind for _, kind in listed if kind.provider.startswith(_MACHINE)))
        by_process: dict[int | None, list[SeenKind]] = {None: machine}
        for process, kind in listed:
            by_process.setdefault(process, [*machine]).append(kind)
        every = SeenKinds(dict.fromkeys(kind for _, kind in listed))
        return cls(every, {process: SeenKinds(dict.fromkeys(kinds)) for process, kinds in by_process.items()})

    def without(self, unfit: frozenset[tuple[str, str]]) -> KindsOfProcesses:
        """Without events of which none could be used."""
        apart = self.by_process and {process: kinds.without(unfit) for process, kinds in self.by_process.items()}
        return KindsOfProcesses(self.every.without(unfit), apart)

    def told_of(self, process: int | None) -> SeenKinds:
        """Those about one process."""
        return self.every if self.by_process is None else self.by_process.get(process, self.by_process[None])


def met(need: Need, kinds: SeenKinds) -> Met:
    """Whether its events were seen; if not, whether another event proves that they were recorded."""
    answer = kinds.needs_met.get(need)
    if answer is None:
        answer = kinds.needs_met[need] = _met(need, kinds)
    return answer


def _unfit(need: Need, kinds: SeenKinds) -> list[str]:
    """The names of its events of which none could be used."""
    return [name for wanted, name in _events(need) if any(e[1] == name and wanted in ("*", e[0]) for e in kinds.unfit)]


def _events(need: Need) -> list[tuple[str, str]]:
    """The provider and name of each."""
    names = []
    for event in need.events:
        provider, _, name = event.partition("/")
        names.append((provider_name(provider), name) if name else (need.provider, event))
    return names


def _met(need: Need, kinds: SeenKinds) -> Met:
    seen = [name in kinds.providers and (w == "*" or w in kinds.providers[name]) for w, name in _events(need)]
    if OWN in kinds.providers.get(_FILTERED, ()):
        return "seen" if all(seen) else "unknown"
    if any(seen):
        return "seen"
    if _unfit(need, kinds):
        return "unknown"
    proof = need.keywords if need.proof is None else need.proof
    # Without a keyword nothing proves that its events were wanted.
    if proof and any(p == need.provider and proves(k, level, proof, need.level) for p, k, level in kinds.recorded):
        return "quiet"
    return "unknown"


def coverage(needs: Sequence[Need], kinds: SeenKinds) -> Coverage:
    """`none` if nothing is known about an essential need, `full` if something is known about all."""
    states = [(need.essential, met(need, kinds)) for need in needs]
    if any(essential and state == "unknown" for essential, state in states):
        return "none"
    return "partial" if any(state == "unknown" for _, state in states) else "full"


def missing_notes(needs: Sequence[Need], kinds: SeenKinds) -> tuple[Note, ...]:
    """A note for each need about which nothing is known, with what records it; one for all that nothing records."""
    unknown = [need for need in needs if met(need, kinds) == "unknown"]
    wanted = recordable(unknown, kinds.native_aot)
    never = tuple(need.what for need in unknown if need not in wanted)
    why = (Note(NEVER_RECORDED, "info", f"{NEVER} {', '.join(never)}", touches=never),) if never else ()
    return why + tuple(
        Note(
            NOT_RECORDED,
            "warning" if need.essential else "info",
            f"not recorded: {need.what} ({_lacking(need, kinds)})",
            touches=(need.what,),
            remedy=BY_MACHINE if need.by_machine else "record the trace again with these providers",
            record=None if need.by_machine else record_needs([_where_profiled(need, kinds)]),
        )
        for need in wanted
    )


def recordable(needs: Iterable[Need], native_aot: bool) -> list[Need]:
    """Those that a recording may have; of a program that was compiled ahead of time, not all."""
    return [
        need
        for need in needs
        if not native_aot or need.provider != RUNTIME or not all(name.startswith(_NEVER) for name in need.events)
    ]


def _where_profiled(need: Need, kinds: SeenKinds) -> Need:
    """As .NET 11 records it, where the trace shows that this is what ran."""
    if any(name.startswith(f"{ASYNC}/") for name in need.events) and any(kind.provider == ASYNC for kind in kinds):
        return attrs.evolve(need, provider=ASYNC, keywords=EVERY_AWAIT, level=4)
    return need


def _lacking(need: Need, kinds: SeenKinds) -> str:
    if unfit := _unfit(need, kinds):
        return f"no usable {unfit[0]} events"
    text = f"no {need.events[0].rpartition('/')[2]} events"
    if kinds.native_aot and _RUNDOWN_ENDS not in kinds.providers:
        text += ", which NativeAOT programs have from .NET 10 on" if need.events[0] in _SINCE_10 else ""
    return text


def record_needs(needs: Iterable[Need]) -> str:
    """What `dotnet-trace collect --providers` takes to record all of these."""
    wanted = (need for need in needs if not need.by_machine)
    return record_line((need.provider, need.keywords, need.level, need.argument) for need in wanted)


@frozen
class Hole:
    """Events of a thread (None: of any) that are missing between two of its events, and why: for those who look at
    stacks, an event without its own is missing."""

    thread_id: int | None
    count: int
    start_ns: int
    end_ns: int
    cause: Literal["loss", "damage", "stacks"]
    followed: bool = True
    """Whether it ends with the thread's next event; if not, what began in it may have gone on."""


def holes_of(losses: Iterable[Loss], destroyed: Iterable[Loss], lost: int, missing: int) -> tuple[Hole, ...]:
    """The holes of a trace, in order of their ends.

    `lost` and `missing` count all events; if the limited lists are shorter, whatever they leave out lies at an unknown
    time after their last entry.
    """
    holes = []
    for listed, total, cause in ((list(losses), lost, "loss"), (list(destroyed), missing, "damage")):
        holes += [_hole(loss, cause) for loss in listed]
        rest = total - sum(loss.count for loss in listed)
        if listed and rest > 0:
            holes.append(_hole(Loss(-1, rest, listed[-1].start_ns, FOREVER), cause))
    return tuple(sorted(holes, key=lambda hole: (hole.end_ns, hole.start_ns)))


def trace_holes(trace: Trace) -> tuple[Hole, ...]:
    """Everything that is missing from a trace."""
    scan = passes_of(trace).scan(raising=False)
    return holes_of(scan.losses, scan.destroyed, scan.lost, scan.missing)


def stack_holes(stackless: Loss | None) -> tuple[Hole, ...]:
    """Where stacks are missing."""
    return () if stackless is None else (_hole(stackless, "stacks"),)


def _hole(loss: Loss, cause: Any) -> Hole:
    thread = None if loss.thread_id < 0 else loss.thread_id
    end = FOREVER if loss.end_ns == FOREVER else near_ns(loss.end_ns)
    return Hole(thread, loss.count, near_ns(loss.start_ns), end, cause, loss.followed)


class Marks:
    """The holes of a trace, to be asked about many spans at once."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        self._all = _Stretches(holes)
        by_thread: dict[int | None, list[Hole]] = {}
        for hole in holes:
            by_thread.setdefault(hole.thread_id, []).append(hole)
        self._nobody = _Stretches(by_thread.pop(None, []))
        self._threads = {thread: _Stretches(stretches) for thread, stretches in by_thread.items() if thread is not None}

    def __bool__(self) -> bool:
        return bool(self._all)

    def touched(self, starts: Ints, ends: Ints, threads: Sequence[Array] = ()) -> Mask:
        """Whether each span, both ends included, touches a hole: of one of its threads, or, without, of any."""
        if not threads:
            return self._all.touched(starts, ends)
        touched = self._nobody.touched(starts, ends)
        if not self._threads:
            return touched
        known = np.array(sorted(self._threads), dtype=np.uint64)
        for column in threads:
            numbers = column.astype(np.uint64)
            place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            rows = np.flatnonzero(known[place] == numbers)
            # Each row is looked at for its own thread only, however many there are.
            for number, spans in groups(place, rows):
                touched[spans] |= self._threads[int(known[number])].touched(starts[spans], ends[spans])
        return touched


class _Stretches:
    """Stretches in order of their start, and how far those so far reach."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        stretches = sorted((hole.start_ns, hole.end_ns) for hole in holes)
        self.starts = np.array([start for start, _ in stretches], dtype=np.int64)
        self.reach = np.maximum.accumulate(np.array([end for _, end in stretches], dtype=np.int64))

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def touched(self, starts: Ints, ends: Ints) -> Mask:
        if not len(self.starts):
            return np.zeros(len(starts), dtype=np.bool_)
        last = np.searchsorted(self.starts, ends, side="right") - 1
        return (last >= 0) & (self.reach[np.maximum(last, 0)] >= starts)


FEW: Final = 100
"""So many lost events say what they can have changed at the worst; of more, that is anything."""


@frozen(eq=False, slots=False)
class Troubles:
    """What is missing from a trace, computed once for all of its processes and reports."""

    holes: tuple[Hole, ...]
    damaged: int
    """How many places of the file are damaged."""
    complete: bool
    window: TimeWindow
    part: TimeWindow = TimeWindow()
    """Which part of another trace this one is."""
    redacted: bool = False
    join: JoinedRun | None = None
    """How the clocks of two recordings were aligned, where it is both of a run."""
    known_ns: int = FOREVER
    """Until when the events of all threads are there, if the end is missing."""

    @cached_property
    def marks(self) -> Marks:
        """The holes, to be asked about spans."""
        return Marks(self.holes)

    @cached_property
    def few(self) -> tuple[Hole, ...]:
        """What was lost in the window, where that is little and nothing else is missing: it bounds what may have been;
        else nothing."""
        lost = tuple(hole for hole in self.holes if _meets(hole, self.window))
        known = all(hole.cause == "loss" and hole.end_ns < FOREVER and hole.followed for hole in lost)
        alone = self.complete and not self.damaged and self.part.whole and self.join is None
        return lost if known and alone and sum(hole.count for hole in lost) <= FEW else ()

    @cached_property
    def gaps(self) -> Marks:
        """Those in which events are missing, not only their stacks."""
        return Marks([hole for hole in self.holes if hole.cause != "stacks"])

    def beyond(self, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """What ends where events may be missing because the end is."""
        return np.asarray(ends >= self.known_ns) if self.known_ns < FOREVER else np.zeros(len(ends), dtype=np.bool_)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on what was lost and what is damaged in the window, and on what was replaced."""
        notes = []
        for cause, id, what in (("loss", "losses", "lost while recording"), ("damage", "damage", "destroyed")):
            own_holes = [h for h in self.holes if h.cause == cause and _meets(h, self.window)]
            if own_holes:
                count = sum(h.count for h in own_holes)
                threads = len({h.thread_id for h in own_holes})
                text = f"{counted(count, 'event was', 'events were')} {what} on {counted(threads, 'thread')}"
                text += "; rows that may be affected are marked, and facts count what was recorded"
                notes.append(Note(id, "warning", text, ("lossy", "facts"), {"events": count}))
        if self.damaged and not any(note.id == "damage" for note in notes):
            text = f"the file is damaged in {counted(self.damaged, 'place')}; events may be missing nearby"
            notes.append(Note("damage", "error", text, ("facts",), {"places": self.damaged}))
        stackless = sum(hole.count for hole in self.holes if hole.cause == "stacks" and _meets(hole, self.window))
        if stackless:
            notes.append(
                Note("missing-stacks", "error", missing_stacks(stackless), ("lossy", "facts"), {"events": stackless})
            )
        if not self.part.whole:
            text = "the trace is a part of another; what happened before or after it is unknown"
            notes.append(Note("cut", "info", text))
        if not self.complete and self.window.high > self.known_ns:
            text = (
                f"the end of the trace is missing: from {duration_text(self.known_ns)} on events may be missing, and "
                "anything without an end may in fact have ended; facts count what was recorded"
            )
            notes.append(Note("no-end", "warning", text, ("facts",)))
        if self.join is not None:
            notes.append(self.join.note())
        if self.redacted:
            text = "the trace is redacted: sensitive texts are replaced, different texts by different words"
            notes.append(Note("redacted", "info", text))
        return tuple(notes)


def _meets(hole: Hole, window: TimeWindow) -> bool:
    return hole.end_ns >= window.low and hole.start_ns < window.high
