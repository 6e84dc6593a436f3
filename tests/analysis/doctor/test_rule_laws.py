"""Each rule finds what is planted in the answers that it reads, and is clear where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import attrs
import pytest

import clrevents
from clrevents.analysis.doctor.diagnosing import asked_of, case_of, concluded, verdict
from clrevents.analysis.doctor.rule import TRACE, Ailment, Case, Cited, Clear, Rule, Unknown
from clrevents.analysis.doctor.rulebook import RULES
from clrevents.analysis.framework.run.asking import ask
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of
from project_files import FIXTURES

S, MS, MB = 10**9, 10**6, 10**6
LONG: Final = 10 * S
Facts: TypeAlias = Mapping[str, Any]
"""Values of metrics and facts (`gc.count`), and columns of tables (`gc/collections/pause_ns`)."""


@lru_cache(maxsize=1)
def healthy() -> Case:
    """A recording of ten seconds in which nothing happened, with everything recorded."""
    with clrevents.open(FIXTURES / "net10-exceptions.nettrace.gz") as trace:
        answers = ask(trace, asked_of(RULES), {})
    plain = {}
    for name, answer in answers.items():
        tables = {table.name: ReportTable.empty(table.row_class) for table in answer.tables()}
        metrics = {key: attrs.evolve(m, value=0, low=None, high=None, reason=None) for key, m in answer.metrics.items()}
        plain[name] = attrs.evolve(answer, metrics=metrics, notes=(), **tables)
    numbers = ("lost", "damaged", "unended", "snapshots", "events")
    return attrs.evolve(case_of(plain, {name: Metric(0, "count") for name in numbers}), window_ns=LONG)


def planted(facts: Facts, window_ns: int = LONG) -> Case:
    """The healthy recording with these facts."""
    case = healthy()
    answers, trace, tables = dict(case.answers), dict(case.trace), dict[str, dict[str, list[Any]]]()
    for place, value in facts.items():
        if "/" in place:
            table, _, column = place.rpartition("/")
            tables.setdefault(table, {})[column] = value
            continue
        report, _, name = place.partition(".")
        if report == TRACE:
            trace[name] = Metric(value, "count")
        elif name in answers[report].metrics:
            metrics = answers[report].metrics
            answers[report] = attrs.evolve(
                answers[report], metrics={**metrics, name: attrs.evolve(metrics[name], value=value)}
            )
        else:
            answers[report] = attrs.evolve(answers[report], facts=attrs.evolve(answers[report].facts, **{name: value}))
    for place, given in tables.items():
        report, _, name = place.partition("/")
        shape = answers[report].table(name).row_class
        length = len(next(iter(given.values())))
        columns = {column.name: [_nothing(column)] * length for column in columns_of(shape)} | given
        answers[report] = attrs.evolve(answers[report], **{name: ReportTable.from_columns(shape, columns)})
    return attrs.evolve(case, answers=answers, trace=trace, window_ns=window_ns)


def alone(case: Case, rule: Rule) -> Case:
    """The same with what is asked for this rule only."""
    reports = set(rule.reports)
    answers, needs = ({name: of[name] for name in reports & set(of)} for of in (case.answers, case.needs))
    return attrs.evolve(case, answers=answers, needs=needs)


def _nothing(column: Any) -> Any:
    if column.nullable:
        return None
    return () if column.many else column.cell.python()


def rule_of(name: str) -> Rule:
    return next(rule for rule in RULES if rule.id == name)


def stands_at(case: Case, cited: Cited) -> float:
    """The number at the place that is cited."""
    report, _, table_column = cited.place.partition("/")
    if not table_column:
        return case.value(cited.place)  # type: ignore[no-any-return]
    table, _, column = table_column.partition("/")
    values = case.answers[report].table(table).column(column).tolist()
    return sum(values[row] or 0 for row in cited.rows)


# What is planted. ---------------------------------------------------------------------------------------------------


def collections(number: int, pause: int, reason: str = "AllocSmall", generation: int = 0, **more: list[Any]) -> Facts:
    every = [int((row + 1) * LONG / (number + 1)) for row in range(number)]
    columns = {
        "number": list(range(1, number + 1)), "generation": [generation] * number, "reason": [reason] * number,
        "kind": ["blocking"] * number, "start_ns": every, "pause_start_ns": every, "end_ns": [t + pause for t in every],
        "pause_ns": [pause] * number, **more,
    }  # fmt: skip
    rows = {f"gc/collections/{name}": values for name, values in columns.items()}
    return {**rows, "gc.count": number, "gc.pause_total": number * pause, "gc.pause_max": pause, "gc.heap_peak": MB}


def full_heaps(left: int) -> Facts:
    return {**collections(6, MS, generation=2, heap_after_bytes=[100 * MB + left * row for row in range(6)])}


def midlife(died: bool, generation: int = 2) -> Facts:
    """Six collections which 100 MB survive for the first time: all are there to the end, or the last only."""
    rows = collections(6, 200 * MS, generation=generation)
    there = [100 * MB] * 6 if died else [100 * MB * row for row in range(1, 7)]
    parts = {
        "number": list(range(1, 7)), "generation": ["gen1"] * 6, "moved_in_bytes": [100 * MB] * 6,
        "size_after_bytes": there, "free_list_after_bytes": [0] * 6, "free_objects_after_bytes": [0] * 6,
    }  # fmt: skip
    return {**rows, **{f"gc/generations/{name}": values for name, values in parts.items()}, "gc.promoted_total": MB}


def allocations(kind: str, size: int, whole: int = 1000 * MB, stack: tuple[str, ...] = ("Shop.Make()",)) -> Facts:
    return {
        "alloc.bytes_total": whole, "alloc.events": 10_000, "alloc/types/type": [kind], "alloc/types/bytes": [size],
        **{f"alloc/{table}/{name}": [value] for table in ("stacks", "type_stacks")
           for name, value in (("method", stack[0]), ("bytes", size), ("stack", stack))},
        "alloc/type_stacks/type": [kind],
    }  # fmt: skip


def waits(waited: int, kind: str, method: str, waiting_in: str | None = None, evidence: str = "sample") -> Facts:
    columns = {
        "kind": kind,
        "method": method,
        "waiting_in": waiting_in,
        "evidence": evidence,
        "waited_ns": waited,
        "threads": 2,
    }
    return {f"waits/methods/{name}": [value] for name, value in columns.items()}


def thread(role: str, **columns: Any) -> Facts:
    return {f"threads/threads/{name}": [value] for name, value in {"role": role, "thread_id": 7, **columns}.items()}


def method(name: str, **columns: Any) -> Facts:
    return {f"top/methods/{key}": [value] for key, value in {"name": name, **columns}.items()}


def hot(name: str) -> Callable[[int], Facts]:
    return lambda used: {
        "threads.processor_total": LONG,
        **method(
            name, processor_ns=used, processor_low_ns=used, inclusive_processor_ns=used, inclusive_processor_low_ns=used
        ),
    }


def in_calls(around: float) -> Facts:
    """How much of the time in the one method passed in managed code."""
    return {"top/methods/exclusive_ns": [LONG], "top/methods/running_ns": [int(around * LONG)]}


def polling(waited: int, seen: int = 0) -> Facts:
    """A thread that sleeps for a millisecond, again and again; so many samples see it awake."""
    used, number = int(0.01 * waited), seen + 1
    sleeps = {"kind": ["sleep"] * number, "method": ["Shop.Poll()"] * number, "thread_id": [7] * number}
    return {
        **waits(waited, "sleep", "Shop.Poll()"), **{f"waits/waits/{name}": column for name, column in sleeps.items()},
        **method("Shop.Poll()", inclusive_processor_ns=used, inclusive_ns=waited),
        **thread("other", processor_ns=used, ready_ns=2 * used),
    }  # fmt: skip


def turns(waited: int, method: str = "Shop.Pack()", after: int = MS // 2) -> Facts:
    """A hundred awaits of one method, each of which ends so long after another one, of a method."""
    each = waited // 100 + (waited % 100 > 0)
    ends = [row * LONG // 100 for row in range(1, 101)]
    columns = {
        "row": range(200), "kind": ["await"] * 200, "method": [method] * 100 + ["Shop.Pack()"] * 100,
        "queued": [False] * 100 + [True] * 100, "started_ns": [end - after for end in ends] + ends,
        "created_ns": [end - after for end in ends] + [end - each for end in ends],
    }  # fmt: skip
    return {"tasks.awaits": 200, **{f"tasks/tasks/{name}": list(values) for name, values in columns.items()}}


def timers(number: int) -> Facts:
    columns = {"thread_id": 7, "kind": "idle", "evidence": "event"}
    rows = {f"waits/waits/{name}": [value] * number for name, value in columns.items()}
    return {**rows, **thread("timer", processor_ns=S, life_ns=LONG)}


def lock(waited: int, threads: int) -> Facts:
    convoy = {"start_ns": 0, "end_ns": waited, "threads": threads, "waited_ns": waited, "method": "Shop.Enter()"}
    held = {"native": False, "waited_ns": waited, "max_ns": waited, "method": "Shop.Enter()"}
    return {
        **{f"locks/convoys/{name}": [value] for name, value in convoy.items()}, "locks.count": 9, "locks.convoys": 1,
        **{f"locks/locks/{name}": [value] for name, value in held.items()},
        "locks.waited_total": waited, "locks.waited_max": waited,
    }  # fmt: skip


def blockers(waited: int, kind: str) -> Facts:
    columns = {"kind": kind, "task_wait": kind == "task", "method": "Shop.Ask()", "waited_ns": waited, "threads": 3}
    return {f"pool/blockers/{name}": [value] for name, value in columns.items()}


def thrown(number: int, took: int) -> Facts:
    columns = {
        "thrown": number,
        "dispatch_ns": took,
        "throwing_method": "Shop.Fail()",
        "catching_method": "Shop.Try()",
        "type": "E",
    }
    rows = {f"exceptions/groups/{name}": [value] for name, value in columns.items()}
    return {**rows, "exceptions.count": number, "exceptions.dispatch_total": took}


def compiled(number: int, took: int, dynamic: bool = False) -> Facts:
    columns = {"start_ns": [int(row * LONG / number) if dynamic else row for row in range(number)],
        "compile_ns": [took] * number,
               "background": [False] * number, "dynamic": [dynamic] * number, "module": ["Shop"] * number}  # fmt: skip
    each = {f"jit/compilations/{name}": column for name, column in columns.items()}
    return {
        **each,
        "jit/threads/thread_id": [7],
        "jit/threads/compilations": [number],
        "jit/threads/compile_ns": [took],
    }


def requests(number: int, **columns: Any) -> Facts:
    each = {"side": "client", "duration_ns": 100 * MS, "start_ns": 0, "host": "shop", "connection": "1", **columns}
    rows = {f"requests/requests/{name}": [value] * number for name, value in each.items()}
    return {**rows, "requests.count": number, f"requests.{each['side']}_count": number}


def commands(number: int, took: int) -> Facts:
    columns = {"duration_ns": took, "start_ns": 0, "command_text": "SELECT", "request_row": 0}
    return {**{f"requests/commands/{name}": [value] * number for name, value in columns.items()}, "requests.count": 1}


def kept(pinned: int) -> Facts:
    columns = {"number": 1, "generation": "gen0", "pinned_survived_bytes": pinned, "survived_bytes": 20 * MB}
    rows = {f"gc/generations/{name}": [value] for name, value in columns.items()}
    objects = {"kind": "pinned", "type": "System.Byte[]", "objects": 9, "bytes": pinned, "method": "Shop.Pin()"}
    return {**rows, **{f"gc/kept/{name}": [value] for name, value in objects.items()}, "gc.count": 1}


def begun(*spans: tuple[str, int]) -> Facts:
    """A recording that begins with the program, whose main thread does this first, and then waits."""
    states, took = zip(*spans, ("wait", LONG - sum(ns for _, ns in spans)), strict=True)
    columns = {"state": list(states), "duration_ns": list(took), "thread_id": [1] * len(took)}
    starts = [sum(took[:row]) for row in range(len(took))]
    rows = {f"threads/intervals/{name}": values for name, values in {**columns, "start_ns": starts}.items()}
    return {**rows, **thread("main", thread_id=1), "startup.runtime_to_program": MS}


SIZED: Final[Mapping[str, Callable[[int], Facts]]] = {
    "gc.long_pause": lambda ns: collections(1, ns),
    "wait.process": lambda ns: waits(ns, "native", "System.Diagnostics.Process.WaitForExit(int)"),
    "pool.sleeping": lambda ns: blockers(ns, "sleep"),
    "pool.sync_over_async": lambda ns: blockers(ns, "task"),
    "trace.sampler": lambda ns: {"threads.sampler_total": ns, **thread("sampler", processor_ns=ns)},
    "gc.midlife": lambda ns: {**midlife(True), "gc/collections/pause_ns": [*[0] * 5, ns]},
    "gc.finalizing": lambda ns: thread("finalizer", running_ns=ns),
    "lock.sampled": lambda ns: waits(ns, "lock", "Shop.Enter()", "System.Threading.Monitor.Enter"),
    "exceptions.slow": lambda ns: thrown(9, ns),
    "cpu.hot": hot("Shop.Cook()"),
    "cpu.spinning": hot("System.Threading.SpinWait.SpinOnce(int)"),
    "cpu.compiling": hot("[jit]"),
    "cpu.awaiting": hot("System.Threading.Tasks.Task.RunContinuations(object)"),
    "cpu.small_reads": lambda ns: {**hot("Interop.Sys.PRead(SafeHandle, byte*, int, long)")(ns), **in_calls(0.1)},
    "cpu.making": hot("System.Text.RegularExpressions.Regex..ctor(string)"),
    "wait.main": lambda ns: {
        **thread("main", life_ns=10 * LONG),
        **method("System.Net.Sockets.NetworkStream.Read(Span<byte>)", inclusive_ns=ns),
    },
    "wait.turns": lambda ns: waits(ns, "lock", "Shop.Read()", "System.Threading.ReaderWriterLockSlim.EnterReadLock"),
    "wait.polling": polling,
    "startup.long": lambda ns: begun(("running", ns)),
    "wait.awaited": turns,
}
"""What a size is planted in, for the rules whose threshold is one."""

OTHERS: Final[Mapping[str, tuple[Facts, Facts]]] = {
    "trace.lost": ({"trace.lost": 3, "trace.events": 9}, {}),
    "trace.cut": ({"trace.unended": 1}, {}),
    "trace.names": (
        {"top.total": S, **method("[unresolved 0x1]", kind="managed", reason="not listed", exclusive_ns=S // 2)},
        {"top.total": S, **method("Shop.Cook()", exclusive_ns=S)},
    ),
    "trace.stacks": ({"top.total": S, "top.cut_total": S // 2}, {"top.total": S, "top.cut_total": MS}),
    "gc.pause_ratio": (collections(10, 100 * MS), collections(10, 10 * MS)),
    "gc.slow_suspend": (
        {"gc/suspensions/suspend_ns": [30 * MS] * 2, "gc/suspensions/start_ns": [1, S], "gc.count": 2},
        {"gc/suspensions/suspend_ns": [MS] * 2, "gc/suspensions/start_ns": [1, S], "gc.count": 2},
    ),
    "gc.induced": (
        {**collections(5, MS, "Induced", requested_by=["Shop.Tidy()"] * 5), "gc.induced": 5}, collections(5, MS),
    ),
    "gc.large_objects": (collections(5, 50 * MS, "AllocLarge", 2), collections(5, 50 * MS)),
    "gc.full_blocking": (collections(30, 50 * MS, generation=2), collections(30, 50 * MS)),
    "gc.fragmented": tuple(
        collections(1, MS, generation=2, heap_after_bytes=[400 * MB],
            fragmentation_bytes=[free * MB]) for free in (300, 100)
    ),
    "gc.pinned": (kept(15 * MB), kept(MB)),
    "gc.finalizers": tuple(
        collections(2, MS, finalizable_objects=[number] * 2, finalizable_bytes=[MB] * 2) for number in (10_000, 100)
    ),
    "gc.growth": (full_heaps(30 * MB), full_heaps(0)),
    "gc.memory_load": tuple(collections(2, MS, memory_load=[load] * 2) for load in (0.95, 0.5)),
    "alloc.boxing": (allocations("System.Int32", 500 * MB), allocations("Shop.Cake", 500 * MB)),
    "alloc.strings": (
        allocations("System.String", 500 * MB, stack=("Shop.Make()", "System.String.Concat(string, string)")),
        allocations("System.String", 500 * MB),
    ),
    "alloc.closures": (allocations("System.Func`1", 500 * MB), allocations("Shop.Cake", 500 * MB)),
    "alloc.one_site": (allocations("Shop.Cake", 6000 * MB, 6000 * MB), allocations("Shop.Cake", 100 * MB, 100 * MB)),
    "pool.starved": ({"pool.starved_total": S, "pool.raises": 3}, {"pool.starved_total": S, "pool.raises": 1}),
    "pool.flood": tuple({"pool.items": 9, "pool/length/items": [1, number]} for number in (70_000, 9)),
    "pool.queue": tuple(
        {
            "pool.items": 30, "pool.latency_max": took, "pool.blocked_total": LONG, "pool.latency_source": "queue",
            "pool/latencies/source": ["queue"], "pool/latencies/p95_ns": [took], "pool/queue/source": ["queue"] * 30,
            "pool/queue/latency_ns": [took] * 30, "pool/queue/enqueued_ns": [0] * 30,
             "pool/queue/dequeued_ns": [took] * 30,
        }
        for took in (500 * MS, MS)
    ),
    "lock.deadlock": (
        {
            "locks.deadlocks": 1, "locks.count": 2, "locks/deadlocks/method": ["Shop.A()", "Shop.B()"],
            "locks/deadlocks/start_ns": [0, 1], "locks/deadlocks/waited_ns": [S, S],
        },
        {"locks.count": 2},
    ),
    "lock.standing": (
        {"top.standing": 1, "top/standing/state": ["lock"], "top/standing/stood_ns": [LONG],
            "top/standing/thread_id": [7]}, {},
    ),
    "lock.convoy": (lock(2 * S, 5), lock(2 * S, 3)),
    "lock.waited": (lock(2 * S, 3), lock(20 * MS, 3)),
    "exceptions.rate": (thrown(100_000, S), thrown(50, MS)),
    "exceptions.control_flow": (thrown(5_000, S), thrown(50, MS)),
    "jit.startup": (compiled(30, 100 * MS), compiled(30, MS)),
    "jit.churn": (compiled(400, MS, dynamic=True), compiled(400, MS)),
    "http.queue": (
        requests(30, queue_ns=50 * MS, connection_reused=True), requests(30, queue_ns=0, connection_reused=True),
    ),
    "http.unexplained": tuple(
        requests(30, side="server", method="GET", route="/", unaccounted_ns=unknown) for unknown in (90 * MS, 9 * MS)
    ),
    "http.new_connections": (requests(60, connection_reused=False), requests(60, connection_reused=True)),
    "db.repeated": (commands(200, MS), commands(9, MS)),
    "db.slow": (commands(2, 3 * S), commands(2, MS)),
    "cpu.contended": tuple(
        {"threads.ready_total": ready, "threads.running_total": S, "threads.processor_total": S, **thread("main",
            ready_ns=ready)}
        for ready in (S, MS)
    ),
    "cpu.limited": tuple({"threads.limited_periods": number, "threads.limit_periods": 100} for number in (50, 1)),
    "memory.limited": tuple({"threads.resident_peak": size * MB, "threads.memory_limit": 100 * MB} for size in (95,
     50)),
    "exceptions.unreached": tuple(
        {
            "exceptions.count": 9,
            **{f"exceptions/messages/{name}": [value] for name, value in (
                ("type", "System.Net.Sockets.SocketException"), ("example", text), ("count", 3))},
        }
        for text in ("Connection refused", "Operation canceled")
    ),
    "timer.often": (timers(3_000), timers(100)),
    "thread.brief": tuple(
        {
            "threads.threads": 61,
            **{f"threads/threads/{name}": [value] * 60 + [other] for name, value, other in (
                ("role", "other", "main"), ("start_evidence", "event", "event"), ("start_ns", 0, 0), ("end_ns",
                    end, LONG),
                ("life_ns", end, LONG))},
        }
        for end in (MS, 9 * S)
    ),
}  # fmt: skip
"""What is planted for the other rules: where something is wrong, and where nothing is."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_finds_and_clears(rule: Rule) -> None:
    assert bool(rule.threshold.of) == (rule.id in SIZED), "a size is planted for each rule that is judged by one"
    if rule.id in SIZED:
        size = rule.threshold.size(planted(SIZED[rule.id](0)))
        sick, well = (SIZED[rule.id](int(size * part)) for part in (1.5, 0.5))
    else:
        sick, well = OTHERS[rule.id]
    found, clear = (verdict(alone(planted(facts), rule), rule) for facts in (sick, well))
    assert isinstance(found, Ailment), found
    assert isinstance(clear, Clear), clear
    assert found.impact.value > 0
    for cited in (*found.evidence, *clear.evidence):
        assert cited.value == stands_at(planted(sick if cited in found.evidence else well), cited)
    # Without what its first metric counts, it cannot tell.
    report, _, name = rule.metrics[0].partition(".")
    if report != TRACE and not rule.nothing:
        case = planted(sick)
        metrics = {**case.answers[report].metrics, name: Metric(None, "count", reason="not recorded")}
        answers = {**case.answers, report: attrs.evolve(case.answers[report], metrics=metrics)}
        assert isinstance(verdict(attrs.evolve(case, answers=answers), rule), Unknown)


