"""Rules about a program's threads: what they wait for outside of locks, tasks and the pool, and that are made for a
moment."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted, duration_text, share_text
from clrevents.analysis.doctor.program import BARRIER, UNTIL_EXIT, library_of, starter
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Cited, Clear, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.doctor.rules.locks_rules import READER_WRITER, let_go_in
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.schema.registry import OWN

_BRIEF: Final = 1_000_000_000
_COUNTED: Final = Need("what the operating system counted", ("ProcessorTime",), 0, provider=OWN)
_BEGAN: Final = Need("when threads began", ("ThreadCreated",), 0x10000)
_UNTIL: Final = {
    re.compile(r"System\.Collections\.Concurrent\.BlockingCollection<.*>\.(?:Try)?Add"): "for room in a full queue",
    re.compile(
        r"System\.Net\.Sockets\.(?:NetworkStream\.Read|Socket\.Receive|SocketAsyncContext\.Receive|SocketPal\.\w*Receive)"
    ): "for an answer over the network",
}
"""Methods in which a thread waits for others, and for what. Where one ends by calling the next, it leaves the stack."""
_WORKING: Final = 0.2
"""What part of the time the main thread runs, if it does not wait for what others wait for."""
_AT_WORK: Final = ("pool_worker", "pool_io", "pool_wait", "pool_gate", "timer")
"""Roles of threads that complete tasks."""
_SIGNALS: Final = ".NET Sig"
"""How the name of the thread begins on which handlers of signals run."""
_STANDS: Final = 0.95
_STOPPED: Final = 0.8
_LOST: Final = "Look who must complete the task, and what may keep it from that, such as an exception that is caught."
_EVEN: Final = "Divide the work evenly, in more and smaller pieces, or make what the last one does faster."
_MOSTLY: Final = 0.5
_TURNS: Final = ("System.Threading.SemaphoreSlim.Wait", "System.Threading.WaitHandle.Wait")
"""How methods begin in which a thread waits for its turn, or for something to do."""
_SELDOM: Final = 0.5
"""Whoever lives for more of the median's time, and waits at a barrier for less, keeps the others waiting."""
_NONE: Final = 0.15
_WHOLE: Final = 0.05
_LATE: Final = 0.15
"""So near to a whole number, below or above, is how many hold places, on average, where none is ever free."""
_NEARLY: Final = 0.9
_LEAVES: Final = 0.97
_MOST: Final = 0.6
_TOGETHER: Final = 10_000_000
_AWHILE: Final = 50_000_000
_BEFORE_END: Final = 0.95
"""Later than that, a program lets all go because it ends."""
_AWAKE, _AT_WORK_BETWEEN = 0.2, 0.5
"""Samples show no more of the processor time of one that only looks in its own code, and so much where it works."""
_PERIOD: Final = 1_000_000
"""From one sample of a thread to the next, where nothing else is known."""
_WOKEN: Final = 0.7
"""So much of the time that it runs, a thread waits for a processor that wakes only to sleep again: each time once."""
_SPENT: Final = (0.006, 0.03)
"""What a thread that sleeps for a millisecond again and again uses of a processor."""
_BY_TIMERS: Final = 0.003
"""Less of a processor is used by a thread that wakes rarely."""
_FIRED: Final = 0.01
_FIRE: Final = ("System.Threading.TimerQueueTimer.Fire(", "System.Threading.Tasks.Task.DelayPromise.CompleteTimedOut(")
"""What calls back when a timer is due; the first leaves the stack where it ends by calling the other."""
_FIRST: Final = "System.Threading.TimerQueue.FireNextTimers("
_DISPATCH: Final = "System.Threading.ThreadPoolWorkQueue.Dispatch("


