"""Requests → the rows of the report and its numbers, of those that started in the window. Percentiles are exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.varying import folded_routes
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import grouped, most_at_once, nearest_rank
from clrevents.analysis.reports.requests.known_requests import KnownRequest, RequestSide
from clrevents.analysis.reports.requests.request_commands import KnownCommand
from clrevents.analysis.reports.requests.request_parts import (
    UNACCOUNTED,
    InsideSpan,
    RequestInsides,
    RequestParts,
    waterfall,
)


@row(span=("start_ns", "end_ns"), text="connection")
class RequestRow(SpanRow):
    """One request, as recorded by the client or by the server."""

    row: cells.RowNumber = column("The request's number in its process, in order of the starts, from 0.")
    parent_row: cells.RowNumber | None = column(
        "The row of the request being served when this one was sent; null if none."
    )
    peer_row: cells.RowNumber | None = column(
        "The row of the other side of the same request, if it was matched with certainty; else null."
    )
    activity_row: cells.RowNumber = column("Its row in the report on activities.", hidden=True)
    side: cells.Word = column("`client` or `server`.")
    method: cells.PrivateText | None = column("The HTTP method; null if not recorded, as for clients.")
    host: cells.PrivateText | None = column("The host and port that a client sent it to; null for a server.")
    url_path: cells.PrivateText | None = column("The path without the query; null if it could not be read.")
    route: cells.PrivateText | None = column(
        "The path with numbers and GUIDs as `{n}`, many values as `{…}`; null without a path.", hidden=True
    )
    status: cells.Ordinal | None = column("The status code; null if not recorded.")
    status_evidence: cells.Word | None = column(
        "`event`, or `peer` if it comes from the other side's event; null without a status.", hidden=True
    )
    failed: cells.Flag = column("A failure was recorded: no response, or an unhandled exception.")
    start_ns: cells.Ns = column("When it started.")
    end_ns: cells.Ns | None = column("When it stopped; null without a stop event.")
    end_evidence: cells.Word | None = column(
        "`event`; or `number` if no stop has its id, but Kestrel's has its number of the request; null without an end.",
        hidden=True,
    )
    duration_ns: cells.DurationNs | None = column("From start to stop; null without a stop.")
    queue_ns: cells.DurationNs | None = column("How long it was queued for a connection; null if not recorded.")
    headers_ns: cells.DurationNs | None = column("From start until the response headers were read; null if unknown.")
    unaccounted_ns: cells.DurationNs | None = column(
        "How much of the duration is outside all known parts; null without a stop."
    )
    sent_bytes: cells.Bytes | None = column(
        "The size of the content that a client sent; null if not recorded, as for servers. The size of a response "
        "is never recorded.",
        hidden=True,
    )
    commands: cells.Count | None = column(
        "How many database commands began in it; null if none was recorded in the whole trace.", hidden=True
    )
    command_ns: cells.DurationNs | None = column("How long these took in total; null unless known for each.")
    gc_pauses: cells.Count | None = column(
        "How many garbage collection pauses fell in it; null without a stop or if they were not recorded.", hidden=True
    )
    gc_ns: cells.DurationNs | None = column("How long these lasted inside it; null if `gc_pauses` is.")
    locks: cells.Count | None = column("How many waits for locks began in it; null if unknown.", hidden=True)
    lock_ns: cells.DurationNs | None = column(
        "How long its threads waited for locks in total; null unless known for each wait."
    )
    waits: cells.Count | None = column(
        "How many other waits that block a thread began in it: for handles, monitors and tasks, as far as recorded; "
        "null if none of these was.",
        hidden=True,
    )
    blocked_ns: cells.DurationNs | None = column("How long these blocked its threads in total; null if unknown.")
    exceptions: cells.Count | None = column("How many exceptions were thrown in it; null if unknown.")
    nearby: cells.Count | None = column(
        "How many waits and exceptions that belong to no known request happened meanwhile: they may have nothing to "
        "do with it. Null without a stop.",
        hidden=True,
    )
    connection: cells.PrivateText | None = column(
        "The connection's id; if there were several, the last one's.", hidden=True
    )
    connection_reused: cells.Flag | None = column("An earlier request used the connection; null if unknown.")
    ambiguous: cells.Flag = column(
        "Another open activity had the same id, so the end or the parent may belong to that one."
    )


@row(span=("start_ns", "end_ns"))
class RequestPart(SpanRow):
    """A part of one request. The parts of a request follow one another and add up to its duration."""

    request_row: cells.RowNumber = column("The request.")
    part: cells.Word = column(
        "`queue`, `dns`, `connect`, `tls`, `request_headers`, `request_content`, `wait`, `response_headers`, "
        "`response_content`, `call` (a request that it sent), `command` (to a database); outside these `gc`, "
        "`lock`, `blocked`, `await`; or `unaccounted`."
    )
    start_ns: cells.Ns = column("When it began, or when the part before ended.")
    end_ns: cells.Ns = column("When it ended.")
    duration_ns: cells.DurationNs = column("How long it took.")
    call_row: cells.RowNumber | None = column("The row of the request that was sent; null for other parts.")
    command_row: cells.RowNumber | None = column("The row of the command; null for other parts.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestInside(SpanRow):
    """Something that happened in one request: a garbage collection pause, a wait of a thread, or an exception."""

    request_row: cells.RowNumber = column("The request.")
    kind: cells.Word = column(
        "`gc`, `lock`, `exception`, or whatever else a thread waited for: `handle`, `monitor`, `task`, `join` or "
        "`sleep`."
    )
    evidence: cells.Word = column(
        "How it is known to be in the request: by its `activity` id; by `continuation`: its thread was running code "
        "of the request; or by `time`, if it stops all threads."
    )
    thread_id: cells.ThreadId | None = column("The thread; null for `gc`, which affects all.")
    start_ns: cells.Ns = column("When it began; for `gc`, not before the request.")
    end_ns: cells.Ns | None = column("When it ended, or when the request did, whichever is earlier; null if unknown.")
    duration_ns: cells.DurationNs | None = column("How long it lasted inside the request; null without an end.")
    what: cells.CodeName | None = column("The blocking method, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestNearby(SpanRow):
    """Something that happened during the request laid out and belongs to no known request."""

    kind: cells.Word = column("As in `inside`.")
    thread_id: cells.ThreadId = column("The thread.")
    start_ns: cells.Ns = column("When it began.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column("How long it lasted; null without an end.")
    what: cells.CodeName | None = column("The blocking method, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), text="command_text")
class DatabaseCommand(SpanRow):
    """A database command, as recorded by SqlClient or Entity Framework."""

    row: cells.RowNumber = column("The command's number in its process, in order of the starts, from 0.")
    request_row: cells.RowNumber | None = column("The request in which it began, by ids; null if unknown.")
    inside_row: cells.RowNumber | None = column(
        "The row of the same or an enclosing command from another source; this one is not counted again. Usually null."
    )
    source: cells.Word = column(
        "Who recorded it: `Microsoft.Data.SqlClient.EventSource`, `Microsoft-AdoNet-SystemData`, or, through the "
        "bridge from DiagnosticSource, `Microsoft.EntityFrameworkCore` or `SqlClientDiagnosticListener`."
    )
    start_ns: cells.Ns = column("When it began.")
    end_ns: cells.Ns | None = column("When it ended; null if not recorded.")
    duration_ns: cells.DurationNs | None = column("How long it took; null without an end.")
    data_source: cells.PrivateText | None = column("The server; null if unknown.", hidden=True)
    database: cells.PrivateText | None = column("The database; null if unknown.")
    failed: cells.Flag | None = column("Whether it failed; null if unknown.")
    error: cells.Ordinal | None = column("The number of SQL Server's error; null without one.", hidden=True)
    command_text: cells.PrivateText | None = column("The command text, or the name of a procedure; null if unknown.")


@row(text="label")
class WaterfallLine(Row):
    """The request laid out, a part of it, or of a request inside it. Lines are in order of time."""

    line: cells.RowNumber = column("The number of the line, from 0.", hidden=True)
    request_row: cells.RowNumber = column("The request that this is, or is a part of.", hidden=True)
    depth: cells.Ordinal = column(
        "The line's depth: 0 for the request, 1 for its parts, more for requests inside it.", hidden=True
    )
    part: cells.Word = column("The part as in `parts`; `client` or `server` for a request.", hidden=True)
    label: cells.PrivateText = column("The line's number and what it is, indented by its depth.")
    start_ns: cells.Ns = column("When it began.", hidden=True)
    end_ns: cells.Ns = column("When it ended.", hidden=True)
    offset_ns: cells.DurationNs = column("The time since the start of the request.")
    duration_ns: cells.DurationNs = column("How long it took.")


@row(text="route")
class RequestRoute(Row):
    """All requests of one side, host, method and route that started in the window."""

    side: cells.Word = column("`client` or `server`.")
    host: cells.PrivateText | None = column("Host and port; null for a server.", importance=3)
    method: cells.PrivateText | None = column("The HTTP method; null if unknown.", importance=1)
    route: cells.PrivateText | None = column("The route, as derived from paths.", importance=0)
    count: cells.Count = column("How many started.", importance=1)
    failed: cells.Count | None = column(
        "How many of them failed, or have a status of 500 or more; null if none has a stop event.", importance=1
    )
    stopped: cells.Count = column("How many have a stop event; durations cover these.", importance=3)
    p50_ns: cells.DurationNs | None = column(
        "The median duration, by nearest rank; null if none has a stop.", importance=0
    )
    p90_ns: cells.DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: cells.DurationNs | None = column("The 99th percentile; null if none has a stop.", importance=1)
    max_ns: cells.DurationNs | None = column("The longest duration; null if none has a stop.")
    total_ns: cells.DurationNs | None = column(
        "Their total duration, though they may overlap; null if none has a stop event.", importance=3
    )


@row(text="route")
class RequestPeriod(Row):
    """The requests of one side, host and route that started in one period."""

    period_ns: cells.Ns = column("When the period began, a multiple of its length.")
    side: cells.Word = column("`client` or `server`.")
    host: cells.PrivateText | None = column("Host and port; null for a server.")
    route: cells.PrivateText | None = column("The route, as derived from paths.")
    count: cells.Count = column("How many started.")
    failed: cells.Count | None = column(
        "How many of them failed, or have a status of 500 or more; null if none has a stop event."
    )
    p50_ns: cells.DurationNs | None = column("The median duration, by nearest rank; null if none has a stop.")
    p90_ns: cells.DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: cells.DurationNs | None = column("The 99th percentile; null if none has a stop.")


@row(at="time_ns")
class RequestConcurrency(Row):
    """How many requests of one side were under way at once, in a period in which one started or ended."""

    time_ns: cells.Ns = column("When the period began, a multiple of its length.")
    side: cells.Word = column("`client` or `server`.")
    started: cells.Count = column("How many started.")
    ended: cells.Count = column("How many ended.")
    most: cells.Count = column("The most that were under way at once.")
    last: cells.Count = column(
        "How many were under way at its end, and until the next row. A request without a stop is under way forever."
    )


@row
class RequestsFacts:
    """The facts of a report on requests."""

    left_out: cells.Count = column("How many activities were left out because there are too many.")


_SIDES: Final[tuple[RequestSide, ...]] = ("client", "server")


@frozen
class KnownInsides:
    """Which kinds of things were recorded at all."""

    locks: bool
    waits: bool
    exceptions: bool


class RequestTables:
    """The tables of one process."""

    def __init__(
        self,
        context: Context,
        requests: Sequence[KnownRequest],
        parts: RequestParts,
        insides: RequestInsides,
        known: KnownInsides,
        commands: Sequence[KnownCommand],
    ) -> None:
        self._context = context
        self._all = requests
        self._parts = [parts.of(request) for request in requests]
        self._insides, self._known = insides, known
        self._commands = commands
        self._sent: dict[int, list[KnownCommand]] = {}
        for command in commands:
            if command.request is not None and command.counts:
                self._sent.setdefault(command.request, []).append(command)
        window = context.window
        self.begun = [request for request in requests if window.low <= request.start < window.high]
        """Those that started in the window."""
        self.lines_left_out = 0
        # Of the whole trace: a part of it has the same routes.
        self._routes = folded_routes(Counter(request.route for request in requests if request.route is not None))

    def _route(self, request: KnownRequest) -> str | None:
        return None if request.route is None else self._routes[request.route]

    def requests(self) -> ReportTable[RequestRow]:
        """Each request, in order of its start."""
        rows = [
            RequestRow(
                row=request.row,
                parent_row=request.parent,
                peer_row=request.peer,
                activity_row=request.activity,
                side=request.side,
                method=request.method,
                host=request.host,
                url_path=request.path,
                route=self._route(request),
                status=request.status,
                status_evidence=request.status_evidence,
                failed=request.failed,
                start_ns=request.start,
                end_ns=request.end,
                end_evidence=request.end_evidence,
                duration_ns=_duration(request),
                queue_ns=sum(queue for _, queue in request.queued) if request.queued else None,
                headers_ns=request.headers,
                unaccounted_ns=None
                if request.end is None
                else sum(part.end - part.start for part in parts if part.part == UNACCOUNTED),
                sent_bytes=request.sent_bytes,
                **self._command_sums(request),
                **self._inside_sums(request),
                connection=request.sends[-1][1] if request.sends else None,
                connection_reused=request.reused,
                ambiguous=request.ambiguous,
            )
            for request, parts in zip(self._all, self._parts, strict=True)
        ]
        return self._context.table(RequestRow, rows)

    def parts(self) -> ReportTable[RequestPart]:
        """The parts of each request, one request after another."""
        rows = [
            RequestPart(
                request_row=request.row,
                part=part.part,
                start_ns=part.start,
                end_ns=part.end,
                duration_ns=part.end - part.start,
                call_row=part.call,
                command_row=part.command,
            )
            for request, parts in zip(self._all, self._parts, strict=True)
            for part in parts
        ]
        return self._context.table(RequestPart, rows)

    def inside(self) -> ReportTable[RequestInside]:
        """What fell in requests."""
        rows = [
            RequestInside(request_row=span.request, evidence=span.evidence, **_span(span))
            for span in self._insides.spans
            if span.request is not None
        ]
        return self._context.table(RequestInside, rows)

    def nearby(self, request: KnownRequest | None) -> ReportTable[RequestNearby]:
        """What happened while a request lasted, of no known request."""
        spans = self._insides.nearby(request) if request is not None else ()
        rows = [RequestNearby(**_span(span)) for span in spans]
        return self._context.table(RequestNearby, rows)

    def commands(self) -> ReportTable[DatabaseCommand]:
        """Each command to a database."""
        rows = [
            DatabaseCommand(
                row=one.row,
                request_row=one.request,
                inside_row=one.inside,
                source=one.source,
                start_ns=one.start,
                end_ns=one.end,
                duration_ns=None if one.end is None else one.end - one.start,
                data_source=one.server,
                database=one.database,
                failed=one.failed,
                error=one.error,
                command_text=one.text,
            )
            for one in self._commands
        ]
        return self._context.table(DatabaseCommand, rows)

    def _command_sums(self, request: KnownRequest) -> dict[str, Any]:
        commands = self._sent.get(request.row, [])
        is_known = bool(self._commands) and request.has_id
        took = [one.end - one.start for one in commands if one.end is not None]
        return {
            "commands": len(commands) if is_known else None,
            "command_ns": sum(took) if is_known and len(took) == len(commands) else None,
        }

    def _inside_sums(self, request: KnownRequest) -> dict[str, Any]:
        sums, known = self._insides.sums[request.row], self._known
        is_known = request.has_id
        return {
            "gc_pauses": sums.pauses,
            "gc_ns": sums.paused,
            "locks": sums.locks if is_known and known.locks else None,
            "lock_ns": sums.locked if is_known and known.locks else None,
            "waits": sums.waits if is_known and known.waits else None,
            "blocked_ns": sums.waited if is_known and known.waits else None,
            "exceptions": sums.exceptions if is_known and known.exceptions else None,
            "nearby": sums.nearby if known.locks or known.waits or known.exceptions else None,
        }

    def waterfall(self, request: KnownRequest | None) -> ReportTable[WaterfallLine]:
        """A request and its parts, with the parts of what is inside of it."""
        lines, self.lines_left_out = ([], 0) if request is None else waterfall(request, self._all, self._parts)
        rows = [
            WaterfallLine(
                line=number,
                request_row=line.request,
                depth=line.depth,
                part=line.part,
                label=line.label(number),
                start_ns=line.start,
                end_ns=line.end,
                offset_ns=line.start - lines[0].start,
                duration_ns=line.end - line.start,
            )
            for number, line in enumerate(lines)
        ]
        spans = [np.array([moment]) for moment in (lines[0].start, lines[0].end)] if lines else []
        lossy = bool(lines) and bool(self._context.marks.touched(spans[0], spans[1])[0])
        return self._context.table(WaterfallLine, rows, [lossy] * len(rows))

    def chosen(self, number: int | None) -> KnownRequest | None:
        """The request of this row; without a number, the longest that started in the window. None without a stop."""
        if number is not None:
            request = self._all[number] if 0 <= number < len(self._all) else None
            return request if request is not None and request.end is not None else None
        stopped = [request for request in self.begun if request.end is not None]
        return max(stopped, key=lambda request: (_duration(request), -request.row), default=None)

    def routes(self) -> ReportTable[RequestRoute]:
        """Sums by side, host, method and route, longest total first."""
        rows = []
        groups = grouped(self.begun, lambda r: (r.side, r.host, r.method, self._route(r)))
        for (side, host, method, route), requests in groups.items():
            took = _durations(requests)
            rows.append(
                RequestRoute(
                    side=side,
                    host=host,
                    method=method,
                    route=route,
                    count=len(requests),
                    failed=sum(request.wrong for request in requests) or (0 if took else None),
                    stopped=len(took),
                    p50_ns=nearest_rank(took, 50),
                    p90_ns=nearest_rank(took, 90),
                    p99_ns=nearest_rank(took, 99),
                    max_ns=nearest_rank(took, 100),
                    total_ns=sum(took) if took else None,
                )
            )
        rows.sort(key=lambda row: (-(row.total_ns or 0), row.side, row.route or ""))
        return self._context.summed(RequestRoute, rows)

    def periods(self, length_ns: int) -> ReportTable[RequestPeriod]:
        """The same by side, host and route, for each stretch of time in which one started."""
        rows = []
        groups = grouped(self.begun, lambda r: (r.start // length_ns, r.side, r.host, self._route(r)))
        in_order = sorted(groups.items(), key=lambda one: (*one[0][:2], one[0][2] or "", one[0][3] or ""))
        for (number, side, host, route), requests in in_order:
            took = _durations(requests)
            rows.append(
                RequestPeriod(
                    period_ns=number * length_ns,
                    side=side,
                    host=host,
                    route=route,
                    count=len(requests),
                    failed=sum(request.wrong for request in requests) or (0 if took else None),
                    p50_ns=nearest_rank(took, 50),
                    p90_ns=nearest_rank(took, 90),
                    p99_ns=nearest_rank(took, 99),
                )
            )
        return self._context.summed(RequestPeriod, rows)

    def concurrency(self, length_ns: int) -> ReportTable[RequestConcurrency]:
        """How many were under way, in each stretch of time in which that changed."""
        rows = []
        for side in _SIDES:
            under_way = 0
            for time_ns, changes in groupby(self._changes(side), lambda change: change[0] // length_ns * length_ns):
                steps = [change for _, change in changes]
                course = list(accumulate(steps, initial=under_way))
                under_way = course[-1]
                rows.append(
                    RequestConcurrency(
                        time_ns=time_ns,
                        side=side,
                        most=max(course),
                        started=steps.count(1),
                        ended=steps.count(-1),
                        last=under_way,
                    )
                )
        rows.sort(key=lambda row: (row.time_ns, row.side))
        # What is under way is known from all starts and ends before.
        begun = np.zeros(len(rows), dtype=np.int64)
        until = np.array([row.time_ns + length_ns - 1 for row in rows], dtype=np.int64)
        return self._context.table(RequestConcurrency, rows, self._context.marks.touched(begun, until).tolist())

    def _changes(self, side: RequestSide) -> list[tuple[int, int]]:
        """When requests of a side start and end. One that ends when another starts is under way with it."""
        own = [request for request in self._all if request.side == side]
        ends = [(request.end, -1) for request in own if request.end is not None]
        return sorted([*((request.start, 1) for request in own), *ends], key=lambda change: (change[0], -change[1]))

    def count(self, side: RequestSide) -> int:
        """How many started."""
        return sum(request.side == side for request in self.begun)

    def failed(self, side: RequestSide) -> int:
        """How many of them failed."""
        return sum(request.side == side and request.wrong for request in self.begun)

    def percentile(self, side: RequestSide, percent: int) -> int | None:
        """That of the durations."""
        return nearest_rank(_durations([request for request in self.begun if request.side == side]), percent)

    def concurrent(self, side: RequestSide) -> int:
        """The most that were under way at once, in the window."""
        window = self._context.window
        spans = ((one.start, FOREVER if one.end is None else one.end) for one in self._all if one.side == side)
        return most_at_once(
            (max(low, window.low), high) for low, high in spans if low < window.high and high >= window.low
        )


def _span(span: InsideSpan) -> dict[str, Any]:
    return {
        "kind": span.kind,
        "thread_id": span.thread,
        "start_ns": span.start,
        "end_ns": span.end,
        "duration_ns": None if span.end is None else span.end - span.start,
        "what": span.what,
    }


def _duration(request: KnownRequest) -> int | None:
    return None if request.end is None else request.end - request.start


def _durations(requests: Sequence[KnownRequest]) -> list[int]:
    return sorted(request.end - request.start for request in requests if request.end is not None)
