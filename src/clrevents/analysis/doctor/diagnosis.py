"""`Diagnosis`: what rules found in a trace, as an answer like a report's, and its words on a screen and in Markdown.

Made by `diagnosing`; judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from clrevents._util.fitting import shortened, wrapped
from clrevents._util.words import counted, markdown_text, safe, share_text, unknown
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric, metric_text
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, column, row

LINES, COLUMNS = 25, 100
"""Of a repr."""
MOST: Final = 10
"""How many findings are shown."""


def impact_text(one: Any) -> str:
    """What a finding costs: `22.5 ms, 2.2 %`."""
    impact = one.impact
    if impact is None:
        return ""
    text = metric_text(impact)
    text = text if one.share is None else f"{text}, {share_text(one.share)}"
    return f"{text}, counted in {one.counted_in}" if one.counted_in else text


def culprit_text(one: Any) -> str:
    """Who is behind a finding, or why that is unknown; nothing where there is nobody to be named."""
    return one.culprit or (f"unknown, because {one.nameless}" if one.nameless else "")


def headline(diagnosis: Diagnosis) -> str:
    """How many things are wrong, and how much of the rest is known."""
    states = [one.state for one in diagnosis.findings]
    number = states.count("found")
    rest = f"{counted(states.count('clear'), 'rule')} found nothing"
    if states.count("cannot tell"):
        rest += f", {states.count('cannot tell')} cannot tell"
    first = counted(number, "finding") if number else "nothing found"
    return f"{first}; {rest}"


def diagnosis_lines(diagnosis: Diagnosis, width: int | None, most: int = MOST) -> list[str]:
    """The findings, worst first, each with what it costs, who is behind it, what to do and where to look."""
    lines = [*opening_lines(diagnosis.facts, width), headline(diagnosis)]
    wrong = [one for one in diagnosis.findings if one.state == "found"]
    for number, one in enumerate(wrong[:most], 1):
        lines += ["", *wrapped(safe(f"{number}. {one.rule} ({impact_text(one)}): {one.title}"), width, 3)]
        lines += [part for text in _parts(one) for part in wrapped(safe(f"   {text}"), width, 5)]
        # On one line, to be copied.
        lines.append(safe(f"   look: {one.next_command}"))
    if len(wrong) > most:
        lines.append(f"… and {counted(len(wrong) - most, 'more finding')}")
    did = list(_did(diagnosis.facts, ("ran", "waited", "allocated"), width))
    lines += ["", *did] if did else []
    unknown = [one.rule for one in diagnosis.findings if one.state == "cannot tell"]
    folded = f"cannot tell: {', '.join(_families(unknown))}; --rule NAME says why"
    return [*lines, *(["", *wrapped(safe(folded), width, 2)] if unknown else [])]


def opening_lines(facts: Any, width: int | None) -> list[str]:
    """How the recording's time went by, and what the requests, or the main thread, did in it."""
    opening = wrapped(safe(facts.time), width, 2) if facts.time else []
    return [*opening, *_did(facts, ("requests", "main"), width)]


def _did(facts: Any, names: Iterable[str], width: int | None) -> Iterator[str]:
    for name in names:
        text = getattr(facts, name)
        yield from wrapped(safe(f"{name:9}  {text}"), width, 11) if text else ()


def _families(rules: Iterable[str]) -> Iterator[str]:
    """Each rule, or of several of a family how many."""
    for family, names in groupby(sorted(rules), lambda rule: rule.partition(".")[0]):
        first, *more = names
        yield f"{family}.* ({1 + len(more)})" if more else first


def short_lines(diagnosis: Diagnosis) -> list[str]:
    """The findings, a line each: a repr."""
    lines = [f"<doctor: {headline(diagnosis)}>"]
    for one in diagnosis.findings:
        if one.state == "found":
            culprit = f", {one.culprit}" if one.culprit else ""
            lines.append(f"  {one.rule} ({impact_text(one)}){culprit}: {one.title}")
    return [shortened(safe(line), COLUMNS) for line in lines[:LINES]]


