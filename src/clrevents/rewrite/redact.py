"""`redact`: the same trace with only those texts that are on the allow-list.

Combines what is removed (`field_rules`), where it is (`payload_rewriting`, `surroundings`) and what replaces it
(`replacement`). Times, stacks, threads, numbers and names of code stay.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from itertools import chain

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.rewrite.copy import Copied, Copier
from clrevents.rewrite.field_rules import FieldRule, FieldRules
from clrevents.rewrite.identifiers import Identifiers
from clrevents.rewrite.new_trace import every_destroyed, lacks, new_trace
from clrevents.rewrite.payload_rewriting import PayloadRewriting
from clrevents.rewrite.payload_texts import Form, text_walk
from clrevents.rewrite.redaction_report import RedactionCounts
from clrevents.rewrite.replacement import Replacer
from clrevents.rewrite.surroundings import Surroundings
from clrevents.rewrite.word_search import FoundWord, WordSearch
from clrevents.schema.disclosure import PLAIN
from clrevents.schema.own_marks import REDACTED
from clrevents.trace import PayloadDecoder, Trace, passes_of


@frozen
class Redacted(Value):
    """The result of `redact`."""

    copied: Copied
    """What was written."""
    counts: RedactionCounts
    """The numbers of texts that were replaced, and of payloads that became zeros."""
    unused: tuple[str, ...]
    """Those of `keep` that matched no field of the trace."""
    found: tuple[FoundWord, ...]
    """Words of `check` that were found in the result, which then was not written."""

    @property
    def replaced(self) -> int:
        """The number of replaced texts."""
        return self.counts.replaced.total()

    @property
    def blanked(self) -> int:
        """The number of payloads that became zeros because they cannot be read."""
        return self.counts.blanked.total()

    @property
    def tails(self) -> int:
        """The number of payloads in which only the bytes after the known fields became zeros."""
        return self.counts.tails.total()


def redact(
    trace: Trace,
    out: str | os.PathLike[str],
    *,
    keep: Iterable[str] = (),
    fields: Iterable[str | re.Pattern[str]] = (),
    texts: Iterable[str | re.Pattern[str]] = (),
    blank: bool = False,
    key: bytes | None = None,
    check: Iterable[str] = (),
    ids: bool = False,
) -> Redacted:
    """Write all of `trace` to the file `out`, with the texts that are not on the allow-list replaced.

    A text becomes a word, the same for equal texts and a different one for different texts, so reports give the same
    answers about the copy; with the same `key`, words are the same in other traces, too. By default every run has its
    own key. With `blank`, a text becomes the same number of `x`. `trace.redacted` of the copy is true. `keep` lists
    fields to keep, as `FIELD` or `PROVIDER/EVENT.FIELD`, or globs of them. `fields` and `texts` are regular
    expressions: fields whose names match one of `fields`, and texts and names that match one of `texts`, are replaced
    although they are on the list.

    With `ids`, identifying numbers are replaced, too: processes, threads, activities, ports, and the date. Equal
    numbers stay equal, and intervals are kept.

    `out` is compressed if its name ends in `.gz`, and appears only when complete. If one of the words of `check` is
    found in the result, nothing is written. Raises the exceptions of `Trace.events`, TraceError for what does not fit
    into a block of the new trace, ValueError if `out` is the trace itself, OSError, and re.error.
    """
    rules = FieldRules(tuple(keep), tuple(map(re.compile, fields)))
    key = key or secrets.token_bytes(16)
    replacer = Replacer(key, blank, tuple(map(re.compile, texts)))
    identifiers = None
    if ids:
        known = chain.from_iterable((thread.thread_id, thread.process_id) for thread in trace.threads)
        identifiers = Identifiers(trace.info, key, known)
    counts = RedactionCounts()
    passes = passes_of(trace)
    around = Surroundings(rules, replacer, counts, identifiers)
    decoder = PayloadDecoder(trace.info.pointer_size, passes.limits)
    inside = PayloadRewriting(rules, replacer, counts, decoder, trace.info.pointer_size, identifiers)
    info = attrs.evolve(trace.info, key_values=around.header(trace.info.key_values))
    losses, destroyed = trace.losses, every_destroyed(trace)
    if identifiers:
        info = identifiers.info(info)
        losses, destroyed = identifiers.losses(losses), [*identifiers.losses(destroyed)]
    try:
        with new_trace(out, trace.info.path) as sink:
            search = WordSearch(sink, check)
            marks = ((REDACTED, REDACTED.payload(blank, ids)), *lacks(trace, destroyed))
            copier = Copier(search, info, losses, marks)
            for rows in passes.event_rows():
                payloads = inside.payloads(rows)
                copier.add(around.rows(rows), payloads)
            result = Redacted(copier.finish(), counts, rules.unused, search.found())
            if result.found:
                raise _Unwritten(result)
    except _Unwritten as unwritten:
        return unwritten.result
    return result


def redaction_rules(
    trace: Trace, *, keep: Iterable[str] = (), fields: Iterable[str] = (), ids: bool = False
) -> list[FieldRule]:
    """What `redact` would do with each field of `trace` that has texts or bytes: first those outside payloads.

    With `ids`, also with fields of identifying numbers. `keep`, `fields` and `ids` are those of `redact`. Reads all
    headers but no payload. Raises the exceptions of `Trace.events`.
    """
    rules = FieldRules(tuple(keep), tuple(map(re.compile, fields)))
    passes = passes_of(trace)
    decoder = PayloadDecoder(trace.info.pointer_size, passes.limits)
    found = list(rules.surroundings())
    scan = passes.scan()
    for kind in scan.kinds:
        if kind.key in scan.counts:
            event = kind.key.provider, kind.key.name

            def note(field: str, form: Form, event: tuple[str, str] = event) -> None:
                disclosure = rules.of_form(event, field, form, ids)
                if disclosure != PLAIN:
                    found.append(FieldRule(*event, field, disclosure))

            for layout, _ in decoder.layouts(kind):
                text_walk(layout, event, note)
    return list(dict.fromkeys(found))


class _Unwritten(Exception):
    """Ends the writing of a file that must not appear."""

    def __init__(self, result: Redacted) -> None:
        super().__init__()
        self.result = result
