"""What is said of a whole trace: its threads, and what `check` found. Values; reads nothing."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem


@attrs.frozen
class ThreadInfo:
    """A thread that events are about: how many, and from when to when (ns since the session started)."""

    thread_id: int
    events: int
    first_ns: int
    last_ns: int
    process_id: int | None = None
    name: str | None = None


@attrs.frozen
class KindReport:
    """How the payloads of one kind of event came out: numbers of events, and bytes of payload in all."""

    exact: int = 0
    tail: int = 0
    short: int = 0
    unknown: int = 0
    payload_bytes: int = 0

    @property
    def events(self) -> int:
        return self.exact + self.tail + self.short + self.unknown


@attrs.frozen
class Report:
    """What `Trace.check` found: every event decoded, every problem counted.

    `problems` holds the first of them (`Limits.problems`); `problem_counts` is exact.
    """

    info: TraceInfo
    complete: bool
    kinds: Mapping[EventKey, KindReport]
    problems: tuple[Problem, ...]
    problem_counts: Mapping[str, int]
    severities: Mapping[str, int]
    losses: tuple[Loss, ...]
    lost: int

    @property
    def events(self) -> int:
        return sum(k.events for k in self.kinds.values())

    @property
    def damaged(self) -> bool:
        """Whether the container itself is broken somewhere."""
        return self.severities.get("damage", 0) > 0

    @property
    def payload_faults(self) -> int:
        """Events whose payload does not fit its layout."""
        return self.severities.get("payload", 0)

    @property
    def ok(self) -> bool:
        """Nothing lost, nothing damaged, every known payload used up exactly."""
        return not (self.damaged or self.payload_faults or self.lost)

    @property
    def verdict(self) -> str:
        """One line for a human."""
        parts = []
        if self.damaged:
            parts.append(f"damaged in {self.severities['damage']} places")
        if self.lost:
            parts.append(f"{self.lost:,} events were lost while recording")
        if self.payload_faults:
            parts.append(f"{self.payload_faults:,} payloads do not fit their layout")
        if not self.complete:
            parts.append("the end is missing")
        return f"{self.events:,} events; " + ("; ".join(parts) if parts else "sound and complete")