def _process(case: Case, limit: float) -> Verdict:
    rows = case.rows("waits", "methods")
    methods = rows.column("method").tolist()
    waited = rows.numbers("waited_ns")
    until_exit = [row for row, method in enumerate(methods) if method and method.startswith(UNTIL_EXIT)]
    total = case.cells("waits", "methods", "waited_ns", until_exit)
    share = case.share(total.value)
    title = f"threads waited for other processes for {total.text}"
    if total.value < limit:
        return Clear(title, (total,), ns=limit - total.value)
    worst = max(until_exit, key=lambda row: waited[row])
    main = case.where("threads", "threads", "role", "main".__eq__)
    ran = case.cells("threads", "threads", "running_ns", main)
    if case.share(ran.value) >= _WORKING:
        return Clear(f"{title}, while the main thread ran for {ran.text}", (total, ran))
    slept = case.cells("threads", "threads", "sleep_ns", main)
    if case.share(slept.value) >= _MOSTLY:
        return Unknown(f"{title}, while the main thread slept for {slept.text}: no event tells whether for that long")
    title += f", {share_text(share)} of the recording: the time is spent there"
    method = methods[worst]
    own = case.own_kin(method.__eq__)
    # A build engine beside what it runs is the program's own, too.
    is_other = own is not None and library_of(own) != library_of(method)
    culprit = own if is_other else starter(case, method) or own or method
    return Ailment(title, total, (total,), share, culprit)


def _turns(case: Case, limit: float) -> Verdict:
    """Locks that no event tells, and semaphores, mutexes and barriers where threads evidently wait for one another."""
    rows = case.rows("waits", "methods")
    columns = (rows.column(name).tolist() for name in ("kind", "method", "waiting_in"))
    locks: list[int] = []
    turns: dict[str, list[int]] = {}
    for row, (kind, method, waiting_in) in enumerate(zip(*columns, strict=True)):
        if kind == "lock" and (waiting_in or "").startswith(READER_WRITER):
            locks.append(row)
        elif kind == "handle" and (waiting_in or "").startswith(_TURNS) and method and is_own_name(method):
            turns.setdefault(method, []).append(row)
    took = rows.numbers("waited_ns")
    unsure = [method for method, rows in turns.items() if took[rows].sum() >= limit and not _for_others(case, method)]
    sure = [*locks, *(row for method, rows in turns.items() if method not in unsure for row in rows)]
    waited = case.cells("waits", "methods", "waited_ns", sorted(sure))
    what = f"threads waited for their turn at semaphores, mutexes and reader-writer locks for {waited.text} together"
    if waited.value >= limit:
        by_method: Counter[str | None] = Counter()
        for row, method in zip(sure, rows.column("method").take(np.array(sure)).tolist(), strict=True):
            by_method[method] += int(took[row])
        waiting = by_method.most_common(1)[0][0]
        worst = let_go_in(case, [waiting]) or (_holder(case, by_method) if locks else waiting)
        threads = case.cells("waits", "methods", "threads", [max(sure, key=lambda row: took[row])])
        title = f"{what}, up to {counted(int(threads.value), 'thread')} of one method"
        return Ailment(title, waited, (waited, threads), case.share(waited.value), worst)
    late = _late(case, limit)
    if late is not None:
        return late
    if unsure:
        cost = case.cells("waits", "methods", "waited_ns", sorted(row for method in unsure for row in turns[method]))
        return Unknown(
            f"threads waited for {cost.text} together in {', '.join(unsure[:3])}: no event tells whether for something "
            "to do, or for one another"
        )
    return Clear(what, (waited,), ns=limit - waited.value)


