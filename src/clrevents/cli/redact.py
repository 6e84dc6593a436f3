"""`clrevents redact`: the same trace without sensitive strings. Parses options; `rewrite` does the work."""

from __future__ import annotations

import re

import click

from clrevents.cli.output import say
from clrevents.cli.reading import FailOn, Reading, errors_option, fail_on_option, file_argument, refuse_overwriting
from clrevents.errors import DamageError, ErrorMode, PayloadError
from clrevents.rewrite import RULES, Rule, redact
from clrevents.words import counted

_NAMES = tuple(rule.name for rule in RULES)


@click.command(name="redact")
@file_argument
@click.option("-o", "--output", "out", required=True, metavar="OUT", help="The trace to write.")
@click.option("--keep", type=click.Choice(_NAMES), multiple=True, help="Keep this kind of string; repeatable.")
@click.option("--field", "fields", multiple=True, metavar="REGEX", help="Also redact fields whose name matches.")
@click.option("--text", "texts", multiple=True, metavar="REGEX", help="Also redact strings that match.")
@click.option("--key", metavar="TEXT", help="Makes tokens comparable between runs; keep it secret.")
@errors_option
@fail_on_option("damage")
def command(
    file: str,
    out: str,
    keep: tuple[str, ...],
    fields: tuple[str, ...],
    texts: tuple[str, ...],
    key: str | None,
    errors: ErrorMode,
    fail_on: FailOn,
) -> int:
    """Write the same trace with paths, messages, command lines, environment and addresses replaced.

    Each string becomes a token of the same length; equal strings become equal tokens. Times, stacks, threads and
    names of code are kept. Payloads that cannot be read are blanked and counted.

    \b
    Before sharing a trace:
        clrevents redact app.nettrace -o public.nettrace --text 'acme|contoso'
    """
    rules = [rule for rule in RULES if rule.name not in keep]
    for option, patterns in (("--field", fields), ("--text", texts)):
        for pattern in patterns:
            rules.append(_rule(option, pattern))
    refuse_overwriting(out, file)
    with Reading(file, errors) as reading:
        try:
            done = redact(reading.trace, out, rules=rules, key=key.encode() if key else None)
        except (DamageError, PayloadError) as error:
            return reading.stopped(error, fail_on)
        by_rule = ", ".join(f"{count:,} {name}" for name, count in sorted(done.replaced.items())) or "none"
        events = counted(done.copied.events, "event")
        say(f"{out}: {events}; strings replaced: {by_rule}; payloads blanked: {done.blanked:,}")
        if done.tails:
            tails, known = counted(done.tails, "payload is", "payloads are"), "it" if done.tails == 1 else "them"
            say(f"{tails} newer than the known layout of {known}: bytes after the known fields were blanked")
        return reading.finish(fail_on)


def _rule(option: str, pattern: str) -> Rule:
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise click.BadParameter(f"{pattern!r} is not a regular expression: {error}", param_hint=option) from None
    return Rule("asked", found, None) if option == "--field" else Rule("asked", None, found)
