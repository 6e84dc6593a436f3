"""Parts shared by several generations: the clock header, stacks, and the contents of event blocks.

Knows what a block declares about its events (docs/format.md, "Block header"), and numbers the events of threads.
Knows neither envelope nor sink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from clrevents.encode.headers import CompressedHeaders
from clrevents.encode.scalars import M32, checked, either, signed, unsigned
from clrevents.encode.values import Choices, EventRecord, Stack, TraceHeader
from clrevents.schema.codes import BlockFlag, HeaderFlag

_BLOCK_HEADER = 20
_COMPRESSED = int(BlockFlag.COMPRESSED)


def clock(header: TraceHeader) -> bytes:
    """The start time, its tick, the ticks per second: 32 bytes (docs/format.md, "Trace header")."""
    when = header.start
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"start must have a time zone: {when!r}")
        utc = when.astimezone(UTC)
        weekday = utc.isoweekday() % 7
        when = (utc.year, utc.month, weekday, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond // 1000)
    if len(when) != 8:
        raise ValueError(f"start must have eight components: {when!r}")
    return b"".join(
        (
            *(signed(part, 2, "a component of start") for part in when),
            signed(header.sync_qpc, 8, "sync_qpc"),
            signed(header.frequency, 8, "frequency"),
        )
    )


def trace_object(header: TraceHeader) -> bytes:
    """The 48 bytes of NetPerf 3 and NetTrace 4/5."""
    return b"".join(
        (
            clock(header),
            signed(header.pointer_size, 4, "pointer_size"),
            either(header.process_id or 0, 4, "process_id"),
            signed(header.processors or 0, 4, "processors"),
            signed(header.sampling_interval_ns or 0, 4, "sampling_interval_ns"),
        )
    )


def stack_bytes(stack: Stack, pointer_size: int) -> bytes:
    """Address bytes as stored: words of the pointer size, innermost first (docs/format.md, "Stacks")."""
    if isinstance(stack, bytes):
        return stack
    return b"".join(unsigned(address, pointer_size, "an address of a stack") for address in stack)


def stacks(first_id: int, listed: Iterable[Stack], pointer_size: int) -> bytes:
    """A stack block's content: first id, count, and stacks (docs/format.md, "Blocks of NetTrace 4", "NetTrace 6")."""
    found = [stack_bytes(stack, pointer_size) for stack in listed]
    return b"".join(
        (
            unsigned(first_id, 4, "first stack id"),
            checked(len(found), 0, (1 << 31) - 1, "the number of stacks").to_bytes(4, "little"),
            *(signed(len(stack), 4, "a stack's size") + stack for stack in found),
        )
    )


class Sequences:
    """Next numbers of capture threads (docs/format.md, "Sequence numbers and losses"); only `keep` consumes them."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}
        self._pending: dict[int, int] = {}

    def number(self, event: EventRecord) -> int:
        """The event's own number, or the one after its thread's last."""
        thread = event.thread_id if event.capture_thread_id is None else event.capture_thread_id
        number = event.sequence
        if number is None:
            number = (self._pending.get(thread, self.last.get(thread, 0)) + 1) & M32
        self._pending[thread] = number
        return number

    def keep(self) -> None:
        """The block with these events was written."""
        self.last.update(self._pending)
        self._pending.clear()

    def drop(self) -> None:
        """The block was not written."""
        self._pending.clear()


def events(
    listed: Sequence[EventRecord],
    sequences: Sequences,
    choices: Choices,
    full: Callable[[EventRecord, int, bool], bytes],
    labels: bool,
) -> bytes:
    """An event block's content: block header and events (docs/format.md, "Block header").

    `full` writes one event with a full header. The caller calls `sequences.keep` or `sequences.drop`.
    """
    force, avoid = _each(choices.force, len(listed), "force"), _each(choices.avoid, len(listed), "avoid")
    short = CompressedHeaders(labels)
    out = [b""]
    for i, event in enumerate(listed):
        try:
            sequence = sequences.number(event)
            if choices.compressed:
                out += (short.header(event, sequence, force[i], avoid[i]), bytes(event.payload))
            else:
                out.append(full(event, sequence, choices.padded))
        except ValueError as error:
            raise ValueError(f"event {i} (metadata id {event.metadata_id}): {error}") from None
    out[0] = block_header(choices, [event.time for event in listed])
    return b"".join(out)


def block_header(choices: Choices, times: Sequence[int]) -> bytes:
    """Size, flags and time span, zero-padded to the header's size (docs/format.md, "Block header")."""
    checked(choices.header_size, _BLOCK_HEADER, 0xFFFF, "header_size")
    first, last = choices.span or ((min(times), max(times)) if times else (0, 0))
    return b"".join(
        (
            unsigned(choices.header_size, 2, "header_size"),
            unsigned(choices.flags & ~_COMPRESSED | (_COMPRESSED if choices.compressed else 0), 2, "flags"),
            either(first, 8, "the first time"),
            either(last, 8, "the last time"),
            bytes(choices.header_size - _BLOCK_HEADER),
        )
    )


def _each(parts: HeaderFlag | Sequence[HeaderFlag], count: int, what: str) -> Sequence[HeaderFlag]:
    if isinstance(parts, HeaderFlag):
        return [parts] * count
    if len(parts) != count:
        raise ValueError(f"{what} has {len(parts)} values for {count} events")
    return parts
