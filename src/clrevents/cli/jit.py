"""`clrevents jit`: what the JIT did. Parses options and lays out the report of `analysis`."""

from __future__ import annotations

from typing import Final

import click

from clrevents.analysis.jit import JitReport, jit_report
from clrevents.analysis.jit_rows import Compilation, JittedMethod
from clrevents.cli.output import Output
from clrevents.cli.reading import FailOn, errors_option, fail_on_option, file_argument
from clrevents.cli.reporting import (
    TIERS,
    mark,
    ms,
    number,
    of,
    report_options,
    run_report,
    say_losses,
    say_missing,
    say_more,
    say_nothing,
    share,
)
from clrevents.errors import ErrorMode
from clrevents.words import counted

_REASONS: Final = 8
_THREADS: Final = 8
_RECORD: Final = "0x1000001018:5"


@click.command(name="jit")
@file_argument
@report_options("Methods (or compilations) shown.")
@click.option("--compilations", is_flag=True, help="Every compilation in order of time, not added up by method.")
@click.option("--never-tiered-up", "never", is_flag=True, help="Only methods that stayed at the quick tier.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    count: int,
    raw: bool,
    as_json: bool,
    compilations: bool,
    never: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Say what the JIT compiled, when, on which thread, for how long, and what it decided on the way.

    \b
    What did the JIT do while the application started?
        clrevents jit app.nettrace
    Which methods have slow code and were never compiled again?
        clrevents jit app.nettrace --never-tiered-up
    What takes how long, for a script?
        clrevents jit app.nettrace --json | jq '.methods[0]'

    Times are from a compilation's first event to its last, on the clock. Tiers: quick is the first and unoptimized
    one, tier1 the optimized one, +instr counts to find out more, osr replaces a loop while it runs, full is optimized
    at once. Record with Microsoft-Windows-DotNETRuntime:0x3000001018:5 (compilations, decisions of the JIT, tiering,
    look-ups of precompiled code); without 0x2000000000, which is for the look-ups, traces are much smaller.
    """

    def show(out: Output, found: JitReport) -> None:
        if as_json:
            out.json(found.to_dict())
            return
        out.facts(_facts(found))
        if found.compilations:
            _sums(out, found)
            out.line()
            if compilations:
                _compilations(out, found.compilations, count)
            else:
                _methods(out, [m for m in found.methods if m.never_tiered_up or not never], count, _timed(found))
            say_missing(found.missing)
        else:
            say_nothing("compilations", _RECORD)
        say_losses(out, found.totals.lost)

    return run_report(file, errors, fail_on, lambda trace: jit_report(trace, raw=raw), show)


def _facts(found: JitReport) -> list[tuple[str, str]]:
    totals, r2r, tiering = found.totals, found.ready_to_run, found.tiering
    if not found.compilations:
        return [("compilations", "0")]
    again = f", {totals.rejits:,} of them again" if totals.rejits else ""
    facts = [("compilations", f"{totals.compilations:,} of {counted(totals.methods, 'method')}{again}")]
    timed = _timed(found)
    untimed = totals.untimed if timed else 0
    for n, what in ((totals.unfinished, "no end in the trace"), (untimed, "no begin in the trace")):
        if n:
            facts.append(("", f"{n:,} {'has' if n == 1 else 'have'} {what}"))
    background = f"{share(totals.background_ns, totals.compile_ns)} of it for {totals.background:,} in the background"
    code = f"{counted(totals.native_size, 'byte')} of code"
    if timed:
        facts.append(("time", f"{ms(totals.compile_ns)} ms, {background}"))
        code = f"{counted(totals.il_size, 'byte')} of IL became {code}"
    facts += [("size", code), ("quick only", f"{counted(totals.never_tiered_up, 'method')} never tiered up")]
    for what, noun, done in (("inlining", "call", "inlined"), ("tail call", "tail call", "made")):
        made = sum(d.count for d in found.decisions if d.what == what and d.accepted)
        asked = sum(d.count for d in found.decisions if d.what == what)
        if asked:
            facts.append((what, of(made, asked, noun, done)))
    if r2r.lookups:
        found_code = of(r2r.hits, r2r.lookups, "look-up", "found code")
        facts.append(("precompiled", f"{found_code}, of {counted(r2r.methods, 'method')}; {ms(r2r.lookup_ns)} ms"))
    if r2r.rejected or r2r.loaded:
        refused = counted(r2r.rejected, "compilation")
        facts.append(("", f"rejected for {refused}, loaded {counted(r2r.loaded, 'time')}"))
    if tiering.settings is not None:
        facts.append(("tiering", tiering.settings.replace("|", ", ")))
    if tiering.turns or tiering.pauses:
        turns = f"{counted(tiering.turns, 'turn')} for {counted(tiering.methods, 'method')}, {ms(tiering.turn_ns)} ms"
        pauses = f"{counted(tiering.pauses, 'pause')} of {ms(tiering.paused_ns)} ms in all"
        facts.append(("background", f"{turns}; {pauses}"))
    return facts


def _timed(found: JitReport) -> bool:
    """Whether any compilation's begin is known: its time and the size of its IL are the begin's."""
    return found.totals.untimed < found.totals.compilations


def _sums(out: Output, found: JitReport) -> None:
    out.line()
    timed = _timed(found)
    right = {"compilations", "ms", "IL bytes", "native bytes", "background"}
    rows = [
        (
            t.tier,
            number(t.compilations),
            ms(t.compile_ns if timed else None),
            number(t.il_size if timed else None),
            number(t.native_size),
        )
        for t in found.tiers
    ]
    out.filled(("tier", "compilations", "ms", "IL bytes", "native bytes"), rows, right)
    out.line()
    threads = [
        (
            "unknown" if t.thread_id is None else str(t.thread_id),
            number(t.compilations),
            number(t.background),
            ms(t.compile_ns if timed else None),
            mark(t.lossy),
        )
        for t in found.threads[:_THREADS]
    ]
    out.filled(("thread", "compilations", "background", "ms", ""), threads, right | {"thread"})
    if len(found.threads) > _THREADS:
        out.line(f"and {counted(len(found.threads) - _THREADS, 'more thread')}")
    refused = [d for d in found.decisions if not d.accepted]
    if refused:
        out.line()
        out.table(
            ("refused", "calls", "why"),
            [(d.what, number(d.count), d.reason) for d in sorted(refused, key=lambda d: -d.count)[:_REASONS]],
            {"calls"},
        )
        if len(refused) > _REASONS:
            out.line(f"and {counted(len(refused) - _REASONS, 'more reason')} (--json has them)")


def _methods(out: Output, methods: list[JittedMethod], count: int, timed: bool) -> None:
    rows = [
        (
            ms(m.compile_ns if timed else None),
            mark(m.lossy),
            number(m.il_size),
            number(m.native_size),
            f"{m.inlined}/{m.inlined + m.not_inlined}" if m.inlined or m.not_inlined else "",
            " ".join(TIERS.get(tier, tier) for tier in m.tiers),
            m.method,
        )
        for m in methods[:count]
    ]
    head = "ms", "", "IL", "native", "inlined", "tiers", "method"
    if rows:
        out.filled(head, rows, right={"ms", "IL", "native", "inlined"})
    say_more(out, len(methods) - count)


def _compilations(out: Output, listed: tuple[Compilation, ...], count: int) -> None:
    rows = [
        (
            ms(c.end_ns if c.start_ns is None else c.start_ns),
            ms(c.compile_ns),
            mark(c.lossy),
            "?" if c.thread_id is None else f"{c.thread_id}{'b' if c.background else ' '}",
            number(c.il_size),
            number(c.native_size),
            "-" if c.tier is None else TIERS.get(str(c.tier), str(c.tier)),
            c.method,
        )
        for c in listed[:count]
    ]
    head = "at ms", "ms", "", "thread", "IL", "native", "tier", "method"
    if rows:
        out.filled(head, rows, right={"at ms", "ms", "thread", "IL", "native"})
    say_more(out, len(listed) - count)
    if any(c.background for c in listed[:count]):
        out.line("b: on the background thread")
