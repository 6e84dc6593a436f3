"""The workflow in docs/compare.md, run as it stands there: red for a change that is slower, green for one that is not.

What it records is a program that a random number makes; `git`, `dotnet` and `dotnet-trace` are stand-ins for the tools
that the workflow calls. `clrevents` is the real one.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from clrevents.testing import builder
from project_files import ROOT

pytestmark = pytest.mark.full

TOOLS = {
    "git": 'echo "$3" > checked-out',
    "dotnet": ":",
    # The next of the recordings that this side has.
    "dotnet-trace": 'mv "$(ls -d recordings/"$(cat checked-out)"/* | head -n 1)" "$5"',
    "clrevents": f'exec "{sys.executable}" -m clrevents "$@"',
}


def steps() -> dict[str, str]:
    """The scripts of its named steps."""
    (workflow,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "compare.md").read_text(), re.DOTALL)
    found = re.findall(r"^ {6}- name: (\w+)\n {8}run: \|\n((?: {10}.*\n)+)", workflow, re.MULTILINE)
    return {name: textwrap.dedent(script) for name, script in found}


def recording(share: float, seed: int) -> bytes:
    """Twelve seconds of a thread that works for this share of them, and a few per cent more or less."""
    chance = random.Random(seed)
    share *= chance.uniform(0.98, 1.02)
    trace = builder.TraceBuilder().thread(7).method_load("Shop.Orders", "Price", address=0x1000)
    for tick in range(12_000):
        trace.at(tick * 1_000_000).sample(0x1010, kind=2 if chance.random() < share else 1)
    return trace.build()


@pytest.mark.parametrize(("share", "code"), [(0.5, 0), (0.65, 4)], ids=["green", "red"])
def test_the_workflow(tmp_path: Path, share: float, code: int) -> None:
    for side, works in (("base", 0.5), ("change", share)):
        folder = tmp_path / "recordings" / ("origin/main" if side == "base" else side)
        folder.mkdir(parents=True)
        for run in range(5):
            (folder / f"{run}.nettrace").write_bytes(recording(works, 10 * run + (side == "base")))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in TOOLS.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_BASE_REF": "main",
        "GITHUB_SHA": "change",
        "GITHUB_STEP_SUMMARY": "summary.md",
    }
    done = {}
    for name, script in steps().items():
        bash = shutil.which("bash")
        assert bash is not None
        # As the runner does it.
        command = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done[name] = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done["Record"].returncode == 0, done["Record"].stderr
    assert done["Compare"].returncode == code, done["Compare"].stderr
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith(
        "**1 method by state with less time: Shop.Orders.Price() " if code else "**no difference is beyond chance"
    ), summary
    assert ("threads.running_total>10%: threads.running_total changed by" in done["Compare"].stderr) == bool(code)
