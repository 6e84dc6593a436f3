"""Descriptions that no format expects: names that are not text, and structs without fields."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.export.files.directory import export_directory
from clrevents.export.files.formats import FORMATS, Format
from clrevents.export.files.tables import Options
from clrevents.schema.dynamic import ClassCache, FieldDescription, Variant
from clrevents.testing.builder import TraceBuilder

# A letter of its own, so that one half of a pair can take its place where text is written as UTF-16.
_PLACE = "\ue000"
HALF = "\ud800"


def halved() -> bytes:
    """A provider, an event, fields and a text with half of a surrogate pair in each."""
    fields = {f"F{_PLACE}": (9, 5), "G": (18, f"te{_PLACE}xt")}
    data = TraceBuilder().described(f"App{_PLACE}", f"Ev{_PLACE}", fields).build()
    assert data.count(_PLACE.encode("utf-16-le")) == 4
    return data.replace(_PLACE.encode("utf-16-le"), HALF.encode("utf-16-le", "surrogatepass"))


def test_half_a_pair_in_a_name_becomes_a_mark() -> None:
    with clrevents.open(halved()) as trace:
        (event,) = trace.events()
        assert (event.provider, event.name) == ("App\ufffd", "Ev\ufffd")
        assert clrevents.asdict(event.payload) == {"F\ufffd": 5, "G": f"te{HALF}xt"}
        assert trace.table("Ev\ufffd").columns[-2:] == ["F\ufffd", "G"]


@pytest.mark.parametrize("format", FORMATS)
def test_half_a_pair_in_a_name_can_be_exported(tmp_path: Path, format: Format) -> None:
    if format in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    with clrevents.open(halved()) as trace:
        written = export_directory(trace, tmp_path / "out", Options(format), {})
    assert (written.tables, written.rows) == (1, 1)
    (table,) = json.loads((tmp_path / "out" / "_trace.json").read_text("ascii"))["tables"]
    assert (table["provider"], table["name"]) == ("App\ufffd", "Ev\ufffd")
    assert (tmp_path / "out" / table["file"]).is_file()


def hollow() -> bytes:
    """An event with structs that have no fields: alone, in a struct, and in a list's elements."""
    nothing = FieldDescription("E", 1)
    number = FieldDescription("A", 9)
    inner = FieldDescription("N", 1, members=(number, nothing))
    hollow_only = FieldDescription("H", 1, members=(nothing,))
    many = FieldDescription("L", 19, FieldDescription("", 1, members=(number, nothing)))
    classes = ClassCache(100)

    def record(described: FieldDescription, *values: Any) -> Any:
        layout = classes.layout(described.members, Variant())
        assert layout is not None
        made = classes.get("Object", layout)
        assert made is not None
        return made(*values)

    empty = record(nothing)
    fields: dict[str, tuple[int | FieldDescription, Any]] = {
        "X": (9, 7),
        "E": (nothing, empty),
        "N": (inner, record(inner, 1, empty)),
        "H": (hollow_only, record(hollow_only, empty)),
        "L": (many, (record(inner, 2, empty), record(inner, 3, empty))),
    }
    return TraceBuilder().described("App", "Hollow", fields).build()


def test_parquet_leaves_out_structs_without_fields(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with clrevents.open(hollow()) as trace:
        export_directory(trace, tmp_path / "out", Options("parquet"), {})
    found = parquet.read_table(tmp_path / "out" / "App" / "Hollow.parquet")
    assert found.select(["X", "N", "L"]).to_pylist() == [{"X": 7, "N": {"A": 1}, "L": [{"A": 2}, {"A": 3}]}]
    assert not {"E", "H"} & set(found.column_names)


def test_other_formats_keep_them(tmp_path: Path) -> None:
    whole = {"X": 7, "E": {}, "N": {"A": 1, "E": {}}, "H": {"E": {}}, "L": [{"A": 2, "E": {}}, {"A": 3, "E": {}}]}
    with clrevents.open(hollow()) as trace:
        for format in ("jsonl", "csv"):
            export_directory(trace, tmp_path / format, Options(format), {})
    line = json.loads((tmp_path / "jsonl" / "App" / "Hollow.jsonl").read_text("ascii"))
    assert {name: line[name] for name in whole} == whole
    with (tmp_path / "csv" / "App" / "Hollow.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert {name: json.loads(row[name]) for name in whole} == whole


@pytest.mark.full
def test_sql_answers_with_them() -> None:
    pytest.importorskip("duckdb")
    answers = pytest.importorskip("clrevents.export.files.answers")
    with clrevents.open(hollow()) as trace:
        (row,) = answers.answer_rows(trace.query("select E, N from Hollow"))
    assert row == ({}, {"A": 1, "E": {}})
