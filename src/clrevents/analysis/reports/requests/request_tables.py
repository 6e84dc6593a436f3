"""Requests → the tables of the report and its numbers, of those that started in the window. Percentiles are exact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import grouped, nearest_rank
from clrevents.analysis.reports.requests.known_requests import KnownRequest, RequestSide
from clrevents.analysis.reports.requests.request_commands import KnownCommand
from clrevents.analysis.reports.requests.request_connections import NetworkStep
from clrevents.analysis.reports.requests.request_insides import InsideSpan, RequestInsides
from clrevents.analysis.reports.requests.request_parts import UNACCOUNTED, RequestParts, waterfall
from clrevents.analysis.reports.requests.request_rows import (
    ConnectionStep,
    DatabaseCommand,
    RequestConcurrency,
    RequestInside,
    RequestNearby,
    RequestPart,
    RequestPeriod,
    RequestRoute,
    RequestRow,
    WaterfallLine,
)

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
                route=request.route,
                status=request.status,
                status_evidence=request.status_evidence,
                failed=request.failed,
                start_ns=request.start,
                end_ns=request.end,
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

    def network(self, steps: Sequence[NetworkStep]) -> ReportTable[ConnectionStep]:
        """Each step to a connection."""
        rows = [
            ConnectionStep(
                kind=one.kind,
                request_row=one.request,
                activity_row=one.activity,
                start_ns=one.start,
                end_ns=one.end,
                duration_ns=None if one.end is None else one.end - one.start,
                failed=one.failed,
                server=one.server,
                name=one.name,
            )
            for one in steps
        ]
        return self._context.table(ConnectionStep, rows)

    def _command_sums(self, request: KnownRequest) -> dict[str, Any]:
        mine = self._sent.get(request.row, [])
        told = bool(self._commands) and request.has_id
        took = [one.end - one.start for one in mine if one.end is not None]
        return {
            "commands": len(mine) if told else None,
            "command_ns": sum(took) if told and len(took) == len(mine) else None,
        }

    def _inside_sums(self, request: KnownRequest) -> dict[str, Any]:
        sums, known = self._insides.sums[request.row], self._known
        told = request.has_id
        return {
            "gc_pauses": sums.pauses,
            "gc_ns": sums.paused,
            "locks": sums.locks if told and known.locks else None,
            "lock_ns": sums.locked if told and known.locks else None,
            "waits": sums.waits if told and known.waits else None,
            "blocked_ns": sums.waited if told and known.waits else None,
            "exceptions": sums.exceptions if told and known.exceptions else None,
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
            found = self._all[number] if 0 <= number < len(self._all) else None
            return found if found is not None and found.end is not None else None
        stopped = [request for request in self.begun if request.end is not None]
        return max(stopped, key=lambda request: (_duration(request), -request.row), default=None)

    def routes(self) -> ReportTable[RequestRoute]:
        """Sums by side, host, method and route, longest total first."""
        rows = []
        groups = grouped(self.begun, lambda r: (r.side, r.host, r.method, r.route))
        for (side, host, method, route), mine in groups.items():
            took = _durations(mine)
            rows.append(
                RequestRoute(
                    side=side,
                    host=host,
                    method=method,
                    route=route,
                    count=len(mine),
                    failed=sum(request.wrong for request in mine) or (0 if took else None),
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
        groups = grouped(self.begun, lambda r: (r.start // length_ns, r.side, r.host, r.route))
        in_order = sorted(groups.items(), key=lambda one: (*one[0][:2], one[0][2] or "", one[0][3] or ""))
        for (number, side, host, route), mine in in_order:
            took = _durations(mine)
            rows.append(
                RequestPeriod(
                    period_ns=number * length_ns,
                    side=side,
                    host=host,
                    route=route,
                    count=len(mine),
                    failed=sum(request.wrong for request in mine) or (0 if took else None),
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
        mine = [request for request in self._all if request.side == side]
        ends = [(request.end, -1) for request in mine if request.end is not None]
        return sorted([*((request.start, 1) for request in mine), *ends], key=lambda change: (change[0], -change[1]))

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
        edges = []
        for request in self._all:
            end = FOREVER if request.end is None else request.end
            if request.side == side and request.start < window.high and end >= window.low:
                edges += [(max(request.start, window.low), 1), (end, -1)]
        edges.sort()
        most = now = 0
        for _, change in edges:
            now += change
            most = max(most, now)
        return most


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
