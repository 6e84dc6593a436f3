"""List the IL stubs that marshal P/Invoke and delegate calls.

Joins the events of stubs with those of their compilation. Knows no calls: how often a stub ran is not recorded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np

from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import NameParameters, ReportDeclaration
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Array, Gathered, grouped, groups, sum_known
from clrevents.analysis.shared.events.event_spans import EventSpans, compilations
from clrevents.symbols.display_names import display_name, raw_name

REVERSE, COM, PRECOMPILED, DELEGATE, VARARG, CALLI, STRUCT = (1 << bit for bit in range(7))
"""Bits of StubFlags; the enum itself is the event family's."""

_CUT: Final = "..."
_OPENS: Final = re.compile(r"^// (\w+) \{", re.MULTILINE)
_CLOSES: Final = re.compile(r"^// \} (\w+)", re.MULTILINE)


def kind_text(flags: int) -> str:
    """What a stub is for, in words: `P/Invoke`, `delegate of a native function`, `managed delegate for native code`."""
    reverse = bool(flags & REVERSE)
    if flags & STRUCT:
        text = "struct"
    elif flags & COM:
        text = "call from COM" if reverse else "call of COM"
    elif flags & DELEGATE:
        text = "managed delegate for native code" if reverse else "delegate of a native function"
    elif flags & CALLI:
        text = "call of a function pointer"
    else:
        text = "reverse P/Invoke" if reverse else "P/Invoke"
    if flags & VARARG:
        text += " with varargs"
    return f"{text} (precompiled)" if flags & PRECOMPILED else text


def is_cut(texts: Iterable[str], il: str) -> bool:
    """Whether one of a stub's texts ends early, or a section of its code begins and does not end."""
    return any(text.endswith(_CUT) for text in texts) or Counter(_OPENS.findall(il)) != Counter(_CLOSES.findall(il))


@table_row(at="time_ns", threads=("thread_id",))
class Stub(Row):
    """One generated IL stub."""

    time_ns: cells.Ns = column("When the stub was generated.")
    thread_id: cells.ThreadId | None = column("The thread that needed it.", importance=3)
    compile_ns: cells.DurationNs | None = column(
        "How long the JIT took to compile it; null if it was precompiled.", importance=1
    )
    cache_hits: cells.Count = column(
        "How often it was reused in the whole trace, according to the runtime.", hidden=True
    )
    cut: cells.Flag = column("The runtime truncated one of its texts.", hidden=True)
    kind: cells.Word = column(
        "What the stub is for: `P/Invoke`, `delegate of a native function` and so on.", importance=1
    )
    target: cells.CodeName = column("The managed method that the stub stands for.", importance=0)
    managed: cells.CodeText = column("The signature that managed code sees.")
    native: cells.CodeText = column("The signature of the native side.")
    flags: cells.Word = column("The flags of the event; `kind` gives them in words.", hidden=True)
    module: cells.CodeName | None = column("The module that declares the managed method.", hidden=True)
    stack: tuple[cells.CodeName, ...] = column(
        "The stack of the call that needed the stub, innermost frame first.", hidden=True
    )
    stub_signature: cells.CodeText = column("The signature of the stub itself.", hidden=True)
    il: cells.CodeText = column("The code of the stub, in IL.", hidden=True)
    namespace: cells.CodeName = column("The managed method's type, as the runtime writes it.", hidden=True)
    name: cells.CodeName = column("The managed method's name, as the runtime writes it.", hidden=True)
    token: cells.Ordinal = column("The managed method's metadata token.", hidden=True)
    stub_method_id: cells.Handle = column("The runtime's id of the stub. Ids are reused.", hidden=True)


@table_row
class StubTarget(Row):
    """All stubs of one kind for one managed method."""

    stubs: cells.Count = column("How many stubs were generated.")
    cache_hits: cells.Count = column("How often one of them was reused, according to the runtime.", hidden=True)
    compile_ns: cells.DurationNs | None = column("How long the JIT took for all of them.")
    first_ns: cells.Ns = column("When the first was generated.")
    kind: cells.Word = column("What the stubs are for.")
    target: cells.CodeName = column("The managed method.")
    managed: cells.CodeText = column("The signature that managed code sees.")
    native: cells.CodeText = column("The signature of the native side.")


@table_row
class StubKind(Row):
    """All stubs of one kind."""

    kind: cells.Word = column("What the stubs are for.")
    count: cells.Count = column("How many were generated.")


