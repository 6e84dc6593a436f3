"""`Method`, a piece of code with its lifetime; `Methods`: which was at an address at a time, for one address and many.

Combines sightings, lifetimes and texts. Gives the reason for an address without a name as precisely as the trace
allows; a live stream has what is known so far. The rules for lifetimes are in `lifetimes`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.decoded import DecodedRows
from clrevents.errors import LimitError, Limits
from clrevents.schema.runtime_flags import MethodFlags, OptimizationTier
from clrevents.symbols.display_names import display_name, nameless_method
from clrevents.symbols.elf import SymbolFolders
from clrevents.symbols.feed import ENTRY, Feed, ILMaps, with_entries
from clrevents.symbols.frame import (
    ADVICE,
    IN_FILE,
    NO_RUNDOWN,
    NOT_MANAGED,
    NOT_YET,
    OVERLAPPING,
    REASONS,
    RESOLVED,
    STUB,
    UNLOADED,
    Frame,
)
from clrevents.symbols.lifetimes import (
    ALWAYS,
    EARLY,
    FOREVER,
    FOUND,
    GONE,
    LISTED,
    NOTHING,
    UNDECIDED,
    Addresses,
    Ints,
    Ranges,
    Sightings,
    bounded,
    bounded_ns,
    lifetimes,
)
from clrevents.symbols.modules import Modules, process_number
from clrevents.symbols.native import Images, Native

_REASONS: Final = {FOUND: RESOLVED, GONE: UNLOADED, EARLY: NOT_YET, UNDECIDED: OVERLAPPING}
_PASSING: Final = frozenset((UNLOADED, NOT_YET, OVERLAPPING, STUB)) | IN_FILE
"""Reasons that hold until any code comes or goes."""
_FEW: Final = 16
"""Up to this many addresses are faster to look up one by one than with arrays: most stacks have few new ones."""
_CACHED: Final = 1 << 16
_NO_PROCESS: Final = -1
_NO_FLAGS: Final = MethodFlags(0)


@frozen
class Method(Value):
    """A piece of code and its lifetime, as in `Methods`.

    A method can have several: a cold part, the code of each tier, and code loaded again at another address.
    """

    namespace: str
    """The namespace and the type, as the runtime writes them."""
    name: str
    """The method's name, as the runtime writes it; empty if unknown."""
    signature: str
    """The method's signature, as the runtime writes it."""
    display: str
    """The method as C# would write it."""
    module: str
    """The name of the module's file, without folder and extension."""
    address: int
    """The first address of the code."""
    size: int
    """The size of the code in bytes."""
    begin_ns: int | None
    """When the code was loaded, in nanoseconds since the session started; None if before the trace began."""
    end_ns: int | None
    """When the code was unloaded, in nanoseconds since the session started; None if not before the trace ended."""
    process_id: int | None
    """The process; None if the trace does not say."""
    method_id: int = 0
    """The runtime's id of the method; 0 for native symbols."""
    module_id: int = 0
    """The runtime's id of the module; see `Modules.at`."""
    token: int = 0
    """The metadata token of the method; 0 if it has none."""
    flags: MethodFlags = _NO_FLAGS
    """The flags of the event that reported the code."""
    rejit_id: int = 0
    """The number of the ReJIT version; 0 for the original."""
    native: bool = False
    """Whether this is a native symbol instead of managed code."""

    @property
    def tier(self) -> OptimizationTier | None:
        """How the code was compiled; None for native symbols."""
        return None if self.native else self.flags.tier


