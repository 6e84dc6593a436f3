"""Rules about garbage collections: what they cost in pauses, and what makes them necessary."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted, duration_text, share_text, size_text
from clrevents.analysis.doctor.rule import (
    LEAST_EVENTS,
    WINDOW,
    Ailment,
    Case,
    Cited,
    Clear,
    Remedy,
    Rule,
    Threshold,
    Unknown,
    Verdict,
)
from clrevents.analysis.doctor.rules.allocation_rules import site_of
from clrevents.analysis.gathering.merged_stacks import is_own_name

_SNAPSHOT: Final = "clrevents collect --for heap"
_MINUTE: Final = 60 * 10**9
_LEAST_PAUSES: Final = 50_000_000
"""In all; below it, nothing is said of shares: a trace of a few seconds has few collections."""
_LEAST_BYTES: Final = 100_000_000
_LARGE: Final = "AllocLarge"
_LEAST_SEEN: Final = 3
"""Collections, below which nothing is seen of a trend."""
_AS_MUCH: Final = 1.25
"""So many times more or less, two sizes are alike: of what is allocated, samples tell."""
_BUSY: Final = ("sleep", "running", "lock", "join", "task_wait", "io")
"""What the finalizer's thread does in finalizers; while it has none to call it waits for a handle."""


def _column(case: Case, name: str, table: str = "collections") -> list[Any]:
    return case.rows("gc", table).column(name).tolist()


def _unseen(case: Case) -> int:
    """How many events would have to be missing for a collection to be unknown: all that each has, if what is known is
    whole."""
    return 0 if any(_column(case, "lossy")) else LEAST_EVENTS["gc.count"]


def _pauses(case: Case, rows: list[int]) -> Cited:
    return case.cells("gc", "collections", "pause_ns", rows)


def _worst_span(case: Case, rows: list[int]) -> tuple[int, int] | None:
    """The collection of these with the longest pause."""
    starts, ends, pauses = (_column(case, name) for name in ("pause_start_ns", "end_ns", "pause_ns"))
    timed = [row for row in rows if starts[row] is not None and ends[row] is not None]
    if not timed:
        return None
    worst = max(timed, key=lambda row: pauses[row] or 0)
    return starts[worst], max(ends[worst], starts[worst] + (pauses[worst] or 0))


def _requester(case: Case, rows: list[int]) -> str | None:
    """The method that requested most of the pauses of these collections."""
    return next((name for name, _ in _requesters(case, rows).most_common(1)), None)


def _requesters(case: Case, rows: list[int]) -> Counter[str]:
    """How long the pauses were that methods requested: the program's, where one did."""
    weights: Counter[str] = Counter()
    own, by, pauses = (_column(case, name) for name in ("requested_in", "requested_by", "pause_ns"))
    for row in rows:
        if (requester := own[row] or by[row]) is not None:
            weights[requester] += (pauses[row] or 0) + 1
    return weights


def _of_pauses(
    case: Case, title: str, paused: Cited, evidence: tuple[Cited, ...], rows: list[int], culprit: str | None = None
) -> Ailment:
    """What the pauses of these collections cost, who requested most of them, if nobody else is to blame, and when the
    worst was."""
    share, culprit = case.share(paused.value), culprit or _requester(case, rows)
    return Ailment(title, paused, evidence, share, culprit, _worst_span(case, rows))


def _worst_minute(case: Case) -> tuple[float, tuple[int, int] | None]:
    """The largest share of a minute in pauses, and that minute; of the window if it is shorter."""
    if case.window_ns <= _MINUTE:
        return case.share(case.value("gc.pause_total")), None
    rows = case.rows("gc", "suspensions")
    known = rows.column("start_ns").known & rows.column("pause_ns").known
    starts, pauses = rows.numbers("start_ns")[known], rows.numbers("pause_ns")[known]
    order = np.argsort(starts, kind="stable")
    starts, sums = starts[order], np.concatenate([[0], np.cumsum(pauses[order])])
    ends = np.searchsorted(starts, starts + _MINUTE)
    within = sums[ends] - sums[np.arange(len(starts))]
    if not len(within):
        return 0.0, None
    worst = int(np.argmax(within))
    return float(within[worst]) / _MINUTE, (int(starts[worst]), int(starts[worst]) + _MINUTE)


