"""The object envelope of NetPerf 3 and NetTrace 4/5 (docs/format.md, "Objects"), and finding it again after damage.

Knows tags, type names, sizes and alignment; the contents of a block are its subclass's business. In salvage mode a
block that does not end at its declared size is cut at the next recognizable object.
"""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final

from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import Block, End, Events, Fault, Header
from clrevents.decode.container.container import SMALL, cut, one
from clrevents.decode.container.window import NEXT_TRACE, NeedMore, Window, behind_end
from clrevents.decode.kernels.engine import chained_objects
from clrevents.errors import Limits, UnreadableError, damage
from clrevents.schema.codes import ObjectName, ObjectTag

# Plain values where every object is tested: looking a member up takes longer than the test.
_NULL, _END = int(ObjectTag.NULL), int(ObjectTag.END)
_TRACE = str(ObjectName.TRACE)
_NAME_LIMIT: Final = 64
# How far salvage searches for the next object: many times the largest block that a runtime writes.
_REACH: Final = 1 << 22
_LONGEST: Final = 64
_LOOKAHEAD: Final = 4
# Where an object's type says its versions: equal for all blocks of one writer.
_VERSIONS: Final = slice(3, 11)
_ANY_VERSIONS: Final = bytes(_VERSIONS.stop - _VERSIONS.start)
_END_LOOK: Final = 1 << 20


@frozen
class Body:
    """A block's payload: `window.data[start:end]`. `broken` if it is known to be incomplete or damaged."""

    name: str
    start: int
    end: int
    broken: bool = False


