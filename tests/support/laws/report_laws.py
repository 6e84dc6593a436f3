"""What every report has to obey, each law a function of (declaration, parameters, a trace's bytes).

A law raises AssertionError where a report breaks it. None of them knows what a report is about; whether its numbers
are right is for the report's own tests.
"""

from __future__ import annotations

import gc
import html.parser
import json
import math
import pickle
import random
import re
import tempfile
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs
import numpy as np

import clrevents
from clrevents._util.fitting import fitted_table
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.collector import MISSING
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.run.asking import ask
from clrevents.analysis.framework.run.feeding import ReportFeed
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.analysis.framework.vocabulary.answer_values import Metric, TimeWindow
from clrevents.analysis.framework.vocabulary.cells import heading
from clrevents.analysis.framework.vocabulary.report_table import (
    ReportTable,
    column_texts,
    columns_of,
    people_columns,
    shape_of,
    shares_of,
    shown_columns,
    told_columns,
    windowed_columns,
)
from clrevents.decode.kinds import EventKey
from clrevents.rewrite import cut, redact
from clrevents.schema.registry import RUNTIME
from clrevents.table.read import AddressStacks, TableChunk
from clrevents.table.table import Table
from clrevents.trace import passes_of
from reading import opened

Declaration: TypeAlias = ReportDeclaration[Any, Any]
Law: TypeAlias = Callable[[Declaration, Any, bytes], None]

ALL: Final = TimeWindow()
LINES, COLUMNS, PAGE_BYTES = 25, 100, 50_000
_SCALARS: Final = {str, int, float, bool, type(None)}
_MANY_ROWS: Final = 3000
KEYWORDS: Final = (1 << 44) - 1
"""Those bits of a keyword that a provider gives a meaning."""


def answered(declaration: Declaration, parameters: Any, trace: clrevents.Trace, **more: Any) -> Answer[Any]:
    """The report's answer; `more` are the window's options."""
    return ask(trace, [Asked(declaration, parameters)], more)[declaration.name]


_COMPANY: Final[list[Declaration]] = []


@contextmanager
def in_company(declarations: Sequence[Declaration]) -> Iterator[None]:
    """Each of these reports, asked as by default, is asked together with the others: what one reading says is kept, so
    that a law costs all of them little more than one."""
    _COMPANY[:] = declarations
    try:
        yield
    finally:
        _COMPANY.clear()


def _asked(declaration: Declaration, parameters: Any) -> tuple[Asked, ...]:
    own, company = Asked(declaration, parameters), tuple(Asked(one, one.parameters()) for one in _COMPANY)
    return company if own in company else (own,)


@lru_cache(maxsize=24)
def _answers(
    asked: tuple[Asked, ...],
    data: bytes,
    start: int | None = None,
    end: int | None = None,
    seed: int | None = None,
    process_id: int | None = None,
) -> dict[str, Answer[Any]]:
    """What reports say of a window of the trace; with a seed, its chunks are cut by chance."""
    cut = iter if seed is None else partial(recut, rng=random.Random(seed))
    with opened(data) as trace:
        return ask(trace, asked, {"start": start, "end": end, "process_id": process_id}, cut)


def whole_answer(declaration: Declaration, parameters: Any, data: bytes) -> Answer[Any]:
    """What the report says of all of the trace."""
    return _answers(_asked(declaration, parameters), data)[declaration.name]


@lru_cache(maxsize=6)
def _end(data: bytes) -> int:
    """How long the trace lasts."""
    with opened(data) as trace:
        return passes_of(trace).scan(raising=False).duration_ns


@lru_cache(maxsize=6)
def redacted_copy(data: bytes, pseudonyms: bool = False, ids: bool = False) -> bytes:
    """The trace without paths, messages and the like; with `ids` without numbers that identify."""
    with tempfile.TemporaryDirectory() as folder, opened(data) as trace:
        path = Path(folder) / "copy.nettrace"
        redact(trace, path, key=b"always the same", blank=not pseudonyms, ids=ids)
        return path.read_bytes()


def any_cut_gives_the_same(declaration: Declaration, parameters: Any, data: bytes, seed: int = 1) -> None:
    """Events one by one, many at once, and no events at all between them."""
    cut = _answers(_asked(declaration, parameters), data, seed=seed)[declaration.name]
    _same(whole_answer(declaration, parameters, data), cut, "the chunks were cut elsewhere")


