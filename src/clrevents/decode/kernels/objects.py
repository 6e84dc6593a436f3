"""Objects of slotted classes, made many at once: from columns, from payloads, and events around payloads.

Knows slots and programs, but not what is made. The compiled engine has a kernel for it; without, columns are the
fastest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import repeat
from threading import RLock
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.kernels.engine import COMPILED, SLOTS, given, numbers_room, scratch, zeros

T = TypeVar("T")
Ints = NDArray[np.int64]
_KNOWN: Final[int] = SLOTS.KNOWN
_SHARED: Final[int] = SLOTS.SHARED
_NO_NUMBERS: Final = zeros(0)
_NO_THREAD: Final = (1 << 64) - 1
COUNTS: Final[int] = SLOTS.COUNTS
UNKNOWN_ENTRY: Final[int] = SLOTS.UNKNOWN_ENTRY

# Few enough objects at once that they are still in the processor's cache when they are freed; where Python runs the
# loops, these cost more than the memory.
PORTION: Final = 1 << 8 if COMPILED else 1 << 12


class Slots(Generic[T]):
    """A slotted class whose objects are made without `__init__`."""

    def __init__(self, cls: type[T], names: Sequence[str]) -> None:
        self._cls = cls
        # What writes each slot, wherever in the class's ancestry it was defined.
        setters = [next(vars(c)[name] for c in cls.__mro__ if name in vars(c)) for name in names]
        self.shape: Any = SLOTS.SlottedClass(cls, setters)
        self._setters = [setter.__set__ for setter in setters]

    def of(self, count: int, columns: Sequence[Iterable[Any]]) -> list[T]:
        """Objects whose slots have the values of these columns."""
        made = list(map(object.__new__, repeat(self._cls, count)))
        for setter, column in zip(self._setters, columns, strict=True):
            deque(map(setter, made, column), maxlen=0)
        return made


def program(code: list[int], parts: list[Any], fields: int, size: int | None) -> Any:
    """A layout for the kernel that reads payloads: see `slots`."""
    numbers = given(np.array(code, dtype=np.int64))
    luck, runs = (zeros(len(code) // SLOTS.WIDTH) for _ in range(2))
    return SLOTS.FieldProgram(numbers, parts, fields, -1 if size is None else size, luck, runs)


class BatchPayloads:
    """The payloads of a batch, and the records of those that fit: see `slots`."""

    def __init__(
        self,
        buf: bytes,
        programs: list[Any],
        shapes: list[Any],
        entries: Any,
        kinds: Ints,
        starts: Ints,
        ends: Ints,
        singles: dict[int, Any],
    ) -> None:
        self._rows = len(kinds)
        self.fit = np.zeros(self._rows, dtype=np.uint8) if COMPILED else [0] * self._rows
        columns = map(given, (kinds, starts, ends))
        places = numbers_room(_SHARED), numbers_room(_SHARED)
        shared = SLOTS.Shared(scratch(_SHARED), [None] * _SHARED, *places, [None] * _SHARED)
        # A small batch costs nothing for kinds that it does not have.
        heads = zeros(len(entries)) if self._rows > PORTION else _NO_NUMBERS
        room = numbers_room(COUNTS), heads, numbers_room(PORTION)
        self._kernel = SLOTS.FittingPayloads(buf, programs, shapes, entries, *columns, self.fit, singles, shared, *room)
        self._lock = RLock()

    def check(self, row: int) -> int:
        """Find out which payloads fit, from a row on; ends at the first whose kind is unknown, and returns it."""
        stopped: int = self._kernel.check(row, self._rows)
        return stopped

    def read(self, first: int, last: int, again: bool) -> list[Any]:
        """The records of at most `PORTION` rows, made anew, if `again` of those that were made before.

        What nobody has of these but this object is filled again. Threads take turns: the kernel has one place for them.
        """
        with self._lock:
            made: list[Any] = self._kernel.read(first, last, again)
        return made


class BatchEvents(Generic[T]):
    """Makes the events of a batch, whose slots are (rows, row, time, thread, name, payload): see `slots`.

    `times` is a list where its numbers may exceed 64 bits. If `missing`, the largest thread id stands for none, which
    is -1.
    """

    def __init__(
        self,
        slots: Slots[T],
        every: list[Any],
        kinds: Ints,
        times: Ints | list[int],
        threads: NDArray[np.uint64],
        missing: bool,
    ) -> None:
        self._slots = slots
        self._every = every
        self._kinds = kinds
        self._times = times
        self._threads, self._missing = threads, missing
        if COMPILED:
            exact = times if isinstance(times, list) else None
            numbers = given(kinds), given(kinds if isinstance(times, list) else times), exact, given(threads), missing
            room = scratch(_KNOWN), scratch(_KNOWN), [None] * _KNOWN, [None] * _KNOWN
            self._kernel = SLOTS.EventFiller(slots.shape, every, *numbers, *room)

    def release(self) -> None:
        """Let the last events go of their payloads, those that nobody has but this object."""
        if COMPILED:
            self._kernel.release()

    def events(self, rows: object, first: int, payloads: list[Any]) -> list[T]:
        """The events of the rows from `first` on, which are the rows 0, 1, … of `rows`.

        Those of the last that nobody has but this object are filled again.
        """
        if COMPILED:
            made: list[T] = self._kernel.events(rows, first, payloads)
            return made
        count = len(payloads)
        part = slice(first, first + count)
        times, every = self._times[part], self._every
        names = [every[kind].key.name for kind in self._kinds[part].tolist()]
        threads = self._threads[part].tolist()
        if self._missing:
            threads = [-1 if thread == _NO_THREAD else thread for thread in threads]
        columns = (
            *(repeat(rows, count), range(count), times if isinstance(times, list) else times.tolist()),
            *(threads, names, payloads),
        )
        return self._slots.of(count, columns)
