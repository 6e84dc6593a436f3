"""Recordings of machines that are not as they should be: an answer with its warning, and never a wrong share."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import clrevents
from clrevents.analysis.framework.model.needs import KindsOfProcesses, SeenKind
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.cli import root
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from clrevents.events import ExistingProcess_V0, ProcessCreate_V0, ProcessExit_V0, ProcessMapping_V0, ProcessSymbol_V0
from clrevents.schema.codes import TypeCode
from clrevents.testing.builder import TraceBuilder
from in_memory import ended

MS = 1_000_000
KERNEL = 0xFFFF_FFFF_8100_0000


def cpu(trace: TraceBuilder, *stack: int, count: int = 1) -> TraceBuilder:
    return trace.described("Universal.Events", "cpu", {"Value": (TypeCode.VARUINT, count)}, id=1, stack=stack)


def away(trace: TraceBuilder, at: int, ns: int, *stack: int) -> TraceBuilder:
    return trace.at(at).described("Universal.Events", "cswitch", {"Value": (TypeCode.VARUINT, ns)}, id=2, stack=stack)


def mapped(
    trace: TraceBuilder, number: int, start: int, end: int, file: str, **symbols: tuple[int, int]
) -> TraceBuilder:
    trace.event(ProcessMapping_V0(number, start, end, 0, file, 0))
    for place, (name, (low, high)) in enumerate(symbols.items()):
        trace.event(ProcessSymbol_V0(100 * number + place, number, low, high, name))
    return trace


def shares(trace: clrevents.Trace) -> dict[str, float]:
    rows: Any = trace.report("top").table("methods")
    return {row.name: row.share for row in rows if row.exclusive_ns}


def test_an_id_that_is_used_again_has_the_names_of_each_process() -> None:
    trace = TraceBuilder("nettrace6").at(0).event(ExistingProcess_V0(0, "first", ""))
    mapped(trace, 1, 0x1000, 0x1FFF, "/lib/a.so", one=(0x1000, 0x1FFF))
    cpu(trace.at(20 * MS), 0x1800).at(30 * MS).event(ProcessExit_V0())
    trace.at(40 * MS).event(ProcessCreate_V0(0, "second", ""))
    cpu(trace.at(50 * MS), 0x1800)
    mapped(trace.at(60 * MS), 2, 0x1000, 0x1FFF, "/lib/b.so", two=(0x1000, 0x1FFF))
    cpu(cpu(trace.at(80 * MS), 0x1800), 0x1800)
    opened = clrevents.open(trace.build())
    assert [life.name for life in opened.processes] == ["first", "second"]
    found = shares(opened)
    assert (found.pop("one"), found.pop("two")) == (1 / 4, 1 / 2)
    # Between the two, nothing is known of what is at this address.
    assert list(found.values()) == [1 / 4]
    assert next(iter(found)).startswith("[unresolved")


def test_times_off_a_processor_that_overlap_or_never_end_are_cut_and_said() -> None:
    trace = mapped(
        TraceBuilder("nettrace6").at(0), 1, KERNEL, KERNEL + 0xFFF, "vmlinux", schedule=(KERNEL, KERNEL + 0xFF)
    )
    mapped(trace, 2, KERNEL + 0x1000, KERNEL + 0x1FFF, "vmlinux", __x64_sys_futex=(KERNEL + 0x1000, KERNEL + 0x10FF))
    stack = (KERNEL + 8, KERNEL + 0x1008)
    away(trace, 10 * MS, 30 * MS, *stack)
    away(trace, 20 * MS, 10 * MS, *stack)
    away(trace, 50 * MS, (1 << 63) + 5, *stack)
    opened = clrevents.open(cpu(trace.at(90 * MS), KERNEL + 8).build())
    answer = opened.report("threads")
    (row,) = answer.table("threads")
    assert (row.wait_ns, row.running_ns) == (60 * MS, 20 * MS)
    (note,) = [note for note in answer.notes if note.id == "cut-switches"]
    assert note.numbers == {"switches": 2}
    samples = read_samples(opened, weight="off-cpu")
    assert samples.total == 60 * MS
    top = opened.report("top", by="off-cpu")
    assert top.metrics["total"].value == 60 * MS
    assert any(note.id == "cut-switches" for note in top.notes)
    assert opened.report("waits").metrics["idle_total"].value == 60 * MS


def test_counts_beyond_any_time_are_no_weights() -> None:
    trace = cpu(cpu(TraceBuilder("nettrace6"), 0x1000, count=1 << 62), 0x1000)
    answer = clrevents.open(trace.build()).report("top")
    assert answer.facts.unit == "count"
    assert answer.metrics["total"].value == 2


def test_what_a_machine_recorded_is_kept_once_for_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million processes have the same kinds: pairs of both are not multiplied with each other."""
    kinds = [SeenKind("Universal.Events", name, 0, 4) for name in ("cpu", "cswitch")]
    hashed, plain = Counter[str](), SeenKind.__hash__

    def counting(kind: SeenKind) -> int:
        hashed[kind.name] += 1
        return plain(kind)

    monkeypatch.setattr(SeenKind, "__hash__", counting)
    found = KindsOfProcesses.of((process, kind) for process in range(1_000) for kind in kinds)
    assert all(list(found.told_of(process)) == kinds for process in (0, 999, 5_000))
    assert hashed.total() < 20 * 1_000


