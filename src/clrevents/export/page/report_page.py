"""A whole trace → one HTML file: all reports, flame graphs and a timeline, for readers with only a browser; alone, or
compared with another trace, which is read first.

The page's markup, style and script are files beside this module. Data from the trace is embedded as JSON, in which no
text can end its block; the page's policy lets only these scripts run, and allows no requests.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from clrevents._util.outputs import refuse_replacing, whole_file
from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents._util.words import counted, duration_text, moment_text
from clrevents.analysis.about.describing import about
from clrevents.analysis.doctor.diagnosing import asked, diagnosed
from clrevents.analysis.doctor.diagnosis import MOST, Diagnosis, culprit_text, headline, impact_text, opening_lines
from clrevents.analysis.doctor.rulebook import RULES
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import NOT_RECORDED, record_needs, recordable
from clrevents.analysis.framework.run.answerable import answerable
from clrevents.analysis.framework.run.asking import ask, find_report, report_names
from clrevents.errors import DamageError, PayloadError, Problem, TraceError
from clrevents.export.page.page_assembly import PageTexts, assembled_page, shown_text
from clrevents.export.page.page_drawings import drawn_meanwhile
from clrevents.export.page.page_flames import PageStacks, compared_names, page_flames
from clrevents.export.page.page_sections import charts_of, failed_section, page_sections
from clrevents.export.page.page_timeline import page_timeline
from clrevents.trace import Trace, Trust, passes_of

_DOUBTS: Final = 3
_PROBLEMS: Final = 20
_KINDS: Final = 8
_THREADS: Final = 5
_VERDICTS: Final = {
    "error": "Parts of this trace are missing: rows that may be affected are marked with !",
    "warning": "Complete except for the following",
}


@frozen(eq=False)
class PageAgainst:
    """What a page needs from the trace that its own is compared with. `doubts` are sentences about what is wrong with
    it."""

    stacks: PageStacks
    duration_ns: int
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace) -> PageAgainst:
        """From an open trace, which is not needed afterwards."""
        stacks = PageStacks.of(trace)
        lines = [text for severity, text in page_trust(trace, {}, None)["lines"] if severity != "info"]
        more = [f"and {len(lines) - _DOUBTS:,} more"] if len(lines) > _DOUBTS else []
        return cls(stacks, passes_of(trace).scan(raising=False).duration_ns, (*lines[:_DOUBTS], *more))

    def fact(self, stacks: PageStacks) -> tuple[str, str]:
        """What is compared and what is not, and whether this trace can be trusted."""
        both = compared_names(stacks, self.stacks)
        parts = [
            f"{self.stacks.name}, {duration_text(self.duration_ns)}",
            f"flame graphs of {', '.join(both) or 'nothing'}",
        ]
        for names, why in ((stacks.samples, "it has no stacks of"), (self.stacks.samples, "only it has stacks of")):
            parts += [f"not of {name}, which {why}" for name in names if name not in both]
        return "compared with", shown_text("; ".join([*parts, *self.doubts]))


MOST_BYTES: Final = 3_000_000
"""The largest page; tables are shortened to stay below it."""

_ROWS: Final = (500, 200, 80, 30)
_STYLES: Final = ("page.css", "page_timeline.css")
_SCRIPTS: Final = (
    *("page_parts.js", "page_tables.js", "page_section.js", "page_timeline.js"),
    *("page_flames.js", "page.js"),
)


def write_report(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    against: Trace | None = None,
    process_id: int | None = None,
    jobs: int = 1,
) -> None:
    """Write all reports on a `trace` as one HTML page, which loads nothing from elsewhere.

    With `process_id`, it is about one of its processes. Where there is another trace `against` which to compare it,
    the page has flame graphs of both. Charts need the extra `plot`; with several `jobs`, another process draws them.

    The file at `path` appears whole or not at all. Of a damaged trace it has what could be read, and says so. Raises
    OSError where it cannot be written, ValueError if it is one of the traces or `jobs` is not positive, and SourceError
    where the trace cannot be read again.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be positive, not {jobs!r}")
    inputs = [one.info.path for one in (trace, against) if one is not None]
    refuse_replacing(path, *inputs)
    data = report_page(trace, None if against is None else PageAgainst.of(against), process_id, jobs)
    with whole_file(path, *inputs) as file:
        file.write(data)


def report_page(
    trace: Trace, against: PageAgainst | None = None, process_id: int | None = None, jobs: int = 1
) -> bytes:
    """The page that `write_report` writes: the same bytes for the same traces, by any number of `jobs`."""
    with drawn_meanwhile(jobs) as begin:
        answers, broken, failed = _answers(trace, process_id)
        begun = charts_of(answers, begin)
        stacks = PageStacks.of(trace, process_id)
        flames = page_flames(stacks, None if against is None else against.stacks)
        # Drawn by this process, after the stacks, whose memory has been given back: what draws takes much.
        charts = {name: [chart() for chart in charts] for name, charts in begun.items()}
    head: dict[str, object] = {
        "title": stacks.name,
        "producer": f"clrevents {__version__}",
        "facts": [
            *page_facts(trace),
            *([] if process_id is None else [("only process", str(process_id))]),
            *([] if against is None else [against.fact(stacks)]),
        ],
        "kinds": page_kinds(trace),
        "trust": page_trust(trace, answers, broken),
        "findings": page_findings(diagnosed(trace, answers, [r for r in RULES if answers.keys() >= set(r.reports)])),
        "missing": page_missing(trace),
        "flames": flames,
    }
    scan = passes_of(trace).scan(raising=False)
    page = b""
    for most in _ROWS:
        texts = PageTexts()
        sections = [*page_sections(answers, charts, most, texts), *(failed_section(*one) for one in failed.items())]
        timeline = page_timeline(answers, (*scan.losses, *scan.destroyed), scan.duration_ns, texts)
        data = {**head, "sections": sections, "timeline": timeline, "texts": texts.all}
        page = assembled_page("page.html", _STYLES, _SCRIPTS, data, flames=True)
        if len(page) <= MOST_BYTES:
            break
    return page


