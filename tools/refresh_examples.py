"""Runs the examples of pages and writes what they print into the blocks that show it: `refresh_examples.py PAGE…`.

Look at what `git diff` says of them. Which blocks run, and where, is what tests/test_docs.py does.
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
MARK = re.compile(r"<!-- (not run: |run by \.ci/run: )[^\n]* -->\s*\Z")


def refreshed(text: str, folder: Path, environment: dict[str, str]) -> str:
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
        if match["info"] in ("python", "sh") and not MARK.search(text[: match.start()]):
            body = re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
            command = [sys.executable, "-c"] if match["info"] == "python" else ["bash", "-eu", "-c"]
            done = subprocess.run([*command, body], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
            if done.returncode:
                raise SystemExit(f"{body}\n{done.stdout}{done.stderr}")
            printed = done.stdout
        made.append(block)
        last = match.end()
    return "".join([*made, text[last:]])


def main() -> None:
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "fixtures").symlink_to(ROOT / "fixtures")
            command = folder / "bin" / "clrevents"
            command.parent.mkdir()
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clrevents "$@"\n')
            command.chmod(0o755)
            path = os.pathsep.join((str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"]))
            environment = os.environ | {"PATH": path, "PYTHONUTF8": "1", "COLUMNS": "200"}
            page.write_text(refreshed(page.read_text(encoding="utf-8"), folder, environment), encoding="utf-8")


if __name__ == "__main__":
    main()
