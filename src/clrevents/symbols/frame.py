"""`Frame`, one line of a call stack with its name, and what an event asks to get them.

Values only: decoding knows addresses, and leaves names to whoever gives a batch a `FrameSource`.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from clrevents.schema.method_flags import OptimizationTier

NAMELESS = "no names"
"""The reason of a frame that nobody was asked to name: see `Event.frames`."""


@attrs.frozen
class Frame:
    """Where a thread was: the method at `address` when the event was written, or the `reason` why it has no name.

    `module` is the file's name without folder and ending, `namespace` (with the type), `name` and `signature` are
    as the runtime writes them, `str(frame)` as C# would. `tier` is how the code was compiled; `il_offset` in bytes,
    None when the trace has no map for the address.
    """

    address: int
    module: str = ""
    namespace: str = ""
    name: str = ""
    signature: str = ""
    tier: OptimizationTier | None = None
    il_offset: int | None = None
    reason: str | None = None
    display: str = attrs.field(default="", repr=False, eq=False)

    @property
    def resolved(self) -> bool:
        """Whether the address has a name."""
        return self.reason is None

    def __str__(self) -> str:
        if self.reason is None:
            return self.display or self.name or f"[{self.address:#x}]"
        inside = f" in {self.module}" if self.module else ""
        return f"[unresolved {self.address:#x}{inside}]"


class FrameSource(Protocol):
    """Names the addresses of one stack, innermost first, at a time in ns since the session started."""

    @property
    def ready(self) -> bool:
        """Whether it can answer without reading the trace."""
        ...

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]: ...


@attrs.frozen
class Named:
    """A resolver that knows one answer: what a pickled event takes along."""

    known: tuple[Frame, ...]
    ready: bool = True

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        return self.known


def nameless(addresses: tuple[int, ...]) -> tuple[Frame, ...]:
    """Frames of addresses that nobody was asked about."""
    return tuple(Frame(address, reason=NAMELESS) for address in addresses)
