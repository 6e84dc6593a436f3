"""The course of one start: its events, which code is the program's, when its moments were, and spans before its end.

At any moment, a thread's time belongs to the innermost span: self times add up to no more than the time that passed,
even where lost events make spans cross. The program is the assembly that the command line names, and what lies beside
it; elsewhere, what is not signed with a key of the framework. Opens no file, makes no table and adds nothing up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, Evidence
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import NONE, Gathered, Ints, Mask, groups, nulled, sum_by
from clrevents.analysis.shared.events.event_spans import EventSpans, compilations, paired
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.symbols.display_names import display_name, raw_name
from clrevents.symbols.methods import Methods
from clrevents.symbols.modules import CORE, FRAMEWORK_KEYS, module_name
from clrevents.table.read import AddressStacks


@frozen(eq=False)
class SelfTime:
    """Stretches of time, each with the span that it belongs to."""

    owner: Ints
    low_ns: Ints
    high_ns: Ints
    count: int

    def within(self, low_ns: int, high_ns: int) -> Ints:
        """The self time of each span between two moments, in ns."""
        inside = np.maximum(np.minimum(self.high_ns, high_ns) - np.maximum(self.low_ns, low_ns), 0)
        return sum_by(self.owner, inside, self.count)


def self_times(kinds: Sequence[EventSpans]) -> list[SelfTime]:
    """The self times of several kinds of spans, which may lie inside each other. Open ones own nothing."""
    kind = np.concatenate([np.full(len(spans), n) for n, spans in enumerate(kinds)])
    number = np.concatenate([np.arange(len(spans)) for spans in kinds])
    closed = np.flatnonzero(np.concatenate([spans.closed for spans in kinds]))

    def both(start: str, end: str) -> NDArray[np.int64]:
        return np.concatenate(
            [np.concatenate([getattr(spans, name) for spans in kinds])[closed] for name in (start, end)]
        )

    threads, places, times = both("thread", "thread"), both("low_place", "high_place"), both("low_ns", "high_ns")
    order = np.lexsort((places, threads))
    owners: list[int] = []
    lows: list[int] = []
    highs: list[int] = []
    open_: list[int] = []
    # Those that ended below others: spans may cross where events were lost. They go when these do.
    ended: set[int] = set()
    thread, since, count = None, 0, len(closed)
    for event, now, on in zip(order.tolist(), times[order].tolist(), threads[order].tolist(), strict=True):
        if on != thread:
            thread, open_ = on, []
            ended.clear()
        elif open_ and now > since:
            owners.append(open_[-1])
            lows.append(since)
            highs.append(now)
        since = now
        if event < count:
            open_.append(event)
        else:
            ended.add(event - count)
            while open_ and open_[-1] in ended:
                ended.remove(open_.pop())
    owner, low, high = (np.array(values, dtype=np.int64) for values in (owners, lows, highs))
    of = closed[owner] if len(owner) else owner
    by_kind = []
    for n, spans in enumerate(kinds):
        own = kind[of] == n if len(of) else np.zeros(0, dtype=np.bool_)
        by_kind.append(SelfTime(number[of[own]] if len(of) else of, low[own], high[own], len(spans)))
    return by_kind


def depths(spans: EventSpans) -> Ints:
    """How many other spans of the kind each lies inside of, on its thread."""
    counts = np.zeros(len(spans), dtype=np.int64)
    for _, rows in groups(spans.thread):
        closed = spans.closed[rows]
        # Those that began before, without those that ended before.
        begun: Ints = np.cumsum(closed) - closed
        ended = np.searchsorted(np.sort(spans.high_place[rows[closed]]), spans.low_place[rows], "right")
        counts[rows] = begun - ended
    return counts


ENTRY_NAMES: Final = frozenset(("Main", "<Main>$", "<Main>", "main@"))
"""Compilers' names for the method that a program begins with: C#, its top-level statements, an `async` Main, F#."""
_FILE: Final = re.compile(r"""([^/\\"\s]+)\.(dll|exe)(?=["\s]|$)""", re.IGNORECASE)
_FRAMEWORK: Final = ("System.", "Microsoft.", "Internal.", "Interop")


