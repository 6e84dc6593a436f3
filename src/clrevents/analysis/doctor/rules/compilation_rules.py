"""Rules about the JIT: start-up that is spent compiling, and code that is generated all the time."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.units import duration_text, share_text
from clrevents._util.words import counted
from clrevents.analysis.doctor.case import Case
from clrevents.analysis.doctor.rule import Rule, Threshold
from clrevents.analysis.doctor.verdicts import Ailment, Clear, Unknown, Verdict

_FIRST: Final = 5 * 10**9


def _startup(case: Case, limit: float) -> Verdict:
    total = case.cited("startup.jit_total")
    facts = case.answers["startup"].facts
    if facts.runtime_init_ns is None:
        return Unknown("the start of the program was not recorded")
    until = min(facts.until_ns or _FIRST, case.window_ns)
    took = until - facts.runtime_init_ns
    share = total.value / took if took > 0 else 0.0
    title = f"{share_text(share)} of {duration_text(max(took, 0))} of start-up were spent compiling"
    if share < limit or total.value < 200_000_000:
        return Clear(title, (total,))
    count = case.cited("startup.jit_count") if case.value("startup.jit_count") is not None else total
    modules = [name for name in case.rows("startup", "compilations").column("module").tolist() if name]
    weights = case.rows("startup", "compilations").numbers("self_ns")
    named = case.rows("startup", "compilations").column("module").tolist()
    by_module = {name: int(sum(w for w, n in zip(weights, named, strict=True) if n == name)) for name in set(modules)}
    culprit = max(by_module, key=lambda name: by_module[name]) if by_module else None
    title += f": {counted(int(count.value), 'method')}, {duration_text(total.value)}"
    return Ailment(
        title, int(total.value), "ns", (total, count), min(share, 1.0), culprit, (facts.runtime_init_ns, until)
    )


def _churn(case: Case, limit: float) -> Verdict:
    rows = case.rows("jit", "compilations")
    dynamic = rows.column("dynamic").filled(False)
    starts = rows.numbers("start_ns", -1)
    begun = case.answers["startup"].facts.until_ns if "startup" in case.answers else None
    after = min(_FIRST, case.window_ns // 2) if begun is None else begun
    later = np.flatnonzero(dynamic & (starts >= after)).tolist()
    count = case.cited("jit.compilations")
    length = max(case.window_ns - after, 1)
    rate = len(later) * 1e9 / length
    took = case.cells("jit", "compilations", "compile_ns", later)
    title = f"{counted(len(later), 'dynamic method')} were compiled after start-up, {rate:,.1f} per second"
    if rate < limit or len(later) < 50:
        return Clear(title, (count,))
    title += f", which took {duration_text(took.value)}"
    return Ailment(title, int(took.value), "ns", (took, count), case.share(took.value), _most_made(case, later))


def _most_made(case: Case, rows: list[int]) -> str | None:
    names = case.rows("jit", "compilations").column("method").tolist()
    counts: dict[str, int] = {}
    for row in rows:
        counts[names[row]] = counts.get(names[row], 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else None


RULES: Final = (
    Rule(
        "jit.startup",
        "Is start-up spent compiling?",
        ("startup.jit_total",),
        Threshold(0.2, "20 % of start-up, and 200 ms", "our judgement"),
        "Until its methods are compiled, a program answers nobody: new instances take that long to be of use.",
        "Publish with ReadyToRun, most of all the module that is named here.",
        "the trace made it slower: verbose events of the JIT cost time themselves.",
        "startup {file} --table compilations --sort self_ns",
        _startup,
    ),
    Rule(
        "jit.churn",
        "Is code generated all the time?",
        ("jit.compilations",),
        Threshold(10, "10 dynamic methods per second after start-up, and 50 in all", "our judgement"),
        "Each generated method is compiled once more, on the thread that needs it.",
        "Keep compiled expressions, regular expressions and delegates, instead of making them for each call.",
        "plug-ins are being loaded.",
        "jit {file} --table compilations --sort compile_ns",
        _churn,
        also=("startup",),
    ),
)
