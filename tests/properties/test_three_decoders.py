"""The reference codec and the record decoder agree on every registered event, at both pointer sizes.

Iterates the registry: a new event is covered without a new test. What the decoders know of an event is its
layout, so each layout is tested once, by the first event that has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.decode.payload.record_decoder import Misfit, TextCache, record_decoder
from clrevents.errors import PayloadError
from clrevents.reference import codec
from clrevents.schema.layout import BoundLayout
from clrevents.schema.registry import DEFAULT, EventInfo
from clrevents.schema.wire import AnsiZ, StructType
from clrevents.testing.strategies import records
from tiers import one_in


def _cases() -> Iterator[Any]:
    """Every layout, at both pointer sizes where they differ."""
    seen = set()
    for info in sorted(DEFAULT.events(), key=lambda i: (i.provider, i.id, i.version)):
        for size in (4, 8):
            layout = _shape(info.layout.bind(size))
            if layout not in seen:
                seen.add(layout)
                yield pytest.param(info, size, id=f"{info.record.__name__}-{8 * size}")


def _shape(layout: BoundLayout) -> tuple[Any, ...]:
    """A bound layout without its pointer size, with the layouts of its groups."""
    elements = (getattr(field.type, "element", None) for field in layout.fields)
    groups: list[Any] = [element.record for element in elements if isinstance(element, StructType)]
    return (layout.fields, *(_shape(group.__layout__.bind(layout.pointer_size)) for group in groups))


CASES = list(_cases())
EACH = pytest.mark.parametrize(("info", "size"), one_in(9, CASES))


def _reader(info: EventInfo, size: int) -> Any:
    return record_decoder(info.layout.bind(size), info.record, TextCache())


def _times(count: int) -> settings:
    """So many examples where the bounded profile is in use, and more with a longer one."""
    return settings(max_examples=max(1, count * settings().max_examples // 25))


def test_every_version_of_every_event_is_covered() -> None:
    """Each (event, version, pointer size), drawn or by a layout that is drawn: a payload of zeros reads the same."""
    drawn = {_shape(case.values[0].layout.bind(case.values[1])) for case in CASES}
    covered = 0
    for info in DEFAULT.events():
        if not info.record.__module__.startswith("clrevents."):
            # Other tests register events of their own in the same process.
            continue
        for size in (4, 8):
            layout = info.layout.bind(size)
            assert _shape(layout) in drawn, f"{info.record.__name__} at {8 * size} bits"
            # Nothing is counted, every text is empty; a narrow one takes a byte that the least size leaves out.
            zeros = bytes(layout.min_size + sum(isinstance(f.type, AnsiZ) for f in layout.fields))
            reference = codec(info.record, size)
            record = reference.parse(zeros)
            assert type(record) is info.record
            assert _reader(info, size)(zeros, 0, len(zeros)) == (record, len(zeros))
            assert reference.build(record) == zeros
            covered += 1
    print(f"{covered} (event, version, pointer size), {len(drawn)} layouts")
    assert covered >= 1064
    assert len(drawn) >= 277


@EACH
@_times(20)
@given(data=st.data())
def test_built_payload_reads_back(info: EventInfo, size: int, data: st.DataObject) -> None:
    """build by the reference → parse by the reference, and by the record decoder → the same record."""
    record = data.draw(records(info.record, size))
    reference = codec(info.record, size)
    payload = reference.build(record)
    assert reference.parse(payload) == record
    assert _reader(info, size)(payload, 0, len(payload)) == (record, len(payload))


@EACH
@_times(3)
@given(data=st.data())
def test_every_truncation_names_a_field(info: EventInfo, size: int, data: st.DataObject) -> None:
    """Cut at every byte, both decoders refuse; the record decoder keeps the fields before the cut."""
    record = data.draw(records(info.record, size))
    reference = codec(info.record, size)
    payload = reference.build(record)
    values = clrevents.asdict(record)
    read = _reader(info, size)
    for cut in range(len(payload)):
        with pytest.raises(PayloadError):
            reference.parse(payload[:cut])
        with pytest.raises(Misfit) as caught:
            read(payload[:cut], 0, cut)
        misfit = caught.value
        assert misfit.field.partition("[")[0].partition(".")[0] in values
        assert misfit.needed > misfit.available
        for name, value in misfit.partial.items():
            assert getattr(record, name) == value


@EACH
@_times(5)
@given(data=st.data(), tail=st.binary(min_size=1, max_size=9))
def test_appended_bytes_are_left(info: EventInfo, size: int, data: st.DataObject, tail: bytes) -> None:
    """Bytes behind the last field stay behind it; the reference, which wants all of them, says so."""
    record = data.draw(records(info.record, size))
    payload = codec(info.record, size).build(record)
    assert _reader(info, size)(payload + tail, 0, len(payload + tail)) == (record, len(payload))
    with pytest.raises(PayloadError, match="left over"):
        codec(info.record, size).parse(payload + tail)
