"""`clrevents compare`: its files, its formats, its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from built.built_measured import recorded
from clrevents import save_measured
from command_runs import Run
from project_files import FIXTURES


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, factor: float = 1.0, seed: int = 1) -> Path:
        draw = np.random.default_rng(seed)
        blocks = factor * 1e7 * (1 + 0.1 * draw.standard_normal(256))
        path = tmp_path / f"{name}.json"
        names = {"methods.App!<b>|`x`.F()": blocks}
        save_measured(recorded({"threads.running_total": blocks, "gc.pause_max": factor * 5e6}, names), path)
        return path

    return make


def test_files_behind_against(run: Run, saved: Callable[..., Path]) -> None:
    """As a shell writes `new/*.json --against main/*.json --per none`."""
    base = [saved(f"base{n}", seed=n) for n in range(4)]
    new = [saved(f"new{n}", 1.2, seed=n + 9) for n in range(5)]
    result = run("compare", *new, "--against", *base, "--per", "none", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    sides = [one["side"] for one in found["tables"]["recordings"]]
    assert (sides, found["facts"]["per"]) == (["base"] * 4 + ["new"] * 5, "none")
    assert {change["name"]: change["verdict"] for change in found["tables"]["changes"]} == {
        "running_total": "regressed",
        "pause_max": "regressed",
    }


def test_two_files_are_before_and_after(run: Run, saved: Callable[..., Path]) -> None:
    base, new = saved("base"), saved("new", 1.2, 2)
    assert run("compare", base, new).stdout == run("compare", new, "--against", base).stdout
    assert run("compare", new, base).stdout != run("compare", base, new).stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--fail-on", "threads.running_total>10%"], 4),
        (["--fail-on", "threads.running_total>40%"], 0),
        (["--fail-on", "regressed"], 4),
        (["--fail-on", "methods:App*.F>10%"], 4),
        (["--fail-on", "methods:App!<b>|`x`.F() > 10%"], 4),
        (["--fail-on", "methods:App*>40%"], 0),
        (["--fail-on", "methods:Shop.*>5%"], 0),
        (["--fail-on", "methods:Shop.*>5%", "--strict"], 5),
        (["--fail-on", "gc.pause_max>5%"], 0),
        (["--fail-on", "gc.pause_max>5%", "--strict"], 5),
        (["--fail-on", "gc.pause_max>5%", "--fail-on", "threads.running_total>10%", "--strict"], 4),
    ],
)
def test_exit_codes(run: Run, saved: Callable[..., Path], options: list[str], code: int) -> None:
    result = run("compare", saved("new", 1.2, 2), "--against", saved("base"), *options)
    assert result.exit_code == code, result.stderr
    assert bool(result.stderr) == bool(options and "40%" not in options[1])


@pytest.mark.parametrize(
    ("second", "alarms", "code"),
    [
        (1.2, ["methods.App!<b>|`x`.F()", "threads.running_total"], 4),
        (1.0, [], 5),
        (1 / 1.2, [], 5),
    ],
)
def test_second_recordings_confirm(
    run: Run, saved: Callable[..., Path], second: float, alarms: list[str], code: int
) -> None:
    """What the second pair does not show, or shows the other way round, is no difference and fails nothing."""
    more = ["--confirm", saved("base2", seed=3), saved("new2", second, 4)]
    condition = ["--fail-on", "threads.running_total>10%", "--strict"]
    result = run("compare", saved("new", 1.2, 2), "--against", saved("base"), *more, *condition, "--json")
    assert result.exit_code == code, result.stderr
    found = json.loads(result.stdout)
    changes = [*found["tables"]["changes"], *found["tables"]["rows"]]
    shown = sorted(f"{c['family']}.{c['name']}" for c in changes if c["verdict"] == "differs")
    assert shown == alarms
    assert {c["reason"] for c in changes if c["verdict"] == "cannot tell"} <= {"the second recordings do not show it"}
    assert [one["side"] for one in found["tables"]["recordings"]] == ["base", "new", "second base", "second new"]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["{a}"], "compare with what?"),
        (["{a}", "--against"], "takes the recordings before"),
        (["{a}", "--against", "--json"], "takes the recordings before"),
        (["{a}", "{a}", "--against", "{a}"], "4 against 4 can"),
        (["{a}", "--against", "{a}", "--strict"], "--strict is about"),
        (["{a}", "--against", "{a}", "--fail-on", "gc.pause>5%"], "no metric"),
        (["{a}", "--against", "{a}", "--per", "request"], "not every recording has requests"),
        (["{a}", "--save", "b.nettrace"], "writes a .json file"),
        (["{a}", "--save", "{a}"], "is the trace itself"),
        (["{a}", "--against", "{a}", "--fail-on", "method:F>5%"], "did you mean 'methods'"),
        (["{a}", "--against", "{a}", "--fail-on", "methods:F=5%"], "a change is compared by"),
        (["{a}", "--against", "{a}", "--per", "hour"], "no denominator 'hour'"),
        (["-", "--against", "-"], "only one"),
        (["-", "--against", "{a}", "--confirm", "{a}", "-"], "only one"),
        (["{a}", "--save", "b.json", "--confirm", "{a}", "{a}"], "--confirm is about"),
        ([*["{a}"] * 4, "--against", *["{a}"] * 4, "--confirm", "{a}", "{a}"], "confirm a pair"),
        (["{a}", "--against", "{a}", "--json", "--format", "md"], "mutually exclusive"),
        (["{a}", "--against", "{a}", "--json", "-o", "-"], "only one of the page"),
        (["{a}", "--against", "{a}", "-o", "{a}"], "is the trace itself"),
        (["{a}", "--save", "b.json", "-o", "page.html"], "-o writes a page about"),
    ],
)
def test_what_it_does_not_take(run: Run, saved: Callable[..., Path], arguments: list[str], wrong: str) -> None:
    path = saved("base")
    result = run("compare", *(argument.format(a=path) for argument in arguments))
    assert result.exit_code == 1, result.stdout
    assert wrong in result.stderr


def test_a_baseline_is_a_file(run: Run, tmp_path: Path) -> None:
    trace, file = FIXTURES / "net10-convoy.nettrace.gz", tmp_path / "main.json"
    result = run("compare", trace, "--save", file)
    assert (result.exit_code, result.stdout) == (0, "")
    direct, later = (run("compare", trace, "--against", base, "--json").stdout for base in (trace, file))
    assert json.loads(direct) == json.loads(later)


def test_names_are_no_markup(run: Run, saved: Callable[..., Path]) -> None:
    result = run("compare", saved("new", 1.2, 2), "--against", saved("base"), "--format", "md")
    assert result.exit_code == 0
    first, line = (line for line in result.stdout.splitlines() if "F()" in line)
    assert first.startswith(
        r"**1 metric worse: threads.running\_total +20.9 %; 1 method with more time: App!&lt;b&gt;\|"
    )
    assert line.startswith(r"| App!&lt;b&gt;\|\`x\`.F() |")


def test_a_page_beside_a_comment(run: Run, saved: Callable[..., Path], tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", FIXTURES / "net10-convoy.nettrace.gz"
    result = run("compare", trace, "--against", trace, "-o", page)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith("bytes; open it in a browser\n")
    assert b'"flames":[{' in page.read_bytes()
    condition = ["--fail-on", "threads.running_total>10%"]
    both = run("compare", saved("new", 1.2, 2), "--against", saved("base"), "-o", page, "--format", "md", *condition)
    assert both.exit_code == 4
    assert both.stdout.startswith("**1 metric worse: threads.running")
    assert b'"flames":[]' in page.read_bytes()


def test_several_baselines_are_one_file(run: Run, saved: Callable[..., Path], tmp_path: Path) -> None:
    """Saved together, or put together by `cat`: they are a group, whose rows gate."""
    base, new = (
        [saved(f"{n}{seed}", m, seed=seed + int(10 * m)) for seed in range(4)] for n, m in (("a", 1), ("b", 1.2))
    )
    main, put = tmp_path / "main.json", tmp_path / "put.json"
    result = run("compare", *base, "--save", main)
    assert result.stderr.endswith("main.json: 8 metrics and 4 rows of 4 recordings\n"), result.stderr
    put.write_bytes(b"".join(path.read_bytes() for path in base))
    found = [json.loads(run("compare", *new, "--against", *side, "--json").stdout) for side in (base, [main], [put])]
    assert found[0] == found[1] == found[2]
    assert found[0]["rows"]["recordings"] == 8
    gate = ["--per", "none", "--fail-on", "regressed", "--fail-on", "methods:App*>5%"]
    result = run("compare", *new, "--against", main, *gate)
    assert result.exit_code == 4
    assert result.stdout.startswith("1 method slower: App!<b>|`x`.F() +20.8 %; 2 metrics worse: ")
    assert "methods.App!<b>|`x`.F() is worse: +20." in result.stderr
    assert "methods:App*>5%: methods.App!<b>|`x`.F() changed by +20." in result.stderr
    by_second = run("compare", *new, "--against", main, "--fail-on", "regressed")
    assert by_second.exit_code == 4
    assert "F() is worse" not in by_second.stderr
    assert "only one" in run("compare", "-", "--against", "-").stderr
    assert run("compare", new[0], "--against", main).exit_code == 1
