"""Uncompressed event headers: NetTrace 4 (80 bytes), NetTrace 6 (52) and NetPerf (56).

Yields the same columns as the scan kernel. No runtime has shipped NetTrace files like these, so this is not a kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from clrevents._util.value_classes import frozen
from clrevents.decode.kernels.header_scan import HeaderColumns, Status, make_columns, signed_tick
from clrevents.schema.codes import UNSORTED, HeaderFlag

_GUIDS = bytes(32)
_ID_MASK = UNSORTED - 1
_BOTH_IDS = int(HeaderFlag.ACTIVITY | HeaderFlag.RELATED)
_LABELS = int(HeaderFlag.LABELS)


@frozen(eq=False)
class Shape:
    """The offsets of the fields of a full header. `guids` is the offset of two GUIDs, or -1 for a label id."""

    header: struct.Struct
    order: Callable[..., tuple[int, int, int, int, int, int, int, int, int, int]]
    guids: int


def _nettrace4(
    size: int, id: int, seq: int, thread: int, capture: int, cpu: int, stack: int, time: int, *rest: Any
) -> tuple[int, int, int, int, int, int, int, int, int, int]:
    return size, id, seq, thread, capture, cpu, stack, time, 0, rest[-1]


def _nettrace6(
    size: int, id: int, seq: int, thread: int, capture: int, cpu: int, stack: int, time: int, label: int, payload: int
) -> tuple[int, int, int, int, int, int, int, int, int, int]:
    return size, id, seq, thread, capture, cpu, stack, time, label, payload


NETTRACE4 = Shape(struct.Struct("<IIIQQIIQ16s16sI"), _nettrace4, 44)
NETTRACE6 = Shape(struct.Struct("<IIIQQIIQII"), _nettrace6, -1)


def walk(buf: bytes, start: int, end: int, base: int, shape: Shape) -> tuple[list[HeaderColumns], Status, int]:
    """The columns of `buf[start:end]`, how it ended, and where; as `HeaderScanner.scan`.

    The high bit of the metadata id means "not sorted" and is dropped (docs/format.md, "Full event headers").
    """
    rows: list[tuple[int, int, int, int, int, int]] = []
    runs: list[tuple[int, int, int, int]] = []
    marks: list[tuple[int, int, int]] = []
    carried: bytes | int = _GUIDS if shape.guids >= 0 else 0
    pos = start
    latest: int | None = None
    status: Status = "done"
    header = shape.header
    while pos < end:
        if end - pos < header.size:
            status = "truncated"
            break
        size, id, seq, thread, capture, cpu, stack, time, label, payload = shape.order(*header.unpack_from(buf, pos))
        body = pos + header.size
        if payload > end - body:
            status = "truncated"
            break
        shown: bytes | int = buf[pos + shape.guids : pos + shape.guids + 32] if shape.guids >= 0 else label
        if shown != carried:
            carried = shown
            mark = (len(rows), _BOTH_IDS, pos + shape.guids) if shape.guids >= 0 else (len(rows), _LABELS, label)
            marks.append(mark)
        runs.append((len(rows), capture, seq, cpu))
        rows.append((id & _ID_MASK, thread, stack, time, base + body, payload))
        if not id & UNSORTED:
            latest = signed_tick(time)
        # Writers may pad within the declared size; an invalid size is not trusted.
        padding = pos + 4 + size - (body + payload)
        pos = body + payload + (padding if 0 <= padding <= 3 and pos + 4 + size <= end else 0)
    return ([make_columns(rows, runs, marks, latest)] if rows else []), status, pos