def the_whole_window_changes_nothing(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """Asking from the beginning to after the last event is asking for all."""
    asked = _asked(declaration, parameters)
    start, end = _begin(asked, data), _end(data) + 1
    window = _answers(asked, data, start, end)[declaration.name]
    assert window.question.window == TimeWindow(start, end)
    _same(whole_answer(declaration, parameters, data), window, "the window is the whole trace")


@lru_cache(maxsize=6)
def _begin(asked: tuple[Asked, ...], data: bytes) -> int:
    """The first moment that any of them names: a runtime may tell of moments before the session."""
    return min([0, *(time for answer in _answers(asked, data).values() for time in _times(answer))])


def adjacent_windows_add_up(declaration: Declaration, parameters: Any, data: bytes, seed: int = 1) -> None:
    """Two cuts make three windows: metrics merge to the whole, rows are in the windows that they meet, whole."""
    rng = random.Random(seed)
    whole = whole_answer(declaration, parameters, data)
    with opened(data) as trace:
        duration = passes_of(trace).scan(raising=False).duration_ns
        times = _times(whole)
        low, high = sorted(_moment(times, duration, rng) for _ in "ab")
        windows = [TimeWindow(None, low), TimeWindow(low, high), TimeWindow(high, None)]
        parts = [answered(declaration, parameters, trace, start=w.start_ns, end=w.end_ns) for w in windows]
    for declared in declaration.metrics:
        if declared.windows and declared.merge != "none":
            ours, theirs = whole.metrics[declared.name], [part.metrics[declared.name] for part in parts]
            lossy = any(note.id in ("losses", "damage") for note in whole.notes)
            if lossy and (ours.value is None or declared.hides):
                _fits_together(declared.name, ours, theirs)
            else:
                _adds_up(declared.name, ours, theirs)
    for table in whole.tables():
        shape = shape_of(table.row_class)
        if shape.span is None and shape.at is None:
            continue
        rows = [_lasting(whole.table(table.name), row) for row in _rows(whole.table(table.name))]
        for window, part in zip(windows, parts, strict=True):
            inside = [(row, _inside(row, shape, window, duration)) for row in rows]
            wanted = Counter(repr({**row, **clipped}) for row, clipped in inside if clipped is not None)
            _same_rows(wanted, _counted(part.table(table.name), _lasting), f"{table.name} in {window}")


def processes_do_not_disturb(
    declaration: Declaration, parameters: Any, alone: Sequence[bytes], together: bytes, processes: Sequence[int]
) -> None:
    """What is said of each process of a trace of several is what is said of it alone.

    `alone` are traces of one of the `processes` each, `together` is all of them in one.
    """
    asked, name = _asked(declaration, parameters), declaration.name
    single = [_answers(asked, data)[name] for data in alone]
    assert [one.question.processes for one in single] == [(process,) for process in processes]
    both = _answers(asked, together)[name]
    each = [_answers(asked, together, process_id=process)[name] for process in processes]
    for one, other in zip(single, each, strict=True):
        assert other.coverage == one.coverage
        assert other.facts == one.facts
        assert other.metrics == one.metrics
        for table in one.tables():
            tables = (answer.table(table.name) for answer in (one, other))
            _same_rows(*(_counted(rows, _no_stacks) for rows in tables), table.name)
    # A process without an event of the report has no rows of its own.
    assert set(both.question.processes) <= {*processes, None}
    for table in both.tables():
        wanted: Counter[str] = Counter()
        for one in single:
            wanted += _counted(one.table(table.name), _no_shares)
        _same_rows(wanted, _counted(both.table(table.name), _no_shares), f"{table.name} of both")


def a_decoder_gives_the_same(declaration: Declaration, parameters: Any, data: bytes, seed: int = 1) -> None:
    """Bytes that come in pieces give the answer of the whole file, but for names of code that come too late."""
    whole = whole_answer(declaration, parameters, data)
    streamed = _streamed(_asked(declaration, parameters), data, seed)[declaration.name]
    assert streamed.question == whole.question
    assert (streamed.coverage, streamed.notes) == (whole.coverage, whole.notes)
    assert (streamed.facts, streamed.metrics) == (whole.facts, whole.metrics)
    for table in whole.tables():
        one, other = whole.table(table.name), streamed.table(table.name)
        for column in columns_of(table.row_class):
            here, there = one.column(column.name).tolist(), other.column(column.name).tolist()
            if column.cell.privacy == "code":
                there = [a if b is None else b for a, b in zip(here, there, strict=True)]
            assert here == there, f"{table.name}.{column.name}"


@lru_cache(maxsize=6)
def _streamed(asked: tuple[Asked, ...], data: bytes, seed: int) -> dict[str, Answer[Any]]:
    """What reports say of bytes that come in pieces."""
    rng = random.Random(seed)
    feed = ReportFeed(asked)
    decoder = clrevents.Decoder(*feed.selectors, errors="salvage", symbols=True)
    at = 0
    while at < len(data):
        size = rng.choice((1, 100, 5000, 50_000))
        feed.take(decoder, decoder.feed(data[at : at + size]))
        at += size
    feed.take(decoder, decoder.close())
    return feed.finish(decoder)


def json_reads_back_equal(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """A saved answer is the answer: with all tables, and with the number of rows of those that are not saved."""
    report = whole_answer(declaration, parameters, data)
    reads_back_equal(report)


def reads_back_equal(report: Answer[Any]) -> None:
    """The same of an answer that is there already."""
    names = [table.name for table in report.tables()]
    every = report.to_dict(tables=names)
    _plain(every, "")
    assert next(iter(every)) == "schema"
    assert type(report).from_dict(json.loads(json.dumps(every, allow_nan=False))) == report
    short = type(report).from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False)))
    for table in report.tables():
        assert len(short.table(table.name)) == len(report.table(table.name))
        left = short.table(table.name).left_out
        assert left == (len(report.table(table.name)) if table.bulk else None)