def _main_reason(case: Case) -> str:
    """What most pauses were for, if that is one thing."""
    by, what, share = (_column(case, name, "totals") for name in ("by", "what", "share"))
    reasons = [(share[row], what[row]) for row, kind in enumerate(by) if kind == "reason" and share[row] is not None]
    most, reason = max(reasons, default=(0.0, ""))
    return f", {share_text(most)} of it for {reason}" if most >= 0.5 else ""


def _pause_ratio(case: Case, limit: float) -> Verdict:
    total = case.cited("gc.pause_total")
    share, span = _worst_minute(case)
    when = "" if span is None else " of the worst minute"
    title = f"the program was stopped for collections {total.side}{share_text(share)} of the time{when}"
    if share < limit or total.value < _LEAST_PAUSES:
        more = (limit - share) * min(case.window_ns, _MINUTE)
        return Clear(title, (total,), ns=max(more, _LEAST_PAUSES - total.value))
    title += f", {total.text} in all{_main_reason(case)}"
    culprit = _requester(case, list(range(len(case.rows("gc", "collections")))))
    return Ailment(title, total, (total, case.cited("gc.count")), case.share(total.value), culprit, span)


def _long_pause(case: Case, limit: float) -> Verdict:
    longest = case.cited("gc.pause_max")
    if longest.value < limit:
        return Clear(f"the longest pause took {longest.text}", (longest,), ns=limit - longest.value)
    pauses = _column(case, "pause_ns")
    rows = [row for row, pause in enumerate(pauses) if (pause or 0) >= limit]
    worst = max(rows, key=lambda row: pauses[row]) if rows else None
    reasons, generations = _column(case, "reason"), _column(case, "generation")
    which = "" if worst is None else f", of generation {generations[worst]} for {reasons[worst]}"
    title = f"{counted(len(rows), 'pause')} of at least {duration_text(limit)}, the longest {longest.text}{which}"
    total = _pauses(case, rows)
    return _of_pauses(case, title, total, (longest, total), rows)


def _slow_suspend(case: Case, limit: float) -> Verdict:
    rows = case.rows("gc", "suspensions")
    # What another suspension, such as the sampler's, held up is not the program's doing.
    own = rows.numbers("suspend_ns") - rows.numbers("held_up_ns")
    slow = np.flatnonzero(own >= limit).tolist()
    total = case.cited("gc.suspend_total")
    if not slow or (len(slow) < 2 and own[slow[0]] < 2 * limit):
        longest = int(own.max()) if len(own) else 0
        title = f"threads stopped within {duration_text(longest)}"
        return Clear(title, (total,), ns=limit if slow else 2 * limit)
    ready, ran = (case.value(f"threads.{name}_total") or 0 for name in ("ready", "processor"))
    if ready > ran > 0:
        return Unknown(f"{counted(len(slow), 'time')} threads took long to stop, but they waited for a processor, too")
    worst = max(slow, key=lambda row: own[row])
    took = case.cells("gc", "suspensions", "suspend_ns", slow)
    start = rows.column("start_ns").tolist()[worst]
    hints = case.rows("gc", "hints")
    at = [row for row, begun in enumerate(hints.column("start_ns").tolist()) if begun == start]
    culprit = hints.column("method").tolist()[at[0]] if at else None
    title = (
        f"{counted(len(slow), 'time')} it took {duration_text(limit)} or more until all threads had stopped, "
        f"{duration_text(int(own[worst]))} at most"
    )
    span = None if start is None else (start, start + int(rows.numbers("suspend_ns")[worst]))
    return Ailment(title, took, (took, total), case.share(took.value), culprit, span)


def _induced(case: Case, limit: float) -> Verdict:
    reasons, by = _column(case, "reason"), _column(case, "requested_by")
    # Where a tool took a snapshot of the heap, it requested collections that no method of the program did.
    snapshots = bool(case.value("trace.snapshots"))
    rows = [row for row, why in enumerate(reasons) if (why or "").startswith("Induced") and (by[row] or not snapshots)]
    share = len(rows) / max(len(reasons), 1)
    paused = _pauses(case, rows)
    counted_ = case.cited("gc.induced")
    title = f"{counted(len(rows), 'collection')} of {len(reasons):,} were requested by the program"
    if len(rows) < 3 or share < limit or not paused.value:
        return Clear(title, (counted_,), events=max(3, limit * len(reasons)) - len(rows))
    title += f", and paused it for {paused.text}"
    return _of_pauses(case, title, paused, (counted_, paused), rows)