def test_a_snapshot_tells_who_keeps_what_grows() -> None:
    path = {"type": "Shop.Cake", "root": "static", "steps": ("static shelf", "Shop.Cake"), "bytes": 9 * MB, "count": 9}
    shelf = {f"heap/paths/{name}": [value] for name, value in path.items()}
    rows = {**full_heaps(30 * MB), **allocations("Shop.Cake", MB)}
    for facts, culprit in ((rows, "Shop.Make()"), ({**rows, **shelf}, "static shelf")):
        found = verdict(planted(facts), rule_of("gc.growth"))
        assert isinstance(found, Ailment)
        assert found.culprit == culprit


@pytest.mark.parametrize(
    ("sites", "culprit"),
    [
        # 150 MB stay. Who makes too little keeps nothing of it that counts, and who makes more lets most of it die.
        ({"Shop.Cook()": 600, "Shop.Keep()": 140, "Shop.Log()": 20}, "Shop.Keep()"),
        ({"Shop.Cook()": 600, "Shop.Log()": 20}, "Shop.Cook()"),
        # Of two, either may have: a snapshot tells.
        ({"Shop.Cook()": 600, "Shop.Bake()": 300}, None),
        ({"Shop.Keep()": 140, "Shop.Store()": 150}, None),
        ({"Shop.Log()": 20, "Shop.Rest()": 10}, "Shop.Log()"),
    ],
)
def test_what_grows_is_made_where_as_much_is_made(sites: dict[str, int], culprit: str | None) -> None:
    columns = {
        "method": list(sites),
        "bytes": [size * MB for size in sites.values()],
        "stack": [(name,) for name in sites],
    }
    rows = {f"alloc/stacks/{name}": values for name, values in columns.items()}
    found = verdict(planted({**full_heaps(30 * MB), **rows}), rule_of("gc.growth"))
    assert isinstance(found, Ailment)
    assert (found.culprit, "a snapshot tells" in found.nameless) == (culprit, culprit is None)


