"""Replaces identifying numbers: processes, threads, activities, endpoints, and the time of the recording.

Equal ids stay equal and intervals stay intervals, so everything computed from them is the same. The schema declares
which fields contain them. Addresses are not among them: docs/cutting.md says why.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import attrs

from clrevents.encode.values import varuint
from clrevents.schema.activity_path import path_checksum
from clrevents.schema.disclosure import CLOCK, DATE, GUID, PORT, PROCESS, THREAD, Disclosure, NumberForm
from clrevents.trace import DecodedRows, Loss, TraceInfo

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
