"""`clrevents flame`: files that say the same as the library, and what the command refuses."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import clrevents
from built_allocations import tick
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.look import Look
from clrevents.testing.builder import TraceBuilder
from command_runs import Run, python
from project_files import fixture

MS = 1_000_000
ENDINGS = {"speedscope": "json", "folded": "folded", "html": "html", "pprof": "pb.gz"}


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
    assert result.stderr.startswith(f"clrevents: {out}: 6 samples on 2 threads, 40.0 ms in total")
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


def test_allocations_weigh_their_bytes(run: Run, shop: Path, tmp_path: Path) -> None:
    builder = TraceBuilder().method_load("Shop", "Main", address=0x1000).method_load("Shop", "Pay", address=0x2000)
    tick(tick(tick(builder.thread(7), 100_000, "A", 0x1010), 110_000, "B", 0x2010, 0x1010), 5, "B", 0x1010)
    path = tmp_path / "ticks.nettrace"
    path.write_bytes(builder.build())
    wanted = ["thread 7;Shop.Main() 100005", "thread 7;Shop.Main();Shop.Pay() 110000"]
    assert folded(run, path, "--by", "alloc") == folded(run, path, "--weight", "alloc") == wanted
    assert folded(run, path, "--event", "GCAllocationTick", "--by", "AllocationAmount64") == wanted
    result = run("flame", path, "--by", "alloc", "-o", tmp_path / "a.html")
    assert result.stderr.startswith(f"clrevents: {tmp_path / 'a.html'}: 3 GCAllocationTick events on 1 thread, 210 kB")
    assert "clrevents: the bytes are those between two ticks" in result.stderr
    assert "between two ticks" not in run("flame", path, "--event", "GC*Tick", "-o", tmp_path / "c.html").stderr
    none = run("flame", shop, "--by", "alloc", "-o", tmp_path / "b.html")
    assert none.exit_code == 1
    assert "has no allocation event that matches these options" in none.stderr
    assert "--providers Microsoft-Windows-DotNETRuntime:0x80000000001:5" in none.stderr


def test_gz_packs(run: Run, shop: Path, tmp_path: Path) -> None:
    assert run("flame", shop, "-o", tmp_path / "a.json.gz").exit_code == 0
    assert run("flame", shop, "-o", tmp_path / "a.json").exit_code == 0
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-o", "out"], "by its suffix; use -f speedscope"),
        (["-o", "out.nettrace"], "out.nettrace by its suffix; use -f"),
        (["-o", "a.json", "--weight", "Size"], "--by with a field requires --event"),
        (
            ["-o", "a.json", "--event", "Sold", "--by", "level"],
            "'level' is not an amount, so it cannot be a weight; use",
        ),
        (["-o", "a.json", "--event", "Sold", "--weight", "Sise"], "no column 'Sise'"),
        (["-o", "a.json", "--start", "soon"], "soon"),
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


def test_it_loads_no_more_than_it_needs(shop: Path) -> None:
    """A short command lives on what it does not import."""
    code = "import sys\nfrom clrevents.cli import root\n"
    code += f"root.main(['flame', {str(shop)!r}, '-f', 'speedscope', '-o', '-'], standalone_mode=False)\n"
    code += "print(*sys.modules, file=sys.stderr)"
    loaded = set(python("-c", code).stderr.split())
    assert "clrevents.export.flame.flame_formats" in loaded
    unwanted = {"rich", "construct", "numpy.ma", "pandas", "polars", "pyarrow", "duckdb", "clrevents.encode"}
    assert not unwanted & loaded
    assert not {"clrevents.export.flame.flame_html", "clrevents.rewrite"} & loaded


def test_samples_by_state_and_with_artefacts(run: Run, tmp_path: Path) -> None:
    builder = TraceBuilder().thread(7)
    methods = ("Shop", "Main"), ("System.Threading.Thread", "Sleep"), ("System.Threading.Thread", "PollGC")
    for place, (owner, name) in enumerate(methods):
        builder.method_load(owner, name, address=0x1000 * (place + 1))
    builder.at(10 * MS).sample(0x3010, 0x1010).at(12 * MS).sample(0x2010, 0x1010, kind=1).at(15 * MS).sample(0x1010)
    path = tmp_path / "states.nettrace"
    path.write_bytes(builder.build())

    def folded(*options: str) -> list[str]:
        result = run("flame", path, "-o", "-", "-f", "folded", "--merge-threads", *options)
        assert result.exit_code == 0, result.output
        return [line for line in result.stdout.splitlines() if line]

    main, sleep, poll = "Shop.Main()", "System.Threading.Thread.Sleep()", "System.Threading.Thread.PollGC()"
    assert sorted(folded()) == [f"{main} {2 * MS}", f"{main};{sleep} {3 * MS}"]
    assert folded("--waiting") == folded("--state", "sleep") == [f"{main};{sleep} {3 * MS}"]
    assert folded("--running", "--artefacts") == [f"{main};{poll} {2 * MS}"]
    wrong = run("flame", path, "-o", "-", "-f", "folded", "--state", "busy")
    assert (wrong.exit_code, "no state 'busy'" in wrong.stderr) == (1, True)
    both = run("flame", path, "-o", "-", "-f", "folded", "--running", "--waiting")
    assert (both.exit_code, "give only one of" in both.stderr) == (1, True)
    event = run("flame", path, "-o", "-", "-f", "folded", "--running", "--event", "MethodLoadVerbose")
    assert (event.exit_code, "only profiler samples" in event.stderr) == (1, True)


def test_logical_stacks_go_on_where_tasks_were_created(run: Run) -> None:
    trace = fixture("net10-starvation")
    options = ("--merge-threads", "--include", "Scenarios.SyncOverAsync")
    outermost = {line.partition(";")[0] for line in folded(run, trace, *options)}
    assert outermost == {"System.Threading.Thread.StartCallback()"}
    stacks = folded(run, trace, *options, "--logical")
    assert {line.partition(";")[0] for line in stacks} == {"Scenarios.Main(string[])"}
    assert any(
        "async Scenarios.Slow" in line for line in folded(run, trace, "--logical", "--include", "Scenarios.Slow")
    )


def test_two_traces_are_one_page(run: Run, shop: Path, tmp_path: Path) -> None:
    """The same filters for both: of the samples in the window, what is less and what there was not before."""
    builder = TraceBuilder().method_load("Shop", "Main", address=0x5000).method_load("Shop", "Sell", address=0x6000)
    before = tmp_path / "before.nettrace"
    before.write_bytes(builder.thread(9).at(10 * MS).sample(0x6010, 0x5010).at(35 * MS).sample(0x5010).build())
    out = tmp_path / "changed.html"
    done = run("flame", shop, "--against", before, "--end", "22ms", "-o", out)
    assert done.exit_code == 0, done.stderr
    found = re.search(r'id="data">(.*?)</script>', out.read_text(), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert (data["title"], data["against"]) == ("shop.nettrace compared with before.nettrace", "before.nettrace")
    names = [data["frames"][frame] for frame in data["frame"]]
    sides = dict(zip(names, zip(data["own"], data["before"], strict=True), strict=True))
    assert sides == {"Shop.Main()": (11 * MS, 0), "Shop.Pay()": (12 * MS, 0), "Shop.Sell()": (0, 12 * MS)}
    assert run("flame", shop, "--against", before, "--end", "22ms", "-o", f"{out}.gz").exit_code == 0
    assert gzip.decompress(Path(f"{out}.gz").read_bytes()) == out.read_bytes()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-o", "a.json"], "two traces are compared on a page only; use -f html, not speedscope"),
        (["-o", "a.html", "--thread", "7"], "numbers of threads mean nothing in another trace"),
        (["-o", "a.html", "--event", "Sold"], "before.nettrace: no event 'Sold'"),
    ],
)
def test_what_two_traces_cannot_do(run: Run, shop: Path, tmp_path: Path, args: list[str], text: str) -> None:
    before = tmp_path / "before.nettrace"
    before.write_bytes(TraceBuilder().method_load("Shop", "Main", address=0x5000).at(MS).sample(0x5010).build())
    result = run("flame", shop, "--against", before, *(tmp_path / arg if arg.startswith("a.") else arg for arg in args))
    assert result.exit_code == 1
    assert text in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"shop.nettrace", "before.nettrace"}
