"""The rows of a report on counters, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Number,
    PrivateText,
    RowNumber,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, column, row


@row(at="time_ns", threads=("thread_id",), text="tags")
class CounterValue(Row):
    """One value that was published, or one quantile of a histogram."""

    series_row: RowNumber = column("The row of its series.", hidden=True)
    time_ns: Ns = column("When it was published: at the end of its interval.")
    provider: CodeName = column("The EventSource, or the meter.")
    name: CodeName = column("The counter, or the instrument.")
    tags: PrivateText = column("Its tags as they are written, empty for none; of an EventCounter, its metadata.")
    label: PrivateText = column("Name, tags and quantile as one text, for charts.", hidden=True)
    kind: Word = column("`rate`, `mean` (EventCounters), `counter`, `updown`, `gauge` or `histogram` (meters).")
    quantile: Number | None = column("Which quantile of a histogram the value is; null for all other values.")
    value: Number | None = column(
        "Of `rate` and `counter` the increase in the interval, of `updown` and `gauge` the level, of `mean` and"
        " `histogram` the mean of the interval's measurements, or their quantile; null where there is none."
    )
    unit: CodeName = column("The unit of the value, empty for none.")
    interval_ns: DurationNs | None = column("The interval that it is about; null where the trace does not tell.")
    per_second: Number | None = column("The increase in the interval by its length; null for other kinds.")
    change: Number | None = column("The increase in the interval, of `updown` too; null for other kinds.", hidden=True)
    total: Number | None = column("Of a meter's counter, its sum since the session began.", hidden=True)
    count: Count | None = column("How many measurements the interval has; null where that is not told.", hidden=True)
    sum: Number | None = column("The sum of a histogram's measurements.", hidden=True)
    min: Number | None = column("The smallest measurement of the interval.", hidden=True)
    max: Number | None = column("The largest measurement of the interval.", hidden=True)
    stddev: Number | None = column("The standard deviation of the interval's measurements.", hidden=True)
    reason: Word | None = column(
        "Why there is no value: `not a number`, `infinite`, `unreadable`, `missing` (the event has no such field) or"
        " `empty` (nothing was measured)."
    )
    unread: PrivateText | None = column("The text that could not be read as a number.", hidden=True)
    session_id: PrivateText | None = column(
        "The metrics session that published it; null for EventCounters.", hidden=True
    )
    thread_id: ThreadId | None = column("The thread that wrote it.", hidden=True)


@row(text="tags")
class CounterSeries(Row):
    """All values of one counter with the same tags, in the window."""

    row: RowNumber = column("Its number, in order of first values.", hidden=True)
    provider: CodeName = column("The EventSource, or the meter.")
    name: CodeName = column("The counter, or the instrument.")
    tags: PrivateText = column("Its tags as they are written, empty for none; of an EventCounter, its metadata.")
    quantile: Number | None = column("Which quantile of a histogram it is; null for all other series.")
    kind: Word = column("`rate`, `mean` (EventCounters), `counter`, `updown`, `gauge` or `histogram` (meters).")
    unit: CodeName = column("The unit of the values, empty for none.")
    count: Count = column("How many values there are.")
    empty: Count = column("How many have no value, whatever the reason.", hidden=True)
    first: Number | None = column("The first value.", hidden=True)
    last: Number | None = column("The last value.")
    min: Number | None = column(
        "The smallest value; of `mean` and `histogram` the smallest measurement, null where it is not told."
    )
    mean: Number | None = column(
        "The mean of the values; of `mean` and `histogram` that of all measurements, null for quantiles."
    )
    max: Number | None = column(
        "The largest value; of `mean` and `histogram` the largest measurement, null where it is not told."
    )
    total: Number | None = column(
        "All increases of `rate` and `counter`, or all measurements of `histogram`, summed up."
    )
    per_second: Number | None = column(
        "The increases by the intervals in which they were counted; null for other kinds."
    )
    measurements: Count | None = column("How many measurements `mean` and `histogram` have.", hidden=True)
    interval_ns: DurationNs | None = column("The median interval; null where the trace does not tell.")
    scale_ns: DurationNs | None = column("The time for which the program shows its rate; null if unknown.", hidden=True)
    display_name: CodeName | None = column("The name that the program shows; null without one.", hidden=True)
    instrument: Word | None = column("The type of the instrument; null if it was not announced.", hidden=True)
    version: CodeName | None = column("The version of the meter; null without one.", hidden=True)
    tag_names: tuple[CodeName, ...] = column("The names of the tags.", hidden=True)
    tag_values: tuple[PrivateText, ...] = column("The values of the tags, in the same order.", hidden=True)
    tags_ambiguous: Flag = column("The tags can be split in other ways too, or are no list of tags.", hidden=True)
    session_id: PrivateText | None = column(
        "The metrics session that published it; null for EventCounters.", hidden=True
    )
    other_session: Flag = column("That session is one of another tool.", hidden=True)


@row(at="time_ns", threads=("thread_id",))
class CounterProblem(Row):
    """Something that the source of metrics reported instead of values."""

    time_ns: Ns = column("When it was reported.")
    kind: Word = column(
        "`error`, `callback error` (of an observable instrument), `time-series limit`, `histogram limit`,"
        " `session refused` or `session misconfigured`."
    )
    session_id: PrivateText | None = column("The session that it is about; of a refused one, the session that runs.")
    message: PrivateText | None = column("What the runtime says; null for nothing.")
    thread_id: ThreadId | None = column("The thread that wrote it.", hidden=True)


@row
class CountersFacts:
    """The circumstances of a report on counters."""

    counter_interval_ns: DurationNs | None = column("The median interval of EventCounters; null without any.")
    metrics_interval_ns: DurationNs | None = column("The median interval of metrics; null without any.")
    sessions: tuple[PrivateText, ...] = column("The sessions of metrics, by their ids.")
    other_sessions: tuple[PrivateText, ...] = column("Those that are sessions of other tools.")