class ObjectContainer(ABC):
    """Reads one object after another; see `decode.container.container.Container`.

    `begin` is the tag that opens an object in this generation, `block_names` the kinds of object.
    """

    def __init__(self, begin: int, block_names: tuple[str, ...], limits: Limits, salvage: bool) -> None:
        self._limits = limits
        self._salvage = salvage
        self._prefix = bytes((begin, begin, _NULL))
        end = bytes((_END,))
        names = b"|".join(struct.pack("<i", len(n)) + n.encode() for n in block_names)
        self._signature = re.compile(re.escape(self._prefix) + b".{8}(?:" + names + b")" + end, re.DOTALL)
        self._shift = 0
        self._seen_header = False

    @abstractmethod
    def _header(self, window: Window, version: int) -> Header:
        """The trace object, whose content starts at the window's position."""

    @abstractmethod
    def _content(self, window: Window, body: Body) -> Iterator[Block]:
        """The values of one block."""

    def read(self, window: Window) -> Iterator[Block]:
        with window.all_or_nothing():
            yield from self._object(window)

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        """See `decode.container.container.Container`; None where a generation has no such blocks."""
        return None

    def _object(self, window: Window) -> Iterator[Block]:
        start = window.pos
        window.require(1)
        if window.data[start] == _NULL and self._seen_header and not self._spurious_end(window):
            window.pos += 1
            yield End(window.base + start)
            return
        typed = self._type_header(window)
        if isinstance(typed, str):
            yield from self._lost(window, start, typed)
            return
        name, version = typed
        if name == _TRACE and not self._seen_header:
            yield self._header(window, version)
            if window.data[window.pos] != _END:
                raise UnreadableError("the trace header does not end at its declared size", offset=window.offset)
            window.pos += 1
            self._seen_header = True
            return
        if not self._seen_header:
            text = f"the first object is {name!r} instead of the trace header"
            raise UnreadableError(text, offset=window.base + start)
        yield from self._block(window, name)

    def _spurious_end(self, window: Window) -> bool:
        """In salvage mode an end mark is trusted only if no object can be found after it."""
        if not self._salvage:
            return False
        if not window.final:
            window.require(_END_LOOK)
        place = self._signature.search(window.data, window.pos, min(window.end, window.pos + _END_LOOK))
        return place is not None and behind_end(window, window.pos + 1) is None

    def _type_header(self, window: Window) -> str | tuple[str, int]:
        """Name and version of the object that starts here, with the position moved after it; or the fault."""
        start = window.pos
        if window.final and window.available < 15:
            window.require(15)
        window.require(3)
        if window.data[start : start + 3] != self._prefix:
            return "no object starts here"
        window.require(15)
        version, _, length = struct.unpack_from("<iii", window.data, start + 3)
        if not 0 < length <= _NAME_LIMIT:
            return f"an object declares a type name of {length} bytes"
        window.require(15 + length + 1)
        if window.data[start + 15 + length] != _END:
            return "an object's type has no end tag"
        window.pos = start + 15 + length + 1
        return window.data[start + 15 : start + 15 + length].decode("utf-8", "replace"), version

    def _lost(self, window: Window, start: int, what: str) -> Iterator[Block]:
        """No object can be read here: in salvage mode continue at the next recognizable one."""
        at = window.base + start
        if not self._salvage:
            yield _fault("bad-object", what, at, None, fatal=True)
            return
        place = self._find(window, start + 1)
        end = start + 1 + _REACH if self._beyond_reach(window, start + 1) else window.end
        if place is not None:
            end = place
            self._realign(window, place)
        yield _fault("bad-object", f"{what}; skipped {end - start} bytes", at, end - start)
        window.pos = end

    def _block(self, window: Window, name: str) -> Iterator[Block]:
        begin = window.pos
        window.require(4)
        at = window.offset
        (size,) = struct.unpack_from("<i", window.data, begin)
        start = begin + 4 + self._padding(at + 4, self._shift)
        possible = 0 <= size <= self._limits.block_bytes
        if not possible and not self._salvage:
            yield _fault("bad-block", f"{one(name)} declares {size} bytes", at, None, fatal=True)
            return
        if possible and not window.final:
            window.require(start - begin + size + (_LOOKAHEAD if self._salvage else 1))
        if possible and self._ends_soundly(window, start + size):
            body = Body(name, start, start + size)
            yield from self._content(window, body)
            window.pos = body.end + 1
            return
        yield from self._unsound(window, name, at, start, size)

    def _small_bodies(
        self, window: Window, signatures: tuple[bytes, bytes], most: int
    ) -> tuple[Any, int, list[int]] | None:
        """Sound small blocks of two types that follow each other, as places in the window: see `chained_objects`.

        Up to the last of the first type, and at most `most` of either; None if the next block or the one behind it is
        of neither. `signatures` are the ends of the types' objects, from the length of their names on.
        """
        data, pos, base = window.data, window.pos, window.base
        length = _VERSIONS.stop + len(signatures[0])
        if not data.startswith(signatures, pos + _VERSIONS.stop) or not data.startswith(self._prefix, pos):
            return None
        # Often none of these follows, which takes less to see than to ask the kernel.
        (size,) = struct.unpack_from("<I", data, pos + length)
        behind = pos + length + 4 + self._padding(base + pos + length + 4, self._shift) + size + 1
        if not data.startswith(signatures, behind + _VERSIONS.stop):
            return None
        # After a block is its end tag, and what tells that it is sound.
        last = window.end - (0 if window.final else _LOOKAHEAD)
        turn, largest = (base - self._shift) % 4, min(SMALL, self._limits.block_bytes)
        heads = (self._prefix + _ANY_VERSIONS).join((b"", *signatures))
        bodies, count, others = chained_objects(data, heads, pos, last, turn, _END, largest, most)
        # Another one follows all but the last.
        if count and not self._ends_soundly(window, int(bodies[3 * count - 1])):
            count -= 1
        return bodies, count, others

    @staticmethod
    def signature(name: str) -> bytes:
        """The end of a type's object."""
        return struct.pack("<i", len(name)) + name.encode() + bytes((_END,))

    def _unsound(self, window: Window, name: str, at: int, start: int, size: int) -> Iterator[Block]:
        """A block that does not end at its declared size, or extends past the end of the stream."""
        end = start + size
        # Another trace may begin where its size should be.
        place = self._find(window, window.pos) if self._salvage else None
        if place is not None:
            stop = place - 1 if window.data[place - 1] == _END else place
            self._realign(window, place)
            yield from self._content(window, Body(name, min(start, stop), stop, broken=True))
            text = f"{one(name)} does not end at its declared size; its plausible part was kept"
            yield _fault("bad-block", text, window.base + start, place - start)
            window.pos = place
            return
        lost = self._salvage and self._beyond_reach(window, start)
        beyond = not lost and (size < 0 or end >= window.end)
        stop = start + _REACH if lost else window.end if beyond or self._salvage else end
        whole = end == window.end
        yield from self._content(window, Body(name, min(start, stop), stop, broken=not whole))
        window.pos = stop
        if beyond:
            there = max(stop - start, 0)
            problem = cut(one(name), at, size + 1, there)
            yield Fault(problem, fatal=not self._salvage)
        else:
            text = f"{one(name)} does not end at its declared size"
            yield _fault("bad-block", text, window.base + start, stop - start, fatal=not self._salvage)

    def _ends_soundly(self, window: Window, end: int) -> bool:
        """Whether a block ends here and, in salvage mode, whether a recognizable object follows."""
        if end >= window.end or window.data[end] != _END:
            return False
        if not self._salvage:
            return True
        following = window.data[end + 1 : min(end + _LOOKAHEAD, window.end)]
        return not following or following[0] == _NULL or self._prefix.startswith(following[:3])

    def _find(self, window: Window, start: int) -> int | None:
        """The position of the next recognizable object; None if there is none within reach, or none at all.

        The reach bounds memory, and makes the outcome independent of how the stream is sliced.
        """
        end = min(window.end, start + _REACH + _LONGEST)
        match = self._signature.search(window.data, min(start, end), end)
        other = NEXT_TRACE.search(window.data, min(start, end), end if match is None else match.start())
        if other is not None:
            # What follows are objects of another trace.
            return other.start()
        if match is not None and (window.final or match.end() + 8 <= window.end):
            return match.start()
        if match is None and self._beyond_reach(window, start):
            return None
        if not window.final:
            # Doubled each time, so that a long search stays linear.
            reach = start + _REACH + _LONGEST + 8 - window.pos
            raise NeedMore(max(min(2 * window.available + 64, reach), window.available + 1))
        return None

    @staticmethod
    def _beyond_reach(window: Window, start: int) -> bool:
        """Whether the stream continues past the range that a search from `start` covers."""
        return window.end >= start + _REACH + _LONGEST

    def _realign(self, window: Window, place: int) -> None:
        """Bytes may be missing or added before `place`: choose the alignment that leads to a valid end.

        Raises NeedMore until that end is available, so nothing may have been yielded before.
        """
        match = self._signature.match(window.data, place, window.end)
        if match is None or match.end() + 8 > window.end:
            return
        begin = match.end()
        (size,) = struct.unpack_from("<i", window.data, begin)
        if not 0 <= size <= self._limits.block_bytes:
            return
        if not window.final:
            window.require(begin + 7 + size + _LOOKAHEAD - window.pos)
        for shift in dict.fromkeys((self._shift, 0, 1, 2, 3)):
            end = begin + 4 + self._padding(window.base + begin + 4, shift) + size
            if begin < end < window.end and self._ends_soundly(window, end):
                self._shift = shift
                return

    @staticmethod
    def _padding(offset: int, shift: int) -> int:
        """The bytes to the next multiple of four, counted in the writer's offsets."""
        return -(offset - shift) % 4


def _fault(kind: str, message: str, offset: int, length: int | None, fatal: bool = False) -> Fault:
    return Fault(damage(kind, message, offset, length, "the events, names or stacks of this range"), fatal)
