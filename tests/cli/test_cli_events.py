"""`clrevents events`: what it prints is what the library says, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import clrevents
from command_runs import Run
from costly import located_fields
from tiers import few

Find = Callable[[str], Path]

HEADER = (
    *("provider", "id", "version", "name", "time_ns", "thread_id", "process_id", "processor"),
    *("opcode", "level", "keywords", "activity_id", "related_activity_id"),
)


def expected(event: clrevents.Event[Any], *, stacks: bool = False) -> dict[str, Any]:
    """What the contract says a line holds, worked out from the public API alone."""
    result: dict[str, Any] = {key: plain(getattr(event, key)) for key in HEADER}
    known = not isinstance(event.payload, clrevents.RawPayload)
    result["payload"] = plain(clrevents.asdict(event.payload)) if known else None
    if event.payload_tail:
        result["payload_tail"] = event.payload_tail.hex()
    if not known:
        result["payload_bytes"] = event.payload_bytes.hex()
    if event.activity_path is not None:
        result["activity_path"] = event.activity_path
    if stacks:
        result["stack"] = list(event.stack)
    return result


def plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: plain(v) for key, v in value.items()}
        case list() | tuple():
            return [plain(v) for v in value]
        case UUID() | Decimal():
            return str(value)
        case bytes():
            return value.hex()
        case float() if value - value != 0:
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
        case _:
            return value


@pytest.mark.parametrize(
    "name",
    few(
        ["net8-method-interop", "net10-all", "net10-cpu", "net10-convoy", "net8-sample"],
        lambda name: name not in ("net10-all", "net10-cpu"),
    ),
)
def test_json_lines_are_what_the_library_says(name: str, run: Run, trace_path: Find) -> None:
    path = trace_path(f"{name}.nettrace")
    stacks = name == "net10-cpu"
    result = run("events", path, "--json", *["--stacks"] * stacks)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.isascii()
    lines = result.stdout.splitlines()
    with clrevents.open(path) as trace:
        for line, event in zip(lines, trace.events(), strict=True):
            found = json.loads(line)
            wanted = expected(event, stacks=stacks)
            assert list(found) == list(wanted)
            assert found == wanted


def test_names_turns_enums_into_text_and_nothing_else(run: Run, trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")
    numbers = [json.loads(x) for x in run("events", path, "MethodLoadVerbose", "--json").stdout.splitlines()]
    names = [json.loads(x) for x in run("events", path, "MethodLoadVerbose", "--json", "--names").stdout.splitlines()]
    flags = {
        (n["payload"]["MethodFlags"], t["payload"].pop("MethodFlags")) for n, t in zip(numbers, names, strict=True)
    }
    assert (0x180 | 0x8, "Jitted|tier=QuickJitted") in flags
    for event in numbers:
        del event["payload"]["MethodFlags"]
    assert numbers == names


def test_filters(run: Run, trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")

    def count(*args: object) -> int:
        result = run("events", path, "--json", *args)
        assert result.exit_code == 0
        return len(result.stdout.splitlines())

    with clrevents.open(path) as trace:
        busiest, second = trace.threads[:2]
        counts = trace.event_counts()
        half = trace.duration_ns // 2
        late = sum(1 for e in trace.events() if e.time_ns >= half)
    everything = sum(counts.values())
    assert count() == everything
    assert count("--limit", 7) == 7
    assert count("--limit", 0) == 0
    assert count("--thread", busiest.thread_id) == busiest.events
    assert count("--thread", busiest.thread_id, "--thread", second.thread_id) == busiest.events + second.events
    assert count("--provider", "rundown") == sum(n for k, n in counts.items() if k.provider.endswith("Rundown"))
    assert count("--start", "50%") == late
    assert count("--end", "50%") == everything - late
    assert count("--start", f"{half}ns") == late
    assert count("Method/Load*") == sum(n for k, n in counts.items() if k.name.startswith("MethodLoad"))
    assert count("ILStubCacheHit") == 0


@pytest.mark.parametrize(
    "args",
    [
        ["--start", "12"],
        ["--start", "2026-01-31T14:03:22"],
        ["--limit", "-1"],
        ["--thread", "main"],
        ["--errors", "ignore"],
        ["--fail-on", "none,loss"],
        ["--fail-on", "everything"],
        ["--no-such-option"],
    ],
)
def test_a_mistake_in_the_command_gives_1(args: list[str], run: Run, trace_path: Find) -> None:
    result = run("events", trace_path("net8-sample.nettrace"), *args)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Error: " in result.stderr


def test_a_pipe_as_standard_input(process: Callable[..., Any], trace_path: Find, trace_bytes: Any, run: Run) -> None:
    name = "net8-sample.nettrace"
    wanted = run("events", trace_path(name), "Request*", "--json").stdout
    done = process("events", "-", "Request*", "--json", input=trace_bytes(name))
    assert done.returncode == 0
    assert done.stdout.decode() == wanted


def test_text_of_long_arrays_ends_where_it_is_cut(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.nettrace"
    path.write_bytes(located_fields(11, 40_000))
    (line,) = run("events", path).stdout.splitlines()
    shown = ("[" + "0, " * 100)[:300]
    assert f"f0={shown}… (40,000 items) f1=[0, " in line
