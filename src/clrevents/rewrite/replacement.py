"""What replaces a text: a word that only a key can connect with it, or the same number of `x`; and what replaces
identifying numbers: processes, threads, activities, endpoints, and the time of the recording.

Texts that reports treat as alike, because they differ only in numbers, become words that they treat as alike. Equal ids
stay equal and intervals stay intervals, so everything computed from them is the same; addresses are not among them:
docs/cutting.md says why. Knows encodings and lengths, and how much of a text may stay; the schema declares which fields
hold ids. Remembers some texts, for speed, and counts what was replaced.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define
from clrevents._util.varying import is_id, message_pattern
from clrevents.encode.values import varuint
from clrevents.schema.activity_path import path_checksum
from clrevents.schema.disclosure import CLOCK, DATE, GUID, PORT, PROCESS, THREAD, Disclosure, NumberForm, going
from clrevents.trace import DecodedRows, Loss, TraceInfo

_BLANK: Final = "x"
_MOST: Final = 1 << 16
_LONGEST: Final = 512
_LETTERS: Final = "ghjkmnpqrstuvwyz"
"""For words: without digits and those that stand for some, so that no part of a word looks like a number."""
_WORD: Final = 12
_NUMBERS: Final = 10**11
_MOST_PARTS: Final = 64
SCHEMA: Final = "clrevents.redaction/1"


@define
class Replacer:
    """Replaces texts: equal ones by equal words, different ones by different words, which depend on the key; with
    `blank`, all by `x`.

    A text that matches one of `also` is replaced entirely, whatever may stay of it.
    """

    key: bytes = attrs.field(repr=False)
    blank: bool = False
    also: tuple[re.Pattern[str], ...] = ()
    _known: dict[tuple[Disclosure, int, bool, bytes], bytes] = attrs.field(factory=dict, init=False, repr=False)
    _keys: dict[str, str] = attrs.field(factory=dict, init=False, repr=False)
    _digest: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._digest = hashlib.sha256(self.key).digest()

    def encoded(self, raw: bytes, disclosure: Disclosure, width: int, fixed: bool) -> bytes:
        """The bytes of a text in UTF-16 (`width` 2) or UTF-8 after replacement: with `fixed` as many as before."""
        if disclosure.stays == "nothing" and self.blank:
            return _BLANK.encode(_ENCODINGS[width]) * (len(raw) // width)
        key = disclosure, width, fixed, raw
        known = self._known.get(key)
        if known is None:
            known = self._encoded(raw, disclosure, width, fixed)
            if len(raw) <= _LONGEST:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[key] = known
        return known

    def text(self, text: str, disclosure: Disclosure) -> str:
        """The same of a text that is not in a payload."""
        count = self._going(text, disclosure)
        if not count:
            return text
        gone = text[:count]
        if self.blank:
            return _BLANK * count + text[count:]
        return self.word(gone) + text[count:] if count < len(text) else self._words(gone)

    def name(self, name: str) -> str:
        """A name of code: unchanged, or a word if it matches, so different names stay different."""
        return self.word(name) if self.matches(name) else name

    def label_key(self, name: str) -> str:
        """An unknown key: a number, the same for equal keys, or a word."""
        if self.blank:
            return self._keys.setdefault(name, f"key{len(self._keys) + 1}")
        return self.word(name)

    def matches(self, text: str) -> bool:
        """Whether a text must be replaced by request."""
        return any(pattern.search(text) for pattern in self.also)

    def word(self, text: str) -> str:
        """The word of a text: no longer or shorter for a longer text."""
        digest = self._hash(text)
        return _BLANK + "".join(_LETTERS[byte >> shift & 15] for byte in digest[: _WORD // 2] for shift in (4, 0))

    def _words(self, text: str) -> str:
        """The word of a whole text; for a path, of each of its parts."""
        parts = text.split("/") if text.startswith("/") else [text]
        if len(parts) > _MOST_PARTS:
            return self.word(text)
        return "/".join(part and self._varying(part) for part in parts)

    def _varying(self, text: str) -> str:
        """A word; texts that differ only in numbers get the same one, followed by different numbers."""
        pattern = message_pattern(text)
        if pattern == text:
            return self.word(text)
        number = int.from_bytes(self._hash(text)) % (9 * _NUMBERS) + _NUMBERS
        return str(number) if is_id(text) else f"{self.word(pattern)}-{number}"

    def _hash(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._digest, digest_size=8).digest()

    def _going(self, text: str, disclosure: Disclosure) -> int:
        return len(text) if self.also and self.matches(text) else going(disclosure, text)

    def _encoded(self, raw: bytes, disclosure: Disclosure, width: int, fixed: bool) -> bytes:
        encoding = _ENCODINGS[width]
        text = _decoded(raw, width)
        count = self._going(text, disclosure)
        if not count:
            return raw
        rest = raw[len(_again(text[:count], raw, width)) :]
        size = len(raw) - len(rest)
        if self.blank:
            return _BLANK.encode(encoding) * (size // width) + rest
        if fixed:
            return self.word(text[:count]).ljust(size // width, _BLANK)[: size // width].encode(encoding) + rest
        word = self._words(text) if count == len(text) else self.word(text[:count])
        return word.encode(encoding) + rest


_ENCODINGS: Final = {1: "utf-8", 2: "utf-16-le"}


def _decoded(raw: bytes, width: int) -> str:
    """A text as readers show it: narrow bytes that are not UTF-8 are Latin-1."""
    if width == 2:
        return raw.decode("utf-16-le", "surrogatepass")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _again(text: str, raw: bytes, width: int) -> bytes:
    """The bytes that a part of `raw` was decoded from."""
    if width == 2:
        return text.encode("utf-16-le", "surrogatepass")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return text.encode("latin-1")
    return text.encode("utf-8")


@define
class RedactionCounts(Value):
    """Counts that grow while a trace is redacted."""

    replaced: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced texts, arrays of bytes and characters, by provider, event and field."""
    identifiers: Counter[tuple[str, str, str]] = attrs.field(factory=Counter)
    """Replaced identifying numbers in payloads, by provider, event and field."""
    blanked: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads that became zeros, by provider and event."""
    tails: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """Payloads in which only the bytes after the known fields became zeros."""

    def to_dict(self) -> dict[str, Any]:
        """What `--report` writes."""
        return {
            "schema": SCHEMA,
            "replaced": [
                {"provider": provider, "event": event, "field": field, "texts": count}
                for (provider, event, field), count in sorted(self.replaced.items())
            ],
            "identifiers": [
                {"provider": provider, "event": event, "field": field, "numbers": count}
                for (provider, event, field), count in sorted(self.identifiers.items())
            ],
            "blanked": _payloads(self.blanked),
            "tails": _payloads(self.tails),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def _payloads(counts: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"provider": p, "event": e, "payloads": count} for (p, e), count in sorted(counts.items())]


ORIGIN: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When a trace starts after its dates were changed."""
CLOCK_ORIGIN: Final = 10**15
"""The reading of the clock at that moment: far from 0, because a trace may have times before its start."""
_ORIGIN_FILETIME: Final = (ORIGIN - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10
_YEAR: Final = 366 * 86_400 * 10_000_000
_NO_GUID: Final = bytes(16)
_M32: Final = (1 << 32) - 1
_HALF: Final = 1 << 63
_M64: Final = (1 << 64) - 1
_WORDS: Final = struct.Struct("<4I")
_GUID_DIGITS: Final = 36
_GUID_TEXT: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Identifiers:
    """The other numbers of one trace. GUIDs differ from `key` to `key`, ids of the system are counted.

    `known` are the ids of its threads and processes: counted by their size, because reports list threads in that order.
    """

    def __init__(self, info: TraceInfo, key: bytes, known: Iterable[int | None] = ()) -> None:
        self._key = hashlib.sha256(key).digest()
        self._ids: dict[int, int] = {}
        self._ports: dict[int, int] = {}
        self._process = info.process_id or 0
        for number in sorted({self._process, *(number or 0 for number in known)}):
            self.system_id(number)
        self._new_process = self.system_id(self._process)
        self._clock = CLOCK_ORIGIN - info.sync_qpc
        self._start = None if info.start is None else (info.start - ORIGIN) // timedelta(microseconds=1) * 10

    def system_id(self, number: int) -> int:
        """Of a process or thread; those not known before are counted as they appear.

        0 (none) and all bits set (unknown) stay. Processes and threads share numbers, because the first thread of a
        process may have the process's number.
        """
        if number in (0, -1, _M32, _M64):
            return number
        return self._ids.setdefault(number, len(self._ids) + 1)

    def guid(self, raw: bytes) -> bytes:
        """Another id, the same for equal ones.

        An id that is a path of activities, like the runtime's own, is still a path, but no longer names its process.
        """
        if raw == _NO_GUID:
            return raw
        *numbers, check = _WORDS.unpack(raw)
        plain = path_checksum(numbers)
        if check == plain:
            return raw
        if check == plain ^ self._process & _M32:
            return _WORDS.pack(*numbers, plain ^ self._new_process)
        return self._digest(raw, 16)

    def span(self, number: int) -> int:
        """The same for the number of a span."""
        return int.from_bytes(self._digest(number.to_bytes(8, "little"), 8), "little") if number else number

    def text(self, text: str) -> str:
        """The same for a GUID in digits; other texts are unchanged."""
        if not _GUID_TEXT.fullmatch(text):
            return text
        return str(UUID(bytes_le=self.guid(UUID(text).bytes_le)))

    def encoded(self, raw: bytes, width: int) -> bytes:
        """The same for the bytes of a text in UTF-16 (`width` 2) or UTF-8."""
        if len(raw) != _GUID_DIGITS * width:
            return raw
        encoding = "utf-16-le" if width == 2 else "utf-8"
        return self.text(raw.decode(encoding, "replace")).encode(encoding)

    def value(self, raw: bytes, form: NumberForm, disclosure: Disclosure) -> bytes:
        """The bytes of a field after replacement, as many as before; zeros where another number does not fit."""
        if disclosure == GUID:
            return self.guid(raw)
        number = _read(raw, form)
        if disclosure in (PROCESS, THREAD):
            number = self.system_id(number)
        elif disclosure == PORT:
            number = number and self._ports.setdefault(number, len(self._ports) + 1)
        elif disclosure == CLOCK:
            number = number + self._clock & _M64
        else:
            number = self._date(number) if disclosure == DATE else 0
        return _number(number, raw, form)

    def info(self, info: TraceInfo) -> TraceInfo:
        """The header: its process, its start and its clock."""
        process = info.process_id and self.system_id(info.process_id)
        start = None if info.start is None else ORIGIN
        return attrs.evolve(info, process_id=process, start=start, sync_qpc=CLOCK_ORIGIN)

    def losses(self, losses: Iterable[Loss]) -> tuple[Loss, ...]:
        """The losses, with other threads."""
        return tuple(attrs.evolve(loss, thread_id=self.system_id(loss.thread_id)) for loss in losses)

    def thread(self, row: Any) -> Any:
        """A thread of NetTrace 6, or what else has `thread_id` and `process_id`."""
        thread = None if row.thread_id is None else self.system_id(row.thread_id)
        process = None if row.process_id is None else self.system_id(row.process_id)
        return attrs.evolve(row, thread_id=thread, process_id=process)

    def labels(self, labels: Any) -> Any:
        """Activities, traces and spans of a list of labels."""
        activity, related, trace = labels.activity_id, labels.related_activity_id, labels.trace_id
        return attrs.evolve(
            labels,
            activity_id=activity and self.guid(activity),
            related_activity_id=related and self.guid(related),
            trace_id=trace and self.guid(trace),
            span_id=labels.span_id and self.span(labels.span_id),
        )

    def rows(self, rows: DecodedRows) -> DecodedRows:
        """Times, threads and activities of events; the threads of NetTrace 6 are a list of their own."""
        # Beyond 63 bits times wrap around, as they do when they are read.
        ticks = rows.ticks + ((self._clock + _HALF & _M64) - _HALF)
        changed = attrs.evolve(
            rows,
            ticks=ticks,
            activities=self._guids(rows.activities),
            related_activities=self._guids(rows.related_activities),
        )
        if rows.thread_places is not None:
            return changed
        runs = attrs.evolve(rows.runs, captures=self._system_ids(rows.runs.captures))
        return attrs.evolve(changed, thread_ids=self._system_ids(rows.thread_ids), runs=runs)

    def _system_ids(self, numbers: Any) -> Any:
        replaced = numbers.copy()
        replaced[:] = list(map(self.system_id, numbers.tolist()))
        return replaced

    def _guids(self, guids: Any) -> Any:
        return guids and attrs.evolve(guids, each=list(map(self.guid, guids.each)))

    def _date(self, number: int) -> int:
        """A date within a year of the start keeps its distance from it; any other could reveal the shift."""
        if self._start is None or abs(number - self._start - _ORIGIN_FILETIME) > _YEAR:
            return 0
        return number - self._start

    def _digest(self, raw: bytes, size: int) -> bytes:
        return hashlib.blake2b(raw, key=self._key, digest_size=size).digest()


def _read(raw: bytes, form: NumberForm) -> int:
    if form not in ("varuint", "varint"):
        return int.from_bytes(raw, "little")
    number = sum((byte & 127) << 7 * place for place, byte in enumerate(raw))
    return number >> 1 ^ -(number & 1) if form == "varint" else number


def _number(number: int, raw: bytes, form: NumberForm) -> bytes:
    size = len(raw)
    if form not in ("varuint", "varint"):
        return (number if 0 <= number < 1 << 8 * size else 0).to_bytes(size, "little")
    encoded = varuint((number << 1 ^ number >> 63) & _M64 if form == "varint" else number & _M64, 64, "a number")
    if len(encoded) > size:
        encoded = b"\0"
    # What is shorter is filled up: the sizes of fields stay.
    return bytes(byte | 128 for byte in encoded[:-1]) + (
        encoded[-1:] if len(encoded) == size else bytes((encoded[-1] | 128, *[128] * (size - len(encoded) - 1), 0))
    )
