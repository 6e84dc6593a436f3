"""Many traces give what each of them gives alone, whatever is wrong with some, in processes or in this one."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

import clrevents
import command_runs
from built_fleet import BuiltFleet, build_fleet
from clrevents import AmbiguousEventError, Trace, Traces, TraceWarning, UnknownEventError
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.answer_values import metric_text
from clrevents.decode.payload.column import ColumnType
from clrevents.fleet import side_by_side
from clrevents.fleet.joined import Joined
from clrevents.table.table import Table, TableField
from project_files import FIXTURES, SOURCE, fixture

T = TypeVar("T")
EVENTS = ("MethodLoadVerbose", "sample/ThreadSample", "runtime/MethodUnloadVerbose")
COUNT = 60
READABLE = COUNT - 3


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> BuiltFleet:
    return build_fleet(tmp_path_factory.mktemp("fleet") / "night", COUNT, damaged=5, empty=2)


@pytest.fixture(
    scope="module",
    params=[pytest.param(1, id="here"), pytest.param(2, id="processes", marks=pytest.mark.full)],
)
def traces(request: pytest.FixtureRequest, fleet: BuiltFleet) -> Iterator[Traces]:
    with clrevents.open_many(fleet.folder, jobs=request.param) as opened:
        yield opened


def alone(
    fleet: BuiltFleet, question: Callable[[Trace], T], paths: Sequence[str] | None = None
) -> Iterator[tuple[str, T]]:
    """What each trace says by itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        for path in fleet.readable if paths is None else [path for path in paths if path in fleet.readable]:
            with clrevents.open(path, errors="salvage") as trace:
                yield path, question(trace)


def rows_of(path: str, table: Table) -> list[dict[str, Any]]:
    return [{"trace": path, **row} for row in table.rows()]


def test_which_traces(fleet: BuiltFleet, traces: Traces) -> None:
    assert traces.paths == tuple(fleet.paths)
    assert len(traces) == COUNT
    assert len(fleet.readable) == READABLE


def test_counts(fleet: BuiltFleet, traces: Traces) -> None:
    counts = [
        {"trace": path, "provider": k.provider, "id": k.id, "version": k.version, "name": k.name, "events": n}
        for path, found in alone(fleet, Trace.event_counts)
        for k, n in found.items()
    ]
    assert list(traces.event_counts().rows()) == counts


def test_info(fleet: BuiltFleet, traces: Traces) -> None:
    expected = [(path, *found) for path, found in alone(fleet, lambda t: (t.info.process_id, t.duration_ns, t.lost))]
    found = traces.overview()
    columns = [found[name].tolist() for name in ("trace", "process_id", "duration_ns", "lost")]
    assert list(zip(*columns, strict=True)) == expected
    assert any(lost for *_, lost in expected)


def test_info_of_traces_that_cannot_be_read(traces: Traces, tmp_path: Path) -> None:
    (tmp_path / "none.nettrace").write_bytes(b"no trace")
    with clrevents.open_many(tmp_path) as unreadable:
        found = unreadable.overview()
        assert (len(found), found.columns) == (0, traces.overview().columns)
        assert unreadable.problems["trace"].tolist() == [str(tmp_path / "none.nettrace")]


@pytest.mark.parametrize("event", EVENTS)
def test_tables_of_events(fleet: BuiltFleet, traces: Traces, event: str) -> None:
    expected = [row for path, table in alone(fleet, lambda t: t.table(event)) for row in rows_of(path, table)]
    table = traces.table(event)
    assert list(table.rows()) == expected
    assert [row for part in traces.table_parts(event) for row in part.rows()] == expected
    _, first = next(alone(fleet, lambda t: t.table(event)))
    assert table.fields[1:] == first.fields
    assert expected or event == "runtime/MethodUnloadVerbose"


