"""Requests → the tables of the report and its numbers, of those that started in the window. Percentiles are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from clrevents.analysis.framework.answer_values import FOREVER
from clrevents.analysis.framework.collector import Context
from clrevents.analysis.framework.report_table import ReportTable
from clrevents.analysis.framework.row_class import as_columns
from clrevents.analysis.nearest_rank import nearest_rank
from clrevents.analysis.requests.known_requests import KnownRequest, RequestSide
from clrevents.analysis.requests.request_parts import UNACCOUNTED, RequestParts
from clrevents.analysis.requests.request_rows import RequestPart, RequestPeriod, RequestRoute, RequestRow

Key: TypeAlias = tuple[Any, ...]

_SIDES: Final[tuple[RequestSide, ...]] = ("client", "server")


class RequestTables:
    """The tables of one process."""

    def __init__(
        self, context: Context, requests: Sequence[KnownRequest], parts: RequestParts, exceptions_known: bool
    ) -> None:
        self._context = context
        self._all = requests
        self._parts = [parts.of(request) for request in requests]
        self._exceptions = exceptions_known
        window = context.window
        self.begun = [request for request in requests if window.low <= request.start < window.high]
        """Those that started in the window."""

    def requests(self) -> ReportTable[RequestRow]:
        """Each request, in order of its start."""
        rows = [
            {
                "row": request.row,
                "parent_row": request.parent,
                "peer_row": request.peer,
                "activity_row": request.activity,
                "side": request.side,
                "method": request.method,
                "host": request.host,
                "url_path": request.path,
                "route": request.route,
                "route_derived": request.path is not None,
                "status": request.status,
                "status_evidence": request.status_evidence,
                "failed": request.failed,
                "start_ns": request.start,
                "end_ns": request.end,
                "duration_ns": _duration(request),
                "queue_ns": sum(queue for _, queue in request.queued) if request.queued else None,
                "headers_ns": request.headers,
                "unaccounted_ns": None
                if request.end is None
                else sum(part.end - part.start for part in parts if part.part == UNACCOUNTED),
                "exceptions": request.exceptions if self._exceptions and request.has_id else None,
                "connection": request.sends[-1][1] if request.sends else None,
                "connection_reused": request.reused,
                "ambiguous": request.ambiguous,
            }
            for request, parts in zip(self._all, self._parts, strict=True)
        ]
        return self._context.table(RequestRow, as_columns(RequestRow, rows))

    def parts(self) -> ReportTable[RequestPart]:
        """The parts of each request, one request after another."""
        rows = [
            {
                "request_row": request.row,
                "part": part.part,
                "start_ns": part.start,
                "end_ns": part.end,
                "duration_ns": part.end - part.start,
                "call_row": part.call,
            }
            for request, parts in zip(self._all, self._parts, strict=True)
            for part in parts
        ]
        return self._context.table(RequestPart, as_columns(RequestPart, rows))

    def routes(self) -> ReportTable[RequestRoute]:
        """Sums by side, host, method and route, the longest in total first."""
        rows = []
        for (side, host, method, route), mine in self._grouped(lambda r: (r.side, r.host, r.method, r.route)).items():
            took = _durations(mine)
            rows.append(
                {
                    "side": side,
                    "host": host,
                    "method": method,
                    "route": route,
                    "count": len(mine),
                    "failed": sum(request.wrong for request in mine),
                    "stopped": len(took),
                    **{f"p{percent}_ns": nearest_rank(took, percent) for percent in (50, 90, 99)},
                    "max_ns": nearest_rank(took, 100),
                    "total_ns": sum(took),
                }
            )
        rows.sort(key=lambda row: (-row["total_ns"], row["side"], row["route"] or ""))
        return self._context.summed(RequestRoute, rows)

    def periods(self, length_ns: int) -> ReportTable[RequestPeriod]:
        """The same by side and route, for each stretch of time in which one started."""
        rows = []
        groups = self._grouped(lambda r: (r.start // length_ns, r.side, r.route))
        for (number, side, route), mine in sorted(groups.items(), key=lambda one: (*one[0][:2], one[0][2] or "")):
            took = _durations(mine)
            rows.append(
                {
                    "period_ns": number * length_ns,
                    "side": side,
                    "route": route,
                    "count": len(mine),
                    "failed": sum(request.wrong for request in mine),
                    "p50_ns": nearest_rank(took, 50),
                    "p99_ns": nearest_rank(took, 99),
                }
            )
        return self._context.summed(RequestPeriod, rows)

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
        """How many were under way at once, at most, in the window."""
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

    def _grouped(self, key: Any) -> dict[Key, list[KnownRequest]]:
        found: dict[Key, list[KnownRequest]] = {}
        for request in self.begun:
            found.setdefault(key(request), []).append(request)
        return found


def _duration(request: KnownRequest) -> int | None:
    return None if request.end is None else request.end - request.start


def _durations(requests: Sequence[KnownRequest]) -> list[int]:
    return sorted(request.end - request.start for request in requests if request.end is not None)
