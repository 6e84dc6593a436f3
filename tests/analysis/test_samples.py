"""Weighted stacks of traces that are built here: weights, windows, threads, names, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import clrevents
from clrevents.analysis.gathering.merged_stacks import StackFrame, _with_modules
from clrevents.analysis.shared.samples.calltree import telling_names
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.events import MethodJittingStarted_V1, MethodLoad_V2, TypeLoadStart_V0, TypeLoadStop_V0
from clrevents.testing.builder import Format, TraceBuilder
from nettrace4_writer import Blob, Writer

MS = 1_000_000
FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]


def traced(builder: TraceBuilder) -> clrevents.Trace:
    return clrevents.open(builder.build())


def shop(format: Format = "nettrace4") -> TraceBuilder:
    """Main (0x1000), which calls Pay (0x2000), which calls Wait (0x3000)."""
    builder = TraceBuilder(format)
    for address, name in ((0x1000, "Main"), (0x2000, "Pay"), (0x3000, "Wait")):
        builder.method_load("Shop", name, address=address, size=64)
    return builder


def lines(samples: Samples) -> list[tuple[int, int, object, list[str]]]:
    """Time, thread, weight and names of each sample, the outermost frame in front."""
    names = [frame.name for frame in samples.frames]
    found = []
    for time, track, weight, stack in zip(
        samples.time_ns.tolist(), samples.thread.tolist(), samples.weight.tolist(), samples.stack.tolist(), strict=True
    ):
        shown = [names[frame] for frame in reversed(samples.frame_ids(stack))]
        found.append((time, samples.threads[track].thread_id or 0, weight, shown))
    return found


@pytest.mark.parametrize("format", FORMATS)
def test_a_sample_weighs_the_time_to_the_next_of_its_thread(format: Format) -> None:
    builder = shop(format).thread(7).at(10 * MS).sample(0x2010, 0x1010)
    builder.thread(8).at(11 * MS).sample(0x1010, kind=1)
    builder.thread(7).at(14 * MS).sample(0x3010, 0x2010, 0x1010, kind=1)
    builder.thread(8).at(21 * MS).sample(0x1018)
    builder.thread(7).at(15 * MS).sample(0x1010)
    samples = read_samples(traced(builder))
    main, pay, wait = "Shop.Main()", "Shop.Pay()", "Shop.Wait()"
    assert lines(samples) == [
        (10 * MS, 7, 4 * MS, [main, pay]),
        (11 * MS, 8, 10 * MS, [main]),
        (14 * MS, 7, 1 * MS, [main, pay, wait]),
        (15 * MS, 7, 0, [main]),
        (21 * MS, 8, 0, [main]),
    ]
    assert samples.external is not None
    assert samples.external.tolist() == [False, True, True, False, False]
    assert (samples.event, samples.unit, samples.timed, samples.total) == ("ThreadSample", "nanoseconds", True, 15 * MS)
    # Two addresses in one method are one frame and one stack.
    assert len(samples.frames) == 3
    assert len(samples.offsets) - 1 == 3
    assert samples.weight_of(samples.external) == 11 * MS
    assert [str(track) for track in samples.threads] == ["thread 7", "thread 8"]
    assert all(array.dtype == np.int64 for array in (samples.time_ns, samples.weight, samples.stack, samples.values))


times = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 3)), max_size=30)


def alloc(builder: TraceBuilder, size: object, *stack: int, code: int = 11) -> TraceBuilder:
    return builder.described("Shop", "Sold", {"Size": (code, size), "What": (18, "tea")}, stack=stack)


def test_events_weigh_one_each_or_what_a_field_says() -> None:
    builder = alloc(alloc(alloc(shop(), 10, 0x1010), 30, 0x2010, 0x1010), 2, 0x1010).sample(0x3010)
    trace = traced(builder)
    counted = read_samples(trace, "Sold")
    assert [line[2:] for line in lines(counted)] == [
        (1, ["Shop.Main()"]),
        (1, ["Shop.Main()", "Shop.Pay()"]),
        (1, ["Shop.Main()"]),
    ]
    assert (counted.event, counted.unit, counted.timed, counted.external) == ("Sold", "count", False, None)
    sized = read_samples(trace, "Shop/Sold", "Size")
    assert sized.weight.tolist() == [10, 30, 2]
    assert (sized.unit, sized.weight.dtype, sized.total) == ("bytes", np.int64, 42)
    assert read_samples(trace, "Sold", "Size", start=int(sized.time_ns[1])).weight.tolist() == [30, 2]
    assert read_samples(trace, "ThreadSample").weight.tolist() == [1]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("AllocationAmount64", "bytes"), ("ObjectSize", "bytes"), ("DurationNs", "nanoseconds"), ("Depth", "none")],
)
def test_units_are_told_by_names(name: str, unit: str) -> None:
    trace = traced(TraceBuilder().described("Shop", "Sold", {name: (10, 3)}, stack=[0x1010]))
    assert read_samples(trace, "Sold", name).unit == unit


def test_64_bits_stay_exact() -> None:
    """Unsigned numbers do not pass through floats."""
    builder = TraceBuilder()
    builder.described("Shop", "Sold", {"N": (12, (1 << 62) + 1)}, stack=[0x1010])
    assert read_samples(traced(builder), "Sold", "N").weight.tolist() == [(1 << 62) + 1]
    builder = TraceBuilder()
    for _ in range(2):
        builder.described("Shop", "Sold", {"N": (12, 1 << 63)}, stack=[0x1010])
    with pytest.raises(ValueError, match="64 bits"):
        read_samples(traced(builder), "Sold", "N")


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        (14, float("nan"), "negative or not a number"),
        (14, float("inf"), "negative or not a number"),
        (14, -1.0, "negative or not a number"),
        (11, -1, "negative"),
    ],
)
def test_weights_that_are_none(code: int, value: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        read_samples(traced(alloc(TraceBuilder(), value, 0x1010, code=code)), "Sold", "Size")


def test_what_is_refused() -> None:
    trace = traced(alloc(TraceBuilder(), 1, 0x1010))
    assert read_samples(trace, "Sold", "What").frames[-1].name == "tea"
    with pytest.raises(KeyError, match=r"no column 'Sise'; available: .*Size, What"):
        read_samples(trace, "Sold", "Sise")
    with pytest.raises(clrevents.UnknownEventError):
        read_samples(trace, "Soled")
    with pytest.raises(TypeError):
        read_samples(trace, start=1.5)  # type: ignore[arg-type]


def test_a_stripped_trace_says_what_to_record() -> None:
    """No load, no rundown: addresses stay addresses, and each says so."""
    samples = read_samples(traced(TraceBuilder().sample(0x7F10, 0x1010).sample(0x7F10)))
    assert lines(samples)[0][3] == ["[unresolved 0x1010]", "[unresolved 0x7f10]"]
    assert {frame.reason for frame in samples.frames} == {"no rundown"}
    assert samples.advice is not None
    assert "rundown" in samples.advice
    assert "0x38" in samples.advice


def test_no_advice_where_all_was_recorded() -> None:
    """An address that is no listed method's is native code then, which no rundown names."""
    samples = read_samples(traced(shop().sample(0x7F10, 0x1010).rundown()))
    assert lines(samples)[0][3] == ["Shop.Main()", "[native] under Shop.Main()"]
    assert {frame.name: frame.reason for frame in samples.frames} == {
        "Shop.Main()": None,
        "[native] under Shop.Main()": "not managed",
    }
    assert samples.advice is None
    assert read_samples(traced(shop().sample(0x1010))).advice is None


