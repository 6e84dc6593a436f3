"""`clrevents export`: what lands where, what is refused, and that nothing half done looks whole."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import clrevents
from arrow_rows import arrow_rows
from clrevents._util import workers
from clrevents.export.files import buffered, directory, lake, tables
from clrevents.table.read import stack_table
from clrevents.testing.builder import TraceBuilder
from command_runs import Run, environment, python

Find = Callable[[str], Path]
RUNTIME = "Microsoft-Windows-DotNETRuntime"


@pytest.fixture
def sample(trace_path: Find) -> Path:
    return trace_path("net8-sample.nettrace")


def tree(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def values(table: Any) -> list[str]:
    """Rows as text, in which not-a-number equals itself."""
    return [repr(row) for row in arrow_rows(table)]


def facts(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "_trace.json").read_text())
    return found


def counted(folder: Path) -> int:
    count: int = facts(folder)["info"]["metrics"]["events"]["value"]
    return count


def test_everything_of_a_trace(run: Run, sample: Path, tmp_path: Path) -> None:
    done = run("export", sample, "-o", tmp_path / "lake", "--fail-on", "loss")
    assert done.exit_code == 0
    folder = tmp_path / "lake" / "net8-sample"
    assert done.stderr.startswith(f"clrevents: {folder}: 15 tables, 1,695 rows, ")
    assert done.stderr.splitlines()[1:] == [
        f"clrevents: {folder}: 1 event is in no table, with no layout or a payload that does not fit it: "
        "Clrevents-Sample/Dyn (1)"
    ]
    with clrevents.open(sample) as trace:
        counts: dict[tuple[str, str], int] = {}
        for key, count in trace.event_counts().items():
            counts[key.provider, key.name] = counts.get((key.provider, key.name), 0) + count
        known = facts(folder)
        assert next(iter(known)) == "schema"
        assert known["schema"] == "clrevents.trace/1"
        assert (counted(folder), known["info"]["metrics"]["lost"]["value"]) == (1696, 0)
        assert [p["kind"] for p in known["problems"]] == ["unknown-event"]
        assert known["source"]["path"] == str(sample)
        assert tree(folder) == sorted(
            ["_headers.parquet", "_stacks.parquet", "_trace.json", *(t["file"] for t in known["tables"])]
        )
        for entry in known["tables"]:
            provider, name = entry["provider"], entry["name"]
            assert entry["file"] == f"{provider}/{name}.parquet"
            table = pq.read_table(folder / entry["file"])
            expected = trace.table(f"{provider}/{name}").to_arrow()
            assert values(table) == values(expected)
            assert table.num_rows == entry["rows"] == counts.pop((provider, name))
            assert table.schema.equals(expected.schema)
            assert table.schema.metadata[b"provider"].decode() == provider
            brief = json.loads(table.schema.metadata[b"trace"])
            assert brief["pointer_size"] == 8
            assert brief["file"] == str(sample)
        left = {(x["provider"], x["name"]): x["events"] for x in known["left_out"]}
        assert left == counts
        assert sum(left.values()) == 1
        assert pq.read_table(folder / "_headers.parquet").equals(trace.headers().to_arrow())
        assert pq.read_table(folder / "_stacks.parquet").equals(stack_table(trace.stacks.arrays).to_arrow())


@pytest.mark.full
def test_many_traces_and_one_question(run: Run, sample: Path, trace_path: Find, tmp_path: Path) -> None:
    """Every trace has the file of every event that was named, with the same columns."""
    shutil.copy(sample, tmp_path)
    other = trace_path("net8-netperf3.netperf")
    lake_path = tmp_path / "lake"
    names = ["GCStart", "GCAllocationTick", "ExceptionThrown"]
    done = run("export", tmp_path / "*.nettrace*", other, "-o", f"{lake_path}/", *names, "--skip-existing")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.endswith(f"{lake_path}: 2 exported, 0 already there, 0 failed\n")
    for trace in ("net8-sample", "net8-netperf3"):
        assert tree(lake_path / trace) == sorted(
            [*(f"{RUNTIME}/{name}.parquet" for name in names), "_headers.parquet", "_stacks.parquet", "_trace.json"]
        )
    schemas = {pq.read_schema(p).remove_metadata() for p in lake_path.glob("*/*/GCStart.parquet")}
    assert len(schemas) == 1
    import duckdb

    question = f"select count(*) from read_parquet('{lake_path}/*/*/GCStart.parquet', filename=true)"
    with clrevents.open(other) as trace:
        assert duckdb.sql(question).fetchall() == [(len(trace.table("GCStart")),)]
    again = run("export", sample, other, "-o", lake_path, *reversed(names), "--skip-existing")
    assert again.stderr.endswith(f"{lake_path}: 0 exported, 2 already there, 0 failed\n")
    more = run("export", sample, other, "-o", lake_path, "GCStart", "--skip-existing")
    assert more.stderr.endswith(f"{lake_path}: 2 exported, 0 already there, 0 failed\n")
    assert tree(lake_path / "net8-sample")[0] == f"{RUNTIME}/GCStart.parquet"


def test_side_by_side(process: Callable[..., Any], sample: Path, trace_path: Find, tmp_path: Path) -> None:
    bad = tmp_path / "bad.nettrace"
    bad.write_bytes(b"no trace")
    files = [sample, bad, trace_path("net8-netperf3.netperf")]
    done = process("export", *files, "-o", tmp_path / "two", "--jobs", "2", "--format", "arrow")
    assert done.returncode == 2
    assert b"2 exported, 0 already there, 1 failed\n" in done.stderr
    assert b"bad.nettrace" in done.stderr
    process("export", *files, "-o", tmp_path / "one", "--format", "arrow")
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    assert {p.name for p in (tmp_path / "two").iterdir()} == {"net8-sample", "net8-netperf3"}


def test_one_bad_trace_does_not_stop_the_rest(run: Run, sample: Path, tmp_path: Path) -> None:
    data = gzip.decompress(sample.read_bytes())
    cut = tmp_path / "cut.nettrace"
    cut.write_bytes(data[: len(data) // 2])
    done = run("export", tmp_path / "missing.nettrace", cut, sample, "-o", tmp_path / "lake")
    assert done.exit_code == 3
    assert "missing.nettrace: cannot be read: No such file" in done.stderr
    assert "the file ends inside" in done.stderr
    assert "2 exported, 0 already there, 1 failed" in done.stderr
    assert facts(tmp_path / "lake" / "cut")["problems"][0]["kind"] == "truncated"
    assert run("export", cut, "-o", tmp_path / "lake", "--fail-on", "none").exit_code == 0
    strict = run("export", cut, "-o", tmp_path / "strict", "--errors", "report")
    assert strict.exit_code == 3
    assert tree(tmp_path / "strict") == []


def test_same_names(run: Run, sample: Path, tmp_path: Path) -> None:
    """Two traces never share a folder, in one command or in two; the same trace has it again."""
    data = {"a": TraceBuilder().sample(1).build(), "b": TraceBuilder().sample(1).sample(2).build()}
    data["c"] = data["a"]
    for folder, content in data.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.nettrace").write_bytes(content)
    files = [tmp_path / folder / "app.nettrace" for folder in data]
    out = tmp_path / "lake"
    assert run("export", *files, files[0], "-o", out).exit_code == 0
    found = {p.name: facts(p)["source"]["path"] for p in out.iterdir()}
    assert len(found) == 3
    assert found["app"] == str(files[0])
    assert sorted(found.values()) == [str(f) for f in files]
    for file in files[::-1]:
        assert run("export", file, "-o", out).exit_code == 0
    assert len(list(out.iterdir())) == 3
    files[0].write_bytes(TraceBuilder().sample(4).sample(5).build())
    assert run("export", files[0], "-o", out, "--skip-existing").exit_code == 0
    assert counted(out / "app") == 2, "a new recording under the old name takes its place"


def test_what_is_no_export_is_left_alone(run: Run, sample: Path, tmp_path: Path) -> None:
    mine = tmp_path / "net8-sample" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert run("export", sample, "-o", tmp_path).exit_code == 0
    assert mine.read_text() == "mine"
    assert tree(mine.parent) == ["mine.txt"]
    (other,) = tmp_path.glob("net8-sample~*")
    assert counted(other) == 1696


def test_odd_names_stay_inside(run: Run, tmp_path: Path) -> None:
    names = ["", "class", "a/b", "..", "../../up", "CON", "con", "Con", "_headers", "x" * 255, "a\\b", "*"]
    builder = TraceBuilder()
    for number, name in enumerate(names):
        for provider in ("My-App", "../evil", "_trace.json"):
            builder.described(provider, name, {"Value": (9, number)}, id=number + 1)
    trace = tmp_path / "odd.nettrace"
    trace.write_bytes(builder.build())
    done = run("export", trace, "-o", tmp_path / "out" / "deep")
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "out" / "deep" / "odd"
    assert {p.name for p in tmp_path.iterdir()} == {"odd.nettrace", "out"}
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"deep"}
    known = facts(folder)["tables"]
    assert len({entry["file"].casefold() for entry in known}) == len(known) == 3 * len(names)
    for entry in known:
        table = pq.read_table(folder / entry["file"])
        wanted = entry["name"] if not entry["name"].startswith("EventID(") else ""
        assert table["Value"].to_pylist() == [names.index(wanted)]


@pytest.mark.parametrize("format", ["parquet", "arrow", "csv", "jsonl"])
def test_formats_of_a_folder(run: Run, sample: Path, tmp_path: Path, format: str) -> None:
    assert run("export", sample, "-o", tmp_path / "out", "--format", format, "AllTypes", "GCStart").exit_code == 0
    assert tree(tmp_path / "out" / "net8-sample") == [
        f"Clrevents-Sample/AllTypes.{format}",
        f"{RUNTIME}/GCStart.{format}",
        f"_headers.{format}",
        f"_stacks.{format}",
        "_trace.json",
    ]


def test_what_is_in_no_table_is_said(run: Run, tmp_path: Path) -> None:
    """Names and numbers, most frequent first; the facts have all of them."""
    builder = TraceBuilder().sample().sample()
    for number in range(10):
        for _ in range(number + 1):
            builder.raw(provider="Own", id=number + 1, name=f"E{number}", payload=b"abc")
    builder.raw(provider=RUNTIME, id=1, version=2, payload=b"xy")
    trace = tmp_path / "own.nettrace"
    trace.write_bytes(builder.build())
    done = run("export", trace, "-o", tmp_path / "lake")
    folder = tmp_path / "lake" / "own"
    named = ", ".join(f"Own/E{n} ({n + 1})" for n in range(9, 1, -1))
    assert done.stderr.splitlines()[1] == (
        f"clrevents: {folder}: 56 events are in no table, with no layout or a payload that does not fit it: "
        f"{named}, 3 more kinds (_trace.json has all)"
    )
    left = {(x["provider"], x["name"]): x["events"] for x in facts(folder)["left_out"]}
    assert left == {**{("Own", f"E{n}"): n + 1 for n in range(10)}, (RUNTIME, "GCStart"): 1}
    one = run("export", trace, "GCStart", "-o", tmp_path / "gc.csv")
    assert one.stderr.splitlines() == [
        f"clrevents: {tmp_path / 'gc.csv'}: 0 events",
        f"clrevents: {tmp_path / 'gc.csv'}: 1 event is in no table, with no layout or a payload that does not "
        "fit it: runtime/GCStart (1)",
    ]
    lines = run("export", trace, "-o", tmp_path / "all.jsonl")
    assert lines.stderr == f"clrevents: {tmp_path / 'all.jsonl'}: 58 events\n"


def test_standard_input(run: Run, sample: Path, tmp_path: Path) -> None:
    data = gzip.decompress(sample.read_bytes())
    assert run("export", "-", "-o", tmp_path / "out", "AllTypes", input=data).exit_code == 0
    assert facts(tmp_path / "out" / "stdin")["source"] == {"path": None, "size": None, "fingerprint": None}
    assert run("export", "-", "-o", tmp_path / "out", "AllTypes", "--skip-existing", input=data).exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["GCStart", "-o", "out"], "no trace given: there is no file 'GCStart'"),
        (["FILE", "-o", "x.csv"], "is a file, which takes one FILE and one NAME"),
        (["FILE", "A", "B", "-o", "x.parquet"], "is a file, which takes one FILE and one NAME"),
        (["FILE", "FILE", "-o", "x.jsonl"], "is a file, which takes one FILE;"),
        (["FILE", "GCStart", "-o", "x.csv", "--format", "arrow"], "does not have a suffix of --format arrow"),
        (["FILE", "-o", "-"], "export writes files"),
        (["FILE", "-o", "x.nettrace.gz"], "export writes no traces; `clrevents cut` and `clrevents redact` write"),
        (["FILE", "GCStort", "-o", "out"], "no event 'GCStort'; did you mean GCStart"),
        (["FILE", "GCStort", "-o", "x.csv"], "no event 'GCStort'"),
        (["FILE", "Nothing*", "-o", "x.csv"], "no event of this trace matches 'Nothing*'"),
        (["FILE", "RequestSt*", "-o", "x.csv"], "means several events"),
        (["FILE"], "Missing option '-o'"),
    ],
)
def test_refused(run: Run, sample: Path, tmp_path: Path, args: list[str], message: str) -> None:
    given = [str(sample) if a == "FILE" else a for a in args]
    at = given.index("-o") + 1 if "-o" in given else 0
    if at and given[at] != "-":
        given[at] = str(tmp_path / given[at])
    done = run("export", *given)
    assert done.exit_code == 1
    assert message in done.stderr
    assert tree(tmp_path) == []


def test_a_name_that_one_trace_knows_is_no_mistake(run: Run, sample: Path, trace_path: Find, tmp_path: Path) -> None:
    other = trace_path("net8-netperf3.netperf")
    assert run("export", sample, other, "-o", tmp_path, "AllTypes").exit_code == 0
    done = run("export", sample, other, "-o", tmp_path, "NoSuch")
    assert done.exit_code == 1
    assert "no event 'NoSuch'" in done.stderr


@pytest.mark.shared
def test_ambiguous_name(run: Run, trace_path: Find, tmp_path: Path) -> None:
    trace = trace_path("net10-web.nettrace")
    done = run("export", trace, "Request/Start", "-o", tmp_path / "x.parquet")
    assert done.exit_code == 1
    assert "System.Net.Http/RequestStart" in done.stderr
    assert run("export", trace, "Request/Start", "-o", tmp_path).exit_code == 0
    assert len(list(tmp_path.glob("*/*/RequestStart.parquet"))) == 3


# What cannot be written


def test_a_folder_is_there_only_when_it_is_whole(
    run: Run, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every state that a killed process could leave: no name ends like a table's, and no facts are there."""
    states = []
    real = buffered.TableFile.finish

    def finish(*args: Any) -> None:
        states.append(tree(tmp_path))
        real(*args)

    monkeypatch.setattr(buffered.TableFile, "finish", finish)
    assert run("export", sample, "-o", tmp_path).exit_code == 0
    assert len(states) > 10
    for state in states:
        assert all(name.endswith((".partial", ".rows")) for name in state), state
        assert all(name.startswith(".net8-sample.partial/") for name in state)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.full
