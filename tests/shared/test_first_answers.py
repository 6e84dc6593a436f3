"""What the doctor says first of services whose requests say where their time went: no false finding."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.shared.samples.leaf_states import at_stops
from report_laws import keeps_rows_apart

pytestmark = needs_shared

CALLING = ("net8-shop-all-1", "net10-two-3", "net10-shop-prod-ids-2", "net10-shop-samples-4", "net11-shop-full-7")


def served(name: str) -> list[dict[str, Any]]:
    """What the service itself measured of each request, in order."""
    with gzip.open(SHARED / "requests" / f"{name}.truth.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if (row.get("side"), row.get("process")) == ("server", "shop")]
    return sorted((row for row in rows if "t0" in row), key=lambda row: row["t0"])


@pytest.mark.parametrize(("name", "numbered"), [("net10-shop-prod-2", 124), ("net10-shop-all-1", 14)])
def test_where_ids_do_not_pair_a_request_ends_by_its_number(name: str, numbered: int) -> None:
    """The service measured from within: a request takes a little longer, as before its code ran."""
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        rows = trace.report("requests").requests
    own: dict[str | None, list[Any]] = defaultdict(list)
    for row in rows:
        if row.side == "server":
            own[row.url_path].append(row)
    more = []
    for truth in served(name):
        row = own[truth["path"].partition("?")[0]].pop(0)
        if row.end_evidence == "number":
            more.append((row.duration_ns - truth["t1"] + truth["t0"]) / 1e6)
    assert not any(own.values())
    assert len(more) == numbered
    assert (min(more) > 0, sorted(more)[len(more) // 2] < 1, max(more) < 25) == (True, True, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "net10-shop-prod-2",
            "25.6 % in GET /block/{n} (100 % unexplained), 21.3 % in GET /burst/{n} (100 % unexplained), "
            "7.10 % in GET /queue/{n} (100 % unexplained)",
        ),
        (
            "net10-shop-prod-ids-2",
            "21.4 % in GET /block/{n} (100 % unexplained), 17.9 % in GET /queue/{n} (57.4 % queued for a connection), "
            "13.1 % in GET /burst/{n} (100 % unexplained)",
        ),
        (
            "net10-shop-all-1",
            "33.0 % in GET /block/{n} (100 % unexplained), 29.5 % in GET /burst/{n} (99.3 % blocking threads)",
        ),
        (
            "net10-two-3",
            "34.7 % in GET /queue/{n} (49.6 % queued for a connection), 16.9 % in GET /retry/{n} (67.3 % awaiting), "
            "14.6 % in GET /fan/{n} (96.2 % waiting for the answer)",
        ),
    ],
)
def test_what_costs_requests_most_is_on_the_first_screen(name: str, said: str) -> None:
    """Which routes these are, as the service measured, and what they were doing, as their names say."""
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        text = trace.doctor("http.unexplained").facts.requests
    by_route: Counter[str] = Counter()
    for row in served(name):
        by_route[re.sub(r"\{.*?\}", "{n}", row.get("route", ""))] += row["t1"] - row["t0"]
    assert text is not None
    assert text.partition(": ")[2] == said
    named = [part.partition(" (")[0] for part in text.split(" in GET ")[1:]]
    assert named == [route for route, _ in by_route.most_common(len(named))]


@pytest.mark.parametrize(
    ("name", "findings"),
    [
        (
            "net10-shop-all-1",
            {
                "http.unexplained": "GET /block/{n}",
                "pool.sync_over_async": "Ops.SyncOverAsync(int)",
                "http.queue": "127.0.0.1:5242",
                "exceptions.unreached": "Ops.BadHost(...)",
            },
        ),
        ("net10-shop-prod-2", {"http.unexplained": "GET /block/{n}"}),
        ("net10-two-3", {"http.queue": "127.0.0.1:5242"}),
    ],
)
def test_what_is_planted_is_found_and_nothing_else(name: str, findings: dict[str, str]) -> None:
    """Sleeping and blocked workers cost most, then one connection for all; locks and commands cost a fiftieth."""
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        assert {one.rule: one.culprit for one in trace.doctor().found} == findings


@pytest.mark.parametrize("name", CALLING)
def test_only_requests_with_one_connection_for_all_wait_for_one(name: str) -> None:
    """The rest is queued while its own connection is made."""
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        rows = trace.report("requests").requests
        diagnosis = trace.doctor("http.queue")
    (queue, _) = {row.place: row for row in diagnosis.evidence}
    waited = [row.row for row in diagnosis.evidence if row.place == queue]
    routes = {rows[rows[row].parent_row].url_path for row in waited if row is not None}
    assert {path.partition("/")[2].partition("/")[0] for path in routes} == {"queue"}


def test_the_host_that_runs_until_the_end_waits_for_nothing() -> None:
    with clrevents.open(SHARED / "requests" / "net11-shop-full-7.nettrace.gz") as trace:
        report = trace.report("waits")
    kinds = {row.method.partition("(")[0].rpartition(".")[2]: row.kind for row in report.methods if row.method}
    assert (kinds["Run"], kinds["TimerLoop"], kinds["CollectWorker"]) == ("idle", "idle", "idle")
    assert report.facts.sync_over_async == "Ops.SyncOverAsync(int)"


@pytest.mark.parametrize(
    ("name", "main"),
    [
        ("real/csc-net10-allocs", "Microsoft.CodeAnalysis.CSharp.CommandLine.Program"),
        ("real/msbuild-net10", "Microsoft.DotNet.Cli.Program"),
        ("scenarios/net10-cpu-11", "Scenarios"),
    ],
)
def test_programs_are_known_by_their_command_lines(name: str, main: str) -> None:
    """Also those whose names and keys are the framework's."""
    with clrevents.open(SHARED / f"{name}.nettrace.gz") as trace:
        report = trace.report("startup")
    found = next(row for row in report.moments if row.moment == "main")
    assert found.what is not None
    assert found.what.rpartition(".Main")[0] == main
    assert report.facts.command_line


