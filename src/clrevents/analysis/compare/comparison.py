"""`Comparison`: the verdicts on recordings or groups of them, an answer as a report's; its conditions and its words.

Made by `judging`; judges nothing itself. Says how much is shown, and in which order; knows no terminal.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from clrevents._util.words import amount_text, counted, duration_text, markdown_text, safe, share_text
from clrevents._util.words import unknown as unknown_name
from clrevents.analysis.compare import change as row_family
from clrevents.analysis.compare.change import Change, Per, Proposal, Recording
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.conditions import Condition
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, Question
from clrevents.analysis.framework.vocabulary.cells import CodeText, Flag, Word
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, row
from clrevents.analysis.shared.samples.stack_shapes import NamePattern

# Amounts are alike if they differ by at most this part of the larger one: chance moves both.
_ALIKE: Final = 0.25
HEAD: Final = ("metric", "base", "new", "change", "verdict", "could show")
CHANCE_ALONE: Final = "whether the programs do, only groups can tell (4 against 4, 6 against 3)"
_ORDER: Final = ("regressed", "differs", "improved", "changed", "stated", "cannot tell", "same", "not comparable")


def proposals(rows: Sequence[Change]) -> tuple[Proposal, ...]:
    """What may have become of methods whose time differs beyond chance because they are gone. One for each at most,
    and none where several methods could be meant."""
    own = [row for row in rows if row.family == row_family.EXCLUSIVE and row.alarm]
    moved = {row.name for row in rows if row.family == row_family.INCLUSIVE and row.alarm}
    gone = [row for row in own if row.base and not row.new]
    came = [row for row in own if row.new and not row.base]
    grew = [row for row in own if row.base and (row.change or 0) > 0 and row.name not in moved]
    renamed = dict(_only((a, b) for a in gone for b in came if _renamed(a, b)))
    inlined = dict(_only((a, b) for a in gone if a.name not in renamed for b in grew if _alike(a.base, b.change)))
    return (
        *(Proposal(kind="renamed", gone=a, into=b) for a, b in renamed.items()),
        *(Proposal(kind="inlined", gone=a, into=b) for a, b in inlined.items()),
    )


def _only(pairs: Iterator[tuple[Change, Change]]) -> Iterator[tuple[str, str]]:
    """Pairs of which neither side is in another one."""
    names = [(a.name, b.name) for a, b in pairs]
    for a, b in names:
        if sum(one == a or other == b for one, other in names) == 1:
            yield a, b


def _renamed(gone: Change, came: Change) -> bool:
    """Whether both have the same parameters, and the same type or the same name in another type."""
    (type, name, parameters), (other_type, other_name, others) = _parts(gone.name), _parts(came.name)
    return parameters == others and (type == other_type or name == other_name) and _alike(gone.base, came.new)


def _parts(method: str) -> tuple[str, str, str]:
    """Type, name and parameters of a method."""
    path, bracket, parameters = method.partition("(")
    type, _, name = path.rpartition(".")
    return type, name, bracket + parameters


def _alike(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= _ALIKE * max(one, other)


NOT_CONFIRMED: Final = "the second recordings do not show it"
REGRESSED: Final = "regressed"
"""The condition that nothing got worse."""
_ROWS: Final = re.compile(r"([a-z ]+):(.+?)\s*((?:<=|>=|<|>|==|!=|=)\s*-?[\d_.]+\s*%?)")
_NAMED: Final = 5
_ORDERED: Final = ("<", "<=", ">", ">=")


_CIRCUMSTANCES: Final = "circumstances"
_CHANCE: Final = "chance"
NOT_COMPARABLE: Final = "not-comparable"
"""The note on what was recorded on one side only."""


@row
class ComparisonFacts:
    """The outcome in short."""

    headline: CodeText = column("What changed, in a sentence.")
    per: Word = column("What amounts are divided by: `request`, `second`, `none`, or a start event.")
    confirmed: Flag = column("Second recordings confirm: alarms are those of both pairs.")


@answer(name="compare", summary="headline per")
class Comparison(Answer[ComparisonFacts]):
    """All metrics, methods, and other rows of families that moved, of two recordings or groups of them."""

    changes: ReportTable[Change] = table("The metrics of reports, and what became of each.")
    rows: ReportTable[Change] = table("Methods, types and other rows, table by table.")
    proposals: ReportTable[Proposal] = table("What may have become of methods that are gone.")
    recordings: ReportTable[Recording] = table("What was compared.")
    confirming: ReportTable[Change] = table("Metrics and rows of the second recordings.")

    @classmethod
    def of(
        cls,
        question: Question,
        warnings: Sequence[str],
        changes: Sequence[Change],
        rows: Sequence[Change],
        recordings: Sequence[Recording],
        confirming: Sequence[Change] = (),
    ) -> Comparison:
        """The answer that consists of these verdicts; `warnings` say what differs beside the program."""
        each = (*changes, *rows)
        unlike = sum(change.verdict == "not comparable" for change in each)
        confirmed = any(one.side.startswith("second") for one in recordings)
        per = str(question.parameters["per"])
        notes = [Note(_CIRCUMSTANCES, "warning", text, ("changes", "rows")) for text in warnings]
        if len(_of_side(recordings, "base")) == 1 and any(change.alarm for change in each):
            which = "both pairs of recordings differ" if confirmed else "these two recordings differ"
            notes.append(Note(_CHANCE, "info", f"{which} so; {CHANCE_ALONE}", ("changes", "rows")))
        notes += [Note(NOT_COMPARABLE, "info", text, record=record) for text, record in _incomparable(changes, rows)]
        counts = Counter(change.verdict for change in each)
        common: dict[str, object] = {
            "question": question,
            "coverage": "full" if not unlike else "partial" if unlike < len(each) else "none",
            "notes": tuple(notes),
            "facts": ComparisonFacts(headline=_headline(changes, rows, confirmed), per=per, confirmed=confirmed),
            "metrics": {name.replace(" ", "_"): Metric(counts[name], "count") for name in _ORDER},
        }
        return cls(
            **common,
            changes=ReportTable.of(Change, changes),
            rows=ReportTable.of(Change, rows),
            proposals=ReportTable.of(Proposal, proposals(rows)),
            recordings=ReportTable.of(Recording, recordings),
            confirming=ReportTable.of(Change, confirming),
        )

    def confirm(self, second: Comparison) -> Comparison:
        """The same, with only those differences that `second` recordings show too, in the same direction."""

        def moved(change: Change) -> tuple[str, bool]:
            return change.key, (change.change or 0) > 0

        shown = set(map(moved, second.alarms))

        def kept(change: Change) -> Change:
            if not change.alarm or moved(change) in shown:
                return change
            return attrs.evolve(change, verdict="cannot tell", reason=NOT_CONFIRMED)  # type: ignore[misc]  # made by `row`

        sides = (f"second {side}" for side in second.recordings["side"])
        recordings = [*self.recordings, *second.recordings.replaced(side=list(sides))]
        changes, rows = (list(map(kept, each)) for each in (self.changes, self.rows))
        return Comparison.of(self.question, self.warnings, changes, rows, recordings, [*second.changes, *second.rows])

    @property
    def per(self) -> Per:
        """What amounts are divided by."""
        return self.facts.per

    @property
    def base(self) -> tuple[Recording, ...]:
        """The recordings before."""
        return _of_side(self.recordings, "base")

    @property
    def new(self) -> tuple[Recording, ...]:
        """The recordings after."""
        return _of_side(self.recordings, "new")

    @property
    def groups(self) -> bool:
        """Whether recordings are what is counted, rather than blocks of time in two of them."""
        return len(self.base) > 1

    @property
    def alarms(self) -> tuple[Change, ...]:
        """What changed, or differs between these recordings."""
        return tuple(change for change in (*self.changes, *self.rows) if change.alarm)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What differs beside the program."""
        return tuple(note.message for note in self.notes if note.id == _CIRCUMSTANCES)

    @property
    def caveat(self) -> str | None:
        """What a pair's differences do not say; None of groups, and where there is none."""
        return next((note.message for note in self.notes if note.id == _CHANCE), None)

    def failing(self, *conditions: str) -> tuple[list[str], list[str]]:
        """Which conditions hold, and which may hold, a sentence for each metric or row.

        `"regressed"` holds for whatever changed beyond chance and for the worse. The others are on relative changes:
        of a metric (`"gc.pause_total>5%"`), or of all rows of a table that fit a pattern (`"methods:Shop.*>5%"`). One
        holds if the change is told from chance and the whole interval lies beyond the limit. Numbers of events are
        exact and have no interval. Where second recordings confirm, it has to hold in these too. Raises ValueError
        for an unknown metric or table, a comparison other than < <= > >=, and a limit that is not a share.
        """
        failed: list[str] = []
        unknown: list[str] = []
        for text in conditions:
            if text.strip() == REGRESSED:
                failed += [f"{one.key} is worse: {relative_text(one)}" for one in self.alarms if one.towards == "worse"]
                aimless = [
                    row.key
                    for row in self.rows
                    if row.alarm and row.family in row_family.OF_WORK and row.better == "neither"
                ]
                if aimless and not failed:
                    why = "by the second, less time may be the same work done less often (--per EVENT, request or none)"
                    unknown.append(f"cannot tell whether {', '.join(aimless[:_NAMED])} {REGRESSED}: {why}")
                continue
            condition, changes = self._condition(text)
            if not changes:
                unknown.append(f"cannot tell whether {condition.text}: no row that was compared fits")
            for change in changes:
                self._meet(condition, change, failed, unknown)
        return failed, unknown

    def _condition(self, text: str) -> tuple[Condition, list[Change]]:
        """A condition, and the metric or the rows that it is on."""
        metrics: Mapping[str, Change] = {change.key: change for change in self.changes}
        table = rows_of(text)
        if table is None:
            condition = Condition.parse(text, metrics)
            changes = [metrics[condition.metric]]
        else:
            pattern, rest = _ROWS.fullmatch(text.strip()).groups()[1:]  # type: ignore[union-attr]
            condition = attrs.evolve(Condition.parse(f"change{rest}", ["change"]), text=text.strip())
            changes = [row for row in self.rows if row.family == table and _fits(NamePattern(pattern), row_text(row))]
        if condition.comparison not in _ORDERED:
            raise ValueError(f"{condition.text!r}: a change is compared by {', '.join(_ORDERED)}")
        return condition, changes

    def _meet(self, condition: Condition, change: Change, failed: list[str], unknown: list[str]) -> None:
        metric, holds = _relative(change), _holds(condition, change)
        sentence = f"{change.key} changed by {relative_text(change)}" if metric.value is not None else change.key
        if holds is None:
            unknown.append(f"cannot tell whether {condition.text}: {metric.reason or change.reason or sentence}")
        elif (
            holds
            and self.facts.confirmed
            and not any(_holds(condition, one) for one in self.confirming if one.key == change.key)
        ):
            unknown.append(f"cannot tell whether {condition.text}: {sentence}, but not so in the second recordings")
        elif holds:
            failed.append(f"{condition.text}: {sentence}")

    def markdown(self) -> str:
        """The comparison as a comment on a pull request."""
        return "\n".join(_markdown_lines(self))

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


