"""`clrevents export --activity-ids`: the ids that events have, as columns; without it an event's file has none."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pyarrow.parquet as pq

from clrevents.events import GCStart_V1
from clrevents.testing.builder import TraceBuilder
from command_runs import Run

IDS = {"activity_id", "related_activity_id"}
ACTIVITY = UUID("00112233-4455-6677-8899-aabbccddeeff")


def test_activities_are_columns_on_request(run: Run, tmp_path: Path) -> None:
    start = GCStart_V1(7, 0, 0, 0, 0)
    trace = tmp_path / "small.nettrace"
    trace.write_bytes(TraceBuilder().event(start).activity(ACTIVITY.bytes_le).event(start).build())
    assert run("export", trace, "GCStart", "-o", tmp_path / "plain").exit_code == 0
    assert run("export", trace, "GCStart", "-o", tmp_path / "more", "--activity-ids").exit_code == 0
    (plain,) = (tmp_path / "plain").rglob("GCStart.parquet")
    (more,) = (tmp_path / "more").rglob("GCStart.parquet")
    assert not IDS & set(pq.read_schema(plain).names)
    table = pq.read_table(more)
    ids = [None if value is None else UUID(bytes=value) for value in table["activity_id"].to_pylist()]
    assert ids == [None, ACTIVITY]
    assert table["related_activity_id"].to_pylist() == [None, None]
    assert table["Count"].to_pylist() == [7, 7]
