"""Rules about locks: deadlocks, convoys, and time spent waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted, duration_text
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Clear, Remedy, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.gathering.merged_stacks import is_own_name

_LONG: Final = 200_000_000
_CROWD: Final = 4
_PART: Final = 0.05
_STOOD: Final = 0.8
"""Of the time, from when on threads in native code that has no name are taken to wait for a lock."""
_AT_WORK: Final = 0.1
"""The part of its time in native code in which a thread has a processor, from when on it does not wait for a lock."""
_NAMED_FROM: Final = 10
"""The version of .NET from which on samples show where threads wait for locks."""
_EXPLAINS: Final = 0.05
"""Of what threads waited for a lock, less than that is not how long it was held: not all of its holders are known."""
_NEARLY_ALL: Final = 0.8
_BEFORE, _AFTER = 10_000_000, 2_000_000
"""So long before others go on, and after it by samples, whoever let them go on did so."""
_OWN_ROLES: Final = ("main", "other", "pool_worker")
"""Roles of threads that run the program's code."""
READER_WRITER: Final = "System.Threading.ReaderWriterLock"
"""How the methods of locks begin that no event of the runtime tells of."""


def _deadlock(case: Case, limit: float) -> Verdict:
    count = case.cited("locks.deadlocks")
    if count.value < limit:
        # Each of them waits to the end: of two at least, the contention is not ended.
        ends = case.rows("locks", "contentions").column("end_ns").known
        return Clear("no threads wait for each other in a circle", (count,), events=2 - int((~ends).sum()))
    rows = case.rows("locks", "deadlocks")
    waited = case.cells("locks", "deadlocks", "waited_ns", range(len(rows)))
    methods, starts, waits = (rows.column(n).tolist() for n in ("method", "start_ns", "waited_ns"))
    title = (
        f"{counted(int(count.value), 'deadlock')} of {counted(len(rows), 'thread')}, which waited for each other for "
        f"{duration_text(max(waits))} until tracing stopped"
    )
    culprit = " and ".join(dict.fromkeys(name for name in methods if name)) or None
    span = (min(starts), max(start + wait for start, wait in zip(starts, waits, strict=True)))
    return Ailment(title, waited, (count, waited), None, culprit, span)


def _convoy(case: Case, limit: float) -> Verdict:
    rows = case.rows("locks", "convoys")
    crowded = np.flatnonzero(rows.numbers("threads") >= limit).tolist()
    waited = case.cells("locks", "convoys", "waited_ns", crowded)
    total = case.cited("locks.waited_total")
    if not crowded or waited.value < 0.5 * total.value:
        title = f"{counted(len(rows), 'convoy')} of fewer than {limit:g} threads, or little of all waiting"
        more = (0.5 * total.value - waited.value) / 1.5
        return Clear(title, (waited,), events=limit - int(rows.numbers("threads").max(initial=1)), ns=more)
    worst = max(crowded, key=lambda row: rows.numbers("waited_ns")[row])
    method, starts, ends, threads = (rows.column(n).tolist() for n in ("method", "start_ns", "end_ns", "threads"))
    title = (
        f"{threads[worst]} threads waited for one lock in turn, for {waited.text} together in "
        f"{duration_text(ends[worst] - starts[worst])}"
    )
    span = (starts[worst], ends[worst])
    owners, locks = (rows.column(n).tolist() for n in ("owner_method", "lock_id"))
    return Ailment(
        title,
        waited,
        (waited, total),
        None,
        _culprit(case, int(waited.value), locks[worst], owners[worst], method[worst]),
        span,
    )


def let_go_in(case: Case, waiting: Collection[str | None], went_on: NDArray[np.int64] | None = None) -> str | None:
    """The program's method in which another thread waits or sleeps until threads that wait in these methods go on,
    which are those that `went_on` then, where no wait of theirs is known.

    Nearly all of their waits end when one in that method does, and half of that would not be chance.
    """
    rows = case.rows("waits", "waits")
    methods, kinds = (np.array(rows.column(name).tolist(), dtype=object) for name in ("method", "kind"))
    starts, took = rows.numbers("start_ns"), rows.numbers("duration_ns")
    ends = starts + took
    for_others = np.isin(methods, np.array(list(waiting), dtype=object)) & np.isin(kinds, ("lock", "handle", "monitor"))
    let_go = ends[for_others & (took > _BEFORE)] if went_on is None else went_on
    length = ends.max(initial=1) - starts.min(initial=0)
    fits = []
    for method in {name for name in methods.tolist() if name and is_own_name(name)} - set(waiting):
        own = methods == method
        each = np.sort(ends[own])
        near = np.searchsorted(each, let_go + _AFTER) > np.searchsorted(each, let_go - _BEFORE)
        together = near.sum() / max(len(near), 1)
        if together >= max(_NEARLY_ALL, 2 * len(each) * (_BEFORE + _AFTER) / length):
            fits.append((together, int(took[own].sum()), method))
    return max(fits)[2] if fits else None


