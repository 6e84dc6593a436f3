"""Rules about exceptions: how many are thrown, what is caught again and again, and servers that are out of reach."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Cited, Clear, Rule, Threshold, Verdict
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.merged_stacks import is_own_name

_LEAST: Final = 100
_OFTEN: Final = 100
_FLOOD: Final = 5_000
_SOCKET: Final = "System.Net.Sockets.SocketException"
_REQUEST: Final = "System.Net.Http.HttpRequestException"
_BENIGN: Final = re.compile("success|cancel|abort|reset|shut ?down|broken pipe|would block|reading", re.IGNORECASE)
"""What is said where somebody was reached, or nobody waits for an answer any more."""


def _cost(case: Case, rows: list[int]) -> Cited:
    """What the exceptions of these groups cost: the time to find their handlers; how many, if that is unknown."""
    groups = case.rows("exceptions", "groups")
    known = groups.column("dispatch_ns").known
    if known is not None and bool(np.asarray(known)[rows].any()):
        return _computed(case, case.cells("exceptions", "groups", "dispatch_ns", rows))
    return case.cells("exceptions", "groups", "thrown", rows)


def _computed(case: Case, took: Cited) -> Cited:
    """The least: to make, trace and unwind an exception takes longer than to find its handler. Or how long the threads
    that threw had a processor, if that is less: they waited for one in between."""
    threw = set(case.rows("exceptions", "exceptions").column("thread_id").tolist())
    own = case.where("threads", "threads", "thread_id", threw.__contains__)
    ran = case.cells("threads", "threads", "processor_ns", own)
    return attrs.evolve(ran, side="at most ") if 0 < ran.value < took.value else attrs.evolve(took, side="at least ")


def _rate(case: Case, limit: float) -> Verdict:
    count = case.cited("exceptions.count")
    rate = case.per_second(count.value)
    title = f"{count.side}{counted(int(count.value), 'exception')}, {rate:,.0f} per second"
    requests = case.value("requests.server_count") or 0
    if requests >= 20:
        title += f", {count.value / requests:.2g} for each request"
    many = count.value >= _LEAST and (rate >= limit or (requests >= 20 and count.value >= 0.05 * requests))
    if not many:
        return Clear(
            title, (count,), events=max(_LEAST, min(case.window_ns * limit / 1e9, 0.05 * requests)) - count.value
        )
    groups = case.rows("exceptions", "groups")
    impact = _cost(case, list(range(len(groups))))
    culprit = _thrower(groups, 0) if len(groups) else None
    share = case.share(impact.value) if impact.unit == "ns" else None
    return Ailment(title, impact, (count,), share, culprit)


def _control_flow(case: Case, limit: float) -> Verdict:
    groups = case.rows("exceptions", "groups")
    caught = np.asarray([name is not None for name in groups.column("catching_method").tolist()], dtype=bool)
    counts = groups.numbers("thrown") + groups.numbers("nested")
    counts = np.where(caught, counts, 0) if len(counts) else counts
    every = case.cited("exceptions.count")
    if not len(counts) or not counts.max():
        return Clear("no method throws what another one catches again and again", (every,), events=_LEAST)
    worst = int(np.argmax(counts))
    thrown = case.cells("exceptions", "groups", "thrown", [worst])
    names = ("type", "throwing_method", "catching_method")
    kind, throwing, catching = (groups.column(n).tolist()[worst] for n in names)
    rate = case.per_second(int(counts[worst]))
    title = f"{int(counts[worst]):,} times, {rate:,.0f} per second, {catching} caught {kind} from {throwing}"
    if rate < limit or counts[worst] < _LEAST:
        return Clear(title, (thrown, every), events=max(limit * case.window_ns / 1e9, _LEAST) - int(counts[worst]))
    impact = _cost(case, [worst])
    share = case.share(impact.value) if impact.unit == "ns" else None
    return Ailment(title, impact, (thrown, every), share, _thrower(groups, worst))


def _thrower(groups: ReportTable[Any], row: int) -> str | None:
    """Who throws; for a framework's method, which was called with something, whoever catches it."""
    throwing, catching = (groups.column(n).tolist()[row] for n in ("throwing_method", "catching_method"))
    return throwing if catching is None or (throwing is not None and is_own_name(throwing)) else catching  # type: ignore[no-any-return]


