"""What the doctor finds in a recording that goes on: reads the file that grows, in a small part of the time.

The recording comes first: what cannot be read, or takes too long, is judged at its end. Says nothing about the
recording itself, whose end is still to come.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from clrevents.analysis.doctor.case import TRACE
from clrevents.analysis.doctor.diagnosing import asked_of, concluded
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.analysis.doctor.rule import Rule
from clrevents.analysis.framework.model.needs import SeenKinds
from clrevents.analysis.framework.run.asking import ReportFeed
from clrevents.analysis.framework.run.occurred import seen_kind
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.errors import TraceError
from clrevents.trace import EARLY_NAMES, Decoder, learn_early, occurred_in

_EVERY: Final = 1.0
_SHARE: Final = 0.2
"""The most that reading and judging may take of the time."""
_PIECE: Final = 1 << 18


class LiveFindings:
    """The findings of `rules` in the recording at `path`; call `look` often."""

    def __init__(self, rules: Sequence[Rule], path: Path) -> None:
        self._rules = [rule for rule in rules if not rule.id.startswith(f"{TRACE}.")]
        self._path = path
        self._feed = ReportFeed(asked_of(self._rules))
        self._decoder = Decoder(*self._feed.selectors, symbols=True)
        self._place = 0
        self._named = self._broken = False
        self._began = self._told = time.monotonic()
        self._spent = 0.0

    def look(self) -> Diagnosis | None:
        """What was found so far, about every second; None in between."""
        began = time.monotonic()
        if self._broken or self._spent > _SHARE * (began - self._began):
            return None
        try:
            self.read()
            if began - self._told < _EVERY or self._decoder.info is None:
                return None
            self._told = began
            return self.judged()
        except (TraceError, OSError):
            self._broken = True
            return None
        finally:
            self._spent += time.monotonic() - began

    def read(self) -> bool:
        """Take the next bytes; whether there were any. Raises TraceError and OSError."""
        with self._path.open("rb") as file:
            file.seek(self._place)
            piece = file.read(_PIECE)
        self._place += len(piece)
        self._feed.take(self._decoder, self._decoder.feed(piece) if piece else self._decoder.flush())
        names = Path(f"{self._path}{EARLY_NAMES}")
        if not self._named and self._decoder.info is not None and names.exists():
            self._named = True
            learn_early(self._decoder, names.read_bytes())
        return bool(piece)

    def judged(self) -> Diagnosis:
        """What the rules find in what was read. Raises ValueError before the trace's header was."""
        seen = (seen_kind(kind) for _, kind in occurred_in(self._decoder))
        kinds = SeenKinds(seen) if self._decoder.info is None else SeenKinds.of(seen, self._decoder.info)
        lost = sum(loss.count for loss in self._decoder.losses)
        known = {"lost": lost, "damaged": 0, "unended": 0, "snapshots": int(any(k.name == "GCBulkNode" for k in kinds))}
        trace = {name: Metric(value, "count") for name, value in known.items()}
        return concluded(self._feed.so_far(self._decoder), trace, self._rules, kinds)
