"""What many traces cost through `open_many`, against asking each of them alone: processor time, memory, and answers.

    python benchmarks/fleet.py [--traces 1000] [--jobs 2] [--runs 1] [--recorded] [--no-check] [QUESTION …]

Makes a folder of small traces, most of them built (7 kB); with `--recorded` all are windows of fixtures with their
rundown (300 kB on average). Some are damaged, some empty, one is none. Questions are `overview`, `counts`, `table`,
`table_parts`, `headers`, `query`, `reports` (all at once) and the reports' names; without any it asks all of them.

Each figure comes from a process of its own: `alone` opens one trace after the other, `at once` does so in as many
independent processes as `open_many` has, each with its share of the traces: what the machine makes of that, whose
processors may share a core. `together` is `open_many` with the start of its processes, with its ratios to both;
`again` is the same question of the same `Traces`, and the memory is that of the largest process. Imports of the
asking process do not count. Divided by the cores, processor time is what a machine takes that does nothing else; the
clock is printed, too. With several runs, which take turns, figures are their medians. Answers are compared row by row.
Linux only.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
for place in (ROOT / "src", ROOT / "tests" / "support", ROOT / "tests" / "support" / "built"):
    sys.path.insert(0, os.fspath(place))

import clrevents  # noqa: E402
from clrevents import Trace, Traces  # noqa: E402
from clrevents.analysis.framework.model.answer import Answer  # noqa: E402
from clrevents.analysis.framework.run.asking import find_report  # noqa: E402
from clrevents.analysis.framework.run.listing import report_names  # noqa: E402
from clrevents.fleet import FleetAnswer  # noqa: E402
from clrevents.fleet.questions import facts_of  # noqa: E402
from clrevents.table.table import row_table  # noqa: E402

EVENT: Final = "MethodLoadVerbose"
SQL: Final = f"count(*) methods, sum(MethodSize) bytes from {EVENT}"
PLAIN: Final = ("overview", "counts", "table", "table_parts", "headers", "query", "reports")
ALLOWED: Final = 1.3
_SUBREAPER: Final = 36


class Rows:
    """A digest of rows by the table that they are in, each table's in the order in which they came."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def add(self, name: str, *rows: Any) -> None:
        held = self._of.setdefault(name, hashlib.sha256())
        for row in rows:
            held.update(repr(row).encode())

    def text(self) -> str:
        return json.dumps({name: held.hexdigest() for name, held in sorted(self._of.items())})


def alone(question: str) -> Callable[[Trace], Any]:
    """The question for one trace."""
    if question == "overview":
        return facts_of
    if question == "counts":
        return Trace.event_counts
    if question in ("table", "table_parts"):
        return lambda trace: trace.table(EVENT)
    if question == "headers":
        return Trace.headers
    if question == "query":
        return lambda trace: trace.query(f"select {SQL}").fetchall()
    names = report_names() if question == "reports" else [question]
    return lambda trace: trace.reports(*names)


def together(question: str, traces: Traces) -> Any:
    """The same for all of them."""
    if question == "overview":
        return traces.overview()
    if question == "counts":
        return traces.event_counts()
    if question == "table":
        return traces.table(EVENT)
    if question == "table_parts":
        return sum(len(table) for table in traces.table_parts(EVENT))
    if question == "headers":
        return traces.headers()
    if question == "query":
        return traces.query(f"select trace, {SQL} group by 1 order by 1").fetchall()
    return traces.reports() if question == "reports" else {question: traces.report(question)}


def digest_alone(question: str, found: Iterator[tuple[str, Any]]) -> str:
    rows = Rows()
    for path, value in found:
        if question == "overview":
            rows.add("", *(list(row.values()) for row in row_table(type(value), [value]).rows()))
        elif question == "counts":
            rows.add("", *([path, k.provider, k.id, k.version, k.name, n] for k, n in value.items()))
        elif question == "query":
            rows.add("", *([path, *row] for row in value if row[0]))
        elif question in PLAIN and question != "reports":
            rows.add("", *([path, *row.values()] for row in value.rows()))
        else:
            for name, answer in value.items():
                _digest_answer(rows, name, path, answer)
    return rows.text()


def _digest_answer(rows: Rows, name: str, path: str, answer: Answer[Any]) -> None:
    rows.add(f"{name} metrics", [path, answer.coverage, *(_number(m.value) for m in answer.metrics.values())])
    rows.add(f"{name} notes", *([path, note.id, note.message] for note in answer.notes))
    for table in answer.tables():
        if not table.bulk:
            held = answer.table(table.name).table.rows()
            rows.add(f"{name} {table.name}", *([path, *row.values()] for row in held))


def digest_together(question: str, found: Any, traces: Traces) -> str:
    rows = Rows()
    if question == "overview":
        rows.add("", *(list(row.values())[1:] for row in found.rows()))
    elif question == "query":
        rows.add("", *map(list, found))
    elif question == "table_parts":
        rows.add("", *(list(row.values()) for table in traces.table_parts(EVENT) for row in table.rows()))
    elif question in PLAIN and question != "reports":
        rows.add("", *(list(row.values()) for row in found.rows()))
    else:
        for name, answer in found.items():
            _digest_fleet(rows, name, answer)
    return rows.text()


