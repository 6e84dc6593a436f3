"""A trace with very many kinds keeps little of each: one kind for all passes, one way to read nothing, few wishes."""

from __future__ import annotations

import attrs
import pytest

import clrevents
import costly
from clrevents.analysis.framework.model.needs import Need, SeenKind, SeenKinds, met
from clrevents.decode.container.blocks import MetadataRow
from clrevents.decode.kinds import EventKind, Kinds
from clrevents.decode.payload.payload_decoder import NO_FIELDS, PayloadDecoder, RawPayload
from clrevents.decode.selection import Filters, Selection
from clrevents.errors import Limits
from clrevents.schema.registry import DEFAULT, RUNTIME
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from counting import lines

LIMITS = Limits()
ROW = MetadataRow(1, "P", 1, 0, "E", offset=100)


def defined(*rows: MetadataRow, seen: tuple[EventKind, ...] = ()) -> list[EventKind]:
    kinds = Kinds(DEFAULT, LIMITS, seen)
    for row in rows:
        assert kinds.define(row) is None
    return kinds.all


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_a_later_pass_has_the_kinds_of_the_first() -> None:
    data = costly.many_tables(50)
    with clrevents.open(data, limits=Limits(learned=20)) as trace:
        scanned = passes_of(trace).scan().kinds
        stream = passes_of(trace).stream()
        stream.feed(data)
    assert len(scanned) == 50
    assert [id(kind) for kind in stream.kinds.all] == [id(kind) for kind in scanned]


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_passes_before_the_scan_share_their_kinds() -> None:
    with clrevents.open(costly.many_tables(50), limits=Limits(learned=20)) as trace:
        passes = passes_of(trace)
        first = passes.stream()
        assert sum(len(rows) for rows in passes.rows(first, passes.selection(()), decode=False)) == 50
        second = passes.stream()
        assert sum(len(rows) for rows in passes.rows(second, passes.selection(()), decode=False)) == 50
        scanned = passes.scan().kinds
    assert len(scanned) == 50
    assert [id(kind) for kind in second.kinds.all] == [id(kind) for kind in first.kinds.all]
    assert [id(kind) for kind in scanned] == [id(kind) for kind in first.kinds.all]


@pytest.mark.parametrize(
    "other",
    [
        {"name": "F"},
        {"version": 1},
        {"offset": 101},
        {"metadata_id": 2},
        {"provider": RUNTIME},
    ],
)
def test_other_descriptions_are_other_kinds(other: dict[str, object]) -> None:
    (first,) = defined(ROW)
    assert defined(ROW, seen=(first,)) == [first]
    (kind,) = defined(attrs.evolve(ROW, **other), seen=(first,))
    assert kind is not first
    assert (kind.row.name, kind.row.offset) == (other.get("name", "E"), other.get("offset", 100))


def test_kinds_with_overrides_and_without_descriptions_are_made_again() -> None:
    first = Kinds(DEFAULT, LIMITS)
    first.define(ROW)
    first.overridden(0, (("level", 3),))
    again = Kinds(DEFAULT, LIMITS, tuple(first.all))
    again.define(ROW)
    assert again.all[0] is first.all[0]
    again.define(attrs.evolve(first.all[1].row, metadata_id=5))
    assert again.all[1] is not first.all[1]
    assert again.all[1].base is None


def test_kinds_without_fields_are_read_alike() -> None:
    few, (more, native) = defined(ROW)[0], defined(ROW, attrs.evolve(ROW, metadata_id=2, id=2, name="F"))
    decoder = PayloadDecoder(8, LIMITS)
    ((layout, _),) = decoder.layouts(native)
    assert decoder.layouts(few)[0][0] is layout
    assert not layout.fields
    assert decoder.read(few, b"7", 0)[0] == RawPayload(b"7", NO_FIELDS)
    names = [type(decoder.read(kind, b"", 0)[0]).__name__ for kind in (more, native)]
    assert names == ["E_V0", "F_V0"]
    assert decoder.record(more) is type(decoder.read(more, b"", 0)[0])
    assert decoder.read(native, b"7", 0)[0] == RawPayload(b"7", NO_FIELDS)


def test_a_need_does_not_go_through_all_kinds() -> None:
    kinds = SeenKinds(SeenKind("P", f"E{number}", 1, 4) for number in range(10_000))
    needs = [Need("x", (f"E{number}", "P/E"), 1, provider="Q") for number in range(10)]
    assert met(needs[0], kinds) == "unknown"
    assert lines(lambda: [met(need, kinds) for need in needs[1:]]) < 1000
    assert met(Need("x", ("P/E9999",), 1), kinds) == "seen"
    assert met(Need("x", ("F",), 1, provider="P"), kinds) == "quiet"


def test_many_keys_select_what_each_of_them_does() -> None:
    made = TraceBuilder().thread(1)
    for number in range(300):
        made.raw("P", number % 100, name=f"E{number % 100}", version=number % 3)
    with clrevents.open(made.build()) as trace:
        keys = list(trace.event_counts())
        assert len(keys) == 300
        for chosen in (keys[:1], keys[:2], keys[10:200], keys):
            wanted = set(chosen)
            found = [event.key for event in trace.events(*chosen)]
            assert set(found) == wanted
            assert len(found) == len(chosen)
            both = [event.key for event in trace.events(*chosen, "E7")]
            assert set(both) == wanted | {key for key in keys if key.name == "E7"}
        assert list(trace.events(attrs.evolve(keys[0], id=999), attrs.evolve(keys[0], id=998))) == []
        with pytest.raises(clrevents.UnknownEventError):
            list(trace.events(keys[0], "Nothing"))


def test_a_key_more_takes_little() -> None:
    with clrevents.open(costly.many_tables(2000)) as trace:
        keys = list(trace.event_counts())
    filters = Filters()
    few, many = (lines(lambda n=n: Selection(keys[:n], filters, DEFAULT)) for n in (1000, 2000))
    assert many - few < 10 * 1000