def _culprit(case: Case, waited: int, lock: int | None, *others: str | None) -> str | None:
    """The method that took a lock for longest; where that does not explain the waits, the one that ends them; else the
    first of others that is the program's own, or is there."""
    takers: Counter[str] = Counter()
    rows = case.rows("locks", "holders")
    columns = (rows.column(name).tolist() for name in ("lock_id", "taken_in", "held_ns"))
    for of, method, took in zip(*columns, strict=True):
        if of == lock and method is not None:
            takers[method] += took
    if sum(takers.values()) < _EXPLAINS * waited and (ender := let_go_in(case, others)):
        return ender
    if takers:
        return takers.most_common(1)[0][0]
    named = list(filter(None, others))
    return next(filter(is_own_name, named), named[0] if named else None)


def _episodes(case: Case) -> int:
    """On how many occasions threads waited for a lock of the program: one begins while nobody waits for that lock, or
    when a thread waits for it again."""
    rows = case.rows("locks", "contentions")
    columns = ("native", "lock_id", "thread_id", "start_ns", "end_ns")
    until: dict[int | None, int] = {}
    waited: dict[int | None, set[int]] = {}
    episodes = 0
    for native, lock, thread, start, end in zip(*(rows.column(n).tolist() for n in columns), strict=True):
        if not native and start is not None:
            if start >= until.get(lock, 0) or thread in waited[lock]:
                episodes += 1
                waited[lock] = set()
            waited[lock].add(thread)
            until[lock] = max(until.get(lock, 0), start + 1 if end is None else end)
    return episodes


def _waited(case: Case, limit: float) -> Verdict:
    total, longest = case.cited("locks.waited_total"), case.cited("locks.waited_max")
    # Deadlocks have a rule of their own, and so have convoys if that rule finds them.
    explained = int(case.rows("locks", "deadlocks").numbers("waited_ns").sum())
    if isinstance(_convoy(case, _CROWD), Ailment):
        explained += int(case.rows("locks", "convoys").numbers("waited_ns").sum())
    rows = case.rows("locks", "locks")
    natives, methods = rows.column("native").filled(True).tolist(), rows.column("method").tolist()
    waits, most_ns = (rows.numbers(name) for name in ("waited_ns", "max_ns"))
    ours = [row for row, native in enumerate(natives) if not native]
    # Where no code but the runtime's is on the stack, no code of the program's is to blame.
    own = [row for row in ours if not (methods[row] or "").startswith("System.Threading.")]
    explained += int(sum(waits[row] for row in set(ours) - set(own)))
    rest = max(int(total.value) - explained, 0)
    title = f"threads waited for locks for {total.text} together, {case.longest('locks.waited_max')}"
    # What several wait for once, such as something that is made at the start, is no habit.
    often = case.share(rest) >= limit and rest >= 50_000_000 and _episodes(case) >= 3
    most = max((most_ns[row] for row in own), default=0)
    if not own or (not often and (rest < _LONG or most < _LONG)):
        habit = max(limit * case.window_ns, 50_000_000) - rest
        return Clear(title, (total, longest), ns=min(habit, _LONG - min(rest, most)))
    worst = max(own, key=lambda row: waits[row])
    lock = (rows.column(n).tolist()[worst] for n in ("lock_id", "holder", "method"))
    culprit = _culprit(case, int(waits[worst]), *lock)
    return Ailment(title, total, (total, longest), case.share(total.value), culprit)


