"""The conformance vectors: 66 small streams, each against what is expected of it and what the official decoder shows.

Every fact on either side is compared. Where ours differs on purpose the difference is one of `DIFFERENCES`, which
says why and predicts our side from theirs; one that no vector shows any more fails too.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
import pytest
from shared_comparison import plain, same
from shared_files import SHARED, needs_shared

import clrevents
from clrevents import DamageError, Decoder, Event, PayloadError, RawPayload, TraceError, UnreadableError
from clrevents.decode.container.blocks import FieldDescription, MetadataRow, ThreadRow
from clrevents.decode.kinds import EventKind
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode
from clrevents.schema.registry import RUNTIME

FOLDER: Final = SHARED / "vectors"
VECTORS: Final = sorted(p.stem for p in FOLDER.glob("*.nettrace"))

APPSERVER: Final = "ApplicationServer_AllEventsRoundTrip"
LOOKUP_ERROR: Final = "<<<EXCEPTION_DURING_VALUE_LOOKUP "
MISSING: Final = "(nothing)"

INCOMPLETE: Final = {"V5IncompleteTraceThrowsException", "V6IncompleteTraceThrowsException"}
"""The official decoder refuses a stream without its end mark; for us that is a note, as real traces often lack it."""

ENDED_BY: Final[dict[str, type[TraceError]]] = {
    "ThrowsExceptionOnUnsupportedMajorVersion": UnreadableError,
    "MalformedILToNativeMapPayloadDoesNotAccessViolation-short": PayloadError,
    "MalformedILToNativeMapPayloadDoesNotAccessViolation-boguscount": PayloadError,
}
"""What a strict reading raises, where it is not a DamageError."""

STRICTER: Final = {"V6LabelListCanOverrideTemplate"}
"""GCEnd without any payload: the official decoder shows null fields, a strict reading of ours raises."""


@attrs.frozen
class Ours:
    """One event of ours with what an `Event` does not show: its kind's other names, the raw clock tick, its place.

    `foreign`: another thread wrote it than the one it is about.
    """

    event: Event[Any]
    kind: EventKind
    qpc: int
    offset: int
    foreign: bool


@attrs.frozen(eq=False)
class Reading:
    """What came of one vector."""

    stream: Stream
    events: list[Ours]
    error: TraceError | None


@attrs.frozen
class Odd:
    """One fact in which the sides differ."""

    vector: str
    fact: str
    theirs: Any
    ours: Any
    about: Any = None

    def __str__(self) -> str:
        return f"{self.vector}: {self.fact} should be {self.theirs!r}, ours is {self.ours!r} [{self.about!r}]"


@cache
def data_of(vector: str) -> bytes:
    return (FOLDER / f"{vector}.nettrace").read_bytes()


@cache
def read(vector: str, mode: ErrorMode = "report") -> Reading:
    """All events that come before the error, if there is one."""
    data = data_of(vector)
    decoder, events, error = Decoder(errors=mode), [], None
    try:
        for batch in decoder.feed(data):
            events += list(batch)
        for batch in decoder.close():
            events += list(batch)
    except TraceError as raised:
        error = raised
    stream = Stream(errors="salvage" if mode == "salvage" else "report")
    rows = []
    try:
        rows += stream.feed(data)
        rows += stream.close()
    except TraceError:
        pass
    headers = []
    for some in rows:
        about = some.thread_ids if some.thread_places is None else some.thread_places
        kinds = [stream.kinds.all[kind] for kind in some.kind_indexes.tolist()]
        foreign = (some.capture_threads != about.astype(np.uint64)).tolist()
        headers += list(zip(kinds, some.ticks.tolist(), some.offsets.tolist(), foreign, strict=True))
    # A strict reading ends before an event that the headers alone show.
    ours = [Ours(event, *rest) for event, rest in zip(events, headers, strict=mode != "strict")]
    assert all(o.event.key == o.kind.key for o in ours)
    return Reading(decoder._stream, ours, error)


@cache
def expected() -> dict[str, dict[str, Any]]:
    return {e["vector"].removesuffix(".nettrace"): e for e in json.loads((FOLDER / "expect.json").read_text())}


@cache
def summary(vector: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{vector}.summary.json").read_text())
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# What ours says to each fact of theirs. ---------------------------------------------------------------------------


def event_facts(theirs: dict[str, Any], ours: Ours, whole: bool) -> Iterator[tuple[str, Any, Any]]:
    """(fact, theirs, ours) for every fact they state; `whole` when they state all payload fields there are."""
    event = ours.event
    known: dict[str, Callable[[], Any]] = {
        "provider": lambda: event.provider,
        "id": lambda: event.id,
        "version": lambda: event.version,
        "name": lambda: event.name,
        "opcode": lambda: event.opcode,
        "level": lambda: event.level,
        "keywords": lambda: f"{event.keywords:x}",
        "ms": lambda: event.time_ns / 1e6,
        "ticks": lambda: dotnet_ticks(event.time),
        "qpc": lambda: ours.qpc,
        "tid": lambda: event.thread_id,
        "pid": lambda: event.process_id,
        "cpu": lambda: event.processor,
        "proc": lambda: event.processor,
        "activity": lambda: None if event.activity_id is None else str(event.activity_id),
        "related": lambda: None if event.related_activity_id is None else str(event.related_activity_id),
        "stack": lambda: [f"{address:x}" for address in event.stack],
        "bytes": lambda: len(event.payload_bytes),
        "data": lambda: event.payload_bytes.hex(),
    }
    for fact, value in theirs.items():
        if fact in known:
            yield fact, value, known[fact]()
    if whole:
        # What they leave out is not there.
        for fact, empty in (("activity", None), ("related", None), ("stack", [])):
            if fact not in theirs:
                yield fact, empty, known[fact]()
    if "labels" in theirs or whole:
        yield from label_facts(theirs.get("labels") or [], ours)
    if "payload" in theirs and not theirs.get("payloadUnstable"):
        yield from payload_facts(theirs["payload"], event.payload, whole)
    odd = theirs.keys() - known.keys() - {"labels", "payload", "payloadUnstable", "type"}
    assert not odd, f"facts that nothing is compared with: {odd}"


def label_facts(theirs: list[dict[str, Any]], ours: Ours) -> Iterator[tuple[str, Any, Any]]:
    event = ours.event
    attributes = {
        "ActivityId": event.activity_id and str(event.activity_id),
        "RelatedActivityId": event.related_activity_id and str(event.related_activity_id),
        "TraceId": event.trace_id,
        "SpanId": event.span_id,
    }
    overrides = {"OpCode": event.opcode, "Keywords": event.keywords, "Level": event.level, "Version": event.version}
    shown = {key: value for key, value in attributes.items() if value is not None} | event.labels
    listed = {key: value for label in theirs for key, value in label.items()}
    for key in shown.keys() | listed.keys():
        yield f"label {key}", listed.get(key, MISSING), {**overrides, **shown}.get(key, MISSING)


def payload_facts(theirs: dict[str, Any], payload: Any, whole: bool) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(payload, RawPayload):
        yield "payload", theirs, payload
        return
    ours = {name: plain(value) for name, value in clrevents.asdict(payload).items()}
    for name in (theirs.keys() | ours.keys()) if whole else theirs:
        yield f"payload {name}", theirs.get(name, MISSING), ours.get(name, MISSING)


def metadata_facts(theirs: dict[str, Any], row: MetadataRow) -> Iterator[tuple[str, Any, Any]]:
    known: dict[str, Callable[[], Any]] = {
        "id": lambda: row.metadata_id,
        "provider": lambda: row.provider,
        "guid": lambda: row.provider_guid and str(row.provider_guid),
        "eventId": lambda: row.id,
        "name": lambda: row.name,
        "version": lambda: row.version,
        "level": lambda: row.level,
        "keywords": lambda: f"{row.keywords:x}",
        "opcode": lambda: row.opcode,
        "message": lambda: row.message or None,
        "description": lambda: row.description or None,
        "attributes": lambda: dict(row.attributes),
        "fields": lambda: [{"name": f.name, "type": type_text(f)} for f in row.fields],
        "fieldNames": lambda: [f.name for f in row.fields],
    }
    for fact, value in theirs.items():
        yield f"metadata {fact}", value, known[fact]()


def thread_facts(theirs: dict[str, Any], row: ThreadRow) -> Iterator[tuple[str, Any, Any]]:
    known = {
        "index": row.index,
        "tid": row.thread_id,
        "pid": row.process_id,
        "name": row.name,
        "attributes": dict(row.attributes),
    }
    # Its own bookkeeping at the end of the stream is nobody's business.
    for fact in theirs.keys() - {"sequence", "removed"}:
        yield f"thread {fact}", theirs[fact], known[fact]


def header_facts(theirs: dict[str, Any], stream: Stream) -> Iterator[tuple[str, Any, Any]]:
    info = stream.info
    assert info is not None
    known: dict[str, Callable[[], Any]] = {
        "version": lambda: info.version,
        "pointer": lambda: info.pointer_size,
        "start": lambda: dotnet_ticks(info.start),
        "startUtc": lambda: info.start and info.start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "syncQPC": lambda: info.sync_qpc,
        "qpcFrequency": lambda: info.frequency,
        "pid": lambda: info.process_id,
        "processors": lambda: info.processors,
        "sampling": lambda: info.sampling_interval_ns,
        "keys": lambda: dict(info.key_values),
        "lost": lambda: stream.lost,
    }
    for fact in theirs.keys() & known.keys():
        yield f"header {fact}", theirs[fact], known[fact]()


def dotnet_ticks(moment: datetime | None) -> int | None:
    """100 ns since the year 1, as .NET counts."""
    if moment is None:
        return None
    return (moment - datetime(1, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10


_CODES: Final = {
    3: "Boolean/4",
    4: "Char/2",
    6: "Byte/1",
    7: "Int16/2",
    9: "Int32/4",
    10: "UInt32/4",
    18: "String/ffee",
    20: "Int64/ffec",
    21: "UInt64/ffec",
    23: "Char/1",
    26: "Boolean/1",
}
_ARRAYS: Final = {19: "[LengthPrefixed]", 22: "[FixedCount]", 24: "[RelLoc]", 25: "[DataLoc]"}


def type_text(field: FieldDescription) -> str:
    """A field's type as the summaries write it."""
    if field.element is not None:
        return type_text(field.element) + _ARRAYS[field.code]
    if field.members:
        return "{" + ",".join(f"{m.name}:{type_text(m)}" for m in field.members) + "}"
    return _CODES[field.code]


