"""How large the house is, and how much of it one piece of work passes through.

    python tools/house.py [--importers]
    python tools/house.py --since COMMIT LABELS

Counts the files of the package in which at least one function runs for one record with its flags, one report, and one
finding of the doctor (imports are done before); modules and lines of `src/` and `tests/`, of files that git knows;
modules that only one other imports (`--importers` lists them); modules that take wire types apart, which are those that
ask for the class of three or more of them; `Any` in the rooms of answers; and words of docs/hacking.md.

With `--since`: who wrote the lines of `src/` and `tests/` that stand, and who deleted which, of all commits since then.
LABELS is a file with a commit and a label a line, for commits that are counted together; `-` is what was there before,
`?` are commits without a label. Lines that only moved, also between files, and those whose blanks changed stay whose
they were.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import clrevents

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "clrevents"
sys.path.insert(0, str(ROOT / "tests" / "support"))
import house  # noqa: E402
from project_files import fixture  # noqa: E402

WIRE_TYPES = frozenset(
    node.name for node in house.house()["schema.wire"].body if isinstance(node, ast.ClassDef) and node.name != "Wire"
)
ANSWERS = ("analysis", "export", "fleet", "mcp", "cli", "trace")


def record() -> None:
    with clrevents.open(fixture("net8-method-interop")) as trace:
        _ = next(iter(trace.events("ILStubGenerated"))).payload.StubFlags


def report() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        trace.report("locks")


def finding() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        trace.doctor("lock.convoy")


def files_of(work: Callable[[], None]) -> int:
    passed = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(SOURCE)):
            passed.add(code.co_filename)

    work()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(passed)


def lines_of(*patterns: str) -> tuple[int, int]:
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return len(names.split()), sum(len((ROOT / name).read_bytes().splitlines()) for name in names.split())


def importers() -> Counter[str]:
    """How many other modules import each."""
    modules = house.house()
    used: Counter[str] = Counter()
    for name, module in modules.items():
        taken = set()
        for one in house.imports(module):
            target = one.module.removeprefix("clrevents.")
            taken |= {target, *(f"{target}.{inner}" for inner in one.names)}
        used.update(taken & (modules.keys() - {name}))
    return used


def asks_for_classes(module: ast.Module) -> set[str]:
    """The wire types that `isinstance`, a `case` or a table by type names in a module."""
    asked: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked |= {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
            asked.add(node.cls.id)
        if isinstance(node, ast.Dict):
            asked |= {key.id for key in node.keys if isinstance(key, ast.Name)}
    return asked & WIRE_TYPES


class Ledger:
    """Whose every line is, commit by commit."""

    def __init__(self, since: str, labels: dict[str, str]) -> None:
        self.owners: dict[str, list[str]] = {}
        self.deleted: Counter[tuple[str, str, str]] = Counter()
        """By folder, by the label of who deleted them and of whose they were."""
        for name in git("ls-tree", "-r", "--name-only", since, "src", "tests").split("\n"):
            if name.endswith(".py"):
                self.owners[name] = ["-"] * len(git("show", f"{since}:{name}").splitlines())
        for commit in git("rev-list", "--reverse", "--first-parent", f"{since}..HEAD").split():
            self._pass(commit, next((of for start, of in labels.items() if commit.startswith(start)), "?"))

    def _pass(self, commit: str, label: str) -> None:
        changes = [
            line.split("\t") for line in git("diff", "--no-renames", "--name-status", f"{commit}^", commit).splitlines()
        ]
        changes = [
            (kind, name) for kind, name in changes if name.endswith(".py") and name.startswith(("src/", "tests/"))
        ]
        before = {name: self.owners.pop(name, []) for _, name in changes}
        kept: dict[str, set[int]] = {name: set() for name in before}
        for kind, name in changes:
            if kind == "D":
                continue
            owners = self.owners[name] = []
            place = 0
            mine = False
            for line in git(
                "blame", "--line-porcelain", "-w", "-M", "-C", f"{commit}^..{commit}", "--", name
            ).splitlines():
                if match := re.match(r"([0-9a-f]{40}) (\d+) \d+", line):
                    mine, place = match[1] == commit, int(match[2]) - 1
                elif line.startswith("filename "):
                    source = line.removeprefix("filename ")
                    # A line that came twice is new the second time.
                    if mine or place >= len(before.get(source, ())) or place in kept[source]:
                        owners.append(label)
                    else:
                        owners.append(before[source][place])
                        kept[source].add(place)
        for name, owners in before.items():
            gone = (owner for place, owner in enumerate(owners) if place not in kept[name])
            self.deleted.update((name.partition("/")[0], label, owner) for owner in gone)

    def print(self) -> None:
        """`net` adds up to how much a folder grew."""
        standing = Counter((name.partition("/")[0], owner) for name, owners in self.owners.items() for owner in owners)
        for folder in ("src", "tests"):
            gone = {key[1:]: n for key, n in self.deleted.items() if key[0] == folder}
            print(f"{folder}: {sum(n for (where, _), n in standing.items() if where == folder):,} lines")
            print(f"  {'':<8}{'stand':>8}{'deleted of -':>14}{'net':>8}{'of the others':>15}{'deleted by these':>18}")
            for label in sorted({one for where, one in standing if where == folder} - {"-"}):
                stand, before = standing[folder, label], gone.get((label, "-"), 0)
                by = sum(n for (who, owner), n in gone.items() if who == label and owner not in (label, "-"))
                of = sum(n for (who, owner), n in gone.items() if owner == label != who)
                print(f"  {label:<8}{stand:>8,}{before:>14,}{stand - before:>8,}{by:>15,}{of:>18,}")


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, errors="replace"
    ).stdout


def main() -> None:
    if sys.argv[1:2] == ["--since"]:
        labels = [line.split() for line in Path(sys.argv[3]).read_text().splitlines() if line]
        Ledger(sys.argv[2], dict(labels)).print()
        return
    modules = house.house()
    used = importers()
    single = sorted(name for name in modules if used[name] == 1)
    apart = sorted(name for name, module in modules.items() if len(asks_for_classes(module)) >= 3)
    anything = sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for name, module in modules.items()
        if name.split(".")[0] in ANSWERS
        for node in ast.walk(module)
    )
    print(f"files passed: a record {files_of(record)}, a report {files_of(report)}, a finding {files_of(finding)}")
    print("src: {} files, {:,} lines".format(*lines_of("src/*.py", "src/*.pxd", "src/*.c", "src/*.h")))
    print("tests: {} files, {:,} lines".format(*lines_of("tests/*.py")))
    print(f"modules that one other imports: {len(single)}")
    print(f"wire types are taken apart in {len(apart)}: {', '.join(apart)}")
    print(f"Any in the rooms of answers: {anything}")
    print(f"words of hacking.md: {len((ROOT / 'docs/hacking.md').read_text().split())}")
    if "--importers" in sys.argv:
        for name in single:
            print(f"  {len(house_lines(name)):5} {name}")


def house_lines(name: str) -> list[bytes]:
    path = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
    return (path if path.exists() else SOURCE.joinpath(*name.split("."), "__init__.py")).read_bytes().splitlines()


if __name__ == "__main__":
    main()
