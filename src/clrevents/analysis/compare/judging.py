"""Measured recordings, before and after → verdicts on what changed, how sure they are, and what could not be seen.

Two recordings differ, and no more is said of a pair: other recordings of the same programs may differ as much. Groups
tell that from a change. Knows no trace and writes no text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.version import __version__
from clrevents._util.words import counted, unknown
from clrevents.analysis.compare import block_statistics as statistics
from clrevents.analysis.compare.block_statistics import Floats, spread
from clrevents.analysis.compare.change import FAMILIES, OF_WORK, PER, RELATIVE_FLOOR, Change, Per, Recording, Verdict
from clrevents.analysis.compare.comparison import Comparison
from clrevents.analysis.compare.measured import Amount, Measured, identities
from clrevents.analysis.framework.vocabulary.answer_values import Question, TimeWindow

ABSOLUTE_FLOORS: Final[Mapping[str, float]] = {"ns": 0.001, "bytes": 1e6, "count": 10}
"""A change by less than this in a whole recording is none; of times, by less than this share of its length."""
_FLOOR_TEXTS: Final = {"ns": "0.1 % of the recorded time", "bytes": "1 MB", "count": "10 in a recording"}
RUNS: Final = 0.03
"""How much runs of one program are assumed to vary (a standard deviation, as a share) where only one was recorded."""
WIDE: Final = 0.25
"""What may differ by more than this share is not called the same."""
_LEVELS: Final = {"metrics": 0.02, "methods": 0.02, "rows": 0.05, "groups": 0.03}
_SHARE: Final = 0.005


def compared(
    base: Sequence[Measured], new: Sequence[Measured], per: Per | None = None, tables: Collection[str] = ()
) -> Comparison:
    """Compare recordings; `per` is by default `request` if all recorded any, else `second`. Rows of `tables` are looked
    at though no metric of theirs moved.

    Raises ValueError for an unknown `per`, for requests or events that were not recorded, and unless there is one
    recording a side, or so many that they can show a difference beyond chance.
    """
    counts = len(base), len(new)
    if counts != (1, 1) and not statistics.suffices(*counts, _LEVELS["groups"]):
        enough = " or ".join(
            f"{one} against {other}" for one, other in statistics.sufficient(*counts, _LEVELS["groups"])
        )
        raise ValueError(
            f"{counts[0]} against {counted(counts[1], 'recording')} cannot show a difference beyond chance, however "
            f"large it is; "
            f"{enough} can (or compare one with one, which says what differs between these two)"
        )
    measurements = (*base, *new)
    questions = sorted({one.asked or "everything" for one in measurements})
    if len(questions) > 1:
        raise ValueError(f"these were measured for different questions: {'; '.join(questions)}")
    asked = [one.requests for one in measurements]
    lacking = any(one is None for one in asked)
    if per == "request" and lacking:
        raise ValueError("per request: not every recording has requests")
    chosen: Per = per or ("second" if lacking else "request")
    if chosen not in PER:
        chosen = _start_event(chosen, measurements)
    sides = (tuple(base), tuple(new))
    names = dict.fromkeys(name for one in measurements for name in _by_name(one.metrics))
    # Another version of clrevents had fewer.
    metrics = _joined(sides, [{**_missing(names, "not measured"), **_by_name(one.metrics)} for one in measurements])
    held_rows = {name: _joined(sides, rows) for name, rows in _matched(measurements, len(base)).items()}
    held_rows = {
        name: _own(name, rows, held_rows) for name, rows in held_rows.items() if _comparable(name, measurements)
    }
    if chosen == "second":
        held_rows = {name: _of_unknown_work(rows) if name in OF_WORK else rows for name, rows in held_rows.items()}
    like_metrics = [row for name, rows in held_rows.items() if FAMILIES[name].metrics for row in rows]
    whole = len(metrics)
    metrics += like_metrics
    pair = len(measurements) == 2
    direct = [
        row
        for name, rows in held_rows.items()
        if FAMILIES[name].always or (FAMILIES[name].exact and pair)
        for row in rows
    ]
    judge: Callable[[Sequence[_Pairing], Per, float], list[Change]]
    if len(base) > 1:
        # One family, so that everything together raises few false alarms.
        judge = _judged_groups
        judgement = judge([*metrics, *direct], chosen, _LEVELS["groups"])
        verdicts, rows = judgement[: len(metrics)], judgement[len(metrics) :]
    else:
        judge = _judged_pair
        verdicts, rows = judge(metrics, chosen, _LEVELS["metrics"]), judge(direct, chosen, _LEVELS["methods"])
    verdicts, rows = verdicts[:whole], [*rows, *verdicts[whole:]]
    moved = {change.family for change in verdicts if change.alarm}
    for name, pairings in held_rows.items():
        family = FAMILIES[name]
        done = family.always or family.metrics or (family.exact and pair)
        if not done and (family.report in moved or measurements[0].asked or name in tables):
            # Who asks for rows sees them though nothing moved; then they must be the surer.
            level = _LEVELS["rows" if family.report in moved else "methods"]
            rows += judge(pairings, chosen, level)
    if not any(change.adds for change in (*verdicts, *rows)):
        chosen = "none"
    parameters = {"per": chosen, "asked": measurements[0].asked or None}
    about = (TimeWindow(), None, (), new[0].trace, __version__)
    question = Question(Comparison.name, "What changed?", parameters, *about)
    recordings = [_recording(side, one, chosen) for side, of in (("base", base), ("new", new)) for one in of]
    return Comparison.of(question, _warnings(*sides), verdicts, rows, recordings)


def _recording(side: str, one: Measured, per: Per) -> Recording:
    """What an answer says of a recording."""
    return Recording(
        side=side,
        path=one.trace.path,
        start=one.trace.start,
        process_id=one.trace.process_id,
        duration_ns=one.trace.duration_ns,
        span_ns=one.span_ns,
        divisor=float(one.per(per).sum()),
        rows=len(one.rows),
    )


def _start_event(per: str, measurements: Sequence[Measured]) -> str:
    """The start event that is meant, which all recordings have."""
    known = {name for one in measurements for name in one.starts}
    named = [name for name in known if per in (name, name.partition("/")[2])]
    if not named:
        raise ValueError(unknown("denominator", per, [*PER, *sorted(known)]))
    if len(named) > 1:
        raise ValueError(f"{per} is one of {', '.join(sorted(named))}: name one of them")
    if not all(named[0] in one.starts and one.starts[named[0]].any() for one in measurements):
        raise ValueError(f"per {per}: not every recording has that event")
    return named[0]


def _of_unknown_work(rows: Sequence[_Pairing]) -> list[_Pairing]:
    """Rows of which neither less nor more is better: by the second, less time may be the same work done less often."""
    return [attrs.evolve(one, like=attrs.evolve(one.like, better="neither")) for one in rows]


@frozen
class _Pairing:
    """One metric or row of all recordings, base first."""

    measurements: tuple[Measured, ...]
    amounts: tuple[Amount | None, ...]
    base: int
    like: Amount
    shown: str = attrs.field(default=attrs.Factory(lambda one: one.like.label or one.like.name, takes_self=True))
    """Its name in the comparison."""

    @property
    def absent(self) -> Amount | None:
        """The first one without a value."""
        return next((one for one in self.amounts if one is not None and one.value is None), None)

    def value(self, place: int, per: Per) -> float:
        """Its value in one recording, for one of what it is divided by."""
        one = self.amounts[place]
        value = 0.0 if one is None or one.value is None else float(one.value)
        return value / float(self.measurements[place].per(per).sum()) if self.like.adds else value

    def blocks(self, place: int) -> Floats:
        one = self.amounts[place]
        return np.zeros(self.measurements[place].count) if one is None or one.blocks is None else one.blocks

    @property
    def dated(self) -> bool:
        is_dated = self.like.adds or self.like.over is not None
        return is_dated and all(one is None or one.blocks is not None for one in self.amounts)

    @property
    def spans(self) -> str:
        """What is compared of a recording, in words."""
        return "intervals between events" if self.like.since else "blocks of time"

    @property
    def enough(self) -> int:
        """With how many independent blocks something is said."""
        return statistics.ENOUGH_INTERVALS if self.like.since else statistics.ENOUGH

    @property
    def sure(self) -> int:
        """With how many it is said what could have been shown."""
        return statistics.SURE_INTERVALS if self.like.since else statistics.SURE

    @property
    def events(self) -> bool:
        """Whether it is a number of events."""
        return self.like.unit == "count" and self.like.evidence == "event"

    def spread(self, place: int, per: Per) -> statistics.Spread:
        """Its value in one recording, with its error."""
        one, blocks = self.amounts[place], self.blocks(place)
        if self.like.since:
            return spread(*statistics.intervals(blocks, self.measurements[place].per(per)))
        if one is None or one.over is None:
            return spread(blocks, self.measurements[place].per(per))
        # Blocks without a value tell nothing.
        known = one.over > 0
        return spread(blocks[known], one.over[known])

    def floor(self, per: Per, values: tuple[float, float]) -> float:
        """What a change must reach, both of a side and in itself. The same whichever side is called base."""
        least = ABSOLUTE_FLOORS.get(self.like.unit, 0.0)
        largest = 0.0
        for one in self.measurements if self.like.adds else ():
            amount = least * one.span_ns if self.like.unit == "ns" else least
            largest = max(largest, amount / float(one.per(per).sum()))
        return max(largest, RELATIVE_FLOOR * min(map(abs, values)))

    def judged(
        self,
        beyond: Verdict,
        values: tuple[float, float],
        change: float,
        *,
        level: float,
        chance: float,
        floor: float,
        margin: float,
        bound: float,
        noise: float,
        smallest: float,
        independent: tuple[float, float],
    ) -> Change:
        """A change with its interval, `margin` to either side, and the verdict `beyond` if it is beyond chance and the
        floor.

        Else both sides are the same if `bound`, the most that it may be, is little beside the values; so little that it
        does not count, where the interval excludes 0. Otherwise nobody can tell, and the reason is the first of those
        that hold; `noise` is what it varies by itself.
        """
        wide, least = WIDE * sum(map(abs, values)) / 2, RELATIVE_FLOOR * min(map(abs, values))
        size, apart = abs(change), abs(change) > margin
        verdict, within, reason = beyond, None, None
        if chance > level or size < floor:
            if bound <= (least if apart else wide):
                verdict, within = "same", bound
            else:
                verdict = "cannot tell"
                if chance > level and noise > wide:
                    reason = "it varies too much"
                elif size < floor and (chance <= level or floor > least):
                    counts = _FLOOR_TEXTS[self.like.unit] if floor > least else f"{RELATIVE_FLOOR:.0%}"
                    reason = f"a change by less than {counts} does not count"
                elif apart:
                    reason = "of so many numbers, some differ as much by chance"
                else:
                    reason = "it changed by less than can be told from chance"
        return self.change(
            verdict,
            values,
            low=change - margin,
            high=change + margin,
            smallest=smallest if isfinite(smallest) else None,
            within=within,
            chance=chance,
            independent=independent,
            reason=reason,
        )

    def change(self, verdict: Verdict, values: tuple[float | None, float | None], **more: object) -> Change:
        like = self.like
        return Change(
            family=like.family,
            name=self.shown,
            unit=like.unit,
            better=like.better,
            evidence=like.evidence,
            adds=like.adds,
            verdict=verdict,
            base=values[0],
            new=values[1],
            **more,  # type: ignore[arg-type]
        )


def _comparable(table: str, measurements: Sequence[Measured]) -> bool:
    """Whether all recordings have such rows: where they were not recorded, nothing is gone or new."""
    family = FAMILIES[table]
    if family.always and len({one.circumstances.get("samples") for one in measurements}) > 1:
        # Samples of threads wherever they are, and those of processors, are times of different things.
        return False
    known = [{a.name for a in one.metrics if a.family == family.report and a.value is not None} for one in measurements]
    return all(any(name in one for one in known) == all(name in one for one in known) for name in family.told_by)


def _own(table: str, rows: Sequence[_Pairing], tables: Mapping[str, Sequence[_Pairing]]) -> list[_Pairing]:
    """Rows of a table, without those that say the same as in the table that they are a part of: methods with what
    they called that called nothing, and methods that were in one state only."""
    part_of = FAMILIES[table].part_of
    if part_of is None or FAMILIES[table].paths:
        return list(rows)

    def name(one: _Pairing) -> tuple[str, list[float]]:
        return one.like.name.partition("\n")[0], [float(amount.value or 0) if amount else 0.0 for amount in one.amounts]

    alone = [name(one) for one in tables.get(part_of, ())]
    return [one for one in rows if name(one) not in alone]


def _judged_pair(pairings: Sequence[_Pairing], per: Per, level: float) -> list[Change]:
    """The verdicts on one recording against one, as one family."""
    changes: dict[int, Change] = {}
    tested: list[tuple[int, statistics.Contrast, tuple[float, float], tuple[float, float]]] = []
    for place, one in enumerate(pairings):
        values = (one.value(0, per), one.value(1, per))
        if (lacking := one.absent) is not None:
            changes[place] = _not_comparable(one, lacking)
        elif values[0] == values[1] and (not one.dated or not any(values)):
            changes[place] = one.change("same", values, within=0.0)
        elif not one.dated:
            changes[place] = one.change("stated", values, reason=_ONCE)
        else:
            before, after = (one.spread(side, per) for side in (0, 1))
            contrast, worth = statistics.Contrast.of(before, after, RUNS), (before.independent, after.independent)
            few = min(worth) < one.enough or statistics.too_sparse(one.blocks(0), one.blocks(1))
            if few and one.like.evidence == "event" and not one.like.bound:
                changes[place] = one.change("stated", values, reason=_ONCE, independent=worth)
            elif few:
                short = min(worth) < one.enough
                changes[place] = one.change(
                    "cannot tell",
                    values,
                    reason=f"fewer than {one.enough} independent {one.spans}" if short else "too few samples",
                    enough_ns=_enough_ns(one, worth) if short else None,
                    independent=worth,
                )
            else:
                tested.append((place, contrast, worth, values))
    chances = statistics.adjusted(np.array([contrast.chance for _, contrast, _, _ in tested]))
    alone = level / max(len(tested), 1)
    for (place, contrast, worth, values), chance in zip(tested, chances.tolist(), strict=True):
        one = pairings[place]
        floor = one.floor(per, values)
        noise = contrast.margin(0.10)
        changes[place] = one.judged(
            "differs",
            values,
            contrast.change,
            level=level,
            chance=chance,
            floor=floor,
            margin=contrast.margin(0.05),
            bound=abs(contrast.change) + noise,
            noise=noise,
            smallest=contrast.smallest(alone, floor, one.events) if min(worth) >= one.sure else inf,
            independent=worth,
        )
    return [changes[place] for place in range(len(pairings))]


_ONCE: Final = "one number a recording: how much it varies is unknown"


def _enough_ns(of: _Pairing, worth: tuple[float, float]) -> int:
    """How long a recording would have to be for its blocks to suffice."""
    return max(round(one.span_ns * of.enough / least) for least, one in zip(worth, of.measurements, strict=True))


def _judged_groups(pairings: Sequence[_Pairing], per: Per, level: float) -> list[Change]:
    """The verdicts on groups of recordings, as one family."""
    changes: dict[int, Change] = {}
    tested: list[tuple[int, Floats, tuple[float, float]]] = []
    for place, one in enumerate(pairings):
        each = np.array([one.value(recording, per) for recording in range(len(one.measurements))])
        values = (float(each[: one.base].mean()), float(each[one.base :].mean()))
        if (lacking := one.absent) is not None:
            changes[place] = _not_comparable(one, lacking)
        elif np.ptp(each) == 0:
            changes[place] = one.change("same", values, within=0.0)
        else:
            tested.append((place, each, values))
    if not tested:
        return [changes[place] for place in range(len(pairings))]
    first = pairings[0]
    table = np.array([each for _, each, _ in tested]).T
    floors = np.array([pairings[place].floor(per, values) for place, _, values in tested])
    # Damping must not depend on which side is which.
    damping = np.array([pairings[place].floor(per, (each.mean(), each.mean())) for place, each, _ in tested])
    groups = statistics.Groups.of(table[: first.base], table[first.base :], level, damping)
    sizes = (float(first.base), float(len(first.measurements) - first.base))
    for column, (place, _, values) in enumerate(tested):
        one = pairings[place]
        change, limit = float(groups.change[column]), float(groups.limits[column])
        chance = float(groups.chances[column])
        better = one.like.better
        judgement: Verdict = "improved" if (change < 0) == (better == "less") else "regressed"
        error, floor = float(groups.errors[column]), float(floors[column])
        # Exchanged groups differ more where there is a change, and so the limit grows with it; and the error that few
        # recordings show is as often too small.
        power = statistics.t_of((1 - statistics.POWER) / 4, min(sizes))
        smallest = max(limit, floor)
        if error:
            smallest = statistics.smallest_change(error, sum(values) / 2, limit / error, power, floor, one.events)
        changes[place] = one.judged(
            "changed" if better == "neither" else judgement,
            values,
            change,
            level=level,
            chance=chance,
            floor=floor,
            margin=limit,
            bound=abs(change) + limit,
            noise=statistics.t_of(0.05, sum(sizes) - 2) * error,
            smallest=smallest,
            independent=sizes,
        )
    return [changes[place] for place in range(len(pairings))]


def _not_comparable(one: _Pairing, lacking: Amount) -> Change:
    known = [None if amount is None or amount.value is None else float(amount.value) for amount in one.amounts]
    base, new = known[: one.base], known[one.base :]
    sides = " and ".join(name for name, side in (("base", base), ("new", new)) if None in side)
    return one.change(
        "not comparable", (None, None), reason=f"{sides}: {lacking.reason or 'unknown'}", record=lacking.record
    )


def _missing(names: Iterable[tuple[str, str]], reason: str) -> dict[tuple[str, str], Amount]:
    return {name: Amount(*name, "", None, reason=reason) for name in names}


def _by_name(amounts: Iterable[Amount]) -> dict[tuple[str, str], Amount]:
    return {(amount.family, amount.name): amount for amount in amounts}


def _joined(
    sides: tuple[tuple[Measured, ...], tuple[Measured, ...]], amounts: Sequence[Mapping[tuple[str, str], Amount]]
) -> list[_Pairing]:
    """Those that have a value anywhere and, of many rows, those that are more than next to nothing."""
    measurements = (*sides[0], *sides[1])
    names = dict.fromkeys(name for one in amounts for name in one)
    pairings = []
    for name in sorted(names):
        each = tuple(one.get(name) for one in amounts)
        if any(one is not None and one.value is not None for one in each):
            like = next(one for one in each if one is not None and one.value is not None)
            pairings.append(_Pairing(measurements, each, len(sides[0]), like))
    # Two rows with one name are told apart by what the runtime calls them.
    alike = Counter((one.like.family, one.shown) for one in pairings)
    return [
        one if alike[one.like.family, one.shown] == 1 else attrs.evolve(one, shown=_told_apart(one.like))
        for one in pairings
    ]


def _told_apart(row: Amount) -> str:
    return row.name if FAMILIES[row.family].paths else row.name.replace("\n", " ")


def _matched(measurements: Sequence[Measured], base: int) -> dict[str, list[dict[tuple[str, str], Amount]]]:
    """By table, the rows of each recording under the names that they have on both sides."""
    matched: dict[str, list[dict[tuple[str, str], Amount]]] = {}
    wholes: dict[str, float] = {}
    for table, family in FAMILIES.items():
        rows = [[row for row in one.rows if row.family == table] for one in measurements]
        lines = [{line for row in side for line in row.name.split("\n")} for side in rows]
        same = identities(*({line for side in half for line in side} for half in (lines[:base], lines[base:])))
        merged = [_merged(side, same) for side in rows]
        sums: defaultdict[tuple[str, str], float] = defaultdict(float)
        for side in merged:
            for name, row in side.items():
                sums[name] += float(row.value or 0)
        if sums:
            wholes[table] = max(sums.values()) if family.paths else sum(sums.values())
            if family.metrics:
                matched[table] = [{**_missing(sums, "not published"), **side} for side in merged]
                continue
            least = _SHARE * wholes.get(family.part_of or table, wholes[table])
            matched[table] = [{name: row for name, row in side.items() if sums[name] >= least} for side in merged]
    return matched


def _merged(rows: Sequence[Amount], same: Mapping[str, str]) -> dict[tuple[str, str], Amount]:
    merged: dict[tuple[str, str], Amount] = {}
    for row in rows:
        key = (row.family, "\n".join(same[line] for line in row.name.split("\n")))
        before = merged.get(key)
        if before is not None:
            both = None if before.blocks is None or row.blocks is None else before.blocks + row.blocks
            value, over = float(before.value or 0) + float(row.value or 0), None
            if before.over is not None and row.over is not None and both is not None:
                over = before.over + row.over
                value = float(both.sum() / over.sum())
            row = attrs.evolve(before, value=value, blocks=both, over=over)
        merged[key] = row
    return merged


_ONE_MORE: Final = 0.2
_COMPILING: Final = 0.05


def _warnings(base: Sequence[Measured], new: Sequence[Measured]) -> tuple[str, ...]:
    """What differs though the program may be the same."""

    def both(name: str) -> list[list[str | int | float]]:
        return [sorted({v for one in side if (v := one.circumstances.get(name)) is not None}) for side in (base, new)]

    texts = []
    for name in ("runtime", "collector", "processors", "samples", "allocations"):
        sides = both(name)
        if all(sides) and sides[0] != sides[1]:
            before, after = (", ".join(map(str, side)) for side in sides)
            texts.append(f"{name}: {before} before, {after} after")
    periods = [float(v) for side in both("sampling period") for v in side]
    if periods and max(periods) > (1 + _ONE_MORE) * min(periods):
        texts.append(f"sampling period: from {min(periods) / 1e6:.3g} to {max(periods) / 1e6:.3g} ms")
    lost = [int(one.circumstances.get("lost events") or 0) for one in (*base, *new)]
    if any(lost):
        texts.append(f"lost events: {sum(lost[: len(base)]):,} before, {sum(lost[len(base) :]):,} after")
    compiling = [[float(v) for v in side] for side in both("compiling")]
    if all(compiling):
        shares = [sum(side) / len(side) for side in compiling]
        if abs(shares[0] - shares[1]) > _COMPILING:
            texts.append(f"warm-up: {shares[0]:.0%} of the time before and {shares[1]:.0%} after went into compiling")
    providers = [{name for text in side for name in str(text).split()} for side in both("providers")]
    if all(providers) and providers[0] != providers[1]:
        for name, only in (("base", providers[0] - providers[1]), ("new", providers[1] - providers[0])):
            if only:
                texts.append(f"only {name} has events of {', '.join(sorted(only))}")
    return tuple(texts)
