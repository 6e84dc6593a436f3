"""Events of very many fields: a table of one has a bounded number of columns, and each is found at once."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents import RawPayload, Table
from clrevents.decode.kinds import FieldsOfNames
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.export.files.directory import export_directory
from clrevents.export.files.formats import Format
from clrevents.export.files.tables import Options
from clrevents.export.look import Look
from clrevents.export.timeline.timeline_file import write_timeline
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import ClassCache, FieldDescription, Undescribable, Variant
from clrevents.table.table import ColumnType, TableField, number_column, portions
from costly import empty_fields, many_tables, null_columns, wide_kinds
from counting import peak
from in_memory import ended

pytestmark = pytest.mark.full

FIELDS = 10
LIMITS = clrevents.Limits(fields=FIELDS)
EVENT = ("P", "E")


def test_descriptions_beyond_the_limit_leave_bytes_and_say_so() -> None:
    with clrevents.open(wide_kinds(6, FIELDS), limits=LIMITS) as trace:
        raw = [isinstance(event.payload, RawPayload) for event in trace.events()]
        problems = [(problem.kind, problem.event) for problem in trace.problems if problem.kind == "bad-fields"]
        table = trace.table("P/E")
    assert raw == [False] * 4 + [True] * 2
    assert problems == [("bad-fields", "P/E")] * 2
    assert {name for name in table.columns if name.startswith("k")} == {
        f"k{k}f{i}" for k in range(1, 5) for i in range(FIELDS)
    }
    assert len(table) == 4


@pytest.mark.parametrize("names", [2, 6])
def test_other_names_have_their_own_limit(names: int) -> None:
    with clrevents.open(wide_kinds(6, FIELDS, names), limits=LIMITS) as trace:
        assert not any(isinstance(event.payload, RawPayload) for event in trace.events())
        assert not trace.problems


def described(*names: str, code: int = TypeCode.UINT8) -> tuple[FieldDescription, ...]:
    return tuple(FieldDescription(name, code) for name in names)


def test_equal_fields_count_once() -> None:
    fields = FieldsOfNames(1, 9)
    assert [fields.misfit(EVENT, each) for each in (described("a", "b"), described("b", "c"))] == ["", ""]
    # Five in all, but three different ones.
    assert not any(fields.misfit(EVENT, described("a")) for _ in range(100))
    assert not fields.misfit(EVENT, described("c", "d"))
    assert fields.misfit(EVENT, described("e"))
    # A column of its own, since no type holds both.
    assert fields.misfit(EVENT, described("a", code=TypeCode.STRING))
    assert not fields.misfit(EVENT, described("a", "b", "c", "d"))
    assert not fields.misfit(("P", "F"), described("e"))


def test_inner_fields_count() -> None:
    fields = FieldsOfNames(1, 9)
    group = (FieldDescription("g", TypeCode.OBJECT, members=described("a", "b", "c", "d")),)
    assert fields.misfit(EVENT, group)
    assert not fields.misfit(EVENT, described("a", "b", "c", "d"))


def test_narrow_events_among_wide_ones() -> None:
    """Their rows would have a null for each field of the others."""
    fields = FieldsOfNames(4096, 9)
    assert not fields.misfit(EVENT, described(*(f"f{i}" for i in range(600))))
    assert not fields.misfit(EVENT, described(*(f"f{i}" for i in range(22, 622))))
    assert "too many fields that some" in fields.misfit(EVENT, described("f1"))
    # There are 622 columns, of which those of 7 fields may have 624.
    assert fields.misfit(EVENT, described(*(f"f{i}" for i in range(6))))
    assert not fields.misfit(EVENT, described(*(f"f{i}" for i in range(7))))
    assert fields.misfit(EVENT, described("g1", "g2", "g3", *(f"f{i}" for i in range(25))))
    assert not fields.misfit(EVENT, described("g1", "g2", *(f"f{i}" for i in range(25))))
    assert not fields.misfit(("P", "F"), described("e"))


def test_tables_of_described_events_are_few() -> None:
    limits = clrevents.Limits(learned=3)
    with clrevents.open(many_tables(5), limits=limits) as trace:
        raw = [isinstance(event.payload, RawPayload) for event in trace.events()]
        problems = [(problem.kind, problem.event) for problem in trace.problems if problem.kind == "bad-fields"]
        tables = [sorted(name for _, name in part) for part in trace.tables()]
    assert raw == [False] * 3 + [True] * 2
    assert problems == [("bad-fields", "P/4"), ("bad-fields", "P/5")]
    assert tables == [["1", "2", "3"]]


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)  # type: ignore[arg-type]

    __hash__ = str.__hash__


def test_columns_are_found_at_once() -> None:
    names = [CountedName(f"c{i}") for i in range(1000)]
    table = Table(tuple(TableField(name, ColumnType("uint8")) for name in names))
    CountedName.compared = 0
    assert [len(table.column(str(name))) for name in names] == [0] * 1000
    assert CountedName.compared <= 2 * len(names)
    with pytest.raises(KeyError, match="no column 'd'; available: c0, c1"):
        table.column("d")


def group(*members: FieldDescription) -> FieldDescription:
    return FieldDescription(f"g{len(members)}", TypeCode.OBJECT, members=members)


NOTHING = group()
NO_NUMBERS = FieldDescription("n", TypeCode.FIXED_ARRAY, element=FieldDescription("", TypeCode.INT32), count=0)
NUMBER = FieldDescription("i", TypeCode.UINT8)


@pytest.mark.parametrize(
    ("fields", "readable"),
    [
        ((NOTHING,) * 16, True),
        ((NOTHING,) * 17, False),
        ((NO_NUMBERS,) * 16, True),
        ((NO_NUMBERS,) * 17, False),
        # Groups of nothing are nothing themselves.
        ((NUMBER, *[group(NOTHING)] * 8), True),
        ((NUMBER, *[group(NOTHING)] * 8, NO_NUMBERS), False),
        ((group(group(*[NOTHING] * 14)),), True),
        ((group(group(*[NOTHING] * 15)),), False),
        ((group(NUMBER, *[NOTHING] * 16),), True),
        ((group(NUMBER, *[NOTHING] * 17),), False),
        ((NUMBER,) * 100, True),
    ],
)
def test_fields_without_a_byte_are_few(fields: tuple[FieldDescription, ...], readable: bool) -> None:
    # The wrapper of self-described events is no field of theirs.
    fields = fields if len(fields) > 1 else (*fields, NUMBER)
    cache = ClassCache(100)
    if readable:
        assert cache.layout(fields, Variant()) is not None
    else:
        with pytest.raises(Undescribable, match="more than 16 fields take no bytes"):
            cache.layout(fields, Variant())


def test_events_with_nothing_in_them_stay_bytes() -> None:
    with clrevents.open(empty_fields(3)) as trace:
        assert [event.payload.reason for event in trace.events()] == [
            "unusable description: more than 16 fields take no bytes"
        ] * 3


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_rows_of_wide_tables_become_text_a_few_at_a_time(format: Format, tmp_path: Path) -> None:
    """Ten thousand rows of 400 columns: four million cells, and 50 MB as JSON lines."""
    with clrevents.open(null_columns(10_000, 100)) as trace:
        trace.table("P/E")
        most = peak(lambda: export_directory(trace, tmp_path / "out", Options(format), {}))
    with (tmp_path / "out" / "P" / f"E.{format}").open() as file:
        assert sum(1 for _ in file) == 10_004 + (format == "csv")
    assert most < 32 << 20


@given(st.integers(0, 40), st.integers(0, 5), st.integers(1, 30))
def test_portions_are_all_rows_in_order(rows: int, columns: int, cells: int) -> None:
    whole = [number_column("int32", np.arange(rows) + 100 * n) for n in range(columns)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clrevents.table.table._CELLS", cells)
        found = list(portions(whole))
    assert [[v for part in found for v in part[n].tolist()] for n in range(columns)] == [c.tolist() for c in whole]
    assert all(len(part[0]) == 1 or len(part[0]) * columns <= cells for part in found)


def wide_event(fields: int, events: int, payload: bytes) -> bytes:
    """Events of one payload, whose fields have a byte each."""
    described = [FieldDescription(f"x{i}", TypeCode.UINT8) for i in range(fields)]
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads([ThreadRow(1, 7)])
    writer.metadata([MetadataRecord(1, "P", 5, name="E", fields=tuple(described))])
    writer.events([EventRecord(1, 1000 + n, 1, payload, sequence=1 + n) for n in range(events)])
    return ended(writer)


def test_an_event_shows_as_many_fields_as_a_screen_holds() -> None:
    with clrevents.open(wide_event(300, 1, bytes(300))) as trace:
        (event,) = trace.events()
    assert event.payload["x299"] == 0
    assert "x39<" in event._repr_html_()
    assert "x40<" not in event._repr_html_()
    assert "40 of 300" in event._repr_html_()
    assert repr(event.payload).endswith("x39=0, …)")
    with clrevents.open(wide_event(40, 1, bytes(40))) as trace:
        (event,) = trace.events()
    assert "40 of" not in event._repr_html_()
    assert repr(event.payload).endswith("x39=0)")


@pytest.mark.parametrize("there", [0, 3])
def test_absent_fields_cost_nothing(there: int) -> None:
    """Otherwise of thousands, each event of no bytes would cost as much as if it had them."""
    with clrevents.open(wide_event(there + 4000, 2, bytes(there))) as trace:
        payloads = [event.payload for event in trace.events()]
        assert [type(payload) for payload in payloads] == [RawPayload, RawPayload]
        assert payloads[0].reason == f"the payload is too short at field 'x{there}'"
        assert payloads[0].partial == {f"x{i}": 0 for i in range(there)}
        assert len(trace.table("E")) == 0
        assert {problem.kind for problem in trace.problems} == {"short-payload"}


def test_long_names_of_events_are_cut() -> None:
    """They are written for each event: 60,000 characters in a few bytes would be 60 kB in each line."""
    writer = NetTrace6Writer(io.BytesIO())
    writer.threads([ThreadRow(1, 7)])
    writer.metadata([MetadataRecord(1, "P" * 255, 5, name="E" * 255), MetadataRecord(2, "P", 5, name="é" * 300)])
    writer.events([EventRecord(1, 1000, 1), EventRecord(2, 1001, 1)])
    with clrevents.open(ended(writer)) as trace:
        whole, cut = trace.events()
        assert (whole.provider, whole.name) == ("P" * 255, "E" * 255)
        assert (cut.provider, cut.name) == ("P", "é" * 255 + "…")
        (note,) = trace.problems
    assert (note.kind, note.severity) == ("long-name", "note")
    assert note.message == "an event description has a name of 300 characters; the first 255 are kept"


def test_the_firefox_profiler_gets_the_beginning_of_a_payload() -> None:
    stream = io.BytesIO()
    with clrevents.open(wide_event(2000, 3, bytes(2000))) as trace:
        write_timeline(trace, stream, Look("wide"), "firefox")
    made = json.loads(stream.getvalue())
    payloads = [
        data["payload"] for thread in made["threads"] for data in thread["markers"]["data"] if "payload" in data
    ]
    assert len(payloads) == 3
    assert all(text.startswith('{"x0": 0, ') and len(text) == 1001 and text[-1] == "…" for text in payloads)
