"""The head of the page: what the trace is, whether it can be trusted, and what the next one should record.

Asks the trace; decides only the order of the findings, worst first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import attrs

from clrevents._util.units import duration_text, moment_text
from clrevents._util.words import UNSEEN_LOSSES, counted, lost_events, missing_stacks
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.doctor.diagnosis_texts import MOST, culprit_text, headline, impact_text
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import NOT_RECORDED, record_needs
from clrevents.analysis.framework.run.answerable import answerable
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.errors import Problem, TraceError
from clrevents.export.files.facts import command_line, runtime_object
from clrevents.export.page.page_assembly import shown_text
from clrevents.trace import Trace, passes_of

_PROBLEMS: Final = 20
_KINDS: Final = 8
_THREADS: Final = 5


def page_facts(trace: Trace) -> list[tuple[str, str]]:
    """What the trace is, as names and values."""
    info, scan = trace.info, passes_of(trace).scan(raising=False)
    start = "unknown" if info.start is None else info.start.isoformat(sep=" ", timespec="seconds")
    process = "unknown" if info.process_id is None else str(info.process_id)
    if info.processors:
        process += f" on {counted(info.processors, 'processor')}"
    kinds, threads = counted(len(scan.counts), "kind"), counted(len(scan.threads), "thread")
    facts = [
        ("file", os.path.basename(info.path or "") or "trace in memory"),
        ("format", f"{info.format} {info.version}, {8 * info.pointer_size}-bit"),
        *_runtime_facts(trace),
        ("process", process),
        ("start", start),
        ("duration", duration_text(scan.duration_ns)),
        ("events", f"{sum(scan.counts.values()):,} of {kinds} on {threads}"),
        *info.key_values,
    ]
    return [(shown_text(name), shown_text(value)) for name, value in facts]


def _runtime_facts(trace: Trace) -> list[tuple[str, str]]:
    """Which runtime it was, and the command line of its process, if recorded."""
    try:
        found = runtime_object(trace)
        command = command_line(trace, found)
    except TraceError:
        found = command = None
    version = "unknown" if found is None else f".NET {found['version'] or found['bcl_version']} ({found['sku']})"
    return [("runtime", version), *([("command line", command)] if command else [])]


def page_kinds(trace: Trace) -> dict[str, Any]:
    """The most frequent kinds of event, and how many more there are."""
    counts = passes_of(trace).scan(raising=False).counts
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0].provider, item[0].name))[:_KINDS]
    rows = [(shown_text(key.name), shown_text(key.provider), count) for key, count in top]
    return {"rows": rows, "more": len(counts) - len(rows)}


def page_trust(trace: Trace, answers: Mapping[str, Answer[Any]], broken: TraceError | None) -> dict[str, Any]:
    """Whether the numbers can be trusted: a verdict and its reasons, as severities and sentences."""
    scan = passes_of(trace).scan(raising=False)
    lines: list[tuple[str, str]] = []
    if broken is not None:
        lines.append(("error", f"reading ended early, and everything after that is missing: {broken}"))
    lines += [("error", _problem_text(problem)) for problem in scan.problems if problem.severity == "damage"]
    if not scan.complete and not any(severity == "error" for severity, _ in lines):
        lines.append(("warning", "the end of the trace is missing: the recording was cut off"))
    if scan.lost:
        lines.append(("error", _lost_text(scan)))
    if scan.stackless is not None:
        lines.append(("error", missing_stacks(scan.stackless.count)))
    faults = [problem for problem in trace.problems if problem.severity == "payload"]
    lines += [("warning", _problem_text(problem)) for problem in faults]
    doubtful = [name for name, found in answers.items() if _doubts(found)]
    notes = sum(problem.severity == "note" and problem.kind != "missing-stack" for problem in trace.problems)
    if notes:
        lines.append(("info", f"{counted(notes, 'note')} from the reader, which affect no number"))
    more = len(lines) - _PROBLEMS
    shown = [(severity, shown_text(text)) for severity, text in lines[:_PROBLEMS]]
    if more > 0:
        shown.append(("info", f"and {counted(more, 'more line')}; clrevents check has all"))
    worst = next((s for s in ("error", "warning") if any(s == severity for severity, _ in lines)), "info")
    verdict = _UNSEEN if worst == "info" and not scan.losses_visible else _VERDICTS[worst]
    return {"level": worst, "verdict": verdict, "lines": shown, "doubtful": doubtful}


_UNSEEN: Final = f"Nothing is damaged; {UNSEEN_LOSSES}"
_VERDICTS: Final = {
    "error": "Parts of this trace are missing: rows that may be affected are marked with !",
    "warning": "Complete except for the following",
    "info": "Intact: no events were lost and nothing is damaged",
}


def _lost_text(scan: Any) -> str:
    threads = len({loss.thread_id for loss in scan.losses})
    text = f"{lost_events(scan.lost)}, on {counted(threads, 'thread')}"
    worst = sorted(scan.losses, key=lambda loss: -loss.count)[:_THREADS]
    spans = [f"{loss.count:,} between {moment_text(loss.start_ns)} and {moment_text(loss.end_ns)}" for loss in worst]
    return f"{text}, noticed: {', '.join(spans)}" + (", …" if len(scan.losses) > len(worst) else "")


def _problem_text(problem: Problem) -> str:
    where = "" if problem.offset is None else f" at {problem.offset:#x}"
    impact = f"; {problem.impact}" if problem.impact else ""
    return f"{problem.kind}{where}: {problem.message}{impact}"


def _doubts(found: Answer[Any]) -> bool:
    """Whether an answer with data has a caveat worse than a remark."""
    grave = (note for note in found.notes if note.severity != "info" and note.id != NOT_RECORDED)
    return found.coverage != "none" and any(grave)


def page_findings(found: Diagnosis) -> dict[str, Any]:
    """What is wrong, worst first, each with the report whose section shows it."""
    rows = [
        {
            "rule": one.rule,
            "report": next((e.report for e in found.evidence if e.rule == one.rule), ""),
            "impact": impact_text(one),
            "title": shown_text(one.title),
            "culprit": shown_text(culprit_text(one)),
            "advice": one.advice.replace("`", ""),
            "trap": one.trap.replace("`", ""),
        }
        for one in found.found[:MOST]
    ]
    return {"headline": headline(found), "rows": rows}


def page_missing(trace: Trace) -> dict[str, Any]:
    """What was not recorded, by report, and one line that records all of it."""
    lacking = [one for one in answerable(trace) if one.missing]
    needs = [need for one in lacking for need in find_report(one.report).needs]
    return {"rows": [attrs.asdict(one) for one in lacking], "record": record_needs(needs) if needs else ""}
