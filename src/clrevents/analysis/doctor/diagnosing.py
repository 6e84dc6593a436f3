"""A trace, or answers about one, → a diagnosis: asks all reports that rules read in one pass, then the rules.

Knows no rule. A rule whose metrics are unknown cannot tell, and neither can one that found nothing where events were
lost. Where the kinds of a trace's events show that a rule cannot be told, its reports are not asked, or loaded. Says
what the program did, too, in a sentence each on running, waiting and allocating: one with which nothing is wrong did
something.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Unpack

import attrs

from clrevents._util.version import __version__
from clrevents._util.words import amount_text, unknown
from clrevents.analysis.doctor.diagnosis import Diagnosis, DoctorFacts, EvidenceRow, Finding
from clrevents.analysis.doctor.program import sentences
from clrevents.analysis.doctor.rule import NO_KINDS, TRACE, Ailment, Case, Clear, Rule, Unknown, Verdict
from clrevents.analysis.doctor.rulebook import RULES
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.model.needs import NEVER, ONLY_MACHINE, SeenKinds, coverage, met
from clrevents.analysis.framework.run.answerable import needs_of
from clrevents.analysis.framework.run.asking import ask, find_report
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, Note, Question, TimeWindow
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.errors import TraceError
from clrevents.trace import Trace, passes_of

BROKEN: Final = "broken-event-source"
"""The note on an event source that could not be recorded."""
QUESTION: Final = "What is wrong with this program?"
_PARAMETERS: Final[Mapping[str, Mapping[str, Any]]] = {"gc": {"callers": True, "hints": True, "kept": True}}
"""What rules want to know beyond what a report says by itself."""
_UNNAMED: Final[Mapping[str, Mapping[str, Any]]] = {"startup": {"raw": True}, "jit": {"raw": True}}
"""What they do not want to know: how C# writes the names of all that was loaded."""
_UNITS: Final = ("ns", "bytes", "count")
_LITTLE: Final = 0.1
"""A smaller share of the events lost, or of the samples, leaves the other findings as they are."""
_LITTLE_CUT: Final = 0.5
"""Of stacks that were cut: what is innermost, which most findings are about, is in them."""
_LISTED: Final = 5
"""Rows of evidence of one number."""


def rules_of(names: Sequence[str] = ()) -> tuple[Rule, ...]:
    """These rules, or all. Raises ValueError for a name of none; `gc.*` are all of a family."""
    if not names:
        return RULES
    known = {rule.id: rule for rule in RULES}
    chosen_rules: dict[str, Rule] = {}
    for name in names:
        family = name.removesuffix("*") if name.endswith(".*") else None
        chosen = {i: rule for i, rule in known.items() if i == name or (family is not None and i.startswith(family))}
        if not chosen:
            raise ValueError(unknown("rule", name, known))
        chosen_rules |= chosen
    return tuple(chosen_rules.values())


def asked_of(rules: Sequence[Rule], kinds: SeenKinds | None = None) -> list[Asked]:
    """The reports that these rules read, as they have to be asked; of a trace whose kinds of events are known, those
    which may tell something."""
    able = [rule for rule in rules if kinds is None or _may_tell(rule, kinds)]
    names = dict.fromkeys(report for rule in able for report in rule.reports)
    known = [name for name in names if kinds is None or coverage(needs_of(name), kinds) != "none"]
    # One at least: it says which part of which trace was asked about.
    reports = ((one, one.declaration.name) for one in asked(known or ("gc",)))
    return [
        attrs.evolve(one, parameters=attrs.evolve(one.parameters, **_UNNAMED.get(name, {})), late=True)
        for one, name in reports
    ]


def _may_tell(rule: Rule, kinds: SeenKinds) -> bool:
    """Whether what its first metric needs may have been recorded; if not, that is what is said of the rule."""
    if rule.need is not None and met(rule.need, kinds) == "unknown":
        return False
    report = rule.metrics[0].partition(".")[0]
    return report == TRACE or coverage(needs_of(report), kinds) != "none"


