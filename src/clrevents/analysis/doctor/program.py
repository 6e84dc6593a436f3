"""What a program did, in a sentence each: how its time went by, what it served, ran, waited for and allocated.

Said whether or not anything is wrong. Knows no rule. A thread that is made to wait for work, and did little else, is
idle: its waits are none of the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final, TypeAlias

import numpy as np

from clrevents._util.words import counted, duration_text, share_text
from clrevents.analysis.doctor.rule import Case
from clrevents.analysis.shared.samples.leaf_states import at_stops

UNTIL_EXIT: Final = (
    "System.Diagnostics.Process.WaitForExit",
    "System.Diagnostics.ProcessWaitState.",
    "Microsoft.Build.Utilities.ToolTask.HandleToolNotifications",
)
"""How methods begin that block a thread until a process that the program started has ended."""
BARRIER: Final = "System.Threading.Barrier."
"""How methods begin in which threads wait for one another."""
_IN: Final = {
    "barrier": "at barriers",
    "lock": "for locks",
    "handle": "for handles",
    "monitor": "for monitors",
    "task": "for tasks",
    "join": "for threads to end",
    "sleep": "asleep",
}
"""Kinds of waits, after "waited"."""
_DID: Final = {
    "waiting": "waited",
    "running": "ran",
    "jit": "compiled",
    "type_load": "loaded types",
    "native": "was in native code",
    "gc_suspended": "was stopped for collections",
    "unknown": "did something unknown for",
}
"""What a thread did, by the columns of its times."""
UNACCOUNTED: Final = "unaccounted"
"""The part of requests for which nothing was recorded."""
_PARTS: Final = {
    "queue": "queued for a connection",
    "dns": "looking up names",
    "connect": "connecting",
    "tls": "in TLS handshakes",
    "wait": "waiting for the answer",
    "call": "in requests that it sent",
    "command": "in database commands",
    "gc": "in collections",
    "lock": "waiting for locks",
    "blocked": "blocking threads",
    "await": "awaiting",
    UNACCOUNTED: "unexplained",
}
"""What requests do, by their parts."""
_NAMELESS: Final = "code without a name"
_LITTLE: Final = 0.02
"""Shares of the time that are not worth a word."""
_HOT: Final = 0.05
"""The share of the running time from which on a method is worth its name."""
_FOR_WORK: Final = ("handle", "monitor")
"""Kinds of waits in which a thread may wait for something to do."""
_LONG_LIVED: Final = 0.5
"""The share of the time that a thread lives that is there for what comes."""
_ALL_BUT: Final = 0.9
"""The share of a time that is as good as all of it."""


_SPINS: Final = "System.Threading.LowLevelSpinWaiter."
"""How workers of the pool wait for work at first."""
_SAME: Final = 1.01
"""Up to how many times the time of a method those take that call it and do nothing else."""
_OFTEN: Final = 20_000
"""So many events per second, or"""
_HELD: Final = 0.1
"""threads that stood still for samples for such a share of the time, are felt."""
_ASYNC_MAIN: Final = ".<Main>"
"""How the method ends that blocks the main thread for as long as an async Main takes."""
_ROUTES: Final = (3, 0.05)
"""How many routes are named at most, and from which share of the time of all requests on."""

_Wait: TypeAlias = tuple[int, str, str, int]


def sentences(case: Case) -> dict[str, str | None]:
    """All of them, by the name of their fact; None for what was not recorded."""
    return {
        "time": _time(case),
        "requests": _requested(case),
        "main": _main(case),
        "ran": _ran(case),
        "waited": _waited(case),
        "allocated": _allocated(case),
    }


def _short(method: str) -> str:
    """Without the types of its arguments, which may fill a screen, or what is no name."""
    return _NAMELESS if method.startswith("[unresolved") else method.partition("(")[0]


def _time(case: Case) -> str | None:
    """How long was recorded, what requests or the main thread did in that time, and how many threads ran."""
    if not case.window_ns:
        return None
    parts = [f"{duration_text(case.window_ns)} recorded", *_requests(case)]
    if "threads" in case.answers and len(case.rows("threads", "threads")):
        parts += [*_thread(case), *_busy(case)]
    parts += _cost(case)
    return "; ".join(parts)


def _requests(case: Case) -> list[str]:
    if "requests" not in case.answers or not case.value("requests.server_count"):
        return []
    served = f"{counted(int(case.value('requests.server_count')), 'request')} served"
    half, most = (case.value(f"requests.server_p{percent}") for percent in (50, 99))
    if half is None or most is None:
        return [served]
    return [f"{served}, half within {duration_text(half)}, 99 % within {duration_text(most)}"]


def routes_of(case: Case) -> dict[tuple[str, ...], list[int]]:
    """The rows of the requests that have an end, by method and route where they were served, longest in all first; by
    host and route where none was served, but some were sent."""
    rows = case.rows("requests", "requests")
    columns = (rows.column(name).tolist() for name in ("side", "method", "host", "route", "duration_ns"))
    by_route: dict[str, dict[tuple[str, ...], list[int]]] = {"server": {}, "client": {}}
    for row, (side, method, host, route, took) in enumerate(zip(*columns, strict=True)):
        if took is not None:
            names = tuple(filter(None, (method, route))) if side == "server" else (f"{host or ''}{route or ''}",)
            by_route[side].setdefault(names, []).append(row)
    routes = by_route["server"] or by_route["client"]
    took_by = rows.numbers("duration_ns")
    return dict(sorted(routes.items(), key=lambda item: -int(took_by[item[1]].sum())))


def parts_of(case: Case, rows: Collection[int]) -> Counter[str]:
    """What the time of these requests went to; of a request that one of them sent, what that was doing meanwhile."""
    numbers = case.rows("requests", "requests").column("row").take(np.array(rows, dtype=np.int64)).tolist()
    by_request: dict[int, list[tuple[str, int, int, int | None]]] = {}
    columns = ("request_row", "part", "start_ns", "end_ns", "call_row")
    cells = (case.rows("requests", "parts").column(name).tolist() for name in columns)
    for number, part, start, end, call in zip(*cells, strict=True):
        by_request.setdefault(number, []).append((part, start, end, call))
    parts: Counter[str] = Counter()
    for part, start, end, call in (one for number in numbers for one in by_request.get(number, ())):
        inside = by_request.get(call, ()) if call is not None else ()
        for within, began, ended, _ in inside or ((part, start, end, None),):
            parts[within] += max(min(end, ended) - max(start, began), 0)
    return parts


def _requested(case: Case) -> str | None:
    """The routes that most of the time of requests went to, and what most of theirs went to; None without one."""
    if "requests" not in case.answers:
        return None
    routes, took = routes_of(case), case.rows("requests", "requests").numbers("duration_ns")
    total = int(took[[row for rows in routes.values() for row in rows]].sum())
    if not case.value("requests.server_count") and case.share(total) < _LITTLE:
        return None
    many, least = _ROUTES
    named: list[str] = []
    for names, rows in routes.items():
        ns = int(took[rows].sum())
        if len(named) < many and ns >= least * total > 0:
            part, longest = parts_of(case, rows).most_common(1)[0]
            did = f"{share_text(longest / ns)} {_PARTS.get(part, 'sending and receiving')}"
            named.append(f"{share_text(ns / total)} in {' '.join(names)} ({did})")
    return f"{duration_text(total)} in all: {', '.join(named)}" if named else None


def _thread(case: Case) -> list[str]:
    """What the main thread did; nothing where none is known, or requests are served."""
    rows = case.rows("threads", "threads")
    roles = rows.column("role").tolist()
    if "main" not in roles or ("requests" in case.answers and case.value("requests.server_count")):
        return []
    main = roles.index("main")
    times = {name: int(rows.numbers(f"{name}_ns")[main]) for name in _DID}
    heavy = sorted((name for name in times if case.share(times[name]) >= _LITTLE), key=lambda name: -times[name])
    did = [f"{_DID[name]} {duration_text(times[name])} ({share_text(case.share(times[name]))})" for name in heavy]
    if "waiting" in heavy and "waits" in case.answers:
        thread = rows.column("thread_id").tolist()[main]
        longest, what = _what([wait for wait in _waits(case) if wait[0] == thread])
        at = heavy.index("waiting")
        if longest >= _ALL_BUT * times["waiting"]:
            did[at] += what
        elif longest:
            # As where the runtime still writes its last events.
            did[at] = f"{did[at].removesuffix(')')}, of it {duration_text(longest)}{what})"
        did[at] += _meanwhile(case, thread)
    return [f"of that the main thread {', '.join(did)}"] if did else []


def _meanwhile(case: Case, waiting: int) -> str:
    """For how long of a thread's waits others waited for another process, and where they started it."""
    rows = case.rows("waits", "waits")
    columns = (rows.column(name).tolist() for name in ("thread_id", "method", "start_ns", "end_ns"))
    own: list[tuple[int, int]] = []
    exits: dict[str, list[tuple[int, int]]] = {}
    for thread, method, start, end in zip(*columns, strict=True):
        if start is None or end is None:
            continue
        if thread == waiting:
            own.append((start, end))
        elif method and method.startswith(UNTIL_EXIT):
            exits.setdefault(method, []).append((start, end))
    took = {
        method: sum(max(min(end, until) - max(start, since), 0) for start, end in spans for since, until in own)
        for method, spans in exits.items()
    }
    if not took or case.share(max(took.values())) < _LITTLE:
        return ""
    worst = max(took, key=lambda method: took[method])
    return f", {duration_text(took[worst])} of it for another process in {_short(starter(case, worst) or worst)}"


