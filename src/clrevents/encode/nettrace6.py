"""Writes NetTrace 6: length-prefixed blocks after a 20-byte header (docs/format.md, "NetTrace 6").

Blocks are appended in the order of the calls. Threads, labels and metadata live as long as the format says; references
to them are not checked, so that broken streams can be written too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clrevents.encode.blocks import BlockWriter, clock
from clrevents.encode.metadata import row
from clrevents.encode.values import (
    Label,
    MetadataRecord,
    Sink,
    ThreadRow,
    TraceHeader,
    either,
    guid,
    signed,
    unsigned,
    utf8,
    varint,
    varuint,
)
from clrevents.schema.codes import LAST_LABEL, NETTRACE, BlockKind, Forget, LabelKind, ThreadItem

MOST_BLOCK_BYTES: Final = (1 << 24) - 1
"""The most bytes that a block's content can have."""
_WIDTHS = {LabelKind.SPAN_ID: 8, LabelKind.OPCODE: 1, LabelKind.KEYWORDS: 8, LabelKind.LEVEL: 1, LabelKind.VERSION: 1}
_GUIDS = (LabelKind.ACTIVITY_ID, LabelKind.RELATED_ACTIVITY_ID, LabelKind.TRACE_ID)


class NetTrace6Writer(BlockWriter):
    """A NetTrace 6 stream, one block per call. Writes the header and the trace block at once.

    A call that raises ValueError has written nothing. Without `end()` the stream is incomplete, which is legal.
    """

    kinds = BlockKind.EVENTS, BlockKind.STACKS
    labelled = True

    def __init__(self, sink: Sink, header: TraceHeader | None = None, *, version: tuple[int, int] = (6, 0)) -> None:
        super().__init__(sink)
        header = header or TraceHeader()
        content = _trace(header)
        self._pointer_size = header.pointer_size
        major, minor = version
        self.raw(NETTRACE + bytes(4) + signed(major, 4, "major version") + signed(minor, 4, "minor version"))
        self.raw_block(BlockKind.TRACE, content)

    def metadata(self, records: Iterable[MetadataRecord], header: bytes = b"") -> None:
        """Write a metadata block; `header` are bytes that readers skip (docs/format.md, "Description rows")."""
        out = [unsigned(len(header), 2, "the header's size"), header]
        for described in records:
            try:
                out.append(row(described))
            except ValueError as error:
                raise ValueError(f"description of {described.provider}/{described.name}: {error}") from None
        self.raw_block(BlockKind.METADATA, b"".join(out))

    def sequence_point(self, time: int, threads: Mapping[int, int] | None = None, flags: int = Forget.NOTHING) -> None:
        """Write last numbers by thread index (docs/format.md, "Sequence points"); None uses those written so far."""
        numbers = self._sequences.last if threads is None else threads
        content = [either(time, 8, "time"), unsigned(flags, 4, "flags"), unsigned(len(numbers), 4, "thread count")]
        for index, number in numbers.items():
            content += (varuint(index, 64, "thread index"), varuint(number, 32, "sequence"))
        self.raw_block(BlockKind.SEQUENCE_POINT, b"".join(content))
        if flags & Forget.THREADS:
            self._sequences.last.clear()

    def threads(self, rows: Iterable[ThreadRow]) -> None:
        """Write threads that start to exist (docs/format.md, "Threads")."""
        self.raw_block(BlockKind.THREADS, b"".join(map(_thread, rows)))

    def remove_threads(self, threads: Mapping[int, int] | Iterable[tuple[int, int]]) -> None:
        """Write threads that end: last sequence number by index (docs/format.md, "Removed threads")."""
        pairs = list(threads.items() if isinstance(threads, Mapping) else threads)
        content = [varuint(i, 64, "thread index") + varuint(n, 32, "sequence") for i, n in pairs]
        self.raw_block(BlockKind.REMOVED_THREADS, b"".join(content))
        for index, _ in pairs:
            self._sequences.last.pop(index, None)

    def labels(self, first_id: int, lists: Iterable[Sequence[Label]]) -> None:
        """Write label lists `first_id`, `first_id + 1`, … until the next sequence point; none may be empty."""
        encoded = [_label_list(labels) for labels in lists]
        head = unsigned(first_id, 4, "first label list id") + unsigned(len(encoded), 4, "the number of label lists")
        self.raw_block(BlockKind.LABELS, head + b"".join(encoded))

    def raw_block(self, kind: int, content: bytes) -> None:
        """Write any block, given its kind and its content of at most 2^24 - 1 bytes."""
        head = unsigned(len(content), 3, f"the size of a block of kind {kind}") + unsigned(kind, 1, "block kind")
        self.raw(head + content)

    def end(self) -> None:
        """Write the block that ends the stream."""
        self.raw_block(BlockKind.END, b"")


def _trace(header: TraceHeader) -> bytes:
    pairs = list(header.key_values)
    given = {key for key, _ in pairs}
    for key, value in (
        ("ProcessId", header.process_id),
        ("HardwareThreadCount", header.processors),
        ("ExpectedCPUSamplingRate", header.sampling_interval_ns),
    ):
        if value is not None and key not in given:
            pairs.append((key, str(value)))
    return b"".join(
        (
            clock(header),
            signed(header.pointer_size, 4, "pointer_size"),
            signed(len(pairs), 4, "the number of key and value pairs"),
            *(utf8(key, "key") + utf8(value, f"value of {key!r}") for key, value in pairs),
        )
    )


def _thread(thread: ThreadRow) -> bytes:
    out = [varuint(thread.index, 64, "thread index")]
    if thread.name is not None:
        out += (_kind(ThreadItem.NAME), utf8(thread.name, "thread name"))
    if thread.process_id is not None:
        out += (_kind(ThreadItem.PROCESS_ID), varuint(thread.process_id, 64, "process_id"))
    if thread.thread_id is not None:
        out += (_kind(ThreadItem.THREAD_ID), varuint(thread.thread_id, 64, "thread_id"))
    for key, value in thread.attributes:
        out += (_kind(ThreadItem.ATTRIBUTE), utf8(key, "attribute key"), utf8(value, f"attribute {key!r}"))
    out.append(thread.slack)
    content = b"".join(out)
    return unsigned(len(content), 2, f"the row of thread {thread.index}") + content


def _label_list(labels: Sequence[Label]) -> bytes:
    if not labels:
        raise ValueError("a label list cannot be empty: the empty list has the id 0")
    return b"".join(_label(label, i == len(labels) - 1) for i, label in enumerate(labels))


def _label(label: Label, last: bool) -> bytes:
    kind, value, what = label.kind, label.value, f"label {label.kind.name}"
    head = _kind(kind | (LAST_LABEL if last else 0))
    if kind in _GUIDS and not isinstance(value, int | str):
        return head + guid(value, what)
    if kind == LabelKind.TEXT and isinstance(value, str):
        return head + utf8(label.key, "label key") + utf8(value, f"label {label.key!r}")
    if kind == LabelKind.NUMBER and isinstance(value, int):
        return head + utf8(label.key, "label key") + varint(value, f"label {label.key!r}")
    if kind in _WIDTHS and isinstance(value, int):
        return head + unsigned(value, _WIDTHS[kind], what)
    raise ValueError(f"{what} cannot have the value {value!r}")


def _kind(kind: int) -> bytes:
    return unsigned(kind, 1, "kind")
