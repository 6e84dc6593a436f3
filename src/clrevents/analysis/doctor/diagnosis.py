"""`Diagnosis`: what rules found in a trace, as an answer like a report's. Made by `diagnosing`; judges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from clrevents._util.words import unknown
from clrevents.analysis.doctor.diagnosis_texts import diagnosis_markdown, short_lines
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    Bytes,
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Ns,
    Number,
    Ordinal,
    PrivateText,
    Ratio,
    Row,
    Word,
    column,
    row,
)

_IMPACTS: Final = {"impact_ns": "ns", "impact_bytes": "bytes", "impact_count": "count"}


@row
class Finding(Row):
    """What a rule concluded."""

    rule: Word = column("The rule's id.", importance=0)
    state: Word = column(
        "`found`; `cannot tell`, because something was not recorded or was lost; or `clear`.", importance=1
    )
    title: CodeText = column("What was found or measured, or why it cannot be told.", importance=0)
    impact_ns: DurationNs | None = column("What it costs, where that is time; sums over threads may exceed the window.")
    impact_bytes: Bytes | None = column("What it costs, where that is memory.")
    impact_count: Count | None = column("How often it occurred, where what it costs was not recorded.")
    at_least: Flag = column("The impact is a lower bound, as the report's number is.", hidden=True)
    share: Ratio | None = column("The impact as a share of the window, or of all bytes or events; null if above 1.")
    culprit: CodeName | None = column("The method, type or module behind it; null if there is none, or unknown.")
    nameless: CodeText | None = column(
        "Why the culprit is unknown, and what to record to know it; null where there is one, or none to be named.",
        hidden=True,
    )
    confidence: Word = column("`event`, `sample`, `counted`, or `inferred`: what it is based on.")
    threshold: CodeText = column("From when on the rule says `found`.", hidden=True)
    source: CodeText = column("Where the threshold comes from.", hidden=True)
    start_ns: Ns | None = column("When to look at it first; null for the whole window.", hidden=True)
    end_ns: Ns | None = column("The end of that time.", hidden=True)
    why: CodeText = column("Why it matters.", hidden=True)
    advice: CodeText = column("What to do about it.", hidden=True)
    trap: CodeText = column("What would make the finding wrong.", hidden=True)
    next_command: PrivateText = column("The command that shows the evidence.", hidden=True)
    record: CodeText | None = column("The providers to record in order to tell; null unless something is missing.")

    @property
    def impact(self) -> Metric | None:
        """The impact with its unit; None unless found."""
        for name, unit in _IMPACTS.items():
            if getattr(self, name) is not None:
                value = getattr(self, name)
                low = value if self.at_least else None
                return Metric(value, unit, "less", low=low, evidence=self.confidence)  # type: ignore[arg-type]
        return None


@row
class EvidenceRow(Row):
    """A number that a finding is based on, where it stands in a report."""

    rule: Word = column("The rule that cites it.")
    place: Word = column("`report.metric`, or `report/table/column`.")
    row: Ordinal | None = column("The table's row, from 0; null for a metric.")
    value: Number = column("The number: the metric, or the sum of the column over all cited rows.")
    unit: Word = column("Its unit.")
    of_rows: Count | None = column("Over how many rows; only the first ones are listed. Null for a metric.")

    @property
    def report(self) -> str:
        """The name of the report."""
        return self.place.replace("/", ".").partition(".")[0]


@row
class DoctorFacts:
    """The outcome in short."""

    worst: Word | None = column("The rule with the largest impact; null if none found anything.")
    ran: CodeText | None = column("The method that ran longest, and for how long; null where that is unknown.")
    waited: CodeText | None = column("What threads waited for longest; null where that is unknown.")
    allocated: CodeText | None = column("How much was allocated, and most of which type; null where that is unknown.")


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
