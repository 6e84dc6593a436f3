"""`clrevents flame`: a flame graph, or a file for a viewer. Parses options; `analysis` and `export` do the work.

Says which samples are shown, what is missing from them, and how sure their weights are.
"""

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

import click

import clrevents
from clrevents._util.words import amount_text, counted
from clrevents.analysis.framework.model.needs import BY_MACHINE, record_needs
from clrevents.analysis.shared.samples.sample_collector import KINDS
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples, read_samples, stacked_events
from clrevents.analysis.shared.samples.stack_shapes import SEPARATOR, StackShape, chosen_states
from clrevents.analysis.shared.weights.allocations import ALLOC, NEEDED, NEEDED_RARE, certainty
from clrevents.analysis.shared.weights.weighing import ON_PROCESSOR, SAFE_POINT_CAVEAT
from clrevents.analysis.shared.weights.weight_fields import ALONE, CPU_TIME, OFF_CPU, event_and_weight
from clrevents.cli import options
from clrevents.cli.output import safe, say, write_file
from clrevents.cli.reading import Reading, refuse_overwriting, usage_errors
from clrevents.errors import AmbiguousEventError, UnknownEventError
from clrevents.export.file_formats import file_format, near_suffix
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.look import Look, summary
from clrevents.schema.registry import short_event

_SHOWN: Final = 8
_RECORD: Final = record_needs((NEEDED, NEEDED_RARE))


def _pattern(name: str, help: str) -> options.Option:
    return click.option(f"--{name}", multiple=True, metavar="PATTERN", help=f"{help} Repeatable.")


class Chosen(NamedTuple):
    """Which samples, by their event, weight, threads and time, by what their threads did and what is on their stacks;
    which frames are shown, and whether creators of tasks are shown as their callers."""

    event: str | None
    weight: str | None
    threads: tuple[int, ...]
    start: str | None
    end: str | None
    running: bool
    waiting: bool
    state: str | None
    kind: str | None
    group: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    fold: tuple[str, ...]
    my_code: bool
    artefacts: bool
    logical: bool
    fold_kernel: bool
    process: str | None

    def shape(self) -> StackShape:
        """The parsed patterns. Raises ValueError for an invalid one."""
        group, include, exclude, fold = (
            SEPARATOR.join(texts) if texts else None for texts in (self.group, self.include, self.exclude, self.fold)
        )
        return StackShape.of(group, include, exclude, fold, self.my_code, self.fold_kernel)


def samples_of(reading: Reading, chosen: Chosen) -> Samples:
    """The samples selected by the options. Raises UsageError for invalid options, and if there are no samples."""
    event, weight = chosen.event, chosen.weight
    if weight not in (None, CPU_TIME, *ALONE) and event is None:
        raise click.UsageError("--by with a field requires --event: profiler samples are weighted by time")
    with usage_errors(KeyError, TypeError, ValueError):
        away = event is None and weight == OFF_CPU
        states = chosen_states(chosen.running, chosen.waiting, chosen.state, away)
        shape = chosen.shape()
        if states is not None and (event or weight not in (None, CPU_TIME)) and not away:
            raise click.UsageError("only profiler samples show whether a thread ran or waited")
        samples = read_samples(
            *(reading.trace, event, weight),
            thread_id=chosen.threads or None,
            start=chosen.start,
            end=chosen.end,
            artefacts=chosen.artefacts,
            logical=chosen.logical,
        )
        if states is not None and samples.on_processor and not samples.by_counts:
            raise click.UsageError(ON_PROCESSOR)
        if states is not None and len(samples):
            samples = samples.in_states(*states)
        process = reading.process_id(chosen.process)
        if process is not None:
            samples = samples.of_process(process)
        if chosen.kind is not None:
            samples = samples.of_kind(chosen.kind)
        samples = samples.in_shape(shape)
    if not len(samples):
        raise click.ClickException(safe(_nothing(reading, event, weight)))
    return samples


