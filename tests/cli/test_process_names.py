"""Processes of a machine by name: in the trace, and as the commands' --process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
from click.testing import Result

import clrevents
from clrevents.trace.process_lives import ProcessLife, process_lives
from project_files import SHARED, fixture, without_shared

TWO = SHARED / "linux" / "net8-two-55.linux.nettrace.gz"
Run: TypeAlias = Callable[..., Result]
needs_shared = pytest.mark.skipif(not TWO.exists(), reason=without_shared("linux recordings"))


def event(name: str, process: int | None, time: int, called: str = "") -> Any:
    payload = SimpleNamespace(Name=called, NamespaceName="pod")
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
        ProcessLife(1, "init", "pod", None, None),
        ProcessLife(7, "bash", "pod", 10, 20),
        ProcessLife(7, "dotnet", "pod", 20, 30),
        ProcessLife(7, "ls", "pod", 40, None),
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