def test_a_compiler_spends_its_time_compiling_itself() -> None:
    with clrevents.open(SHARED / "real" / "csc-net10-allocs.nettrace.gz") as trace:
        diagnosis = trace.doctor()
    first, facts = diagnosis.found[0], diagnosis.facts
    assert (first.rule, first.culprit) == ("jit.startup", "Microsoft.CodeAnalysis")
    assert first.title.endswith("in all, thread 10963 compiled for 1.61 s, 18.0 % of the recording")
    assert (facts.time or "").endswith(
        "; times are longer than without recording, by writing 36,293 events per second and stopping threads for "
        "samples for at most 3.15 s"
    )
    assert facts.main == (
        "of its sampled time, below Microsoft.…CommonCompiler.CompileAndEmit: 34.7 % in "
        "Microsoft.…CommonCompiler.RunGenerators (37.7 % compiling), 20.9 % in "
        "Microsoft.…CSharp.CSharpCompilation.CompileMethods (89.7 % waiting), 20.4 % in "
        "System.Threading.Tasks.Task<…>.get_Result (98.0 % waiting), 5.69 % in "
        "Microsoft.…Compilation.SerializeToPeStream (22.4 % compiling)"
    )
    # Workers of the pool that spin, for 2.80 s, wait for work.
    assert facts.ran == "8.74 s of running time, spread over many methods"


def test_a_build_waits_for_the_compilers_process() -> None:
    with clrevents.open(SHARED / "real" / "msbuild-net10.nettrace.gz") as trace:
        diagnosis = trace.doctor("wait.process")
    (first,) = diagnosis.found
    assert first.impact_ns == pytest.approx(4.264e9, rel=1e-3)
    assert (first.culprit or "").startswith("Microsoft.CodeAnalysis.BuildTasks.ManagedCompiler.ExecuteTool(")
    assert (diagnosis.facts.time or "").startswith(
        "6.24 s recorded; of that the main thread waited 5.76 s (92.2 %) for handles in "
        "Microsoft.Build.Execution.BuildSubmission.Execute, 4.26 s of it for another process in "
        "Microsoft.CodeAnalysis.BuildTasks.ManagedCompiler.ExecuteTool"
    )