# Where ours differs on purpose. -----------------------------------------------------------------------------------


@attrs.frozen
class Difference:
    """`accepts` says whether a disagreement is this one and ours is what the reason makes of it."""

    name: str
    reason: str
    accepts: Callable[[Odd], bool]


def _is_alias(odd: Odd) -> bool:
    return odd.fact == "name" and isinstance(odd.about, Ours) and odd.theirs in odd.about.kind.entry.aliases


def _opcode_of_name(odd: Odd) -> bool:
    if odd.fact == "opcode" and isinstance(odd.about, Ours):
        name, given = odd.about.event.name, odd.about.kind.row.opcode
    elif odd.fact == "metadata opcode":
        name, given = odd.about.name, odd.about.opcode
    else:
        return False
    return given is None and odd.ours in (0, None) and name.endswith({1: "Start", 2: "Stop"}.get(odd.theirs, "?"))


def _suffixless_name(odd: Odd) -> bool:
    return odd.fact == "metadata name" and odd.ours in (odd.theirs + "Start", odd.theirs + "Stop")


def _gc_end(odd: Odd) -> bool:
    if not isinstance(odd.about, Ours) or (odd.about.event.provider, odd.about.event.id) != (RUNTIME, 2):
        return False
    if odd.fact == "name":
        return odd.ours == "GCEnd" and odd.theirs in ("GC", "GC/Suspend", "GC/Stop")
    return odd.fact == "opcode" and (odd.theirs, odd.ours) == (2, 0) and odd.about.kind.row.opcode is None


