"""`clrevents stubs`: the IL stubs of P/Invokes and delegates. Parses options and lays out the report of `analysis`."""

from __future__ import annotations

import click

from clrevents.analysis.stubs import Stub, StubReport, stub_report
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import FailOn, errors_option, fail_on_option, file_argument
from clrevents.cli.reporting import mark, ms, report_options, run_report, say_losses, say_missing, say_more, say_nothing
from clrevents.errors import ErrorMode


@click.command(name="stubs")
@file_argument
@report_options("Stubs shown.")
@click.option("--stacks", is_flag=True, help="Where each was needed: the call stack, innermost first.")
@click.option("--il", is_flag=True, help="The code of each stub.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    count: int,
    raw: bool,
    as_json: bool,
    stacks: bool,
    il: bool,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """List the stubs that carry calls between managed and native code, with both signatures and what they cost.

    \b
    Which P/Invokes need marshalling, and what does it look like?
        clrevents stubs app.nettrace
    What does the stub of one of them do?
        clrevents stubs app.nettrace --json | jq -r '.stubs[] | select(.name == "strlen").il'

    A stub is made once, when the call is first prepared; how often it runs is not recorded. Calls whose arguments need
    no marshalling have none. Record with Microsoft-Windows-DotNETRuntime:0x2010:5.
    """

    def show(out: Output, found: StubReport) -> None:
        if as_json:
            out.json(found.to_dict())
            return
        out.facts(_facts(found))
        if found.stubs:
            out.line()
            if stacks or il:
                for stub in found.stubs[:count]:
                    _one(out, stub, stacks, il)
            else:
                _table(out, found.stubs[:count])
            say_more(out, len(found.stubs) - count)
            say_missing(found.missing)
        else:
            say_nothing("stubs", "0x2010:5")
        say_losses(out, found.lost)

    return run_report(file, errors, fail_on, lambda trace: stub_report(trace, raw=raw), show)


def _facts(found: StubReport) -> list[tuple[str, str]]:
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in found.kinds.items())
    facts = [("stubs", f"{len(found.stubs):,}{f': {kinds}' if kinds else ''}")]
    if found.compile_ns:
        facts.append(("compiled", f"{ms(found.compile_ns)} ms in all"))
    facts.append(("cache hits", f"{found.cache_hits:,}"))
    return facts


def _table(out: Output, stubs: tuple[Stub, ...]) -> None:
    """Three lines a stub: signatures are too long for columns."""
    rows = []
    for s in stubs:
        thread = "?" if s.thread_id is None else str(s.thread_id)
        rows.append((ms(s.time_ns), ms(s.compile_ns), mark(s.lossy), thread, f"{s.target}: {s.kind}"))
        rows.append(("", "", "", "", f"  managed  {s.managed}"))
        rows.append(("", "", "", "", f"  native   {s.native}"))
    if rows:
        out.filled(("at ms", "ms", "", "thread", "stub"), rows, right={"at ms", "ms", "thread"})


def _one(out: Output, stub: Stub, stacks: bool, il: bool) -> None:
    took = "" if stub.compile_ns is None else f", compiled in {ms(stub.compile_ns)} ms"
    out.line(safe(f"{stub.target}: {stub.kind}, at {ms(stub.time_ns)} ms{took} {mark(stub.lossy)}".rstrip()))
    out.line(safe(f"  managed  {stub.managed}"))
    out.line(safe(f"  native   {stub.native}"))
    if stacks:
        out.lines(safe(f"    at {frame}") for frame in stub.stack)
    if il:
        out.lines(f"    {safe(line.expandtabs())}".rstrip() for line in stub.il.splitlines())
        if stub.cut:
            out.line("    (the runtime cut this text)")
    out.line()
