"""Everything that can be made of a trace, by name, each with what must be true of it whatever the trace holds.

A family takes the bytes and raises AssertionError, or whatever the library lets escape. `TraceError` is an answer.
Which inputs, and how long and how much memory one may take, is up to the caller.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import functools
import gzip
import html.parser
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest.mock
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import clrevents
import plain_headers
from clrevents import LimitError, Limits, PayloadError, RawPayload, Trace, TraceError, TraceWarning, UnreadableError
from clrevents._util.words import safe
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.measured import Measured
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.analysis.framework.run.feeding import feed_reports
from clrevents.analysis.framework.vocabulary.report_table import columns_of, shape_of
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.decode.stream.stream import Stream
from clrevents.export.files.directory import export_directory
from clrevents.export.files.formats import FORMATS, Format
from clrevents.export.files.tables import Options
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.look import Look
from clrevents.export.page.comparison_page import comparison_page
from clrevents.export.page.page_flames import PageStacks
from clrevents.export.page.report_page import report_page
from clrevents.export.timeline.timeline_file import write_timeline
from clrevents.mcp.desk import Desk
from clrevents.mcp.reply import MOST
from clrevents.mcp.shelf import Roots
from clrevents.reference import Codec, codec
from clrevents.rewrite import cut, join, redact, redaction_rules
from clrevents.schema.dynamic import Learned
from clrevents.schema.own_marks import LACKED
from clrevents.trace.decoder import Decoder
from exercise import exercise
from firefox_rules import check_profile
from lying import lying_trace
from mutations import beyond, find_blocks
from odd_sources import Short, oddly
from perfetto_reading import read_perfetto
from plain_trace import GENERATIONS, NO_GUID, PlainTrace, changed
from report_laws import any_cut_gives_the_same, are_possible, reads_back_equal, shows_safely
from viewer_rules import check_speedscope

Family = Callable[[bytes], object]


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[Trace]:
    with clrevents.open(data, errors="salvage") as trace:
        yield trace


def _pieces(data: bytes) -> None:
    exercise(data)


def _trace_is_decoder(data: bytes) -> None:
    """The same events, whoever reads them."""
    with _opened(data) as trace:
        whole = Counter((e.key, e.time_ns, e.thread_id, e.payload_bytes) for e in trace.events())
    decoder, found = Decoder(errors="salvage"), Counter[Any]()
    for at in range(0, len(data), 5000):
        for batch in decoder.feed(data[at : at + 5000]):
            found.update((e.key, e.time_ns, e.thread_id, e.payload_bytes) for e in batch)
    for batch in decoder.close():
        found.update((e.key, e.time_ns, e.thread_id, e.payload_bytes) for e in batch)
    assert whole == found, f"trace and decoder: {list((whole - found).items())[:2]} {list((found - whole).items())[:2]}"


def in_range(answer: Answer[Any]) -> None:
    """No cell leaves the range of its type, and no metric that of its unit."""
    for declared in answer.tables():
        table = answer.table(declared.name)
        if (span := shape_of(declared.row_class).span) is not None:
            for start, end in zip(*(table.column(name).tolist() for name in span), strict=True):
                assert start is None or end is None or start <= end, f"{declared.name}: a span ends before it begins"
        for column in columns_of(declared.row_class):
            _in_cell_range(column, table.column(column.name).tolist(), declared.name)
    for column in columns_of(type(answer.facts)):
        _in_cell_range(column, [getattr(answer.facts, column.name)], "facts")
    for name, metric in answer.metrics.items():
        for value in (metric.value, metric.low, metric.high):
            assert value is None or math.isfinite(value), f"{answer.name}: {name} is {value}"
            if metric.unit in ("ns", "bytes", "ratio") and value is not None:
                assert value >= 0, f"{answer.name}: {name} is negative"


def _in_cell_range(column: Any, values: list[Any], table: str) -> None:
    low, high = column.cell.low, column.cell.high
    if set(map(type, values)) <= {str, bool, type(None)}:
        return
    for value in values:
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is None or isinstance(one, str | bool):
                continue
            fits = math.isfinite(one) and (low is None or one >= low) and (high is None or one <= high)
            assert fits, f"{table}.{column.name} is out of range"


def _judged(answer: Answer[Any]) -> None:
    in_range(answer)
    reads_back_equal(answer)
    shows_safely(answer)


def _reports(data: bytes) -> None:
    with _opened(data) as trace:
        for name, answer in trace.reports().items():
            try:
                _judged(answer)
            except Exception as error:
                error.add_note(f"report {name}")
                raise


def _window(data: bytes) -> None:
    """A report of a part of the time."""
    rng = random.Random(zlib.crc32(data))
    with _opened(data) as trace:
        low, high = sorted(rng.randrange(101) for _ in "ab")
        for name in rng.sample(report_names(), 5):
            _judged(trace.report(name, start=f"{low}%", end=f"{high}%"))


def _cut_anywhere(data: bytes) -> None:
    """No answer depends on where chunks end."""
    name = random.Random(zlib.crc32(data)).choice(report_names())
    declared = find_report(name)
    any_cut_gives_the_same(declared, declared.parameters(), data)


def _live(data: bytes) -> None:
    decoder, feed = Decoder(errors="salvage", symbols=True), feed_reports()
    for at in range(0, len(data), 16_000):
        feed.take(decoder, decoder.feed(data[at : at + 16_000]))
    feed.take(decoder, decoder.close())
    if decoder.info is not None:
        for answer in feed.finish(decoder).values():
            in_range(answer)
            json.dumps(answer.to_dict(), allow_nan=False)


class _Page(html.parser.HTMLParser):
    """The texts of a page's scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.data: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("img", "iframe", "object", "embed", "base"), tag
        self._inside = tag == "script" and ("type", "application/json") in attrs

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.data.append(data)