def _derived_guid(odd: Odd) -> bool:
    return odd.fact == "metadata guid" and odd.ours is None and odd.theirs == provider_guid(odd.about.provider)


def provider_guid(name: str) -> str:
    """The GUID that stands for a provider's name (docs/format.md, "Provider GUIDs")."""
    if name == RUNTIME:
        return "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
    if name.startswith("Microsoft-Windows-Application Server"):
        return "c651f5f6-1c0d-492e-8ae1-b4efd7c9d503"
    namespace = UUID("482C2DB2-C390-47C8-87F8-1A15BFC130FB").bytes
    digest = bytearray(hashlib.sha1(namespace + name.upper().encode("utf-16-be")).digest()[:16])
    digest[7] = (digest[7] & 0x0F) | 0x50
    return str(UUID(bytes_le=bytes(digest)))


def _field_error(odd: Odd) -> bool:
    """Theirs is a text in place of the value of one field; ours are the bytes, and that field's name in the reason."""
    if odd.fact != "payload" or not isinstance(odd.ours, RawPayload):
        return False
    bad = next((name for name, value in odd.theirs.items() if str(value).startswith(LOOKUP_ERROR)), None)
    if bad is None:
        return False
    before = list(odd.theirs)[: list(odd.theirs).index(bad)]
    return repr(bad) in odd.ours.reason and list(odd.ours.partial) == before and "fieldError" in expect(odd.vector)


