"""`clrevents doctor`: what it prints, how it ends, and that many traces and running processes are answered alike."""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.analysis.doctor.diagnosing import doctor, rules_of
from clrevents.analysis.doctor.diagnosis import Diagnosis
from clrevents.cli.doctor import LiveFindings
from command_runs import Run
from project_files import FIXTURES, fixture, unpacked
from scripted_runtime import ScriptedRuntime, ok, pieces, text

CONVOY, GARBAGE = (FIXTURES / f"net10-{name}.nettrace.gz" for name in ("convoy", "garbage"))


def test_findings_come_first_then_what_cannot_be_told(run: Run) -> None:
    done = run("doctor", CONVOY)
    lines = done.stdout.splitlines()
    assert lines[:7] == [
        "1.42 s recorded; of that the main thread waited 1.32 s (93.3 %, of it 905 ms asleep in "
        "Scenarios.Main), was in native code 31.0 ms (2.19 %); 0.047 threads ran at a time, on average",
        "1 finding; 35 rules found nothing, 24 cannot tell",
        "",
        "1. lock.convoy (988 ms): 4 threads waited for one lock in turn, for 988 ms together in 338 ms",
        "   culprit: Scenarios.Convoy.lambda_1()",
        "   do: Do not wait while holding the lock: sleep, read, write and call others before or after.",
        f"   look: clrevents locks {CONVOY} --table convoys --start 740ms --end 1080ms",
    ]
    assert lines[7:] == [
        "",
        "ran        19.4 ms of running time, 11.4 % of it in System.Collections.Generic.List<int>..ctor",
        "waited     988 ms for locks in Scenarios.Convoy.lambda_1",
        "allocated  1.6 MB, 13.5 % of it System.Byte[]",
        "",
        "cannot tell: cpu.* (8), db.* (2), exceptions.* (4), http.* (3), memory.limited, pool.* (2), timer.often, "
        "trace.sampler, wait.* (2); --rule NAME says why",
    ]
    why = run("doctor", CONVOY, "--rule", "exceptions.*").stdout
    assert why.count("cannot tell: not in the trace: exceptions (none, or not recorded)") == 4
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("lock.convoy", 4),
        ("lock.deadlock,lock.waited:5%", 0),
        ("lock.convoy:900ms", 4),
        ("lock.convoy >= 900ms", 4),
        ("lock.convoy>=2s", 0),
        ("lock.convoy:2s", 0),
        ("lock.convoy:1MB", 1),
        ("lock.convoi", 1),
        ("lock.convoy:much", 1),
        ("lock.convoy:5parsec", 1),
    ],
)
def test_a_rule_fails_the_command_if_it_costs_that_much(run: Run, limits: str, code: int) -> None:
    assert run("doctor", CONVOY, "--rule", "lock.*", "--fail-on", limits).exit_code == code


@pytest.mark.parametrize(
    "options",
    [
        ["--json", "--format", "md"],
        ["--rule", "nothing"],
        ["--rule", "gc.*", "--fail-on", "lock.convoy"],
        ["--start", "soon"],
        ["-p", "4711"],
        [str(GARBAGE), "--format", "md"],
        [str(GARBAGE), "--with", str(CONVOY)],
    ],
    ids=str,
)
def test_what_does_not_go_together_is_said(run: Run, options: list[str]) -> None:
    done = run("doctor", CONVOY, *options)
    assert done.exit_code == 1, done.stdout
    assert "Error" in done.stderr


def test_markdown_is_for_a_pull_request(run: Run) -> None:
    lines = run("doctor", CONVOY, "--format", "md").stdout.splitlines()
    assert lines[:3] == [
        "**1 finding; 35 rules found nothing, 24 cannot tell**",
        "",
        "| rule | impact | finding | culprit |",
    ]
    assert lines[4].startswith("| lock.convoy | 988 ms | 4 threads waited")


def test_many_traces_get_a_line_for_each_rule_that_found_something(run: Run) -> None:
    done = run("doctor", CONVOY, GARBAGE, "--jobs", 1, "--fail-on", "gc.induced")
    head, _, *lines = done.stdout.splitlines()
    assert head == "2 rules found something in 2 traces"
    assert [line.split()[:4] for line in lines[1:]] == [["lock.convoy", "1", "of", "1"], ["gc.induced", "1", "of", "2"]]
    assert done.exit_code == 4


def test_a_running_process_is_judged_when_the_time_is_up(run: Run, tmp_path: Path) -> None:
    data = unpacked(fixture("net10-garbage"))
    who = struct.pack("<IQ", 1, 4711) + bytes(16) + text("dotnet App.dll") + text("Linux") + text("x64")
    who += text("App") + text("8.0.4") + text("linux-x64")
    half = len(data) // 2
    answers: dict[Any, Any] = {(4, 8): ok(who)}
    with ScriptedRuntime(
        tmp_path / "a", live=pieces(data[:half], 20_000), rest=[data[half:]], answers=answers
    ) as runtime:
        port, kept = f"{runtime.address},connect", tmp_path / "kept.nettrace"
        done = run("doctor", "--diagnostic-port", port, "--duration", "0.5s", "--json", "-o", kept)
    assert kept.read_bytes() == data
    assert f"{kept}: 1.1 MB, 9,120 events" in done.stderr
    again = run("doctor", "--diagnostic-port", port, "-o", kept)
    assert (again.exit_code, f"{kept} exists" in again.stderr) == (1, True)
    findings = json.loads(done.stdout)["tables"]["findings"]
    assert [(one["rule"], one["culprit"]) for one in findings if one["state"] == "found"] == [
        ("gc.induced", "Scenarios.Garbage(Random)")
    ]
    assert done.exit_code == 0


def test_findings_of_a_recording_that_goes_on_are_those_of_the_file_so_far(tmp_path: Path) -> None:
    path, data = tmp_path / "growing.nettrace", unpacked(fixture("net10-garbage"))
    rules = rules_of()
    path.write_bytes(b"")
    findings = LiveFindings(rules, path)
    assert not findings.read()
    for size in (len(data) // 2, len(data)):
        path.write_bytes(data[:size])
        while findings.read():
            pass
        whole = _judged(path)
        assert _found(findings.judged()) == _found(whole)
        assert "gc.induced" in _found(whole)


def _judged(path: Path) -> Diagnosis:
    """Of a file that may end too early."""
    with clrevents.open(path) as trace, warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        try:
            return doctor(trace)
        except clrevents.DamageError as error:
            so_far = error.report
    assert isinstance(so_far, Diagnosis)
    return so_far


def _found(diagnosis: Diagnosis) -> dict[str, Any]:
    """What was found, of the program; of a file that may end too early, sums are bounds."""
    return {
        one.rule: (one.title.replace("at least ", ""), one.culprit, one.impact.value)
        for one in diagnosis.findings
        if one.state == "found" and not one.rule.startswith("trace.")
    }
