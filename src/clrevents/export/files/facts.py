"""Facts about a whole trace as one JSON object: for `info --json`, and for an export.

Queries the trace and names the results; keys are only ever added. Decodes at most three kinds of event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES
from clrevents.errors import Problem
from clrevents.schema.dynamic import Learned
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.table.stacks import cut_stacks
from clrevents.trace import CheckResult, Loss, ProcessLife, RawPayload, Trace, passes_of, source_errors

_RUNTIME_EVENTS: Final = {RUNTIME: "RuntimeInformationStart", RUNDOWN: "RuntimeInformationDCStart"}
_PROCESS: Final = "Microsoft-DotNETCore-EventPipe", "ProcessInfo"
_FROM_PATH: Final = re.compile(r"Microsoft\.NETCore\.App[/\\]([^/\\]+)[/\\]")


def brief_object(trace: Trace) -> dict[str, Any]:
    """The facts that are short and apply to every table."""
    info = trace.info
    return {
        "file": info.path,
        "format": info.format,
        "format_version": info.version,
        "process_id": info.process_id,
        "pointer_size": info.pointer_size,
        "start": None if info.start is None else info.start.isoformat(),
        "duration_ns": trace.duration_ns,
        "frequency": info.frequency,
    }


def trace_object(trace: Trace) -> dict[str, Any]:
    """Everything in the header and in one scan of all headers, and the runtime's version. Raises for damage."""
    info = trace.info
    counts = trace.event_counts()
    brief = brief_object(trace)
    scan = passes_of(trace).scan()
    return {
        "file": brief["file"],
        "format": brief["format"],
        "format_version": brief["format_version"],
        "runtime": runtime_object(trace),
        "process_id": brief["process_id"],
        "pointer_size": brief["pointer_size"],
        "processors": info.processors,
        "start": brief["start"],
        "duration_ns": brief["duration_ns"],
        "sync_qpc": info.sync_qpc,
        "frequency": brief["frequency"],
        "sampling_interval_ns": info.sampling_interval_ns,
        "key_values": dict(info.key_values),
        "redacted": trace.redacted,
        "events": sum(counts.values()),
        "kinds": [{**attrs.asdict(key), "count": count} for key, count in counts.items()],
        "threads": [
            {
                "thread_id": None if t.thread_id < 0 else t.thread_id,
                "process_id": t.process_id,
                "name": t.name,
                "events": t.events,
                "first_ns": t.first_ns,
                "last_ns": t.last_ns,
            }
            for t in trace.threads
        ],
        "lost": trace.lost,
        "losses_visible": scan.losses_visible,
        "stackless": 0 if scan.stackless is None else scan.stackless.count,
        "losses": [loss_object(x) for x in trace.losses],
        "problems": [problem_object(p) for p in (*trace.problems, *source_errors(passes_of(trace)))],
    }


def stacks_object(trace: Trace) -> dict[str, int]:
    """How many stacks there are, and how many of them a runtime cut."""
    depths = np.diff(trace.stacks.arrays.offsets)
    cut = 0 if trace.info.version >= MANY_PROCESSES else int(cut_stacks(depths).sum())
    return {"count": len(depths), "cut": cut}


def kind_objects(result: CheckResult) -> list[dict[str, Any]]:
    """How the payloads of each kind of event decoded."""
    return [{**attrs.asdict(key), "events": one.events, **attrs.asdict(one)} for key, one in result.kinds.items()]


def process_object(life: ProcessLife) -> dict[str, Any]:
    """One name of a process."""
    return {
        "process_id": life.process_id,
        "own_id": life.own_id,
        "name": life.name,
        "namespace": life.namespace,
        "started_ns": life.started_ns,
        "ended_ns": life.ended_ns,
    }


def problem_object(problem: Problem) -> dict[str, Any]:
    return {
        "kind": problem.kind,
        "severity": problem.severity,
        "offset": problem.offset,
        "length": problem.length,
        "event": problem.event,
        "field": problem.field,
        "message": problem.message,
        "impact": problem.impact,
    }


def loss_object(loss: Loss) -> dict[str, Any]:
    return {
        "thread_id": None if loss.thread_id < 0 else loss.thread_id,
        "count": loss.count,
        "start_ns": loss.start_ns,
        "end_ns": loss.end_ns,
    }


def runtime_object(trace: Trace) -> dict[str, Any] | None:
    """The runtime that wrote the trace, if reported: at its start, or in the rundown at its end."""
    if not any(_RUNTIME_EVENTS.get(key.provider) == key.name for key in trace.event_counts()):
        return None
    for event in trace.events(*(f"{provider}/{name}" for provider, name in _RUNTIME_EVENTS.items())):
        p = event.payload
        if isinstance(p, RawPayload | Learned):
            # Described otherwise.
            continue
        library = f"{p.BclMajorVersion}.{p.BclMinorVersion}.{p.BclBuildNumber}"
        by_path = _FROM_PATH.search(p.RuntimeDllPath)
        # Before .NET 5 the numbers are those of the .NET Framework it was forked from.
        version = library if p.BclMajorVersion >= 5 else by_path[1] if by_path else None
        return {
            "version": version,
            "sku": str(p.Sku),
            "bcl_version": f"{library}.{p.BclQfeNumber}",
            "vm_version": f"{p.VMMajorVersion}.{p.VMMinorVersion}.{p.VMBuildNumber}.{p.VMQfeNumber}",
            "startup_flags": str(p.StartupFlags),
            "command_line": p.CommandLine,
            "path": p.RuntimeDllPath,
        }
    return None


def command_line(trace: Trace, runtime: Mapping[str, Any] | None) -> str | None:
    """The command line of the process, by what its `runtime_object` reports, or by its own event."""
    if runtime is not None and runtime["command_line"]:
        return str(runtime["command_line"])
    if any((key.provider, key.name) == _PROCESS for key in trace.event_counts()):
        for event in trace.events("/".join(_PROCESS)):
            # As the trace describes it.
            with suppress(AttributeError):
                return str(event.payload.CommandLine)
    return None
