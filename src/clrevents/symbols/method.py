"""`Method`, one piece of code with its lifetime, and the reasons why an address has none.

Values only; which method is at an address is for `methods`.
"""

from __future__ import annotations

from typing import Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents.schema.method_flags import MethodFlags, OptimizationTier

REASONS: Final = (
    *("", "no rundown", "unloaded", "not loaded yet", "native", "not managed", "overlapping"),
    *("another build", "no build id", "unusable symbols", "runtime stub", "no symbols"),
)
"""By reason code: no fault; the trace does not list the methods that existed; the method at the address was unloaded;
or was loaded later; the address is in a mapped file without a name for it; the trace lists all methods, and none is
there (native code or a stub); more code of other times overlaps there than any runtime writes, and not all of it was
examined. As "native", but there is a file that may have its symbols: of another build; or the recording does not say of
which build its own was; or what is in it is damaged, or fits no mapping. Then memory that holds only stubs by which
the runtime calls methods, and no method; last, code of a program that was compiled ahead of time, which only its symbol
file names."""
RESOLVED, NO_RUNDOWN, UNLOADED, NOT_YET, NATIVE, NOT_MANAGED, OVERLAPPING = range(7)
ANOTHER_BUILD, NO_BUILD_ID, UNUSABLE, STUB, NO_SYMBOLS = range(7, len(REASONS))
NAMELESS: Final = frozenset(
    REASONS[reason] for reason in (NO_RUNDOWN, NO_SYMBOLS, ANOTHER_BUILD, NO_BUILD_ID, UNUSABLE)
)
"""The reasons of code whose name might have been recorded, or given."""
IN_FILE: Final = frozenset((NATIVE, ANOTHER_BUILD, NO_BUILD_ID, UNUSABLE))
"""The reasons of addresses in a mapped file of which more could be known."""

ADVICE: Final = (
    "the trace does not list the methods that were loaded before it began or did not change: record with "
    "rundown (the default of dotnet-trace) and stop the session normally, or enable the "
    "Microsoft-Windows-DotNETRuntime keywords 0x38 at level 5 from the start of the process"
)

_NO_FLAGS: Final = MethodFlags(0)


@attrs.frozen
class Method(Value):
    """A piece of code and its lifetime, as in `Methods`.

    A method can have several: a cold part, the code of each tier, and code loaded again at another address.
    """

    namespace: str
    """The namespace and the type, as the runtime writes them."""
    name: str
    """The method's name, as the runtime writes it; empty if unknown."""
    signature: str
    """The method's signature, as the runtime writes it."""
    display: str
    """The method as C# would write it."""
    module: str
    """The name of the module's file, without folder and extension."""
    address: int
    """The first address of the code."""
    size: int
    """The size of the code in bytes."""
    begin_ns: int | None
    """When the code was loaded, in nanoseconds since the session started; None if before the trace began."""
    end_ns: int | None
    """When the code was unloaded, in nanoseconds since the session started; None if not before the trace ended."""
    process_id: int | None
    """The process; None if the trace does not say."""
    method_id: int = 0
    """The runtime's id of the method; 0 for native symbols."""
    module_id: int = 0
    """The runtime's id of the module; see `Modules.at`."""
    token: int = 0
    """The metadata token of the method; 0 if it has none."""
    flags: MethodFlags = _NO_FLAGS
    """The flags of the event that reported the code."""
    rejit_id: int = 0
    """The number of the ReJIT version; 0 for the original."""
    native: bool = False
    """Whether this is a native symbol instead of managed code."""

    @property
    def tier(self) -> OptimizationTier | None:
        """How the code was compiled; None for native symbols."""
        return None if self.native else self.flags.tier
