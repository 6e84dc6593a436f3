"""`batch.table`: the tables of all batches together are the trace's table, however the stream was cut."""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from typing import Any

import pytest

import clrevents
from clrevents.events import GCStart_V1, GCStart_V2
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from reading import event_batches
from tabular import same
from tiers import each_fixture

HEADERS = ["time_ns", "time", "thread_id", "stack_id", "event_version", "process_id", "processor", "opcode", "level"]
HEADERS += ["keywords", "activity_id", "related_activity_id", "payload_size"]


def opened(path: Any) -> clrevents.Trace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        return clrevents.open(path, errors="salvage")


@each_fixture("net8-sample", "net8-counters")
def test_batches_of_a_decoder_give_the_trace_s_tables(path: Any) -> None:
    with opened(path) as trace:
        names = sorted({(k.provider, k.name) for k in trace.event_counts()})
        expected = {e: trace.table("/".join(e), columns=None) for e in names}
        headers = {e: list(trace.table("/".join(e), columns=HEADERS).rows()) for e in names}
        feeding = clrevents.Decoder(errors="salvage")
        rows: dict[Any, list[Any]] = defaultdict(list)
        head: dict[Any, list[Any]] = defaultdict(list)
        for data in passes_of(trace).source.windows(1 << 16):
            for batch in feeding.feed(data):
                take(batch, names, rows, head, expected)
        for batch in feeding.close():
            take(batch, names, rows, head, expected)
    for event in names:
        assert same(rows[event], list(expected[event].rows())), event
        assert same(head[event], headers[event]), event
    assert sum(map(len, rows.values())) > 1000


def take(batch: clrevents.Batch, names: Any, rows: Any, head: Any, expected: Any) -> None:
    met = {(kind.key.provider, kind.key.name) for kind in batch._rows.kinds}
    for event in names:
        if event in met:
            table: Any = batch.table("/".join(event))
            rows[event] += table.rows()
            head[event] += batch.table("/".join(event), columns=HEADERS).rows()
            assert table.fields == expected[event].fields


def test_batches_of_a_trace() -> None:
    new = GCStart_V2(8, 0, 0, 0, 0, 9)
    data = TraceBuilder().event(new).sample(1).event(GCStart_V1(7, 0, 0, 0, 0)).build()
    with clrevents.open(data) as trace:
        (batch,) = event_batches(trace)
        table = batch.table("GCStart")
        assert table.columns == trace.table("GCStart").columns
        assert table["Count"].tolist() == [8, 7]
        assert table["ClientSequenceNumber"].tolist() == [9, None]
        assert batch.table(GCStart_V1, columns=["Count"]).columns == ["Count"]
        assert len(batch.table("GCEnd")) == 0
        assert batch.table("GCEnd").columns == trace.table("GCEnd").columns
        with pytest.raises(KeyError, match="Nothing"):
            batch.table("GCStart", columns=["Nothing"])
        with pytest.raises(clrevents.UnknownEventError, match="GCStart"):
            batch.table("GCStort")
        with pytest.raises(clrevents.AmbiguousEventError):
            batch.table("*")
        assert len(batch.table("Nothing*")) == 0
        assert batch.table("GCStart").to_arrow().schema.metadata[b"name"] == b"GCStart"


def test_a_batch_keeps_its_tables_when_it_is_pickled() -> None:
    data = TraceBuilder().sample(1).sample(2).build()
    (batch,) = clrevents.Decoder().feed(data)
    again = pickle.loads(pickle.dumps(batch))
    assert list(again.table("ThreadSample").rows()) == list(batch.table("ThreadSample").rows())  # type: ignore[attr-defined]
    event = pickle.loads(pickle.dumps(next(iter(batch))))
    assert not hasattr(event._rows, "tables")
