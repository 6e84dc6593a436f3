"""The rows of the report on requests, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.cells import (
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    PrivateText,
    RowNumber,
    Word,
)
from clrevents.analysis.framework.row_class import Row, SpanRow, column, row


@row(span=("start_ns", "end_ns"), text="connection")
class RequestRow(SpanRow):
    """One request, as the client or as the server tells of it."""

    row: RowNumber = column("The number of the request in the process, in order of the starts, from 0.")
    parent_row: RowNumber | None = column("The row of the request while serving which this one was sent; null if none.")
    peer_row: RowNumber | None = column(
        "The row of the other side of the same request, if that is one connection of the trace for certain; else null."
    )
    activity_row: RowNumber = column("Its row in the report on activities.", hidden=True)
    side: Word = column("`client` or `server`.")
    method: PrivateText | None = column("The HTTP method; null where no event has it, as on the side of a client.")
    host: PrivateText | None = column("Host and port that a client asked; null for a server.")
    url_path: PrivateText | None = column("The path without the query; null if it could not be read.")
    route: PrivateText | None = column("The path with numbers and GUIDs as `{n}`; null without a path.", hidden=True)
    route_derived: Flag = column("The route was made of the path.", hidden=True)
    status: Ordinal | None = column("The status code; null where no event tells it.")
    status_evidence: Word | None = column(
        "`event`, or `peer` where the other side's event tells it; null without one.", hidden=True
    )
    failed: Flag = column("An event says that it failed: no response, or an unhandled exception.")
    start_ns: Ns = column("When it started.")
    end_ns: Ns | None = column("When it stopped; null without a stop event.")
    duration_ns: DurationNs | None = column("From start to stop; null without a stop.")
    queue_ns: DurationNs | None = column("How long it was queued for a connection; null unless an event says so.")
    headers_ns: DurationNs | None = column("From start until the headers of the response were read; null if not told.")
    unaccounted_ns: DurationNs | None = column("How much of the duration is in no known part; null without a stop.")
    exceptions: Count | None = column("How many exceptions were thrown in it, by ids; null if the trace does not tell.")
    connection: PrivateText | None = column("The connection's id, the last one where there were several.", hidden=True)
    connection_reused: Flag | None = column("An earlier request used the connection; null where that is not told.")
    ambiguous: Flag = column("Another open activity had its id, so that the end or the parent may be the other's.")


@row(span=("start_ns", "end_ns"))
class RequestPart(SpanRow):
    """A stretch of one request. Those of a request follow one another, and add up to its duration."""

    request_row: RowNumber = column("The request.")
    part: Word = column(
        "`queue`, `dns`, `connect`, `tls`, `request_headers`, `request_content`, `wait`, `response_headers`, "
        "`response_content`, `call` (a request that it sent) or `unaccounted`."
    )
    start_ns: Ns = column("When it began, or when the part before ended.")
    end_ns: Ns = column("When it ended.")
    duration_ns: DurationNs = column("How long it took.")
    call_row: RowNumber | None = column("The row of the request that was sent; null for other parts.")


@row(text="route")
class RequestRoute(Row):
    """All requests of one side, host, method and route that started in the window."""

    side: Word = column("`client` or `server`.")
    host: PrivateText | None = column("Host and port; null for a server.")
    method: PrivateText | None = column("The HTTP method; null where it is not told.")
    route: PrivateText | None = column("The route, as derived from paths.")
    count: Count = column("How many started.")
    failed: Count = column("How many of them failed, or have a status of 500 or more.")
    stopped: Count = column("How many have a stop event; the durations are theirs.")
    p50_ns: DurationNs | None = column("The median duration, by the nearest rank; null if none was stopped.")
    p90_ns: DurationNs | None = column("The 90th percentile; null if none was stopped.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none was stopped.")
    max_ns: DurationNs | None = column("The longest duration; null if none was stopped.")
    total_ns: DurationNs = column("How long they took together. They may overlap.")


@row(text="route")
class RequestPeriod(Row):
    """The requests of one side and route that started in one stretch of time."""

    period_ns: Ns = column("When the stretch began, a multiple of its length.")
    side: Word = column("`client` or `server`.")
    route: PrivateText | None = column("The route, as derived from paths.")
    count: Count = column("How many started.")
    failed: Count = column("How many of them failed, or have a status of 500 or more.")
    p50_ns: DurationNs | None = column("The median duration, by the nearest rank; null if none was stopped.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none was stopped.")


@row
class RequestsFacts:
    """The circumstances of a report on requests."""

    left_out: Count = column("How many activities were not looked at, because there are too many.")