def _large(case: Case, limit: float) -> Verdict:
    reasons, generations = _column(case, "reason"), _column(case, "generation")
    rows = [row for row, why in enumerate(reasons) if why == _LARGE and generations[row] == 2]
    paused, all_pauses = _pauses(case, rows), case.cited("gc.pause_total")
    share = paused.value / all_pauses.value if all_pauses.value else 0.0
    title = f"{counted(len(rows), 'collection')} of generation 2 because of large objects"
    if len(rows) < 3 or share < limit or case.share(paused.value) < 0.002:
        return Clear(title, (paused, all_pauses), events=3 - len(rows), ns=0.002 * case.window_ns - paused.value)
    title += f", {share_text(share)} of all pauses"
    requester = _requester(case, rows)
    culprit = requester if requester and is_own_name(requester) else _largest_site(case) or requester
    return _of_pauses(case, title, paused, (paused, all_pauses), rows, culprit)


def _largest_site(case: Case) -> str | None:
    """The method that allocates most large objects."""
    stacks = case.rows("alloc", "stacks")
    large = stacks.numbers("large_bytes")
    return stacks.column("method").tolist()[int(np.argmax(large))] if len(large) and large.max() else None


def _full(case: Case, limit: float) -> Verdict:
    reasons, generations, kinds = (_column(case, name) for name in ("reason", "generation", "kind"))
    # Requested ones, and those for large objects, have rules of their own.
    rows = [
        row
        for row, why in enumerate(reasons)
        if generations[row] == 2
        and kinds[row] == "blocking"
        and why != _LARGE
        and not (why or "").startswith("Induced")
    ]
    share, count = len(rows) / max(len(reasons), 1), case.cited("gc.count")
    paused = _pauses(case, rows)
    title = f"{counted(len(rows), 'collection')} of {len(reasons):,} were full and blocking"
    if len(reasons) < 20 or share < limit or case.share(paused.value) < 0.02:
        more = max(20 - len(reasons), limit * len(reasons) - len(rows))
        return Clear(title, (count, paused), events=more, ns=0.02 * case.window_ns - paused.value)
    title += f", and paused the program for {paused.text}"
    return _of_pauses(case, title, paused, (paused, count), rows)


def _fragmented(case: Case, limit: float) -> Verdict:
    after, free = _column(case, "heap_after_bytes"), _column(case, "fragmentation_bytes")
    generations = _column(case, "generation")
    full = [row for row, g in enumerate(generations) if g == 2 and after[row] and free[row] is not None]
    if not full:
        return Clear("no full collection says how much is free", events=_unseen(case))
    last = full[-1]
    share = free[last] / after[last]
    room, size = (case.cells("gc", "collections", n, [last]) for n in ("fragmentation_bytes", "heap_after_bytes"))
    title = f"{size_text(free[last])} of the heap's {size_text(after[last])} were free after the last full collection"
    if share < limit or free[last] < _LEAST_BYTES:
        return Clear(title, (room, size), events=_unseen(case))
    nameless = f"what lies between free space is not recorded; a snapshot of the heap has it: {_SNAPSHOT}"
    return Ailment(title, room, (room, size), share, nameless=nameless)


_VERBOSE: Final = "record Microsoft-Windows-DotNETRuntime:0x1:5"


def _most_kept(case: Case, kind: str, column: str) -> tuple[list[int], str | None]:
    """The rows about objects of a kind, and the type or method that most of them have."""
    kinds, names, objects = (_column(case, name, "kept") for name in ("kind", column, "objects"))
    rows = [row for row, one in enumerate(kinds) if one == kind]
    return rows, names[max(rows, key=lambda row: objects[row])] if rows else None


