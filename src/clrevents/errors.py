"""Exceptions about traces, problems that are reported instead of raised, and limits.

Contains the exceptions, `Problem`, and `Limits`, which bounds what a hostile file can demand. Knows nothing of events,
files or decoding; everything else imports it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TextIO, TypeAlias

from clrevents._util.notebook_views import Value
from clrevents._util.words import safe

Severity: TypeAlias = Literal["note", "payload", "damage"]
ErrorMode: TypeAlias = Literal["report", "strict", "salvage"]

UNENDED: Final = frozenset(("missing-end", "truncated", "compressed-stream"))
"""The kinds of problem of a trace whose end is missing."""
ERROR_MODES: Final[tuple[ErrorMode, ...]] = ("report", "strict", "salvage")


class TraceError(Exception):
    """Base class of all errors about a trace, its events or a selector. Can be pickled.

    Attributes that do not apply are None. `reason` is the message without the location. `path` is the file, `offset` a
    byte position in the decompressed stream, `block` the part of the container, and `event` and `field` name what was
    being read. `needed` and `available` are byte counts. `window` holds the bytes around the fault, starting at byte
    position `window_offset`. `report` is the answer so far if a report was being made.
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
        self.report: Any = None

    def __str__(self) -> str:
        """The location and the reason in one sentence, with control characters escaped."""
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
        stated = f" {self.needed} bytes" in self.reason
        if self.needed is not None and self.available is not None and not stated:
            sizes = f" (needs {self.needed} bytes, {self.available} available)"
        prefix = " ".join(where)
        return safe(f"{prefix}: {self.reason}{sizes}" if prefix else f"{self.reason}{sizes}")

    def __reduce__(self) -> tuple[Callable[..., TraceError], tuple[Any, ...]]:
        return _rebuild, (type(self), self.reason, dict(self.__dict__))

    def hexdump(self) -> str:
        """The bytes around the fault, sixteen per line, with `>` marking the line of `offset`; empty without them."""
        lines = []
        for start in range(0, len(self.window), 16):
            row = self.window[start : start + 16]
            at = self.window_offset + start
            mark = ">" if self.offset is not None and at <= self.offset < at + 16 else " "
            text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
            lines.append(f"{mark} {at:08x}  {row.hex(' '):<47}  {text}")
        return "\n".join(lines)

    def print_bytes(self, file: TextIO | None = None) -> None:
        """Print `hexdump()` to `file`, by default standard output."""
        print(self.hexdump() or "no bytes were kept for this error", file=file or sys.stdout)


def _rebuild(cls: type[TraceError], reason: str, state: Mapping[str, Any]) -> TraceError:
    error = cls(reason)
    error.__dict__.update(state)
    return error


class SourceError(TraceError):
    """The file or stream could not be opened or read. `__cause__` is the operating system's error, if there was one."""


class UnreadableError(TraceError):
    """The bytes are not a trace that can be read: another format, an unsupported version, or empty input."""


class DamageError(TraceError):
    """The container is damaged. Every sound event before the damage has already been delivered."""


class PayloadError(TraceError):
    """An event's payload does not fit its layout. Raised only with `errors="strict"`."""


class LimitError(TraceError):
    """The trace exceeds one of the `Limits`."""


class UnknownEventError(TraceError, LookupError):
    """Neither the registry nor the trace has an event of this name. The message lists similar names."""


class AmbiguousEventError(TraceError, LookupError):
    """A selector that must match one event matches several. The message lists their qualified names."""


class TraceWarning(UserWarning):
    """Issued once per trace, for the first lost events or damage found in it."""


@dataclass(frozen=True, slots=True)
class Problem(Value):
    """A fault found while reading, as data. Fields that do not apply are None."""

    kind: str
    """A stable identifier; docs/errors.md lists them all."""
    severity: Severity
    """`"note"` for an oddity, `"payload"` for a payload that does not fit, `"damage"` for a broken container."""
    message: str
    """The fault in one sentence."""
    offset: int | None = None
    """The byte position in the decompressed stream."""
    length: int | None = None
    """The number of bytes affected; if bytes are missing, the number that exist."""
    event: str | None = None
    """The event that was being read."""
    field: str | None = None
    """The field that was being read."""
    impact: str = ""
    """What cannot be trusted because of the fault."""
    needed: int | None = None
    """The number of bytes required, if bytes are missing."""

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at {self.offset:#x}"
        return safe(f"{self.kind}{at}: {self.message}")


def damage(kind: str, message: str, offset: int, length: int | None, impact: str) -> Problem:
    """A problem of severity `damage`."""
    return Problem(kind, "damage", message, offset, length, impact=impact)


def raised(kind: type[TraceError], problem: Problem) -> TraceError:
    """A problem as an exception, for readers that stop there."""
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
    """A bounded list of problems in the order they were found, with exact counts.

    Each severity has its own bound, so that a thousand notes cannot hide damage after them.
    """

    __slots__ = ("_items", "_keep", "counts", "severities")

    def __init__(self, keep: int = 1000) -> None:
        self._keep = keep
        self._items: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.severities: Counter[Severity] = Counter()

    def add(self, problem: Problem, times: int = 1) -> None:
        """Count a problem found `times` times; it is listed once."""
        self.counts[problem.kind] += times
        if self.severities[problem.severity] < self._keep:
            self._items.append(problem)
        self.severities[problem.severity] += times

    @property
    def items(self) -> tuple[Problem, ...]:
        """The first problems found, at most `Limits.problems` of each severity."""
        return tuple(self._items)

    @property
    def total(self) -> int:
        """The number of all problems, listed or not."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits(Value):
    """Bounds on what a trace may demand, as protection against hostile files. Values are counts or numbers of bytes.

    The defaults fit every file that a runtime writes. Raise a limit if a valid trace exceeds it. Raises ValueError
    unless every value is a positive integer.
    """

    block_bytes: int = 256 * _MIB
    """Size of one block of the container, in bytes."""
    region_events: int = 4_000_000
    """Events buffered between two sequence points for sorting by time."""
    region_bytes: int = 1024 * _MIB
    """Bytes of blocks buffered for sorting by time."""
    metadata: int = 32_768
    """Event descriptions per trace."""
    learned: int = 1_000
    """Record classes created from the event descriptions of a trace, with 16 fields on average."""
    fields: int = 4096
    """Fields per event description, including nested ones; four times as many different ones are allowed per event
    name."""
    nesting: int = 8
    """Nesting depth of objects and arrays in one event description."""
    string_bytes: int = 64 * 1024
    """Length of one name in the structures of the container, in bytes."""
    threads: int = 1_000_000
    """Threads whose sequence numbers are tracked to find lost events."""
    problems: int = 1000
    """Problems listed per severity, and losses listed; counts stay exact."""
    code_events: int = 4_000_000
    """Events about methods, modules and mapped files kept for resolving addresses."""
    spool_bytes: int = 64 * 1024 * _MIB
    """Size of the temporary copy of a pipe or a compressed file, in bytes."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"Limits.{f.name} must be a positive integer, not {value!r}")
