"""Records made many at once are those that are made one by one, whatever the payloads are.

Every registered layout with drawn records; then what only some rows have: payloads that do not fit, halves of
surrogate pairs, newer versions, classes learned from the trace. And what events keep alive.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any, Final

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.decode import push_passes
from clrevents.decode.container.blocks import MetadataRow
from clrevents.decode.kernels.engine import COMPILED
from clrevents.decode.kinds import Kinds
from clrevents.decode.payload import record_reader
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.record_reader import Slots
from clrevents.encode.values import FieldDescription
from clrevents.errors import Limits
from clrevents.events import MethodFlags, MethodLoad_V1, MethodLoadVerbose_V1, MethodUnload_V1, MethodUnload_V2
from clrevents.reference import codec
from clrevents.schema.registry import DEFAULT, RUNTIME, EventInfo
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.testing.strategies import MadeTrace, records, traces
from clrevents.trace.batch import hand_out
from properties.test_three_decoders import EACH
from tiers import each_fixture

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
UNLOAD = MethodUnload_V1(1, 2, 3, 4, 5, MethodFlags(6), 7)
NETTRACE: tuple[Format, ...] = ("nettrace4", "nettrace6")


# One by one, as the interpreted engine reads; and together, which only the compiled one does.
WAYS: Final = (False, *([True] if COMPILED else []))


class Readers:
    """The ways to read payloads of one event: together, which only the compiled engine does, and one by one."""

    def __init__(self, info: EventInfo, size: int) -> None:
        self.kinds = Kinds(DEFAULT, Limits())
        assert self.kinds.define(MetadataRow(1, info.provider, info.id, info.version)) is None
        self._bulk = record_reader.RecordReader(PayloadDecoder(size, Limits()))
        self._single = PayloadDecoder(size, Limits())

    def at_once(self, payloads: list[bytes]) -> tuple[list[Any], list[int]]:
        """The payloads and the rows left, with poison around each."""
        data, starts, ends = b"", [], []
        for payload in payloads:
            data += b"\xfe"
            starts.append(len(data))
            data += payload
            ends.append(len(data))
        places = np.zeros(len(payloads), dtype=np.int64)
        records, left = self._bulk.read(self.kinds.all, places, data + b"\xfe", np.array(starts), np.array(ends))
        return [record for portion in records.portions() for record in portion], left

    def one_by_one(self, payloads: list[bytes]) -> list[Any]:
        return [self._single.read(self.kinds.all[0], payload, 0)[0] for payload in payloads]


def always(monkeypatch: pytest.MonkeyPatch, together: bool) -> None:
    """Read together, or one by one as the interpreted engine does; a few at a time, which must not show."""
    monkeypatch.setattr(record_reader, "PORTION", 7)
    monkeypatch.setattr(push_passes, "COMPILED", together)


def alike(one: Any, other: Any) -> bool:
    """Equal in value and in type, down to enums and booleans; classes learned twice are called the same."""
    return type(one).__name__ == type(other).__name__ and repr(one) == repr(other)


@EACH
@settings(max_examples=max(1, settings().max_examples // 8))
@given(data=st.data())
def test_every_layout(info: EventInfo, size: int, data: st.DataObject) -> None:
    """Read together, payloads give what they were made of."""
    drawn = data.draw(st.lists(records(info.record, size), min_size=1, max_size=3))
    build = codec(info.record, size).build
    payloads = [build(record) for record in drawn] * 24
    readers = Readers(info, size)
    single = readers.one_by_one(payloads)
    if not COMPILED:
        assert single == drawn * 24
        return
    made, left = readers.at_once(payloads)
    assert left == []
    for row, record in enumerate(drawn * 24):
        assert type(made[row]) is info.record
        assert made[row] == record
        assert made[row] == single[row]
        assert alike(made[row], record)
        assert hash(made[row]) == hash(record)


@EACH
@settings(max_examples=1)
@given(data=st.data())
def test_a_row_that_does_not_fit(info: EventInfo, size: int, data: st.DataObject) -> None:
    """Too short or too long in the middle: no record is made of it, and one by one will say what is wrong."""
    payload = codec(info.record, size).build(data.draw(records(info.record, size)))
    readers = Readers(info, size)
    others = [payload + b"\0", *([payload[:-1]] if payload else [])]
    for other in others if COMPILED else ():
        made, left = readers.at_once([payload] * 20 + [other] + [payload] * 20)
        assert left == [20]
        assert made[20] is None
        assert made[0] == made[19] == made[40] == readers.one_by_one([payload])[0]


def test_classes_with_more_than_slots() -> None:
    """Whatever a class's objects have beside their fields is there and empty, however they were allocated."""

    class Loose:
        pass

    class Tight:
        __slots__ = ("__weakref__", "more")

    for base in (Loose, Tight, object):
        made: Any = attrs.make_class("Made", {"A": attrs.field(), "B": attrs.field()}, (base,), slots=True, frozen=True)
        made.__fields__ = ("A", "B")
        first, second = Slots(made, ("A", "B")).of(2, [[1, 2], ["x", "y"]])
        assert (first, second) == (made(1, "x"), made(2, "y"))
        assert weakref.ref(first)() is first
        if base is not object:
            assert not hasattr(first, "more")
            object.__setattr__(first, "more", [first])
            assert first.more == [first]
            assert not hasattr(second, "more")
        assert attrs.evolve(second, B="z") == made(2, "z")


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_left_as_it_was(on: bool) -> None:
    """It rests while a batch is made, and never while its events are looked at."""
    seen = set()
    try:
        if not on:
            gc.disable()
        with clrevents.open(method_trace(50)) as trace:
            for _ in trace.events():
                seen.add(gc.isenabled())
        assert seen == {on}
        assert gc.isenabled() is on
        decoder = clrevents.Decoder(errors="strict")
        with pytest.raises(clrevents.TraceError):
            decoder.feed(bytes(4000))
        assert gc.isenabled() is on
    finally:
        gc.enable()


