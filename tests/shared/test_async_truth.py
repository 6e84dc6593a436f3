"""Sub-events of .NET 11's async profiler, held against an independent reading of the same captures."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis import read_samples
from clrevents.cli.events import json_lines
from clrevents.rewrite import cut
from clrevents.schema.registry import ASYNC
from clrevents.trace.event import Event
from project_files import ROOT, loaded

READINGS = [path for folder in ("net11", "requests") for path in sorted((SHARED / folder).glob("*.subevents.jsonl.gz"))]
PLAIN = {"ParentDispatcherId": "parent", "DispatcherId": "id", "UnwoundFrames": "frames_unwound"}
STACK = {"CallstackId": "callstack_id", "ContinuationIndex": "continuation_index"}
CLOCK = {"Frequency": "frequency", "Timestamp": "qpc", "UtcFileTime": "utc", "BufferSize": "buffer_size"}
FIELDS = {**PLAIN, **STACK, **CLOCK, "WrapperCount": "wrappers"}

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def sub_event(event: Event, sync_qpc: int) -> dict[str, Any]:
    """One as the other reading has it."""
    payload = event.payload
    found = {"name": event.name, "thread": event.thread_id, "time": event.time_ns + sync_qpc}
    found |= {name: getattr(payload, field) for field, name in FIELDS.items() if hasattr(payload, field)}
    if hasattr(payload, "Frames"):
        states = "StateMachine" in event.name
        found["frames"] = [[hex(f.Address), f.State] if states else hex(f.Address) for f in payload.Frames]
    if hasattr(payload, "Forms"):
        found["manifest"] = [[form.EventId, form.EventVersion, form.LengthSize] for form in payload.Forms]
    return found


@pytest.mark.shared
@pytest.mark.parametrize("reading", READINGS, ids=lambda path: path.name.partition(".")[0])
def test_sub_events_are_those_of_an_independent_reading(reading: Any) -> None:
    expected: dict[int, list[Any]] = defaultdict(list)
    for line in gzip.decompress(reading.read_bytes()).splitlines():
        row = json.loads(line)
        expected[row["thread"]].append(row)
    found: dict[int, list[Any]] = defaultdict(list)
    contexts: dict[int, int] = {}
    with clrevents.open(reading.with_name(reading.name.replace("subevents.jsonl", "nettrace"))) as trace:
        assert trace.info.frequency == 10**9
        for event in trace.events(provider=ASYNC):
            if event.name == "AsyncBuffer":
                contexts[event.thread_id] = event.payload.ContextId
            elif event.name != "AsyncEvents":
                row = sub_event(event, trace.info.sync_qpc)
                found[event.thread_id].append({**row, "context": contexts[event.thread_id]})
        assert not [problem for problem in trace.problems if problem.severity != "note"]
    assert found == expected


@pytest.mark.parametrize(
    ("name", "loops"),
    [
        ("async-runtime", 224),
        ("async-runtime-least", 198),
        ("async-runtime-both", 330),
        ("async-state", 141),
        ("async-state-least", 236),
    ],
)
def test_samples_in_a_loop_have_the_stack_that_the_program_has(name: str, loops: int) -> None:
    """Of every sample inside a planted loop, the program's methods are those of its truth, from the loop to `Main`."""
    burns = json.loads((SHARED / "net11" / f"{name}.burns.json").read_text())
    seen = 0
    with clrevents.open(SHARED / "net11" / f"{name}.nettrace.gz") as trace:
        samples = read_samples(trace, "ThreadSample")
        columns = samples.time_ns.tolist(), samples.thread.tolist(), samples.stack.tolist()
        for time, thread, stack in zip(*columns, strict=True):
            number = samples.threads[thread].thread_id
            inside = [b for b in burns if b["thread"] == number and b["start"] <= time <= b["end"]]
            places = samples.values[samples.offsets[stack] : samples.offsets[stack + 1]].tolist()
            if inside:
                names = [samples.frames[place].name for place in places]
                own = [n.partition("(")[0].rpartition(".")[2] for n in names if n.startswith("AsyncTree.")]
                assert [n for n in own if n != "Burn"] == inside[0]["frames"], names
                seen += 1
    assert seen == loops