@frozen
class ProgramModules:
    """The modules of a process, by id: their files, their assemblies, which are made while it runs, and which the
    command line tells to be the program's."""

    paths: dict[int, str]
    assemblies: dict[int, str]
    dynamic: frozenset[int]
    named: frozenset[int] = frozenset()

    @classmethod
    def of(cls, modules: Iterable[Gathered], assemblies: Iterable[Gathered], command_line: str = "") -> ProgramModules:
        """From events that have modules or assemblies. A reused id keeps its first meaning."""
        full_names: dict[int, str] = {}
        for rows in assemblies:
            names = rows.column("FullyQualifiedAssemblyName").tolist()
            for identity, name in zip(rows.numbers("AssemblyID").tolist(), names, strict=True):
                full_names.setdefault(identity, name)
        paths: dict[int, str] = {}
        of: dict[int, str] = {}
        dynamic = set()
        for rows in modules:
            values = (rows.numbers(name).tolist() for name in ("ModuleID", "AssemblyID", "ModuleFlags"))
            for identity, assembly, flags, path in zip(*values, rows.column("ModuleILPath").tolist(), strict=True):
                if identity in paths:
                    continue
                paths[identity] = path
                if assembly in full_names:
                    of[identity] = full_names[assembly]
                if flags & ModuleFlags.Dynamic:
                    dynamic.add(identity)
        return cls(paths, of, frozenset(dynamic), _named(paths, command_line))

    def name(self, module_id: int) -> str | None:
        """The name of a module's assembly, or of its file; None if neither is known."""
        name = self.assemblies.get(module_id, "").partition(",")[0]
        return name or (module_name(self.paths[module_id]) if module_id in self.paths else None)

    def whose(self, module_id: int, namespace: str = "") -> tuple[bool, Evidence]:
        """Whether code is the program's: by the key of its assembly, or by a name where that is unknown."""
        if module_id in self.dynamic:
            return False, "event"
        if module_id in self.named:
            return True, "event"
        assembly = self.assemblies.get(module_id)
        if assembly is not None:
            return assembly.rpartition("PublicKeyToken=")[2] not in FRAMEWORK_KEYS, "event"
        name = namespace or self.name(module_id) or ""
        return bool(name) and not name.startswith(_FRAMEWORK), "inferred"


def _named(paths: dict[int, str], command_line: str) -> frozenset[int]:
    """The modules of the first assembly that a command line names, and of those beside it unless the runtime is."""
    files = sorted(_FILE.findall(command_line), key=lambda method: method[1].lower() != "dll")
    if not files:
        return frozenset()
    entry = {id for id, path in paths.items() if module_name(path).lower() == files[0][0].lower()}
    folders = {_folder(paths[id]) for id in entry}
    folders -= {"", *(_folder(path) for path in paths.values() if module_name(path) == CORE)}
    return frozenset(entry | {id for id, path in paths.items() if _folder(path) in folders})


def _folder(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind("\\")) + 1]


@frozen
class MainFound:
    """Where the program's Main method was first met; `ready_ns` is when its code could run, if that is known."""

    time_ns: int
    ready_ns: int | None
    evidence: Evidence
    event: str
    module_id: int
    name: tuple[str, str, str]

    @property
    def exact(self) -> bool:
        """Whether it was met when it was first asked for, not when it was loaded or ran."""
        return self.event in ("MethodJittingStarted", "R2RGetEntryPoint")


