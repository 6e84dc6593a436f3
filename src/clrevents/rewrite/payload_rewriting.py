"""Payloads after redaction: texts and, on request, ids replaced, bytes outside all fields zeroed, everything else byte
by byte the same.

A payload that cannot be read becomes zeros that can. `payload_texts` says what is where, the rules what may stay.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from clrevents.rewrite.field_rules import FieldRules
from clrevents.rewrite.identifiers import Identifiers
from clrevents.rewrite.payload_texts import Form, FoundTexts, TextPlace, TextWalk, Unwalkable, least_size, text_walk
from clrevents.rewrite.replacement import RedactionCounts, Replacer
from clrevents.schema.disclosure import NUMBER, Disclosure
from clrevents.schema.layout import BoundLayout, Layout
from clrevents.trace import DecodedRows, PayloadDecoder, RawPayload

# Far above what a runtime's events need. A description may demand gigabytes, and that for every event of a few bytes.
_MOST_ZEROS: Final = 1024


class PayloadRewriting:
    """Replaces the texts in the payloads of one trace, with `identifiers` their ids too, and counts them."""

    def __init__(
        self,
        rules: FieldRules,
        replacer: Replacer,
        counts: RedactionCounts,
        decoder: PayloadDecoder,
        pointer_size: int,
        identifiers: Identifiers | None = None,
    ) -> None:
        self._rules = rules
        self._identifiers = identifiers
        self._replacer = replacer
        self._counts = counts
        self._decoder = decoder
        self._pointer_size = pointer_size
        self._walks: dict[tuple[int, BoundLayout], TextWalk | None] = {}
        self._least: dict[int, bytes] = {}

    def payloads(self, rows: DecodedRows) -> list[bytes]:
        """The payload of each row after redaction."""
        made = list(rows.payload_bytes)
        for places, layout in rows.payload_groups():
            kind = rows.kind(places[0])
            walk = self._walk(kind, layout)
            if walk is not None:
                for row in places:
                    made[row] = self._read(kind, layout, walk, made[row], 0)
        for row, payload in rows.single_payloads():
            if made[row]:
                made[row] = self._single(rows.kind(row), payload, made[row], len(rows.tails.get(row, b"")))
        return made

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
        try:
            found, end = walk.find(data, len(data) - tail)
        except Unwalkable:
            return self._blank(kind, data)
        gone: list[TextPlace] = []
        changed = self._apart(data, found, end, gone) if walk.scattered else self._spliced(data, found, tail, gone)
        if changed is None or (changed != data and not self._reads_alike(kind, data, changed)):
            return self._blank(kind, data)
        for place in gone:
            texts = place.form in ("text", "character", "bytes")
            counts = self._counts.replaced if texts else self._counts.identifiers
            counts[(*place.event, place.field)] += 1
        return changed

    def _spliced(self, data: bytes, found: FoundTexts, tail: int, gone: list[TextPlace]) -> bytes:
        """Texts one after the other, which may get longer or shorter."""
        parts: list[bytes] = []
        at = 0
        for start, stop, place in found.spans:
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

    def _apart(self, data: bytes, found: FoundTexts, end: int, gone: list[TextPlace]) -> bytes | None:
        """Located values stay where they are, and what is between them becomes zero.

        None if a value to remove overlaps a field, which would change, too.
        """
        if any(start < end and start < stop for start, stop in found.regions):
            return None
        made = bytearray(len(data))
        for start, stop in ((0, end), *found.regions):
            made[start:stop] = data[start:stop]
        for start, stop, place in found.spans:
            old = data[start:stop]
            # Values may lie over each other: what goes for one of them must not come back with the other.
            for at, (before, after) in enumerate(zip(old, self._replaced(place, old, gone), strict=True), start):
                if before != after:
                    made[at] = after
        return bytes(made)

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
        found = self._rules.of_form(event, field, form, self._identifiers is not None)
        also = form in ("text", "character") and self._replacer.also
        return None if found.stays == "all" and not also else found


def _event(kind: Any) -> tuple[str, str]:
    return kind.key.provider, kind.key.name