def _raw(odd: Odd, provider: str) -> bool:
    """The whole payload is left as bytes, because nothing describes it."""
    return (
        odd.fact == "payload"
        and isinstance(odd.about, Ours)
        and odd.about.event.provider == provider
        and isinstance(odd.ours, RawPayload)
        and odd.ours.data == odd.about.event.payload_bytes
        and not odd.ours.partial
        and not odd.about.kind.row.fields
    )


DIFFERENCES: Final = (
    Difference(
        "alias",
        "Our names are those of the trace or the manifest; the official decoder's, which put the opcode behind a "
        "slash, are aliases.",
        _is_alias,
    ),
    Difference(
        "opcode of a name",
        "An event without opcode whose name ends in Start or Stop gets 1 or 2 from the official decoder. Ours is the "
        "file's opcode, 0 where it gives none.",
        _opcode_of_name,
    ),
    Difference(
        "names in descriptions",
        "The official decoder cuts Start and Stop off the name in its description, too.",
        _suffixless_name,
    ),
    Difference(
        "GCEnd",
        "The official decoder makes the name of an event it knows from the opcode, also where labels change that, "
        "and takes the opcode from its own table. Ours is called GCEnd whatever its opcode, which is the file's.",
        _gc_end,
    ),
    Difference(
        "AllocationSampled",
        "The official decoder has its own name for event 303, which the trace calls AllocationSampled.",
        lambda odd: odd.fact == "name" and (odd.theirs, odd.ours) == ("AllocationSampling", "AllocationSampled"),
    ),
    Difference(
        "schema of ApplicationServer",
        "481 events of Windows Server's own provider, without fields in the trace; no .NET runtime writes them, so "
        "we have no schema: names are the trace's, payloads the bytes.",
        lambda odd: (
            odd.vector == APPSERVER
            and (
                _raw(odd, "Microsoft-Windows-Application Server-Applications")
                or (odd.fact == "typed name" and odd.ours == odd.about.kind.row.name)
                or (odd.fact == "typed opcode" and odd.about.kind.row.opcode in (None, odd.ours))
            )
        ),
    ),
    Difference(
        "DiagnosticSource",
        "The traces describe these events without fields. The official decoder writes its built-in ones into the "
        "description; ours come from the registry, and the description stays what it is.",
        lambda odd: (
            odd.fact == "metadata fields"
            and odd.ours == []
            and odd.about.provider == "Microsoft-Diagnostics-DiagnosticSource"
            and [f["name"] for f in odd.theirs] == ["SourceName", "EventName", "Arguments"]
        ),
    ),
    Difference(
        "unknown in the header",
        "0 for a number that the header does not give; ours is None.",
        lambda odd: (
            odd.fact in ("header pid", "header processors", "header sampling") and (odd.theirs, odd.ours) == (0, None)
        ),
    ),
    Difference(
        "time before the start",
        "Relative time is clamped at 0 by the official decoder, negative for us.",
        lambda odd: odd.fact == "ms" and odd.theirs == 0 and odd.ours < 0,
    ),
    Difference(
        "trace id",
        "The official decoder shows the 16 bytes as a GUID, which swaps the first eight. W3C ids are read in the "
        "order they are stored: 32 hex digits.",
        lambda odd: odd.fact == "label TraceId" and UUID(odd.theirs).bytes_le.hex() == odd.ours,
    ),
    Difference(
        "span id",
        "16 hex digits without a prefix, as W3C writes it.",
        lambda odd: odd.fact == "label SpanId" and odd.theirs == "0x" + odd.ours,
    ),
    Difference(
        "processor of another thread",
        "A processor number is that of the writing thread. Where an event is about another one it is unknown; the "
        "official decoder shows 0.",
        lambda odd: odd.fact in ("cpu", "proc") and (odd.theirs, odd.ours) == (0, None) and odd.about.foreign,
    ),
    Difference(
        "provider guid",
        "Where the trace gives no GUID the official decoder derives it from the name or knows it; ours is None.",
        _derived_guid,
    ),
    Difference(
        "field error",
        "A field that the payload does not hold is a text in the value's place there. Ours is a RawPayload with the "
        "fields before it, and a problem that names it.",
        _field_error,
    ),
    Difference(
        "malformed map",
        "One malformed MethodILToNativeMap ends the official decoder's whole reading. For us it is one event whose "
        "payload stays bytes, and a problem; only a strict reading ends.",
        lambda odd: (
            odd.fact == "events"
            and odd.vector.startswith("MalformedILToNativeMap")
            and odd.theirs == 0
            and [type(o.event.payload) for o in odd.about.events] == [RawPayload]
        ),
    ),
    Difference(
        "events before damage",
        "The official decoder loses the events that wait for their order when it meets a fault; ours gives all that "
        "stand before it.",
        lambda odd: (
            odd.fact == "events"
            and odd.theirs == 0
            and isinstance(odd.about.error, DamageError)
            and odd.about.error.offset is not None
            and max(o.offset for o in odd.about.events) < odd.about.error.offset
        ),
    ),
    Difference(
        "backward numbers",
        "These vectors remove a thread with a lower sequence number than it reached. The official decoder counts that "
        "as 2^31-1 lost events, and its sum overflows; a step back is no loss.",
        lambda odd: odd.fact == "header lost" and odd.ours == 0 and abs(odd.theirs) > (1 << 31) - 10,
    ),
)


