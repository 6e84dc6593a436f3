"""Traces of which only checksums are at hand: events by kind and by thread, times, and the sum of each known field.

A checksum adds up the CRC-32 of each value's text, so one wrong value in a million events shows.
"""

from __future__ import annotations

import json
import math
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from shared_comparison import Kind, described_fields, fields_of, prove
from shared_described import DIFFERENT, SAMPLE, WITHOUT_FIELDS, Single
from shared_differences import DIFFERENCES, Difference
from shared_files import Shared, checksums, params, summed, unpacked

import clrevents
from clrevents.decode.stream.stream import Stream
from clrevents.schema.registry import DEFAULT

_SUM = 0xFFFFFFFFFFFFFFFF
_HALF = 1 << 31
MADE_UP_ID = 65524
# Numbers below the smallest normal one are shown with fewer digits than they have; the text is what lies behind the
# payload. Both are predicted where there is a dump to compare with.
NOT_SUMMED = {(SAMPLE, "AllTypes"): {"f", "s"}}

DESCRIBED_SUMS = {
    "net10-async-11": 973,
    "net10-big": 178_887,
    "net10-convoy-11": 2,
    "net10-cpu-11": 2,
    "net10-exceptions-11": 2,
    "net10-garbage-11": 2,
    "net10-starvation-11": 230,
    "net10-states-11": 50,
}
"""How many events only the trace itself describes."""


@pytest.fixture(scope="module", params=params(summed()))
def trace(request: pytest.FixtureRequest) -> Shared:
    found: Shared = request.param
    return found


def test_same_counts_threads_and_times(trace: Shared) -> None:
    official = json.loads(trace.beside(".sums.json").read_text())
    stream = Stream()
    kinds: Counter[Kind] = Counter()
    threads: Counter[str] = Counter()
    total = 0.0
    last = None
    data = unpacked(trace)
    for rows in (*stream.feed(data), *stream.close()):
        for kind, n in enumerate(np.bincount(rows.kind_indexes).tolist()):
            key = stream.kinds.all[kind].key
            kinds[key.provider, key.id, key.version] += n
        numbers, n_each = np.unique(rows.thread_ids, return_counts=True)
        threads.update(dict(zip(map(str, numbers.tolist()), n_each.tolist(), strict=True)))
        assert (rows.ticks[1:] >= rows.ticks[:-1]).all()
        assert last is None or last <= rows.ticks[0]
        last = rows.ticks[-1]
        total += math.fsum(((rows.ticks - stream.clock.sync_qpc) * 1000.0 / stream.clock.frequency).tolist())
    theirs: Counter[Kind] = Counter()
    for text, kind_sums in official["kinds"].items():
        provider, id, version = text.split("|")
        theirs[provider, 39 if int(id) == MADE_UP_ID else int(id), int(version)] += kind_sums["n"]
    assert +kinds == theirs
    assert kinds.total() == official["events"]
    assert dict(threads) == official["threads"]
    # The sum was made in another order.
    assert math.isclose(total, official["ms_sum"], rel_tol=1e-9)


def test_same_sums_of_fields(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    """Of the registry's events, and of those that only the trace describes."""
    official = {
        (provider, int(id), int(version)): kind_sums
        for text, kind_sums in json.loads(trace.beside(".sums.json").read_text())["kinds"].items()
        for provider, id, version in [text.split("|")]
    }
    sums: dict[Kind, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    counted: Counter[Kind] = Counter()
    names: dict[Kind, str] = {}
    figures: dict[bool, dict[str, list[int]]] = {known: defaultdict(lambda: [0, 0, 0]) for known in (True, False)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        opened = clrevents.open(trace.path)
        keys = [key for key in opened.event_counts() if (key.provider, key.id, key.version) in official]
        for event in opened.events(*keys):
            kind = event.provider, event.id, event.version
            known = DEFAULT.best(*kind) is not None
            place = event.provider, event.name
            counted[kind] += 1
            names[kind] = event.name
            figure = figures[known][event.provider]
            figure[0] += 1
            if isinstance(event.payload, clrevents.RawPayload):
                assert place in WITHOUT_FIELDS
                continue
            ours = fields_of(event.payload) if known else described_fields(event.payload, place)
            difference = _difference(kind, event.name)
            shown = ours if difference is None else difference.view(ours, event.version)
            figure[1] += len(ours)
            if difference is not None:
                proven, faults = prove(event.payload, ours, shown, event.payload_bytes, opened.info.pointer_size)
                assert not faults, (event, faults)
                figure[2] += proven
            here = sums[kind]
            for name, value in shown.items():
                if name in NOT_SUMMED.get(place, ()):
                    continue
                both = here[name]
                both[0] += _crc(value)
                # 32 bits may show as negative; a field does so everywhere or nowhere.
                signed = isinstance(value, int) and not isinstance(value, bool) and _HALF <= value < 2 * _HALF
                both[1] += _crc(value - 2 * _HALF if signed else value)
    # The official decoder gives one kind of event of the runtime's an id of its own.
    assert counted == {kind: kind_sums["n"] for kind, kind_sums in official.items() if kind[1] != MADE_UP_ID}
    described = sum(n for kind, n in counted.items() if DEFAULT.best(*kind) is None)
    assert described == DESCRIBED_SUMS.get(trace.short, 0)
    for kind in counted:
        difference = _difference(kind, names[kind])
        derived = frozenset() if difference is None else difference.derived
        left_out = derived | NOT_SUMMED.get((kind[0], names[kind]), set())
        wanted = {n: v for n, v in official[kind]["fields"].items() if n not in left_out}
        assert set(sums[kind]) == set(wanted), kind
        for name, value in wanted.items():
            assert value in [s & _SUM for s in sums[kind][name]], (kind, name)
    record_property("summed", {provider: tuple(figure) for provider, figure in figures[True].items()})
    record_property("described sums", {provider: tuple(figure) for provider, figure in figures[False].items()})


def _difference(kind: Kind, name: str) -> Difference | None:
    return DIFFERENT.get((kind[0], name)) if DEFAULT.best(*kind) is None else DIFFERENCES.get(kind[:2])


def _crc(value: Any) -> int:
    if isinstance(value, Single):
        value = float(str(np.float32(value)))
    return _crc_of_text(value if isinstance(value, str) else str(checksums().canon(value)))


@lru_cache(maxsize=1 << 16)
def _crc_of_text(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
