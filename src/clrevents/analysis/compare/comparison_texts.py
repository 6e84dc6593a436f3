"""Comparisons in words: amounts, changes with their intervals, verdicts, and all of it as lines and as Markdown.

Knows how much is said, and in which order; neither a terminal nor how verdicts come about.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from clrevents._util.words import amount_text, counted, duration_text, markdown_text, safe, share_text
from clrevents.analysis.compare.change import CALLEES, CALLERS, COUNTERS, FAMILIES, OF_WORK, RELATIVE_FLOOR, Change, Per
from clrevents.analysis.compare.measured import Measured

HEAD: Final = ("metric", "base", "new", "change", "verdict", "could show")
CHANCE_ALONE: Final = "whether the programs do, only groups can tell (4 against 4, 6 against 3)"
_ORDER: Final = ("regressed", "differs", "improved", "changed", "stated", "cannot tell", "same", "not comparable")


class Judged(Protocol):
    """What texts need of a comparison."""

    @property
    def base(self) -> Sequence[Measured]: ...
    @property
    def new(self) -> Sequence[Measured]: ...
    @property
    def per(self) -> Per: ...
    @property
    def groups(self) -> bool: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def metrics(self) -> tuple[Change, ...]: ...
    @property
    def rows(self) -> tuple[Change, ...]: ...
    @property
    def alarms(self) -> tuple[Change, ...]: ...
    @property
    def confirmed_by(self) -> Judged | None: ...
    @property
    def proposals(self) -> Sequence[object]: ...


def amount(change: Change, value: float | None, per: Per) -> str:
    """A value in its unit, by what it is divided."""
    if value is None:
        return "-"
    whole = int(value) if float(value).is_integer() else value
    return amount_text(whole, change.unit) + (per_text(per) if change.adds else "")


def per_text(per: Per) -> str:
    """What amounts are divided by, behind them: `/s`."""
    return {"second": "/s", "none": ""}.get(per, f"/{per.partition('/')[2] or per}")


def signed(share: float) -> str:
    """A share with its sign: `+5.2 %`."""
    return ("+" if share > 0 else "-" if share < 0 else "") + share_text(abs(share))


def relative_text(change: Change) -> str:
    """By how much it changed, in relation to the base, with the interval if there is one."""
    if change.change is None:
        return "unknown"
    if not change.base:
        return "new" if change.change else "0 %"
    share, interval = change.relative(change.change), interval_text(change)
    assert share is not None, "the base is not 0"
    return signed(share) if interval == "-" else f"{signed(share)} ({interval})"


def change_text(change: Change) -> str:
    """The same without the interval."""
    if change.change is not None and change.base and not change.new:
        return "gone"
    return relative_text(change).partition(" (")[0]


def verdict_text(change: Change) -> str:
    """The verdict, and which way or how closely."""
    match change.verdict:
        case "differs":
            return f"differs, {change.towards}" if change.towards else "differs"
        case "same" if change.within:
            within = change.relative(change.within)
            return "the same" if within is None else f"same within {share_text(within)}"
        case "stated":
            return "untested"
        case other:
            return other


def could_show(change: Change, per: Per) -> str:
    """The smallest change that would have been seen."""
    if change.smallest is None:
        return "-"
    share = change.relative(change.smallest)
    return amount(change, change.smallest, per) if share is None else share_text(share)


def sides(found: Judged) -> Iterator[tuple[str, str]]:
    """What was compared with what, as facts with their names."""
    yield "base", named(found.base)
    yield "new", named(found.new)
    yield "amounts", "not divided" if found.per == "none" else f"per {found.per}"
    if (second := found.confirmed_by) is not None:
        yield "confirmed by", f"{named(second.base)} -> {named(second.new)}"


def named(side: Sequence[Measured]) -> str:
    """The recording of a side, or how many there are."""
    return side[0].label if len(side) == 1 else counted(len(side), "recording")


def headline(found: Judged) -> str:
    """What changed, in a sentence: of each kind the number and the largest, what got worse first."""
    kinds: defaultdict[tuple[str, str], list[tuple[Change, str]]] = defaultdict(list)
    for row in told_rows(found):
        kinds[row.family, _way(row)].append((row, row_text(row)))
    for metric in found.metrics:
        if metric.alarm:
            kinds["metrics", metric.towards or _COUNTED[(metric.change or 0) > 0]].append((metric, metric.key))
    parts = []
    for (family, way), changes in sorted(kinds.items(), key=lambda kind: kind[1][0][0].towards != "worse"):
        largest, name = max(changes, key=lambda one: abs(one[0].change or 0))
        what = family if len(changes) > 1 else _PLURAL.sub("", family, count=1)
        parts.append(f"{len(changes):,} {what} {way}: {name} {change_text(largest)}")
    if parts:
        more = len(parts) - _MOST_PARTS
        return "; ".join([*parts[:_MOST_PARTS], *([f"and {counted(more, 'more kind')} of change"] if more > 0 else [])])
    which = "no difference is beyond chance" if found.confirmed_by is None else "no difference is in both pairs"
    return f"{which}: {_counts(ordered(found), 'metric')}"


def caveat(found: Judged) -> str | None:
    """What a pair's differences do not say; None of groups, and where there is none."""
    if found.groups or not found.alarms:
        return None
    which = "these two recordings differ" if found.confirmed_by is None else "both pairs of recordings differ"
    return f"{which} so; {CHANCE_ALONE}"


