"""`clrevents events --stacks` shows names; `--raw` and JSON have the addresses."""

from __future__ import annotations

import json
from pathlib import Path

from clrevents.testing.builder import TraceBuilder
from command_runs import Run


def shop(folder: Path) -> Path:
    builder = TraceBuilder().method_load("Shop", "Pay\x1b", address=0x2000, size=64)
    path = folder / "shop.nettrace"
    path.write_bytes(builder.sample(0x2010, 0x9000).build())
    return path


def test_text(run: Run, tmp_path: Path) -> None:
    path = shop(tmp_path)
    lines = run("events", path, "ThreadSample", "--stacks").stdout.splitlines()
    assert lines[1:] == ["    at Shop.Pay\\x1b()", "    at [unresolved 0x9000]"]
    lines = run("events", path, "ThreadSample", "--stacks", "--raw").stdout.splitlines()
    assert lines[1:] == ["    at 0x2010", "    at 0x9000"]
    assert len(run("events", path, "ThreadSample", "--raw").stdout.splitlines()) == 1


def test_json(run: Run, tmp_path: Path) -> None:
    path = shop(tmp_path)
    (plain,) = map(json.loads, run("events", path, "ThreadSample", "--json", "--stacks").stdout.splitlines())
    (named,) = map(json.loads, run("events", path, "ThreadSample", "--json", "--stacks", "--names").stdout.splitlines())
    assert plain["stack"] == named["stack"] == [0x2010, 0x9000]
    assert "frames" not in plain
    assert named["frames"] == ["Shop.Pay\x1b()", "[unresolved 0x9000]"]
    assert list(named) == [*plain, "frames"]
    assert "stack" not in json.loads(run("events", path, "ThreadSample", "--json", "--names").stdout)