def a_redacted_copy_says_the_same(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """Every public cell and every name of code is the same where paths, messages and the like are replaced."""
    report = whole_answer(declaration, parameters, data)
    for pseudonyms in (False, True):
        says_the_same(report, whole_answer(declaration, parameters, redacted_copy(data, pseudonyms)))


def says_the_same(report: Answer[Any], redacted: Answer[Any]) -> None:
    """Metrics, facts and rows are equal but for private texts."""
    assert redacted.coverage == report.coverage
    for name, metric in report.metrics.items():
        # What a path told may be an inference without it, in facts too, but the number is the same.
        copy = redacted.metrics[name]
        if metric.unseen is None or copy.unseen is not None:
            assert (copy.value, copy.low, copy.high) == (metric.value, metric.low, metric.high), name
        else:
            # A copy in NetTrace 6 tells losses by thread only, not that the next event ended them: fewer bounds.
            _fits_together(name, metric, [copy])
    for column in columns_of(type(report.facts)):
        if column.cell.privacy != "private" and not column.name.endswith("evidence"):
            assert getattr(report.facts, column.name) == getattr(redacted.facts, column.name), column.name
    for table in report.tables():
        if shape_of(table.row_class).text is not None:
            # Other texts may be alike, so that their rows are other ones.
            continue
        before, after = report.table(table.name), redacted.table(table.name)
        _same_rows(_counted(before, _told), _counted(after, _told), table.name)


_IDS: Final = ("process", "thread", "guid")
_PATHS: Final = re.compile(r"/#\d+/")


def same_but_for_ids(before: Answer[Any], after: Answer[Any]) -> None:
    """With other ids of processes, threads and activities, and another date, all else is the same, row by row."""
    assert (after.coverage, after.metrics) == (before.coverage, before.metrics)
    for table in before.tables():
        hidden = {c.name for c in columns_of(table.row_class) if c.cell.name in _IDS or c.cell.privacy == "private"}

        def shown(answer: Answer[Any], table: ReportTable[Any] = table, hidden: set[str] = hidden) -> list[str]:
            rows = _rows(answer.table(table.name))
            return [_PATHS.sub("/#/", repr({k: v for k, v in row.items() if k not in hidden})) for row in rows]

        ours, theirs = shown(after), shown(before)
        assert len(ours) == len(theirs), table.name
        for one, other in zip(ours, theirs, strict=True):
            assert one == other, table.name


def shows_itself_safely(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """Text fits on a screen, a page is small and does nothing, and rows of narrow tables stay apart."""
    report = whole_answer(declaration, parameters, data)
    shows_safely(report)
    keeps_rows_apart(declaration, report)


AMOUNTS: Final = {"duration", "bytes", "bytes_change", "count", "count_change", "number", "ratio", "flag"}


def keeps_rows_apart(declaration: Declaration, report: Answer[Any]) -> None:
    """The columns that a narrow screen shows tell at least as many rows apart as any single one does."""
    headlines = (declaration.headline, *declaration.beside)
    for table in report.tables():
        rows = report.table(table.name)
        if len(rows) < 2 or rows.left_out is not None:
            continue
        head = rows.head(20)
        known = {column.name: column for column in people_columns(head) if column.cell.name not in AMOUNTS}
        texts = dict(zip(known, column_texts(head, [*known.values()]), strict=True))
        most = max((len(set(cells)) for cells in texts.values()), default=0)
        chosen = shown_columns(head, declaration.shown if table.name in headlines else ())
        for width in (80, 120):
            heads = fitted_table(told_columns(chosen, column_texts(head, chosen)), width).lines[0].split("  ")
            titles = {title.strip() for title in heads}
            shown = [texts[c.name] for c in known.values() if heading(c.name, c.cell) in titles]
            apart = len(set(zip(*shown, strict=True)))
            assert apart >= most, f"{table.name} at {width} shows only {sorted(titles)}"


PAGE_TAGS: Final = {"div", "b", "p", "table", "tr", "th", "td", "ul", "li", "pre"}
CHART_TAGS: Final = {"figure", "figcaption", "svg", "g", "path", "line", "rect", "text", "circle"}
CHART_ATTRIBUTES: Final = {
    *("xmlns", "overflow", "role", "aria-label", "viewbox", "width", "height", "transform", "d", "x", "y", "x2", "y2"),
    *("fill", "stroke", "opacity", "fill-opacity", "stroke-opacity", "stroke-width", "stroke-dasharray", "text-anchor"),
    *("font-family", "font-size", "font-weight"),
}


def shows_safely(report: Answer[Any]) -> None:
    """The same of an answer that is there already."""
    text = repr(report)
    assert len(text.splitlines()) <= LINES
    assert max(map(len, text.split("\n"))) <= COLUMNS
    page = report._repr_html_()
    assert len(page.encode()) <= PAGE_BYTES
    for shown in (text.replace("\n", ""), page.replace("\n", "")):
        assert not [char for char in shown if _obeyed(char)]
    reader = _Tags()
    reader.feed(page)
    reader.close()
    assert reader.tags <= PAGE_TAGS | (CHART_TAGS if "<figure" in page else set()), reader.tags
    assert reader.attributes <= {"style"} | (CHART_ATTRIBUTES if "<figure" in page else set()), reader.attributes


def is_a_plain_value(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """An answer can be pickled, and keeps no trace alive."""
    report = _outliving(_asked(declaration, parameters), data)[declaration.name]
    assert pickle.loads(pickle.dumps(report)) == report


@lru_cache(maxsize=6)
def _outliving(asked: tuple[Asked, ...], data: bytes) -> dict[str, Answer[Any]]:
    """Answers of a trace that is no more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = clrevents.open(data, errors="salvage")
        answers = ask(trace, asked, {})
        alive = weakref.ref(trace), weakref.ref(passes_of(trace))
        trace.close()
        del trace
    gc.collect()
    assert [ref() for ref in alive] == [None, None], f"an answer keeps the trace alive: {', '.join(answers)}"
    return answers


def marks_what_holes_touch(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """A row is lossy if and only if a hole of one of its threads touches it."""
    report, holes = whole_answer(declaration, parameters, data), _holes(data)
    for table in report.tables():
        shape = shape_of(table.row_class)
        rows = report.table(table.name)
        if not holes:
            assert not rows["lossy"].any(), f"{table.name}: nothing is missing from this trace"
        elif shape.span or shape.at or shape.since:
            step = max(len(rows) // _MANY_ROWS, 1)
            for row in _rows(rows[::step]):
                assert row["lossy"] == any(_touches(row, shape, *hole) for hole in holes), f"{table.name}: {row}"


def what_is_missing_is_told(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """Where events are missing nothing is fully covered, and no number is exact."""
    report = whole_answer(declaration, parameters, data)
    if not _holes(data):
        return
    assert report.coverage != "full"
    for declared in declaration.metrics:
        metric = report.metrics[declared.name]
        if metric.unseen is not None:
            # Few lost events leave it between bounds, or above one.
            assert metric.low is not None, f"{declared.name}: {metric}, with events missing"
        elif metric.value is not None:
            assert declared.in_holes != "unknown", f"{declared.name}: {metric}, with events missing"
            least = declared.in_holes == "at least"
            bound, other = (metric.low, metric.high) if least else (metric.high, metric.low)
            assert bound is not None, f"{declared.name}: {metric}, with events missing"
            assert other is None, f"{declared.name}: {metric}, with events missing"


def losses_leave_bounds(declaration: Declaration, whole: Answer[Any], lossy: Answer[Any]) -> None:
    """What is said of a trace with losses is true of the same trace without."""
    for declared in declaration.metrics:
        metric, value = lossy.metrics[declared.name], whole.metrics[declared.name].value
        if metric.value is None:
            continue
        assert value is not None, f"{declared.name}: {metric}, and without losses none"
        bound = metric.low is not None or metric.high is not None
        assert bound or metric.value == value, f"{declared.name}: exactly {metric}, and {value} without"
        # A sample more may shorten the time of others by some microseconds.
        about = 1.001 if "sample" in (metric.evidence, whole.metrics[declared.name].evidence) else 1
        assert metric.low is None or metric.low <= value * about, f"{declared.name}: {metric}, and {value} without"
        assert metric.high is None or metric.high * about >= value, f"{declared.name}: {metric}, and {value} without"


def numbers_are_possible(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """What is declared a share lies from 0 to 1, and a number within its bounds."""
    are_possible(whole_answer(declaration, parameters, data))


def are_possible(report: Answer[Any]) -> None:
    """The same of an answer that is there already."""
    for name, metric in report.metrics.items():
        if metric.value is None:
            assert metric.low is None, f"{name}: bounds of nothing"
            assert metric.high is None, f"{name}: bounds of nothing"
            assert metric.reason, f"{name} is null without a reason"
            continue
        for value in (metric.value, metric.low, metric.high):
            assert value is None or metric.unit != "ratio" or 0 <= value <= 1, f"{name}: {metric}"
        assert metric.low is None or metric.low <= metric.value, f"{name}: {metric}"
        assert metric.high is None or metric.value <= metric.high, f"{name}: {metric}"
    for table in report.tables():
        for column in columns_of(table.row_class):
            if column.cell.name == "ratio" and not column.many:
                values = report.table(table.name).column(column.name).tolist()
                wrong = [value for value in values if value is not None and not 0 <= value <= 1]
                assert not wrong, f"{table.name}.{column.name}: {wrong[:3]}"


def a_part_says_what_its_window_says(
    declaration: Declaration, parameters: Any, data: bytes, seed: int = 1, rows: bool = True
) -> None:
    """A cut at two moments answers as the whole does about that window, or with null, or with bounds, also in rows."""
    rng = random.Random(seed)
    start, end = sorted(rng.randrange(_end(data) + 1) for _ in "ab")
    window = _answers(_asked(declaration, parameters), data, start, end)[declaration.name]
    part = whole_answer(declaration, parameters, part_of(data, start, end))
    of_a_part(window, part, rows)


def a_part_of_chance_says_what_its_window_says(declaration: Declaration, parameters: Any, data: bytes) -> None:
    """The same, but not in rows: which of events that contradict each other belong together depends on those before."""
    a_part_says_what_its_window_says(declaration, parameters, data, rows=False)


@lru_cache(maxsize=6)
def part_of(data: bytes, start: int | None, end: int | None) -> bytes:
    """A part of a trace, as `cut` makes it."""
    with tempfile.TemporaryDirectory() as folder, opened(data) as trace:
        path = Path(folder) / "part.nettrace"
        cut(trace, path, start=start, end=end)
        return path.read_bytes()


def of_a_part(window: Answer[Any], part: Answer[Any], rows: bool = True) -> None:
    """The same of answers that are there already."""
    assert part.question.window == window.question.window
    odd = next(rows_of_a_part(window, part), None) if rows else None
    assert odd is None, odd
    for name, metric in part.metrics.items():
        whole = window.metrics[name].value
        if metric.value is None or metric.value == whole or window.metrics[name].reason == MISSING:
            # A copy of a damaged trace is sound, so that nothing tells what it lacks.
            continue
        assert whole is not None, f"{name}: {metric} of the part, none of the window"
        assert metric.low is not None or metric.high is not None, f"{name}: {metric} of the part, {whole} of the window"
        # What is a bound itself contradicts no other on the same side.
        most, least = window.metrics[name].low is None, window.metrics[name].high is None
        assert metric.low is None or not most or metric.low <= whole, (
            f"{name}: {metric} of the part, {whole} of the window"
        )
        assert metric.high is None or not least or metric.high >= whole, (
            f"{name}: {metric} of the part, {whole} of the window"
        )


OTHER_ROWS_IN_PARTS: Final = {
    ("activities", "leaks"): "what has no end in the part",
    ("activities", "orphans"): "what has no begin in the part",
    ("alloc", "timeline"): "steps of a grid that depends on how much there is",
    **{
        ("jit", name): "a compilation without a begin in the part counts there, so that these are upper bounds"
        for name in ("methods", "threads", "tiers")
    },
    ("locks", "convoys"): "last from the first wait of the part to the last one",
    ("pool", "shortages"): "last from the first raise that the part has to the last one",
    ("pool", "sizes"): "blocked workers are counted by waits that samples may show",
    ("startup", "moments"): "without the beginning, nothing is known of the start",
    ("threads", "roles"): "what a thread is for may be told before the part: it is `other` then",
    ("threads", "threads"): "begin where a thread was first seen, and end where it was last seen",
}
"""Tables whose rows are other ones in a part, or lie elsewhere, and why."""
_LEFT_OPEN: Final = {
    *("ambiguous", "before", "never", "never_stopped", "open", "orphans", "unfinished", "unknown_ns"),
    "intervals",
}
"""Columns that count what the events leave open, or how often samples differ: a part lacks begins and ends."""
_QUANTILE: Final = re.compile(r"p\d+_|median|_p\d+")
_MORE_WAITS: Final = {("pool", "blockers"), ("waits", "kinds"), ("waits", "methods"), ("waits", "threads")}
"""Tables that count more waits in a part: one inside another is one of its own where the other began before."""
_FEW: Final = 100
"""With fewer samples, a part says little of what adds up by them."""
_ABOUT: Final = 0.02
"""How much more of a sampled time a part may have: it judges by its own samples where they have gaps."""


def rows_of_a_part(window: Answer[Any], part: Answer[Any]) -> Iterator[str]:
    """How rows of a part contradict those of the window: what lies inside is there, with the same values or null, and
    what adds up is not more."""
    if part.coverage == "none" or any(note.id == "damage" for note in window.notes):
        # A copy of a damaged trace is sound, so that nothing tells what it lacks.
        return
    for table in window.tables():
        whole, less = (answer.table(table.name) for answer in (window, part))
        if max(len(whole), len(less)) > _MANY_ROWS * 10:
            continue
        shape = shape_of(table.row_class)
        if (window.name, table.name) in OTHER_ROWS_IN_PARTS:
            continue
        if shape.span is None and shape.at is None:
            period = getattr(part.facts, "sampling_period_ns", None) or 0
            left_open = _LEFT_OPEN | ({"count", "threads"} if (window.name, table.name) in _MORE_WAITS else set())
            if period and _samples(part) < _FEW:
                # They do not even tell their period.
                continue
            yield from _sums_of_a_part(whole, less, period, left_open)
        else:
            yield from _spans_of_a_part(whole, less, shape, window.question.window)


def _samples(answer: Answer[Any]) -> int:
    """How many samples there are, in facts or metrics; none if neither tells."""
    told = answer.metrics["samples"].value if "samples" in answer.metrics else getattr(answer.facts, "samples", None)
    return int(told or 0)


def _spans_of_a_part(whole: ReportTable[Any], less: ReportTable[Any], shape: Any, window: TimeWindow) -> Iterator[str]:
    times = [shape.at] if shape.at is not None else list(shape.span)
    # A label is unique in its answer, so that it depends on what else is there.
    left_out = ("stack", "row")
    columns = columns_of(whole.row_class)
    shown = [c.name for c in columns if c.cell.name not in left_out and c.name != "label" and not c.many]
    # A loss that reaches over an edge is not in the part.
    shown.remove("lossy")
    states = any(c.name == "state" for c in columns_of(whole.row_class))
    rows: list[dict[str, list[dict[str, Any]]]] = [{}, {}]
    for table, found in zip((whole, less), rows, strict=True):
        for row in _rows(table):
            inside = all(row[name] is not None and window.low < row[name] < window.high for name in times)
            if inside and row.get("evidence", "event") == "event":
                key = repr([row[name] for name in (*times, *shape.threads)])
                found.setdefault(key, []).append({name: row[name] for name in shown})
    for key in {**rows[0], **rows[1]}:
        mine, theirs = rows[1].get(key, []), rows[0].get(key, [])
        if not mine and states and _is_unknown(less, theirs[0], shape):
            continue
        if len(mine) != len(theirs):
            yield f"{whole.row_class.__name__} at {key}: {mine[:2]} of the part, {theirs[:2]} of the window"
            continue
        for one, other in zip(mine, theirs, strict=True):
            odd = {name: (one[name], other[name]) for name in shown if one[name] not in (None, other[name])}
            if not one.get("lossy"):
                # A loss between an event of the part and one behind it does not show in the part.
                odd.pop("lossy", None)
            if odd:
                yield f"{whole.row_class.__name__} at {key}: {odd}"


def _is_unknown(table: ReportTable[Any], row: dict[str, Any], shape: Any) -> bool:
    """Whether nothing is said of the thread at that time: it was not seen yet, or no more, or its state is unknown."""
    start, end = shape.span
    mine = [other for other in _rows(table) if all(other[name] == row[name] for name in shape.threads)]
    meanwhile = [other for other in mine if other[start] < row[end] and other[end] > row[start]]
    return all(other["state"] == "unknown" for other in meanwhile)


def _sums_of_a_part(
    whole: ReportTable[Any], less: ReportTable[Any], period_ns: int, left_open: set[str]
) -> Iterator[str]:
    numbers = ("duration", "bytes", "count", "number", "ratio", "flag", "count_change", "bytes_change")
    # What events show of a wait in the whole, samples may show in a part.
    columns = [c for c in columns_of(whole.row_class) if c.name not in ("evidence", "waiting_in") and not c.many]
    keys = [c.name for c in columns if c.cell.name in ("thread", "handle")]
    # A lock or a thread is known by its number; the method that took most may be another one.
    names = [c.name for c in columns if c.cell.name not in (*numbers, "stack", "row")]
    names = [c.name for c in columns if c.name in names and not (keys and c.cell.privacy == "code")]
    code = [c.name for c in columns if c.cell.privacy == "code"]
    added = [
        c.name
        for c in columns
        if c.cell.name in ("duration", "bytes", "count") and c.name not in left_open and not _QUANTILE.search(c.name)
    ]
    durations = {c.name for c in columns if c.cell.name == "duration"}
    sums: list[dict[str, dict[str, Any]]] = [{}, {}]
    for table, found in zip((whole, less), sums, strict=True):
        for row in _rows(table):
            if table is less and (row.get("state") in ("unknown", "native") or None in (row[name] for name in code)):
                # What tells more lies before the part or after it.
                continue
            mine = found.setdefault(repr([row[name] for name in names]), dict.fromkeys(added, 0))
            for name in added:
                mine[name] = None if row[name] is None or mine[name] is None else mine[name] + row[name]
    for key, mine in sums[1].items():
        # The first and the last sample of each thread hold for less than a next one, but that one may say otherwise.
        edges = 3 * period_ns * (mine.get("threads") or 1)
        for name, value in mine.items():
            most = sums[0].get(key, {}).get(name, 0)
            slack = edges if name in durations else 0
            if value is not None and most is not None and value > most * (1 + _ABOUT) + slack:
                yield f"{whole.row_class.__name__} of {key}: {name} is {value} in the part, {most} in the window"


def what_is_removed_is_never_zero(declarations: Sequence[Declaration], data: bytes) -> None:
    """Without a provider, a keyword of the runtime, or the ends of everything, a number may become null but never an
    exact 0, and no column of a table 0 in all of its rows; asks all these reports in one."""
    asked = [Asked(declaration, declaration.parameters()) for declaration in declarations]
    with opened(data) as trace:
        whole = ask(trace, asked, {}, iter)
    amounts = {name: dict(_amounts(answer)) for name, answer in whole.items()}
    zeros = []
    with opened(data) as trace:
        ends = frozenset(key for key in trace.event_counts() if key.name.endswith(_ENDS))
    for removed, kinds in [*removable(data).items(), ("ends", ends)]:
        with opened(without(data, kinds)) as trace:
            less = ask(trace, asked, {}, iter)
        for report, answer in less.items():
            for name, metric in answer.metrics.items():
                before, exact = whole[report].metrics[name].value, metric.low is None and metric.high is None
                if before and metric.value == 0 and exact and (report, name) not in OF_WHAT_IS_THERE:
                    zeros.append(f"{report}: {name}: {before} became 0 without {removed}")
            for place, values in _amounts(answer):
                unsaid = values and not any(value is None or value for value in values)
                if unsaid and any(amounts[report][place]) and (report, place[1]) not in OF_WHAT_IS_THERE:
                    zeros.append(f"{report}: {'.'.join(place)} became 0 without {removed}")
    assert not zeros, "\n".join(zeros)


def _amounts(answer: Answer[Any]) -> Iterator[tuple[tuple[str, str], list[Any]]]:
    """The values of each column of counts, times, sizes and numbers, by table and name."""
    for table in answer.tables():
        for column in columns_of(table.row_class):
            if column.cell.name in ("duration", "bytes", "count", "number", "ratio") and not column.many:
                yield (table.name, column.name), answer.table(table.name).column(column.name).tolist()


_ENDS: Final = ("Stop", "Completed", "WaitEnd", "EndEnd", "GCEnd")
OF_WHAT_IS_THERE: Final = {
    ("activities", "ambiguous"),
    ("activities", "never_stopped"),
    ("activities", "stopped"),
    ("activities", "orphans"),
    ("requests", "stopped"),
    ("threads", "unknown_total"),
    ("threads", "unknown_ns"),
    # Dynamic methods say that their IL has no bytes.
    ("modules", "il_bytes"),
}
"""They count what the recorded events leave open: with fewer events less is open."""


def removable(data: bytes) -> dict[str, frozenset[EventKey]]:
    """What one might not have recorded: each provider, and of the runtime what a keyword, or those of code, bring."""
    with opened(data) as trace:
        rows = {kind.key: kind.row.keywords & KEYWORDS for kind in passes_of(trace).scan(raising=False).kinds}
    found = {provider: {key for key in rows if key.provider == provider} for provider in {k.provider for k in rows}}
    runtime = {key: keywords for key, keywords in rows.items() if key.provider == RUNTIME and keywords}
    for keyword in [*(1 << bit for bit in range(KEYWORDS.bit_length())), 0x38]:
        found[f"{RUNTIME}:{keyword:#x}"] = {key for key, keywords in runtime.items() if not keywords & ~keyword}
    kinds = {name: frozenset(keys) for name, keys in found.items()}
    return {name: keys for name, keys in sorted(kinds.items()) if keys and len(keys) < len(rows)}


def without(data: bytes, kinds: frozenset[EventKey]) -> bytes:
    """The trace without some kinds of events."""
    with tempfile.TemporaryDirectory() as folder, opened(data) as trace:
        path = Path(folder) / "less.nettrace"
        cut(trace, path, *(key for key in trace.event_counts() if key not in kinds), rundown=False)
        return path.read_bytes()


TWO_READINGS: Final[tuple[Law, ...]] = (
    the_whole_window_changes_nothing,
    json_reads_back_equal,
    shows_itself_safely,
    marks_what_holes_touch,
    what_is_missing_is_told,
    numbers_are_possible,
)
"""Those that need two readings of a trace."""
LAWS: Final[tuple[Law, ...]] = (
    any_cut_gives_the_same,
    the_whole_window_changes_nothing,
    adjacent_windows_add_up,
    a_decoder_gives_the_same,
    json_reads_back_equal,
    a_redacted_copy_says_the_same,
    shows_itself_safely,
    is_a_plain_value,
    marks_what_holes_touch,
    what_is_missing_is_told,
    numbers_are_possible,
    a_part_says_what_its_window_says,
)
"""Those that need nothing but a trace."""
LAWS_OF_CHANCE: Final[tuple[Law, ...]] = (*LAWS[:-1], a_part_of_chance_says_what_its_window_says)
"""Those of events that a seed has put together."""


def obeys(declaration: Declaration, parameters: Any, data: bytes, laws: Sequence[Law] = LAWS) -> None:
    """All laws, or these, which share the answers that they judge."""
    for law in laws:
        try:
            law(declaration, parameters, data)
        except BaseException as error:
            error.add_note(f"{declaration.name} breaks the law {law.__name__}")
            raise


def obey_together(declarations: Sequence[Declaration], data: bytes, laws: Sequence[Law]) -> None:
    """Many reports, asked as by default, obey these laws."""
    with in_company(declarations):
        for law in laws:
            for declaration in declarations:
                obeys(declaration, declaration.parameters(), data, [law])


def recut(chunks: Iterable[TableChunk], rng: random.Random) -> Iterator[TableChunk]:
    """The same events in other chunks, empty ones too: the first ones one by one, then as chance will have it."""
    for chunk in chunks:
        count = len(chunk.headers)
        edges = {0, count, *range(min(60, count + 1))}
        edges |= {rng.randrange(count + 1) for _ in range(5)}
        ordered = sorted(edges)
        stacks, unfit = chunk.stacks, chunk.unfit
        for low, high in zip(ordered, ordered[1:] or ordered, strict=False):
            yield attrs.evolve(_part(chunk, low, high, stacks), unfit=unfit)
            unfit = {}
            stacks = AddressStacks.of(()).arrays
            if rng.random() < 0.3:
                yield _part(chunk, high, high, stacks)


def _part(chunk: TableChunk, low: int, high: int, stacks: Any) -> TableChunk:
    tables, places = {}, {}
    for event, table in chunk.tables.items():
        rows = np.flatnonzero((chunk.places[event] >= low) & (chunk.places[event] < high))
        if len(rows):
            tables[event], places[event] = _taken(table, rows), chunk.places[event][rows] - low
    return TableChunk(tables, _taken(chunk.headers, np.arange(low, high)), stacks, places)


def _taken(table: Table, rows: Any) -> Table:
    columns = tuple(table.column(field.name).take(rows) for field in table.fields)
    return Table(table.fields, (columns,) if len(rows) else ())


def _same(one: Answer[Any], other: Answer[Any], what: str) -> None:
    """Equal but for the window that was asked for; says where not."""
    asked = attrs.evolve(other.question, window=one.question.window)
    assert asked == one.question, what
    for field in attrs.fields(type(one)):
        if field.name != "question":
            assert getattr(one, field.name) == getattr(other, field.name), f"{what}: {field.name} differs"


def _fits_together(name: str, whole: Metric, parts: Sequence[Metric]) -> None:
    """What is lowered because events are missing need not add up, but the whole lies where its parts may add up to."""
    if whole.value is None or any(part.value is None for part in parts):
        return
    merge = {"sum": sum, "max": max, "min": min}[whole.merge]
    least, *lows = (one.low if one.bounded else one.value for one in (whole, *parts))
    most, *highs = (one.high if one.bounded else one.value for one in (whole, *parts))
    assert None in (most, *lows) or merge(lows) <= most, f"{name}: {lows} are more than {most}"
    assert None in (least, *highs) or merge(highs) >= least, f"{name}: {highs} are less than {least}"


def _adds_up(name: str, whole: Metric, parts: Sequence[Metric]) -> None:
    known = [part.value for part in parts if part.value is not None]
    if whole.value is None:
        # What cannot be counted in one part, such as waits that only samples show, makes the whole unknown; so do
        # bounds from both sides.
        sides = {part.low is None for part in parts if part.bounded}
        assert len(known) < len(parts) or len(sides) > 1, f"{name}: every part has a number and the whole has none"
        return
    assert known, f"{name}: no part has a number"
    merged = {"sum": sum, "max": max, "min": min}[whole.merge](known)
    assert math.isclose(merged, whole.value, rel_tol=1e-9), f"{name}: {known} do not make {whole.value}"


def _inside(row: dict[str, Any], shape: Any, window: TimeWindow, duration: int) -> dict[str, bool] | None:
    """Whether a row of the whole is in a window: None, or how it is clipped there."""
    low = -math.inf if window.start_ns is None else window.start_ns
    high = math.inf if window.end_ns is None else window.end_ns
    if shape.at is not None:
        return {} if low <= row[shape.at] < high else None
    start, end = (row[name] for name in shape.span)
    first, last = -math.inf if start is None else start, math.inf if end is None else end
    if first >= high or (last <= low and first < low and not (start is None and last == low)):
        return None
    began_before = low > (0 if start is None else start)
    goes_on = high < (duration + 1 if end is None else end)
    return {"clipped": began_before or goes_on}


@lru_cache(maxsize=6)
def _holes(data: bytes) -> list[tuple[int | None, float, float]]:
    """Thread, begin and end of everything that is missing; lists that were cut go on to the end."""
    found: list[tuple[int | None, float, float]] = []
    with opened(data) as trace:
        scan = passes_of(trace).scan(raising=False)
        lists = (trace.losses, trace.lost), (scan.destroyed, scan.missing)
    for listed, total in lists:
        found += [(loss.thread_id, loss.start_ns, loss.end_ns) for loss in listed]
        if listed and total > sum(loss.count for loss in listed):
            found.append((None, listed[-1].start_ns, math.inf))
    if not scan.complete:
        found.append((None, scan.known_ns, math.inf))
    return found


def _touches(row: dict[str, Any], shape: Any, thread: int | None, low: float, high: float) -> bool:
    mine = {row[name] for name in shape.threads} - {None}
    if mine and thread is not None and thread not in mine:
        return False
    if shape.at is not None:
        start = end = row[shape.at]
    elif shape.span is not None:
        start, end = (row[name] for name in shape.span)
    else:
        start, end = row[shape.since], None
    return (-math.inf if start is None else start) <= high and (math.inf if end is None else end) >= low


def _moment(times: Sequence[int], duration: int, rng: random.Random) -> int:
    """At the very edge of a row as often as between two edges, and sometimes anywhere."""
    if not times or rng.random() < 0.2:
        return rng.randrange(duration + 1)
    place = rng.randrange(len(times))
    later = times[place] if rng.random() < 0.5 else times[min(place + 1, len(times) - 1)]
    return max((times[place] + later) // 2, 0)


def _times(report: Answer[Any]) -> list[int]:
    """All begins and ends, in order."""
    found = []
    for table in report.tables():
        shape = shape_of(table.row_class)
        for name in (*(shape.span or ()), shape.at):
            if name is not None:
                found += [time for time in report.table(table.name).column(name).tolist() if time is not None]
    return sorted(found)


def _rows(table: ReportTable[Any]) -> list[dict[str, Any]]:
    return list(table.rows())


def _lasting(table: ReportTable[Any], row: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every window."""
    windowed = windowed_columns(table.row_class)
    return {name: value for name, value in row.items() if name not in windowed}


def _no_stacks(table: ReportTable[Any], row: dict[str, Any]) -> dict[str, Any]:
    """Numbers of stacks are those of a trace."""
    stacks = [column.name for column in columns_of(table.row_class) if column.cell.name == "stack"]
    return {name: bool(value) if name in stacks else value for name, value in row.items()}


def _no_shares(table: ReportTable[Any], row: dict[str, Any]) -> dict[str, Any]:
    """Shares that are of all processes together differ from those of one."""
    return {name: value for name, value in _no_stacks(table, row).items() if name not in shares_of(table.row_class)}


def _told(table: ReportTable[Any], row: dict[str, Any]) -> dict[str, Any]:
    told = {column.name for column in columns_of(table.row_class) if column.cell.privacy != "private"}
    return {name: value for name, value in _no_stacks(table, row).items() if name in told}


def _counted(table: ReportTable[Any], of: Callable[..., dict[str, Any]]) -> Counter[str]:
    return Counter(repr(of(table, row)) for row in _rows(table))


def _same_rows(wanted: Counter[str], found: Counter[str], what: str) -> None:
    if wanted != found:
        missing, odd = list((wanted - found).elements()), list((found - wanted).elements())
        raise AssertionError(f"{what}: missing {missing[:2]}, not expected {odd[:2]}")


def _plain(value: Any, where: str) -> None:
    """Only what JSON has, and of exactly that class: numpy's numbers would be written too. (Finite is seen there.)"""
    assert type(value) in (*_SCALARS, dict, list), f"{where} is a {type(value).__name__}"
    if isinstance(value, dict):
        assert set(map(type, value)) <= {str}, f"{where} has a key that is no text"
        if not set(map(type, value.values())) <= _SCALARS:
            for key, item in value.items():
                _plain(item, f"{where}.{key}")
    elif isinstance(value, list) and not set(map(type, value)) <= _SCALARS:
        for item in value:
            _plain(item, f"{where}[]")


def _obeyed(char: str) -> bool:
    """Whether a terminal or a browser may do something for this character instead of showing it."""
    code = ord(char)
    ranges = (0, 0x20), (0x7F, 0xA0), (0x61C, 0x61D), (0x200E, 0x2010), (0x2028, 0x202F), (0x2066, 0x206A)
    return code == 0xFEFF or any(low <= code < high for low, high in ranges)


class _Tags(html.parser.HTMLParser):
    """The tags of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)
