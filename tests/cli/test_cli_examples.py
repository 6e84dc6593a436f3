"""Every `clrevents …` line in help, README and docs is one that the command accepts.

Help and pages are read for their examples; each is parsed as the command would, with its columns, sort key and
conditions, and (in the full tier) those of help run on a trace. What blocks of pages print is tested by test_docs.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import pytest

import built_pair
import clrevents
from clrevents.analysis.doctor.rulebook import RULES
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.cli import root
from clrevents.cli.report_many import known_columns
from clrevents.cli.report_rows import check_conditions, chosen_columns, order_of
from command_runs import Run
from project_files import ROOT, fixture

PAGES: Final = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
_FENCED: Final = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE: Final = re.compile(r"(?<!`)`(clrevents [^`]+)`(?!`)")
_HIDDEN: Final = re.compile(r"[…{}]|\[OPTIONS\]|\bREPORT\b|\bCOMMAND\b")
"""In a line that shows a form, and not a command."""
_ENDS: Final = {"|", "||", "&&", ";", ">", ">>", "<", "&", ")"}
_REDIRECTED: Final = re.compile(r"\s2>(&1|\S+)")
_STARTS: Final = {*_ENDS, "!", "("}


class Example(NamedTuple):
    """A command line, without `clrevents`, and where it stands: in a block, or in a sentence."""

    where: str
    args: tuple[str, ...]
    whole: bool


def _words(text: str) -> list[str] | None:
    """A shell's words; None where a quote is still open."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError:
        return None


def _commands(where: str, text: str, whole_lines: bool = True) -> Iterator[Example]:
    """The lines that run clrevents, also behind a pipe or over several lines."""
    whole = ""
    for line in text.splitlines():
        whole = f"{whole}\n{line}" if whole else line.strip()
        if whole.endswith("\\"):
            whole = f"{whole[:-1]} "
            continue
        words = _words(_REDIRECTED.sub("", whole)) if re.search(r"(?:^|[\s/$(])clrevents ", whole) else []
        if words is None:
            continue
        whole = ""
        for place, word in enumerate(words):
            if word == "clrevents" and (not place or words[place - 1] in _STARTS):
                args = words[place + 1 :]
                end = next((n for n, arg in enumerate(args) if arg in _ENDS), len(args))
                yield Example(where, tuple(args[:end]), whole_lines)


def _help_examples(name: str | None) -> list[Example]:
    command = root if name is None else root.get_command(click.Context(root), name)
    assert command is not None
    text = "\n".join(line for line in (command.help or "").splitlines() if line.startswith("  "))
    return list(_commands(f"clrevents {name or ''} --help", text))


def _page_examples(page: Path) -> Iterator[Example]:
    text = page.read_text(encoding="utf-8")
    where = str(page.relative_to(ROOT))
    for kind, block in _FENCED.findall(text):
        if kind == "sh":
            yield from _commands(where, block)
    for line in _INLINE.findall(_FENCED.sub("", text)):
        if not _HIDDEN.search(line):
            yield from _commands(where, " ".join(line.split()), False)


HELPS: Final = [None, *root.list_commands(click.Context(root))]


def wrong(args: tuple[str, ...], whole: bool = True) -> str | None:
    """Why the command refuses this line without having read a trace; None where it does not.

    One that is not `whole` may lack what the command needs: a sentence shows the options that it is about.
    """
    try:
        context = click.Context(root, info_name="clrevents")
        if args in (("--help",), ("--version",)):
            return None
        name, command, rest = root.resolve_command(context, ["4711" if arg == "PID" else arg for arg in args])
        assert command is not None
        if not rest:
            # `clrevents collect` in a sentence is the name of a command.
            return None
        asked = command.make_context(name, rest, parent=context).params
        if name in report_names():
            assert name is not None
            _check_report(name, asked)
    except click.exceptions.Exit:
        return None
    except click.MissingParameter as error:
        return error.format_message() if whole else None
    except click.BadParameter as error:
        # A page's reader has its folders.
        lacking = isinstance(error.param, click.Option) and isinstance(error.param.type, click.Path)
        return None if lacking else error.format_message()
    except click.ClickException as error:
        return error.format_message()
    return None


def _check_report(name: str, asked: dict[str, Any]) -> None:
    declared = find_report(name)
    check_conditions(asked["conditions"], declared)
    many = len(asked["files"]) > 1 or any(re.search(r"\*|/$|\.$", file) for file in asked["files"])
    if many:
        known = known_columns(declared, asked["table"])
    else:
        table = next(t for t in declared.answer.tables() if t.name == (asked["table"] or declared.headline))
        known = list(columns_of(table.row_class))
    if asked["columns"] is not None:
        chosen_columns(known, asked["columns"])
    order_of(known, asked["sort"])


@pytest.mark.parametrize("name", HELPS, ids=str)
def test_examples_in_help_are_accepted(name: str | None) -> None:
    examples = _help_examples(name)
    assert examples, "help shows an example"
    assert {" ".join(e.args): why for e in examples if (why := wrong(e.args))} == {}


