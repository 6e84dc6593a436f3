"""Streams whose activities, tasks, requests, counters and stacks were chosen to make reports work hard, of a size `n`.

Small code, no files. Knows how a stream is made costly; what is counted, and how much is too much, is up to the tests.
"""

from __future__ import annotations

from clrevents.encode.values import NO_GUID
from clrevents.events import ExceptionThrown_V1, ExceptionThrownFlags, GCAllocationTick_V4
from clrevents.schema.registry import TPL
from clrevents.testing.builder import Format, TraceBuilder

APP, HTTP, KESTREL = "A", "System.Net.Http", "Microsoft-AspNetCore-Server-Kestrel"
FRAMEWORK = "System.Diagnostics.Eventing.FrameworkEventSource"
METERS = "System.Diagnostics.Metrics"
INT, LONG, DOUBLE, TEXT = 9, 11, 14, 18


def _guid(number: int) -> bytes:
    return number.to_bytes(16, "little")


def nested_activities(n: int, format: Format = "nettrace4") -> bytes:
    """Activities that start in one another; every other one ends, from the inside to the outside."""
    trace = TraceBuilder(format).thread(1)
    for i in range(1, n + 1):
        trace.activity(_guid(i), _guid(i - 1)).raw(APP, 1, name="EStart")
    for i in range(n, 0, -2):
        trace.activity(_guid(i)).raw(APP, 2, name="EStop")
    return trace.build()


def one_activity_id(n: int, format: Format = "nettrace4") -> bytes:
    """Activities of many names and threads with one id, their parent's too, and stops of other names."""
    trace = TraceBuilder(format)
    for i in range(n):
        trace.thread(1 + i % 100).activity(_guid(7), _guid(7)).raw(APP, 1 + i % 1000, name=f"E{i % 1000}Start")
    for i in range(n):
        trace.thread(1 + i % 77).raw(APP, 2000 + i % 999, name=f"E{i % 999}Stop")
    return trace.build()


def open_activities(n: int, format: Format = "nettrace4") -> bytes:
    """Activities with texts and names of their own that never end, all children of the first, among losses."""
    trace = TraceBuilder(format)
    for i in range(1, n + 1):
        trace.thread(1 + i % 50).activity(_guid(i), _guid(1))
        trace.described(APP, f"E{i % 100}Start", {"t": (TEXT, f"{i:x}")}, id=1 + i % 100)
        if not i % 10:
            trace.lose(1)
        trace.activity(NO_GUID).raw(APP, 200, name="EStop")
    return trace.build()


def _task(trace: TraceBuilder, id: int, name: str, *stack: int, **numbers: int) -> None:
    fields = {"OriginatingTaskSchedulerID": (INT, 1), **{key: (INT, number) for key, number in numbers.items()}}
    trace.described(TPL, name, fields, id=id, stack=stack)


def task_chain(n: int, format: Format = "nettrace4") -> bytes:
    """Each task is started by the one before, by a method of its own, and runs in it; all are sampled, none ends."""
    trace = TraceBuilder(format).thread(1)
    for i in range(1, n + 1):
        address = 0x1000 + 16 * i
        trace.method_load("n", f"{i:x}", address=address, size=16)
        rest = {"CreatingTaskID": 0, "TaskCreationOptions": 0, "appDomain": 1}
        _task(trace, 7, "TaskScheduled", address, 0x1000, OriginatingTaskID=i - 1, TaskID=i, **rest)
        _task(trace, 8, "TaskStarted", OriginatingTaskID=0, TaskID=i)
        trace.sample(address)
    return trace.rundown().build()