_MOST_PARTS: Final = 4
_PLURAL: Final = re.compile(r"s\b")
_AMOUNTS: Final = {"ns": "time", "bytes": "bytes", "count": "events"}


_COUNTED: Final = ("lower", "higher")


def _way(row: Change) -> str:
    """Which way a row went, as far as that is known."""
    grew = (row.change or 0) > 0
    if row.family == COUNTERS:
        return _COUNTED[grew]
    if row.towards and row.family in OF_WORK and row.unit == "ns":
        return "slower" if grew else "faster"
    return f"with {'more' if grew else 'less'} {_AMOUNTS.get(row.unit, row.unit)}"


_SAID: Final = {"same": "the same", "stated": "untested", "differs": "different"}


def _counts(changes: Sequence[Change], what: str) -> str:
    """How many have which verdict."""
    verdicts = Counter(change.verdict for change in changes)
    if not verdicts:
        return f"no {what} to compare"
    parts = [f"{number:,} {_SAID.get(name, name)}" for name in _ORDER if (number := verdicts[name])]
    return f"{counted(len(changes), what)}, {', '.join(parts)}"


def row_counts(found: Judged) -> Iterator[str]:
    """How many rows of each table were looked at, with which verdicts, and what could have been seen at best."""
    for table, rows in by_table(found.rows):
        shares = [share for one in rows if (share := one.relative(one.smallest)) is not None]
        best = f"; the best could show {share_text(min(shares))}" if shares else ""
        longest = max((row.enough_ns or 0 for row in rows if row.verdict == "cannot tell"), default=0)
        more = f"; recordings of about {duration_text(round(longest, -8))} have enough for all" if longest else ""
        yield f"{table}: {_counts(rows, 'row')}{best}{more}"


def ordered(found: Judged) -> list[Change]:
    """Metrics that say something, what changed first; those that are 0 on both sides are left out."""
    told = [one for one in found.metrics if (one.base or one.new) and one.verdict != "not comparable"]
    return sorted(told, key=lambda one: _ORDER.index(one.verdict))


def interval_text(change: Change) -> str:
    """Between which relative changes the true one lies; a dash where that is unknown."""
    low, high = (change.relative(edge) for edge in (change.low, change.high))
    return "-" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def cells(change: Change, per: Per, name: str) -> tuple[str, ...]:
    """A line of the table."""
    values = (amount(change, change.base, per), amount(change, change.new, per))
    return (name, *values, change_text(change), verdict_text(change), could_show(change, per))


def told_rows(found: Judged) -> list[Change]:
    """Rows that differ, or whose numbers are exact and do by more than next to nothing."""
    return [row for row in found.rows if row.alarm or (row.verdict == "stated" and _exactly(row))]


def _exactly(row: Change) -> bool:
    exact = row.family in FAMILIES and FAMILIES[row.family].exact
    return exact and abs(row.change or 0) > RELATIVE_FLOOR * min(row.base or 0, row.new or 0)


def by_table(rows: Sequence[Change], limit: int | None = None) -> Iterator[tuple[str, list[Change]]]:
    """Rows by their table, in each those that changed first, and of these what changed most; at most `limit` of each.

    Paths of calls are the heaviest, each below the path that it goes on from.
    """
    for family in dict.fromkeys(change.family for change in rows):
        mine = [change for change in rows if change.family == family]
        if is_paths(family):
            yield family, _as_tree(sorted(mine, key=_weight, reverse=True)[:limit])
        else:
            yield family, sorted(mine, key=lambda one: (not one.alarm, -abs(one.change or 0)))[:limit]


def is_paths(family: str) -> bool:
    """Whether the rows of a table are paths of calls."""
    return family in FAMILIES and FAMILIES[family].paths


def _weight(change: Change) -> float:
    return max(change.base or 0.0, change.new or 0.0)


def _as_tree(heaviest: Sequence[Change]) -> list[Change]:
    """Paths, each before those that go on from it."""
    known = {change.name for change in heaviest}
    below: defaultdict[str, list[Change]] = defaultdict(list)
    for change in heaviest:
        above = change.name.rpartition("\n")[0]
        below[above if above in known else ""].append(change)
    found, waiting = [], below.pop("", [])[::-1]
    while waiting:
        found.append(waiting.pop())
        waiting += below.pop(found[-1].name, [])[::-1]
    return found