def _pinned(case: Case, limit: float) -> Verdict:
    rows = case.rows("gc", "generations")
    young = [row for row, g in enumerate(rows.column("generation").tolist()) if g in ("gen0", "gen1")]
    pinned = case.cells("gc", "generations", "pinned_survived_bytes", young)
    survived = case.cells("gc", "generations", "survived_bytes", young)
    rows_of, culprit = _most_kept(case, "pinned", "method")
    cited = case.cells("gc", "kept", "bytes", rows_of)
    if rows_of:
        # Older runtimes count whole runs of survivors that have a pinned object among them.
        pinned = min(pinned, cited, key=lambda one: one.value)
    share = pinned.value / survived.value if survived.value else 0.0
    title = f"{size_text(pinned.value)} of {size_text(survived.value)} that survived in generations 0 and 1 were pinned"
    if share < limit or pinned.value < 10_000_000:
        return Clear(title, (pinned, survived), events=_unseen(case))
    if not rows_of and "pinned" not in rows.column("generation").tolist():
        why = "runtimes before .NET 5 count what lies between pinned objects, too, and these were not recorded"
        return Unknown(f"{why}: {title}", "Microsoft-Windows-DotNETRuntime:0x1:5")
    if rows_of and culprit is None:
        # Of the type that is pinned most, who makes most.
        culprit = site_of(case, _most_kept(case, "pinned", "type")[1])
    if rows_of:
        nameless = "no recorded allocation has the address of a pinned object"
    else:
        nameless = f"pinned objects were not recorded: {_VERBOSE}"
    free = _column(case, "fragmentation_bytes")
    last = [row for row, size in enumerate(free) if size is not None][-1:]
    if not last:
        return Ailment(title, pinned, (pinned, survived), min(share, 1.0), culprit, nameless=nameless)
    # It is not their own size that hurts.
    held = case.cells("gc", "collections", "fragmentation_bytes", last)
    title += f"; after the last collection that tells, {held.text} were free between objects"
    return Ailment(title, held, (pinned, survived, held), None, culprit, nameless=nameless)


def _finalizers(case: Case, limit: float) -> Verdict:
    every = list(range(len(case.rows("gc", "collections"))))
    objects, sizes = (case.cells("gc", "collections", f"finalizable_{n}", every) for n in ("objects", "bytes"))
    rate = case.per_second(objects.value)
    title = f"{objects.value:,} dead objects were kept for their finalizers, {rate:,.0f} per second"
    if rate < limit or objects.value < limit:
        return Clear(title, (objects,), events=_unseen(case))
    rows, culprit = _most_kept(case, "finalized", "type")
    if rows:
        nameless = "no recorded allocation is of such an object"
    else:
        nameless = f"finalized objects were not recorded: {_VERBOSE}"
    return Ailment(
        f"{title}: {size_text(sizes.value)} with what they refer to",
        sizes,
        (objects, sizes),
        culprit=culprit,
        nameless=nameless,
    )


def _growth(case: Case, limit: float) -> Verdict:
    """Judged by what is left after full collections, without free space; what survived in between, and since, says
    whether two of them are enough."""
    after, generations, starts, free = (
        _column(case, n) for n in ("heap_after_bytes", "generation", "start_ns", "fragmentation_bytes")
    )
    known = [row for row, size in enumerate(after) if size and starts[row] is not None]
    full = [row for row in known if generations[row] == 2]
    few = f"{counted(len(full), 'full collection')} {'is' if len(full) == 1 else 'are'} too few to see the heap grow"
    if len(known) < _LEAST_SEEN:
        return Unknown(f"{few}: record for longer")
    first, last = (full or known)[0], known[-1]
    end, begin = (case.cells("gc", "collections", "heap_after_bytes", [row]) for row in (last, first))
    grown, elapsed = after[last] - after[first], (starts[last] - starts[first]) / 1e9
    went = f"from {size_text(after[first])} to {size_text(after[last])} in {duration_text(elapsed * 1e9)}"
    title = f"the heap went {went}, over {counted(len(full), 'full collection')}"
    if not _much(grown, after[first]) or grown / after[last] < limit * elapsed:
        return Clear(title, (begin, end), events=_unseen(case))
    if len(full) < 2 or (len(full) < 4 and elapsed < 1):
        return Unknown(f"{few}, or what of it is garbage: it went {went}; record for longer")
    if elapsed < 1:
        return Clear(title, (begin, end), events=_unseen(case))
    live = np.array([after[row] - (free[row] or 0) for row in full], dtype=np.float64)
    rises = np.sign(live[None, :] - live[:, None])[np.triu_indices(len(live), 1)]
    # What it had grown to after two thirds of the time.
    late = [row for row in known if starts[row] <= starts[first] + (starts[last] - starts[first]) * 2 / 3]
    still = after[last] - after[late[-1]] >= 0.15 * grown
    # In the end, more than half of what had come since the full collection before must be left.
    before = max(after[row] for row in known if full[-2] <= row < full[-1])
    still &= live[-1] - live[-2] >= 0.5 * (before - live[-2])
    if rises.mean() < 0.8 or not still or live[-1] - live[0] < 0.25 * grown:
        return Clear(title, (begin, end), events=_unseen(case))
    # Few collections tell no growth from what is made once, unless it goes on until the end.
    if len(full) < 4 and (starts[last] < 0.6 * case.window_ns or not _kept(case, full, live)):
        return Unknown(f"{few}: it went {went}; record for longer")
    # What grew as fast before the first of them belongs to it.
    speed = (live[-1] - live[0]) / max(starts[full[-1]] - starts[full[0]], 1)
    if after[first] - after[known[0]] <= 2 * speed * (starts[first] - starts[known[0]]):
        begin = case.cells("gc", "collections", "heap_after_bytes", [known[0]])
    grown = int(end.value - begin.value)
    title += f", and from {begin.text} since the first collection" if begin.rows != (first,) else ""
    culprit, nameless = _keeper(case, grown)
    return Ailment(title, end.of(grown), (end, begin), min(grown / after[last], 1.0), culprit, nameless=nameless)


