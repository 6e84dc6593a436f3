"""`redact`: the same trace without sensitive strings.

Rules select strings; each becomes a token of the same length, equal for equal texts. Payloads that cannot be read are
blanked and counted. Times, stacks, threads, numbers and names of code are kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from clrevents.outputs import whole_file
from clrevents.reference import Codec, codec
from clrevents.rewrite.copy import Copied, Copier
from clrevents.schema.dynamic import FieldDescription, make_class
from clrevents.schema.layout import Layout
from clrevents.schema.wire import (
    AnsiZ,
    BytesType,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    WireType,
)
from clrevents.trace import DecodedRows, RawPayload, Trace, passes_of


@attrs.frozen
class Rule:
    """Selects strings to replace: those of certain fields, and those with a certain text."""

    name: str
    """The name of the rule, which becomes part of its tokens."""
    fields: re.Pattern[str] | None = None
    """Replace strings of fields whose name matches anywhere; None replaces none by name."""
    text: re.Pattern[str] | None = None
    """Replace strings that match anywhere; None replaces none by text."""

    def takes(self, field: str, text: str) -> bool:
        """Whether the string `text` of `field` is replaced. Empty strings are never replaced."""
        if self.fields is not None and self.fields.search(field):
            return True
        return self.text is not None and bool(self.text.search(text))


RULES: Final = (
    Rule(
        "path",
        re.compile(r"(?i)path|file_?name|directory|folder|codebase"),
        re.compile(r"""^["']?(?:/[^/]+/[^/]|[A-Za-z]:[\\/]|\\\\)"""),
    ),
    Rule("message", re.compile(r"(?i)message")),
    Rule("command-line", re.compile(r"(?i)command_?line|cmd_?line|^arg(?:ument)?s?$")),
    Rule("environment", re.compile(r"(?i)environ|^env")),
    Rule("address", re.compile(r"(?i)url|uri|host|query"), re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")),
    Rule("value", re.compile(r"^(?:Value|Payload)$")),
    Rule("symbols", re.compile(r"^Chunk$")),
)
"""The default rules. `value` is for texts such as arguments of DiagnosticSource, `symbols` for the bytes of symbol
files, which contain the paths of source files."""


@attrs.frozen
class Redacted:
    """The result of `redact`."""

    copied: Copied
    """What was written."""
    replaced: Mapping[str, int]
    """The number of replaced strings by the name of the rule."""
    blanked: int
    """The number of payloads zeroed because they cannot be read."""
    tails: int
    """The number of payloads in which only the bytes after the known fields were zeroed."""


def redact(
    trace: Trace,
    out: str | os.PathLike[str],
    *,
    rules: Iterable[Rule] = RULES,
    key: bytes | None = None,
) -> Redacted:
    """Write all of `trace` to the file `out`, with the strings matched by any of the `rules` replaced by tokens.

    Equal strings have equal tokens. With the same `key`, this holds between runs; by default every run has its own
    key. `out` appears only when complete. Raises the exceptions of `Trace.events`, and OSError.
    """
    work = _Redaction(tuple(rules), key or secrets.token_bytes(16), trace.info.pointer_size)
    info = attrs.evolve(trace.info, key_values=work.pairs(trace.info.key_values))
    losses = trace.losses
    with whole_file(out) as file:
        copier = Copier(file, info, losses)
        for rows in passes_of(trace).event_rows():
            payloads = [work.payload(rows, row) for row in range(len(rows))]
            copier.add(work.surroundings(rows), payloads)
        copied = copier.finish()
    return Redacted(copied, dict(work.replaced), work.blanked, work.tails)


