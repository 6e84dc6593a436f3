"""Kinds of event: the trace's descriptions combined with what the registry knows, by metadata id.

Decides the names of events. Sees neither payloads nor blocks; kinds last for the whole trace, only ids may expire. A
description that comes again after that is the kind that it was, and fields of two are added only where they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define, frozen
from clrevents._util.words import counted, safe
from clrevents.decode.container.blocks import MetadataRow
from clrevents.decode.container.container import bad_fields
from clrevents.errors import Limits, Problem, damage
from clrevents.schema.async_forms import CARRIER_ID, FIRST_ID
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.own_marks import LACKED
from clrevents.schema.registry import ASYNC, Entry, EventInfo, Registry

_MAPPING: Final = ("Id", "StartAddress", "EndAddress", "FileOffset", "FileName", "MetadataId")
_UNDECLARED: Final[dict[tuple[str, str, tuple[str, ...]], tuple[str, tuple[str, ...]]]] = {
    # By one-collect's nettrace.rs, and in every recording seen.
    ("Universal.System", "ProcessMapping", _MAPPING): ("FileName", ("SymbolMetadata", "VersionMetadata")),
}
"""By provider, event and described fields: the field that the others are like, and their names."""


def with_undeclared(provider: str, name: str, fields: tuple[FieldDescription, ...]) -> tuple[FieldDescription, ...]:
    """The described fields of an event, and those that its writer leaves out."""
    fields_undeclared = _UNDECLARED.get((provider, name, tuple(field.name for field in fields)))
    if fields_undeclared is None:
        return fields
    like = next(field for field in fields if field.name == fields_undeclared[0])
    return (*fields, *(attrs.evolve(like, name=more) for more in fields_undeclared[1]))


_LACKED: Final = LACKED.event
# A description may use its whole limit, and later versions of the event may replace it this often.
_DESCRIPTIONS = 4
# An event's table may have so many columns for each field of the one with the fewest, and so many more: rows of that
# are null in most of them, and each null costs time.
_COLUMNS_EACH = 16
_COLUMNS = 512
# So many characters for each field of a description, and so many more: they are written for each event.
_NAMES_EACH = 64
_NAMES = 2048


class FieldsOfNames:
    """Bounds the different fields of all descriptions of an event by (provider, name): its table has a column for each,
    which is null in the rows of all others. And bounds how many events there are that only the trace describes.

    Remembers a few descriptions of each name, and then its different fields.
    """

    def __init__(self, fields: int, names: int) -> None:
        self._most = _DESCRIPTIONS * fields
        self._names = names
        self._described: dict[tuple[str, str], list[tuple[FieldDescription, ...]]] = {}
        self._fewest: dict[tuple[str, str], int] = {}
        self._distinct: dict[tuple[str, str], set[FieldDescription]] = {}
        self._size: dict[tuple[str, str], int] = {}

    def misfit(self, event: tuple[str, str], fields: tuple[FieldDescription, ...], unknown: bool = True) -> str:
        """Why these fields may not be added to those of an event; "" if they may, and were.

        `unknown` events are those that only the trace describes.
        """
        if sum(map(_name_length, fields)) > _NAMES_EACH * len(fields) + _NAMES:
            return "the names of its fields are too long"
        if event not in self._described:
            if unknown and not self._names:
                return "more events than Limits.learned have descriptions"
            self._names -= unknown
            self._described[event] = []
            self._size[event] = 0
        count = _field_count(fields)
        fewest = min(count, self._fewest.get(event, count))
        most = min(self._most, _COLUMNS_EACH * fewest + _COLUMNS)
        size = self._size[event] + count
        if event in self._distinct or size > most:
            if event not in self._distinct:
                # Equal fields count once from here on.
                distinct = self._distinct[event] = {field for each in self._described[event] for field in each}
                self._size[event] = _field_count(distinct)
                self._described[event] = []
            new = {*fields} - self._distinct[event]
            size = self._size[event] + _field_count(new)
            if size > self._most:
                return "it and others of this name declare more than four times as many fields as Limits.fields"
            if size > most:
                return "it and others of this name declare too many fields that some of them do not have"
            self._distinct[event] |= new
        else:
            self._described[event].append(fields)
        self._size[event] = size
        self._fewest[event] = fewest
        return ""


def _field_count(fields: Iterable[FieldDescription]) -> int:
    """The number of fields, with those inside them."""
    return sum(1 + _field_count(f.members) + (0 if f.element is None else _field_count((f.element,))) for f in fields)


def _name_length(field: FieldDescription) -> int:
    """The characters of a field's name, and of those inside it."""
    inside = field.members if field.element is None else (*field.members, field.element)
    return len(field.name) + sum(map(_name_length, inside))


