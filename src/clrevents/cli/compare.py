"""`clrevents compare`: what changed from one recording to another, or from one group to another; and `--against` of
reports, which asks both traces the same.

Shows what `clrevents.compare` finds, and exits by conditions on it. Judges nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import click

from clrevents._util.fitting import Kind, TextColumn, fitted_table
from clrevents._util.words import counted
from clrevents.analysis.compare import comparison as wording
from clrevents.analysis.compare.change import Change, Per
from clrevents.analysis.compare.compare import compare, measure
from clrevents.analysis.compare.measured import Measured, is_saved, save_measured, saved_measured
from clrevents.analysis.framework.model.declaration import AnyReport
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.cli import options
from clrevents.cli.output import UNMET, UNTOLD, Output, safe, say, write_file
from clrevents.cli.reading import Reading, means_many, refuse_overwriting, usage_errors
from clrevents.cli.report_rows import LIMIT, ReportOptions, write_csv
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.export.page.comparison_page import comparison_page
from clrevents.export.page.page_flames import PageStacks

_LIMIT: Final = 12
_AGAINST: Final = "--against"


class _Sides(click.Command):
    """Takes every file behind `--against`, up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given: list[str] = []
        base = False
        for place, arg in enumerate(args):
            if arg == "--":
                given += args[place:]
                break
            if arg == _AGAINST:
                base = True
                if place + 1 == len(args) or (args[place + 1].startswith("-") and args[place + 1] != "-"):
                    raise click.UsageError(f"{_AGAINST} takes the recordings before", ctx)
            elif base and (arg == "-" or not arg.startswith("-")):
                given += [_AGAINST, arg]
            else:
                base = False
                given.append(arg)
        return super().parse_args(ctx, given)


