"""Picks the container by the first bytes of a stream, or identifies the bytes as something else.

Imports the generation that it picks, and no other.
"""

from __future__ import annotations

from clrevents.decode.container.container import Container
from clrevents.decode.container.window import Window
from clrevents.errors import Limits, UnreadableError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE, ObjectName

_NETPERF12 = ObjectName.NETPERF12.encode()
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "this is gzip data; decompress it first (files are decompressed when opened by name)"),
    (b"PK\x03\x04", "this is a zip archive; unpack it and open the .nettrace inside"),
    (b"DOTNET_IPC_V1", "this starts with a diagnostics IPC reply; the trace follows its 20-byte header"),
    (b"PERFILE2", "this is a Linux perf recording, not a .NET trace"),
)


def detect(window: Window, limits: Limits, salvage: bool) -> Container:
    """The container for this stream. Raises NeedMore while undecided, UnreadableError if it is not a known format."""
    head = window.data[: min(window.end, 80)]
    if not head and window.final:
        raise UnreadableError("the file is empty", offset=0)
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise UnreadableError(what, offset=0)
    if head.startswith(NETTRACE):
        return _nettrace(window, head, limits, salvage)
    if head.startswith(FAST_SERIALIZATION):
        return _netperf(window, head, limits, salvage)
    if not window.final and any(magic.startswith(head) for magic in (NETTRACE, *(m for m, _ in _OTHERS))):
        window.require(len(head) + 1)
    if not window.final and (NETTRACE.startswith(head[:8]) or FAST_SERIALIZATION.startswith(head)):
        window.require(32)
    if NETTRACE.startswith(head[:8]) or FAST_SERIALIZATION.startswith(head):
        raise _too_short(window)
    raise UnreadableError("this is not a .NET trace (it does not start with 'Nettrace')", offset=0)


def _nettrace(window: Window, head: bytes, limits: Limits, salvage: bool) -> Container:
    if len(head) >= 20 and head[8:12] == bytes(4):
        major = int.from_bytes(head[12:16], "little", signed=True)
        if major != 6:
            raise UnreadableError(
                f"unsupported NetTrace version {major}; versions 4 to 6 (and NetPerf 1 to 3) can be read", offset=12
            )
        from clrevents.decode.container.nettrace6.nettrace6 import NetTrace6

        window.pos = 20
        return NetTrace6(limits, salvage)
    if len(head) < 32:
        if not window.final:
            window.require(32)
        raise _too_short(window)
    if head[8:32] != FAST_SERIALIZATION:
        raise UnreadableError("this has the NetTrace magic but an invalid header", offset=8)
    from clrevents.decode.container.nettrace4 import NetTrace4

    window.pos = 32
    return NetTrace4(limits, salvage)


def _netperf(window: Window, head: bytes, limits: Limits, salvage: bool) -> Container:
    """The first object's name distinguishes NetPerf from other files of the same serializer."""
    if len(head) < 43:
        if not window.final:
            window.require(43)
        raise _too_short(window)
    length = int.from_bytes(head[35:39], "little", signed=True)
    if not 0 < length <= 256:
        raise UnreadableError(f"the first object declares a type name of {length} bytes", offset=35)
    # Use no more of a longer name than necessary: the message must not depend on how many bytes have arrived.
    shown = min(length, len(_NETPERF12))
    name = head[39 : 39 + shown]
    if len(name) < shown:
        if not window.final:
            window.require(39 + shown)
        raise _too_short(window)
    window.pos = 24
    if name == ObjectName.TRACE.encode():
        from clrevents.decode.container.netperf.netperf3 import NetPerf3

        return NetPerf3(limits, salvage)
    if name == _NETPERF12 and length == len(_NETPERF12):
        from clrevents.decode.container.netperf.netperf12 import NetPerf12

        return NetPerf12(limits, salvage)
    text = name.decode("latin-1")
    raise UnreadableError(f"this is another kind of serialized file ({text!r}), not a trace", offset=39)


def _too_short(window: Window) -> UnreadableError:
    return UnreadableError("the file ends inside its header", offset=window.end, available=window.end, needed=48)