# How many placeholders for missing descriptions a trace may have: damage invents ids.
_MOST_UNDEFINED = 1000
_SMALL_TABLE = 64
# Characters of a provider's or an event's name. Names are written for each event.
_NAME = 255


@frozen(order=True)
class EventKey(Value):
    """One kind of event: a key of `Trace.event_counts`, and the most precise selector. Sortable."""

    provider: str
    """The full name of the provider."""
    id: int
    """The event id."""
    version: int
    """The version of the event's layout."""
    name: str
    """The event's name, without its version."""

    def __str__(self) -> str:
        return safe(f"{self.provider}/{self.name} (id {self.id}, version {self.version})")


@define(eq=False, slots=False)
class EventKind:
    """One event description of the trace, combined with what the registry knows of it.

    `newer` if the trace's version is beyond the registry's; `info` is then the newest known version. `undefined` if
    events refer to a description that is missing from the trace. `base` is the kind as described, if an event's labels
    override it.
    """

    index: int
    row: MetadataRow
    key: EventKey
    entry: Entry
    newer: bool = False
    undefined: bool = False
    base: EventKind | None = None
    registry: Registry | None = None

    @cached_property
    def info(self) -> EventInfo | None:
        """What the registry knows of it; its family is loaded on first use."""
        if self.registry is None:
            return None
        return self.registry.best(self.row.provider, self.row.id, self.row.version)

    def __reduce__(self) -> tuple[Callable[..., EventKind], tuple[Any, ...]]:
        state = (self.index, self.row, self.key, self.entry, self.newer, self.undefined, self.base)
        return _kind_of, (state, self.info)


def _kind_of(state: tuple[Any, ...], info: EventInfo | None) -> EventKind:
    """A pickled kind, with what its registry knew."""
    kind = EventKind(*state)
    kind.__dict__["info"] = info
    return kind


def by_event(kinds: Iterable[EventKind]) -> dict[tuple[str, str], list[EventKind]]:
    """Kinds by the provider and the name of their event, in order."""
    by_name: dict[tuple[str, str], list[EventKind]] = {}
    for kind in kinds:
        by_name.setdefault((kind.key.provider, kind.key.name), []).append(kind)
    return by_name


