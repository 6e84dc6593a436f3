"""decode(encode(x)) == x, field by field, for every generation: events, descriptions, stacks, threads, labels, points.

Hypothesis chooses the values and which optional header parts are forced or avoided.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from encode_reading import netperf_records, records, values
from hypothesis import given, settings
from hypothesis import strategies as st

from clrevents.decode.container.blocks import (
    End,
    Events,
    Fault,
    Header,
    LabelList,
    Labels,
    Metadata,
    RemovedThreads,
    SequencePoint,
    Stacks,
    Threads,
)
from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import (
    NO_GUID,
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    MetadataStyle,
    ThreadRow,
    TraceHeader,
)
from clrevents.schema.codes import Forget, HeaderFlag, LabelKind
from oldest_writer import NetPerf12Writer

MANY = settings(max_examples=4 * settings().max_examples)
FEW = settings(max_examples=2 * settings().max_examples)

M31, M32, M64 = (1 << 31) - 1, (1 << 32) - 1, (1 << 64) - 1
GUID_A, GUID_B = bytes(range(16)), b"\xff" * 16
OPTIONAL = [*HeaderFlag.PARTS]


def numbers(high: int, *often: int) -> st.SearchStrategy[int]:
    """Mostly repeated and small values, which is where headers are short, but any at all."""
    return st.one_of(st.sampled_from([*often, high]), st.integers(0, high))


guids = st.sampled_from([NO_GUID, GUID_A, GUID_B])
parts = st.sets(st.sampled_from(OPTIONAL)).map(lambda found: HeaderFlag(sum(found)))


def event_records(labelled: bool = False, ids: int = M32) -> st.SearchStrategy[list[EventRecord]]:
    one = st.builds(
        EventRecord,
        metadata_id=numbers(ids, 1, 1, 1, 2, 0),
        time=st.one_of(st.integers(1000, 1010), st.integers(-(1 << 63), (1 << 63) - 1)),
        thread_id=numbers(M64, 7, 7, 8),
        payload=st.one_of(st.sampled_from([b"", b"", b"four"]), st.binary(max_size=300)),
        capture_thread_id=st.one_of(st.none(), numbers(M64, 7, 8)),
        sequence=st.one_of(st.none(), st.none(), numbers(M32, 0, 1)),
        processor=st.one_of(st.sampled_from([-1, -1, 0]), st.integers(0, M32 - 1)),
        stack_id=numbers(M32, 0, 1, 2),
        activity_id=st.just(NO_GUID) if labelled else guids,
        related_activity_id=st.just(NO_GUID) if labelled else guids,
        is_sorted=st.booleans(),
        label_id=numbers(M32, 0, 1, 2) if labelled else st.just(0),
    )
    return st.lists(one, min_size=1, max_size=12)


def numbered(listed: list[EventRecord]) -> list[EventRecord]:
    """The same events with the sequence numbers and capture threads that the writer gives them."""
    last: dict[int, int] = {}
    found = []
    for event in listed:
        capture = event.thread_id if event.capture_thread_id is None else event.capture_thread_id
        sequence = (last.get(capture, 0) + 1) & M32 if event.sequence is None else event.sequence
        last[capture] = sequence
        found.append(replace(event, capture_thread_id=capture, sequence=sequence))
    return found


def written(version: int, header: TraceHeader | None = None) -> tuple[io.BytesIO, Any]:
    sink = io.BytesIO()
    writers = {3: NetPerf3Writer, 4: NetTrace4Writer, 6: NetTrace6Writer}
    return sink, writers[version](sink, header)


def read_events(version: int, listed: list[EventRecord], choices: Choices) -> list[EventRecord]:
    """Write one block of events, read it back; nothing else may be in the stream, and no fault."""
    sink, writer = written(version)
    start = writer.offset
    writer.events(listed, choices)
    writer.end()
    data = sink.getvalue()
    header, events, end = values(data)
    assert isinstance(header, Header)
    assert isinstance(end, End)
    times = [event.time & M64 for event in listed]
    signed = [time - (1 << 64) if time >> 63 else time for time in times]
    assert isinstance(events, Events)
    assert (events.span or (0, 0)) == (choices.span or (min(signed), max(signed)))
    if not choices.compressed:
        return records(events, data, full=80 if version == 4 else 52)
    first = start + (4 if version == 6 else 0)
    if version == 4:
        first = data.index(b"EventBlock\6", start) + 15
        first += -first % 4
    return records(events, data, first + choices.header_size)


@pytest.mark.parametrize("version", [4, 6])
@MANY
@given(st.data())
def test_compressed_headers(version: int, data: st.DataObject) -> None:
    listed = data.draw(event_records(labelled=version == 6))
    forced = parts if version == 4 else parts.map(lambda p: p & ~HeaderFlag.RELATED)
    force = data.draw(st.lists(forced, min_size=len(listed), max_size=len(listed)))
    choices = Choices(force=force, header_size=data.draw(st.sampled_from([20, 20, 21, 28])))
    assert read_events(version, listed, choices) == numbered(listed)


@pytest.mark.parametrize("version", [4, 6])
@MANY
@given(st.data(), st.booleans(), st.sampled_from([20, 23, 28]))
def test_full_headers(version: int, data: st.DataObject, padded: bool, size: int) -> None:
    listed = data.draw(event_records(labelled=version == 6, ids=M31))
    choices = Choices(compressed=False, padded=padded, header_size=size if version == 4 else 20)
    assert read_events(version, listed, choices) == numbered(listed)


@pytest.mark.parametrize("version", [4, 6])
def test_forced_and_avoided_parts_mean_the_same(version: int) -> None:
    """Shortest, everything forced, and each part avoided where it can be: three sizes, one meaning."""
    listed = [EventRecord(3, 1000 + i, 7, b"abcd", stack_id=5) for i in range(4)]
    everything = HeaderFlag.PARTS if version == 4 else HeaderFlag.PARTS & ~HeaderFlag.RELATED
    shortest = read_events(version, listed, Choices())
    assert shortest == numbered(listed)
    assert read_events(version, listed, Choices(force=everything)) == shortest
    avoid = [HeaderFlag.NONE, *[everything] * 3]
    assert read_events(version, listed, Choices(avoid=avoid)) == shortest
    for part in OPTIONAL:
        if part & everything:
            only = Choices(force=[HeaderFlag.NONE, *[everything] * 3], avoid=[HeaderFlag.NONE, *[part] * 3])
            assert read_events(version, listed, only) == shortest


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("part", [p for p in OPTIONAL if p is not HeaderFlag.RELATED])
def test_a_part_that_is_needed_cannot_be_avoided(version: int, part: HeaderFlag) -> None:
    activity = {"activity_id": GUID_A} if version == 4 else {"label_id": 4}
    _, writer = written(version)
    offset = writer.offset
    with pytest.raises(ValueError, match=r"event 0 .* cannot be avoided"):
        writer.events([EventRecord(3, 1000, 7, b"abcd", stack_id=5, **activity)], Choices(avoid=part))
    assert writer.offset == offset


@MANY
@given(st.data(), st.booleans(), st.sampled_from([4, 8]))
def test_netperf3_events(data: st.DataObject, padded: bool, pointer_size: int) -> None:
    one = st.builds(
        EventRecord,
        metadata_id=st.integers(1, M31),
        time=st.integers(-(1 << 63), (1 << 63) - 1),
        thread_id=numbers(M32, 7),
        payload=st.binary(max_size=40),
        activity_id=guids,
        related_activity_id=guids,
        stack=st.lists(st.integers(0, (1 << 8 * pointer_size) - 1), max_size=4),
    )
    listed = data.draw(st.lists(one, min_size=1, max_size=8))
    sink, writer = written(3, TraceHeader(pointer_size=pointer_size))
    writer.events(listed, padded=padded)
    writer.end()
    stream = sink.getvalue()
    found = values(stream)
    assert not [v for v in found if isinstance(v, Fault)]
    packed = [replace(e, stack=b"".join(a.to_bytes(pointer_size, "little") for a in e.stack)) for e in listed]
    assert netperf_records(found, stream) == packed
    assert (len(stream) - 2) % 4 == 0 or not padded


@FEW
@given(st.data(), st.sampled_from([1, 2]), st.booleans())
def test_netperf12(data: st.DataObject, version: int, footer: bool) -> None:
    described = [
        MetadataRecord(1, "Native", 10, 2, provider_guid=GUID_A),
        MetadataRecord(2, "Named", 11, 1, "Name", 5, 4, fields=(FieldDescription("X", 9),), provider_guid=GUID_B),
    ]
    one = st.builds(
        EventRecord,
        metadata_id=st.integers(1, 2),
        time=st.integers(0, M31),
        thread_id=numbers(M32, 7),
        payload=st.binary(max_size=40),
        activity_id=guids,
        stack=st.binary(max_size=40),
    )
    listed = data.draw(st.lists(one, min_size=1, max_size=8))
    sink = io.BytesIO()
    writer = NetPerf12Writer(sink, version)
    writer.events([described[0], *(e for e in listed if e.metadata_id == 1), described[1]])
    writer.events([e for e in listed if e.metadata_id == 2])
    writer.end(footer=footer)
    stream = sink.getvalue()
    found = values(stream)
    assert isinstance(found[-1], End)
    assert not [v for v in found if isinstance(v, Fault)]
    order = [e for e in listed if e.metadata_id == 1] + [e for e in listed if e.metadata_id == 2]
    assert netperf_records(found, stream) == [replace(e, metadata_id=writer.places[e.metadata_id]) for e in order]
    rows = [row for v in found if isinstance(v, Metadata) for row in v.rows]
    for row, was in zip(rows, described, strict=True):
        assert row.metadata_id == writer.places[was.metadata_id]
        provider = was.provider if version == 2 else str(UUID(bytes_le=was.provider_guid))  # type: ignore[arg-type]
        assert (row.provider, row.id, row.version, row.name) == (provider, was.id, was.version, was.name)
        assert (row.keywords, row.level, row.fields) == (was.keywords, was.level, was.fields)


# -- descriptions ------------------------------------------------------------------------------------------------

# Without halves of surrogate pairs, which names lose when they are read.
wide_text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
plain_text = st.text(max_size=12).filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text))

SIMPLE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
FIXED_SIZE = [3, 4, 5, 6, 9, 11, 14, 17, 23, 26]


def fields(generation: str) -> st.SearchStrategy[tuple[FieldDescription, ...]]:
    text = plain_text if generation == "v6" else wide_text
    codes = SIMPLE + ([20, 21, 23, 26] if generation == "v6" else [])
    leaf = st.builds(FieldDescription, text, st.sampled_from(codes))

    def deeper(inner: st.SearchStrategy[FieldDescription]) -> st.SearchStrategy[FieldDescription]:
        members = st.lists(inner, max_size=3).map(tuple)
        element = inner.map(lambda f: FieldDescription("", f.code, f.element, f.members, f.count))
        found = [st.builds(FieldDescription, text, st.just(1), members=members)]
        if generation != "v1":
            found.append(st.builds(FieldDescription, text, st.just(19), element=element))
        if generation == "v6":
            located = st.builds(FieldDescription, st.just(""), st.sampled_from(FIXED_SIZE))
            found.append(st.builds(FieldDescription, text, st.just(22), element=element, count=st.integers(0, 0xFFFF)))
            found.append(st.builds(FieldDescription, text, st.sampled_from([24, 25]), element=located))
        return st.one_of(found)

    return st.lists(st.recursive(leaf, deeper, max_leaves=8), max_size=4).map(tuple)


def metadata_records(generation: str) -> st.SearchStrategy[MetadataRecord]:
    newest = generation == "v6"
    text = plain_text if newest else wide_text
    slack = st.binary(max_size=9)
    style = st.builds(
        MetadataStyle,
        layout=st.just(generation) if not newest else st.just("auto"),
        opcode_slack=slack,
        parameter_slack=slack,
        field_slack=slack,
        tags=st.lists(st.tuples(st.integers(3, 255), slack), max_size=2).map(tuple),
        tail=st.binary(max_size=4),
        row_slack=slack,
        write_zeros=st.booleans(),
    )
    return st.builds(
        MetadataRecord,
        metadata_id=st.integers(1, M32 if newest else M31),
        provider=text,
        id=st.integers(0, M32 if newest else 0xFFFF),
        version=st.integers(0, 255),
        name=text,
        keywords=st.integers(0, M64),
        level=st.integers(0, 255),
        opcode=st.none() | st.integers(0, 255),
        fields=fields(generation),
        attributes=st.lists(st.tuples(text, text), max_size=2).map(tuple) if newest else st.just(()),
        description=text if newest else st.just(""),
        message=text if newest else st.just(""),
        provider_guid=st.none() | st.uuids() if newest else st.none(),
        time=st.integers(0, M31),
        thread_id=st.integers(0, M31),
        style=style,
    )


def plain(described: Any) -> tuple[Any, ...]:
    """What a description says, of the encoder's value and of the decoder's alike."""
    guid = described.provider_guid
    return (
        described.metadata_id,
        described.provider,
        described.id,
        described.version,
        described.name,
        described.keywords,
        described.level,
        described.opcode,
        described.fields,
        described.attributes,
        described.description,
        described.message,
        guid,
    )


@pytest.mark.parametrize("generation", ["v1", "v2", "v6"])
@MANY
@given(st.data())
def test_descriptions(generation: str, data: st.DataObject) -> None:
    """Of NetTrace 4 with older and newer lists of fields, and of NetTrace 6."""
    listed = data.draw(st.lists(metadata_records(generation), min_size=1, max_size=3))
    compressed, padded = data.draw(st.booleans()), data.draw(st.booleans())
    how: Any = {
        "v1": Choices(compressed=compressed, padded=padded and not compressed),
        "v2": Choices(force=HeaderFlag.PARTS),
        "v6": data.draw(st.binary(max_size=20)),
    }
    sink, writer = written(6 if generation == "v6" else 4)
    writer.metadata(listed, how[generation])
    _, *found = values(sink.getvalue())
    assert [plain(row) for block in found for row in block.rows] == [plain(m) for m in listed]


def test_the_newer_field_list_is_chosen_where_an_array_is() -> None:
    array = FieldDescription("A", 19, FieldDescription("", 9))
    deep = FieldDescription("O", 1, members=(array,))
    for found in ((array,), (deep,)):
        sink, writer = written(4)
        writer.metadata([MetadataRecord(1, "P", 1, fields=found)])
        assert values(sink.getvalue())[1].rows[0].fields == found


def test_a_description_without_a_field_count() -> None:
    sink, writer = written(4)
    writer.metadata([MetadataRecord(1, "P", 1, style=MetadataStyle("none"))])
    assert plain(values(sink.getvalue())[1].rows[0]) == plain(MetadataRecord(1, "P", 1))


# -- the other blocks --------------------------------------------------------------------------------------------


@FEW
@given(st.sampled_from([4, 6]), st.integers(0, M32), st.lists(st.binary(max_size=20), max_size=5))
def test_stacks(version: int, first: int, listed: list[bytes]) -> None:
    sink, writer = written(version)
    writer.stacks(first, listed)
    (block,) = values(sink.getvalue())[1:]
    assert isinstance(block, Stacks)
    assert (block.first_id, block.count) == (first, len(listed))
    at, found = block.start, []
    for _ in range(block.count):
        size = int.from_bytes(block.window[at : at + 4], "little")
        found.append(block.window[at + 4 : at + 4 + size])
        at += 4 + size
    assert (found, at) == (listed, block.end)


@FEW
@given(
    st.sampled_from([4, 6]),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.dictionaries(numbers(M64, 1), numbers(M32, 1), max_size=4),
    st.sampled_from([Forget.NOTHING, Forget.THREADS, Forget.METADATA, Forget.THREADS | Forget.METADATA]),
)
def test_sequence_points(version: int, time: int, threads: dict[int, int], flags: Forget) -> None:
    sink, writer = written(version)
    flags = flags if version == 6 else Forget.NOTHING
    writer.sequence_point(time, threads, *((flags,) if version == 6 else ()))
    (point,) = values(sink.getvalue())[1:]
    assert isinstance(point, SequencePoint)
    assert (point.time, dict(point.threads)) == (time, threads)
    assert (point.forget_threads, point.forget_metadata) == (bool(flags & 1), bool(flags & 2))


@FEW
@given(
    st.lists(
        st.builds(
            ThreadRow,
            numbers(M64, 0, 1),
            st.none() | numbers(M64, 1),
            st.none() | numbers(M64, 1),
            st.none() | plain_text,
            st.lists(st.tuples(plain_text, plain_text), max_size=2).map(tuple),
        ),
        max_size=4,
    )
)
def test_threads(rows: list[ThreadRow]) -> None:
    sink, writer = written(6)
    writer.threads(rows)
    removed = [(row.index, 5) for row in rows]
    writer.remove_threads(removed)
    threads, gone = values(sink.getvalue())[1:]
    assert isinstance(threads, Threads)
    assert isinstance(gone, RemovedThreads)
    assert [(t.index, t.thread_id, t.process_id, t.name, t.attributes) for t in threads.rows] == [
        (t.index, t.thread_id, t.process_id, t.name, t.attributes) for t in rows
    ]
    assert list(gone.threads) == removed


sixteen = st.binary(min_size=16, max_size=16)
one_label = st.one_of(
    st.builds(
        Label, st.sampled_from([LabelKind.ACTIVITY_ID, LabelKind.RELATED_ACTIVITY_ID, LabelKind.TRACE_ID]), sixteen
    ),
    st.builds(Label, st.sampled_from([LabelKind.SPAN_ID, LabelKind.KEYWORDS]), st.integers(0, M64)),
    st.builds(Label, st.sampled_from([LabelKind.OPCODE, LabelKind.LEVEL, LabelKind.VERSION]), st.integers(0, 255)),
    st.builds(Label, st.just(LabelKind.TEXT), plain_text, plain_text),
    st.builds(Label, st.just(LabelKind.NUMBER), st.integers(-(1 << 63), (1 << 63) - 1), plain_text),
)


@MANY
@given(st.integers(1, M32 - 200), st.lists(st.lists(one_label, min_size=1, max_size=5), max_size=4), st.integers(1, 40))
def test_label_lists(first: int, lists: list[list[Label]], times: int) -> None:
    """Also many that are alike, which are found together."""
    lists = [labels for labels in lists for _ in range(times)]
    sink, writer = written(6)
    writer.labels(first, lists)
    (block,) = values(sink.getvalue())[1:]
    assert isinstance(block, Labels)
    assert (block.first_id, list(block.lists)) == (first, [expected_labels(labels) for labels in lists])


def expected_labels(labels: list[Label]) -> LabelList:
    """The last id and override of each kind, and all pairs in order."""
    last = {label.kind: label.value for label in labels}
    pairs = tuple((x.key, x.value) for x in labels if x.kind in (LabelKind.TEXT, LabelKind.NUMBER))
    names = {LabelKind.OPCODE: "opcode", LabelKind.KEYWORDS: "keywords"}
    names |= {LabelKind.LEVEL: "level", LabelKind.VERSION: "version"}
    return LabelList(
        last.get(LabelKind.ACTIVITY_ID),  # type: ignore[arg-type]
        last.get(LabelKind.RELATED_ACTIVITY_ID),  # type: ignore[arg-type]
        last.get(LabelKind.TRACE_ID),  # type: ignore[arg-type]
        last.get(LabelKind.SPAN_ID),  # type: ignore[arg-type]
        pairs,  # type: ignore[arg-type]
        tuple(sorted({names[x.kind]: x.value for x in labels if x.kind in names}.items())),  # type: ignore[arg-type]
    )


@FEW
@given(st.sampled_from([3, 4, 6]), st.integers(-(1 << 63), (1 << 63) - 1), st.integers(1, (1 << 63) - 1))
def test_trace_headers(version: int, sync: int, frequency: int) -> None:
    when = TraceHeader().start
    header = TraceHeader(when, sync, frequency, 4, 1234, 16, 1_000_000, (("A", "b"),) if version == 6 else ())
    sink, _ = written(version, header)
    info = values(sink.getvalue())[0].info
    assert (info.start, info.sync_qpc, info.frequency, info.pointer_size) == (when, sync, frequency, 4)
    assert (info.process_id, info.processors, info.sampling_interval_ns) == (1234, 16, 1_000_000)
    if version == 6:
        assert info.key_values[0] == ("A", "b")
        assert dict(info.key_values)["ProcessId"] == "1234"
