"""`Frame`, one line of a call stack with its name, and `FrameSource`, which provides events with frames.

Values only: decoding knows addresses, and a batch may receive a `FrameSource` that names them.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import safe
from clrevents.schema.method_flags import OptimizationTier

NAMELESS = "no names"
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
    return tuple(Frame(address, reason=NAMELESS) for address in addresses)
