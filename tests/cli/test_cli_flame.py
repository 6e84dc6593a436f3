"""`clrevents flame`: files that say the same as the library, and what the command refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import clrevents
from clrevents.analysis.samples import read_samples
from clrevents.export.flame import FLAME_FORMATS, Look, flame_bytes
from clrevents.testing.builder import TraceBuilder

Run = Callable[..., Result]
MS = 1_000_000
ENDINGS = {"speedscope": "json", "folded": "folded", "html": "html", "pprof": "pb.gz", "chrome": "trace.json"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two threads, three samples each, and sales with a size."""
    builder = TraceBuilder().method_load("Shop", "Main", address=0x1000).method_load("Shop", "Pay", address=0x2000)
    for n in range(3):
        builder.thread(7).at((10 + 10 * n) * MS).sample(0x2010, 0x1010)
        builder.thread(8).at((11 + 10 * n) * MS).sample(0x1010, kind=1)
    builder.described("Shop", "Sold", {"Size": (9, 40), "What": (18, "tea")}, stack=[0x1010])
    path = tmp_path / "shop.nettrace"
    path.write_bytes(builder.build())
    return path


@pytest.mark.parametrize("format", FLAME_FORMATS)
def test_files_are_what_the_library_makes(run: Run, shop: Path, tmp_path: Path, format: Any) -> None:
    out = tmp_path / f"out.{ENDINGS[format]}"
    result = run("flame", shop, "-o", out)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.startswith(f"clrevents: {out}: 6 samples on 2 threads, 40.000 ms in total")
    trace = clrevents.open(shop)
    look = Look("shop.nettrace", f"clrevents {clrevents.__version__}", start=trace.info.start)
    assert out.read_bytes() == flame_bytes(read_samples(trace), format, look)
    other = run("flame", shop, "-f", format, "-o", tmp_path / "other")
    assert other.exit_code == 0
    assert (tmp_path / "other").read_bytes() == out.read_bytes()


def folded(run: Run, *args: object) -> list[str]:
    result = run("flame", *args, "-f", "folded", "-o", "-")
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def test_which_samples(run: Run, shop: Path) -> None:
    main, pay = "thread 8;Shop.Main()", "thread 7;Shop.Main();Shop.Pay()"
    assert folded(run, shop) == [f"{pay} {20 * MS}", f"{main} {20 * MS}"]
    assert folded(run, shop, "--thread", 8) == [f"{main} {20 * MS}"]
    assert folded(run, shop, "--thread", 8, "--thread", 7) == folded(run, shop)
    assert folded(run, shop, "--start", "15ms", "--end", "22ms") == [f"{pay} {7 * MS}", f"{main} {7 * MS}"]
    assert folded(run, shop, "--merge-threads") == [f"Shop.Main() {20 * MS}", f"Shop.Main();Shop.Pay() {20 * MS}"]
    assert folded(run, shop, "--raw", "--thread", 8) == [f"thread 8;Shop.Main() {20 * MS}"]
    assert folded(run, shop, "--event", "Sold") == ["thread 8;Shop.Main() 1"]
    assert folded(run, shop, "--event", "Shop/Sold", "--weight", "Size") == ["thread 8;Shop.Main() 40"]


def test_gz_packs(run: Run, shop: Path, tmp_path: Path) -> None:
    assert run("flame", shop, "-o", tmp_path / "a.json.gz").exit_code == 0
    assert run("flame", shop, "-o", tmp_path / "a.json").exit_code == 0
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()


def test_pipes(process: Callable[..., subprocess.CompletedProcess[bytes]], shop: Path) -> None:
    done = process("flame", "-", "-f", "speedscope", "-o", "-", input=shop.read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert [profile["name"] for profile in json.loads(done.stdout)["profiles"]] == ["thread 7", "thread 8"]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-o", "out"], "by its suffix; use -f speedscope"),
        (["-o", "out.nettrace"], "out.nettrace by its suffix; use -f"),
        (["-o", "a.json", "--weight", "Size"], "--by with a field requires --event"),
        (["-o", "a.json", "--event", "Sold", "--weight", "What"], "'What' is not a number"),
        (["-o", "a.json", "--event", "Sold", "--weight", "Sise"], "no column 'Sise'"),
        (["-o", "a.json", "--start", "soon"], "soon"),
        (["-o", "a.trace.json", "--merge-threads"], "cannot be merged"),
        (["-o", "a.json", "--thread", "99"], "no ThreadSample event in"),
        (["-o", "a.json", "--start", "1h"], "1h"),
        (["-o", "a.json", "--event", "Soled"], "Soled"),
    ],
)
def test_what_is_refused(run: Run, shop: Path, tmp_path: Path, args: list[str], text: str) -> None:
    result = run("flame", shop, *(tmp_path / arg if arg.startswith(("a.", "out")) else arg for arg in args))
    assert result.exit_code == 1
    assert text in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["shop.nettrace"]