def test_examples_in_pages_are_accepted() -> None:
    examples = [example for page in PAGES for example in _page_examples(page)]
    assert len(examples) > 300
    refused = {f"{e.where}: {' '.join(e.args)}": why for e in examples if (why := wrong(e.args, e.whole))}
    assert refused == {}


_NAMED: Final = re.compile(
    r"(?<![\w.-])clrevents( [a-z]+(?: -{1,2}[a-z][\w-]*(?: (?!-)[^\s`.,;:()\[\]…{}]+)?| [A-Z]+\b)*)"
)
"""In a text, with the options and the files that follow; a value ends where a sentence does."""


_NO_COMMANDS: Final = {"had", "with", "app"}
"""In sentences about clrevents itself, and where a file stands alone."""


def _named_in(source: str) -> Iterator[tuple[str, ...]]:
    """The command lines that the texts of a module name: advice, hints, errors."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (tuple(line.split()) for line in _NAMED.findall(" ".join(node.value.split())))


def test_commands_that_texts_of_the_program_name_are_accepted() -> None:
    """Above all the doctor's advice: who follows it must not be refused."""
    named = {
        args: path.name
        for path in sorted((ROOT / "src" / "clrevents").rglob("*.py"))
        for args in _named_in(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 60
    assert ("heap", "NEW", "--against", "OLD") in named
    refused = {" ".join(args): why for args in named if args[0] not in _NO_COMMANDS and (why := wrong(args, False))}
    # What a text puts in later, such as a question to collect for.
    assert {line: why for line, why in refused.items() if "requires an argument" not in why} == {}


@pytest.mark.parametrize("window", [{}, {"start": "100ms", "end": "1s"}], ids=str)
def test_where_the_doctor_says_to_look_is_accepted(window: dict[str, Any], tmp_path: Path) -> None:
    """Every rule's command, whatever the rule found."""
    path = tmp_path / "it's one.nettrace.gz"
    shutil.copy(fixture("net10-convoy"), path)
    with clrevents.open(path) as trace:
        lines = [one.next_command for one in trace.doctor(**window)]
    assert len(lines) == len(RULES)
    for line in lines:
        (_, *args) = shlex.split(line)
        assert str(path) in args
        assert wrong(tuple(args)) is None, line


@pytest.mark.parametrize(
    "line",
    [
        "heap NEW --baseline OLD",
        "gc app.nettrace --tabel collections",
        "gc app.nettrace --table colections",
        "gc app.nettrace --sort paus",
        "gc app.nettrace --columns paus",
        "gc app.nettrace --assert pause_max",
        "gc app.nettrace --assert paus<1ms",
        "gc app.nettrace --assert pause_max<1",
        "gcs app.nettrace",
        "cut app.nettrace --events GC*",
    ],
)
def test_a_wrong_line_is_found(line: str) -> None:
    (example,) = _commands("", f"! clrevents {line.replace('<', chr(92) + '<')} 2>&1 | jq . # as it is")
    assert example.args == tuple(line.split())
    assert wrong(example.args)


TRACES: Final = ("net10-convoy", "net8-method-interop", "net10-servergc", "net8-heap")
"""One of these has the events that an example asks for, or describes none of them."""
LINUX: Final = "app.linux.nettrace"
IMAGINED: Final = {"4711", "RequestStart", "OrderPlaced"}
"""A thread and events that only the readers' programs have."""
EXPANDED: Final = ("traces/", "main/", "branch/")
"""Folders whose patterns a shell expands."""
LIVE: Final = ("collect", "tail", "ps", "mcp")


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in HELPS if name not in LIVE], ids=str)
def test_examples_in_help_run(name: str | None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = [e for e in _help_examples(name) if e.args[0] not in LIVE and not IMAGINED & {*e.args}]
    left = dict.fromkeys(examples, "")
    for trace in TRACES:
        folder = tmp_path / trace
        for place in ("", "night", *EXPANDED):
            (folder / place).mkdir(exist_ok=True)
            for file in ("app", "big", "crashed", "before", "before2", "after", "after2", "sample"):
                shutil.copy(fixture(trace), folder / place / f"{file}.nettrace")
        shutil.copy(fixture("net8-linux"), folder / LINUX)
        monkeypatch.chdir(folder)
        for example in list(left):
            args = ["app.nettrace" if arg == "FILE" else arg for arg in example.args]
            expanded = [
                str(p) for arg in args for p in (sorted(Path().glob(arg)) if arg.startswith(EXPANDED) else [arg])
            ]
            if LINUX in args and "app.nettrace" in args:
                # Of one run.
                for file, made in ((LINUX, built_pair.recorder()), ("app.nettrace", built_pair.runtime())):
                    (folder / file).write_bytes(made.build())
            result = run(*expanded, input=fixture(trace).read_bytes())
            if result.exit_code in (0, 3, 4):
                del left[example]
            else:
                left[example] = result.stderr
    assert {" ".join(example.args): why for example, why in left.items()} == {}