def tasks_of_deep_stacks(n: int, format: Format = "nettrace4") -> bytes:
    """`n` tasks that start from one deep stack and run on it, each in the one before and sampled once."""
    trace = TraceBuilder(format).thread(1)
    run = "System.Threading.Tasks.Task"
    trace.method_load(run, "ExecuteWithThreadLocal", address=0x500, size=16, signature="void ()")
    trace.method_load("n", "m", address=0x1000, size=16)
    deep = tuple(0x1000 + k % 8 for k in range(min(n, 2_000)))
    for i in range(1, n + 1):
        rest = {"CreatingTaskID": 0, "TaskCreationOptions": 0, "appDomain": 1}
        _task(trace, 7, "TaskScheduled", *deep, 0x500, OriginatingTaskID=i - 1, TaskID=i, **rest)
        _task(trace, 8, "TaskStarted", OriginatingTaskID=0, TaskID=i)
        trace.sample(*deep, 0x500)
    for i in range(n, 0, -1):
        _task(trace, 9, "TaskCompleted", OriginatingTaskID=0, TaskID=i, IsExceptional=0)
    return trace.rundown().build()


def awaits_of_one_task(n: int, format: Format = "nettrace4") -> bytes:
    """Methods that all await one task, resume and await it again, on many threads that lose events."""
    trace = TraceBuilder(format)
    for i in range(1, n + 1):
        trace.thread(1 + i % 20)
        _task(trace, 10, "TaskWaitBegin", OriginatingTaskID=0, TaskID=5, Behavior=2, ContinueWithTaskID=i)
    for i in range(1, n + 1):
        trace.thread(1 + i % 30)
        _task(trace, 12, "AwaitTaskContinuationScheduled", OriginatingTaskID=5, ContinueWithTaskId=i)
        _task(trace, 11, "TaskWaitEnd", OriginatingTaskID=0, TaskID=5)
        _task(trace, 10, "TaskWaitBegin", OriginatingTaskID=5, TaskID=5, Behavior=2 - i % 2, ContinueWithTaskID=i)
        if not i % 10:
            trace.lose(1)
        trace.described(TPL, "TaskWaitContinuationComplete", {"TaskID": (INT, 5)}, id=13)
    return trace.build()


def work_items(n: int, format: Format = "nettrace4") -> bytes:
    """Work items with ids of their own that are queued and never taken, and one id that is queued and taken again."""
    trace = TraceBuilder(format)
    for i in range(n):
        trace.thread(1 + i % 100).described(FRAMEWORK, "ThreadPoolEnqueueWork", {"workID": (LONG, 10 + i)}, id=30)
        trace.described(FRAMEWORK, "ThreadPoolEnqueueWork", {"workID": (LONG, 5)}, id=30)
    for i in range(n):
        trace.thread(1 + i % 100).described(FRAMEWORK, "ThreadPoolDequeueWork", {"workID": (LONG, 5)}, id=31)
    return trace.build()


def open_requests(n: int, format: Format = "nettrace4") -> bytes:
    """Requests on one connection, each with a path and a host of its own, inside the one before, and never ended."""
    trace = TraceBuilder(format).thread(1)
    for i in range(1, n + 1):
        fields = {
            "scheme": (TEXT, "h"),
            "host": (TEXT, f"{i:x}"),
            "port": (INT, i),
            "pathAndQuery": (TEXT, f"/{i:x}/q"),
        }
        trace.activity(_guid(2 * i), _guid(2 * i - 2)).described(HTTP, "RequestStart", fields, id=1)
        trace.activity(_guid(2 * i + 1), _guid(2 * i))
        trace.described(HTTP, "RequestHeadersStart", {"connectionId": (LONG, 1)}, id=7)
        trace.raw(HTTP, 8, name="RequestHeadersStop")
    return trace.build()


