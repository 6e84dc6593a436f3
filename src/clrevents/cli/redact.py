"""`clrevents redact`: the same trace without texts that are not on the allow-list. Parses options; `rewrite` does the
work."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from clrevents._util.outputs import whole_file
from clrevents._util.words import counted
from clrevents.cli import options
from clrevents.cli.output import DAMAGED, Output, say
from clrevents.cli.reading import Reading, refuse_overwriting
from clrevents.rewrite import Redacted, redact, redaction_rules


@click.command(name="redact")
@options.file
@options.trace_output(required=False)
@click.option("--keep", multiple=True, metavar="FIELD", help="Keep FIELD, or PROVIDER/EVENT.FIELD; repeatable.")
@click.option("--field", "fields", multiple=True, metavar="REGEX", help="Also replace fields whose name matches.")
@click.option("--text", "texts", multiple=True, metavar="REGEX", help="Also replace texts and names that match.")
@click.option("--ids", is_flag=True, help="Also replace ids of processes, threads and activities, ports and dates.")
@click.option("--blank", is_flag=True, help="Replace texts by the same number of x, even if reports then merge rows.")
@click.option(
    "--key", metavar="TEXT", help="Use the same words for the same texts in all traces with this key; keep it secret."
)
@click.option("--rules", is_flag=True, help="Write no trace: print what is kept of each field of FILE, and why.")
@click.option("--report", metavar="FILE", help="Write what was replaced where, as JSON: counts, no values.")
@click.option(
    "--check", multiple=True, metavar="WORD", help="Write nothing if WORD remains, in any encoding; repeatable."
)
@options.reading()
def command(
    file: str,
    out: str | None,
    keep: tuple[str, ...],
    fields: tuple[str, ...],
    texts: tuple[str, ...],
    ids: bool,
    blank: bool,
    key: str | None,
    rules: bool,
    report: str | None,
    check: tuple[str, ...],
    **given: Any,
) -> int:
    """Write the same trace with only those texts that are on an allow-list.

    Names of code, events and counters are kept, as are numbers, times, stacks and threads; of a module's path, only the
    file name is kept, if it looks like one. Every other text is replaced by a word, equal texts by the same one; byte
    arrays are zeroed, and payloads that cannot be read are blanked and counted. The result is marked as redacted.

    \b
    Before sharing a trace:
        clrevents redact app.nettrace -o public.nettrace.gz --check acme
    """
    for option, pattern in (*(("--field", one) for one in fields), *(("--text", one) for one in texts)):
        try:
            re.compile(pattern)
        except re.error as error:
            raise click.BadParameter(f"{pattern!r} is not a regular expression: {error}", param_hint=option) from None
    if rules == bool(out):
        raise click.UsageError("give either -o OUT or --rules")
    refuse_overwriting(out, file)
    refuse_overwriting(report, file)
    if out is not None and report is not None and os.path.realpath(out) == os.path.realpath(report):
        raise click.UsageError("OUT and the report are the same file")
    with Reading(file, **options.how_to_read(given)) as reading:
        if out is None:
            with Output() as output:
                for rule in redaction_rules(reading.trace, keep=keep, fields=fields, ids=ids):
                    output.line(str(rule))
            return reading.finish()
        done = redact(
            reading.trace,
            out,
            keep=keep,
            fields=fields,
            texts=texts,
            ids=ids,
            blank=blank,
            key=key.encode() if key else None,
            check=check,
        )
        _tell(done, out)
        if report is not None:
            with whole_file(report, reading.trace.info.path) as target:
                target.write(done.counts.to_json().encode())
        code = reading.finish()
        return max(code, DAMAGED) if done.found else code


def _tell(done: Redacted, out: str) -> None:
    """What was written, and what is worth knowing about it."""
    for pattern in done.unused:
        say(f"--keep {pattern}: the trace has no text field with this name")
    if done.found:
        for word in done.found:
            say(f"still there: {word.word!r}, {counted(word.count, 'time')} as {word.encoding}")
        say(f"{out} was not written; --text replaces names of code, too")
        return
    events, texts = counted(done.copied.events, "event"), counted(done.replaced, "text")
    say(f"{out}: {events}; {texts} replaced; payloads blanked: {done.blanked:,}")
    if identifiers := done.counts.identifiers.total():
        say(
            f"{counted(identifiers, 'id')} in payloads replaced, along with those of threads and activities, and the "
            "dates"
        )
    if done.tails:
        tails, known = counted(done.tails, "payload is", "payloads are"), "it" if done.tails == 1 else "them"
        say(f"{tails} newer than the known layout of {known}: bytes after the known fields were blanked")
