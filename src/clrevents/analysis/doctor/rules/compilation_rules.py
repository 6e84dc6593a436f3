"""Rules about start-up and the JIT: starts that are long or spent compiling, and code that is made all the time."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import counted, duration_text, share_text
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Clear, Remedy, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.gathering.groups import heaviest
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.analysis.shared.samples.leaf_states import WAITING

_FIRST: Final = 5 * 10**9
MAKING: Final = ("System.Reflection.Emit.", "System.Linq.Expressions.", "System.Text.RegularExpressions.")
"""Namespaces of what code is generated with."""
_LITTLE: Final = 0.2
"""So much of a start is waiting at most, and of what follows work."""
_MOSTLY, _ALL = 0.5, 1.1
"""Parts of the start that a method was sampled for that is to blame for it."""


def _long_start(case: Case, limit: float) -> Verdict:
    """How long the main thread works at first, where it waits afterwards, and for longer."""
    if case.value("startup.runtime_to_program") is None:
        return Unknown("the recording does not begin with the program")
    threads, spans = case.rows("threads", "threads"), case.rows("threads", "intervals")
    roles = zip(threads.column("thread_id").tolist(), threads.column("role").tolist(), strict=True)
    own = np.flatnonzero(np.isin(spans.numbers("thread_id"), [thread for thread, role in roles if role == "main"]))
    own = own[np.argsort(spans.numbers("start_ns")[own], kind="stable")]
    took = spans.numbers("duration_ns")[own]
    waits = np.isin(np.array(spans.column("state").take(own).tolist(), dtype=object), WAITING)
    # Work counts for the start, and waiting against it: it ends where it has most.
    ends = 1 + int(np.cumsum(np.where(waits, -took, took)).argmax()) if len(own) else 0
    start = case.cells("threads", "intervals", "duration_ns", own[:ends].tolist())
    later = took[ends:].sum()
    title = f"the main thread was at work for the first {start.text}, and mostly waited afterwards"
    is_start = took[:ends][waits[:ends]].sum() <= _LITTLE * start.value
    if start.value < limit or later < start.value or not is_start or took[ends:][~waits[ends:]].sum() > _LITTLE * later:
        return Clear("the main thread did not work for long before it waited", (start,), ns=limit - start.value)
    tops = case.rows("top", "methods")
    parts = tops.numbers("inclusive_ns") / start.value
    # The innermost method of the program that had most of it, and no more.
    names = case.names((parts >= _MOSTLY) & (parts <= _ALL))
    culprit = min(((parts[row], name) for row, name in names.items() if is_own_name(name)), default=(0, None))[1]
    nameless = "no method of the program took most of it"
    return Ailment(title, start, (start,), case.share(start.value), culprit, nameless=nameless)


def _startup(case: Case, limit: float) -> Verdict:
    rows = case.rows("jit", "compilations")
    length = min(_FIRST, case.window_ns)
    early = (rows.numbers("start_ns", -1) >= 0) & (rows.numbers("start_ns") < length)
    places = np.flatnonzero(early & ~rows.column("background").filled(False)).tolist()
    total = case.cells("jit", "compilations", "compile_ns", places)
    share = total.value / max(length, 1)
    title = f"{total.side}{share_text(share)} of the first {duration_text(length)} were spent compiling"
    if share < limit or total.value < 200_000_000:
        return Clear(title, (total,), ns=max(limit * length, 200_000_000) - total.value)
    modules = (name or "" for name in rows.column("module").take(np.array(places)).tolist())
    culprit = heaviest(zip(modules, rows.numbers("compile_ns")[places].tolist(), strict=True)) or None
    title += f": {counted(len(places), 'compilation')}, {total.text}"
    threads = case.rows("jit", "threads")
    foreground = threads.numbers("background") < threads.numbers("compilations")
    busiest = case.cells("jit", "threads", "compile_ns", [int((threads.numbers("compile_ns") * foreground).argmax())])
    whose = threads.column("thread_id").tolist()[busiest.rows[0]]
    part = share_text(case.share(busiest.value))
    title += f"; in all, thread {whose} compiled for {busiest.text}, {part} of the recording"
    return Ailment(title, total, (total, busiest), min(share, 1.0), culprit, (0, length))


def _churn(case: Case, limit: float) -> Verdict:
    rows = case.rows("jit", "compilations")
    # Without verbose events only the ends are known.
    starts = np.where(rows.column("start_ns").known, rows.numbers("start_ns"), rows.numbers("end_ns", -1))
    after = min(_FIRST, case.window_ns // 4)
    later = np.flatnonzero(rows.column("dynamic").filled(False) & (starts >= after)).tolist()
    count = case.cited("jit.compilations")
    length = max(case.window_ns - after, 1)
    rate = len(later) * 1e9 / length
    took = case.cells("jit", "compilations", "compile_ns", later)
    # What is made once, and kept, is made in one stretch.
    busy = len(set(((starts[later] - after) * 8 // length).tolist()))
    title = f"{counted(len(later), 'dynamic method')} were compiled after the beginning, {rate:,.1f} per second"
    if rate < limit or len(later) < 50 or busy < 6:
        return Clear(title, (count,), events=max(limit * length / 1e9 - len(later), 50 - len(later), 6 - busy))
    if took.value:
        title += f", which took {took.text}"
    record = case.record(["alloc"]) if case.answers["alloc"].coverage == "none" else ""
    nameless = "no allocation tick shows who makes them" + (f": record {record}" if record else "")
    if not took.value:
        return Ailment(title, count.of(len(later)), (count,), None, _maker(case), nameless=nameless)
    return Ailment(title, took, (took, count), case.share(took.value), _maker(case), nameless=nameless)


def _maker(case: Case) -> str | None:
    """The program's method that allocates most of what code is made with; dynamic methods have no caller."""
    rows = case.rows("alloc", "type_stacks")
    columns = (rows.column(name).tolist() for name in ("type", "method", "bytes"))
    return heaviest(
        (method, size or 0)
        for kind, method, size in zip(*columns, strict=True)
        if kind and kind.startswith(MAKING) and is_own_name(method)
    )


