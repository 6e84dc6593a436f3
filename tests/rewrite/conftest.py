"""What the tests of both commands share: running them in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from clrevents.cli import root


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command; its two outputs stay apart."""
    apart: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

    def run(*args: object) -> Result:
        result = CliRunner(**apart).invoke(root, [str(a) for a in args], prog_name="clrevents")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run
