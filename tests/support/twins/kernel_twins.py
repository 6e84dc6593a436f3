"""Both engines of the kernels side by side, and everything that a call leaves behind as plain lists.

Knows how each engine wants its numbers. What is fed to them is `kernel_cases`' business; nothing is judged here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, Literal

import attrs
import numpy as np
import pytest

import plain_slots
from clrevents.decode.kernels import plain
from project_files import SOURCE, loaded

Outcome = tuple[Any, ...]
# What stands where nothing was written: both engines must leave the same places alone.
UNTOUCHED: Final = 0xA5A5A5A5
# Where the bytes that are scanned begin in their stream.
BASE: Final = 1 << 40


class Outside(Exception):
    """A byte that is none of the kernel's business was read."""


class Watched:
    """Bytes of which only `low` to `high` may be looked at."""

    def __init__(self, data: bytes, low: int, high: int) -> None:
        self._data, self._low, self._high = data, low, high

    def __getitem__(self, at: int) -> int:
        if not self._low <= at < self._high:
            raise Outside(f"byte {at} of {self._low} to {self._high}")
        return self._data[at]

    def __len__(self) -> int:
        return len(self._data)

    def find(self, what: bytes, low: int, high: int) -> int:
        if not self._low <= low <= high <= self._high:
            raise Outside(f"bytes {low} to {high} of {self._low} to {self._high}")
        return self._data.find(what, low, high)


@attrs.frozen(eq=False)
class Objects:
    """A class and the slots to be filled: what a part of a program names, or what a record is made of."""

    cls: Any
    setters: list[Any]


@attrs.frozen(eq=False)
class Reading:
    """Payloads `buf[starts[i]:ends[i]]` of one kind, and the program of its fields: see `slots`."""

    record: Objects
    code: list[int]
    parts: list[Any]
    fields: int
    size: int
    buf: bytes
    starts: list[int]
    ends: list[int]


@attrs.frozen(eq=False)
class Making:
    """What events are made of: see `slots`."""

    event: Objects
    every: list[Any]
    kinds: list[int]
    times: list[int]
    exact: list[int] | None
    threads: list[int]
    missing: bool
    first: int
    payloads: list[Any]