def asked(names: Iterable[str]) -> list[Asked]:
    """These reports with what rules want to know of them."""
    return [Asked(one := find_report(name), one.parameters(**_PARAMETERS.get(name, {}))) for name in names]


def doctor(trace: Trace, *rules: str, **window: Unpack[WindowOptions]) -> Diagnosis:
    """What `Trace.doctor` returns. A TraceError that ends the reading has the diagnosis so far as `report`."""
    chosen = rules_of(rules)
    try:
        answers = ask(trace, asked_of(chosen, SeenKinds.in_trace(trace)), window)
    except TraceError as error:
        if isinstance(error.report, dict):
            error.report = diagnosed(trace, error.report, chosen)
        raise
    return diagnosed(trace, answers, chosen)


def diagnosed(trace: Trace, answers: Mapping[str, Answer[Any]], rules: Sequence[Rule] = RULES) -> Diagnosis:
    """A diagnosis from answers that are already there, all about one window of this trace."""
    broken = [Note(BROKEN, "warning", p.message, ("findings",)) for p in passes_of(trace).source_errors()]
    question = next(answer.question for answer in answers.values())
    # The list of code says nothing of a part of the time; it is there where samples have been named.
    whole = question.window == TimeWindow() and "top" in answers and len(question.processes) <= 1
    return concluded(answers, trace_metrics(trace, whole), rules, SeenKinds.in_trace(trace), broken)


def trace_metrics(trace: Trace, code: bool = False) -> dict[str, Metric]:
    """What rules know of the recording itself, and of all `code` that it lists."""
    scan = passes_of(trace).scan(raising=False)
    metrics = {
        "lost": scan.lost,
        "damaged": sum(problem.severity == "damage" for problem in scan.problems),
        "unended": int(not scan.complete),
        "snapshots": int(any(key.name == "GCBulkNode" for key in scan.counts)),
        "events": sum(scan.counts.values()),
    }
    if code:
        metrics["compiled"], metrics["dynamic"] = trace.methods.compiled
    return {name: Metric(value, "count") for name, value in metrics.items()}


def concluded(
    answers: Mapping[str, Answer[Any]],
    trace: Mapping[str, Metric],
    rules: Sequence[Rule],
    kinds: SeenKinds = NO_KINDS,
    notes: Sequence[Note] = (),
) -> Diagnosis:
    """A diagnosis from answers, and metrics of the trace and `notes` on it; `kinds` say why a report has none."""
    question = next(answer.question for answer in answers.values())
    case = case_of(answers, trace, rules, kinds)
    verdicts = {rule: verdict(case, rule) for rule in rules}
    ranked = sorted(verdicts, key=lambda rule: _rank(rule, verdicts[rule]))
    ailing = [rule for rule in ranked if isinstance(verdicts[rule], Ailment)]
    # The worst of those that may count one cost.
    counted = {rule.cost: rule for rule in reversed(ailing) if rule.cost}
    findings = [_finding(case, rule, verdicts[rule], question, counted.get(rule.cost, rule)) for rule in ranked]
    states = [finding.state for finding in findings]
    numbers = {"found": "found", "unknown": "cannot tell", "clear": "clear"}
    about = (question.window, question.process_id, question.processes, question.trace, __version__)
    common: dict[str, object] = {
        "question": Question(Diagnosis.name, QUESTION, {}, *about),
        "coverage": _coverage(states),
        "notes": (*_notes(answers), *notes),
        "facts": DoctorFacts(
            worst=findings[0].rule if states and states[0] == "found" else None,
            **sentences(case),
        ),
        "metrics": {name: Metric(states.count(state), "count") for name, state in numbers.items()},
    }
    return Diagnosis(
        **common,
        findings=ReportTable.of(Finding, findings),
        evidence=ReportTable.of(EvidenceRow, [row for rule in ranked for row in _evidence(rule, verdicts[rule])]),
    )


