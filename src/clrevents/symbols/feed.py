"""Rows of events → the inputs of the method map: columns of methods, and other payloads to be read on demand.

The one place that knows which events describe code. Methods become columns like those of tables, because a trace has
tens of thousands; modules and IL maps stay bytes until requested. Version 1 of the JIT's maps says which compilation of
a method a map belongs to. Version 0 does not: there a map is used only if its last offset fits the code and no other
compilation of the method is possible.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import repeat
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kernels.engine import gather, offsets_of
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import BINARY, INTEGERS, STRING, Column, column_type, concat, fits, has_fields
from clrevents.decode.payload.column_maker import ColumnMaker, Group
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.selection import Filters, Selection
from clrevents.errors import LimitError, Limits
from clrevents.schema.dynamic import Learned
from clrevents.schema.layout import Layout
from clrevents.schema.registry import RUNDOWN, RUNTIME, Registry
from clrevents.symbols.lifetimes import LISTED, LOAD, UNLOAD, Ints, bounded

ENTRY: Final = 3
"""A ready-to-run entry point: code that existed before, with a size that only some versions report."""

_UNIVERSAL: Final = "Universal.System"

METHODS: Final = {
    (RUNTIME, "MethodLoad"): LOAD,
    (RUNTIME, "MethodLoadVerbose"): LOAD,
    (RUNTIME, "MethodUnload"): UNLOAD,
    (RUNTIME, "MethodUnloadVerbose"): UNLOAD,
    (RUNTIME, "MethodDCStartV2"): LISTED,
    (RUNTIME, "MethodDCStartVerboseV2"): LISTED,
    (RUNTIME, "MethodDCEndV2"): LISTED,
    (RUNTIME, "MethodDCEndVerboseV2"): LISTED,
    (RUNDOWN, "MethodDCStart"): LISTED,
    (RUNDOWN, "MethodDCStartVerbose"): LISTED,
    (RUNDOWN, "MethodDCEnd"): LISTED,
    (RUNDOWN, "MethodDCEndVerbose"): LISTED,
    (RUNTIME, "R2RGetEntryPoint"): ENTRY,
}
MODULES: Final = {
    *((RUNTIME, n) for n in ("ModuleLoad", "ModuleUnload", "ModuleDCStartV2", "ModuleDCEndV2", "DomainModuleLoad")),
    *((RUNDOWN, n) for n in ("ModuleDCStart", "ModuleDCEnd", "DomainModuleDCStart", "DomainModuleDCEnd")),
    *((RUNTIME, n) for n in ("AssemblyLoad", "AssemblyUnload")),
    *((RUNDOWN, n) for n in ("AssemblyDCStart", "AssemblyDCEnd")),
}
IL_MAPS: Final = {
    (RUNTIME, "MethodILToNativeMap"),
    (RUNDOWN, "MethodDCStartILToNativeMap"),
    (RUNDOWN, "MethodDCEndILToNativeMap"),
}
PROCESSES: Final = {(_UNIVERSAL, "ProcessExit"): False, (_UNIVERSAL, "ProcessCreate"): True}
NATIVE: Final = {(_UNIVERSAL, n) for n in ("ProcessMapping", "ProcessSymbol", "ProcessMappingMetadata")}
STARTED: Final = {(RUNTIME, "RuntimeInformationStart"), (RUNTIME, "AppDomainLoad")}
"""Written when a runtime starts: if one is present, every entry point look-up is in the trace."""
COMPLETE: Final = {(RUNDOWN, "DCEndComplete"), (RUNTIME, "DCEndCompleteV2"), (RUNDOWN, "DCStartComplete")}

_WANTED: Final = frozenset((*METHODS, *MODULES, *IL_MAPS, *NATIVE, *COMPLETE, *STARTED, *PROCESSES))


class CodeEvents(Selection):
    """Selects all events useful here, or some. Does not match names in the registry, which would take longer than
    reading."""

    def __init__(self, registry: Registry, wanted: Iterable[tuple[str, str]] = _WANTED) -> None:
        super().__init__((), Filters(), registry)
        self._wanted = frozenset(wanted)

    @property
    def everything(self) -> bool:
        return False

    def means(self, kind: EventKind) -> bool:
        return (kind.key.provider, kind.key.name) in self._wanted


_ENTRY_REACH: Final = 1 << 15
_NUMBERS: Final = ("MethodID", "ModuleID", "MethodStartAddress", "MethodSize", "MethodToken", "MethodFlags", "ReJITID")
_TEXTS: Final = ("MethodNamespace", "MethodName", "MethodSignature")


@define(eq=False)
class CodeRow:
    """One event's payload, still bytes."""

    kind: EventKind
    time_ns: int
    process: int
    data: bytes


