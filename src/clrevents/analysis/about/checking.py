"""`CheckResult`: the answer of `Trace.check`, which decodes every event and counts how the payloads came out.

Also the rows of problems and losses that it shares with `describing`, as reading found them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from clrevents._util.version import __version__
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, Question, TimeWindow, TraceIdentity
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, columns_of, row
from clrevents.errors import Problem
from clrevents.schema.registry import short_event
from clrevents.trace import DecodedRows, EventKey, FilterOptions, Loss, RawPayload, Trace, Trust, passes_of


@row
class ProblemRow:
    """A fault or an oddity, as `Problem` has it."""

    severity: cells.Word = column("`damage`, `payload` for a payload that does not fit its layout, or `note`.")
    kind: cells.Word = column("A stable name; docs/errors.md lists them all.", importance=0)
    offset: cells.Ordinal | None = column("The byte position in the unpacked file.")
    length: cells.Bytes | None = column("How many bytes are affected; if bytes are missing, how many there are.")
    event: cells.CodeName | None = column("The event that was being read.")
    field: cells.CodeName | None = column("The field that was being read.")
    message: cells.PrivateText = column("The fault in one sentence.", importance=0)
    impact: cells.CodeText = column("What cannot be trusted because of it; empty if nothing.")


@row
class LossRow:
    """Events that a thread tried to write but that never reached the file."""

    thread_id: cells.ThreadId | None = column("The thread that tried; null where the trace does not say.", importance=0)
    count: cells.Count = column("How many are missing.", importance=0)
    start_ns: cells.Ns = column("After this time, but for events of more than 64 KB, which may be missing before.")
    end_ns: cells.Ns = column("Before this time.")


def problem_rows(problems: Iterable[Problem]) -> ReportTable[ProblemRow]:
    """A row for each problem."""
    listed = list(problems)
    return ReportTable.from_columns(
        ProblemRow, {c.name: [getattr(one, c.name) for one in listed] for c in columns_of(ProblemRow)}
    )


def loss_rows(losses: Iterable[Loss]) -> ReportTable[LossRow]:
    """A row for each thread and stretch of time in which events were lost."""
    return ReportTable.of(
        LossRow,
        [
            LossRow(thread_id=named_thread(x.thread_id), count=x.count, start_ns=x.start_ns, end_ns=x.end_ns)
            for x in losses
        ],
    )


def named_thread(thread_id: int) -> int | None:
    """A thread's number; None for those that NetTrace 6 does not name."""
    return None if thread_id < 0 else thread_id


def common_parts(
    trace: Trace, name: str, text: str, trust: Trust, filters: FilterOptions | None = None, **parameters: str | None
) -> dict[str, object]:
    """The question, about all of a trace or what passes the filters, the coverage and the notes."""
    info, passes, asked = trace.info, passes_of(trace), filters or {}
    identity = TraceIdentity.of(info, passes.scan(raising=False).duration_ns)
    window = TimeWindow.between(asked.get("start"), asked.get("end"), passes.moment_ns)
    about = (window, asked.get("process_id"), (info.process_id,), identity, __version__)
    question = Question(name, text, parameters, *about)
    notes = tuple(Note("trust", level, text, ("metrics",)) for level, text in trust.reasons())
    return {"question": question, "coverage": "partial" if notes else "full", "notes": notes}


QUESTION: Final = "Can this trace be trusted?"
_SEVERITIES: Final = ("damage", "payload", "note")


@row
class PayloadCounts:
    """How the payloads of one kind of event decoded, as numbers of events: a row of `CheckResult.kinds`."""

    provider: cells.CodeName = column("The provider.", hidden=True)
    name: cells.CodeName = column("The event's name.", hidden=True)
    exact: cells.Count = column("Events whose fields account for the whole payload.", importance=0)
    tail: cells.Count = column("Events with bytes after the last known field.")
    short: cells.Count = column("Events whose payload does not fit its layout.")
    unknown: cells.Count = column("Events whose fields neither the registry nor the trace describes.")
    events: cells.Count = column("All of these events.", hidden=True)
    payload_bytes: cells.Bytes = column("The total size of these payloads.", hidden=True)
    id: cells.Ordinal = column("The event's number.")
    version: cells.Ordinal = column("The version of the event.")
    event: cells.CodeName = column("The event, as it can be selected.", importance=0)

    @property
    def key(self) -> EventKey:
        """The name of the kind."""
        return EventKey(self.provider, self.id, self.version, self.name)


@row
class ProblemKind:
    """How often a kind of problem was found."""

    kind: cells.Word = column("The kind, as in docs/errors.md.")
    count: cells.Count = column("How often, exactly.")


@row
class CheckFacts:
    """The result in short."""

    verdict: cells.CodeText = column("The result in one line.")
    ok: cells.Flag = column(
        "Nothing is lost or damaged, no stack is missing and every known payload fits its layout; events without a "
        "layout do not count."
    )
    complete: cells.Flag = column("The trace has a proper end.")
    losses_visible: cells.Flag = column(
        "Lost events would show: NetPerf and the Linux recorder number none before they may drop them."
    )


