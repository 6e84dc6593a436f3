"""Answers with many tracks, series and rows, written: as much work for each row, and no copy of the whole as text."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from typing import Any

import pytest

import clrevents
import costly_work
from clrevents.cli.output import Output
from clrevents.export.file_formats import TimelineFormat
from clrevents.export.look import Look
from clrevents.export.timeline.report_items import counters
from clrevents.export.timeline.timeline_file import write_timeline
from counting import operations

SIZES = (200, 1000)
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def more(work: Any) -> float:
    """The operations that each further event takes."""
    work(1)
    few, many = (work(n) for n in SIZES)
    return (many - few) / (SIZES[1] - SIZES[0])


def test_tracks_of_one_value_each() -> None:
    def work(n: int) -> int:
        with clrevents.open(costly_work.many_counters(n)) as trace:
            answer = trace.report("counters")
        return operations(lambda: list(counters(answer)))

    assert more(work) < 40


@pytest.mark.parametrize("format", ["perfetto", "firefox"])
def test_files_of_tracks_of_one_value_each(format: TimelineFormat) -> None:
    def work(n: int) -> int:
        with clrevents.open(costly_work.many_counters(n)) as trace:
            return operations(lambda: write_timeline(trace, io.BytesIO(), Look(), format))

    assert more(work) < 600


def test_tags_are_held_once_and_not_for_each_value() -> None:
    data = costly_work.many_tags(8)
    with clrevents.open(data) as trace:
        trace.event_counts()
        tracemalloc.start()
        try:
            answer = trace.report("counters")
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            found, _ = tracemalloc.get_traced_memory()
            texts = answer.values.column("tags").tolist()
            _, again = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # 16 quantiles each, in two tables with two texts each.
    assert len(texts) == 18 * 8
    assert peak < 8 * len(data)
    assert again - found < len(data)
    assert max(map(len, answer.values.column("label").tolist())) < 500
    assert len({*answer.values.column("label").tolist()}) == len(answer.series)
    assert answer.series[0].tags_ambiguous
    assert answer.series[0].tag_names == ()
    assert len(answer.series[0].tags) > 20_000


class Pieces(io.StringIO):
    """Remembers how long the texts were that were written to it."""

    longest = 0

    def write(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        return super().write(text)


def test_an_object_is_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"schema": "s", "rows": [{"a": number, "b": [None, "\u2028"], "c": {}} for number in range(20_000)]}
    value["plain"] = [{"a": number, "b": "x" * 100} for number in range(100_000)]
    stream = Pieces()
    monkeypatch.setattr(sys, "stdout", stream)
    with Output() as out:
        out.line("before")
        out.json(value)
        out.line("after")
    assert stream.getvalue() == f"before\n{json.dumps(value, indent=2)}\nafter\n"
    assert stream.longest < len(stream.getvalue()) / 10