def test_a_frame_without_a_name_is_a_native_call_of_its_caller() -> None:
    """Of any address: two stubs below one method are one line. Without the list of all methods nobody knows."""
    builder = shop().sample(0x7F10, 0x1010).sample(0x7F30, 0x7F20, 0x1010).sample(0x7F50, 0x1010, 0x7F40)
    native = "[native] under Shop.Main()"
    samples = read_samples(traced(builder.rundown()))
    assert [line[3] for line in lines(samples)] == [
        ["Shop.Main()", native],
        ["Shop.Main()", native, native],
        ["[unresolved 0x7f40]", "Shop.Main()", native],
    ]
    assert {frame.reason for frame in samples.frames} == {None, "not managed"}
    samples = read_samples(traced(shop().sample(0x7F10, 0x1010)))
    assert lines(samples)[0][3] == ["Shop.Main()", "[unresolved 0x7f10]"]


def test_a_stack_of_no_frames_is_none() -> None:
    made = Writer()
    made.metadata(1, "P", 1, name="One")
    made.stacks(1, [])
    made.events(Blob(1, 5, stack=1))
    assert lines(read_samples(clrevents.open(made.end()), "One")) == [(5, 1, 1, ["[no stack]"])]


@pytest.mark.parametrize("jit_first", [True, False])
def test_the_runtimes_work_is_on_top_of_the_method_that_caused_it(jit_first: bool) -> None:
    """What began last is innermost; another thread's work, and what has no end, is in no stack."""
    jit = MethodJittingStarted_V1(5, 77, 1, 10, "N.T", "Get", "void  ()", 0), MethodLoad_V2(5, 77, 1, 1, 0, 0, 0, 0)
    load = TypeLoadStart_V0(9, 0), TypeLoadStop_V0(9, 0, 5, 1, "N.T")
    (outer, outer_end), (inner, inner_end) = (jit, load) if jit_first else (load, jit)
    builder = shop().thread(1).at(MS).event(outer).thread(2).at(2 * MS).event(TypeLoadStart_V0(10, 0))
    builder.thread(1).at(3 * MS).sample(0x1010, kind=1).thread(2).sample(0x1010)
    builder.thread(1).at(4 * MS).event(inner).at(5 * MS).sample(0x1010).at(6 * MS).event(inner_end)
    samples = read_samples(
        traced(builder.at(7 * MS).sample(0x1010).at(8 * MS).event(outer_end).at(9 * MS).sample(0x1010))
    )
    names = ["[jit]", "[type load]"] if jit_first else ["[type load]", "[jit]"]
    assert [line[3] for line in lines(samples) if line[1] == 1] == [
        ["Shop.Main()", names[0]],
        ["Shop.Main()", *names],
        ["Shop.Main()", names[0]],
        ["Shop.Main()"],
    ]
    assert [line[3] for line in lines(samples) if line[1] == 2] == [["Shop.Main()"]]
    assert [row["state"] for row in samples.table().rows() if row["thread_id"] == 1] == [*["native"] * 3, "running"]


