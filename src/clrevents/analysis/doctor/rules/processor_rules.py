"""Rules about the processor: threads that want one and have none."""

from __future__ import annotations

from typing import Final

from clrevents._util.units import duration_text, share_text
from clrevents.analysis.doctor.case import Case
from clrevents.analysis.doctor.rule import Rule, Threshold
from clrevents.analysis.doctor.verdicts import Ailment, Clear, Verdict
from clrevents.analysis.framework.model.needs import Need


def _ready(case: Case, limit: float) -> Verdict:
    ready, running = case.cited("threads.ready_total"), case.cited("threads.running_total")
    whole = ready.value + running.value
    share = ready.value / whole if whole else 0.0
    title = (
        f"threads wanted a processor for {duration_text(ready.value)} and had none, {share_text(share)} of that and "
        "their running time"
    )
    if share < limit or ready.value < 100_000_000:
        return Clear(title, (ready, running))
    rows = case.rows("threads", "threads")
    worst = int(rows.numbers("ready_ns").argmax())
    name = rows.column("name").tolist()[worst]
    return Ailment(title, int(ready.value), "ns", (ready, running), share, name)


RULES: Final = (
    Rule(
        "cpu.contended",
        "Do threads wait for a processor?",
        ("threads.ready_total", "threads.running_total"),
        Threshold(0.1, "10 % of the time that threads ran or wanted to, and 100 ms", "our judgement"),
        "A thread that is ready but does not run is slow through no fault of its code.",
        "Run fewer threads, raise the CPU limit, or look for other processes: clrevents top without --process.",
        "the work may wait, as that of a background thread with low priority.",
        "threads {file} --sort ready_ns",
        _ready,
        "sample",
        need=Need("when threads wanted a processor", ("cswitch",), 0, provider="Universal.Events"),
    ),
)
