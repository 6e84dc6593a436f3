"""`CheckResult`: what `Trace.check` found out about a whole trace, as a value, and how it counts. Reads nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import UNSEEN_LOSSES, counted, lost_events, missing_stacks
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKey
from clrevents.decode.payload.payload_decoder import RawPayload
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem
from clrevents.trace.display import check_html, check_text

_MISFITS: Final = "payloads do not fit their layout"


@frozen
class PayloadCounts(Value):
    """How the payloads of one kind of event decoded, as numbers of events: a value of `CheckResult.kinds`."""

    exact: int = 0
    """Events whose fields account for the whole payload."""
    tail: int = 0
    """Events with bytes after the last known field."""
    short: int = 0
    """Events whose payload does not fit its layout."""
    unknown: int = 0
    """Events whose fields neither the registry nor the trace describes."""
    payload_bytes: int = 0
    """The total size of these payloads in bytes."""

    @property
    def events(self) -> int:
        """The total number of these events."""
        return self.exact + self.tail + self.short + self.unknown


def count_payloads(rows: DecodedRows, tally: dict[EventKey, Counter[str]]) -> None:
    """Add decoded rows to these `PayloadCounts`. Payloads that fit exactly are counted without making records."""
    events = np.bincount(rows.kind_indexes)
    sizes = np.zeros(len(events), np.int64)
    np.add.at(sizes, rows.kind_indexes, rows.sizes)
    for index in np.flatnonzero(events).tolist():
        counts = tally.setdefault(rows.kinds[index].key, Counter())
        counts["exact"] += int(events[index])
        counts["payload_bytes"] += int(sizes[index])
    for row, payload in rows.single_payloads():
        raw = isinstance(payload, RawPayload)
        if raw or row in rows.tails:
            counts = tally[rows.kind(row).key]
            counts["exact"] -= 1
            counts["tail" if not raw else "short" if row in rows.misfits else "unknown"] += 1


@frozen(repr=False)
class CheckResult:
    """The result of `Trace.check`, which decodes every event and counts every problem."""

    info: TraceInfo
    """The contents of the trace's header."""
    complete: bool
    """Whether the trace has a proper end."""
    kinds: Mapping[EventKey, PayloadCounts]
    """How the payloads of each kind of event decoded."""
    problems: tuple[Problem, ...]
    """The first problems, at most `Limits.problems` of each severity."""
    problem_counts: Mapping[str, int]
    """The exact number of problems by `Problem.kind`."""
    severities: Mapping[str, int]
    """The exact number of problems by `Problem.severity`."""
    losses: tuple[Loss, ...]
    """The lost events by thread and time window, at most `Limits.problems` of them."""
    lost: int
    """The exact number of lost events."""
    losses_visible: bool = True
    """Whether lost events would show: NetPerf and the Linux recorder number none before they may drop them."""

    @property
    def events(self) -> int:
        """The number of events."""
        return sum(k.events for k in self.kinds.values())

    @property
    def damaged(self) -> bool:
        """Whether the container is damaged anywhere."""
        return self.severities.get("damage", 0) > 0

    @property
    def payload_faults(self) -> int:
        """The number of events whose payload does not fit its layout."""
        return self.severities.get("payload", 0)

    @property
    def stackless(self) -> int:
        """The number of events that refer to a stack that the trace does not have."""
        return self.problem_counts.get("missing-stack", 0)

    @property
    def unknown(self) -> int:
        """The number of events whose fields neither the registry nor the trace describes."""
        return sum(k.unknown for k in self.kinds.values())

    @property
    def ok(self) -> bool:
        """Whether nothing is lost or damaged, no stack is missing and every known payload fits its layout; `unknown`
        events do not count."""
        return not (self.damaged or self.payload_faults or self.lost or self.stackless)

    @property
    def verdict(self) -> str:
        """The result in one line of text."""
        parts = []
        if self.damaged:
            parts.append(f"damaged in {counted(self.severities['damage'], 'place')}")
        if self.lost:
            parts.append(lost_events(self.lost))
        if self.stackless:
            parts.append(missing_stacks(self.stackless))
        if self.payload_faults:
            parts.append(counted(self.payload_faults, "payload does not fit its layout", _MISFITS))
        if not self.complete:
            parts.append("the end is missing")
        if broken := self.problem_counts.get("broken-event-source", 0):
            parts.append(counted(broken, "event source could not be recorded", "event sources could not be recorded"))
        if self.unknown:
            if not parts:
                parts.append("nothing lost or damaged" if self.losses_visible else f"nothing damaged; {UNSEEN_LOSSES}")
            parts.append(
                counted(self.unknown, "event has no layout and stays raw", "events have no layout and stay raw")
            )
        sound = "sound and complete" if self.losses_visible else f"sound; {UNSEEN_LOSSES}"
        return f"{counted(self.events, 'event')}; " + ("; ".join(parts) if parts else sound)

    def __repr__(self) -> str:
        return check_text(self)

    def _repr_html_(self) -> str:
        return check_html(self)