def _dynamic(case: Case) -> bool:
    """Whether most of the time to compile is for code that the program makes while it runs."""
    rows = case.rows("jit", "compilations")
    took = rows.numbers("compile_ns")
    return bool(took[rows.column("dynamic").filled(False)].sum() > 0.5 * took.sum())


MADE: Final = Remedy(
    "most of the time is for code that is made while the program runs",
    _dynamic,
    "Make less code at run time, or keep it, such as compiled expressions: ReadyToRun does not help there.",
)

RULES: Final = (
    Rule(
        "jit.startup",
        "Is start-up spent compiling?",
        ("startup.runtime_to_main", "jit.compile_total"),
        Threshold(0.2, "20 % of the first 5 seconds, and 200 ms"),
        "Until its methods are compiled, a program answers nobody: new instances take that long to be of use.",
        "Publish with ReadyToRun, most of all the module that is named here.",
        "the trace made it slower: verbose events of the JIT cost time themselves.",
        "jit {file} --table compilations --sort compile_ns {span}",
        _startup,
        remedies=(MADE,),
    ),
    Rule(
        "startup.long",
        "Does the program work for long before it is ready?",
        ("threads.threads", "top.total"),
        Threshold(0.05, "5 % of the time, and 1 s", of=WINDOW, least=1_000_000_000),
        "Until then it answers nobody, and each new instance takes as long.",
        "Do only what the first request needs: look up and load the rest when it is asked for, or keep the result.",
        "the program has done its work by then.",
        "threads {file} --table intervals",
        _long_start,
        "sample",
        also=("startup",),
    ),
    Rule(
        "jit.churn",
        "Is code generated all the time?",
        ("jit.compilations",),
        Threshold(10, "10 dynamic methods per second, 50 in all, in 6 of 8 parts of the time after the beginning"),
        "Each generated method is compiled once more, on the thread that needs it.",
        "Keep compiled expressions, regular expressions and delegates, instead of making them for each call.",
        "plug-ins are being loaded.",
        "jit {file} --table compilations --columns dynamic,start_ns,compile_ns,method --sort dynamic",
        _churn,
        also=("alloc",),
    ),
)