def _number(value: Any) -> Any:
    """A rate may be a whole number, and is a float in a column of rates."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest_fleet(rows: Rows, name: str, answer: FleetAnswer) -> None:
    order = ["trace", "coverage", *(m.name for m in find_report(name).metrics)]
    rows.add(f"{name} metrics", *([_number(row[column]) for column in order] for row in answer.by_trace.rows()))
    rows.add(f"{name} notes", *([row["trace"], row["id"], row["message"]] for row in answer.notes.rows()))
    for table, held in answer.tables.items():
        rows.add(f"{name} {table}", *(list(row.values()) for row in held.rows()))


def ask(mode: str, question: str, folder: str, jobs: int, check: bool) -> dict[str, Any]:
    """Runs in a process of its own; what it prints is read by `measured`."""
    warnings.simplefilter("ignore")
    paths = clrevents.open_many(folder).paths
    for name in report_names() if question == "reports" else () if question in PLAIN else (question,):
        find_report(name)
    began, clock = time.process_time(), time.perf_counter()
    said: dict[str, Any] = {"before": began}
    if mode == "alone":
        # Held like the other answers, as far as these are.
        kept = [] if question == "table_parts" else list(_each(paths, question))
        if question == "table_parts":
            for _ in _each(paths, question):
                pass
        said["seconds"], said["clock"] = time.process_time() - began, time.perf_counter() - clock
        said["digest"] = digest_alone(question, kept or _each(paths, question)) if check else ""
        return said
    if mode == "at once":
        for share in range(jobs):
            if os.fork() == 0:
                list(_each(paths[share::jobs], question))
                os._exit(0)
        for _ in range(jobs):
            os.wait()
        said["clock"] = time.perf_counter() - clock
        return said
    with clrevents.open_many(folder, jobs=jobs) as traces:
        if mode == "again":
            together(question, traces)
            began, clock = time.process_time(), time.perf_counter()
        found = together(question, traces)
        said["clock"] = time.perf_counter() - clock
        said["digest"] = digest_together(question, found, traces) if check else ""
    return said


def _each(paths: tuple[str, ...], question: str) -> Iterator[tuple[str, Any]]:
    asked = alone(question)
    for path in paths:
        try:
            with clrevents.open(path, errors="salvage") as trace:
                yield path, asked(trace)
        except clrevents.UnreadableError:
            pass


def measured(mode: str, question: str, folder: Path, jobs: int, check: bool = False) -> dict[str, Any]:
    """One run: processor seconds of all its processes, those of its start left out, and the largest one's MB."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(into, 1)
        asked = [mode, question, str(folder), "--jobs", str(jobs), *(["--check"] if check else [])]
        found = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        # Modules are compiled once, like those of an installed package.
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        os.execve(sys.executable, [sys.executable, __file__, "--ask", *asked], found)
    os.close(into)
    with os.fdopen(out) as lines:
        text = lines.read()
    seconds, most = 0.0, 0
    while True:
        # Also those whose parent is gone: this process adopts them.
        try:
            _, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        if status:
            raise SystemExit(f"{mode} {question} failed")
        seconds += used.ru_utime + used.ru_stime
        most = max(most, used.ru_maxrss)
    said: dict[str, Any] = json.loads(text)
    return {"seconds": seconds - said["before"], **said, "mb": most / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION")
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--folder", type=Path, help="make the traces there, or take those that are there")
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        mode, question, folder = given.questions
        print(json.dumps(ask(mode, question, folder, given.jobs, given.check)))
        return
    questions = given.questions or [*PLAIN, *report_names()]
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as made:
        folder = (given.folder or Path(made)) / "night"
        if not folder.exists():
            from built_fleet import build_fleet

            build_fleet(folder, given.traces, damaged=given.traces // 50, empty=5, recorded=given.recorded)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{len(list(folder.iterdir()))} traces, {size / 1e6:.1f} MB, {given.jobs} processes")
        print(f"load {os.getloadavg()[0]:.1f}; processor seconds, and by the clock in brackets")
        titles = f"{'':<14}{'alone':>16}{'at once':>16}{'together':>16}{'ratios':>12}"
        print(f"{titles}{'again':>8}{'ratio':>7}{'MB':>6}{'MB':>6}")
        for question in questions[:1]:
            measured("together", question, folder, given.jobs)
        for question in questions:
            print_question(question, folder, given.jobs, given.runs, not given.no_check)


def medians(question: str, folder: Path, jobs: int, runs: int) -> dict[str, dict[str, float]]:
    """What each way of asking takes."""
    modes = ("alone", "at once", "together", "again")
    found = [{mode: measured(mode, question, folder, jobs) for mode in modes} for _ in range(runs)]
    return {
        mode: {name: statistics.median(run[mode][name] for run in found) for name in ("seconds", "clock", "mb")}
        for mode in modes
    }


def print_question(question: str, folder: Path, jobs: int, runs: int, check: bool) -> None:
    found = medians(question, folder, jobs, runs)
    one, shares, all = found["alone"], found["at once"], found["together"]
    second = found["again"]["seconds"] - all["seconds"]
    ratio = all["seconds"] / one["seconds"]
    line = f"{question:<14}" + "".join(f"{r['seconds']:>7.2f} ({r['clock']:>6.2f})" for r in (one, shares, all))
    line += f"{ratio:>6.2f}{all['seconds'] / shares['seconds']:>6.2f}"
    line += f"{second:>8.2f}{second / one['seconds']:>7.2f}{one['mb']:>6.0f}{all['mb']:>6.0f}"
    if ratio > ALLOWED:
        line += f"  over {ALLOWED}"
    if check:
        same = measured("alone", question, folder, jobs, True)["digest"]
        line += "  equal" if same == measured("together", question, folder, jobs, True)["digest"] else "  DIFFERENT"
    print(line, flush=True)


if __name__ == "__main__":
    main()
