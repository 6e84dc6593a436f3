"""`clrevents export`: events as tables in files. Parses arguments and detects clashing outputs; `export` does the work.

Reports the result for each trace on stderr, and returns the worst exit code.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import clrevents
from clrevents._util.meter import Meter
from clrevents._util.process import usable_processors
from clrevents._util.words import counted, lost_events
from clrevents.cli import options
from clrevents.cli.output import DAMAGED, GOOD, exit_code_of, say
from clrevents.cli.reading import (
    Reading,
    damage_sentence,
    exit_code,
    refuse_many_with,
    refuse_overwriting,
    trace_source,
    usage_errors,
)
from clrevents.errors import ErrorMode
from clrevents.export.file_formats import SUFFIXES, VIEWERS, file_format, near_suffix
from clrevents.schema.registry import short_event

if TYPE_CHECKING:
    from clrevents.export.files.lake import Job, Outcome
    from clrevents.export.files.tables import Options

_LISTED: Final = 8
_TRACES: Final = (".nettrace", ".netperf")


@click.command(name="export")
@click.argument("things", nargs=-1, required=True, metavar="FILE... [NAME]...")
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="A folder, or a file for a single table.")
@click.option(
    "--format",
    "format",
    type=click.Choice(tuple(dict.fromkeys(SUFFIXES["table"].values()))),
    help="File format. [default: by OUT's suffix, or parquet]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use N processes: for N traces at a time, or for the tables of one. [default: one trace, all cores]",
)
@click.option("--skip-existing", is_flag=True, help="Skip traces already exported to OUT with these options.")
@click.option("--names", is_flag=True, help="Write enums and flags as text instead of numbers.")
@click.option("--activity-ids", is_flag=True, help="Add columns for activity and related activity ids.")
@options.process
@options.beside
@options.symbols
@click.option(
    "--snapshot",
    type=click.IntRange(min=1),
    metavar="N",
    help="Which heap snapshot to export, if there are several. [default: the last]",
)
@options.spreadsheet
@options.reading()
def command(
    things: tuple[str, ...],
    out: str,
    format: Any,
    jobs: int | None,
    skip_existing: bool,
    names: bool,
    activity_ids: bool,
    process: str | None,
    snapshot: int | None,
    spreadsheet: bool,
    **given: Any,
) -> int:
    """Write events as tables: all events of all traces to a folder, or one event to a file.

    An argument that exists as a file or has a trace's suffix is a FILE, a folder is all traces in it; any other is the
    NAME of an event, as in `clrevents events`. Without a NAME, all events are exported.

    \b
    Everything, as Parquet: OUT/<trace>/<provider>/<event>.parquet
        clrevents export app.nettrace -o out/
    Three events of many traces, eight in parallel, skipping those already done:
        clrevents export traces/*.nettrace* -o lake/ GCStart GCAllocationTick ExceptionThrown --jobs 8 --skip-existing
    One table:
        clrevents export app.nettrace -o gcs.csv GCStart
    Every event as JSON lines, as in `clrevents events --json`:
        clrevents export app.nettrace -o events.jsonl
    A heap snapshot, for the memory panel of Chrome's developer tools:
        clrevents export app.nettrace -o app.heapsnapshot
    Threads, calls, pauses, locks and the program's own events on one timeline, for https://ui.perfetto.dev
    or, with .firefox.json, for https://profiler.firefox.com:
        clrevents export app.nettrace -o app.pftrace

    Each trace's folder also has _headers (a row per event), _stacks, and _trace.json with facts about the trace.
    Folders and files appear only when complete.
    """
    from clrevents.export.files.tables import Options

    files, selectors = _told_apart(things)
    single = _single(out)
    refuse_many_with(given["beside"], len(files) != 1)
    refuse_overwriting(out, *files, given["beside"])
    if process is not None and len(files) != 1:
        raise click.UsageError("--process takes one FILE: ids and names mean nothing in another trace")
    try:
        reading = Reading(files[0], **given)
        if file_format(out, "heap"):
            if len(files) != 1 or selectors or format or process:
                raise click.UsageError(f"{out} takes one FILE, and neither NAME nor --format nor --process")
            return _heap(reading, snapshot, Path(out))
        shown = file_format(out, "timeline")
        if shown is not None:
            if len(files) != 1 or format:
                raise click.UsageError(f"{out} takes one FILE, and no --format")
            return _timeline(reading, selectors, Path(out), shown, process)
        kind: Any = single or format or "parquet"
        number = _process_id(files[0], process, given["errors"])
        wanted = Options(kind, selectors, names, len(files) == 1, activity_ids, spreadsheet, number)
        if single is None:
            if given.pop("symbols"):
                raise click.UsageError("--symbols names frames, which the tables of a folder do not have")
            return _folder(files, Path(out), wanted, jobs, skip_existing, **given)
        if format not in (None, single):
            raise click.UsageError(f"{out} does not have a suffix of --format {format}")
        if len(files) != 1 or (single != "jsonl" and len(selectors) != 1):
            these = "one FILE" if single == "jsonl" else "one FILE and one NAME"
            raise click.UsageError(f"{out} is a file, which takes {these}; give a folder for more")
        return _file(reading, selectors, Path(out), wanted)
    except OSError as error:
        # Reading raises its own exceptions, so this is about writing.
        where = f" {error.filename}" if error.filename else f" to {out}"
        say(f"cannot write{where}: {error.strerror or error}")
        return 2
    except ImportError as error:
        raise click.UsageError(str(error)) from None


def _process_id(file: str, process: str | None, errors: ErrorMode) -> int | None:
    """The number of a process; a name is looked up in the trace."""
    if process is None or process.isdecimal():
        return None if process is None else int(process)
    if file == "-":
        raise click.UsageError("standard input is read once: give the number of the process")
    with Reading(file, errors) as reading:
        return reading.process_id(process)


def _told_apart(things: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Files and names. Expands patterns that the shell did not."""
    from clrevents.fleet.trace_paths import trace_paths

    files: list[str] = []
    names: list[str] = []
    for thing in things:
        low = thing.lower().removesuffix(".gz")
        if os.path.isdir(thing):
            with usage_errors(FileNotFoundError):
                files += trace_paths(thing)
        elif thing == "-" or os.path.exists(thing):
            files.append(thing)
        elif glob.has_magic(thing) and any(ending in low for ending in _TRACES):
            files += sorted(glob.glob(thing)) or [thing]
        elif low.endswith(_TRACES):
            files.append(thing)
        else:
            names.append(thing)
    if not files:
        raise click.UsageError(f"no trace given: there is no file {names[0]!r}")
    return files, tuple(names)


def _single(out: str) -> str | None:
    """The format of a single file; None for a folder."""
    if out == "-":
        raise click.UsageError("export writes files; use `clrevents events --json` for standard output")
    if out.endswith(("/", os.sep)) or os.path.isdir(out):
        return None
    from clrevents.fleet.trace_paths import ENDINGS

    if out.lower().endswith(ENDINGS):
        raise click.UsageError(f"export writes no traces; `clrevents cut` and `clrevents redact` write {out}")
    near = near_suffix(out, "table", "timeline", "heap")
    if near is None or out.lower().endswith(near) or file_format(out, "timeline"):
        return file_format(out, "table")
    raise click.UsageError(f"{out} has the suffix of no file format; did you mean {near!r}? A folder's name ends in /")


def _file(reading: Reading, selectors: tuple[str, ...], out: Path, wanted: Options) -> int:
    from clrevents.export.files.directory import export_lines, export_table

    left_out: Mapping[tuple[str, str], int] = {}
    with reading:
        if wanted.format == "jsonl":
            count = export_lines(reading.trace, selectors, out, names=wanted.names, process_id=wanted.process_id)
        else:
            written = export_table(reading.trace, selectors[0], out, wanted)
            count, left_out = written.rows, written.left_out
        code = reading.finish()
        say(f"{out}: {counted(count, 'event')}")
        _say_left_out(out, left_out)
        return code


def _heap(reading: Reading, number: int | None, out: Path) -> int:
    from clrevents._util.outputs import whole_file
    from clrevents.analysis import heap_snapshots
    from clrevents.export.files.heapsnapshot import write_heapsnapshot

    with reading:
        snapshots = heap_snapshots(reading.trace)
        code = reading.finish()
        known = {one.number: one for one in snapshots}
        one = known.get(number or max(known, default=0))
        if one is None:
            what = "heap snapshot" if number is None else f"heap snapshot {number}"
            raise click.UsageError(f"{reading.name} has no {what}; it has {counted(len(known), 'snapshot')}")
        try:
            with whole_file(out, reading.trace.info.path) as stream:
                write_heapsnapshot(one, stream)
        except ValueError as error:
            say(str(error))
            return 3
        say(f"{out}: snapshot {one.number} of {len(known)}, {counted(len(one), 'object')}")
        return code


def _timeline(reading: Reading, selectors: tuple[str, ...], out: Path, format: Any, process: str | None) -> int:
    from clrevents._util.outputs import whole_file
    from clrevents.export.look import Look
    from clrevents.export.timeline.timeline_file import write_timeline

    with reading:
        title = os.path.basename(reading.name)
        look = Look(title, f"clrevents {clrevents.__version__}", start=reading.trace.info.start)
        with whole_file(out, reading.trace.info.path) as stream:
            asked = reading.trace, stream, look, format, selectors, out.suffix.lower() == ".gz"
            written = write_timeline(*asked, reading.process_id(process))
        code = reading.finish()
        say(f"{out}: {written.summary}; open it at {VIEWERS[format]}")
        if written.left_out:
            say(f"{out}: without {counted(written.left_out, 'row')} of reports whose beginning is not in the trace")
        return code


def _folder(
    files: list[str],
    out: Path,
    wanted: Options,
    jobs: int | None,
    skip: bool,
    *,
    beside: str | None,
    errors: ErrorMode,
    fail_on: options.FailOn,
) -> int:
    from clrevents.export.files import lake

    if out.exists() and not out.is_dir():
        raise NotADirectoryError(None, "is a file, not a folder", str(out))
    todo = lake.jobs(files, out, wanted, errors, beside)
    there = [job for job in todo if skip and job.there]
    todo = [job for job in todo if job not in there]
    code, failed, unknown = 0, 0, []
    for outcome in _outcomes(todo, jobs):
        own_code = _exit_code(outcome, fail_on)
        code = max(code, own_code)
        failed += outcome.written is None
        unknown.append(outcome.written and outcome.written.unknown)
    if unknown and all(unknown):
        # A name that at least one trace knows is not a mistake.
        say(str(unknown[0]))
        code = max(code, 1)
    if len(files) > 1 or there:
        done = len(todo) - failed
        say(f"{out}: {done} exported, {len(there)} already there, {failed} failed")
    return code


def _outcomes(todo: Sequence[Job], jobs: int | None) -> Iterator[Outcome]:
    """The result for each trace; a bar shows the progress of reading."""
    from clrevents.export.files.lake import export_side_by_side, export_trace

    sizes = {job: os.path.getsize(job.file) if os.path.isfile(job.file) else 0 for job in todo}
    total, done = sum(sizes.values()), 0
    meter = Meter(sys.stderr, what="exporting")
    piped = [job for job in todo if job.file == "-"]
    # Unless told otherwise: several traces at once also take several times the memory.
    processes = jobs or 1
    alone = todo if processes == 1 or len(todo) == 1 else piped
    of_each = jobs or usable_processors()
    try:
        for job in alone:
            progress = meter.part(done, sizes[job], total)
            if job.beside is not None:
                with Reading(job.file, job.errors, beside=job.beside) as reading:
                    reading.joined.seek(0)
                    outcome = export_trace(job, reading.joined, progress)
                    outcome = replace(outcome, problems=(*reading.damage, *outcome.problems))
            else:
                outcome = export_trace(job, trace_source("-") if job.file == "-" else None, progress, of_each)
            done += sizes[job]
            meter.close()
            yield outcome
        rest = [job for job in todo if job not in alone]
        if rest:
            for outcome in export_side_by_side(rest, processes):
                done += sizes[outcome.job]
                meter.close()
                yield outcome
                meter.tell(done, total)
    finally:
        meter.close()


def _exit_code(outcome: Outcome, fail_on: options.FailOn) -> int:
    """Reports one trace's result on stderr; returns the exit code it would give on its own."""
    name = "standard input" if outcome.job.file == "-" else outcome.job.file
    if outcome.fault is not None:
        say(f"{name}: internal error in clrevents ({outcome.fault}); set CLREVENTS_TRACEBACK=1 for a traceback")
        return 2
    if outcome.error is not None:
        say(str(outcome.error))
        code = exit_code_of(outcome.error)
        return code if fail_on or code != DAMAGED else GOOD
    if damage := [problem for problem in outcome.problems if problem.severity == "damage"]:
        say(damage_sentence(name, damage))
    if outcome.lost:
        say(f"{name}: {lost_events(outcome.lost)}")
    written = outcome.written
    assert written is not None
    sizes = counted(written.tables, "table"), counted(written.rows, "row"), counted(written.bytes, "byte")
    say(f"{outcome.job.folder}: {', '.join(sizes)}")
    _say_left_out(outcome.job.folder, written.left_out)
    return exit_code([(p.severity, p.kind) for p in outcome.problems], outcome.lost > 0, fail_on)


def _say_left_out(out: Path, left_out: Mapping[tuple[str, str], int]) -> None:
    """Reports the events that are in no table, most frequent first."""
    if not left_out:
        return
    ranked = sorted(left_out.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{short_event(*event)} ({n:,})" for event, n in ranked[:_LISTED]]
    if len(ranked) > _LISTED:
        named.append(f"{counted(len(ranked) - _LISTED, 'more kind')} (_trace.json has all)")
    events = counted(sum(left_out.values()), "event is", "events are")
    say(f"{out}: {events} in no table, with no layout or a payload that does not fit it: {', '.join(named)}")