@define(eq=False)
class MethodColumns:
    """One row for each method event; `texts` are the namespace, name and signature, empty where it is not `named`."""

    role: NDArray[np.int8]
    time: Ints
    process: Ints
    numbers: dict[str, NDArray[np.uint64]]
    named: NDArray[np.bool_]
    texts: tuple[Column, ...]

    def take(self, rows: Ints) -> MethodColumns:
        """Some rows."""
        return MethodColumns(
            self.role[rows],
            self.time[rows],
            self.process[rows],
            {name: column[rows] for name, column in self.numbers.items()},
            self.named[rows],
            tuple(column.take(rows) for column in self.texts),
        )


class Feed:
    """Takes rows with undecoded payloads; `columns` and the lists of rows grow."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.code_events
        self.modules: list[CodeRow] = []
        self._maps: list[CodeRow] = []
        # Kind, times, processes and payloads of IL maps that nobody has asked for.
        self._new_maps: list[tuple[EventKind, Ints, Ints, Column]] = []
        self.native: list[CodeRow] = []
        self.processes: list[tuple[int, int, bool]] = []
        """Which processes began and ended: process, time, and whether it began."""
        self.complete = False
        self.started = False
        self.pointer_size = 8
        self.taken = 0
        self.kept_rows = 0
        self._parts: list[MethodColumns] = []
        # A decoder knows the kinds of one trace by their numbers, and rows may come from two.
        self._readers: dict[int, tuple[EventKind, PayloadDecoder]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # It is made again when a record is asked for.
        return {**vars(self), "_readers": {}}

    def take(self, given: DecodedRows) -> None:
        """Keep what these rows say about code; skips other events. Raises LimitError if there are too many."""
        self.pointer_size = given.pointer_size
        times = bounded(given.clock.ns_array(given.ticks))
        own = -1 if given.process_id is None else given.process_id
        whose = np.full(len(times), own, dtype=np.int64)
        if given.process_ids is not None:
            whose[:] = [own if process is None else process for process in given.process_ids]
        order, groups = arranged(given.kind_indexes)
        for index, part in groups:
            kind, rows = given.kinds[index], order[part]
            what = (kind.key.provider, kind.key.name)
            if what in METHODS:
                self._take_methods(given, rows, kind, METHODS[what], times[rows], whose[rows])
            elif what in IL_MAPS:
                starts, sizes = given.starts[rows], given.sizes[rows]
                data = Column(BINARY, len(rows), gather(given.data, starts, sizes), offsets_of(sizes))
                self._new_maps.append((kind, times[rows], whose[rows], data))
            elif what in MODULES or what in NATIVE:
                kept = self.modules if what in MODULES else self.native
                places = zip(
                    *(column[rows].tolist() for column in (times, whose, given.starts, given.ends)), strict=True
                )
                kept += [CodeRow(kind, time, process, given.data[a:b]) for time, process, a, b in places]
            else:
                self.complete |= what in COMPLETE
                self.started |= what in STARTED
                if what in PROCESSES:
                    self.processes += [(int(whose[r]), int(times[r]), PROCESSES[what]) for r in rows.tolist()]
                continue
            self.taken += len(rows)
            self.kept_rows += len(rows)
            if self.kept_rows > self._limit:
                raise LimitError(f"more events about code than Limits.code_events ({self._limit})")

    @property
    def maps(self) -> list[CodeRow]:
        """The IL maps of methods."""
        for kind, times, processes, data in self._new_maps:
            self._maps += map(CodeRow, repeat(kind), times.tolist(), processes.tolist(), data.tolist())
        self._new_maps.clear()
        return self._maps

    def keep(self, rows: NDArray[np.int64]) -> None:
        """Drop all method events except these rows of `columns()`, and the IL maps of methods that are in none."""
        kept = self.columns().take(rows)
        self._parts = [kept]
        methods = set(kept.numbers["MethodID"].tolist())
        self._maps = [row for row in self.maps if int.from_bytes(row.data[:8], "little") in methods]
        self.kept_rows = len(rows) + len(self._maps) + len(self.modules) + len(self.native) + len(self.processes)

    def columns(self) -> MethodColumns:
        """All method events taken so far."""
        if len(self._parts) != 1:
            self._parts = [_joined(self._parts)]
        return self._parts[0]

    def _decoder(self, kind: EventKind) -> PayloadDecoder:
        known = self._readers.get(id(kind))
        if known is None:
            known = self._readers[id(kind)] = kind, PayloadDecoder(self.pointer_size, Limits())
        return known[1]

    def record(self, kind: EventKind, data: bytes) -> Any:
        """A payload's record; None if it does not fit its layout, or lacks what the registry knows of the event."""
        payload, _, _ = self._decoder(kind).read(kind, data, 0)
        if isinstance(payload, RawPayload):
            return None
        info = kind.info
        record: Any = type(payload)
        if info is None or info.only_undescribed or not issubclass(record, Learned):
            return payload
        return _as_known(payload, info.layout) if has_fields(record.__layout__, info.layout) else None

    def _take_methods(
        self, given: DecodedRows, rows: Ints, kind: EventKind, role: int, times: Ints, whose: Ints
    ) -> None:
        every = np.arange(len(rows))
        group = Group(kind, given.data, given.starts[rows], given.ends[rows], np.zeros(len(rows), np.int64), every)
        # A pass over the events themselves reports what cannot be read.
        for read in ColumnMaker(self._decoder(kind), None, lambda problem, times: None).columns_of(group):
            if not _has_known(kind, read.columns):
                continue
            columns = dict(read.columns)
            if role == ENTRY:
                columns["MethodStartAddress"] = columns["EntryPoint"]
            texts = [columns.get(name) for name in _TEXTS]
            methods = MethodColumns(
                np.full(len(read.rows), role, dtype=np.int8),
                times[read.rows],
                whose[read.rows],
                {name: _numbers(columns.get(name), len(read.rows)) for name in _NUMBERS},
                np.full(len(read.rows), texts[1] is not None and texts[1].type == STRING),
                tuple(_no_texts(len(read.rows)) if text is None or text.type != STRING else text for text in texts),
            )
            located = methods.numbers["MethodStartAddress"] > 0
            self._parts.append(methods.take(np.flatnonzero(located)) if role == ENTRY else methods)