def test_columns_and_filters(fleet: BuiltFleet, traces: Traces) -> None:
    asked: Any = {"columns": ["MethodName", "time_ns"], "start": "20%", "end": "80%"}
    expected = [
        row
        for path, table in alone(fleet, lambda t: t.table("MethodLoadVerbose", **asked))
        for row in rows_of(path, table)
    ]
    found = traces.table("MethodLoadVerbose", **asked)
    assert found.columns == ["trace", "MethodName", "time_ns"]
    assert list(found.rows()) == expected != []


def test_headers(fleet: BuiltFleet, traces: Traces) -> None:
    expected = [row for path, table in alone(fleet, lambda t: t.headers(thread_id=2)) for row in rows_of(path, table)]
    assert list(traces.headers(thread_id=2).rows()) == expected != []


def test_an_event_that_traces_describe_differently(fleet: BuiltFleet, traces: Traces) -> None:
    """The union of the columns, the wider type, and no row of a trace where a column is of another kind."""
    expected: list[dict[str, Any]] = []
    odd = []
    for path, table in alone(
        fleet, lambda t: t.table("Turn") if "Turn" in {k.name for k in t.event_counts()} else None
    ):
        if table is not None and table.fields[4].type.kind == "string":
            odd.append(path)
        elif table is not None:
            expected += ({"more": None, **row} for row in rows_of(path, table))
    found = traces.table("Turn")
    assert {f.name: str(f.type) for f in found.fields if f.wire} == {
        "number": "int64",
        "text": "string",
        "more": "int32",
    }
    assert list(found.rows()) == [{name: row[name] for name in found.columns} for row in expected]
    assert odd
    assert [p["trace"] for p in traces.problems.rows() if p["kind"] == "columns"] == odd


def test_a_table_has_20_000_columns_at_most() -> None:
    fields = tuple(TableField(str(number), ColumnType("int64")) for number in range(20_001))
    found = [Joined().add("", Table(fields[:count])) for count in (20_000, 20_001)]
    assert [problem and problem.kind for problem in found] == [None, "columns"]


def test_every_report(fleet: BuiltFleet) -> None:
    some = fleet.paths[8:16]
    single = dict(alone(fleet, clrevents.Trace.reports, some))
    with clrevents.open_many(some, jobs=2) as traces:
        found = traces.reports()
    assert tuple(found) == tuple(report_names())
    for name, answer in found.items():
        declared = find_report(name)
        of: dict[str, Answer[Any]] = {path: answers[name] for path, answers in single.items()}
        assert list(answer.traces) == list(of)
        assert answer.by_trace["coverage"].tolist() == [one.coverage for one in of.values()]
        for table in declared.answer.tables():
            if not table.bulk:
                expected = [row for path, one in of.items() for row in rows_of(path, one.table(table.name).table)]
                assert list(answer.table(table.name).rows()) == expected, (name, table.name)
        for metric in declared.metrics:
            values = [one.metrics[metric.name].value for one in of.values()]
            assert answer.by_trace.column(metric.name).tolist() == values
            merged = answer.metrics[metric.name]
            known = [value for value in values if value is not None]
            if metric.merge == "sum" and len(known) == len(values):
                assert merged.value == pytest.approx(sum(known)), metric.name
            elif metric.merge == "max" and known:
                assert merged.value == max(known)
            elif metric.merge == "min" and known:
                assert merged.value == min(known)
            else:
                assert merged.value is None
                assert merged.reason
        notes = [(path, note.id) for path, one in of.items() for note in one.notes]
        assert list(zip(answer.notes["trace"].tolist(), answer.notes["id"].tolist(), strict=True)) == notes
        assert answer.facts["trace"].tolist() == list(of)


def test_one_report_with_what_it_takes(fleet: BuiltFleet, traces: Traces) -> None:
    declared = find_report("top")
    with clrevents.open_many(fleet.readable[:5], jobs=1) as few:
        found = few.report("top", tables=["methods"], start="10%", my_code=True)
    assert list(found.tables) == ["methods"]
    assert found.parameters == declared.parameters(my_code=True)
    for wrong in ({"no_such": 1}, {"tables": ["nothing"]}):
        with pytest.raises((TypeError, KeyError)):
            traces.report("top", **wrong)
    with clrevents.open_many(fleet.readable[:5], jobs=1) as few:
        assert few.report(declared.answer, start="10%", my_code=True).metrics == found.metrics
    with pytest.raises(ValueError, match="no report"):
        traces.report("gcs")


