"""`TraceAbout`: what a trace is, whether it is whole, which reports have data, with hardly a payload decoded.

What the command `info`, the page, exports and agents say of a trace. Judges no content, and counts no payload.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.words import counted, duration_text
from clrevents.analysis.about.checking import LossRow, ProblemRow, common_parts, loss_rows, named_thread, problem_rows
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.recording.recorded import KIND_WORDS, RecordedProvider, recorded, recording_kind
from clrevents.analysis.framework.run.answerable import AboutReport, answerable
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES, Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, row
from clrevents.analysis.shared.events.gc_suspensions import SHORTEST_PAUSE_NS, recording_cost_of
from clrevents.errors import TraceError
from clrevents.schema.dynamic import Learned
from clrevents.schema.own_marks import REDACTED
from clrevents.schema.registry import RUNDOWN, RUNTIME, short_event
from clrevents.table.read import cut_stacks
from clrevents.trace import RawPayload, Trace, TraceInfo, Trust, passes_of

QUESTION: Final = "What is this trace, and what can it answer?"
_RUNTIME_EVENTS: Final = {RUNTIME: "RuntimeInformationStart", RUNDOWN: "RuntimeInformationDCStart"}
_PROCESS: Final = "Microsoft-DotNETCore-EventPipe", "ProcessInfo"
_FROM_PATH: Final = re.compile(r"Microsoft\.NETCore\.App[/\\]([^/\\]+)[/\\]")
_MOST: Final = 3
"""Kinds of event that are named in a line."""


@row
class AboutKind:
    """How often a kind of event occurs."""

    count: cells.Count = column("The number of these events.", importance=0)
    id: cells.Ordinal = column("The event's number.")
    version: cells.Ordinal = column("The version of the event.")
    event: cells.CodeName = column("The event, as it can be selected.", importance=0)
    provider: cells.CodeName = column("The provider.", hidden=True)
    name: cells.CodeName = column("The event's name.", hidden=True)


@row
class AboutThread:
    """A thread that events are about."""

    events: cells.Count = column("The number of its events.", importance=0)
    thread_id: cells.ThreadId | None = column("The thread; null for those that the trace does not name.", importance=0)
    process_id: cells.ProcessId | None = column("Its process; null if unknown.")
    first_ns: cells.Ns = column("Its first event.")
    last_ns: cells.Ns = column("Its last event.")
    name: cells.PrivateText | None = column("Its name, which only NetTrace 6 has.")
    async_from_ns: cells.Ns | None = column(
        "From when on its async events (.NET 11) are all there; null if that is not known.", hidden=True
    )
    async_to_ns: cells.Ns | None = column("Until when they are; later ones may not have been written.", hidden=True)


@row
class AboutProvider:
    """What was recorded of a provider, as far as events show it."""

    events: cells.Count = column("The number of its events.", importance=0)
    level: cells.Ordinal | None = column("The highest level of an event that occurred.")
    provider: cells.Word = column("The provider.", importance=0)
    keywords: tuple[cells.PrivateText, ...] = column(
        "The keywords that were on; with a question mark where an event has several, any of which may have been."
    )


@row
class AboutKeyword:
    """A keyword of a provider's events."""

    provider: cells.CodeName = column("The provider.")
    bit: cells.Ordinal = column("The keyword's bit, from 0.")
    name: cells.CodeName = column("Its name, in hex if it has none.")
    proved: cells.Flag = column("Some events have only this keyword, so it was on.")
    level: cells.Ordinal | None = column("The highest level of those events; null if not proved.")
    events: cells.Count = column("The number of events with it.")


@row
class AboutProcess:
    """One name of a process, as the Linux recorder tells of it."""

    process_id: cells.ProcessId = column("The id, which processes may have one after the other.", importance=0)
    own_id: cells.Ordinal | None = column("Its id inside its container.")
    started_ns: cells.Ns | None = column("When it had this name first; null if before the recording.")
    ended_ns: cells.Ns | None = column("When it ended, or had another name; null if not before the recording ended.")
    namespace: cells.CodeName = column("The name of its container.")
    name: cells.CodeName = column("Its name.", importance=0)


@row
class HeaderValue:
    """A pair of a name and a value in the header of NetTrace 6."""

    name: cells.CodeName = column("The name.")
    value: cells.PrivateText = column("The value.")


