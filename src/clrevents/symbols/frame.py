"""`Frame`, one line of a call stack with its name, and the reasons why there is no name.

Values only: decoding knows addresses, and a batch may receive a `FrameSource` that names them. Which method is at an
address is for `methods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import safe

if TYPE_CHECKING:
    from clrevents.schema.runtime_flags import OptimizationTier

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

NO_NAMES: Final = "no names"
"""The reason of a frame without any source of names: see `Event.frames`."""


@frozen
class Frame(Value):
    """One line of a call stack: the method at an address, or the reason why it has no name.

    `str(frame)` is the method as C# would write it. Unknown texts are empty.
    """

    address: int
    """The code address."""
    module: str = ""
    """The name of the module's file, without folder and extension."""
    namespace: str = ""
    """The namespace and the type, as the runtime writes them."""
    name: str = ""
    """The method's name, as the runtime writes it."""
    signature: str = ""
    """The method's signature, as the runtime writes it."""
    tier: OptimizationTier | None = None
    """How the code was compiled; None for native or unresolved code."""
    il_offset: int | None = None
    """The offset in the method's IL, in bytes; None if the trace has no map for the address."""
    reason: str | None = None
    """Why the address has no name, such as "unloaded"; None if it has one."""
    display: str = attrs.field(default="", repr=False, eq=False)
    """The method as C# would write it."""

    @property
    def resolved(self) -> bool:
        """Whether the address has a name."""
        return self.reason is None

    @property
    def label(self) -> str:
        """The text for the frame, verbatim; `str` escapes control characters in it."""
        if self.reason is None:
            return self.display or self.name or f"[{self.address:#x}]"
        return address_text(self.address, self.module)

    def __str__(self) -> str:
        return safe(self.label)


def address_text(address: int, module: str = "") -> str:
    """The text for an address without a name."""
    return f"[unresolved {address:#x} in {module}]" if module else f"[unresolved {address:#x}]"


class FrameSource(Protocol):
    """Resolves the addresses of one stack, innermost first, at a time in nanoseconds since the session started."""

    @property
    def ready(self) -> bool:
        """Whether it can answer without reading the trace."""
        ...

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]: ...


@frozen
class Named:
    """A resolver with one fixed result, which is pickled with an event."""

    known: tuple[Frame, ...]
    ready: bool = True

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        return self.known


def nameless(addresses: tuple[int, ...]) -> tuple[Frame, ...]:
    """Frames of addresses without a source of names."""
    return tuple(Frame(address, reason=NO_NAMES) for address in addresses)
