"""Rules about the thread pool: work that waits for a worker, and workers that wait."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from clrevents._util.words import counted, duration_text
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Clear, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.shared.blocking.known_waits import can_await

_QUEUES: Final = re.compile(
    r"System\.Threading\.(?:ThreadPool\.\w*QueueUserWorkItem|ThreadPoolWorkQueue\.Enqueue"
    r"|Tasks\.Task(?:<.*>)?\.(?:Run|Start|ScheduleAndStart)|Tasks\.TaskFactory(?:<.*>)?\.StartNew)\b"
)
"""How methods begin that give the pool something to do."""


def _starved(case: Case, limit: float) -> Verdict:
    starved, raises = case.cited("pool.starved_total"), case.cited("pool.raises")
    title = f"the pool was starved for {starved.text}"
    if starved.value < limit or raises.value < 2:
        return Clear(title, (starved, raises), events=2 - raises.value)
    facts = case.answers["pool"].facts
    title += f", and raised its goal {raises.side}{counted(int(raises.value), 'time')}"
    since, until = facts.since_ns, facts.until_ns
    span = None if since is None or until is None else (since, until)
    return Ailment(title, starved, (starved, raises), case.share(starved.value), facts.culprit, span)


def _queue(case: Case, limit: float) -> Verdict:
    items = case.cited("pool.items")
    source = case.answers["pool"].facts.latency_source
    sources = case.rows("pool", "latencies").column("source").tolist()
    row = sources.index(source) if source in sources else None
    if row is None:
        return Clear("no work item was queued and taken", (items,), events=20)
    p95 = case.cells("pool", "latencies", "p95_ns", [row])
    many = f"{items.side}{counted(int(items.value), 'work item')}"
    title = f"of {many}, 5 % waited for a worker for {duration_text(p95.value)} or more"
    # Work that waits because all workers compute is a matter of processors.
    blocked = case.cited("pool.blocked_total")
    if p95.value < limit or items.value < 20:
        queued = case.rows("pool", "queue")
        late = queued.numbers("latency_ns")[[one == source for one in queued.column("source").tolist()]] >= limit
        more = max(20 - items.value, 0.05 * items.value - int(late.sum()))
        return Clear(title, (p95, items, blocked), events=more)
    if case.share(blocked.value) < 0.5:
        if case.bounded("pool.blocked_total"):
            return Unknown(f"{title}; whether workers were blocked meanwhile is known in part")
        return Clear(title, (p95, items, blocked))
    queued = case.rows("pool", "queue")
    waited = [r for r, s in enumerate(queued.column("source").tolist()) if s == source]
    total = case.cells("pool", "queue", "latency_ns", waited)
    latencies = queued.numbers("latency_ns")
    worst = max(waited, key=lambda r: latencies[r])
    begin, end = (queued.column(n).tolist()[worst] for n in ("enqueued_ns", "dequeued_ns"))
    title += f", {case.longest('pool.latency_max')}"
    blockers = case.rows("pool", "blockers")
    waits = blockers.numbers("waited_ns")
    culprit = case.answers["pool"].facts.culprit
    if culprit is None and len(waits):
        culprit = blockers.column("method").tolist()[int(waits.argmax())]
    return Ailment(title, total, (p95, items, total), case.share(total.value), culprit, (begin, end))


def _flood(case: Case, limit: float) -> Verdict:
    rows = case.rows("pool", "length")
    waiting = rows.numbers("items")
    most = case.cells("pool", "length", "items", [int(waiting.argmax())] if len(waiting) else [])
    title = f"{most.value:,} work items at most waited for a worker at once"
    if most.value < limit:
        return Clear(title, (most,), events=limit - most.value)
    nameless = "no sample shows who queues work items" + (
        "" if "top" in case.answers else f": record {case.record(['top'])}"
    )
    return Ailment(title, most, (most,), culprit=case.own_kin(_QUEUES.match), nameless=nameless)


def _sync_over_async(case: Case, limit: float) -> Verdict:
    blockers = case.rows("pool", "blockers")
    methods = blockers.column("method").tolist()
    tasks = np.flatnonzero(blockers.column("task_wait").filled(False)).tolist()
    could = [row for row in tasks if can_await(methods[row])]
    where = "" if len(could) == len(tasks) else " in methods that could await"
    return _blocked(case, limit, could, f"were blocked by waiting for tasks{where}")


def _sleeping(case: Case, limit: float) -> Verdict:
    # One worker that sleeps keeps nobody waiting, unless the pool wants more of them.
    least = _BLOCKED.size(case) if case.value("pool.raises") else limit
    return _blocked(case, least, case.where("pool", "blockers", "kind", "sleep".__eq__), "slept")


def _blocked(case: Case, limit: float, rows: list[int], what: str) -> Verdict:
    blockers = case.rows("pool", "blockers")
    waited = case.cells("pool", "blockers", "waited_ns", rows)
    share = case.share(waited.value)
    title = f"workers of the pool {what} for {waited.text}"
    if waited.value < limit:
        if waited.value and waited.side == "at least " and not case.missing_events:
            return Unknown(f"{title}, and {duration_text(limit)} would be found: samples may hide the rest")
        return Clear(title, (waited,), ns=limit - waited.value)
    worst = max(rows, key=lambda row: blockers.numbers("waited_ns")[row])
    threads = case.cells("pool", "blockers", "threads", [worst])
    culprit = blockers.column("method").tolist()[worst]
    title += f", up to {counted(int(threads.value), 'worker')} at once"
    return Ailment(title, waited, (waited, threads), share, culprit)


_BLOCKED: Final = Threshold(0.05, "5 % of the time, and 100 ms, added up over workers", of=WINDOW, least=100_000_000)
_WORKERS: Final = "Every request and continuation needs a worker: while all of them wait, nothing goes on."

RULES: Final = (
    Rule(
        "pool.starved",
        "Is the thread pool starved?",
        ("pool.starved_total", "pool.raises"),
        Threshold(
            500_000_000, "500 ms with at least 2 raises of the goal", "the runtime's gate thread looks every 500 ms"
        ),
        _WORKERS,
        "Do not block workers: await, instead of Wait and Result, in the method that is named here.",
        "all processors are busy: then more workers would not help.",
        "pool {file} {span}",
        _starved,
        "inferred",
    ),
    Rule(
        "pool.queue",
        "Does work wait long for a worker?",
        ("pool.items", "pool.latency_max", "pool.blocked_total"),
        Threshold(
            100_000_000, "100 ms for 5 % of at least 20 items, while workers are blocked half of the time, added up"
        ),
        "The wait comes on top of the time that the work itself takes.",
        "Find out what the workers do meanwhile; if they must block, raise the minimum of workers.",
        "the work is queued all at once on purpose, as by Parallel.For.",
        "pool {file} --table queue --sort latency_ns {span}",
        _queue,
    ),
    Rule(
        "pool.flood",
        "Is more work queued than workers can take?",
        ("pool.items",),
        Threshold(10_000, "10,000 work items that wait at once"),
        "What is queued last waits for all that is before it, and all of it takes memory.",
        "Queue less at once: process in batches, with Parallel.ForEachAsync, or through a bounded Channel.",
        "it is a batch job, and nobody waits for its parts.",
        "pool {file} --table length",
        _flood,
        also=("top",),
    ),
    Rule(
        "pool.sync_over_async",
        "Do workers wait for tasks?",
        ("pool.blocked_total",),
        _BLOCKED,
        _WORKERS,
        "Await the task in the method that is named here, and in its callers.",
        "the task was about to complete, or the thread is not one of the pool.",
        "pool {file} --table blockers",
        _sync_over_async,
    ),
    Rule(
        "pool.sleeping",
        "Do workers sleep?",
        ("pool.blocked_total",),
        Threshold(
            1.2, "120 % of the time, added up over workers; 5 % and 100 ms where the pool wants more workers", of=WINDOW
        ),
        _WORKERS,
        "Await Task.Delay in the method that is named here, or use a timer.",
        "the program has a thread for it, and took one of the pool by mistake: then it costs that one worker.",
        "pool {file} --table blockers",
        _sleeping,
        "sample",
    ),
)
