"""README and docs tell the truth: examples run and print what the page says, lists are complete, bytes are there.

Marks in a page: a block behind `<!-- not run: why -->` or `<!-- run by .ci/run: … -->` is not run here; a `text`
block directly behind a `python` or `sh` block is what that prints.
"""

from __future__ import annotations

import ast
import gzip
import re
import struct
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from clrevents import asdict, errors
from clrevents.decode.payload.record_decoder import TextCache, record_decoder
from clrevents.decode.stream.stream import Stream
from house import tree
from project_files import FIXTURES, ROOT, SHARED, SOURCE, tool, without_shared
from tiers import few

PAGES: Final = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES: Final = tool("refresh_examples")
"""Runs the same blocks in the same way, and writes what they print."""
FENCE: Final = EXAMPLES.FENCE


@attrs.frozen
class Block:
    """A fenced block: what stands behind the fence, its text, the comment in front of it, and its place."""

    page: Path
    line: int
    info: str
    body: str
    mark: str
    follows: bool
    """Whether only an empty line stands between this block and the one before."""

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    last = 0
    for match in FENCE.finditer(text):
        between = text[last : match.start()]
        mark = EXAMPLES.MARK.search(between)
        yield Block(
            page,
            text.count("\n", 0, match.start()) + 1,
            match["info"],
            re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE),
            "" if mark is None else mark[1],
            last > 0 and not between.strip(),
        )
        last = match.end()


def _page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


FAST: Final = ("docs/testing.md", "docs/cutting.md")
"""Pages whose examples the fast tier runs; they need no package but ours."""


# Examples


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder as the examples expect it."""
    EXAMPLES.prepare(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "page", few((pytest.param(p, id=_page_name(p)) for p in PAGES), lambda page: _page_name(page) in FAST)
)
def test_examples_run_and_print_what_the_page_says(page: Path, workplace: Path) -> None:
    printed: str | None = None
    for block in _blocks(page):
        if block.info == "text" and block.follows:
            assert printed is not None, f"{block.where}: the block in front of this output did not run"
            assert block.body == printed, block.where
        printed = None
        if not _runs(block):
            continue
        done = EXAMPLES.run(block.info, block.body, workplace)
        assert done.returncode == 0, f"{block.where}\n{done.stdout}{done.stderr}"
        printed = done.stdout


def _runs(block: Block) -> bool:
    runs: bool = EXAMPLES.runs(block.info, block.mark)
    return runs


# Links

URLS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
REPOSITORY: Final = URLS["Repository"]


def _links(page: Path) -> list[str]:
    """Where a page's links and pictures lead, in the text and in lines `[name]: target`."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) + re.findall(r"^\[[^\]]+\]: ([^#\s]+)", text, re.MULTILINE)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in _links(page):
            ours = re.fullmatch(re.escape(REPOSITORY) + "/(?:blob|raw|tree)/main/(.*)", target)
            there = ROOT / ours[1] if ours else page.parent / target
            assert there.exists() or ("://" in target and ours is None), f"{_page_name(page)}: {target}"


def test_what_is_read_elsewhere_has_whole_links() -> None:
    """README.md stands on the package index."""
    assert [target for target in _links(ROOT / "README.md") if not target.startswith("https://")] == []


