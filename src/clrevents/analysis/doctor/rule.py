"""`Rule`: the declaration of one thing that may be wrong. Its page, its help and its place in an answer follow from it.

A rule reads answers of reports and no events.
"""

from __future__ import annotations

from collections.abc import Callable

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.analysis.doctor.case import TRACE, Case
from clrevents.analysis.doctor.verdicts import Verdict
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import Evidence


@frozen
class Threshold(Value):
    """From which number on something is wrong, in words, and whose judgement that is."""

    limit: float
    text: str
    source: str


@frozen
class Rule:
    """One thing that may be wrong.

    `metrics` are those without which it cannot be told, as `report.metric`; `also` are other reports that it reads.
    `need` is what must have been recorded beyond what the first of them needs: no report is asked for a rule that lacks
    either. Where `nothing` is a metric of the first one that is 0, there is nothing to judge, whatever is unknown.
    `why` says why it matters, `advice` what to do, `trap` what would make a finding wrong, and `see` is the command
    that shows its evidence, after `clrevents`, with `{file}` for the trace.
    """

    id: str
    question: str
    metrics: tuple[str, ...]
    threshold: Threshold
    why: str
    advice: str
    trap: str
    see: str
    judge: Callable[[Case, float], Verdict]
    evidence: Evidence = "event"
    also: tuple[str, ...] = ()
    need: Need | None = None
    nothing: str = ""

    @property
    def reports(self) -> tuple[str, ...]:
        """The reports that it reads, without what is about the trace itself."""
        names = dict.fromkeys((*(name.partition(".")[0] for name in self.metrics), *self.also))
        return tuple(name for name in names if name != TRACE)
