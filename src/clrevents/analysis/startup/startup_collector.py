"""Events of a start → the startup report: its moments first, then what lies before its end.

Keeps the columns of all its events until the end, for only there is it known where the program's Main is. Judges no
duration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.compilations import compilations, picked
from clrevents.analysis.framework.answer_values import ALWAYS, FOREVER, Evidence, Metric, Note
from clrevents.analysis.framework.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.declaration import parameter, parameters
from clrevents.analysis.framework.kept import Kept
from clrevents.analysis.framework.needs import record_line
from clrevents.analysis.gather import Gathered
from clrevents.analysis.startup.main_method import CORE, MainFound, ProgramModules, find_main, first_sample
from clrevents.analysis.startup.self_time import NONE, SelfTime, ThreadSpans, depths, paired, self_times, thread_spans
from clrevents.analysis.startup.startup_rows import (
    AssemblyLoading,
    CodeLookup,
    LoadedType,
    StartupCompilation,
    StartupFacts,
    StartupMoment,
    StartupReport,
)
from clrevents.schema.method_flags import MethodFlags
from clrevents.symbols.method_names import display_name, raw_name
from clrevents.symbols.modules import module_name
from clrevents.symbols.typenames import type_name
from clrevents.table.table import Table
from clrevents.words import counted

Mask: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

_METHOD: Final = ("time_ns", "thread_id", "MethodID", "MethodNamespace", "MethodName", "MethodSignature")
_MODULE: Final = ("time_ns", "ModuleID", "ModuleFlags", "ModuleILPath")
_ASSEMBLY: Final = ("AssemblyName", "AssemblyPath", "RequestingAssembly", "AssemblyLoadContext")
_KEPT: Final[Mapping[str, tuple[str, ...] | None]] = {
    "runtime/RuntimeInformationStart": None,
    "rundown/RuntimeInformationDCStart": None,
    "runtime/ModuleLoad": _MODULE,
    "rundown/ModuleDCEnd": _MODULE,
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
_CHECKPOINTS: Final = ("runtime/ExecutionCheckpoint", "rundown/ExecutionCheckpointDCEnd")
_STARTED, _LISTED = "runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart"
_BEGINS, _VERBOSE, _LOOKUPS = "runtime/MethodJittingStarted", "runtime/MethodLoadVerbose", "runtime/R2RGetEntryPoint"
_LOADS: Final = ("runtime/MethodLoad", _VERBOSE)
_REJECTED: Final = int(MethodFlags.ProfilerRejectedPrecompiledCode | MethodFlags.ReadyToRunRejectedPrecompiledCode)
_LAUNCH: Final = "let dotnet-trace start the program: `dotnet-trace collect … -- PROGRAM`"
KINDS: Final = ("jit", "assembly_load", "type_load", "lookup")
"""What has a self time, by the names of its metrics."""


@parameters
class StartupParameters:
    """How the report shows names."""

    raw: bool = parameter(False, "Names as the runtime writes them.")


class StartupCollector(Collector[StartupReport]):
    """Keeps the events that a start is made of."""

    selectors = tuple(_KEPT)
    stacks = True

    def __init__(self, parameters: StartupParameters) -> None:
        self._raw = parameters.raw
        self._kept = Kept({name: columns for name, columns in _KEPT.items() if columns is not None})

    def take(self, chunk: ReportChunk) -> None:
        self._kept.take(chunk)

    def finish(self, context: Context) -> StartupReport:
        start = _Start(self._kept.all(self.selectors, context.nothing), context, self._raw)
        return start.report()


@attrs.frozen
class _Moment:
    moment: str
    time_ns: int
    evidence: Evidence
    event: str
    what: str | None = None


@attrs.frozen(eq=False, slots=False)
class _Start:
    """One process's start: each property is what the report says of it."""

    rows: Mapping[str, Gathered]
    context: Context
    raw: bool

    # Who started whom. ----------------------------------------------------------------------------------------------

    @cached_property
    def verdict(self) -> tuple[str, Evidence | None]:
        """Whether the trace was begun before the runtime, and how that is known."""
        if len(self.rows[_STARTED]):
            return "launched", "event"
        if any(module_name(path) == CORE for path in self.rows["runtime/ModuleLoad"].column("ModuleILPath").tolist()):
            return "launched", "inferred"
        return ("attached", "inferred") if len(self.rows[_LISTED]) else ("unknown", None)

    @property
    def launched(self) -> bool:
        """Whether there is anything to tell."""
        return self.verdict[0] == "launched"

    @cached_property
    def started_ns(self) -> int | None:
        """When the runtime started."""
        rows = self.rows[_STARTED]
        return int(rows.numbers("time_ns")[0]) if len(rows) else None

    @cached_property
    def modules(self) -> ProgramModules:
        """The modules by their ids."""
        return ProgramModules.of([self.rows["runtime/ModuleLoad"], self.rows["rundown/ModuleDCEnd"]])

    @cached_property
    def main(self) -> MainFound | None:
        """The program's Main."""
        if not self.launched:
            return None
        rows = self.rows
        found = find_main(
            self.modules,
            rows[_BEGINS],
            [rows[name] for name in _LOADS],
            rows[_VERBOSE],
            rows[_LOOKUPS],
            _modules_of(rows[_LOOKUPS], rows["runtime/MethodDetails"]),
        )
        if found is None and len(rows["sample/ThreadSample"]):
            context = self.context
            found = first_sample(
                self.modules, rows["sample/ThreadSample"], context.stacks, context.methods, context.process_id
            )
        return found

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
        return "end_of_trace", self.context.duration_ns

    # What it consists of. -------------------------------------------------------------------------------------------

    @cached_property
    def loads(self) -> Gathered:
        """Loads of jitted code, of both kinds one after the other."""
        parts = [self.rows[name] for name in _LOADS]
        names = ("time_ns", "thread_id", "MethodID", "ModuleID", "MethodFlags")
        table = Table(
            tuple(parts[0].table.select(*names).fields),
            tuple(tuple(part.column(name) for name in names) for part in parts if len(part)),
        )
        return Gathered(None, table, np.concatenate([part.places for part in parts]))

    @cached_property
    def spans(self) -> tuple[ThreadSpans, ...]:
        """All spans of each kind that begin before the start is over."""
        rows = self.rows
        made = compilations(rows[_BEGINS], [rows[name] for name in _LOADS])
        found = (
            thread_spans(rows[_BEGINS], self.loads, made.begin, made.load),
            paired(rows["runtime/AssemblyLoadStart"], rows["runtime/AssemblyLoadStop"], ("thread_id", "AssemblyName")),
            paired(rows["runtime/TypeLoadStart"], rows["runtime/TypeLoadStop"], ("thread_id", "TypeLoadStartID")),
            paired(rows["runtime/R2RGetEntryPointStart"], rows[_LOOKUPS], ("thread_id", "MethodID")),
        )
        if not self.launched:
            return tuple(spans.only(np.zeros(len(spans), dtype=np.bool_)) for spans in found)
        return tuple(spans.only(spans.start_ns <= self.until[1]) for spans in found)

    @cached_property
    def owned(self) -> list[SelfTime]:
        """The self time of each span of each kind."""
        return self_times(self.spans)

    def begun(self, spans: ThreadSpans) -> Mask:
        """Which began in the window."""
        return self.context.window.holds(spans.start_ns)

    @property
    def main_ns(self) -> int:
        """When Main was met; before everything where that is unknown."""
        return ALWAYS if self.main is None else self.main.time_ns

    def before_main(self, spans: ThreadSpans) -> list[bool | None]:
        """Which began before Main."""
        if self.main is None:
            return [None] * len(spans)
        found: list[bool | None] = (spans.start_ns < self.main_ns).tolist()
        return found

    def name(self, namespace: str, name: str, signature: str) -> str:
        """A method's name as it was asked for."""
        return (raw_name if self.raw else display_name)(namespace, name, signature)

    def times(self, spans: ThreadSpans, owned: SelfTime) -> dict[str, Any]:
        """The columns that spans of all kinds have."""
        closed = spans.closed
        return {
            "start_ns": _where(spans.start_ns, spans.begin != NONE),
            "end_ns": _where(spans.end_ns, spans.end != NONE),
            "self_ns": _where(owned.within(ALWAYS, FOREVER), closed),
            "thread_id": spans.thread,
            "before_main": self.before_main(spans),
        }

    # Tables. --------------------------------------------------------------------------------------------------------

    @cached_property
    def moments(self) -> list[_Moment]:
        """All moments that are known, in order of time."""
        found = list(self._checkpoints())
        if self.started_ns is not None:
            found.append(_Moment("runtime_started", self.started_ns, "event", "RuntimeInformationStart"))
        jit, main = self.spans[0], self.main
        if len(jit):
            event = "MethodJittingStarted" if jit.begin[0] != NONE else "MethodLoadVerbose"
            found.append(_Moment("first_compilation", int(jit.start_ns[0]), "event", event, self.compiled[0][0]))
        found += self._program_loaded()
        if main is not None:
            shown = self.name(*main.name)
            found.append(_Moment("main", main.time_ns, main.evidence, main.event, shown))
            if main.ready_ns is not None and main.ready_ns != main.time_ns:
                found.append(_Moment("main_ready", main.ready_ns, main.evidence, "MethodLoadVerbose", shown))
        if self.launched and self.until[0] == "tiering_resumed":
            new = self._new_methods()
            if len(new):
                found.append(_Moment("last_new_method", int(new.max()), "inferred", "TieredCompilationResume"))
            found.append(_Moment("tiering_resumed", self.until[1], "event", "TieredCompilationResume"))
        return sorted(found, key=lambda moment: moment.time_ns)

    def _checkpoints(self) -> Iterable[_Moment]:
        """The runtime's own marks, some of them from before the session. The rundown repeats them."""
        info = self.context.info
        seen = set()
        for selector in _CHECKPOINTS if info.frequency else ():
            rows = self.rows[selector]
            marks = zip(rows.column("Name").tolist(), rows.numbers("Timestamp").tolist(), strict=True)
            for name, ticks in marks:
                if (name, ticks) not in seen:
                    seen.add((name, ticks))
                    time = (ticks - info.sync_qpc) * 1_000_000_000 // info.frequency
                    yield _Moment("checkpoint", time, "event", selector.partition("/")[2], name)

    def _new_methods(self) -> Ints:
        """When methods were ready that had not been called before, as far as the trace has them."""
        jit, lookups = self.spans[0], self.spans[3]
        ready = np.concatenate((jit.end_ns[jit.end != NONE], lookups.end_ns[lookups.end != NONE]))
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

    def _program_loaded(self) -> Iterable[_Moment]:
        """When the program's assembly was asked for; else when its module was there."""
        if self.program is None:
            return
        module, evidence = self.program
        wanted = self.modules.name(module)
        asked, loaded = self.rows["runtime/AssemblyLoadStart"], self.rows["runtime/ModuleLoad"]
        for line, name in enumerate(asked.column("AssemblyName").tolist()):
            if name.partition(",")[0] == wanted:
                time = int(asked.numbers("time_ns")[line])
                yield _Moment("program_loaded", time, evidence, "AssemblyLoadStart", name)
                return
        mine = np.flatnonzero(loaded.numbers("ModuleID") == np.uint64(module))
        for line in mine[:1].tolist():
            yield _Moment("program_loaded", int(loaded.numbers("time_ns")[line]), evidence, "ModuleLoad", wanted)

    @cached_property
    def compiled(self) -> tuple[list[str], list[str]]:
        """Names and signatures of the methods that were compiled."""
        spans = self.spans[0]
        begins, verbose = self.rows[_BEGINS], self.rows[_VERBOSE]
        begun, loaded = _texts(begins), _texts(verbose)
        texts = []
        for begin, end in zip(spans.begin.tolist(), (spans.end - len(self.rows[_LOADS[0]])).tolist(), strict=True):
            known = begin != NONE or end >= 0
            texts.append((begun[begin] if begin != NONE else loaded[end]) if known else ("", "", ""))
        return [self.name(*text) for text in texts], [text[2] for text in texts]

    def compilation_table(self) -> Any:
        """What was compiled."""
        spans, begins, loads = self.spans[0], self.rows[_BEGINS], self.loads
        known, ended = spans.begin != NONE, spans.end != NONE
        methods, signatures = self.compiled
        flags = picked(loads.numbers("MethodFlags"), spans.end).astype(np.int64)
        ids, modules = (
            np.where(known, picked(begins.numbers(name), spans.begin), picked(loads.numbers(name), spans.end))
            for name in ("MethodID", "ModuleID")
        )
        tiers = zip(flags.tolist(), ended.tolist(), strict=True)
        return self.context.table(
            StartupCompilation,
            {
                "method": methods,
                "signature": signatures,
                "module": [self.modules.name(module) for module in modules.tolist()],
                "compile_ns": _where(spans.end_ns - spans.start_ns, spans.closed),
                "tier": [str(MethodFlags(flag).tier) if end else None for flag, end in tiers],
                "precompiled": self.precompiled(spans, ids, flags),
                "method_id": ids,
                **self.times(spans, self.owned[0]),
            },
        )

    def precompiled(self, spans: ThreadSpans, ids: NDArray[Any], flags: Ints) -> list[str | None]:
        """What became of the precompiled code of what was compiled."""
        lookups = self.rows[_LOOKUPS]
        looked: dict[int, list[tuple[int, bool]]] = {}
        values = (lookups.numbers(name).tolist() for name in ("MethodID", "EntryPoint"))
        for method, code, place in zip(*values, lookups.places.tolist(), strict=True):
            looked.setdefault(method, []).append((place, code != 0))
        found: list[str | None] = []
        for method, flag, place in zip(ids.tolist(), flags.tolist(), spans.end_place.tolist(), strict=True):
            before = [hit for at, hit in looked.get(method, ()) if at <= place]
            if flag & _REJECTED:
                found.append("rejected")
            elif flag & MethodFlags.Dynamic:
                # It is looked up like any other.
                found.append("dynamic")
            elif not len(lookups):
                found.append(None)
            else:
                found.append(("found" if before[-1] else "missed") if before else "none")
        return found

    def load_table(self) -> Any:
        """Which assemblies were loaded."""
        spans = self.spans[1]
        begins, ends = self.rows["runtime/AssemblyLoadStart"], self.rows["runtime/AssemblyLoadStop"]

        def either(name: str) -> list[Any]:
            return _either(spans, begins.column(name).tolist(), ends.column(name).tolist())

        results = _either(spans, None, ends.column("ResultAssemblyPath").tolist())
        return self.context.table(
            AssemblyLoading,
            {
                "assembly": either("AssemblyName"),
                "requesting": [text or None for text in either("RequestingAssembly")],
                "load_context": [text or None for text in either("AssemblyLoadContext")],
                "path": [made or asked or None for made, asked in zip(results, either("AssemblyPath"), strict=True)],
                "load_ns": _where(spans.end_ns - spans.start_ns, spans.closed),
                "success": _flags(_either(spans, None, ends.column("Success").tolist())),
                "cached": _flags(_either(spans, None, ends.column("Cached").tolist())),
                "depth": depths(spans),
                **self.times(spans, self.owned[1]),
            },
        )

    def type_table(self) -> Any:
        """Which types were loaded, one row each."""
        spans, window = self.spans[2], self.context.window
        ends = self.rows["runtime/TypeLoadStop"]
        own = self.owned[2].within(window.low, window.high)
        mine = np.flatnonzero((spans.end != NONE) & (self.begun(spans) | (own > 0)))
        begun = self.begun(spans)
        stops = spans.end[mine]
        ids, first, group = np.unique(ends.numbers("TypeID")[stops], return_index=True, return_inverse=True)
        group = group.reshape(-1)
        self_ns, loads, level = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
        np.add.at(self_ns, group, own[mine])
        np.add.at(loads, group, begun[mine].astype(np.int64))
        np.maximum.at(level, group, ends.numbers("LoadLevel")[stops].astype(np.int64))
        order = np.argsort(first, kind="stable")
        texts = ends.column("TypeName").tolist()
        names = [texts[stop] for stop in stops[first[order]].tolist()]
        at = mine[first[order]]
        spoilt = bool(self.context.marks.touched(np.array([ALWAYS]), np.array([self.until[1]]))[0])
        return self.context.table(
            LoadedType,
            {
                "type": names if self.raw else [type_name(name).text() for name in names],
                "loads": loads[order],
                "self_ns": self_ns[order],
                "highest_level": level[order],
                "first_ns": _where(spans.start_ns[at], spans.begin[at] != NONE),
                "type_id": ids[order],
                "lossy": [spoilt] * len(ids),
            },
        )

    def lookup_table(self) -> Any:
        """Which precompiled code was looked up."""
        spans, lookups = self.spans[3], self.rows[_LOOKUPS]
        texts = [self.name(*text) for text in _texts(lookups)]
        begun = self.rows["runtime/R2RGetEntryPointStart"].numbers("MethodID").tolist()
        hits = _either(spans, None, (lookups.numbers("EntryPoint") != 0).tolist())
        return self.context.table(
            CodeLookup,
            {
                "method": [text or "" for text in _either(spans, None, texts)],
                "found": hits,
                "method_id": _either(spans, begun, lookups.numbers("MethodID").tolist()),
                **self.times(spans, self.owned[3]),
            },
        )

    # The answer. ----------------------------------------------------------------------------------------------------

    def report(self) -> StartupReport:
        """Everything together."""
        context = self.context
        moments = self.moments
        times = [moment.time_ns for moment in moments]
        since = [None if self.started_ns is None else time - self.started_ns for time in times]
        tables = {
            "moments": context.table(
                StartupMoment,
                {
                    "moment": [moment.moment for moment in moments],
                    "time_ns": times,
                    "since_start_ns": since,
                    "evidence": [moment.evidence for moment in moments],
                    "event": [moment.event for moment in moments],
                    "what": [moment.what for moment in moments],
                },
            ),
            "compilations": self.compilation_table(),
            "loads": self.load_table(),
            "types": self.type_table(),
            "lookups": self.lookup_table(),
        }
        found: StartupReport = context.answer(
            StartupReport, facts=self.facts(), metrics=self.metrics(tables), notes=self.notes(), **tables
        )
        # That the runtime's own library was loaded proves as much as its word that it started.
        coverage = ("partial" if found.coverage == "none" else found.coverage) if self.launched else "none"
        # What spoils all comes first.
        notes = found.notes if self.launched else (found.notes[-1], *found.notes[:-1])
        changed: dict[str, Any] = {"coverage": coverage, "notes": notes}
        return attrs.evolve(found, **changed)

    def facts(self) -> StartupFacts:
        """Verdicts and circumstances."""
        verdict, evidence = self.verdict
        about = self.rows[_STARTED] if len(self.rows[_STARTED]) else self.rows[_LISTED]
        main, program = self.main, self.program
        return StartupFacts(
            verdict=verdict,
            evidence=evidence,
            main=self.name(*main.name) if main is not None and main.evidence != "sample" else None,
            main_evidence=None if main is None else main.evidence,
            program=None if program is None else self.modules.paths[program[0]] or None,
            until=self.until[0] if self.launched else None,
            until_ns=self.until[1] if self.launched else None,
            command_line=_text(about, "CommandLine"),
            runtime_version=_version(about),
            runtime=_word(about, "Sku"),
            runtime_path=_text(about, "RuntimeDllPath"),
            startup_mode=_word(about, "StartupMode"),
        )

    def metrics(self, tables: Mapping[str, Any]) -> dict[str, int | float | Metric | None]:
        """All numbers; null where their events are missing."""
        window, end = self.context.window, self.until[1]
        found: dict[str, int | float | Metric | None] = {
            "runtime_to_program": self._since("program_loaded"),
            "runtime_to_main": self._since("main"),
            "main_ready": self._since("main_ready", "main"),
            "runtime_to_resume": self._since("tiering_resumed"),
        }
        for kind, spans, owned in zip(KINDS, self.spans, self.owned, strict=True):
            known = self.launched and self._tells(kind)
            total = int(owned.within(window.low, min(window.high, end)).sum())
            to_main = int(owned.within(window.low, min(window.high, self.main_ns)).sum())
            found[f"{kind}_total"] = total if known else None
            found[f"{kind}_to_main"] = to_main if known and self.main is not None else None
            found[f"{kind}_count"] = int(self.begun(spans).sum()) if known else None
        words = tables["compilations"].column("precompiled").tolist()
        begun = self.context.begun(tables["compilations"]).tolist()
        for word in ("missed", "rejected"):
            count = sum(own == word for own, mine in zip(words, begun, strict=True) if mine)
            known = self.launched and self._tells("jit") and (word == "rejected" or self._tells("lookup"))
            found[f"jit_{word}"] = count if known else None
        looked = self.spans[3]
        hit = np.array([value is True for value in _either(looked, None, self._hits())], dtype=np.bool_)
        ended = looked.end != NONE
        known = self.launched and self._tells("lookup")
        found["lookups_found"] = int((self.begun(looked) & ended & hit).sum()) if known else None
        found["lookups_missed"] = int((self.begun(looked) & ended & ~hit).sum()) if known else None
        found["types"] = len(tables["types"]) if self.launched and self._tells("type_load") else None
        found["events_to_main"], found["events_per_second"] = self._events()
        return found

    def _hits(self) -> list[bool]:
        hits: list[bool] = (self.rows[_LOOKUPS].numbers("EntryPoint") != 0).tolist()
        return hits

    def _tells(self, kind: str) -> bool:
        """Whether the trace has events of a kind."""
        events = {
            "jit": (_BEGINS, *_LOADS),
            "assembly_load": ("runtime/AssemblyLoadStart", "runtime/AssemblyLoadStop"),
            "type_load": ("runtime/TypeLoadStart", "runtime/TypeLoadStop"),
            "lookup": ("runtime/R2RGetEntryPointStart", _LOOKUPS),
        }
        return any(len(self.rows[name]) for name in events[kind])

    def _since(self, *names: str) -> Metric | None:
        """How long after the runtime's start the first of these moments that is known was."""
        known = {moment.moment: moment for moment in self.moments}
        moment = next((known[name] for name in names if name in known), None)
        if self.started_ns is None or moment is None:
            return None
        value = moment.time_ns - self.started_ns
        metric = Metric(value, "ns", "less", "none", evidence=moment.evidence)
        if moment.evidence != "sample":
            return metric
        loaded = known.get("program_loaded")
        low = 0 if loaded is None or loaded.time_ns > moment.time_ns else loaded.time_ns - self.started_ns
        return attrs.evolve(metric, low=low, high=value)

    def _events(self) -> tuple[int | None, float | None]:
        """How many of this report's events were recorded until Main, in the window; and in a second, in all."""
        if self.main is None:
            return None, None
        window = self.context.window
        times = np.concatenate([rows.numbers("time_ns") for rows in self.rows.values()])
        before = times[times < self.main_ns]
        seconds = (self.main_ns - (self.started_ns or 0)) / 1e9
        return int(window.holds(before).sum()), len(before) / seconds if seconds > 0 else None

    def notes(self) -> Sequence[Note]:
        """What limits the answer."""
        record = record_line(self.context.needs)
        if not self.launched:
            attached = self.verdict[0] == "attached"
            text = "the runtime was already running when the trace began; what it did before is not in the trace"
            unknown = "the trace does not tell whether it began before the runtime started"
            id, message = ("attached", text) if attached else ("start-unknown", unknown)
            return (Note(id, "warning", message, ("moments",), remedy=_LAUNCH, record=record),)
        found = []
        main = self.main
        if main is None:
            text = "no Main method of the program was compiled, looked up or sampled"
            found.append(Note("main-unknown", "warning", text, ("main",), remedy="record more", record=record))
        elif main.evidence == "sample":
            text = "the program was first seen running in a sample: it reached Main at the latest then"
            found.append(Note("main-sampled", "info", text, ("main", "runtime_to_main"), record=record))
        elif main.evidence == "inferred":
            text = "where the framework is, is unknown: its modules were told from the program's by their names"
            found.append(Note("main-inferred", "info", text, ("main", "runtime_to_main")))
        events, rate = self._events()
        if events is not None and rate is not None:
            text = (
                f"recording slows the start: at least {counted(events, 'event was', 'events were')} written until Main"
            )
            text += f", {rate:,.0f} per second; the time that this took is in all durations"
            numbers = {"events": events, "per_second": rate}
            remedy = "compare with a trace of fewer keywords"
            found.append(Note("recording-cost", "info", text, ("runtime_to_main",), numbers, remedy))
        return found


