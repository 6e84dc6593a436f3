"""What is removed from each field of a trace: the schema's allow-list, modified by the user's options.

Decides by names alone; never sees a text. Events are (provider, name), fields of fields are written `Outer.Inner`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define, frozen
from clrevents._util.words import safe
from clrevents.schema.disclosure import ASKED, BYTES, KEPT, PLAIN, TEXT, Disclosure, Form, disclosure_of, identifier_of
from clrevents.schema.registry import SHORT_PROVIDERS

TRACE: Final = "trace"
"""The provider of texts outside payloads: `trace/thread.name`, `trace/label.value` and so on."""
HEADER: Final = (TRACE, "header")
THREAD: Final = (TRACE, "thread")
LABEL: Final = (TRACE, "label")
DESCRIPTION: Final = (TRACE, "description")
_SHORT: Final = {name: short for short, name in SHORT_PROVIDERS.items()}


@frozen
class FieldRule(Value):
    """What the rules say about one field."""

    provider: str
    """The provider of the event, or `trace` for texts outside payloads."""
    event: str
    """The name of the event."""
    field: str
    """The field; a field of a field is `Outer.Inner`."""
    disclosure: Disclosure
    """How much of it is kept, and why."""

    @property
    def verdict(self) -> str:
        """`stays`, `goes`, or `partly`."""
        return {"all": "stays", "nothing": "goes", "equality": "goes"}.get(self.disclosure.stays, "partly")

    def __str__(self) -> str:
        name = f"{_SHORT.get(self.provider, self.provider)}/{self.event}.{self.field}"
        return safe(f"{self.verdict:6} {name}: {self.disclosure.why}")


@define
class FieldRules:
    """The allow-list, with `keep` added to it and the fields whose name matches one of `fields` taken from it.

    Each of `keep` is `FIELD` or `PROVIDER/EVENT.FIELD`, and may be a glob.
    """

    keep: tuple[str, ...] = ()
    fields: tuple[re.Pattern[str], ...] = ()
    _unused: set[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._unused = set(self.keep)

    @property
    def unused(self) -> tuple[str, ...]:
        """Those of `keep` that have matched no field so far."""
        return tuple(pattern for pattern in self.keep if pattern in self._unused)

    def of(self, event: tuple[str, str], field: str, default: Disclosure = TEXT) -> Disclosure:
        """How much of a field may stay; `default` is for one that is not on the list."""
        last = field.rpartition(".")[2]
        if any(pattern.search(last) for pattern in self.fields):
            return ASKED
        kept = [pattern for pattern in self.keep if _meets(pattern, event, field, last)]
        self._unused.difference_update(kept)
        return KEPT if kept else disclosure_of(*event, field, default)

    def of_form(self, event: tuple[str, str], field: str, form: Form, ids: bool) -> Disclosure:
        """The same by the field's content. Numbers stay, except, with `ids`, those that identify."""
        match form:
            case "text" | "character":
                return self.of(event, field)
            case "bytes" | "padding":
                return self.of(event, field, BYTES)
        identifier = identifier_of(*event, field, form) if ids else PLAIN
        if identifier.stays == "all":
            return identifier
        disclosure = self.of(event, field, identifier)
        return disclosure if disclosure in (ASKED, KEPT) else identifier

    def rule(self, event: tuple[str, str], field: str) -> FieldRule:
        """What the rules say about a text, with the field's name."""
        return FieldRule(*event, field, self.of(event, field))

    def surroundings(self) -> Iterator[FieldRule]:
        """The rules for texts outside payloads."""
        for event, fields in SURROUNDINGS.items():
            for field in fields:
                yield self.rule(event, field)


SURROUNDINGS: Final = {
    HEADER: ("key", "value"),
    THREAD: ("name", "key", "value"),
    LABEL: ("key", "value"),
    DESCRIPTION: ("key", "value", "description", "message"),
}
"""What has texts outside payloads, and which: header pairs, threads, labels of events, descriptions of events."""


def _meets(pattern: str, event: tuple[str, str], field: str, last: str) -> bool:
    if "/" not in pattern:
        return fnmatchcase(field, pattern) or fnmatchcase(last, pattern)
    provider, name = event
    names: Iterable[str] = (provider, _SHORT.get(provider, provider))
    return any(fnmatchcase(f"{one}/{name}.{field}", pattern) for one in names)
