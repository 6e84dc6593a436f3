"""What the JIT decided about calls: which it inlined or made tail calls of, and why not the others.

Keeps a few numbers for each decision and its reason once. Which compilation a decision belongs to is `compilations`'
business.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import Interned, group_numbers
from clrevents.analysis.shared.events.compilations import Compilations, inside

Ints: TypeAlias = NDArray[np.int64]

INLINING: Final = "inlining"
TAIL_CALL: Final = "tail call"


@frozen
class DecisionEvent:
    """An event that records a decision: its selector, the outcome, and its field for the reason."""

    selector: str
    what: str
    accepted: bool
    reason: str | None = None


EVENTS: Final = (
    DecisionEvent("runtime/MethodJitInliningSucceeded", INLINING, True),
    DecisionEvent("runtime/MethodJitInliningFailed", INLINING, False, "FailReason"),
    DecisionEvent("runtime/MethodJitInliningFailedAnsi", INLINING, False, "FailReason"),
    DecisionEvent("runtime/MethodJitTailCallSucceeded", TAIL_CALL, True, "TailCallType"),
    DecisionEvent("runtime/MethodJitTailCallFailed", TAIL_CALL, False, "FailReason"),
    DecisionEvent("runtime/MethodJitTailCallFailedAnsi", TAIL_CALL, False, "FailReason"),
)
OUTCOMES: Final = {
    "inlined": (INLINING, True),
    "not_inlined": (INLINING, False),
    "tail_calls": (TAIL_CALL, True),
    "no_tail_calls": (TAIL_CALL, False),
}
"""Columns and metrics that count decisions."""


@frozen
class DecisionKind:
    """What was decided, how, and why."""

    what: str
    accepted: bool
    reason: str | None


@frozen(eq=False)
class Decisions:
    """All decisions, as arrays: `kind` is the place in `kinds`."""

    kinds: tuple[DecisionKind, ...]
    place: Ints
    time: Ints
    thread: NDArray[np.uint64]
    kind: NDArray[np.int32]

    def by_compilation(self, made: Compilations) -> dict[str, Ints]:
        """How many of each of `OUTCOMES` each compilation has."""
        of = inside(made, self.thread, self.place)
        found = {}
        for name, outcome in OUTCOMES.items():
            mine = of[(of >= 0) & self._outcomes[outcome][self.kind]]
            found[name] = np.bincount(mine, minlength=len(made)).astype(np.int64)
        return found

    def totals(self, window: TimeWindow) -> dict[str, int]:
        """How many of each of `OUTCOMES` lie in a window."""
        held = window.holds(self.time)
        return {name: int((held & self._outcomes[o][self.kind]).sum()) for name, o in OUTCOMES.items()}

    def columns(self, window: TimeWindow) -> dict[str, list[Any]]:
        """The columns of the table of decisions in a window, most frequent first for each outcome."""
        held = window.holds(self.time)
        counts = np.bincount(self.kind[held], minlength=len(self.kinds)).tolist()
        order = [n for n, count in enumerate(counts) if count]
        order.sort(key=lambda n: _order(self.kinds[n], counts[n]))
        kinds = [self.kinds[n] for n in order]
        return {
            "what": [kind.what for kind in kinds],
            "accepted": [kind.accepted for kind in kinds],
            "count": [counts[n] for n in order],
            "reason": [kind.reason for kind in kinds],
        }

    @cached_property
    def _outcomes(self) -> dict[tuple[str, bool], NDArray[np.bool_]]:
        return {
            outcome: np.array([(kind.what, kind.accepted) == outcome for kind in self.kinds], dtype=np.bool_)
            for outcome in OUTCOMES.values()
        }


class DecisionLog:
    """Takes the events of decisions. Memory grows with them, by 29 bytes each."""

    def __init__(self) -> None:
        self._kinds: Interned[DecisionKind] = Interned()
        self._parts: list[tuple[NDArray[Any], ...]] = []

    def take(self, chunk: ReportChunk) -> None:
        """Keep what is in a chunk."""
        for event in EVENTS:
            rows = chunk.events.get(event.selector)
            if rows is not None and len(rows):
                self._parts.append(self._part(event, rows))

    def all(self) -> Decisions:
        """Everything that came."""
        types: Sequence[Any] = (np.int64, np.int64, np.uint64, np.int32)
        empty = tuple(np.zeros(0, dtype=type) for type in types)
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        return Decisions(tuple(self._kinds), *columns)

    def _part(self, event: DecisionEvent, rows: Gathered) -> tuple[NDArray[Any], ...]:
        return rows.places, rows.numbers("time_ns"), rows.numbers("thread_id"), self._numbered(event, rows)

    def _numbered(self, event: DecisionEvent, rows: Gathered) -> NDArray[np.int32]:
        """The kind of each row, as its number."""
        if event.reason is None:
            kind = DecisionKind(event.what, event.accepted, None)
            return np.full(len(rows), self._kinds[kind], dtype=np.int32)
        column = rows.column(event.reason)
        enum = next(field.enum for field in rows.payload if field.name == event.reason)
        numbers, _ = group_numbers([[column]], [len(rows)])
        _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        reasons = [str(enum(value)) if enum else value for value in column.take(first).tolist()]
        kinds = [DecisionKind(event.what, event.accepted, reason) for reason in reasons]
        return self._kinds.of(kinds).astype(np.int32)[place.reshape(-1)]


def _order(kind: DecisionKind, count: int) -> tuple[Any, ...]:
    return kind.what, not kind.accepted, -count, kind.reason or ""
