"""The rows of the report on activities, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Guid,
    Ns,
    PrivateText,
    RowNumber,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


@row(span=("start_ns", "end_ns"))
class ActivityRow(SpanRow):
    """One activity, from its start event to its stop event."""

    row: RowNumber = column("The number of the activity in the process, in order of the starts, from 0.")
    parent_row: RowNumber | None = column(
        "The row of the activity in which it started, by ids or by tasks; null if it is a root or the trace does not "
        "tell."
    )
    parent_by: Word | None = column(
        "How the parent is known: `related_id`, or `task` (inferred from the task or await that carried the thread "
        "there, where the path in the id agrees); null without a parent.",
        hidden=True,
    )
    parent_traceevent_row: RowNumber | None = column(
        "The row that TraceEvent calls its parent, which may be whatever ran last on the thread.", hidden=True
    )
    activity_id: Guid | None = column(
        "The id in the events' headers, which others may have had; null for none.", hidden=True
    )
    activity_path: Word | None = column("The numbers in the id as text; null if it is no path.")
    provider: CodeName = column("The provider of its events.")
    name: CodeName = column("The name of its events without `Start` and `Stop`.")
    detail: PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: Ns = column("When it started.")
    end_ns: Ns | None = column("When it stopped; null unless there is a stop event of it.")
    duration_ns: DurationNs | None = column("From start to stop; null without a stop.")
    self_ns: DurationNs | None = column(
        "How much of that is in no child of it; null without a stop, and if a child has none."
    )
    end_kind: Word = column("`stop`, or, without a stop event: `superseded`, `trace_end` or `unknown`.")
    ambiguous: Flag = column(
        "The end or the parent may be another's: another open activity had the same id, or ids contradict one another."
    )
    start_thread_id: ThreadId = column("The thread that started it.")
    end_thread_id: ThreadId | None = column("The thread that stopped it; null without a stop.", hidden=True)


@row
class ActivityName(Row):
    """All activities of one name that started in the window."""

    provider: CodeName = column("The provider of their events.")
    name: CodeName = column("The name of their events without `Start` and `Stop`.")
    count: Count = column("How many started.")
    stopped: Count = column("How many of these have a stop event.")
    total_ns: DurationNs = column("How long these took together. They may overlap.")
    p50_ns: DurationNs | None = column("The median duration, by the nearest rank; null if none was stopped.")
    p90_ns: DurationNs | None = column("The 90th percentile; null if none was stopped.")
    p99_ns: DurationNs | None = column("The 99th percentile; null if none was stopped.")
    max_ns: DurationNs | None = column("The longest duration; null if none was stopped.")


@row(at="time_ns")
class OrphanStop(Row):
    """A stop event of which no start is known."""

    time_ns: Ns = column("When it was written.")
    thread_id: ThreadId = column("The thread that wrote it.")
    provider: CodeName = column("Its provider.")
    name: CodeName = column("Its name without `Stop`.")
    activity_id: Guid | None = column("Its id; null if it has none.")
    activity_path: Word | None = column("The numbers in the id as text; null if it is no path.")
    reason: Word = column("`no_id` if it has no id, `no_start` if no open activity has its id and its name.")


@row(at="start_ns")
class ActivityLeak(Row):
    """An activity that has no stop event."""

    row: RowNumber = column("Its row in `activities`.")
    provider: CodeName = column("The provider of its events.")
    name: CodeName = column("The name of its events without `Start`.")
    detail: PrivateText | None = column("The first field of its start event, if that is text.")
    start_ns: Ns = column("When it started.")
    start_thread_id: ThreadId = column("The thread that started it.")
    activity_path: Word | None = column("The numbers in its id as text; null if it is no path.")
    end_kind: Word = column("What is known of its end: `superseded`, `trace_end` or `unknown`.")


@row
class ActivitiesFacts:
    """The circumstances of a report on activities."""

    ids: Flag = column("Whether start events have ids of activities.")
    parents_by_task: Count = column("How many parents are known from tasks, and not from related ids.")
    reused_ids: Count = column("How many ids name more than one activity.")
    left_out: Count = column("How many activities are not in the tables, because there are too many.")
