"""CPU samples of whole machines: totals counted by hand from the events, the same in every view, and by process."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.export.look import Look
from clrevents.export.page.page_flames import PageStacks, page_flames
from clrevents.export.timeline.timeline_file import write_timeline
from project_files import SHARED, fixture, linux_recording, without_shared

LINUX = SHARED / "linux"
TWO = LINUX / "net8-two-55.linux.nettrace.gz"
CPU = LINUX / "net8-cpu-55.linux.nettrace.gz"
PERIOD = 1_000_000
NO_THREAD = 0xFFFFFFFF
needs_shared = pytest.mark.skipif(not LINUX.is_dir(), reason=without_shared("linux recordings"))


def counted(trace: clrevents.Trace, *by: str) -> Counter[Any]:
    """The counts that the events say, added up without any report."""
    found: Counter[Any] = Counter()
    for event in trace.events("Universal.Events/cpu"):
        found[tuple(getattr(event, name) for name in by)] += event.payload.Value
    return found


def pprof_total(profile: bytes) -> int:
    """The second value of every sample (fields 2 and 2 of pprof's message), read without our writer."""

    def fields(data: bytes) -> Iterator[tuple[int, Any]]:
        at = 0

        def varint() -> int:
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            key = varint()
            if key & 7 == 2:
                size = varint()
                yield key >> 3, data[at : at + size]
                at += size
            else:
                yield key >> 3, varint()

    total = 0
    for number, message in fields(profile):
        if number == 2:
            values = dict(fields(message))[2]
            # Two varints: the first counts samples.
            at = next(place for place, byte in enumerate(values) if byte < 128) + 1
            total += sum((byte & 127) << (7 * place) for place, byte in enumerate(values[at:]))
    return total


EVERY = ("two", "async", "convoy", "cpu", "exceptions", "garbage", "starvation", "states")


@pytest.mark.parametrize("name", ["fixture", *(pytest.param(n, marks=[needs_shared, pytest.mark.full]) for n in EVERY)])
def test_every_view_has_the_same_sum(name: str, tmp_path: Path) -> None:
    with clrevents.open(linux_recording(name)) as trace:
        wanted = sum(counted(trace).values()) * PERIOD
        assert wanted
        methods, modules = trace.report("top"), trace.report("top", by="module")
        assert methods.metrics["total"].value == modules.metrics["total"].value == wanted
        assert methods.facts.event == "cpu"
        assert methods.facts.sampling_period_ns == PERIOD
        for answer in (methods, modules):
            rows: Any = answer.table("methods")
            assert sum(rows["exclusive_ns"]) == wanted
            assert sum(rows["share"]) == pytest.approx(1)
        kinds = {
            kind: trace.report("top", kind=kind).metrics["total"].value for kind in ("kernel", "native", "managed")
        }
        assert all(kinds.values())
        by_kind = Counter[str | None]()
        for row in methods.table("methods"):
            by_kind[row.kind] += row.exclusive_ns
        assert {kind: by_kind[kind] for kind in kinds} == kinds
        assert sum(by_kind.values()) == wanted
        roots = [row for row in trace.report("callers").table("callees") if row.depth == 0]
        assert sum(row.inclusive_ns for row in roots) == wanted
        samples = read_samples(trace)
        assert samples.total == wanted
        samples.write(tmp_path / "a.folded")
        assert sum(int(line.rpartition(" ")[2]) for line in (tmp_path / "a.folded").read_text().splitlines()) == wanted
        samples.write(tmp_path / "a.speedscope.json")
        profiles = json.loads((tmp_path / "a.speedscope.json").read_text())["profiles"]
        assert sum(sum(profile["weights"]) for profile in profiles) == wanted
        samples.write(tmp_path / "a.pb.gz")
        assert pprof_total(gzip.decompress((tmp_path / "a.pb.gz").read_bytes())) == wanted
        tree: Any = page_flames(PageStacks.of(trace))[0]
        assert sum(tree["own"]) == wanted
        with (tmp_path / "a.firefox.json").open("wb") as stream:
            write_timeline(trace, stream, Look(), "firefox")
        threads = json.loads((tmp_path / "a.firefox.json").read_text())["threads"]
        timeline = sum(sum(thread["samples"]["weight"]) for thread in threads)
        assert timeline == pytest.approx(wanted / 1e6, abs=1e-6)
        by_process = counted(trace, "process_id")
        owners = {thread.process_id for thread in samples.threads}
        for process in owners:
            alone = sum(count for (owner,), count in by_process.items() if owner == process) * PERIOD
            assert samples.of_process(process).total == alone
            mine = [row for row in methods.table("methods") if len(owners) == 1 or row.process_id == process]
            assert sum(row.exclusive_ns for row in mine) == alone


@needs_shared
def test_processes_split_exactly_and_shares_are_of_the_whole() -> None:
    with clrevents.open(TWO) as trace:
        wanted = counted(trace, "process_id")
        assert len(wanted) == 2
        rows: Any = trace.report("top").table("methods")
        for (process,), count in wanted.items():
            mine = [row for row in rows if row.process_id == process]
            assert sum(row.exclusive_ns for row in mine) == count * PERIOD
            assert sum(row.share for row in mine) == pytest.approx(count / sum(wanted.values()))
            alone = trace.report("top", process_id=process)
            assert alone.metrics["total"].value == count * PERIOD
            assert sum(row.share for row in alone.table("methods")) == pytest.approx(1)
        shares = rows["share"].tolist()
        assert shares == sorted(shares, reverse=True)
        assert rows[0].name == "Scenarios.Burn(int)"


@needs_shared
def test_threads_of_the_cpu_scenario() -> None:
    """As the facts by hand: two threads that burn, the sampler's own, and one sample that no thread is told of."""
    with clrevents.open(CPU) as trace:
        samples = read_samples(trace)
        weights = {thread.thread_id: 0 for thread in samples.threads}
        for place, weight in zip(samples.thread.tolist(), samples.weight.tolist(), strict=True):
            weights[samples.threads[place].thread_id] += weight
        assert (weights[27622], weights[27621], weights[27618]) == (2590 * PERIOD, 1722 * PERIOD, 521 * PERIOD)
        assert weights[None] == PERIOD
        assert NO_THREAD not in weights
        only = trace.report("top", thread_id=27622)
        assert only.metrics["total"].value == 2590 * PERIOD
        answer = trace.report("top")
        assert answer.facts.processors == 2
        assert answer.facts.capacity_ns == 2 * trace.duration_ns


def test_samples_on_a_processor_tell_no_state() -> None:
    with clrevents.open(fixture("net8-linux")) as trace:
        answer = trace.report("top", waiting=True)
        assert answer.coverage == "none"
        assert answer.metrics["total"].value is None
        assert any(note.id == "on-processor" for note in answer.notes)
        with pytest.raises(ValueError, match="no kind 'user'"):
            trace.report("top", kind="user")


def test_the_sample_profiler_tells_no_kind() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        assert {row.kind for row in trace.report("top").table("methods")} == {None}
        assert trace.report("top").facts.capacity_ns is None
