"""Event headers: compressed ones, with every shortcut of the runtime's writer, and full ones.

Knows what an event inherits from the previous one (docs/format.md, "Compressed event headers"). Knows neither blocks
nor where sequence numbers come from.
"""

from __future__ import annotations

from clrevents.encode.scalars import M32, M64, checked, either, guid, unsigned, varuint
from clrevents.encode.values import NO_GUID, EventRecord
from clrevents.schema.codes import UNSORTED, HeaderFlag

# Plain numbers: operations on members of a flag class cost more than the rest of a header.
_METADATA, _CAPTURE, _THREAD, _STACK, _ACTIVITY, _RELATED, _SORTED, _SIZE = map(int, HeaderFlag)
_PARTS = int(HeaderFlag.PARTS)


class CompressedHeaders:
    """Writes the compressed headers of one block; create one per block, because nothing carries over.

    `labels`: NetTrace 6, with a label list id in place of the two activity ids.
    """

    def __init__(self, labels: bool = False) -> None:
        self._labels = labels
        self._metadata = 0
        self._sequence = 0
        self._capture = 0
        self._processor = 0
        self._thread = 0
        self._stack = 0
        self._time = 0
        self._activity = NO_GUID
        self._related = NO_GUID
        self._label = 0
        self._size = 0

    def header(
        self,
        event: EventRecord,
        sequence: int,
        force: HeaderFlag = HeaderFlag.NONE,
        avoid: HeaderFlag = HeaderFlag.NONE,
    ) -> bytes:
        """The header of `event`, whose payload follows. The state changes only when it is written.

        Raises ValueError for a value that does not fit, and for a part of `avoid` that is required.
        """
        forced, avoided = int(force), int(avoid)
        thread = event.thread_id
        capture = thread if event.capture_thread_id is None else event.capture_thread_id
        processor = checked(event.processor, -1, M32, "processor") & M32
        time = checked(event.time, -(1 << 63), M64, "time") & M64
        checked(sequence, 0, M32, "sequence")
        size = len(event.payload)
        activity, related = guid(event.activity_id, "activity_id"), guid(event.related_activity_id, "related id")
        if self._labels:
            if activity != NO_GUID or related != NO_GUID:
                raise ValueError("NetTrace 6 stores activity ids in label lists")
            if forced & _RELATED:
                raise ValueError("NetTrace 6 has no related activity id in its event headers")
        elif event.label_id:
            raise ValueError("label lists exist only in NetTrace 6")
        expected = (self._sequence + (1 if event.metadata_id else 0)) & M32
        needed = 0
        if event.metadata_id != self._metadata:
            needed |= _METADATA
        if sequence != expected or capture != self._capture or processor != self._processor:
            needed |= _CAPTURE
        if thread != self._thread:
            needed |= _THREAD
        if event.stack_id != self._stack:
            needed |= _STACK
        if event.label_id != self._label or activity != self._activity:
            needed |= _ACTIVITY
        if related != self._related:
            needed |= _RELATED
        if size != self._size:
            needed |= _SIZE
        if needed & avoided:
            raise ValueError(f"{HeaderFlag(needed & avoided)!r} cannot be avoided: it differs from the previous event")
        parts = (needed | forced) & ~avoided
        # What is not written equals what was written before, or zero: it was checked then.
        out = [bytes(((parts & _PARTS) | (_SORTED if event.is_sorted else 0),))]
        if parts & _METADATA:
            out.append(varuint(event.metadata_id, 32, "metadata_id"))
        if parts & _CAPTURE:
            step = (sequence - self._sequence - 1) & M32
            out += (
                varuint(step, 32, "sequence"),
                varuint(capture, 64, "capture_thread_id"),
                varuint(processor, 32, "processor"),
            )
        if parts & _THREAD:
            out.append(varuint(thread, 64, "thread_id"))
        if parts & _STACK:
            out.append(varuint(event.stack_id, 32, "stack_id"))
        out.append(varuint((time - self._time) & M64, 64, "time"))
        if parts & _ACTIVITY:
            out.append(varuint(event.label_id, 32, "label_id") if self._labels else activity)
        if parts & _RELATED:
            out.append(related)
        if parts & _SIZE:
            out.append(varuint(size, 32, "the payload's size"))
        self._metadata, self._sequence, self._capture = event.metadata_id, sequence, capture
        self._processor, self._thread, self._stack, self._time = processor, thread, event.stack_id, time
        self._activity, self._related, self._label, self._size = activity, related, event.label_id, size
        return b"".join(out)


def full_nettrace4(event: EventRecord, sequence: int, padded: bool = False) -> bytes:
    """An event with an 80-byte header (docs/format.md, "Full event headers"): header, payload and padding."""
    if event.label_id:
        raise ValueError("label lists exist only in NetTrace 6")
    return _full(
        event,
        sequence,
        guid(event.activity_id, "activity_id") + guid(event.related_activity_id, "related_activity_id"),
        padded,
    )


def full_nettrace6(event: EventRecord, sequence: int, padded: bool = False) -> bytes:
    """An event with a 52-byte header (docs/format.md, "Full event headers"): header, payload and padding."""
    if guid(event.activity_id, "activity_id") + guid(event.related_activity_id, "related id") != 2 * NO_GUID:
        raise ValueError("NetTrace 6 stores activity ids in label lists")
    return _full(event, sequence, unsigned(event.label_id, 4, "label_id"), padded)


def _full(event: EventRecord, sequence: int, extra: bytes, padded: bool) -> bytes:
    capture = event.thread_id if event.capture_thread_id is None else event.capture_thread_id
    metadata_id = checked(event.metadata_id, 0, UNSORTED - 1, "metadata_id")
    body = b"".join(
        (
            # The high bit is the inverse of the specification's name for it: set means "not sorted".
            (metadata_id | (0 if event.is_sorted else UNSORTED)).to_bytes(4, "little"),
            unsigned(sequence, 4, "sequence"),
            unsigned(event.thread_id, 8, "thread_id"),
            unsigned(capture, 8, "capture_thread_id"),
            (checked(event.processor, -1, M32, "processor") & M32).to_bytes(4, "little"),
            unsigned(event.stack_id, 4, "stack_id"),
            either(event.time, 8, "time"),
            extra,
            unsigned(len(event.payload), 4, "the payload's size"),
            bytes(event.payload),
        )
    )
    if padded:
        body += bytes(-(4 + len(body)) % 4)
    return unsigned(len(body), 4, "the event's size") + body
