"""The object envelope of NetPerf and NetTrace 4/5: tags, type names, sizes and padding (docs/format.md, "Objects").

Knows the current stream offset, because padding counts from the stream's first byte; offsets are Python integers, so
that they may exceed 2^32. Knows nothing of an object's contents.
"""

from __future__ import annotations

from clrevents.encode.scalars import signed
from clrevents.encode.values import Sink
from clrevents.schema.codes import ObjectTag


class ObjectWriter:
    """Appends objects to a sink; each call writes once or, if it raises, not at all.

    `begin` is the tag that opens an object in this generation. `offset` counts from the stream's first byte.
    """

    def __init__(self, sink: Sink, begin: int) -> None:
        self.offset = 0
        self._sink = sink
        self._begin = begin

    def raw(self, data: bytes) -> None:
        """Write arbitrary bytes."""
        self._sink.write(data)
        self.offset += len(data)

    def type_header(self, name: str, version: int, minimum: int) -> bytes:
        """The bytes before an object's content."""
        encoded = name.encode()
        return b"".join(
            (
                bytes((self._begin, self._begin, ObjectTag.NULL)),
                signed(version, 4, "object version"),
                signed(minimum, 4, "minimum reader version"),
                signed(len(encoded), 4, "type name length"),
                encoded,
                bytes((ObjectTag.END,)),
            )
        )

    def unsized(self, name: str, version: int, minimum: int, content: bytes) -> None:
        """Write an object whose content is not preceded by its size: the trace object."""
        self.raw(self.type_header(name, version, minimum) + content + bytes((ObjectTag.END,)))

    def block(self, name: str, version: int, minimum: int, content: bytes) -> None:
        """Write an object with a size, padded so that its content starts at a multiple of four in the stream."""
        head = self.type_header(name, version, minimum) + signed(len(content), 4, f"the size of a {name}")
        padding = bytes(-(self.offset + len(head)) % 4)
        self.raw(b"".join((head, padding, content, bytes((ObjectTag.END,)))))