def expect(vector: str) -> dict[str, Any]:
    found: dict[str, Any] = expected()[vector]["expect"]
    return found


def disagreements(vector: str) -> Iterator[Odd]:
    """Every fact about a vector in which the sides differ."""
    for fact, theirs, ours, about in facts(vector):
        if not same(ours, theirs):
            yield Odd(vector, fact, theirs, ours, about)


def facts(vector: str) -> Iterator[tuple[str, Any, Any, Any]]:
    reading = read(vector)
    if reading.stream.info is None:
        assert expect(vector)["error"]
        return
    yield from official_facts(vector, reading)


def official_facts(vector: str, reading: Reading) -> Iterator[tuple[str, Any, Any, Any]]:
    """What the official decoder shows: its events, and its summary of header, descriptions and threads."""
    shown = lines(FOLDER / f"{vector}.jsonl")
    yield "events", len(shown), len(reading.events), reading
    for theirs, ours in zip(shown, reading.events, strict=False):
        yield from ((*fact, ours) for fact in event_facts(theirs, ours, whole=True))
    typed = FOLDER / f"{vector}.typed.jsonl"
    for theirs, ours in zip(lines(typed), reading.events, strict=True) if typed.exists() else ():
        for fact, there, here in event_facts(theirs, ours, whole=False):
            yield f"typed {fact}" if fact in ("name", "opcode") else fact, there, here, ours
    whole = summary(vector)
    assert whole["events"] == len(shown)
    for header in header_facts(whole, reading.stream):
        yield (*header, reading)
    rows: dict[int, list[MetadataRow]] = {}
    for kind in reading.stream.kinds.all:
        rows.setdefault(kind.row.metadata_id, []).append(kind.row)
    for theirs in whole["metadata"]:
        yield from closest(theirs, rows[theirs["id"]], metadata_facts)
    listed = {theirs["id"] for theirs in whole["metadata"]}
    # Of a description that cannot be used we keep that it is there.
    assert listed == rows.keys() or (isinstance(reading.error, DamageError) and not listed)
    if reading.stream.info is not None and reading.stream.info.version < 6:
        # Threads have no table there: they are what events are about.
        assert {t["tid"] for t in whole["threads"]} == {o.event.thread_id for o in reading.events}
        return
    for theirs in whole["threads"]:
        here = [t for t in reading.stream.threads.all if t.index == theirs["index"]]
        yield from closest(theirs, here, thread_facts)


