"""`clrevents spans`: filters, names of values, and what to pair on where threads are changed."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.test_span_facts import wandering
from analysis.test_spans import FIRST, SECOND
from command_runs import Run
from project_files import fixture


def test_the_command(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(wandering().build())
    lines = run("spans", path, FIRST, SECOND, "--on", "thread_id,Number").stdout.splitlines()
    assert lines[3:5] == [
        "unmatched  2 begins, 3 ends",
        "activity   2 unmatched ends have begins of the same activity: --on activity_id,Number",
    ]
    assert "\nactivity " not in run("spans", path, FIRST, SECOND, "--on", "activity_id").stdout
    arguments = ("--on", "activity_id", "--json", "--start", "2ms", "--end", "10ms", "--thread", 2, "--thread", 4)
    found = json.loads(run("spans", path, FIRST, SECOND, *arguments, "--provider", "My-*").stdout)
    assert [(row["Number"], row["end_thread_id"]) for row in found["tables"]["spans"]] == [(2, 4)]
    assert found["metrics"]["unmatched_ends"]["value"] == 0
    assert found["question"]["window"] == {"start_ns": 2_000_000, "end_ns": 10_000_000}
    assert run("spans", path, FIRST, SECOND, "--start", "nonsense").exit_code == 1


def test_the_command_with_names(run: Run) -> None:
    path = fixture("net10-method-interop")
    arguments = ("spans", path, "ModuleLoad", "ModuleUnload", "--on", "ModuleID", "--json")
    plain, named = (json.loads(run(*arguments, *more).stdout)["tables"]["spans"][0] for more in ([], ["--names"]))
    assert isinstance(plain["ModuleFlags"], int)
    assert "Manifest" in named["ModuleFlags"]
