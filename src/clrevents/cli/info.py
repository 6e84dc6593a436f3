"""`clrevents info`: what a trace is, whether it can be trusted and what it can answer, with hardly a payload decoded.

One screen; each longer list has an option. Asks the trace and lays out the answers, as text and as one JSON object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

import clrevents
from clrevents._util.units import duration_text, moment_text, size_text
from clrevents._util.words import UNSEEN_LOSSES, counted, lost_events, missing_stacks
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.recording.recorded import KIND_WORDS
from clrevents.analysis.framework.run.answerable import asked_and_needed, trace_answers
from clrevents.cli.output import Output, event_label, record_lines, safe
from clrevents.cli.reading import (
    FailOn,
    Reading,
    errors_option,
    fail_on_option,
    means_many,
    refuse_many_with,
    with_option,
)
from clrevents.errors import UNENDED, ErrorMode
from clrevents.export.files.facts import process_object, stacks_object, trace_object
from clrevents.schema.registry import RUNDOWN

_MOST: Final = 3
"""Kinds of event that are named."""
_WORST: Final = 3
"""Faults that are shown."""
_BROKEN: Final = 8
"""Event sources that could not be recorded, with their reasons."""
_LISTED: Final = 1_000
"""Processes that are listed."""
_MANY: Final = {
    "trace": "trace",
    "process_id": "process",
    "start": "start",
    "duration_ns": "duration",
    "events": "events",
    "lost": "lost",
    "bytes": "size",
}
"""What is shown of each of many traces, and the headings."""
_GROUPED: Final = ("events", "lost")
_NUMBERS: Final = ("process_id", "duration_ns", "bytes", *_GROUPED)


@click.command(name="info")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--reports", "part", flag_value="reports", help="Show each report: what it can answer, what was not recorded."
)
@click.option("--events", "part", flag_value="events", help="Show each kind of event, most frequent first.")
@click.option("--providers", "part", flag_value="providers", help="Show each provider with its level and keywords.")
@click.option("--threads", "part", flag_value="threads", help="Show each thread, busiest first.")
@click.option("--processes", "part", flag_value="processes", help="Show each process that the Linux recorder tells of.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as one JSON object; for many traces, one per line."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Read N traces in parallel. [default: all cores]")
@with_option
@errors_option
@fail_on_option("damage")
def command(
    files: tuple[str, ...],
    part: str | None,
    as_json: bool,
    jobs: int | None,
    beside: str | None,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Show what a trace is, whether it can be trusted, and which reports have data.

    Many traces (files, folders, patterns, URLs) get a line each.

    \b
    What is this trace?
        clrevents info app.nettrace
    What does each report lack, and how can it be recorded?
        clrevents info app.nettrace --reports
    Was anything lost, in a script?
        clrevents info app.nettrace --json | jq .lost
    Which of many traces lost events?
        clrevents info night/
    """
    many = len(files) > 1 or means_many(files[0])
    refuse_many_with(beside, many)
    if many:
        if part is not None:
            raise click.UsageError(f"--{part} takes one trace")
        return _many(files, as_json, jobs, errors, fail_on)
    (file,) = files
    with Reading(file, errors, beside=beside, fail_on=fail_on) as reading:
        found = _ask(reading.trace)
        if part == "processes":
            found["processes"] = [process_object(life) for life in reading.trace.processes]
        code = reading.finish(fail_on)
        with Output() as out:
            if as_json:
                out.json(found)
            elif part is not None:
                _PARTS[part](out, found)
            else:
                _show(out, reading.name, found)
        return code


def _many(files: Sequence[str], as_json: bool, jobs: int | None, errors: ErrorMode, fail_on: FailOn) -> int:
    """A line for each trace: a few facts, or the object that it gives alone."""
    from clrevents.cli.reading_many import ReadingMany

    with ReadingMany(files, errors, jobs) as reading, Output() as out:
        if as_json:
            for _, found in reading.asked.each(_ask):
                out.line(json.dumps(found, allow_nan=False))
        else:
            rows = [[_fact_text(name, row[name]) for name in _MANY] for row in reading.asked.overview().rows()]
            out.filled([*_MANY.values()], rows, {_MANY[name] for name in _NUMBERS}, names={"trace"})
        return reading.finish(fail_on)


