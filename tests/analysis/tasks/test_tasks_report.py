"""The report on tasks: what each event tells, what is unknown without some of them, and who blocks on tasks."""

from __future__ import annotations

from built_tasks import awaits, blocks, completed, queued, resumes, returns, runs, scheduled, started
from clrevents.analysis.reports.tasks import TasksReport
from clrevents.events import ThreadPoolWorkerThreadWait_V0
from clrevents.schema.registry import TPL
from clrevents.testing.builder import TraceBuilder
from reading import asked, numbers_of

USER, RESULT, RUN, BUILDER, QUEUE = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000
EXECUTE = "System.Threading.IThreadPoolWorkItem.Execute"


def methods() -> TraceBuilder:
    builder = TraceBuilder("nettrace6").method_load("App.Program", "Work", address=USER)
    builder.method_load("System.Threading.Tasks.Task", "InternalWait", address=RESULT)
    builder.method_load("System.Threading.Tasks.Task", "Run", address=RUN)
    name = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1"
    return builder.method_load(name, "AwaitUnsafeOnCompleted", address=BUILDER)


def told(made: TraceBuilder | bytes, **options: object) -> TasksReport:
    data = made if isinstance(made, bytes) else made.rundown().build()
    found: TasksReport = asked("tasks", data, **options)
    return found


def idle(builder: TraceBuilder) -> TraceBuilder:
    return builder.event(ThreadPoolWorkerThreadWait_V0(0, 0, 0))


def test_a_task_from_where_it_is_scheduled_to_its_end() -> None:
    builder = scheduled(methods().thread(5).at(1000), 7, stack=(RUN, USER))
    data = completed(started(builder.thread(6).at(4000), 7).at(9000), 7, failed=True).rundown().build()
    found = told(data)
    (row,) = found.tasks
    assert (row.kind, row.task_id, row.parent_row, row.created_by) == ("task", 7, None, "unknown")
    assert (row.created_ns, row.scheduled_ns, row.started_ns, row.completed_ns) == (1000, 1000, 4000, 9000)
    assert (row.latency_ns, row.run_ns, row.created_thread_id, row.thread_id) == (3000, 5000, 5, 6)
    assert (row.exceptional, row.method) == (True, "App.Program.Work()")
    assert numbers_of(found, "count", "tasks", "exceptional", "latency_max", "unstarted") == (1, 1, 1, 3000, 0)
    assert found.facts.creators == "none"
    (method,) = found.methods
    assert (method.method, method.count, method.queued, method.latency_p95_ns) == ("App.Program.Work()", 1, 1, 3000)
    assert numbers_of(told(data, end=1000), "count", "latency_max") == (0, None)
    assert numbers_of(told(data, start=1000), "count", "latency_max") == (1, 3000)


def test_an_await_resumes_inside_what_completes_its_task() -> None:
    builder = scheduled(methods().thread(5).at(1000), 7)
    started(builder.thread(6).at(2000), 7)
    awaits(builder.thread(5).at(3000), 7, method=8, stack=(BUILDER, USER))
    resumes(builder.thread(6).at(4000), 7)
    queued(builder.at(4500), 20)
    returns(builder.at(5000), 7)
    completed(builder.at(6000), 7)
    runs(builder.thread(5).at(7000), 20)
    returns(builder.at(8000), 20)
    task, one, other = told(builder).tasks
    assert (one.kind, one.task_id, one.method_task_id, one.created_by) == ("await", 7, 8, "thread")
    assert (one.created_ns, one.scheduled_ns, one.started_ns, one.completed_ns) == (3000, None, 4000, 5000)
    assert (one.thread_id, one.latency_ns, one.method) == (6, None, "App.Program.Work()")
    # It was queued by what the await resumed, although that ran inside the task.
    assert (other.kind, other.parent_row, other.parent_task_id) == ("continuation", one.row, 7)
    assert (other.latency_ns, other.completed_ns) == (2500, 8000)
    assert task.completed_ns == 6000