def methods(*rows: Facts) -> Facts:
    """Sampled methods: a name, and what is known of it."""
    names = {name for row in rows for name in row}
    return {
        f"top/methods/{name}": [row.get(name, 0 if name.endswith("_ns") else None) for row in rows] for name in names
    }


def used(name: str, exclusive: int, whole: int, **known: object) -> Facts:
    """A method with its processor time, and with that of all that it calls."""
    times = {"processor_ns": exclusive, "processor_low_ns": exclusive, "inclusive_ns": whole}
    return {"name": name, **times, "inclusive_processor_ns": whole, "inclusive_processor_low_ns": whole, **known}


LIBRARY: Final = "System.Array.IndexOf(Array)"
SPINS: Final = "System.Threading.SpinWait.SpinOnce(int)"
PREAD: Final = "Interop.Sys.PRead(SafeHandle, byte*, int, long)"
CONTINUES: Final = "System.Threading.Tasks.Task.RunContinuations(object)"
WORKER: Final = "System.Threading.LowLevelLifoSemaphore.WaitAsWaiter(int)"


@pytest.mark.parametrize(
    ("rule", "facts", "culprit", "impact"),
    [
        # What a library does is the doing of who calls it, and costs all that this one has others do,
        ("cpu.hot", (used(LIBRARY, 5 * S, 5 * S, own_caller="Shop.Find()"), used("Shop.Find()", 0, 8 * S)), "Find", 8),
        # whose by its assembly, not its name,
        (
            "cpu.hot",
            (used("Library.Map()", 0, 9 * S, own=False), used("Shop.Rewrite()", 0, 9 * S, own=True)),
            "Rewrite",
            9,
        ),
        # but not what it does besides.
        ("cpu.hot", (used(LIBRARY, 4 * S, 4 * S, own_caller="Shop.Main()"), used("Shop.Main()", 0, 9 * S)), "Main", 4),
        # The innermost path that has most, however little that is beside what is further out.
        (
            "cpu.hot",
            (used("Shop.Main()", 0, 9 * S), used("Shop.Price()", 0, 6 * S), used("Shop.Tax()", 0, S)),
            "Price",
            6,
        ),
        (
            "cpu.spinning",
            (used(SPINS, 3 * S, 3 * S, own_caller="Shop.Await()"), used("Shop.Await()", 0, 7 * S)),
            "Await",
            7,
        ),
        (
            "cpu.spinning",
            (used(SPINS, 2 * S, 2 * S, own_caller="Shop.Cook()"), used("Shop.Cook()", 0, 9 * S)),
            "Cook",
            2,
        ),
        # What is inlined is native code of the caller, and what workers do around continuations belongs to them.
        (
            "cpu.small_reads",
            (
                used(PREAD, S, S, exclusive_ns=S, running_ns=MS * 100, own_caller="Shop.Load()"),
                used("Shop.Load()", 8 * S, 9 * S, exclusive_ns=8 * S, running_ns=3 * S, waiting_ns=S),
            ),
            "Load",
            5,
        ),
        ("cpu.awaiting", (used(CONTINUES, 4 * S, 5 * S), used(WORKER, S, S), used("Shop.Go()", 0, 5 * S)), "Go", 5),
    ],
)
def test_who_has_processor_time_used(rule: str, facts: tuple[Facts, ...], culprit: str, impact: int) -> None:
    found = verdict(planted({"threads.processor_total": LONG, **methods(*facts)}), rule_of(rule))
    assert isinstance(found, Ailment)
    assert (found.culprit, found.impact.value) == (f"Shop.{culprit}()", impact * S)


