"""Tables to bytes: what is read back is what was written, whatever the pieces and whatever the types."""

from __future__ import annotations

import csv
import gc
import json
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from clrevents.cli import root
from clrevents.decode.payload.column import BINARY, STRING, TIMESTAMP, Column, ColumnType, from_values
from clrevents.export.files import formats
from clrevents.export.files.buffered import TableFiles
from clrevents.table.event_schema import TableField
from clrevents.table.table import Table
from project_files import fixture

LIST = ColumnType("list", (ColumnType("uint64"),))
GROUP = ColumnType("struct", (STRING, TIMESTAMP, ColumnType("float64"), BINARY), ("Name", "When", "Share", "Id"))
GROUPS = ColumnType("list", (ColumnType("struct", (STRING, ColumnType("uint8")), ("Name", "Rank")),))
TYPES = {
    "time_ns": ColumnType("int64"),
    "time": TIMESTAMP,
    "Big": ColumnType("uint64"),
    "Share": ColumnType("float32"),
    "Flag": ColumnType("bool"),
    "Text": STRING,
    "Data": BINARY,
    "List": LIST,
    "Groups": GROUPS,
}
ROWS: list[dict[str, Any]] = [
    {
        "time_ns": 5,
        "time": 1_700_000_000_123_456_789,
        "Big": (1 << 64) - 1,
        "Share": 1.5,
        "Flag": True,
        "Text": 'naïve, "quoted"\n',
        "Data": b"\0\xff",
        "List": [1, 1 << 63],
        "Groups": [{"Name": "a", "Rank": 1}, {"Name": "", "Rank": 255}],
    },
    {
        "time_ns": -5,
        "time": 0,
        "Big": None,
        "Share": float("inf"),
        "Flag": None,
        "Text": None,
        "Data": None,
        "List": [],
        "Groups": [],
    },
    {
        "time_ns": 6,
        "time": None,
        "Big": 0,
        "Share": float("nan"),
        "Flag": False,
        "Text": "",
        "Data": b"",
        "List": None,
        "Groups": None,
    },
]
FIELDS = tuple(TableField(name, type, name != "time_ns", name) for name, type in TYPES.items())


class Group:
    """Stands for a record where a column is made from values."""

    __fields__ = ("Name", "Rank")

    def __init__(self, values: dict[str, Any]) -> None:
        self.Name, self.Rank = values["Name"], values["Rank"]


def made(rows: list[dict[str, Any]]) -> Table:
    return Table(FIELDS, (tuple(column(type, [row[name] for row in rows]) for name, type in TYPES.items()),))


def column(type: ColumnType, values: list[Any]) -> Column:
    if type == TIMESTAMP:
        valid = np.array([v is not None for v in values])
        return Column(type, len(values), np.array([v or 0 for v in values], dtype=np.int64), valid=valid)
    if type == GROUPS:
        values = [None if v is None else [Group(item) for item in v] for v in values]
    return from_values(type, values)


def written(tmp_path: Path, format: formats.Format, pieces: list[Table]) -> Path:
    files = TableFiles(format)
    path = tmp_path / "sub" / f"x.{format}"
    file = files.add(path, Table(FIELDS), {"name": "X"})
    for piece in pieces:
        files.write(file, piece)
    assert not path.exists()
    files.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert file.rows == sum(map(len, pieces))
    return path


def plain(table: pa.Table) -> list[dict[str, Any]]:
    rows = table.set_column(1, "time", table["time"].cast(pa.int64())).to_pylist()
    return [{k: "nan" if isinstance(v, float) and v != v else v for k, v in row.items()} for row in rows]


EXPECTED = [{k: "nan" if isinstance(v, float) and v != v else v for k, v in row.items()} for row in ROWS]


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_arrow_types_come_back(tmp_path: Path, format: formats.Format) -> None:
    path = written(tmp_path, format, [made(ROWS), made([]), made(ROWS[:1])])
    table = pq.read_table(path) if format == "parquet" else pa.ipc.open_file(path.read_bytes()).read_all()
    assert plain(table) == [*EXPECTED, EXPECTED[0]]
    assert table.schema.equals(made(ROWS).to_arrow().schema)
    assert table.schema.metadata[b"name"] == b"X"
    assert table.schema.field("Big").metadata[b"wire_name"] == b"Big"
    assert not table.schema.field("time_ns").nullable