def test_an_await_resumes_inside_what_ends_its_task_or_from_the_queue() -> None:
    builder = methods().method_load("System.Threading.Tasks.AwaitTaskContinuation", EXECUTE, address=QUEUE)
    for task, stack in ((1, (RESULT,)), (2, (QUEUE,)), (3, ())):
        awaits(builder.thread(5).at(task * 1000), task, method=8, stack=(BUILDER, USER))
        resumes(builder.thread(6).at(task * 1000 + 500), task, stack=stack)
    assert told(builder).tasks.column("queued").tolist() == [False, True, None]


def test_only_its_run_shows_that_a_continuation_is_one_on_its_own() -> None:
    builder = awaits(methods().thread(5).at(1000), 7, method=8)
    queued(builder.thread(6).at(2000), 30, current=7)
    returns(resumes(builder.thread(7).at(2500), 7).at(3000), 7)
    # A task with the same number.
    scheduled(builder.at(3500), 30)
    assert numbers_of(told(builder), "tasks", "awaits", "continuations") == (1, 1, None)


def test_what_blocks_on_a_task() -> None:
    builder = started(methods().thread(5).at(1000), 3)
    blocks(builder.at(2000), 9, current=3, stack=(RESULT, USER))
    returns(resumes(builder.at(7000), 9), 9)
    data = completed(builder.at(8000), 3).rundown().build()
    found = told(data)
    (row,) = found.blocking
    assert (row.thread_id, row.task_id, row.start_ns, row.end_ns, row.duration_ns) == (5, 9, 2000, 7000, 5000)
    assert (row.in_task, row.in_row, row.method) == ("task", next(iter(found.tasks)).row, "App.Program.Work()")
    assert found.facts.sync_over_async == "App.Program.Work()"
    (blocker,) = found.blockers
    assert (blocker.count, blocker.waited_ns, blocker.share, blocker.in_tasks) == (1, 5000, 1.0, 1)
    assert numbers_of(found, "count", "blocking_count", "blocking_total") == (0, 1, 5000)
    assert numbers_of(told(data, start=3000), "blocking_count", "blocking_total") == (0, 4000)
    assert asked("waits", data).metrics["task_total"].value == 5000


def test_two_awaits_of_one_task_are_told_apart_by_what_they_do_next() -> None:
    builder = awaits(methods().thread(5).at(1000), 7, method=20)
    awaits(builder.thread(6).at(1100), 7, method=21)
    resumes(builder.thread(8).at(2000), 7)
    awaits(builder.at(2100), 40, method=21)
    returns(builder.at(2200), 7)
    returns(resumes(builder.at(2300), 7).at(2400), 7)
    first, second, third = told(builder).tasks
    assert (second.started_ns, second.completed_ns, third.parent_row) == (2000, 2200, second.row)
    # Only one is left.
    assert (first.started_ns, first.completed_ns, first.ambiguous) == (2300, 2400, False)


def test_level_4_tells_creators_by_ids_only() -> None:
    builder = started(scheduled(methods().thread(5).at(1000), 7).thread(6).at(2000), 7)
    scheduled(builder.at(2100), 8, current=7)
    # Code of an await that resumed inside the task has no current task: its creator is not the task.
    scheduled(builder.at(2200), 9, current=0)
    awaits(builder.at(2300), 30, current=7)
    completed(builder.at(3000), 7)
    found = told(builder)
    rows = {row.task_id: row for row in found.tasks}
    assert [rows[id].created_by for id in (7, 8, 9, 30)] == ["unknown", "task", "unknown", "task"]
    assert (rows[8].parent_task_id, rows[30].started_ns) == (7, None)
    assert found.facts.creators == "ids"
    notes = {note.id: note for note in found.notes}
    assert notes["unknown-creators"].numbers == {"rows": 2}
    assert "level 5" in notes["unknown-creators"].message
    assert found.coverage == "partial"


def test_what_began_before_the_trace_has_no_creator() -> None:
    builder = scheduled(methods().thread(5).at(1000), 7)
    returns(builder.at(2000), 99)
    scheduled(builder.at(3000), 8)
    resumes(builder.at(4000), 40)
    scheduled(builder.at(5000), 9)
    returns(builder.at(6000), 40)
    found = told(builder)
    rows = {row.task_id: row for row in found.tasks}
    # Until the end of what began earlier, the thread ran that.
    assert [rows[id].created_by for id in (7, 8, 9)] == ["unknown", "thread", "task"]
    assert (rows[40].created_ns, rows[40].started_ns) == (None, 4000)
    assert {note.id: note.numbers for note in found.notes}["unmatched"] == {"rows": 1, "ends": 1}


