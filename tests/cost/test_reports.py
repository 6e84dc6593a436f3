"""Reports of crafted ids, times, threads and processes: as much work for each byte, however they were chosen."""

from __future__ import annotations

import io

import pytest

import clrevents
import costly_reports
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def test_processes_beyond_the_limit_are_left_out_and_counted() -> None:
    with clrevents.open(costly_reports.processes(130)) as trace:
        found = trace.report("jit")
        (one,) = trace.report("jit", process_id=129).compilations
    assert len(found.compilations) == 100
    assert found.coverage == "partial"
    assert (found.notes[-1].id, found.notes[-1].numbers) == ("too-many-processes", {"processes": 30})
    assert one.process_id == 129


def test_of_many_processes_the_busiest_are_shown_and_no_share_is_of_these_alone() -> None:
    trace = io.BytesIO()
    writer = NetTrace6Writer(trace, TraceHeader(process_id=0, processors=1, sampling_interval_ns=1_000_000))
    writer.metadata([MetadataRecord(1, "Universal.Events", 1, 0, "cpu", fields=(FieldDescription("Value", 21),))])
    writer.threads([ThreadRow(i, i, i) for i in range(1, 151)])
    # The later processes have more of them.
    writer.events([EventRecord(1, at, i, b"\1") for at, i in enumerate(i for i in range(1, 151) for _ in range(i))])
    writer.end()
    with clrevents.open(trace.getvalue()) as opened:
        found, whole = opened.report("top"), read_samples(opened)
        one = opened.report("top", process_id=1)
    assert {row.process_id for row in found.methods} == set(range(51, 151))
    assert {row.share for row in found.methods} == {None}
    total = found.metrics["total"]
    assert (total.value, total.low, total.high) == (10_050_000_000, 10_050_000_000, None)
    assert whole.total == 11_325_000_000
    assert [row.share for row in one.methods] == [1.0]
    assert "too-many-processes" not in {note.id for note in one.notes}


def test_a_trace_with_few_processes_has_all_of_them() -> None:
    with clrevents.open(costly_reports.processes(3)) as trace:
        found = trace.report("jit")
    assert [compiled.process_id for compiled in found.compilations] == [1, 2, 3]
    assert "too-many-processes" not in {note.id for note in found.notes}


def test_runtimes_beyond_the_limit_are_left_out_and_counted() -> None:
    # Of the first of 100 processes: runtimes 0 to 9, of which the first has one event more.
    with clrevents.open(costly_reports.runtimes(901)) as trace:
        one, other = trace.report("gc", process_id=1), trace.report("gc", process_id=2)
        whole = trace.report("gc")
    assert len(one.other_suspensions) == 2
    assert one.coverage == "partial"
    assert (one.notes[-1].id, one.notes[-1].numbers) == ("too-many-runtimes", {"runtimes": 8})
    assert other.notes[-1].numbers == {"runtimes": 7}
    assert len(whole.other_suspensions) == 200
    with clrevents.open(costly_reports.runtimes(200)) as trace:
        found = trace.report("gc")
    assert len(found.other_suspensions) == 200
    assert "too-many-runtimes" not in [note.id for note in found.notes]