def read_page(page: bytes) -> list[str]:
    """The texts in the data of a page."""
    parser, found = _Page(), []
    parser.feed(page.decode())
    parser.close()
    rest = [json.loads(text) for text in parser.data]
    while rest:
        match rest.pop():
            case str(text):
                found += text.split("\n")
            case list(items):
                rest += items
            case dict(items):
                rest += [*items, *items.values()]
    return found


def _page_is_safe(page: bytes) -> None:
    for text in read_page(page):
        assert text == safe(text), f"raw on a page: {text!r}"


@contextlib.contextmanager
def _without_charts() -> Iterator[None]:
    """Charts are drawn by another program, whose inputs are bounded; they have tests of their own."""
    was = sys.modules.get("vl_convert", ...)
    sys.modules["vl_convert"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["vl_convert"]
        if was is not ...:
            sys.modules["vl_convert"] = was


def _whole_page(data: bytes) -> None:
    traceback = unittest.mock.patch.dict(os.environ, {"CLREVENTS_TRACEBACK": "1"})
    with _opened(data) as trace, _without_charts(), traceback:
        _page_is_safe(report_page(trace))


def _diagnosed(data: bytes) -> None:
    """What is wrong with the program, and what an agent is told: safe to show, and never more than is promised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "app.nettrace")
        path.write_bytes(data)
        with _opened(data) as trace:
            found = trace.doctor()
        are_possible(found)
        reads_back_equal(found)
        shows_safely(found)
        text = found.markdown().replace("\n", "")
        assert text == safe(text), f"raw: {text!r}"
        desk = Desk(Roots.of([folder]))
        for ask in (desk.overview, desk.findings, desk.frames, desk.events):
            reply = ask(path.name)
            assert reply.size <= MOST, f"{reply.size} bytes for an agent"
            assert reply.text.replace("\n", "") == safe(reply.text.replace("\n", "")), f"raw: {reply.text!r}"
            assert reply.text.count("```") in (0, 2), "a text ends its fence"
        desk.shelf.close()


def _compared(data: bytes) -> None:
    """With itself: nothing differs, and what was saved says the same."""
    name = random.Random(zlib.crc32(data)).choice((None, "top", "callers", "alloc", "heap"))
    with _opened(data) as trace:
        measured = clrevents.measure(trace, report=name)
        stacks = [PageStacks.of(trace)]
    saved = Measured.from_dict(json.loads(json.dumps(measured.to_dict(), allow_nan=False)))
    found = clrevents.compare(measured, saved)
    assert not found.alarms, found
    assert found.to_dict() == clrevents.compare(measured, measured).to_dict()
    _comparison_is_safe(found, stacks, stacks)


def _comparison_is_safe(found: Comparison, *stacks: list[PageStacks]) -> None:
    for text in (repr(found), found.markdown()):
        assert text.replace("\n", "") == safe(text.replace("\n", "")), f"raw: {text!r}"
    _page_is_safe(comparison_page(found, *stacks))


def _compared_with_another(data: bytes) -> None:
    """Whose descriptions lie otherwise, in both directions: what is gone one way is new the other."""
    rng = random.Random(zlib.crc32(data))
    name = rng.choice((None, "top", "callers", "alloc", "heap"))
    with _opened(data) as trace, _opened(lying_trace(rng)) as other:
        both = [clrevents.measure(one, report=name) for one in (trace, other)]
        stacks = [[PageStacks.of(one)] for one in (trace, other)]
    forth, back = clrevents.compare(*both), clrevents.compare(*reversed(both))
    assert {one.key: one.base for one in forth.changes} == {one.key: one.new for one in back.changes}
    _comparison_is_safe(forth, *stacks)


def _joined(data: bytes) -> None:
    """Both halves are of these bytes, which makes them of one run unless there is no process or no time."""
    with _opened(data):
        plain = PlainTrace.of(data)
    try:
        halves = [plain.written(generation) for generation in ("NetTrace 6", "NetTrace 4")]
    except (ValueError, struct.error):
        # Not every generation has all that there is in another.
        return
    out = io.BytesIO()
    with _opened(halves[0]) as linux, _opened(halves[1]) as other:
        try:
            copied = join(linux, other, out)
        except ValueError as error:
            if re.search("process|pointers|joined|began|context switches", str(error)):
                return
            raise
    with _opened(out.getvalue()) as trace:
        assert copied.events <= 2 * len(plain.events)
        for answer in trace.reports().values():
            _judged(answer)
        str(trace.check())


def _shown(data: bytes) -> None:
    """What people see of a trace without asking a report."""
    with _opened(data) as trace:
        texts = [repr(trace), trace.summary(), repr(trace.info), str(trace.check()), *map(str, trace.problems)]
        texts += [repr(event) for _, event in zip(range(200), trace.events(), strict=False)]
        texts += [str(frame) for _, event in zip(range(200), trace.events(), strict=False) for frame in event.frames]
        texts += [str(key) for key in trace.event_counts()]
        for text in texts:
            assert text.replace("\n", "") == safe(text.replace("\n", "")), f"raw: {text!r}"
        html.parser.HTMLParser().feed(trace._repr_html_())
        assert trace.duration_ns >= 0


def _export(format: Format, data: bytes) -> None:
    with _opened(data) as trace, tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        export_directory(trace, out, Options(format, activity_ids=True, spreadsheet=format == "csv"), {})
        assert sorted(path.name for path in Path(folder).iterdir()) == ["out"]
        for path in out.rglob("*"):
            if path.is_file():
                _parse(path)


def _parse(path: Path) -> None:
    match path.suffix:
        case ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.read_table(path)
        case ".arrow":
            import pyarrow

            pyarrow.ipc.open_file(path).read_all()
        case ".csv":
            csv.field_size_limit(1 << 30)
            with path.open(newline="", encoding="utf-8") as file:
                widths = Counter(map(len, csv.reader(file)))
            assert len(widths) <= 1, f"lines of different widths: {widths}"
        case ".jsonl":
            for line in path.read_text().splitlines():
                json.loads(line)
        case ".json":
            json.loads(path.read_text())


def _timeline(format: Any, data: bytes) -> None:
    sink = io.BytesIO()
    with _opened(data) as trace:
        write_timeline(trace, sink, Look("t", "e", start=trace.info.start), format)
    if format == "firefox":
        made = sink.getvalue()
        check_profile(json.loads(gzip.decompress(made) if made[:2] == b"\x1f\x8b" else made))
    else:
        read_perfetto(sink.getvalue())


def _flame(logical: bool, data: bytes) -> None:
    with _opened(data) as trace:
        samples = read_samples(trace, logical=logical)
        for format in FLAME_FORMATS:
            made = flame_bytes(samples, format, Look("t", "e", logical, False, trace.info.start))
            if format == "speedscope":
                check_speedscope(json.loads(made))
            elif format == "html":
                _page_is_safe(made)
            elif format == "pprof":
                gzip.decompress(made)
            else:
                text = made.decode().replace("\n", "")
                assert text == safe(text)


def _rewritten(data: bytes) -> None:
    with _opened(data) as trace, tempfile.TemporaryDirectory() as folder:
        outs = [Path(folder) / name for name in ("redacted.nettrace", "cut.nettrace")]
        redact(trace, outs[0], key=b"k", blank=bool(len(data) % 2), ids=bool(len(data) % 3))
        cut(trace, outs[1], start="10%", end="90%")
        for rule in redaction_rules(trace, fields=(".*a",), ids=True):
            str(rule)
        for out in outs:
            with clrevents.open(out) as copy:
                copy.check()


def _query(data: bytes) -> None:
    with _opened(data) as trace:
        trace.query("select count(*), max(epoch_us(time)) from headers").fetchall()
        trace.query("select count(*) from frames").fetchall()


def _command(data: bytes) -> None:
    """A command ends as documented, and prints nothing that a terminal would obey."""
    from clrevents.cli import main

    words = random.Random(zlib.crc32(data)).choice(COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.nettrace"
        path.write_bytes(data)
        command = [word.replace("FILE", os.fspath(path)).replace("OUT", f"{folder}/out") for word in words]
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
        code: Any = 0
        with (
            unittest.mock.patch.object(sys, "argv", ["clrevents", *command]),
            unittest.mock.patch.dict(os.environ, {"CLREVENTS_TRACEBACK": "1"}),
            _without_charts(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        nothing = words[0] == "flame" and "no ThreadSample event" in err.getvalue()
        assert code in (0, 2, 3) or (nothing and code == 1), f"exit {code} of {words}: {err.getvalue()[-300:]}"
        text_out = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
        text = (text_out + err.getvalue()).replace("\n", "")
        assert text == safe(text), f"{words} prints raw text"
        left = {path.name for path in Path(folder).iterdir()} - {"in.nettrace"}
        assert not any(name.startswith(".") for name in left), f"{words} left {left}"
        if "--json" in words and code != 2:
            lines = text_out.splitlines() if words[0] == "events" else [text_out]
            for line in lines:
                json.loads(line)


COMMANDS: Final = (
    ("info", "FILE"),
    ("info", "--json", "FILE"),
    ("events", "FILE", "--limit", "50"),
    ("events", "FILE", "--json", "--names", "--stacks", "--limit", "200"),
    ("check", "FILE", "--json"),
    ("check", "FILE"),
    ("redact", "FILE", "--rules"),
    ("flame", "FILE", "-o", "-", "-f", "folded"),
    ("report", "FILE", "-o", "OUT.html"),
    ("export", "FILE", "-o", "OUT.jsonl"),
    ("cut", "FILE", "-o", "OUT.nettrace", "--start", "20%"),
    *((name, "FILE") for name in report_names()),
)


class Interpreted:
    """A process that reads the same bytes with the interpreted engine, and says what it saw. It ends with ours."""

    def __init__(self) -> None:
        search = os.pathsep.join(filter(None, sys.path))
        engine = {"CLREVENTS_PURE": "1", "CLREVENTS_REQUIRE_COMPILED": ""}
        command = [sys.executable, __file__]
        environment = {**os.environ, **engine, "PYTHONPATH": search}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        atexit.register(self._process.communicate)

    def seen(self, data: bytes) -> str:
        """The digest of all that can be read."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(len(data).to_bytes(4, "little") + data)
        self._process.stdin.flush()
        return self._process.stdout.readline().decode().strip()

    @property
    def alive(self) -> bool:
        """An input may have ended it, such as by the limit of memory."""
        return self._process.poll() is None


_INTERPRETED: list[Interpreted] = []


def _interpreted() -> Interpreted:
    if not _INTERPRETED or not _INTERPRETED[-1].alive:
        _INTERPRETED.append(Interpreted())
    return _INTERPRETED[-1]


def seen(data: bytes) -> str:
    """A digest of all events, problems and columns."""
    found = [clrevents.__name__]
    try:
        with _opened(data) as trace:
            found += [repr(e) + repr(e.stack) + repr(e.payload_bytes) for e in trace.events()]
            found += map(repr, trace.problems)
            found.append(str(trace.check()))
            for chunk in trace.tables():
                found += [repr(table.to_arrow().to_pydict()) for table in chunk.values()]
    except TraceError as error:
        found.append(str(error))
    return f"{zlib.crc32(chr(10).join(found).encode('utf-8', 'replace')):08x}"


def _engines(data: bytes) -> None:
    if clrevents.engine() == "compiled":
        other = _interpreted().seen(data)
        assert other, "the interpreted engine died"
        assert seen(data) == other, "the engines see different things"


class Reading(NamedTuple):
    """What one reading of a trace gives."""

    events: Counter[Any]
    problems: Counter[str]


def _reading(trace: Trace) -> Reading:
    events = Counter(
        (e.key, e.time_ns, e.thread_id, e.process_id, e.payload_bytes, e.stack, e.activity_id, str(e.labels))
        for e in trace.events()
    )
    return Reading(events, Counter(map(repr, trace.problems)))


def _sources(data: bytes) -> None:
    """Wherever bytes come from, they say the same, each time; and fewer of them are never a shorter trace."""
    with _opened(data) as trace:
        expected = _reading(trace)
    full = expected.problems.total() >= Limits().problems
    with oddly(data) as (source, came):
        try:
            with clrevents.open(source, errors="salvage", limits=Limits(spool_bytes=2 * len(data) + 2000)) as trace:
                if came == "other":
                    next(iter(trace.events()), None)
                    source.turn()
                found = _reading(trace)
                counts = trace.event_counts()
                again = _reading(trace)
        except TraceError:
            assert came != "all", "nothing was read of a whole trace"
            return
    assert counts == _counts(found) or came == "other", "other counts than events"
    if came == "all":
        # Of more problems than are listed, those are that were met first, and pieces come in another order.
        same = found.events == expected.events if full else found == expected
        assert same, f"other events or problems than of bytes: {_difference(found, expected)}"
    elif came == "broken":
        assert found.events == expected.events, f"a broken transport goes unsaid: {_difference(found, expected)}"
    elif came == "damaged":
        told = found.problems - expected.problems or full
        assert told or found.events == expected.events, f"nothing says what is missing: {_difference(found, expected)}"
    if came != "other":
        assert again == found, f"other events or problems the second time: {_difference(again, found)}"


def _counts(reading: Reading) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    for event, count in reading.events.items():
        counts[event[0]] += count
    return counts


def _difference(one: Reading, other: Reading) -> str:
    more, fewer = one.events - other.events, other.events - one.events
    if more or fewer:
        return f"{list(more.items())[:1]} {list(fewer.items())[:1]}"
    return f"{list(one.problems - other.problems)[:2]} {list(other.problems - one.problems)[:2]}"


def _spooled(data: bytes) -> None:
    """No more is copied than may be."""
    most = random.Random(zlib.crc32(data)).randrange(1, 2 * len(data) + 2)
    for source in (gzip.compress(data, 1), Short(data, random.Random(1))):
        try:
            with clrevents.open(source, errors="salvage", limits=Limits(spool_bytes=most)) as trace:
                trace.event_counts()
        except UnreadableError:
            pass
        except LimitError:
            assert len(data) > most, "a copy that fits was refused"
        else:
            assert len(data) <= most, "a copy is larger than Limits.spool_bytes"


def _lowered(rng: random.Random) -> Limits:
    """Some limits so low that a small trace reaches them."""
    names = rng.sample(sorted(_LOW), rng.choice((1, 1, 2, 4)))
    return Limits(**{name: rng.choice(_LOW[name]) for name in names})


_FEW: Final = (1, 2, 3, 5, 8, 20)
_LOW: Final[dict[str, tuple[int, ...]]] = {
    "block_bytes": (100, 500, 2000, 10_000),
    "region_events": (*_FEW, 100),
    "region_bytes": (1, 100, 1000, 10_000),
    "metadata": _FEW,
    "learned": _FEW,
    "fields": _FEW,
    "nesting": _FEW[:3],
    "string_bytes": (2, 8, 20, 40, 60),
    "threads": _FEW,
    "problems": _FEW,
    "code_events": _FEW,
}


def _limited(data: bytes) -> None:
    """A limit holds; what it took away is told; and where nothing is told, nothing differs."""
    limits = _lowered(random.Random(zlib.crc32(data)))
    with _opened(data) as trace:
        expected = _reading(trace)
    with clrevents.open(data, errors="salvage", limits=limits) as trace:
        found = _reading(trace)
        counts, shown = trace.event_counts(), trace.summary()
        again = _reading(trace)
        classes = {type(event.payload) for event in trace.events() if not isinstance(event.payload, RawPayload)}
        for answer in trace.reports().values() if len(data) % 4 == 0 else ():
            in_range(answer)
    assert again == found, f"other events or problems the second time: {_difference(again, found)}"
    assert counts == _counts(found), f"other counts than events: {shown}"
    if found.events != expected.events:
        # Of damage that is searched for what is sound, the place is told, whatever is found there.
        told = found.problems - expected.problems or "severity='damage'" in str(found.problems)
        assert told or limits.problems < Limits().problems, f"{limits}: goes unsaid: {_difference(found, expected)}"
    _limits_hold(data, limits, classes)
    if len(data) < 1 << 16:
        assert _fed(data, limits) == found.events, f"{limits}: trace and decoder"


def _fed(data: bytes, limits: Limits) -> Counter[Any]:
    decoder = Decoder(errors="salvage", limits=limits)
    events: list[Any] = []
    for at in range(0, len(data), 3000):
        for batch in decoder.feed(data[at : at + 3000]):
            events += batch
    for batch in decoder.close():
        events += batch
    return Counter(
        (e.key, e.time_ns, e.thread_id, e.process_id, e.payload_bytes, e.stack, e.activity_id, str(e.labels))
        for e in events
    )


def _limits_hold(data: bytes, limits: Limits, classes: set[type]) -> None:
    """Nothing is there of which there may be no more; and a sound trace that needs more has a problem now."""
    stream, sound = Stream(errors="salvage", limits=limits), Stream(errors="salvage")
    rows = [*stream.feed(data), *stream.close()]
    whole = [*sound.feed(data), *sound.close()]
    kinds = [kind for kind in stream.kinds.all if not kind.undefined]
    assert len(kinds) <= limits.metadata, "more kinds than Limits.metadata"
    # A thousand of the ids, and what labels make of each.
    assert len(stream.kinds.all) - len(kinds) <= 1000 + limits.metadata, "kinds without a description and without end"
    for kind in kinds:
        fields, depth = _extent(kind.row.fields)
        assert fields <= limits.fields, "more fields than Limits.fields"
        assert depth <= limits.nesting, "deeper fields than Limits.nesting"
        texts = (kind.row.provider, kind.row.name, *(field.name for field in kind.row.fields))
        assert all(len(text) <= limits.string_bytes for text in texts), "a longer name than Limits.string_bytes"
    learned = [each for each in classes if not hasattr(clrevents.events, each.__name__)]
    assert len(learned) <= max(limits.learned, 1), "more classes than Limits.learned"
    severities = Counter(problem.severity for problem in stream.problems)
    assert all(count <= limits.problems for count in severities.values()), "more problems than Limits.problems"
    assert len(stream.threads.all) <= limits.threads, "more threads than Limits.threads"
    kept = {field: getattr(limits, field) for field in ("region_events", "region_bytes", "block_bytes")}
    needed = {
        "region_events": max(map(len, whole), default=0),
        "region_bytes": max((sum(map(len, part.payloads())) for part in whole), default=0),
        "block_bytes": max((end - start for _, start, end, _ in find_blocks(bytearray(data))), default=0),
    }
    if not sound.problems:
        for field, most in kept.items():
            assert needed[field] <= most or stream.problems, f"more than Limits.{field}, and no problem"
    assert rows or not whole or stream.problems, "nothing was read, and nothing says so"


def _extent(fields: Any, depth: int = 0) -> tuple[int, int]:
    """How many fields a description has, and how deep they are."""
    count, deepest = 0, depth
    for field in fields:
        inner = [*field.members, *([field.element] if field.element is not None else [])]
        below = _extent(inner, depth + 1) if inner else (0, depth)
        count += below[0] + (0 if field.element is None else -1) + 1
        deepest = max(deepest, below[1])
    return count, deepest


def _written(data: bytes) -> None:
    """What the encoders write is read back; what they cannot say, they refuse."""
    rng = random.Random(zlib.crc32(data))
    try:
        trace = PlainTrace.of(data)
    except AssertionError:
        return
    for _ in range(rng.choice((0, 1, 2))):
        if trace.events:
            beyond(trace, rng)
    generation = rng.choice(GENERATIONS)
    try:
        made = trace.written(generation)
    except ValueError:
        return
    back = PlainTrace.of(made)
    old = generation.startswith("NetPerf")
    if not old:
        # A stack that is not there says nothing.
        trace.events = [changed(event, stack=b"") if event.stack_id else event for event in trace.events]
    if generation == "NetTrace 6":
        # Nor does a label.
        bare = {"activity_id": NO_GUID, "related_activity_id": NO_GUID}
        trace.events = [changed(event, **bare) if event.label_id else event for event in trace.events]
    expected, found = (Counter(map(functools.partial(_said, old=old), each.events)) for each in (trace, back))
    if found != expected:
        # Some invalid numbers are written, so that a reader can be asked what it says of them.
        with _opened(made) as trace_back:
            told = trace_back.check().problems
        assert told, f"{generation}: {list(found - expected)[:1]} for {list(expected - found)[:1]}"


def _said(event: Any, old: bool) -> tuple[Any, ...]:
    """What every generation says of an event, whatever its numbers are."""
    thread = event.thread_id & 0x7FFFFFFF if old else event.thread_id
    more = (event.stack,) if old else (event.stack, event.activity_id, event.related_activity_id)
    # Writers take a time as a reader without signs would say it, too.
    time = (event.time + (1 << 63)) % (1 << 64) - (1 << 63)
    return time, thread, event.payload, *more


def _as_declared(data: bytes) -> None:
    """A record says what the second decoder, which is made of the same declarations, reads in the same bytes."""
    with _opened(data) as trace:
        size = trace.info.pointer_size
        seen: Counter[Any] = Counter()
        for event in trace.events():
            layout, payload = getattr(type(event.payload), "__layout__", None), event.payload
            seen[event.key] += 1
            if (
                layout is None
                or seen[event.key] > 40
                or (isinstance(payload, Learned) and _DEVIATES.search(repr(layout)))
            ):
                continue
            there = event.payload_bytes.removesuffix(event.payload_tail)
            wrong = _misread(payload, codec(layout, size, type(payload)), there)
            assert not wrong, f"{event.key}: {payload!r}, {wrong}: {there!r}"


def _plainly(data: bytes) -> None:
    """Where no problem is told, a plain reading of the headers has the same payloads."""
    with _opened(data) as trace:
        found, told = Counter(event.payload_bytes for event in trace.events()), trace.check().problems
    if not told:
        with contextlib.suppress(plain_headers.Unknown):
            expected = Counter(plain_headers.payloads(data))
            assert found == expected, f"other payloads: {list((found - expected).items())[:1]}"


_DEVIATES: Final = re.compile("bool|decimal|utf-?8", re.IGNORECASE)
"""Types of which writers write other bytes than they describe, which records follow."""


def _misread(payload: Any, declared: Codec, data: bytes) -> str:
    """What is wrong with a record of these bytes."""
    try:
        expected = declared.parse(data)
    except PayloadError as error:
        # What is missing is missing to the end, and null.
        return "" if list(clrevents.asdict(payload).values())[-1] is None else str(error)
    return "" if repr(payload) == repr(expected) else repr(expected)


def _cut_whole(data: bytes) -> None:
    """A part that is the whole has the same events, and says itself what the original lacked."""
    with _opened(data) as trace, tempfile.TemporaryDirectory() as folder:
        expected, lacked = _reading(trace), _lacked(trace)
        cut(trace, Path(folder) / "all.nettrace")
        with clrevents.open(Path(folder) / "all.nettrace") as copy:
            found, said = _reading(copy), _lacked(copy)
    # Of a kind without a description, nothing can be written; a description may lack the provider's name, too.
    every, events = (
        Counter({e: count for e, count in reading.events.items() if (e[0].provider, e[0].name) != LACKED.event})
        for reading in (expected, found)
    )
    known = Counter({event: count for event, count in every.items() if event[0].provider})
    assert known <= events <= every, _difference(Reading(events, found.problems), Reading(known, expected.problems))
    assert said == lacked, f"of the original: {lacked}, of the copy: {said}"


def _lacked(trace: Trace) -> tuple[bool, bool, bool]:
    """Whether a trace has its end, its loss can be seen, and it is damaged."""
    check = trace.check()
    return check.complete, check.losses_visible, check.damaged


FAMILIES: Final[dict[str, Family]] = {
    "pieces": _pieces,
    "trace = decoder": _trace_is_decoder,
    "engines": _engines,
    "shown": _shown,
    "reports": _reports,
    "reports of a part": _window,
    "reports cut anywhere": _cut_anywhere,
    "reports live": _live,
    "page": _whole_page,
    **{f"export {format}": functools.partial(_export, format) for format in FORMATS},
    "export perfetto": functools.partial(_timeline, "perfetto"),
    "export firefox": functools.partial(_timeline, "firefox"),
    "flame": functools.partial(_flame, False),
    "flame logical": functools.partial(_flame, True),
    "rewritten": _rewritten,
    "query": _query,
    "compare": _compared,
    "compare another": _compared_with_another,
    "joined": _joined,
    "doctor": _diagnosed,
    "commands": _command,
    "sources": _sources,
    "copies": _spooled,
    "limits": _limited,
    "written": _written,
    "cut whole": _cut_whole,
    "as declared": _as_declared,
    "headers read plainly": _plainly,
}


def run(family: str, data: bytes) -> None:
    """Make this of the bytes. Raises AssertionError, or whatever the library lets escape that is no `TraceError`."""
    with warnings.catch_warnings(), contextlib.suppress(TraceError):
        warnings.simplefilter("ignore", TraceWarning)
        FAMILIES[family](data)


if __name__ == "__main__":
    warnings.simplefilter("ignore", TraceWarning)
    while size := sys.stdin.buffer.read(4):
        try:
            print(seen(sys.stdin.buffer.read(int.from_bytes(size, "little"))), flush=True)
        except Exception as error:
            print(type(error).__name__, flush=True)
