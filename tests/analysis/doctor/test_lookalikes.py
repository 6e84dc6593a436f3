"""What a rule finds beside what only looks like it: the same answers but for the one thing that tells them apart."""

from __future__ import annotations

from typing import Any, Final

import attrs
import pytest

from analysis.doctor.test_rule_laws import (
    LONG,
    MS,
    Facts,
    S,
    begun,
    blockers,
    healthy,
    hot,
    in_calls,
    lock,
    method,
    methods,
    midlife,
    planted,
    polling,
    rule_of,
    thread,
    timers,
    turns,
    used,
    waits,
)
from clrevents.analysis.doctor.diagnosing import verdict
from clrevents.analysis.doctor.program import sentences
from clrevents.analysis.doctor.rule import Ailment, Clear, Unknown
from clrevents.analysis.framework.vocabulary.answer_values import Metric

SICK: Final = Ailment
SAMPLED: Final = waits(9 * S, "lock", "Shop.Enter()", "System.Threading.Monitor.Enter")
DELAYED: Final = "Tasks.Task.DelayPromise.CompleteTimedOut()"
XML: Final = "System.Xml.Serialization.XmlSerializer."
PERIOD: Final = healthy().answers["waits"].facts.sampling_period_ns or MS
LITTLE: Final = int(0.15 * 90 * MS / PERIOD)
"""How many samples see a thread awake for 15 % of the 90 ms that it has of a processor."""
BUSY: Final = {"threads.machine_total": 12 * S, "threads.processor_total": S, "threads.available_total": 2 * LONG}
WOKEN: Final = {**timers(3_000), "threads.processor_total": S}
READS: Final = hot("Interop.Sys.PRead(SafeHandle, byte*, int, long)")(9 * S)


def semaphore(inside: float, threads: int = 5, starts: int = 0) -> Facts:
    """Threads wait for a place 70 of 100 ms each, in turn, for ten seconds: one or two do not. So many on average are
    in the method without waiting."""
    waited = [(number, start) for number in range(threads) for start in range(number * 20 * MS, LONG, 100 * MS)]
    lasts = 70 * MS
    columns = {
        "kind": "handle", "method": "Shop.Reserve()", "thread_id": None, "start_ns": None, "duration_ns": lasts,
    }  # fmt: skip
    rows: Facts = {f"waits/waits/{name}": [value] * len(waited) for name, value in columns.items()}
    whole = len(waited) * lasts
    return {
        **rows,
        "waits/waits/thread_id": [number for number, _ in waited],
        "waits/waits/start_ns": [start for _, start in waited],
        **waits(whole, "handle", "Shop.Reserve()", "System.Threading.SemaphoreSlim.Wait"),
        **method("Shop.Reserve()", inclusive_ns=int(whole + inside * LONG)),
    }  # fmt: skip


def barrier(last: int, life: int = LONG) -> Facts:
    """Four threads meet ten times a second: three wait for 90 ms each time, one sleeps and waits for so long."""
    at, asleep = "System.Threading.Barrier.SignalAndWait", "System.Threading.Thread.Sleep"
    rows = [
        *((number, "handle", "Shop.Meet()", at, 90 * MS if number else last) for number in range(4)),
        (0, "sleep", "Shop.Fetch()", asleep, 90 * MS - last),
    ]
    names = ("thread_id", "kind", "method", "waiting_in", "duration_ns")
    columns = dict(zip(names, map(list, zip(*rows * 100, strict=True)), strict=True))
    starts = [start * 100 * MS for start in range(100) for _ in rows]
    lives = {"thread_id": list(range(4)), "life_ns": [life, LONG, LONG, LONG]}
    return {
        **{f"waits/waits/{name}": values for name, values in {**columns, "start_ns": starts}.items()},
        **{f"threads/threads/{name}": values for name, values in lives.items()},
    }


def received() -> Facts:
    """A main thread that no sample shows in the method by which the program reads from a socket."""
    inner = method("System.Net.Sockets.SocketPal.TryCompleteReceiveFrom(SafeSocketHandle)", inclusive_ns=9 * S)
    return {**thread("main", life_ns=LONG), **inner}


