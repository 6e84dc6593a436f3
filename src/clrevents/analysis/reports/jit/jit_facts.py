"""What happened around compilations: look-ups of precompiled code, turns and pauses of the background thread.

Metrics of a window, and the settings. Knows those events, and no compilation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.gather import Gathered, matched
from clrevents.schema.method_flags import TieredCompilationFlags

Mask: TypeAlias = NDArray[np.bool_]

SETTINGS = ("runtime/TieredCompilationSettings", "rundown/TieredCompilationSettingsDCStart")
TURN, TURN_END = "runtime/TieredCompilationBackgroundJitStart", "runtime/TieredCompilationBackgroundJitStop"
PAUSE, RESUME = "runtime/TieredCompilationPause", "runtime/TieredCompilationResume"
LOOKUP, FOUND = "runtime/R2RGetEntryPointStart", "runtime/R2RGetEntryPoint"


def lookups(rows: Mapping[str, Gathered], window: TimeWindow) -> dict[str, int | None]:
    """Look-ups of precompiled code that ended in the window, and the time of those whose start and end are known.

    Earlier runtimes do not record starts: then no time is known.
    """
    starts, ends = rows[LOOKUP], rows[FOUND]
    held = _held(ends, window)
    hit = held & (ends.numbers("EntryPoint") != 0)
    return {
        "lookups": int(held.sum()),
        "lookup_hits": int(hit.sum()),
        "lookup_misses": int((held & ~hit).sum()),
        "lookup_methods": len(np.unique(ends.numbers("MethodID")[hit])),
        "lookup_total": _took(starts, ends, ("thread_id", "MethodID"), window)
        if len(starts) or not len(ends)
        else None,
    }


def turns(rows: Mapping[str, Gathered], window: TimeWindow) -> dict[str, int | None]:
    """The background thread's turns and pauses. Turns, pauses and methods count where their events lie; None for what
    only ends tell if there are none."""
    starts, stops, pauses = rows[TURN], rows[TURN_END], rows[PAUSE]
    return {
        "turns": int(_held(starts, window).sum()),
        "turn_methods": int(stops.numbers("JittedMethodCount")[_held(stops, window)].sum())
        if len(stops) or not len(starts)
        else None,
        "turn_total": _took(starts, stops, ("thread_id",), window),
        "pauses": int(_held(pauses, window).sum()),
        "paused_total": _took(pauses, rows[RESUME], (), window),
    }


def settings(rows: Mapping[str, Gathered]) -> str | None:
    """The settings of tiered compilation; None if not recorded."""
    flags = [int(rows[name].numbers("Flags")[0]) for name in SETTINGS if len(rows[name])]
    return str(TieredCompilationFlags(flags[0])) if flags else None


def _held(rows: Gathered, window: TimeWindow) -> Mask:
    return window.holds(rows.numbers("time_ns"))


def _took(begins: Gathered, ends: Gathered, keys: tuple[str, ...], window: TimeWindow) -> int | None:
    first, second = matched([begins], [ends], keys)
    if len(begins) and not len(ends):
        return None
    return int(window.overlap(begins.numbers("time_ns")[first], ends.numbers("time_ns")[second]).sum())
