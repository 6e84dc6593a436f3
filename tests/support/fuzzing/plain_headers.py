"""The payloads of a sound NetTrace file by a second, strict and plain reading of its event headers.

Follows the format's text alone and shares nothing with the decoder. Knows compressed headers of NetTrace 4 and 6, and
how long the parts of stacks and of NetTrace 4's descriptions are; of anything else it says nothing. Tells where all
these lengths stand, too, so that they can be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stream_blocks import TAGS, blocks_of, head_size

_OBJECT, _ARRAY = 1, 19


class Unsound(Exception):
    """These bytes are not as the format says."""


class Unknown(Exception):
    """Nothing can be said of them here."""


class Length(NamedTuple):
    """Where so many bytes say how long something is that ends at `end` at the latest."""

    what: str
    pos: int
    width: int
    end: int


def payloads(data: bytes) -> list[bytes]:
    """The payloads of all events in the order of the file. Raises `Unsound` and `Unknown`."""
    return [data[start:end] for start, end in _Reading(data).events()]


def lengths(data: bytes) -> list[Length]:
    """Every length up to the first that is wrong."""
    reading = _Reading(data)
    try:
        for _ in reading.events():
            pass
    except (Unsound, Unknown):
        pass
    return reading.lengths


class _Reading:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._six = data[8:12] == bytes(4)
        self.lengths: list[Length] = []

    def events(self) -> Iterator[tuple[int, int]]:
        """Where each payload starts and ends."""
        if self._data[:8] != b"Nettrace":
            raise Unknown
        last = head_size(self._data)
        for block in blocks_of(self._data):
            last, size = block.end, len(self._data)
            if not self._six:
                self.lengths.append(Length("name", block.start + 11, 4, size))
            if block.size_at < block.content:
                self.lengths.append(Length("block", block.size_at, 3 if self._six else 4, size))
            if block.name == "EventBlock":
                yield from self._events(block.content, block.content_end)
            elif block.name == "StackBlock":
                self._stacks(block.content, block.content_end)
            elif block.name == "MetadataBlock" and not self._six:
                for at, stop in self._events(block.content, block.content_end):
                    self._description(at, stop)
        if self._data[last : last + 3] in TAGS and not self._six:
            raise Unsound("an object that is none")

    def _length(self, what: str, pos: int, width: int, end: int) -> tuple[int, int]:
        """A length, which stands before `end` and cannot reach beyond it, and where its bytes end."""
        if pos + width > end:
            raise Unsound("a number beyond its field")
        self.lengths.append(Length(what, pos, width, end))
        return int.from_bytes(self._data[pos : pos + width], "little"), pos + width

    def _stacks(self, pos: int, end: int) -> None:
        """A first id and a count, then of each the size and its bytes."""
        count, pos = self._length("stacks", pos + 4, 4, end)
        for _ in range(count):
            size, pos = self._length("stack", pos, 4, end)
            pos += size
            if pos > end:
                raise Unsound("fewer stacks than declared")

    def _events(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        length, pos = self._length("header", start, 2, end)
        flags, pos = int.from_bytes(self._data[pos : pos + 2], "little"), start + length
        if length < 20 or pos > end:
            raise Unsound("no header")
        if not flags & 1:
            raise Unknown
        size = 0
        while pos < end:
            marks = self._data[pos]
            pos += 1
            widths = [*[5] * (marks & 1), *[5, 10, 5] * (marks >> 1 & 1), *[10] * (marks >> 2 & 1)]
            widths += [*[5] * (marks >> 3 & 1), 10, *[5] * (marks >> 4 & 1 if self._six else 0)]
            for most in widths:
                _, pos = self._varint(pos, end, most)
            if not self._six:
                pos += 16 * (marks >> 4 & 1) + 16 * (marks >> 5 & 1)
            if marks & 128:
                self.lengths.append(Length("payload", pos, 1, end))
                size, pos = self._varint(pos, end, 5)
            if size > end - pos:
                raise Unsound("a payload beyond its block")
            yield pos, pos + size
            pos += size

    def _varint(self, pos: int, end: int, most: int) -> tuple[int, int]:
        value = 0
        for place in range(min(most, end - pos)):
            value |= (self._data[pos + place] & 127) << 7 * place
            if self._data[pos + place] < 128:
                return value, pos + place + 1
        raise Unsound("a number without an end")

    def _description(self, pos: int, end: int) -> None:
        """An id, a name, an id, a name, 16 bytes, and fields; then tags, of which those of kind 2 are newer fields."""
        pos = self._text(self._text(pos + 4, end) + 4, end) + 16
        if pos > end:
            raise Unsound("a description without an end")
        if pos + 4 <= end:
            pos = self._older_fields(pos, end)
        while pos + 5 <= end:
            length, pos = self._length("tag", pos, 4, end)
            start, pos = pos + 1, pos + 1 + length
            if pos > end:
                raise Unsound("a tag beyond its description")
            if self._data[start - 1] == 2:
                self._newer_fields(start, pos)

    def _text(self, pos: int, end: int) -> int:
        while pos + 2 <= end:
            pos += 2
            if self._data[pos - 2 : pos] == bytes(2):
                return pos
        raise Unsound("a text without an end")

    def _older_fields(self, pos: int, end: int) -> int:
        """Of each its type, its members where it is an object, and its name."""
        count, pos = self._length("older fields", pos, 4, end)
        for _ in range(count):
            code, pos = self._length("older type", pos, 4, end)
            if code == _OBJECT:
                pos = self._older_fields(pos, end)
            pos = self._text(pos, end)
        return pos

    def _newer_fields(self, pos: int, end: int) -> None:
        """Of each its size, which counts itself, its name, its type, and what belongs to that."""
        count, pos = self._length("newer fields", pos, 4, end)
        for _ in range(count):
            size, inside = self._length("newer field", pos, 4, end)
            pos += size
            if not inside <= pos <= end:
                raise Unsound("a field beyond its description")
            self._newer_type(self._text(inside, pos), pos)

    def _newer_type(self, pos: int, end: int) -> None:
        code, pos = self._length("newer type", pos, 4, end)
        if code == _ARRAY:
            self._newer_type(pos, end)
        elif code == _OBJECT:
            self._newer_fields(pos, end)
