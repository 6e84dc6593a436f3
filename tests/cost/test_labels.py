"""Label lists of any length and number: what an event costs does not depend on the length of its list."""

from __future__ import annotations

import io
import json
import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.cli.events import text_lines
from clrevents.cli.output import Output
from clrevents.decode.container.blocks import Fault, Labels
from clrevents.decode.container.nettrace6_rows import read_labels
from clrevents.decode.container.window import Cursor, Short
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, Label, MetadataRecord, ThreadRow
from clrevents.export.files.jsonl import EventJson
from clrevents.schema.codes import LAST_LABEL, LabelKind
from costly import long_label_list, short_label_lists
from counting import lines, peak
from in_memory import ended

pytestmark = pytest.mark.full

SIZES = (1000, 2000, 4000)


def test_the_last_override_counts() -> None:
    one = [Label(LabelKind.OPCODE, 7), Label(LabelKind.VERSION, 3), Label(LabelKind.OPCODE, 8)]
    other = [Label(LabelKind.VERSION, 3), Label(LabelKind.OPCODE, 8)]
    with clrevents.open(labelled([one, other])) as trace:
        assert [(e.opcode, e.version) for e in trace.events()] == [(8, 3), (8, 3)]
        assert list(trace.event_counts().values()) == [2]


@pytest.mark.parametrize("n", SIZES)
def test_events_share_the_names_of_their_list(n: int) -> None:
    with clrevents.open(long_label_list(n, 50)) as trace:
        names = [event.labels for event in trace.events()]
    assert len({id(each) for each in names}) == 1
    assert names[0] == {f"{i:x}": i for i in range(n)}
    with pytest.raises(TypeError):
        names[0]["more"] = 1  # type: ignore[index]


def test_pickled_labels() -> None:
    with clrevents.open(long_label_list(3, 2)) as trace:
        event, _ = trace.events()
    assert event.labels == {"0": 0, "1": 1, "2": 2}
    assert pickle.loads(pickle.dumps(event)).labels == event.labels


@pytest.mark.parametrize("n", SIZES)
def test_lines_do_not_repeat_long_lists_without_end(n: int) -> None:
    data = long_label_list(n, n)
    line = EventJson(label_room=1 << 16).line
    with clrevents.open(data) as trace:
        lines = [line(event) for event in trace.events()]
    assert sum(map(len, lines)) < (1 << 16) + 200 * len(data) + 2000 * n
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert first["labels"] == {f"{i:x}": i for i in range(n)}
    assert "labels" not in last
    assert last["labels_omitted"] == n