def test_the_trace_itself_is_not_written_over(run: Run, shop: Path) -> None:
    before = shop.read_bytes()
    result = run("flame", shop, "-f", "folded", "-o", shop)
    assert (result.exit_code, shop.read_bytes()) == (1, before)
    assert "OUT is the trace itself" in result.stderr


def test_what_there_is_instead_of_samples(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    builder = TraceBuilder().method_load("A", "B", address=0x1000)
    path.write_bytes(builder.raw("Shop", 1, name="Sold", stack=[1]).raw("Shop", 1, name="Sold", stack=[2]).build())
    result = run("flame", path, "-o", tmp_path / "a.json")
    assert result.exit_code == 1
    assert "has no ThreadSample event (the provider Microsoft-DotNETCore-SampleProfiler writes them)" in result.stderr
    assert "events with stacks, for --event: Shop/Sold (2)" in result.stderr
    result = run("flame", path, "--event", "GCAllocationTick", "-o", tmp_path / "a.json")
    assert "has no GCAllocationTick event; events with stacks" in result.stderr
    path.write_bytes(builder.build()[:0] + TraceBuilder().method_load("A", "B", address=0x1000).build())
    assert "no event with a stack" in run("flame", path, "-o", tmp_path / "a.json").stderr


def test_a_stripped_trace_is_honest(run: Run, tmp_path: Path) -> None:
    """Addresses instead of names, and what to record next time."""
    path = tmp_path / "a.nettrace"
    path.write_bytes(TraceBuilder().at(MS).sample(0x7F10, 0x1010).at(3 * MS).sample(0x7F10).build())
    result = run("flame", path, "-f", "folded", "-o", "-")
    assert result.exit_code == 0
    assert result.stdout == f"thread 1;[unresolved 0x1010];[unresolved 0x7f10] {2 * MS}\n"
    assert result.stderr.startswith("clrevents: 2 of 2 frames have no name: the trace does not list the methods")
    assert "record with rundown" in result.stderr
    page = run("flame", path, "-f", "html", "-o", "-").stdout
    assert "Many names are missing: the trace does not list the methods" in page


def test_damage_is_said(run: Run, shop: Path, tmp_path: Path) -> None:
    shop.write_bytes(shop.read_bytes()[:-30])
    result = run("flame", shop, "-o", tmp_path / "a.json")
    assert result.exit_code == 3
    assert (tmp_path / "a.json").exists()
    assert run("flame", shop, "-o", tmp_path / "b.json", "--fail-on", "none").exit_code == 0
    result = run("flame", shop, "-o", tmp_path / "c.json", "--errors", "report")
    assert result.exit_code == 3
    assert not (tmp_path / "c.json").exists()


def test_what_cannot_be_written(run: Run, shop: Path, tmp_path: Path) -> None:
    result = run("flame", shop, "-o", tmp_path / "nowhere" / "a.json")
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_it_loads_no_more_than_it_needs(process: Callable[..., Any], command: list[str], shop: Path) -> None:
    """A short command lives on what it does not import."""
    code = "import sys\nfrom clrevents.cli import root\n"
    code += f"root.main(['flame', {str(shop)!r}, '-f', 'speedscope', '-o', '-'], standalone_mode=False)\n"
    code += "print(*sys.modules, file=sys.stderr)"
    loaded = set(subprocess.run([command[0], "-c", code], capture_output=True, text=True).stderr.split())
    assert "clrevents.export.speedscope" in loaded
    unwanted = {"rich", "construct", "numpy.ma", "pandas", "polars", "pyarrow", "duckdb", "clrevents.encode"}
    assert not unwanted & loaded
    assert not {"clrevents.export.flame_html", "clrevents.export.pprof", "clrevents.rewrite"} & loaded
