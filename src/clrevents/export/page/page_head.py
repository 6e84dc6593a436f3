"""The head of the page: what the trace is, whether it can be trusted, and what the next one should record.

Asks the trace; decides only the order of the findings, worst first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import attrs

from clrevents._util.units import moment_text
from clrevents._util.words import counted
from clrevents.analysis.about.describing import about
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.doctor.diagnosis_texts import MOST, culprit_text, headline, impact_text
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import NOT_RECORDED, record_needs, recordable
from clrevents.analysis.framework.run.answerable import answerable
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.errors import Problem, TraceError
from clrevents.export.page.page_assembly import shown_text
from clrevents.trace import Loss, Trace, Trust, passes_of

_PROBLEMS: Final = 20
_KINDS: Final = 8
_THREADS: Final = 5


def page_facts(trace: Trace) -> list[tuple[str, str]]:
    """What the trace is, as names and values."""
    (_, path), *lines = about(trace, every=False, raising=False).lines()
    facts = [("file", os.path.basename(path)), *(line for line in lines if line[0] != "trust")]
    return [(shown_text(name), shown_text(value)) for name, value in facts]


def page_kinds(trace: Trace) -> dict[str, Any]:
    """The most frequent kinds of event, and how many more there are."""
    counts = passes_of(trace).scan(raising=False).counts
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0].provider, item[0].name))[:_KINDS]
    rows = [(shown_text(key.name), shown_text(key.provider), count) for key, count in top]
    return {"rows": rows, "more": len(counts) - len(rows)}


def page_trust(trace: Trace, answers: Mapping[str, Answer[Any]], broken: TraceError | None) -> dict[str, Any]:
    """Whether the numbers can be trusted: a verdict and its reasons, as severities and sentences."""
    scan, known = passes_of(trace).scan(raising=False), passes_of(trace).async_known
    faults = [problem for problem in trace.problems if problem.severity == "payload"]
    trust = Trust.of(scan, len(faults), known)
    lines: list[tuple[str, str]] = []
    if broken is not None:
        lines.append(("error", f"reading ended early, and everything after that is missing: {broken}"))
    lines += trust.reasons()
    lines += [("error", _problem_text(problem)) for problem in scan.problems if problem.severity == "damage"]
    lines += [("error", _loss_text(loss)) for loss in sorted(scan.losses, key=lambda loss: -loss.count)[:_THREADS]]
    lines += [("warning", _problem_text(problem)) for problem in faults]
    doubtful = [name for name, found in answers.items() if _doubts(found)]
    notes = sum(problem.severity == "note" and problem.kind != "missing-stack" for problem in trace.problems)
    if notes:
        lines.append(("info", f"{counted(notes, 'note')} from the reader, which affect no number"))
    more = len(lines) - _PROBLEMS
    shown = [(severity, shown_text(text)) for severity, text in lines[:_PROBLEMS]]
    if more > 0:
        shown.append(("info", f"and {counted(more, 'more line')}; clrevents check has all"))
    level = trust.level if broken is None else "error"
    verdict = str(trust) if level == "info" else _VERDICTS[level]
    return {"level": level, "verdict": verdict, "lines": shown, "doubtful": doubtful}


_VERDICTS: Final = {
    "error": "Parts of this trace are missing: rows that may be affected are marked with !",
    "warning": "Complete except for the following",
}


def _loss_text(loss: Loss) -> str:
    return f"{loss.count:,} lost between {moment_text(loss.start_ns)} and {moment_text(loss.end_ns)}"


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
    needs = recordable(needs, trace.info.native_aot)
    return {"rows": [attrs.asdict(one) for one in lacking], "record": record_needs(needs) if needs else ""}
