"""Rows of events → the inputs of the method map: columns of sightings, and payloads to be read on demand.

The one place that knows which events describe code, and where their numbers are. Reads the leading numbers of all
payloads of a kind at once; texts, modules and IL maps stay bytes until requested.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column import INTEGERS, column_type, has_fields
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.selection import Filters, Selection
from clrevents.errors import LimitError, Limits
from clrevents.schema.dynamic import Learned
from clrevents.schema.layout import FixedStep, Layout
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


@define(eq=False)
class CodeRow:
    """One event's payload, still bytes."""

    kind: EventKind
    time_ns: int
    process: int
    data: bytes


@define(eq=False)
class MethodColumns:
    """One row for each method event, in order of arrival; `data` and `kinds` provide texts on demand."""

    role: NDArray[np.int8]
    time: NDArray[np.int64]
    process: NDArray[np.int64]
    numbers: dict[str, NDArray[np.uint64]]
    kinds: list[EventKind]
    data: list[bytes]


class Feed:
    """Takes rows with undecoded payloads; `columns` and the lists of rows grow."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.code_events
        self.modules: list[CodeRow] = []
        self.maps: list[CodeRow] = []
        self.native: list[CodeRow] = []
        self.processes: list[tuple[int, int, bool]] = []
        """Which processes began and ended: process, time, and whether it began."""
        self.complete = False
        self.started = False
        self.pointer_size = 8
        self.taken = 0
        self.held = 0
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
        ns, own = times.tolist(), -1 if given.process_id is None else given.process_id
        whose = [own if process is None else process for process in given.process_ids or [None] * len(ns)]
        groups: dict[int, list[int]] = {}
        for row, index in enumerate(given.kind_indexes.tolist()):
            groups.setdefault(index, []).append(row)
        for index, rows in groups.items():
            kind = given.kinds[index]
            what = (kind.key.provider, kind.key.name)
            role = METHODS.get(what)
            if role is not None:
                self._methods(given, rows, kind, role, times, whose)
            elif what in COMPLETE:
                self.complete = True
            elif what in STARTED:
                self.started = True
            elif what in PROCESSES:
                self.processes += [(whose[r], ns[r], PROCESSES[what]) for r in rows]
            else:
                kept = self._list(what)
                if kept is None:
                    continue
                kept += [CodeRow(kind, ns[r], whose[r], given.payload_bytes[r]) for r in rows]
            self.taken += len(rows)
            self.held += len(rows)
            if self.held > self._limit:
                raise LimitError(f"more events about code than Limits.code_events ({self._limit})")

    def keep(self, rows: NDArray[np.int64]) -> None:
        """Drop all method events except these rows of `columns()`, and the IL maps of methods that are in none."""
        old = self.columns()
        chosen = rows.tolist()
        numbers = {name: column[rows] for name, column in old.numbers.items()}
        kinds, data = [old.kinds[r] for r in chosen], [old.data[r] for r in chosen]
        self._parts = [MethodColumns(old.role[rows], old.time[rows], old.process[rows], numbers, kinds, data)]
        methods = set(numbers["MethodID"].tolist())
        self.maps = [row for row in self.maps if int.from_bytes(row.data[:8], "little") in methods]
        self.held = len(chosen) + len(self.maps) + len(self.modules) + len(self.native) + len(self.processes)

    def columns(self) -> MethodColumns:
        """All method events taken so far."""
        parts = self._parts
        if len(parts) != 1:
            none = np.zeros(0, dtype=np.int64)
            empty = MethodColumns(
                none.astype(np.int8), none, none, {n: none.astype(np.uint64) for n in _NUMBERS}, [], []
            )
            self._parts = [_join(parts) if parts else empty]
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

    def _described_otherwise(self, kind: EventKind) -> bool:
        return bool(kind.row.fields) and len(self._decoder(kind).layouts(kind)) > 1

    def _list(self, what: tuple[str, str]) -> list[CodeRow] | None:
        if what in MODULES:
            return self.modules
        if what in IL_MAPS:
            return self.maps
        return self.native if what in NATIVE else None

    def _methods(
        self, given: DecodedRows, rows: list[int], kind: EventKind, role: int, times: Ints, whose: list[int]
    ) -> None:
        data = [given.payload_bytes[r] for r in rows]
        if role == ENTRY or kind.newer or kind.info is None or self._described_otherwise(kind):
            sound, numbers = self._one_by_one(kind, data, "EntryPoint" if role == ENTRY else "MethodStartAddress")
        else:
            sound, numbers = _all_at_once(kind, data, given.pointer_size)
        kept = [r for r, fits in zip(rows, sound.tolist(), strict=True) if fits]
        self._parts.append(
            MethodColumns(
                np.full(len(kept), role, dtype=np.int8),
                times[kept],
                np.array([whose[r] for r in kept], dtype=np.int64),
                {name: column[sound] for name, column in numbers.items()},
                [kind] * len(kept),
                [given.payload_bytes[r] for r in kept],
            )
        )

    def _one_by_one(
        self, kind: EventKind, data: list[bytes], address: str
    ) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.uint64]]]:
        """For layouts whose numbers are not all at the start, with the name of the address."""
        records = [self.record(kind, d) for d in data]
        numbers = {}
        for name in _NUMBERS:
            wire = address if name == "MethodStartAddress" else name
            numbers[name] = np.array([_whole(getattr(r, wire, 0)) for r in records], dtype=np.uint64)
        sound = np.array([r is not None for r in records], dtype=np.bool_)
        return sound & (numbers["MethodStartAddress"] > 0), numbers


def _as_known(payload: Learned, known: Layout) -> SimpleNamespace:
    """The fields that are known of an event, whatever sign the trace gives its numbers."""
    kinds = {field.name: column_type(field.type).kind for field in known}
    return SimpleNamespace(
        **{n: int(np.array(payload[n]).astype(kind)) if kind in INTEGERS else payload[n] for n, kind in kinds.items()}
    )


def _all_at_once(
    kind: EventKind, data: list[bytes], pointer_size: int
) -> tuple[NDArray[np.bool_], dict[str, NDArray[np.uint64]]]:
    """The leading numbers, and the trailing ReJITID, of payloads of one layout."""
    assert kind.info is not None
    layout = kind.info.layout.bind(pointer_size)
    sizes = np.array([len(d) for d in data], dtype=np.int64)
    sound = sizes >= layout.min_size
    ends = np.cumsum(sizes)
    blob = np.frombuffer(b"".join(data), dtype=np.uint8)
    numbers = {name: np.zeros(len(data), dtype=np.uint64) for name in _NUMBERS}
    for number, step in enumerate((*layout.steps[:1], *layout.steps[1:][-1:])):
        if not isinstance(step, FixedStep):
            continue
        start = (ends - sizes if number == 0 else ends - step.size)[sound]
        columns = blob[start[:, None] + np.arange(step.size)].view(_dtype(step)).reshape(-1)
        for name in columns.dtype.names or ():
            if name in numbers:
                numbers[name][sound] = columns[name]
    return sound, numbers


def _dtype(step: FixedStep) -> np.dtype[np.void]:
    """The numpy dtype of a run of numbers."""
    names, formats, offsets = [], [], []
    at = 0
    for field in step.fields:
        at += field.pad
        names.append(field.name)
        formats.append(field.type.dtype)
        offsets.append(at)
        at += field.fixed_size or 0
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": step.size})


def _join(parts: list[MethodColumns]) -> MethodColumns:
    return MethodColumns(
        np.concatenate([p.role for p in parts]),
        np.concatenate([p.time for p in parts]),
        np.concatenate([p.process for p in parts]),
        {name: np.concatenate([p.numbers[name] for p in parts]) for name in _NUMBERS},
        [kind for p in parts for kind in p.kinds],
        [data for p in parts for data in p.data],
    )


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 64 else 0


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
