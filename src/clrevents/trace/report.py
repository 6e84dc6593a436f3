"""What is said of a whole trace: its threads, and what `check` found. Values; reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem
from clrevents.words import counted, lost_events

_MISFITS: Final = "payloads do not fit their layout"


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
    def raw(self) -> int:
        """Events of which only the bytes are known: neither the registry nor the trace tells their fields."""
        return sum(k.unknown for k in self.kinds.values())

    @property
    def ok(self) -> bool:
        """Nothing lost, nothing damaged, every known payload used up exactly. Events of unknown fields do not count."""
        return not (self.damaged or self.payload_faults or self.lost)

    @property
    def verdict(self) -> str:
        """One line for a human."""
        parts = []
        if self.damaged:
            parts.append(f"damaged in {counted(self.severities['damage'], 'place')}")
        if self.lost:
            parts.append(lost_events(self.lost))
        if self.payload_faults:
            parts.append(counted(self.payload_faults, "payload does not fit its layout", _MISFITS))
        if not self.complete:
            parts.append("the end is missing")
        if self.raw:
            if not parts:
                parts.append("nothing lost or damaged")
            parts.append(counted(self.raw, "event has no layout and stays raw", "events have no layout and stay raw"))
        return f"{counted(self.events, 'event')}; " + ("; ".join(parts) if parts else "sound and complete")
