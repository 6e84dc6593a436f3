"""Programs that were compiled ahead of time: names by the symbols of the very build, against counts made with `nm`."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis.about.describing import about
from clrevents.symbols.aot_names import aot_type

pytestmark = [pytest.mark.full, needs_shared]
pytest.importorskip("elftools")

AOT = SHARED / "nativeaot"
NAMED = ("net10-all", "net10-default", "net11-all", "net11-default")


@pytest.fixture(scope="module")
def symbols(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The symbol files by runtime, each named as publishing names it, in a folder of its own."""
    found = {}
    for runtime in ("net10", "net11"):
        found[runtime] = tmp_path_factory.mktemp(runtime)
        (found[runtime] / "aotshop.dbg").write_bytes(gzip.decompress((AOT / f"shop-{runtime}.dbg.gz").read_bytes()))
    return found


def opened(name: str, symbols: Path | None = None) -> clrevents.Trace:
    return clrevents.open(AOT / f"shop-{name}.nettrace.gz", symbols=() if symbols is None else symbols)


def same(found: Counter[Any], named: dict[str, int]) -> None:
    """The rows that are listed of one count, most frequent first; of those that come last, any may be listed."""
    assert {name: found[name] for name in named} == named
    assert sorted(named.values()) == sorted(n for _, n in found.most_common(len(named)))


@pytest.mark.parametrize("name", NAMED)
def test_methods_and_types_are_those_of_the_symbol_table(name: str, symbols: dict[str, Path]) -> None:
    named = json.loads((AOT / f"shop-{name}.named.json").read_text())
    with opened(name, symbols[name.partition("-")[0]]) as trace:
        main = trace.info.process_id
        inclusive: Counter[str] = Counter()
        for event in trace.events("ThreadSample"):
            if event.thread_id == main:
                inclusive.update({frame.name for frame in event.frames})
        top, threw = trace.report("top", thread_id=main, raw=True, artefacts=True), trace.report("exceptions", raw=True)
        types = trace.report("alloc").types
        assert sum(trace.event_counts().values()) > named["samples"] > named["samples_main_thread"]
        exclusive = Counter({row.name.partition("!")[2]: row.samples for row in top.methods})
        ids = {entry.TypeID for event in trace.events("BulkType") for entry in event.payload.Values}
        assert len(ids) == named["heap_type_ids"] == named["heap_type_ids_that_are_symbols"]
        assert None not in trace.methods.type_names(ids)
        assert trace.methods.complete
        assert trace.methods.advice is None
    same(exclusive, named["main_exclusive"])
    same(inclusive, named["main_inclusive"])
    thrown: Counter[str | None] = Counter()
    for row in threw.groups:
        thrown[row.throwing_method] += row.thrown
    assert thrown == named["thrown_in"]
    sampled = {aot_type(symbol, "aotshop"): count for symbol, count in named["allocation_samples_by_type"].items()}
    same(Counter({row.type: row.samples for row in types}), sampled)


def test_names_are_for_people(symbols: dict[str, Path]) -> None:
    with opened("net10-all", symbols["net10"]) as trace:
        names = {row.name for row in trace.report("top", artefacts=True).methods}
        assert {"Program.Main", "Program.BurnTax", "System.Threading.WaitSubsystem.ThreadWaitInfo.Wait"} <= names
        roles = Counter(row.role for row in trace.report("threads").threads)
        waits = {(row.kind, row.evidence) for row in trace.report("waits").kinds}
        heap = {row.type: row.count for row in trace.report("heap").types}
    assert roles["main"] == roles["finalizer"] == 1
    assert {("sleep", "sample"), ("join", "sample"), ("lock", "sample")} <= waits
    assert (heap["byte[]"], heap["System.Collections.Generic.List<byte[]>"]) == (266, 1)


