"""Plants faults in src/, one line at a time, and says which tier of the tests notices them.

A fault is a comparison that flips, a number off by one, + for −, `and` for `or`, a dropped `not`. They are drawn from a
seed, as many from each room. Works on a copy of the checkout, where a kernel that was changed is built again:

    python tools/mutate.py map  --copy FOLDER              which fast test runs which line, and how long it takes
    python tools/mutate.py run  --copy FOLDER --count 100  plant, run, write FOLDER/faults.jsonl; goes on where it was
    python tools/mutate.py show --copy FOLDER              what the fast tier notices, what the full one, what neither

Of the fast tier those tests run that come by the changed line (by the module, where import runs that line), and where
these pass, all that are about its room: what is cached is mapped for the first test alone. Without a map, which takes
longer than it saves for a few dozen faults, those of the room run at once. A fault that they pass is given to that
room's tests of the full tier. A map needs the package `coverage`; limits are of processor time, so that a busy
machine changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = Path("src") / "clrevents"
KERNELS: Final = (
    "decode/kernels/scan",
    "decode/kernels/walk",
    "decode/kernels/slots",
    "analysis/reports/heap/dominate",
)
LEFT_OUT: Final = (
    "schema/_index.py",
    "analysis/framework/run/_report_index.py",
    "schema/events/",
    "events.py",
    "__init__.py",
    "__main__.py",
)
"""Generated, declarations that are compared with the manifest, and lists of names."""
ROOMS: Final = {
    "_util": ["tests/util", "tests/test_outputs.py", "tests/test_meter.py", "tests/cli"],
    "errors": ["tests/trace", "tests/test_security_docs.py", "tests/cli"],
    "schema": ["tests/schema", "tests/reference", "tests/encode"],
    "sources": ["tests/test_sources.py", "tests/test_remote_sources.py", "tests/trace"],
    "decode/kernels": ["tests/decode/kernels", "tests/decode/payload", "tests/decode/container"],
    "decode/container": ["tests/decode/container", "tests/decode/stream"],
    "decode/stream": ["tests/decode/stream", "tests/decode/container", "tests/cost"],
    "decode/payload": ["tests/decode/payload", "tests/properties"],
    "decode": ["tests/decode", "tests/trace", "tests/cost"],
    "symbols": ["tests/symbols", "tests/cost/test_names_of_code.py", "tests/cost/test_ranges.py"],
    "table": ["tests/table"],
    "trace": ["tests/trace", "tests/symbols", "tests/diagnostics"],
    "analysis/framework": ["tests/analysis/framework", "tests/test_report_docs.py"],
    "analysis/gathering": [
        "tests/analysis/framework/test_distant_times.py",
        *("tests/analysis/test_pairs.py", "tests/analysis/test_spans.py", "tests/analysis/test_calltree.py"),
        *(
            "tests/analysis/gc",
            "tests/analysis/counters",
            "tests/analysis/tasks",
            "tests/analysis/test_compared_stacks.py",
        ),
    ],
    "analysis/shared": [
        *(f"tests/analysis/test_{name}.py" for name in ("samples", "top_report", "event_weights", "weight_fields")),
        *(
            f"tests/analysis/test_{name}.py"
            for name in ("name_patterns", "sample_states", "stack_shapes", "stack_roots")
        ),
        *(f"tests/analysis/{name}" for name in ("alloc", "linux", "gc", "locks", "waits")),
        *(f"tests/analysis/{name}" for name in ("threads", "tasks", "activities", "test_processor_time.py")),
        "tests/symbols/test_async_stacks.py",
    ],
    "analysis/reports": ["tests/analysis"],
    "analysis/compare": ["tests/analysis/compare", "tests/cli/test_cli_compare.py", "tests/cli/test_cli_against.py"],
    "analysis/doctor": ["tests/analysis/doctor", "tests/cli/test_cli_doctor.py"],
    "analysis": ["tests/analysis/test_spans.py", "tests/analysis/test_span_facts.py"],
    "diagnostics": ["tests/diagnostics"],
    "reference": ["tests/reference", "tests/properties"],
    "encode": ["tests/encode"],
    "testing": ["tests/testing", "tests/properties"],
    "rewrite": ["tests/rewrite"],
    "export": ["tests/export", "tests/cli/test_cli_export.py"],
    "fleet": ["tests/fleet"],
    "mcp": ["tests/mcp"],
    "cli": ["tests/cli"],
}
"""Each with the tests that are about it. A report has more: those called like it."""
NO_MAP: Final = (
    "tests/test_architecture.py",
    "tests/test_docs.py",
    "tests/test_api_docs.py",
    "tests/cost/test_worst_finds.py",
)
"""They come by everything, or read the source: none of them is about a line."""
WIDE: Final = ("tests/cli/test_cli_screens.py", "tests/test_report_docs.py", "tests/test_declarations.py")
"""They see much for their time, also what import declares, such as columns, by whose lines no test comes."""
FIRST, REST, FULL = 40, 150, 45
"""Seconds of processor time that each step may take."""
STEPS: Final = ("fast", "room", "full")
"""The fast tests that come by the line, all that are about the room, and those of the full tier that are."""


class Fault(NamedTuple):
    """One change of one line."""

    path: str
    line: int
    column: int
    old: str
    new: str

    @property
    def room(self) -> str:
        inside = self.path.removeprefix(f"{SOURCE}/")
        return next(r for r in sorted(ROOMS, key=len, reverse=True) if inside.startswith((f"{r}/", f"{r}.")))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.old} → {self.new}"


# Faults --------------------------------------------------------------------------------------------------------------

_FLIPPED: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


def faults_of(path: Path, name: str) -> Iterator[Fault]:
    """Every fault that a module could have, in order."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()

    def between(left: ast.AST, right: ast.AST, operator: ast.AST) -> Iterator[Fault]:
        old, new = _FLIPPED.get(type(operator), ("", ""))
        at: Any = left
        to: Any = right
        if old and at.end_lineno == to.lineno and lines[to.lineno - 1].isascii():
            place = lines[to.lineno - 1].find(old, at.end_col_offset, to.col_offset)
            if place >= 0:
                yield Fault(name, to.lineno, place, old, new)

    for node in _code(ast.parse(text)):
        if isinstance(node, ast.Compare):
            for left, operator, right in zip((node.left, *node.comparators), node.ops, node.comparators, strict=False):
                yield from between(left, right, operator)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between(left, right, node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Fault(name, node.lineno, node.col_offset, "not ", "")
        elif isinstance(node, ast.Constant) and lines[node.lineno - 1].isascii():
            written = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
            if isinstance(node.value, bool):
                yield Fault(name, node.lineno, node.col_offset, written, str(not node.value))
            elif isinstance(node.value, int) and written.isdigit():
                yield Fault(name, node.lineno, node.col_offset, written, str(node.value + 1))


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs: no annotation, no decorator, nothing for type checkers alone."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            # `Literal[1]`, `tuple[int, ...]` and the like, and text that is put together.
            if isinstance(node, ast.JoinedStr | ast.TypeAlias if sys.version_info >= (3, 12) else ast.JoinedStr):
                continue
            yield node
            yield from _code(node)


def drawn(checkout: Path, count: int, seed: int) -> list[Fault]:
    """As many from each room as there can be, in an order that chance made."""
    rng = random.Random(seed)
    rooms: dict[str, list[Fault]] = defaultdict(list)
    for path in sorted((checkout / SOURCE).rglob("*.py")):
        inside = str(path.relative_to(checkout / SOURCE))
        if not inside.startswith(LEFT_OUT) and path.name not in LEFT_OUT:
            for fault in faults_of(path, str(path.relative_to(checkout))):
                rooms[fault.room].append(fault)
    for faults in rooms.values():
        rng.shuffle(faults)
    found: list[Fault] = []
    while len(found) < count and any(rooms.values()):
        # A room of many faults has more turns, though not in proportion: reports and decoding are most of the code.
        for room in sorted(rooms):
            for _ in range(3 if room in ("analysis/reports", "analysis/shared") else 1):
                if rooms[room]:
                    found.append(rooms[room].pop())
    found = found[:count]
    rng.shuffle(found)
    return found


# Which test runs which line ------------------------------------------------------------------------------------------

PLUGIN: Final = """
import json, os, coverage
cov = coverage.Coverage(data_file=None, source=["src/clrevents"], config_file=False, messages=False)
spent = {}
def cpu():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system
worker = os.environ.get("PYTEST_XDIST_WORKER", "")
def pytest_configure(config):
    cov.start()
def pytest_runtest_setup(item):
    cov.switch_context(item.nodeid)
    spent[item.nodeid] = cpu()
def pytest_runtest_teardown(item, nextitem):
    spent[item.nodeid] = cpu() - spent[item.nodeid]
failed = set()
def pytest_runtest_logreport(report):
    if report.outcome != "passed":
        failed.add(report.nodeid)
def pytest_sessionfinish(session):
    cov.stop()
    data = cov.get_data()
    sound = {t: s for t, s in spent.items() if t not in failed}
    places = {t: place for place, t in enumerate(sound)}
    lines = {}
    for path in data.measured_files():
        name = os.path.relpath(path)
        lines[name] = {n: [places[t] for t in c if t in places] for n, c in data.contexts_by_lineno(path).items()}
    with open(f"map{worker}.json", "w") as file:
        json.dump({"spent": sound, "lines": lines}, file)
"""


def make_copy(copy: Path) -> None:
    """The tracked files and the kernels that were built for them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    built = [str(p.relative_to(ROOT)) for p in (ROOT / SOURCE).rglob("*.so")]
    for name in [*filter(None, listed.split("\0")), *built]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, copy / name)


def pytest(copy: Path, seconds: float, *arguments: str) -> tuple[str, float]:
    """How a run ended: "passed", "failed" or "time"; and the processor time that it took."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src") + os.pathsep + str(copy)}
    environment.pop("PYTEST_ADDOPTS", None)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))

    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--tb=line", *arguments],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=limit,
    )
    after = os.times()
    took = after.children_user - before.children_user + after.children_system - before.children_system
    (copy / "last.log").write_text(done.stdout)
    if done.returncode in (0, 5):
        return "passed", took
    return ("time" if done.returncode < 0 else "failed"), took


