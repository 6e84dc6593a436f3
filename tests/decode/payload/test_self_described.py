"""Events that describe themselves: any name, any number of kinds, the same values as a declared event."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import clrevents
from clrevents.schema import dynamic
from clrevents.schema.describe import register
from clrevents.schema.dynamic import ClassCache, FieldDescription, Variant
from clrevents.schema.registry import Registry
from clrevents.schema.types import FileTime
from clrevents.testing.builder import TraceBuilder

NAMES = ["", "class", "self", "a b", 'quo"te', "new\nline", "_private", "field_0", "größe", "ok", "Ok", "__reduce__"]
GUID = UUID("12345678-1234-5678-1234-567812345678")


def _payload(data: bytes) -> Any:
    with clrevents.open(data) as trace:
        (event,) = trace.events()
        assert not trace.problems
    return event.payload


def test_any_field_name_works_as_a_key() -> None:
    payload = _payload(TraceBuilder().described("P", "E", {name: (9, i) for i, name in enumerate(NAMES)}).build())
    assert [payload[name] for name in NAMES] == list(range(len(NAMES)))
    assert payload.ok == 9
    assert payload.Ok == 10
    attributes = [a for a in dir(payload) if not a.startswith("_")]
    assert attributes == sorted(["field_0", "field_0_", "Ok", "ok", *(f"field_{i}" for i in (1, 2, 3, 4, 5, 6, 8, 11))])
    assert clrevents.asdict(payload) == {name: i for i, name in enumerate(NAMES)}
    with pytest.raises(KeyError):
        payload["missing"]


def test_small_learned_classes_outlive_their_trace() -> None:
    """As long as few others come after them. Large ones do not, nor such as hold other classes."""

    def same(name: str, fields: tuple[FieldDescription, ...]) -> bool:
        layout = ClassCache(2).layout(fields, Variant())
        assert layout is not None
        return ClassCache(2).get("E", layout) is ClassCache(2).get(name, layout)

    small = tuple(FieldDescription(f"f{i}", 9) for i in range(16))
    assert same("E", small)
    assert not same("F", small)
    assert not same("E", (*small, FieldDescription("one more", 9)))
    assert not same("E", (FieldDescription("a" * 1025, 9),))
    record = FieldDescription("record", 1, members=small)
    assert not same("E", (small[0], record))
    assert not same("E", (small[0], FieldDescription("records", 19, element=record)))


def test_learned_records_pickle_and_compare() -> None:
    data = TraceBuilder().described("P", "E", {"a b": (9, 1), "s": (18, "x")}).build()
    first = _payload(data)
    dynamic._kept_class.cache_clear()
    second = _payload(data)
    assert type(first) is not type(second)
    assert first == second
    assert pickle.loads(pickle.dumps(first)) == first
    assert hash(first) == hash(second)
    assert repr(first) == "E_V0(a b=1, s='x')"
    with clrevents.open(data) as trace:
        (event,) = trace.events()
    assert pickle.loads(pickle.dumps(event)) == event


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (3, True),
        (4, "\ud83d"),
        (4, "\0"),
        (5, -128),
        (6, 255),
        (7, -(1 << 15)),
        (8, 65535),
        (9, -(1 << 31)),
        (10, (1 << 32) - 1),
        (11, -(1 << 63)),
        (12, (1 << 64) - 1),
        (13, float("-inf")),
        (14, 1.5),
        (15, Decimal("-12345678901234567890.1234")),
        (16, FileTime(133_000_000_000_000_001)),
        (17, GUID),
        (18, "€ 😀"),
        (20, -(1 << 63)),
        (21, (1 << 64) - 1),
        (26, False),
    ],
)
def test_every_type_code(code: int, value: Any) -> None:
    payload = _payload(
        TraceBuilder().described("P", "E", {"before": (6, 7), "v": (code, value), "after": (6, 9)}).build()
    )
    assert payload.v == value
    assert (payload.before, payload.after) == (7, 9)


def test_a_file_time_keeps_its_hundred_nanoseconds() -> None:
    time = FileTime(133_000_000_000_000_001)
    assert str(time) == "2022-06-18T04:26:40.0000001Z"
    assert time.utc is not None
    assert str(FileTime((1 << 64) - 1)) == str((1 << 64) - 1)


@pytest.mark.full
def test_a_hundred_thousand_kinds_stay_bounded() -> None:
    builder = TraceBuilder()
    for i in range(100_000):
        builder.raw("P", i & 0xFFFF, payload=b"", name=f"E{i}")
    builder.described("P", "One more", {"a": (9, 1)})
    limits = clrevents.Limits(learned=10, metadata=200_000)
    with clrevents.open(builder.build(), limits=limits) as trace:
        events = list(trace.events())
    assert len(events) == 100_001
    assert len({type(e.payload) for e in events}) <= 11 + 1
    assert events[-1].payload == clrevents.RawPayload(
        b"\1\0\0\0", "the trace describes more kinds of events, or fields of them, than Limits.learned allows"
    )


def test_without_the_built_in_event_the_description_gives_the_same_values() -> None:
    """What the registry knows and the trace describes comes out alike through either."""
    fields = {"A": (9, 5), "B": (18, "text"), "C": (14, 0.25)}
    data = TraceBuilder().described("P", "E", fields).build()
    registry = Registry()
    register(
        {"provider": "P", "id": 1, "name": "E", "fields": {"A": "Int32", "B": "UnicodeString", "C": "Double"}},
        registry=registry,
    )
    with clrevents.open(data, registry=registry) as trace:
        (known,) = trace.events()
        assert not trace.problems
    assert clrevents.asdict(known.payload) == clrevents.asdict(_payload(data))


def test_a_payload_that_ends_between_fields_is_short() -> None:
    """No older writer: whoever wrote it also described it, so the values before the end prove nothing."""
    full = TraceBuilder().described("P", "E", {"a": (9, 1), "b": (9, 2)}).build()
    with clrevents.open(full) as trace:
        (event,) = trace.events()
    whole = event.payload_bytes
    kind_only = TraceBuilder().described("P", "E", {"a": (9, 1), "b": (9, 2)})
    kind_only._events[0] = _with_payload(kind_only._events[0], whole[:4])
    with clrevents.open(kind_only.build()) as trace:
        (event,) = trace.events()
        assert [problem.kind for problem in trace.problems] == ["short-payload"]
        assert event.payload.partial == {"a": 1}
        (counts,) = trace.check().kinds
    assert (counts.exact, counts.short) == (0, 1)


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("good", [0, 60], ids=["alone", "among many"])
def test_a_description_that_leaves_bytes_over_is_wrong(good: int) -> None:
    """An array without its count: its first elements would be read as one. No value is shown as if it were right."""
    numbers = FieldDescription("", 19, FieldDescription("", 6))
    builder = TraceBuilder()
    for number in range(good + 1):
        builder.described("P", "E", {"Number": (9, number), "Values": (numbers, (1, 2))})
    builder._events[-1] = _with_payload(builder._events[-1], b"\7\0\0\0" + bytes([2, 0, 5, 6, 7, 8, 9]))
    with clrevents.open(builder.build()) as trace:
        (payload, tail), *_ = reversed([(event.payload, event.payload_tail) for event in trace.events()])
        assert (payload.partial, tail) == ({"Number": 7, "Values": [5, 6]}, b"")
        assert payload.reason == "3 bytes left after the last field of E_V0"
        (problem,) = trace.problems
        assert (problem.kind, problem.severity, problem.length) == ("long-payload", "payload", 3)
        assert trace.table("P/E")["Number"].tolist() == list(range(good))
        check = trace.check()
        (counts,) = check.kinds
    assert (counts.exact, counts.tail, counts.short, check.ok) == (good, 0, 1, False)


def _with_payload(event: Any, payload: bytes) -> Any:
    from dataclasses import replace

    return replace(event, payload=payload)