class Methods(Summary):
    """All code that a trace reports, a sequence of `Method`: managed code first, then native symbols, then those of
    symbol files that were needed so far.

    Use `at` or `frames` to resolve addresses. `complete` tells whether the trace lists all managed code, and `modules`
    holds the `Modules` it comes from. Parameters mean the same in every method: `time_ns` is a time in nanoseconds
    since the session started, or None for the last code at an address; `process_id` matters only for traces of several
    processes.
    """

    def __init__(self, feed: Feed, folders: SymbolFolders | None = None) -> None:
        self._feed = feed
        self._folders = folders
        self._columns = columns = feed.columns()
        self.modules = Modules(feed)
        self.images = Images(self.modules, folders)
        self.complete = self.images.advice is None if len(self.images) else feed.complete
        processes, space = np.unique(columns.process, return_inverse=True)
        self._spaces = tuple(processes.tolist())
        numbers = columns.numbers
        flags = numbers["MethodFlags"]
        entry = columns.role == ENTRY
        size = with_entries(columns) if feed.started and not feed.complete else numbers["MethodSize"]
        kept = np.flatnonzero(size > 0)
        seen = Sightings(
            np.where(entry, LISTED, columns.role).astype(np.int8)[kept],
            columns.time[kept],
            space.astype(np.int64)[kept],
            numbers["MethodStartAddress"][kept],
            size[kept],
            numbers["MethodID"][kept],
            numbers["ModuleID"][kept],
            (flags[kept] & np.uint64(MethodFlags.Jitted)) == 0,
            columns.named[kept],
            (flags[kept] & np.uint64(MethodFlags.Dynamic)) > 0,
        )
        place = {process: n for n, process in enumerate(self._spaces)}
        gone = ((place[p], i, t) for p, i, t in self.modules.gone() if p in place)
        lives = lifetimes(seen, lambda a, b: self._text(int(kept[a])) == self._text(int(kept[b])), gone)
        lives.row = kept[lives.row]
        self._kept = kept
        self._ranges = Ranges(lives, self._spaces)
        self._cache: dict[tuple[int, bool, int | None], tuple[int, int, Frame]] = {}
        # Stacks as they were asked for, each with the times between which its frames are these; a deep one may have
        # many events. By identity, because their hash would take as long as they are; kept, so that it is theirs.
        self._stacks: dict[tuple[int, int | None], tuple[tuple[int, ...], int, int, tuple[Frame, ...]]] = {}
        self._cached_addresses = 0
        self._by_index: dict[int, Method] = {}
        self._module_names: dict[tuple[int, int | None, int | None], str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be found again; stacks are known by their identity, which is another one elsewhere."""
        empty = {"_cache": {}, "_stacks": {}, "_cached_addresses": 0, "_by_index": {}}
        return {name: value for name, value in (vars(self) | empty).items() if name != "_buffers"}

    def __len__(self) -> int:
        """The number of pieces of code."""
        return self._first_in_files + len(self.native.in_files)

    def __getitem__(self, index: int) -> Method:
        """The piece of code with this `index`. Raises IndexError if there is none."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"method index out of range ({counted(len(self), 'method')})")
        index %= len(self)
        known = self._by_index.get(index)
        if known is None:
            known = self._symbol(index) if index >= len(self._ranges) else self._method(index)
            self._by_index[index] = known
        return known

    def __iter__(self) -> Iterator[Method]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'piece')} of code of {counted(len(self.modules), 'module')}>"

    @property
    def advice(self) -> str | None:
        """What to record, or to give, so that all managed addresses can be resolved; None if nothing is missing."""
        return None if self.complete or len(self.native.mappings) else self.images.advice or ADVICE

    @property
    def named(self) -> bool:
        """Whether all managed code has a name, and there is any."""
        return self.complete and len(self) + len(self.images) > 0

    @property
    def compiled(self) -> tuple[int, int]:
        """How many pieces of code were compiled while the program ran, and how many of them are dynamic methods."""
        flags = self._columns.numbers["MethodFlags"][self._ranges.lives.row]
        jitted = (flags & np.uint64(MethodFlags.Jitted)) > 0
        return int(jitted.sum()), int((jitted & ((flags & np.uint64(MethodFlags.Dynamic)) > 0)).sum())

    def type_names(self, type_ids: Iterable[int], process_id: int | None = None) -> list[str | None]:
        """The types with these `type_ids` in a program compiled ahead of time; None where no symbol names them.

        Other programs record the names of their types in the events that have the ids.
        """
        return [self.images.type_name(type_id, process_id) for type_id in type_ids]

    @property
    def tells_kinds(self) -> bool:
        """Whether the trace tells managed code from native code and the kernel's: it has mapped files."""
        return len(self.native.mappings) > 0

    @cached_property
    def native(self) -> Native:
        """Mapped files and their symbols, which only NetTrace 6 has."""
        return Native(self._feed, self._folders)

    @cached_property
    def _first_in_files(self) -> int:
        """The index of the first symbol that is not in the trace."""
        return len(self._ranges) + len(self.native.names)

    def at(self, address: int, time_ns: int | None = None, process_id: int | None = None) -> Frame:
        """The frame of one `address` at a time."""
        return self.frames((address,), time_ns, process_id)[0]

    def frames(
        self, addresses: tuple[int, ...], time_ns: int | None = None, process_id: int | None = None
    ) -> tuple[Frame, ...]:
        """The frames of one stack at a time, one for each of its `addresses`, innermost first.

        All addresses except the first are treated as return addresses.
        """
        if time_ns is None:
            return self._resolve(addresses, None, process_id)[2]
        time_ns = bounded_ns(time_ns)
        if process_id is not None and process_id not in self._with_code:
            # Nothing tells them apart.
            process_id = _NO_PROCESS
        key = id(addresses), process_id
        known = self._stacks.get(key)
        if known is not None and known[0] is addresses and known[1] <= time_ns < known[2]:
            return known[3]
        begin, end, frames = self._resolve(addresses, time_ns, process_id)
        if known is None:
            self._cached_addresses += len(addresses)
            if self._cached_addresses > _CACHED:
                self._stacks.clear()
                self._cached_addresses = len(addresses)
        self._stacks[key] = addresses, begin, end, frames
        return frames

    def _resolve(
        self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None
    ) -> tuple[int, int, tuple[Frame, ...]]:
        """The frames of one stack, and the times from which and before which it has just these."""
        cache = self._cache
        frames: list[Frame | None] = []
        begin, end = ALWAYS, FOREVER
        for place, address in enumerate(addresses):
            hit = cache.get((address, place > 0, process_id)) if time_ns is not None else None
            if hit is None or time_ns is None or not hit[0] <= time_ns < hit[1]:
                frames.append(None)
                continue
            frames.append(hit[2])
            begin, end = max(begin, hit[0]), min(end, hit[1])
        missing = [place for place, frame in enumerate(frames) if frame is None]
        if missing:
            codes = self._find_at([addresses[p] & 0xFFFFFFFFFFFFFFFF for p in missing], time_ns, process_id)
            if len(cache) > _CACHED:
                cache.clear()
            for place, (i, why) in zip(missing, codes, strict=True):
                frame = self.frame(addresses[place], i, why, place > 0, process_id)
                frames[place] = frame
                if time_ns is not None:
                    life = self._unchanged(time_ns) if why in _PASSING else self._life(i)
                    cache[addresses[place], place > 0, process_id] = (*life, frame)
                    begin, end = max(begin, life[0]), min(end, life[1])
        return begin, end, tuple(frame for frame in frames if frame is not None)

    def _find_at(self, addresses: list[int], time_ns: int | None, process_id: int | None) -> Iterable[tuple[int, int]]:
        """The results of `find` for some addresses at one time."""
        if len(addresses) <= _FEW:
            return [self._find_one(address, time_ns, process_id) for address in addresses]
        times = None if time_ns is None else np.full(len(addresses), time_ns, dtype=np.int64)
        index, reason = self.find(np.array(addresses, dtype=np.uint64), times, process_id)
        return zip(index.tolist(), reason.tolist(), strict=True)

    def _find_one(self, address: int, time_ns: int | None, process_id: int | None) -> tuple[int, int]:
        index, outcome = self._ranges.find_one(address, time_ns, process_id)
        native = self.native
        if index < 0 and len(native.mappings) + len(native.names):
            index, how = native.names.find_one(address, time_ns, process_id)
            if how == FOUND:
                return index + len(self._ranges), RESOLVED
            mapping, mapped = native.mappings.find_one(address, time_ns, process_id)
            if mapped == FOUND:
                place, reason = native.beyond_names(np.array([address], np.uint64), np.array([mapping], np.int64))
                return (-1, int(reason[0])) if place[0] < 0 else (self._first_in_files + int(place[0]), RESOLVED)
            outcome = mapped if outcome == NOTHING else outcome
        if index < 0 and len(self.images):
            place, why, known = self.images.find(np.array([address], np.uint64), process_id, native)
            if known[0]:
                return (-1, int(why[0])) if place[0] < 0 else (self._first_in_files + int(place[0]), RESOLVED)
        return index, _REASONS.get(outcome, NOT_MANAGED if self.complete else NO_RUNDOWN)

    def _unchanged(self, time_ns: int) -> tuple[int, int]:
        """The times around this one between which no code comes or goes."""
        changes = self._changes.data
        place = bisect_right(changes, time_ns)
        return changes[place - 1], changes[place]

    @cached_property
    def _with_code(self) -> frozenset[int]:
        """The processes that any code or mapping belongs to."""
        native = self.native
        return frozenset((*self._spaces, *native.names.spaces, *native.mappings.spaces, *self.images.processes))

    @cached_property
    def _changes(self) -> Ints:
        """See `changes_of`."""
        every = (self._ranges.lives, self.native.names.lives, self.native.mappings.lives)
        times = [column for life in every for column in (life.begin, life.end)]
        return np.unique(np.concatenate([np.array([ALWAYS, FOREVER], dtype=np.int64), *times]))

    def find(
        self, addresses: Addresses, times: Ints | None = None, process_id: int | None = None
    ) -> tuple[Ints, NDArray[np.uint8]]:
        """Find the code at each of many addresses.

        `addresses` is an array of uint64, `times` None or an array of int64 of the same length, in nanoseconds since
        the session started. Returns two arrays of that length: the indexes of the pieces of code (int64, -1 for none)
        and the codes of the reasons (uint8); pass both to `frame`.
        """
        times = None if times is None else bounded(times)
        index, outcome = self._ranges.find(addresses, times, process_id)
        reason = np.full(len(index), NOT_MANAGED if self.complete else NO_RUNDOWN, dtype=np.uint8)
        for how, why in _REASONS.items():
            reason[outcome == how] = why
        native = self.native
        open_ = np.flatnonzero(index < 0)
        if len(open_) and len(native.mappings) + len(native.names):
            when = None if times is None else times[open_]
            symbol, named = native.names.find(addresses[open_], when, process_id)
            named_rows = named == FOUND
            index[open_[named_rows]] = symbol[named_rows] + len(self._ranges)
            reason[open_[named_rows]] = RESOLVED
            mapping, mapped = native.mappings.find(addresses[open_], when, process_id)
            inside = (mapped == FOUND) & ~named_rows
            place, unnamed = native.beyond_names(addresses[open_[inside]], mapping[inside])
            index[open_[inside]] = np.where(place < 0, -1, place + self._first_in_files)
            reason[open_[inside]] = np.where(place < 0, unnamed, RESOLVED)
            for how in (GONE, EARLY):
                reason[open_[(mapped == how) & ~named_rows & (outcome[open_] == NOTHING)]] = _REASONS[how]
        open_ = np.flatnonzero(index < 0)
        if len(open_) and len(self.images):
            place, unnamed, known = self.images.find(addresses[open_], process_id, native)
            index[open_[known]] = np.where(place < 0, -1, place + self._first_in_files)[known]
            reason[open_[known]] = unnamed[known]
        return index, reason

    def lasting(
        self, addresses: Addresses, process_id: int | None = None
    ) -> tuple[Ints, NDArray[np.uint8], Ints, Ints]:
        """What `find` gives for each of these `addresses` from a time on and before another; of several pieces of code
        that follow one another there, the last. Those times are equal where nothing lasts."""
        index, reason = self.find(addresses, None, process_id)
        begin, end = np.full((2, len(index)), [[ALWAYS], [FOREVER]], dtype=np.int64)
        filed = np.flatnonzero((index >= self._first_in_files) | np.isin(reason, [STUB, *IN_FILE]))
        native, many = self.native, len(self._ranges)
        symbol = np.where(index < self._first_in_files, index - many, -1)
        mapping = np.full(len(index), -1, dtype=np.int64)
        mapping[filed], _ = native.mappings.find(addresses[filed], None, process_id)
        lives = (
            (self._ranges.lives, np.where(index < many, index, -1)),
            (native.names.lives, symbol),
            (native.mappings.lives, mapping),
        )
        for life, place in lives:
            there = place >= 0
            begin[there], end[there] = life.begin[place[there]], life.end[place[there]]
        end[reason == OVERLAPPING] = ALWAYS
        return index, reason, begin, end

    def frame(
        self, address: int, index: int, reason: int, returns: bool = False, process_id: int | None = None
    ) -> Frame:
        """The frame of an `address` for which `find` gave `index` and `reason`.

        `returns` tells whether it is a return address, whose IL offset is that of the call before it.
        """
        if index < 0:
            return Frame(address, self._file(address, process_id) if reason in IN_FILE else "", reason=REASONS[reason])
        method = self[index]
        # The IL offset of a call is that of the instruction before its return address.
        offset = None if method.native else self._il_offset(index, method, address - method.address - returns)
        shown = method.module, method.namespace, method.name, method.signature, method.tier
        return Frame(address, *shown, offset, None, method.display)

    def rows_since(self, time_ns: int) -> Ints:
        """Rows of the feed's columns whose code was still loaded at a time, or that do not report code."""
        needed = np.ones(len(self._columns.time), dtype=np.bool_)
        lives = self._ranges.lives
        needed[self._kept] = (lives.end > time_ns)[lives.of]
        return np.flatnonzero(needed)

    def _life(self, index: int) -> tuple[int, int]:
        if index < 0:
            return ALWAYS, FOREVER
        if index >= self._first_in_files:
            life, index = self.native.mappings.lives, self.native.in_files[index - self._first_in_files].mapping
            if index < 0:
                return ALWAYS, FOREVER
        elif index >= len(self._ranges):
            life, index = self.native.names.lives, index - len(self._ranges)
        else:
            life = self._ranges.lives
        return int(life.begin[index]), int(life.end[index])

    def texts(self, indexes: Iterable[int]) -> Iterator[tuple[str, str, str, str | None, str]]:
        """Namespace, name, signature, display name and module of the code with each of these `indexes`, without what
        else a `Method` has. The display name is None where it is that of the other texts."""
        lives, columns = self._ranges.lives, self._columns
        rows, ends, spaces = lives.row.data, lives.end.data, lives.space.data
        modules = columns.numbers["ModuleID"].data
        for index in indexes:
            known = self._by_index.get(index) or (self[index] if index >= len(rows) else None)
            if known is not None:
                yield known.namespace, known.name, known.signature, known.display, known.module
                continue
            row, end = rows[index], ends[index]
            asked = modules[row], None if end == FOREVER else end - 1, _process(self._spaces[spaces[index]])
            module = self._module_names.get(asked)
            if module is None:
                there = self.modules.at(*asked)
                module = self._module_names[asked] = there.name if there else ""
            namespace, name, signature = self._text(row)
            shown = None
            if not name:
                shown = nameless_method(module, {each: int(column[row]) for each, column in columns.numbers.items()})
            yield namespace, name, signature, shown, module

    def _method(self, index: int) -> Method:
        lives = self._ranges.lives
        row = int(lives.row[index])
        numbers = {name: int(column[row]) for name, column in self._columns.numbers.items()}
        begin, end = self._life(index)
        loaded = int(lives.loaded[index]) if lives.loaded[index] != ALWAYS else begin
        process = self._spaces[int(lives.space[index])]
        ((namespace, name, signature, shown, module),) = self.texts([index])
        return Method(
            namespace,
            name,
            signature,
            display_name(namespace, name, signature) if shown is None else shown,
            module,
            int(lives.start[index]),
            int(lives.size[index]),
            None if loaded == ALWAYS else loaded,
            None if end == FOREVER else end,
            _process(process),
            numbers["MethodID"],
            numbers["ModuleID"],
            numbers["MethodToken"],
            MethodFlags(numbers["MethodFlags"]),
            numbers["ReJITID"],
        )

    def _symbol(self, index: int) -> Method:
        native = self.native
        begin, end = self._life(index)
        if index >= self._first_in_files:
            known = native.in_files[index - self._first_in_files]
            symbol, address, size = known.symbol, known.address, known.size
            if known.mapping < 0:
                process = process_number(self.images.process_of(known.mapping))
            else:
                process = native.mappings.spaces[int(native.mappings.lives.space[known.mapping])]
        else:
            index, names = index - len(self._ranges), native.names.lives
            symbol, address, size = native.symbol(index), int(names.start[index]), int(names.size[index])
            process = native.names.spaces[int(names.space[index])]
        shown = symbol.display or symbol.name
        if symbol.signature:
            shown = display_name(symbol.namespace, symbol.name, symbol.signature)
        return Method(
            symbol.namespace,
            symbol.name,
            symbol.signature,
            shown,
            symbol.module,
            address,
            size,
            None if begin == ALWAYS else begin,
            None if end == FOREVER else end,
            _process(process),
            flags=MethodFlags((symbol.tier or 0) << 7),
            native=symbol.tier is None,
        )

    def _text(self, row: int) -> tuple[str, str, str]:
        """Namespace, name and signature; for an event without texts, those of another event with its method id."""
        if not self._columns.named[row]:
            other = self._texts_by_id.get(
                (int(self._columns.process[row]), int(self._columns.numbers["MethodID"][row]))
            )
            if other is None:
                return "", "", ""
            row = other
        namespace, name, signature = [str(data[ends[row] : ends[row + 1]], "utf-8") for data, ends in self._buffers]
        return namespace, name, signature

    @cached_property
    def _buffers(self) -> tuple[tuple[memoryview, memoryview], ...]:
        """The texts of all rows, and where each ends: arrays are slow to look into one by one."""
        return tuple((column.values.data, column.offsets.data) for column in self._columns.texts)

    @cached_property
    def _texts_by_id(self) -> dict[tuple[int, int], int]:
        rows = np.flatnonzero(self._columns.named).tolist()
        process, identity = self._columns.process, self._columns.numbers["MethodID"]
        return {(int(process[row]), int(identity[row])): row for row in rows}

    @cached_property
    def _maps(self) -> ILMaps:
        return ILMaps(self._feed)

    @cached_property
    def _compiled(self) -> dict[int, int]:
        """The number of pieces of code of each method id."""
        identity, count = np.unique(self._columns.numbers["MethodID"][self._ranges.lives.row], return_counts=True)
        return dict(zip(identity.tolist(), count.tolist(), strict=True))

    def _il_offset(self, index: int, method: Method, native: int) -> int | None:
        if not self._feed.maps:
            return None
        process = self._spaces[int(self._ranges.lives.space[index])]
        alone = self._compiled.get(method.method_id) == 1
        life = self._life(index)
        return self._maps.offset(process, method.method_id, method.rejit_id, alone, method.size, life, max(native, 0))

    def _file(self, address: int, process_id: int | None) -> str:
        index, _ = self.native.mappings.find_one(address, None, process_id)
        return self.native.file(index) if index >= 0 else self.images.file(address, process_id)


