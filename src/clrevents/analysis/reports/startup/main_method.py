"""Which code is the program's, and when its Main method was first met.

The program is the assembly that the command line names, and what lies beside it; elsewhere, what is not signed with a
key of the framework. Opens no file and does not know the entry point in the assembly's header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Evidence
from clrevents.analysis.gathering.gather import Gathered
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.symbols.methods import Methods
from clrevents.symbols.modules import module_name
from clrevents.table.read import AddressStacks

ENTRY_NAMES: Final = frozenset(("Main", "<Main>$", "<Main>", "main@"))
"""Compilers' names for the method that a program begins with: C#, its top-level statements, an `async` Main, F#."""
CORE: Final = "System.Private.CoreLib"
_FRAMEWORK_KEYS: Final = frozenset(
    (
        "7cec85d7bea7798e",
        "b03f5f7f11d50a3a",
        "b77a5c561934e089",
        "cc7b13ffcd2ddd51",
        "31bf3856ad364e35",
        "adb9793829ddae60",
    )
)
"""Public keys that the runtime's libraries, those of ASP.NET and of Windows are signed with."""
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
            return assembly.rpartition("PublicKeyToken=")[2] not in _FRAMEWORK_KEYS, "event"
        name = namespace or self.name(module_id) or ""
        return bool(name) and not name.startswith(_FRAMEWORK), "inferred"


def _named(paths: dict[int, str], command_line: str) -> frozenset[int]:
    """The modules of the first assembly that a command line names, and of those beside it unless the runtime is."""
    files = sorted(_FILE.findall(command_line), key=lambda found: found[1].lower() != "dll")
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
            mine, evidence = modules.whose(module, namespace)
            place, time = int(rows.places[line]), int(rows.numbers("time_ns")[line])
            if not mine or (first is not None and first[0] <= place):
                continue
            ready = _ready(loads, int(rows.numbers("MethodID")[line]), place) if rows is compiling else time
            text = namespace, names[line], rows.column("MethodSignature").tolist()[line]
            first = place, MainFound(time, ready, evidence, event, module, text)
    return None if first is None else first[1]


def _ready(loads: Sequence[Gathered], method_id: int, place: int) -> int | None:
    """When the code of a method was loaded, after this place."""
    found = []
    for rows in loads:
        mine = np.flatnonzero((rows.numbers("MethodID") == np.uint64(method_id)) & (rows.places > place))
        found += [(int(rows.places[line]), int(rows.numbers("time_ns")[line])) for line in mine[:1].tolist()]
    return min(found)[1] if found else None


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
            found, _ = methods.find(np.array(new, dtype=np.uint64), when, process_id)
            for address, index in zip(new, found.tolist(), strict=True):
                known[address] = None if index < 0 else _seen(modules, methods, index, int(times[line]))
        # The outermost one is what the program began with.
        for address in reversed(addresses):
            if (seen := known[address]) is not None:
                return seen
    return None


def _seen(modules: ProgramModules, methods: Methods, index: int, time_ns: int) -> MainFound | None:
    method = methods[index]
    mine, _ = modules.whose(method.module_id, method.namespace)
    if not mine:
        return None
    kind: Literal["sample"] = "sample"
    text = method.namespace, method.name, method.signature
    return MainFound(time_ns, None, kind, "ThreadSample", method.module_id, text)