@row
class HeaderFacts:
    """What the header says: the beginning of every answer to what a trace is."""

    format: cells.Word = column("The file format.")
    format_version: cells.Ordinal = column("Its version.")
    process_id: cells.ProcessId | None = column("The process; null for recordings of several.")
    pointer_size: cells.Ordinal = column("The size of an address in the process, in bytes.")
    processors: cells.Count | None = column("The number of processors; null if unknown.")
    start: cells.Word | None = column("When the session started, in ISO 8601.")


def header_facts(info: TraceInfo) -> dict[str, Any]:
    """The values of `HeaderFacts`."""
    return {
        "format": info.format,
        "format_version": info.version,
        "process_id": info.process_id,
        "pointer_size": info.pointer_size,
        "processors": info.processors,
        "start": None if info.start is None else info.start.isoformat(),
    }


@row
class AboutFacts(HeaderFacts):
    """The header, and what few events say about the process."""

    kind: cells.Word = column("`program`, `linux`, `heap`, `counters`, `rundown` or `empty`: what was recorded.")
    trust: cells.CodeText = column("Whether the trace is whole, in one line.")
    losses_visible: cells.Flag = column("Lost events would show.")
    native_aot: cells.Flag = column("The header shows that the program was compiled ahead of time (NativeAOT).")
    sync_qpc: cells.Number | None = column("The recording clock at that time, in ticks.")
    frequency: cells.Number | None = column("Ticks of that clock per second.")
    sampling_interval_ns: cells.DurationNs | None = column("The requested distance of samples.")
    redacted: cells.Flag = column("Sensitive texts were replaced by words.")
    runtime_version: cells.Word | None = column("The runtime's version, such as 8.0.4; null if unknown.")
    runtime_sku: cells.Word | None = column("Which kind of runtime it is.")
    bcl_version: cells.Word | None = column("The version of the class library that the runtime reports.")
    vm_version: cells.Word | None = column("The version that the runtime reports of itself.")
    startup_flags: cells.CodeText | None = column("The flags with which it was started.")
    command_line: cells.PrivateText | None = column("The command line of the process.")
    runtime_path: cells.FilePath | None = column("Where the runtime's library was.")
    sampler_period_from: cells.Word | None = column("`stops` or `samples`: where the sampler's period is known from.")


@answer(name="info", summary="kind")
class TraceAbout(Answer[AboutFacts]):
    """What a trace is, whether it is whole, and what it can answer."""

    reports: ReportTable[AboutReport] = table("Each report, and what it lacks.")
    kinds: ReportTable[AboutKind] = table("Each kind of event, most frequent first.")
    providers: ReportTable[AboutProvider] = table("Each provider with its level and keywords, as far as events show.")
    keywords: ReportTable[AboutKeyword] = table("Each keyword of each provider.")
    threads: ReportTable[AboutThread] = table("Each thread, busiest first.")
    processes: ReportTable[AboutProcess] = table("Each process that the Linux recorder tells of.")
    losses: ReportTable[LossRow] = table("Events that were lost, by thread and time; at most `Limits.problems`.")
    problems: ReportTable[ProblemRow] = table("What is wrong or odd, at most `Limits.problems` of each severity.")
    header: ReportTable[HeaderValue] = table("What NetTrace 6 says in its header.")

    def lines(self) -> list[tuple[str, str]]:
        """What the trace is, for people: names and values."""
        facts, path = self.facts, self.question.trace.path
        counts = Counter[str]()
        for kind in self.kinds:
            if kind.provider != RUNDOWN or facts.kind == "rundown":
                counts[kind.name] += kind.count
        most = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_MOST))
        kinds, threads = counted(len(self.kinds), "kind"), counted(len(self.threads), "thread")
        start = "unknown" if facts.start is None else f"{facts.start[:19].replace('T', ' ')} UTC"
        lines = [
            ("file", path or "standard input"),
            ("what", KIND_WORDS[facts.kind]),  # type: ignore[index]
            ("process", self._process()),
            *([("command", facts.command_line)] if facts.command_line else []),
            ("recorded", f"{duration_text(int(self.metrics['duration'].value or 0))} from {start}"),
            ("format", f"{facts.format} {facts.format_version}, {8 * facts.pointer_size}-bit"),
            (
                "events",
                f"{self.metrics['events'].value:,} of {kinds} on {threads}" + (f"; most: {most}" if most else ""),
            ),
            ("trust", facts.trust),
            *self._recording(),
        ]
        if facts.redacted:
            lines.append(("redacted", "yes: sensitive texts are replaced by words"))
        return lines + [(pair.name, pair.value) for pair in self.header]

    def _process(self) -> str:
        facts = self.facts
        parts = [] if facts.process_id is None else [str(facts.process_id)]
        if facts.bcl_version is not None:
            parts.append(f".NET {facts.runtime_version or facts.bcl_version}")
        if facts.native_aot:
            parts.append("NativeAOT")
        if facts.processors:
            parts.append(counted(facts.processors, "processor"))
        processes = {thread.process_id for thread in self.threads} - {None}
        if len(processes) > 1:
            parts.append(counted(len(processes), "process", "processes"))
        return ", ".join(parts) or "unknown"

    def _recording(self) -> Iterator[tuple[str, str]]:
        """What the recording did to the program, and what it cut off."""
        low, high, stops = (self.metrics[f"sampler_{name}"].value for name in ("share_low", "share_high", "stops"))
        if low is not None and high is not None:
            share = f"{100 * low:.1f} to {100 * high:.1f} % of the time"
            text = f"stopped the program for {share}, {counted(int(stops or 0), 'time')}"
            if (pause := self.metrics["sampler_pause"].value) is not None and pause < SHORTEST_PAUSE_NS:
                text += ", without pauses: DOTNET_EventPipeThreadSamplingRate (milliseconds) was too large"
            yield "sampler", text
        if cut := self.metrics["stacks_cut"].value:
            stacks = counted(int(self.metrics["stacks"].value or 0), "stack")
            yield "stacks", f"{cut:,} of {stacks} cut by the runtime: inclusive times of outer methods are too low"
        if ends := [thread.async_to_ns for thread in self.threads if thread.async_to_ns is not None]:
            until = " to ".join(dict.fromkeys(map(duration_text, (min(ends), max(ends)))))
            yield "async", f"events of {counted(len(ends), 'thread')} known until {until}; later ones may be missing"
        if left := self.metrics["async_earlier"].value:
            yield "", f"{counted(int(left), 'async event')} of an earlier session, at negative times"


