"""Programs made by chance that write activities and tasks as .NET does, and that know what started in what.

The runtime's rules are those of its ActivityTracker: an activity is the child of the one that is current in its flow, a
start of the same name ends the one around it without an event, and an end that finds nothing has no id.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import attrs

from built_tasks import awaits, completed, queued, resumes, returns, runs, scheduled, started
from clrevents.encode.values import NO_GUID
from clrevents.testing.builder import Format, TraceBuilder

Fault: TypeAlias = Literal["", "lost", "spurious"]
APP = "My-App"
PROCESS = 4796


def packed(digits: str, process: int = PROCESS) -> bytes:
    """A GUID with these digits of a path, as it is stored."""
    data = bytes.fromhex(digits.ljust(24, "0"))
    return data + struct.pack("<I", (sum(struct.unpack("<3I", data)) + 0x599D99AD & 0xFFFFFFFF) ^ process)


def appended(digits: str, number: int, fault: Fault) -> str | None:
    """The digits of a child with this number; None if there is no room. Two faults of runtimes can be had."""
    if number <= 10:
        found = f"{digits}{number:x}"
    elif len(digits) % 2:
        found = digits + (f"c{number:02x}" if number < 256 else f"d{number.to_bytes(2, 'little').hex()}")
    elif number < 256 and fault == "lost":
        found = f"{digits}c0"
    else:
        found = f"{digits}c{number:03x}" + ("00" if number > 255 and fault == "spurious" else "")
    return found if len(found) <= 20 else None


@attrs.define(eq=False)
class Begun:
    """An activity: what the runtime knows of it, and what the program does."""

    name: str
    maker: Begun | None
    digits: str
    number: int
    start_ns: int = 0
    end_ns: int | None = None
    dead: bool = False
    """For the runtime."""
    done: bool = False
    """For the program."""
    related: Begun | None = None
    """The one whose id is the related one, if that is open for the runtime."""
    around: frozenset[Begun] = frozenset()
    """Those in which it started: as the program is written, and those that it ended itself."""
    caller: Begun | None = None
    """The innermost of them, as the program is written."""


@attrs.define(eq=False)
class Place:
    """Where code runs: the current activity, and the activities around it as the program is written."""

    current: Begun | None = None
    around: tuple[Begun, ...] = ()

    def copy(self) -> Place:
        return Place(self.current, self.around)


@attrs.define(eq=False)
class Piece:
    """Work of a task, a continuation or an await; of none, if nothing tells of it."""

    kind: str
    id: int
    place: Place


@attrs.define
class Oddities:
    """What may happen, as shares of what happens."""

    losing: float = 0.0
    leaking: float = 0.0
    unflowed: float = 0.0
    hidden: float = 0.0
    fault: Fault = ""
    stale: bool = False
    """Whether a thread keeps the id of what it ran before where all that is around is over, as .NET Core 3.1 did."""
    ids: int = 0
    """Of how many ids tasks have; 0 for any number."""


class FlowProgram:
    """Writes a stream, and remembers what it did."""

    def __init__(
        self, seed: int = 0, odd: Oddities | None = None, threads: int = 3, format: Format = "nettrace4"
    ) -> None:
        self.rng = random.Random(seed)
        self.odd = odd or Oddities()
        self.builder = TraceBuilder(format, process_id=PROCESS)
        self.all: list[Begun] = []
        self.stacks: dict[int, list[Piece]] = {number: [] for number in range(11, 11 + threads)}
        self.ready: list[Piece] = []
        self.parked: list[Place] = []
        self.bases = {number: Place() for number in self.stacks}
        self.ids = 0
        self.children: dict[Begun | None, int] = {}
        self._before: dict[int, Begun | None] = dict.fromkeys(self.stacks)
        for number in self.stacks:
            self.builder.thread(number).wait(1).sample()
        self.now = 1000

    # What the runtime does. -------------------------------------------------------------------------------------------

    def id(self, thread: int, place: Place) -> Begun | None:
        """The activity whose id events have."""
        one = place.current
        while one is not None and one.dead:
            one = one.maker
        if one is not None or place.current is None or not self.odd.stale:
            self._before[thread] = one
        return self._before[thread]

    def tell(self, thread: int, place: Place, write: Callable[..., object], *arguments: object) -> None:
        """An event, or its loss."""
        self.now += 10
        one = self.id(thread, place)
        self.builder.thread(thread).at(self.now).activity(NO_GUID if one is None else packed(one.digits))
        self._write(write, *arguments)

    def _write(self, write: Callable[..., object], *arguments: object) -> None:
        if self.rng.random() < self.odd.losing:
            self.builder.lose(1)
        else:
            write(self.builder, *arguments)

    def begin(self, thread: int, name: str) -> Begun | None:
        """The code that the thread runs starts an activity; None if there is no room in its id."""
        place = self.place(thread)
        outer, current = self._stop(name, place)
        maker_digits = "1" if current is None else current.digits
        number = self.children.setdefault(current, self.rng.choice((0, 0, 0, 8, 200, 254))) + 1
        digits = appended(maker_digits, number, self.odd.fault)
        if digits is None:
            return None
        self.children[current] = number
        self.now += 10
        place.current = current
        related = self.id(thread, place)
        one = Begun(
            name,
            current,
            digits,
            number,
            self.now,
            related=related,
            around=frozenset(place.around if outer is None else (*place.around, outer)),
            caller=place.around[-1] if place.around else None,
        )
        place.current, place.around = one, (*place.around, one)
        self._before[thread] = one
        self.all.append(one)
        ids = packed(digits), NO_GUID if related is None else packed(related.digits)
        self.builder.thread(thread).at(self.now).activity(*ids)
        self._write(TraceBuilder.raw, APP, 1, 0, b"", (), f"{name}Start")
        return one

    def end(self, thread: int) -> None:
        """The code stops the innermost activity around it."""
        place = self.place(thread)
        mine = self.around(place)
        if mine is None:
            return
        place.around = place.around[: place.around.index(mine)]
        mine.done = True
        if self.rng.random() < self.odd.leaking:
            return
        stopped, place.current = self._stop(mine.name, place)
        self.now += 10
        one = self.id(thread, place) if stopped is None and self.odd.stale else stopped
        if stopped is not None:
            stopped.end_ns = self.now
        self.builder.thread(thread).at(self.now).activity(NO_GUID if one is None else packed(one.digits))
        self._write(TraceBuilder.raw, APP, 2, 0, b"", (), f"{mine.name}Stop")

    @staticmethod
    def _stop(name: str, place: Place) -> tuple[Begun | None, Begun | None]:
        """What a stop of this name, or a start, stops; and what is current afterwards."""
        one = place.current
        while one is not None and (one.dead or one.name != name):
            one = one.maker
        if one is None:
            return None, place.current
        inner = place.current
        while inner is not None and inner is not one:
            inner.dead = True
            inner = inner.maker
        one.dead = True
        return one, one.maker

    # What the program does. -------------------------------------------------------------------------------------------

    def place(self, thread: int) -> Place:
        """Where the code is that the thread runs."""
        return self.stacks[thread][-1].place if self.stacks[thread] else self.bases[thread]

    @staticmethod
    def around(place: Place) -> Begun | None:
        return next((one for one in reversed(place.around) if not one.done), None)

    def new(self) -> int:
        self.ids += 1
        return 1 + self.rng.randrange(self.odd.ids) if self.odd.ids else self.ids

    def hand_over(self, thread: int, kind: str, place: Place | None = None) -> Piece:
        """The code schedules a task, queues what follows it, or awaits something."""
        mine = self.place(thread)
        write = {"task": scheduled, "continuation": queued, "await": awaits}[kind]
        piece = Piece(kind, self.new(), (place or mine).copy())
        self.tell(thread, place or mine, write, piece.id)
        if kind == "task" and self.rng.random() < self.odd.unflowed:
            piece.place.current = None
        self.ready.append(piece)
        return piece

    def call(self, thread: int, name: str) -> Piece:
        """The code calls a method that starts an activity and goes on later."""
        mine = self.place(thread)
        inner = mine.copy()
        self.stacks[thread].append(Piece("call", 0, inner))
        self.begin(thread, name)
        piece = self.hand_over(thread, self.rng.choice(("continuation", "await")), inner)
        self.stacks[thread].pop()
        self.id(thread, mine)
        return piece

    def run(self, thread: int, piece: Piece) -> None:
        """A thread goes on with something."""
        self.ready.remove(piece)
        write = {"task": started, "continuation": runs, "await": resumes}[piece.kind]
        self.tell(thread, Place(), write, piece.id)
        self.stacks[thread].append(piece)
        self.id(thread, piece.place)

    def leave(self, thread: int) -> None:
        """What the thread runs is done."""
        piece = self.stacks[thread].pop()
        if piece.kind != "hidden":
            self.tell(thread, Place(), completed if piece.kind == "task" else returns, piece.id)
        self.id(thread, self.place(thread))

    def step(self) -> None:
        thread = self.rng.choice(list(self.stacks))
        stack = self.stacks[thread]
        name = self.rng.choice(("Job", "Job", "Part"))
        choice = self.rng.randrange(12)
        if self.rng.random() < self.odd.hidden:
            # A continuation of which no event tells is called where something else runs, or is left for later.
            if self.parked and self.rng.random() < 0.5:
                stack.append(Piece("hidden", 0, self.parked.pop(self.rng.randrange(len(self.parked)))))
                self.id(thread, stack[-1].place)
            else:
                self.parked.append(self.place(thread).copy())
        elif choice < 3:
            self.call(thread, name)
        elif choice < 5:
            self.begin(thread, name)
        elif choice < 8:
            self.end(thread)
        elif choice == 8:
            self.hand_over(thread, self.rng.choice(("task", "continuation", "await")))
        elif stack and choice < 10:
            self.leave(thread)
        elif self.ready and len(stack) < 3:
            self.run(thread, self.rng.choice(self.ready))

    def built(self) -> TraceBuilder:
        """The stream, with the number of each thread's last event."""
        for number in self.stacks:
            self.builder.thread(number).at(self.now + 10).activity(NO_GUID).sample()
        return self.builder


def flow_program(seed: int, odd: Oddities, *, steps: int = 120, threads: int = 3) -> FlowProgram:
    """A program of so many steps."""
    made = FlowProgram(seed, odd, threads)
    for _ in range(steps):
        made.step()
    return made


def tree(depth: int, fan: int, odd: Oddities | None = None) -> FlowProgram:
    """A method that starts an activity, and calls itself so often when it goes on."""
    made = FlowProgram(1, odd)
    left: Sequence[tuple[Piece, int]] = [(made.call(11, "Job"), depth)]
    while left:
        (piece, more), *left = left
        thread = made.rng.choice((12, 13))
        made.run(thread, piece)
        left += [(made.call(thread, "Job"), more - 1) for _ in range(fan if more else 0)]
        made.end(thread)
        made.leave(thread)
    return made