def _has_known(kind: EventKind, columns: Mapping[str, Column]) -> bool:
    """Whether there is all that is known of an event, however the trace describes it."""
    if kind.info is None or kind.info.only_undescribed:
        return True
    known = {field.name: column_type(field.type) for field in kind.info.layout}
    return all(name in columns and fits(type, columns[name].type) for name, type in known.items())


def _numbers(column: Column | None, length: int) -> NDArray[np.uint64]:
    if column is None or column.type.kind not in INTEGERS:
        return np.zeros(length, dtype=np.uint64)
    return column.filled().astype(np.uint64)


def _no_texts(length: int) -> Column:
    return Column(STRING, length, np.zeros(0, dtype=np.uint8), np.zeros(length + 1, dtype=np.int64))


def _as_known(payload: Learned, known: Layout) -> SimpleNamespace:
    """The fields that are known of an event, whatever sign the trace gives its numbers."""
    kinds = {field.name: column_type(field.type).kind for field in known}
    return SimpleNamespace(
        **{n: int(np.array(payload[n]).astype(kind)) if kind in INTEGERS else payload[n] for n, kind in kinds.items()}
    )


def _joined(parts: list[MethodColumns]) -> MethodColumns:
    none = np.zeros(0, dtype=np.int64)
    return MethodColumns(
        np.concatenate([none.astype(np.int8), *(part.role for part in parts)]),
        np.concatenate([none, *(part.time for part in parts)]),
        np.concatenate([none, *(part.process for part in parts)]),
        {name: np.concatenate([none.astype(np.uint64), *(part.numbers[name] for part in parts)]) for name in _NUMBERS},
        np.concatenate([none.astype(np.bool_), *(part.named for part in parts)]),
        tuple(concat(STRING, [_no_texts(0), *(part.texts[place] for part in parts)]) for place in range(len(_TEXTS))),
    )


