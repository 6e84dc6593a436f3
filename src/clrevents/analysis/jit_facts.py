"""What happened around compilations: inlining, tail calls, look-ups of precompiled code, tiering in the background.

Counts and sums over columns. Knows those events; which compilation an event belongs to is `compilations`' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gather import Gathered, matched
from clrevents.analysis.keys import group_numbers
from clrevents.schema.method_flags import TieredCompilationFlags

Array: TypeAlias = NDArray[Any]

INLINED: Final = ("MethodJitInliningSucceeded",)
NOT_INLINED: Final = ("MethodJitInliningFailed", "MethodJitInliningFailedAnsi")
TAIL_CALLS: Final = ("MethodJitTailCallSucceeded",)
NO_TAIL_CALLS: Final = ("MethodJitTailCallFailed", "MethodJitTailCallFailedAnsi")


@attrs.frozen
class Decision:
    """What the JIT decided about calls, and why: `what` is `inlining` or `tail call`.

    `reason` is the JIT's word: why not, or how a tail call was made. `always` counts calls whose callee will be
    inlined nowhere; `explicit` those that the IL marks as tail calls.
    """

    what: str
    accepted: bool
    reason: str
    count: int
    always: int = 0
    explicit: int = 0


@attrs.frozen
class ReadyToRun:
    """Look-ups of precompiled code: how many found some, for how many methods, and the time they took where both ends
    are known. `rejected` counts compilations whose precompiled code was there and refused, `loaded` loads of such code.
    """

    lookups: int
    hits: int
    misses: int
    methods: int
    lookup_ns: int
    rejected: int
    loaded: int


@attrs.frozen
class Tiering:
    """The background compiler at work: its turns, what they compiled and how long they took in ns, and how often and
    how long it waited because new methods kept being called. `settings` None when the trace does not tell.
    """

    settings: str | None
    turns: int
    methods: int
    turn_ns: int
    pauses: int
    paused_ns: int


def decisions(rows: Mapping[str, Gathered]) -> tuple[Decision, ...]:
    """Inlining and tail calls by outcome and reason, most frequent first."""
    found = [Decision("inlining", True, "", len(rows[name])) for name in INLINED if len(rows[name])]
    for name in NOT_INLINED:
        found += _by_reason(rows[name], "inlining", "FailReason", "FailAlways")
    for name in TAIL_CALLS:
        found += _by_reason(rows[name], "tail call", "TailCallType", "TailPrefix")
    for name in NO_TAIL_CALLS:
        found += _by_reason(rows[name], "tail call", "FailReason", "TailPrefix")
    return tuple(sorted(found, key=lambda d: (d.what, not d.accepted, -d.count, d.reason)))


def _by_reason(rows: Gathered, what: str, reason: str, mark: str) -> list[Decision]:
    if not len(rows):
        return []
    column = rows.column(reason)
    enum = next(field.enum for field in rows.payload if field.name == reason)
    numbers, _ = group_numbers([[column]], [len(rows)])
    distinct, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    counts = np.bincount(place.reshape(-1), minlength=len(distinct))
    marked = np.bincount(place.reshape(-1), weights=rows.numbers(mark) != 0, minlength=len(distinct))
    texts = [str(enum(value)) if enum else value for value in column.take(first).tolist()]
    inlining = what == "inlining"
    return [
        Decision(what, enum is not None, text, int(count), int(n) if inlining else 0, 0 if inlining else int(n))
        for text, count, n in zip(texts, counts, marked, strict=True)
    ]


def ready_to_run(rows: Mapping[str, Gathered], rejected: int, loaded: int) -> ReadyToRun:
    """Look-ups of precompiled code, from their starts and their ends."""
    starts, ends = rows["R2RGetEntryPointStart"], rows["R2RGetEntryPoint"]
    first, second = matched([starts], [ends], ("thread_id", "MethodID"))
    took = ends.numbers("time_ns")[second] - starts.numbers("time_ns")[first]
    hit = ends.numbers("EntryPoint") != 0
    methods = len(np.unique(ends.numbers("MethodID")[hit]))
    hits = int(hit.sum())
    return ReadyToRun(len(ends), hits, len(ends) - hits, methods, int(took.sum()), rejected, loaded)


def tiering(rows: Mapping[str, Gathered]) -> Tiering:
    """The background compiler's turns and pauses."""
    starts, stops = rows["TieredCompilationBackgroundJitStart"], rows["TieredCompilationBackgroundJitStop"]
    took = _took(starts, stops, ("thread_id",))
    pauses, resumes = rows["TieredCompilationPause"], rows["TieredCompilationResume"]
    told = [rows[name] for name in ("TieredCompilationSettings", "TieredCompilationSettingsDCStart")]
    flags = [int(r.numbers("Flags")[0]) for r in told if len(r)]
    return Tiering(
        str(TieredCompilationFlags(flags[0])) if flags else None,
        len(starts),
        int(stops.numbers("JittedMethodCount").sum()),
        took,
        len(pauses),
        _took(pauses, resumes, ()),
    )


def _took(begins: Gathered, ends: Gathered, keys: tuple[str, ...]) -> int:
    first, second = matched([begins], [ends], keys)
    return int((ends.numbers("time_ns")[second] - begins.numbers("time_ns")[first]).sum())