@click.command(name="compare", cls=_Sides)
@click.argument("new", nargs=-1, required=True, metavar="NEW...")
@click.option(_AGAINST, "base", multiple=True, metavar="BASE...", help="The recordings before: one, or a group.")
@click.option(
    "--per",
    metavar="WHAT",
    help="Divide amounts by this: request, second, none, or a start event of the program's own, such as OrderStart. "
    "[default: request if all recordings have some, else second]",
)
@options.limit("Show at most N lines of each table.", _LIMIT)
@options.json("Write everything as one JSON object.")
@options.wide
@options.form
@click.option(
    "-o",
    "--output",
    "page",
    metavar="OUT",
    help="Write a page with flame graphs of what changed; - for standard output.",
)
@click.option(
    "--save",
    metavar="OUT",
    help="Save what is compared of NEW, one or several, as a small .json file, to be BASE later.",
)
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 4 if anything got worse ('regressed'), or if this holds for the relative change of a metric "
    "('gc.pause_total>5%') or of a row ('methods:Shop.*>5%'); repeatable.",
)
@click.option(
    "--confirm",
    nargs=2,
    metavar="BASE NEW",
    help="A second recording of each side: what differs is what differs in both pairs.",
)
@click.option("--strict", is_flag=True, help="Exit with 5 if it cannot be told whether a condition holds.")
@options.errors
def command(
    new: tuple[str, ...],
    base: tuple[str, ...],
    per: Per | None,
    limit: int,
    as_json: bool,
    form: str,
    page: str | None,
    save: str | None,
    conditions: tuple[str, ...],
    confirm: tuple[str, str] | None,
    strict: bool,
    errors: ErrorMode,
) -> int:
    """Compare recordings before and after a change: NEW against BASE, or the first of two recordings with the second.

    One recording against one says what differs between these two; groups, such as four against four or six against
    three, say what changed. A change is told from chance by blocks of time, or by recordings, and for each number the
    smallest change is given that would have been seen.

    \b
    What differs between these two?
        clrevents compare after.nettrace --against before.nettrace
    Did the branch change anything? As a comment on the pull request:
        clrevents compare branch/*.nettrace --against main/*.nettrace --format md
    Keep a baseline, and fail if pauses got longer by more than a tenth:
        clrevents compare before.nettrace --save main.json
        clrevents compare after.nettrace --against main.json --fail-on 'gc.pause_total>10%'
    Keep several runs, and fail if a method of the shop takes more time by a twentieth:
        clrevents compare main/*.nettrace --save main.json
        clrevents compare branch/*.nettrace --against main.json --fail-on 'methods:Shop.*>5%'
    Fail if anything got worse for each order:
        clrevents compare branch/*.nettrace --against main/*.nettrace --per OrderPlaced --fail-on regressed
    As a page, with flame graphs as wide as what changed:
        clrevents compare after.nettrace --against before.nettrace -o changed.html
    Only what a second recording of each shows, too:
        clrevents compare after.nettrace --against before.nettrace --confirm before2.nettrace after2.nettrace

    Exit status: 4 if a condition of --fail-on holds, 5 with --strict if that cannot be told.
    """
    if as_json and form != "text":
        raise click.UsageError("--json and --format are mutually exclusive")
    if not base and save is None:
        if len(new) != 2:
            raise click.UsageError(f"compare with what? {_AGAINST} BASE takes what was before, --save OUT saves one")
        base, new = new[:1], new[1:]
    if confirm and not base:
        raise click.UsageError(f"--confirm is about recordings that are compared; {_AGAINST} BASE takes those before")
    if page is not None:
        if not base:
            raise click.UsageError(f"-o writes a page about what is compared; {_AGAINST} BASE takes what was before")
        if page == "-" and (as_json or form != "text"):
            raise click.UsageError("only one of the page and --json or --format can be standard output")
    if strict and not conditions:
        raise click.UsageError("--strict is about the conditions of --fail-on")
    refuse_overwriting(page, *base, *new, *(confirm or ()))
    if save is not None and not is_saved(save):
        raise click.UsageError("--save writes a .json file")
    refuse_overwriting(save, *base, *new)
    stacks: tuple[list[PageStacks], list[PageStacks]] = [], []
    after = _measured(new, errors, stacks[1] if page else None)
    if save is not None:
        save_measured(after, save)
        metrics, rows = (sum(len(getattr(one, kind)) for one in after) for kind in ("metrics", "rows"))
        say(f"{save}: {counted(metrics, 'metric')} and {counted(rows, 'row')} of {counted(len(after), 'recording')}")
        if not base:
            return 0
    before = _measured(base, errors, stacks[0] if page else None)
    second = None
    if confirm is not None:
        try:
            one, other = _measured(confirm, errors)
        except ValueError:
            raise click.UsageError("--confirm takes one recording of each side") from None
        second = one, other
    with usage_errors(ValueError):
        tables = {table for text in conditions if (table := wording.rows_of(text)) is not None}
        comparison = compare(before, after, per=per, tables=tables, confirm=second)
        failed, unknown = comparison.failing(*conditions)
    if page is not None:
        data = comparison_page(comparison, *stacks)
        write_file(page, data, f"{counted(len(data), 'byte')}; open it in a browser", [*base, *new])
    with Output() as out:
        if as_json:
            out.json(comparison.to_dict_of_rows())
        elif form == "md":
            out.lines(comparison.markdown().split("\n"))
        elif page is None:
            show_comparison(out, comparison, limit)
    for text in (*failed, *unknown):
        say(text)
    return UNMET if failed else UNTOLD if unknown and strict else 0


def _measured(files: Sequence[str], errors: ErrorMode, stacks: list[PageStacks] | None = None) -> list[Measured]:
    """What is compared of recordings; and their stacks, where there is a list for them."""

    def asked(reading: Reading) -> Measured:
        measured = measure(reading.trace)
        if stacks is not None:
            stacks.append(PageStacks.of(reading.trace))
        return measured

    return [one for file in files for one in measured_file(file, errors, frozenset(), asked)[0]]


_FITTED: Final[tuple[tuple[Kind, int], ...]] = (
    *(("name", 0), ("number", 3), ("number", 2), ("number", 0)),
    *(("word", 0), ("number", 0)),
)
"""Of `HEAD`: where there is no room for all, the base goes first: it follows from the others."""
_ALONE: Final[Mapping[str, str]] = {
    **{name: f"--{name}" for name in ("table", "columns", "sort", "chart", "facts", "symbols")},
    **{"beside": "--with", "raw_units": "--raw-units", "conditions": "--assert"},
}
"""Options that are about the answer on one trace."""
_COLUMNS: Final = (
    *("family", "name", "unit", "base", "new", "change", "low", "high", "verdict", "towards", "smallest", "within"),
    "reason",
)
"""Of rows as CSV."""