def make_map(copy: Path) -> None:
    make_copy(copy)
    (copy / "line_map.py").write_text(PLUGIN)
    environment = {**os.environ, "PYTHONPATH": str(copy / "src") + os.pathsep + str(copy)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "line_map", "-p", "no:cacheprovider"]
    command += [f"--ignore={name}" for name in NO_MAP]
    sys.exit(subprocess.run(command, cwd=copy, env=environment).returncode)


class LineMap:
    """Which fast test runs which line."""

    def __init__(self, copy: Path) -> None:
        self.spent: dict[str, float] = {}
        self._lines: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.copy = copy
        for path in copy.glob("map*.json"):
            found = json.loads(path.read_text())
            self.spent |= found["spent"]
            tests = [*found["spent"]]
            for name, lines in found["lines"].items():
                for line, places in lines.items():
                    self._lines[name][line] |= {tests[place] for place in places}

    def tests(self, fault: Fault) -> list[str]:
        """Those that come by the line, quick ones first; of a line that import runs those that come by the module."""
        lines = self._lines.get(fault.path, {})
        here = set(lines.get(str(fault.line), ()))
        here = here or {test for tests in lines.values() for test in tests}
        # Nothing but declarations, or no map.
        chosen = here or about(self.copy, fault)
        quick = sorted(chosen, key=lambda t: (not t.startswith(tuple(ROOMS[fault.room])), self.spent.get(t, 0)))
        return [*WIDE, *(test for test in quick if not test.startswith(WIDE))]


