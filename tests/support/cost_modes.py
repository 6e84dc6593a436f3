"""Every way of reading a trace whose cost counts, by name: what `cost_runs` measures, one after the other.

Each mode opens the bytes anew, asks, and throws the answers away; whatever `TraceError` ends it is part of the answer.
Measures nothing.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import unittest.mock
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import clrevents
from clrevents import Trace, TraceError, TraceWarning
from clrevents.analysis.calltree import call_tree
from clrevents.analysis.reports import run_reports
from clrevents.analysis.samples import read_samples, stacked_events
from clrevents.errors import ErrorMode
from clrevents.export.jsonl import EventJson
from clrevents.rewrite import cut, redact
from clrevents.trace.decoder import Decoder

_PIECE: Final = 1000


def _open(data: bytes, errors: ErrorMode = "salvage") -> Trace:
    return clrevents.open(data, errors=errors)


def _drain(items: Iterable[Any]) -> None:
    deque(items, maxlen=0)


def _count(data: bytes, errors: ErrorMode = "report") -> None:
    with _open(data, errors) as trace:
        trace.event_counts()
        _drain(trace.threads)
        _drain(trace.losses)
        _ = trace.lost, trace.duration_ns, trace.problems
        trace.summary()


def _salvage(data: bytes) -> None:
    _count(data, "salvage")


def _check(data: bytes) -> None:
    with _open(data, "report") as trace:
        report = trace.check()
        _ = report.verdict, str(report), [str(problem) for problem in report.problems]


def _events(data: bytes) -> None:
    with _open(data) as trace:
        for event in trace.events():
            _ = event.key, event.time, event.thread_id, event.process_id, event.activity_id, event.labels, event.stack


def _frames(data: bytes) -> None:
    with _open(data) as trace:
        for event in trace.events():
            _ = event.frames


def _records(data: bytes) -> None:
    with _open(data) as trace:
        for event in trace.events():
            _ = event.payload, event.payload_tail, repr(event), event._repr_html_()


def _lines(data: bytes) -> None:
    with _open(data) as trace:
        lines = EventJson(names=True)
        for event in trace.events():
            lines.line(event)


def _columns(data: bytes) -> None:
    with _open(data) as trace:
        _drain(trace.tables(enum_names=True))
        trace.headers()


def _pieces(data: bytes) -> None:
    decoder = Decoder(errors="salvage", symbols=True)
    for at in range(0, len(data), _PIECE):
        _drain(map(_drain, decoder.feed(data[at : at + _PIECE])))
    _drain(map(_drain, decoder.close()))


def _symbols(data: bytes) -> None:
    with _open(data) as trace:
        _drain(trace.methods)
        trace.stacks.table()


def _redact(data: bytes) -> None:
    with _open(data) as trace, tempfile.TemporaryDirectory() as folder:
        redact(trace, Path(folder) / "out.nettrace", key=b"k")


def _cut(data: bytes) -> None:
    with _open(data) as trace, tempfile.TemporaryDirectory() as folder:
        cut(trace, Path(folder) / "out.nettrace", start="10%", end="90%")


def _reports(data: bytes) -> None:
    # Charts are drawn by another program in this process, which no fork survives; what they draw is bounded.
    with _open(data) as trace, unittest.mock.patch.dict(sys.modules, {"vl_convert": None}):
        for answer in run_reports(trace).values():
            _ = repr(answer), answer.to_dict(), answer._repr_html_()


def _flame(data: bytes) -> None:
    with _open(data) as trace:
        call_tree(read_samples(trace))
        for provider, name in list(stacked_events(trace))[:1]:
            call_tree(read_samples(trace, f"{provider}/{name}"))


MODES: Final[dict[str, Callable[[bytes], None]]] = {
    "count": _count,
    "salvage": _salvage,
    "check": _check,
    "events": _events,
    "frames": _frames,
    "records": _records,
    "lines": _lines,
    "columns": _columns,
    "pieces": _pieces,
    "symbols": _symbols,
    "redact": _redact,
    "cut": _cut,
    "reports": _reports,
    "flame": _flame,
}


def run(mode: str, data: bytes) -> None:
    """Read `data` in one mode. Raises whatever the library lets escape that is no `TraceError`."""
    with warnings.catch_warnings(), contextlib.suppress(TraceError):
        warnings.simplefilter("ignore", TraceWarning)
        MODES[mode](data)
