"""Whatever the file is: one sentence on stderr, the right exit code, never a traceback."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import clrevents
from clrevents.schema.registry import Registry

Run = Callable[..., Result]
Bytes = Callable[[str], bytes]

READERS = ["info", "events", "check"]
SAMPLE = "net8-sample.nettrace"


def one_sentence(result: Result) -> str:
    assert result.stderr.startswith("clrevents: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"hello, this is text\n" * 50, "not a .NET trace"),
        (b"Nettrace", "ends"),
        (bytes(5000), "not a .NET trace"),
        (b"\x1f\x8b nothing that was compressed", ""),
    ],
)
def test_unreadable_files_give_2(reader: str, content: bytes, words: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(content)
    for args, options in [((path,), {}), (("-",), {"input": content})]:
        result = run(reader, *args, **options)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert words in one_sentence(result)


@pytest.mark.parametrize("reader", READERS)
def test_missing_file_and_directory(reader: str, run: Run, tmp_path: Path) -> None:
    result = run(reader, tmp_path / "none.nettrace")
    assert result.exit_code == 2
    assert "none.nettrace: cannot be read: No such file or directory" in one_sentence(result)
    if reader != "info":
        result = run(reader, tmp_path)
        assert result.exit_code == 2
        assert "is a directory" in one_sentence(result)


@pytest.mark.parametrize("reader", READERS)
def test_a_version_from_the_future(reader: str, run: Run, tmp_path: Path, trace_bytes: Bytes) -> None:
    data = trace_bytes(SAMPLE)
    now, future = (struct.pack("<iii", v, v, 5) + b"Trace" for v in (4, 99))
    assert data.count(now) == 1
    path = tmp_path / "future.nettrace"
    path.write_bytes(data.replace(now, future))
    result = run(reader, path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "99" in one_sentence(result)


def test_netperf_is_read(run: Run, trace_path: Callable[[str], Path]) -> None:
    result = run("info", trace_path("net8-netperf3.netperf"))
    assert result.exit_code == 0
    assert "format    NetPerf 3, 64-bit" in result.stdout


def test_a_file_cut_anywhere_gives_its_events(run: Run, tmp_path: Path, trace_bytes: Bytes) -> None:
    data = trace_bytes(SAMPLE)
    path = tmp_path / "cut.nettrace"
    path.write_bytes(data)
    whole = Counter(run("events", path, "--json").stdout.splitlines())
    codes = set()
    most = 0
    for size in range(0, len(data), len(data) // 25):
        path.write_bytes(data[:size])
        result = run("events", path, "--json")
        codes.add(result.exit_code)
        found = Counter(result.stdout.splitlines())
        assert found <= whole
        assert found.total() >= most, "a longer piece has fewer events"
        most = found.total()
        if result.exit_code:
            assert "cut.nettrace" in one_sentence(result)
            assert size < 100 or "at offset 0x" in result.stderr
        for reader in ("info", "check"):
            other = run(reader, path, "--json")
            assert other.exit_code == result.exit_code or reader == "check"
            if other.exit_code == 2:
                assert other.stdout == ""
            else:
                assert json.loads(other.stdout)["metrics"]["events"]["value"] == found.total()
    assert codes >= {2, 3}
    assert most > 1000


@pytest.mark.parametrize("compressed", [False, True])
def test_errors_modes_on_damage(
    compressed: bool, run: Run, tmp_path: Path, trace_path: Callable[[str], Path], trace_bytes: Bytes
) -> None:
    name = "net8-method-interop.nettrace"
    data = trace_path(name).read_bytes() if compressed else trace_bytes(name)
    path = tmp_path / "cut.nettrace"
    path.write_bytes(data[: len(data) * 2 // 3])
    outputs = set()
    for mode in ("salvage", "report", "strict"):
        result = run("events", path, "--json", "--errors", mode)
        assert result.exit_code == 3
        assert "at offset 0x" in one_sentence(result)
        outputs.add(result.stdout)
        assert run("events", path, "--errors", mode, "--fail-on", "none").exit_code == 0
    assert len(outputs) == 1
    assert outputs.pop().count("\n") > 2000
    # Where people look first, what is damaged is told, and no note.
    info = run("info", path).stdout
    assert "\ndamage: the file ends inside" in info
    assert "\nnote: " not in info


@pytest.mark.parametrize(
    "command",
    [
        ("info",),
        ("spans", "GCStart", "GCEnd"),
        ("flame", "-o", "OUT.html"),
        ("cut", "-o", "OUT.nettrace"),
        ("redact", "-o", "OUT.nettrace"),
        ("export", "-o", "OUT.jsonl"),
        ("export", "-o", "OUT.pftrace"),
        # SQL needs a package that the fast tier does not have.
        pytest.param(("query", "select count(*) from headers"), marks=pytest.mark.full),
    ],
    ids=" ".join,
)
def test_an_early_end_is_said_and_fails_if_asked(
    command: tuple[str, ...], run: Run, tmp_path: Path, trace_bytes: Bytes
) -> None:
    path = tmp_path / "cut.nettrace"
    data = trace_bytes(SAMPLE)
    path.write_bytes(data[: len(data) * 2 // 3])
    name, *rest = command
    rest = [str(tmp_path / word) if word.startswith("OUT") else word for word in rest]
    for kinds, code in (("damage", 3), ("none", 0)):
        result = run(name, path, *rest, "--errors", "strict", "--fail-on", kinds)
        assert result.exit_code == code
        assert "at offset 0x" in one_sentence(result)
    assert not [*tmp_path.glob("OUT*")]


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


def test_nothing_in_a_file_reaches_the_terminal_as_a_control(
    run: Run, tmp_path: Path, trace_bytes: Bytes, on_terminal: Any
) -> None:
    # An event's name, in its description, that clears the screen.
    data = trace_bytes(SAMPLE)
    name, evil = ("RequestStart", "\x1b[2J\x9b[b]\u202e\n\ud800\r")
    assert len(evil) == len(name)
    assert name.encode("utf-16-le") in data
    path = tmp_path / "evil.nettrace"
    path.write_bytes(data.replace(name.encode("utf-16-le"), evil.encode("utf-16-le", "surrogatepass")))
    shown = "\\x1b[2J\\x9b[b]\\u202e\\n\ufffd\\r"
    for args in (["info"], ["check"], ["events", "--provider", "Clrevents-Sample"]):
        result = run(args[0], path, *args[1:])
        assert result.exit_code == 0
        assert shown in result.stdout
        assert not set("\x1b\x9b\u202e\r") & set(result.stdout)
        code, terminal = on_terminal(args[0], path, *args[1:], columns=120)
        assert code == 0
        assert shown in terminal
        assert not {"\x1b[2J", "\x9b", "\u202e"} & {terminal[i : i + n] for n in (1, 4) for i in range(len(terminal))}
    lines = run("events", path, "--provider", "Clrevents-Sample", "--json").stdout.splitlines()
    assert evil.replace("\ud800", "\ufffd") in {json.loads(line)["name"] for line in lines}


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