def test_sums_without_some_traces_are_none() -> None:
    with clrevents.open_many([FIXTURES / "net10-garbage.nettrace.gz", FIXTURES / "net8-sample.nettrace.gz"]) as traces:
        found = traces.report("gc").metrics["pause_total"]
    assert (found.value, found.reason) == (None, "1 of 2 traces lack it; the sum of the others is 9.32 ms")


def test_problems(fleet: BuiltFleet, traces: Traces) -> None:
    """Those that each trace lists, and why the others could not be read."""
    listed = [
        {"trace": path, **dataclasses.asdict(problem)}
        for path, found in alone(fleet, lambda t: t.problems)
        for problem in found
    ]
    with clrevents.open_many(fleet.folder, jobs=2) as fresh:
        rows = list(fresh.problems.rows())
    assert [row for row in rows if row["severity"] != "error"] == [
        {name: problem[name] for name in rows[0]} for problem in listed
    ]
    unread = {Path(row["trace"]).name: row["kind"] for row in rows if row["severity"] == "error"}
    assert unread == dict.fromkeys(sorted(fleet.empty | fleet.foreign), "unreadable")
    damaged = {Path(row["trace"]).name for row in rows if row["severity"] == "damage"}
    assert damaged
    assert damaged <= fleet.damaged


def test_damage_ends_a_trace_and_not_the_rest(fleet: BuiltFleet) -> None:
    with clrevents.open_many(fleet.folder, jobs=2, errors="report") as traces:
        found = set(traces.table("ThreadSample")["trace"].tolist())
        errors = {row["trace"]: row for row in traces.problems.rows() if row["severity"] == "error"}
    stopped = [path for path, row in errors.items() if row["kind"] == "damage"]
    assert stopped
    assert {Path(path).name for path in stopped} <= fleet.damaged
    assert not found & set(errors)
    assert all(errors[path]["offset"] > 0 for path in stopped)


@pytest.mark.full
def test_sql(fleet: BuiltFleet, traces: Traces) -> None:
    counted = {path: len(table) for path, table in alone(fleet, lambda t: t.table("MethodLoadVerbose"))}
    sql = "select trace, count(*) from MethodLoadVerbose group by 1 order by 1"
    assert dict(traces.query(sql).fetchall()) == {path: n for path, n in counted.items() if n}
    joined = """
        select count(*), count(distinct s.trace) from "sample/ThreadSample" s
        join frames f on s.trace = f.trace and s.stack_id = f.stack_id where depth = 0
    """
    # Of two samples the damage took the stacks.
    stacks = {path: t.column("stack_id").tolist() for path, t in alone(fleet, lambda t: t.table("sample/ThreadSample"))}
    samples = {path: sum(number > 0 for number in numbers) for path, numbers in stacks.items()}
    assert sum(map(len, stacks.values())) - sum(samples.values()) == 2
    assert traces.query(joined).fetchall() == [(sum(samples.values()), sum(n > 0 for n in samples.values()))]
    assert traces.query("select count(*) from traces").fetchall() == [(READABLE,)]
    assert traces.query("select count(*) from problems where kind = 'unreadable'").fetchall() == [(3,)]
    listed = {row[0]: row[3:] for row in traces.query("show tables").fetchall()}
    assert listed["MethodLoadVerbose"] == (sum(counted.values()), sum(n > 0 for n in counted.values()))
    assert {"traces", "problems", "headers", "frames"} <= set(listed)
    # Known, and in no trace: columns, and no row.
    assert traces.query("select trace, ExceptionType from ExceptionThrown").fetchall() == []
    assert traces.query("select count(*), sum(more) from Turn where number >= 0").fetchall()[0][0] > 1000