@table_row
class StubFacts:
    """Only numbers are known about stubs, and they are metrics."""


_STUB, _HIT = "runtime/ILStubGenerated", "runtime/ILStubCacheHit"
_BEGIN, _LOADS = "runtime/MethodJittingStarted", ("runtime/MethodLoad", "runtime/MethodLoadVerbose")
_COMPILED: Final = ("time_ns", "thread_id", "MethodID")
_KEPT: Final = {
    _HIT: ("time_ns", "StubMethodID"),
    _BEGIN: _COMPILED,
    **dict.fromkeys(_LOADS, (*_COMPILED, "MethodFlags")),
}
"""What is kept of each event; for stubs, everything."""

_STUBS: Final = "stubs"
_TIMES: Final = "compilation times"
_NEEDS: Final = (
    Need(_STUBS, ("ILStubGenerated",), 0x2000, essential=True),
    Need(_TIMES, ("MethodJittingStarted",), 0x2010, 5, proof=0x10),
)
_METRICS: Final = (
    count_of("count", "Stubs that were generated."),
    count_of("cache_hits", "How often a stub was reused, according to the runtime."),
    time_of("compile_total", "How long the JIT took for the stubs, as far as recorded.", better="less"),
)


@answer(
    name="stubs",
    summary="count compile_total cache_hits",
)
class StubsReport(Answer[StubFacts]):
    """The stubs that carry calls between managed and native code, with both signatures and their compilation times.

    A stub is made once, when a call that needs marshalling is first prepared. Calls whose arguments need no conversion
    have none. A stub's time is that of its compilation; how often it runs is not recorded.

    In a window, a stub counts where it was generated, with all of its time.

    A stub is lossy if events of its thread were lost while it was made. Targets and kinds are lossy if any event was
    lost, because there may have been more stubs.
    """

    stubs: ReportTable[Stub] = table("Each stub, in order of time.")
    targets: ReportTable[StubTarget] = table("The managed methods that need stubs, most stubs first.")
    kinds: ReportTable[StubKind] = table("What the stubs are for, most frequent first.")


class StubCollector(KeepingCollector[StubsReport]):
    """Keeps every event of a stub, and three or four numbers of each event of a compilation."""

    selectors = (_STUB, _HIT, _BEGIN, *_LOADS)
    stacks = True

    def __init__(self, asked: NameParameters) -> None:
        self._raw = asked.raw
        self._kept = Kept(_KEPT)

    def finish(self, context: Context) -> StubsReport:
        """Give the answer."""
        rows = self._kept.all(self.selectors, context.nothing)
        jitted = compilations(rows[_BEGIN], [rows[name] for name in _LOADS])
        stubs = _stubs(context, rows[_STUB], _hits(rows[_STUB], rows[_HIT]), jitted, self._raw)
        numbers = {
            "count": (_STUBS, len(stubs)),
            "cache_hits": (_STUBS, int(context.window.holds(rows[_HIT].numbers("time_ns")).sum())),
            "compile_total": (_TIMES, int(stubs.numbers("compile_ns").sum())),
        }
        return context.answer(
            StubsReport,
            facts=StubFacts(),
            metrics={name: None if {_STUBS, need} & context.unknown else n for name, (need, n) in numbers.items()},
            stubs=stubs,
            targets=_targets(context, stubs),
            kinds=_kinds(context, stubs),
        )