def test_the_changes_begin_with_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    first = next(re.finditer(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert first[1] == version


def test_links_of_the_readme_have_targets() -> None:
    text = FENCE.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    used = re.findall(r"\[[^\]]*\]\[([^\]]+)\]", re.sub("`[^`]*`", "", text))
    assert len(used) > 8
    assert sorted(set(used)) == re.findall(r"^\[([^\]]+)\]: ", text, re.MULTILINE)


def test_addresses_of_the_project_are_in_its_repository() -> None:
    assert all(url == REPOSITORY or url.startswith(f"{REPOSITORY}/") for url in URLS.values())


# The two commands


def test_ci_runs_what_the_readme_says() -> None:
    commands = [b.body.strip() for b in _blocks(ROOT / "README.md") if b.mark.startswith("run by .ci/run: ")]
    assert len(commands) == 2
    assert not any("\n" in c for c in commands), "each is one command line"
    shown = subprocess.run(["bash", str(ROOT / ".ci" / "run"), "--show"], capture_output=True, text=True, check=True)
    assert shown.stdout.replace(".venv-ci", ".venv").splitlines() == commands


# Problems and errors


def _problem_kinds() -> dict[str, set[str]]:
    """Every kind that the source reports, with the modules that do.

    A kind is the first argument of `Problem(…)`, or of a function that hands its own first parameter on as one.
    """
    makers = {"Problem"}
    while True:
        trees = _trees_that_call(makers)
        functions = [n for t in trees.values() for n in ast.walk(t) if isinstance(n, ast.FunctionDef) and n.args.args]
        found = {
            f.name
            for f in functions
            for call in _calls(f, makers)
            if isinstance(call.args[0], ast.Name) and call.args[0].id == f.args.args[0].arg
        }
        if found <= makers:
            break
        makers |= found
    kinds: dict[str, set[str]] = {}
    for path, module in trees.items():
        for call in _calls(module, makers):
            kind = call.args[0]
            if isinstance(kind, ast.Constant):
                kinds.setdefault(kind.value, set()).add(str(path.relative_to(SOURCE)))
            else:
                assert isinstance(kind, ast.Name), f"{path.name}:{call.lineno}: a problem's kind is written as a text"
    return kinds


def _trees_that_call(names: set[str]) -> dict[Path, ast.Module]:
    """The modules in whose text one of these names is called."""
    called = re.compile(rf"\b(?:{'|'.join(names)})\(")
    return {
        path: tree(path) for path in sorted(SOURCE.rglob("*.py")) if called.search(path.read_text(encoding="utf-8"))
    }


def _calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
            yield node


def _table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    after = dropwhile(lambda line: not line.startswith("|"), section.splitlines())
    lines = list(takewhile(lambda line: line.startswith("|"), after))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_kind_of_problem_is_listed() -> None:
    used = _problem_kinds()
    rows = _table("errors.md", "Kinds of problem")
    listed = [row[0].strip("`") for row in rows]
    missing = {kind: sorted(modules) for kind, modules in used.items() if kind not in listed}
    assert not missing, f"add a row to docs/errors.md, 'Kinds of problem', for each of {missing}"
    stale = sorted(set(listed) - set(used))
    assert not stale, f"docs/errors.md lists kinds that nothing reports (a kind is never renamed): {stale}"
    assert listed == sorted(listed), "the rows are in alphabetical order"


def test_listed_severities_are_those_of_the_source() -> None:
    """Where a kind is made by `Problem(kind, severity, …)` or `damage(kind, …)` in so many words."""
    listed = {row[0].strip("`"): row[1] for row in _table("errors.md", "Kinds of problem")}
    compared = 0
    for path, module in _trees_that_call({"Problem", "damage"}).items():
        for call in _calls(module, {"Problem", "damage"}):
            kind = call.args[0]
            if not isinstance(kind, ast.Constant):
                continue
            assert isinstance(call.func, ast.Name)
            severity = "damage" if call.func.id == "damage" else ast.literal_eval(call.args[1])
            assert listed.get(kind.value, severity) == severity, f"{path.name}:{call.lineno}: {kind.value}"
            compared += 1
    assert compared > 20


def test_every_error_class_is_listed() -> None:
    classes = {n for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, errors.TraceError)}
    assert {row[0].strip("`") for row in _table("errors.md", "Errors")} == classes


def test_every_mode_is_listed() -> None:
    modes = _table("errors.md", "Three severities, three modes")
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert modes
    assert all(f'| `"{mode}"`' in text for mode in errors.ERROR_MODES)


# What is confirmed by real traces


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason=without_shared("traces"))
def test_pairs_without_real_bytes_are_those_that_the_document_lists() -> None:
    unconfirmed = tool("unconfirmed")
    names = ("traces/own", "traces/perfview", "scenarios", "scenarios/lines", "rare", "linux", "net11")
    folders = [SHARED / name for name in names]
    text = unconfirmed.DOCUMENT.read_text(encoding="utf-8")
    current = unconfirmed.document(unconfirmed.seen(folders), text)
    command = "python tools/unconfirmed.py --write " + " ".join(str(f.relative_to(ROOT.parent)) for f in folders)
    assert current == text, f"docs/supported.md is out of date: {command} (with the folders' places)"


