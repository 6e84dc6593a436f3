"""Texts outside payloads: header pairs, threads, labels, and texts in descriptions other than names of code.

Replaces them and, on request, ids, in rows that were read. Knows no payloads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from clrevents.rewrite.field_rules import DESCRIPTION, HEADER, LABEL, THREAD, FieldRules
from clrevents.rewrite.identifiers import Identifiers
from clrevents.rewrite.redaction_report import RedactionCounts
from clrevents.rewrite.replacement import Replacer
from clrevents.schema.disclosure import HEADER_KEYS, NUMBER, TEXT
from clrevents.schema.dynamic import FieldDescription
from clrevents.trace import DecodedRows


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