def _late(case: Case, limit: float) -> Ailment | None:
    """Threads that wait in one method at a barrier for some of them, which hardly ever wait there.

    Where all wait for as long, they wait for whoever gives them something to do, or for processors.
    """
    rows = case.rows("waits", "waits")
    threads, took = rows.numbers("thread_id"), rows.numbers("duration_ns")
    all_threads = case.rows("threads", "threads")
    lives = dict(zip(all_threads.column("thread_id").tolist(), all_threads.numbers("life_ns").tolist(), strict=True))
    methods, waiting_in = (rows.column(name).tolist() for name in ("method", "waiting_in"))
    at_barrier = np.array([(name or "").startswith(BARRIER) for name in waiting_in], dtype=bool)
    # In the order of their first waits: of a set, another one would come first in each process.
    for method in dict.fromkeys(methods[row] for row in np.flatnonzero(at_barrier).tolist()):
        if method is None:
            continue
        here = at_barrier & (np.array(methods, dtype=object) == method)
        ids, thread = np.unique(threads[here], return_inverse=True)
        waited = np.bincount(thread, weights=took[here])
        lived = np.array([lives.get(one, 0) for one in ids.tolist()])
        late = ids[(waited < _SELDOM * np.median(waited)) & (lived >= _SELDOM * np.median(lived))]
        kept = np.flatnonzero(here & ~np.isin(threads, late))
        total = case.cells("waits", "waits", "duration_ns", kept)
        if not len(late) or total.value < limit:
            continue
        meanwhile: Counter[str] = Counter()
        for row in np.flatnonzero(~at_barrier & np.isin(threads, late)):
            if is_own_name(methods[row] or ""):
                meanwhile[methods[row]] += int(took[row])
        busiest, busy = next(iter(meanwhile.most_common(1)), (method, 0))
        # If they did not wait for something else most of the time, they computed.
        culprit = busiest if busy >= _MOSTLY * waited.max() * len(late) else method
        who = f"{counted(len(ids) - len(late), 'thread')} waited at a barrier for {counted(len(late), 'other')}"
        title = f"{who}, for {total.text} together"
        return Ailment(title, total, (total,), case.share(total.value), culprit, advice=_EVEN)
    return None


def _holder(case: Case, waited: Counter[str | None]) -> str | None:
    """Of the methods that wait for reader-writer locks, the one that was there longest without waiting for one."""
    tops = case.rows("top", "methods")
    took = dict(zip(tops.column("name").tolist(), tops.numbers("inclusive_ns").tolist(), strict=True))
    sleeps: Counter[str] = Counter()
    rows = case.rows("waits", "methods")
    for method, kind, ns in zip(*(rows.column(n).tolist() for n in ("method", "kind", "waited_ns")), strict=True):
        if kind == "handle":
            sleeps[method] += ns or 0
    return max(waited, key=lambda name: took.get(name, 0) - waited[name] - sleeps[name or ""])


def _for_others(case: Case, method: str) -> bool:
    """Whether threads that wait in a method wait for one another, or for one that keeps all of them waiting.

    They do if as many others as fit go on, or are in the method without waiting, while any waits; all that wait for
    something to do, wait at the same time. They do, too, if they are let go together before the end: one that gives
    others something to do lets one go.
    """
    rows = case.rows("waits", "waits")
    in_method = np.array(rows.column("method").tolist()) == method
    in_method &= np.array(rows.column("kind").tolist()) == "handle"
    in_method &= rows.column("start_ns").known & rows.column("duration_ns").known
    places = np.flatnonzero(in_method)
    thread, start = rows.numbers("thread_id")[places], rows.numbers("start_ns")[places]
    end = start + rows.numbers("duration_ns")[places]
    threads = np.unique(thread)
    if len(threads) < 2:
        return False
    begins = np.array([start[thread == one].min() for one in threads])
    ends = np.array([end[thread == one].max() for one in threads])
    waiting, there = _steps(start, end), _steps(begins, ends)
    moments = np.unique(np.concatenate((start, end)))
    lasted = np.diff(moments)
    number = _at(waiting, moments)[:-1]
    others = (_at(there, moments)[:-1] - number)[number > 0]
    while_any = max(int(lasted[number > 0].sum()), 1)
    shares = np.bincount(others, weights=lasted[number > 0]) / while_any
    fit = int(shares.argmax()) if shares.max() >= _NEARLY else 0
    tops = case.rows("top", "methods")
    was_in = int(tops.numbers("inclusive_ns")[np.array(tops.column("name").tolist()) == method].sum())
    inside = (was_in - int((end - start).sum())) / while_any
    # Who never leaves the method does everything in it; others seem to be in it for longer where processors are busy.
    if was_in < _LEAVES * (ends - begins).sum():
        fit = round(inside) if -_WHOLE <= inside - round(inside) <= _LATE else 0
    if shares[0] <= _NONE and 0 < fit <= len(threads) / 2:
        return True
    let_go = np.sort(end)
    near = np.searchsorted(let_go, end + _TOGETHER, side="right") - np.searchsorted(let_go, end - _TOGETHER)
    together = (near >= max(2, len(threads) / 2)) & (end < _BEFORE_END * case.window_ns) & (end - start >= _AWHILE)
    return bool((end - start)[together].sum() >= _MOST * (end - start).sum())


