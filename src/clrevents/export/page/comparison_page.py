"""A comparison → one page: the verdicts as tables, and flame graphs as wide as what changed.

Judges nothing. Without stacks, as of saved answers, the page has the tables only, and says so.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Final

from clrevents._util.outputs import refuse_replacing, whole_file
from clrevents._util.version import __version__
from clrevents._util.words import counted
from clrevents.analysis.compare import comparison as wording
from clrevents.analysis.compare.change import Change, Recording
from clrevents.analysis.compare.comparison import Comparison
from clrevents.export.page.page_assembly import PageTexts, assembled_page, shown_text
from clrevents.export.page.page_flames import PageStacks, differences
from clrevents.trace import Trace

_SCRIPTS: Final = ("page_parts.js", "page_tables.js", "page_flames.js", "comparison.js")
_ROWS: Final = 500
_ABOUT: Final[tuple[tuple[str, bool, Callable[[Change], float | None] | None], ...]] = (
    ("What was compared.", False, None),
    ("Before.", True, lambda change: change.base),
    ("Now.", True, lambda change: change.new),
    ("The difference as a share of what it was before.", True, lambda change: change.relative(change.change)),
    ("Whether that is more than chance.", False, None),
    ("The smallest change that would have been seen.", True, lambda change: change.relative(change.smallest)),
)
"""Of the columns of `HEAD`: what they are, whether numbers stand in them, and by what they are sorted."""
_INTERVAL: Final = "The change lies in this interval, in 95 of 100 comparisons."


def write_comparison(
    found: Comparison,
    path: str | os.PathLike[str],
    *,
    base: Trace | Sequence[Trace] = (),
    new: Trace | Sequence[Trace] = (),
) -> None:
    """Write the comparison `found` as one HTML page, which loads nothing from elsewhere.

    With the traces that were compared, as `base` and `new`, it has flame graphs of what changed between them, too. The
    file at `path` appears whole or not at all. Raises OSError where it cannot be written, ValueError if it is one of
    the traces, and SourceError where a trace cannot be read again.
    """
    traces = [[side] if isinstance(side, Trace) else list(side) for side in (base, new)]
    inputs = [one.path for one in (*found.base, *found.new)]
    refuse_replacing(path, *inputs)
    stacks = [[PageStacks.of(trace) for trace in side] for side in traces]
    with whole_file(path, *inputs) as file:
        file.write(comparison_page(found, *stacks))


def comparison_page(comparison: Comparison, base: Sequence[PageStacks] = (), new: Sequence[PageStacks] = ()) -> bytes:
    """The page that `write_comparison` writes: the same bytes for the same comparison and the same stacks.

    Stacks are drawn if there are those of every recording.
    """
    texts = PageTexts()
    flames = []
    if (len(base), len(new)) == (len(comparison.base), len(comparison.new)):
        scales = _scale(comparison.new), _scale(comparison.base)
        flames = differences(base, new, scales, wording.per_text(comparison.per))
    changes = wording.ordered(comparison.changes)
    tables = [_table(comparison, "metrics", changes, [one.key for one in changes], texts)] if changes else []
    for family, rows in wording.by_table(comparison.rows, _ROWS):
        tables.append(
            _table(comparison, family, rows, [wording.indented(row).replace("  ", "\u2003") for row in rows], texts)
        )
    unlike = [
        f"not comparable: {note.message}" + (f"; record with --providers {note.record}" if note.record else "")
        for note in wording.lacking(comparison)
    ]
    data = {
        "title": shown_text(f"{wording.named(comparison.base)} → {wording.named(comparison.new)}"),
        "producer": f"clrevents {__version__}",
        "headline": shown_text(comparison.facts.headline),
        "alarms": len(comparison.alarms),
        "facts": [(name, shown_text(value)) for name, value in wording.sides(comparison)],
        "warnings": [shown_text(text) for text in (comparison.caveat, *comparison.warnings) if text],
        "sentences": [
            shown_text(text)
            for text in (*map(str, comparison.proposals), *wording.reasons(comparison), *wording.row_counts(comparison))
        ],
        "lacking": [shown_text(text) for text in unlike],
        "tables": tables,
        "flames": flames,
        "texts": texts.all,
    }
    return assembled_page("comparison.html", ("page.css",), _SCRIPTS, data, flames=True)


def _scale(side: Sequence[Recording]) -> float:
    """What weights of a side are multiplied by: its recordings are one after another."""
    return 1 / sum(one.divisor for one in side)


def _table(
    comparison: Comparison, name: str, changes: Sequence[Change], names: Sequence[str], texts: PageTexts
) -> dict[str, object]:
    rows = [wording.cells(change, comparison.per, shown) for change, shown in zip(changes, names, strict=True)]
    columns = [
        _column(title, about, right, [row[place] for row in rows], texts, value and list(map(value, changes)))
        for place, (title, (about, right, value)) in enumerate(zip((name, *wording.HEAD[1:]), _ABOUT, strict=True))
    ]
    columns.insert(4, _column("interval", _INTERVAL, True, list(map(wording.interval_text, changes)), texts, None))
    whole = len(changes) if name == "metrics" else sum(row.family == name for row in comparison.rows)
    how = f"{len(changes):,} of {counted(whole, 'row')}" if whole > len(changes) else ""
    return {
        "name": name,
        "about": "",
        "how": how,
        "command": "clrevents compare --json",
        "lossy": [],
        "columns": columns,
    }


def _column(
    title: str, about: str, right: bool, shown: Sequence[str], texts: PageTexts, values: list[float | None] | None
) -> dict[str, object]:
    column: dict[str, object] = {"name": title, "title": title, "about": about, "right": right}
    column["texts"] = [None if text == "-" else texts.place(text) for text in shown]
    if values is not None and all(value is None or math.isfinite(value) for value in values):
        column["values"] = values
    return column