def test_a_name_whose_id_had_other_names_is_said_to_have(tmp_path: Path) -> None:
    trace = TraceBuilder("nettrace6", process_id=7).at(0).event(ExistingProcess_V0(0, "bash", ""))
    cpu(trace.at(10 * MS).event(ProcessCreate_V0(0, "dotnet", "")).at(20 * MS), 0x1000)
    path = tmp_path / "a.nettrace"
    path.write_bytes(trace.build())
    done = CliRunner().invoke(root, ["top", str(path), "--process", "bash"])
    assert done.exit_code == 0
    assert "process 7 was bash, dotnet in turn: this is about all of its time" in " ".join(done.output.split())


def test_what_is_written_of_a_thread_after_its_end_is_no_time_off_a_processor() -> None:
    trace = TraceBuilder("nettrace6").at(0)
    mapped(trace, 1, KERNEL, KERNEL + 0xFFF, "vmlinux", schedule=(KERNEL, KERNEL + 0xFF))
    mapped(trace, 2, KERNEL + 0x1000, KERNEL + 0x1FFF, "vmlinux", __x64_sys_futex=(KERNEL + 0x1000, KERNEL + 0x10FF))
    mapped(trace, 3, KERNEL + 0x2000, KERNEL + 0x2FFF, "vmlinux", do_task_dead=(KERNEL + 0x2000, KERNEL + 0x20FF))
    away(trace, 10 * MS, 5 * MS, KERNEL + 8, KERNEL + 0x1008)
    away(trace, 20 * MS, 30 * MS, KERNEL + 8, KERNEL + 0x2008)
    opened = clrevents.open(trace.at(90 * MS).raw("Shop", 9).build())
    (row,) = opened.report("threads").table("threads")
    assert (row.life_ns, row.wait_ns, row.running_ns) == (10 * MS, 5 * MS, 5 * MS)
    assert read_samples(opened, weight="off-cpu").total == 5 * MS
    assert opened.report("top", by="off-cpu").metrics["total"].value == 5 * MS


def odd_switches() -> TraceBuilder:
    """Two threads: the times off a processor of one overlap, and run past the end; an exit without a beginning."""
    trace = mapped(
        TraceBuilder("nettrace6").at(0), 1, KERNEL, KERNEL + 0xFFF, "vmlinux", schedule=(KERNEL, KERNEL + 0xFF)
    )
    mapped(trace, 2, KERNEL + 0x800, KERNEL + 0x1FFF, "vmlinux", __x64_sys_futex=(KERNEL + 0x1000, KERNEL + 0x10FF))
    futex = (KERNEL + 8, KERNEL + 0x1008)
    away(cpu(trace.at(5 * MS), KERNEL + 8), 10 * MS, 30 * MS, *futex)
    away(trace, 20 * MS, 10 * MS, *futex)
    away(trace.thread(2), 25 * MS, 5 * MS, KERNEL + 8)
    away(trace, 35 * MS, 1 << 60, *futex)
    trace.thread(1).event(ProcessSymbol_V0(9, 77, 0x1000, 0x10FF, "alone"))
    cpu(cpu(trace.at(60 * MS), 0x1008), 0x1100)
    return trace.event(ProcessExit_V0()).at(70 * MS).event(ProcessCreate_V0(0, "again", "")).at(90 * MS).raw("Shop", 9)


def many_processes(processes: int) -> bytes:
    """A process that existed, with one CPU sample more than the process before, in each of so many threads."""
    writer = NetTrace6Writer(io.BytesIO(), TraceHeader(processors=2, sampling_interval_ns=MS))
    writer.metadata(
        [
            MetadataRecord(1, "Universal.System", 0, 0),
            MetadataRecord(2, "Universal.Events", 2, 0, "cpu", fields=(FieldDescription("Value", 21),)),
        ]
    )
    writer.threads(ThreadRow(n, n, n) for n in range(1, processes + 1))
    lived = [EventRecord(1, n, n, b"\x00\x01\x00a\x00\x00") for n in range(1, processes + 1)]
    writer.events([*lived, *(EventRecord(2, n, n, b"\x01") for n in range(1, processes + 1) for _ in range(n))])
    return ended(writer)


@pytest.mark.parametrize("make", [odd_switches, lambda: many_processes(5)], ids=["switches", "processes"])
def test_shares_are_of_the_whole_in_every_view(make: Any) -> None:
    made = make()
    opened = clrevents.open(made if isinstance(made, bytes) else made.build())
    off = any(key.name == "cswitch" for key in opened.event_counts())
    for by in (None, "off-cpu") if off else (None,):
        samples = read_samples(opened, weight=by)
        top = opened.report("top") if by is None else opened.report("top", by=by)
        assert top.metrics["total"].value == samples.total > 0
        assert sum(row.exclusive_ns for row in top.methods) == samples.total
        assert sum(row.share for row in top.methods) == pytest.approx(1)
        for row in top.methods:
            assert row.share == pytest.approx(row.exclusive_ns / samples.total)
    answer = opened.report("threads")
    states = [row for row in answer.table("states") if row.share is not None]
    assert not states or sum(row.share for row in states) == pytest.approx(1)
    for row in answer.table("threads") if off else ():
        held = sum(getattr(row, f"{state}_ns") or 0 for state in ("running", "ready", "wait", "sleep", "io", "unknown"))
        assert held == row.life_ns


def test_more_processes_than_the_limit_on_threads_are_unattributed() -> None:
    """What a limit left out has no process; it counts, so that no share is of the others alone."""
    data = many_processes(8)
    opened = clrevents.open(data, errors="salvage", limits=clrevents.Limits(threads=6))
    with pytest.warns(clrevents.TraceWarning, match=r"more threads than Limits\.threads"):
        answer = opened.report("top")
    rows = answer.methods
    assert {row.process_id: row.samples for row in rows} == {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, None: 15}
    assert {row.process_id: row.share for row in rows}[6] == pytest.approx(6 / 36)
    assert "damage" in {note.id for note in answer.notes}