@frozen(eq=False)
class KindIndex:
    """`every` kind of a trace, and those that a name can mean: of many thousand kinds, for each of dozens of names."""

    every: tuple[EventKind, ...]
    _by_key: dict[tuple[str, int], list[EventKind]] = attrs.field(factory=dict, init=False)
    _by_name: dict[str, list[EventKind]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for kind in self.every:
            self._by_key.setdefault((kind.key.provider, kind.key.id), []).append(kind)
            for name in {kind.entry.name, *kind.entry.aliases}:
                self._by_name.setdefault(name, []).append(kind)

    def having(self, keys: Iterable[tuple[str, int]], names: Iterable[str]) -> list[EventKind]:
        """The kinds with one of these identities or names, in the order of the trace."""
        by_index = {kind.index: kind for key in keys for kind in self._by_key.get(key, ())}
        by_index.update((kind.index, kind) for name in names for kind in self._by_name.get(name, ()))
        return [by_index[index] for index in sorted(by_index)]


class Kinds:
    """Event descriptions by metadata id, and every kind ever defined, by index.

    `seen` are those of an earlier pass over the same trace, which are the same objects again where nothing differs.
    """

    def __init__(self, registry: Registry, limits: Limits, seen: Sequence[EventKind] = ()) -> None:
        self._registry = registry
        self._limits = limits
        self._seen = seen
        self._by_id: dict[int, EventKind] = {}
        # From metadata ids, which are never negative, to indexes; -1 where there is none, always including the last.
        self.table = np.full(_SMALL_TABLE, -1, dtype=np.int64)
        # Kinds by what they describe, once ids have expired.
        self._described: dict[bytes, EventKind] | None = None
        self._variants: dict[tuple[int, tuple[tuple[str, int], ...]], int] = {}
        self._undefined_count = 0
        self._last_undefined: EventKind | None = None
        self._fields = FieldsOfNames(limits.fields, limits.learned)
        self.all: list[EventKind] = []
        self.lacked: set[int] = set()
        """Ids of events that say what the original of this copy lacked."""
        self.carriers: set[int] = set()
        """Ids of events that carry buffers with other events."""

    def define(self, row: MetadataRow) -> Problem | None:
        """Add a description; returns a problem if its id already has another meaning."""
        if row.metadata_id < 0:
            text = f"an event description has the invalid id {row.metadata_id}"
            return damage("bad-metadata", text, row.offset, None, "the events it describes")
        if self._full and self._described is None and row.metadata_id not in self._by_id:
            # At once: a crafted trace has many, and nothing of them is kept.
            return self._refused(row)
        problem = None
        fields = with_undeclared(row.provider, row.name, row.fields)
        if fields is not row.fields:
            row = attrs.evolve(row, fields=fields)
        if len(row.provider) > _NAME or len(row.name) > _NAME:
            row, problem = _with_short_names(row)
        old = self._by_id.get(row.metadata_id)
        if old is not None and not old.undefined and old.row == row:
            return None
        described = None if self._described is None else _identity(row)
        kind = self._known(described)
        if kind is None and row.fields and (wrong := self._misfit(row)):
            problem = bad_fields(row.provider, row.name or str(row.id), wrong, row.offset, None)
            row = row.without_fields()
            if old is not None and not old.undefined and old.row == row:
                return None
            described = None if described is None else _identity(row)
            kind = self._known(described)
        if kind is None:
            if self._full:
                return self._refused(row)
            kind = self._make(row, False)
            if self._described is not None and described is not None:
                self._described[described] = kind
        self._give(row.metadata_id, kind)
        marks = self.lacked.add if (row.provider, row.name) == _LACKED else self.lacked.discard
        marks(row.metadata_id)
        carries = self.carriers.add if (row.provider, row.id) == (ASYNC, CARRIER_ID) else self.carriers.discard
        carries(row.metadata_id)
        if old is None or old.undefined:
            return problem
        text = f"event description {row.metadata_id} is redefined as {kind.key}; it was {old.key}"
        return damage("redefined-metadata", text, row.offset, None, "events of either description")

    @property
    def _full(self) -> bool:
        return len(self.all) >= self._limits.metadata

    def _refused(self, row: MetadataRow) -> Problem:
        text = "more event descriptions than Limits.metadata"
        return damage("too-many-kinds", text, row.offset, None, "later kinds")

    def _known(self, described: bytes | None) -> EventKind | None:
        """The kind with this description, where some are remembered."""
        return None if self._described is None or described is None else self._described.get(described)

    def forget(self) -> None:
        """Drop all ids (NetTrace 6 may request it at a sequence point); kinds keep their indexes."""
        if self._described is None:
            self._described = {_identity(k.row): k for k in reversed(self._by_id.values()) if not k.undefined}
        # New ones, since clearing a large table for every few ids would take longer than defining these.
        self._by_id = {}
        self.table = np.full(_SMALL_TABLE, -1, dtype=np.int64)

    def indexes(self, metadata_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
        """Kind indexes of metadata ids, and whether any of them had no description."""
        indexes = self.table.take(metadata_ids, mode="clip")
        if indexes.min() >= 0:
            return indexes, False
        missing = False
        uniques, inverse = np.unique(metadata_ids, return_inverse=True)
        mapped = []
        for metadata_id in uniques.tolist():
            kind = self._by_id.get(metadata_id)
            if kind is None:
                kind = self._undefined(metadata_id)
            missing = missing or kind.undefined
            mapped.append(kind.index)
        return np.array(mapped, dtype=np.int64)[inverse], missing

    def defined(self, metadata_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these ids have a description; changes nothing."""
        uniques, inverse = np.unique(metadata_ids, return_inverse=True)
        kinds = [self._by_id.get(metadata_id) for metadata_id in uniques.tolist()]
        return np.array([k is not None and not k.undefined for k in kinds], dtype=np.bool_)[inverse]

    def overridden(self, index: int, overrides: tuple[tuple[str, int], ...]) -> int:
        """The kind that results when an event's labels override its description."""
        variant_index = self._variants.get((index, overrides))
        if variant_index is None:
            if self._full:
                return index
            changes: dict[str, Any] = dict(overrides)
            row = attrs.evolve(self.all[index].row, **changes)
            variant = self._make(row, self.all[index].undefined)
            variant.base = self.all[index]
            variant_index = self._variants[index, overrides] = variant.index
        return variant_index

    def inside(self, carrier: int, number: int, version: int) -> int:
        """The kind of a sub-event that the events with this id carry, as if the trace described it; -1 if full."""
        at = int(self.table[carrier]) if carrier < len(self.table) else -1
        if at < 0:
            at = self._by_id[carrier].index
        variant = at, (("inside", number), ("version", version))
        index = self._variants.get(variant)
        if index is None:
            if self._full:
                return -1
            outer = self.all[at].row
            entry = self._registry.entry(ASYNC, FIRST_ID + number)
            name = f"AsyncEvent{number}" if entry is None else entry.name
            row = MetadataRow(0, ASYNC, FIRST_ID + number, version, name, level=outer.level, offset=outer.offset)
            index = self._variants[variant] = self._make(row, False).index
        return index

    def _undefined(self, metadata_id: int) -> EventKind:
        """A placeholder for a missing description; bounded, because damage invents ids."""
        if self._undefined_count >= _MOST_UNDEFINED and self._last_undefined is not None:
            return self._last_undefined
        self._undefined_count += 1
        self._last_undefined = self._make(MetadataRow(metadata_id, "", metadata_id & 0xFFFF, 0), True)
        self._give(metadata_id, self._last_undefined)
        return self._last_undefined

    def _give(self, metadata_id: int, kind: EventKind) -> None:
        """Let an id refer to this kind from now on."""
        self._by_id[metadata_id] = kind
        # The table is for dense ids, as all writers use; others are looked up one by one.
        if metadata_id < 64 * (len(self._by_id) + 16):
            # Its last place stays free: ids beyond it are looked up there.
            if metadata_id >= len(self.table) - 1:
                grown = np.full(2 * metadata_id + 2, -1, dtype=np.int64)
                grown[: len(self.table)] = self.table
                self.table = grown
            if metadata_id >= 0 and not kind.undefined:
                self.table[metadata_id] = kind.index

    def _misfit(self, row: MetadataRow) -> str:
        """Why there is no room for the fields of one more description: in the event's table, or for one more table."""
        entry = self._registry.entry(row.provider, row.id)
        event = row.provider, _name(row, entry)
        return self._fields.misfit(event, row.fields, entry is None)

    def _make(self, row: MetadataRow, undefined: bool) -> EventKind:
        entry = self._registry.entry(row.provider, row.id)
        seen = self._seen_before(row) if entry is None and not undefined else None
        if seen is not None:
            self.all.append(seen)
            return seen
        versions = frozenset[int]() if entry is None else self._registry.declared(row.provider, row.id)
        name = f"Undefined({row.metadata_id})" if undefined else _name(row, entry)
        if entry is None or undefined:
            entry = Entry(row.provider, row.id, name, opcode_names(name, row.opcode or 0), ())
        kind = EventKind(
            len(self.all),
            row,
            EventKey(row.provider, row.id, row.version, name),
            entry,
            # Chooses like `Registry.best`, but from the registry's index alone.
            newer=not undefined and row.version not in versions and any(v < row.version for v in versions),
            undefined=undefined,
            registry=None if undefined else self._registry,
        )
        self.all.append(kind)
        return kind

    def _seen_before(self, row: MetadataRow) -> EventKind | None:
        """The kind that an earlier pass made of this description, of which the registry knew nothing either."""
        place = len(self.all)
        kind = self._seen[place] if place < len(self._seen) else None
        if kind is None or kind.undefined or kind.base is not None or kind.entry.versions:
            return None
        return kind if kind.row == row and kind.row.offset == row.offset else None


def _name(row: MetadataRow, entry: Entry | None) -> str:
    """The name of a described event: the registry's, or else the description's."""
    return entry.name if entry is not None else row.name or f"EventID({row.id})"


def _with_short_names(row: MetadataRow) -> tuple[MetadataRow, Problem]:
    """The same description with names of a bounded length, and a note that says so."""
    longest = max(len(row.provider), len(row.name))
    short = attrs.evolve(row, provider=_short(row.provider), name=_short(row.name))
    text = f"an event description has a name of {counted(longest, 'character')}; the first {_NAME} are kept"
    event = f"{short.provider}/{short.name}"
    return short, Problem("long-name", "note", text, row.offset, event=event, impact="the rest of the name")


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[:_NAME]}…"


def _identity(row: MetadataRow) -> bytes:
    """Equal for descriptions that differ at most in their id and place."""
    _, *values, _ = attrs.asdict(row).values()
    return digest(tuple(values))


def digest(values: tuple[object, ...]) -> bytes:
    """Sixteen bytes: unlike Python's hashes of numbers, nobody can choose values for which they are equal."""
    from hashlib import blake2b

    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16).digest()


_OPCODES = {
    1: ("Start",),
    2: ("Stop",),
    3: ("DCStart", "DataCollectionStart"),
    4: ("DCStop", "DataCollectionStop"),
    5: ("Extension",),
    6: ("Reply",),
    7: ("Resume",),
    8: ("Suspend",),
    9: ("Send", "Transfer"),
    240: ("Receive",),
}


def opcode_names(name: str, opcode: int) -> tuple[str, ...]:
    """Aliases of a self-described event, by its opcode or its suffix: `Request/Start` for `RequestStart`.

    All spellings in use: `Wait/Send` and `Wait/Transfer`, `Request/24` and `Request/Opcode(24)`.
    """
    if opcode:
        endings = _OPCODES.get(opcode, (str(opcode), f"Opcode({opcode})"))
    else:
        low = name.lower()
        endings = ("Start",) if low.endswith("start") else ("Stop",) if low.endswith("stop") else ()
    return tuple(f"{_task(name, ending)}/{ending}" for ending in endings)


def _task(name: str, ending: str) -> str:
    task = name[: -len(ending)] if name.lower().endswith(ending.lower()) else name
    return task or name