@pytest.mark.parametrize(
    ("rule", "name", "kin"),
    [
        ("thread.brief", "System.Threading.Thread.StartCore()", "own_caller"),
        ("pool.flood", "System.Threading.Tasks.Task.Run(Action)", "own_caller"),
        ("timer.often", "System.Threading.TimerQueueTimer.Fire(bool)", "own_callee"),
    ],
)
def test_samples_tell_who_uses_threads_the_pool_and_timers(rule: str, name: str, kin: str) -> None:
    sick = OTHERS[rule][0]
    # Who calls something else is none of it, however long that takes.
    other = {"name": "System.Threading.Thread.Sleep(int)", "inclusive_ns": 9 * S, "own_caller": "Shop.Rest()"}
    for culprit in ("Shop.Go()", None):
        called = {"name": name, "inclusive_ns": MS, kin: culprit}
        found = verdict(planted({**sick, **methods(called, {**other, "own_callee": "Shop.Rest()"})}), rule_of(rule))
        assert isinstance(found, Ailment)
        assert (found.culprit, "no sample" in found.nameless) == (culprit, True)
        # One wake-up serves all timers that are due, and who began late may end early, too.
        assert (found.impact.side == "at least ") == (rule != "pool.flood")


def queued(rest: int, pause: int, kind: str) -> Facts:
    """Four threads wait in Find for 80 of 100 ms, while another one sleeps in Reload, pauses, and sleeps again."""
    waits = [(7 + n, kind, "Shop.Find()", start, 80 * MS) for start in range(0, LONG, 100 * MS) for n in range(4)]
    sleeps = [(5, "sleep", "Shop.Reload()", start, rest) for start in range(80 * MS - rest, LONG - rest, rest + pause)]
    columns = ("thread_id", "kind", "method", "start_ns", "duration_ns")
    each = zip(*waits, *sleeps, strict=True)
    return {f"waits/waits/{name}": list(values) for name, values in zip(columns, each, strict=True)}