def unknown_lines(diagnosis: Diagnosis, width: int | None) -> list[str]:
    """Which rules cannot tell, and why, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in diagnosis.findings:
        if one.state == "cannot tell":
            by_reason.setdefault(one.title, []).append(one.rule)
    lines = [""] if by_reason else []
    for reason, rules in by_reason.items():
        lines += wrapped(safe(f"cannot tell {', '.join(rules)}: {reason}"), width, 2)
    return lines


def _parts(one: Any) -> Iterator[str]:
    if culprit := culprit_text(one):
        yield f"culprit: {culprit}"
    yield f"do: {one.advice}"


def detail_lines(diagnosis: Diagnosis, width: int | None) -> list[str]:
    """Everything about each finding, for who asks for a few rules."""
    lines: list[str] = []
    for one in diagnosis.findings:
        impact = impact_text(one)
        parts = {
            "impact": impact,
            "culprit": culprit_text(one),
            "confidence": one.confidence,
            "threshold": f"{one.threshold} ({one.source})",
            "why": one.why,
            "do": one.advice,
            "wrong if": one.trap,
            "record": one.record,
        }
        lines += [""] if lines else []
        lines += wrapped(safe(f"{one.rule}: {one.state}: {one.title}"), width, 2)
        for name, text in parts.items():
            if text:
                lines += wrapped(safe(f"  {name}: {text}"), width, 4)
        lines.append(safe(f"  look: {one.next_command}"))
    return lines


def diagnosis_markdown(diagnosis: Diagnosis) -> Iterator[str]:
    """A table of findings, and what each of them means."""
    yield f"**{markdown_text(headline(diagnosis))}**"
    wrong = [one for one in diagnosis.findings if one.state == "found"]
    if wrong:
        yield ""
        yield "| rule | impact | finding | culprit |"
        yield "|---|---:|---|---|"
    for one in wrong[:MOST]:
        cells = (one.rule, impact_text(one), one.title, culprit_text(one))
        yield f"| {' | '.join(map(markdown_text, cells))} |"
    for one in wrong[:MOST]:
        yield ""
        why, advice, trap = map(markdown_text, (one.why, one.advice, one.trap))
        yield f"**{one.rule}**: {why} {advice} Wrong if: {trap}"
    for line in unknown_lines(diagnosis, None):
        yield markdown_text(line)


_IMPACTS: Final = {"impact_ns": "ns", "impact_bytes": "bytes", "impact_count": "count"}


@row
class Finding(Row):
    """What a rule concluded."""

    rule: cells.Word = column("The rule's id.", importance=0)
    state: cells.Word = column(
        "`found`; `cannot tell`, because something was not recorded or was lost; or `clear`.", importance=1
    )
    title: cells.PrivateText = column("What was found or measured, or why it cannot be told.", importance=0)
    impact_ns: cells.DurationNs | None = column(
        "What it costs, where that is time; sums over threads may exceed the window."
    )
    impact_bytes: cells.Bytes | None = column("What it costs, where that is memory.")
    impact_count: cells.Count | None = column("How often it occurred, where what it costs was not recorded.")
    at_least: cells.Flag = column("The impact is a lower bound, as the report's number is.", hidden=True)
    at_most: cells.Flag = column("The impact is an upper bound, as the report's number is.", hidden=True)
    share: cells.Ratio | None = column(
        "The impact as a share of the window, or of all bytes or events; null if above 1."
    )
    counted_in: cells.Word | None = column(
        "The finding above whose impact may include this one's: time, or bytes, that both count. Null if none does.",
        hidden=True,
    )
    culprit: cells.CodeName | None = column("The method, type or module behind it; null if there is none, or unknown.")
    nameless: cells.CodeText | None = column(
        "Why the culprit is unknown, and what to record to know it; null where there is one, or none to be named.",
        hidden=True,
    )
    confidence: cells.Word = column("`event`, `sample`, `counted`, or `inferred`: what it is based on.")
    threshold: cells.CodeText = column("From when on the rule says `found`.", hidden=True)
    source: cells.CodeText = column("Where the threshold comes from.", hidden=True)
    start_ns: cells.Ns | None = column("When to look at it first; null for the whole window.", hidden=True)
    end_ns: cells.Ns | None = column("The end of that time.", hidden=True)
    why: cells.CodeText = column("Why it matters.", hidden=True)
    advice: cells.CodeText = column("What to do about it.", hidden=True)
    trap: cells.CodeText = column("What would make the finding wrong.", hidden=True)
    next_command: cells.PrivateText = column("The command that shows the evidence.", hidden=True)
    record: cells.CodeText | None = column(
        "The providers to record in order to tell; null unless something is missing."
    )

    @property
    def impact(self) -> Metric | None:
        """The impact with its unit; None unless found."""
        for name, unit in _IMPACTS.items():
            if getattr(self, name) is not None:
                value = getattr(self, name)
                low, high = (value if bound else None for bound in (self.at_least, self.at_most))
                return Metric(value, unit, "less", low=low, high=high, evidence=self.confidence)  # type: ignore[arg-type]
        return None


@row
class EvidenceRow(Row):
    """A number that a finding is based on, where it stands in a report."""

    rule: cells.Word = column("The rule that cites it.")
    place: cells.Word = column("`report.metric`, or `report/table/column`.")
    row: cells.Ordinal | None = column("The table's row, from 0; null for a metric.")
    value: cells.Number = column("The number: the metric, or the sum of the column over all cited rows.")
    unit: cells.Word = column("Its unit.")
    of_rows: cells.Count | None = column("Over how many rows; only the first ones are listed. Null for a metric.")

    @property
    def report(self) -> str:
        """The name of the report."""
        return self.place.replace("/", ".").partition(".")[0]


@row
class DoctorFacts:
    """The outcome in short."""

    worst: cells.Word | None = column("The rule with the largest impact; null if none found anything.")
    time: cells.CodeText | None = column(
        "How long was recorded, what requests, or the main thread, did in that time, and how much ran; null if unknown."
    )
    requests: cells.PrivateText | None = column(
        "The routes that requests spent most time in, and what most of that went to; null where that is unknown."
    )
    main: cells.CodeText | None = column(
        "What the main thread's time divides into, by methods, and whether it compiled or waited there; null where "
        "that is unknown, and where requests are served."
    )
    ran: cells.CodeText | None = column("The method that ran longest, and for how long; null where that is unknown.")
    waited: cells.CodeText | None = column("What threads waited for longest; null where that is unknown.")
    allocated: cells.CodeText | None = column(
        "How much was allocated, and most of which type; null where that is unknown."
    )


@answer(name="doctor", summary="found unknown clear worst")
class Diagnosis(Answer[DoctorFacts]):
    """What is wrong with a program, and what it costs. Iterate over it for all findings, worst first."""

    findings: ReportTable[Finding] = table("Each rule's conclusion: what was found, worst first, then all others.")
    evidence: ReportTable[EvidenceRow] = table("The numbers that conclusions are based on.")

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def found(self) -> tuple[Finding, ...]:
        """What is wrong, worst first."""
        return tuple(one for one in self.findings if one.state == "found")

    def markdown(self) -> str:
        """The findings as a comment on a pull request."""
        return "\n".join(diagnosis_markdown(self))

    def failing(self, limits: Mapping[str, Metric | None]) -> list[str]:
        """Which of these rules found something, with at least this impact; a sentence each.

        Limits are in ns, bytes or counts, or shares (`ratio`), as each finding has them; None is any. Raises ValueError
        for an unknown rule, and for a limit in a unit that the finding's impact does not have.
        """
        known = {one.rule: one for one in self.findings}
        reasons = []
        for rule, limit in limits.items():
            if rule not in known:
                raise ValueError(unknown("rule", rule, sorted(known)))
            one = known[rule]
            impact = one.impact
            if one.state != "found" or impact is None or impact.value is None:
                continue
            if limit is not None and not _beyond(one, impact, limit):
                continue
            reasons.append(f"{rule}: {one.title}")
        return reasons

    def __repr__(self) -> str:
        return "\n".join(short_lines(self))


def _beyond(one: Finding, impact: Metric, limit: Metric) -> bool:
    assert limit.value is not None
    assert impact.value is not None
    if limit.unit == "ratio":
        # Above 1 it is not given: that is beyond any share.
        return one.share is None or one.share >= limit.value
    if limit.unit != impact.unit:
        raise ValueError(f"{one.rule}: its impact is in {impact.unit}, so the limit is too, or in %")
    return impact.value >= limit.value
