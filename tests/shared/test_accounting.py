"""Every payload byte of every shared trace belongs to a field, but for kinds that are listed with the reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Final

import pytest
from shared_files import SUMMED_ONLY, Shared, needs_shared, params, traces

import clrevents
from clrevents.decode.payload.payload_decoder import NO_FIELDS

# The largest is left out: decoding its 1.3 million events once more would take as long as all others together.
TRACES: Final = [
    trace
    for trace in traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
    if trace.short not in SUMMED_ONLY
]

_DYN: Final = (1, 93, NO_FIELDS)
BYTES_ONLY: Final[dict[str, dict[str, tuple[int, int, str]]]] = {
    "net10-all": {"Clrevents-Sample/Dyn": _DYN},
    "net8-all": {"Clrevents-Sample/Dyn": _DYN},
    "net8-sample": {"Clrevents-Sample/Dyn": _DYN},
}
"""By trace and event: how many there are, how many bytes these have, and why they are not fields."""


@pytest.mark.parametrize("trace", params(TRACES))
def test_every_payload_byte_belongs_to_a_field(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        report = clrevents.open(trace.path).check()
    events = fields = others = 0
    bytes_only = {}
    for kind in report.kinds:
        events += kind.events
        if kind.exact == kind.events:
            fields += kind.payload_bytes
        else:
            # All or nothing: no kind is read here and not there, and nothing is short or left over.
            assert (kind.exact, kind.tail, kind.short) == (0, 0, 0), kind.key
            others += kind.payload_bytes
            bytes_only[f"{kind.provider}/{kind.name}"] = kind.unknown, kind.payload_bytes, NO_FIELDS
    told = [problem.message for problem in report.problems if problem.kind == "unknown-event"]
    assert len(told) == len(bytes_only)
    assert all(NO_FIELDS in message for message in told)
    assert bytes_only == BYTES_ONLY.get(trace.short, {})
    assert report.payload_faults == 0
    record_property("accounted", {trace.name: (events, fields, others)})


@needs_shared
def test_every_reason_is_of_a_trace() -> None:
    assert BYTES_ONLY.keys() <= {trace.short for trace in TRACES}
    assert len(TRACES) >= 32