def _fact_text(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "duration_ns":
        return duration_text(value)
    if name == "bytes":
        return size_text(value)
    if name == "start":
        return str(value)[: len("2026-01-31T12:00:00")].replace("T", " ")
    return f"{value:,}" if name in _GROUPED else str(value)


def _ask(trace: clrevents.Trace) -> dict[str, Any]:
    """Everything this command knows, as the JSON object. Keys are only ever added."""
    return {"schema": "clrevents.info/1", **trace_object(trace), **trace_answers(trace), "stacks": stacks_object(trace)}


def _show(out: Output, name: str, found: dict[str, Any]) -> None:
    """One screen."""
    out.facts(_facts(name, found))
    out.line()
    answers = {state: [a for a in found["answers"] if a["coverage"] == state] for state in ("full", "partial", "none")}
    lines = [
        ("answers", ", ".join(a["report"] for a in answers["full"]) or "none fully"),
        ("in part", ", ".join(a["report"] for a in answers["partial"])),
        ("no data", ", ".join(a["report"] for a in answers["none"])),
    ]
    out.facts([line for line in lines if line[1]])
    worst = [p for p in found["problems"] if p["severity"] != "note"][:_WORST]
    if worst:
        out.line()
        for problem in worst:
            out.text(safe(f"{problem['severity']}: {problem['message']}"), 4)
        out.text(f"clrevents check {name} lists every problem", 4)
    broken = [p["message"] for p in found["problems"] if p["kind"] == "broken-event-source"]
    if broken:
        out.line()
        for message in broken[:_BROKEN]:
            out.text(safe(message), 4)
        if len(broken) > _BROKEN:
            out.text(f"and {counted(len(broken) - _BROKEN, 'more event source', 'more event sources')}", 4)
    out.line()
    out.text("more: --reports (what each lacks, how to record it), --events, --providers, --threads", 2)


def _facts(name: str, found: dict[str, Any]) -> list[tuple[str, str]]:
    start = "unknown" if found["start"] is None else _start_text(found["start"])
    kinds, threads = counted(len(found["kinds"]), "kind"), counted(len(found["threads"]), "thread")
    counts = Counter[str]()
    for kind in found["kinds"]:
        if kind["provider"] != RUNDOWN or found["kind"] == "rundown":
            counts[kind["name"]] += kind["count"]
    most = ", ".join(f"{name} {count:,}" for name, count in counts.most_common(_MOST))
    facts = [
        ("file", name),
        ("what", KIND_WORDS[found["kind"]]),
        ("process", _process_text(found)),
        ("recorded", f"{duration_text(found['duration_ns'])} from {start}"),
        ("format", f"{found['format']} {found['format_version']}, {8 * found['pointer_size']}-bit"),
        ("events", f"{found['events']:,} of {kinds} on {threads}" + (f"; most: {most}" if most else "")),
        ("trust", _trust_text(found)),
    ]
    if found["recording"]["share_high"] is not None:
        facts.append(("sampler", _cost_text(found["recording"])))
    if found["stacks"]["cut"]:
        cut, count = found["stacks"]["cut"], counted(found["stacks"]["count"], "stack")
        facts.append(("stacks", f"{cut:,} of {count} cut by the runtime: inclusive times of outer methods are too low"))
    if found["redacted"]:
        facts.append(("redacted", "yes: sensitive texts are replaced by words"))
    return facts + list(found["key_values"].items())


def _process_text(found: dict[str, Any]) -> str:
    runtime = found["runtime"]
    parts = [] if found["process_id"] is None else [str(found["process_id"])]
    if runtime is not None:
        parts.append(f".NET {runtime['version'] or runtime['bcl_version']}")
    if found["processors"]:
        parts.append(counted(found["processors"], "processor"))
    processes = {t["process_id"] for t in found["threads"]} - {None}
    if len(processes) > 1:
        parts.append(counted(len(processes), "process", "processes"))
    command = runtime["command_line"] if runtime is not None else ""
    return (", ".join(parts) or "unknown") + (f": {command}" if command else "")


def _trust_text(found: dict[str, Any]) -> str:
    """Whether it is whole, in one line."""
    problems = found["problems"]
    parts = []
    damage = sum(p["severity"] == "damage" for p in problems)
    if damage:
        parts.append(f"damaged in {counted(damage, 'place')}")
    if found["lost"]:
        threads = {t["thread_id"] for t in found["losses"]}
        parts.append(f"{lost_events(found['lost'])}, on {counted(len(threads), 'thread')}")
    if found["stackless"]:
        parts.append(missing_stacks(found["stackless"]))
    faults = sum(p["severity"] == "payload" for p in problems)
    if faults:
        parts.append(f"{counted(faults, 'payload does', 'payloads do')} not fit")
    if any(p["kind"] in UNENDED for p in problems):
        parts.append("the end is missing: the program or the recorder ended early")
    parts += [p["message"] for p in problems if p["kind"] == "another-trace"]
    if not found["losses_visible"]:
        return "; ".join([*(parts or ["complete: nothing damaged"]), UNSEEN_LOSSES])
    return "; ".join(parts) or "complete: nothing lost, nothing damaged"


def _start_text(start: str) -> str:
    """To the second; traces say more than people need."""
    return f"{start[: len('2026-01-31T12:00:00')].replace('T', ' ')} UTC"


def _cost_text(cost: dict[str, Any]) -> str:
    """How long the sampler had the program stopped."""
    if cost["share_low"] is None or cost["share_high"] is None:
        return f"unknown: {cost['reason']}" if cost["reason"] else "unknown"
    low, high = 100 * cost["share_low"], 100 * cost["share_high"]
    return f"stopped the program for {low:.1f} to {high:.1f} % of the time, {counted(cost['stops'], 'time')}"


def _reports(out: Output, found: dict[str, Any]) -> None:
    """What each report can answer, and the command that records the rest."""
    answers = found["answers"]
    rows = [(a["report"], a["coverage"], ", ".join(a["missing"]), a["question"]) for a in answers]
    out.table(("report", "data", "not recorded", "question"), rows, whole={"report", "data", "question"})
    lacking = [asked_and_needed(a["report"])[1] for a in answers if a["missing"]]
    if lacking:
        out.line()
        out.line("to record everything:")
        out.lines(record_lines(record_needs(need for needs in lacking for need in needs), out.width))


def _providers(out: Output, found: dict[str, Any]) -> None:
    """What was recorded, as far as events show it; a question mark where an event has several keywords."""
    rows = []
    for p in found["providers"]:
        words = ", ".join(k["name"] if k["proved"] else f"{k['name']}?" for k in p["keywords"])
        rows.append((f"{p['events']:,}", "" if p["level"] is None else str(p["level"]), p["provider"], words))
    out.table(("events", "level", "provider", "keywords"), rows, right={"events", "level"}, whole={"provider"})


def _events(out: Output, found: dict[str, Any]) -> None:
    rows = [
        (f"{k['count']:,}", str(k["id"]), str(k["version"]), event_label(k["provider"], k["name"]))
        for k in found["kinds"]
    ]
    numbers = ("events", "id", "version")
    out.table((*numbers, "event"), rows, right=numbers, names={"event"}, keep={"events", "event"})


def _threads(out: Output, found: dict[str, Any]) -> None:
    several = len({t["process_id"] for t in found["threads"]} - {None}) > 1
    rows = [
        (
            f"{t['events']:,}",
            "unknown" if t["thread_id"] is None else str(t["thread_id"]),
            str(t["process_id"] or "-") if several else "-",
            moment_text(t["first_ns"]),
            moment_text(t["last_ns"]),
            t["name"] or "",
        )
        for t in found["threads"]
    ]
    numbers = ("events", "thread", "process", "first", "last")
    out.filled((*numbers, "name"), rows, numbers)


def _processes(out: Output, found: dict[str, Any]) -> None:
    lives = found["processes"]
    rows = [
        (
            str(life["process_id"]),
            str(life["own_id"] or "-"),
            life["namespace"],
            "before" if life["started_ns"] is None else moment_text(life["started_ns"]),
            "-" if life["ended_ns"] is None else moment_text(life["ended_ns"]),
            life["name"],
        )
        for life in lives[:_LISTED]
    ]
    numbers = ("process", "in container", "from", "to")
    out.filled(("process", "in container", "container", "from", "to", "name"), rows, numbers)
    if len(lives) > _LISTED:
        out.line(f"{_LISTED:,} of {counted(len(lives), 'process', 'processes')} (--json has all)")


_PARTS: Final[dict[str, Callable[[Output, dict[str, Any]], None]]] = {
    "reports": _reports,
    "events": _events,
    "providers": _providers,
    "threads": _threads,
    "processes": _processes,
}