def connections(n: int, format: Format = "nettrace4") -> bytes:
    """Requests at once, each on a connection of its own at both sides; all of them fit each other."""
    trace = TraceBuilder(format).thread(1)
    for i in range(1, n + 1):
        fields = {"scheme": (TEXT, "h"), "host": (TEXT, "h"), "port": (INT, 1), "pathAndQuery": (TEXT, "/")}
        trace.activity(_guid(3 * i)).described(HTTP, "RequestStart", fields, id=1)
        trace.activity(_guid(3 * i + 1), _guid(3 * i))
        trace.described(HTTP, "RequestHeadersStart", {"connectionId": (LONG, i)}, id=7)
        trace.raw(HTTP, 8, name="RequestHeadersStop")
        fields = {"connectionId": (TEXT, f"{i // 2:x}"), "method": (TEXT, ""), "path": (TEXT, "/")}
        trace.activity(_guid(3 * i + 2)).described(KESTREL, "RequestStart", fields, id=3)
    for i in range(1, n + 1):
        trace.activity(_guid(3 * i)).raw(HTTP, 2, name="RequestStop")
        trace.activity(_guid(3 * i + 2)).raw(KESTREL, 4, name="RequestStop")
    return trace.build()


def many_counters(n: int, format: Format = "nettrace4") -> bytes:
    """Values of counters, each with a name, tags and a session of its own."""
    trace = TraceBuilder(format).thread(1)
    for i in range(n):
        texts = {"sessionId": f"{i:x}", "meterName": "m", "meterVersion": "", "instrumentName": f"{i:x}", "unit": ""}
        texts["tags"] = f"a={i:x}"
        fields = {name: (TEXT, text) for name, text in texts.items()}
        trace.described(
            METERS, "CounterRateValuePublished", {**fields, "rate": (TEXT, "1"), "value": (TEXT, "1")}, id=4
        )
    return trace.build()


def many_tags(n: int, format: Format = "nettrace4") -> bytes:
    """Values of a counter with thousands of tags, and of a histogram with thousands of quantiles."""
    trace = TraceBuilder(format).thread(1)
    tags, quantiles = ",".join(f"{k:x}=1" for k in range(4_000)), ";".join(f"0.{k:04}=1" for k in range(1, 3_000))
    for i in range(n):
        texts = {"sessionId": "s", "meterName": "m", "meterVersion": "", "instrumentName": f"{i:x}", "unit": ""}
        fields = {name: (TEXT, text) for name, text in {**texts, "tags": f"{tags},{i}"}.items()}
        trace.described(METERS, "GaugeValuePublished", {**fields, "lastValue": (TEXT, "1")}, id=5)
        more = {"quantiles": (TEXT, quantiles), "count": (INT, 1), "sum": (DOUBLE, 1.0)}
        trace.described(METERS, "HistogramValuePublished", {**fields, **more}, id=6)
    return trace.build()


def many_texts(n: int, format: Format = "nettrace4") -> bytes:
    """Exceptions and allocations with stacks, each of a type and a message of its own."""
    trace = TraceBuilder(format).thread(1)
    for i in range(n):
        stack = (0x1000 + 16 * i, 0x1000)
        flags = ExceptionThrownFlags(0)
        trace.event(ExceptionThrown_V1(f"T{i:x}", f"{i:x}", 0, 0, flags, 0), stack=stack)
        trace.event(GCAllocationTick_V4(1, 0, 0, 1, 7 + i, f"T{i:x}", 0, 1 << 20, 8), stack=stack)
    return trace.rundown().build()


def nameless_stacks(n: int) -> bytes:
    """`n` samples with a hundred frames each, of which no two are at one address, and none has a name."""
    trace = TraceBuilder().thread(1)
    for i in range(n):
        trace.sample(*range(0x10_0000 + 1600 * i, 0x10_0000 + 1600 * (i + 1), 16))
    return trace.rundown().build()


def recursive_stacks(n: int, format: Format = "nettrace4") -> bytes:
    """Samples of `n` methods that call one another in two orders, every stack with a hundred frames."""
    trace = TraceBuilder(format).thread(1)
    for i in range(n):
        trace.method_load("n", f"{i:x}", address=0x1000 + 16 * i, size=16)
    for i in range(n):
        trace.sample(*(0x1004 + 16 * ((i + k * (1 + i % 7)) % n) for k in range(100)))
    return trace.rundown().build()