def show_comparison(out: Output, comparison: wording.Comparison, limit: int, every: bool = False) -> None:
    """At most `limit` lines of each table: of rows those that differ, or with `every` all, with their intervals."""
    out.text(out.bold(comparison.facts.headline))
    if comparison.caveat is not None:
        out.text(comparison.caveat)
    out.facts(list(wording.sides(comparison)))
    for warning in comparison.warnings:
        out.text(f"! {warning}", 2)
    shown = list(comparison.rows) if every else wording.told_rows(comparison.rows)
    for table, rows in wording.by_table(shown, limit):
        out.line()
        _table(out, comparison, rows, table, list(map(wording.indented, rows)), every)
        if (whole := sum(row.family == table for row in shown)) > len(rows):
            out.line(f"{len(rows):,} of {whole:,} {table} (-n shows more)")
    changes = wording.ordered(comparison.changes)
    if changes:
        out.line()
        _table(out, comparison, changes[:limit], wording.HEAD[0], [change.key for change in changes[:limit]], every)
        if len(changes) > limit:
            out.line(f"{limit:,} of {counted(len(changes), 'metric')} (-n shows more)")
    unlike = wording.lacking(comparison)
    compared = [*map(str, comparison.proposals), *wording.reasons(comparison), *wording.row_counts(comparison)]
    texts = [*compared, *(f"not comparable: {note.message}" for note in unlike)]
    if texts:
        out.line()
    for text in texts:
        out.text(text, 2)
    for record in dict.fromkeys(note.record for note in unlike if note.record):
        out.text(f"record with --providers {record}", 2)


def _table(
    out: Output, comparison: wording.Comparison, changes: list[Change], title: str, names: list[str], every: bool
) -> None:
    rows = [wording.cells(change, comparison.per, name) for change, name in zip(changes, names, strict=True)]
    columns = [
        TextColumn(heading, [safe(row[place]) for row in rows], *_FITTED[place])
        for place, heading in enumerate((title, *wording.HEAD[1:]))
    ]
    if every:
        columns.insert(4, TextColumn("interval", list(map(wording.interval_text, changes)), "number", 4))
    out.fitted(fitted_table(columns, out.table_width), "; --wide shows it")


def measured_file(
    file: str, errors: ErrorMode, fail_on: frozenset[str], ask: Callable[[Reading], Measured]
) -> tuple[list[Measured], int]:
    """What saved answers say, or `ask` of a recording; and the exit code that its problems mean."""
    with usage_errors(KeyError, TypeError, ValueError):
        if is_saved(file):
            return saved_measured(file), 0
        with Reading(file, errors) as reading:
            try:
                measurements = ask(reading)
            except (DamageError, PayloadError):
                say(f"{reading.name}: damaged, so it cannot be compared; --errors salvage compares what is left")
                raise
            return [measurements], reading.finish(fail_on)


def write_against(
    declared: AnyReport,
    parameters: Mapping[str, object],
    file: str,
    against: str,
    per: Per | None,
    wanted: ReportOptions,
) -> int:
    """Compare both traces, write the rows, and return the exit code."""
    for name, option in _ALONE.items():
        if getattr(wanted, name):
            raise click.UsageError(f"{option} is about one trace; leave it out with --against")
    if wanted.as_csv and wanted.as_json:
        raise click.UsageError("--csv and --json are mutually exclusive")
    if means_many(file):
        raise click.UsageError("--against compares one trace with one")
    refuse_overwriting(None, file, against)

    def asked(reading: Reading) -> Measured:
        given = {"start": wanted.start, "end": wanted.end, "process_id": reading.process_id(wanted.process)}
        window: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        return measure(reading.trace, report=declared.name, **parameters, **window)

    base, old = measured_file(against, wanted.errors, wanted.fail_on, asked)
    new, worst = measured_file(file, wanted.errors, wanted.fail_on, asked)
    with usage_errors(ValueError):
        comparison = compare(base, new, per=per)
    with Output() as out:
        if wanted.as_json:
            out.json(comparison.to_dict_of_rows())
        elif wanted.as_csv:
            known = {column.name: column for column in columns_of(Change)}
            write_csv(out, comparison.rows[: wanted.limit], [known[name] for name in _COLUMNS], wanted.spreadsheet)
        else:
            show_comparison(out, comparison, LIMIT if wanted.limit is None else wanted.limit, every=True)
    return max(old, worst)
