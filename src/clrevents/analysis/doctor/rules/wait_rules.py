"""Rules about what a program waits for outside of itself: another process."""

from __future__ import annotations

from typing import Final

from clrevents._util.units import duration_text, share_text
from clrevents.analysis.doctor.case import Case
from clrevents.analysis.doctor.rule import Rule, Threshold
from clrevents.analysis.doctor.verdicts import Ailment, Clear, Verdict

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
    title = f"threads waited for other processes for {duration_text(total.value)}"
    if share < limit or total.value < 500_000_000:
        return Clear(title, (total,))
    worst = max(until_exit, key=lambda row: waited[row])
    title += f", {share_text(share)} of the recording: the time is spent there"
    return Ailment(title, int(total.value), "ns", (total,), share, methods[worst])


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
)