@pytest.mark.parametrize(
    ("file", "end", "leaf"),
    [
        (None, "(aotshop.dbg)", "[unresolved 0x560bde38bba6]"),
        ("net11", "the file that was given is of another build", "[unresolved in aotshop: another build]"),
    ],
)
def test_without_the_very_file_it_is_said_which_one_is_missing(
    symbols: dict[str, Path], file: str | None, end: str, leaf: str
) -> None:
    with opened("net10-all", file and symbols[file] / "aotshop.dbg") as trace:
        top, alloc = trace.report("top"), trace.report("alloc")
        (note,) = [note for note in top.notes if note.id == "no-names"]
        assert (trace.methods.complete, trace.methods.advice) == (False, note.remedy)
    assert note.remedy is not None
    assert note.remedy.startswith("the program was compiled ahead of time, and no event has its names: ")
    assert note.remedy.endswith(end)
    row = next(row for row in top.methods if row.name.startswith("[unresolved"))
    assert (row.name, row.waiting_ns) == (leaf, None)
    assert [(row.type, row.samples) for row in alloc.types] == [(None, 507)]


def words(found: Any) -> list[str]:
    """What an answer says in sentences: notes with their remedies, reasons of metrics, findings."""
    texts = [f"{note.message}; {note.remedy or ''}; {note.record or ''}" for note in found.notes]
    texts += [metric.reason or "" for metric in found.metrics.values()]
    if found.name == "doctor":
        texts += [one.title for one in found.findings]
        texts += [f"{one.culprit}; {one.advice}; {one.next_command}" for one in found.findings if one.state == "found"]
    return texts


FALSE = ("before .NET 5", "65,535", "65535", "NULL", "[no stack]", "--callers", "ith rundown", "dotnet-trace start")
NEVER = "ExceptionCatch|Method|R2RGet|Tiered|TypeLoad|AssemblyLoad|ILStub|RuntimeInformation|StaticVar"


@pytest.mark.parametrize("name", [f"net{n}-{how}" for n in (9, 10, 11) for how in ("default", "own", "all", "env")])
def test_nothing_is_said_that_is_false_of_such_programs(name: str) -> None:
    with opened(name) as trace:
        whole = about(trace)
        found = [*trace.reports().values(), trace.doctor(), whole]
        said = {text for one in found for text in words(one)}
        assert not [text for text in said if any(false in text for false in FALSE) or re.search(rf"no ({NEVER})", text)]
        assert (trace.info.processors, whole.facts.processors, whole.facts.native_aot) == (None, None, True)
        assert dict(whole.lines())["process"] == f"{trace.info.process_id}, NativeAOT"
        startup, exceptions, locks = (trace.report(one) for one in ("startup", "exceptions", "locks"))
    # Owners are the runtime's own numbers, and no event says whose they are.
    assert {row.owner_thread_id for row in locks.owners} <= {None}
    assert {startup.metrics[n].reason for n in ("runtime_to_main", "main_ready")} == {
        "NativeAOT programs do not record when the runtime started"
    }
    truth = json.loads((AOT / f"shop-{name}.truth.json").read_text())
    thrown = exceptions.metrics["thrown"]
    assert (thrown.value, thrown.high) == (truth["exceptions_thrown"],) * 2
    assert exceptions.metrics["rethrown"].value is None
    assert [note.message for note in exceptions.notes if note.id == "never-recorded"] == [
        "NativeAOT programs do not record exception handlers and their times"
    ]


def test_what_such_programs_have_only_from_net_10_on_is_said_as_that() -> None:
    with opened("net9-all") as trace:
        top = trace.report("top")
    assert top.coverage == "none"
    assert [note.message for note in top.notes] == [
        "not recorded: where threads spend their time (no ThreadSample events, which NativeAOT programs have from "
        ".NET 10 on)"
    ]


def test_the_sampler_stops_such_programs_at_safe_points_only(symbols: dict[str, Path]) -> None:
    with opened("net10-all", symbols["net10"]) as trace:
        notes = {note.id for note in trace.report("top").notes}
    assert {"safe-points", "running-unknown", "clock-time"} <= notes