def case_of(
    answers: Mapping[str, Answer[Any]],
    trace: Mapping[str, Metric],
    rules: Sequence[Rule] = RULES,
    kinds: SeenKinds = NO_KINDS,
) -> Case:
    """What rules read: answers about one window of a trace, and the metrics of the trace itself."""
    question = next(answer.question for answer in answers.values())
    duration = max(question.trace.duration_ns or 0, 0)
    window = min(question.window.high, duration) - max(question.window.low, 0)
    needs = {name: needs_of(name) for name in (*answers, *(report for rule in rules for report in rule.reports))}
    return Case(answers, needs, trace, max(window, 0), kinds)


def verdict(case: Case, rule: Rule) -> Verdict:
    """What a rule concludes: it is asked if its metrics are known, and clears nobody where events are missing."""
    if rule.nothing and case.value(rule.nothing) == 0 and not case.may_hide(rule.nothing):
        return Clear(f"nothing of the kind occurred: {rule.nothing} is 0", (case.cited(rule.nothing),))
    for name in rule.metrics:
        metric = case.metric(name)
        if metric.value is None:
            report = name.partition(".")[0]
            return Unknown(_reason(case, rule, name), case.record([report]))
    threshold, case = rule.threshold, attrs.evolve(case, read=rule.metrics)
    outcome = rule.judge(case, threshold.size(case))
    if isinstance(outcome, Unknown):
        return outcome
    if case.missing_events and not all(case.metric(one).sure for one in rule.metrics):
        least = (
            rule.judge(attrs.evolve(case, least=True), threshold.size(case)) if isinstance(outcome, Ailment) else None
        )
        if isinstance(least, Ailment):
            return least
        why = case.despite_losses(outcome) if isinstance(outcome, Clear) else None
        if why is None:
            # Its own numbers are in the sentence: a bound of another metric would be said of these.
            return Unknown(f"events are missing: {outcome.title}, as far as was recorded")
        outcome = attrs.evolve(outcome, title=f"{outcome.title}; {why}")
    if threshold.of and isinstance(outcome, Clear):
        size = amount_text(threshold.size(case), threshold.unit)
        return attrs.evolve(outcome, title=f"{outcome.title}; {size} would have been found")
    return outcome


def _reason(case: Case, rule: Rule, name: str) -> str:
    report, _, metric = name.partition(".")
    missing = case.missing(report)
    if missing and case.coverage(report) == "none":
        if missing[0] in case.never(report):
            return f"{NEVER} {missing[0]}"
        # No trace says what its session was asked for; only what is always there must have been left out.
        always = any(need.what == missing[0] and need.proof == 0 for need in case.needs[report])
        return f"not recorded: {missing[0]}" if always else f"not in the trace: {missing[0]} (none, or not recorded)"
    if report not in case.answers and rule.need is not None:
        return ONLY_MACHINE if rule.need.by_machine else f"not recorded: {rule.need.what}"
    reason = case.metric(name).reason or ""
    if reason != "not recorded":
        return reason
    what = next(one.description for one in find_report(report).metrics if one.name == metric).partition(",")[0]
    return f"not recorded: {what[0].lower()}{what[1:].rstrip('.')}"


def _rank(rule: Rule, verdict: Verdict) -> tuple[int, bool, int]:
    """What doubts much of the trace first, then time, memory and numbers, most first; then what doubts little of it,
    what is unknown, and the rest.

    What was allocated comes after what is held: it is a multiple of that in every program.
    """
    if not isinstance(verdict, Ailment):
        return (5 if isinstance(verdict, Unknown) else 6, False, 0)
    if rule.id.startswith(f"{TRACE}."):
        least = _LITTLE_CUT if rule.id == "trace.stacks" else _LITTLE
        little = verdict.share is not None and verdict.share < least
        return (4 if little else 0, False, 0)
    return (1 + _UNITS.index(verdict.impact.unit), rule.id.startswith("alloc."), -int(verdict.impact.value))


