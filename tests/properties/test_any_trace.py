"""Encode → decode of whole traces: the same events, losses and threads; no number without a name is lost."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import clrevents
from clrevents.schema.layout import BoundLayout
from clrevents.schema.registry import DEFAULT, EventInfo
from clrevents.schema.wire import EnumType
from clrevents.testing.builder import Format, TraceBuilder
from clrevents.testing.strategies import MadeEvent, MadeTrace, traces
from tiers import few

FORMATS: tuple[Format, ...] = ("nettrace4", "nettrace6", "netperf3")
EVENTS = sorted(DEFAULT.events(), key=lambda info: (info.provider, info.id, info.version))

pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")


def found(event: clrevents.Event[Any]) -> MadeEvent:
    """What a reader gave back, in the strategy's words."""
    return MadeEvent(
        event.provider,
        event.id,
        event.version,
        event.time_ns,
        event.thread_id,
        event.payload,
        event.stack,
        event.activity_id,
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("pointer_size", few([4, 8], lambda size: size == 8))
def test_any_trace_reads_back(format: Format, pointer_size: int) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(made=traces(formats=[format], pointer_sizes=[pointer_size]))
    def check(made: MadeTrace) -> None:
        with clrevents.open(made.data, errors="strict") as trace:
            assert trace.info.pointer_size == pointer_size
            events = list(trace.events())
            assert [found(event) for event in events] == list(made.events)
            times = [event.time_ns for event in events]
            assert times == sorted(times)
            lost: Counter[int] = Counter()
            for loss in trace.losses:
                lost[loss.thread_id] += loss.count
                assert loss.start_ns <= loss.end_ns
            assert lost == made.lost
            assert trace.lost == sum(made.lost.values())
            assert {t.thread_id: t.events for t in trace.threads} == Counter(e.thread_id for e in made.events)
            report = trace.check()
            assert report.complete
            assert not report.damaged
            assert not report.payload_faults
            assert set(report.problem_counts) <= {"lost-events"}

    check()


def enum_fields(info: EventInfo, size: int) -> list[str]:
    layout: BoundLayout = info.layout.bind(size)
    return [f.name for f in layout.fields if isinstance(f.type, EnumType)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("pointer_size", [4, 8])
def test_numbers_without_a_name_survive(format: Format, pointer_size: int) -> None:
    """Every enum and flag field of every event, with all its bits set: in a whole trace, as itself and as a number."""
    builder = TraceBuilder(format, pointer_size=pointer_size)
    wanted = []
    for info in EVENTS:
        names = enum_fields(info, pointer_size)
        if not names:
            continue
        record = largest(info.record, pointer_size)
        builder.event(record)
        wanted.append((record, names))
    assert len(wanted) >= 20
    with clrevents.open(builder.build(), errors="strict") as trace:
        payloads = [event.payload for event in trace.events()]
    assert payloads == [record for record, _ in wanted]
    nameless = 0
    for payload, (record, names) in zip(payloads, wanted, strict=True):
        for name in names:
            value = getattr(payload, name)
            assert isinstance(value, Enum)
            assert isinstance(value, int)
            assert type(value) is type(getattr(record, name))
            assert int(value) == int(getattr(record, name))
            assert repr(value)
            nameless += value not in list(type(value))
    assert nameless >= 20


def largest(record_class: Any, pointer_size: int) -> Any:
    """A record with every enum at its largest number, and everything else empty."""
    from clrevents.reference import codec

    layout: BoundLayout = record_class.__layout__.bind(pointer_size)
    # A payload of zeros is a valid one: no elements, empty strings.
    zeros = codec(record_class, pointer_size).parse(bytes(layout.min_size + _ansi(layout)))
    changes: dict[str, Any] = {}
    counters = {getattr(f.type, "count", "") for f in layout.fields}
    for field in layout.fields:
        if isinstance(field.type, EnumType) and field.name not in counters:
            base = field.type.base
            number = (1 << 8 * base.size - base.format.islower()) - 1
            changes[field.name] = field.type.enum(number)
    values = {f.name: changes.get(f.name, getattr(zeros, f.name)) for f in layout.fields}
    return record_class(**values)


def _ansi(layout: BoundLayout) -> int:
    """The smallest size counts nothing for these, because a null one is written as nothing."""
    return sum(type(f.type).__name__ == "AnsiZ" for f in layout.fields)
