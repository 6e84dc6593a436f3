"""The rows and the facts of the report on exceptions. Only declarations; whatever was not recorded is null."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.row_class import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Number,
    PrivateText,
    Row,
    RowNumber,
    SpanRow,
    StackId,
    ThreadId,
    Word,
    column,
    row,
)

_TYPE = "The type of the exception; null where its throw is not in the trace."
_THROWING = "The innermost method that is not part of the runtime's dispatch; null without a stack."
_CATCHING = "The method whose catch handler ran last; null if none did."
_THROWN = "How many were thrown for the first time while no other was being handled."
_NESTED = "How many were thrown for the first time while another was being handled."
_AWAIT = "How many had been captured, mostly by a task, and were rethrown; inferred from stacks."
_RETHROWN = "How often `throw;` rethrew one of them."
_FILTERED = "How often a filter accepted one; inferred from where its handler lies."
_DISPATCH = "How long it took to find handlers and to run filters and finally handlers, excluding nested exceptions."
_HANDLING = "From the start of the first catch handler to the end of the last, excluding nested exceptions."
_OUTCOME = (
    "`caught`: a catch handler ended it; `replaced`: another exception left its handler; `rejected`: it left a "
    "filter, which ends it; `in_flight`: no handler had caught it when the trace ended, or it left its thread; "
    "`handling`: its catch handler was running when the trace ended; `unseen`: its thread went on, but when is not "
    "recorded; null if no handlers were recorded."
)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class ThrownException(SpanRow):
    """One exception, from its throw to the end of its last catch handler."""

    row: RowNumber = column("The number of the exception in its process.", hidden=True)
    start_ns: Ns | None = column("When it was thrown; null if that is not in the trace.")
    end_ns: Ns | None = column("When its handling ended; null if unknown.", hidden=True)
    duration_ns: DurationNs | None = column("How long that took, including everything inside.")
    dispatch_ns: DurationNs | None = column(
        "From the throw to the start of the first catch handler, excluding nested exceptions; null without either."
    )
    handling_ns: DurationNs | None = column(f"{_HANDLING[:-1]}; null without either.", hidden=True)
    thread_id: ThreadId | None = column("The thread that threw it.", hidden=True)
    type: CodeName | None = column(_TYPE)
    message: PrivateText | None = column("Its message; `NULL` if it has none.")
    hresult: Word | None = column("Its HRESULT, in hexadecimal.", hidden=True)
    throwing_method: CodeName | None = column(_THROWING)
    catching_method: CodeName | None = column(_CATCHING, hidden=True)
    outcome: Word | None = column(_OUTCOME)
    nested: Flag = column("It was thrown while another exception was being handled.", hidden=True)
    nested_in_row: RowNumber | None = column("The `row` of that exception; null if unknown.", hidden=True)
    by_await: Flag = column("It had been captured, mostly by a task, and was rethrown; inferred from the stack.")
    repeats_row: RowNumber | None = column(
        "For rethrown ones, the `row` of the last exception before it, on any thread, with the same type and "
        "message; inferred.",
        hidden=True,
    )
    rethrown: Count | None = column("How often `throw;` rethrew it; null if no handlers were recorded.", hidden=True)
    filters: Count | None = column("How many filters examined it; null if no handlers were recorded.", hidden=True)
    filtered: Count | None = column(
        "How many of them accepted it, inferred from where the handler lies; null if no handlers were recorded.",
        hidden=True,
    )
    finallys: Count | None = column(
        "How many finally and fault handlers it ran; null if no handlers were recorded.", hidden=True
    )
    inner: Flag | None = column("It has an inner exception.", hidden=True)
    stack_id: StackId = column("The stack of the throw, 0 for none.", hidden=True)


@row
class ExceptionGroup(Row):
    """All exceptions of one type, thrown by one method and caught by one method."""

    type: CodeName | None = column(_TYPE, importance=0)
    throwing_method: CodeName | None = column(_THROWING, importance=0)
    catching_method: CodeName | None = column(_CATCHING)
    thrown: Count = column(_THROWN, importance=0)
    rethrown: Count | None = column(f"{_RETHROWN[:-1]}; null if unknown.")
    nested: Count = column(_NESTED, importance=3)
    rethrown_by_await: Count = column(_AWAIT, hidden=True)
    filtered: Count | None = column(f"{_FILTERED[:-1]}; null if no handlers were recorded.", hidden=True)
    uncaught: Count | None = column(
        "How many have no known catch handler; null if no handlers were recorded.", hidden=True
    )
    dispatch_ns: DurationNs | None = column(f"{_DISPATCH[:-1]}; null if no handlers were recorded.", importance=1)
    handling_ns: DurationNs | None = column(f"{_HANDLING[:-1]}; null if no handlers were recorded.", hidden=True)
    hresult: Word | None = column("Their HRESULT, in hexadecimal; null if they differ.", hidden=True)


@row(text="message")
class ExceptionMessage(Row):
    """All exceptions of one type whose messages differ in numbers and ids only."""

    count: Count = column("How many were thrown, including nested and rethrown ones.")
    distinct: Count = column("How many different messages they had.")
    type: CodeName | None = column(_TYPE)
    message: PrivateText | None = column("The message with `#` for each number, GUID and other id.")
    example: PrivateText | None = column("The first of the messages, unchanged.", hidden=True)


@row
class ExceptionOutcome(Row):
    """All exceptions with the same outcome."""

    outcome: Word | None = column(_OUTCOME)
    count: Count = column("How many there are.")


@row(span=("start_ns", "end_ns"))
class ExceptionInterval(SpanRow):
    """The exceptions thrown in one interval."""

    start_ns: Ns = column("The beginning of the interval. All intervals of a process have the same length.")
    end_ns: Ns = column("Its end (exclusive).")
    thrown: Count = column(_THROWN, windowed=True)
    rethrown: Count | None = column(f"{_RETHROWN[:-1]}, of those thrown in it.", windowed=True)
    nested: Count = column(_NESTED, windowed=True)
    rethrown_by_await: Count = column(_AWAIT, windowed=True)
    per_second: Number = column(
        "Throws of all three kinds per second, over the part of the interval inside the window.", windowed=True
    )
    dispatch_ns: DurationNs | None = column(_DISPATCH, windowed=True)


@row
class ExceptionFacts:
    """How exceptions were recorded."""

    rethrows_by: Word | None = column(
        "How `throw;` is recognized: by `events` of its own, up to .NET 8, or by `handlers` that begin again; null "
        "if it is not."
    )
