"""Looks at the first bytes of a stream and picks the container, or says kindly what the bytes are instead."""

from __future__ import annotations

from clrevents.decode.container.base import Container
from clrevents.decode.container.nettrace4 import NetTrace4
from clrevents.decode.window import Window
from clrevents.errors import Limits, UnreadableError

FAST_SERIALIZATION = b"\x14\0\0\0!FastSerialization.1"

_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "this is gzip data; decompress it first (files are decompressed when opened by name)"),
    (b"PK\x03\x04", "this is a zip archive; unpack it and open the .nettrace inside"),
    (b"DOTNET_IPC_V1", "this begins with a diagnostics reply; the trace starts behind its 20-byte header"),
    (b"PERFILE2", "this is a Linux perf recording, not a .NET trace"),
)


def detect(window: Window, limits: Limits) -> Container:
    """The container for this stream. NeedMore while undecided; UnreadableError when it is none of ours."""
    head = window.data[: min(window.end, 32)]
    if not head and window.final:
        raise UnreadableError("the file is empty", offset=0)
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise UnreadableError(what, offset=0)
    if head.startswith(b"Nettrace"):
        if len(head) >= 20 and head[8:12] == b"\0\0\0\0":
            major = int.from_bytes(head[12:16], "little", signed=True)
            raise UnreadableError(f"this is NetTrace version {major}; versions up to 5 are read so far", offset=12)
        if len(head) < 32:
            _wait(window, 32)
        if head[8:32] == FAST_SERIALIZATION:
            window.pos = 32
            return NetTrace4(limits)
        raise UnreadableError("this begins like a NetTrace file but goes on like none", offset=8)
    if head.startswith(FAST_SERIALIZATION):
        raise UnreadableError(
            "this is an older .netperf trace (or another file of the same serializer), which is not read yet",
            offset=0,
        )
    if not window.final and (b"Nettrace".startswith(head[:8]) or FAST_SERIALIZATION.startswith(head)):
        _wait(window, 32)
    raise UnreadableError("this is not a .NET trace (it does not begin with 'Nettrace')", offset=0)


def _wait(window: Window, count: int) -> None:
    window.require(count) if not window.final else None
    if window.final:
        raise UnreadableError("the file ends inside its header", offset=window.end, needed=count, available=window.end)