def _sampled(case: Case, limit: float) -> Verdict:
    rows = case.rows("waits", "methods")
    kinds, evidences, methods, where = (
        rows.column(name).tolist() for name in ("kind", "evidence", "method", "waiting_in")
    )
    # Reader-writer locks have no contentions, and a rule of their own.
    entering = [
        row
        for row in range(len(rows))
        if (kinds[row], evidences[row]) == ("lock", "sample") and not (where[row] or "").startswith(READER_WRITER)
    ]
    waited = case.cells("waits", "methods", "waited_ns", entering)
    title = f"samples show threads that waited to enter locks for {waited.text} together"
    if waited.value < limit:
        return _below(case, limit) or Clear(title, (waited,), ns=limit - waited.value)
    if case.value("locks.count") and (_finds(case, _waited, _PART) or _finds(case, _convoy, _CROWD)):
        return Clear(f"{title}: contentions, which were recorded, tell who held them", (waited,))
    worst = max(entering, key=lambda row: rows.numbers("waited_ns")[row])
    title += f", most in {methods[worst] or 'unknown code'}"
    culprit = let_go_in(case, [methods[worst]]) or methods[worst]
    return Ailment(title, waited, (waited,), case.share(waited.value), culprit)


def _finds(case: Case, judge: Callable[[Case, float], Verdict], limit: float) -> bool:
    return isinstance(judge(case, limit), Ailment)


def _below(case: Case, limit: float) -> Verdict | None:
    """Before .NET 10 no sample shows who waits for a lock: its thread stands in the method that enters it, in native
    code that has no name."""
    tops = case.rows("top", "methods")
    outside = tops.numbers("external_ns")
    # Who computes there, or yields to others again and again, does not wait.
    names = case.names((outside >= _PART * case.window_ns) & (tops.numbers("processor_ns") < _AT_WORK * outside))
    own = [row for row, name in names.items() if is_own_name(name)]
    stood = case.cells("top", "methods", "external_ns", own)
    version = case.answers["startup"].facts.runtime_version if "startup" in case.answers else None
    major = int(version.partition(".")[0]) if version and version[:1].isdigit() else None
    if case.value("locks.count") is not None or stood.value < limit or (major or 0) >= _NAMED_FROM:
        return None
    worst = max(own, key=lambda row: outside[row])
    title = f"threads stood for {stood.text} in native code that methods of the program call, most in {names[worst]}"
    if major is None or case.share(stood.value) < _STOOD:
        return Unknown(f"{title}: before .NET 10 that may be a lock", case.record(["locks"]))
    title += ": before .NET 10, that is mostly a lock"
    culprit = let_go_in(case, [names[worst]], _stood_until(case)) or names[worst]
    return Ailment(title, stood, (stood,), case.share(stood.value), culprit)


def _stood_until(case: Case) -> NDArray[np.int64]:
    """When threads of the program went on that had stood in native code, or waited for what no method tells."""
    spans, threads = case.rows("threads", "intervals"), case.rows("threads", "threads")
    roles = zip(threads.column("thread_id").tolist(), threads.column("role").tolist(), strict=True)
    stands = np.isin(np.array(spans.column("state").tolist()), ("native", "wait"))
    stands &= np.isin(spans.numbers("thread_id"), [thread for thread, role in roles if role in _OWN_ROLES])
    thread, start, end = (spans.numbers(name)[stands] for name in ("thread_id", "start_ns", "end_ns"))
    order = np.lexsort((start, thread))
    thread, start, end = thread[order], start[order], end[order]
    # Counts of processor time divide what is one stay.
    ends = np.append((thread[1:] != thread[:-1]) | (start[1:] - end[:-1] > _AFTER), True)[: len(end)]
    since = start[np.append(True, ends[:-1])[: len(start)]]
    until: NDArray[np.int64] = end[ends][end[ends] - since > _BEFORE]
    return until


