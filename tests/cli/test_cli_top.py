"""`clrevents top`: the list as text and as JSON, and what it says about itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from clrevents.analysis.top.hot import CAVEAT
from clrevents.testing.builder import TraceBuilder

Run = Callable[..., Result]
MS = 1_000_000


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    builder = TraceBuilder()
    for address, name in ((0x1000, "Main"), (0x2000, "Pay"), (0x3000, "Wait")):
        builder.method_load("Shop", name, address=address, signature="void  (int32)")
    builder.at(10 * MS).sample(0x2010, 0x1010).at(16 * MS).sample(0x3010, 0x2010, 0x1010, kind=1)
    builder.at(19 * MS).sample(0x1010).at(20 * MS).sample(0x1010)
    for size in (40, 2):
        builder.described("Shop", "Sold", {"Size": (9, size)}, stack=[0x2010, 0x1010])
    path = tmp_path / "shop.nettrace"
    path.write_bytes(builder.build())
    return path


def test_text(run: Run, shop: Path) -> None:
    result = run("top", shop)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "4 samples on 1 thread, 10.000 ms in total",
        CAVEAT,
        "",
        "exclusive            inclusive               native  method",
        "  60.00 %  6.000 ms    90.00 %   9.000 ms    0.00 %  Shop.Pay(int)",
        "  30.00 %  3.000 ms    30.00 %   3.000 ms  100.00 %  Shop.Wait(int)",
        "  10.00 %  1.000 ms   100.00 %  10.000 ms    0.00 %  Shop.Main(int)",
    ]
    assert run("top", shop, "-n", 1, "--raw").stdout.splitlines()[-2:] == [
        "  60.00 %  6.000 ms    90.00 %  9.000 ms  0.00 %  Shop.Pay(int32)",
        "and 2 more (-n shows them)",
    ]


def test_events(run: Run, shop: Path) -> None:
    result = run("top", shop, "--event", "Sold", "--weight", "Size")
    assert result.stdout.splitlines() == [
        "2 Sold events on 1 thread, 42 bytes in total",
        "",
        "exclusive            inclusive            method",
        " 100.00 %  42 bytes   100.00 %  42 bytes  Shop.Pay(int)",
        "   0.00 %   0 bytes   100.00 %  42 bytes  Shop.Main(int)",
    ]
    assert run("top", shop, "--event", "Sold", "-n", "1").stdout.splitlines()[-2:] == [
        " 100.00 %  2   100.00 %  2  Shop.Pay(int)",
        "and 1 more (-n shows them)",
    ]


def test_json(run: Run, shop: Path) -> None:
    found = json.loads(run("top", shop, "--json", "-n", 1).stdout)
    assert found == {
        "schema": "clrevents.top/1",
        "event": "ThreadSample",
        "unit": "nanoseconds",
        "samples": 4,
        "threads": [1],
        "total": 10 * MS,
        "caveat": CAVEAT,
        "advice": None,
        "by": "method",
        "rows": 3,
        "top": [
            {
                "name": "Shop.Pay(int)",
                "raw": "Shop.Pay(int32)",
                "module": None,
                "exclusive": 6 * MS,
                "inclusive": 9 * MS,
                "external": 0,
                "samples": 1,
            }
        ],
    }
    assert next(iter(found)) == "schema"
    window = json.loads(run("top", shop, "--json", "--start", "15ms", "--end", "17ms").stdout)
    assert [(hot["name"], hot["exclusive"]) for hot in window["top"]] == [
        ("Shop.Pay(int)", MS), ("Shop.Wait(int)", MS), ("Shop.Main(int)", 0),
    ]  # fmt: skip
    sold = json.loads(run("top", shop, "--json", "--event", "Sold").stdout)
    assert (sold["caveat"], sold["unit"], sold["top"][0]["external"]) == (None, "count", None)


def test_by_module(run: Run, shop: Path) -> None:
    found = json.loads(run("top", shop, "--json", "--by", "module").stdout)
    assert [(hot["name"], hot["exclusive"]) for hot in found["top"]] == [("[no module]", 10 * MS)]


def test_one_sample_weighs_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().method_load("A", "B", address=0x1000).sample(0x1010).build())
    assert run("top", path).stdout.splitlines()[-1].split() == ["-", "0.000", "ms", "-", "0.000", "ms", "-", "A.B()"]


def test_a_stripped_trace_says_what_to_record(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().at(MS).sample(0x7F10).at(3 * MS).sample(0x7F10).build())
    result = run("top", path)
    assert "[unresolved 0x7f10]" in result.stdout
    assert "record with rundown" in result.stderr
    found = run("top", path, "--json")
    assert "record with rundown" in json.loads(found.stdout)["advice"]
    assert found.stderr == ""


def test_names_are_safe_on_a_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().method_load("A", "B\x1b[2J", address=0x1000).sample(0x1010).build())
    assert "\x1b" not in run("top", path).stdout