def _steps(start: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In order: when something begins, and when something ends."""
    return np.sort(start), np.sort(end)


def _at(steps: tuple[NDArray[np.int64], NDArray[np.int64]], moments: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many go on after each moment."""
    begun, ended = (np.searchsorted(one, moments, side="right") for one in steps)
    return (begun - ended).astype(np.int64)


def _polling(case: Case, limit: float) -> Verdict:
    rows, tops = case.rows("waits", "methods"), case.rows("top", "methods")
    kinds, methods = (rows.column(name).tolist() for name in ("kind", "method"))
    waited, used = rows.numbers("waited_ns"), tops.numbers("inclusive_processor_ns")
    at = {name: row for row, name in enumerate(tops.column("name").tolist())}
    threads = case.rows("threads", "threads")
    ran, ready = (threads.numbers(f"{name}_ns") for name in ("processor", "ready"))
    thread_at = {thread: row for row, thread in enumerate(threads.column("thread_id").tolist())}
    columns = (case.rows("waits", "waits").column(name).tolist() for name in ("method", "kind", "thread_id"))
    slept: dict[str | None, set[int]] = {}
    stretches: Counter[str | None] = Counter()
    for method, kind, thread in zip(*columns, strict=True):
        if kind == "sleep" and thread in thread_at:
            slept.setdefault(method, set()).add(thread_at[thread])
            stretches[method] += 1
    # The main thread of a program may pass its time this way, and whoever does as it does.
    roles = threads.column("role").tolist()
    slept = {method: rows for method, rows in slept.items() if all(roles[row] != "main" for row in rows)}
    period = case.answers["waits"].facts.sampling_period_ns or _PERIOD
    totals = (case.value(f"threads.{name}_total") or 0 for name in ("machine", "processor", "available"))
    busy, own, available = totals
    others = max(busy - own, 0)
    scarce = 0 < _MOSTLY * available < others
    polled: list[int] = []
    unsure: list[int] = []
    for row, (kind, method) in enumerate(zip(kinds, methods, strict=True)):
        if kind != "sleep" or method not in slept or method not in at or not is_own_name(method) or waited[row] < limit:
            continue
        # Who does nothing but sleep for a moment uses the processor for that: samples see it in Sleep. And it waits for
        # a processor as often as it wakes.
        share, sleepers = used[at[method]] / waited[row], list(slept[method])
        if _SPENT[0] <= share <= _SPENT[1] and ready[sleepers].sum() >= _WOKEN * ran[sleepers].sum():
            # Sleeps one after the other look like one, unless a sample shows the thread between them.
            awake = (stretches[method] - len(sleepers)) * period / used[at[method]]
            # Where other programs keep the processors busy, whoever wakes waits for one, whatever it does then.
            sure = awake <= _AWAKE and not scarce
            (polled if sure else unsure if awake < _AT_WORK_BETWEEN else []).append(row)
    total = case.cells("waits", "methods", "waited_ns", polled or unsure)
    if unsure and not polled:
        names = ", ".join(methods[row] for row in unsure[:3])
        why = f"as other programs used {duration_text(others)} of processor time, " if scarce else ""
        return Unknown(
            f"threads slept for moments for {total.text} together in {names}: {why}no event tells whether they look "
            "for something in between, or do a little at a time"
        )
    if not polled:
        return Clear("no thread slept for moments only, again and again", (total,))
    title = f"threads slept for moments, again and again, for {total.text} together, and did little in between"
    return Ailment(title, total, (total,), case.share(total.value), methods[max(polled, key=lambda row: waited[row])])


def _timers(case: Case, limit: float) -> Verdict:
    threads, rows = case.rows("threads", "threads"), case.rows("waits", "waits")
    own = case.where("threads", "threads", "role", "timer".__eq__)
    ids = set(threads.column("thread_id").take(np.array(own, dtype=np.int64)).tolist())
    columns = (rows.column(name).tolist() for name in ("thread_id", "kind", "evidence"))
    woken = sum(
        (thread in ids, kind, evidence) == (True, "idle", "event")
        for thread, kind, evidence in zip(*columns, strict=True)
    )
    used, lived = (case.cells("threads", "threads", f"{name}_ns", own) for name in ("processor", "life"))
    share = used.value / max(lived.value, 1)
    title = f"the thread of timers used {share_text(share)} of a processor, for {used.text}"
    if woken:
        title += f", and woke {counted(woken, 'time')}, {case.per_second(woken):,.0f} times per second"
    evidence: tuple[Cited, ...] = (used, lived)
    # It is woken once for all that are due, each of which is a work item, which the pool counts.
    cost = _finished(case) or Cited("waits.count", woken, "count", side="at least ")
    if case.per_second(woken) < limit:
        if woken or share < _BY_TIMERS or 0 < case.per_second(cost.value) < limit:
            return Clear(title, evidence)
        fired = _fired(case)
        if fired is None:
            return Unknown(f"{title}; how often it woke is told from .NET 9 on")
        title += f", and {fired.text} of processor time of the pool's workers were for what it started"
        evidence = *evidence, fired
        cost = cost if cost.value else fired.of(used.value + fired.value)
    else:
        workers = case.where("threads", "threads", "role", "pool_worker".__eq__)
        busy = case.cells("threads", "threads", "processor_ns", [*own, *workers])
        evidence = *evidence, busy
        if busy.value < _MOSTLY * case.value("threads.processor_total"):
            return Unknown(
                f"{title}; no event tells how many timers fired each time, and most processor time went elsewhere"
            )
    title += f"; the pool finished {cost.value:,} work items" if cost.place.startswith("pool") else ""
    called = case.own_kin(lambda name: name.startswith(_FIRE), "own_callee")
    return Ailment(title, cost, evidence, None, called, nameless="no sample shows what timers call")


def _finished(case: Case) -> Cited | None:
    """How many work items the pool finished at most: as many per second as where it measured."""
    rows = case.rows("pool", "throughput")
    took, rate = np.diff(rows.numbers("time_ns")), rows.numbers("throughput")[1:]
    done = int((rate * took).sum() / max(took.sum(), 1) * case.window_ns / 1e9)
    return Cited("pool/throughput/throughput", done, "count", tuple(range(1, len(rows))), "at most ") if done else None


def _fired(case: Case) -> Cited | None:
    """The processor time beneath timers, if that is half of what the pool's workers used to work, and enough to say
    so. The first timer that is due at a wake-up is called at once, others are queued: most must have been."""
    rows = case.rows("top", "methods")
    names, used = rows.column("name").tolist(), rows.numbers("inclusive_processor_ns")
    fire, first, dispatch = (
        [row for row, name in enumerate(names) if name.startswith(of)] for of in (_FIRE, _FIRST, _DISPATCH)
    )
    fire = sorted(fire, key=lambda row: used[row])[-1:]
    beneath = used[fire].sum()
    if beneath < max(_MOSTLY * used[dispatch].sum(), _FIRED * case.window_ns) or used[first].sum() > _MOSTLY * beneath:
        return None
    return case.cells("top", "methods", "inclusive_processor_ns", fire)


def _main(case: Case, limit: float) -> Verdict:
    """The main thread, or one alone, under what waits for room in a queue, for an answer of another process, or for a
    task that nobody is at work on."""
    tops, main = case.rows("top", "methods"), case.where("threads", "threads", "role", "main".__eq__)
    stood = case.cells("threads", "threads", "life_ns", main).value - sum(
        case.cells("threads", "threads", f"{name}_ns", main).value
        for name in ("running", "ready", "sleep", "join", "lock")
    )
    took = tops.numbers("inclusive_ns")
    names = case.names((limit <= took) & (took <= 1.1 * stood))
    inside = [row for row, name in names.items() if any(until.match(name) for until in _UNTIL)]
    worst = max(inside, key=lambda row: took[row], default=None)
    total = case.cells("top", "methods", "inclusive_ns", [] if worst is None else [worst])
    if worst is None:
        return _forever(case, limit) or Clear(
            "the main thread waited neither for room in a queue nor for an answer for long", (total,), ns=limit
        )
    what = next(text for until, text in _UNTIL.items() if until.match(names[worst]))
    title = f"the main thread waited {what} for {total.text}, {share_text(case.share(total.value))} of the recording"
    return Ailment(title, total, (total,), case.share(total.value), case.own_kin(names[worst].__eq__))


def _forever(case: Case, limit: float) -> Verdict | None:
    """A wait of the main thread for a task, to the end, where no thread is there that could complete the task."""
    threads, waits = case.rows("threads", "threads"), case.rows("waits", "waits")
    roles = threads.column("role").tolist()
    lived = threads.numbers("life_ns")
    moves = threads.numbers("waiting_ns") < _STANDS * lived
    known = zip(roles, threads.column("thread_name").tolist(), moves.tolist(), (lived >= limit).tolist(), strict=True)
    for role, name, moved, long in known:
        if role in _AT_WORK or (long and ((role == "other" and moved) or (name or "").startswith(_SIGNALS))):
            return None
    main = {thread for thread, role in zip(threads.column("thread_id").tolist(), roles, strict=True) if role == "main"}
    ends = waits.numbers("start_ns") + waits.numbers("duration_ns")
    # A program that is ended, ends before the recording does.
    last = max(int(ends.max(initial=0)) - _AWHILE, _STOPPED * case.window_ns)
    ids, kinds, methods = (waits.column(name).tolist() for name in ("thread_id", "kind", "method"))
    asked = [row for row, kind in enumerate(kinds) if kind == "task" and ids[row] in main]
    latest = max(asked, key=lambda row: ends[row], default=None)
    if latest is None or ends[latest] < last:
        return None
    # Where processors are busy, samples have gaps, and one wait seems to be several.
    waited = case.cells("waits", "waits", "duration_ns", [row for row in asked if methods[row] == methods[latest]])
    if waited.value < limit:
        return None
    title = f"the main thread waited for a task for {waited.text}, to the end, while no thread did what may complete it"
    return Ailment(title, waited, (waited,), case.share(waited.value), methods[latest], advice=_LOST)


def _brief(case: Case, limit: float) -> Verdict:
    rows = case.rows("threads", "threads")
    created, roles = (np.array(rows.column(name).tolist()) for name in ("start_evidence", "role"))
    if not (created == "event").any():
        return Unknown(f"not recorded: {_BEGAN.what}", case.record(["threads"]))
    if case.value("top.samples") is None:
        return Unknown("not recorded: when threads ended, which samples tell", case.record(["top"]))
    starts, ends = rows.numbers("start_ns"), rows.numbers("end_ns")
    # No runtime writes the end of a thread: it is one that no sample sees any more, long before the last one.
    gone = (ends - starts < _BRIEF) & (ends < ends.max(initial=0) - _BRIEF)
    brief = np.flatnonzero(gone & (created == "event") & (roles == "other")).tolist()
    threads, lived = case.cited("threads.threads"), case.cells("threads", "threads", "life_ns", brief)
    title = f"{counted(len(brief), 'thread')} of {threads.value:,} lived for less than a second each"
    if len(brief) < limit:
        return Clear(title, (threads, lived), events=limit - len(brief))
    starter = case.own_kin(re.compile(r"System\.Threading\.Thread\.(?:Unsafe)?Start(?!Callback)\w*\(").match)
    nameless = "no sample shows who starts them"
    # Of those that began in the last second, it is not known.
    cost = Cited("threads.threads", len(brief), "count", side="at least ")
    return Ailment(title, cost, (threads, lived), culprit=starter, nameless=nameless)


RULES: Final = (
    Rule(
        "wait.process",
        "Does the program wait for another process?",
        ("waits.waited_total",),
        Threshold(0.25, "25 % of the time and 500 ms, added up over threads", of=WINDOW, least=500_000_000),
        "What takes the time is not in this recording.",
        "Record the process that it started: `clrevents collect -- COMMAND`.",
        "other threads worked meanwhile.",
        "waits {file}",
        _process,
        also=("threads", "top"),
    ),
    Rule(
        "wait.turns",
        "Do threads wait for their turn at a semaphore, a mutex or a reader-writer lock, or for the last at a barrier?",
        ("waits.waited_total",),
        Threshold(
            0.5,
            "50 % of the time and 500 ms, added up over threads that evidently wait for one another",
            of=WINDOW,
            least=500_000_000,
        ),
        "A thread that waits for its turn does nothing for whoever waits for it.",
        "Let more in at once if what is guarded allows it, hold it for less time, or split what it guards.",
        "it limits on purpose how much is done at once, as to protect another service.",
        "waits {file}",
        _turns,
        "inferred",
        also=("top", "threads"),
    ),
    Rule(
        "wait.main",
        "Does the main thread wait for a queue, for an answer, or for ever?",
        ("threads.threads", "top.total"),
        Threshold(0.5, "half of the time, and 1 s", of=WINDOW, least=1_000_000_000),
        "The program is as fast as whoever takes from the queue, or answers.",
        "Make what takes from the queue faster, or more of it; ask for several answers at once, or await them.",
        "there is nothing else for the main thread to do.",
        "waits {file}",
        _main,
        "sample",
        also=("waits",),
    ),
    Rule(
        "wait.polling",
        "Do threads poll, with short sleeps?",
        ("waits.sampled_total", "threads.processor_total", "threads.ready_total"),
        Threshold(0.8, "80 % of the time and 1 s, added up over threads", of=WINDOW, least=1_000_000_000),
        "Each look costs a switch to the thread and back, and what it waits for is noticed late.",
        "Wait for something that is set when the state changes: ManualResetEventSlim, TaskCompletionSource, a Channel.",
        "nobody can tell the thread when to go on, as where the state is a file's or another machine's.",
        "waits {file}",
        _polling,
        "inferred",
        also=("top",),
        need=_COUNTED,
    ),
    Rule(
        "timer.often",
        "Do timers fire all the time?",
        ("threads.processor_total", "waits.idle_total"),
        Threshold(250, "the thread of timers wakes 250 times per second"),
        "Each time a worker of the pool is woken for a moment, whether there is something to do or not.",
        "Let one timer serve all, fire less often, or react to what happens instead of looking for it.",
        "the timers belong to a protocol that must be that exact; other work items of the pool count, too.",
        "threads {file} --sort processor_ns",
        _timers,
        "counted",
        also=("pool", "top"),
        need=_COUNTED,
    ),
    Rule(
        "thread.brief",
        "Are threads made for a moment?",
        ("threads.threads",),
        Threshold(50, "50 threads that live for less than a second each"),
        "To make a thread and its stack takes longer than to hand small work to one that exists.",
        "Use the thread pool: Task.Run, or Parallel, instead of a thread for each piece of work.",
        "the program wants a thread of its own for each, such as one with a large stack or another culture.",
        "threads {file}",
        _brief,
        "sample",
        also=("top",),
        need=_BEGAN,
    ),
)