def _standing(case: Case, limit: float) -> Verdict:
    count = case.cited("top.standing")
    rows = case.rows("top", "standing")
    states, methods, threads = (rows.column(name).tolist() for name in ("state", "method", "thread_id"))
    waiting = [row for row, state in enumerate(states) if state != "running"]
    methods, threads = ([values[row] for row in waiting] for values in (methods, threads))
    # One that is in a native call may be there on purpose; of two at once that is less likely. Deadlocks that events
    # show have a rule of their own.
    circle = set(case.rows("locks", "deadlocks").column("thread_id").tolist() if "locks" in case.answers else ())
    if count.value < limit or ("lock" not in states and len(waiting) < 2) or circle.issuperset(threads):
        return Clear(f"{counted(int(count.value), 'thread')} did not move", (count,))
    stood = case.cells("top", "standing", "stood_ns", waiting)
    places = (f"thread {thread} in {method or 'unknown code'}" for thread, method in zip(threads, methods, strict=True))
    what = "waiting for a lock" if "lock" in states else "in a lock or another native call"
    title = f"{counted(len(waiting), 'thread')} never moved, {what}: {', '.join(places)}"
    culprit = " and ".join(dict.fromkeys(name for name in methods if name)) or None
    return Ailment(title, stood, (count, stood), None, culprit)


_WAITS: Final = (
    "System.Threading.Thread.Sleep",
    "System.IO.",
    "System.Net.",
    "System.Threading.Tasks.",
    "Microsoft.Data.",
)


def _idle(case: Case) -> bool:
    """Whether holders mostly sleep, or wait for files, networks and tasks, while they hold locks."""
    rows = case.rows("locks", "holders")
    doing, lengths = rows.column("doing").tolist(), rows.numbers("held_ns")
    waiting = [row for row, name in enumerate(doing) if (name or "").startswith(_WAITS)]
    return bool(lengths[waiting].sum() > 0.5 * lengths.sum())


_WAITING: Final = Remedy(
    "whoever holds the lock mostly waits itself",
    _idle,
    "Do not wait while holding the lock: sleep, read, write and call others before or after.",
)

RULES: Final = (
    Rule(
        "lock.deadlock",
        "Is there a deadlock?",
        ("locks.deadlocks",),
        Threshold(1, "1 circle of threads that wait for each other's locks", "what a deadlock is"),
        "These threads never go on, and neither does whoever needs a lock that they hold.",
        "Take the locks in the same order everywhere.",
        "tracing stopped while they waited: a thread that gives up after a time limit ends the circle.",
        "locks {file} --table deadlocks",
        _deadlock,
        cost="locks",
    ),
    Rule(
        "lock.standing",
        "Are there threads that never move?",
        ("top.standing",),
        Threshold(1, "1 thread that waits for a lock, or 2 in a native call, in every sample of the last 2 s"),
        "What holds them up, such as a deadlock, began before the recording, or contentions were not recorded.",
        "Compare their stacks: each waits for what another one holds. Then take locks in the same order everywhere.",
        "they wait for work on purpose, in a lock or in a native call of the program's own.",
        "top {file} --table standing",
        _standing,
        "sample",
        cost="locks",
    ),
    Rule(
        "lock.convoy",
        "Do threads queue up for one lock?",
        ("locks.convoys", "locks.waited_total"),
        Threshold(_CROWD, "4 threads in turn, and half of all waiting for locks"),
        "Threads in a convoy run one after the other, however many processors there are.",
        "Hold the lock for less time, split it, or let readers in together.",
        "the lock is held while something is made once, at the start.",
        "locks {file} --table convoys {span}",
        _convoy,
        also=("waits",),
        remedies=(_WAITING,),
        cost="locks",
    ),
    Rule(
        "lock.waited",
        "Is much time spent waiting for locks?",
        ("locks.waited_total", "locks.waited_max"),
        Threshold(
            0.05, "5 % of the time and 50 ms, added up over threads, on at least 3 occasions; or a wait of 200 ms"
        ),
        "A thread that waits for a lock does nothing for whoever waits for it.",
        "Hold the lock for less time: compute before, and call nothing slow inside.",
        "the waiting threads had nothing else to do.",
        "locks {file}",
        _waited,
        also=("waits",),
        remedies=(_WAITING,),
        cost="locks",
    ),
    Rule(
        "lock.sampled",
        "Do samples show threads that wait for locks?",
        ("waits.sampled_total",),
        Threshold(
            0.05,
            "5 % of the time and 200 ms, added up over threads, where contentions tell nothing",
            of=WINDOW,
            least=_LONG,
        ),
        "A thread that waits for a lock does nothing for whoever waits for it.",
        "Record contentions, which tell who held the lock: clrevents collect --for locks.",
        "the waiting threads had nothing else to do.",
        "waits {file}",
        _sampled,
        "sample",
        also=("top", "locks", "startup", "threads"),
        cost="locks",
    ),
)