def _modules_of(lookups: Gathered, details: Gathered) -> list[int]:
    """The module of each method that was looked up; 0 where no event tells."""
    known = dict(zip(details.numbers("MethodID").tolist(), details.numbers("LoaderModuleID").tolist(), strict=True))
    return [known.get(method, 0) for method in lookups.numbers("MethodID").tolist()]


def _texts(rows: Gathered) -> list[tuple[str, str, str]]:
    columns = (rows.column(name).tolist() for name in ("MethodNamespace", "MethodName", "MethodSignature"))
    return list(zip(*columns, strict=True))


def _either(spans: ThreadSpans, begins: Sequence[Any] | None, ends: Sequence[Any]) -> list[Any]:
    """A value of each span: from its begin, or its end where it has none (or `begins` is None); else null."""
    found: list[Any] = []
    for begin, end in zip(spans.begin.tolist(), spans.end.tolist(), strict=True):
        if begins is not None and begin != NONE:
            found.append(begins[begin])
        else:
            found.append(ends[end] if end != NONE else None)
    return found


def _flags(values: Iterable[Any]) -> list[bool | None]:
    return [None if value is None else bool(value) for value in values]


def _where(values: NDArray[Any], known: Mask) -> list[int | None]:
    return [value if mine else None for value, mine in zip(values.tolist(), known.tolist(), strict=True)]


def _text(rows: Gathered, name: str) -> str | None:
    return rows.column(name).tolist()[0] or None if len(rows) else None


def _word(rows: Gathered, name: str) -> str | None:
    """The name of an enum's value; None for 0, which names nothing."""
    value = int(rows.numbers(name)[0]) if len(rows) else 0
    enum = next((field.enum for field in rows.table.fields if field.name == name), None)
    return str(enum(value)) if value and enum is not None else None


def _version(rows: Gathered) -> str | None:
    """The version of .NET: that of its libraries, which is the product's from .NET 5 on."""
    if not len(rows):
        return None
    return ".".join(str(int(rows.numbers(f"Bcl{part}")[0])) for part in ("MajorVersion", "MinorVersion", "BuildNumber"))
