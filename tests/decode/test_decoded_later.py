"""What rows find only when it is asked for is what they would have found at once, and needs no window of the stream."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import attrs
import pytest

from clrevents.decode.decoded import DecodedRows, Later, own_rows, payloads_of
from clrevents.decode.stream.stream import Stream

FIXTURES = Path(__file__).parents[2] / "fixtures"
LATER = ("_activities", "_related_activities", "_stack_bytes")


def facts(rows: DecodedRows) -> list[Any]:
    guids = rows.activities, rows.related_activities
    return [rows.stack_bytes, *(None if one is None else one.all() for one in guids)]


@pytest.mark.parametrize("window", [1 << 14, 1 << 16, 1 << 30])
@pytest.mark.parametrize(
    "name", ["net10-starvation.nettrace.gz", "net8-sample.nettrace.gz", "net8-netperf3.netperf.gz"]
)
def test_what_is_found_later_is_the_same(name: str, window: int) -> None:
    data = gzip.decompress((FIXTURES / name).read_bytes())
    stream = Stream(errors="salvage")
    released = [rows for at in range(0, len(data), window) for rows in stream.feed(data[at : at + window])]
    released += stream.close()
    info = stream.info
    assert info is not None
    later = stacks = 0
    for rows in released:
        places = payloads_of(rows)
        apart = attrs.evolve(places, base=None)
        one, other = (own_rows(rows, each, [], stream.clock, info.pointer_size, 1) for each in (places, apart))
        assert not any(isinstance(getattr(other, field), Later) for field in LATER)
        later += sum(isinstance(getattr(one, field), Later) for field in LATER)
        stacks += len(other.stack_bytes)
        assert facts(pickle.loads(pickle.dumps(one))) == facts(other)
        assert facts(one) == facts(other)
        assert facts(one) == facts(other)
    assert stacks
    # Small windows hold a block each: not many have both events and stacks. NetPerf has stacks in the events.
    if window > len(data):
        assert bool(later) == ("netperf" not in name)
