"""`redact`: the same trace with only those texts that are on the allow-list.

Combines what is removed (`field_rules`), where it is (`payload_texts` in payloads, `Surroundings` outside them) and
what replaces it (`replacement`). Times, stacks, threads, numbers and names of code stay. In payloads, bytes outside all
fields become zeros, and so does a payload that cannot be read.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.rewrite.copy import Copied, Copier, every_destroyed, lacks, new_trace
from clrevents.rewrite.field_rules import DESCRIPTION, HEADER, LABEL, THREAD, FieldRule, FieldRules
from clrevents.rewrite.replacement import Identifiers, RedactionCounts, Replacer
from clrevents.rewrite.word_search import FoundWord, WordSearch
from clrevents.schema.disclosure import HEADER_KEYS, NUMBER, PLAIN, TEXT, Disclosure, Form
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.layout import BoundLayout, Layout
from clrevents.schema.own_marks import REDACTED
from clrevents.trace import (
    DecodedRows,
    FoundTexts,
    PayloadDecoder,
    RawPayload,
    TextPlace,
    TextWalk,
    Trace,
    least_size,
    passes_of,
    text_walk,
)


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
    redaction = _Redaction(rules, replacer, counts, identifiers)
    around = Surroundings(redaction)
    decoder = PayloadDecoder(trace.info.pointer_size, passes.limits)
    inside = PayloadRewriting(redaction, decoder, trace.info.pointer_size)
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
    listed = list(rules.surroundings())
    scan = passes.scan()
    for kind in scan.kinds:
        if kind.key in scan.counts:
            event = kind.key.provider, kind.key.name

            def note(field: str, form: Form, event: tuple[str, str] = event) -> None:
                disclosure = rules.of_form(event, field, form, ids)
                if disclosure != PLAIN:
                    listed.append(FieldRule(*event, field, disclosure))

            for layout, _ in decoder.layouts(kind):
                text_walk(layout, event, note)
    return list(dict.fromkeys(listed))


class _Redaction(NamedTuple):
    """What goes, what replaces it, how often that was done, and what replaces ids, if they go."""

    rules: FieldRules
    replacer: Replacer
    counts: RedactionCounts
    identifiers: Identifiers | None


class _Unwritten(Exception):
    """Ends the writing of a file that must not appear."""

    def __init__(self, result: Redacted) -> None:
        super().__init__()
        self.result = result


class Surroundings:
    """Replaces the texts outside the payloads of one trace, with `identifiers` also ids, and counts the texts."""

    def __init__(self, redaction: _Redaction) -> None:
        self._rules, self._replacer, self._counts, self._identifiers = redaction
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


# Far above what a runtime's events need. A description may demand gigabytes, and that for every event of a few bytes.
_MOST_ZEROS: Final = 1024


class PayloadRewriting:
    """Replaces the texts in the payloads of one trace, with `identifiers` their ids too, and counts them."""

    def __init__(self, redaction: _Redaction, decoder: PayloadDecoder, pointer_size: int) -> None:
        self._rules, self._replacer, self._counts, self._identifiers = redaction
        self._decoder = decoder
        self._pointer_size = pointer_size
        self._walks: dict[tuple[int, BoundLayout], TextWalk | None] = {}
        self._least: dict[int, bytes] = {}

    def payloads(self, rows: DecodedRows) -> list[bytes]:
        """The payload of each row after redaction."""
        payloads = list(rows.payload_bytes)
        for places, layout in rows.payload_groups():
            kind = rows.kind(places[0])
            walk = self._walk(kind, layout)
            if walk is not None:
                for row in places:
                    payloads[row] = self._read(kind, layout, walk, payloads[row], 0)
        for row, payload in rows.single_payloads():
            if payloads[row]:
                payloads[row] = self._single(rows.kind(row), payload, payloads[row], len(rows.tails.get(row, b"")))
        return payloads

    def _single(self, kind: Any, payload: Any, data: bytes, tail: int) -> bytes:
        """One that was read by itself: its class says how."""
        if isinstance(payload, RawPayload):
            return self._blank(kind, data)
        if tail:
            self._counts.tails[_event(kind)] += 1
        record: Any = type(payload)
        values = [getattr(payload, name) for name in record.__fields__]
        layout: Layout = record.__layout__
        if values and values[-1] is None:
            # Fields that may follow the described ones are missing.
            layout = Layout(layout.fields[: values.index(None)])
        bound = layout.bind(self._pointer_size)
        walk = self._walk(kind, bound)
        if walk is None:
            return data[: len(data) - tail] + bytes(tail)
        return self._read(kind, bound, walk, data, tail)

    def _read(self, kind: Any, layout: BoundLayout, walk: TextWalk, data: bytes, tail: int) -> bytes:
        """The payload, with its texts replaced; zeros if it would then be read in another way."""
        found = walk.find(data, len(data) - tail)
        if found is None:
            return self._blank(kind, data)
        spans, end = found
        gone: list[TextPlace] = []
        changed = self._apart(data, spans, end, gone) if walk.scattered else self._spliced(data, spans, tail, gone)
        if changed is None or (changed != data and not self._reads_alike(kind, data, changed)):
            return self._blank(kind, data)
        for place in gone:
            texts = place.form in ("text", "character", "bytes")
            counts = self._counts.replaced if texts else self._counts.identifiers
            counts[(*place.event, place.field)] += 1
        return changed

    def _spliced(self, data: bytes, spans: FoundTexts, tail: int, gone: list[TextPlace]) -> bytes:
        """Texts one after the other, which may get longer or shorter."""
        parts: list[bytes] = []
        at = 0
        for start, stop, place in spans.spans:
            old = data[start:stop]
            new = self._replaced(place, old, gone)
            if new is old:
                continue
            if place.prefixed:
                parts += (data[at : start - 2], (len(new) // place.width).to_bytes(2, "little"), new)
            else:
                parts += (data[at:start], new)
            at = stop
        if not parts and not tail:
            return data
        return b"".join((*parts, data[at : len(data) - tail], bytes(tail)))

    def _apart(self, data: bytes, spans: FoundTexts, end: int, gone: list[TextPlace]) -> bytes | None:
        """Located values stay where they are, and what is between them becomes zero.

        None if a value to remove overlaps a field, which would change, too.
        """
        if any(start < end and start < stop for start, stop in spans.regions):
            return None
        rest = bytearray(len(data))
        for start, stop in ((0, end), *spans.regions):
            rest[start:stop] = data[start:stop]
        for start, stop, place in spans.spans:
            old = data[start:stop]
            # Values may lie over each other: what goes for one of them must not come back with the other.
            for at, (before, after) in enumerate(zip(old, self._replaced(place, old, gone), strict=True), start):
                if before != after:
                    rest[at] = after
        return bytes(rest)

    def _replaced(self, place: TextPlace, old: bytes, gone: list[TextPlace]) -> bytes:
        """The same object if the text stays."""
        form = place.form
        if form == "bytes" or form == "padding":
            stays = place.disclosure.stays == "all"
            new = old if stays else bytes(len(old))
        elif form == "text" or form == "character":
            new = self._replacer.encoded(old, place.disclosure, place.width, place.fixed)
            if self._identifiers and place.disclosure == NUMBER:
                new = self._identifiers.encoded(new, place.width)
        else:
            assert self._identifiers is not None
            new = self._identifiers.value(old, form, place.disclosure)
        if new == old:
            return old
        if place.field:
            gone.append(place)
        return new

    def _reads_alike(self, kind: Any, before: bytes, after: bytes) -> bool:
        """A payload that can be read in several ways must still be read in the same one."""
        if len(self._decoder.layouts(kind)) < 2:
            return True
        one, other = (self._decoder.read(kind, data, 0)[0] for data in (before, after))
        return type(one) is type(other)

    def _blank(self, kind: Any, data: bytes) -> bytes:
        """Zeros that fit the layout, so that strict readers read on; as many as before if these were too many."""
        if not data:
            return data
        self._counts.blanked[_event(kind)] += 1
        blank = bytes(len(data))
        least = self._least_payload(kind)
        return least if least and isinstance(self._decoder.read(kind, blank, 0)[0], RawPayload) else blank

    def _least_payload(self, kind: Any) -> bytes:
        """Zeros that fit the first layout, the same object for all events of a kind; none if they are too many."""
        known = self._least.get(kind.index)
        if known is None:
            layouts = self._decoder.layouts(kind)
            size = least_size(layouts[0][0]) if layouts else 0
            known = self._least[kind.index] = bytes(size if size <= _MOST_ZEROS else 0)
        return known

    def _walk(self, kind: Any, layout: BoundLayout) -> TextWalk | None:
        key = kind.index, layout
        if key not in self._walks:
            event = _event(kind)
            self._walks[key] = text_walk(layout, event, partial(self._choose, event))
        return self._walks[key]

    def _choose(self, event: tuple[str, str], field: str, form: Form) -> Disclosure | None:
        """None for what always stays; a text may have to be removed for its content."""
        disclosure = self._rules.of_form(event, field, form, self._identifiers is not None)
        also = form in ("text", "character") and self._replacer.also
        return None if disclosure.stays == "all" and not also else disclosure


def _event(kind: Any) -> tuple[str, str]:
    return kind.key.provider, kind.key.name