# Runs ----------------------------------------------------------------------------------------------------------------


def portions(tests: Iterable[str], spent: dict[str, float]) -> tuple[list[str], list[str]]:
    """What runs first, and what else there is time for."""
    first: list[str] = []
    rest: list[str] = []
    used = 0.0
    if not spent:
        return [], [*tests]
    for test in tests:
        used += spent.get(test, 0) + 0.02
        if used < 5 and len(first) < 40:
            first.append(test)
        elif used < REST * 0.7:
            rest.append(test)
    return first, rest


def about(copy: Path, fault: Fault) -> list[str]:
    """The tests that are about the room, or the report."""
    found = list(ROOMS[fault.room])
    parts = Path(fault.path).parts
    if "reports" in parts:
        name = Path(parts[parts.index("reports") + 1]).stem
        here = [p for p in (copy / "tests").rglob("test_*.py") if name in p.stem.split("_")]
        found = [str(p.relative_to(copy)) for p in here]
        found += [f"tests/analysis/{name}", "tests/analysis/framework/test_report_laws.py"]
    return [name for name in dict.fromkeys(found) if (copy / name).exists()]


def planted(copy: Path, fault: Fault) -> bytes:
    """Change the copy; gives what was there."""
    path = copy / fault.path
    before = path.read_bytes()
    lines = before.decode().splitlines(keepends=True)
    line = lines[fault.line - 1]
    assert line[fault.column :].startswith(fault.old), fault
    lines[fault.line - 1] = line[: fault.column] + fault.new + line[fault.column + len(fault.old) :]
    path.write_text("".join(lines))
    return before


