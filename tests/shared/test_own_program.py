"""A program's own event sources, some of them broken, and its meters: what recordings of it say, held against what it
does (`../shared/own`)."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from command_runs import run_command

TRACES = [SHARED / "own" / f"{name}-own.nettrace.gz" for name in ("net8", "net11")]
REASONS = [
    "Own-Keyword could not be recorded: Use of undefined keyword value 0x4 for event A.",
    "Own-SameId could not be recorded: Event B has ID 1 which is already in use.",
    "Own-Type could not be recorded: Unsupported type Object in event source.",
    "Own-OtherId could not be recorded: Event A was assigned event ID 1 but 2 was passed to WriteEvent.",
]
BROKEN = "broken-event-source"

pytestmark = [needs_shared]
both = pytest.mark.parametrize("path", TRACES, ids=["net8", "net11"])


def shown(*arguments: Any) -> tuple[str, str]:
    """What the command writes to stdout, as one paragraph a line, and to stderr."""
    result = run_command(*arguments, env={"COLUMNS": "200"})
    return result.stdout, result.stderr


@both
def test_a_broken_event_source_is_said_wherever_people_look(path: Any) -> None:
    lines = shown("info", path)[0].splitlines()
    assert [line for line in lines if "could not be recorded" in line] == REASONS
    assert [p["message"] for p in json.loads(shown("info", path, "--json")[0])["tables"]["problems"]] == REASONS
    for command in ("counters", "doctor"):
        said = shown(command, path)[1].splitlines()
        assert [line.removeprefix("clrevents: warning: ") for line in said if "could not" in line] == REASONS
    with clrevents.open(path) as trace:
        result = trace.check()
        assert [note.message for note in trace.doctor().notes if note.id == BROKEN] == REASONS
    assert [p.message for p in result.problems if p.kind == BROKEN] == REASONS
    assert result.problem_counts[BROKEN] == 4
    assert result.verdict.endswith("49 payloads do not fit their layout; 4 event sources could not be recorded")


@both
def test_payloads_with_fewer_values_than_are_described_are_short(path: Any) -> None:
    """Of the fifth broken source, which says nothing."""
    with clrevents.open(path) as trace:
        kinds = {counts.event: counts for counts in trace.check().kinds}
        rounds = [event.payload.partial["a"] for event in trace.events("Own-Arguments/A")]
    assert rounds == [*range(rounds[0], rounds[0] + 49)]
    short = kinds["Own-Arguments/A"]
    assert (short.exact, short.short, short.events) == (0, 49, 49)
    assert sum(counts.short for counts in kinds.values()) == 49


@both
def test_one_instrument_is_one_line(path: Any) -> None:
    """Of a duration: how often, how long on average, and the quantiles; of an EventCounter its count and extremes."""
    lines = [line.split() for line in shown("counters", path)[0].splitlines()]
    head = next(line for line in lines if line[:1] == ["last"])
    assert {"per", "min", "max", "measurements", "p50", "p95", "p99"} <= {*head}
    assert len([line for line in lines if "orders.duration" in line]) == 1
    with clrevents.open(path) as trace:
        published = list(trace.events("System.Diagnostics.Metrics/HistogramValuePublished"))
        series = trace.report("counters").series
    main, *quantiles = [row for row in series if row.name == "orders.duration"]
    count = sum(event.payload["count"] for event in published)
    assert main.measurements == count
    assert main.mean == pytest.approx(sum(event.payload["sum"] for event in published) / count)
    # A round takes 0.1 s.
    assert 8 < main.per_second < 10
    assert (main.p50, main.p95, main.p99) == tuple(row.last for row in quantiles)
    answers = next(row for row in series if row.name == "answer-time")
    assert (answers.min, answers.max, answers.per_second) == (1, 10, None)
    assert 8 * answers.count <= answers.measurements <= 11 * answers.count


@pytest.mark.parametrize(("path", "count"), [(TRACES[0], 5), (TRACES[1], 24)], ids=["net8", "net11"])
def test_every_instrument_is_listed_whether_it_was_recorded_or_not(path: Any, count: int) -> None:
    rows = [json.loads(line) for line in shown("counters", path, "--list", "--json")[0].splitlines()]
    assert len(rows) == count
    recorded = [(row["provider"], row["version"], row["name"], row["kind"]) for row in rows if row["recorded"]]
    assert recorded == [
        ("Own.Shop", None, "orders.count", "Counter"),
        ("Own.Shop", None, "orders.duration", "Histogram"),
        ("Own.Shop", None, "orders.open", "UpDownCounter"),
        ("Own.Shop", None, "queue.length", "ObservableGauge"),
        ("Own.Shop", "2.0", "orders.count", "Counter"),
    ]
    facts = shown("counters", path)[0]
    assert f"instruments           {count}\ninstruments recorded  5\n" in facts


@both
def test_the_end_of_a_trace_is_called_what_it_is(path: Any, tmp_path: Any) -> None:
    whole = gzip.decompress(path.read_bytes())
    cut = tmp_path / "end.nettrace"
    # Two tags, the class's tag, two versions and the length of the name stand before it.
    block = whole.find(b"EventBlock\6", len(whole) // 2) - 15
    cut.write_bytes(whole[block - 1204 :])
    with pytest.raises(clrevents.UnreadableError) as raised:
        clrevents.open(cut)
    assert "the beginning of this trace is missing: its first block begins at byte 1,204. The" in str(raised.value)
    # However far away it is, as in files of long blocks.
    cut.write_bytes(bytes(90_000) + whole[block - 1204 :])
    with pytest.raises(clrevents.UnreadableError, match="its first block begins at byte 91,204"):
        clrevents.open(cut)
    cut.write_bytes(whole[block - 1204 : block])
    with pytest.raises(clrevents.UnreadableError, match=r"this is not a \.NET trace"):
        clrevents.open(cut)


@both
def test_a_provider_of_the_program_selects_its_events(path: Any) -> None:
    lines = [json.loads(line) for line in shown("events", path, "Own-Orders", "--json")[0].splitlines()]
    assert {line["provider"] for line in lines} == {"Own-Orders"}
    assert {"Order", "CartStart", "CartStop", "Failed", "EventCounters"} == {line["name"] for line in lines}
