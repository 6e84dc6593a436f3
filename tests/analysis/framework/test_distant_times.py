"""Clocks that put events centuries from the start of their session: reports say so, and add nothing beyond 64 bits."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import clrevents
import report_laws
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.analysis.gathering.groups import FAR_NS, near_ns, near_table, near_times
from clrevents.analysis.shared.samples.samples import read_samples
from project_files import fixture, unpacked
from reading import opened

# What the clock's zero is: all events are long before it, long after it, or some of each.
ZEROS = {"before": (1 << 63) - 1, "after": 0, "both": None}


def moved(name: str, where: str) -> bytes:
    """A trace whose clock ticks once a second, so that its events are centuries apart."""
    data = bytearray(unpacked(fixture(name)))
    at = data.index(b"Trace\x06") + len(b"Trace\x06") + 16
    sync, frequency = struct.unpack_from("<qq", data, at)
    with clrevents.open(bytes(data)) as trace:
        middle = int(np.median(trace.headers(columns=["time_ns"])["time_ns"]))
    zero = ZEROS[where]
    struct.pack_into("<qq", data, at, sync + middle * frequency // 1_000_000_000 if zero is None else zero, 1)
    return bytes(data)


def distant(trace: clrevents.Trace) -> int:
    times = trace.headers(columns=["time_ns"])["time_ns"]
    return int(((times < -FAR_NS) | (times > FAR_NS)).sum())


def notes(answer: Answer[Any]) -> list[Any]:
    return [note for note in answer.notes if note.id == "distant-times"]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        *(("net10-exceptions", where) for where in ZEROS),
        ("net8-meters", "both"),
        pytest.param("net10-starvation", "both", marks=pytest.mark.full),
    ],
)
def test_reports_of_centuries(name: str, where: str) -> None:
    with opened(moved(name, where)) as trace:
        answers = trace.reports()
        samples = read_samples(trace)
        most = distant(trace)
    assert most > 30
    for answer in answers.values():
        (note,) = notes(answer)
        # Of the events that any of the reports reads.
        assert 0 < note.numbers["events"] <= most
        assert answer.coverage != "full"
        report_laws.shows_safely(answer)
        report_laws.reads_back_equal(answer)
        for table in answer.tables():
            rows = answer.table(table.name)
            for column in columns_of(table.row_class):
                if column.name in ("duration_ns", "start_ns", "end_ns"):
                    known = rows.column(column.name).values[rows.column(column.name).known]
                    assert not len(known) or -2 * FAR_NS <= known.min() <= known.max() <= 2 * FAR_NS, column.name
    assert not len(samples) or samples.total <= 2 * FAR_NS * len(samples.threads)


def test_a_sound_clock_has_no_note() -> None:
    with clrevents.open(fixture("net10-exceptions")) as trace:
        assert not [note for answer in trace.reports().values() for note in notes(answer)]


def test_times_of_a_year_stay_and_later_ones_become_a_year() -> None:
    times = np.array([-FAR_NS - 1, -FAR_NS, 0, FAR_NS, FAR_NS + 1, (1 << 63) - 1])
    found, count = near_times(times)
    assert found.tolist() == [-FAR_NS, -FAR_NS, 0, FAR_NS, FAR_NS, FAR_NS]
    assert count == 3
    assert near_times(times[1:4])[1] == 0
    assert (near_ns(-(1 << 90)), near_ns(5), near_ns(1 << 90)) == (-FAR_NS, 5, FAR_NS)


def test_a_table_without_times_is_left_as_it_is() -> None:
    with clrevents.open(fixture("net10-exceptions")) as trace:
        table = trace.headers(columns=["name"])
    assert near_table(table) == (table, 0)