def find_main(
    modules: ProgramModules,
    compiling: Gathered,
    loads: Sequence[Gathered],
    verbose: Gathered,
    lookups: Gathered,
    lookup_modules: Sequence[int],
) -> MainFound | None:
    """The first compilation, load or successful look-up of a Main method of the program; None if there is none."""
    first: tuple[int, MainFound] | None = None
    for rows, event in (
        (compiling, "MethodJittingStarted"),
        (verbose, "MethodLoadVerbose"),
        (lookups, "R2RGetEntryPoint"),
    ):
        names = rows.column("MethodName").tolist()
        for line in (n for n, name in enumerate(names) if name in ENTRY_NAMES):
            if rows is lookups and not rows.numbers("EntryPoint")[line]:
                continue
            module = lookup_modules[line] if rows is lookups else int(rows.numbers("ModuleID")[line])
            namespace = rows.column("MethodNamespace").tolist()[line]
            namespace_owner, evidence = modules.whose(module, namespace)
            place, time = int(rows.places[line]), int(rows.numbers("time_ns")[line])
            if not namespace_owner or (first is not None and first[0] <= place):
                continue
            ready = _ready(loads, int(rows.numbers("MethodID")[line]), place) if rows is compiling else time
            text = namespace, names[line], rows.column("MethodSignature").tolist()[line]
            first = place, MainFound(time, ready, evidence, event, module, text)
    return None if first is None else first[1]


def _ready(loads: Sequence[Gathered], method_id: int, place: int) -> int | None:
    """When the code of a method was loaded, after this place."""
    moments = []
    for rows in loads:
        loaded = np.flatnonzero((rows.numbers("MethodID") == np.uint64(method_id)) & (rows.places > place))
        moments += [(int(rows.places[line]), int(rows.numbers("time_ns")[line])) for line in loaded[:1].tolist()]
    return min(moments)[1] if moments else None


def first_sample(
    modules: ProgramModules, samples: Gathered, stacks: AddressStacks, methods: Methods, process_id: int | None
) -> MainFound | None:
    """The first sample of a thread in which a method of the program ran, with that method; None if there is none."""
    ids, first = np.unique(samples.numbers("stack_id"), return_index=True)
    times = samples.numbers("time_ns")
    known: dict[int, MainFound | None] = {}
    for line, stack in sorted(zip(first.tolist(), ids.tolist(), strict=True)):
        addresses = stacks.of_event(stack)
        new = [address for address in dict.fromkeys(addresses) if address not in known]
        if new:
            when = np.full(len(new), times[line], dtype=np.int64)
            places, _ = methods.find(np.array(new, dtype=np.uint64), when, process_id)
            for address, index in zip(new, places.tolist(), strict=True):
                known[address] = None if index < 0 else _seen(modules, methods, index, int(times[line]))
        # The outermost one is what the program began with.
        for address in reversed(addresses):
            if (seen := known[address]) is not None:
                return seen
    return None


def _seen(modules: ProgramModules, methods: Methods, index: int, time_ns: int) -> MainFound | None:
    method = methods[index]
    owner, _ = modules.whose(method.module_id, method.namespace)
    if not owner:
        return None
    kind: Literal["sample"] = "sample"
    text = method.namespace, method.name, method.signature
    return MainFound(time_ns, None, kind, "ThreadSample", method.module_id, text)