def both(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[clrevents.Event[Any]]:
    """A trace's events, read at once in every way, after they were compared with those read one by one."""
    found = []
    for together in WAYS:
        always(monkeypatch, together)
        with clrevents.open(data, errors="salvage") as trace:
            events = list(trace.events())
            found.append((events, trace.problems))
    one, said = found[0]
    for other, said_too in found[1:]:
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert alike(a.payload, b.payload)
            assert a.payload_tail == b.payload_tail
            assert a.payload_bytes == b.payload_bytes
        assert said == said_too
    return found[-1][0]


@pytest.mark.parametrize("format", NETTRACE)
def test_misfits_tails_and_newer_versions(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one trace: good rows of three kinds, in their midst one that is short, one that is long, newer versions."""
    builder = TraceBuilder(format)
    good = codec(MethodUnload_V1, 8).build(UNLOAD)
    newest = codec(MethodUnload_V2, 8).build(MethodUnload_V2(1, 2, 3, 4, 5, MethodFlags(6), 7, 8))
    for row in range(60):
        builder.method_load("N", f"M{row % 7}", address=0x1000 + row)
        builder.raw(RUNTIME, 141, 1, good[:-1] if row == 30 else good)
        builder.raw(RUNTIME, 142, 1, good + b"tail" if row == 40 else good)
        builder.raw(RUNTIME, 142, 8, newest)
        builder.raw(RUNTIME, 142, 9, newest + bytes([row]))
        builder.sample(0x1000)
    events = both(builder.build(), monkeypatch)
    misfits = [e for e in events if isinstance(e.payload, RawPayload)]
    assert [e.payload.data for e in misfits] == [good[:-1]]
    assert misfits[0].payload.partial["MethodID"] == 1
    known, newer = ([e for e in events if (e.id, e.version) == (142, version)] for version in (1, 9))
    assert sum(isinstance(e.payload, MethodLoad_V1) for e in events) == 59
    assert [e.payload_tail for e in known if e.payload_tail] == [b"tail"]
    assert sum(type(e.payload) is MethodUnload_V1 for e in known) == 60
    assert [e.payload_tail for e in newer] == [bytes([row]) for row in range(60)]
    assert all(type(e.payload) is MethodUnload_V2 for e in newer)


@pytest.mark.parametrize(
    "units", [(0xD800,), (0x78, 0xDC00), (0xFFFD,), (0xD83D, 0xDE00), (0xDFFF, 0xD800)], ids=lambda units: f"{units}"
)
@pytest.mark.parametrize("at", [0, 29])
def test_half_pairs_in_the_middle_of_good_text(
    units: tuple[int, ...], at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come out as they are in the file, also where all their neighbours are plain."""
    builder = TraceBuilder()
    for row in range(30):
        builder.described("My-App", "Said", {"Text": (18, "abc"), "Number": (9, row)})
    data = builder.build()
    # The writer refuses half a pair, so it is put where a text of the same length was.
    good, behind = "abc".encode("utf-16-le"), b"\0\0" + at.to_bytes(4, "little")
    bad = b"".join(unit.to_bytes(2, "little") for unit in units)
    bad += good[len(bad) :]
    assert data.count(good + behind) == 1
    texts = [event.payload.Text for event in both(data.replace(good + behind, bad + behind), monkeypatch)]
    assert texts == ["abc"] * at + [bad.decode("utf-16-le", "surrogatepass")] + ["abc"] * (29 - at)


@pytest.mark.parametrize("format", NETTRACE)
def test_learned_classes(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are no identifiers, absent text, booleans, GUIDs and dates, arrays where the format has them."""
    builder = TraceBuilder(format)
    numbers = FieldDescription("", 19, FieldDescription("", 9))
    for row in range(40):
        fields: dict[str, tuple[Any, Any]] = {
            "def": (9, -row),
            "a b": (18, "NULL" if row % 3 else ""),
            "Yes": (3, row % 2 == 0),
            "Real": (14, row / 7),
        }
        if format == "nettrace6":
            fields["Items"] = numbers, tuple(range(row % 4))
        builder.described("My-App", "Order", fields)
        builder.described("My-App", "Nothing", {}, id=2)
    events = both(builder.build(), monkeypatch)
    orders = [e for e in events if e.name == "Order"]
    assert len({type(e.payload) for e in orders}) == 1
    assert [clrevents.asdict(e.payload)["def"] for e in orders] == [-row for row in range(40)]
    again = pickle.loads(pickle.dumps(orders))
    assert [repr(e.payload) for e in again] == [repr(e.payload) for e in orders]


@settings(max_examples=max(1, settings().max_examples // 4))
@given(made=traces(max_events=20))
def test_any_trace(made: MadeTrace) -> None:
    with pytest.MonkeyPatch.context() as patch:
        events = both(made.data, patch)
    assert len(events) == len(made.events)
    for event, wanted in zip(events, made.events, strict=True):
        if not isinstance(event.payload, RawPayload):
            assert clrevents.asdict(event.payload) == clrevents.asdict(wanted.payload)


@each_fixture("net8-sample", "net10-servergc", "net8-counters")
def test_real_traces(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    events = both(path.read_bytes(), monkeypatch)
    assert len(events) > 100


def method_trace(rows: int = 50) -> bytes:
    builder = TraceBuilder()
    for row in range(rows):
        builder.thread(row % 3 + 1).method_load("N", f"M{row}", address=0x1000 + row).sample(0x1000 + row)
    return builder.build()


@pytest.mark.parametrize("together", WAYS)
def test_however_made_records_and_events_keep_what_classes_promise(
    together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Immutable, equal, hashable; for pickle, copy, patterns, attrs and weak references as if `__init__` had run."""
    always(monkeypatch, together)
    with clrevents.open(method_trace()) as trace:
        event = next(trace.events(MethodLoadVerbose_V1))
    record = event.payload
    fields = {name: getattr(record, name) for name in type(record).__fields__}  # type: ignore[attr-defined]
    made = type(record)(**fields)
    assert (record, hash(record), repr(record)) == (made, hash(made), repr(made))
    for thing, names in ((record, fields), (event, ("time_ns", "thread_id", "name", "payload", "stack_id", "key"))):
        for name in (*names, "other"):
            for change in (setattr, delattr):
                with pytest.raises(AttributeError):
                    change(thing, name, *([1] if change is setattr else []))
    assert pickle.loads(pickle.dumps(record)) == copy.copy(record) == copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(event)) == copy.copy(event) == copy.deepcopy(event) == event
    assert attrs.evolve(record, MethodID=5).MethodID == 5
    assert attrs.asdict(record) == fields
    assert weakref.ref(record)() is record
    match event:
        case clrevents.Event(name=name, thread_id=thread, payload=MethodLoadVerbose_V1(MethodID=method)):
            assert (name, thread, method) == (event.name, event.thread_id, record.MethodID)
        case _:
            raise AssertionError("no match")
    match record:
        case MethodLoadVerbose_V1(method, module):
            assert (method, module) == (record.MethodID, record.ModuleID)


def test_a_pickled_event_takes_no_others_along() -> None:
    """One of many is as small as one of few."""
    sizes = []
    for rows in (2, 2000):
        with clrevents.open(method_trace(rows)) as trace:
            sizes.append(len(pickle.dumps(list(trace.events())[2])))
    assert sizes[1] < sizes[0] + 200


def test_a_kept_event_keeps_no_other_payload_alive() -> None:
    class Payload:
        """Can be watched, which a record cannot."""

    decoder = clrevents.Decoder()
    batches = [*decoder.feed(method_trace()), *decoder.close()]
    (batch,) = [batch for batch in batches if len(batch)]
    batch._rows.records = [Payload() for _ in range(len(batch))]
    watched = [weakref.ref(payload) for payload in batch._rows.payloads]
    events = list(hand_out(batch))
    assert all(ref() is not None for ref in watched)
    kept = events[7]
    del events
    gc.collect()
    assert [n for n, ref in enumerate(watched) if ref() is not None] == [7]
    assert kept.payload is watched[7]()
    assert kept.name
    # What was handed out is gone.
    assert list(hand_out(batch)) == []


def test_events_that_were_kept_stay_as_they_were() -> None:
    """Those that nobody has become others while one iterates; kept events, payloads and weak references do not show."""
    data = method_trace(700)
    with clrevents.open(data) as trace:
        every = list(trace.events())
        events, payloads, alive = {}, {}, []
        for number, event in enumerate(trace.events()):
            assert event == every[number]
            if number % 3 == 0:
                events[number] = event
            if number % 5 == 0:
                payloads[number] = event.payload
            if number % 7 == 0:
                alive.append((number, weakref.ref(event.payload)))
    assert len(events) > 400
    for number, event in events.items():
        assert event == every[number]
        assert (event.name, event.thread_id, event.time_ns) == (
            *(getattr(every[number], n) for n in ("name", "thread_id", "time_ns")),
        )
        assert event.stack == every[number].stack
    assert all(payload == every[number].payload for number, payload in payloads.items())
    for number, ref in alive:
        held = number % 3 == 0 or number % 5 == 0
        # The loop's variable has the last one.
        assert held == (ref() is not None) or number == len(every) - 1
        assert ref() is None or ref() == every[number].payload