def test_what_was_not_written_before_the_end_is_said_in_one_sentence() -> None:
    """A program of 0.8 s: only the metadata was written."""
    with clrevents.open(SHARED / "net11" / "async-runtime-short.nettrace.gz") as trace:
        notes = [note for note in trace.report("top").notes if note.id == "unknown-awaits"]
        samples = read_samples(trace)
        resuming = "Continuation_Wrapper_", "MoveNextAsDispatcher("
        wrapped = [n for n, frame in enumerate(samples.frames) if any(name in frame.name for name in resuming)]
        stacks = zip(samples.offsets[:-1].tolist(), samples.offsets[1:].tolist(), strict=True)
        ends = [bool(set(wrapped) & set(samples.values[first:last].tolist())) for first, last in stacks]
        expected = sum(ends[stack] for stack in samples.stack.tolist())
    assert [note.numbers["stacks"] for note in notes] == [expected]
    assert expected == 298


ALLOCATING = {
    "async-runtime": {
        ("<Main>",): 2,
        ("Burn", "Chain", "Chain", "Chain", "Request"): 1,
        ("Burn", "Locked"): 1,
        ("Chain", "Main"): 2,
        ("Locked",): 21,
        ("Request", "Main"): 1,
        ("Stream", "MoveNextAsync", "Consumes", "Main"): 1,
    },
    "async-state": {
        ("Burn", "Leaf", "Request"): 1,
        ("Cancelled", "Main"): 2,
        (*["Chain"] * 12, "Main", "Main", "<Main>"): 1,
        ("Locked",): 23,
        ("Request", "Request", "Main"): 1,
        ("Throws", "Throws", "Throws", "Catches", "Main"): 1,
    },
}
"""How many sampled allocations have which methods of the program on their stacks. Where a state machine is called for
the first time, its method and the machine's are both there."""


@pytest.mark.parametrize("name", ["async-runtime", "async-state"])
def test_stacks_of_reports_go_on_across_awaits(name: str) -> None:
    with clrevents.open(SHARED / "net11" / f"{name}.nettrace.gz") as trace:
        allocated, exceptions = trace.report("alloc"), trace.report("exceptions", my_code=True)
    seen: Counter[tuple[str, ...]] = Counter()
    for row in allocated.stacks:
        own = [frame.partition("(")[0].rpartition(".")[2] for frame in row.stack if frame.startswith("AsyncTree.")]
        seen[tuple(own)] += row.samples
        assert not own or not any("ContinuationWrapper" in frame or "AsDispatcher" in frame for frame in row.stack)
    del seen[()]
    assert seen == ALLOCATING[name]
    # Who awaited what was cancelled is the program's method nearest to the throw.
    thrown = Counter(
        (row.type.rpartition(".")[2], row.throwing_method.partition("(")[0].rpartition(".")[2])
        for row in exceptions.exceptions
        if row.type is not None and row.throwing_method is not None
    )
    assert thrown["TaskCanceledException", "Cancelled"] == 8
    assert sum(count for (type, _), count in thrown.items() if type == "TaskCanceledException") == 8


def test_events_as_json_have_both_stacks() -> None:
    with clrevents.open(SHARED / "net11" / "async-runtime.nettrace.gz") as trace:
        events = islice(trace.events("ExceptionThrown"), 2)
        frames = [json.loads(line) for line in json_lines(events, names=True, stacks=True, trace=trace)]
    assert [len(one["frames"]) == len(one["stack"]) for one in frames] == [True, True]
    assert [one["async_frames"][-3:] for one in frames] == [
        ["AsyncTree.Throws(int, int)", "AsyncTree.Catches(int, int)", "AsyncTree.Main(string[])"],
        [frames[1]["frames"][4], "AsyncTree.Cancelled(int)", "AsyncTree.Main(string[])"],
    ]


def test_repeated_buffers_are_what_they_were_at_later_times(tmp_path: Path) -> None:
    """Three times the sub-events of a recording, as benchmarks of millions of them have it."""
    alone = tmp_path / "alone.nettrace"
    with clrevents.open(SHARED / "net11" / "async-runtime.nettrace.gz") as trace:
        cut(trace, alone, "AsyncEvents", rundown=False)
    repeated = loaded("benchmarks_commands", ROOT / "benchmarks" / "commands.py").Repeated(alone.read_bytes())
    found = []
    for data in (alone.read_bytes(), b"".join(repeated.stream(2 * alone.stat().st_size + 1))):
        with clrevents.open(data) as trace:
            found.append([(e.name, e.time_ns, e.payload_bytes) for e in trace.events()])
            assert not trace.problems
    once, thrice = found
    assert len(once) > 1800
    assert len(thrice) == 3 * len(once)
    steps = {later[1] - first[1] for first, later in zip(thrice, thrice[len(once) :], strict=False)}
    assert len(steps) == 1
    plain = [(name, payload) for name, _, payload in once if name not in ("AsyncEvents", "AsyncBuffer")]
    assert [(n, p) for n, _, p in thrice if n not in ("AsyncEvents", "AsyncBuffer")] == 3 * plain