@pytest.mark.parametrize(
    ("rest", "pause", "culprit"), [(80, 20, "Shop.Reload()"), (67, 20, "Shop.Find()"), (5, 5, "Shop.Find()")]
)
def test_who_lets_others_go_keeps_them_waiting(rest: int, pause: int, culprit: str) -> None:
    """As what sleeps once ends with each wait, but neither what ends at other times nor what always ends."""
    locks = {**lock(2 * S, 3), "locks/locks/method": ["Shop.Find()"]}
    reader = waits(20 * S, "lock", "Shop.Find()", "System.Threading.ReaderWriterLockSlim.EnterReadLock")
    monitor = waits(20 * S, "lock", "Shop.Find()", "System.Threading.Monitor.Enter")
    for rule, facts in (("lock.waited", locks), ("wait.turns", reader), ("lock.sampled", monitor)):
        found = verdict(planted({**facts, **queued(rest * MS, pause * MS, "lock")}), rule_of(rule))
        assert isinstance(found, Ailment)
        assert found.culprit == culprit
    # Where it is known who held the lock, and for how long, nothing is inferred.
    held = {"lock_id": None, "taken_in": "Shop.Add()", "held_ns": S}
    rows = {f"locks/holders/{name}": [value] for name, value in held.items()}
    found = verdict(planted({**locks, **queued(rest * MS, pause * MS, "lock"), **rows}), rule_of("lock.waited"))
    assert isinstance(found, Ailment)
    assert found.culprit == "Shop.Add()"


