"""Looks for numbers stated exact that are not, and for bounds on the wrong side.

    python tools/audit.py TRACE… [--truncations N] [--removals N] [--seed N] [--jsonl FILE]

Each trace is asked whole; then it is harmed as recordings are (it ends early, a block is missing, something was not
recorded) and asked again. What the whole says exactly is the truth. A number of the harmed trace that is stated exact
must lie within 1 % of it, an "at least" not above it, an "at most" not below it; a rate in a row that is not marked
must be the same. Null is always allowed. Metrics and
numeric facts are counted apart: only metrics can say that they are bounds.

Finds blocks by their envelopes, as tests do, and takes no part in how reports are made. Also what is about the
file itself, such as what has no end in it, must be null or a bound where the file is not whole; only of a recording
with fewer kinds of events what it says of itself is another number (`OF_RECORDING`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import clrevents
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.rewrite import cut
from clrevents.trace import passes_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from stream_blocks import Block, blocks_of, shape_of

TOLERANCE: Final = 0.01
RUNTIME: Final = "Microsoft-Windows-DotNETRuntime"
KEYWORDS: Final = (1 << 44) - 1
"""Those bits of a keyword that a provider gives a meaning."""
OF_RECORDING: Final = {
    ("activities", "count"),
    ("activities", "stopped"),
    ("activities", "never_stopped"),
    ("activities", "ambiguous"),
    ("activities", "orphans"),
    ("callers", "cut_total"),
    ("counters", "count"),
    ("counters", "counters"),
    ("counters", "empty"),
    ("jit", "untimed"),
    ("requests", "server_concurrent"),
    ("requests", "server_p50"),
    ("requests", "server_p99"),
    ("startup", "events_to_main"),
    ("startup", "events_per_second"),
    ("threads", "native_total"),
    ("threads", "running_total"),
    ("threads", "unknown_total"),
    ("top", "cut_total"),
    ("waits", "sampled_total"),
}
"""What says of a recording what it has, or what it does not tell: of one with fewer kinds of events, it differs.
Without events of the host, requests of servers are those of Kestrel, which last differently long; stacks that the async
profiler continues are not cut; where the runtime's own work was not recorded, threads ran, or were in native code."""
PARTS: Final = {
    ("gc", "paused"): ("pause_total",),
    ("gc", "large_share"): ("heap_peak",),
    ("gc", "pinned_share"): ("heap_peak",),
    ("gc", "allocation_rate"): (),
    ("startup", "events_per_second"): ("events_to_main", "runtime_to_main"),
}
"""What each quotient is made of: it is as good as the worst of them. The rate leaves out what was allocated before the
first collection, which the total has: it is held to the table of collections."""
QUOTIENTS: Final = {
    ("gc", "collections"): ("number",),
    ("gc", "generations"): ("number", "generation"),
    ("gc", "heaps"): ("number", "generation", "heap"),
    ("counters", "values"): ("time_ns", "provider", "name", "tags", "quantile"),
    ("pool", "adjustments"): ("time_ns",),
}
"""Tables with quotients that are no shares of all rows, and what names a row: each is made of few events, so that it is
whole or marked, or null."""
ALWAYS: Final = "Microsoft-DotNETCore-EventPipe"
"""A provider whose events are in every recording: they say which process it is, and when tracing stopped."""


class Harmed(NamedTuple):
    """A trace that was harmed, how (`kind`), and where."""

    kind: str
    where: str
    data: bytes


class Violation(NamedTuple):
    """A number that the harmed trace states wrongly; `wrong` is `exact`, `low`, `high`, `fact`, `row` of a rate
    in a row that is not marked, or `part` where a quotient is stated better than its parts."""

    wrong: str
    report: str
    name: str
    stated: Any
    truth: Any
    coverage: str

    def __str__(self) -> str:
        return f"{self.wrong:5} {self.report}.{self.name} {self.stated} for {self.truth}, coverage {self.coverage}"


def blocks(data: bytes) -> list[Block]:
    """The objects of a NetTrace 4 file that have a size."""
    return [block for block in blocks_of(data) if block.name != "Trace"] if shape_of(data) == "nettrace4" else []


