"""Whether samples show if a thread ran: before .NET 5, most threads that ran are recorded as outside managed code, and
in programs that were compiled ahead of time (NativeAOT), all.

Goes by the header, the runtime's recorded version or, if there is none, by whether hardly any of many samples is in
managed code. A method on the stack that is known to wait shows a wait in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clrevents.trace import TraceInfo

UNTOLD: Final = "samples of this runtime do not show whether a thread ran managed code"
"""Why the number is unknown."""

_FIRST: Final = 5
_FEW: Final = 0.01
_ENOUGH: Final = 1000


def tells_running(info: TraceInfo, versions: Iterable[int], managed: int, samples: int) -> bool:
    """Whether samples tell it of a runtime of these versions; so many of them say that they are in managed code."""
    if info.native_aot:
        return not samples
    known = list(versions)
    if known:
        return min(known) >= _FIRST
    return samples < _ENOUGH or managed >= _FEW * samples