def hung(other: str = "other", busy: int = 0, lasted: int = LONG) -> Facts:
    """A main thread that waits for a task, beside another thread."""
    wait = {"thread_id": 1, "kind": "task", "method": "Shop.Ask()", "start_ns": LONG - lasted, "duration_ns": lasted}
    threads = {
        "thread_id": [1, 2], "role": ["main", other], "life_ns": [LONG] * 2, "waiting_ns": [LONG, LONG - busy],
    }  # fmt: skip
    return {
        **{f"waits/waits/{name}": [value] for name, value in wait.items()},
        **{f"threads/threads/{name}": values for name, values in threads.items()},
    }


def supervised(slept: int) -> Facts:
    """A thread that waits for another process, and a main thread that sleeps."""
    threads = {"thread_id": [1], "role": ["main"], "sleep_ns": [slept]}
    return {
        **waits(9 * S, "native", "System.Diagnostics.Process.WaitForExit(int)"),
        **{f"threads/threads/{name}": values for name, values in threads.items()},
    }


def awake(ready: float) -> Facts:
    """Threads that sleep in a loop and wait for a processor so much of the time that they run."""
    facts = polling(9 * S)
    (ran,) = facts["threads/threads/processor_ns"]
    return {**facts, "threads/threads/ready_ns": [int(ready * ran)]}


def stood(used: int) -> Facts:
    """A thread that stands in native code without a name, with so much processor time."""
    place = method("Shop.Enter()", external_ns=LONG, processor_ns=used, own=True)
    return {**place, "locks.count": None, "startup.runtime_version": "8.0.4"}


def circles(state: str) -> Facts:
    """A thread that every sample shows at one place, in this state."""
    stands = {"thread_id": 7, "state": state, "stood_ns": LONG, "method": "Shop.Await()"}
    return {**hot("Shop.Await()")(9 * S), **{f"top/standing/{name}": [value] for name, value in stands.items()}}


def listed(number: str, methods: int) -> Facts:
    """Methods in the list of code of a recording that begins with the program."""
    made = hot("System.Text.RegularExpressions.Regex..ctor(string)")(MS)
    return {**made, f"trace.{number}": methods, "startup.runtime_to_program": S}


def inlined(seen: int) -> Facts:
    """Reads that take so long as are seen, below a method with much more of native code."""
    read = used(
        "Interop.Sys.PRead(SafeHandle)", seen, seen, exclusive_ns=seen, running_ns=seen // 5, own_caller="Shop.Load()"
    )
    load = used("Shop.Load()", 4 * S, 5 * S, exclusive_ns=4 * S)
    return {"threads.processor_total": LONG, **methods(read, load)}


