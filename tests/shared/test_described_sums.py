"""Self-described events of the traces of which only checksums are at hand: the sum of each field of each kind."""

from __future__ import annotations

import json
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pytest
from shared_comparison import described_fields, prove
from shared_described import DIFFERENT, SAMPLE, WITHOUT_FIELDS, Single
from shared_files import Shared, checksums, needs_shared, params, summed

import clrevents
from clrevents.schema.registry import DEFAULT

_SUM: Final = 0xFFFFFFFFFFFFFFFF

# The official decoder gives one kind of event of the runtime's an id of its own.
MADE_UP_ID: Final = 65524

# Numbers below the smallest normal one are shown with fewer digits than they have; the text is what lies behind the
# payload. Both are predicted where there is a dump to compare with.
NOT_SUMMED: Final[dict[tuple[str, str], set[str]]] = {(SAMPLE, "AllTypes"): {"f", "s"}}

DESCRIBED_SUMS: Final = {
    "net10-async-11": 973,
    "net10-big": 178_887,
    "net10-convoy-11": 2,
    "net10-cpu-11": 2,
    "net10-exceptions-11": 2,
    "net10-garbage-11": 2,
    "net10-starvation-11": 230,
    "net10-states-11": 50,
}


@pytest.mark.parametrize("trace", params([t for t in summed() if t.short in DESCRIBED_SUMS]))
def test_same_sums_of_self_described_fields(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    official = json.loads(trace.beside(".sums.json").read_text())["kinds"]
    theirs = {text: sums for text, sums in official.items() if _is_described(text)}
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    counted: Counter[str] = Counter()
    figures: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        opened = clrevents.open(trace.path)
        keys = [key for key in opened.event_counts() if f"{key.provider}|{key.id}|{key.version}" in theirs]
        for event in opened.events(*keys):
            text = f"{event.provider}|{event.id}|{event.version}"
            counted[text] += 1
            figure = figures[event.provider]
            figure[0] += 1
            place = event.provider, event.name
            if isinstance(event.payload, clrevents.RawPayload):
                assert place in WITHOUT_FIELDS
                continue
            ours = described_fields(event.payload, place)
            difference = DIFFERENT.get(place)
            shown = ours if difference is None else difference.view(ours, event.version)
            if difference is not None:
                proven, faults = prove(event.payload, ours, shown, event.payload_bytes, opened.info.pointer_size)
                assert not faults, (event, faults)
                figure[2] += proven
            figure[1] += len(ours)
            here = sums[text]
            for name in shown.keys() - NOT_SUMMED.get(place, set()):
                here[name] += _crc(shown[name])
    assert counted == {text: kind["n"] for text, kind in theirs.items()}
    assert counted.total() == DESCRIBED_SUMS[trace.short]
    names = {f"{key.provider}|{key.id}|{key.version}": key.name for key in keys}
    for text, kind in theirs.items():
        left_out = NOT_SUMMED.get((text.split("|")[0], names[text]), set())
        summed_up = {name: value & _SUM for name, value in sums[text].items()}
        assert summed_up == {n: s for n, s in kind["fields"].items() if n not in left_out}, text
    record_property("described sums", {provider: tuple(figure) for provider, figure in figures.items()})


@needs_shared
def test_no_other_trace_has_any() -> None:
    for trace in summed():
        official = json.loads(trace.beside(".sums.json").read_text())["kinds"]
        found = sum(kind["n"] for text, kind in official.items() if _is_described(text))
        assert found == DESCRIBED_SUMS.get(trace.short, 0), trace.name


def _is_described(text: str) -> bool:
    provider, id, version = text.split("|")
    return int(id) != MADE_UP_ID and DEFAULT.best(provider, int(id), int(version)) is None


def _crc(value: Any) -> int:
    if isinstance(value, str):
        return _crc_of_text(value)
    if isinstance(value, Single):
        value = float(str(np.float32(value)))
    return _crc_of_text(str(checksums().canon(value)))


@lru_cache(maxsize=1 << 16)
def _crc_of_text(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
