"""What a redaction did: how many texts and ids were replaced, by event and field, and which payloads entirely.

Holds counts and names of code, never a value.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define

SCHEMA: Final = "clrevents.redaction/1"


@define
class RedactionCounts(Value):
    """Counts that grow while a trace is redacted."""

    replaced: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced texts, arrays of bytes and characters, by provider, event and field."""
    identifiers: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced identifying numbers in payloads, by provider, event and field."""
    blanked: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads that became zeros, by provider and event."""
    tails: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads in which only the bytes after the known fields became zeros."""

    def to_dict(self) -> dict[str, Any]:
        """What `--report` writes."""
        return {
            "schema": SCHEMA,
            "replaced": [
                {"provider": provider, "event": event, "field": field, "texts": count}
                for (provider, event, field), count in sorted(self.replaced.items())
            ],
            "identifiers": [
                {"provider": provider, "event": event, "field": field, "numbers": count}
                for (provider, event, field), count in sorted(self.identifiers.items())
            ],
            "blanked": _payloads(self.blanked),
            "tails": _payloads(self.tails),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _payloads(counts: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"provider": p, "event": e, "payloads": count} for (p, e), count in sorted(counts.items())]
