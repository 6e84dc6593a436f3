"""Exceptions of a window → their groups, messages, stretches of time and metrics.

Counts each one where it was thrown, and the part of its time inside the window. Knows no events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.varying import message_pattern
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import numbered, sum_by
from clrevents.analysis.reports.exceptions.exception_build import BuiltExceptions
from clrevents.analysis.reports.exceptions.exception_rows import (
    ExceptionGroup,
    ExceptionInterval,
    ExceptionMessage,
    ExceptionOutcome,
    ThrownException,
)

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

_STRETCHES: Final = 100
"""The most stretches of time."""
_SHORTEST: Final = 1_000_000


class ExceptionSums:
    """What is added up of the exceptions that a window holds. `handled` says whether handlers were recorded."""

    def __init__(
        self, context: Context, found: BuiltExceptions, listed: ReportTable[ThrownException], handled: bool
    ) -> None:
        self._context = context
        self._found = found
        self._listed = listed
        self._handled = handled
        self._begun = context.begun(listed) if len(listed) else np.zeros(0, dtype=np.bool_)
        self._told = listed.column("start_ns").known
        again = listed.numbers("by_await").astype(np.bool_)
        nested = listed.numbers("nested").astype(np.bool_)
        mine = self._begun & self._told
        self.again: Mask = mine & again
        self.nested: Mask = mine & nested & ~again
        self.thrown: Mask = mine & ~nested & ~again

    def groups(self) -> ReportTable[ExceptionGroup]:
        """By type, throwing and catching method: most often thrown first."""
        names = ("type", "throwing_method", "catching_method")
        of, first = self._grouped(names)
        count = len(first)
        times = self._times(self._context.window)
        caught = self._listed.column("catching_method").known
        columns: dict[str, Any] = {
            **{name: self._text(name, first) for name in names},
            "thrown": _added(of, self.thrown, count),
            "rethrown": self._if(self._rethrown_known, _added(of, self._numbers("rethrown"), count)),
            "nested": _added(of, self.nested, count),
            "rethrown_by_await": _added(of, self.again, count),
            "filtered": self._if(self._handled, _added(of, self._numbers("filtered"), count)),
            "uncaught": self._if(self._handled, _added(of, self._begun & ~caught, count)),
            "dispatch_ns": self._if(self._handled, _added(of, times[0], count)),
            "handling_ns": self._if(self._handled, _added(of, times[1], count)),
            "hresult": self._common("hresult", of, first),
            "lossy": _added(of, self._listed["lossy"], count) + self._missing() > 0,
        }
        throws = columns["thrown"] + columns["nested"] + columns["rethrown_by_await"]
        made = self._context.table(ExceptionGroup, columns)
        # A group of which the window only has time stays; one with neither throws nor time does not.
        some = throws + _added(of, self._begun, count) + _added(of, times[0] + times[1], count) > 0
        order = np.lexsort((-_added(of, times[0], count), -throws))
        return made.take(order[some[order]])

    def messages(self) -> ReportTable[ExceptionMessage]:
        """By type and message without numbers: most frequent first."""
        rows = np.flatnonzero(self._begun & self._told)
        types, texts = self._text("type", rows), self._listed.column("message").take(rows).tolist()
        patterns = {text: None if text is None else message_pattern(text) for text in set(texts)}
        of, groups = numbered((type, patterns[text]) for type, text in zip(types, texts, strict=True))
        distinct: list[dict[str | None, None]] = [{} for _ in groups]
        for group, text in zip(of.tolist(), texts, strict=True):
            distinct[group].setdefault(text)
        counts = np.bincount(of, minlength=len(groups)).astype(np.int64)
        lossy = _added(of, self._listed["lossy"][rows], len(groups)) + self._missing() > 0
        made = self._context.table(
            ExceptionMessage,
            {
                "count": counts,
                "distinct": [len(known) for known in distinct],
                "type": [type for type, _ in groups],
                "message": [pattern for _, pattern in groups],
                "example": [next(iter(known)) for known in distinct],
                "lossy": lossy,
            },
        )
        return made.take(np.argsort(-counts, kind="stable"))

    def timeline(self) -> ReportTable[ExceptionInterval]:
        """By stretches of time, from the first throw in the trace to the last."""
        all_starts = self._found.columns["start_ns"]
        starts = all_starts.values[all_starts.known]
        edges = _edges(int(starts.min()), int(starts.max())) if len(starts) else np.zeros(1, dtype=np.int64)
        count = len(edges) - 1
        window, duration = self._context.window, self._context.duration_ns
        times = self._listed.numbers("start_ns")
        mine = self._begun & self._told
        place = np.searchsorted(edges, times[mine], side="right") - 1
        inside = window.overlap(edges[:-1], np.minimum(edges[1:], max(duration, int(edges[-2]) + 1 if count else 0)))
        sums = {name: _added(place, getattr(self, name)[mine], count) for name in ("thrown", "nested", "again")}
        throws = sums["thrown"] + sums["nested"] + sums["again"]
        rates = [n / (ns / 1e9) if ns else 0.0 for n, ns in zip(throws.tolist(), inside.tolist(), strict=True)]
        dispatch = [
            self._share_sum(low, high) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        rethrown = _added(place, self._numbers("rethrown")[mine], count)
        return self._context.table(
            ExceptionInterval,
            {
                "start_ns": edges[:-1],
                "end_ns": edges[1:],
                "thrown": sums["thrown"],
                "rethrown": self._if(self._rethrown_known, rethrown),
                "nested": sums["nested"],
                "rethrown_by_await": sums["again"],
                "per_second": rates,
                "dispatch_ns": self._if(self._handled, np.array(dispatch, dtype=np.int64)),
            },
        )

    def outcomes(self) -> ReportTable[ExceptionOutcome]:
        """By what became of them: most frequent first."""
        counts = Counter(self._outcomes()).most_common()
        lossy = [bool(self._missing())] * len(counts)
        columns = {"outcome": [word for word, _ in counts], "count": [n for _, n in counts], "lossy": lossy}
        return self._context.table(ExceptionOutcome, columns)

    def metrics(self) -> dict[str, int | None]:
        """The report's numbers."""
        outcomes = self._outcomes()
        dispatch, handling = (int(times.sum()) for times in self._times(self._context.window))
        lengths = self._listed.column("dispatch_ns")
        known = np.sort(lengths.values[lengths.known & self._begun])
        tells = {
            "filtered": int(self._numbers("filtered").sum()),
            "in_flight": outcomes.count("in_flight"),
            "without_throw": int((self._begun & ~self._told).sum()),
            "unmatched": int(self._context.window.holds(self._found.unmatched).sum()),
            "dispatch_total": dispatch,
            "handling_total": handling,
            "dispatch_median": int(known[(len(known) - 1) // 2]) if len(known) else None,
            "dispatch_max": int(known[-1]) if len(known) else None,
        }
        return {
            "count": int((self.thrown | self.nested | self.again).sum()),
            "thrown": int(self.thrown.sum()),
            "rethrown": int(self._numbers("rethrown").sum()) if self._rethrown_known else None,
            "nested": int(self.nested.sum()),
            "rethrown_by_await": int(self.again.sum()),
            **{name: value if self._handled else None for name, value in tells.items()},
        }

    @cached_property
    def _rows(self) -> Ints:
        """The numbers of the exceptions in the table."""
        return self._listed.numbers("row").astype(np.int64)

    def _grouped(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The group of each exception by these texts, and the first place of each group, in order of these."""
        keys = np.zeros(len(self._listed), dtype=np.int64)
        for name in names:
            held = self._found.texts[name]
            _, keys = np.unique(keys * (len(held.texts) + 1) + held.of[self._rows], return_inverse=True)
        _, first, of = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place[of], first[order]

    def _text(self, name: str, places: Ints) -> list[str | None]:
        held = self._found.texts[name]
        return [held.texts[n] for n in held.of[self._rows[places]].tolist()]

    def _common(self, name: str, of: Ints, first: Ints) -> list[str | None]:
        """The text that all of each group have, None where they differ."""
        numbers = self._found.texts[name].of[self._rows]
        differs = _added(of, numbers != numbers[first][of], len(first)) > 0
        return [None if odd else text for odd, text in zip(differs.tolist(), self._text(name, first), strict=True)]

    def _outcomes(self) -> list[str | None]:
        """What became of each exception that counts in the window."""
        return self._text("outcome", np.flatnonzero(self._begun))

    @property
    def _rethrown_known(self) -> bool:
        return self._handled or self._found.rethrows_by == "events"

    def _numbers(self, name: str) -> Ints:
        """A count of each exception, as far as it counts in the window."""
        found: Ints = np.where(self._begun, self._listed.numbers(name), 0).astype(np.int64)
        return found

    def _if(self, known: bool, values: Ints) -> Any:
        return values if known else [None] * len(values)

    def _missing(self) -> int:
        """1 if any event of the window is missing, so that no sum is sure."""
        return int(self._context.touched())

    @cached_property
    def _share_place(self) -> Ints:
        """The place of each share's exception in the table, -1 where the window leaves it out."""
        places = np.full(len(self._found.columns["row"]), -1, dtype=np.int64)
        places[self._rows] = np.arange(len(self._listed))
        return places[self._found.share_row]

    def _times(self, window: TimeWindow) -> tuple[Ints, Ints]:
        """Of each exception in the table, how long it took in the window: before and after a handler had caught it."""
        found = self._found
        length = window.overlap(found.share_start, found.share_end)
        held = (self._share_place >= 0) & (length > 0)
        both = []
        for caught in (False, True):
            mine = held & (found.share_caught == caught)
            both.append(sum_by(self._share_place[mine], length[mine], len(self._listed)))
        return both[0], both[1]

    def _share_sum(self, low: int, high: int) -> int:
        """How long handlers were looked for in a stretch, as far as it lies in the window."""
        window = self._context.window
        part = TimeWindow(max(low, window.low), min(high, window.high))
        lengths = part.overlap(self._found.share_start, self._found.share_end)
        return int(lengths[~self._found.share_caught].sum())


def _edges(first: int, last: int) -> Ints:
    """Edges of stretches of one length, of which there are not too many."""
    length = _SHORTEST
    while last // length - first // length >= _STRETCHES:
        length *= 2
    return np.arange(first // length, last // length + 2, dtype=np.int64) * length


def _added(of: Ints, values: NDArray[Any], count: int) -> Ints:
    """The sums of values by group. In whole numbers."""
    return sum_by(of, values.astype(np.int64), count)