def library_of(method: str) -> str:
    """How the names of methods of the same library begin."""
    return f"{'.'.join(method.split('.')[:2])}."


def starter(case: Case, method: str) -> str | None:
    """Who called what waits for a process: the nearest method of another library, which knows what it started."""
    if "top" not in case.answers:
        return None
    rows = case.rows("top", "methods")
    names, took = rows.column("name").tolist(), rows.numbers("inclusive_ns")
    if method not in names:
        return None
    least = int(took[names.index(method)])
    library = library_of(method)
    above = [
        (int(took[row]), row)
        for row, name in enumerate(names)
        if least <= took[row] <= _SAME * least and not name.startswith(("System.", "[", library))
    ]
    return names[min(above)[1]] if above else None


def _main(case: Case) -> str | None:
    """What the main thread's time divides into; None where that is not known, or requests are served."""
    if "top" not in case.answers or ("requests" in case.answers and case.value("requests.server_count")):
        return None
    return case.answers["top"].facts.main  # type: ignore[no-any-return]


def _busy(case: Case) -> list[str]:
    """How many processors were busy, where that was counted; else how many threads ran."""
    used = case.value("threads.processor_total")
    if used is not None:
        return [f"{used / case.window_ns:.2g} processors busy"]
    if case.value("threads.running_total") is None:
        return []
    rows = case.rows("threads", "threads")
    own = np.array(rows.column("role").tolist()) != "sampler"
    took = sum(int(rows.numbers(f"{name}_ns")[own].sum()) for name in ("running", "jit", "type_load"))
    return [f"{took / case.window_ns:.2g} threads ran at a time, on average"] if took else []