def _kept(case: Case, full: list[int], live: NDArray[np.float64]) -> bool:
    """Whether nearly all that became old between full collections is still there, and as much goes on becoming old."""
    rows, collections = case.rows("gc", "generations"), case.rows("gc", "collections")
    moved = rows.numbers("moved_in_bytes") * (np.array(rows.column("generation").tolist()) == "gen2")
    starts, ends = (collections.numbers(name) for name in ("start_ns", "end_ns"))
    # During a background collection a younger one may make objects old, which are in what is left after it.
    between = (rows.numbers("start_ns") > starts[full[0]]) & (rows.numbers("start_ns") < ends[full[-1]])
    survived = moved[between].sum()
    younger = collections.numbers("promoted_bytes")
    young = collections.numbers("generation", 2) < 2
    rates = [
        younger[young & (starts > low) & (starts <= high)].sum() / max(high - low, 1)
        for low, high in ((starts[full[0]], starts[full[-1]]), (starts[full[-1]], starts[-1] + 1))
    ]
    return bool(survived and live[-1] - live[0] >= 0.8 * survived and rates[1] >= 0.6 * rates[0] > 0)


def _keeper(case: Case, grown: int) -> tuple[str | None, str]:
    """Who keeps what grows, where snapshots of the heap tell: the root of most bytes. Else who allocates what stays;
    and what to record to know more.

    What one place makes mostly stays or dies as a whole: of several that make enough, the one that makes as much.
    """
    types = {row.type for row in case.rows("heap", "growth") if (row.bytes_change or 0) > 0}
    paths = [row for row in case.rows("heap", "paths") if row.steps and (not types or row.type in types)]
    if paths:
        return max(paths, key=lambda row: row.bytes or 0).steps[0], ""
    sites = _sites(case)
    enough = [site for site, size in sites.items() if size >= grown / _AS_MUCH]
    alike = [site for site in enough if sites[site] <= grown * _AS_MUCH]
    if len(enough) > 1 and len(alike) != 1:
        names = ", ".join(sorted(enough)[:3])
        return None, f"{names} each allocate enough; a snapshot tells who keeps what: {_SNAPSHOT}"
    largest = sites.most_common(1)[0][0] if sites else None
    culprit = next(iter(alike if len(enough) > 1 else enough), None) or largest
    if culprit is None:
        # Collections are requested by who allocates, which need not keep it: one of several methods cannot be told.
        requesters = _requesters(case, list(range(len(case.rows("gc", "collections")))))
        if len(requesters) > 1:
            return None, f"{', '.join(sorted(requesters)[:3])} allocate; a snapshot tells who keeps: {_SNAPSHOT}"
        culprit = next(iter(requesters), None)
    return culprit, "" if culprit else f"nothing recorded tells who allocates, or keeps: {_SNAPSHOT}"


