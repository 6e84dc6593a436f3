"""The command run in this process, and interpreters as processes of their own that have the package tested here."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from click.testing import CliRunner, Result

from project_files import SOURCE

_APART: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

Run = Callable[..., Result]
"""What the fixture `run` is: `run_command`."""


def run_command(*words: object, **options: Any) -> Result:
    """Run the command in this process; its two outputs stay apart."""
    from clrevents.cli import root

    result = CliRunner(**_APART).invoke(root, [str(word) for word in words], prog_name="clrevents", **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def environment(**more: str) -> dict[str, str]:
    """This process's variables and more, with the package in Python's path."""
    return {**os.environ, "PYTHONPATH": str(SOURCE.parent), **more}


def python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter to its end."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **{"env": environment(), "timeout": 60, **options})


def printed(*arguments: object, **options: Any) -> str:
    """What a fresh interpreter prints that ends well."""
    done = python(*arguments, **{"timeout": 600, **options})
    assert done.returncode == 0, done.stderr
    return done.stdout
