"""Inputs that were once answered wrongly (`../shared/finds`), and what is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.rewrite import cut, redact

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def test_two_meters_of_one_name() -> None:
    with clrevents.open(SHARED / "finds/two-meters-same-name.nettrace") as trace:
        rows = [(row.tags, row.last, row.mean) for row in trace.report("counters").series]
    assert sorted(rows) == [("bind=0.0.0.0", 3, 3), ("bind=::", 1000, 1000)]


@pytest.mark.parametrize("copy", [redact, cut])
def test_a_copy_says_what_its_original_lacked(copy: Any, tmp_path: Path) -> None:
    with clrevents.open(SHARED / "finds/truncated.nettrace", errors="salvage") as trace:
        copy(trace, tmp_path / "copy.nettrace")
    with clrevents.open(tmp_path / "copy.nettrace", errors="salvage") as trace:
        checked, notes = trace.check(), {note.id for note in trace.report("threads").notes}
    missing = "damaged in 1 place; the end is missing: the program or the recorder ended early"
    assert checked.verdict.partition("; ")[2] == missing
    assert {"damage", "no-end"} <= notes


def test_a_bound_is_that_of_the_number_in_the_sentence() -> None:
    with clrevents.open(SHARED / "finds/doctor-bound-of-another-metric.nettrace", errors="salvage") as trace:
        (rule,) = trace.doctor("gc.induced")
    assert (rule.state, rule.at_least) == ("cannot tell", False)
    assert rule.title == "events are missing: 0 collections of 5 were requested by the program, as far as was recorded"


def test_the_version_of_an_event_as_a_pair() -> None:
    with clrevents.open(SHARED / "finds/v6-version-as-text-label.nettrace") as trace:
        assert {(event.key.version, event.payload.TypeName) for event in trace.events()} == {(4, "System.Byte[]")}


def test_netperf_2_of_a_32_bit_process() -> None:
    with clrevents.open(SHARED / "finds/netperf-2-reader-1-32bit.netperf") as trace:
        assert (str(trace.info.start), trace.info.pointer_size) == ("2018-01-17 00:06:20.497000+00:00", 4)
        assert [event.payload.TypeName for event in trace.events()] == ["System.Object"] * 3
        assert trace.check().ok


def test_booleans_and_decimals_before_a_text() -> None:
    """Written in 1 byte and as a double while 4 and 16 are described."""
    with clrevents.open(SHARED / "finds/self-described-bool-decimal.nettrace") as trace:
        assert [tuple(getattr(e.payload, name) for name in e.payload.__fields__) for e in trace.events()] == [
            (True, False, "end"),
            (False, False, "end"),
            (True, False, "ends"),
            (12.5, "end"),
            (12.5, "endless"),
            (True, "e"),
            (True, False, 5),
            (True, False, True, False, "abcdef"),
            (False, False, False, False, "abcdef"),
        ]
        assert trace.check().ok
