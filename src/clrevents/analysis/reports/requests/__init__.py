"""Show HTTP requests, the time in their parts, and who served them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import ComparedRows, Dated, Note, count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.requests import request_tables
from clrevents.analysis.reports.requests.known_requests import (
    ESTABLISHED,
    HOSTING,
    HTTP,
    KESTREL,
    LEFT_QUEUE,
    REQUEST_COLUMNS,
    UNHANDLED,
    KnownRequest,
    RequestFinder,
    RequestSide,
)
from clrevents.analysis.reports.requests.request_commands import (
    BRIDGE_COLUMNS,
    SQL_COLUMNS,
    KnownCommand,
    known_commands,
)
from clrevents.analysis.reports.requests.request_connections import (
    NETWORK_COLUMNS,
    NETWORK_FAILURES,
    ConnectionStep,
    network_steps,
    tie_peers,
)
from clrevents.analysis.reports.requests.request_parts import INSIDE_COLUMNS, MOST_PAUSES, RequestInsides, RequestParts
from clrevents.analysis.shared.blocking.known_waits import WAIT_EVENTS, WaitFeed
from clrevents.analysis.shared.events.async_awaits import AWAITED_EVENTS, also_needed
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import ACTIVITY_HEADERS, EDGE_SELECTORS, SignalReader
from clrevents.schema.registry import TPL

_MOST: Final = 1_000_000
_PERIOD_MS: Final = 1000
_ANY: Final = "requests"
_SENT: Final = "requests of clients"
_SERVED: Final = "requests of servers"
_CONNECTED: Final = "connections of servers"
_IDS: Final = "which events belong to which request"
_EXCEPTIONS: Final = "exceptions in requests"
_PAUSES: Final = "garbage collection pauses"
_LOCKS: Final = "waits for locks in requests"
_HANDLES: Final = "waits for handles and monitors in requests"
_TASKS: Final = "waits for tasks in requests"
_AWAITS: Final = "where code of requests awaits"
_NEEDS: Final = (
    Need(_ANY, ("RequestStart", f"{HOSTING}/RequestStart", f"{KESTREL}/RequestStart"), 0, 4, HTTP, essential=True),
    Need(_SENT, ("RequestStart",), 0, 4, HTTP),
    Need(_SERVED, ("RequestStart", f"{KESTREL}/RequestStart"), 0, 4, HOSTING),
    Need(_CONNECTED, ("RequestStart",), 0, 4, KESTREL),
    Need(_IDS, ("start-stop",), 0x80, 4, TPL),
    Need(_EXCEPTIONS, ("ExceptionThrown",), 0x8000, 2),
    Need(_PAUSES, ("GCStart", "GCSuspendEEBegin"), 0x1, 4),
    Need(_LOCKS, ("ContentionStart", "ContentionStop"), 0x4000, 4),
    Need(_HANDLES, ("WaitHandleWaitStart", "WaitHandleWaitStop"), 0x40000000000, 5),
    Need(_TASKS, ("TaskWaitBegin", "TaskWaitEnd"), 0x3, 5, TPL),
    Need(_AWAITS, ("TaskWaitBegin", "TaskWaitEnd", *AWAITED_EVENTS), 0x3, 5, TPL),
)
_HOSTED: Final = Need("requests of the host", ("RequestStart",), 0, 4, HOSTING)
_COLUMNS: Final = {**REQUEST_COLUMNS, **SQL_COLUMNS, **BRIDGE_COLUMNS, **NETWORK_COLUMNS}
_NO_EDGES: Final = frozenset((*INSIDE_COLUMNS, *SQL_COLUMNS))
"""Events that neither begin nor end an activity, or none known to the report on activities."""
_METRICS: Final = (
    count_of("count", "Requests that started, on both sides.", needs=(_SENT, _SERVED)),
    count_of("client_count", "Requests of clients that started.", dated=Dated("requests", where=("side", "client"))),
    count_of("server_count", "Requests of servers that started.", dated=Dated("requests", where=("side", "server"))),
    count_of("client_failed", "Requests that failed, or have a status of 500 or more.", "less"),
    count_of("server_failed", "Requests of servers that failed, or have a status of 500 or more.", "less"),
    time_of("client_p50", "The median duration of clients' requests.", "less", "none", windows=False),
    time_of("client_p99", "Their 99th percentile.", "less", "none", windows=False),
    time_of("server_p50", "The median duration of servers' requests.", "less", "none", windows=False),
    time_of("server_p99", "Their 99th percentile.", "less", "none", windows=False),
    count_of(
        "client_concurrent",
        "The most clients' requests under way at once.",
        merge="max",
        windows=False,
        lossy="unknown",
    ),
    count_of(
        "server_concurrent",
        "The most servers' requests under way at once.",
        merge="max",
        windows=False,
        lossy="unknown",
    ),
)


@parameters
class RequestsParameters:
    """How much is kept, and how time is divided."""

    most: int = parameter(_MOST, "How many activities to keep; requests among later ones are left out.")
    period_ms: int = parameter(
        _PERIOD_MS, "How long a row of the tables `periods` and `concurrency` is, in milliseconds."
    )
    request: int | None = parameter(None, "The row of the request to lay out; the slowest by default.")


@answer(
    name="requests",
    summary="count client_failed server_failed client_p50 client_p99 server_p50 server_p99",
    charts=(
        ChartDeclaration(
            "requests",
            "Requests that have a stop event, by route over time.",
            (Panel("requests", "start_ns", "route", "span", "side", "end_ns"),),
        ),
        ChartDeclaration(
            "periods",
            "The 99th percentile of durations over time, by route.",
            (Panel("periods", "period_ns", "p99_ns", "line", "route"),),
        ),
        ChartDeclaration(
            "waterfall",
            "The slowest request, or the chosen one, and its parts.",
            (Panel("waterfall", "start_ns", "label", "span", "part", "end_ns"),),
        ),
        ChartDeclaration(
            "concurrency",
            "The most requests under way at once, over time.",
            (Panel("concurrency", "time_ns", "most", "line", "side"),),
        ),
    ),
)
class RequestsReport(Answer[request_tables.RequestsFacts]):
    """Which HTTP requests were sent and served, how long each took, and what its time went to.

    Clients are those of System.Net.Http (.NET 5 and later), servers those of ASP.NET Core; without events of its host,
    those of Kestrel are used. A request lasts from its start event to the stop event with its activity id, which needs
    the keyword 0x80 of System.Threading.Tasks.TplEventSource; or else to Kestrel's stop with its number of the request.

    If a trace has both sides, they are matched by their connections: a client's connection is a server's if both
    carried the same number of requests, each received while it was under way, and no other connection fits. This is
    correct for HTTP/1.1; requests that overlap on one connection are left unmatched.

    Servers do not record the status: their `status` is that of the client's side, and `status_evidence` says so. The
    route is not recorded: `route` is the path with numbers replaced by placeholders. A request counts as failed if its
    client got no response, if an exception went unhandled in its server, or if its status is 500 or more.

    The parts of a request come from the events in it, cut where they overlap; what is left is `unaccounted`. `wait`
    lasts from when a client had sent the request until the response began; `call` is a request sent while serving,
    `command` a database command. The remaining time goes to garbage collection pauses (`gc`), to waits for locks
    (`lock`) and other waits that block a thread (`blocked`), and then to awaits of its code.

    Waits and exceptions belong to a request by their activity id; without one, if their thread was running code that an
    await of the request resumed. Pauses stop all threads, so they count for every request under way. Anything else that
    merely happened meanwhile is only counted, as `nearby`.

    Percentiles are nearest ranks over the requests that started in the window and have a stop.
    """

    routes: ReportTable[request_tables.RequestRoute] = table("All requests of each side, host, method and route.")
    requests: ReportTable[request_tables.RequestRow] = table("Each request, in order of its start.")
    periods: ReportTable[request_tables.RequestPeriod] = table("The requests of each side and route over time.")
    waterfall: ReportTable[request_tables.WaterfallLine] = table(
        "The slowest request, or the chosen one, with its parts."
    )
    nearby: ReportTable[request_tables.RequestNearby] = table("What happened meanwhile in no known request.")
    commands: ReportTable[request_tables.DatabaseCommand] = table("Each database command, in order of its start.")
    network: ReportTable[ConnectionStep] = table("Each name look-up, connect, accept and handshake.")
    concurrency: ReportTable[request_tables.RequestConcurrency] = table(
        "How many requests were under way at once, over time."
    )
    parts: ReportTable[request_tables.RequestPart] = table(
        "The parts of each request with a stop, without gaps.", bulk=True
    )
    inside: ReportTable[request_tables.RequestInside] = table(
        "What happened in each request: pauses, waits and exceptions.", bulk=True
    )


class RequestsCollector(Collector[RequestsReport]):
    """Keeps each activity, and a few columns of the events of requests."""

    selectors = (
        *(*EDGE_SELECTORS, LEFT_QUEUE, ESTABLISHED, f"{HTTP}/RequestFailed", UNHANDLED),
        *dict.fromkeys((*INSIDE_COLUMNS, *WAIT_EVENTS)),
        *(*SQL_COLUMNS, *NETWORK_FAILURES),
    )
    headers = (*ACTIVITY_HEADERS, "stack_id")
    stacks = True

    def __init__(self, asked: RequestsParameters) -> None:
        if asked.period_ms < 1:
            raise ValueError("period_ms must be at least 1")
        self._asked = asked
        self._period_ns = asked.period_ms * 1_000_000
        self._reader = SignalReader()
        self._forest = ActivityForest(asked.most)
        self._kept = Kept()
        self._inside = Kept()
        self._waits = WaitFeed()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        forest = self._forest
        edges = {name: events for name, events in chunk.events.items() if name not in _NO_EDGES}
        for signal in self._reader.read(attrs.evolve(chunk, events=edges)):
            forest.take(signal)
        if forest.left_out:
            return
        self._kept.take(narrowed(chunk, _COLUMNS))
        self._inside.take(narrowed(chunk, INSIDE_COLUMNS))
        self._waits.take(chunk)

    def finish(self, context: Context) -> RequestsReport:
        """Give the answer."""
        events = self._kept.all(_COLUMNS, context.nothing)
        finder = RequestFinder(self._forest, events)
        requests = finder.requests
        tied = tie_peers(requests)
        unknown = context.unknown
        waits = self._waits.finish(context, raw=False, my_code=False).waits
        inside = self._inside.all(INSIDE_COLUMNS, context.nothing)
        insides = RequestInsides(context, finder, inside, waits, _PAUSES not in unknown)
        known = request_tables.KnownInsides(
            _LOCKS not in unknown, not {_HANDLES, _TASKS} <= unknown, _EXCEPTIONS not in unknown
        )
        commands, orphans = known_commands(finder, events)
        parts = RequestParts(finder, commands, (insides.parts(), insides.suspended()))
        tables = request_tables.RequestTables(context, requests, parts, insides, known, commands)
        chosen = tables.chosen(self._asked.request)
        laid_out = tables.waterfall(chosen)
        ids = any(self._forest.activity[request.activity] is not None for request in requests)
        return context.answer(
            RequestsReport,
            facts=request_tables.RequestsFacts(left_out=self._forest.left_out),
            metrics=_metrics(context, tables, self._forest.left_out),
            notes=[
                *_notes(requests, self._forest.left_out, tied),
                *_further_notes(commands, orphans, insides, tables.lines_left_out),
                *_not_laid_out(requests, self._asked.request),
            ],
            seen=(_IDS,) if ids else (),
            lacking=also_needed(self._waits.versions),
            routes=tables.routes(),
            requests=tables.requests(),
            periods=tables.periods(self._period_ns),
            waterfall=laid_out,
            nearby=tables.nearby(chosen),
            commands=tables.commands(),
            network=context.table(ConnectionStep, network_steps(finder, events)),
            concurrency=tables.concurrency(self._period_ns),
            parts=tables.parts(),
            inside=tables.inside(),
        )


def _metrics(context: Context, tables: request_tables.RequestTables, left_out: int) -> dict[str, int | None]:
    metrics = {"count": len(tables.begun) if _ANY not in context.unknown and not left_out else None}
    sides: tuple[tuple[RequestSide, str], ...] = (("client", _SENT), ("server", _SERVED))
    for side, need in sides:
        known = need not in context.unknown and not left_out
        # Only the host tells exceptions that nobody handled.
        told = known and (side == "client" or met(_HOSTED, context.kinds) != "unknown")
        metrics |= {
            f"{side}_count": tables.count(side) if known else None,
            f"{side}_failed": tables.failed(side) if told else None,
            f"{side}_p50": tables.percentile(side, 50),
            f"{side}_p99": tables.percentile(side, 99),
            f"{side}_concurrent": tables.concurrent(side) if known else None,
        }
    return metrics


def _notes(requests: Sequence[KnownRequest], left_out: int, tied: int) -> list[Note]:
    notes = []
    if left_out:
        text = f"{counted(left_out, 'activity was', 'activities were')} left out, so requests among them are missing"
        notes.append(
            Note("too-many-activities", "warning", text, ("requests",), {"left_out": left_out}, "raise `most`")
        )
    sides = {request.side for request in requests}
    loose = sum(request.peer is None for request in requests if request.side == "client")
    if len(sides) == 2 and loose:
        text = f"{counted(loose, 'request')} of clients could not be matched to a request of a server in this trace"
        notes.append(Note("untied", "info", text, ("peer_row",), {"requests": loose, "tied": tied}))
    open_ = sum(request.end is None for request in requests)
    if open_:
        text = f"{counted(open_, 'request has', 'requests have')} no stop event and so no duration"
        notes.append(Note("never-stopped", "info", text, ("end_ns",), {"requests": open_}))
    return notes


def _not_laid_out(requests: Sequence[KnownRequest], number: int | None) -> Iterator[Note]:
    """Why there is no waterfall of the request that was asked for."""
    if number is None:
        return
    if not 0 <= number < len(requests):
        text = f"there is no request {number}" + (f"; they are 0 to {len(requests) - 1}" if requests else "")
        yield Note("no-request", "warning", text, ("waterfall", "nearby"))
    elif requests[number].end is None:
        text = f"request {number} has no stop event and so no waterfall"
        yield Note("no-request", "warning", text, ("waterfall", "nearby"))


def _further_notes(
    commands: Sequence[KnownCommand], orphans: int, insides: RequestInsides, lines_left_out: int
) -> list[Note]:
    notes = []
    if orphans:
        text = f"{counted(orphans, 'command')} to databases ended without a start in this trace and have no row"
        notes.append(Note("command-ends", "info", text, ("commands",), {"ends": orphans}))
    open_ = sum(command.end is None for command in commands)
    if open_:
        text = f"{counted(open_, 'command')} to databases have no end in this trace"
        notes.append(Note("open-commands", "info", text, ("commands",), {"commands": open_}))
    if not insides.pauses_listed:
        text = f"more than {MOST_PAUSES:,} garbage collection pauses fell in requests: they are summed but not listed"
        notes.append(Note("too-many-pauses", "info", text, ("inside", "parts"), {"most": MOST_PAUSES}))
    if lines_left_out:
        text = f"{counted(lines_left_out, 'further line', 'or more further lines')} of the waterfall left out"
        notes.append(Note("long-waterfall", "info", text, ("waterfall",), {"left_out": lines_left_out}))
    return notes


REPORT: Final = ReportDeclaration(
    answer=RequestsReport,
    question="Which requests were slow, and what took their time?",
    topic="time",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=RequestsCollector,
    in_part={
        **dict.fromkeys(("client_failed", "server_failed", "client_concurrent", "server_concurrent"), "at least"),
        **dict.fromkeys(("client_p50", "client_p99", "server_p50", "server_p99"), "unknown"),
    },
    parameters=RequestsParameters,
    examples=(
        ("Which routes are slow?", "clrevents requests app.nettrace"),
        (
            "Which requests were slowest?",
            "clrevents requests app.nettrace --table requests --sort duration_ns --limit 20",
        ),
        ("Where did their time go?", "clrevents requests app.nettrace --table parts"),
        ("Where did the time of the slowest one go?", "clrevents requests app.nettrace --table waterfall"),
        ("How did that change over time?", "clrevents requests app.nettrace --table periods --period-ms 500"),
    ),
    compared=(ComparedRows("routes", "requests", ("side", "method", "route"), "duration_ns", "ns"),),
)
"""The report on requests."""
