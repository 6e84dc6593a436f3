"""Rules about requests, connections and database commands."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import counted, duration_text, share_text
from clrevents.analysis.doctor.program import routes_of
from clrevents.analysis.doctor.rule import Ailment, Case, Clear, Rule, Threshold, Unknown, Verdict

_ENOUGH: Final = 10
"""From how many requests on the share of their time that they were queued says something."""


def _clients(case: Case) -> list[int]:
    return case.where("requests", "requests", "side", "client".__eq__)


def _queue(case: Case, limit: float) -> Verdict:
    """Only requests that got a connection which another one had used waited for one: the rest waited until theirs was
    made."""
    rows = case.rows("requests", "requests")
    queued, took = rows.numbers("queue_ns"), rows.numbers("duration_ns")
    reused, ids = (rows.column(name).tolist() for name in ("connection_reused", "connection"))
    left = rows.numbers("start_ns") + queued
    new = {ids[row]: int(left[row]) for row in range(len(rows)) if reused[row] is False}
    own = [row for row in _clients(case) if took[row] > 0]
    # Where several wait for one connection to be made, only the first has a new one.
    waited = [
        row for row in own if queued[row] > 0 and reused[row] and 2 * (left[row] - new.get(ids[row], 0)) > queued[row]
    ]
    total = case.cells("requests", "requests", "queue_ns", waited)
    whole = case.cells("requests", "requests", "duration_ns", own)
    share = total.value / whole.value if whole.value else 0.0
    title = (
        f"{len(waited):,} of {counted(len(own), 'request')} waited until another one was done with its connection, "
        f"{share_text(share)} of all time"
    )
    if len(own) < _ENOUGH or share < limit or total.value < 50_000_000:
        perhaps = sum(int(queued[row]) for row in own if reused[row] is None)
        if len(own) >= _ENOUGH and total.value + perhaps >= max(limit * whole.value, 50_000_000) and perhaps:
            return Unknown(f"{title}; for others that were queued, it is unknown whether their connection was new")
        # What is missing of one makes it wait for all of its time.
        each = max(int(took[own].max(initial=0)), 1)
        most = (max(limit * whole.value, 50_000_000) - total.value) / each
        return Clear(title, (total, whole), events=max(_ENOUGH - len(own), most))
    hosts = rows.column("host").tolist()
    worst = max(waited, key=lambda row: queued[row])
    start = rows.column("start_ns").tolist()[worst]
    span = None if start is None else (start, start + int(took[worst]))
    return Ailment(title, total, (total, whole), share, hosts[worst], span)


def _churn(case: Case, limit: float) -> Verdict:
    reused = case.rows("requests", "requests").column("connection_reused").tolist()
    known = [row for row in _clients(case) if reused[row] is not None]
    fresh = [row for row in known if not reused[row]]
    share = len(fresh) / max(len(known), 1)
    count = case.cited("requests.client_count")
    title = f"{len(fresh):,} of {counted(len(known), 'request')} made a new connection"
    hosts = case.rows("requests", "requests").column("host").tolist()
    # Each host needs a first one.
    again = len(fresh) - len({hosts[row] for row in fresh})
    if len(known) < 50 or again / len(known) < limit:
        return Clear(title, (count,), events=max(50 - len(known), limit * len(known) - again))
    names = [hosts[row] for row in fresh if hosts[row]]
    culprit = max(sorted(set(names)), key=names.count) if names else None
    return Ailment(title, count.of(len(fresh)), (count,), share, culprit)


def _unexplained(case: Case, limit: float) -> Verdict:
    """Routes that take long, mostly with nothing recorded; samples would show what threads do."""
    routes = routes_of(case) if case.value("requests.server_count") else {}
    rows = case.rows("requests", "requests")
    took, unknown = rows.numbers("duration_ns"), rows.numbers("unaccounted_ns")
    silent = {
        names: own
        for names, own in routes.items()
        if np.median(took[own]) >= _SLOW and 2 * unknown[own].sum() >= took[own].sum()
    }
    total = case.cells("requests", "requests", "unaccounted_ns", sorted(row for own in silent.values() for row in own))
    whole = case.cells("requests", "requests", "duration_ns", sorted(row for own in routes.values() for row in own))
    share = total.value / max(whole.value, 1)
    title = (
        f"{counted(len(total.rows), 'request')} of {counted(len(silent), 'route')} took {total.text}, "
        f"{share_text(share)} of the time of all requests, in which nothing was recorded of them"
    )
    if case.value("top.samples"):
        return Clear(f"{title}; samples show what threads did meanwhile", (total, whole))
    if share < limit or total.value < _MUCH:
        each = max(int(took.max(initial=0)), 1)
        return Clear(title, (total, whole), events=(max(limit * whole.value, _MUCH) - total.value) / each)
    return Ailment(title, total, (total, whole), share, " ".join(next(iter(silent))))


_NO_COMMANDS: Final = Unknown(
    "no database command was recorded: none was sent, or the events of what sends them were not on; "
    "to record them: clrevents collect --profile database"
)


def _repeated(case: Case, limit: float) -> Verdict:
    rows = case.rows("requests", "commands")
    if not len(rows):
        return _NO_COMMANDS
    texts, inside = rows.column("command_text").tolist(), rows.column("request_row").tolist()
    groups: dict[tuple[object, str], list[int]] = {}
    for row, text in enumerate(texts):
        if text is not None and inside[row] is not None:
            groups.setdefault((inside[row], text), []).append(row)
    worst = max(groups.values(), key=len, default=[])
    took = case.cells("requests", "commands", "duration_ns", worst)
    title = f"one request ran the same command {counted(len(worst), 'time')}"
    if len(worst) < limit:
        return Clear(title, (took,), events=limit - len(worst))
    return Ailment(f"{title}, for {took.text} in all", took, (took,), case.share(took.value))


def _slow(case: Case, limit: float) -> Verdict:
    rows = case.rows("requests", "commands")
    if not len(rows):
        return _NO_COMMANDS
    took = rows.numbers("duration_ns")
    slow = np.flatnonzero(took >= limit).tolist()
    total = case.cells("requests", "commands", "duration_ns", slow)
    longest = int(took.max()) if len(took) else 0
    title = f"{counted(len(slow), 'command')} took {duration_text(limit)} or more, {duration_text(longest)} at most"
    if not slow:
        # Without its start, or its end, a command has no length.
        whole = bool(rows.column("duration_ns").known.all())
        return Clear(f"the longest command took {duration_text(longest)}", (total,), events=2 if whole else 0)
    worst = max(slow, key=lambda row: took[row])
    start = rows.column("start_ns").tolist()[worst]
    span = None if start is None else (start, start + int(took[worst]))
    culprit = rows.column("database").tolist()[worst]
    return Ailment(title, total, (total,), case.share(total.value), culprit, span)


_SLOW: Final = 100_000_000
_MUCH: Final = 500_000_000

RULES: Final = (
    Rule(
        "http.queue",
        "Do requests wait for a connection?",
        ("requests.client_count",),
        Threshold(0.1, f"10 % of the time of at least {_ENOUGH} requests, and 50 ms"),
        "The server has not even heard of a request that waits for a connection.",
        "Raise MaxConnectionsPerServer, or send fewer requests at once.",
        "the limit protects the server: then send fewer requests.",
        "requests {file} --table requests --sort queue_ns {span}",
        _queue,
    ),
    Rule(
        "http.unexplained",
        "Are slow requests explained?",
        ("requests.server_count",),
        Threshold(
            0.1, "10 % of the time of all requests, and 500 ms, in routes that mostly take 100 ms, without samples"
        ),
        "Meanwhile their code ran, slept, or waited for what was not recorded.",
        "Record what threads and tasks do, too: clrevents collect --for doctor.",
        "what takes the time is on purpose, such as an answer that waits for news.",
        "requests {file}",
        _unexplained,
        also=("top",),
        nothing="requests.server_count",
    ),
    Rule(
        "http.new_connections",
        "Are connections used only once?",
        ("requests.client_count",),
        Threshold(0.5, "half of at least 50 requests, not counting each host's first"),
        "Each new connection costs round trips, mostly a TLS handshake, and keeps a port busy afterwards.",
        "Share one HttpClient, or use IHttpClientFactory.",
        "requests go to many hosts, each of which gets few.",
        "requests {file} --table network",
        _churn,
    ),
    Rule(
        "db.repeated",
        "Does a request run the same command again and again?",
        ("requests.count",),
        Threshold(100, "100 times in one request", "JetBrains Rider's monitoring"),
        "Each command is a round trip, and the request waits for all of them.",
        "Ask for all rows at once: join, or load what is needed beforehand.",
        "it is a batch job.",
        "requests {file} --table commands --sort duration_ns",
        _repeated,
    ),
    Rule(
        "db.slow",
        "Are there slow commands?",
        ("requests.count",),
        Threshold(10**9, "1 s for one command", "JetBrains Rider's monitoring"),
        "The request waits for it.",
        "Look at the command's plan, and for a missing index.",
        "it is a report or a batch job.",
        "requests {file} --table commands --sort duration_ns {span}",
        _slow,
    ),
)