def _of_side(recordings: Iterable[Recording], side: str) -> tuple[Recording, ...]:
    return tuple(one for one in recordings if one.side == side)


def _holds(condition: Condition, change: Change) -> bool | None:
    """Whether a condition holds; None where that cannot be told from chance."""
    metric = _relative(change)
    holds = condition.holds(metric)
    return None if holds and metric.low is not None and not change.alarm else holds


def _fits(pattern: NamePattern, name: str) -> bool:
    """Whether a row's name is meant, with its parameters or without."""
    return any(pattern.match_text(text) is not None for text in (name, name.partition("(")[0]))


def rows_of(condition: str) -> str | None:
    """The table whose rows a condition is on; None for one on a metric. Raises ValueError for an unknown table."""
    match = _ROWS.fullmatch(condition.strip())
    if match is None:
        return None
    if match[1] not in row_family.FAMILIES:
        raise ValueError(unknown_name("table", match[1], row_family.FAMILIES))
    return match[1]


def _relative(change: Change) -> Metric:
    """The relative change as a metric; null if it is not known how far it can be trusted."""
    if change.base is None or change.new is None or change.change is None:
        return Metric(None, "ratio", reason=change.reason)
    counted = change.unit == "count" and change.evidence == "event"
    if change.low is None and not counted and change.verdict != "same":
        return Metric(None, "ratio", reason=change.reason)
    if not change.base:
        return Metric(math.inf if change.change else 0.0, "ratio")
    low, high = (change.relative(edge) for edge in (change.low, change.high))
    return Metric(change.relative(change.change), "ratio", low=low, high=high)


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