def test_after_a_loss_creators_are_unknown_until_the_thread_is_certain() -> None:
    builder = runs(queued(methods().thread(5).at(1000), 30).at(1050), 30)
    scheduled(builder.at(1100), 7).lose(2)
    scheduled(builder.at(2000), 8)
    returns(builder.at(3000), 30)
    scheduled(builder.at(4000), 9).lose(1)
    scheduled(builder.at(5000), 10)
    scheduled(idle(builder.at(6000)).at(7000), 11)
    rows = {row.task_id: row for row in told(builder).tasks}
    assert [rows[id].created_by for id in (7, 8, 9, 10, 11)] == ["task", "unknown", "thread", "unknown", "thread"]


def named_task(builder: TraceBuilder, task: int, name: str) -> TraceBuilder:
    fields = {"TaskID": (9, task), "OperationName": (18, name), "RelatedContext": (11, 0)}
    return builder.described(TPL, "TraceOperationBegin", fields, id=14)


def test_tasks_are_called_as_the_runtime_calls_them() -> None:
    builder = named_task(scheduled(methods(), 7), 7, "Task: Work")
    named_task(awaits(builder, 8, 9), 8, "Async: <Load>d__5")
    named_task(queued(builder, 7), 11, "Async: <Save>d__6`1")
    scheduled(named_task(scheduled(builder, 11), 12, "First"), 12)
    # An id that was given again is nobody's for certain.
    named_task(builder, 12, "Second")
    data = builder.rundown().build()
    found = told(data)
    wanted = [("task", "Task: Work"), ("await", "async Load"), ("continuation", None)]
    assert [(row.kind, row.operation) for row in found.tasks] == [*wanted, ("task", "async Save"), ("task", None)]
    assert [row.operation for row in told(data, raw=True).tasks][1] == "Async: <Load>d__5"


def test_what_is_kept_has_a_limit_that_is_told() -> None:
    builder = methods()
    for task in range(1, 6):
        started(scheduled(builder, task), task)
    data = builder.rundown().build()
    whole, found = told(data), told(data, most=5)
    assert [row.task_id for row in found.tasks] == [1, 2, 3]
    assert [row.started_ns for row in found.tasks] == [*(row.started_ns for row in list(whole.tasks)[:2]), None]
    assert (found.facts.left_out, whole.facts.left_out) == (5, 0)
    assert found.metrics["count"].value is None
    (note,) = [note for note in found.notes if note.id == "too-many-events"]
    assert note.numbers == {"left_out": 5, "kept": 5}


def test_what_still_runs_or_is_awaited_counts_until_tracing_stopped() -> None:
    builder = methods().thread(5)
    for task, since in ((7, 1000), (8, 2000)):
        scheduled(builder.thread(5).at(since), task, stack=(RUN, USER))
        started(builder.thread(6).at(since + 100), task)
    completed(builder.at(5000), 7)
    for task, since in ((7, 3000), (9, 4000)):
        awaits(builder.thread(5).at(since), task, method=1, stack=(BUILDER, USER))
    resumes(builder.thread(6).at(5100), 7)
    idle(builder.thread(6).at(9000))
    report = told(builder)
    found = {row.kind: (row.count, row.run_ns, row.waited_ns, row.open) for row in report.methods}
    assert found["task"] == (2, 3900 + 6900, None, 1)
    # Of the one that resumed nothing says how long it ran then.
    assert found["await"] == (2, None, 2100 + 5000, 1)
    # Ends that were not recorded prove nothing.
    builder = scheduled(methods().thread(5).at(1000), 7, stack=(RUN, USER))
    started(builder.thread(6).at(2000), 7)
    (row,) = told(idle(builder.at(9000))).methods
    assert (row.run_ns, row.open, row.exceptional) == (None, None, None)