@pytest.mark.full
def test_sql_that_reaches_out(traces: Traces, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    for sql in (f"select * from '{tmp_path}/a.csv'", "set temp_directory = 'x'"):
        with pytest.raises(PermissionError):
            traces.query(sql)
    with pytest.raises(UnknownEventError, match="did you mean MethodLoadVerbose"):
        traces.query("select * from MethodLoadVerbos")


def names_of(trace: Trace) -> list[str]:
    return sorted({key.name for key in trace.event_counts()})


def dies_of_one(trace: Trace) -> int:
    """A process that dies with the trace of this process id, as for want of memory."""
    if trace.info.process_id == 1034:
        os._exit(9)
    return trace.info.process_id or 0


def fails_for_one(trace: Trace) -> int:
    if trace.info.process_id == 1034:
        raise ArithmeticError("of this trace only")
    return trace.info.process_id or 0


def test_any_function_can_be_asked(fleet: BuiltFleet, traces: Traces) -> None:
    assert list(traces.each(names_of)) == list(alone(fleet, names_of))


def test_a_function_that_fails_for_one_trace(fleet: BuiltFleet) -> None:
    with clrevents.open_many(fleet.folder, jobs=2) as traces:
        found = dict(traces.each(fails_for_one))
        (row,) = [row for row in traces.problems.rows() if row["kind"] == "internal-error"]
    assert row["message"] == "ArithmeticError: of this trace only"
    assert set(found) == set(fleet.readable) - {row["trace"]}


def test_a_process_that_dies_takes_one_trace_with_it(fleet: BuiltFleet) -> None:
    some = fleet.paths[20:50]
    with clrevents.open_many(some, jobs=2) as traces:
        found = dict(traces.each(dies_of_one))
        (row,) = [row for row in traces.problems.rows() if row["kind"] == "process-died"]
        assert set(found) == set(fleet.readable) & set(some) - {row["trace"]}
        # And those after it are read as before.
        assert list(found) == sorted(found)
        assert len(traces.overview()) == len(found) + 1


def test_what_no_trace_can_answer(traces: Traces) -> None:
    with pytest.raises(UnknownEventError, match="no event 'MethodLoadVerbos'"):
        traces.table("MethodLoadVerbos")
    with pytest.raises(AmbiguousEventError):
        traces.table("*")
    with pytest.raises(KeyError, match="no column 'Name'"):
        traces.table("MethodLoadVerbose", columns=["Name"])
    with pytest.raises(TypeError, match="a list of names"):
        traces.table("MethodLoadVerbose", columns="Name")
    with pytest.raises(TypeError, match="unexpected keyword"):
        traces.headers(thread=3)  # type: ignore[call-arg]


def test_progress_and_close(fleet: BuiltFleet) -> None:
    told: list[tuple[int, int]] = []
    traces = clrevents.open_many(fleet.folder, jobs=2, progress=lambda *numbers: told.append(numbers))
    counts = traces.event_counts()
    assert told == [(n + 1, COUNT) for n in range(COUNT)]
    traces.close()
    assert len(counts) > 150
    with pytest.raises(ValueError, match="closed"):
        traces.event_counts()


def test_an_iterator_that_is_given_up(fleet: BuiltFleet) -> None:
    with clrevents.open_many(fleet.folder, jobs=2) as traces:
        for _path, _names in traces.each(names_of):
            break
        assert len(traces.overview()) == READABLE


def test_few_small_traces_are_read_without_other_processes(fleet: BuiltFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for questions of ours, which cannot end this process."""
    before = set(multiprocessing.active_children())
    with clrevents.open_many(fleet.folder, jobs=1) as traces:
        expected = list(traces.event_counts().rows())
    monkeypatch.setattr(side_by_side, "_HERE", 1000)
    with clrevents.open_many(fleet.folder, jobs=2) as traces:
        assert list(traces.event_counts().rows()) == expected
        assert set(multiprocessing.active_children()) == before
        assert next(traces.each(process_of))[1] != os.getpid()
        # They are there now, and every question is theirs.
        assert list(traces.event_counts().rows()) == expected
    monkeypatch.setattr(side_by_side, "_HERE", 0)
    with clrevents.open_many(fleet.folder, jobs=2) as traces:
        assert list(traces.event_counts().rows()) == expected
        assert len(set(multiprocessing.active_children()) - before) == 2


def process_of(trace: Trace) -> int:
    return os.getpid()


def test_places(fleet: BuiltFleet, tmp_path: Path) -> None:
    one, two = fleet.readable[:2]
    assert clrevents.open_many(one).paths == (one,)
    assert clrevents.open_many([two, Path(one), two]).paths == (two, one)
    assert clrevents.open_many(f"{fleet.folder}/*.gz").paths == tuple(p for p in fleet.paths if p.endswith(".gz"))
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    shutil.copy(one, deep)
    (tmp_path / "a" / "notes.txt").write_text("no trace")
    assert clrevents.open_many(f"{tmp_path}/**/*.nettrace*").paths == (str(deep / Path(one).name),)
    for nothing in (tmp_path / "a", f"{tmp_path}/*.nettrace"):
        with pytest.raises(FileNotFoundError):
            clrevents.open_many(nothing)
    with pytest.raises(TypeError):
        clrevents.open_many([b"bytes"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="jobs"):
        clrevents.open_many(one, jobs=0)
    with clrevents.open_many([one, str(tmp_path / "missing.nettrace")], jobs=1) as traces:
        assert set(traces.event_counts()["trace"].tolist()) == {one}
        (row,) = traces.problems.rows()
    assert (row["kind"], row["severity"]) == ("source", "error")
    assert "No such file" in row["message"]


linux = pytest.mark.skipif(sys.platform != "linux", reason="asks for signals and processes of Linux")

THREAD = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"


def environment(known: bool) -> dict[str, str]:
    left_out = ("OPENBLAS_NUM_THREADS",) if known else ("OPENBLAS_NUM_THREADS", "PYTHONPATH")
    return {name: value for name, value in command_runs.environment().items() if name not in left_out}


def run_script(text: str, folder: Path, known: bool = True) -> tuple[int, str, str]:
    """Exit code, output and errors of a program, in whose paths clrevents is, or is not."""
    script = folder / "script.py"
    script.write_text(text)
    done = command_runs.python(script, timeout=100, cwd=folder, env=environment(known))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("where", ["every process", "this process"])
@pytest.mark.full
def test_a_script_without_a_main_guard_that_asks_what_it_declares(
    fleet: BuiltFleet, tmp_path: Path, where: str
) -> None:
    """Says so, instead of starting processes for ever or calling the traces bad."""
    thread = THREAD if where == "every process" else f"if __name__ == '__main__': {THREAD}"
    code, _, errors = run_script(
        f"""
import clrevents as c
{thread}
def own(trace): return len(trace.event_counts())
list(c.open_many({fleet.readable[:40]!r}, jobs=2).each(own))
""",
        tmp_path,
    )
    assert code == 1
    assert any(line.startswith("RuntimeError") and "pass jobs=1" in line for line in errors.splitlines())


@linux
@pytest.mark.parametrize("known", [True, False], ids=["installed", "found by this script"])
@pytest.mark.full
def test_how_processes_start(fleet: BuiltFleet, tmp_path: Path, known: bool) -> None:
    """Each is a program of its own with this very clrevents, wherever a new interpreter would find
    another or none; what this one does with signals is not theirs to do."""
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(SOURCE.parent)!r})
import clrevents
began = os.getpid()

def asked(trace):
    return clrevents.__file__, os.getppid(), began, signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: print("cleaned up"))
    with clrevents.open_many({fleet.readable[:4]!r}, jobs=2) as traces:
        found = [value for _, value in traces.each(asked)]
    assert {{file for file, *_ in found}} == {{clrevents.__file__}}
    assert {{(term, interrupt) for *_, term, interrupt in found}} == {{(signal.SIG_DFL, signal.SIG_IGN)}}
    print(*{{parent == began != began_there for _, parent, began_there, *_ in found}})
"""
    assert run_script(code, tmp_path, known) == (0, "True\n", "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("thread", ["", THREAD], ids=["alone", "with a thread"])
@pytest.mark.parametrize("known", [True, False], ids=["installed", "found by this script"])
@pytest.mark.full
def test_processes_end_with_the_program_that_asks(fleet: BuiltFleet, tmp_path: Path, thread: str, known: bool) -> None:
    """Also if it was killed: its output ends when nobody holds it any more."""
    script = tmp_path / "script.py"
    script.write_text(f"""
import sys, time
sys.path.insert(0, {str(SOURCE.parent)!r})
import clrevents

def slow(trace):
    time.sleep(0.1)
    return trace.info.process_id

if __name__ == "__main__":
    {thread or "pass"}
    with clrevents.open_many({fleet.readable[:40]!r}, jobs=2) as traces:
        for _ in traces.each(slow):
            print("asked", flush=True)
""")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(known),
        start_new_session=True,
    ) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == b"asked\n"
            program.kill()
            program.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


@linux
@pytest.mark.full
def test_an_interrupt_while_they_are_told_to_end_ends_them(tmp_path: Path) -> None:
    """They have just been started: none of them would hear of it for an hour."""
    code = """
import multiprocessing, signal, time
from functools import partial
from clrevents._util.workers import Workers

if __name__ == "__main__":
    workers = Workers(2, prepare=partial(time.sleep, 3600))
    while len(multiprocessing.active_children()) < 2:
        time.sleep(0.01)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        workers.end(wait=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    assert run_script(code, tmp_path) == (0, "interrupted\n", "")


@linux
@pytest.mark.full
def test_what_processes_start_with(fleet: BuiltFleet, tmp_path: Path) -> None:
    """None starts threads for linear algebra."""
    code = f"""
import os
import clrevents

def asked(trace):
    return os.environ.get("OPENBLAS_NUM_THREADS")

if __name__ == "__main__":
    before = dict(os.environ)
    with clrevents.open_many({fleet.readable[:4]!r}, jobs=2) as traces:
        print({{value for _, value in traces.each(asked)}})
    assert before == dict(os.environ)
"""
    assert run_script(code, tmp_path) == (0, "{'1'}\n", "")


def test_a_first_look_reads_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number:02}<b>.nettrace" for number in range(23)]
    for path in paths:
        path.touch()
    with clrevents.open_many(paths) as traces:
        assert repr(traces) == "<23 traces>"
        page = traces._repr_html_()
    assert page.count("&lt;b&gt;.nettrace") == 20
    assert "<b>23 traces</b>" in page
    assert "and 3 more traces" in page


def test_an_answer_about_many_shows_units_and_has_one_table() -> None:
    with clrevents.open_many([fixture("net10-convoy"), fixture("net8-netperf3")], jobs=1) as traces:
        found = traces.report("top", tables=["methods"])
    assert f"  total: {metric_text(found.metrics['total'])}\n" in repr(found)
    assert " s\n" in repr(found)
    assert found.table() is found.table("methods")


def test_what_is_wrong_in_each_trace_is_one_table() -> None:
    names = [str(FIXTURES / f"net10-{name}.nettrace.gz") for name in ("convoy", "garbage")]
    with clrevents.open_many(names, jobs=1) as traces:
        found = traces.doctor("lock.*", "gc.induced", start="0ms")
        with pytest.raises(ValueError, match=r"did you mean 'gc\.induced'"):
            traces.doctor("gc.inducd")
    rows = [(row["trace"], row["rule"]) for row in found.rows() if row["state"] == "found"]
    assert rows == [(names[0], "lock.convoy"), (names[1], "gc.induced")]
    assert len(found) == 12