_TEXTS: Final = ("MethodNamespace", "MethodName", "MethodSignature")
_METHOD: Final = ("time_ns", "thread_id", "MethodID", *_TEXTS)
_MODULE: Final = ("time_ns", "ModuleID", "AssemblyID", "ModuleFlags", "ModuleILPath")
_IDENTITY: Final = ("time_ns", "AssemblyID", "FullyQualifiedAssemblyName")
_ASSEMBLY: Final = ("AssemblyName", "AssemblyPath", "RequestingAssembly")
PROCESS: Final = "Microsoft-DotNETCore-EventPipe/ProcessInfo"
KEPT: Final[Mapping[str, tuple[str, ...] | None]] = {
    "runtime/RuntimeInformationStart": None,
    "rundown/RuntimeInformationDCStart": None,
    PROCESS: None,
    "runtime/ModuleLoad": _MODULE,
    "rundown/ModuleDCEnd": _MODULE,
    "runtime/AssemblyLoad": _IDENTITY,
    "rundown/AssemblyDCEnd": _IDENTITY,
    "runtime/MethodJittingStarted": (*_METHOD, "ModuleID"),
    "runtime/MethodLoad": ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodFlags"),
    "runtime/MethodLoadVerbose": (*_METHOD, "ModuleID", "MethodFlags"),
    "runtime/R2RGetEntryPointStart": ("time_ns", "thread_id", "MethodID"),
    "runtime/R2RGetEntryPoint": (*_METHOD, "EntryPoint"),
    "runtime/MethodDetails": ("time_ns", "MethodID", "LoaderModuleID"),
    "runtime/AssemblyLoadStart": ("time_ns", "thread_id", *_ASSEMBLY),
    "runtime/AssemblyLoadStop": ("time_ns", "thread_id", *_ASSEMBLY, "Success", "ResultAssemblyPath", "Cached"),
    "runtime/TypeLoadStart": ("time_ns", "thread_id", "TypeLoadStartID"),
    "runtime/TypeLoadStop": ("time_ns", "thread_id", "TypeLoadStartID", "LoadLevel", "TypeID", "TypeName"),
    "runtime/TieredCompilationResume": ("time_ns", "NewMethodCount"),
    "runtime/ExecutionCheckpoint": ("time_ns", "Name", "Timestamp"),
    "rundown/ExecutionCheckpointDCEnd": ("time_ns", "Name", "Timestamp"),
    "sample/ThreadSample": ("time_ns", "stack_id"),
}
CHECKPOINTS: Final = ("runtime/ExecutionCheckpoint", "rundown/ExecutionCheckpointDCEnd")
STARTED, LISTED = "runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart"
BEGINS, VERBOSE, LOOKUPS = "runtime/MethodJittingStarted", "runtime/MethodLoadVerbose", "runtime/R2RGetEntryPoint"
LOADS: Final = ("runtime/MethodLoad", VERBOSE)


def modules_of(lookups: Gathered, details: Gathered) -> list[int]:
    """The module of each method that was looked up; 0 if unknown."""
    known = dict(zip(details.numbers("MethodID").tolist(), details.numbers("LoaderModuleID").tolist(), strict=True))
    return [known.get(method, 0) for method in lookups.numbers("MethodID").tolist()]


def first_text(rows: Gathered, name: str) -> str | None:
    """The text in the first row; None for an empty one."""
    return rows.column(name).tolist()[0] or None if len(rows) else None


def method_texts(rows: Gathered) -> list[tuple[str, str, str]]:
    columns = (rows.column(name).tolist() for name in _TEXTS)
    return list(zip(*columns, strict=True))


def flags(values: Iterable[Any]) -> list[bool | None]:
    return [None if value is None else bool(value) for value in values]


@frozen
class Moment:
    """One moment of a start, and how it is known."""

    moment: str
    time_ns: int
    evidence: Evidence
    event: str
    what: str | None = None