# The evidence in docs/errata.md

_SIZES: Final = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i"}
_LINE: Final = re.compile(r"\+(\d+) +((?:[0-9a-f]{2} )+)(…)? *(.+?) (u8|u16|u32|u64|i32|str)(?:\[(\d+)\])? = (.*)")

EVIDENCE: Final = [b for b in _blocks(ROOT / "docs" / "errata.md") if b.info.startswith("bytes ")]


@cache
def _capture(name: str) -> bytes:
    for folder in (FIXTURES, SHARED / "traces" / "own", SHARED / "scenarios", SHARED / "nativeaot"):
        if (folder / name).exists():
            return gzip.decompress((folder / name).read_bytes())
    pytest.skip(without_shared(name))


@cache
def _payloads(name: str) -> dict[int, Any]:
    """The kind of the event whose payload begins at an offset, and how long the payload is."""
    stream = Stream(in_time_order=False)
    found = {}
    for rows in (*stream.feed(_capture(name)), *stream.close()):
        for offset, size, kind in zip(
            rows.offsets.tolist(), rows.sizes.tolist(), rows.kind_indexes.tolist(), strict=True
        ):
            found[offset] = stream.kinds.all[kind], size
    return found


def _read(data: bytes, offset: int, type: str, count: str | None) -> tuple[Any, int]:
    """The value of a type at an offset, and its size."""
    if type == "str":
        end = offset
        while data[end : end + 2] != b"\0\0":
            end += 2
        return data[offset:end].decode("utf-16-le"), end + 2 - offset
    format = struct.Struct(f"<{count or 1}{_SIZES[type]}")
    values = format.unpack_from(data, offset)
    return (list(values) if count else values[0]), format.size


def _written(text: str, type: str, count: str | None) -> Any:
    if type == "str":
        return text.removeprefix('"').removesuffix('"')
    numbers = [int(part, 0) for part in text.split()]
    return numbers if count else numbers[0]


def test_there_is_evidence() -> None:
    assert len(EVIDENCE) > 20


@pytest.mark.parametrize("block", EVIDENCE, ids=lambda b: f"line-{b.line}")
def test_evidence_is_what_the_bytes_say(block: Block) -> None:
    _, name, place, label = block.info.split()
    data, offset = _capture(name), int(place, 0)
    fields = _fields(name, offset, label)
    for line in block.body.splitlines():
        match = _LINE.fullmatch(line)
        assert match is not None, f"{block.where}: {line}"
        at, shown, _, field, type, count, value = match.groups()
        start = offset + int(at)
        assert data[start:].startswith(bytes.fromhex(shown)), f"{block.where}: {line}"
        read, _ = _read(data, start, type, count)
        assert read == _written(value, type, count), f"{block.where}: {line}"
        if fields is not None:
            assert _at(fields, field) == read, f"{block.where}: {line}"


def _at(fields: dict[str, Any], path: str) -> Any:
    """A field by name, `Values[1].Time` for one of a group."""
    found: Any = fields
    for part in re.findall(r"[^.\[\]]+", path):
        found = found[int(part) if isinstance(found, list) else part]
    return found


def _fields(name: str, offset: int, label: str) -> dict[str, Any] | None:
    """What the library makes of the payload at this offset; None where the block shows another reading."""
    if label == "description":
        return None
    assert offset in _payloads(name), f"no event's payload begins at {offset:#x}"
    if label == "misread":
        return None
    kind, size = _payloads(name)[offset]
    assert kind.info is not None
    assert kind.info.record.__name__ == label
    decode = record_decoder(kind.info.layout.bind(8), kind.info.record, TextCache())
    payload, end = decode(_capture(name)[offset : offset + size], 0, size)
    assert end == size
    return asdict(payload)
