"""Every way of reading a trace whose cost counts, by name: what `cost_runs` measures, one after the other.

Each mode opens the bytes anew, asks, and throws the answers away; whatever `TraceError` ends it is part of the answer.
Measures nothing.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import tempfile
import unittest.mock
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final

import clrevents
from clrevents import Trace, TraceError, TraceWarning
from clrevents.analysis.framework.run.asking import feed_reports
from clrevents.analysis.shared.samples.calltree import call_tree
from clrevents.analysis.shared.samples.samples import read_samples, stacked_events
from clrevents.analysis.shared.samples.stack_shapes import StackShape
from clrevents.errors import ErrorMode
from clrevents.export.file_formats import VIEWERS, TimelineFormat
from clrevents.export.files.directory import export_directory
from clrevents.export.files.formats import FORMATS, Format
from clrevents.export.files.jsonl import EventJson
from clrevents.export.files.tables import Options
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.look import Look
from clrevents.export.timeline.timeline_file import write_timeline
from clrevents.rewrite import cut, redact, redaction_rules
from clrevents.trace.decoder import Decoder

_PIECE: Final = 1000
_SHAPES: Final = (
    StackShape.of("*1->a", fold="*2"),
    StackShape.of("n*=>a", exclude="*b*c*", my_code=True),
    StackShape.of(include="*a*,*1"),
)


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


def _rules(data: bytes) -> None:
    with _open(data) as trace:
        _drain(map(str, redaction_rules(trace, fields=(".*a",), ids=True)))


def _pseudonyms(data: bytes) -> None:
    with _open(data) as trace, tempfile.TemporaryDirectory() as folder:
        redact(trace, Path(folder) / "out.nettrace", key=b"k", blank=False, ids=True, texts=("a+b",))


def _cut(data: bytes) -> None:
    with _open(data) as trace, tempfile.TemporaryDirectory() as folder:
        cut(trace, Path(folder) / "out.nettrace", start="10%", end="90%")


def _reports(data: bytes) -> None:
    # Charts are drawn by another program in this process, which no fork survives; what they draw is bounded.
    with _open(data) as trace, unittest.mock.patch.dict(sys.modules, {"vl_convert": None}):
        for answer in trace.reports().values():
            _ = repr(answer), answer.to_dict(), answer._repr_html_()


def _flame(data: bytes) -> None:
    with _open(data) as trace:
        call_tree(read_samples(trace))
        for provider, name in list(stacked_events(trace))[:1]:
            call_tree(read_samples(trace, f"{provider}/{name}"))


def _callers(data: bytes) -> None:
    with _open(data) as trace:
        methods = list(islice(trace.methods, 1))
        for method in ("*", *(method.display for method in methods)):
            answer = trace.report("callers", method=method, group="n*=>a", fold="*1")
            _ = repr(answer), answer.to_dict()


def _logical(data: bytes) -> None:
    with _open(data) as trace:
        samples = read_samples(trace, logical=True)
        for format in FLAME_FORMATS:
            flame_bytes(samples, format, Look("t", "e", True, False, trace.info.start))


def _shaped(data: bytes) -> None:
    with _open(data) as trace:
        samples = read_samples(trace)
        for shape in _SHAPES:
            flame_bytes(samples.in_shape(shape), "html", Look("t", "e", True))


def _timeline(format: TimelineFormat, data: bytes) -> None:
    with _open(data) as trace:
        write_timeline(trace, io.BytesIO(), Look("t", "e", start=trace.info.start), format)


def _live(data: bytes) -> None:
    decoder, feed = Decoder(errors="salvage", symbols=True), feed_reports()
    for at in range(0, len(data), 16 * _PIECE):
        feed.take(decoder, decoder.feed(data[at : at + 16 * _PIECE]))
    feed.take(decoder, decoder.close())
    feed.finish(decoder)


def _export(format: Format, data: bytes) -> None:
    with _open(data) as trace, tempfile.TemporaryDirectory() as folder:
        export_directory(trace, Path(folder) / "out", Options(format, activity_ids=True, spreadsheet=True), {})


def _query(data: bytes) -> None:
    with _open(data) as trace:
        trace.query("select count(*), max(time) from headers")
        trace.query("select count(*) from frames")


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
    "rules": _rules,
    "pseudonyms": _pseudonyms,
    "cut": _cut,
    "reports": _reports,
    "live": _live,
    "callers": _callers,
    "flame": _flame,
    "logical": _logical,
    "shaped": _shaped,
    "query": _query,
    **{f"export {format}": functools.partial(_export, format) for format in FORMATS},
    **{f"export {format}": functools.partial(_timeline, format) for format in VIEWERS},
}


def run(mode: str, data: bytes) -> None:
    """Read `data` in one mode. Raises whatever the library lets escape that is no `TraceError`."""
    with warnings.catch_warnings(), contextlib.suppress(TraceError):
        warnings.simplefilter("ignore", TraceWarning)
        MODES[mode](data)