def _about_provider(one: RecordedProvider) -> AboutProvider:
    keywords = tuple(word.name if word.proved else f"{word.name}?" for word in one.keywords)
    return AboutProvider(events=one.events, level=one.level, provider=one.provider, keywords=keywords)


def about(trace: Trace, *, every: bool = True, raising: bool = True) -> TraceAbout:
    """What a trace is. Without `every`, what takes further passes is unknown: the cost of samples, stacks, processes.

    With `raising`, damage that ends the reading is raised.
    """
    info, scan = trace.info, passes_of(trace).scan(raising=raising)
    named = {(key.provider, key.name) for key in scan.counts}
    runtime, command_line = _runtime(trace, named, raising)
    problems = (*trace.problems, *passes_of(trace).source_errors())
    known = passes_of(trace).async_known
    trust = Trust.of(scan, sum(problem.severity == "payload" for problem in problems), known)
    sampler = attrs.asdict(recording_cost_of(trace)) if every else {}
    facts = AboutFacts(
        kind=recording_kind(named),
        trust=str(trust),
        losses_visible=scan.losses_visible,
        native_aot=info.native_aot,
        sync_qpc=info.sync_qpc,
        frequency=info.frequency,
        sampling_interval_ns=info.sampling_interval_ns,
        redacted=REDACTED.event in named,
        command_line=command_line,
        sampler_period_from=sampler.get("period_from"),
        **header_facts(info),
        **runtime,
    )
    numbers = {
        "duration": scan.duration_ns,
        "events": sum(scan.counts.values()),
        "lost": scan.lost,
        "stackless": trust.stackless,
        "damage": trust.damaged,
        "payload": trust.misfits,
        "async_earlier": 0 if known is None else known.earlier,
    }
    metrics = {
        **{name: Metric(value, "ns" if name == "duration" else "count") for name, value in numbers.items()},
        **_sampler_metrics(sampler),
        **(_stack_metrics(trace) if every else dict.fromkeys(("stacks", "stacks_cut"), _UNASKED)),
    }
    providers = recorded(trace)
    kinds = [
        AboutKind(count=count, event=short_event(key.provider, key.name), **attrs.asdict(key))
        for key, count in scan.counts.items()
    ]
    keywords = [
        AboutKeyword(provider=one.provider, **{**attrs.asdict(word), "bit": word.bit.bit_length() - 1})
        for one in providers
        for word in one.keywords
    ]
    spans = [None if known is None else known.span(one.process_id, one.thread_id) for one in scan.threads]
    threads = [
        AboutThread(
            **{**attrs.asdict(one), "thread_id": named_thread(one.thread_id)},
            async_from_ns=None if span is None else span[0],
            async_to_ns=None if span is None else span[1],
        )
        for one, span in zip(scan.threads, spans, strict=True)
    ]
    lives = [AboutProcess(**attrs.asdict(life)) for life in (trace.processes if every else ())]
    common = {**common_parts(trace, TraceAbout.name, QUESTION, trust), "facts": facts, "metrics": metrics}
    return TraceAbout(
        **common,
        reports=ReportTable.of(AboutReport, answerable(trace)),
        kinds=ReportTable.of(AboutKind, kinds),
        providers=ReportTable.of(AboutProvider, list(map(_about_provider, providers))),
        keywords=ReportTable.of(AboutKeyword, keywords),
        threads=ReportTable.of(AboutThread, threads),
        processes=ReportTable.of(AboutProcess, lives),
        losses=loss_rows(scan.losses),
        problems=problem_rows(problems),
        header=ReportTable.of(HeaderValue, [HeaderValue(name=name, value=value) for name, value in info.key_values]),
    )


