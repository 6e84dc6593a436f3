"""Compilations of a window → what is added up over them: by method, by tier, by thread, and in all.

A compilation counts where it began, and its time where it passed, so adjacent windows add up. What is unknown for all
compilations of a group is null.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import as_columns
from clrevents.analysis.gathering.groups import nulled
from clrevents.analysis.reports.jit.jit_build import MethodKey
from clrevents.analysis.reports.jit.jit_rows import Compilation, JittedMethod, JitThread, TierTotal

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
K = TypeVar("K", bound=Hashable)


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
        groups = _groups(self._counted, self._keys)
        if only_never:
            groups = {key: rows for key, rows in groups.items() if key in self._never}
        of = self._values("method", "module", "tier", "start_ns", "end_ns", "il_bytes", "native_bytes", "rejected")
        found: list[dict[str, Any]] = []
        for key, rows in groups.items():
            first, last = rows[0], rows[-1]
            found.append(
                {
                    "method": of["method"][last],
                    "module": of["module"][last],
                    "compilations": self._count("compilations", rows),
                    "rejits": self._count("rejits", rows),
                    "tiers": [tier for row in rows if (tier := of["tier"][row]) is not None],
                    "ready_ns": [end for row in rows if (end := of["end_ns"][row]) is not None],
                    "compile_ns": self._took.sum(rows),
                    "background_ns": self._took_in_background.sum(rows),
                    "il_bytes": of["il_bytes"][last],
                    "native_bytes": of["native_bytes"][last],
                    "inlined": self._inlined.sum(rows),
                    "not_inlined": self._not_inlined.sum(rows),
                    "never_tiered_up": key in self._never,
                    "rejected": any(of["rejected"][row] for row in rows),
                    "first_ns": of["end_ns"][first] if of["start_ns"][first] is None else of["start_ns"][first],
                    "method_id": key[0],
                }
            )
        found.sort(key=lambda method: (-(method["compile_ns"] or 0), method["method"]))
        return self._context.table(JittedMethod, as_columns(JittedMethod, found))

    def tiers(self) -> ReportTable[TierTotal]:
        """By tier, most compilations first."""
        (tiers,) = self._values("tier").values()
        found = [{"tier": tier, **self._sums(rows)} for tier, rows in _groups(self._counted, tiers).items()]
        found.sort(key=lambda total: -total["compilations"])
        return self._context.table(TierTotal, as_columns(TierTotal, found))

    def threads(self) -> ReportTable[JitThread]:
        """By thread, longest time first."""
        (threads,) = self._values("thread_id").values()
        found = [
            {"thread_id": t, "background": self._count("background", rows), **self._sums(rows)}
            for t, rows in _groups(self._counted, threads).items()
        ]
        found.sort(key=lambda total: -(total["compile_ns"] or 0))
        return self._context.table(JitThread, as_columns(JitThread, found))

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


def _groups(rows: Iterable[int], keys: Sequence[K]) -> dict[K, list[int]]:
    """Rows by their keys, in the order of the first of each."""
    found: dict[K, list[int]] = {}
    for row in rows:
        found.setdefault(keys[row], []).append(row)
    return found


def _known(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.column(name).known


def _true(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.numbers(name).astype(np.bool_)