def _process(number: int) -> int | None:
    return None if number < 0 else number


def changes_of(methods: Methods) -> Ints:
    """Every time at which code comes or goes, in order, from the first to the last possible.

    Between two of them, every address has the same code.
    """
    return methods._changes


def no_methods() -> Methods:
    """No code at all: every address is without a name."""
    return Methods(Feed(Limits()))


_ROOM: Final = 1 << 16
_KEPT_NS: Final = 60_000_000_000
"""Unloaded code is remembered for a minute, because events of other threads may arrive late."""


class LiveMethods:
    """A resolver over the rows taken so far. Memory is proportional to the loaded code; beyond `limits` it learns
    nothing more."""

    def __init__(self, limits: Limits) -> None:
        self._feed = Feed(limits)
        self._methods: Methods | None = None
        self._taken = -1
        self._now = 0
        self._full = False
        self._least = self._room = min(_ROOM, limits.code_events // 2)

    def take(self, rows: DecodedRows) -> None:
        """Learn from rows; their payloads need not be decoded."""
        if not len(rows) or self._full:
            return
        self._now = max(self._now, bounded_ns(rows.times_ns[-1]))
        try:
            self._feed.take(rows)
        except LimitError:
            # For a live session, events matter more than complete names.
            self._full = True
        if self._feed.kept_rows > self._room:
            self._feed.keep(self.methods.rows_since(self._now - _KEPT_NS))
            self._room = max(self._least, 2 * self._feed.kept_rows)
            self._taken = -1

    @property
    def methods(self) -> Methods:
        """What is known now; recreated if more was learned since."""
        if self._methods is None or self._taken != self._feed.taken:
            self._methods = Methods(self._feed)
            self._taken = self._feed.taken
        return self._methods

    @property
    def ready(self) -> bool:
        """No trace has to be read first."""
        return True

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        """Names as known now: the same event may get more later."""
        return self.methods.frames(addresses, time_ns, process_id)