def _cost(case: Case) -> list[str]:
    """What recording it may have added to all times, where that is much."""
    events = case.trace["events"].value if "events" in case.trace else None
    held = case.value("threads.sampler_total") if "threads" in case.answers else None
    reasons = []
    if case.per_second(events or 0) >= _OFTEN:
        reasons.append(f"writing {case.per_second(events or 0):,.0f} events per second")
    if case.share(held or 0) >= _HELD:
        reasons.append(f"stopping threads for samples for {case.cited('threads.sampler_total').text}")
    return [f"times are longer than without recording, by {' and '.join(reasons)}"] if reasons else []


def _ran(case: Case) -> str | None:
    """The method that threads ran longest; None without samples."""
    if "top" not in case.answers:
        return None
    rows = case.rows("top", "methods")
    # Processor time where it was counted; else the time in which samples found the thread running.
    is_counted = bool(rows.column("processor_ns").known.any())
    took = rows.numbers("processor_ns" if is_counted else "running_ns").copy()
    names = case.names(took > 0)
    # Who spins waits for work.
    took[[row for row, name in names.items() if name.startswith(_SPINS)]] = 0
    if not took.sum():
        return None
    elsewhere = took.copy()
    elsewhere[list(names)] *= ~at_stops(names.values())
    worst = int(elsewhere.argmax())
    part = took[worst] / took.sum()
    what = "processor time" if is_counted else "running time"
    by = f"{share_text(part)} of it in {_short(names[worst])}" if part >= _HOT else "spread over many methods"
    return f"{duration_text(took.sum())} of {what}, {by}"


