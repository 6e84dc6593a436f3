"""`redact`: the same trace with only those texts that are on the allow-list.

Combines what is removed (`field_rules`), where it is (`payload_rewriting`, and `Surroundings` outside payloads) and
what replaces it (`replacement`). Times, stacks, threads, numbers and names of code stay.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.rewrite.copy import Copied, Copier, every_destroyed, lacks, new_trace
from clrevents.rewrite.field_rules import DESCRIPTION, HEADER, LABEL, THREAD, FieldRule, FieldRules
from clrevents.rewrite.identifiers import Identifiers
from clrevents.rewrite.payload_rewriting import PayloadRewriting
from clrevents.rewrite.payload_texts import Form, text_walk
from clrevents.rewrite.replacement import RedactionCounts, Replacer
from clrevents.rewrite.word_search import FoundWord, WordSearch
from clrevents.schema.disclosure import HEADER_KEYS, NUMBER, PLAIN, TEXT
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.own_marks import REDACTED
from clrevents.trace import DecodedRows, PayloadDecoder, Trace, passes_of


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


class Surroundings:
    """Replaces the texts outside the payloads of one trace, with `identifiers` also ids, and counts the texts."""

    def __init__(
        self,
        rules: FieldRules,
        replacer: Replacer,
        counts: RedactionCounts,
        identifiers: Identifiers | None = None,
    ) -> None:
        self._rules = rules
        self._identifiers = identifiers
        self._replacer = replacer
        self._counts = counts
        self._done_kinds: dict[int, tuple[Any, Any]] = {}
        self._kinds: list[Any] = []
        self._threads: list[Any] = []

    def rows(self, given: DecodedRows) -> DecodedRows:
        """The rows with other descriptions, labels and threads."""
        if self._identifiers:
            given = self._identifiers.rows(given)
        # Both lists only grow from rows to rows.
        kinds = self._kinds
        kinds += [_once(self._done_kinds, kind, self._kind) for kind in given.kinds[len(kinds) :]]
        if given.labels is None and not given.thread_rows:
            return attrs.evolve(given, kinds=kinds)
        labels = given.labels
        if labels is not None:
            # Only for these rows: a trace may have as many lists as events.
            done: dict[int, tuple[Any, Any]] = {}
            labels = [None if item is None else _once(done, item, self._labels) for item in labels]
        rows = self._threads
        rows += map(self._thread, given.thread_rows[len(rows) :])
        return attrs.evolve(given, kinds=kinds, labels=labels, thread_rows=rows)

    def header(self, pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """The pairs of the trace's header: those of the format stay, if they are numbers."""
        known = [pair for pair in pairs if pair[0] in HEADER_KEYS]
        others = iter(self._pairs(HEADER, tuple(pair for pair in pairs if pair[0] not in HEADER_KEYS)))
        kept = iter([(key, self._known(key, value)) for key, value in known])
        return tuple(next(kept if key in HEADER_KEYS else others) for key, _ in pairs)

    def _known(self, key: str, value: str) -> str:
        text: str = self._text(HEADER, key, value, NUMBER)
        if self._identifiers is None or key != "ProcessId":
            return text
        known = text.isascii() and text.isdecimal()
        return str(self._identifiers.system_id(int(text))) if known else "x" * len(text)

    def _labels(self, labels: Any) -> Any:
        if self._identifiers:
            labels = self._identifiers.labels(labels)
        return attrs.evolve(labels, pairs=self._pairs(LABEL, labels.pairs))

    def _thread(self, row: Any) -> Any:
        if self._identifiers:
            row = self._identifiers.thread(row)
        name = None if row.name is None else self._text(THREAD, "name", row.name)
        return attrs.evolve(row, name=name, attributes=self._pairs(THREAD, row.attributes))

    def _kind(self, kind: Any) -> Any:
        if kind.base is not None:
            # Labels override numbers of a description; its texts are those of the kind as described.
            base = _once(self._done_kinds, kind.base, self._kind)
            numbers = {name: getattr(kind.row, name) for name in ("opcode", "keywords", "level", "version")}
            return attrs.evolve(kind, row=attrs.evolve(base.row, **numbers), base=base)
        row = attrs.evolve(
            kind.row,
            provider=self._replacer.name(kind.row.provider),
            name=self._replacer.name(kind.row.name),
            fields=tuple(map(self._field, kind.row.fields)),
            attributes=self._pairs(DESCRIPTION, kind.row.attributes),
            description=self._text(DESCRIPTION, "description", kind.row.description),
            message=self._text(DESCRIPTION, "message", kind.row.message),
        )
        return kind if row == kind.row else attrs.evolve(kind, row=row)

    def _field(self, field: FieldDescription) -> FieldDescription:
        element = None if field.element is None else self._field(field.element)
        members = tuple(map(self._field, field.members))
        return attrs.evolve(field, name=self._replacer.name(field.name), element=element, members=members)

    def _pairs(self, event: tuple[str, str], pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """Keys stay distinct, so an event keeps its number of labels. Numbers stay."""
        return tuple((self._key(event, key), self._text(event, "value", value)) for key, value in pairs)

    def _key(self, event: tuple[str, str], key: str) -> str:
        if self._rules.of(event, "key").stays == "all":
            return self._replacer.name(key)
        if key:
            self._counts.replaced[(*event, "key")] += 1
        return self._replacer.label_key(key)

    def _text(self, event: tuple[str, str], field: str, value: Any, declared: Any = TEXT) -> Any:
        if not isinstance(value, str) or not value:
            return value
        changed = self._replacer.text(value, self._rules.of(event, field, declared))
        if changed != value:
            self._counts.replaced[(*event, field)] += 1
        return changed


def _once(done: dict[int, tuple[Any, Any]], item: Any, change: Callable[[Any], Any]) -> Any:
    """The same changed object for the same object, which is kept so that its identity is not reused."""
    known = done.get(id(item))
    if known is None:
        known = done[id(item)] = item, change(item)
    return known[1]
