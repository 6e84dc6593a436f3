"""`clrevents doctor`: what is wrong with a program, from one trace, a running process, or many traces.

Shows what `Trace.doctor` finds, and exits by what it names. Judges nothing itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from clrevents._util.fitting import TextColumn, fitted_table, shortened
from clrevents._util.words import amount_text, counted
from clrevents.analysis.doctor.diagnosing import BROKEN, asked_of, concluded, doctor, rules_of
from clrevents.analysis.doctor.diagnosis import (
    COLUMNS,
    MOST,
    Diagnosis,
    detail_lines,
    diagnosis_lines,
    headline,
    short_lines,
)
from clrevents.analysis.doctor.rule import TRACE, Rule
from clrevents.analysis.framework.model.conditions import limit_of
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.model.needs import SeenKind, SeenKinds
from clrevents.analysis.framework.render.show import note_text
from clrevents.analysis.framework.run.feeding import ReportFeed
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.cli import options
from clrevents.cli.output import UNMET, Output, safe, say
from clrevents.cli.reading import Reading, ReadingMany, means_many, refuse_many_with, usage_error, usage_errors
from clrevents.errors import DamageError, ErrorMode, PayloadError, TraceError
from clrevents.trace import EARLY_NAMES, Decoder, Trace, learn_early, pass_of

_EVERY: Final = 1.0
_SHARE: Final = 0.2
"""The most that reading and judging may take of the time."""
_PIECE: Final = 1 << 18


class _Limits(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """`RULE[:IMPACT],…` → impacts by rules, with a unit or None; `>=` says the same as the colon."""

    name = "RULES"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        metrics: dict[str, Metric | None] = {}
        for part in filter(None, (text.strip() for text in value.split(","))):
            name, _, limit = (text.strip() for text in part.replace(">=", ":").partition(":"))
            try:
                rules_of([name])
                metrics[name] = limit_of(limit) if limit else None
            except ValueError as error:
                self.fail(safe(str(error)), param, ctx)
        return metrics


def _fitting_rules(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[Rule, ...]:
    with usage_errors(ValueError):
        return rules_of(value)


@click.command(name="doctor")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    callback=_fitting_rules,
    help="Ask this rule only, such as gc.pause_ratio or gc.*, and explain it; repeatable.",
)
@click.option(
    "--fail-on",
    "limits",
    type=_Limits(),
    multiple=True,
    metavar="RULES",
    callback=lambda _context, _option, limits: {rule: limit for each in limits for rule, limit in each.items()},
    help="Exit with 4 if one of these rules found something, comma-separated or repeated; with RULE:IMPACT or "
    "RULE>=IMPACT, such as gc.pause_ratio:5% or lock.waited:200ms, if it costs that much.",
)
@options.window
@options.process
@options.beside
@options.symbols
@options.limit("Show at most N findings.", MOST)
@options.json("Write everything as one JSON object; one per line for many.")
@options.form
@options.wide
@click.option(
    "-o",
    "--output",
    "out_file",
    metavar="FILE",
    help="For a process: where to keep the recording. [default: NAME_DATE_TIME.nettrace]",
)
@options.jobs
@options.errors
@options.live("after Ctrl-C")
def command(
    files: tuple[str, ...],
    rules: tuple[Rule, ...],
    limits: dict[str, Metric | None],
    beside: str | None,
    symbols: tuple[str, ...],
    limit: int,
    as_json: bool,
    form: str,
    out_file: str | None,
    jobs: int | None,
    errors: ErrorMode,
    **given: Any,
) -> int:
    """Say what is wrong with a program: what was found, what it costs, who is behind it, and what to do.

    Every finding is measured in the trace and names the command that shows its evidence. A rule that lacks events says
    so, which differs from having found nothing.

    \b
    What is wrong with this program?
        clrevents doctor app.nettrace
    With the one that runs as process 4711? Records it, judges, and keeps the recording:
        clrevents doctor -p 4711 --duration 30s -o app.nettrace
    What does a rule look at, and when is it wrong?
        clrevents doctor app.nettrace --rule gc.large_objects
    In CI: fail if threads deadlock, or if collections take more than a tenth of the time:
        clrevents doctor app.nettrace --fail-on lock.deadlock,gc.pause_ratio:10%
    Which of many traces shows what?
        clrevents doctor night/

    Exit status: 4 if a rule of --fail-on found something.
    """
    live = options.LiveQuestion.taken_from(given)
    if live.wanted == bool(files):
        raise click.UsageError("give either a trace, or a running process with -p (see `clrevents ps`)")
    if out_file is not None and not live.wanted:
        raise click.UsageError("-o says where to keep the recording of a process: name one with -p")
    if as_json and form != "text":
        raise click.UsageError("--json and --format are mutually exclusive")
    for name in limits:
        if name not in {rule.id for rule in rules}:
            raise click.UsageError(f"--fail-on {name}: --rule leaves it out")
    process = given.pop("process")
    window: WindowOptions = {"start": given["start"], "end": given["end"]}
    names = [rule.id for rule in rules]
    explained = click.get_current_context().get_parameter_source("rules") is click.core.ParameterSource.COMMANDLINE

    def write(diagnosis: Diagnosis) -> int:
        with Output() as out:
            if as_json:
                out.json(diagnosis.to_dict())
            elif form == "md":
                out.lines(diagnosis.markdown().split("\n"))
            elif explained:
                out.lines(detail_lines(diagnosis, out.width))
            else:
                head = headline(diagnosis)
                lines = diagnosis_lines(diagnosis, out.width, limit)
                out.lines(out.bold(line) if line == head else line for line in lines)
        for note in diagnosis.notes:
            if note.id == BROKEN and not as_json:
                say(safe(note_text(note)))
        return _failed(diagnosis, limits)

    if len(files) > 1 or (files and means_many(files[0])):
        refuse_many_with(beside, True)
        if form != "text" or explained:
            raise click.UsageError("--format and --rule are about one trace")
        return _many(files, window, names, limits, as_json, jobs, errors, symbols)
    if live.wanted:
        # Who asks about a file need not load what records.
        from clrevents.cli.collect import record_for

        # A screen that renews itself is for people who look at it.
        looked_at = form == "text" and not as_json and sys.stdout is not None and sys.stdout.isatty()
        drawn = {"meanwhile": _drawing(rules)} if looked_at and live.duration is None else {}
        recorded = record_for("doctor", live, out_file, **drawn)
        if recorded is None:
            raise click.ClickException("nothing came from the process: has it just ended?")
        files = (str(recorded),)
    with Reading(files[0], errors, beside=beside, symbols=symbols) as reading:
        try:
            window["process_id"] = reading.process_id(process)
            diagnosis = doctor(reading.asked, *names, **window)
        except (DamageError, PayloadError) as error:
            code = reading.stopped(error, frozenset(("damage",)))
            if isinstance(error.report, Diagnosis):
                write(error.report)
            return code
        except (TypeError, ValueError) as error:
            raise usage_error(error) from None
        reading.finish(frozenset())
        return write(diagnosis)


def _drawing(rules: Sequence[Rule]) -> Callable[[Path], None]:
    """Draws what the rules find in a recording so far, when it is given the file again and again."""
    seen: list[LiveFindings] = []

    def draw(path: Path) -> None:
        if not seen:
            seen.append(LiveFindings(rules, path))
        look = seen[0].look()
        if look is not None:
            click.clear()
            with Output() as out:
                out.line(out.bold(f"so far: {headline(look)}"))
                out.lines(shortened(line, out.width or COLUMNS) for line in short_lines(look)[1:])

    return draw


def _failed(diagnosis: Diagnosis, limits: dict[str, Metric | None]) -> int:
    with usage_errors(ValueError):
        reasons = diagnosis.failing(limits)
    for reason in reasons:
        say(reason)
    return UNMET if reasons else 0


def _asked(trace: Trace, rules: Sequence[str], window: WindowOptions) -> Diagnosis:
    return doctor(trace, *rules, **window)


def _many(
    files: Sequence[str],
    window: WindowOptions,
    rules: Sequence[str],
    limits: dict[str, Metric | None],
    as_json: bool,
    jobs: int | None,
    errors: ErrorMode,
    symbols: tuple[str, ...],
) -> int:
    """A line for each finding: how many traces show it, and which one shows it best."""
    with ReadingMany(files, errors, jobs, symbols) as reading, Output() as out:
        seen: dict[str, list[tuple[str, Any]]] = {}
        known: dict[str, int] = {}
        code = 0
        for path, findings in reading.asked.each(partial(_asked, rules=tuple(rules), window=window)):
            code = max(code, _failed(findings, limits))
            if as_json:
                out.json(findings.to_dict())
            for one in findings:
                known[one.rule] = known.get(one.rule, 0) + (one.state != "cannot tell")
                if one.state == "found":
                    seen.setdefault(one.rule, []).append((path, one))
        if not as_json:
            _show_many(out, seen, known, len(reading.asked))
        return max(code, reading.finish(frozenset()))


def _show_many(out: Output, seen: dict[str, list[tuple[str, Any]]], known: dict[str, int], traces: int) -> None:
    ranked = sorted(seen.items(), key=lambda item: -len(item[1]))
    out.text(out.bold(f"{counted(len(ranked), 'rule')} found something in {counted(traces, 'trace')}"))
    rows = []
    for rule, shown in ranked:
        path, worst = max(shown, key=lambda pair: pair[1].impact.value)
        impact = amount_text(worst.impact.value, worst.impact.unit)
        rows.append((rule, f"{len(shown)} of {known[rule]}", impact, worst.culprit or "-", path))
    if rows:
        heads = ("rule", "traces", "worst", "culprit", "in")
        kinds = ("word", "number", "number", "name", "name")
        columns = [
            TextColumn(head, [safe(row[place]) for row in rows], kinds[place], 0)  # type: ignore[arg-type]
            for place, head in enumerate(heads)
        ]
        out.line()
        out.fitted(fitted_table(columns, out.table_width))


class LiveFindings:
    """The findings of `rules` in the recording at `path`, which grows; call `look` often.

    The recording comes first: what cannot be read, or takes too long, is judged at its end.
    """

    def __init__(self, rules: Sequence[Rule], path: Path) -> None:
        self._rules = [rule for rule in rules if not rule.id.startswith(f"{TRACE}.")]
        self._path = path
        self._feed = ReportFeed(asked_of(self._rules))
        self._decoder = Decoder(*self._feed.selectors, symbols=True)
        self._place = 0
        self._named = self._broken = False
        self._began = self._shown_at = time.monotonic()
        self._spent = 0.0

    def look(self) -> Diagnosis | None:
        """What was found so far, about every second; None in between."""
        began = time.monotonic()
        if self._broken or self._spent > _SHARE * (began - self._began):
            return None
        try:
            self.read()
            if began - self._shown_at < _EVERY or self._decoder.info is None:
                return None
            self._shown_at = began
            return self.judged()
        except (TraceError, OSError):
            self._broken = True
            return None
        finally:
            self._spent += time.monotonic() - began

    def read(self) -> bool:
        """Take the next bytes; whether there were any. Raises TraceError and OSError."""
        with self._path.open("rb") as file:
            file.seek(self._place)
            piece = file.read(_PIECE)
        self._place += len(piece)
        self._feed.take(self._decoder, self._decoder.feed(piece) if piece else self._decoder.flush())
        names = Path(f"{self._path}{EARLY_NAMES}")
        if not self._named and self._decoder.info is not None and names.exists():
            self._named = True
            learn_early(self._decoder, names.read_bytes())
        return bool(piece)

    def judged(self) -> Diagnosis:
        """What the rules find in what was read. Raises ValueError before the trace's header was."""
        seen = (SeenKind.of(kind) for _, kind in pass_of(self._decoder).occurred)
        kinds = SeenKinds(seen) if self._decoder.info is None else SeenKinds.of(seen, self._decoder.info)
        lost = sum(loss.count for loss in self._decoder.losses)
        known = {"lost": lost, "damaged": 0, "unended": 0, "snapshots": int(any(k.name == "GCBulkNode" for k in kinds))}
        trace = {name: Metric(value, "count") for name, value in known.items()}
        return concluded(self._feed.so_far(self._decoder), trace, self._rules, kinds)