def _slow(case: Case, limit: float) -> Verdict:
    took = case.cited("exceptions.dispatch_total")
    count = case.cited("exceptions.count")
    title = f"{took.text} went into finding the handlers of {counted(int(count.value), 'exception')}"
    # Those that are thrown often have rules of their own.
    often = isinstance(_control_flow(case, _OFTEN), Ailment) or isinstance(_rate(case, _FLOOD), Ailment)
    if took.value < limit or often:
        return Clear(title, (took, count), ns=limit - took.value)
    groups = case.rows("exceptions", "groups")
    worst = int(groups.numbers("dispatch_ns").argmax())
    cost = _computed(case, took)
    return Ailment(title, cost, (took, count), case.share(cost.value), _thrower(groups, worst))


def _unreached(case: Case, limit: float) -> Verdict:
    rows = case.rows("exceptions", "messages")
    kinds, texts = (rows.column(name).tolist() for name in ("type", "example"))
    failed = [
        row
        for row, (kind, text) in enumerate(zip(kinds, texts, strict=True))
        if kind == _SOCKET and not _BENIGN.search(text or "")
    ]
    count = case.cells("exceptions", "messages", "count", failed)
    title = f"a server could not be reached: {counted(int(count.value), 'exception')} of sockets"
    if count.value < limit:
        return Clear(title, (count,), events=limit - count.value)
    # A request's exception names the server, too.
    named = [row for row, kind in enumerate(kinds) if kind == _REQUEST and not _BENIGN.search(texts[row] or "")]
    worst = max(named or failed, key=lambda row: int(rows.numbers("count")[row]))
    groups = case.rows("exceptions", "groups")
    columns = (groups.column(name).tolist() for name in ("type", "catching_method"))
    catchers = [name for kind, name in zip(*columns, strict=True) if kind in (_SOCKET, _REQUEST) and name]
    culprit = next(filter(is_own_name, catchers), None)
    nameless = "" if culprit else "no method of the program catches them"
    return Ailment(f"{title}, most often {texts[worst]!r}", count, (count,), culprit=culprit, nameless=nameless)


_COST: Final = (
    "An exception costs thousands of times what a return value costs, on a thread that does nothing else then."
)

RULES: Final = (
    Rule(
        "exceptions.rate",
        "Are many exceptions thrown?",
        ("exceptions.count",),
        Threshold(
            _FLOOD,
            "5,000 per second, or 1 in 20 requests, and 100 in all",
            "JDK Mission Control informs at 5,000 and warns at 10,000 per second; counter guides: 5 % of requests",
        ),
        _COST,
        "See what is thrown most, and whether it can be known beforehand.",
        "they come from cancelling work when the program ends.",
        "exceptions {file}",
        _rate,
        also=("requests", "threads"),
        cost="exceptions",
    ),
    Rule(
        "exceptions.control_flow",
        "Are exceptions used where a condition would do?",
        ("exceptions.count",),
        Threshold(_OFTEN, "100 per second from one method to another, and 100 in all", "classic counter guides"),
        _COST,
        "Call the method that reports failure by its result, such as TryParse or TryGetValue.",
        "it is a retry with growing delays, or another side fails and there is no way to know before.",
        "exceptions {file} --table groups",
        _control_flow,
        also=("threads",),
        cost="exceptions",
    ),
    Rule(
        "exceptions.slow",
        "Do exceptions take long to be caught?",
        ("exceptions.dispatch_total", "exceptions.count"),
        Threshold(0.05, "5 % of the time, and 100 ms, though few are thrown", of=WINDOW, least=100_000_000),
        "The runtime looks at each method on the stack twice, so that deep stacks and slow filters make them slow.",
        "Catch nearer to where they are thrown, or report failure by a result there.",
        "they come from cancelling work when the program ends.",
        "exceptions {file} --table groups",
        _slow,
        also=("requests", "threads"),
        cost="exceptions",
    ),
    Rule(
        "exceptions.unreached",
        "Are there servers that cannot be reached?",
        ("exceptions.count",),
        Threshold(3, "3 exceptions of sockets that do not come from an end of a connection"),
        "Whoever asks waits until the attempt fails, and often tries again, though nothing in the program takes time.",
        "Correct the address, or see why nobody answers there; let nothing wait for what is not necessary.",
        "the program looks on purpose for servers that may not be there.",
        "exceptions {file} --table messages",
        _unreached,
    ),
)
