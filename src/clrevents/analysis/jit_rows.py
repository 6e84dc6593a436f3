"""The rows of the JIT report: plain values, one class a table.

Times are ns since the session started, durations ns, sizes bytes. None is what the trace does not tell.
"""

from __future__ import annotations

import attrs

from clrevents.schema.method_flags import OptimizationTier
from clrevents.table.build import UInt64


@attrs.frozen
class Compilation:
    """One compilation of a method, finished or not.

    `version` numbers the method's code versions (0 the first). `background` is whether the tiering thread did it.
    `native_size` is the code alone; `code_size`, `data_size` and `allocated` are what the JIT asked for and was given.
    `rejected`: precompiled code was there and could not be used. `lossy`: events of this thread were lost meanwhile.
    """

    method: str
    module: str
    tier: OptimizationTier | None
    version: int
    background: bool | None
    thread_id: UInt64 | None
    start_ns: int | None
    end_ns: int | None
    compile_ns: int | None
    il_size: int | None
    native_size: int | None
    code_size: int | None
    data_size: int | None
    allocated: int | None
    inlined: int
    not_inlined: int
    tail_calls: int
    no_tail_calls: int
    dynamic: bool
    rejected: bool
    method_id: UInt64
    address: UInt64 | None
    namespace: str
    name: str
    signature: str
    lossy: bool


@attrs.frozen
class JittedMethod:
    """One method and all its compilations: `tiers` and `ready_ns` in order of time, `compile_ns` in all.

    Sizes are those of the last compilation. `rejits` counts compilations beyond the first. `never_tiered_up`: it was
    compiled for a quick start, and nothing optimized came later. `lossy`: events were lost since its first
    compilation, so that later ones may be missing.
    """

    method: str
    module: str
    compilations: int
    rejits: int
    tiers: tuple[str, ...]
    ready_ns: tuple[int, ...]
    compile_ns: int
    background_ns: int
    il_size: int | None
    native_size: int | None
    inlined: int
    not_inlined: int
    never_tiered_up: bool
    rejected: bool
    method_id: UInt64
    lossy: bool


@attrs.frozen
class TierTotal:
    """All compilations at one tier."""

    tier: str
    compilations: int
    compile_ns: int
    il_size: int
    native_size: int


@attrs.frozen
class ThreadTotal:
    """All compilations on one thread; `background` of them for tiering."""

    thread_id: UInt64 | None
    compilations: int
    background: int
    compile_ns: int
    il_size: int
    native_size: int
    lossy: bool


@attrs.frozen
class Totals:
    """Sums over all compilations. `unfinished` have no load, `untimed` no begin; `lost` events of any kind."""

    compilations: int
    methods: int
    foreground: int
    background: int
    compile_ns: int
    background_ns: int
    il_size: int
    native_size: int
    rejits: int
    unfinished: int
    untimed: int
    never_tiered_up: int
    lost: int
