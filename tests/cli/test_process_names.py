"""Processes of a machine by name: in the trace, and as the commands' --process."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import same_run
from clrevents.trace.trace import ProcessLife, process_lives
from command_runs import Run
from in_memory import ended
from project_files import SHARED, fixture, without_shared

TWO = SHARED / "linux" / "net8-two-55.linux.nettrace.gz"
needs_shared = pytest.mark.skipif(not TWO.exists(), reason=without_shared("linux recordings"))


def event(name: str, process: int | None, time: int, called: str = "") -> Any:
    payload = SimpleNamespace(Name=called, NamespaceName="pod", NamespaceId=3)
    return SimpleNamespace(name=name, process_id=process, time_ns=time, payload=payload)


def test_an_id_has_one_name_after_the_other() -> None:
    found = process_lives(
        [
            event("ExistingProcess", 1, 0, "init"),
            event("ProcessCreate", 7, 10, "bash"),
            event("ProcessCreate", 7, 20, "dotnet"),
            event("ProcessExit", 7, 30),
            event("ProcessExit", 8, 35),
            event("ProcessCreate", None, 36, "nobody"),
            event("ProcessCreate", 7, 40, "ls"),
        ]
    )
    assert found == (
        ProcessLife(1, "init", "pod", None, None, 3),
        ProcessLife(7, "bash", "pod", 10, 20, 3),
        ProcessLife(7, "dotnet", "pod", 20, 30, 3),
        ProcessLife(7, "ls", "pod", 40, None, 3),
    )


def test_a_process_is_chosen_by_name_or_number(run: Run, tmp_path: Path) -> None:
    path = fixture("net8-linux")
    with clrevents.open(path) as trace:
        (life,) = trace.processes
        assert life.name == "dotnet"
        whole = trace.report("top").metrics["total"].value
    for process, total in ((life.name, whole), (str(life.process_id), whole), ("1", 0)):
        found = json.loads(run("top", str(path), "--json", "--process", process).stdout)
        assert (found["metrics"]["total"]["value"] or 0) == total
    out = str(tmp_path / "a.folded")
    assert run("flame", str(path), "--process", "dotnet", "-o", out).exit_code == 0
    assert sum(int(line.rpartition(" ")[2]) for line in Path(out).read_text().splitlines()) == whole
    assert run("events", str(path), "--process", "1").stdout == ""
    wrong = run("top", str(path), "--process", "java")
    assert wrong.exit_code != 0
    assert "no process is named java; there are dotnet" in wrong.output


@needs_shared
def test_a_name_of_several_processes_is_refused_with_their_numbers(run: Run) -> None:
    wrong = run("top", str(TWO), "--process", "dotnet")
    assert wrong.exit_code != 0
    assert "dotnet is the name of 2 processes: 28172, 28173; give the number" in " ".join(wrong.output.split())


def test_a_label_that_tells_nothing_is_not_shown(run: Run) -> None:
    assert "Expected actual values" not in run("events", str(fixture("net8-linux")), "Universal.Events/cpu").stdout
    found = run("events", str(fixture("net8-linux")), "Universal.Events/cpu", "--json", "-n", "1").stdout
    assert json.loads(found)["labels"] == {"Error": "Expected actual values"}


def containers() -> bytes:
    """Two processes with the id 7 inside their containers, one with the id 8, and one that has the same id outside."""
    writer = NetTrace6Writer(io.BytesIO(), TraceHeader(processors=2, sampling_interval_ns=1_000_000))
    fields = (FieldDescription("NamespaceId", 21), FieldDescription("Name", 23), FieldDescription("NamespaceName", 23))
    writer.metadata(
        [
            MetadataRecord(1, "Universal.System", 0, 0, "ExistingProcess", fields=fields),
            MetadataRecord(2, "Universal.Events", 2, 0, "cpu", fields=(FieldDescription("Value", 21),)),
        ]
    )
    known = ((1007, 7, b"shop", 1), (2007, 7, b"bank", 3), (3008, 8, b"mail", 2), (9, 9, b"init", 1))
    for row, (process, own, name, samples) in enumerate(known, 1):
        writer.threads([ThreadRow(row, process, process)])
        payload = bytes([own]) + struct.pack("<H", len(name)) + name + struct.pack("<H", 7) + b"Unknown"
        cpu = [EventRecord(2, row, row, b"\1")] * samples
        writer.events([EventRecord(1, row, row, payload), *cpu])
    return ended(writer)


def test_processes_with_equal_ids_in_two_containers_are_told_apart(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pods.linux.nettrace"
    path.write_bytes(containers())
    with clrevents.open(path) as trace:
        lives = [(life.process_id, life.own_id, life.name) for life in trace.processes]
        shares = {row.process_id: row.share for row in trace.report("top").methods}
    assert lives == [(1007, 7, "shop"), (2007, 7, "bank"), (3008, 8, "mail"), (9, 9, "init")]
    assert shares == {1007: 1 / 7, 2007: 3 / 7, 3008: 2 / 7, 9: 1 / 7}

    both = run("top", path, "--process", "7")
    assert both.exit_code != 0
    assert "7 is the id of 2 processes inside their containers: 1007 (shop), 2007 (bank)" in " ".join(
        both.output.split()
    )
    for process, total in (("8", 2), ("2007", 3), ("bank", 3), ("9", 1)):
        found = run("top", path, "--json", "--process", process)
        assert json.loads(found.stdout)["metrics"]["total"]["value"] == total * 1_000_000
        assert ("8 is the id that process 3008 (mail) has inside its container" in found.stderr) == (process == "8")
    listed = run("info", path, "--processes").stdout
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [
        ["1007", "7"],
        ["2007", "7"],
        ["3008", "8"],
        ["9", "9"],
    ]


def test_a_trace_from_inside_a_container_is_not_joined_with_a_stranger() -> None:
    other = TraceBuilder(process_id=8, start=TraceHeader().start).sample(0x1000).build()
    refused = pytest.raises(ValueError, match="process 8 of a container, which is 3008 here")
    with clrevents.open(containers()) as linux, clrevents.open(other) as trace, refused:
        same_run(linux, trace)