def _answers(
    trace: Trace, process_id: int | None
) -> tuple[dict[str, Answer[object]], TraceError | None, dict[str, Exception]]:
    """What the reports answer, what broke the reading, and which reports have faults, so that they are asked alone."""
    try:
        return *_asked(trace, process_id), {}
    except (TraceError, OSError):
        raise
    except Exception:
        if os.environ.get("CLREVENTS_TRACEBACK"):
            raise
    answers: dict[str, Answer[object]] = {}
    broken, failed = None, {}
    for name in report_names():
        try:
            by_name, broken = _asked(trace, process_id, name)
            answers |= by_name
        except (TraceError, OSError):
            raise
        except Exception as error:
            failed[name] = error
    return answers, broken, failed


def _asked(trace: Trace, process_id: int | None, *names: str) -> tuple[dict[str, Answer[object]], TraceError | None]:
    try:
        # As rules ask for them, so that findings are the same as those of `doctor`.
        return ask(trace, asked(names or report_names()), {"process_id": process_id}), None
    except (DamageError, PayloadError) as error:
        if not isinstance(error.report, dict):
            raise
        return error.report, error


def page_facts(trace: Trace) -> list[tuple[str, str]]:
    """What the trace is, as names and values."""
    (_, path), *lines = about(trace, every=False, raising=False).lines()
    facts = [("file", os.path.basename(path)), *(line for line in lines if line[0] != "trust")]
    return [(shown_text(name), shown_text(value)) for name, value in facts]


def page_kinds(trace: Trace) -> dict[str, object]:
    """The most frequent kinds of event, and how many more there are."""
    counts = passes_of(trace).scan(raising=False).counts
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0].provider, item[0].name))[:_KINDS]
    rows = [(shown_text(key.name), shown_text(key.provider), count) for key, count in top]
    return {"rows": rows, "more": len(counts) - len(rows)}


def page_trust(trace: Trace, answers: Mapping[str, Answer[object]], broken: TraceError | None) -> dict[str, Any]:
    """Whether the numbers can be trusted: a verdict and its reasons, as severities and sentences."""
    scan, known = passes_of(trace).scan(raising=False), passes_of(trace).async_known
    faults = [problem for problem in trace.problems if problem.severity == "payload"]
    trust = Trust.of(scan, len(faults), known)
    lines: list[tuple[str, str]] = []
    if broken is not None:
        lines.append(("error", f"reading ended early, and everything after that is missing: {broken}"))
    lines += trust.reasons()
    lines += [("error", _problem_text(problem)) for problem in scan.problems if problem.severity == "damage"]
    for loss in sorted(scan.losses, key=lambda loss: -loss.count)[:_THREADS]:
        lost = f"{loss.count:,} lost between {moment_text(loss.start_ns)} and {moment_text(loss.end_ns)}"
        lines.append(("error", lost))
    lines += [("warning", _problem_text(problem)) for problem in faults]
    # Those with data and a caveat worse than a remark.
    doubtful = [
        name
        for name, answer in answers.items()
        if answer.coverage != "none" and any(n.severity != "info" and n.id != NOT_RECORDED for n in answer.notes)
    ]
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


def _problem_text(problem: Problem) -> str:
    return f"{problem}; {problem.impact}" if problem.impact else str(problem)


def page_findings(diagnosis: Diagnosis) -> dict[str, object]:
    """How the time went by, and what is wrong, worst first, each with the report whose section shows it."""
    rows = [
        {
            "rule": one.rule,
            "report": next((e.report for e in diagnosis.evidence if e.rule == one.rule), ""),
            "impact": impact_text(one),
            "title": shown_text(one.title),
            "culprit": shown_text(culprit_text(one)),
            "advice": one.advice.replace("`", ""),
            "trap": one.trap.replace("`", ""),
        }
        for one in diagnosis.found[:MOST]
    ]
    opening = [shown_text(line) for line in opening_lines(diagnosis.facts, None)]
    return {"opening": opening, "headline": headline(diagnosis), "rows": rows}


def page_missing(trace: Trace) -> dict[str, object]:
    """What was not recorded, by report, and one line that records all of it."""
    lacking = [one for one in answerable(trace) if one.missing]
    needs = [need for one in lacking for need in find_report(one.report).needs]
    needs = recordable(needs, trace.info.native_aot)
    columns = ("report", "question", "coverage", "missing", "record")
    rows = [{name: getattr(one, name) for name in columns} for one in lacking]
    return {"rows": rows, "record": record_needs(needs) if needs else ""}
