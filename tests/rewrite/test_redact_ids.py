"""`redact --ids`: numbers that identify go, equal ones stay equal, and intervals stay."""

from __future__ import annotations

import io
import json
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewrite_events import reread

import clrevents
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, Label, MetadataRecord, ThreadRow, TraceHeader
from clrevents.rewrite import Redacted, redact, redaction_rules
from clrevents.rewrite.replacement import CLOCK_ORIGIN, ORIGIN, Identifiers
from clrevents.schema.codes import LabelKind, TypeCode
from clrevents.schema.events.perf_track import ExecutionCheckpoint_V0
from clrevents.testing.builder import TraceBuilder
from command_runs import Run
from in_memory import ended

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

START = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PROCESS = 54_321
CLOCK = 777_000_000_000
HOUR = 3600 * 10_000_000
STARTED = (START - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10
ID, OTHER = UUID("8d3f5f0e-93f1-4c55-a1a6-6f1d8b6f0001"), UUID("8d3f5f0e-93f1-4c55-a1a6-6f1d8b6f0002")
INT32, INT64, TEXT = TypeCode.INT32, TypeCode.INT64, TypeCode.STRING
FIELDS: dict[str, tuple[int, Any]] = {
    "ProcessId": (INT32, PROCESS),
    "thread_id": (INT64, 60_001),
    "RemotePort": (INT32, 50_123),
    "Activity": (TypeCode.GUID, ID),
    "When": (TypeCode.FILETIME, STARTED + HOUR),
    "Until": (TypeCode.FILETIME, (1 << 63) - 1),
    "Count": (INT32, 50_123),
}


def path(process: int) -> bytes:
    """The id of an activity as the runtime makes it: numbers, and a sum of them with the process."""
    words = 0x11, 0, 0
    return struct.pack("<4I", *words, sum(words) + 0x599D99AD ^ process)


def built(format: Any = "nettrace4") -> bytes:
    trace = TraceBuilder(format, process_id=PROCESS, start=START, sync_qpc=CLOCK)
    trace.thread(PROCESS).activity(ID.bytes_le).described("Shop", "Sold", FIELDS)
    trace.thread(60_001).activity(path(PROCESS), ID.bytes_le).described("Shop", "Sold", FIELDS)
    trace.lose(3)
    trace.activity(OTHER.bytes_le).described("Shop", "Sold", FIELDS)
    trace.event(ExecutionCheckpoint_V0(1, "RuntimeInit", CLOCK - 5_000))
    return bytes(trace.build())


def redacted(out: Path, data: bytes, **options: Any) -> Redacted:
    with clrevents.open(data) as trace:
        return redact(trace, out, ids=True, **{"blank": True, **options})


def test_losses_at_times_that_leave_64_bits(out: Path) -> None:
    writer = NetTrace4Writer(io.BytesIO(), TraceHeader(sync_qpc=-(1 << 63), frequency=4_000_000_000, process_id=5))
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    for at, number in ((5, 1), ((1 << 63) - 1, 9)):
        writer.sequence_point(at, {7: number})
        writer.events([EventRecord(1, at, 7, sequence=number + 1)])
    redacted(out, ended(writer))
    with clrevents.open(out) as trace:
        assert trace.lost == 8
        assert [event.thread_id for event in trace.events("P/E")] == [2, 2]


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
def test_ids_of_a_trace(out: Path, format: str) -> None:
    data = built(format)
    done = redacted(out, data)
    first, second, third, mark = reread(out)
    assert [event.thread_id for event in (first, second, third)] == [1, 2, 2]
    # The first thread of a process may have its number.
    assert [first.payload[name] for name in ("ProcessId", "thread_id")] == [1, 2]
    assert [first.payload[name] for name in ("RemotePort", "Count", "Until")] == [1, 50_123, 0]
    assert first.payload["When"].utc == ORIGIN + timedelta(hours=1)
    assert first.activity_id == second.related_activity_id == first.payload["Activity"] != ID
    assert third.activity_id not in (None, OTHER, first.activity_id)
    assert second.activity_id == UUID(bytes_le=path(1))
    assert mark.payload.Timestamp == CLOCK_ORIGIN - 5_000
    with clrevents.open(data) as before, clrevents.open(out) as after:
        info = after.info
        assert (info.process_id, info.start, info.sync_qpc) == (1, ORIGIN, CLOCK_ORIGIN)
        pairs = list(zip(reread(out), before.events(), strict=True))
        assert [ours.time_ns for ours, _ in pairs] == [theirs.time_ns for _, theirs in pairs]
        assert [ours.processor for ours, _ in pairs] == [theirs.processor for _, theirs in pairs]
        assert [(loss.thread_id, loss.count) for loss in after.losses] == [(2, 3)]
    left = out.read_bytes()
    for raw in (ID.bytes_le, OTHER.bytes_le, path(PROCESS), struct.pack("<i", PROCESS), str(PROCESS).encode()):
        assert raw in data or raw == str(PROCESS).encode()
        assert raw not in left
    assert done.counts.identifiers["Shop", "Sold", "RemotePort"] == 3
    assert ("Shop", "Sold", "Count") not in done.counts.identifiers
    assert done.replaced == 0


def test_numbers_stay_unless_they_are_asked_to_go(out: Path) -> None:
    with clrevents.open(built()) as trace:
        redact(trace, out)
    first, *_ = reread(out)
    assert [first.payload[name] for name in FIELDS] == [value for _, value in FIELDS.values()]
    assert (first.activity_id, first.thread_id) == (ID, PROCESS)


def test_some_can_be_kept(out: Path) -> None:
    done = redacted(out, built(), keep=["Shop/Sold.*Port", "When"], fields=["thread_id"])
    first, *_ = reread(out)
    assert [first.payload[name] for name in ("RemotePort", "When", "thread_id")] == [50_123, STARTED + HOUR, 0]
    assert done.unused == ()


def test_the_same_key_makes_the_same_ids(out: Path) -> None:
    found = []
    for key in (b"one", b"one", b"two"):
        redacted(out, built(), key=key)
        found.append(reread(out)[0].activity_id)
    assert found[0] == found[1] != found[2]


def labelled() -> bytes:
    """Two processes, numbers of variable size, arrays of ids, and ids of a distributed trace."""
    sink = io.BytesIO()
    pairs = (("ProcessId", str(PROCESS)), ("HardwareThreadCount", "4"))
    writer = NetTrace6Writer(sink, TraceHeader(START, process_id=PROCESS, key_values=pairs))
    fields = (
        FieldDescription("pid", TypeCode.VARUINT),
        FieldDescription("tid", TypeCode.VARINT),
        FieldDescription("Ids", TypeCode.ARRAY, FieldDescription("", TypeCode.GUID)),
        FieldDescription("Ports", TypeCode.ARRAY, FieldDescription("", INT32)),
    )
    writer.metadata([MetadataRecord(1, "Acme-Web", 1, name="Request", fields=fields)])
    writer.threads([ThreadRow(0, 70_001, PROCESS), ThreadRow(1, 70_002, 70_000)])
    writer.labels(1, [[Label(LabelKind.TRACE_ID, ID.bytes_le), Label(LabelKind.SPAN_ID, 0x1122334455667788)]])
    payload = b"\xb1\xa8\x03" + b"\xe2\xc5\x08" + b"\x02\0" + ID.bytes_le + OTHER.bytes_le + b"\x01\0" + b"\x07\0\0\0"
    writer.events([EventRecord(1, 10 * i, i, payload, label_id=1) for i in range(2)])
    writer.end()
    return sink.getvalue()


def test_ids_that_only_nettrace_6_has(out: Path) -> None:
    data = labelled()
    with clrevents.open(data) as before:
        event = next(before.events())
        assert (event.payload["pid"], event.payload["tid"]) == (PROCESS, 70_001)
        assert event.span_id is not None
    redacted(out, data)
    one, two = reread(out)
    with clrevents.open(out) as after:
        assert dict(after.info.key_values)["ProcessId"] == "1"
    assert (one.process_id, one.payload["pid"]) == (1, 1)
    assert two.process_id not in (None, 0, 1, 70_000)
    assert one.thread_id == one.payload["tid"] != 70_001
    assert len({*one.payload["Ids"], ID, OTHER}) == 4
    assert list(one.payload["Ports"]) == [7], "a field of another name than a port's"
    assert one.trace_id == two.trace_id
    assert one.span_id == two.span_id
    assert one.trace_id not in (None, ID.bytes_le.hex())
    assert ID.bytes_le not in out.read_bytes()
    assert struct.pack("<Q", 0x1122334455667788) not in out.read_bytes()
    assert [len(event.payload_bytes) for event in (one, two)] == [len(event.payload_bytes)] * 2


def test_a_guid_as_text(out: Path) -> None:
    fields = {"sessionId": (TEXT, str(ID)), "rate": (TEXT, "1.5")}
    trace = TraceBuilder().described("System.Diagnostics.Metrics", "CounterRateValuePublished", fields)
    redacted(out, bytes(trace.activity(ID.bytes_le).described("Shop", "Sold", {}).build()))
    first, second = reread(out)
    assert first.payload["rate"] == "1.5"
    assert UUID(first.payload["sessionId"]) == second.activity_id != ID


@given(st.lists(st.integers(0, (1 << 64) - 1), unique=True), st.binary(min_size=16, max_size=16))
def test_different_ids_stay_different(numbers: list[int], raw: bytes) -> None:
    with clrevents.open(built()) as trace:
        ids = Identifiers(trace.info, b"key")
    made = [ids.system_id(number) for number in numbers]
    assert len(set(made)) == len(made)
    assert [ids.system_id(number) for number in numbers] == made
    assert ids.guid(raw) == ids.guid(raw)
    assert (ids.guid(raw) == bytes(16)) == (raw == bytes(16))


def test_rules_say_which(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.nettrace"
    file.write_bytes(built())
    with clrevents.open(file) as trace:
        plain = {str(rule) for rule in redaction_rules(trace)}
    said = run("redact", file, "--rules", "--ids").stdout.splitlines()
    assert set(said) - plain == {
        "goes   Shop/Sold.ProcessId: a process id",
        "goes   Shop/Sold.thread_id: a thread id of the operating system",
        "goes   Shop/Sold.RemotePort: a port of an endpoint",
        "goes   Shop/Sold.Activity: an id of an activity or the like",
        "goes   Shop/Sold.When: a date and time",
        "goes   Shop/Sold.Until: a date and time",
        "goes   runtime/ExecutionCheckpoint.Timestamp: a reading of the machine's clock",
    }


def test_the_command_counts_them(run: Run, tmp_path: Path) -> None:
    file, out, report = tmp_path / "in.nettrace", tmp_path / "out.nettrace", tmp_path / "report.json"
    file.write_bytes(built())
    result = run("redact", file, "-o", out, "--ids", "--report", report)
    assert "19 ids in payloads replaced" in result.stderr
    said = json.loads(report.read_text())["identifiers"]
    assert {"provider": "Shop", "event": "Sold", "field": "When", "numbers": 3} in said
    assert sum(row["numbers"] for row in said) == 19
