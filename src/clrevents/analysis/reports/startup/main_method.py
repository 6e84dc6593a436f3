"""Which code is the program's, when its Main method was first met, and the self time of each span on a thread.

At any moment, a thread's time belongs to the innermost span: self times add up to no more than the time that passed,
even where lost events make spans cross. The program is the assembly that the command line names, and what lies beside
it; elsewhere, what is not signed with a key of the framework. Opens no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Evidence
from clrevents.analysis.gathering.groups import Gathered, Ints, groups, sum_by
from clrevents.analysis.shared.events.event_spans import EventSpans
from clrevents.schema.runtime_flags import ModuleFlags
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