_UNASKED: Final = Metric(None, "count", reason="not asked for")
_SAMPLER: Final = {
    **dict.fromkeys(("samples", "stops", "own_stops", "other_stops"), "count"),
    **dict.fromkeys(("unmatched_begins", "unmatched_ends", "lossy"), "count"),
    **dict.fromkeys(("stopped_ns", "held_ns", "longest_ns", "p50_ns", "p95_ns", "period_ns", "pause_ns"), "ns"),
    **dict.fromkeys(("share_low", "share_high"), "ratio"),
}


def _sampler_metrics(cost: dict[str, Any]) -> dict[str, Metric]:
    """What the sample profiler did, as `RecordingCost` says."""
    metrics = {}
    for name, unit in _SAMPLER.items():
        value = cost.get(name)
        reason = None if value is not None else cost.get("reason") or _UNASKED.reason
        metrics[f"sampler_{name.removesuffix('_ns')}"] = Metric(value, unit, "less", reason=reason)
    return metrics


def _stack_metrics(trace: Trace) -> dict[str, Metric]:
    """How many stacks there are, and how many of them a runtime cut."""
    depths = np.diff(trace.stacks.arrays.offsets)
    cut = 0 if trace.info.version >= MANY_PROCESSES else int(cut_stacks(depths).sum())
    return {"stacks": Metric(len(depths), "count"), "stacks_cut": Metric(cut, "count")}


def _payloads(trace: Trace, *selectors: str) -> Iterator[Any]:
    return chain.from_iterable(rows.payloads for rows in passes_of(trace).event_rows(*selectors))


def _runtime(trace: Trace, named: Collection[tuple[str, str]], raising: bool) -> tuple[dict[str, Any], str | None]:
    """The runtime that wrote the trace, if reported at its start or in the rundown at its end; the command line."""
    runtime: dict[str, Any] = dict.fromkeys(
        ("runtime_version", "runtime_sku", "bcl_version", "vm_version", "startup_flags", "runtime_path")
    )
    command_line = None
    try:
        if any(event in named for event in _RUNTIME_EVENTS.items()):
            for p in _payloads(trace, *(f"{provider}/{name}" for provider, name in _RUNTIME_EVENTS.items())):
                if isinstance(p, RawPayload | Learned):
                    # Described otherwise.
                    continue
                library = f"{p.BclMajorVersion}.{p.BclMinorVersion}.{p.BclBuildNumber}"
                by_path = _FROM_PATH.search(p.RuntimeDllPath)
                command_line = p.CommandLine or None
                runtime = {
                    # Before .NET 5 the numbers are those of the .NET Framework it was forked from.
                    "runtime_version": library if p.BclMajorVersion >= 5 else by_path[1] if by_path else None,
                    "runtime_sku": str(p.Sku),
                    "bcl_version": f"{library}.{p.BclQfeNumber}",
                    "vm_version": f"{p.VMMajorVersion}.{p.VMMinorVersion}.{p.VMBuildNumber}.{p.VMQfeNumber}",
                    "startup_flags": str(p.StartupFlags),
                    "runtime_path": p.RuntimeDllPath,
                }
                break
        if command_line is None and _PROCESS in named:
            for p in _payloads(trace, "/".join(_PROCESS)):
                # As the trace describes it.
                with suppress(AttributeError):
                    command_line = str(p.CommandLine)
                break
    except TraceError:
        if raising:
            raise
    return runtime, command_line