def _finding(case: Case, rule: Rule, verdict: Verdict, asked: Question, counted: Rule) -> Finding:
    ailment = verdict if isinstance(verdict, Ailment) else None
    unknown = verdict if isinstance(verdict, Unknown) else None
    state = "found" if ailment else "cannot tell" if unknown else "clear"
    cost = ailment.impact if ailment else None
    impacts = {f"impact_{unit}": int(cost.value) if cost and cost.unit == unit else None for unit in _UNITS}
    start, end = ailment.span if ailment and ailment.span else (None, None)
    return Finding(
        process_id=asked.process_id if asked.process_id is not None else _only(asked.processes),
        rule=rule.id,
        state=state,
        title=unknown.reason if unknown else verdict.title,  # type: ignore[union-attr]
        **impacts,
        at_least=cost is not None and cost.side == "at least ",
        at_most=cost is not None and cost.side == "at most ",
        share=None if ailment is None or ailment.share is None or ailment.share > 1 else ailment.share,
        counted_in=counted.id if ailment and counted is not rule else None,
        culprit=ailment.culprit if ailment else None,
        nameless=ailment.nameless or None if ailment and not ailment.culprit else None,
        confidence=rule.evidence,
        threshold=rule.threshold.text,
        source=rule.threshold.source,
        start_ns=start,
        end_ns=end,
        why=rule.why,
        advice=(ailment.advice or rule.advice_for(case)) if ailment else rule.advice,
        trap=rule.trap,
        next_command=_command(rule, asked, ailment.span if ailment else None, stacks=not case.kinds.native_aot),
        record=(unknown.record or None) if unknown else None,
        lossy=False,
    )


def _only(processes: Sequence[int | None]) -> int | None:
    return processes[0] if len(processes) == 1 else None


def _command(rule: Rule, asked: Question, span: tuple[int, int] | None, stacks: bool) -> str:
    """The command that shows what a finding is based on: in its time if it has one, else in the window asked for.
    Without `stacks` of events it does not ask for them."""
    path = asked.trace.path
    text = rule.command(stacks).replace("{file}", shlex.quote(path) if path else "app.nettrace")
    whole = asked.window.start_ns, asked.window.end_ns
    low, high = span if "{span}" in text and span is not None else whole
    edges = [] if low is None else [f"--start {low // 1_000_000}ms"]
    edges += [] if high is None else [f"--end {-(-high // 1_000_000)}ms"]
    # What is about the trace itself takes no window.
    window = "" if rule.id.startswith(f"{TRACE}.") else " ".join(edges)
    text = text.replace("{span}", window) if "{span}" in text else f"{text} {window}"
    return f"clrevents {' '.join(text.split())}"


def _evidence(rule: Rule, verdict: Verdict) -> list[EvidenceRow]:
    cited = verdict.evidence if isinstance(verdict, Ailment | Clear) else ()
    return [
        EvidenceRow(
            process_id=None,
            rule=rule.id,
            place=one.place,
            row=row,
            value=float(one.value),
            unit=one.unit,
            of_rows=len(one.rows) or None,
            lossy=False,
        )
        for one in cited
        for row in (one.rows[:_LISTED] or (None,))
    ]


def _coverage(states: Sequence[str]) -> Coverage:
    if "cannot tell" not in states:
        return "full"
    return "partial" if set(states) - {"cannot tell"} else "none"


def _notes(answers: Mapping[str, Answer[Any]]) -> tuple[Note, ...]:
    """What several reports say of the trace, each once; what was not recorded is in the findings."""
    notes: dict[str, Note] = {}
    for answer in answers.values():
        for note in answer.notes:
            if note.id in _OF_TRACE:
                notes.setdefault(note.id, attrs.evolve(note, touches=("findings",)))
    return tuple(notes.values())


_OF_TRACE: Final = ("losses", "damage", "cut", "no-end", "distant-times", "too-many-processes", "several-processes")
