"""Rules about what is allocated, and by which code. Allocations cost collections, so a finding is in bytes."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np

from clrevents._util.words import share_text, size_text
from clrevents.analysis.doctor.rule import Ailment, Case, Clear, Rule, Threshold, Verdict
from clrevents.analysis.gathering.groups import heaviest
from clrevents.analysis.gathering.merged_stacks import NO_STACK

_LEAST: Final = 20_000_000
"""Bytes in all, below which no share says anything."""
_LEAST_RATE: Final = 10_000_000
"""Bytes per second, likewise."""
_NEARLY_ALL: Final = 0.8
"""What one caller of a method has to have it allocate for the method not to be a helper of several."""
_SMALL_EVENT: Final = 110_000
"""Bytes that one event tells at the most of objects that are never large: a tick comes every 100 kB."""
_MUCH: Final = 500_000_000
"""Bytes per second that cost something, whatever collections cost."""
_PAUSED: Final = 0.02
_SURVIVING: Final = 0.1
"""From this part on, survivors are what collections take time for."""

# On the heap, a value type is boxed: its name is that of no class. Nested enumerators of collections are structs.
_BOXED: Final = re.compile(
    r"System\.(?:S?Byte|U?Int(?:16|32|64|128|Ptr)|Single|Double|Half|Decimal|Boolean|Char|DateTime(?:Offset)?|DateOnly|"
    r"TimeOnly|TimeSpan|Guid|Index|Range|Nullable<.*>|ValueTuple<.*>|Collections\.Generic\.KeyValuePair<.*>|"
    r"Collections\.Generic\.\w+(?:<.*>)?[.+]Enumerator(?:<.*>)?|Threading\.CancellationToken|Runtime\.\S*\.GCHandle)"
)
_TEXTS: Final = frozenset(("System.String", "System.Char[]", "string", "char[]"))
_TEXT_CODE: Final = re.compile(
    r"\b(?:Concat|Substring|Format|Join|Replace|Split|ToString|Append\w*|ToLower\w*|ToUpper\w*|Trim\w*)\("
)
# Of the C# compiler and of Mono's: classes that hold what lambdas capture, state machines, and delegates.
_CLOSURES: Final = re.compile(
    r"<>c(?:__DisplayClass|$|\b)|__AnonStorey|AnonStorey|>d__|c__(?:Iterator|async)|AsyncStateMachineBox|"
    r"^System\.(?:Action|Func|Predicate|Comparison|EventHandler)\b|AsyncCallback$"
)


def _of_types(
    case: Case, limit: float, fits: Callable[[str], bool], what: str, largest: float = _SMALL_EVENT
) -> Verdict:
    """A verdict on these types, of which one event tells so many bytes at the most."""
    total = case.cited("alloc.bytes_total")
    places = case.where("alloc", "types", "type", lambda name: name and fits(name))
    cited = case.cells("alloc", "types", "bytes", places)
    share = cited.value / total.value if total.value else 0.0
    title = f"{share_text(share)} of {total.text} allocated are {what}"
    if share < limit or cited.value < _LEAST or case.per_second(cited.value) < _LEAST_RATE:
        least = max(limit * total.value, _LEAST, _LEAST_RATE * case.window_ns / 1e9)
        return Clear(title, (cited, total), events=(least - cited.value) / largest)
    worst = case.rows("alloc", "types").column("type").tolist()[places[0]]
    return Ailment(title, cited, (cited, total), share, site_of(case, worst))


def site_of(case: Case, type_name: str | None) -> str | None:
    """The method that allocates most of a type."""
    rows = case.rows("alloc", "type_stacks")
    columns = (rows.column(name).tolist() for name in ("type", "method", "bytes"))
    return heaviest((method, size or 0) for kind, method, size in zip(*columns, strict=True) if kind == type_name)


def _boxing(case: Case, limit: float) -> Verdict:
    return _of_types(case, limit, lambda name: _BOXED.fullmatch(name) is not None, "boxed values")


def _closures(case: Case, limit: float) -> Verdict:
    what = "delegates, and objects that the compiler made for lambdas and async methods"
    return _of_types(case, limit, lambda name: _CLOSURES.search(name) is not None, what)


def _strings(case: Case, limit: float) -> Verdict:
    verdict = _of_types(case, limit, _TEXTS.__contains__, "texts and their characters", math.inf)
    if not isinstance(verdict, Ailment):
        return verdict
    # Where none is put together or taken apart, texts are what the program makes; where some are, others were inlined.
    rows = case.rows("alloc", "type_stacks")
    stacks, types, bytes_ = (rows.column(name).tolist() for name in ("stack", "type", "bytes"))
    text_bytes = sum(
        size or 0
        for stack, name, size in zip(stacks, types, bytes_, strict=True)
        if name in _TEXTS and any(_TEXT_CODE.search(frame) for frame in (stack or ())[:6])
    )
    if text_bytes < 0.05 * verdict.evidence[1].value:
        return Clear(f"{verdict.title}, but hardly any are put together or taken apart", verdict.evidence)
    return verdict


def _one_site(case: Case, limit: float) -> Verdict:
    total = case.cited("alloc.bytes_total")
    rate, paused = case.per_second(total.value), case.value("gc.paused") or 0.0
    # What survives makes pauses long, not what is allocated and dies.
    costly = paused >= _PAUSED and (case.value("gc.promoted_total") or 0) < _SURVIVING * total.value
    if rate < _MUCH and not costly:
        # Decided first, since naming the stacks of all allocations costs most.
        title = f"{total.text} allocated, which is {size_text(rate)} per second, is too little for one method to matter"
        return Clear(title, (total,))
    rows = case.rows("alloc", "stacks")
    methods, bytes_ = rows.column("method").tolist(), rows.column("bytes").tolist()
    weights: dict[str, list[int]] = {}
    for row, name in enumerate(methods):
        if name != f"[{NO_STACK}]":
            weights.setdefault(name, []).append(row)
    if not weights:
        return Clear("no allocation has a stack", (total,))
    worst = max(weights, key=lambda name: sum(bytes_[row] or 0 for row in weights[name]))
    site, places = _caller(case, worst, weights[worst])
    cited = case.cells("alloc", "stacks", "bytes", places)
    share = cited.value / total.value
    what = "one method allocates" if site == worst else f"the most that one caller of {worst} allocates is"
    title = f"{what} {share_text(share)} of {total.text}, which is {size_text(rate)} per second"
    if share < limit or cited.value < _LEAST:
        return Clear(title, (cited, total))
    if paused:
        title += f"; collections stopped the program {share_text(paused)} of the time"
    return Ailment(title, cited, (cited, total), share, site)


def _caller(case: Case, method: str, rows: list[int]) -> tuple[str, list[int]]:
    """The caller that has a method allocate most, and its stacks; the method itself where nearly all is for one."""
    columns = (case.rows("alloc", "stacks").column(name).take(np.array(rows)) for name in ("stack", "bytes"))
    by: dict[str, list[int]] = {}
    weights: Counter[str] = Counter()
    for row, stack, size in zip(rows, *(column.tolist() for column in columns), strict=True):
        above = itertools.dropwhile(method.__ne__, stack or ())
        caller = next(itertools.dropwhile(method.__eq__, above), method)
        by.setdefault(caller, []).append(row)
        weights[caller] += size or 0
    most = max(weights, key=lambda name: weights[name])
    return (method, rows) if weights[most] >= _NEARLY_ALL * sum(weights.values()) else (most, by[most])


_COST: Final = "What is allocated has to be collected: fewer bytes make fewer collections."

RULES: Final = (
    Rule(
        "alloc.boxing",
        "Are values boxed?",
        ("alloc.bytes_total",),
        Threshold(
            0.2,
            "20 % of all bytes, 20 MB, and 10 MB per second",
            "JDK Mission Control, autoboxing: informs at 20 %, warns at 80 %",
        ),
        _COST,
        "Use generic collections and overloads instead of `object`, and interpolated strings instead of Format.",
        "the bytes are those of sampled allocations: for small objects, a rough number.",
        "alloc {file} --table types",
        _boxing,
        cost="allocations",
    ),
    Rule(
        "alloc.strings",
        "Are texts put together or taken apart all the time?",
        ("alloc.bytes_total",),
        Threshold(
            0.25, "25 % of all bytes, 20 MB, and 10 MB per second; 5 % where they are put together or taken apart"
        ),
        _COST,
        "Use StringBuilder, spans, and formatting into a buffer that is used again.",
        "texts are what the program produces.",
        "alloc {file} [--table stacks]",
        _strings,
        cost="allocations",
    ),
    Rule(
        "alloc.closures",
        "Do lambdas and async methods allocate?",
        ("alloc.bytes_total",),
        Threshold(0.1, "10 % of all bytes, 20 MB, and 10 MB per second"),
        _COST,
        "Make lambdas static, pass state as an argument, and return ValueTask where results are mostly there.",
        "they are a library's, not yours.",
        "alloc {file} --table types",
        _closures,
        cost="allocations",
    ),
    Rule(
        "alloc.one_site",
        "Does one method allocate much of everything?",
        ("alloc.bytes_total",),
        Threshold(
            0.25,
            "25 % of all bytes, 20 MB; and 500 MB per second in all, or 2 % of the time in pauses that survivors do "
            "not explain",
        ),
        _COST,
        "Look at that line first: use the object again, or allocate less of it.",
        "the method only wraps others for the same caller: then that one is to blame (clrevents alloc --table stacks).",
        "alloc {file} [--table stacks]",
        _one_site,
        also=("gc",),
        cost="allocations",
    ),
)
