"""Memory follows neither the length of a stream nor the number of Decoders."""

from __future__ import annotations

import gc
import io
import weakref
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from clrevents import Decoder, Limits
from clrevents import open as open_trace
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, Label, MetadataRecord, ThreadRow
from clrevents.schema import dynamic
from clrevents.schema.codes import LabelKind
from command_runs import printed
from project_files import ROOT, fixture, loaded, unpacked

pytestmark = pytest.mark.full

MIB = 1 << 20

MANY_DECODERS = """
import gc, gzip, sys
sys.path.insert(0, sys.argv[1])
from stages import resident
from clrevents import Decoder

with gzip.open(sys.argv[2]) as file:
    head = file.read(40 << 10)
early = objects = 0
for turn in range(10_000):
    decoder = Decoder()
    # Every tenth gets as far as events.
    decoder.feed(head if turn % 10 == 0 else head[:6000])
    if turn == 500:
        gc.collect()
        early, objects = resident(), len(gc.get_objects())
del decoder
gc.collect()
print(objects, len(gc.get_objects()) - objects, resident() - early)
"""

COUNTING = """
import sys
sys.path.insert(0, sys.argv[1])
from stages import peak
import clrevents

trace = clrevents.open(sys.argv[2])
trace.event_counts()
print(trace.lost, len(trace.problems), peak())
"""

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


@cache
def benchmark(name: str) -> ModuleType:
    return loaded(f"benchmarks_{name}", ROOT / "benchmarks" / f"{name}.py")


def test_repeated_regions_are_a_sound_trace() -> None:
    data = unpacked(fixture("net8-method-interop"))
    repeated = benchmark("commands").Repeated(data)
    long = b"".join(repeated.stream(3 * len(data)))
    once = list(open_trace(data).events())
    with open_trace(long, errors="strict") as trace:
        events = list(trace.events())
        assert trace.problems == ()
        assert trace.lost == 0
    turns, rest = divmod(len(events), len(once))
    assert (turns, rest) == (4, 0)
    assert [e.payload_bytes for e in events] == [e.payload_bytes for e in once] * turns
    assert [e.stack for e in events] == [e.stack for e in once] * turns
    assert [e.time_ns for e in events] == sorted(e.time_ns for e in events)


@needs_proc
def test_a_decoder_that_is_fed_for_long() -> None:
    repeated = benchmark("commands").Repeated(unpacked(fixture("net8-method-interop")))
    decoder = Decoder()
    done = events = early = 0
    for block in repeated.stream(300 * MIB):
        done += len(block)
        events += sum(map(len, decoder.feed(block)))
        if not early and done > 30 * MIB:
            early = benchmark("stages").resident()
    assert events > 1_500_000
    assert benchmark("stages").resident() < early + 12 * MIB
    assert decoder.losses == ()
    assert decoder.problems == ()


@needs_proc
def test_many_decoders() -> None:
    """Each gives its memory back when it is dropped, not when the garbage collector comes by."""
    # In a process of its own: in a large one that did other things before, memory moves by as much.
    told = printed("-c", MANY_DECODERS, ROOT / "benchmarks", fixture("net8-method-interop"))
    objects, more, memory = map(int, told.split())
    assert objects > 1000
    assert more < 1000
    assert memory < 12 * MIB


def test_learned_classes_go_with_their_decoder() -> None:
    """Also those of records in records, which layouts name; but for the latest small ones, nothing stays in a cache."""
    data = unpacked(fixture("net8-counters"))

    def learned() -> list[weakref.ref[type]]:
        decoder = Decoder("EventCounters")
        records = [e.payload for batch in (*decoder.feed(data), *decoder.close()) for e in batch]
        nested = [getattr(record, field.name) for record in records for field in type(record).__layout__.fields]
        return [weakref.ref(c) for c in {type(v) for v in (*records, *nested) if hasattr(v, "__layout__")}]

    # A class that an earlier test of this process learned may be frozen by a command that ended since.
    dynamic._kept_class.cache_clear()
    found = learned()
    assert len(found) >= 2
    dynamic._kept_class.cache_clear()
    # Records are unknown to the collector: what only a record of the first turn refers to goes in the second.
    gc.collect()
    gc.collect()
    assert not [ref() for ref in found if ref() is not None]


@needs_proc
def test_counting_a_longer_file(tmp_path: Path) -> None:
    peaks = []
    for size in ("30M", "120M"):
        path = benchmark("commands").repeated(fixture("net8-method-interop"), size, tmp_path)
        lost, problems, peak = map(int, printed("-c", COUNTING, ROOT / "benchmarks", path).split())
        assert (lost, problems) == (0, 0)
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


def test_stacks_without_a_sequence_point_are_not_kept_for_ever() -> None:
    sink = io.BytesIO()
    writer = NetTrace4Writer(sink)
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    decoder = Decoder(limits=Limits(region_bytes=MIB))
    first = 1
    for _ in range(100):
        writer.stacks(first, [[n] * 1000 for n in range(10)])
        writer.events([EventRecord(1, first, 1, b"", stack_id=first)])
        first += 10
        decoder.feed(sink.getvalue())
        sink.seek(0)
        sink.truncate()
        table = decoder._stream._rows.stacks
        assert len(table._blocks) <= 15
    writer.end()
    kinds = decoder._stream.problems.counts
    assert kinds["region-too-long"] >= 5
    events = [e for batch in [*decoder.feed(sink.getvalue()), *decoder.close()] for e in batch]
    assert all(e.stack_id > 0 for e in events)


def test_labels_without_a_sequence_point_are_not_kept_for_ever() -> None:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink)
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    writer.threads([ThreadRow(1, 1)])
    decoder = Decoder(limits=Limits(region_bytes=100_000))
    for turn in range(50):
        writer.labels(1 + 100 * turn, [[Label(LabelKind.TEXT, "v" * 100, "k")]] * 100)
        decoder.feed(sink.getvalue())
        sink.seek(0)
        sink.truncate()
        assert len(decoder._stream._labels) <= 1200
