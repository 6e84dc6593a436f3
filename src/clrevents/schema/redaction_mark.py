"""The event that marks a trace as redacted: `clrevents/Redacted`, next to the trace's first event.

Described in the trace itself, so that every reader shows it. Knows neither its writer nor its readers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Set
from typing import Final

from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription

PROVIDER: Final = "clrevents"
NAME: Final = "Redacted"
ID: Final = 1
FIELDS: Final = (FieldDescription("Blank", TypeCode.INT32), FieldDescription("Ids", TypeCode.INT32))
"""1 if texts became the same number of `x` instead of words; 1 if identifying numbers were replaced, too."""
SELECTOR: Final = f"{PROVIDER}/{NAME}"


def mark_payload(blank: bool, ids: bool) -> bytes:
    """The payload of the event."""
    return struct.pack("<ii", blank, ids)


def marks_redaction(providers: Mapping[str, Set[str]]) -> bool:
    """Whether a trace is redacted, by the providers of its events' names."""
    return PROVIDER in providers.get(NAME, ())
