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
from shared_comparison import Kind, fields_of, prove
from shared_differences import DIFFERENCES
from shared_files import Shared, checksums, params, summed, unpacked

import clrevents
from clrevents.decode.stream.stream import Stream
from clrevents.schema.registry import DEFAULT

_SUM = 0xFFFFFFFFFFFFFFFF
_HALF = 1 << 31


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
        theirs[provider, 39 if id == "65524" else int(id), int(version)] += kind_sums["n"]
    assert +kinds == theirs
    assert kinds.total() == official["events"]
    assert dict(threads) == official["threads"]
    # The sum was made in another order.
    assert math.isclose(total, official["ms_sum"], rel_tol=1e-9)


def test_same_sums_of_fields(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    official = json.loads(trace.beside(".sums.json").read_text())["kinds"]
    known = {}
    for text, kind_sums in official.items():
        provider, id, version = text.split("|")
        info = DEFAULT.best(provider, int(id), int(version))
        if info is not None:
            known[text] = (info.record, kind_sums)
    sums: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    counted: Counter[str] = Counter()
    compared: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        records = {record for record, _ in known.values()}
        opened = clrevents.open(unpacked(trace))
        pointer_size = opened.info.pointer_size
        for event in opened.events(*records) if records else ():
            key = f"{event.provider}|{event.id}|{event.version}"
            ours = fields_of(event.payload)
            difference = DIFFERENCES.get((event.provider, event.id))
            shown = ours if difference is None else difference.view(ours, event.version)
            here = sums[key]
            for name, value in shown.items():
                both = here[name]
                both[0] += _crc(value)
                # 32 bits may show as negative; a field does so everywhere or nowhere.
                signed = isinstance(value, int) and not isinstance(value, bool) and _HALF <= value < 2 * _HALF
                both[1] += _crc(value - 2 * _HALF if signed else value)
            counted[key] += 1
            figures = compared[event.provider]
            figures[0] += 1
            figures[1] += len(ours)
            if difference is not None:
                proven, faults = prove(event.payload, ours, shown, event.payload_bytes, pointer_size)
                assert not faults, (event, faults)
                figures[2] += proven
    for text, (_, kind_sums) in known.items():
        assert counted[text] == kind_sums["n"], text
        provider, id, _ = text.split("|")
        difference = DIFFERENCES.get((provider, int(id)))
        derived = frozenset() if difference is None else difference.derived
        official_sums = {n: v for n, v in kind_sums["fields"].items() if n not in derived}
        assert set(sums[text]) == set(official_sums), text
        for name, value in official_sums.items():
            assert value in [s & _SUM for s in sums[text][name]], (text, name)
    record_property("summed", {p: tuple(f) for p, f in compared.items()})


def _crc(value: Any) -> int:
    return _crc_of_text(value if isinstance(value, str) else checksums().canon(value))


@lru_cache(maxsize=1 << 16)
def _crc_of_text(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