def closest(theirs: dict[str, Any], rows: list[Any], compare: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    """The facts of that definition of an id (it may have several in turn) that differs least."""
    found = [[(*fact, row) for fact in compare(theirs, row)] for row in rows]
    return iter(min(found, key=lambda these: sum(there != here for _, there, here, _ in these)))


# The tests. -------------------------------------------------------------------------------------------------------


@needs_shared
def test_all_vectors_are_here() -> None:
    assert len(VECTORS) == 66
    assert set(expected()) == set(VECTORS)


@needs_shared
@pytest.mark.parametrize("vector", VECTORS)
def test_as_expected(vector: str) -> None:
    wrong = [odd for odd in disagreements(vector) if not any(d.accepts(odd) for d in DIFFERENCES)]
    assert not wrong, "\n".join(map(str, wrong))


@needs_shared
def test_every_difference_is_still_there() -> None:
    seen: Counter[str] = Counter()
    for vector in VECTORS:
        for odd in disagreements(vector):
            seen.update(d.name for d in DIFFERENCES if d.accepts(odd))
    assert {d.name for d in DIFFERENCES} == seen.keys()


@needs_shared
@pytest.mark.parametrize("vector", VECTORS)
def test_what_a_strict_reading_says(vector: str) -> None:
    """Strict raises where an error is expected, also of a field, and nowhere else."""
    reading = read(vector, "strict")
    wanted = expect(vector)
    if vector in INCOMPLETE:
        assert reading.error is None
        assert [p.kind for p in reading.stream.problems] == ["missing-end"]
        assert not reading.stream.complete
    elif "error" in wanted:
        assert isinstance(reading.error, ENDED_BY.get(vector, DamageError)), reading.error
        assert reading.error.offset is not None
        assert all(o.offset < reading.error.offset for o in reading.events)
    elif "fieldError" in wanted:
        assert isinstance(reading.error, PayloadError)
        assert reading.error.field == wanted["fieldError"]["field"]
    elif vector in STRICTER:
        assert isinstance(reading.error, PayloadError)
    else:
        assert reading.error is None
        assert reading.stream.complete


@needs_shared
@pytest.mark.parametrize("vector", VECTORS)
def test_what_a_reporting_reading_says(vector: str) -> None:
    """Damage to the container raises, behind the events before it; a field error is a problem and a RawPayload."""
    reading, strict = read(vector), read(vector, "strict")
    damaged = isinstance(strict.error, DamageError | UnreadableError)
    assert (reading.error is not None) == damaged
    severities = {p.severity for p in reading.stream.problems}
    assert ("damage" in severities) == isinstance(reading.error, DamageError)
    faults = [p for p in reading.stream.problems if p.severity == "payload"]
    raw = [o.event for o in reading.events if isinstance(o.event.payload, RawPayload) and o.kind.row.fields]
    for event in raw:
        assert event.payload.data == event.payload_bytes
        assert [p.field for p in faults] == [expect(vector)["fieldError"]["field"]]
        assert faults[0].event == f"{event.name}_V{event.version}"
    assert bool(raw) == ("fieldError" in expect(vector))


@needs_shared
@pytest.mark.parametrize("vector", VECTORS)
def test_salvage_goes_on(vector: str) -> None:
    """Nothing raises behind the header, and nothing that a reporting reading gives is lost."""
    reading = read(vector, "salvage")
    if expect(vector).get("error") and reading.stream.info is None:
        assert isinstance(reading.error, UnreadableError)
        return
    assert reading.error is None
    before = read(vector)
    assert [o.event for o in reading.events][: len(before.events)] == [o.event for o in before.events] or before.error
    if before.error is not None:
        assert reading.stream.problems.severities["damage"]