def test_the_main_thread_of_an_async_main_waits_for_that() -> None:
    with clrevents.open(SHARED / "requests" / "net10-worker-1.nettrace.gz") as trace:
        time = trace.doctor("wait.process").facts.time
    assert time == "1.18 s recorded; of that the main thread waited 567 ms (47.9 %) for its async Main"


@pytest.mark.parametrize("run", ["net11-{}-31", "net10-{}-11", "net8-{}-44"], ids=lambda run: run.partition("-")[0])
@pytest.mark.parametrize(
    ("scenario", "rule", "culprit"),
    [
        ("starvation", "pool.sync_over_async", "Scenarios.SyncOverAsync"),
        ("convoy", "lock.convoy", "Scenarios.Convoy.lambda"),
        ("states", "lock.waited", "Scenarios.States.lambda"),
        ("garbage", "gc.induced", "Scenarios.Garbage"),
    ],
)
def test_the_culprit_of_a_scenario_is_its_own_method(run: str, scenario: str, rule: str, culprit: str) -> None:
    with clrevents.open(SHARED / "scenarios" / f"{run.format(scenario)}.nettrace.gz") as trace:
        (found,) = trace.doctor(rule).found
    assert found.culprit is not None
    assert found.culprit.startswith(culprit)


@pytest.mark.parametrize("name", ["async-runtime-tpl", "async-state-tpl", "async-runtime"])
def test_an_async_main_is_no_sync_over_async(name: str) -> None:
    """.NET 11 blocks for it; what it awaits is the program's."""
    with clrevents.open(SHARED / "net11" / f"{name}.nettrace.gz") as trace:
        waits, tasks = trace.report("waits"), trace.report("tasks")
    assert waits.facts.sync_over_async is tasks.facts.sync_over_async is None
    assert ("AsyncTree.<Main>(string[])", "task") in {(row.method, row.kind) for row in waits.methods}
    assert not any("AsyncHelpers" in row.method for row in [*waits.methods, *tasks.methods] if row.method)


@pytest.mark.parametrize(
    ("name", "count", "text"),
    [
        # A server that is not there, and its name, which nobody knows.
        ("net10-sqlclient", 25, "Resource temporarily unavailable 127.0.0.1:1"),
        ("net10-shop-all-1", 5, "Name or service not known (no-such-host.invalid:80)"),
        # One refusal and two names: fewer than three failed for one reason, but three in all.
        ("net11-shop-async-6", 3, "Name or service not known (no-such-host.invalid:80)"),
        # An answer that ends early has reached its server.
        ("net10-shop-samples-4", None, None),
    ],
)
def test_servers_that_cannot_be_reached(name: str, count: int | None, text: str | None) -> None:
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        found = trace.doctor("exceptions.unreached").found
    said = [(one.impact_count, one.title.rpartition("most often ")[2]) for one in found]
    assert said == ([] if count is None else [(count, repr(text))])


def test_an_unrecorded_database_is_not_clear() -> None:
    """One of these requests sends the same command forty times; nothing of it was recorded."""
    with clrevents.open(SHARED / "requests" / "net10-shop-prod-ids-2.nettrace.gz") as trace:
        told = {one.rule: one.state for one in trace.doctor("db.repeated", "db.slow")}
    assert told == {"db.repeated": "cannot tell", "db.slow": "cannot tell"}


def test_rows_of_a_real_program_stay_apart() -> None:
    """Names of 60 to 200 characters: the compiler's."""
    with clrevents.open(SHARED / "real" / "csc-net10-allocs.nettrace.gz") as trace:
        for name, answer in trace.reports().items():
            keeps_rows_apart(find_report(name), answer)


def test_where_the_sampler_stops_threads_is_said() -> None:
    """The compiler's hottest method copies arrays, because threads can be stopped there."""
    with clrevents.open(SHARED / "real" / "csc-net10-allocs.nettrace.gz") as trace:
        report = trace.report("top")
    names, running = report.methods.column("name").tolist(), report.methods.numbers("running_ns")
    share = running[at_stops(names)].sum() / running.sum()
    (note,) = (note for note in report.notes if note.id == "stop-points")
    assert note.message.startswith("34.5 % of the running time is in short routines at which the sampler stops threads")
    assert round(share, 3) == 0.345