def _midlife(case: Case, limit: float) -> Verdict:
    """Judged by what became older, and by how much more of it is there in the end: garbage that no collection has found
    counts as if it lived, so that at least the rest has died."""
    reasons, generations = _column(case, "reason"), _column(case, "generation")
    # Requested ones have a rule of their own.
    old = [row for row, why in enumerate(reasons) if generations[row] and not (why or "").startswith("Induced")]
    paused = _pauses(case, old)
    title = f"collections of generations 1 and 2 paused the program for {paused.text}"
    if paused.value < limit:
        return Clear(title, (paused,), ns=limit - paused.value)
    if len(old) < _LEAST_SEEN:
        return Unknown(f"{title}, too few of them to see what dies there")
    rows, numbers = case.rows("gc", "generations"), _column(case, "number")
    names, number = np.array(rows.column("generation").tolist()), rows.numbers("number")
    later = (number > numbers[old[0]]) & (number <= numbers[old[-1]])
    survived = case.cells("gc", "generations", "moved_in_bytes", np.flatnonzero((names == "gen1") & later).tolist())
    free = rows.numbers("free_list_after_bytes") + rows.numbers("free_objects_after_bytes")
    live = np.where(np.isin(names, ("gen1", "gen2")), rows.numbers("size_after_bytes") - free, 0)
    moved = np.where((names == "gen1") & later, rows.numbers("moved_in_bytes"), 0)
    before = int(live[number == numbers[old[0]]].sum())
    died = 0
    for row in old[1:]:
        grown = max(int(live[number == numbers[row]].sum()) - before, 0)
        died = max(died, int(moved[number <= numbers[row]].sum()) - grown)
    title = f"at least {size_text(died)} of {survived.text} that survived a collection died later; {title}"
    if died < max(0.5 * survived.value, _LEAST_BYTES / 2):
        return Clear(title, (paused, survived), ns=limit - paused.value)
    culprit = next(iter(_sites(case)), None) or _requester(case, old)
    return Ailment(title, paused, (paused, survived), case.share(paused.value), culprit)


def _finalizing(case: Case, limit: float) -> Verdict:
    own = case.where("threads", "threads", "role", "finalizer".__eq__)
    parts = [case.cells("threads", "threads", f"{name}_ns", own) for name in _BUSY]
    took = sum(one.value for one in parts)
    title = f"finalizers kept their thread busy for {duration_text(took)}"
    if took < limit:
        return Clear(title, tuple(parts))
    tops = case.rows("top", "methods")
    inside = [
        (abs(took - inclusive), name)
        for name, inclusive in zip(tops.column("name").tolist(), tops.numbers("inclusive_ns"), strict=True)
        if name.endswith(".Finalize()") and is_own_name(name)
    ]
    return Ailment(title, parts[0].of(took), tuple(parts), case.share(took), min(inside)[1] if inside else None)


def _much(grown: int, before: int) -> bool:
    return grown >= max(_LEAST_BYTES / 10, 0.25 * before)


def _sites(case: Case) -> Counter[str]:
    """The bytes that methods of the program allocate, if only through a library; of a constructor, who makes the
    object."""
    sizes: Counter[str] = Counter()
    rows = case.rows("alloc", "stacks")
    for stack, method, size in zip(*(rows.column(n).tolist() for n in ("stack", "method", "bytes")), strict=True):
        makers = (name for name in stack or () if is_own_name(name) and ".ctor(" not in name)
        is_maker = is_own_name(method or "") and ".ctor(" not in method
        site = method if is_maker else next(makers, None if ".ctor(" in (method or "") else method)
        if site is not None:
            sizes[site] += size or 0
    return sizes


def _memory(case: Case, limit: float) -> Verdict:
    loads = _column(case, "memory_load")
    rows = [row for row, load in enumerate(loads) if load is not None and load >= limit]
    peak = case.cited("gc.heap_peak")
    most = max((load for load in loads if load is not None), default=None)
    if most is None:
        return Clear("no collection says how full the memory was", (peak,), events=_unseen(case))
    title = f"{share_text(most)} of the memory was in use at most"
    if not rows:
        return Clear(title, (peak,), events=_unseen(case))
    title = f"{share_text(most)} of the memory was in use, at {counted(len(rows), 'collection')}"
    return Ailment(title, peak, (peak,), None, None, _worst_span(case, rows))


def _requested(case: Case) -> bool:
    """Whether most pauses are for collections that the program requested."""
    asked = case.where("gc", "collections", "reason", lambda why: (why or "").startswith("Induced"))
    induced = _pauses(case, asked)
    return induced.value >= 0.5 * (case.value("gc.pause_total") or 1)