@attrs.frozen
class Engine:
    """One engine's kernels."""

    name: Literal["compiled", "interpreted"]
    scan_module: ModuleType
    walk_module: ModuleType
    slots_module: ModuleType
    step: int = 3

    def _room(self, count: int, signed: bool = False) -> Any:
        if self.name == "interpreted":
            return [UNTOUCHED] * count
        return np.full(count, UNTOUCHED, dtype=np.int64 if signed else np.uint64)

    def _columns(self, rows: int) -> Any:
        columns = [self._room(rows) for _ in range(6)]
        return columns if self.name == "interpreted" else np.array(columns)

    def _octets(self, count: int) -> Any:
        return bytearray(count) if self.name == "interpreted" else np.zeros(count, dtype=np.uint8)

    def _given(self, values: list[int], signed: bool = True) -> Any:
        return values if self.name == "interpreted" else np.array(values, dtype=np.int64 if signed else np.uint64)

    def scan(self, buf: Any, start: int, end: int, labels: bool, limit: int) -> list[Outcome]:
        """One entry a call, `limit` rows at most in each: status, state, columns, runs and marks."""
        module = self.scan_module
        state = self._given([0] * module.STATE, signed=False)
        state[module.POS] = start
        found = []
        while True:
            columns = self._columns(limit + 2)
            runs, marks = self._room(4 * limit), self._room(3 * limit)
            state[module.ROWS] = state[module.RUNS] = state[module.MARKS] = 0
            status = module.scan(buf, end, BASE, 2, limit, labels, state, columns, runs, marks)
            # Nothing in front of the place that was given.
            assert all(_plain(column)[:2] == [UNTOUCHED] * 2 for column in columns)
            columns = [column[2:] for column in columns]
            found.append((status, *map(_plain, (state, *columns, runs, marks))))
            if status != module.FULL:
                return found

    def together(self, buf: Any, bodies: list[int], labels: bool, limit: int) -> Outcome:
        """How many blocks were scanned, what is kept of each, and the columns, runs and marks of them."""
        module, count = self.scan_module, len(bodies) // 3
        state, heads = self._given([0] * module.STATE, signed=False), self._room(6 * count + 1)
        columns, runs, marks = self._columns(limit + 2), self._room(4 * limit), self._room(3 * limit)
        given = buf, count, self._given(bodies), BASE, 2, limit, labels, state, columns, runs, marks, heads
        done, found = module.together(*given), _plain(heads)
        assert all(_plain(column)[:2] == [UNTOUCHED] * 2 for column in columns)
        assert found[6 * found[-1] : -1] == [UNTOUCHED] * (6 * (count - found[-1]))
        each = found[: 6 * found[-1]]
        ends = each[-6:-3] or [0, 0, 0]
        parts = *((column[2:], ends[0]) for column in columns), (runs, ends[1]), (marks, ends[2])
        return done, each, *(_plain(part)[:end] for part, end in parts)

    def tally(self, values: list[int], table: list[int], threads: list[int], times: list[int], most: int) -> Outcome:
        rows, half = len(values), len(values) // 2
        counts, ids, sums = self._given([0] * most), self._room(rows), self._room(3 * rows, signed=True)
        latest = self._given([-1 << 63])
        used = 0
        # In two steps, so that the second one finds what the first one left.
        for part in (slice(0, half), slice(half, rows)):
            given = self._given(values[part]), self._given(table), len(table)
            seen = self._given(threads[part], signed=False), self._given(times[part])
            size = len(values[part])
            found = self.scan_module.tally(size, *given, *seen, counts, used, ids, sums, latest)
            if found < 0:
                return found, _plain(counts), _plain(ids)[:used], _plain(sums)[: 3 * used], _plain(latest)
            used = found
        return used, _plain(counts), _plain(ids)[:used], _plain(sums)[: 3 * used], _plain(latest)

    def unpack(self, buf: Any, forms: list[int], buffers: list[int], rows: int) -> Outcome:
        """Sub-events of buffers behind two other rows: every status, the state then, and columns."""
        state, ends = self._given([0, 2, 0, 0, 0]), self._room(len(buffers) // 6, signed=True)
        columns = [self._room(rows, signed=True), *(self._room(rows) for _ in range(4))]
        table, found = self._given(forms), []
        fixed = buf, BASE, 22, 1
        while status := self.scan_module.unpack(
            *fixed, table, self._given(buffers, signed=False), len(ends), state, *columns, ends
        ):
            found.append((status, *_plain(state)))
            if status == 3:
                table[256 + buf[int(state[0])]] = 7
        return found, _plain(state), _plain(ends), *(_plain(column)[: int(state[1])] for column in columns)

    def objects(self, buf: Any, heads: bytes, pos: int, stop: int, turn: int, most: int, count: int) -> Outcome:
        """Objects before a tag 6: three numbers of each behind the first head, and behind the second."""
        places, others = self._room(3 * count, signed=True), self._room(3 * count + 1, signed=True)
        size = len(heads) // 2
        done = self.walk_module.objects(buf, heads, size, pos, stop, turn, 6, most, count, places, others)
        return _plain(places)[: 3 * done], _plain(others)[: 3 * int(others[3 * count])]

    def arrange(self, kinds: list[int], size: int) -> Outcome:
        ends, order = self._given([0] * size), self._room(len(kinds), signed=True)
        self.walk_module.arrange(len(kinds), self._given(kinds), size, ends, order)
        return _plain(ends), _plain(order)

    def walk(
        self, buf: Any, program: list[int], starts: list[int], ends: list[int], repeats: list[int] | None = None
    ) -> Outcome:
        """How many rows did not fit, and cells, stops and states."""
        rows = len(starts)
        times = [1] * rows if repeats is None else repeats
        total = sum(times)
        cells = self._room(2 * total * (len(program) // self.walk_module.WIDTH))
        stops, states = self._room(rows, signed=True), self._room(rows, signed=True)
        given = map(self._given, (starts, ends, times))
        bad = self.walk_module.walk(buf, rows, total, self._given(program), len(program), *given, cells, stops, states)
        return bad, _plain(cells), _plain(stops), _plain(states)

    def narrow(self, buf: Any, starts: list[int], lengths: list[int]) -> Outcome:
        out, ends = self._octets(sum(n // 2 * 3 for n in lengths)), self._room(len(starts), signed=True)
        size = self.walk_module.narrow(buf, len(starts), self._given(starts), self._given(lengths), out, ends)
        return size, bytes(out), _plain(ends)

    def gather(self, buf: Any, starts: list[int], lengths: list[int]) -> Outcome:
        out = self._octets(sum(lengths))
        size = self.walk_module.gather(buf, len(starts), self._given(starts), self._given(lengths), out)
        return size, bytes(out)

    def pick(self, buf: Any, places: list[int], size: int) -> bytes:
        out = self._octets(len(places) * size)
        self.walk_module.pick(buf, len(places), self._given(places), size, out)
        return bytes(out)

    def slotted(self, given: Objects) -> Any:
        return self.slots_module.SlottedClass(given.cls, given.setters)

    def program(self, given: Reading) -> Any:
        parts = [self.slotted(part) if isinstance(part, Objects) else part for part in given.parts]
        luck, runs = (self._given([0] * (len(given.code) // 8 + 1)) for _ in range(2))
        return self.slots_module.FieldProgram(self._given(given.code), parts, given.fields, given.size, luck, runs)

    def shared(self) -> Any:
        """Nothing is known yet."""
        numbers, objects = (self._room(256, signed=True) for _ in range(3)), ([None] * 256 for _ in range(2))
        return self.slots_module.SharedValues(*numbers, *objects)

    def read(self, given: Reading, entry: int = 0, rows: int | None = None, fit: bool | None = None) -> Outcome:
        """Which payloads fit, and the records of those that do; or what was raised.

        `rows` reads so many, whatever there are; `fit` says which fit, without a look at them.
        """
        count = len(given.starts) if rows is None else rows
        room = self._given([7] * self.slots_module.COUNTS)
        fits: Any = [0] * len(given.starts) if self.name == "interpreted" else np.zeros(len(given.starts), np.uint8)
        try:
            kinds = self._given([0] * len(given.starts))
            places = kinds, self._given(given.starts), self._given(given.ends)
            lists = [self.program(given)], [self.slotted(given.record)], self._given([entry])
            payloads = self.slots_module.FittingPayloads(
                given.buf, *lists, *places, fits, {0: "single"}, self.shared(), room
            )
            stopped = payloads.check(0, count)
            if fit is not None:
                fits[:] = [int(fit)] * len(fits) if self.name == "interpreted" else int(fit)
            # In steps, so that later ones find what earlier ones left.
            made: list[Any] = []
            for first in range(0, stopped, self.step):
                made += payloads.read(first, min(first + self.step, stopped))
        except Exception as error:
            return (type(error),)
        return stopped, [int(one) for one in fits], made

    def turns(
        self,
        given: Reading,
        see: Callable[[list[Any]], object],
        step: int = 4,
        begin: Callable[[Any], object] = lambda payloads: None,
    ) -> None:
        """Read payloads that fit a few at a time, and show each portion."""
        count = len(given.starts)
        room = self._given([0] * self.slots_module.COUNTS)
        kinds, places = self._given([0] * count), (self._given(given.starts), self._given(given.ends))
        fits: Any = [1] * count if self.name == "interpreted" else np.ones(count, np.uint8)
        lists = [self.program(given)], [self.slotted(given.record)], self._given([0])
        shared = self.shared()
        payloads = self.slots_module.FittingPayloads(given.buf, *lists, kinds, *places, fits, {}, shared, room)
        begin(payloads)
        for first in range(0, count, step):
            see(payloads.read(first, min(first + step, count)))

    def filler(self, given: Making) -> Any:
        known = self.slots_module.KNOWN
        return self.slots_module.EventFiller(
            self.slotted(given.event),
            given.every,
            self._given(given.kinds),
            self._given(given.times),
            given.exact,
            self._given(given.threads, signed=False),
            given.missing,
            self._room(known),
            self._room(known),
            [None] * known,
            [None] * known,
        )

    def events(self, given: Making, rows: object) -> list[Any] | type[Exception]:
        """The events, or what was raised."""
        try:
            made: list[Any] = self.filler(given).events(rows, given.first, given.payloads)
        except Exception as error:
            return type(error)
        return made


def _plain(values: Any) -> list[int]:
    # A copy: the interpreted engine's state goes on changing.
    return list(values) if isinstance(values, list) else values.tolist()


def interpreted() -> Engine:
    """The sources, run by Python whatever was built."""
    scan, walk, slots = (
        loaded(f"{name}_twin", SOURCE / "decode" / "kernels" / f"{name}.py") for name in ("scan", "walk", "slots")
    )
    for kernel, functions in ((walk, plain), (slots, plain_slots)):
        vars(kernel).update((name, value) for name, value in vars(functions).items() if not name.startswith("_"))
    return Engine("interpreted", scan, walk, slots)


def compiled() -> Engine | None:
    """What was built from the sources when the package was installed; None where nothing was."""
    modules = [importlib.import_module(f"clrevents.decode.kernels.{name}") for name in ("scan", "walk", "slots")]
    if any(str(module.__file__).endswith(".py") for module in modules):
        return None
    return Engine("compiled", *modules)


def twins() -> tuple[Engine, Engine]:
    """Both; a test that needs them is skipped where there is one only."""
    other = compiled()
    if other is None:
        pytest.skip("the kernels are not compiled here, so there is nothing to compare with")
    return interpreted(), other
