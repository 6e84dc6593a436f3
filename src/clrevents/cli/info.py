"""`clrevents info`: what a trace is, what is in it and what it can answer, with hardly a payload decoded.

Asks the trace and lays out the answers, as text and as one JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import click

import clrevents
from clrevents._util.words import counted
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.run.answerable import trace_answers
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.cli.output import Output, event_label
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, means_many
from clrevents.cli.troubles import show_losses, show_problems, thread_text
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.export.files.facts import trace_object

_TOP: Final = 20
_MANY: Final = {
    "trace": "trace",
    "process_id": "process",
    "start": "start",
    "duration_ns": "seconds",
    "events": "events",
    "lost": "lost",
    "bytes": "bytes",
}
"""What is shown of each of many traces, and the headings."""
_GROUPED: Final = ("events", "lost", "bytes")
_NUMBERS: Final = ("process_id", "duration_ns", *_GROUPED)


@click.command(name="info")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything; of many traces one a line.")
@click.option("--all", "everything", is_flag=True, help=f"All kinds of event and threads, not only the top {_TOP}.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Read N traces in parallel. [default: all cores]")
@errors_option
@fail_on_option("damage")
def command(
    files: tuple[str, ...], as_json: bool, everything: bool, jobs: int | None, errors: ErrorMode, fail_on: FailOn
) -> int:
    """Say what a trace is, what it holds, what is missing from it, and which questions it can answer.

    Of many traces (files, folders, patterns, URLs): a line for each.

    \b
    Which runtime was this, how long did it run, what was recorded?
        clrevents info app.nettrace
    Which reports have data, and what would the others need?
        clrevents info app.nettrace --json | jq '.answers[]'
    Was anything lost, in a script?
        clrevents info app.nettrace --json | jq .lost
    Which of many traces lost events?
        clrevents info night/
    """
    if len(files) > 1 or means_many(files[0]):
        return _many(files, as_json, jobs, errors, fail_on)
    (file,) = files
    with Reading(file, errors) as reading:
        try:
            found = _ask(reading.trace)
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        code = reading.finish(fail_on)
        with Output() as out:
            if as_json:
                out.json(found)
            else:
                _show(out, reading, found, None if everything else _TOP)
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
            out.filled([*_MANY.values()], rows, {_MANY[name] for name in _NUMBERS})
        return reading.finish(fail_on)


def _fact_text(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "duration_ns":
        return f"{value / 1e9:,.3f}"
    if name == "start":
        return str(value)[: len("2026-01-31T12:00:00")].replace("T", " ")
    return f"{value:,}" if name in _GROUPED else str(value)


def _ask(trace: clrevents.Trace) -> dict[str, Any]:
    """Everything this command knows, as the JSON object. Keys are only ever added."""
    return {"schema": "clrevents.info/1", **trace_object(trace), **trace_answers(trace)}


def _show(out: Output, reading: Reading, found: dict[str, Any], top: int | None) -> None:
    trace = reading.trace
    out.facts(_facts(reading.name, found))
    _providers(out, found["providers"])
    _answers(out, found["answers"])
    kinds = found["kinds"][:top]
    if kinds:
        out.line()
        rows = [
            (f"{k['count']:,}", str(k["id"]), str(k["version"]), event_label(k["provider"], k["name"])) for k in kinds
        ]
        out.table(("events", "id", "version", "event"), rows, right={"events", "id", "version"})
        _more(out, len(found["kinds"]) - len(kinds), "kind")
    threads = trace.threads[:top]
    if threads:
        out.line()
        times = [(f"{t.first_ns / 1e6:.3f}", f"{t.last_ns / 1e6:.3f}") for t in threads]
        cells = [
            (f"{t.events:,}", thread_text(t.thread_id), *when, t.name or "")
            for t, when in zip(threads, times, strict=True)
        ]
        out.table(("events", "thread", "first ms", "last ms", ""), cells, {"events", "thread", "first ms", "last ms"})
        _more(out, len(trace.threads) - len(threads), "thread")
    if trace.losses:
        out.line()
        show_losses(out, trace.losses)
    if trace.problems:
        out.line()
        show_problems(out, trace.problems)


def _providers(out: Output, providers: list[dict[str, Any]]) -> None:
    """What was recorded, as far as events show it; a question mark where an event has several keywords."""
    if not providers:
        return
    out.line()
    rows = []
    for p in providers:
        words = ", ".join(k["name"] if k["proved"] else f"{k['name']}?" for k in p["keywords"])
        rows.append((f"{p['events']:,}", "" if p["level"] is None else str(p["level"]), p["provider"], words))
    out.table(("events", "level", "provider", "keywords"), rows, right={"events", "level"})


def _answers(out: Output, answers: list[dict[str, Any]]) -> None:
    """Which reports have data, and the line that records the rest."""
    out.line()
    rows = [(a["report"], a["coverage"], a["question"], ", ".join(a["missing"])) for a in answers]
    out.filled(("report", "data", "question", "not recorded"), rows)
    lacking = [find_report(a["report"]) for a in answers if a["missing"]]
    if lacking:
        line = record_needs(need for declared in lacking for need in declared.needs)
        out.line(f"to record everything: dotnet-trace collect --providers {line}")


def _cost_text(cost: dict[str, Any]) -> str:
    """How long the sampler had the program stopped."""
    if cost["share_low"] is None or cost["share_high"] is None:
        return f"unknown: {cost['reason']}" if cost["reason"] else "unknown"
    low, high = 100 * cost["share_low"], 100 * cost["share_high"]
    return f"{low:.1f} to {high:.1f} % of the time stopped by the sampler, {counted(cost['stops'], 'time')}"


def _more(out: Output, rest: int, what: str) -> None:
    if rest > 0:
        out.line(f"and {counted(rest, f'more {what}')} (--all shows them)")


def _facts(name: str, found: dict[str, Any]) -> list[tuple[str, str]]:
    process = "unknown" if found["process_id"] is None else str(found["process_id"])
    if found["processors"]:
        process += f" on {counted(found['processors'], 'processor')}"
    start = "unknown" if found["start"] is None else found["start"].replace("T", " ")
    threads = {t["thread_id"] for t in found["losses"]}
    lost = f"{counted(found['lost'], 'event')}, on {counted(len(threads), 'thread')}" if found["lost"] else "none"
    kinds, everywhere = counted(len(found["kinds"]), "kind"), counted(len(found["threads"]), "thread")
    facts = [
        ("file", name),
        ("format", f"{found['format']} {found['format_version']}, {8 * found['pointer_size']}-bit"),
        ("runtime", _runtime_text(found["runtime"])),
        ("process", process),
        ("start", start),
        ("duration", f"{found['duration_ns'] / 1e9:.3f} s"),
        ("events", f"{found['events']:,} of {kinds} on {everywhere}"),
        ("recording", _cost_text(found["recording"])),
        ("lost", lost),
        ("problems", _problem_counts(found["problems"])),
    ]
    if found["redacted"]:
        facts.append(("redacted", "yes: words stand for texts that were not to be shared"))
    return facts + list(found["key_values"].items())


def _runtime_text(runtime: dict[str, Any] | None) -> str:
    if runtime is None:
        return "unknown"
    command_line = f": {runtime['command_line']}" if runtime["command_line"] else ""
    return f".NET {runtime['version'] or runtime['bcl_version']} ({runtime['sku']}){command_line}"


def _problem_counts(problems: list[dict[str, Any]]) -> str:
    severities = [p["severity"] for p in problems]
    words = {
        "damage": ("damaged place", "damaged places"),
        "payload": ("payload that does not fit", "payloads that do not fit"),
        "note": ("note", "notes"),
    }
    parts = [counted(n, *texts) for severity, texts in words.items() if (n := severities.count(severity))]
    return ", ".join(parts) or "none"
