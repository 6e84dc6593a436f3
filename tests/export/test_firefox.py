"""Firefox profiles: what the type definitions demand, and sums that are those of the reports."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from itertools import accumulate
from typing import Any

import pytest

import clrevents
from analysis.test_processor_time import trace as counted_trace
from clrevents.analysis import read_samples
from clrevents.export.file_formats import file_format
from clrevents.export.look import Look
from clrevents.export.timeline.firefox import FirefoxFile
from clrevents.export.timeline.report_items import read_timeline
from clrevents.export.timeline.timeline_file import write_timeline
from clrevents.export.timeline.timeline_items import Instant, Placed, Track
from firefox_rules import check_profile
from project_files import FIXTURES
from timeline_sums import sums_of_calls, sums_of_counters, sums_of_reports

TRACES = ("net10-garbage", "net10-convoy", "net10-exceptions", "net10-starvation", "net8-counters", "net8-sample")
T = Track("states", "state", 7, 70)


def exported(trace: clrevents.Trace) -> Any:
    stream = io.BytesIO()
    write_timeline(trace, stream, Look("app.nettrace", start=trace.info.start), "firefox")
    found = json.loads(stream.getvalue())
    check_profile(found)
    return found


def written(items: list[Placed]) -> Any:
    """These instead of what a trace has."""
    with clrevents.open(FIXTURES / "net8-sample.nettrace.gz") as trace:
        file = FirefoxFile(read_timeline(trace, Look("app")))
    file.write(items)
    stream = io.BytesIO()
    file.close(stream)
    found = json.loads(stream.getvalue())
    check_profile(found)
    return found


def test_samples_say_what_their_threads_used_since_the_one_before() -> None:
    """In the profiler's own column and unit; what was used after a thread's last sample is in none."""
    with clrevents.open(counted_trace().build()) as trace:
        profile, samples = exported(trace), read_samples(trace)
    assert profile["meta"]["sampleUnits"]["threadCPUDelta"] == "ns"
    assert samples.counted is not None
    spent, _ = samples.counted.of_samples(len(samples))
    shown = [thread["samples"]["threadCPUDelta"] for thread in profile["threads"] if thread["samples"]["length"]]
    assert shown == [[0, *spent[:-1].tolist()]]


def markers(profile: Any) -> list[tuple[str, Any, str, float, float | None, dict[str, Any]]]:
    """Group, thread, name, start and end in ms, and data of each."""
    texts, found = profile["shared"]["stringArray"], []
    for thread in profile["threads"]:
        tid = None if thread["isMainThread"] else thread["tid"]
        columns = [thread["markers"][column] for column in ("data", "name", "startTime", "endTime")]
        for data, name, start, end in zip(*columns, strict=True):
            found.append((data["type"], tid, texts[name], start, end, data))
    return found


@pytest.mark.parametrize("name", TRACES)
def test_sums_are_those_of_the_reports(name: str) -> None:
    with clrevents.open(FIXTURES / f"{name}.nettrace.gz") as trace:
        profile = exported(trace)
        wanted, calls, counters = sums_of_reports(trace), sums_of_calls(trace), sums_of_counters(trace)
        # What has no end lasts until that of the trace; the report has no length for it.
        end_ms = trace.duration_ns / 1e6
    found: dict[Any, list[float]] = defaultdict(lambda: [0, 0])
    for group, thread, text, start, end, _ in markers(profile):
        if group != "events":
            found[group, thread, text][0] += 1
            found[group, thread, text][1] += 0 if end in (None, end_ms) else (end or 0) - start
    assert {key: count for key, (count, _) in found.items()} == {key: count for key, (count, _) in wanted.items()}
    for key, (_, total) in wanted.items():
        if not any(m[:3] == key and m[4] == end_ms for m in markers(profile)):
            assert found[key][1] * 1e6 == pytest.approx(total, abs=1), key
    check_samples(profile, calls)
    assert {one["name"] for one in profile["counters"]} == set(counters)
    for one in profile["counters"]:
        assert list(accumulate(one["samples"]["count"])) == pytest.approx(counters[one["name"]])


def check_samples(profile: Any, calls: dict[tuple[int | None, str], int]) -> None:
    """Follows each sample's stack to its root."""
    shared = profile["shared"]
    stacks, functions = shared["stackTable"], shared["funcTable"]
    found: dict[Any, float] = defaultdict(float)
    for thread in profile["threads"]:
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"], strict=True):
            names, place = set(), stack
            while place is not None:
                frame = stacks["frame"][place]
                names.add(shared["stringArray"][functions["name"][shared["frameTable"]["func"][frame]]])
                back = stacks["prefixOffset"][place]
                place = place - back if back else None
            for name in names if weight else ():
                found[thread["tid"], name] += weight * 1e6
    assert found.keys() == calls.keys()
    assert all(found[key] == pytest.approx(total, abs=1) for key, total in calls.items())


def test_what_the_sums_are_of() -> None:
    with clrevents.open(FIXTURES / "net10-starvation.nettrace.gz") as trace:
        profile = exported(trace)
    groups = {group for group, *_ in markers(profile)}
    assert groups == {"states", "suspensions", "locks", "held", "jit", "tasks", "created", "activities", "events"}
    assert profile["shared"]["stackTable"]["length"] > 100
    assert set(profile["shared"]["frameTable"]["category"]) >= {0, 1}


def test_a_field_of_several_types() -> None:
    values = [1, "x", 0.5]
    found = markers(written([(T, Instant(n, "a", {"v": value})) for n, value in enumerate(values)]))
    assert [data["v"] for *_, data in found] == ["1", "x", "0.5"]
    found = markers(written([(T, Instant(n, "a", {"v": value})) for n, value in enumerate((1, 0.5))]))
    assert [data["v"] for *_, data in found] == [1, 0.5]


@pytest.mark.parametrize("name", ["a.firefox.json", "a.FIREFOX.json.gz", "a.firefox"])
def test_file_names(name: str) -> None:
    assert file_format(name, "timeline") == "firefox"
