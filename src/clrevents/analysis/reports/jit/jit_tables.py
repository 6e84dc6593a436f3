"""The tables of the JIT report: their rows, and what is added up by method, by tier, by thread, and in all.

A compilation counts where it began, and its time where it passed, so adjacent windows add up. What is unknown for all
compilations of a group is null.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import (
    Address,
    Bytes,
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Handle,
    Ns,
    Ordinal,
    Row,
    SpanRow,
    ThreadId,
    Word,
    column,
    row,
)
from clrevents.analysis.gathering.groups import Mask, grouped, nulled
from clrevents.analysis.reports.jit.jit_methods import MethodKey


@row(since="first_ns")
class JittedMethod(Row):
    """One method with all its compilations that lie in the window."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it.", importance=0)
    module: CodeName | None = column("The module that declares it.", hidden=True)
    compilations: Count = column("How many compilations of it began.", hidden=True)
    rejits: Count = column("How many of them were not the first of this method in the trace.", hidden=True)
    tiers: tuple[Word, ...] = column("The tiers of its finished compilations, in order of time.", importance=3)
    ready_ns: tuple[Ns, ...] = column("When each of them was ready to run.", hidden=True)
    compile_ns: DurationNs | None = column("How long its compilations took within the window.", importance=0)
    background_ns: DurationNs | None = column("How much of that was on the background thread.", hidden=True)
    il_bytes: Bytes | None = column("The size of its IL, at the last compilation.", importance=2)
    native_bytes: Bytes | None = column("The size of its code, at the last compilation.")
    inlined: Count | None = column("Calls that were inlined in its compilations.", importance=3)
    not_inlined: Count | None = column("Calls that could not be inlined in its compilations.", importance=3)
    never_tiered_up: Flag = column(
        "It was compiled for a quick start and never optimized in the whole trace.", hidden=True
    )
    rejected: Flag = column("It had precompiled code that could not be used.", hidden=True)
    first_ns: Ns = column("When its first compilation began; if that is unknown, when it was ready.", hidden=True)
    method_id: Handle = column("The runtime's id of the method. Ids of dynamic methods are reused.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Compilation(SpanRow):
    """One compilation of a method, finished or not."""

    method: CodeName = column("The method as in C#, or with `raw` as the runtime writes it.")
    module: CodeName | None = column("The module that declares it.", hidden=True)
    tier: Word | None = column("The tier, as the runtime names it; null for an unfinished compilation.")
    version: Ordinal | None = column("The number of this version of the method's code; 0 is the first.", hidden=True)
    background: Flag | None = column("Whether the thread that raises methods to higher tiers compiled it.")
    thread_id: ThreadId | None = column("The thread that compiled it.")
    start_ns: Ns | None = column("When the compilation began.")
    end_ns: Ns | None = column("When the code was loaded.", hidden=True)
    compile_ns: DurationNs | None = column("The time between the two, including any part outside the window.")
    il_bytes: Bytes | None = column("The size of the IL.")
    native_bytes: Bytes | None = column("The size of the code alone.")
    inlined: Count | None = column("Calls that were inlined.", hidden=True)
    not_inlined: Count | None = column("Calls that could not be inlined.", hidden=True)
    tail_calls: Count | None = column("Calls that became tail calls.", hidden=True)
    no_tail_calls: Count | None = column("Calls that could not become tail calls.", hidden=True)
    recompiled: Flag = column("The same method was compiled before, in this trace.", hidden=True)
    dynamic: Flag | None = column("It is a dynamic method or a stub, generated at run time.", hidden=True)
    rejected: Flag | None = column("There was precompiled code that could not be used.", hidden=True)
    method_id: Handle = column("The runtime's id of the method.", hidden=True)
    address: Address | None = column("Where the code begins.", hidden=True)
    namespace: CodeName = column("The method's type, as the runtime writes it.", hidden=True)
    name: CodeName = column("The method's name, as the runtime writes it.", hidden=True)
    signature: CodeText = column("The method's signature, as the runtime writes it.", hidden=True)


@row
class TierTotal(Row):
    """All compilations at one tier."""

    tier: Word | None = column("The tier, as the runtime names it; null for unfinished compilations.")
    compilations: Count = column("How many compilations began.")
    compile_ns: DurationNs | None = column("How long they took within the window.")
    il_bytes: Bytes | None = column("The size of their IL.")
    native_bytes: Bytes | None = column("The size of their code.")


@row(threads=("thread_id",))
class JitThread(Row):
    """All compilations on one thread."""

    thread_id: ThreadId | None = column("The thread.")
    compilations: Count = column("How many compilations began on it.")
    background: Count = column("How many of them raised methods to higher tiers in the background.")
    compile_ns: DurationNs | None = column("How long they took within the window.")
    il_bytes: Bytes | None = column("The size of their IL.")
    native_bytes: Bytes | None = column("The size of their code.")


@row
class JitDecision(Row):
    """One outcome of the JIT's decisions about calls, and the reason."""

    what: Word = column("What was decided: `inlining` or `tail call`.")
    accepted: Flag = column("Whether the JIT did it.")
    count: Count = column("How many calls had this outcome.")
    reason: Word | None = column("The JIT's word for why not, or for how it made a tail call.")


@row
class JitFacts:
    """The facts of a JIT report."""

    tiering: Word | None = column("The settings of tiered compilation, as the runtime names them.")
    background_by: Word | None = column(
        "How background compilations are recognized: by recorded `turns` of their thread, or only by `versions` of "
        "methods."
    )


class _Amount:
    """A number of each compilation: 0 where it does not count in the window, None where it is not known."""

    def __init__(self, values: NDArray[Any], known: Mask) -> None:
        # Lists, because most groups have one row, for which numpy is slow.
        self._values: list[int | None] = nulled(values, known)

    def sum(self, rows: Sequence[int]) -> int | None:
        """Over these rows."""
        if len(rows) == 1:
            return self._values[rows[0]]
        found = [value for value in map(self._values.__getitem__, rows) if value is not None]
        return sum(found) if found else None

    def total(self) -> int:
        """Over all rows."""
        return self.sum(range(len(self._values))) or 0


class CompilationSums:
    """Everything that is summed up over the compilations of a window."""

    def __init__(self, context: Context, listed: ReportTable[Compilation], never: Collection[MethodKey]) -> None:
        self._context, self._listed, self._never = context, listed, never
        begun, took = context.begun(listed), context.overlap(listed)
        background = _true(listed, "background")
        timed = _known(listed, "compile_ns")
        self._took = _Amount(took, timed)
        self._took_in_background = _Amount(np.where(background, took, 0), timed)
        self._il, self._native, self._inlined, self._not_inlined = (
            _Amount(np.where(begun, listed.numbers(name), 0), _known(listed, name))
            for name in ("il_bytes", "native_bytes", "inlined", "not_inlined")
        )
        everywhere = np.ones(len(listed), dtype=np.bool_)
        self._marks = {
            name: _Amount(begun & marked, everywhere)
            for name, marked in {
                "compilations": everywhere,
                "foreground": ~background,
                "background": background,
                "rejits": _true(listed, "recompiled"),
                "unfinished": ~_known(listed, "end_ns"),
                "untimed": ~_known(listed, "start_ns"),
                "rejected": _true(listed, "rejected"),
            }.items()
        }
        self._keys = _keys(listed)
        # One that began before the window, and is not known to have lasted into it, is in no group.
        self._counted: list[int] = np.flatnonzero(begun | (took > 0)).tolist()

    def metrics(self) -> dict[str, int]:
        """The metrics that are made of compilations."""
        methods = {self._keys[row] for row in self._counted}
        return {
            "methods": len(methods),
            "never_tiered_up": len(methods & set(self._never)),
            "compile_total": self._took.total(),
            "background_total": self._took_in_background.total(),
            "il_total": self._il.total(),
            "native_total": self._native.total(),
            **{name: marked.total() for name, marked in self._marks.items()},
        }

    def methods(self, only_never: bool) -> ReportTable[JittedMethod]:
        """By method, longest time first; `only_never` leaves those that stayed at the quick tier."""
        groups = grouped(self._counted, self._keys.__getitem__)
        if only_never:
            groups = {key: rows for key, rows in groups.items() if key in self._never}
        of = self._values("method", "module", "tier", "start_ns", "end_ns", "il_bytes", "native_bytes", "rejected")
        found = []
        for key, rows in groups.items():
            first, last = rows[0], rows[-1]
            found.append(
                JittedMethod(
                    method=of["method"][last],
                    module=of["module"][last],
                    compilations=self._count("compilations", rows),
                    rejits=self._count("rejits", rows),
                    tiers=tuple(tier for row in rows if (tier := of["tier"][row]) is not None),
                    ready_ns=tuple(end for row in rows if (end := of["end_ns"][row]) is not None),
                    compile_ns=self._took.sum(rows),
                    background_ns=self._took_in_background.sum(rows),
                    il_bytes=of["il_bytes"][last],
                    native_bytes=of["native_bytes"][last],
                    inlined=self._inlined.sum(rows),
                    not_inlined=self._not_inlined.sum(rows),
                    never_tiered_up=key in self._never,
                    rejected=any(of["rejected"][row] for row in rows),
                    first_ns=of["end_ns"][first] if of["start_ns"][first] is None else of["start_ns"][first],
                    method_id=key[0],
                )
            )
        found.sort(key=lambda method: (-(method.compile_ns or 0), method.method or ""))
        return self._context.table(JittedMethod, found)

    def tiers(self) -> ReportTable[TierTotal]:
        """By tier, most compilations first."""
        (tiers,) = self._values("tier").values()
        found = [
            TierTotal(
                tier=tier,
                **self._sums(rows),
            )
            for tier, rows in grouped(self._counted, tiers.__getitem__).items()
        ]
        found.sort(key=lambda total: -total.compilations)
        return self._context.table(TierTotal, found)

    def threads(self) -> ReportTable[JitThread]:
        """By thread, longest time first."""
        (threads,) = self._values("thread_id").values()
        found = [
            JitThread(
                thread_id=t,
                background=self._count("background", rows),
                **self._sums(rows),
            )
            for t, rows in grouped(self._counted, threads.__getitem__).items()
        ]
        found.sort(key=lambda total: -(total.compile_ns or 0))
        return self._context.table(JitThread, found)

    def _sums(self, rows: Sequence[int]) -> dict[str, Any]:
        return {
            "compilations": self._count("compilations", rows),
            "compile_ns": self._took.sum(rows),
            "il_bytes": self._il.sum(rows),
            "native_bytes": self._native.sum(rows),
        }

    def _count(self, name: str, rows: Sequence[int]) -> int:
        return self._marks[name].sum(rows) or 0

    def _values(self, *names: str) -> dict[str, list[Any]]:
        return {name: self._listed.column(name).tolist() for name in names}


def _keys(listed: ReportTable[Compilation]) -> list[MethodKey]:
    names = ("method_id", "namespace", "name", "signature")
    return list(zip(*(listed.column(name).tolist() for name in names), strict=True))


def _known(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.column(name).known


def _true(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.numbers(name).astype(np.bool_)