def test_pieces_of_any_size_are_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when they were put aside in between, and in few row groups."""
    monkeypatch.setattr(formats, "GROUP_ROWS", 50)
    pieces = [made(ROWS * (1 + n % 4)) for n in range(40)]
    monkeypatch.setattr(TableFiles.__init__, "__defaults__", (0,))
    path = written(tmp_path, "parquet", pieces)
    assert plain(pq.read_table(path)) == EXPECTED * sum(1 + n % 4 for n in range(40))
    found = pq.ParquetFile(path).metadata
    sizes = [found.row_group(i).num_rows for i in range(found.num_row_groups)]
    assert all(size > 9 for size in sizes[:-1])
    assert len(sizes) <= 12


@pytest.mark.parametrize("format", formats.FORMATS)
def test_bytes_do_not_depend_on_when_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: formats.Format
) -> None:
    """What is written beside a file decides when its rows go out."""
    monkeypatch.setattr(formats, "GROUP_ROWS", 50)
    pieces = [made(ROWS * (1 + n % 9)) for n in range(40)]
    found = set()
    for budget in (0, 3000, 8 << 20):
        monkeypatch.setattr(TableFiles.__init__, "__defaults__", (budget,))
        found.add(written(tmp_path / str(budget), format, pieces).read_bytes())
    assert len(found) == 1


def test_rows_that_come_one_at_a_time_do_not_pile_up(tmp_path: Path) -> None:
    """The objects around a row take more than its bytes: 60 kB for 300 rows here, and ten times as much."""
    with TableFiles("parquet", 200_000) as files:
        file = files.add(tmp_path / "x.parquet", Table(FIELDS), {})
        row = made(ROWS[:1])
        held = []
        for _ in range(300):
            files.write(file, row)
            held.append(len(file.waiting))
        files.close()
    assert max(held) < 50
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 300


@pytest.mark.parametrize(("ending", "group"), [("parquet.partial", 5), ("parquet.partial.rows", 50)])
def test_a_file_that_somebody_removed_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, group: int
) -> None:
    """It would lack what was written before."""
    monkeypatch.setattr(formats, "GROUP_ROWS", group)
    files = TableFiles("parquet", 0)
    file = files.add(tmp_path / "sub" / "x.parquet", Table(FIELDS), {})
    for _ in range(3):
        files.write(file, made(ROWS))
    (tmp_path / "sub" / f"x.{ending}").unlink()
    with pytest.raises(FileNotFoundError):
        files.write(file, made(ROWS))


def test_a_file_that_was_given_up_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """pyarrow ends its files when its objects go, which is after their folder has gone; it says what fails then."""
    monkeypatch.setattr(formats, "GROUP_ROWS", 2)
    with suppress(RuntimeError), TableFiles("parquet", 0) as files:
        file = files.add(tmp_path / "sub" / "x.parquet", Table(FIELDS), {})
        files.write(file, made(ROWS))
        raise RuntimeError
    shutil.rmtree(tmp_path / "sub", ignore_errors=True)
    file.writer = None
    gc.collect()
    assert capfd.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


def test_csv(tmp_path: Path) -> None:
    with written(tmp_path, "csv", [made(ROWS), made(ROWS)]).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert rows[0] == {
        "time_ns": "5",
        "time": "2023-11-14T22:13:20.123456789Z",
        "Big": str((1 << 64) - 1),
        "Share": "1.5",
        "Flag": "true",
        "Text": 'naïve, "quoted"\n',
        "Data": "00ff",
        "List": "[1, 9223372036854775808]",
        "Groups": '[{"Name": "a", "Rank": 1}, {"Name": "", "Rank": 255}]',
    }
    assert set(rows[1].values()) == {"-5", "1970-01-01T00:00:00.000000000Z", "", "Infinity", "[]"}


def test_json_lines(tmp_path: Path) -> None:
    data = written(tmp_path, "jsonl", [made(ROWS)]).read_bytes()
    assert data.isascii()
    rows = [json.loads(line) for line in data.splitlines()]
    assert [row["Big"] for row in rows] == [(1 << 64) - 1, None, 0]
    assert [row["Share"] for row in rows] == [1.5, "Infinity", "NaN"]
    assert [row["Data"] for row in rows] == ["00ff", None, ""]
    assert [row["time"] for row in rows] == ["2023-11-14T22:13:20.123456789Z", "1970-01-01T00:00:00.000000000Z", None]
    assert rows[0]["Groups"] == ROWS[0]["Groups"]
    assert rows[2]["List"] is None


def test_values_inside_groups() -> None:
    """Times, bytes and odd floats are text wherever they stand."""
    when = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 10**9
    children = (
        from_values(STRING, ["a"]),
        Column(TIMESTAMP, 1, np.array([when])),
        from_values(ColumnType("float64"), [float("nan")]),
        from_values(BINARY, [b"\1"]),
    )
    group = Column(GROUP, 1, np.zeros(0, np.uint8), children=children)
    value = {"Name": "a", "When": "2026-01-01T00:00:00.000000000Z", "Share": "NaN", "Id": "01"}
    assert formats._values(group) == [value]
    listed = Column(ColumnType("list", (GROUP,)), 1, np.zeros(0, np.uint8), np.array([0, 1]), (group,))
    assert formats._values(listed) == [[value]]


@pytest.mark.parametrize(
    ("out", "near"),
    [
        ("gcs.cvs", ".csv"),
        ("out.parqet", ".parquet"),
        ("all.json", ".jsonl"),
        ("app.pftrac", ".pftrace"),
        ("gcs.csv.gz", ".csv"),
        ("lake.2026-11", None),
        ("lake", None),
    ],
)
def test_a_suffix_that_is_nearly_one_is_a_mistake(out: str, near: str | None, tmp_path: Path) -> None:
    """No folder of Parquet is meant by it. One that ends in / is a folder, whatever it is called."""
    arguments = ["export", str(fixture("net8-sample")), "RequestStart", "-o"]
    done = CliRunner().invoke(root, [*arguments, str(tmp_path / out)])
    assert (done.exit_code == 0, (tmp_path / out).is_dir()) == (near is None, near is None), done.output
    if near is not None:
        assert f"did you mean {near!r}?" in done.output
        assert CliRunner().invoke(root, [*arguments, f"{tmp_path / out}/"]).exit_code == 0
        assert (tmp_path / out).is_dir()


def test_a_flame_graph_names_the_suffix_that_was_meant(tmp_path: Path) -> None:
    done = CliRunner().invoke(root, ["flame", str(fixture("net10-convoy")), "-o", str(tmp_path / "a.fodled")])
    assert done.exit_code == 1
    assert "did you mean '.folded'? Else use -f speedscope|folded|html|pprof" in done.output
