"""What answers about whole traces share: rows of problems and losses, as reading found them, and the question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clrevents._util.version import __version__
from clrevents.analysis.framework.vocabulary.answer_values import Note, Question, TimeWindow, TraceIdentity
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    Bytes,
    CodeName,
    CodeText,
    Count,
    Ns,
    Ordinal,
    PrivateText,
    ThreadId,
    Word,
    column,
    columns_of,
    row,
)
from clrevents.errors import Problem
from clrevents.trace import Loss, Trace, Trust, passes_of


@row
class ProblemRow:
    """A fault or an oddity, as `Problem` has it."""

    severity: Word = column("`damage`, `payload` for a payload that does not fit its layout, or `note`.")
    kind: Word = column("A stable name; docs/errors.md lists them all.", importance=0)
    offset: Ordinal | None = column("The byte position in the unpacked file.")
    length: Bytes | None = column("How many bytes are affected; if bytes are missing, how many there are.")
    event: CodeName | None = column("The event that was being read.")
    field: CodeName | None = column("The field that was being read.")
    message: PrivateText = column("The fault in one sentence.", importance=0)
    impact: CodeText = column("What cannot be trusted because of it; empty if nothing.")


@row
class LossRow:
    """Events that a thread tried to write but that never reached the file."""

    thread_id: ThreadId | None = column("The thread that tried; null where the trace does not say.", importance=0)
    count: Count = column("How many are missing.", importance=0)
    start_ns: Ns = column("After this time, but for events of more than 64 KB, which may be missing before.")
    end_ns: Ns = column("Before this time.")


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


def common_parts(trace: Trace, name: str, text: str, trust: Trust) -> dict[str, Any]:
    """The question about all of a trace, the coverage and the notes."""
    info = trace.info
    identity = TraceIdentity.of(info, passes_of(trace).scan(raising=False).duration_ns)
    question = Question(name, text, {}, TimeWindow(), None, (info.process_id,), identity, __version__)
    notes = tuple(Note("trust", level, text, ("metrics",)) for level, text in trust.reasons())
    return {"question": question, "coverage": "partial" if notes else "full", "notes": notes}