def test_exceptions_cost_no_more_than_their_threads_ran() -> None:
    """As where other programs have the processors: waiting for one has a rule of its own."""
    for ran, impact, side in ((S, S, "at most "), (3 * S, 2 * S, "at least ")):
        columns = {"thread_id": [7, 8], "role": ["main", "other"], "processor_ns": [ran, LONG]}
        threads = {f"threads/threads/{name}": values for name, values in columns.items()}
        facts = {**thrown(5_000, 2 * S), **threads, "exceptions/exceptions/thread_id": [7]}
        found = verdict(planted(facts), rule_of("exceptions.control_flow"))
        assert isinstance(found, Ailment)
        assert (found.impact.value, found.impact.side) == (impact, side)


def test_advice_fits_the_cause() -> None:
    pauses = rule_of("gc.pause_ratio")
    requested = collections(10, 100 * MS, "Induced")
    surviving = {**collections(10, 100 * MS), "gc.promoted_total": 50 * MB, "gc.allocated_total": 100 * MB}
    advice = [pauses.advice_for(planted(facts)) for facts in (requested, surviving, collections(10, 100 * MS))]
    assert advice == [*(remedy.advice for remedy in pauses.remedies), pauses.advice]


def test_two_findings_count_one_cost_once() -> None:
    case = planted(collections(10, 300 * MS, "Induced", generation=2, requested_by=["Shop.Tidy()"] * 10))
    rules = [rule_of(name) for name in ("gc.induced", "gc.pause_ratio", "gc.long_pause")]
    found = concluded(case.answers, case.trace, rules).found
    assert [one.impact_ns for one in found] == [3 * S] * 3
    assert [one.counted_in for one in found] == [None, found[0].rule, found[0].rule]