def test_interrupt(command: list[str], sample: Path, tmp_path: Path, jobs: str) -> None:
    files = []
    for n in range(150):
        files.append(tmp_path / f"t{n}.nettrace.gz")
        shutil.copy(sample, files[-1])
    # Between a file's opening and its owner's taking it, an interruption leaves it to the interpreter, which warns.
    quiet = [*command[:1], "-W", "ignore::ResourceWarning", *command[command.index("-m") :]]
    with subprocess.Popen(
        [*quiet, "export", *map(str, files), "-o", str(tmp_path / "out"), "--jobs", jobs],
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as child:
        assert child.stderr is not None
        child.stderr.readline()
        time.sleep(0.05)
        os.killpg(child.pid, signal.SIGINT)
        rest = child.stderr.read()
        assert child.wait(timeout=60) == 130
    assert b"Traceback" not in rest
    for folder in (tmp_path / "out").iterdir():
        assert not folder.name.startswith("."), rest
        assert counted(folder) == 1696
    assert len(list((tmp_path / "out").iterdir())) < 150


def test_the_others_are_told_to_stop(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process of its own does when the first one was interrupted."""
    stop = threading.Event()
    monkeypatch.setattr(workers, "_stop", stop)
    (job,) = lake.jobs([str(sample)], tmp_path, tables.Options())
    assert lake.export_trace(job, progress=workers.give_up_if_told).written is not None
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        lake.export_trace(job, progress=workers.give_up_if_told)
    assert [p.name for p in tmp_path.iterdir()] == ["net8-sample"]


def test_a_fault_of_ours_does_not_stop_the_rest(
    run: Run, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        raise RuntimeError("oops")

    monkeypatch.setattr(lake, "export_directory", broken)
    other = sample.parent / "net8-netperf3.netperf.gz"
    done = run("export", sample, other, "-o", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.count("internal error in clrevents (RuntimeError: oops)") == 2
    monkeypatch.setattr(lake, "export_directory", directory.export_directory)


def test_without_pyarrow(sample: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from clrevents.cli import root\n"
        "sys.exit(root.main(sys.argv[1:], standalone_mode=False))"
    )

    def export(*args: object) -> subprocess.CompletedProcess[str]:
        return python("-c", code, "export", sample, "AllTypes", *args)

    done = export("-o", tmp_path / "x.parquet")
    assert done.returncode == 1
    assert "a Parquet file needs pyarrow: pip install 'clrevents[arrow]'" in done.stderr
    assert export("-o", tmp_path / "out").returncode == 1
    assert tree(tmp_path) == []
    assert export("-o", tmp_path / "x.csv").returncode == 0
    assert export("-o", tmp_path / "y", "--format", "jsonl").returncode == 0


def test_timeline(run: Run, sample: Path, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.pftrace", tmp_path / "a.perfetto-trace.gz"
    done = run("export", sample, "-o", plain)
    assert done.exit_code == 0
    assert done.stderr == f"clrevents: {plain}: 0 samples on 0 threads; open it at https://ui.perfetto.dev\n"
    assert run("export", sample, "-o", packed).exit_code == 0
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    few = tmp_path / "few.pftrace"
    assert run("export", sample, "-o", few, "AllTypes").exit_code == 0
    assert 0 < few.stat().st_size < plain.stat().st_size


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--format", "csv"], "takes one FILE, and no --format"),
        (["b.nettrace"], "takes one FILE, and no --format"),
        (["NoSuchEvent"], "'NoSuchEvent'"),
    ],
)
def test_refused_timelines(run: Run, sample: Path, tmp_path: Path, args: list[str], message: str) -> None:
    out = tmp_path / "a.pftrace"
    done = run("export", sample, "-o", out, *args)
    assert done.exit_code == 1
    assert message in done.stderr
    assert tree(tmp_path) == []
