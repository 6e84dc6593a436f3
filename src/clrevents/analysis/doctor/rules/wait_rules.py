"""Rules about a program's threads: that wait for another process, or that are made for a moment."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import counted, share_text
from clrevents.analysis.doctor.rule import Ailment, Case, Clear, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.framework.model.needs import Need

_BRIEF: Final = 1_000_000_000
_BEGAN: Final = Need("when threads began", ("ThreadCreated",), 0x10000)
_UNTIL_EXIT: Final = (
    "System.Diagnostics.Process.WaitForExit",
    "System.Diagnostics.ProcessWaitState.",
    "Microsoft.Build.Utilities.ToolTask.HandleToolNotifications",
)
"""How methods begin that block a thread until a process that the program started has ended."""


def _process(case: Case, limit: float) -> Verdict:
    rows = case.rows("waits", "methods")
    methods = rows.column("method").tolist()
    waited = rows.numbers("waited_ns")
    until_exit = [row for row, method in enumerate(methods) if method and method.startswith(_UNTIL_EXIT)]
    total = case.cells("waits", "methods", "waited_ns", until_exit)
    share = case.share(total.value)
    title = f"threads waited for other processes for {total.text}"
    if share < limit or total.value < 500_000_000:
        return Clear(title, (total,))
    worst = max(until_exit, key=lambda row: waited[row])
    title += f", {share_text(share)} of the recording: the time is spent there"
    return Ailment(title, total, (total,), share, methods[worst])


def _brief(case: Case, limit: float) -> Verdict:
    rows = case.rows("threads", "threads")
    created, roles = (np.array(rows.column(name).tolist()) for name in ("start_evidence", "role"))
    if not (created == "event").any():
        return Unknown(f"not recorded: {_BEGAN.what}", case.record(["threads"]))
    if case.value("top.samples") is None:
        return Unknown("not recorded: when threads ended, which samples tell", case.record(["top"]))
    starts, ends = rows.numbers("start_ns"), rows.numbers("end_ns")
    # No runtime writes the end of a thread: it is one that no sample sees any more, long before the last one.
    gone = (ends - starts < _BRIEF) & (ends < ends.max(initial=0) - _BRIEF)
    brief = np.flatnonzero(gone & (created == "event") & (roles == "other")).tolist()
    threads, lived = case.cited("threads.threads"), case.cells("threads", "threads", "life_ns", brief)
    title = f"{counted(len(brief), 'thread')} of {threads.value:,} lived for less than a second each"
    if len(brief) < limit:
        return Clear(title, (threads, lived))
    return Ailment(title, threads.of(len(brief)), (threads, lived))


RULES: Final = (
    Rule(
        "wait.process",
        "Does the program wait for another process?",
        ("waits.waited_total",),
        Threshold(0.25, "25 % of the time and 500 ms, added up over threads", "our judgement"),
        "What takes the time is not in this recording.",
        "Record the process that it started: `clrevents collect -- COMMAND`.",
        "other threads worked meanwhile.",
        "waits {file}",
        _process,
    ),
    Rule(
        "thread.brief",
        "Are threads made for a moment?",
        ("threads.threads",),
        Threshold(50, "50 threads that live for less than a second each", "our judgement"),
        "To make a thread and its stack takes longer than to hand small work to one that exists.",
        "Use the thread pool: Task.Run, or Parallel, instead of a thread for each piece of work.",
        "the program wants a thread of its own for each, such as one with a large stack or another culture.",
        "threads {file}",
        _brief,
        "sample",
        also=("top",),
        need=_BEGAN,
    ),
)
