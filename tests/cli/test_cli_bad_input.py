"""Whatever the file is: one sentence on stderr, the right exit code, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import clrevents
from cli.test_command_laws import one_sentence
from clrevents.schema.registry import Registry
from command_runs import Run

Bytes = Callable[[str], bytes]


def test_payload_faults_are_problems_but_no_damage(run: Run, tmp_path: Path, trace_bytes: Bytes) -> None:
    # Strings without their ends: behind its fixed fields, every zero unit of one payload becomes a letter.
    name = "net8-method-interop.nettrace"
    data = trace_bytes(name)
    with clrevents.open(data) as trace:
        payload = next(trace.events("MethodJittingStarted")).payload_bytes
    units = [payload[at : at + 2] for at in range(24, len(payload), 2)]
    endless = payload[:24] + b"".join(b"A\0" if unit == b"\0\0" else unit for unit in units)
    assert data.count(payload) == 1
    path = tmp_path / "broken.nettrace"
    path.write_bytes(data.replace(payload, endless))
    check = json.loads(run("check", path, "--json").stdout)
    assert check["metrics"]["damage"]["value"] == 0
    assert check["metrics"]["payload"]["value"] == 1
    (problem,) = [p for p in check["tables"]["problems"] if p["severity"] == "payload"]
    assert (problem["kind"], problem["event"], problem["field"]) == (
        "short-payload",
        "MethodJittingStarted_V1",
        "MethodNamespace",
    )
    assert "payload  short-payload at 0x" in run("check", path).stdout
    line = json.loads(run("events", path, "MethodJittingStarted", "--json", "--limit", 1).stdout)
    assert line["payload"] is None
    assert line["payload_bytes"] == endless.hex()
    assert "MethodILSize=" in run("events", path, "MethodJittingStarted", "--limit", 1).stdout
    for args, code in [
        (["check"], 3),
        (["check", "--fail-on", "damage,loss"], 0),
        (["check", "--fail-on", "problem"], 3),
        (["events", "--json"], 0),
        (["events", "--json", "--fail-on", "problem"], 3),
        (["events", "--json", "--errors", "strict"], 3),
    ]:
        assert run(args[0], path, *args[1:]).exit_code == code, args


def test_a_file_name_cannot_control_the_terminal_either(run: Run) -> None:
    result = run("info", "\x1b[2Jnone.nettrace")
    assert result.exit_code == 2
    assert "\x1b" not in one_sentence(result)


@pytest.mark.shared
def test_damage_behind_a_thousand_notes_is_listed(
    run: Run, tmp_path: Path, trace_bytes: Bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A note for each event of the runtime, as if none was known.
    monkeypatch.setattr(Registry, "best", lambda *args: None)
    data = trace_bytes("net10-all.nettrace")
    path = tmp_path / "cut.nettrace"
    path.write_bytes(data[: len(data) * 9 // 10])
    result = run("check", path, "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert found["metrics"]["note"]["value"] > 1000
    assert [p["kind"] for p in found["tables"]["problems"] if p["severity"] == "damage"] == ["truncated"]
    assert "at offset 0x" in one_sentence(result)
    assert run("events", path, "--json").exit_code == 3
