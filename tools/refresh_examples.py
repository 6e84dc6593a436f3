"""Runs the examples of pages and writes what they print into the blocks that show it: `refresh_examples.py PAGE…`.

Look at what `git diff` says of them. tests/test_docs.py runs the same blocks in the same way, and compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!-- ([^\n]*) -->\s*\Z")
"""The comment in front of a block."""


def runs(info: str, mark: str) -> bool:
    """Whether a block is an example, by its info string and the comment in front of it."""
    return info in ("python", "sh") and not mark.startswith(("not run: ", "run by .ci/run: "))


def prepare(folder: Path) -> None:
    """Make a folder as the examples expect it: `fixtures/`, and the command."""
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    command = folder / "bin" / "clrevents"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clrevents "$@"\n')
    command.chmod(0o755)


def run(info: str, body: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example in a prepared folder."""
    path = os.pathsep.join((str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "PYTHONUTF8": "1", "COLUMNS": "200"}
    command = [sys.executable, "-c"] if info == "python" else ["bash", "-eu", "-c"]
    return subprocess.run(
        [*command, body], cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=120
    )


def refreshed(text: str, folder: Path) -> str:
    """The page with what its examples print now."""
    made, last, printed = [], 0, None
    for match in FENCE.finditer(text):
        between = text[last : match.start()]
        made.append(between)
        block = match[0]
        if match["info"] == "text" and printed is not None and not between.strip():
            shown = "".join(f"{match['indent']}{line}".rstrip(" ") for line in printed.splitlines(keepends=True))
            block = f"{match['indent']}```text\n{shown}{match['indent']}```"
        printed = None
        mark = MARK.search(between)
        if runs(match["info"], "" if mark is None else mark[1]):
            body = re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
            done = run(match["info"], body, folder)
            if done.returncode:
                raise SystemExit(f"{body}\n{done.stdout}{done.stderr}")
            printed = done.stdout
        made.append(block)
        last = match.end()
    return "".join([*made, text[last:]])


def main() -> None:
    """Refresh the pages that are named."""
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place))
            page.write_text(refreshed(page.read_text(encoding="utf-8"), Path(place)), encoding="utf-8")


if __name__ == "__main__":
    main()
