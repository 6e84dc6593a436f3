"""Rules about the processor: threads that want one and have none, and why."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.units import digits, duration_text, share_text
from clrevents._util.words import counted
from clrevents.analysis.doctor.case import Case
from clrevents.analysis.doctor.rule import Rule, Threshold
from clrevents.analysis.doctor.verdicts import Ailment, Cited, Clear, Verdict
from clrevents.analysis.framework.model.needs import Need
from clrevents.schema.registry import OWN

_OTHERS: Final = 0.2
"""Other programs are to blame if they used this part of the machine's processor time."""


def _ready(case: Case, limit: float) -> Verdict:
    ready = case.cited("threads.ready_total")
    ran = case.cited("threads.processor_total" if _known(case, "processor_total") else "threads.running_total")
    limited = case.cited("threads.limited_ready") if _known(case, "limited_ready") else None
    wanted = ready.value - (limited.value if limited else 0)
    whole = wanted + ran.value
    share = wanted / whole if whole else 0.0
    title = (
        f"threads wanted a processor for {duration_text(wanted)} and had none, {share_text(share)} of that and their "
        "running time"
    )
    evidence = (ready, ran, *([limited] if limited else []))
    if share < limit or wanted < 100_000_000:
        return Clear(title, evidence)
    blamed, more = _blamed(case, whole)
    rows = case.rows("threads", "threads")
    ready_ns = np.where(np.array(rows.column("role").tolist()) == "sampler", 0, rows.numbers("ready_ns"))
    worst = int(ready_ns.argmax())
    name = next(filter(None, (rows.column(column).tolist()[worst] for column in ("name", "thread_name"))), None)
    return Ailment(title + blamed, int(wanted), "ns", (*evidence, *more), share, name)


def _known(case: Case, name: str) -> bool:
    return case.value(f"threads.{name}") is not None


def _blamed(case: Case, whole: float) -> tuple[str, tuple[Cited, ...]]:
    """Whose fault it is, as far as counts tell."""
    if not _known(case, "available_total"):
        return "", ()
    available = case.cited("threads.available_total")
    if whole > available.value > 0:
        more = digits(whole / available.value, 2)
        return f": its own threads wanted {more} times the processors that it may use", (available,)
    if _known(case, "machine_total"):
        machine, used = case.cited("threads.machine_total"), case.cited("threads.processor_total")
        others = machine.value - used.value
        if machine.value and others / machine.value >= _OTHERS:
            return f": other programs used {duration_text(others)} of processor time", (available, machine)
    return "", (available,)


def _limited(case: Case, limit: float) -> Verdict:
    limited, periods = case.cited("threads.limited_periods"), case.cited("threads.limit_periods")
    share = limited.value / periods.value if periods.value else 0.0
    of = f"of {digits(case.value('threads.limit'), 3)} processors " if _known(case, "limit") else ""
    title = f"the limit {of}stopped the program in {limited.value:,} of {counted(int(periods.value), 'period')}"
    if share < limit:
        return Clear(title, (limited, periods))
    return Ailment(title, int(limited.value), "count", (limited, periods), share)


RULES: Final = (
    Rule(
        "cpu.contended",
        "Do threads wait for a processor?",
        ("threads.ready_total",),
        Threshold(0.1, "10 % of the time that threads ran or wanted to, and 100 ms", "our judgement"),
        "A thread that is ready but does not run is slow through no fault of its code.",
        "Run fewer threads, raise the CPU limit, or look for other processes: clrevents top without --process.",
        "the work may wait, as that of a background thread with low priority.",
        "threads {file} --sort ready_ns",
        _ready,
        "sample",
        need=Need(
            "when threads wanted a processor", ("cswitch", f"{OWN}/ProcessorTime"), 0, provider="Universal.Events"
        ),
    ),
    Rule(
        "cpu.limited",
        "Does a limit of processors stop the program?",
        ("threads.limited_periods", "threads.limit_periods"),
        Threshold(0.1, "10 % of the periods of the limit", "our judgement"),
        "All threads stand still until the next period begins, also those that hold locks or collect garbage.",
        "Raise the limit, or run fewer threads: fewer workers and heaps, DOTNET_PROCESSOR_COUNT.",
        "the program may be slow on purpose, and short bursts do no harm where nobody waits.",
        "threads {file} --facts",
        _limited,
        "counted",
        need=Need("what the operating system counted", ("ProcessLimits",), 0, provider=OWN),
    ),
)