def sides(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What was compared with what, as facts with their names."""
    yield "base", named(comparison.base)
    yield "new", named(comparison.new)
    yield "took", "; ".join(_took(comparison))
    yield "amounts", "not divided" if comparison.per == "none" else f"per {comparison.per}"
    if comparison.facts.confirmed:
        second = (named(_of_side(comparison.recordings, f"second {side}")) for side in ("base", "new"))
        yield "confirmed by", " -> ".join(second)


_WORK: Final = ("requests.server_p50", "requests.client_p50", "threads.processor_total")
"""The metrics that say how long a program's work took, what its users notice first."""


def _took(comparison: Comparison) -> Iterator[str]:
    """How long each side's recording took, and its work, as far as that was recorded."""
    yield " -> ".join(_lengths(side) for side in (comparison.base, comparison.new))
    known = {change.key: change for change in comparison.changes}
    for change in (known[key] for key in _WORK if key in known):
        if change.base is not None and change.new is not None and change.verdict != "not comparable":
            values = (amount(change, value, comparison.per) for value in (change.base, change.new))
            yield f"{change.key} {' -> '.join(values)} ({change_text(change)})"


def _lengths(side: Sequence[Recording]) -> str:
    lengths = sorted(one.duration_ns or one.span_ns for one in side)
    return " to ".join(dict.fromkeys(map(duration_text, (lengths[0], lengths[-1])))) if lengths else "-"


def named(side: Sequence[Recording]) -> str:
    """The recording of a side, or how many there are."""
    return side[0].label if len(side) == 1 else counted(len(side), "recording")


def _headline(changes: Sequence[Change], rows: Sequence[Change], confirmed: bool) -> str:
    """What changed, in a sentence: of each kind the number and the largest, what got worse first."""
    kinds: defaultdict[tuple[str, str], list[tuple[Change, str]]] = defaultdict(list)
    for one in told_rows(rows):
        kinds[one.family, _way(one)].append((one, row_text(one)))
    for metric in changes:
        if metric.alarm:
            kinds["metrics", metric.towards or _COUNTED[(metric.change or 0) > 0]].append((metric, metric.key))
    parts = []
    for (family, way), moved in sorted(kinds.items(), key=lambda kind: kind[1][0][0].towards != "worse"):
        largest, name = max(moved, key=lambda one: abs(one[0].change or 0))
        what = family if len(moved) > 1 else _PLURAL.sub("", family, count=1)
        parts.append(f"{len(moved):,} {what} {way}: {name} {change_text(largest)}")
    if parts:
        more = len(parts) - _MOST_PARTS
        return "; ".join([*parts[:_MOST_PARTS], *([f"and {counted(more, 'more kind')} of change"] if more > 0 else [])])
    which = "no difference is in both pairs" if confirmed else "no difference is beyond chance"
    return f"{which}: {_counts(ordered(changes), 'metric')}"


_MOST_PARTS: Final = 4
_PLURAL: Final = re.compile(r"s\b")
_AMOUNTS: Final = {"ns": "time", "bytes": "bytes", "count": "events"}


_COUNTED: Final = ("lower", "higher")


def _way(row: Change) -> str:
    """Which way a row went, as far as that is known."""
    grew = (row.change or 0) > 0
    if row.family == row_family.COUNTERS:
        return _COUNTED[grew]
    if row.towards and row.family in row_family.OF_WORK and row.unit == "ns":
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


def row_counts(comparison: Comparison) -> Iterator[str]:
    """How many rows of each table were looked at, with which verdicts, and what could have been seen at best."""
    for family, rows in by_table(comparison.rows):
        shares = [share for one in rows if (share := one.relative(one.smallest)) is not None]
        best = f"; the best could show {share_text(min(shares))}" if shares else ""
        longest = max((row.enough_ns or 0 for row in rows if row.verdict == "cannot tell"), default=0)
        more = f"; recordings of about {duration_text(round(longest, -8))} have enough for all" if longest else ""
        yield f"{family}: {_counts(rows, 'row')}{best}{more}"


def ordered(changes: Iterable[Change]) -> list[Change]:
    """Metrics that say something, what changed first, and of these the work, the most time, the largest share; those
    that are 0 on both sides are left out."""
    telling = [one for one in changes if (one.base or one.new) and one.verdict != "not comparable"]
    return sorted(telling, key=lambda one: (_ORDER.index(one.verdict), one.key not in _WORK, *_size(one)))


def _size(one: Change) -> tuple[bool, float]:
    """Sorts what changed most first: times by how much longer they are, behind them the rest by its share."""
    change = abs(one.change or 0)
    return one.unit != "ns", -change if one.unit == "ns" else -change / (one.base or one.new or 1)


def interval_text(change: Change) -> str:
    """Between which relative changes the true one lies; a dash where that is unknown."""
    low, high = (change.relative(edge) for edge in (change.low, change.high))
    return "-" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def cells(change: Change, per: Per, name: str) -> tuple[str, ...]:
    """A line of the table."""
    values = (amount(change, change.base, per), amount(change, change.new, per))
    return (name, *values, change_text(change), verdict_text(change), could_show(change, per))


def told_rows(rows: Iterable[Change]) -> list[Change]:
    """Rows that differ, or whose numbers are exact and do by more than next to nothing."""
    return [row for row in rows if row.alarm or (row.verdict == "stated" and _exactly(row))]


def _exactly(row: Change) -> bool:
    exact = row.family in row_family.FAMILIES and row_family.FAMILIES[row.family].exact
    return exact and abs(row.change or 0) > row_family.RELATIVE_FLOOR * min(row.base or 0, row.new or 0)


def by_table(rows: Iterable[Change], limit: int | None = None) -> Iterator[tuple[str, list[Change]]]:
    """Rows by their table, in each those that changed first, and of these what changed most; at most `limit` of each.

    Paths of calls are the heaviest, each below the path that it goes on from.
    """
    families: dict[str, list[Change]] = {}
    for change in rows:
        families.setdefault(change.family, []).append(change)
    for family, changes in families.items():
        if is_paths(family):
            yield family, _as_tree(sorted(changes, key=_weight, reverse=True)[:limit])
        else:
            yield family, sorted(changes, key=lambda one: (not one.alarm, -abs(one.change or 0)))[:limit]


def is_paths(family: str) -> bool:
    """Whether the rows of a table are paths of calls."""
    return family in row_family.FAMILIES and row_family.FAMILIES[family].paths


def _weight(change: Change) -> float:
    return max(change.base or 0.0, change.new or 0.0)


def _as_tree(heaviest: Sequence[Change]) -> list[Change]:
    """Paths, each before those that go on from it."""
    known = {change.name for change in heaviest}
    below: defaultdict[str, list[Change]] = defaultdict(list)
    for change in heaviest:
        above = change.name.rpartition("\n")[0]
        below[above if above in known else ""].append(change)
    tree, waiting = [], below.pop("", [])[::-1]
    while waiting:
        tree.append(waiting.pop())
        waiting += below.pop(tree[-1].name, [])[::-1]
    return tree


def row_text(change: Change) -> str:
    """A row's name on one line: a path from the method on, through its callers or its callees."""
    arrow = " <- " if change.family == row_family.CALLERS else " -> "
    return change.name.replace("\n", arrow) if is_paths(change.family) else change.name


def indented(change: Change) -> str:
    """A row's name below the path that it goes on from."""
    if not is_paths(change.family):
        return change.name
    # The first line of callees, the method, is a row of the callers.
    depth = change.name.count("\n") - (change.family == row_family.CALLEES)
    return "  " * depth + change.name.rpartition("\n")[2]


def _incomparable(changes: Sequence[Change], each: Sequence[Change]) -> Iterator[tuple[str, str | None]]:
    """Sentences on what was recorded on one side only, and what records it; each reason once."""
    by_reason: dict[tuple[str | None, str | None], list[str]] = {}
    for change in changes:
        if change.verdict == "not comparable":
            by_reason.setdefault((change.reason, change.record), []).append(change.key)
    for (reason, record), names in by_reason.items():
        yield f"{', '.join(names)}: {reason}", record
    rows = Counter((row.family, row.reason) for row in each if row.verdict == "not comparable")
    for (family, reason), number in rows.items():
        yield f"{number:,} {family if number > 1 else family.removesuffix('s')}: {reason}", None


def lacking(comparison: Comparison) -> list[Note]:
    """What was recorded on one side only, and what records it."""
    return [note for note in comparison.notes if note.id == NOT_COMPARABLE]


def reasons(comparison: Comparison) -> Iterator[str]:
    """Why it cannot be told of some metrics whether they changed, each reason once."""
    by_reason: dict[str, list[Change]] = {}
    for change in ordered(comparison.changes):
        if change.verdict in ("cannot tell", "stated") and change.reason:
            by_reason.setdefault(change.reason, []).append(change)
    for reason, changes in by_reason.items():
        longest = max((change.enough_ns or 0 for change in changes), default=0)
        more = f"; recordings of about {duration_text(round(longest, -8))} have enough" if longest else ""
        yield f"{', '.join(change.key for change in changes)}: {reason}{more}"


def _lines(comparison: Comparison) -> Iterator[str]:
    """A short text."""
    per = comparison.per
    amounts = "in all" if per == "none" else f"per {per}"
    yield safe(comparison.facts.headline)
    yield safe(f"{named(comparison.base)} -> {named(comparison.new)}, {amounts}")
    if (more := comparison.caveat) is not None:
        yield more
    yield from (f"! {warning}" for warning in comparison.warnings)
    changes = [*told_rows(comparison.rows), *ordered(comparison.changes)]
    for change in changes[:_MOST]:
        name, *values = cells(change, per, safe(f"{change.family}.{row_text(change)}"))
        yield f"  {name}: {values[0]} -> {values[1]}, {relative_text(change)}, {values[3]}, could show {values[4]}"
    if len(changes) > _MOST:
        yield f"  and {len(changes) - _MOST} more"
    yield from (f"  {proposal}" for proposal in comparison.proposals)


_MOST: Final = 20


def _markdown_lines(comparison: Comparison) -> Iterator[str]:
    """A comment on a pull request: what changed openly, everything else folded."""
    per = comparison.per
    base, new = markdown_text(named(comparison.base)), markdown_text(named(comparison.new))
    yield f"**{markdown_text(comparison.facts.headline)}**"
    yield ""
    if (more := comparison.caveat) is not None:
        yield from (markdown_text(more), "")
    yield f"{base} → {new}, {'in all' if per == 'none' else 'per ' + per}"
    yield ""
    for warning in comparison.warnings:
        yield f"- ⚠ {markdown_text(warning)}"
    if comparison.warnings:
        yield ""
    for family, rows in by_table(told_rows(comparison.rows)):
        yield from _table(rows[:_MOST], per, family)
        if len(rows) > _MOST:
            yield from (f"and {len(rows) - _MOST} more {family}", "")
    alarms = [change for change in ordered(comparison.changes) if change.alarm]
    if alarms:
        yield from _table(alarms, per)
    if comparison.proposals:
        yield from (f"- {markdown_text(str(proposal))}" for proposal in comparison.proposals)
        yield ""
    rest = [change for change in ordered(comparison.changes) if not change.alarm]
    yield f"<details><summary>{counted(len(rest), 'other metric')}</summary>"
    yield ""
    yield from _table(rest, per)
    for text in (*reasons(comparison), *row_counts(comparison)):
        yield f"- {markdown_text(text)}"
    for note in lacking(comparison):
        yield f"- not comparable: {markdown_text(note.message)}" + (f"; record `{note.record}`" if note.record else "")
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
