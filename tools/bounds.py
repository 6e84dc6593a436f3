"""Removes checks of bounds from decoding, reading and encoding, one at a time, and says whether the fuzzer notices.

    python tools/bounds.py list --copy FOLDER --seed 37 --count 10   which are drawn
    python tools/bounds.py run --copy FOLDER --seed 37 --count 10 --seconds 600 [--family NAME ...] [--seeds DIR ...]

A check is a comparison of order in an `if` that raises, reports or answers with nothing. Removed, it is as if what it
looks for never happened. Works on a copy of the checkout, where kernels are built again; `--seconds` of processor time
at most for each; `--family` and `--seeds` go to tools/fuzz.py.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mutate import KERNELS, ROOT, SOURCE, Fault, make_copy, planted, rebuilt

ROOMS: Final = ("decode", "sources", "table", "encode")
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_REPORTS: Final = re.compile(r"damage|problem|bad|note|refuse|short|misfit|error", re.IGNORECASE)
_NOTHING: Final = (None, False, 0, -1, "")


class Check(NamedTuple):
    """A comparison, where it stands, and what stands there without it."""

    path: str
    line: int
    column: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.old}"


def checks_of(path: Path, name: str) -> Iterator[Check]:
    """The checks of a module, in order."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If) and _refuses(node.body, "kernels" in path.parts):
            for compare, negated in _comparisons(node.test, False):
                written = ast.get_source_segment(text, compare)
                if written is not None and "\n" not in written and text.isascii():
                    # What it assigns stays assigned.
                    new = f"(({written}) or True)" if negated else f"(({written}) and False)"
                    yield Check(name, compare.lineno, compare.col_offset, written, new)


def _comparisons(test: ast.expr, negated: bool) -> Iterator[tuple[ast.Compare, bool]]:
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _comparisons(value, negated)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _comparisons(operand, not negated)
        case ast.Compare(ops=ops) if all(isinstance(op, _ORDER) for op in ops):
            yield test, negated


def _refuses(body: list[ast.stmt], kernel: bool) -> bool:
    match body[-1]:
        case ast.Raise():
            return True
        case ast.Break():
            return kernel
        case ast.Return(value=None | ast.List(elts=[]) | ast.Tuple(elts=[])):
            return True
        case ast.Return(value=ast.Constant(value=value)) if value in _NOTHING:
            return True
        case ast.Return(value=ast.UnaryOp(op=ast.USub())):
            return True
        case last:
            calls = (ast.unparse(node.func) for node in ast.walk(last) if isinstance(node, ast.Call))
            return any(map(_REPORTS.search, calls))


def drawn(checkout: Path, count: int, seed: int) -> tuple[list[Check], int]:
    """So many checks, and of how many."""
    found = []
    for room in ROOMS:
        for path in sorted((checkout / SOURCE / room).rglob("*.py")):
            found += checks_of(path, str(path.relative_to(checkout)))
    found.sort()
    return random.Random(seed).sample(found, min(count, len(found))), len(found)


def found_without(copy: Path, check: Check, seconds: int, arguments: list[str], keep: Path) -> dict[str, Any]:
    """What the fuzzer says of the copy without this check: after so much processor time, in which place of the code."""
    before = planted(copy, Fault(*check))
    kernel = check.path.removeprefix(f"{SOURCE}/").removesuffix(".py") in KERNELS
    try:
        if kernel:
            rebuilt(copy)
        took, code = _fuzzed(copy, seconds, arguments, keep)
    finally:
        (copy / check.path).write_bytes(before)
        if kernel:
            rebuilt(copy)
    places = [path.read_text().partition("\n")[0] for path in sorted(keep.glob("*.txt")) if path.stem != "current"]
    if code == -signal.SIGTERM:
        raise KeyboardInterrupt
    if not places and code not in (0, -signal.SIGXCPU):
        family = (keep / "current.txt").read_text() if (keep / "current.txt").exists() else "the first traces"
        places = [f"{family}: the process ended with {code}"]
    return {**check._asdict(), "seconds": round(took), "found": places[0] if places else ""}


def _fuzzed(copy: Path, seconds: int, arguments: list[str], keep: Path) -> tuple[float, int]:
    keep.mkdir(parents=True)
    command = [sys.executable, "tools/fuzz.py", "--engine", "child", "--first", "--seconds", str(20 * seconds)]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    with (keep / "said").open("w") as said:
        process = subprocess.Popen(
            [*command, "--keep", str(keep), *arguments],
            cwd=copy,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            preexec_fn=limit,
        )
        _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("list", "run"))
    parser.add_argument("--copy", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--seconds", type=int, default=600, help="of processor time for each")
    parser.add_argument("--only", type=int, action="append", help="which of those drawn, from 1 on")
    options, arguments = parser.parse_known_args()
    checks, among = drawn(ROOT, options.count, options.seed)
    print(f"{len(checks)} of {among} checks")
    for number, check in enumerate(checks, 1):
        if options.what == "list":
            print(f"{number:>3} {check}")
        elif not options.only or number in options.only:
            copy = options.copy.resolve() / f"{options.seed}-{number}"
            make_copy(copy)
            keep = options.copy.resolve() / f"found-{options.seed}-{number}-{int(time.time())}"
            one = found_without(copy, check, options.seconds, arguments, keep)
            with (options.copy / "checks.jsonl").open("a") as file:
                file.write(json.dumps(one) + "\n")
            print(f"{number:>3} {one['seconds']:>4} s  {check}: {one['found'] or 'not found'}", flush=True)


if __name__ == "__main__":
    main()