def fired(beneath: int, by: str = "TimerQueueTimer.Fire(bool)", first: int = 0) -> Facts:
    """A thread of timers that works, but of which no event says how often; its callbacks took so much of a second, and
    the first at each time so much of that."""
    names = [by, "TimerQueue.FireNextTimers()", "ThreadPoolWorkQueue.Dispatch()"]
    return {
        **thread("timer", processor_ns=LONG // 100, life_ns=LONG),
        "top/methods/name": [f"System.Threading.{name}" for name in names],
        "top/methods/inclusive_processor_ns": [beneath, first, S],
    }


def finished(rate: int) -> Facts:
    """The pool finished so many work items in a second, and twice as many per second in three; before, nobody knows
    since when it measured."""
    measured = {"time_ns": [S, 2 * S, 5 * S], "throughput": [9_000.0, float(rate), 2.0 * rate]}
    return {f"pool/throughput/{name}": values for name, values in measured.items()}


LOOKALIKES: Final = (
    pytest.param("wait.turns", semaphore(1.0), SICK, id="one holds the only place all the time"),
    pytest.param("wait.turns", semaphore(0.0), Unknown, id="nobody is in the method but to wait"),
    pytest.param("wait.turns", semaphore(0.5), Unknown, id="the place is free half of the time"),
    pytest.param("wait.turns", barrier(2 * MS), SICK, id="three wait at a barrier for the fourth"),
    pytest.param("wait.turns", barrier(80 * MS), Clear, id="all wait at a barrier for something to do"),
    pytest.param("startup.long", begun(*[("jit", S), ("io", MS)] * 3), SICK, id="it waits for a moment meanwhile"),
    pytest.param("startup.long", begun(*[("running", S), ("io", S)] * 3), Clear, id="it waits as long as it works"),
    pytest.param("startup.long", begun(("running", 6 * S)), Clear, id="it works most of the time"),
    pytest.param("wait.turns", barrier(2 * MS, S), Clear, id="the fourth was not there for long"),
    pytest.param("wait.main", received(), SICK, id="the outer methods left the stack"),
    pytest.param("wait.main", hung(), SICK, id="nobody completes the task"),
    pytest.param("wait.main", hung("timer"), Clear, id="a timer may complete it"),
    pytest.param("wait.main", hung("pool_worker"), Clear, id="the pool may complete it"),
    pytest.param("wait.main", hung(busy=2 * S), Clear, id="another thread is at work"),
    pytest.param("wait.main", hung(lasted=S // 2), Clear, id="only at the end"),
    pytest.param("wait.process", supervised(0), SICK, id="the main thread does not sleep"),
    pytest.param("wait.process", supervised(9 * S), Unknown, id="the main thread sleeps by itself"),
    pytest.param("lock.sampled", SAMPLED, SICK, id="only samples show who waits"),
    pytest.param("lock.sampled", {**SAMPLED, **lock(9 * S, 3)}, Clear, id="contentions tell more"),
    pytest.param("lock.sampled", stood(0), SICK, id="it stands in native code, before .NET 10"),
    pytest.param("lock.sampled", {**stood(0), "startup.runtime_version": None}, Unknown, id="of an unknown runtime"),
    pytest.param("lock.sampled", stood(3 * S), Clear, id="it computes there, or yields"),
    pytest.param("cpu.spinning", circles("running"), SICK, id="it circles in one place"),
    pytest.param("cpu.spinning", circles("native"), Clear, id="it stands in a native call"),
    pytest.param("cpu.small_reads", {**READS, **in_calls(0.1)}, SICK, id="each read is short"),
    pytest.param("cpu.small_reads", {**READS, **in_calls(0.01)}, Clear, id="each read is long"),
    pytest.param("cpu.small_reads", inlined(S // 2), SICK, id="most calls are inlined"),
    pytest.param("cpu.small_reads", inlined(S // 4), Clear, id="the caller calls other native code"),
    pytest.param("timer.often", fired(S), SICK, id="the workers run callbacks of timers"),
    pytest.param("timer.often", fired(S // 10), Unknown, id="the workers have other work"),
    pytest.param("timer.often", fired(S, DELAYED), SICK, id="which left the stack by calling on"),
    pytest.param("cpu.making", hot(f"{XML}.ctor(Type, XmlRootAttribute)")(S), SICK, id="by a serializer"),
    pytest.param("cpu.making", hot(f"{XML}Serialize(TextWriter, object)")(S), Clear, id="it is used, not made"),
    pytest.param("timer.often", fired(S, first=S), Unknown, id="one timer is due each time"),
    pytest.param("timer.often", {**fired(S), **finished(100)}, Clear, id="the pool finished too few work items"),
    pytest.param("timer.often", WOKEN, SICK, id="timers are most of what it does"),
    pytest.param("timer.often", {**WOKEN, "threads.processor_total": 3 * S}, Unknown, id="most is other work"),
    pytest.param("wait.polling", awake(1.0), SICK, id="woken often"),
    pytest.param("wait.polling", awake(0.4), Clear, id="seldom woken"),
    pytest.param("wait.polling", polling(9 * S, seen=LITTLE), SICK, id="samples hardly see it awake"),
    pytest.param("wait.polling", polling(9 * S, seen=2 * LITTLE), Unknown, id="it may do a little each time"),
    pytest.param("wait.polling", polling(9 * S, seen=5 * LITTLE), Clear, id="it works in between"),
    pytest.param("wait.polling", {**polling(9 * S), **BUSY}, Unknown, id="others keep the processors busy"),
    pytest.param(
        "wait.polling", {**polling(9 * S), **BUSY, "threads.machine_total": 11 * S}, SICK, id="half are left to it"
    ),
    pytest.param("wait.awaited", turns(9 * S), SICK, id="one that goes on lets another one go"),
    pytest.param("wait.awaited", turns(9 * S, "Shop.Take()"), Clear, id="another method gives it something to do"),
    pytest.param("wait.awaited", turns(9 * S, after=5 * MS), Clear, id="it goes on by itself"),
    pytest.param("wait.awaited", turns(9 * S, after=0), Clear, id="one timer ends both"),
    pytest.param("gc.midlife", midlife(True, generation=1), SICK, id="what survives dies before it is old"),
    pytest.param("gc.midlife", midlife(False), Clear, id="what survives stays"),
)


@pytest.mark.parametrize(("rule", "facts", "kind"), LOOKALIKES)
def test_it_tells_them_apart(rule: str, facts: Facts, kind: type) -> None:
    assert isinstance(verdict(planted(facts), rule_of(rule)), kind)


def test_few_sleeps_of_workers_clear_nothing_if_samples_may_hide_more() -> None:
    case, rule = planted(blockers(S, "sleep")), rule_of("pool.sleeping")
    pool = case.answers["pool"]
    least = {**pool.metrics, "blocked_total": attrs.evolve(pool.metrics["blocked_total"], low=S)}
    hidden = attrs.evolve(case, answers={**case.answers, "pool": attrs.evolve(pool, metrics=least)})
    assert [type(verdict(one, rule)) for one in (case, hidden)] == [Clear, Unknown]


def test_what_timers_start_counts_for_them() -> None:
    for facts, cost in ((fired(S), (LONG // 100 + S, "")), ({**fired(S), **finished(1_000)}, (17_500, "at most "))):
        often = verdict(planted(facts), rule_of("timer.often"))
        assert isinstance(often, Ailment)
        assert (often.impact.value, often.impact.side) == cost


def test_native_code_below_callers_tells_what_compiling_took() -> None:
    def native(name: str, took: int, **known: Any) -> Facts:
        return used(name, took, took, exclusive_ns=2 * took, running_ns=took // 2, waiting_ns=took // 2, **known)

    sampled = methods(
        used(f"{XML}.ctor(Type)", MS, MS, own_caller="Shop.Make()"),
        native("Shop.Make()", 0, own_caller="Shop.Ask()"),
        *(native(name, 2 * S) for name in ("Shop.Ask()", "dynamicClass.Read()", "Shop.Zip()")),
        *(native(name, 2 * S) for name in ("dynamicClass.IL_STUB_PInvoke()", "Interop.Sys.Read()", "[unresolved 0x1]")),
    )
    counts = {"trace.dynamic": 2_000, "trace.compiled": 20_000, "threads.processor_total": 5 * S}
    case = planted({**sampled, **counts, "startup.runtime_to_program": S})
    case = attrs.evolve(case, answers={name: answer for name, answer in case.answers.items() if name != "jit"})
    # Calls of native code with a frame are none; who neither has code made nor was made compiles none of that.
    for rule, cost in (("cpu.making", (2 * S + MS, "at least ")), ("cpu.compiling", (3 * S, ""))):
        found = verdict(case, rule_of(rule))
        assert isinstance(found, Ailment)
        assert (found.impact.value, found.impact.side) == cost


def test_whoever_comes_last_to_a_barrier_is_to_blame() -> None:
    late = verdict(planted(barrier(2 * MS)), rule_of("wait.turns"))
    assert isinstance(late, Ailment)
    assert (late.culprit, late.impact.value) == ("Shop.Fetch()", 3 * 100 * 90 * MS)
    assert sentences(planted(barrier(2 * MS)))["waited"] == "27.2 s at barriers in Shop.Meet"


@pytest.mark.parametrize(
    ("rule", "number", "many", "usual"),
    [("cpu.compiling", "compiled", 60_000, 6_000), ("cpu.making", "dynamic", 2_000, 300)],
)
def test_the_list_of_code_tells_what_no_event_does(rule: str, number: str, many: int, usual: int) -> None:
    for count, kind in ((many, SICK), (usual, Clear)):
        case = planted(listed(number, count))
        told = {name: answer for name, answer in case.answers.items() if name != "jit"}
        assert isinstance(verdict(attrs.evolve(case, answers=told), rule_of(rule)), kind)
        # The JIT's own events tell it better; and before the recording, others may have been compiled.
        assert isinstance(verdict(case, rule_of(rule)), Clear)
        metrics = {**told["startup"].metrics, "runtime_to_program": Metric(None, "ns", reason="attached later")}
        later = {**told, "startup": attrs.evolve(told["startup"], metrics=metrics)}
        assert isinstance(verdict(attrs.evolve(case, answers=later), rule_of(rule)), Clear)
