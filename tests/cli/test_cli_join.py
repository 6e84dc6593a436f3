"""`clrevents join`, and `--with`: two recordings of one run, asked as one."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import clrevents
from built.built_pair import PROCESS, recorder, runtime
from command_runs import Run


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "app.linux.nettrace", tmp_path / "app.nettrace"
    for path, trace in zip(paths, (recorder(), runtime()), strict=True):
        path.write_bytes(trace.build())
    return paths


def test_the_joined_trace_and_with_answer_the_same(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "both.nettrace"
    done = run("join", *pair, "-o", out)
    assert done.exit_code == 0
    assert f"process {PROCESS}: clocks aligned by 27 events, within 4 µs" in done.stderr.replace("4.00", "4")
    for report in ("threads", "waits", "locks"):
        joined, at_once = (
            json.loads(run(report, *asked, "--json").stdout) for asked in ([out], [pair[0], "--with", pair[1]])
        )
        assert joined["question"]["trace"].pop("path") == str(out)
        assert at_once["question"]["trace"].pop("path") == str(pair[0])
        assert joined == at_once
        assert "joined" in {note["id"] for note in joined["notes"]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.linux.nettrace", "app.nettrace", "both.nettrace"]


def test_with_goes_with_the_page(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("report", pair[0], "--with", pair[1], "-o", page).exit_code == 0
    assert "another recording of the same run" in page.read_text()


def test_what_is_not_of_one_run_is_refused(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    linux, other = pair
    out = tmp_path / "both.nettrace"
    for command in (("join", other, linux, "-o", out), ("threads", other, "--with", linux)):
        found = run(*command)
        assert found.exit_code == 1
        assert "only a recording of the Linux recorder" in found.stderr
    assert not out.exists()
    assert run("join", linux, other, "-o", linux).exit_code == 1
    assert run("join", linux, other, "-o", other).exit_code == 1
    assert run("join", linux, tmp_path / "missing", "-o", out).exit_code == 2
    assert clrevents.open(linux).event_counts()


@pytest.mark.full
def test_exports_and_queries_read_both_too(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    linux, other = pair
    # Timelines have the name of their file.
    both = tmp_path / "joined" / linux.name
    both.parent.mkdir()
    assert run("join", linux, other, "-o", both).exit_code == 0
    asked = {"joined": [both], "at once": [linux, "--with", other]}

    count = ["select provider, name, count(*) n from headers group by all order by all", "--json"]
    answers = {how: run("query", *given[:1], *count, *given[1:]).stdout for how, given in asked.items()}
    assert answers["joined"] == answers["at once"]
    assert {"cswitch", "ContentionStart"} <= {json.loads(line)["name"] for line in answers["joined"].splitlines()}

    for name in ("all.jsonl", "both.pftrace"):
        files = [run("export", *given, "-o", tmp_path / f"{len(given)}.{name}") for given in asked.values()]
        assert [done.exit_code for done in files] == [0, 0]
        first, second = ((tmp_path / f"{len(given)}.{name}").read_bytes() for given in asked.values())
        assert first == second

    events = [run("events", *given, "--json").stdout for given in asked.values()]
    assert events[0] == events[1]
    facts = [json.loads(run("info", *given, "--json").stdout) for given in asked.values()]
    assert {key for key in facts[0] if facts[0][key] != facts[1][key]} == {"question"}


def test_an_export_of_both_is_not_one_of_the_file_alone(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    linux, other = pair
    lake, direct = tmp_path / "lake", tmp_path / "direct"
    export = ("export", linux, "-o", lake, "--skip-existing")
    told = [run(*export, *also).stderr for also in ([], ["--with", other], ["--with", other])]
    assert ["already there" in text and "1 already" in text for text in told] == [False, False, True]
    assert run("join", linux, other, "-o", tmp_path / "both.nettrace").exit_code == 0
    assert run("export", tmp_path / "both.nettrace", "-o", direct).exit_code == 0
    joined, at_once = direct / "both", lake / "app.linux"
    tables = sorted(path.relative_to(joined) for path in joined.rglob("*.parquet"))
    assert tables == sorted(path.relative_to(at_once) for path in at_once.rglob("*.parquet"))
    assert len(tables) > 8
    for table in tables:
        first, second = (parquet.read_table(folder / table) for folder in (joined, at_once))
        assert first.equals(second)
    facts = json.loads((at_once / "_trace.json").read_text())
    assert (facts["source"]["path"], facts["with"]["path"]) == (str(linux), str(other))
    assert "already there" not in run(*export).stderr


@pytest.mark.full
def test_with_is_for_one_file(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    linux, other = pair
    for command in (
        ("export", linux, linux, "-o", tmp_path / "lake", "--with", other),
        ("query", linux, linux, "show tables", "--with", other),
        ("info", linux, linux, "--with", other),
    ):
        assert "--with takes one FILE" in run(*command).stderr
    other = other.rename(other.with_suffix(".csv"))
    assert "OUT is the trace itself" in run("export", linux, "--with", other, "-o", other).stderr


def test_damage_of_either_is_told(run: Run, pair: tuple[Path, Path]) -> None:
    for damaged in pair:
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-40])
        found = run("threads", pair[0], "--with", pair[1])
        assert found.exit_code == 3
        assert str(damaged) in found.stderr
        damaged.write_bytes(whole)


def test_a_joined_trace_is_redacted_only_if_both_are(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    plain, out = pair, tmp_path / "both.nettrace.gz"
    secret = tmp_path / "linux.redacted", tmp_path / "other.redacted"
    for path, copy in zip(plain, secret, strict=True):
        assert run("redact", path, "-o", copy).exit_code == 0
    for linux, other in ((plain[0], plain[1]), (secret[0], plain[1]), (plain[0], secret[1]), secret):
        assert run("join", linux, other, "-o", out).exit_code == 0
        with clrevents.open(out) as trace:
            assert trace.redacted == ((linux, other) == secret)
            assert not trace.check().losses_visible