def say_what_is_missing(samples: Samples) -> None:
    """Reports callers and names that are missing from the trace, and how to record names next time."""
    if samples.cut_text is not None:
        say(samples.cut_text)
    if samples.unawaited_text is not None:
        say(samples.unawaited_text)
    if samples.advice is not None:
        nameless = samples.nameless
        frames = counted(len(samples.frames), "frame")
        say(f"{nameless:,} of {frames} {'has' if nameless == 1 else 'have'} no name: {samples.advice}")


def say_how_sure(samples: Samples, weight: str | None) -> None:
    """Says that allocated bytes are not exact, or stacks seen late, if they are."""
    if samples.at_safe_points:
        say(SAFE_POINT_CAVEAT)
    caveat = certainty(samples.event) if weight == ALLOC else None
    if caveat is not None:
        say(caveat)


def _nothing(reading: Reading, event: str | None, weight: str | None) -> str:
    """Why there is nothing to show, and what is available instead."""
    trace = reading.trace
    if event is None:
        event, weight = event_and_weight(weight)
    name = "ThreadSample" if event is None else event.rpartition("/")[2]
    if event is None and weight == ALLOC:
        text = f"{reading.name} has no allocation event that matches these options"
        return f"{text}; to record some: dotnet-trace collect --providers {_RECORD}"
    if event is None and weight == OFF_CPU:
        return f"{reading.name} has no context switch that matches these options; {BY_MACHINE}"
    counts = trace.event_counts()
    if any(trace_event.name == name for trace_event in counts) or (event is None and not counts):
        return f"no {name} event in {reading.name} matches these options"
    kinds = stacked_events(trace)
    text = f"{reading.name} has no {name} event"
    if event is None:
        text += " (the provider Microsoft-DotNETCore-SampleProfiler writes them)"
    if not kinds:
        return f"{text}, and no event with a stack"
    most = ", ".join(f"{short_event(*kind)} ({count:,})" for kind, count in list(kinds.items())[:_SHOWN])
    return f"{text}; events with stacks, for --event: {most}"


_OPENS: Final[dict[str, str]] = {
    "speedscope": "; open it at https://www.speedscope.app",
    "html": "; open it in a browser",
    "pprof": "; open it with `go tool pprof`",
}