def with_entries(columns: MethodColumns) -> NDArray[np.uint64]:
    """Sizes, with entry points that lack one extended to the next known code.

    Correct if all entry points are in the trace, because code that was never looked up does not run: of 5,692
    addresses in four of our traces none is wrong. For a process that ran before the trace began, 6 % would be.
    """
    size = columns.numbers["MethodSize"].copy()
    start = columns.numbers["MethodStartAddress"]
    known = np.unique(start)
    above = np.append(known[1:], known[-1:] + np.uint64(_ENTRY_REACH))[np.searchsorted(known, start)]
    unknown = np.flatnonzero((columns.role == ENTRY) & (size == 0) & ~np.isin(start, start[size > 0]))
    _, first = np.unique(start[unknown], return_index=True)
    unknown = unknown[first]
    size[unknown] = np.minimum(above - start, _ENTRY_REACH)[unknown]
    return size


_HEAD = 16


@frozen
class _Map:
    """Native offsets in order, with the IL offset that starts at each (negative: none)."""

    native: tuple[int, ...]
    il: tuple[int, ...]


class _MapsInOrder:
    """Maps of one compilation's key, in the order of the trace."""

    def __init__(self) -> None:
        self.count = 0
        self._first: CodeRow | None = None
        # Those that are older than all after them; no other is the last one before any time.
        self._rows: list[CodeRow] = []
        self._times: list[int] = []

    def add(self, row: CodeRow) -> None:
        self.count += 1
        self._first = self._first or row
        while self._times and self._times[-1] >= row.time_ns:
            self._times.pop()
            self._rows.pop()
        self._times.append(row.time_ns)
        self._rows.append(row)

    def before(self, time_ns: int) -> CodeRow:
        """The last one before a time, or else the first."""
        place = bisect_left(self._times, time_ns)
        row = self._rows[place - 1] if place else self._first
        assert row is not None
        return row


class ILMaps:
    """All maps of a trace; each is read on first use."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._rows: dict[tuple[int, int, int], _MapsInOrder] = {}
        for row in feed.maps:
            if len(row.data) >= _HEAD:
                method, version = (int.from_bytes(row.data[at : at + 8], "little") for at in (0, 8))
                # Version 0 has the IL's version here, which says nothing about the compilation.
                key = (row.process, method, version if row.kind.key.version else -1)
                self._rows.setdefault(key, _MapsInOrder()).add(row)
        self._read: dict[int, _Map] = {}

    def __len__(self) -> int:
        return sum(rows.count for rows in self._rows.values())

    def offset(
        self, process: int, method: int, version: int, alone: bool, size: int, life: tuple[int, int], native: int
    ) -> int | None:
        """The IL offset of a native one, in bytes; None without a map, or if the native offset belongs to no IL.

        `alone` if the method was compiled only once; `life` is the code's lifetime, which tells apart maps of a reused
        method id.
        """
        rows = self._rows.get((process, method, version)) or (self._rows.get((process, method, -1)) if alone else None)
        if rows is None:
            return None
        row = rows.before(life[1])
        offsets = self._read.get(id(row))
        if offsets is None:
            offsets = self._read[id(row)] = self._parse(row)
        if not offsets.native or offsets.native[-1] > size:
            return None
        place = bisect_right(offsets.native, native) - 1
        if place < 0 or offsets.il[place] < 0:
            return None
        return offsets.il[place]

    def _parse(self, row: CodeRow) -> _Map:
        record = self._feed.record(row.kind, row.data)
        if record is None:
            return _Map((), ())
        pairs = sorted(zip(record.NativeOffsets, record.ILOffsets, strict=True), key=lambda pair: pair[0])
        return _Map(tuple(n for n, _ in pairs), tuple(i for _, i in pairs))
