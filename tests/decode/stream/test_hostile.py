"""Small streams that mean harm: an error or a problem, in little memory, and the same however they are cut.

How long they take is not asserted here; what bounds it is (`Limits`, and that every claim is held against the bytes).
"""

from __future__ import annotations

import io
from collections import Counter
from functools import partial

import pytest

from clrevents import Limits
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow
from clrevents.trace.decoder import Decoder
from counting import peak
from exercise import decode, exercise
from hostile import cases, described, event, nested, sized
from in_memory import ended, four, six
from oldest_writer import NetPerf12Writer
from seen import in_pieces
from tiers import one_in

CASES = dict(cases())
MEMORY = 8 << 20
_PARTS = 24


@pytest.mark.parametrize("part", one_in(3, range(_PARTS)))
def test_nothing_but_trace_errors(part: int) -> None:
    for name in list(CASES)[part::_PARTS]:
        try:
            exercise(CASES[name])
        except BaseException as error:
            error.add_note(f"in the stream {name!r}")
            raise


def test_little_memory() -> None:
    assert max(map(len, CASES.values())) < 3000
    # What is made once a process is no stream's fault.
    for data in CASES.values():
        decode(data, "salvage", None)
    greedy = {}
    for name, data in CASES.items():
        if (most := peak(partial(decode, data, "salvage", None))) > MEMORY:
            greedy[name] = most
    assert greedy == {}


def problems(data: bytes, limits: Limits) -> tuple[Counter[str], int, int]:
    """Kinds of problem with their exact counts, how many are listed, and how many events came out."""
    decoder = Decoder(errors="salvage", limits=limits)
    batches = [*decoder.feed(data), *decoder.close()]
    return decoder._stream.problems.counts, len(decoder.problems), sum(map(len, batches))


def test_limit_of_nesting_and_fields() -> None:
    for depth, kinds in ((3, []), (5, ["bad-fields"])):
        data = six(lambda w, d=depth: w.metadata([described(nested(19, d))]))  # type: ignore[misc]
        assert list(problems(data, Limits(nesting=4))[0]) == kinds
    many = described(*(FieldDescription(f"f{n}", 9) for n in range(9)))
    data = four(lambda w: w.metadata([many]))
    assert list(problems(data, Limits(fields=9))[0]) == []
    assert list(problems(data, Limits(fields=8))[0]) == ["bad-fields"]


def test_limit_of_descriptions_and_of_classes_made_from_them() -> None:
    rows = [described(FieldDescription(f"f{n}", 9), number=n) for n in range(1, 21)]
    data = four(lambda w: w.metadata(rows), lambda w: w.events([event(n, bytes(4)) for n in range(1, 21)]))
    assert problems(data, Limits()) == (Counter(), 0, 20)
    counts, _, events = problems(data, Limits(metadata=5))
    assert counts["too-many-kinds"] == 15
    assert events == 20
    counts, _, events = problems(data, Limits(learned=5))
    assert counts == {"unknown-event": 15}
    assert events == 20


def test_limit_of_threads_and_names() -> None:
    data = six(lambda w: w.threads([ThreadRow(n, n) for n in range(20)]))
    assert problems(data, Limits(threads=5))[0] == {"too-many-threads": 15}
    data = four(lambda w: w.metadata([MetadataRecord(1, "P" * 250, 1, 0, "E")]))
    assert list(problems(data, Limits(string_bytes=499))[0]) == ["bad-metadata"]
    assert list(problems(data, Limits(string_bytes=500))[0]) == []


def test_limit_of_problems_keeps_counts_exact() -> None:
    data = four(lambda w: w.events([event(n) for n in range(1, 101)]))
    counts, listed, events = problems(data, Limits(problems=7))
    assert counts == {"undefined-metadata": 100, "unknown-event": 100}
    assert listed <= 3 * 7
    assert events == 100


def test_limit_of_blocks() -> None:
    data = four(sized("EventBlock", 5000, bytes(5000)))
    counts, _, _ = problems(data, Limits(block_bytes=4999))
    assert counts == {"bad-block": 1, "missing-end": 1}


def test_limit_of_blocks_is_one_of_records_without_blocks() -> None:
    """The same in pieces, in which a record may be seen before it is there."""
    writer = NetPerf12Writer(io.BytesIO(), 2)
    sizes = [10, 400, 20, 30, 40, 400, 50, 60, 70]
    writer.events([MetadataRecord(1, "P", 1, 0, "E"), *(EventRecord(1, n, 1, bytes(n)) for n in sizes)])
    data, limits = ended(writer), Limits(block_bytes=200)
    assert problems(data, Limits()) == (Counter({"unknown-event": len(sizes)}), len(sizes), len(sizes))
    counts, listed, events = problems(data, limits)
    assert (events, counts["bad-event"] > 0) == (len(sizes) - 2, True)
    for size in (1, 50, 333):
        decoder = Decoder(errors="salvage", limits=limits)
        batches = [batch for piece in in_pieces(data, size) for batch in decoder.feed(piece)] + list(decoder.close())
        assert (sum(map(len, batches)), len(decoder.problems)) == (events, listed)


def test_limit_of_regions_gives_up_order_not_events() -> None:
    def write(w: object) -> None:
        for n in range(50):
            w.events([EventRecord(1, 100 - n, 1, bytes(100))])  # type: ignore[attr-defined]

    data = four(lambda w: w.metadata([MetadataRecord(1, "P", 1, 0, "E")]), write)
    for limits in (Limits(region_events=9), Limits(region_bytes=2000)):
        counts, _, events = problems(data, limits)
        assert counts["region-too-long"] >= 3
        assert events == 50