@answer(name="check", summary="verdict")
class CheckResult(Answer[CheckFacts]):
    """Whether a trace is intact: every event decoded, every problem counted."""

    kinds: ReportTable[PayloadCounts] = table("Each kind of event, and how its payloads decoded.")
    losses: ReportTable[LossRow] = table("Events that were lost, by thread and time; at most `Limits.problems`.")
    problems: ReportTable[ProblemRow] = table("The first problems, at most `Limits.problems` of each severity.")
    problem_kinds: ReportTable[ProblemKind] = table("How many problems there are of each kind, listed or not.")

    @property
    def ok(self) -> bool:
        """Whether all is there that the file should have, and every known payload fits its layout."""
        return self.facts.ok

    @property
    def verdict(self) -> str:
        """The result in one line of text."""
        return self.facts.verdict

    @property
    def complete(self) -> bool:
        """Whether the trace has a proper end."""
        return self.facts.complete

    @property
    def losses_visible(self) -> bool:
        """Whether lost events would show."""
        return self.facts.losses_visible

    @property
    def events(self) -> int:
        """The number of events."""
        return self._count("events")

    @property
    def lost(self) -> int:
        """The exact number of lost events."""
        return self._count("lost")

    @property
    def damaged(self) -> bool:
        """Whether the container is damaged anywhere."""
        return self._count("damage") > 0

    @property
    def payload_faults(self) -> int:
        """The number of events whose payload does not fit its layout."""
        return self._count("payload")

    @property
    def stackless(self) -> int:
        """The number of events that refer to a stack that the trace does not have."""
        return self._count("stackless")

    @property
    def unknown(self) -> int:
        """The number of events whose fields neither the registry nor the trace describes."""
        return self._count("unknown")

    @property
    def severities(self) -> Mapping[str, int]:
        """The exact number of problems by `Problem.severity`."""
        return {severity: self._count(severity) for severity in _SEVERITIES}

    @property
    def problem_counts(self) -> Mapping[str, int]:
        """The exact number of problems by `Problem.kind`."""
        return {one.kind: one.count for one in self.problem_kinds}

    def _count(self, metric: str) -> int:
        value = self.metrics[metric].value
        assert isinstance(value, int)
        return value


def check(trace: Trace) -> CheckResult:
    """What `Trace.check` returns."""
    passes = passes_of(trace)
    stream = passes.stream(errors="salvage", walk_stacks=True)
    tally: dict[EventKey, Counter[str]] = {}
    for rows in passes.rows(stream, passes.selection(())):
        _count(rows, tally)
    for problem in passes.source_errors():
        stream.problems.add(problem)
    trust, counts = Trust.of(stream, known=passes.async_known), stream.problems.counts
    kinds = [
        PayloadCounts(
            provider=key.provider,
            name=key.name,
            exact=tally[key]["exact"],
            tail=tally[key]["tail"],
            short=tally[key]["short"],
            unknown=tally[key]["unknown"],
            events=tally[key]["events"],
            payload_bytes=tally[key]["payload_bytes"],
            id=key.id,
            version=key.version,
            event=short_event(key.provider, key.name),
        )
        for key in sorted(tally)
    ]
    events, unknown = sum(kind.events for kind in kinds), sum(kind.unknown for kind in kinds)
    numbers = {
        "events": events,
        "lost": trust.lost,
        "stackless": trust.stackless,
        "unknown": unknown,
        **{severity: stream.problems.severities[severity] for severity in _SEVERITIES},
    }
    clauses = [f"{counted(events, 'event')}; {trust}", *_remarks(unknown, counts)]
    facts = CheckFacts(
        verdict="; ".join(clauses), ok=trust.ok, complete=trust.complete, losses_visible=trust.losses_visible
    )
    metrics = {name: Metric(number, "count") for name, number in numbers.items()}
    common = {**common_parts(trace, CheckResult.name, QUESTION, trust), "facts": facts, "metrics": metrics}
    return CheckResult(
        **common,
        kinds=ReportTable.of(PayloadCounts, kinds),
        losses=loss_rows(stream.losses),
        problems=problem_rows(stream.problems),
        problem_kinds=ReportTable.of(ProblemKind, [ProblemKind(kind=k, count=n) for k, n in counts.items()]),
    )


def _remarks(unknown: int, problems: Mapping[str, int]) -> Iterator[str]:
    """What says nothing of whether the trace is intact."""
    if drifted := problems.get("schema-drift"):
        yield counted(drifted, "known event is described differently", "known events are described differently")
    if broken := problems.get("broken-event-source"):
        yield counted(broken, "event source could not be recorded", "event sources could not be recorded")
    if unknown:
        yield counted(unknown, "event has no layout and stays raw", "events have no layout and stay raw")


def _count(rows: DecodedRows, tally: dict[EventKey, Counter[str]]) -> None:
    """Add decoded rows. Payloads that fit exactly are counted without making records."""
    events = np.bincount(rows.kind_indexes)
    sizes = np.zeros(len(events), np.int64)
    np.add.at(sizes, rows.kind_indexes, rows.sizes)
    for index in np.flatnonzero(events).tolist():
        counts = tally.setdefault(rows.kinds[index].key, Counter())
        counts["events"] += int(events[index])
        counts["exact"] += int(events[index])
        counts["payload_bytes"] += int(sizes[index])
    for place, payload in rows.single_payloads():
        raw = isinstance(payload, RawPayload)
        if raw or place in rows.tails:
            counts = tally[rows.kind(place).key]
            counts["exact"] -= 1
            counts["tail" if not raw else "short" if place in rows.misfits else "unknown"] += 1