def truncated(data: bytes, count: int, rng: random.Random) -> Iterator[Harmed]:
    """The first part of a trace: cut anywhere, and only its proper end missing."""
    for _ in range(count):
        at = rng.randrange(len(data) // 20, len(data))
        yield Harmed("truncated", f"at {at}", data[:at])
    found = blocks(data)
    if found:
        yield Harmed("no end", f"at {found[-1].end}", data[: found[-1].end])


def without_blocks(data: bytes, rng: random.Random) -> Iterator[Harmed]:
    """A trace without one of its blocks."""
    found = blocks(data)
    for kind, name, pick in (
        ("stack block", "StackBlock", "any"),
        ("first block", "EventBlock", "first"),
        ("middle block", "EventBlock", "any"),
    ):
        mine = [place for place, block in enumerate(found) if block.name == name]
        if len(mine) > 1:
            place = mine[0] if pick == "first" else rng.choice(mine[1:-1] or mine[1:])
            yield Harmed(kind, f"at {found[place].start}", removed(data, found, place))


def removed(data: bytes, found: list[Block], place: int) -> bytes:
    """A trace without one of its objects; the content of those behind it is aligned anew."""
    out = bytearray(data[: found[place].start])
    for block in found[place + 1 :]:
        out += data[block.start : block.size_at + 4]
        out += bytes(-len(out) % 4)
        out += data[block.content : block.end]
    return bytes(out + data[found[-1].end :])


def not_recorded(data: bytes, count: int, rng: random.Random) -> Iterator[Harmed]:
    """A trace without what a provider, or one keyword of the runtime, brings."""
    with opened(data) as trace:
        kinds = {kind.key: kind.row.keywords & KEYWORDS for kind in passes_of(trace).scan().kinds}
        groups: dict[str, set[Any]] = {}
        for key, keywords in kinds.items():
            one = keywords and not keywords & (keywords - 1)
            if one:
                groups.setdefault(f"{key.provider}:{keywords:#x}", set()).add(key)
            if key.provider not in (RUNTIME, ALWAYS):
                groups.setdefault(key.provider, set()).add(key)
        drawn = sorted(groups)
        rng.shuffle(drawn)
        counts = trace.event_counts()
        for name in drawn[:count]:
            kept = [key for key in counts if key not in groups[name]]
            if 0 < len(kept) < len(counts):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "less.nettrace"
                    cut(trace, path, *kept, rundown=False)
                    yield Harmed("not recorded", name, path.read_bytes())


def harmed(data: bytes, truncations: int, removals: int, seed: int) -> Iterator[Harmed]:
    """The trace harmed in every way."""
    rng = random.Random(seed)
    yield from truncated(data, truncations, rng)
    yield from without_blocks(data, rng)
    yield from not_recorded(data, removals, rng)


def opened(data: bytes) -> clrevents.Trace:
    """The trace, whatever is wrong with it."""
    return clrevents.open(data, errors="salvage")


def answers(data: bytes) -> dict[str, Answer[Any]]:
    """What all reports say, asked in one reading."""
    with warnings.catch_warnings(), opened(data) as trace:
        warnings.simplefilter("ignore")
        return dict(trace.reports())


def violations(whole: dict[str, Answer[Any]], less: dict[str, Answer[Any]], kind: str = "") -> Iterator[Violation]:
    """What the harmed trace states wrongly, by what the whole says exactly. A fact may have a note that it counts
    what was recorded."""
    yield from overstated(less)
    yield from changed_rows(whole, less)
    for report, answer in less.items():
        for name, metric in answer.metrics.items():
            true = whole[report].metrics[name]
            if metric.value is None or true.value is None or not exact(true):
                continue
            if kind == "not recorded" and (report, name) in OF_RECORDING:
                continue
            stated = (metric.value, metric.low, metric.high)
            sampled = kind == "not recorded" and metric.evidence == "sample" and metric.unit == "ns"
            if exact(metric):
                if off(metric.value, true.value, sampling_error(less) if sampled else 0):
                    yield Violation("exact", report, name, metric.value, true.value, answer.coverage)
            elif metric.low is not None and metric.low > true.value * (1 + TOLERANCE):
                yield Violation("low", report, name, stated, true.value, answer.coverage)
            elif metric.high is not None and metric.high < true.value * (1 - TOLERANCE):
                yield Violation("high", report, name, stated, true.value, answer.coverage)
        if answer.coverage == "none" or any("facts" in note.touches for note in answer.notes):
            continue
        facts, told = whole[report].to_dict(("-",))["facts"], answer.to_dict(("-",))["facts"]
        for name, value in told.items():
            truth = facts[name]
            if number(value) and number(truth) and off(value, truth):
                yield Violation("fact", report, name, value, truth, answer.coverage)


def overstated(answers: dict[str, Answer[Any]]) -> Iterator[Violation]:
    """Quotients that are stated where a part is unknown, or exactly where one is not; shares in rows, too, of a whole
    that lacks something."""
    for (report, name), names in PARTS.items():
        if report not in answers or (quotient := answers[report].metrics[name]).value is None:
            continue
        parts = [answers[report].metrics[part] for part in names]
        good = all(exact(part) for part in parts)
        if name == "allocation_rate":
            begun = [row for row in answers[report].table("collections") if not row.clipped]
            good = all(row.allocated_bytes is not None and row.kind != "background" for row in begun[1:])
        if any(part.value is None for part in parts) or (exact(quotient) and not good):
            yield Violation(
                "part", report, name, quotient.value, [str(part) for part in parts], answers[report].coverage
            )
    for report, answer in answers.items():
        for declared in answer.tables():
            rows = list(answer.table(declared.name))
            shared = [row for row in rows if getattr(row, "share", None) is not None]
            if any(row.lossy for row in rows) and not all(row.lossy for row in shared):
                yield Violation("part", report, f"{declared.name}.share", len(shared), len(rows), answer.coverage)


def changed_rows(whole: dict[str, Answer[Any]], less: dict[str, Answer[Any]]) -> Iterator[Violation]:
    """Quotients in rows that are not marked, and that the whole does not say."""
    for (report, name), names in QUOTIENTS.items():
        if report not in less:
            continue
        key, rows = attrgetter(*names), less[report].table(name)
        for column in columns_of(rows.row_class):
            if column.cell.name not in ("number", "ratio") or column.name in names:
                continue
            true: dict[Any, set[Any]] = {}
            for row in whole[report].table(name):
                true.setdefault(key(row), set()).add(getattr(row, column.name))
            for row in rows:
                value = getattr(row, column.name)
                if value is not None and not row.lossy and value not in true.get(key(row), {value}):
                    where = f"{name}.{column.name}"
                    yield Violation("row", report, where, value, true[key(row)], less[report].coverage)


def exact(metric: Metric) -> bool:
    """Whether it is known, and no bound."""
    return metric.value is not None and not metric.bounded


def number(value: Any) -> bool:
    """Whether it is a number, and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def off(value: float, truth: float, more: int = 0) -> bool:
    """Whether a number is wrong by more than what is allowed."""
    return abs(value - truth) > max(TOLERANCE * abs(truth), more)


def sampling_error(answers: dict[str, Answer[Any]]) -> int:
    """By how much the sampled times of all threads together may be off where no event tells when these began: by up to
    a period for each. A bound has no such excuse."""
    threads = answers["threads"]
    return (threads.facts.sampling_period_ns or 0) * int(threads.metrics["threads"].value or 0)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--truncations", type=int, default=6, help="how many places to cut each trace at")
    parser.add_argument("--removals", type=int, default=4, help="how many kinds of events to leave out, one at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=1 << 25, help="leave out traces with more bytes than this")
    parser.add_argument("--jsonl", type=Path, help="write every violation to this file")
    asked = parser.parse_args(arguments)
    by_kind: dict[str, Counter[str]] = {}
    by_name: Counter[tuple[str, str, str, str]] = Counter()
    with open(asked.jsonl or "/dev/null", "w", encoding="utf-8") as file:
        for path in asked.traces:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if len(data) > asked.most:
                continue
            whole = answers(data)
            for one in harmed(data, asked.truncations, asked.removals, asked.seed):
                counts = by_kind.setdefault(one.kind, Counter())
                counts["traces"] += 1
                try:
                    less = answers(one.data)
                except clrevents.TraceError:
                    counts["refused"] += 1
                    continue
                counts["metrics"] += sum(len(answer.metrics) for answer in less.values())
                for wrong in violations(whole, less, one.kind):
                    counts[wrong.wrong] += 1
                    counts["full"] += wrong.coverage == "full" and wrong.wrong != "fact"
                    by_name[one.kind, wrong.wrong, wrong.report, wrong.name] += 1
                    row = {"trace": path.name, "kind": one.kind, "where": one.where, **wrong._asdict()}
                    file.write(json.dumps(row) + "\n")
            file.flush()
            print(path.name, {kind: dict(counts) for kind, counts in by_kind.items()}, flush=True)
    for key, count in sorted(by_name.items(), key=lambda pair: (pair[0][0], pair[0][1], -pair[1])):
        print(f"{count:6} {' '.join(key)}")
    return int(any(counts[wrong] for counts in by_kind.values() for wrong in ("exact", "low", "high", "part", "row")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