@click.command(name="flame")
@options.file
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The file to write; - for standard output.")
@click.option(
    "-f", "--format", "format", type=click.Choice(FLAME_FORMATS), help="Format of OUT. [default: by its suffix]"
)
@click.option("--merge-threads", is_flag=True, help="Merge all threads.")
@click.option("--cpu", is_flag=True, help="Draw processor time, where the operating system's counts were recorded.")
@click.option("--off-cpu", is_flag=True, help="Draw what threads were off a processor for; Linux recordings only.")
@click.option("--logical", is_flag=True, help="Follow tasks and awaits to where they were created.")
@options.against("Another trace: show what changed since; html only.")
@click.option("--event", metavar="SELECTOR", help="Use this event's stacks. [default: the sample profiler's]")
@options.process
@click.option(
    "--by",
    "--weight",
    "weight",
    metavar="alloc|exceptions|off-cpu|FIELD",
    help="Weight by bytes allocated, exceptions thrown (ExceptionType: by type), time off a processor, or a field of "
    "--event. [default: 1 per event]",
)
@options.threads
@options.window
@click.option("--raw", is_flag=True, help="Show methods as the runtime writes them, prefixed with their module.")
@click.option("--running", is_flag=True, help="Only threads that were running managed code.")
@click.option("--waiting", is_flag=True, help="Only threads that were waiting, in a method known to wait.")
@click.option("--state", metavar="STATE", help="Only threads in this state, such as lock or native.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Only samples whose innermost frame is this kind of code; only recordings of machines tell.",
)
@_pattern("group", "Show methods that match as one: PATTERN->NAME or PATTERN=>NAME.")
@_pattern("include", "Only samples whose stacks have a method that matches.")
@_pattern("exclude", "Only samples whose stacks have no method that matches.")
@_pattern("fold", "Remove methods that match from stacks; their weight goes to their callers.")
@click.option(
    "--fold-kernel",
    is_flag=True,
    help="Show the kernel's frames of a stack as one: the system call, page fault or interrupt.",
)
@click.option("--my-code", is_flag=True, help="Leave out frames of the runtime and the framework.")
@click.option(
    "--artefacts",
    is_flag=True,
    help="Keep the runtime's suspension and exception-dispatch frames, and those that dispatch async methods.",
)
@options.reading(options.beside, options.symbols)
def command(
    file: str,
    out: str,
    format: FlameFormat | None,
    merge_threads: bool,
    cpu: bool,
    off_cpu: bool,
    against: str | None,
    raw: bool,
    **given: Any,
) -> int:
    """Write a flame graph of where time is spent, or of what allocates, throws or waits.

    Without -f, the suffix of OUT selects the format: .html (self-contained page), .json (speedscope), .folded,
    .pb.gz (pprof). Append .gz to compress the output.

    \b
    One thread during two seconds, as a page:
        clrevents flame app.nettrace --thread 4711 --start 10s --end 12s -o t4711.html
    Allocations, in bytes:
        clrevents flame app.nettrace --by alloc -o alloc.json.gz
    What waits cost, in the recording of a Linux machine:
        clrevents flame app.linux.nettrace --off-cpu -o waits.html
    Across awaits, down to what started each task:
        clrevents flame app.nettrace --logical --merge-threads -o async.html
    What takes more and what takes less than in another trace:
        clrevents flame after.nettrace --against before.nettrace -o changed.html

    A PATTERN is a method's name, such as Shop.Cart.Pay, its end, Pay, or has * for any text and ? for one character.

    The sample profiler records each managed thread, running or waiting: widths are wall-clock time. --running and
    --waiting select one of these.
    """
    kind = format or file_format(out, "flame")
    if kind not in FLAME_FORMATS:
        near = near_suffix(out, "flame")
        meant = f"; did you mean {near!r}? Else" if near else ";"
        raise click.UsageError(f"cannot tell the format of {out} by its suffix{meant} use -f {'|'.join(FLAME_FORMATS)}")
    refuse_overwriting(out, file, against)
    own = [("--cpu", CPU_TIME)] * cpu + [("--off-cpu", OFF_CPU)] * off_cpu
    if own and (given["event"] or given["weight"] or own[1:]):
        raise click.UsageError(f"{own[-1][0]} is a weight of its own; use it without --cpu, --by and --event")
    how = options.how_to_read(given)
    chosen = Chosen(**given)
    chosen = chosen._replace(weight=own[0][1]) if own else chosen
    before, worst = None, 0
    if against is not None:
        if kind != "html":
            raise click.UsageError(f"two traces are compared on a page only; use -f html, not {kind}")
        if chosen.threads:
            raise click.UsageError("numbers of threads mean nothing in another trace; use --against without --thread")
        with Reading(against, **{**how, "beside": None}) as other:
            before_name = os.path.basename(other.name)
            try:
                before = before_name, samples_of(other, chosen)
            except (click.UsageError, UnknownEventError, AmbiguousEventError) as error:
                raise click.UsageError(safe(f"{before_name}: {error}")) from None
            worst = other.finish()
    with Reading(file, **how) as reading:
        samples = samples_of(reading, chosen)
        title = os.path.basename(reading.name)
        look = Look(title, f"clrevents {clrevents.__version__}", merge_threads, raw, reading.trace.info.start)
        with usage_errors(ValueError):
            data = flame_bytes(samples, kind, look, out.lower().endswith(".gz"), before)
        code = max(worst, reading.finish())
        whole = amount_text(samples.total, {"nanoseconds": "ns"}.get(samples.unit, samples.unit))
        total = "" if samples.unit == "count" else f", {whole} in total"
        write_file(out, data, f"{summary(samples)}{total}{_OPENS.get(kind, '')}", [file, how["beside"], against])
        say_how_sure(samples, chosen.weight)
        say_what_is_missing(samples)
        return code
