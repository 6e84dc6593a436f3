"""The rows of the report on requests, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.row_class import (
    Bytes,
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    PrivateText,
    Row,
    RowNumber,
    SpanRow,
    ThreadId,
    Word,
    column,
    row,
)


@row(span=("start_ns", "end_ns"), text="connection")
class RequestRow(SpanRow):
    """One request, as recorded by the client or by the server."""

    row: RowNumber = column("The request's number in its process, in order of the starts, from 0.")
    parent_row: RowNumber | None = column("The row of the request being served when this one was sent; null if none.")
    peer_row: RowNumber | None = column(
        "The row of the other side of the same request, if it was matched with certainty; else null."
    )
    activity_row: RowNumber = column("Its row in the report on activities.", hidden=True)
    side: Word = column("`client` or `server`.")
    method: PrivateText | None = column("The HTTP method; null if not recorded, as for clients.")
    host: PrivateText | None = column("The host and port that a client sent it to; null for a server.")
    url_path: PrivateText | None = column("The path without the query; null if it could not be read.")
    route: PrivateText | None = column("The path with numbers and GUIDs as `{n}`; null without a path.", hidden=True)
    status: Ordinal | None = column("The status code; null if not recorded.")
    status_evidence: Word | None = column(
        "`event`, or `peer` if it comes from the other side's event; null without a status.", hidden=True
    )
    failed: Flag = column("A failure was recorded: no response, or an unhandled exception.")
    start_ns: Ns = column("When it started.")
    end_ns: Ns | None = column("When it stopped; null without a stop event.")
    duration_ns: DurationNs | None = column("From start to stop; null without a stop.")
    queue_ns: DurationNs | None = column("How long it was queued for a connection; null if not recorded.")
    headers_ns: DurationNs | None = column("From start until the response headers were read; null if unknown.")
    unaccounted_ns: DurationNs | None = column(
        "How much of the duration is outside all known parts; null without a stop."
    )
    sent_bytes: Bytes | None = column(
        "The size of the content that a client sent; null if not recorded, as for servers. The size of a response "
        "is never recorded.",
        hidden=True,
    )
    commands: Count | None = column(
        "How many database commands began in it; null if none was recorded in the whole trace.", hidden=True
    )
    command_ns: DurationNs | None = column("How long these took in total; null unless known for each.")
    gc_pauses: Count | None = column(
        "How many garbage collection pauses fell in it; null without a stop or if they were not recorded.", hidden=True
    )
    gc_ns: DurationNs | None = column("How long these lasted inside it; null if `gc_pauses` is.")
    locks: Count | None = column("How many waits for locks began in it; null if unknown.", hidden=True)
    lock_ns: DurationNs | None = column(
        "How long its threads waited for locks in total; null unless known for each wait."
    )
    waits: Count | None = column(
        "How many other waits that block a thread began in it: for handles, monitors and tasks, as far as recorded; "
        "null if none of these was.",
        hidden=True,
    )
    blocked_ns: DurationNs | None = column("How long these blocked its threads in total; null if unknown.")
    exceptions: Count | None = column("How many exceptions were thrown in it; null if unknown.")
    nearby: Count | None = column(
        "How many waits and exceptions that belong to no known request happened meanwhile: they may have nothing to "
        "do with it. Null without a stop.",
        hidden=True,
    )
    connection: PrivateText | None = column("The connection's id; if there were several, the last one's.", hidden=True)
    connection_reused: Flag | None = column("An earlier request used the connection; null if unknown.")
    ambiguous: Flag = column("Another open activity had the same id, so the end or the parent may belong to that one.")


@row(span=("start_ns", "end_ns"))
class RequestPart(SpanRow):
    """A part of one request. The parts of a request follow one another and add up to its duration."""

    request_row: RowNumber = column("The request.")
    part: Word = column(
        "`queue`, `dns`, `connect`, `tls`, `request_headers`, `request_content`, `wait`, `response_headers`, "
        "`response_content`, `call` (a request that it sent), `command` (to a database); outside these `gc`, "
        "`lock`, `blocked`, `await`; or `unaccounted`."
    )
    start_ns: Ns = column("When it began, or when the part before ended.")
    end_ns: Ns = column("When it ended.")
    duration_ns: DurationNs = column("How long it took.")
    call_row: RowNumber | None = column("The row of the request that was sent; null for other parts.")
    command_row: RowNumber | None = column("The row of the command; null for other parts.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestInside(SpanRow):
    """Something that happened in one request: a garbage collection pause, a wait of a thread, or an exception."""

    request_row: RowNumber = column("The request.")
    kind: Word = column(
        "`gc`, `lock`, `exception`, or whatever else a thread waited for: `handle`, `monitor`, `task`, `join` or "
        "`sleep`."
    )
    evidence: Word = column(
        "How it is known to be in the request: by its `activity` id; by `continuation`: its thread was running code "
        "of the request; or by `time`, if it stops all threads."
    )
    thread_id: ThreadId | None = column("The thread; null for `gc`, which affects all.")
    start_ns: Ns = column("When it began; for `gc`, not before the request.")
    end_ns: Ns | None = column("When it ended, or when the request did, whichever is earlier; null if unknown.")
    duration_ns: DurationNs | None = column("How long it lasted inside the request; null without an end.")
    what: CodeName | None = column("The blocking method, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class RequestNearby(SpanRow):
    """Something that happened during the request laid out and belongs to no known request."""

    kind: Word = column("As in `inside`.")
    thread_id: ThreadId = column("The thread.")
    start_ns: Ns = column("When it began.")
    end_ns: Ns | None = column("When it ended; null if unknown.")
    duration_ns: DurationNs | None = column("How long it lasted; null without an end.")
    what: CodeName | None = column("The blocking method, or the type of the exception; null if unknown.")


@row(span=("start_ns", "end_ns"), text="command_text")
class DatabaseCommand(SpanRow):
    """A database command, as recorded by SqlClient or Entity Framework."""

    row: RowNumber = column("The command's number in its process, in order of the starts, from 0.")
    request_row: RowNumber | None = column("The request in which it began, by ids; null if unknown.")
    inside_row: RowNumber | None = column(
        "The row of the same or an enclosing command from another source; this one is not counted again. Usually null."
    )
    source: Word = column(
        "Who recorded it: `Microsoft.Data.SqlClient.EventSource`, `Microsoft-AdoNet-SystemData`, or, through the "
        "bridge from DiagnosticSource, `Microsoft.EntityFrameworkCore` or `SqlClientDiagnosticListener`."
    )
    start_ns: Ns = column("When it began.")
    end_ns: Ns | None = column("When it ended; null if not recorded.")
    duration_ns: DurationNs | None = column("How long it took; null without an end.")
    data_source: PrivateText | None = column("The server; null if unknown.", hidden=True)
    database: PrivateText | None = column("The database; null if unknown.")
    failed: Flag | None = column("Whether it failed; null if unknown.")
    error: Ordinal | None = column("The number of SQL Server's error; null without one.", hidden=True)
    command_text: PrivateText | None = column("The command text, or the name of a procedure; null if unknown.")


@row(span=("start_ns", "end_ns"), text="name")
class ConnectionStep(SpanRow):
    """A step towards a connection: a name look-up, a connect, an accept, a handshake."""

    kind: Word = column("`dns`, `connect`, `accept` or `tls`.")
    request_row: RowNumber | None = column("The request in which it began, by ids; null if unknown.")
    activity_row: RowNumber = column("Its row in the report on activities.", hidden=True)
    start_ns: Ns = column("When it began. An accept begins when the server is ready for a connection.")
    end_ns: Ns | None = column("When it ended; null without a stop event.")
    duration_ns: DurationNs | None = column("How long it took; null without an end.")
    failed: Flag = column("A failure was recorded.")
    server: Flag | None = column("Whether a handshake is on the server's side; null for other steps.", hidden=True)
    name: PrivateText | None = column("The name or address looked up or connected to, or the handshake's host.")


@row(text="label")
class WaterfallLine(Row):
    """The request laid out, a part of it, or of a request inside it. Lines are in order of time."""

    line: RowNumber = column("The number of the line, from 0.", hidden=True)
    request_row: RowNumber = column("The request that this is, or is a part of.", hidden=True)
    depth: Ordinal = column(
        "The line's depth: 0 for the request, 1 for its parts, more for requests inside it.", hidden=True
    )
    part: Word = column("The part as in `parts`; `client` or `server` for a request.", hidden=True)
    label: PrivateText = column("The line's number and what it is, indented by its depth.")
    start_ns: Ns = column("When it began.", hidden=True)
    end_ns: Ns = column("When it ended.", hidden=True)
    offset_ns: DurationNs = column("The time since the start of the request.")
    duration_ns: DurationNs = column("How long it took.")


@row(text="route")
class RequestRoute(Row):
    """All requests of one side, host, method and route that started in the window."""

    side: Word = column("`client` or `server`.")
    host: PrivateText | None = column("Host and port; null for a server.", importance=3)
    method: PrivateText | None = column("The HTTP method; null if unknown.", importance=1)
    route: PrivateText | None = column("The route, as derived from paths.", importance=0)
    count: Count = column("How many started.", importance=1)
    failed: Count | None = column(
        "How many of them failed, or have a status of 500 or more; null if none has a stop event.", importance=1
    )
    stopped: Count = column("How many have a stop event; durations cover these.", importance=3)
    p50_ns: DurationNs | None = column("The median duration, by nearest rank; null if none has a stop.", importance=0)
    p90_ns: DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none has a stop.", importance=1)
    max_ns: DurationNs | None = column("The longest duration; null if none has a stop.")
    total_ns: DurationNs | None = column(
        "Their total duration, though they may overlap; null if none has a stop event.", importance=3
    )


@row(text="route")
class RequestPeriod(Row):
    """The requests of one side, host and route that started in one period."""

    period_ns: Ns = column("When the period began, a multiple of its length.")
    side: Word = column("`client` or `server`.")
    host: PrivateText | None = column("Host and port; null for a server.")
    route: PrivateText | None = column("The route, as derived from paths.")
    count: Count = column("How many started.")
    failed: Count | None = column(
        "How many of them failed, or have a status of 500 or more; null if none has a stop event."
    )
    p50_ns: DurationNs | None = column("The median duration, by nearest rank; null if none has a stop.")
    p90_ns: DurationNs | None = column("The 90th percentile; null if none has a stop.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none has a stop.")


@row(at="time_ns")
class RequestConcurrency(Row):
    """How many requests of one side were under way at once, in a period in which one started or ended."""

    time_ns: Ns = column("When the period began, a multiple of its length.")
    side: Word = column("`client` or `server`.")
    started: Count = column("How many started.")
    ended: Count = column("How many ended.")
    most: Count = column("The most that were under way at once.")
    last: Count = column(
        "How many were under way at its end, and until the next row. A request without a stop is under way forever."
    )


@row
class RequestsFacts:
    """The facts of a report on requests."""

    left_out: Count = column("How many activities were left out because there are too many.")