class _Redaction:
    """Replaces strings, and counts them by rule."""

    def __init__(self, rules: tuple[Rule, ...], key: bytes, pointer_size: int) -> None:
        self._rules = rules
        self._key = hashlib.sha256(key).digest()
        self._pointer_size = pointer_size
        self._codecs: dict[type[Any], Codec] = {}
        self._parts: dict[tuple[type[Any], int], type[Any]] = {}
        self._scattered: dict[type[Any], bool] = {}
        self._kinds: dict[int, tuple[Any, Any]] = {}
        self._redacted_kinds: list[Any] = []
        self._redacted_threads: list[Any] = []
        self.replaced: Counter[str] = Counter()
        self.blanked = 0
        self.tails = 0

    def payload(self, rows: DecodedRows, row: int) -> bytes:
        """The bytes of one payload after redaction."""
        data, payload = rows.payload_bytes[row], rows.payloads[row]
        if isinstance(payload, RawPayload):
            self.blanked += bool(data)
            return bytes(len(data))
        before = Counter(self.replaced)
        changed = self._record(payload)
        tail = rows.tails.get(row, b"")
        body = data[: len(data) - len(tail)]
        if changed is not payload or self._has_gaps(type(payload)):
            rebuilt = self._rebuilt(payload, changed, body)
            if rebuilt is None:
                # A payload that does not re-encode identically may hide what should be replaced.
                self.replaced = before
                self.blanked += 1
                return bytes(len(data))
            body = rebuilt
        self.tails += bool(tail)
        return body + bytes(len(tail))

    def surroundings(self, given: DecodedRows) -> DecodedRows:
        """The rows with their descriptions, labels and threads redacted."""
        # Both lists only grow from rows to rows.
        kinds = self._redacted_kinds
        kinds += [self._once(self._kinds, kind, self._kind) for kind in given.kinds[len(kinds) :]]
        if given.labels is None and not given.thread_rows:
            return attrs.evolve(given, kinds=kinds)
        labels = given.labels
        if labels is not None:
            # Only for these rows: a trace may have as many lists as events.
            done: dict[int, tuple[Any, Any]] = {}
            labels = [None if item is None else self._once(done, item, self._labels) for item in labels]
        rows = self._redacted_threads
        rows += map(self._thread, given.thread_rows[len(rows) :])
        return attrs.evolve(given, kinds=kinds, labels=labels, thread_rows=rows)

    def pairs(self, pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """Key and value pairs, with the key as the field's name."""
        return tuple((self._name(k), self._text(k, v, "utf-8") if isinstance(v, str) else v) for k, v in pairs)

    def _once(self, done: dict[int, tuple[Any, Any]], item: Any, change: Callable[[Any], Any]) -> Any:
        """The same changed object for the same object, which is kept so that its identity is not reused."""
        known = done.get(id(item))
        if known is None:
            known = done[id(item)] = item, change(item)
        return known[1]

    def _labels(self, labels: Any) -> Any:
        return attrs.evolve(labels, pairs=self.pairs(labels.pairs))

    def _thread(self, row: Any) -> Any:
        name = None if row.name is None else self._text("ThreadName", row.name, "utf-8")
        return attrs.evolve(row, name=name, attributes=self.pairs(row.attributes))

    def _kind(self, kind: Any) -> Any:
        row = attrs.evolve(
            kind.row,
            provider=self._name(kind.row.provider),
            name=self._name(kind.row.name),
            fields=tuple(map(self._field, kind.row.fields)),
            attributes=self.pairs(kind.row.attributes),
            description=self._text("Description", kind.row.description, "utf-8"),
            message=self._text("Message", kind.row.message, "utf-8"),
        )
        base = None if kind.base is None else self._once(self._kinds, kind.base, self._kind)
        return attrs.evolve(kind, row=row, base=base)

    def _field(self, field: FieldDescription) -> FieldDescription:
        element = None if field.element is None else self._field(field.element)
        members = tuple(map(self._field, field.members))
        return attrs.evolve(field, name=self._name(field.name), element=element, members=members)

    def _name(self, name: str) -> str:
        """A name of code or a key is kept, unless a rule matches its text."""
        return self._text("", name, "utf-16")

    def _has_gaps(self, kind: Any) -> bool:
        """Whether there may be bytes between its fields."""
        known = self._scattered.get(kind)
        if known is None:
            known = self._scattered[kind] = any(_is_scattered(f.type) for f in kind.__layout__.fields)
        return known

    def _rebuilt(self, payload: Any, changed: Any, body: bytes) -> bytes | None:
        """The bytes of `changed`; None if `payload` does not re-encode identically."""
        try:
            return self._build(changed) if self._build(payload) == body else None
        except ValueError:
            return None

    def _build(self, record: Any) -> bytes:
        kind: Any = type(record)
        values = [getattr(record, name) for name in kind.__fields__]
        if values and values[-1] is None:
            # Its writer was older than its description: the last fields are missing.
            count = values.index(None)
            part = self._parts.get((kind, count))
            if part is None:
                layout = Layout(kind.__layout__.fields[:count])
                part = self._parts[kind, count] = make_class(kind.__name__, layout)
            kind, record = part, part(*values[:count])
        known = self._codecs.get(kind)
        if known is None:
            known = self._codecs[kind] = codec(kind, self._pointer_size)
        return known.build(record)

    def _record(self, record: Any) -> Any:
        """The record with changed strings; the same object if nothing changes."""
        cls = type(record)
        changes: dict[str, Any] = {}
        for attribute, field in zip(cls.__fields__, cls.__layout__.fields, strict=True):
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
            case BytesType():
                return self._bytes(field, value)
            case CountedType() | PrefixedType() | FixedArrayType() | LocatedType() if _is_byte(wire.element):
                data = bytes(v & 0xFF for v in value)
                return value if self._bytes(field, data) is data else (0,) * len(value)
            case CountedType() | PrefixedType() | FixedArrayType() | LocatedType():
                changed = tuple(self._value(field, wire.element, v) for v in value)
                return value if all(a is b for a, b in zip(value, changed, strict=True)) else changed
            case _:
                return value

    def _text(self, field: str, text: str, encoding: str) -> str:
        rule = self._rule(field, text)
        return text if rule is None else self._token(rule, text, encoding)

    def _bytes(self, field: str, data: bytes) -> bytes:
        """Bytes that are text in either encoding: zeros if that text is replaced."""
        for text in (data.decode("utf-8", "replace"), data.decode("utf-16-le", "replace")):
            if self._rule(field, text) is not None:
                return bytes(len(data))
        return data

    def _rule(self, field: str, text: str) -> str | None:
        """The rule that matches this text, which is counted."""
        if text:
            for rule in self._rules:
                if rule.takes(field, text):
                    self.replaced[rule.name] += 1
                    return rule.name
        return None

    def _token(self, rule: str, text: str, encoding: str) -> str:
        """As many code units as the text has; equal for equal text and key, and reveals nothing of the text."""
        units = len(text.encode("utf-16-le", "surrogatepass")) // 2
        data = text.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, key=self._key, digest_size=8).hexdigest()
        length = units if encoding == "utf-16" else len(data)
        return f"{digest}-{ascii(rule)[1:-1]}".ljust(length, "-")[:length]


def _is_byte(wire: WireType) -> bool:
    return isinstance(wire, Scalar) and wire.size == 1 and wire.kind == "int"


def _is_scattered(wire: WireType) -> bool:
    """Whether its values may be anywhere in the payload."""
    match wire:
        case LocatedType():
            return True
        case StructType():
            return any(_is_scattered(f.type) for f in wire.record.__layout__.fields)  # type: ignore[attr-defined]
        case CountedType() | PrefixedType() | FixedArrayType():
            return _is_scattered(wire.element)
        case _:
            return False
