"""Text leaves by one door for terminals and one for pages, and both escape; nothing else writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

import clrevents
from clrevents._util.words import safe
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.cli.output import Output
from clrevents.decode.kinds import EventKey
from clrevents.export.flame.flame_formats import flame_bytes
from clrevents.export.look import Look
from clrevents.rewrite import redaction_rules
from clrevents.symbols.frame import Frame
from clrevents.testing.builder import TraceBuilder
from house import tree
from product import read_page
from project_files import SOURCE

HOSTILE: Final = "a\x1b]0;t\x07\u202eb\x9b1m\u2066c"
DOORS: Final = {
    "cli/output.py": {"click.echo", "stdout.buffer.write"},
    "cli/__init__.py": {"click.echo"},  # the version
    "cli/collect.py": {"stderr.write"},  # a line of numbers that is written over
    "mcp/bounded_sql.py": {"stdout.write"},  # JSON for the process that asks
    "errors.py": {"print"},  # the dump, in hexadecimal
}
"""Where something is written that people read, and why it may."""


def writes(module: ast.AST) -> Iterator[str]:
    """Calls that write on a terminal, by their last names."""
    for node in ast.walk(module):
        last = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and last in ("print", "echo", "secho", "write", "writelines"):
            name = ast.unparse(node.func)
            if name in ("print", "click.echo", "click.secho"):
                yield name
            elif name.endswith((".write", ".writelines")) and any(w in name for w in ("stdout", "stderr")):
                yield ".".join(name.replace("self.", "").replace("sys.", "").lstrip("_").split("."))


def test_there_is_no_other_door() -> None:
    found = {path.relative_to(SOURCE).as_posix(): set(writes(tree(path))) for path in SOURCE.rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls - DOORS.get(name, set())} == {}


def test_the_door_of_terminals_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    with Output() as out:
        out.line(f"{out.bold('title')} {HOSTILE}")
        out.colour = True
        out.line(f"{out.bold(HOSTILE)} {out.dim('x')}")
    plain, styled, *_ = capsys.readouterr().out.split("\n")
    assert plain == f"title {safe(HOSTILE)}"
    assert styled == f"\x1b[1m{safe(HOSTILE)}\x1b[0m \x1b[2mx\x1b[0m"


@pytest.fixture(scope="module")
def trace() -> Iterator[clrevents.Trace]:
    data = TraceBuilder().method_load(f"N{HOSTILE}", f"M{HOSTILE}", address=0x1000)
    data.sample(0x1000).wait(1_000_000).sample(0x1000).raw(
        f"P{HOSTILE}", 7, payload=b"abc", name=f"E{HOSTILE}"
    ).rundown()
    with clrevents.open(data.build(), errors="salvage") as trace:
        yield trace


def test_texts_of_values_are_safe(trace: clrevents.Trace) -> None:
    texts = [str(Frame(1, module=HOSTILE, display=HOSTILE)), str(EventKey(HOSTILE, 1, 0, HOSTILE))]
    texts += map(str, redaction_rules(trace))
    texts += [str(frame) for event in trace.events() for frame in event.frames]
    assert len(texts) > 3
    assert all(text == safe(text) for text in texts)


def test_folded_lines_and_flame_pages_are_safe(trace: clrevents.Trace) -> None:
    samples = read_samples(trace)
    folded = flame_bytes(samples, "folded", Look()).decode()
    assert "M" in folded
    assert folded == "\n".join(map(safe, folded.split("\n")))
    texts = read_page(flame_bytes(samples, "html", Look(title=HOSTILE)))
    assert any("M" in text for text in texts)
    assert [text for text in texts if text != safe(text)] == []