def _stubs(context: Context, rows: Gathered, hits: list[int], jitted: EventSpans, raw: bool) -> ReportTable[Stub]:
    """All stubs of the window."""
    methods, process = context.methods, context.process_id
    flag_class = next(field.enum for field in rows.payload if field.name == "StubFlags")
    shown = raw_name if raw else display_name
    compiled = _Compiled(jitted, rows.numbers("StubMethodID"))
    begins, ends = [], []
    # Names are looked up for the window's stubs only: there are few of them, but stacks are long.
    rows_inside = np.flatnonzero(context.window.holds(rows.numbers("time_ns")))
    for place, row in zip(rows_inside.tolist(), rows.only(rows_inside).table.rows(), strict=True):
        flags, time = row["StubFlags"], row["time_ns"]
        owner, name, managed = (row[f"ManagedInteropMethod{n}"] for n in ("Namespace", "Name", "Signature"))
        native, signature, il = (row[n] for n in ("NativeMethodSignature", "StubMethodSignature", "StubMethodILCode"))
        module = methods.modules.at(row["ModuleID"], time, process)
        took, end = compiled.after(row["StubMethodID"], time)
        ends.append(end)
        stack = methods.frames(context.stacks.of_event(row["stack_id"]), time, process)
        begins.append(
            Stub(
                time_ns=time,
                thread_id=row["thread_id"],
                compile_ns=took,
                cache_hits=hits[place],
                cut=is_cut((owner, name, managed, native, signature, il), il),
                kind=kind_text(flags),
                target=shown(owner, name, ""),
                managed=managed,
                native=native,
                flags=str(flag_class(flags)) if flag_class else str(flags),
                module=module.name if module else None,
                stack=tuple(
                    raw_name(f.namespace, f.name, f.signature) if raw and f.resolved else f.label for f in stack
                ),
                stub_signature=signature,
                il=il,
                namespace=owner,
                name=name,
                token=row["ManagedInteropMethodToken"],
                stub_method_id=row["StubMethodID"],
            )
        )
    times, threads = rows.numbers("time_ns")[rows_inside], rows.numbers("thread_id")[rows_inside]
    until = np.array(ends, dtype=np.int64)
    return context.table(Stub, begins, context.marks.touched(times, until, [threads]).tolist())


def _hits(stubs: Gathered, hits: Gathered) -> list[int]:
    """How often each stub was found again: ids are reused, so a hit belongs to the last stub that had the id then."""
    counts = [0] * len(stubs)
    rows = _rows_by_id(stubs.numbers("StubMethodID"))
    places = stubs.places.tolist()
    for id, place in zip(hits.numbers("StubMethodID").tolist(), hits.places.tolist(), strict=True):
        stubs_of_id = rows.get(id, [])
        before = bisect_left(stubs_of_id, place, key=places.__getitem__)
        if before:
            counts[stubs_of_id[before - 1]] += 1
    return counts


class _Compiled:
    """How long the JIT took for stubs: the compilations of their ids with both start and end in the trace."""

    def __init__(self, jitted: EventSpans, stub_ids: Array) -> None:
        whole = jitted.only(np.isin(jitted.either("MethodID"), stub_ids) & jitted.closed)
        self._rows = _rows_by_id(whole.either("MethodID"))
        self._spans = list(zip(whole.start_ns.tolist(), whole.end_ns.tolist(), strict=True))

    def after(self, method_id: int, time_ns: int) -> tuple[int | None, int]:
        """How long a stub generated then took, and when it was done.

        Ids are reused, so it is the first compilation that is not over yet.
        """
        for row in self._rows.get(method_id, ()):
            start, end = self._spans[row]
            if end >= time_ns:
                return end - start, end
        return None, time_ns


def _rows_by_id(ids: Array) -> dict[int, list[int]]:
    return {id: rows.tolist() for id, rows in groups(ids)}


def _targets(context: Context, stubs: ReportTable[Stub]) -> ReportTable[StubTarget]:
    targets = grouped(stubs, lambda stub: (stub.namespace, stub.name, stub.managed, stub.native, stub.kind))
    rows = [
        StubTarget(
            stubs=len(group),
            cache_hits=sum(stub.cache_hits for stub in group),
            compile_ns=sum_known(stub.compile_ns for stub in group),
            first_ns=group[0].time_ns,
            kind=group[0].kind,
            target=group[0].target,
            managed=group[0].managed,
            native=group[0].native,
        )
        for group in targets.values()
    ]
    rows.sort(key=lambda target: (-target.stubs, target.first_ns))
    return context.table(StubTarget, rows)


def _kinds(context: Context, stubs: ReportTable[Stub]) -> ReportTable[StubKind]:
    counts = Counter(stubs.column("kind").tolist())
    kinds = sorted(counts.items(), key=lambda kind: (-kind[1], kind[0]))
    return context.table(StubKind, {"kind": [kind for kind, _ in kinds], "count": [count for _, count in kinds]})


REPORT: Final = ReportDeclaration(
    answer=StubsReport,
    question="Which calls between managed and native code needed a stub, and what did it cost?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=StubCollector,
    parameters=NameParameters,
    shown=("time_ns", "compile_ns", "thread_id", "kind", "target", "managed", "native"),
    examples=(
        ("Which P/Invokes need marshalling, and into what?", "clrevents stubs app.nettrace"),
        ("Where was each stub first needed?", "clrevents stubs app.nettrace --columns target,stack"),
        ("What does a stub do?", "clrevents stubs app.nettrace --columns target,il"),
    ),
    not_compared="stubs are made while a program starts",
)