def _surviving(case: Case) -> bool:
    """Whether a tenth of what is allocated survives, or more: its pauses are for moving that."""
    promoted, allocated = case.value("gc.promoted_total"), case.value("gc.allocated_total")
    return promoted is not None and bool(allocated) and promoted >= 0.1 * allocated


_BY_CAUSE: Final = (
    Remedy(
        "most pauses are for collections that the program requests",
        _requested,
        "Remove the calls of GC.Collect that gc.induced names.",
    ),
    Remedy(
        "a tenth of what is allocated survives, or more",
        _surviving,
        "Keep fewer objects alive for a while only: pauses are for what survives, so allocating less helps little.",
    ),
)
_FOR_PAUSES: Final = "Threads that are stopped answer nobody: pauses are part of each response that they meet."

RULES: Final = (
    Rule(
        "gc.pause_ratio",
        "Do collections stop the program for much of the time?",
        ("gc.pause_total", "gc.count"),
        Threshold(
            0.05,
            "5 % of the worst minute, and 50 ms in all",
            "JDK Mission Control informs at 5 % and warns at 10 %; mem-doc: a well-behaved program is below 5 %",
        ),
        _FOR_PAUSES,
        "Allocate less where `clrevents alloc` shows most bytes.",
        "a debugger or the sample profiler stopped threads: `clrevents gc --table suspensions` has the reasons.",
        "gc {file} {span}",
        _pause_ratio,
        remedies=_BY_CAUSE,
        cost="pauses",
    ),
    Rule(
        "gc.long_pause",
        "Is there a long pause?",
        ("gc.pause_max",),
        Threshold(0, "a pause of 200 ms", "PerfView's GCStats lists pauses above 200 ms", of=WINDOW, least=200_000_000),
        _FOR_PAUSES,
        "See which generation was collected and why; full blocking collections go with large or long-lived garbage.",
        "it is one at the start of the program, when nobody waits.",
        "gc {file} --sort pause_ns {span}",
        _long_pause,
        remedies=_BY_CAUSE,
        cost="pauses",
    ),
    Rule(
        "gc.slow_suspend",
        "Do threads take long to stop for a collection?",
        ("gc.suspend_total",),
        Threshold(
            10_000_000, "10 ms until all threads stopped, twice; or 20 ms", "mem-doc: tens of milliseconds are a defect"
        ),
        "All other threads wait for the one that does not stop.",
        "Look for long loops without calls, and for calls into native code that hold threads up.",
        "the process had no processor just then, as under a CPU quota: threads cannot stop without running.",
        "gc {file} --table hints --hints {span}",
        _slow_suspend,
        also=("threads",),
        cost="pauses",
    ),
    Rule(
        "gc.induced",
        "Does the program request collections itself?",
        ("gc.induced", "gc.pause_total"),
        Threshold(0.1, "3 collections, and 10 % of all", "JDK Mission Control warns at 50 %; 10 % is our judgement"),
        "A requested collection is nearly always full and blocking, whether there is garbage or not.",
        "Remove the call of GC.Collect or GC.AddMemoryPressure, or find out which library makes it.",
        "it was requested by a tool, such as one that takes a snapshot of the heap, or on purpose between two phases.",
        "gc {file} [--callers] {span}",
        _induced,
        cost="pauses",
    ),
    Rule(
        "gc.large_objects",
        "Do large objects cause full collections?",
        ("gc.pause_total",),
        Threshold(
            0.2,
            "3 collections, 20 % of all pauses, and 0.2 % of the time",
            "by analogy to JDK Mission Control's 20 % outside TLABs",
        ),
        "Large objects are collected with generation 2 only, so each batch of them makes a full collection necessary.",
        "Rent large arrays from ArrayPool, or work in chunks below 85,000 bytes.",
        "they are buffers that are made once, at the start.",
        "alloc {file} [--table stacks] --sort large_bytes",
        _large,
        also=("alloc",),
        cost="pauses",
    ),
    Rule(
        "gc.full_blocking",
        "Are many collections full and blocking?",
        ("gc.count", "gc.pause_total"),
        Threshold(
            0.1,
            "10 % of at least 20 collections, and 2 % of the time",
            "classic counter guides: 100 : 10 : 1 by generation",
        ),
        "A full blocking collection looks at the whole heap while every thread waits.",
        "Find objects that live just long enough to become old: caches without bounds, requests that take long.",
        "there is little memory left, or background collections are switched off: then that is the cause.",
        "gc {file} --table totals",
        _full,
        cost="pauses",
    ),
    Rule(
        "gc.fragmented",
        "Is much of the heap free space?",
        ("gc.heap_peak",),
        Threshold(0.5, "50 % and 100 MB after the last full collection"),
        "Free space between objects counts as memory of the process, and new objects may not fit into it.",
        "Look for pinned objects, and for large arrays of many sizes.",
        "the next allocations fill it: the runtime keeps some on purpose.",
        "gc {file} --table generations",
        _fragmented,
        cost="heap",
    ),
    Rule(
        "gc.pinned",
        "Do pinned objects hold the young generations back?",
        ("gc.promoted_total",),
        Threshold(0.1, "10 % of the survivors, and 10 MB"),
        "Pinned objects cannot be moved, so the space around them is lost until they are let go.",
        "Allocate long-lived buffers on the pinned heap, or rent them from a pool.",
        "they belong to the web server's own buffers, which are few and long-lived.",
        "gc {file} --kept --table kept",
        _pinned,
    ),
    Rule(
        "gc.finalizers",
        "Do many objects need finalizers?",
        ("gc.count",),
        Threshold(1_000, "1,000 objects per second"),
        "An object with a finalizer survives its first collection, with everything that it refers to.",
        "Dispose such objects, and call GC.SuppressFinalize when doing so.",
        "they are few bytes, and finalizers that return at once.",
        "gc {file} --kept --table kept",
        _finalizers,
    ),
    Rule(
        "gc.growth",
        "Does the heap keep growing?",
        ("gc.heap_peak",),
        Threshold(
            0.01,
            "1 % per second, a quarter, and 10 MB, over at least 4 full collections most of which left more than those "
            "before, or 2 between which nearly nothing died, and still growing in the last third, where most survives",
            "JDK Mission Control, live set growing by 1 % per second",
        ),
        "What grows over full collections is held by something, and ends in an OutOfMemoryException.",
        "Take two snapshots of the heap some time apart, and compare them: clrevents heap NEW --against OLD.",
        "a cache is still warming up.",
        "gc {file} --columns number,generation,start_ns,heap_after_bytes",
        _growth,
        "inferred",
        ("alloc", "heap"),
        cost="heap",
    ),
    Rule(
        "gc.midlife",
        "Do objects grow old just to die?",
        ("gc.pause_total", "gc.promoted_total"),
        Threshold(
            0.03,
            "half of what survives a collection, and 50 MB, dies later, while collections of generations 1 and 2, 3 at "
            "least, pause the program for 3 % of the time and 50 ms",
            of=WINDOW,
            least=50_000_000,
        ),
        "An object that survives is moved, and costs time in each pause until it dies; most should die before.",
        "Let go of objects sooner, or keep them for good: queues and caches of a fixed length make all of them old.",
        "a cache that is worth it replaces its entries.",
        "gc {file} --table generations",
        _midlife,
        "inferred",
        ("alloc",),
        cost="pauses",
    ),
    Rule(
        "gc.finalizing",
        "Are finalizers slow?",
        ("threads.threads", "top.total"),
        Threshold(0.1, "the finalizer's thread is busy for 10 % of the time, and 200 ms", of=WINDOW, least=200_000_000),
        "One thread calls all finalizers in turn: objects that wait for it stay in memory, with what they refer to.",
        "Let finalizers do no more than release a handle: no waiting, no locks. Dispose of the objects instead.",
        "the program waits for its finalizers on purpose, at its end.",
        "threads {file}",
        _finalizing,
        "sample",
    ),
    Rule(
        "gc.memory_load",
        "Is the memory nearly full?",
        ("gc.heap_peak",),
        Threshold(0.9, "90 % of the memory in use", "mem-doc: the runtime collects harder from 90 % on"),
        "From there on the runtime makes full blocking collections to stay within the limit.",
        "Raise the limit of the container, or look for what keeps the heap large: clrevents heap.",
        "other processes use the memory: the load is the machine's or the container's.",
        "gc {file} --columns number,reason,memory_load,heap_after_bytes,pause_ns",
        _memory,
        cost="heap",
    ),
)
