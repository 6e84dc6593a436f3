"""`cut`: the result decodes to exactly the events that the filters and the context rule choose, and to their losses.

The rule is written down here a second time. What the bytes must hold is walked without the library's decoder.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rewrite_events import differing, events_of, marks_in, reread

import clrevents
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow, TraceHeader
from clrevents.events import R2RGetEntryPoint_V0
from clrevents.rewrite import cut
from clrevents.schema.own_marks import Lacking
from clrevents.testing.builder import TraceBuilder
from clrevents.testing.strategies import MadeTrace, traces
from clrevents.trace import Loss, passes_of
from command_runs import Run
from project_files import SHARED, fixture, unpacked, without_shared
from tiers import each_fixture
from trace_walk import Walked, walk

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

RUNTIME = "Microsoft-Windows-DotNETRuntime"
RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"
METHODS = {141, 142, 143, 144, 190}
MODULES = set(range(151, 158))
RUNTIME_INFORMATION, LOOK_UP = 187, 159

AnyEvent = clrevents.Event[Any]


def is_context(event: AnyEvent) -> bool:
    """What names code and modules: it comes along wherever it stands."""
    if event.provider == RUNTIME:
        return event.id in METHODS | MODULES | {RUNTIME_INFORMATION, LOOK_UP}
    return event.provider in (RUNDOWN, "Universal.System") or event.name == "ProcessInfo"


def losses(trace: clrevents.Trace) -> list[Loss]:
    return sorted(trace.losses, key=lambda loss: (loss.start_ns, loss.end_ns, loss.thread_id, loss.count))


def touching(found: list[Loss], start: int | None, end: int | None) -> list[Loss]:
    """Those that may concern a window, as far as they lie in it: nobody knows where between two events one was."""
    low, high = -(1 << 63) if start is None else start, 1 << 63 if end is None else end
    inside = [loss for loss in found if loss.end_ns >= low and loss.start_ns < high]
    return [Loss(x.thread_id, x.count, max(x.start_ns, low), min(x.end_ns, high)) for x in inside]


def same_losses(out: Path, expected: list[Loss], walked: Walked) -> None:
    """By our reader, and by numbers taken from the bytes."""
    with clrevents.open(out) as trace:
        assert losses(trace) == sorted(
            expected, key=lambda loss: (loss.start_ns, loss.end_ns, loss.thread_id, loss.count)
        )
    counted: Counter[int] = Counter()
    for capture, count in walked.lost.items():
        counted[walked.threads.get(capture, capture)] += count
    wanted: Counter[int] = Counter()
    for loss in expected:
        wanted[loss.thread_id] += loss.count
    assert counted == wanted


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cut") / "out.nettrace"


# -- the property ------------------------------------------------------------------------------------------------


@each_fixture("net8-sample", "net8-netperf3")
def test_cut_is_a_filter(path: Path, out: Path) -> None:
    """decode(cut(F)) == filter(decode(F)) for windows, threads, providers and kinds of all sorts."""
    everything = events_of(path)
    keys = sorted({event.key for event in everything})
    times = [event.time_ns for event in everything]
    threads = sorted({event.thread_id for event in everything})
    moments = st.none() | st.sampled_from(times) | st.integers(times[0] - 10, times[-1] + 10)

    @settings(max_examples=max(settings().max_examples // 3, 1), suppress_health_check=list(HealthCheck))
    @given(
        selected=st.lists(st.sampled_from(keys), max_size=3),
        provider=st.none() | st.sampled_from(sorted({key.provider for key in keys})),
        thread_ids=st.none() | st.lists(st.sampled_from(threads), min_size=1, max_size=2),
        start=moments,
        end=moments,
        rundown=st.booleans(),
    )
    def check(selected: Any, provider: Any, thread_ids: Any, start: Any, end: Any, rundown: bool) -> None:
        def wanted(event: AnyEvent) -> bool:
            if rundown and is_context(event):
                return True
            return (
                (not selected or event.key in selected)
                and (provider is None or event.provider == provider)
                and (thread_ids is None or event.thread_id in thread_ids)
                and (start is None or event.time_ns >= start)
                and (end is None or event.time_ns < end)
            )

        expected = [event for event in everything if wanted(event)]
        with clrevents.open(unpacked(path)) as trace:
            done = cut(
                trace,
                out,
                *selected,
                provider=provider,
                # Any iterable is taken, also one that can be walked only once.
                thread_id=None if thread_ids is None else iter(thread_ids),
                start=start,
                end=end,
                rundown=rundown,
            )
        assert not differing(reread(out), expected)
        assert walk(out.read_bytes()).events - marks_in(out) == done.events == len(expected)
        assert done.bytes == out.stat().st_size

    check()


@settings(suppress_health_check=list(HealthCheck))
@given(made=traces(), data=st.data())
def test_cut_of_any_trace(out: Path, made: MadeTrace, data: st.DataObject) -> None:
    """Traces of every container, with losses: those whose window lies inside."""
    moments = st.none() | st.sampled_from([event.time_ns for event in made.events] or [0])
    start, end = data.draw(moments), data.draw(moments)
    with clrevents.open(made.data) as trace:
        everything = list(trace.events())
        assert len(everything) == len(made.events)
        done = cut(trace, out, start=start, end=end, rundown=False)
        lost = touching(losses(trace), start, end)
    expected = [
        event
        for event in everything
        if (start is None or event.time_ns >= start) and (end is None or event.time_ns < end)
    ]
    assert not differing(reread(out), expected)
    walked = walk(out.read_bytes())
    assert walked.events - marks_in(out) == done.events
    same_losses(out, lost, walked)
    assert done.lost == sum(loss.count for loss in lost)


def test_moments_that_64_bits_do_not_hold(out: Path) -> None:
    """A damaged clock gives such moments for 10 % and 90 %."""
    with clrevents.open(lossy().build()) as trace:
        whole, part = cut(trace, out, rundown=False), cut(trace, out, start=-(10**30), end=10**30, rundown=False)
    assert part.events == whole.events
    with clrevents.open(out) as trace:
        (mark,) = trace.events("clrevents/Cut")
    assert (mark.payload.StartNs, mark.payload.EndNs) == (-(1 << 63), (1 << 63) - 1)


# -- losses ------------------------------------------------------------------------------------------------------


def lossy() -> TraceBuilder:
    """Thread 7 loses 5 between 1 ms and 2 ms and 6 between 4 ms and 5 ms; thread 8 loses 7 between 3 ms and 6 ms."""
    builder = TraceBuilder(step_ns=0)
    builder.at(1_000_000).thread(7).sample().at(2_000_000).lose(5).sample()
    builder.at(3_000_000).thread(8).sample()
    builder.at(4_000_000).thread(7).sample().at(5_000_000).lose(6).sample()
    return builder.at(6_000_000).thread(8).lose(7).sample().at(8_000_000)


def test_losses_of_threads_that_have_no_id(out: Path) -> None:
    """NetTrace 6 need not give a thread's id; its losses are nobody's, and stay losses."""
    path = out.with_name("made.nettrace")
    with open(path, "wb") as file:
        writer = NetTrace6Writer(file, TraceHeader(sync_qpc=0))
        writer.metadata([MetadataRecord(1, "P", 1)])
        writer.threads([ThreadRow(0), ThreadRow(1, 77)])
        writer.events([EventRecord(1, 10, 0), EventRecord(1, 20, 0, sequence=5), EventRecord(1, 30, 1, sequence=3)])
        writer.sequence_point(40)
        writer.end()
    with clrevents.open(path) as trace:
        expected = losses(trace)
        assert [(loss.thread_id, loss.count) for loss in expected] == [(77, 2), (-1, 3)]
        everything = list(trace.events())
        cut(trace, out)
    assert not differing(reread(out), everything)
    same_losses(out, expected, walk(out.read_bytes()))


@pytest.mark.parametrize("lag", [1, 2, 3, 1000])
def test_losses_that_overflow_the_numbers(lag: int, out: Path) -> None:
    """Numbers are 32 bits wide and may go round, in the original and in the result."""
    path = out.with_name("made.nettrace")
    with open(path, "wb") as file:
        writer = NetTrace4Writer(file, TraceHeader(sync_qpc=0))
        writer.metadata([MetadataRecord(1, "P", 1)])
        step = (1 << 31) - lag
        writer.events([EventRecord(1, 10 * i, 7, sequence=(1 + i * step) & 0xFFFFFFFF) for i in range(5)])
        writer.sequence_point(100)
        writer.end()
    with clrevents.open(path) as trace:
        expected = losses(trace)
        assert [loss.count for loss in expected] == [step - 1] * 4
        done = cut(trace, out)
    assert done.lost == sum(walk(out.read_bytes()).lost.values()) == 4 * (step - 1)
    with clrevents.open(out) as trace:
        assert [loss.count for loss in losses(trace)] == [loss.count for loss in expected]
        if lag > 1:
            # The one number that says nothing, 0, is met by none of these; else a loss may seem shorter.
            assert losses(trace) == expected


# -- real traces -------------------------------------------------------------------------------------------------


def shared(name: str) -> Path:
    """A trace that is not part of the project."""
    found = list(SHARED.glob(f"traces/*/{name}.net*.gz"))
    if not found:
        pytest.skip(without_shared(name))
    return found[0]


WHOLE = (
    "net8-all",
    "net10-all",
    "net10-web",
    "net8-netperf3",
    "eventpipe-dotnetcore2.1-win-x86-objver3",
    "eventpipe-dotnetcore3.0-win-x64-objver4",
)


@pytest.mark.shared
@pytest.mark.parametrize("name", WHOLE)
def test_whole_real_traces(name: str, out: Path) -> None:
    data = unpacked(shared(name))
    with clrevents.open(data) as trace, clrevents.open(data) as again:
        done = cut(trace, out)
        with clrevents.open(out, errors="strict") as result:
            assert result.info.start == trace.info.start
            assert result.info.pointer_size == trace.info.pointer_size
            assert result.info.process_id == trace.info.process_id
            # NetPerf numbers no events: a copy says so first.
            marks = [Lacking.NUMBERS] if again.info.format == "NetPerf" else []
            assert [event.payload.What for event in islice(result.events(), len(marks))] == marks
            assert not differing(islice(result.events(), len(marks), None), again.events())
            assert done.events == sum(trace.event_counts().values())
            assert done.undescribed == 0
            assert losses(result) == losses(trace)
    assert walk(out.read_bytes()).events == done.events + len(marks)


@pytest.mark.shared
def test_one_second_in_the_middle(out: Path) -> None:
    data = unpacked(shared("net10-cpu"))
    with clrevents.open(data) as trace:
        middle = trace.duration_ns // 2
        start, end = middle, middle + 1_000_000_000
        done = cut(trace, out, start=start, end=end)
        expected = (e for e in trace.events() if is_context(e) or start <= e.time_ns < end)
        with clrevents.open(out, errors="strict") as result:
            # And the event that tells which part it is.
            assert not differing((e for e in result.events() if e.name != "Cut"), expected)
            inside = sum(start <= event.time_ns < end for event in result.events())
        total = sum(trace.event_counts().values())
        assert 1000 < inside <= done.events < total
        cut(trace, out, start=start, end=end, rundown=False)
        with clrevents.open(out, errors="strict") as result:
            assert sum(result.event_counts().values()) == inside + 1
            assert not result.losses
    walk(out.read_bytes())


@pytest.mark.shared
def test_losses_of_a_real_trace(out: Path) -> None:
    with clrevents.open(unpacked(shared("net10-lossy"))) as trace:
        everything = losses(trace)
        assert len(everything) > 10
        cut(trace, out, "MethodLoad*", rundown=False)
        same_losses(out, everything, walk(out.read_bytes()))
        for start, end in (("0.5s", "1s"), ("25%", "75%"), ("1s", None), (None, "1s")):
            low = None if start is None else passes_of(trace).moment_ns(start)
            high = None if end is None else passes_of(trace).moment_ns(end)
            expected = touching(everything, low, high)
            done = cut(trace, out, start=start, end=end)
            walked = walk(out.read_bytes())
            assert (walked.events, done.lost) == (done.events + 1, sum(loss.count for loss in expected))
            same_losses(out, expected, walked)


# -- whole or not at all -----------------------------------------------------------------------------------------


def only(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- the command -------------------------------------------------------------------------------------------------


def test_command(run: Run, tmp_path: Path) -> None:
    path, out = fixture("net8-sample"), tmp_path / "out.nettrace"
    everything = events_of(path)
    result = run("cut", path, "-o", out)
    assert result.exit_code == 0
    assert f"{len(everything):,} events, {out.stat().st_size:,} bytes" in result.stderr
    assert not differing(reread(out), everything)
    result = run("cut", path, "-o", out, "--provider", "rundown", "--no-rundown", "--start", "10%")
    assert result.exit_code == 0
    low = max(e.time_ns for e in everything) // 10
    assert not differing(reread(out), [e for e in everything if e.provider == RUNDOWN and e.time_ns >= low])
    thread = everything[-1].thread_id
    result = run("cut", path, "-o", out, "--events", "*", "--thread", thread, "--thread", 1, "--no-rundown")
    assert result.exit_code == 0
    assert not differing(reread(out), [e for e in everything if e.thread_id == thread])


def test_a_part_says_of_which_window_it_is(tmp_path: Path) -> None:
    """Names of code that are in it from before and after are nothing that happened in it."""
    out = tmp_path / "part.nettrace"
    with clrevents.open(fixture("net10-garbage")) as trace:
        window = trace.reports("gc", "jit", start="770ms", end="780ms")
        cut(trace, out, start="770ms", end="780ms")
    with clrevents.open(out) as trace:
        (mark,) = trace.events("clrevents/Cut")
        assert (mark.payload.StartNs, mark.payload.EndNs) == (770_000_000, 780_000_000)
        part = trace.reports("gc", "jit")
        assert trace.report("gc", start="778ms").question.window == TimeWindow(778_000_000, 780_000_000)
        # A part of a part is as small as the smaller one.
        cut(trace, tmp_path / "smaller.nettrace", start="775ms")
    gc, jit = part["gc"], part["jit"]
    assert gc.question.window == TimeWindow(770_000_000, 780_000_000)
    assert "cut" in [note.id for note in gc.notes]
    assert gc.metrics["count"].value == window["gc"].metrics["count"].value == 5
    # The last pause went on when the part ended: until then all is known.
    paused = gc.metrics["pause_total"]
    assert (paused.value, paused.low, paused.high) == (4_184_680, 4_184_680, None)
    assert window["gc"].metrics["pause_total"].value == 4_184_680
    # Without a window 196 loads of code would count, which are there to name it.
    assert jit.metrics["compilations"].value == window["jit"].metrics["compilations"].value == 0
    with clrevents.open(tmp_path / "smaller.nettrace") as trace:
        assert trace.report("gc").question.window == TimeWindow(775_000_000, 780_000_000)
        # The first one that ends in it began before.
        count = trace.report("gc").metrics["count"]
        assert (count.value, count.low, count.high) == (3, 3, 4)


def test_addresses_of_a_part_have_their_names_without_rundown(tmp_path: Path) -> None:
    """Code that was only looked up before the part reaches to the next one: without it, another would seem to."""
    builder = TraceBuilder().raw(RUNTIME, 187, name="RuntimeInformationStart")
    for time, address, name in ((1, 0x1000, "First"), (2, 0x1100, "Second"), (9, 0x1200, "Third")):
        builder.at(time * 1_000_000).event(
            R2RGetEntryPoint_V0(
                MethodID=address,
                MethodNamespace="N",
                MethodName=name,
                MethodSignature="void ()",
                EntryPoint=address,
                ClrInstanceID=0,
            )
        )
        if time == 2:
            builder.at(5_000_000).sample(0x1110)
    out = tmp_path / "part.nettrace"
    with clrevents.open(builder.build()) as trace:
        cut(trace, out, start="4ms", end="6ms")
    with clrevents.open(out) as trace:
        (sample,) = trace.events("ThreadSample")
        assert [frame.label for frame in sample.frames] == ["N.Second"]
        assert not trace.report("jit").metrics["lookups"].value


def test_command_refuses(run: Run, tmp_path: Path) -> None:
    path, out = fixture("net8-sample"), tmp_path / "out.nettrace"
    for wrong, message in (
        (["--events", "MethodLaod"], "MethodLoad"),
        (["--start", "yesterday"], "start='yesterday'"),
        (["--thread", "x"], "--thread"),
    ):
        result = run("cut", path, "-o", out, *wrong)
        assert result.exit_code == 1, result.stderr
        assert message in result.stderr
    assert run("cut", path).exit_code == 1
    assert only(tmp_path) == []


def test_what_a_part_knows_of_its_window(tmp_path: Path) -> None:
    """Weights of events are those of the window; of samples and of a start without its beginning nothing is claimed."""
    out = tmp_path / "part.nettrace"
    with clrevents.open(fixture("net10-exceptions")) as trace:
        window = trace.report("top", by="exceptions", start="30%", end="80%")
        assert window.metrics["total"].value
        cut(trace, out, start="30%", end="80%")
    with clrevents.open(out) as trace:
        part = trace.report("top", by="exceptions")
        assert part.metrics["total"] == window.metrics["total"]
        assert trace.report("top").metrics["total"].value is None
        startup = trace.report("startup")
    assert startup.coverage == "none"
    assert [len(table) for table in map(startup.table, ("moments", "compilations", "loads"))] == [0, 0, 0]
    assert {metric.value for metric in startup.metrics.values()} == {None}
