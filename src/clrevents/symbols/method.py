"""`Method`, one piece of code with its lifetime, and the words for addresses that have none.

Values only; which method is at an address is for `methods`.
"""

from __future__ import annotations

from typing import Final

import attrs

from clrevents.schema.method_flags import MethodFlags, OptimizationTier

REASONS: Final = ("", "no rundown", "unloaded", "not loaded yet", "native", "not managed")
"""By reason code: nothing is wrong; the trace does not list the methods that were there; the method at the address
was gone; or came later; the address is in a mapped file that has no name for it; the trace lists all methods, and
none is there (native code or a stub)."""
RESOLVED, NO_RUNDOWN, UNLOADED, NOT_YET, NATIVE, NOT_MANAGED = range(6)

ADVICE: Final = (
    "the trace does not list the methods that were loaded before it began or that did not change: record it with "
    "rundown (dotnet-trace does so unless told not to) and let the session end by itself, or enable the "
    "Microsoft-Windows-DotNETRuntime keywords 0x38 at level 5 from the start of the process"
)

_NO_FLAGS: Final = MethodFlags(0)


@attrs.frozen
class Method:
    """A piece of code with a lifetime. Times are ns since the session started, None beyond the trace's ends.

    One method has several: a cold part, code of each tier, and code that came back at another address.
    `native` for symbols that are not of managed code.
    """

    namespace: str
    name: str
    signature: str
    display: str
    module: str
    address: int
    size: int
    begin_ns: int | None
    end_ns: int | None
    process_id: int | None
    method_id: int = 0
    module_id: int = 0
    token: int = 0
    flags: MethodFlags = _NO_FLAGS
    rejit_id: int = 0
    native: bool = False

    @property
    def tier(self) -> OptimizationTier | None:
        return None if self.native else self.flags.tier