def rebuilt(copy: Path) -> None:
    environment = {**os.environ, "CFLAGS": "-O0"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=copy, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def tried(copy: Path, fault: Fault, lines: LineMap, step: str) -> dict[str, Any]:
    """Plant it, and see whether this tier notices."""
    began = time.monotonic()
    kernel = any(fault.path == f"{SOURCE}/{name}.py" for name in KERNELS)
    before = planted(copy, fault)
    tests = about(copy, fault) if kernel else lines.tests(fault)
    steps = [(part, seconds) for part, seconds in zip(portions(tests, lines.spent), (FIRST, REST), strict=True) if part]
    if step == "room":
        room = about(copy, fault)
        known = sum(took for test, took in lines.spent.items() if test.startswith(tuple(room)))
        steps = [(room, max(REST, int(3 * known)))]
    if step == "full":
        steps = [(["--full", "-m", "full", *about(copy, fault)], FULL)]
    ended, by, took = "passed", "", 0.0
    try:
        if kernel:
            rebuilt(copy)
        for chosen, seconds in steps:
            ended, spent = pytest(copy, seconds, *chosen)
            took += spent
            while ended == "failed" and (name := failed_anyway(copy, fault, before)):
                chosen.append(f"--deselect={name}")
                ended, spent = pytest(copy, seconds, *chosen)
                took += spent
            if ended != "passed":
                break
    finally:
        (copy / fault.path).write_bytes(before)
        if kernel:
            rebuilt(copy)
    # Tests that were not mapped may be longer than their time here; not to have come to their end proves nothing.
    noticed = ended == "failed" or (ended == "time" and step != "full" and bool(lines.spent))
    if noticed:
        said = [line for line in (copy / "last.log").read_text().splitlines() if line.startswith(("FAILED", "ERROR"))]
        by = said[0][:160] if said else "its time"
    elif ended == "time":
        by = "cut short"
    wall = round(time.monotonic() - began, 1)
    return {**fault._asdict(), "step": step, "noticed": noticed, "by": by, "cpu": round(took, 1), "wall": wall}


def failed_anyway(copy: Path, fault: Fault, before: bytes) -> str:
    """The test that failed last, if it fails without the fault too; remembered, for the next faults to be spared it."""
    log = (copy / "last.log").read_text()
    # A test's name may have blanks in it.
    said = [line.removeprefix("FAILED ").partition(" - ")[0] for line in log.splitlines() if line.startswith("FAILED ")]
    known = copy / "sound.json"
    sound: dict[str, bool] = json.loads(known.read_text()) if known.exists() else {}
    for name in said[:1]:
        if name not in sound:
            path = copy / fault.path
            after = path.read_bytes()
            path.write_bytes(before)
            sound[name] = pytest(copy, 60, name)[0] == "passed"
            path.write_bytes(after)
            known.write_text(json.dumps(sound))
            (copy / "last.log").write_text(log)
        return "" if sound[name] else name
    return ""


def run(copy: Path, count: int, seed: int, rooms: Sequence[str]) -> None:
    """The fast tier first, of all faults; then the full one, of those that it passed."""
    lines = LineMap(copy)
    faults = [fault for fault in drawn(copy, count, seed) if fault.room in rooms]
    # Without a map, the fast tests are those of the room.
    for step in STEPS if lines.spent else STEPS[1:]:
        for fault in faults:
            seen = known(copy).get(fault, {})
            if step in seen or any(each["noticed"] for each in seen.values()):
                continue
            found = tried(copy, fault, lines, step)
            with (copy / "faults.jsonl").open("a") as file:
                file.write(json.dumps(found) + "\n")
            print(f"{step}: {'noticed' if found['noticed'] else 'passed':<8}{found['cpu']:>6} s  {fault}", flush=True)
    show(copy)


def known(copy: Path) -> dict[Fault, dict[str, dict[str, Any]]]:
    """What was tried: by fault and tier."""
    log = copy / "faults.jsonl"
    found: dict[Fault, dict[str, dict[str, Any]]] = defaultdict(dict)
    for line in log.read_text().splitlines() if log.exists() else ():
        one = json.loads(line)
        found[Fault(*(one[key] for key in Fault._fields))][one["step"]] = one
    return found


def show(copy: Path) -> None:
    tried = known(copy)
    verdicts: Counter[str] = Counter()
    for fault, steps in tried.items():
        noticed = next((step for step in STEPS if steps.get(step, {}).get("noticed")), "neither")
        noticed = "fast" if noticed == "room" else noticed
        if noticed == "neither" and "full" not in steps:
            noticed = "full tier not tried"
        verdicts[noticed] += 1
        if noticed != "fast":
            print(f"{noticed:<20} {fault} {steps.get('full', {}).get('by', '')}")
    either = verdicts["fast"] + verdicts["full"]
    share = verdicts["fast"] / either if either else 0
    print(f"{len(tried)} faults: {dict(verdicts)}; the fast tier notices {share:.0%} of what either notices")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("map", "run", "show", "list"))
    parser.add_argument("--copy", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument(
        "--rooms", nargs="*", default=[*ROOMS], help="of these rooms only; those of quick tests take least"
    )
    options = parser.parse_args()
    copy = options.copy.resolve()
    match options.what:
        case "map":
            make_map(copy)
        case "run":
            run(copy, options.count, options.seed, options.rooms)
        case "show":
            show(copy)
        case "list":
            print(*drawn(copy, options.count, options.seed), sep="\n")


if __name__ == "__main__":
    main()
