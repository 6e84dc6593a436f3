"""The command as a process: pipes, signals, terminals, progress, and how fast its help is there."""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import clrevents
from clrevents._util.meter import Meter
from clrevents.cli import root
from clrevents.cli.output import safe
from command_runs import Run, environment, printed, python
from project_files import fixture

Find = Callable[[str], Path]


def test_version_and_help(run: Run, process: Callable[..., Any]) -> None:
    assert run("--version").stdout == f"clrevents {clrevents.__version__}\n"
    assert process("--version").stdout.decode().strip() == f"clrevents {clrevents.__version__}"
    text = run("--help").stdout
    for name in root.list_commands(click.Context(root)):
        assert f"\n  {name} " in text
        help_text = run(name, "--help")
        assert help_text.exit_code == 0
        assert re.search(rf"clrevents {name}\b", help_text.stdout.partition("Usage:")[2].partition("\n")[2]), (
            "an example"
        )
    assert run("unknown").exit_code == 1


def test_a_letter_means_one_thing() -> None:
    """In every command: -n is how many, -p the process that runs, -o where to write."""
    context = click.Context(root)
    meanings: dict[str, set[str | None]] = {}
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        for option in command.params:
            for letter in (
                letter for letter in option.opts if len(letter) == 2 and not getattr(option, "hidden", False)
            ):
                meanings.setdefault(letter, set()).add(option.opts[1] if letter == "-f" else option.metavar)
    assert meanings == {"-n": {"N"}, "-p": {"PID"}, "-o": {"OUT", "FILE"}, "-f": {"--format"}}


def test_help_loads_neither_numpy_nor_construct() -> None:
    code = (
        "import sys; from clrevents.cli import root\n"
        "root.main(['--help'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'construct'} & set(sys.modules)))"
    )
    assert printed("-c", code).splitlines()[-1] == "[]"


def test_a_file_alone_is_said_what_it_is_and_what_to_ask(run: Run, tmp_path: Path) -> None:
    path = fixture("net10-convoy")
    done = run(path)
    known = run("info", path).stdout
    assert done.exit_code == 0
    assert done.stdout.startswith(known)
    asked = done.stdout.removeprefix(known).strip().splitlines()
    assert asked[0] == f"what is wrong?        clrevents doctor {path}"
    assert {line.split("clrevents ")[1].split()[0] for line in asked} <= set(root.list_commands(click.Context(root)))
    missing = run(tmp_path / "no.nettrace")
    assert (missing.exit_code, "no.nettrace: cannot be read: No such file" in missing.stderr) == (2, True)


@pytest.mark.parametrize("args", [["--json"], []])
def test_a_closed_pipe_ends_quietly(args: list[str], command: list[str], trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")
    with subprocess.Popen(
        [*command, "events", str(path), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(command: list[str], trace_path: Find) -> None:
    path = trace_path("net8-sample.nettrace")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*command, "events", str(path)], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == b"clrevents: cannot write: No space left on device\n"


def test_interrupt_gives_130(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(clrevents, "open", interrupted)
    result = run("info", tmp_path / "a.nettrace")
    assert result.exit_code == 130
    assert result.stderr.strip() == ""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interrupt_that_python_swallows_ends_it_too() -> None:
    """An exception in the callback of a weak reference, which a collection of garbage runs, is ignored by Python."""
    script = """
import signal, sys, time, weakref
import clrevents
from clrevents.__main__ import main

class Thing:
    pass

def interrupted(*_, **__):
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    time.sleep(30)
    raise ValueError("was not interrupted")

clrevents.open = interrupted
sys.argv[1:] = ["info", "x"]
main()
"""
    done = python("-c", script)
    assert (done.returncode, done.stderr.strip()) == (130, "")


def test_a_fault_of_our_own_is_a_sentence_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: Any, **__: Any) -> None:
        raise KeyError("x")

    monkeypatch.setattr(clrevents, "open", faulty)
    monkeypatch.delenv("CLREVENTS_TRACEBACK", raising=False)
    result = run("info", "a.nettrace")
    assert result.exit_code == 2
    assert "internal error in clrevents (KeyError: 'x')" in result.stderr


def test_a_narrow_terminal_folds(on_terminal: Any, trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")
    code, shown = on_terminal("events", path, "R2RGetEntryPoint", "--limit", "5", columns=60)
    assert code == 0
    plain = shown.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    assert sum("runtime/R2RGetEntryPoint" in line for line in plain) == 5
    words = [line.strip() for line in plain if line.startswith("    ")]
    assert words
    # Only a single field that is longer than the terminal may be.
    assert all(len(line) <= 60 or line.strip().count('="') == 1 for line in plain)
    code, shown = on_terminal("info", path, columns=50)
    assert code == 0
    assert "\x1b[1m" in shown, "headings stand out on a terminal"


def test_nothing_is_coloured_in_a_pipe(process: Callable[..., Any], trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")
    for args in (["info", path], ["check", path], ["events", path, "--limit", 50], ["schema", "MethodLoad"]):
        done = process(*args)
        assert done.returncode == 0
        assert b"\x1b" not in done.stdout
        assert done.stderr == b""


def test_an_output_that_cannot_show_a_character(command: list[str], trace_path: Find) -> None:
    path = trace_path("net8-method-interop.nettrace")
    done = subprocess.run(
        [*command, "events", str(path), "ILStubGenerated"],
        capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"),
        timeout=60,
    )
    assert done.returncode == 0
    assert b"\\u2026 (" in done.stdout


def test_safe() -> None:
    assert safe("plain äöü 漢字 😀 [bold]x[/bold]") == "plain äöü 漢字 😀 [bold]x[/bold]"
    assert safe("\x00\x07\x1b[2J\x7f\x85\x9b") == r"\x00\x07\x1b[2J\x7f\x85\x9b"
    assert safe("a\n\t\rb") == r"a\n\t\rb"
    assert safe("\u2028\u202e\u2066\ufeff\ud83d") == r"\u2028\u202e\u2066\ufeff\ud83d"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_waits_for_a_second_and_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert Meter(io.StringIO(), disturbs=False).hook is None
    assert Meter(_Terminal(), disturbs=True).hook is None
    now = 100.0
    monkeypatch.setattr("clrevents._util.meter.time.monotonic", lambda: now)
    screen = _Terminal()
    meter = Meter(screen, disturbs=False)
    assert meter.hook is not None
    now = 100.9
    meter.hook(1000, 4000)
    assert screen.getvalue() == ""
    now = 101.1
    meter.hook(2000, 4000)
    meter.hook(4000, 4000)
    meter.close()
    assert "reading" in screen.getvalue()
    assert "4.0 kB of 4.0 kB" in screen.getvalue()
