"""The top report: exact numbers of a trace, units, windows, threads, processes, losses, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

import clrevents
from analysis.test_samples import MS, shop, traced
from clrevents.analysis.framework.model.declaration import parameters_of
from clrevents.analysis.reports.top import HotRow, TopParameters, TopReport
from clrevents.analysis.shared.weights.weighing import CAVEAT
from clrevents.encode.values import ThreadRow
from clrevents.events import MethodFlags, MethodLoad_V1
from clrevents.testing.builder import TraceBuilder
from project_files import fixture

NETPERF = fixture("net8-netperf3")


def worked() -> TraceBuilder:
    """Thread 7: 4 ms in Pay, 1 ms waiting in Wait; thread 8: 10 ms waiting in Main."""
    builder = shop().thread(7).at(10 * MS).sample(0x2010, 0x1010)
    builder.thread(8).at(11 * MS).sample(0x1010, kind=1)
    builder.thread(7).at(14 * MS).sample(0x3010, 0x2010, 0x1010, kind=1)
    builder.thread(7).at(15 * MS).sample(0x1010)
    return builder.thread(8).at(21 * MS).sample(0x1018)


def weights(report: TopReport) -> list[tuple[Any, ...]]:
    return [(row.name, row.exclusive_ns, row.inclusive_ns, row.external_ns, row.samples) for row in report.methods]


def test_what_the_main_threads_time_divides_into() -> None:
    """Below Main, which 9 of its 10 ms lead to: 4 ms in Pay, 3 ms waiting in Wait, 2 ms its own. Another thread is
    somewhere else for longer."""

    def program(own_ms: int) -> TraceBuilder:
        builder = shop().thread(7).at(10 * MS).sample(0x1010)
        for time, frames, kind in ((12, (0x2010, 0x1010), 2), (16, (0x3010, 0x1010), 1), (19, (0x2010,), 2)):
            builder.thread(7).at(time * MS).sample(*frames, kind=kind)
        builder.thread(7).at(20 * MS).sample(0x1010).at((20 + own_ms) * MS).sample(0x1010)
        return builder.thread(8).at(11 * MS).sample(0x3010, 0x2010, kind=1).at(91 * MS).sample(0x3010, kind=1)

    (pay, wait) = traced(program(0)).report("top").branches
    assert (pay.below, pay.name, pay.inclusive_ns, pay.share) == ("Shop.Main()", "Shop.Pay()", 4 * MS, 0.4)
    assert (wait.name, wait.inclusive_ns, wait.share, wait.jit_ns) == ("Shop.Wait()", 3 * MS, 0.3, 0)
    # Where most of it is one method's own, it does not divide.
    assert not len(traced(program(30)).report("top").branches)


def test_every_value_of_a_row() -> None:
    report = traced(worked()).report("top")
    assert report.methods[0] == HotRow(
        process_id=1234,
        lossy=False,
        name="Shop.Main()",
        module=None,
        reason=None,
        kind=None,
        samples=3,
        inclusive_samples=5,
        exclusive_ns=10 * MS,
        inclusive_ns=15 * MS,
        exclusive_bytes=None,
        inclusive_bytes=None,
        exclusive=None,
        inclusive=None,
        processor_ns=None,
        processor_low_ns=None,
        processor_high_ns=None,
        inclusive_processor_ns=None,
        inclusive_processor_low_ns=None,
        inclusive_processor_high_ns=None,
        ready_ns=None,
        share=10 / 15,
        running_ns=0,
        waiting_ns=0,
        external_ns=10 * MS,
        external_share=1.0,
        own=True,
        own_caller=None,
        own_callee="Shop.Pay()",
    )
    assert weights(report)[1:] == [
        ("Shop.Pay()", 4 * MS, 5 * MS, 0, 1),
        ("Shop.Wait()", 1 * MS, 1 * MS, 1 * MS, 1),
    ]
    assert [row.inclusive_samples for row in report.methods] == [5, 2, 1]
    facts = report.facts
    assert (facts.event, facts.unit, facts.threads, facts.advice) == ("ThreadSample", "nanoseconds", 2, None)
    # Gaps of 4, 1 and 10 ms.
    assert facts.sampling_period_ns == 4 * MS
    total = report.metrics["total"]
    assert (total.value, total.unit, total.evidence, report.metrics["samples"].value) == (15 * MS, "ns", "sample", 5)
    assert [(note.id, note.severity, note.message) for note in report.notes] == [("clock-time", "info", CAVEAT)]
    assert (report.coverage, report.question.text) == ("full", "Where is the time spent?")


@pytest.fixture(scope="module")
def netperf() -> Iterator[clrevents.Trace]:
    with clrevents.open(NETPERF) as trace:
        yield trace


def test_a_real_trace(netperf: clrevents.Trace) -> None:
    report, modules, raw = netperf.report("top"), netperf.report("top", by="module"), netperf.report("top", raw=True)
    assert weights(report)[:3] == [
        ("Program.Hot(int)", 809_411_940, 809_411_940, 3_972_004, 498),
        ("System.Threading.Thread.Sleep(int)", 357_405_650, 357_405_650, 357_405_650, 330),
        ("Program.Contention.lambda_4()", 170_689_068, 227_584_806, 170_689_068, 158),
    ]
    assert len(report.methods) == 76
    assert sum(row.exclusive_ns or 0 for row in report.methods) == 1_768_930_692
    assert report.metrics["total"].value == 1_740_319_766
    (unsampled,) = [row for row in report.methods if row.name == "[not sampled]"]
    assert unsampled.exclusive_ns == report.metrics["unsampled_total"].value == 1_768_930_692 - 1_740_319_766
    assert unsampled.samples == 0
    assert sum(row.samples for row in report.methods) == report.metrics["samples"].value == 1288
    assert report.facts.sampling_period_ns == 1_117_437
    assert weights(modules) == [
        ("Workload", 1_232_359_558, 1_724_514_747, 222_686_741, 824),
        ("System.Private.CoreLib", 443_517_271, 445_799_074, 441_318_642, 407),
        ("[jit]", 59_947_442, 59_947_442, 59_947_442, 54),
        ("[not sampled]", 28_610_926, 28_610_926, 0, 0),
        ("System.Console", 4_495_495, 4_495_495, 4_495_495, 3),
        ("System.Linq", 0, 1_191_137, 0, 0),
    ]
    assert [row.module for row in modules.methods] == [
        "Workload",
        "System.Private.CoreLib",
        "[jit]",
        None,
        "System.Console",
        "System.Linq",
    ]
    assert raw.methods[0].name == "Workload!Program.Hot(int32)"
    assert TopReport.from_dict(report.to_dict()) == report


def test_weights_are_in_the_columns_of_their_unit() -> None:
    builder = shop()
    for size, address in ((10, 0x1010), (30, 0x2010), (2, 0x1010)):
        builder.described("Shop", "Sold", {"Size": (11, size), "Depth": (14, size / 4)}, stack=[address])
    trace = traced(builder)
    columns = ("samples", "exclusive_ns", "exclusive_bytes", "inclusive_bytes", "exclusive", "share", "external_share")

    def rows(**options: Any) -> list[tuple[Any, ...]]:
        found = trace.report("top", event="Sold", **options)
        assert found.facts.sampling_period_ns is None
        assert found.notes == ()
        return [tuple(getattr(row, name) for name in columns) for row in found.methods]

    assert rows() == [(2, None, None, None, None, 2 / 3, None), (1, None, None, None, None, 1 / 3, None)]
    assert rows(weight="Size") == [(1, None, 30, 30, None, 30 / 42, None), (2, None, 12, 12, None, 12 / 42, None)]
    assert [row[4] for row in rows(weight="Depth")] == [7.5, 3.0]
    units = {w: trace.report("top", event="Sold", weight=w).metrics["total"].unit for w in (None, "Size", "Depth")}
    assert units == {None: "count", "Size": "bytes", "Depth": ""}


def test_people_see_the_columns_that_say_something() -> None:
    heads = [line.split() for line in repr(traced(worked()).report("top")).split("\n") if " share " in line]
    names = ["exclusive", "inclusive", "share", "running", "waiting"]
    assert heads == [["samples", *names, "name"]]
    built = traced(shop().described("Shop", "Sold", {"Size": (11, 3)}, stack=[0x1010]))
    heads = [
        line.split() for line in repr(built.report("top", event="Sold", weight="Size")).split("\n") if "  share" in line
    ]
    assert heads == [["samples", "exclusive", "inclusive", "share", "name"]]


def test_a_window_begins_with_the_state_before_it() -> None:
    trace = traced(worked())
    report = trace.report("top", start=12 * MS, end=int(14.5 * MS))
    assert weights(report) == [
        ("Shop.Main()", 2_500_000, 5 * MS, 2_500_000, 1),
        ("Shop.Pay()", 2 * MS, 2_500_000, 0, 1),
        ("Shop.Wait()", 500_000, 500_000, 500_000, 1),
    ]
    edges = [None, 5 * MS, 12 * MS, 14 * MS, 14 * MS + 1, 21 * MS, None]
    parts = [trace.report("top", start=a, end=b).metrics["total"].value for a, b in pairwise(edges)]
    assert sum(part or 0 for part in parts) == 15 * MS
    assert trace.report("top", start=30 * MS).metrics["total"].value == 0
    assert len(trace.report("top", start=14 * MS, end=12 * MS).methods) == 0


def test_processes_have_rows_of_their_own() -> None:
    """Also where threads have the same number, and code the same address."""
    builder = TraceBuilder("nettrace6", process_id=100).thread(7)
    builder.method_load("N", "Mine", address=0x1000, size=64).at(MS).sample(0x1010)
    other = builder.thread(8)
    # In the file, thread 8 is described as thread 7 of another process.
    other._writer.threads([ThreadRow(50, 7, 200)])
    other._thread_rows[8] = 50
    other.method_load("N", "Other", address=0x1000, size=64)
    other.at(7 * MS).sample(0x1010).at(9 * MS).sample(0x1010)
    trace = traced(builder.thread(7).at(5 * MS).sample(0x1010))
    report = trace.report("top")
    assert [(row.process_id, row.name, row.exclusive_ns) for row in report.methods] == [
        (100, "N.Mine()", 4 * MS),
        (200, "N.Other()", 2 * MS),
    ]
    assert report.metrics["total"].value == 6 * MS
    assert [row.name for row in trace.report("top", process_id=200).methods] == ["N.Other()"]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"weight": "Size"}, ValueError, "weight needs event: profiler samples are weighted by time"),
        ({"event": "Sold", "weight": "What"}, ValueError, "'What' is not a number, so it cannot be a weight"),
        ({"event": "Sold", "weight": "Less"}, ValueError, "'Less' is negative in some events"),
        ({"event": "Sold", "weight": "Sise"}, KeyError, r"Sold has no column 'Sise'; .*Size, What"),
        ({"event": "Soled"}, clrevents.UnknownEventError, "Soled"),
        ({"event": "GC*"}, clrevents.AmbiguousEventError, "means several events"),
        (
            {"event": "Sold", "weight": "level"},
            ValueError,
            "'level' is not an amount, so it cannot be a weight; use Size",
        ),
        (
            {"by": "thread"},
            ValueError,
            "by must be .*'module', 'alloc', 'off-cpu', 'exceptions' or a field of event, not 'thread'",
        ),
        ({"by": "thread", "weight": "alloc"}, ValueError, "by must be 'method' or 'module', not 'thread'"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    builder = shop().described("Shop", "Sold", {"Size": (11, 1), "What": (18, "tea"), "Less": (9, -1)}, stack=[0x1010])
    builder.described("Shop", "GCOne", {}).described("Shop", "GCTwo", {})
    with pytest.raises(error, match=text):
        traced(builder).report("top", **options)


def test_a_trace_without_samples_says_what_to_record() -> None:
    report = traced(shop()).report("top")
    assert (report.coverage, len(report.methods), report.metrics["samples"].value) == ("none", 0, None)
    total = report.metrics["total"]
    assert (total.value, total.reason) == (None, "the trace has no such event")
    (note,) = report.notes
    assert (note.id, note.record) == ("not-recorded", "Microsoft-DotNETCore-SampleProfiler:0x0:4")
    (note,) = traced(worked()).report("top", event="GCAllocationTick").notes
    assert (note.id, note.record) == ("not-recorded", "Microsoft-Windows-DotNETRuntime:0x1:5")


def test_a_pattern_that_nothing_matches() -> None:
    report = traced(worked()).report("top", event="Nothing*", weight="Size")
    assert (report.coverage, len(report.methods), report.facts.event) == ("none", 0, None)
    assert [(note.id, note.message) for note in report.notes] == [
        ("no-events", "the trace has no event that matches 'Nothing*'")
    ]


def test_missing_names_are_noted() -> None:
    report = traced(TraceBuilder().at(MS).sample(0x7F10, 0x1010).at(2 * MS).sample(0x7F10)).report("top")
    note = report.notes[-1]
    assert (note.id, note.severity, note.message) == ("no-names", "warning", "2 of 2 frames have no name")
    assert note.numbers == {"nameless": 2, "frames": 2}
    assert note.remedy == report.facts.advice
    assert note.remedy is not None
    assert "rundown" in note.remedy


def test_parameters_are_those_of_the_function() -> None:
    assert [(p.name, p.type, p.default) for p in parameters_of(TopParameters)] == [
        ("event", str, None),
        ("weight", str, None),
        ("thread_id", int, None),
        ("running", bool, False),
        ("waiting", bool, False),
        ("state", str, None),
        ("kind", str, None),
        ("group", str, None),
        ("include", str, None),
        ("exclude", str, None),
        ("fold", str, None),
        ("fold_kernel", bool, False),
        ("my_code", bool, False),
        ("artefacts", bool, False),
        ("raw", bool, False),
        ("by", str, "method"),
    ]


def test_methods_without_names_are_told_apart() -> None:
    """By module and token, or by their ids: what has no token, and whose module is unknown, is not all one."""
    builder = TraceBuilder().thread(7)
    ids = [(1, 5, 9), (2, 5, 9), (3, 5, 0), (4, 5, 0), (5, 6, 9)]
    for method, module, token in ids:
        start = method * 0x1000
        builder.event(MethodLoad_V1(method, module, start, 64, token, MethodFlags(0), 0))
        builder.at(method * MS).sample(start)
    names = [row.name for row in traced(builder).report("top").methods]
    assert len(names) == 4
    assert sorted(names) == [
        "module 0x5!0x00000009",
        "module 0x5!method 0x3",
        "module 0x5!method 0x4",
        "module 0x6!0x00000009",
    ]