def test_samples_show_what_weighs_most() -> None:
    builder = shop().thread(7).at(10 * MS).sample(0x2010, 0x1010).at(14 * MS).sample(0x1010).at(15 * MS).sample(0x2010)
    samples = read_samples(traced(builder))
    assert repr(samples).split("\n") == [
        "<Samples: 3 samples of ThreadSample on 1 thread>",
        "  total     5.00 ms",
        "  time      10.000 ms to 15.000 ms",
        "  stacks    4 stacks of 3 frames",
        "  unsampled 1.00 ms",
        "   weight  samples  innermost frame",
        "  2.50 ms        1  Shop.Main()",
        "  1.50 ms        2  Shop.Pay()",
        "  1.00 ms        0  [not sampled]",
    ]
    html = samples._repr_html_()
    assert html.startswith("<b>3 samples of ThreadSample on 1 thread</b><table>")
    assert '<td style="text-align:left">Shop.Pay()</td>' in html
    assert repr(read_samples(traced(shop()))) == "<Samples: 0 samples of ThreadSample on 0 threads>"


def test_samples_of_many_frames_stay_on_a_screen() -> None:
    """Names are cut and escaped, and what is left out is counted."""
    builder = TraceBuilder()
    for i in range(60):
        builder.method_load("N" * 300, f"M<{i}>", address=0x1000 * (i + 1), size=64)
    for i in range(60):
        builder.at(i * MS).sample(0x1000 * (i + 1) + 8)
    samples = read_samples(traced(builder), "ThreadSample")
    lines = repr(samples).split("\n")
    assert (len(lines), max(map(len, lines))) == (25, 100)
    assert lines[-1] == "  19 of 60 innermost frames"
    html = samples._repr_html_()
    assert "<p>50 of 60 innermost frames</p>" in html
    assert html.count("<tr>") == 3 + 1 + 50
    assert len(html.encode()) < 50_000
    hostile = TraceBuilder()
    for i in range(60):
        hostile.method_load("<" * 300, f"M{i}", address=0x1000 * (i + 1), size=64).sample(0x1000 * (i + 1) + 8)
    html = read_samples(traced(hostile), "ThreadSample")._repr_html_()
    assert "<<" not in html
    assert len(html.encode()) < 50_000


def test_code_without_a_module_is_that_of_the_only_method_of_its_name() -> None:
    """As `Thread.Sleep` of a process that was killed, of which one load has no module in the trace."""
    known, unknown = StackFrame("N.A()", "m!N.A()", "m"), StackFrame("N.A()", "N.A()")
    other, token = StackFrame("N.A()", "k!N.A()", "k"), StackFrame("0x06", "0x06")
    assert _with_modules([known, unknown, token]) == [known, known, token]
    assert _with_modules([known, other, unknown]) == [known, other, unknown]


def test_no_two_methods_have_one_name() -> None:
    texts = [("A()", "m!A()", "m"), ("A()", "A()", ""), ("B(...)", "m!B`1", "m"), ("B(...)", "m!B`2", "m")]
    frames = [StackFrame(*each) for each in (*texts, ("A(int)", "m!A(int32)", "m"), ("C()", "m!C()", "m"))]
    assert list(map(telling_names(frames), range(6))) == [
        *("A() [m]", "A() [unknown module]", "m!B`1", "m!B`2", "A(int)", "C()")
    ]


def test_stacks_as_deep_as_a_runtime_writes_any_are_cut() -> None:
    for depth, cut in ((99, None), (100, [True, False])):
        builder = shop().thread(7).at(10 * MS).sample(*[0x2010] * depth).at(11 * MS).sample(0x2010, 0x1010)
        samples = read_samples(traced(builder))
        assert (samples.cut if cut is None else samples.cut.tolist()) == cut  # type: ignore[union-attr]