def _waits(case: Case) -> list[_Wait]:
    """The program's waits, each with its thread, kind, method and length."""
    rows = case.rows("waits", "waits")
    columns = (
        rows.column(name).tolist() for name in ("thread_id", "kind", "method", "duration_ns", "inside", "waiting_in")
    )
    return [
        (thread, "barrier" if (waiting_in or "").startswith(BARRIER) else kind, method or _NAMELESS, took)
        for thread, kind, method, took, inside, waiting_in in zip(*columns, strict=True)
        if kind != "idle" and inside is None and took
    ]


def _idle(case: Case, waits: list[_Wait]) -> set[int]:
    """The threads that nearly all the time wait in one method: for something to do. The main thread has a task."""
    if "threads" not in case.answers:
        return set()
    by: Counter[tuple[int, str]] = Counter()
    for thread, kind, method, took in waits:
        by[thread, method] += took if kind in _FOR_WORK else 0
    rows = case.rows("threads", "threads")
    columns = (rows.column(name).tolist() for name in ("thread_id", "role", "life_ns"))
    lives = {
        thread: life
        for thread, role, life in zip(*columns, strict=True)
        if role != "main" and case.share(life) >= _LONG_LIVED
    }
    return {thread for (thread, _), took in by.items() if thread in lives and took >= _ALL_BUT * lives[thread]}


def _what(waits: list[_Wait]) -> tuple[int, str]:
    """How long these waited longest, and for what, in words. What waits for another process keeps others waiting."""
    took: Counter[tuple[bool, str, str]] = Counter()
    for _, kind, method, length in waits:
        took[method.startswith(UNTIL_EXIT), kind, method] += length
    if not took:
        return 0, ""
    longest = max(took.values())
    exits, kind, method = max(took, key=lambda one: (one[0] and took[one] >= longest / 4, took[one]))
    if _short(method).endswith(_ASYNC_MAIN):
        return took[exits, kind, method], " for its async Main"
    what = "for another process" if exits else _IN.get(kind, kind)
    return took[exits, kind, method], f" {what} in {_short(method)}"


def _waited(case: Case) -> str | None:
    """What threads waited for longest; None where no wait is known."""
    if "waits" not in case.answers:
        return None
    waits = _waits(case)
    idle = _idle(case, waits)
    most, what = _what([wait for wait in waits if wait[0] not in idle])
    beside = f"; {counted(len(idle), 'thread')} had nothing to do" if idle else ""
    return f"{duration_text(most)}{what}{beside}" if most else None


def _allocated(case: Case) -> str | None:
    """What was allocated most; None where that was not recorded."""
    if "alloc" not in case.answers or not case.value("alloc.bytes_total"):
        return None
    rows = case.rows("alloc", "types")
    worst = int(rows.numbers("bytes").argmax())
    kind, share = (rows.column(name).tolist()[worst] for name in ("type", "share"))
    return f"{case.cited('alloc.bytes_total').text}, {share_text(share)} of it {kind}"