@frozen(eq=False, slots=False)
class Start:
    """One process's start: each property is one thing that the report says about it."""

    rows: Mapping[str, Gathered]
    context: Context
    raw: bool

    # Who started whom. ----------------------------------------------------------------------------------------------

    @cached_property
    def verdict(self) -> tuple[str, Evidence | None]:
        """Whether the trace was begun before the runtime, and how that is known."""
        if not self.context.has_start:
            return "unknown", None
        if len(self.rows[STARTED]):
            return "launched", "event"
        names = self.rows["runtime/AssemblyLoad"].column("FullyQualifiedAssemblyName").tolist()
        if any(name.partition(",")[0] == CORE for name in names):
            return "launched", "inferred"
        return ("attached", "inferred") if len(self.rows[LISTED]) else ("unknown", None)

    @property
    def launched(self) -> bool:
        """Whether there is a start to report."""
        return self.verdict[0] == "launched"

    @cached_property
    def started_ns(self) -> int | None:
        """When the runtime started."""
        rows = self.rows[STARTED]
        return int(rows.numbers("time_ns")[0]) if len(rows) else None

    @cached_property
    def modules(self) -> ProgramModules:
        """The modules by their ids."""
        rows = self.rows
        return ProgramModules.of(
            [rows["runtime/ModuleLoad"], rows["rundown/ModuleDCEnd"]],
            [rows["runtime/AssemblyLoad"], rows["rundown/AssemblyDCEnd"]],
            self.command_line or "",
        )

    @property
    def command_line(self) -> str | None:
        """The command line, by the runtime or by the event of the process; None if neither tells."""
        texts = (first_text(self.rows[name], "CommandLine") for name in (STARTED, LISTED, PROCESS))
        return next(filter(None, texts), None)

    @cached_property
    def main(self) -> MainFound | None:
        """The program's Main."""
        if not self.launched:
            return None
        rows = self.rows
        main = find_main(
            self.modules,
            rows[BEGINS],
            [rows[name] for name in LOADS],
            rows[VERBOSE],
            rows[LOOKUPS],
            modules_of(rows[LOOKUPS], rows["runtime/MethodDetails"]),
        )
        if main is None and len(rows["sample/ThreadSample"]):
            context = self.context
            main = first_sample(
                self.modules, rows["sample/ThreadSample"], context.stacks, context.methods, context.process_id
            )
        return main

    @cached_property
    def until(self) -> tuple[str, int]:
        """The end of what is shown."""
        main = self.main
        resumed = self.rows["runtime/TieredCompilationResume"].numbers("time_ns")
        if main is not None:
            resumed = resumed[resumed >= main.time_ns]
        if len(resumed):
            return "tiering_resumed", int(resumed[0])
        if main is not None and main.ready_ns is not None:
            return "main_ready", main.ready_ns
        return "end_of_trace", self.context.recorded.high

    # What it consists of. -------------------------------------------------------------------------------------------

    @cached_property
    def spans(self) -> tuple[EventSpans, ...]:
        """All spans of each kind that begin before the start is over."""
        rows = self.rows
        kinds = (
            compilations(rows[BEGINS], [rows[name] for name in LOADS]),
            paired(rows["runtime/AssemblyLoadStart"], rows["runtime/AssemblyLoadStop"], ("thread_id", "AssemblyName")),
            paired(rows["runtime/TypeLoadStart"], rows["runtime/TypeLoadStop"], ("thread_id", "TypeLoadStartID")),
            paired(rows["runtime/R2RGetEntryPointStart"], rows[LOOKUPS], ("thread_id", "MethodID")),
        )
        if not self.launched:
            return tuple(spans.only(np.zeros(len(spans), dtype=np.bool_)) for spans in kinds)
        return tuple(spans.only(spans.low_ns <= self.until[1]) for spans in kinds)

    @cached_property
    def owned(self) -> list[SelfTime]:
        """The self time of each span of each kind."""
        return self_times(self.spans)

    def begun(self, spans: EventSpans) -> Mask:
        """Which began in the window."""
        return self.context.window.holds(spans.low_ns)

    @property
    def main_ns(self) -> int:
        """When Main was met; before everything where that is unknown."""
        return ALWAYS if self.main is None else self.main.time_ns

    def before_main(self, spans: EventSpans) -> list[bool | None]:
        """Which began before Main."""
        if self.main is None:
            return [None] * len(spans)
        before: list[bool | None] = (spans.low_ns < self.main_ns).tolist()
        return before

    def name(self, namespace: str, name: str, signature: str) -> str:
        """A method's name as it was asked for."""
        return (raw_name if self.raw else display_name)(namespace, name, signature)

    def times(self, spans: EventSpans, owned: SelfTime) -> dict[str, Cells]:
        """The columns that spans of all kinds have."""
        closed = spans.closed
        return {
            "start_ns": nulled(spans.low_ns, spans.begun),
            "end_ns": nulled(spans.high_ns, spans.ended),
            "self_ns": nulled(owned.within(ALWAYS, FOREVER), closed),
            "thread_id": spans.thread,
            "before_main": self.before_main(spans),
        }

    @cached_property
    def moments(self) -> list[Moment]:
        """All moments that are known, in order of time."""
        # No window reaches to before the session.
        moments = sorted((mark for mark in self.checkpoints if mark.time_ns >= 0), key=lambda mark: mark.time_ns)
        if not self.context.has_start:
            # The first that a part of a trace has is not the first that happened.
            return moments
        if self.started_ns is not None:
            moments.append(Moment("runtime_started", self.started_ns, "event", "RuntimeInformationStart"))
        jit, main = self.spans[0], self.main
        if len(jit):
            event = "MethodJittingStarted" if jit.begin[0] != NONE else "MethodLoadVerbose"
            (method,) = self.compiled(jit.only(np.zeros(1, dtype=np.int64)))
            moments.append(Moment("first_compilation", int(jit.low_ns[0]), "event", event, method))
        moments += self._program_loaded()
        if main is not None:
            shown = self.name(*main.name)
            moments.append(Moment("main", main.time_ns, main.evidence, main.event, shown))
            if main.ready_ns is not None and main.ready_ns != main.time_ns:
                moments.append(Moment("main_ready", main.ready_ns, main.evidence, "MethodLoadVerbose", shown))
        if self.launched and self.until[0] == "tiering_resumed":
            new = self._new_methods()
            if len(new):
                moments.append(Moment("last_new_method", int(new.max()), "inferred", "TieredCompilationResume"))
            moments.append(Moment("tiering_resumed", self.until[1], "event", "TieredCompilationResume"))
        return sorted(moments, key=lambda moment: moment.time_ns)

    @cached_property
    def checkpoints(self) -> list[Moment]:
        """The runtime's own marks, some of them from before the session. The rundown repeats them."""
        info = self.context.info
        moments: dict[tuple[str, int], Moment] = {}
        for selector in CHECKPOINTS if info.frequency else ():
            rows = self.rows[selector]
            marks = zip(rows.column("Name").tolist(), rows.numbers("Timestamp").tolist(), strict=True)
            for name, ticks in marks:
                time = (ticks - info.sync_qpc) * 1_000_000_000 // info.frequency
                event = selector.partition("/")[2]
                moments.setdefault((name, ticks), Moment("checkpoint", time, "event", event, name))
        return [*moments.values()]

    def _new_methods(self) -> Ints:
        """When methods not called before were ready, as far as the trace has them."""
        jit, lookups = self.spans[0], self.spans[3]
        ready = np.concatenate((jit.high_ns[jit.end != NONE], lookups.high_ns[lookups.end != NONE]))
        return ready[ready <= self.until[1]]

    @cached_property
    def program(self) -> tuple[int, Evidence] | None:
        """The module of the program's assembly."""
        if not self.launched:
            return None
        if self.main is not None and self.main.module_id in self.modules.paths:
            return self.main.module_id, "event" if self.main.evidence == "event" else "inferred"
        ids = self.rows["runtime/ModuleLoad"].numbers("ModuleID").tolist()
        return next(((module, "inferred") for module in ids if self.modules.whose(module)[0]), None)

    def _program_loaded(self) -> Iterable[Moment]:
        """When the program's assembly was asked for; else when its module was there."""
        if self.program is None:
            return
        module, evidence = self.program
        wanted = self.modules.name(module)
        asked, loaded = self.rows["runtime/AssemblyLoadStart"], self.rows["runtime/ModuleLoad"]
        for line, name in enumerate(asked.column("AssemblyName").tolist()):
            if name.partition(",")[0] == wanted:
                time = int(asked.numbers("time_ns")[line])
                yield Moment("program_loaded", time, evidence, "AssemblyLoadStart", name)
                return
        loads = np.flatnonzero(loaded.numbers("ModuleID") == np.uint64(module))
        for line in loads[:1].tolist():
            yield Moment("program_loaded", int(loaded.numbers("time_ns")[line]), evidence, "ModuleLoad", wanted)

    def compiled(self, spans: EventSpans) -> list[str]:
        """The names of the methods that were compiled in these."""
        verbose = spans.end - len(self.rows[LOADS[0]])
        alone = ~spans.begun & (verbose >= 0)
        begun = iter(method_texts(self.rows[BEGINS].only(spans.begin[spans.begun], _TEXTS)))
        loaded = iter(method_texts(self.rows[VERBOSE].only(verbose[alone], _TEXTS)))
        sources = zip(spans.begun.tolist(), alone.tolist(), strict=True)
        texts = [next(begun) if begin else next(loaded) if load else ("", "", "") for begin, load in sources]
        return [self.name(*text) for text in texts]
