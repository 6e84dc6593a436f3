"""No cell leaves the range of its type: damaged numbers are null or the nearest that can be, and a note counts them."""

from __future__ import annotations

import pytest

import clrevents
from clrevents.analysis.framework.model.answer import CellRanges
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, column, row
from plain_trace import PlainTrace, changed
from product import in_range
from project_files import fixture, unpacked


@row
class Sized(Row):
    """One of each range."""

    time_ns: cells.Ns = column("A time.")
    took_ns: cells.DurationNs | None = column("A duration.")
    size_bytes: cells.Bytes = column("A size.")
    more_bytes: cells.BytesChange = column("A difference.")
    count: cells.Count | None = column("A count.")
    share: cells.Ratio | None = column("A share.")
    parts: tuple[cells.Bytes, ...] = column("Several sizes.")


def table(**values: object) -> ReportTable[Sized]:
    one = {"time_ns": -5, "took_ns": 1, "size_bytes": 2, "more_bytes": -3, "count": 4, "share": 0.5, "parts": (1,)}
    return ReportTable.of(Sized, [Sized(process_id=None, lossy=False, **{**one, **values})])


def test_what_fits_stays() -> None:
    ranges, rows = CellRanges(), table()
    assert ranges.table("sizes", rows) is rows
    assert ranges.notes() == ()


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("took_ns", -1, None),
        ("size_bytes", -(1 << 63), 0),
        ("count", -7, None),
        ("share", 1.5, None),
        ("share", -0.1, None),
        ("share", float("nan"), None),
        ("parts", (3, -3), (3, 0)),
    ],
)
def test_what_does_not_is_null_or_the_nearest(name: str, wrong: object, right: object) -> None:
    ranges = CellRanges()
    made = ranges.table("sizes", table(**{name: wrong}))
    assert getattr(made[0], name) == right
    (note,) = ranges.notes()
    assert (note.id, note.severity, note.touches, note.numbers) == (
        "out-of-range",
        "warning",
        ("sizes",),
        {"numbers": 1},
    )


def test_a_metric_that_cannot_be_is_null_with_a_reason() -> None:
    ranges = CellRanges()
    for metric in (Metric(-1, "ns"), Metric(5, "bytes", low=-2), Metric(1.5, "ratio")):
        made = ranges.metric(metric)
        assert (made.value, made.low, made.high) == (None, None, None)
        assert made.reason
    kept = Metric(-1, "count per s")
    assert ranges.metric(kept) is kept


HISTORY, LOADED = 204, 143


@pytest.mark.parametrize(("name", "report", "event"), [("net10-garbage", "gc", HISTORY), ("net8-rich", "jit", LOADED)])
def test_sizes_of_damaged_events(name: str, report: str, event: int) -> None:
    """Words with the highest bit set, in the middle of the event that brings the sizes."""
    trace = PlainTrace.of(unpacked(fixture(name))).slim(200, 0)
    for place, one in enumerate(trace.events):
        if trace.kinds[one.metadata_id].id == event:
            payload = bytearray(one.payload)
            for at in range(86 if event == HISTORY else 16, len(payload) - 8, 8):
                payload[at + 7] |= 0x80
            trace.events[place] = changed(one, payload=bytes(payload))
    with clrevents.open(trace.written("NetTrace 4"), errors="salvage") as opened:
        answer = opened.report(report)
    in_range(answer)
    assert report != "gc" or any(note.id == "out-of-range" for note in answer.notes)
