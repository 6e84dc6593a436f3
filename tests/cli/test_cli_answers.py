"""`info`, `check` and `schema`: what they say is what the library says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import clrevents
from clrevents import EventKey
from clrevents.analysis.about.describing import TraceAbout, about
from clrevents.events import DCEndInit_V1
from clrevents.schema.registry import DEFAULT
from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from project_files import fixture

Find = Callable[[str], Path]


@pytest.mark.shared
def test_info_json(run: Run, trace_path: Find) -> None:
    path = trace_path("net10-lossy.nettrace")
    result = run("info", path, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    with clrevents.open(path) as trace:
        with pytest.warns(clrevents.TraceWarning):
            said = about(trace)
        assert found == said.to_dict()
        assert TraceAbout.from_dict(found) == said
        counts = trace.event_counts()
        assert {EventKey(k.provider, k.id, k.version, k.name): k.count for k in said.kinds} == counts
        assert said.metrics["events"].value == sum(counts.values())
        assert [(t.thread_id, t.events) for t in said.threads] == [(t.thread_id, t.events) for t in trace.threads]
        assert said.metrics["duration"].value == trace.duration_ns
        assert said.metrics["lost"].value == trace.lost == sum(x.count for x in said.losses) == 307379
    assert (said.facts.sync_qpc, said.facts.start) == (trace.info.sync_qpc, "2026-11-21T10:30:14.816000+00:00")
    assert (said.facts.runtime_version, said.facts.process_id) == ("10.0.12", 4589)


@pytest.mark.shared
def test_info_text(run: Run, trace_path: Find) -> None:
    result = run("info", trace_path("net10-all.nettrace"))
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert len(lines) < 20
    assert "what      events of one process" in lines
    assert "format    NetTrace 4, 64-bit" in lines
    assert "trust     complete: nothing lost, nothing damaged" in lines
    (events,) = (line for line in lines if line.startswith("events    "))
    assert events.startswith(
        "events    89,232 of 124 kinds on 14 threads; most: GCSampledObjectAllocationHigh 37,084, "
    )
    assert len(run("info", trace_path("net10-all.nettrace"), "--events").stdout.splitlines()) == 125
    assert len(run("info", trace_path("net10-all.nettrace"), "--threads").stdout.splitlines()) == 15


@pytest.mark.parametrize(
    ("name", "version", "what"),
    [
        ("net8-counters", "8.0.4", "counters and metrics only"),
        ("net8-meters", "8.0.4", "counters and metrics only"),
        ("net8-heap", "8.0.4", "a heap snapshot (gcdump): objects and references at one moment"),
        ("net8-netperf3", "8.0.4", "events of one process"),
        ("net10-method-interop", "10.0.12", "events of one process"),
    ],
)
def test_info_recognises_what_a_trace_is_and_its_runtime(name: str, version: str, what: str, run: Run) -> None:
    text = run("info", fixture(name)).stdout
    assert f"what      {what}" in text.splitlines()
    assert f", .NET {version}, 2 processors" in text


def test_info_recognises_traces_without_a_programs_events(run: Run, tmp_path: Path) -> None:
    """Rundown only, a recording by the Linux kernel, and nothing at all."""
    made = {
        "rundown only": TraceBuilder().event(DCEndInit_V1(7)),
        "all processes of a machine, recorded by the Linux kernel": TraceBuilder().raw(
            "Universal.Events", 1, name="cpu"
        ),
        "no events": TraceBuilder(),
    }
    for what, builder in made.items():
        path = tmp_path / "odd.nettrace"
        path.write_bytes(builder.build())
        (line,) = (line for line in run("info", path).stdout.splitlines() if line.startswith("what "))
        assert line.split(maxsplit=1)[1].startswith(what)


def test_check_json_accounts_for_every_payload(run: Run, trace_path: Find) -> None:
    path = trace_path("net8-sample.nettrace")
    result = run("check", path, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    with clrevents.open(path) as trace:
        report = trace.check()
    assert found == report.to_dict()
    assert clrevents.CheckResult.from_dict(found) == report
    assert report.ok
    for kind in report.kinds:
        assert kind.events == kind.exact + kind.tail + kind.short + kind.unknown
    assert report.events == sum(kind.events for kind in report.kinds)
    assert report.severities == {"damage": 0, "payload": 0, "note": sum(report.problem_counts.values())}


def test_check_text(run: Run, trace_path: Find) -> None:
    result = run("check", trace_path("net8-sample.nettrace"))
    assert result.stdout.splitlines()[0].endswith(
        "1,696 events; complete: nothing lost, nothing damaged; 1 event has no layout and stays raw"
    )
    assert result.exit_code == 0
    sound = run("check", fixture("net8-counters")).stdout
    assert sound.splitlines()[0].endswith("1,986 events; complete: nothing lost, nothing damaged")
    assert "1,338     0      0        0  144        1  rundown/MethodDCEndVerbose" in result.stdout


def test_a_lost_event_is_no_proof_of_a_full_buffer(run: Run, tmp_path: Path) -> None:
    """One that is too large leaves the same gap: neither its place nor that a larger buffer helps is claimed."""
    path = tmp_path / "lost.nettrace"
    path.write_bytes(TraceBuilder().sample(1).lose(1).sample(1).build())
    shown = run("check", path).stdout
    assert "Events of more than 64 KB are dropped whatever the buffer's size; they may be missing before" in shown
    assert "Events of more than 64 KB are dropped in any case" in run("doctor", path).stdout


def test_schema_lists_every_event(run: Run) -> None:
    found = json.loads(run("schema", "--json").stdout)
    assert next(iter(found.items())) == ("schema", "clrevents.schema/1")
    entries = {(e.provider, e.id): e for e in DEFAULT.entries()}
    assert {(e["provider"], e["id"]) for e in found["events"]} == set(entries)
    text = run("schema").stdout.splitlines()
    assert len(text) == len(entries) + 1


def test_schema_of_one_event(run: Run) -> None:
    (event,) = json.loads(run("schema", "Method/LoadVerbose", "--json").stdout)["events"]
    assert (event["provider"], event["id"], event["name"]) == (
        "Microsoft-Windows-DotNETRuntime",
        143,
        "MethodLoadVerbose",
    )
    assert [v["version"] for v in event["versions"]] == [0, 1, 2]
    newest = event["versions"][-1]
    assert newest["class"] == "MethodLoadVerbose_V2"
    assert newest["keyword_names"] == ["Jit", "NGen"]
    assert [f["name"] for f in newest["fields"]][-2:] == ["ClrInstanceID", "ReJITID"]
    assert {"name": "MethodFlags", "type": "UInt32", "enum": "MethodFlags"} in newest["fields"]
    assert event["enums"]["MethodFlags"]["bit_fields"] == [
        {"name": "tier", "shift": 7, "width": 3, "enum": "OptimizationTier"},
        {"name": "extent", "shift": 28, "width": 4, "enum": "MethodExtent"},
    ]
    assert event["enums"]["OptimizationTier"]["values"]["OptimizedTier1"] == 4


def test_schema_as_text(run: Run) -> None:
    text = run("schema", "runtime/MethodLoadVerbose").stdout
    for line in (
        "MethodLoadVerbose  id 143 of Microsoft-Windows-DotNETRuntime",
        "  aliases      Method/LoadVerbose",
        "  raised by    Jit or NGen (0x30) at level 4 (informational)",
        "    MethodFlags         UInt32 MethodFlags",
        "  version 2 (MethodLoadVerbose_V2): version 1 and",
        "    ReJITID  UInt64",
        "      bits 7-9  tier: OptimizationTier",
        "             4  OptimizedTier1",
    ):
        assert line in text.splitlines()


def test_schema_shows_every_known_event(run: Run) -> None:
    result = run("schema", "*")
    assert result.exit_code == 0
    assert result.stdout.count("  version 0 ") == sum(0 in e.versions for e in DEFAULT.entries())


def test_schema_says_where_an_event_of_ones_own_is_found(run: Run, tmp_path: Path) -> None:
    """The hint can be followed: with the trace that describes the event it prints the class."""
    advice = "clrevents: if a trace describes it, `clrevents schema {} --write FILE` prints a class for it"
    for name, first, quoted in (
        ("AllTypes", "no event 'AllTypes'", "AllTypes"),
        ("All Types", "no event 'All Types'", "'All Types'"),
        ("Zoo*", "no known event matches the pattern 'Zoo*'", "'Zoo*'"),
    ):
        result = run("schema", name)
        assert (result.exit_code, result.stdout) == (1, "")
        told, hint = result.stderr.splitlines()
        assert told.startswith(f"clrevents: {first}")
        assert hint == advice.format(quoted)
    result = run("schema", "Zoo*", "--json")
    assert json.loads(result.stdout) == {"schema": "clrevents.schema/1", "events": []}
    assert "class AllTypes" in run("schema", "AllTypes", "--write", fixture("net8-sample")).stdout


def test_part_of_a_name_finds_the_event(run: Run) -> None:
    assert run("schema", "Inlining").stderr.splitlines()[0] == (
        "clrevents: no event 'Inlining'; did you mean MethodJitInliningFailed or MethodJitInliningSucceeded "
        "or MethodJitInliningFailedAnsi?"
    )
    result = run("events", fixture("net8-sample"), "inlining")
    assert result.exit_code == 1
    assert "did you mean MethodJitInliningFailed or MethodJitInliningSucceeded or " in result.stderr
