"""What can be wrong with a trace, and how it is said.

Holds the error tree, `Problem` (a fault that is reported instead of raised), and `Limits` (how much of
a hostile file is believed). Knows nothing of events, files or decoding; everything else imports it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TextIO, TypeAlias

Severity: TypeAlias = Literal["note", "payload", "damage"]
ErrorMode: TypeAlias = Literal["report", "strict", "salvage"]

ERROR_MODES: Final[tuple[ErrorMode, ...]] = ("report", "strict", "salvage")


class TraceError(Exception):
    """Root of everything this library raises about a trace or a question asked of it.

    `offset` is a byte position in the (decompressed) stream; `needed` and `available` are byte counts.
    Attributes that do not apply are None. Errors pickle.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        block: str | None = None,
        event: str | None = None,
        field: str | None = None,
        needed: int | None = None,
        available: int | None = None,
        window: bytes = b"",
        window_offset: int = 0,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.offset = offset
        self.block = block
        self.event = event
        self.field = field
        self.needed = needed
        self.available = available
        self.window = window
        self.window_offset = window_offset

    def __str__(self) -> str:
        """One sentence: where, in what, and what is wrong."""
        where = [self.path] if self.path else []
        if self.offset is not None:
            where.append(f"at offset {self.offset:#x}")
        if self.block:
            where.append(f"in {self.block}")
        if self.event and self.event not in self.reason:
            where.append(f"event {self.event}")
        if self.field and self.field not in self.reason:
            where.append(f"field {self.field}")
        sizes = ""
        told = f" {self.needed} bytes" in self.reason
        if self.needed is not None and self.available is not None and not told:
            sizes = f" (needs {self.needed} bytes, {self.available} there)"
        prefix = " ".join(where)
        return f"{prefix}: {self.reason}{sizes}" if prefix else f"{self.reason}{sizes}"

    def __reduce__(self) -> tuple[Callable[..., TraceError], tuple[Any, ...]]:
        return _rebuild, (type(self), self.reason, dict(self.__dict__))

    def hexdump(self) -> str:
        """The bytes around the fault, sixteen a line, the line of `offset` marked; empty if none are known."""
        lines = []
        for start in range(0, len(self.window), 16):
            row = self.window[start : start + 16]
            at = self.window_offset + start
            mark = ">" if self.offset is not None and at <= self.offset < at + 16 else " "
            text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
            lines.append(f"{mark} {at:08x}  {row.hex(' '):<47}  {text}")
        return "\n".join(lines)

    def print_bytes(self, file: TextIO | None = None) -> None:
        """Print `hexdump()` to `file` (standard output by default)."""
        print(self.hexdump() or "no bytes were kept for this error", file=file or sys.stdout)


def _rebuild(cls: type[TraceError], reason: str, state: Mapping[str, Any]) -> TraceError:
    error = cls(reason)
    error.__dict__.update(state)
    return error


class SourceError(TraceError):
    """The file or stream itself could not be opened or read. The system's own error is `__cause__`."""


class UnreadableError(TraceError):
    """These bytes are not a trace that this library can read: another format, another version, nothing."""


class DamageError(TraceError):
    """The container is damaged here. Every sound event before the damage has already been delivered."""


class PayloadError(TraceError):
    """One event's payload does not fit its layout. Only raised with `errors="strict"`."""


class LimitError(TraceError):
    """The trace asks for more than `Limits` allows."""


class UnknownEventError(TraceError, LookupError):
    """No event of that name is known or was seen; the message has the near misses."""


class AmbiguousEventError(TraceError, LookupError):
    """The name fits several events; the message lists the qualified names to choose from."""


class TraceWarning(UserWarning):
    """Given once per Trace, for the first loss or damage it meets."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault that was met while reading, as data.

    `kind` is a stable slug (docs/errors.md lists them all); `offset` and `length` are bytes of the
    decompressed stream; `event` and `field` name what was being read; `impact` says what cannot be trusted.
    `needed`, where bytes were missing, is how many there should have been of the `length` that are there.
    """

    kind: str
    severity: Severity
    message: str
    offset: int | None = None
    length: int | None = None
    event: str | None = None
    field: str | None = None
    impact: str = ""
    needed: int | None = None

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at {self.offset:#x}"
        return f"{self.kind}{at}: {self.message}"


def damage(kind: str, message: str, offset: int, length: int | None, impact: str) -> Problem:
    """A problem of severity `damage`."""
    return Problem(kind, "damage", message, offset, length, impact=impact)


def raised(kind: type[TraceError], problem: Problem) -> TraceError:
    """The error that says what a problem says, for a reader that goes no further."""
    available = None if problem.needed is None else problem.length
    return kind(
        problem.message,
        offset=problem.offset,
        event=problem.event,
        field=problem.field,
        needed=problem.needed,
        available=available,
    )


class Problems:
    """A bounded list of problems with exact counts, in the order they were met.

    Each severity has its own bound: a thousand notes must not hide the damage behind them.
    """

    __slots__ = ("_items", "_keep", "counts", "severities")

    def __init__(self, keep: int = 1000) -> None:
        self._keep = keep
        self._items: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.severities: Counter[Severity] = Counter()

    def add(self, problem: Problem, times: int = 1) -> None:
        """Note a problem that was met so often; it is listed once."""
        self.counts[problem.kind] += times
        if self.severities[problem.severity] < self._keep:
            self._items.append(problem)
        self.severities[problem.severity] += times

    @property
    def items(self) -> tuple[Problem, ...]:
        """The first problems met, at most `Limits.problems` of each severity."""
        return tuple(self._items)

    @property
    def total(self) -> int:
        """How many there were in all, also those not kept."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is believed before the reader says no. Every value is a count or a number of bytes.

    The defaults fit any file a runtime writes; raise one when a sound trace runs into it.
    """

    block_bytes: int = 256 * _MIB
    """One block of the container."""
    region_events: int = 4_000_000
    """Events held while waiting for time order, between two sequence points."""
    region_bytes: int = 1024 * _MIB
    """Bytes of blocks held for the same reason."""
    metadata: int = 200_000
    """Distinct event descriptions in one trace."""
    learned: int = 5000
    """Record classes made from a trace's own event descriptions."""
    fields: int = 4096
    """Fields in one event description, nested ones included."""
    nesting: int = 32
    """Depth of objects and arrays in one event description."""
    string_bytes: int = 64 * 1024
    """One name in the container's own structures."""
    threads: int = 1_000_000
    """Threads whose sequence numbers are followed."""
    problems: int = 1000
    """Problems of each severity kept in a list; their counts stay exact."""
    code_events: int = 4_000_000
    """Events of methods, modules and mapped files kept to name addresses."""
    spool_bytes: int = 64 * 1024 * _MIB
    """Temporary copy of a pipe or a compressed file."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"Limits.{f.name} must be a positive integer, not {value!r}")