@pytest.mark.parametrize("n", SIZES)
def test_lines_of_lists_that_are_used_once_are_whole(n: int) -> None:
    lists = [[Label(LabelKind.TEXT, "v" * 1500, str(i))] for i in range(n // 10)]
    line = EventJson(label_room=1).line
    with clrevents.open(labelled(lists)) as trace:
        found = [json.loads(line(event))["labels"] for event in trace.events()]
    assert found == [{str(i): "v" * 1500} for i in range(n // 10)]


def test_lines_always_repeat_short_lists() -> None:
    line = EventJson(label_room=1).line
    with clrevents.open(long_label_list(50, 500)) as trace:
        assert all(len(json.loads(line(event))["labels"]) == 50 for event in trace.events())


def test_what_is_printed_of_an_event_takes_no_longer_where_its_list_is_longer() -> None:
    def took(labels: int) -> int:
        with clrevents.open(long_label_list(labels, 50)) as trace:
            events = list(trace.events())
        assert "(and 980 labels)" in next(text_lines(events, False, False, Output())) or labels != 1000
        return lines(lambda: [*text_lines(events, False, False, Output())])

    assert took(4000) == took(1000)


@pytest.mark.parametrize("n", [50_000, 100_000, 200_000])
def test_lists_that_no_event_has_stay_bytes(n: int) -> None:
    data = short_label_lists(n)

    def read() -> None:
        with clrevents.open(data) as trace:
            (event,) = trace.events()
            assert event.opcode == 9

    assert peak(read) < 10 * len(data) + 4_000_000


@pytest.mark.parametrize("first", [1, 3, 40])
def test_newer_lists_count_where_ids_overlap(first: int) -> None:
    writer = begun(io.BytesIO())
    writer.labels(2, [[Label(LabelKind.NUMBER, i, "old")] for i in range(30)])
    writer.labels(first, [[Label(LabelKind.NUMBER, i, "new")] for i in range(4)])
    writer.events([EventRecord(1, 5, 1, label_id=i) for i in range(2, 44)])
    with clrevents.open(ended(writer)) as trace:
        found = [dict(event.labels) for event in trace.events()]
    expected: list[dict[str, int]] = [{"old": i - 2} if i < 32 else {} for i in range(2, 44)]
    for i in range(4):
        if first + i >= 2:
            expected[first + i - 2] = {"new": i}
    assert found == expected


def begun(sink: io.BytesIO) -> NetTrace6Writer:
    writer = NetTrace6Writer(sink)
    writer.threads([ThreadRow(1, 1)])
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    return writer


def labelled(lists: list[list[Label]]) -> bytes:
    """One event for each list."""
    writer = begun(io.BytesIO())
    writer.labels(1, lists)
    writer.events([EventRecord(1, 5, 1, label_id=i + 1) for i in range(len(lists))])
    return ended(writer)


ACTIVITY = bytes([LabelKind.ACTIVITY_ID]) + bytes(range(16))
SHAPES = (
    bytes([LabelKind.OPCODE | LAST_LABEL, 9]),
    bytes([LabelKind.LEVEL | LAST_LABEL, 3]),
    ACTIVITY + bytes([LabelKind.OPCODE | LAST_LABEL, 9]),
    ACTIVITY + bytes([LabelKind.LEVEL | LAST_LABEL, 3]),
    bytes([LabelKind.NUMBER | LAST_LABEL, 1, 65, 4]),
    bytes([LabelKind.TEXT | LAST_LABEL, 1, 65, 1, 66]),
    bytes([LabelKind.NUMBER, 1, 65, 4]) + ACTIVITY + bytes([LabelKind.LEVEL | LAST_LABEL, 3]),
)
"""Label lists of several lengths, some of one length with other labels, or of none that is fixed."""


@given(
    st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(1, 120)), max_size=5),
    st.sampled_from([b"", SHAPES[2][:-1], b"\x7f\0"]),
)
def test_lists_found_together_are_those_found_one_by_one(runs: list[tuple[bytes, int]], end: bytes) -> None:
    lists = [one for one, times in runs for _ in range(times)]
    data = struct.pack("<II", 1, len(lists) + bool(end)) + b"".join(lists) + end
    cursor = Cursor(b"\xff" * 5 + data, 5, 5 + len(data), 0)
    if end and end[0] != 0x7F:
        with pytest.raises(Short) as raised:
            list(read_labels(cursor))
        assert raised.value.what == "opcode"
        return
    labels, *faults = read_labels(cursor)
    assert isinstance(labels, Labels)
    assert [labels.lists.stored(i) for i in range(len(labels.lists))] == lists
    assert [fault.problem.kind for fault in faults if isinstance(fault, Fault)] == ["unknown-item"] * bool(end)


def test_lists_alike_cost_no_step_each() -> None:
    data = short_label_lists(100_000)
    with clrevents.open(data) as trace:
        assert lines(trace.event_counts) < 20_000


def test_short_runs_do_not_pay_for_what_follows() -> None:
    """Twenty lists of one kind, twenty of another of the same length, and so on."""
    steps = []
    for n in (100, 200):
        content = b"".join(SHAPES[i % 2] * 20 for i in range(n))
        cursor = Cursor(struct.pack("<II", 1, 20 * n) + content, 0, 8 + len(content), 0)
        steps.append(lines(lambda cursor=cursor: list(read_labels(cursor))))
    assert steps[1] < 2.2 * steps[0]
