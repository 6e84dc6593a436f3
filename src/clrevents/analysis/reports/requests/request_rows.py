"""The rows of the report on requests, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    Bytes,
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    PrivateText,
    RowNumber,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


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
    sent_bytes: Bytes | None = column(
        "The size of the content that a client sent; null where no event tells it, as on the side of a server. The "
        "size of a response is in no event.",
        hidden=True,
    )
    commands: Count | None = column(
        "How many commands to databases began in it; null if none was recorded in the whole trace.", hidden=True
    )
    command_ns: DurationNs | None = column("How long these took together; null where that is not told of each.")
    gc_pauses: Count | None = column(
        "How many pauses of garbage collections it met; null without a stop or if they were not recorded.", hidden=True
    )
    gc_ns: DurationNs | None = column("How long these lasted inside of it; null where `gc_pauses` is.")
    locks: Count | None = column("How many waits for locks began in it; null if the trace does not tell.", hidden=True)
    lock_ns: DurationNs | None = column(
        "How long its threads together waited for locks; null if the trace does not tell, or not of each wait."
    )
    waits: Count | None = column(
        "How many other waits that block a thread began in it: for handles, monitors and tasks, as far as these were "
        "recorded; null if none of them was.",
        hidden=True,
    )
    blocked_ns: DurationNs | None = column("How long these blocked its threads together; null where that is not told.")
    exceptions: Count | None = column("How many exceptions were thrown in it; null if the trace does not tell.")
    nearby: Count | None = column(
        "How many waits and exceptions of no known request there were meanwhile: they may have nothing to do with it. "
        "Null without a stop.",
        hidden=True,
    )
    connection: PrivateText | None = column("The connection's id, the last one where there were several.", hidden=True)
    connection_reused: Flag | None = column("An earlier request used the connection; null where that is not told.")
    ambiguous: Flag = column("Another open activity had its id, so that the end or the parent may be the other's.")


@row(span=("start_ns", "end_ns"))
class RequestPart(SpanRow):
    """A stretch of one request. Those of a request follow one another, and add up to its duration."""

    request_row: RowNumber = column("The request.")
    part: Word = column(
        "`queue`, `dns`, `connect`, `tls`, `request_headers`, `request_content`, `wait`, `response_headers`, "
        "`response_content`, `call` (a request that it sent), `command` (to a database); `gc`, `lock`, `blocked`, "
        "`await`, where none of these is; or `unaccounted`."
    )
    start_ns: Ns = column("When it began, or when the part before ended.")
    end_ns: Ns = column("When it ended.")
    duration_ns: DurationNs = column("How long it took.")
    call_row: RowNumber | None = column("The row of the request that was sent; null for other parts.")
    command_row: RowNumber | None = column("The row of the command; null for other parts.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestInside(SpanRow):
    """Something that fell in one request: a pause of a collection, a wait of a thread, or an exception."""

    request_row: RowNumber = column("The request.")
    kind: Word = column(
        "`gc`, `lock`, `exception`, or what else a thread waited for: `handle`, `monitor`, `task`, `join` or `sleep`."
    )
    evidence: Word = column(
        "Why it is in the request: `activity` by its id, `continuation` because its thread ran code of the request, "
        "or `time`, for what stops all threads."
    )
    thread_id: ThreadId | None = column("The thread; null for `gc`, which is about all.")
    start_ns: Ns = column("When it began; of a `gc`, not before the request.")
    end_ns: Ns | None = column("When it ended, or the request if that was before; null if the trace does not tell.")
    duration_ns: DurationNs | None = column("How long it lasted inside of the request; null without an end.")
    what: CodeName | None = column("The method that blocks, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestNearby(SpanRow):
    """Something at the time of the request that is laid out, of which nothing tells whose it is."""

    kind: Word = column("As in `inside`.")
    thread_id: ThreadId = column("The thread.")
    start_ns: Ns = column("When it began.")
    end_ns: Ns | None = column("When it ended; null if the trace does not tell.")
    duration_ns: DurationNs | None = column("How long it lasted; null without an end.")
    what: CodeName | None = column("The method that blocks, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), text="command_text")
class DatabaseCommand(SpanRow):
    """A command to a database, as SqlClient or Entity Framework tell of it."""

    row: RowNumber = column("The number of the command in the process, in order of the begins, from 0.")
    request_row: RowNumber | None = column("The request in which it began, by ids; null if none is known.")
    inside_row: RowNumber | None = column(
        "The row of the same command, or a larger one, of another source, inside of which it began; it is not counted "
        "again. Null for most."
    )
    source: Word = column(
        "Who tells of it: `Microsoft.Data.SqlClient.EventSource`, `Microsoft-AdoNet-SystemData`, or, through the "
        "bridge from DiagnosticSource, `Microsoft.EntityFrameworkCore` or `SqlClientDiagnosticListener`."
    )
    start_ns: Ns = column("When it began.")
    end_ns: Ns | None = column("When it ended; null without such an event.")
    duration_ns: DurationNs | None = column("How long it took; null without an end.")
    data_source: PrivateText | None = column("The server; null where it is not told.", hidden=True)
    database: PrivateText | None = column("The database; null where it is not told.")
    failed: Flag | None = column("It failed; null where the trace does not tell.")
    error: Ordinal | None = column("The number of SQL Server's error; null without one.", hidden=True)
    command_text: PrivateText | None = column("The command, or the name of a procedure; null where it is not told.")


@row(span=("start_ns", "end_ns"), text="name")
class ConnectionStep(SpanRow):
    """What was done to get a connection: a look-up of a name, a connect, an accept, a handshake."""

    kind: Word = column("`dns`, `connect`, `accept` or `tls`.")
    request_row: RowNumber | None = column("The request in which it began, by ids; null if none is known.")
    activity_row: RowNumber = column("Its row in the report on activities.", hidden=True)
    start_ns: Ns = column("When it began. An accept begins when the server is ready for a connection.")
    end_ns: Ns | None = column("When it ended; null without a stop event.")
    duration_ns: DurationNs | None = column("How long it took; null without an end.")
    failed: Flag = column("An event says that it failed.")
    server: Flag | None = column("A handshake on the server's side; null for others.", hidden=True)
    name: PrivateText | None = column("The name or address that was looked up or connected, or the handshake's host.")


@row(text="label")
class WaterfallLine(Row):
    """The request that is laid out, a part of it, or of a request inside of it. Lines are in order of time."""

    line: RowNumber = column("The number of the line, from 0.", hidden=True)
    request_row: RowNumber = column("The request of which this is a part, or which it is.", hidden=True)
    depth: Ordinal = column(
        "How deep the line lies: 0 for the request, 1 for its parts, more for requests inside of it.", hidden=True
    )
    part: Word = column("The part as in `parts`; `client` or `server` for a request.", hidden=True)
    label: PrivateText = column("The number of the line, and what it is, further to the right the deeper it lies.")
    start_ns: Ns = column("When it began.", hidden=True)
    end_ns: Ns = column("When it ended.", hidden=True)
    offset_ns: DurationNs = column("How long after the begin of the request.")
    duration_ns: DurationNs = column("How long it took.")


@row(text="route")
class RequestRoute(Row):
    """All requests of one side, host, method and route that started in the window."""

    side: Word = column("`client` or `server`.")
    host: PrivateText | None = column("Host and port; null for a server.", importance=3)
    method: PrivateText | None = column("The HTTP method; null where it is not told.", importance=1)
    route: PrivateText | None = column("The route, as derived from paths.", importance=0)
    count: Count = column("How many started.", importance=1)
    failed: Count = column("How many of them failed, or have a status of 500 or more.", importance=1)
    stopped: Count = column("How many have a stop event; the durations are theirs.", importance=3)
    p50_ns: DurationNs | None = column(
        "The median duration, by the nearest rank; null if none was stopped.", importance=0
    )
    p90_ns: DurationNs | None = column("The 90th percentile; null if none was stopped.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none was stopped.", importance=1)
    max_ns: DurationNs | None = column("The longest duration; null if none was stopped.")
    total_ns: DurationNs = column("How long they took together. They may overlap.", importance=3)


@row(text="route")
class RequestPeriod(Row):
    """The requests of one side, host and route that started in one stretch of time."""

    period_ns: Ns = column("When the stretch began, a multiple of its length.")
    side: Word = column("`client` or `server`.")
    host: PrivateText | None = column("Host and port; null for a server.")
    route: PrivateText | None = column("The route, as derived from paths.")
    count: Count = column("How many started.")
    failed: Count = column("How many of them failed, or have a status of 500 or more.")
    p50_ns: DurationNs | None = column("The median duration, by the nearest rank; null if none was stopped.")
    p90_ns: DurationNs | None = column("The 90th percentile; null if none was stopped.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none was stopped.")


@row(at="time_ns")
class RequestConcurrency(Row):
    """How many requests of one side were under way at once, in a stretch of time in which one started or ended."""

    time_ns: Ns = column("When the stretch began, a multiple of its length.")
    side: Word = column("`client` or `server`.")
    started: Count = column("How many started.")
    ended: Count = column("How many ended.")
    most: Count = column("How many were under way at once, at most.")
    last: Count = column("How many at its end, and until the next row. One without a stop is under way for ever.")


@row
class RequestsFacts:
    """The circumstances of a report on requests."""

    left_out: Count = column("How many activities were not looked at, because there are too many.")
