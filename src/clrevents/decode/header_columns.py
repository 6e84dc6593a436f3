"""Header columns: what a table shows of each event besides its payload.

Knows their names, types and how to derive them from rows; reads no payload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.clock import Clock
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kernels.engine import offsets_of
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import (
    BINARY,
    STRING,
    TIMESTAMP,
    Column,
    ColumnType,
    as_written,
    from_values,
    nulls,
)
from clrevents.decode.rows import UNKNOWN_THREAD, Guids, JoinedRows, Rows
from clrevents.schema.activity_path import activity_path

_EPOCH_SECONDS: Final = 10**9
_MOST: Final = (1 << 63) - 1


@frozen(eq=False)
class Known:
    """What header columns are derived from besides the rows: the trace's kinds, clock and process."""

    kinds: list[EventKind]
    clock: Clock
    process_id: int | None


HeaderRows: TypeAlias = Rows | JoinedRows | DecodedRows
Make: TypeAlias = Callable[[HeaderRows, Known], Column]


@frozen
class HeaderColumn:
    """One header column: its type, whether it is nullable, and how it is made."""

    type: ColumnType
    nullable: bool
    make: Make


def _number(kind: str, values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Column:
    type = ColumnType(kind)
    return Column(type, len(values), values.astype(type.dtype))


def _time_ns(rows: HeaderRows, known: Known) -> Column:
    return _number("int64", known.clock.ns_array(rows.ticks))


def _time(rows: HeaderRows, known: Known) -> Column:
    """Null if the trace does not say when it started, or if the time does not fit in 64 bits (1677 to 2262)."""
    start = known.clock.start
    length = len(rows)
    whole = None if start is None else int(start.timestamp()) * _EPOCH_SECONDS + start.microsecond * 1000
    if whole is None or not -_MOST <= whole <= _MOST:
        return Column(TIMESTAMP, length, np.zeros(length, np.int64), valid=np.zeros(length, np.bool_))
    since = known.clock.ns_array(rows.ticks)
    # If even the time since the start exceeds 64 bits, it is clamped to the nearest representable value.
    good = (since > max(-_MOST - 1, -_MOST - whole)) & (since < min(_MOST, _MOST - whole))
    if good.all():
        return Column(TIMESTAMP, length, since + whole)
    return Column(TIMESTAMP, length, np.where(good, since, 0) + whole, valid=good)


def _thread_id(rows: HeaderRows, known: Known) -> Column:
    """Null if NetTrace 6 does not give it."""
    valid = None
    if rows.thread_places is not None:
        valid = rows.thread_ids != np.uint64(UNKNOWN_THREAD)
    return Column(
        ColumnType("uint64"), len(rows), rows.thread_ids, valid=None if valid is None or valid.all() else valid
    )


def _stack_id(rows: HeaderRows, known: Known) -> Column:
    return _number("int32", rows.stack_ids)


def _process_id(rows: HeaderRows, known: Known) -> Column:
    own = rows.process_ids
    if own is None:
        return from_values(ColumnType("int64"), [known.process_id]).take(np.zeros(len(rows), np.int64))
    return from_values(ColumnType("int64"), [known.process_id if p is None else p for p in own])


def _processor(rows: HeaderRows, known: Known) -> Column:
    numbers = rows.processors
    good = numbers >= 0
    column = _number("int32", numbers)
    return column if good.all() else attrs.evolve(column, valid=good)


def _of_kind(type: ColumnType, value: Callable[[EventKind], object]) -> Make:
    """A column determined by the event's kind."""

    def make(rows: HeaderRows, known: Known) -> Column:
        kinds, places = known.kinds, rows.kind_indexes
        if len(kinds) > len(places):
            used, places = np.unique(places, return_inverse=True)
            kinds = [kinds[index] for index in used.tolist()]
        each = from_values(type, [value(kind) for kind in kinds])
        if type == STRING:
            return Column(STRING, len(rows), places, texts=each)
        return each.take(places)

    return make


def _guid(attribute: str) -> Make:
    """Sixteen bytes in the order in which a GUID is written; null if there is none."""

    def make(rows: HeaderRows, known: Known) -> Column:
        given: Guids | None = getattr(rows, attribute)
        if rows.labels is None:
            return nulls(BINARY, len(rows)) if given is None else _guids(given)
        guids: list[bytes | None] = [None] * len(rows) if given is None else given.all()
        for row, labels in enumerate(rows.labels or ()):
            own = None if labels is None else getattr(labels, _LABELS[attribute])
            guids[row] = guids[row] if own is None else own
        return from_values(BINARY, [None if g is None else as_written(g) for g in guids])

    return make


def _guids(given: Guids) -> Column:
    good = given.places >= 0
    each = np.frombuffer(b"".join(map(as_written, given.each)), dtype=np.uint8).reshape(-1, 16)
    values = each.take(given.places[good], axis=0).reshape(-1)
    return Column(BINARY, len(good), values, offsets_of(good * 16), valid=None if good.all() else good)


def _activity_path(rows: HeaderRows, known: Known) -> Column:
    """The numbers in the activity's GUID; null if there is none, or if it is no path of the process."""
    guids, processes = _guid("activities")(rows, known).tolist(), _process_id(rows, known).tolist()
    paths: dict[tuple[bytes | None, int | None], str | None] = {(None, known.process_id): None}
    for guid, process in zip(guids, processes, strict=True):
        if (guid, process) not in paths:
            paths[guid, process] = None if guid is None else activity_path(UUID(bytes=guid), process)
    places = {key: place for place, key in enumerate(paths)}
    chosen = np.array([places[key] for key in zip(guids, processes, strict=True)], dtype=np.int64)
    each = from_values(STRING, list(paths.values()))
    valid = None if each.valid is None else each.valid[chosen]
    return Column(STRING, len(rows), chosen, valid=valid, texts=attrs.evolve(each, valid=None))


_LABELS: Final = {"activities": "activity_id", "related_activities": "related_activity_id"}

HEADERS: Final[Mapping[str, HeaderColumn]] = {
    "time_ns": HeaderColumn(ColumnType("int64"), False, _time_ns),
    "time": HeaderColumn(TIMESTAMP, True, _time),
    "thread_id": HeaderColumn(ColumnType("uint64"), True, _thread_id),
    "stack_id": HeaderColumn(ColumnType("int32"), False, _stack_id),
    "event_version": HeaderColumn(ColumnType("int32"), False, _of_kind(ColumnType("int32"), lambda k: k.key.version)),
    "process_id": HeaderColumn(ColumnType("int64"), True, _process_id),
    "processor": HeaderColumn(ColumnType("int32"), True, _processor),
    "opcode": HeaderColumn(ColumnType("int32"), False, _of_kind(ColumnType("int32"), lambda k: k.row.opcode or 0)),
    "level": HeaderColumn(ColumnType("int32"), False, _of_kind(ColumnType("int32"), lambda k: k.row.level)),
    "keywords": HeaderColumn(
        ColumnType("uint64"), False, _of_kind(ColumnType("uint64"), lambda k: k.row.keywords & (1 << 64) - 1)
    ),
    "activity_id": HeaderColumn(BINARY, True, _guid("activities")),
    "related_activity_id": HeaderColumn(BINARY, True, _guid("related_activities")),
    "activity_path": HeaderColumn(STRING, True, _activity_path),
    "payload_size": HeaderColumn(ColumnType("uint32"), False, lambda rows, known: _number("uint32", rows.sizes)),
    "provider": HeaderColumn(STRING, False, _of_kind(STRING, lambda k: k.key.provider)),
    "name": HeaderColumn(STRING, False, _of_kind(STRING, lambda k: k.key.name)),
    "id": HeaderColumn(ColumnType("int64"), False, _of_kind(ColumnType("int64"), lambda k: k.key.id)),
}
"""All of them. The last three are useful only if a table mixes events of several kinds."""
TABLE_HEADERS: Final = tuple(HEADERS)[:-3]
"""Those available in a table of one event."""
DEFAULT_HEADERS: Final = ("time_ns", "time", "thread_id", "stack_id")
ACTIVITY_HEADERS: Final = ("activity_id", "related_activity_id")
"""Those in tables if activities are requested."""
EVENT_HEADERS: Final = (*DEFAULT_HEADERS, "provider", "id", "event_version", "name")
"""The default columns of `headers()`."""