def row_text(change: Change) -> str:
    """A row's name on one line: a path from the method on, through its callers or its callees."""
    arrow = " <- " if change.family == CALLERS else " -> "
    return change.name.replace("\n", arrow) if is_paths(change.family) else change.name


def indented(change: Change) -> str:
    """A row's name below the path that it goes on from."""
    if not is_paths(change.family):
        return change.name
    # The first line of callees, the method, is a row of the callers.
    depth = change.name.count("\n") - (change.family == CALLEES)
    return "  " * depth + change.name.rpartition("\n")[2]


def incomparable(found: Judged) -> Iterator[tuple[str, str | None]]:
    """Sentences on what was recorded on one side only, and what records it; each reason once."""
    by_reason: dict[tuple[str | None, str | None], list[str]] = {}
    for change in found.metrics:
        if change.verdict == "not comparable":
            by_reason.setdefault((change.reason, change.record), []).append(change.key)
    for (reason, record), names in by_reason.items():
        yield f"{', '.join(names)}: {reason}", record
    rows = Counter((row.family, row.reason) for row in found.rows if row.verdict == "not comparable")
    for (family, reason), number in rows.items():
        yield f"{number:,} {family if number > 1 else family.removesuffix('s')}: {reason}", None


def reasons(found: Judged) -> Iterator[str]:
    """Why it cannot be told of some metrics whether they changed, each reason once."""
    by_reason: dict[str, list[Change]] = {}
    for change in ordered(found):
        if change.verdict in ("cannot tell", "stated") and change.reason:
            by_reason.setdefault(change.reason, []).append(change)
    for reason, changes in by_reason.items():
        longest = max((change.enough_ns or 0 for change in changes), default=0)
        more = f"; recordings of about {duration_text(round(longest, -8))} have enough" if longest else ""
        yield f"{', '.join(change.key for change in changes)}: {reason}{more}"


def comparison_lines(found: Judged) -> Iterator[str]:
    """A short text."""
    per = found.per
    amounts = "in all" if per == "none" else f"per {per}"
    yield safe(headline(found))
    yield safe(f"{named(found.base)} -> {named(found.new)}, {amounts}")
    if (more := caveat(found)) is not None:
        yield more
    yield from (f"! {warning}" for warning in found.warnings)
    changes = [*told_rows(found), *ordered(found)]
    for change in changes[:_MOST]:
        name, *values = cells(change, per, safe(f"{change.family}.{row_text(change)}"))
        yield f"  {name}: {values[0]} -> {values[1]}, {relative_text(change)}, {values[3]}, could show {values[4]}"
    if len(changes) > _MOST:
        yield f"  and {len(changes) - _MOST} more"
    yield from (f"  {proposal}" for proposal in found.proposals)


_MOST: Final = 20


def markdown_lines(found: Judged) -> Iterator[str]:
    """A comment on a pull request: what changed openly, everything else folded."""
    per = found.per
    base, new = markdown_text(named(found.base)), markdown_text(named(found.new))
    yield f"**{markdown_text(headline(found))}**"
    yield ""
    if (more := caveat(found)) is not None:
        yield from (markdown_text(more), "")
    yield f"{base} → {new}, {'in all' if per == 'none' else 'per ' + per}"
    yield ""
    for warning in found.warnings:
        yield f"- ⚠ {markdown_text(warning)}"
    if found.warnings:
        yield ""
    for table, rows in by_table(told_rows(found)):
        yield from _table(rows[:_MOST], per, table)
        if len(rows) > _MOST:
            yield from (f"and {len(rows) - _MOST} more {table}", "")
    alarms = [change for change in ordered(found) if change.alarm]
    if alarms:
        yield from _table(alarms, per)
    if found.proposals:
        yield from (f"- {markdown_text(str(proposal))}" for proposal in found.proposals)
        yield ""
    rest = [change for change in ordered(found) if not change.alarm]
    yield f"<details><summary>{counted(len(rest), 'other metric')}</summary>"
    yield ""
    yield from _table(rest, per)
    for text in (*reasons(found), *row_counts(found)):
        yield f"- {markdown_text(text)}"
    for text, record in incomparable(found):
        yield f"- not comparable: {markdown_text(text)}" + (f"; record `{record}`" if record else "")
    yield ""
    yield "</details>"


def _table(changes: Sequence[Change], per: Per, title: str = HEAD[0]) -> Iterator[str]:
    yield f"| {' | '.join((title, *HEAD[1:]))} |"
    yield "|---|--:|--:|--:|---|--:|"
    for change in changes:
        _, before, after, _, verdict, shown = cells(change, per, "")
        name = change.key if title == HEAD[0] else row_text(change)
        texts = (name, before, after, relative_text(change), verdict, shown)
        yield f"| {' | '.join(map(markdown_text, texts))} |"
    yield ""
