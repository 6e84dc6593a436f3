"""`redact`: the same trace without what its strings give away.

Rules say which strings go; each becomes a token of the same length, the same for the same text. Payloads that
cannot be read are blanked and counted. Times, stacks, threads, numbers and names of code stay.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from clrevents.reference import Codec, codec
from clrevents.rewrite.copy import Copied, Copier, whole_file
from clrevents.schema.types import (
    AnsiZ,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    Utf16Z,
    WireType,
)
from clrevents.trace import Batch, RawPayload, Trace


@attrs.frozen
class Rule:
    """Which strings go: those of fields whose name matches `fields`, and those whose text matches `text`."""

    name: str
    fields: re.Pattern[str] | None = None
    text: re.Pattern[str] | None = None

    def takes(self, field: str, text: str) -> bool:
        """Whether this string goes. An empty one never does."""
        if self.fields is not None and self.fields.search(field):
            return True
        return self.text is not None and bool(self.text.search(text))


RULES: Final = (
    Rule(
        "path",
        re.compile(r"(?i)path|file_?name|directory|folder"),
        re.compile(r"^(?:/[^/\s]+){2,}|^[A-Za-z]:\\|^\\\\"),
    ),
    Rule("message", re.compile(r"(?i)message")),
    Rule("command-line", re.compile(r"(?i)command_?line|cmd_?line|^arg(?:ument)?s?$")),
    Rule("environment", re.compile(r"(?i)environ|^env")),
    Rule("address", re.compile(r"(?i)url|uri|host|query"), re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")),
    Rule("value", re.compile(r"^Value$")),
)
"""What goes unless it is kept by name. `value` is the text of DiagnosticSource arguments and the like."""


@attrs.frozen
class Redacted:
    """What was done: events written, strings replaced by rule, and payloads blanked because they cannot be read."""

    copied: Copied
    replaced: Mapping[str, int]
    blanked: int


def redact(
    trace: Trace,
    out: str | os.PathLike[str],
    *,
    rules: Iterable[Rule] = RULES,
    key: bytes | None = None,
) -> Redacted:
    """Write the whole trace to `out` with the strings that the rules take replaced.

    `key` makes tokens comparable between runs; without it each run has its own. `out` appears only when it is
    complete. Raises what `Trace.events` raises, and OSError.
    """
    work = _Redaction(tuple(rules), key or secrets.token_bytes(16), trace.info.pointer_size)
    info = attrs.evolve(trace.info, key_values=work.pairs(trace.info.key_values))
    with whole_file(out) as file:
        copier = Copier(file, info, trace.losses)
        for batch in trace.event_batches():
            payloads = [work.payload(batch, row) for row in range(len(batch))]
            copier.add(work.surroundings(batch), payloads)
        copied = copier.finish()
    return Redacted(copied, dict(work.replaced), work.blanked)


class _Redaction:
    """Replaces strings, and remembers how often and for which rule."""

    def __init__(self, rules: tuple[Rule, ...], key: bytes, pointer_size: int) -> None:
        self._rules = rules
        self._key = key
        self._pointer_size = pointer_size
        self._codecs: dict[type[Any], Codec] = {}
        self._labels: dict[int, tuple[Any, Any]] = {}
        self._threads: dict[int, tuple[Any, Any]] = {}
        self.replaced: Counter[str] = Counter()
        self.blanked = 0

    def payload(self, batch: Batch, row: int) -> bytes:
        """The bytes of one payload without what goes."""
        data, payload = batch.raw[row], batch.payloads[row]
        if isinstance(payload, RawPayload):
            self.blanked += bool(data)
            return bytes(len(data))
        changed = self._record(payload)
        tail = batch.tails.get(row, b"")
        if changed is payload and not tail:
            return data
        kind = type(payload)
        known = self._codecs.get(kind)
        if known is None:
            known = self._codecs[kind] = codec(kind, self._pointer_size)
        body = data[: len(data) - len(tail)]
        try:
            same = known.build(payload) == body
            if same:
                return known.build(changed) + bytes(len(tail))
        except ValueError:
            pass
        # What cannot be written back as it was may hide what should go.
        self.blanked += 1
        return bytes(len(data))

    def surroundings(self, batch: Batch) -> Batch:
        """The batch with its labels and threads without what goes (NetTrace 6)."""
        if batch.labels is None and not batch.thread_rows:
            return batch
        labels = batch.labels
        if labels is not None:
            labels = [None if item is None else self._once(self._labels, item, "pairs") for item in labels]
        rows = [self._once(self._threads, row, "attributes") for row in batch.thread_rows]
        return attrs.evolve(batch, labels=labels, thread_rows=rows)

    def pairs(self, pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """Key and value pairs, where the key stands for the field's name."""
        return tuple((k, self._text(k, v, "utf-8") if isinstance(v, str) else v) for k, v in pairs)

    def _once(self, done: dict[int, tuple[Any, Any]], item: Any, attribute: str) -> Any:
        """The same changed object for the same object, which is kept so that its identity stays its own."""
        known = done.get(id(item))
        if known is None:
            changed = attrs.evolve(item, **{attribute: self.pairs(getattr(item, attribute))})
            known = done[id(item)] = item, changed
        return known[1]

    def _record(self, record: Any) -> Any:
        """The record with changed strings; itself when nothing changes."""
        names = getattr(type(record), "__fields__", None)
        changes: dict[str, Any] = {}
        for index, field in enumerate(type(record).__layout__.fields):
            attribute = field.name if names is None else names[index]
            value = getattr(record, attribute)
            changed = self._value(field.name, field.type, value)
            if changed is not value:
                changes[attribute] = changed
        return attrs.evolve(record, **changes) if changes else record

    def _value(self, field: str, wire: WireType, value: Any) -> Any:
        if value is None:
            return value
        match wire:
            case Utf16Z():
                return self._text(field, value, "utf-16")
            case AnsiZ():
                return self._text(field, value, "utf-8")
            case PrefixedType() | FixedArrayType() | LocatedType() if wire.text:
                return self._text(field, value, wire.text)
            case StructType():
                return self._record(value)
            case CountedType() | PrefixedType() | FixedArrayType() | LocatedType():
                changed = tuple(self._value(field, wire.element, v) for v in value)
                return value if all(a is b for a, b in zip(value, changed, strict=True)) else changed
            case _:
                return value

    def _text(self, field: str, text: str, encoding: str) -> str:
        if text:
            for rule in self._rules:
                if rule.takes(field, text):
                    self.replaced[rule.name] += 1
                    return self._token(rule.name, text, encoding)
        return text

    def _token(self, rule: str, text: str, encoding: str) -> str:
        """As many code units as the text has; the same for the same text and key, and nothing of the text in it."""
        if encoding == "utf-16":
            data = text.encode("utf-16-le", "surrogatepass")
            length = len(data) // 2
        else:
            data = text.encode("utf-8", "surrogatepass")
            length = len(data)
        digest = hashlib.blake2b(data, key=self._key, digest_size=8).hexdigest()
        return f"{digest}-{rule}".ljust(length, "-")[:length]
