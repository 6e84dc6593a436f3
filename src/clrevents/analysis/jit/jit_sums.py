"""Compilations of a window → what is added up over them: by method, by tier, by thread, and in all.

A compilation counts where it began, and its time where it passed, so that adjacent windows add up. What is known of
none of the compilations in a group is null.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.collector import Context
from clrevents.analysis.framework.report_table import ReportTable
from clrevents.analysis.jit.jit_build import MethodKey
from clrevents.analysis.jit.jit_rows import Compilation, JittedMethod, JitThread, TierTotal

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
K = TypeVar("K", bound=Hashable)


@attrs.frozen(eq=False)
class _Amount:
    """A number of each compilation, 0 where it does not count in the window, and where it is known."""

    values: Ints
    known: Mask

    def sum(self, rows: Sequence[int]) -> int | None:
        """Over these rows."""
        return int(self.values[rows].sum()) if self.known[rows].any() else None


class CompilationSums:
    """Everything that is summed up over the compilations of a window."""

    def __init__(self, context: Context, listed: ReportTable[Compilation], never: Collection[MethodKey]) -> None:
        self._context, self._listed, self._never = context, listed, never
        self.begun = context.begun(listed)
        took = context.overlap(listed)
        timed = _known(listed, "compile_ns")
        self.background = _true(listed, "background")
        self._took = _Amount(took, timed)
        self._took_in_background = _Amount(np.where(self.background, took, 0), timed)
        self._il, self._native, self._inlined, self._not_inlined = (
            self._begun(name) for name in ("il_bytes", "native_bytes", "inlined", "not_inlined")
        )
        # One that began before the window, and is not known to have lasted into it, is in no group.
        self._counted = np.flatnonzero(self.begun | (took > 0)).tolist()

    def metrics(self) -> dict[str, int]:
        """The metrics that are made of compilations."""
        listed, begun = self._listed, self.begun
        everything = range(len(listed))
        methods = set(map(_picker(_keys(listed)), self._counted))
        return {
            "compilations": int(begun.sum()),
            "methods": len(methods),
            "foreground": int((begun & ~self.background).sum()),
            "background": int((begun & self.background).sum()),
            "compile_total": self._took.sum(everything) or 0,
            "background_total": self._took_in_background.sum(everything) or 0,
            "il_total": self._il.sum(everything) or 0,
            "native_total": self._native.sum(everything) or 0,
            "rejits": int((begun & _true(listed, "recompiled")).sum()),
            "unfinished": int((begun & ~_known(listed, "end_ns")).sum()),
            "untimed": int((begun & ~_known(listed, "start_ns")).sum()),
            "never_tiered_up": len(methods & set(self._never)),
            "rejected": int((begun & _true(listed, "rejected")).sum()),
        }

    def methods(self, only_never: bool) -> ReportTable[JittedMethod]:
        """By method, the longest time first; `only_never` leaves those that stayed at the quick tier."""
        keys = _keys(self._listed)
        groups = _groups(self._counted, keys)
        if only_never:
            groups = {key: rows for key, rows in groups.items() if key in self._never}
        values = self._values("method", "module", "tier", "start_ns", "end_ns", "il_bytes", "native_bytes")
        recompiled, rejected = _true(self._listed, "recompiled"), _true(self._listed, "rejected")
        found: list[dict[str, Any]] = []
        for key, rows in groups.items():
            last = rows[-1]
            start, end = values["start_ns"][rows[0]], values["end_ns"][rows[0]]
            found.append(
                {
                    "method": values["method"][last],
                    "module": values["module"][last],
                    "compilations": int(self.begun[rows].sum()),
                    "rejits": int((self.begun & recompiled)[rows].sum()),
                    "tiers": [tier for tier in map(_picker(values["tier"]), rows) if tier is not None],
                    "ready_ns": [end for end in map(_picker(values["end_ns"]), rows) if end is not None],
                    "compile_ns": self._took.sum(rows),
                    "background_ns": self._took_in_background.sum(rows),
                    "il_bytes": values["il_bytes"][last],
                    "native_bytes": values["native_bytes"][last],
                    "inlined": self._inlined.sum(rows),
                    "not_inlined": self._not_inlined.sum(rows),
                    "never_tiered_up": key in self._never,
                    "rejected": bool(rejected[rows].any()),
                    "first_ns": end if start is None else start,
                    "method_id": key[0],
                }
            )
        found.sort(key=lambda method: (-(method["compile_ns"] or 0), method["method"]))
        return self._context.table(JittedMethod, _columns(JittedMethod, found))

    def tiers(self) -> ReportTable[TierTotal]:
        """By tier, the most compilations first."""
        (tiers,) = self._values("tier").values()
        found = [{"tier": tier, **self._sums(rows)} for tier, rows in _groups(self._counted, tiers).items()]
        found.sort(key=lambda total: -total["compilations"])
        return self._context.table(TierTotal, _columns(TierTotal, found))

    def threads(self) -> ReportTable[JitThread]:
        """By thread, the longest time first."""
        (threads,) = self._values("thread_id").values()
        found = [
            {"thread_id": t, "background": int((self.begun & self.background)[rows].sum()), **self._sums(rows)}
            for t, rows in _groups(self._counted, threads).items()
        ]
        found.sort(key=lambda total: -(total["compile_ns"] or 0))
        return self._context.table(JitThread, _columns(JitThread, found))

    def _sums(self, rows: Sequence[int]) -> dict[str, Any]:
        return {
            "compilations": int(self.begun[rows].sum()),
            "compile_ns": self._took.sum(rows),
            "il_bytes": self._il.sum(rows),
            "native_bytes": self._native.sum(rows),
        }

    def _begun(self, name: str) -> _Amount:
        """A column's numbers, which count where a compilation began."""
        known = _known(self._listed, name)
        return _Amount(np.where(self.begun & known, self._listed.numbers(name), 0), known)

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


def _columns(row_class: type[Any], rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    names = [field.name for field in attrs.fields(row_class) if field.name not in ("process_id", "lossy")]
    return {name: [row[name] for row in rows] for name in names}


def _known(listed: ReportTable[Compilation], name: str) -> Mask:
    valid = listed.column(name).valid
    return np.ones(len(listed), dtype=np.bool_) if valid is None else valid


def _true(listed: ReportTable[Compilation], name: str) -> Mask:
    return listed.numbers(name).astype(np.bool_)


def _picker(values: Sequence[K]) -> Any:
    return values.__getitem__
