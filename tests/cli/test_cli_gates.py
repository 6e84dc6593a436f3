"""What leaves the command, and where it goes: no controls, no formulas if asked, nothing over the trace itself."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import TraceHeader
from clrevents.testing.builder import TraceBuilder
from command_runs import Run, environment

EVIL = "\x1b[2J\x9b\u202e"
SHOWN = r"\x1b[2J\x9b\u202e"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "app.nettrace"
    builder = TraceBuilder().method_load("N", "M", address=0x1000).thread(7).sample(0x1010)
    for text in ("=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "plain", "a=b", ""):
        builder.described("App", "Said", {"=Text": (18, text), "Number": (9, -5)})
    path.write_bytes(builder.build())
    return path


# Controls. ---------------------------------------------------------------------------------------------------------


def test_keys_of_a_header_are_made_safe(run: Run, tmp_path: Path) -> None:
    file = io.BytesIO()
    NetTrace6Writer(file, TraceHeader(process_id=42, key_values=((f"Key{EVIL}", f"Value{EVIL}"),))).end()
    path = tmp_path / "keys.nettrace"
    path.write_bytes(file.getvalue())
    result = run("info", path)
    assert result.exit_code == 0
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("Key"))
    assert line.split() == [f"Key{SHOWN}", f"Value{SHOWN}"]


def test_what_python_shows_is_safe() -> None:
    data = TraceBuilder().described("App", f"Ev{EVIL}", {f"F{EVIL}": (9, 1)}).build()
    with clrevents.open(data) as trace:
        (event,) = trace.events()
        (report,) = trace.check().kinds
        with pytest.raises(clrevents.UnknownEventError) as unknown:
            list(trace.events("X\x1b2J\x9b\u202e"))
        texts = {
            "event": repr(event),
            "record": repr(event.payload),
            "trace": repr(trace),
            "summary": trace.summary(),
            "table": repr(trace.table(f"Ev{EVIL}")),
            "key": repr(report),
            "error": str(unknown.value),
        }
    for name in ("event", "summary", "table"):
        assert f"Ev{SHOWN}" in texts[name], name
    assert f"F{SHOWN}=1" in texts["record"]
    assert f"F{SHOWN}: int32" in texts["table"]
    assert [name for name, text in texts.items() if set(EVIL) - set("[2J") & set(text)] == []


def test_problems_and_errors_are_safe_as_text() -> None:
    problem = clrevents.Problem("kind", "damage", f"in {EVIL}")
    error = clrevents.DamageError(f"in {EVIL}", path=f"a{EVIL}", event=EVIL)
    assert str(problem) == f"kind: in {SHOWN}"
    assert str(error) == f"a{SHOWN} event {SHOWN}: in {SHOWN}" or str(error) == f"a{SHOWN}: in {SHOWN}"
    assert error.reason == f"in {EVIL}"


# Formulas. ---------------------------------------------------------------------------------------------------------

PLAIN = ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "plain", "a=b", ""]
GUARDED = ["'=1+1", "'+1", "'-1", "'@A1", "'\t=1", "'\r=1", "plain", "a=b", ""]


def texts(content: str) -> tuple[list[str], list[str], set[str]]:
    """The header, the texts and the numbers of a table as CSV."""
    head, *rows = csv.reader(io.StringIO(content, newline=""))
    return head, [row[head.index("Number") - 1] for row in rows], {row[head.index("Number")] for row in rows}


@pytest.mark.parametrize("single", [True, False])
def test_exported_csv_without_formulas(run: Run, trace: Path, tmp_path: Path, single: bool) -> None:
    for option, expected in (((), PLAIN), (("--spreadsheet",), GUARDED)):
        out = tmp_path / ("said.csv" if single else "out")
        assert run("export", trace, "-o", out, "--format", "csv", "Said", *option).exit_code == 0
        file = out if single else out / "app" / "App" / "Said.csv"
        head, found, numbers = texts(file.read_bytes().decode())
        assert ("'=Text" if option else "=Text") in head
        assert (found, numbers) == (expected, {"-5"})


@pytest.mark.full
def test_answers_in_csv_without_formulas(process: Any, trace: Path) -> None:
    pytest.importorskip("duckdb")
    sql = 'select "=Text", "Number" from Said'
    for option, expected in (((), PLAIN), (("--spreadsheet",), GUARDED)):
        done = process("query", trace, sql, "--csv", *option)
        assert done.returncode == 0, done.stderr
        assert texts(done.stdout.decode())[1:] == (expected, {"-5"})


# SQL. --------------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_sql_changes_no_setting(run: Run, trace: Path) -> None:
    pytest.importorskip("duckdb")
    for sql in ("set threads = 1", "set lock_configuration = false", "set enable_external_access = true"):
        result = run("query", trace, f"{sql}; select 1")
        assert result.exit_code == 1
        assert "the query changes a setting, which requires --files" in result.stderr
    assert run("query", trace, "set threads = 1; select 1", "--files").exit_code == 0


# Over the trace itself. --------------------------------------------------------------------------------------------


def test_no_export_deletes_the_trace_in_its_folder(run: Run, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("export", trace, "-o", out, "--format", "jsonl").exit_code == 0
    inside = out / "app" / "app.nettrace"
    shutil.move(trace, inside)
    before = sorted(out.rglob("*"))
    result = run("export", inside, "-o", out, "--format", "jsonl")
    assert result.exit_code == 2
    assert "holds a trace" in result.stderr
    assert sorted(out.rglob("*")) == before


def test_an_export_again_into_a_linked_folder(run: Run, trace: Path, tmp_path: Path) -> None:
    out, real = tmp_path / "out", tmp_path / "elsewhere"
    assert run("export", trace, "-o", out, "--format", "csv").exit_code == 0
    shutil.move(out / "app", real)
    (out / "app").symlink_to(real)
    (real / "App" / "Said.csv").write_text("old")
    result = run("export", trace, "-o", out, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    assert (out / "app").is_symlink()
    assert (real / "App" / "Said.csv").read_text() != "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["app.nettrace", "elsewhere", "out"]
    assert [p.name for p in out.iterdir()] == ["app"]


# Closed. -----------------------------------------------------------------------------------------------------------


def closed(command: list[str], redirect: str, *args: object) -> tuple[int, str]:
    """Run the command by a shell that closes one of its files: the exit code and what it said."""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirect}', "sh", *command, *map(str, args)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="closes files by a shell")
def test_closed_files(command: list[str], trace: Path, tmp_path: Path) -> None:
    for name in ("info", "events", "check", "top"):
        code, said = closed(command, ">&-", name, trace)
        assert (code, said) == (2, "clrevents: cannot write: standard output is closed\n"), name
    code, said = closed(command, ">&-", "cut", trace, "-o", tmp_path / "cut.nettrace")
    assert code == 0, said
    code, said = closed(command, "2>&-", "info", trace)
    assert code == 0
    code, said = closed(command, "<&-", "info", "-")
    assert code == 1
    assert "standard input is closed" in said
