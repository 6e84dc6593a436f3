"""The benchmarks run in a bare checkout, and their yardstick reads the headers that clrevents reads.

No time is judged.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import clrevents
from clrevents.decode.stream.stream import Stream
from command_runs import printed
from project_files import FIXTURES, ROOT, SHARED, loaded, unpacked, without_shared

pytestmark = pytest.mark.full

BENCHMARKS = ROOT / "benchmarks"
NETTRACE = sorted(path for path in FIXTURES.glob("*.nettrace.gz") if unpacked(path)[8:12] != b"\0\0\0\0")
"""Those of NetTrace 4, the one that the yardstick reads: a NetTrace 6 file has four zeros after its name."""
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
STAGES = 9
M64 = (1 << 64) - 1


@pytest.fixture(scope="module")
def yardstick() -> ModuleType:
    return loaded("benchmarks_stages", BENCHMARKS / "stages.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The benchmarks and the fixtures in a folder that has nothing beside it."""
    alone = tmp_path / "alone"
    shutil.copytree(BENCHMARKS, alone / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FIXTURES, alone / "fixtures")
    return alone


def run(checkout: Path, script: str, *arguments: str) -> str:
    """What one of them prints, with the package that is tested here."""
    return printed(checkout / "benchmarks" / f"{script}.py", *arguments)


@pytest.mark.parametrize("path", NETTRACE, ids=lambda path: path.name.partition(".")[0])
def test_the_yardstick_reads_every_header(yardstick: ModuleType, path: Path) -> None:
    """Thread, time, place and size of every event, in file order."""
    data = unpacked(path)
    # It adds steps up without an end; a step back in time is one that wraps at 64 bits.
    found = [
        (row[1], row[2] & M64, *row[4:])
        for name, at, size in yardstick.blocks(data)
        if name == "EventBlock"
        for row in yardstick.scan(data, at, size)
    ]
    ours = []
    stream = Stream(in_time_order=False)
    for rows in (*stream.feed(data), *stream.close()):
        columns = rows.thread_ids, rows.ticks, rows.offsets, rows.sizes
        ours += zip(*(column.tolist() for column in columns), strict=True)
    assert len(found) > 500
    assert found == ours


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Nettrace" + bytes(40), ""),
        (unpacked(FIXTURES / "net8-netperf3.netperf.gz"), "NetTrace 4 only"),
    ],
)
def test_the_yardstick_refuses_other_files(yardstick: ModuleType, data: bytes, said: str) -> None:
    if not said:
        assert list(yardstick.blocks(data)) == []
        return
    with pytest.raises(ValueError, match=said):
        list(yardstick.blocks(data))


@pytest.mark.shared
@pytest.mark.skipif(not (SHARED / "bench").is_dir(), reason=without_shared("its yardstick"))
@pytest.mark.parametrize("path", NETTRACE, ids=lambda path: path.name.partition(".")[0])
def test_both_yardsticks_read_the_same(yardstick: ModuleType, path: Path) -> None:
    other, data = loaded("shared_yardstick", SHARED / "bench" / "pyscan.py"), unpacked(path)
    assert list(yardstick.blocks(data)) == list(other.blocks(data))
    for name, at, size in yardstick.blocks(data):
        if name == "EventBlock":
            assert yardstick.scan(data, at, size) == other.scan(data, at, size)


@needs_proc
def test_run_makes_its_own_traces(checkout: Path) -> None:
    """Every stage of every trace; counting gives as many events as the repeated trace has."""
    engine = clrevents.engine()
    more = [] if engine == "compiled" else ["--no-commands"]
    written = checkout / "figures.json"
    out = run(checkout, "run", "--rounds", "1", "--engines", engine, "--size", "100K", "--json", str(written), *more)
    figures = json.loads(written.read_text(encoding="utf-8"))["traces"]
    assert "fixtures, repeated" in out
    commands = loaded("benchmarks_commands", BENCHMARKS / "commands.py")
    tables = re.split(r"\n\n(?=\S+-repeated\.nettrace, [\d.]+ MB, )", out)[1:]
    assert len(tables) == 3
    for table in tables:
        name = table.partition("-repeated")[0]
        repeated = commands.Repeated(unpacked(FIXTURES / f"{name}.nettrace.gz"))
        with clrevents.open(b"".join(repeated.stream(100 << 10))) as trace:
            events = sum(trace.event_counts().values())
        assert events % repeated.events == 0
        rows = re.findall(r"^  (\S.*?) {2,}([\d,]+) +\d+\.\d{4} ", table, re.MULTILINE)
        given = {stage: int(count.replace(",", "")) for stage, count in rows}
        assert len(given) == STAGES
        assert given["count by kind"] == given["typed records, all fields"] == events
        assert min(given.values()) > 0
        written_here = figures[f"{name}-repeated.nettrace"][engine]
        assert written_here["given"] == given
        assert written_here["seconds"].keys() == written_here["peak"].keys() == given.keys()
        if engine == "compiled":
            exits = dict(re.findall(r"^  clrevents (\w+).* (\d)$", table, re.MULTILINE))
            # No fixture has samples, so there is no flame to draw.
            assert exits == {"info": "0", "export": "0", "flame": "1"}


@needs_proc
def test_commands_over_repeated_traces(checkout: Path) -> None:
    """A table for each size, with a line for each command; counting imports fewer of our modules than a report."""
    if clrevents.engine() != "compiled":
        pytest.skip("it measures compiled kernels")
    out = run(checkout, "commands", "--runs", "1", "--sizes", "1K,2M", "--commands", "info,jit")
    assert re.findall(r"^net10-method-interop-repeated.nettrace, ([\d.]+) MB", out, re.MULTILINE) == ["1.3", "2.6"]
    lines = re.findall(r"^  (info|jit) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)$", out, re.MULTILINE)
    assert [name for name, *_ in lines] == ["info", "jit"] * 2
    assert all(int(info[-1]) < int(jit[-1]) for info, jit in zip(lines[::2], lines[1::2], strict=True))


def test_two_checkouts_are_compared_in_turns(checkout: Path, tmp_path: Path) -> None:
    """The same one twice: a line for each stage that is asked for, and who was measured when."""
    if clrevents.engine() != "compiled":
        pytest.skip("it compares compiled kernels")
    (checkout / "src").symlink_to(ROOT / "src")
    times = tmp_path / "times.json"
    chosen = ["--stages", "count,one rare", "--pairs", "2", "--json", str(times)]
    out = run(checkout, "pairs", str(checkout), str(checkout), *chosen)
    print(out)
    rows = re.findall(
        r"^  (\S.*?) {2,}(\d\.\d{4}) +(\d\.\d{4}) +(\d+\.\d{3}) +(\d+\.\d{3}) – (\d+\.\d{3})", out, re.MULTILINE
    )
    found = json.loads(times.read_text(encoding="utf-8"))
    assert [row[0] for row in rows] == list(found) == ["count by kind", "one rare event: ProcessInfo"]
    turns = ["before", "after", "after", "before"]
    for row, one in zip(rows, found.values(), strict=True):
        assert [name for name, _ in one] == turns
        assert float(row[4]) <= float(row[3]) <= float(row[5])
        assert float(row[1]) == pytest.approx(sum(took for name, took in one if name == "before") / 2, abs=1e-4)
