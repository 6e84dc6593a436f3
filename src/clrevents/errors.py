"""Errors about traces, problems that are reported instead of raised, and limits.

Holds the exceptions, `Problem` and `Limits`, which bounds what a hostile file can demand. Knows nothing of events,
files or decoding; everything else imports it.
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
    """The base class of all errors about a trace, its events or a selector. Can be pickled.

    Attributes are None where they do not apply. `reason` is the message without the place. `path` is the file,
    `offset` a byte position in the decompressed stream, `block` the part of the container, `event` and `field` name
    the thing being read. `needed` and `available` are numbers of bytes. `window` holds the bytes around the fault,
    from the byte position `window_offset` on. `report` is the answer from what was read until then, where a report
    was being made.
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
        """The place and the reason in one sentence."""
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
        """The bytes around the fault, sixteen per line, with `>` at the line of `offset`; empty if none were kept."""
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
    """The file or stream could not be opened or read. The operating system's error, if any, is `__cause__`."""


class UnreadableError(TraceError):
    """The bytes are not a trace that this library can read: another format, another version, or nothing."""


class DamageError(TraceError):
    """The container is damaged. Every sound event before the damage has already been delivered."""


class PayloadError(TraceError):
    """An event's payload does not fit its layout. Only raised with `errors="strict"`."""


class LimitError(TraceError):
    """The trace exceeds one of the `Limits`."""


class UnknownEventError(TraceError, LookupError):
    """No event of this name is known to the registry or found in the trace. The message lists similar names."""


class AmbiguousEventError(TraceError, LookupError):
    """A selector that must mean one event means several. The message lists their qualified names."""


class TraceWarning(UserWarning):
    """Warns once per trace, of the first lost events or damage found in it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault that was found while reading, as data. Fields are None where they do not apply."""

    kind: str
    """A stable identifier; docs/errors.md lists them all."""
    severity: Severity
    """`"note"` for an oddity, `"payload"` for a payload that does not fit, `"damage"` for a broken container."""
    message: str
    """The fault in one sentence."""
    offset: int | None = None
    """The byte position in the decompressed stream."""
    length: int | None = None
    """The number of bytes concerned; of missing bytes, the number of those that exist."""
    event: str | None = None
    """The event that was being read."""
    field: str | None = None
    """The field that was being read."""
    impact: str = ""
    """What cannot be trusted because of the fault."""
    needed: int | None = None
    """The number of bytes that there should have been, where bytes are missing."""

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at {self.offset:#x}"
        return f"{self.kind}{at}: {self.message}"


def damage(kind: str, message: str, offset: int, length: int | None, impact: str) -> Problem:
    """A problem of severity `damage`."""
    return Problem(kind, "damage", message, offset, length, impact=impact)


def raised(kind: type[TraceError], problem: Problem) -> TraceError:
    """A problem as an error, for a reader that stops there."""
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

    Each severity has its own bound: a thousand notes must not hide the damage after them.
    """

    __slots__ = ("_items", "_keep", "counts", "severities")

    def __init__(self, keep: int = 1000) -> None:
        self._keep = keep
        self._items: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.severities: Counter[Severity] = Counter()

    def add(self, problem: Problem, times: int = 1) -> None:
        """Count a problem that was found so many times; it is listed once."""
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
        """The number of all problems, including those that are not listed."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a trace may demand, against hostile files. Every value is a count or a number of bytes.

    The defaults fit every file that a runtime writes. Raise a limit if a sound trace exceeds it. Raises ValueError
    unless every value is a positive integer.
    """

    block_bytes: int = 256 * _MIB
    """Bytes of one block of the container."""
    region_events: int = 4_000_000
    """Events held until they can be ordered by time, between two sequence points."""
    region_bytes: int = 1024 * _MIB
    """Bytes of blocks held until their events can be ordered by time."""
    metadata: int = 200_000
    """Event descriptions in one trace."""
    learned: int = 5000
    """Record classes made from the event descriptions of a trace."""
    fields: int = 4096
    """Fields in one event description, including nested ones."""
    nesting: int = 32
    """Depth of objects and arrays in one event description."""
    string_bytes: int = 64 * 1024
    """Bytes of one name in the structures of the container."""
    threads: int = 1_000_000
    """Threads whose sequence numbers are followed to find lost events."""
    problems: int = 1000
    """Problems listed for each severity, and losses listed; their counts stay exact."""
    code_events: int = 4_000_000
    """Events about methods, modules and mapped files kept to name addresses."""
    spool_bytes: int = 64 * 1024 * _MIB
    """Bytes of the temporary copy of a pipe or a compressed file."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"Limits.{f.name} must be a positive integer, not {value!r}")
