"""What the doctor says first of services whose requests say where their time went: no false finding."""

from __future__ import annotations

import pytest
from shared_files import SHARED, needs_shared

import clrevents

pytestmark = needs_shared

CALLING = ("net8-shop-all-1", "net10-two-3", "net10-shop-prod-ids-2", "net10-shop-samples-4", "net11-shop-full-7")


@pytest.mark.parametrize("name", CALLING)
def test_only_requests_with_one_connection_for_all_wait_for_one(name: str) -> None:
    """The rest is queued while its own connection is made."""
    with clrevents.open(SHARED / "requests" / f"{name}.nettrace.gz") as trace:
        rows = trace.report("requests").requests
        diagnosis = trace.doctor("http.queue")
    (queue, _) = {row.place: row for row in diagnosis.evidence}
    waited = [row.row for row in diagnosis.evidence if row.place == queue]
    routes = {rows[rows[row].parent_row].url_path for row in waited if row is not None}
    assert {path.partition("/")[2].partition("/")[0] for path in routes} == {"queue"}


def test_the_host_that_runs_until_the_end_waits_for_nothing() -> None:
    with clrevents.open(SHARED / "requests" / "net11-shop-full-7.nettrace.gz") as trace:
        report = trace.report("waits")
    kinds = {row.method.partition("(")[0].rpartition(".")[2]: row.kind for row in report.methods if row.method}
    assert (kinds["Run"], kinds["TimerLoop"], kinds["CollectWorker"]) == ("idle", "idle", "idle")
    assert report.facts.sync_over_async == "Ops.SyncOverAsync(int)"
