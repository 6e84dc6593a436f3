"""Streams whose ids, addresses, times and threads were chosen to make reports work hard; each made for a size `n`.

Small code, no files. Knows how a stream is made costly; what is counted, and how much is too much, is up to the tests.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any

from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.events import (
    ILStubGenerated_V0,
    MethodFlags,
    MethodJittingStarted_V1,
    MethodLoadVerbose_V2,
    StubFlags,
    TieredCompilationBackgroundJitStart_V0,
    TypeLoadStart_V0,
    TypeLoadStop_V0,
)
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.layout import BoundField
from clrevents.schema.registry import DEFAULT
from clrevents.schema.wire import AnsiZ, Utf16Z
from clrevents.testing.builder import TraceBuilder
from in_memory import ended

_RUNTIME = "Microsoft-Windows-DotNETRuntime"


def _started(method: int) -> MethodJittingStarted_V1:
    return MethodJittingStarted_V1(method, 77, 1, 10, "n", "m", "v", 0)


def _loaded(method: int, address: int) -> MethodLoadVerbose_V2:
    return MethodLoadVerbose_V2(method, 77, address, 16, 1, MethodFlags(8 | 3 << 7), "n", "m", "v", 0, 0)


def nested_spans(n: int) -> bytes:
    """Compilations and loads of types that all begin before any ends; these end from the inside to the outside."""
    return _spans(n, range(n - 1, -1, -1))


def crossing_spans(n: int) -> bytes:
    """The same, but those that began first end first."""
    return _spans(n, range(n))


def _spans(n: int, ends: range) -> bytes:
    trace = TraceBuilder().thread(1)
    for i in range(n):
        trace.event(_started(1 + i)).event(TypeLoadStart_V0(i, 0))
    for i in ends:
        trace.event(TypeLoadStop_V0(i, 0, 1, i, "T")).event(_loaded(1 + i, 0x1000 + 16 * i))
    return trace.build()


def equal_ids(n: int) -> bytes:
    """Compilations of one method at one moment and one address, the highest; and stubs of it."""
    trace = TraceBuilder(step_ns=0).thread(1)
    for _ in range(n):
        trace.event(_started(5)).event(_loaded(5, (1 << 64) - 16), stack=((1 << 64) - 9, (1 << 63) + 5))
        trace.event(ILStubGenerated_V0(0, 77, 5, StubFlags(0), 1, "n", "m", "v", "", "", ""))
    return trace.build()


def reversed_times(n: int) -> bytes:
    """Each event earlier than the one before it, all in one region."""
    trace = TraceBuilder(step_ns=0).thread(1)
    for i in range(n):
        trace.at(1000 * (n - i)).event(_started(1 + i)).event(_loaded(1 + i, 0x1000 + 16 * i), stack=(0x1000 + 16 * i,))
        trace.sample(0x1004)
    return trace.build()


def threads_with_turns(n: int) -> bytes:
    """A turn of the background compiler, a compilation, a sample and a loss on each of `n` threads."""
    trace = TraceBuilder()
    for i in range(n):
        trace.thread(1000 + i).event(TieredCompilationBackgroundJitStart_V0(0, 1)).lose(1)
        trace.event(_started(1 + i)).event(_loaded(1 + i, 0x1000 + 16 * i)).sample(0x1004)
    return trace.build()


def processes(n: int) -> bytes:
    """A method loaded by each of `n` processes."""
    writer = NetTrace6Writer(io.BytesIO())
    writer.metadata([MetadataRecord(1, _RUNTIME, 143, 2)])
    for at in range(0, n, 1000):
        writer.threads([ThreadRow(i, i, i) for i in range(1 + at, 1 + min(at + 1000, n))])
    texts = "".join(text + "\0" for text in ("n", "m", "v")).encode("utf-16-le")
    load = struct.pack("<QQQIII", 9, 7, 5, 16, 1, 8) + texts + bytes(2) + bytes(8)
    for at in range(0, n, 1000):
        writer.events([EventRecord(1, i, i, load) for i in range(1 + at, 1 + min(at + 1000, n))])
    return ended(writer)


def runtimes(n: int) -> bytes:
    """An end of a suspension in each of `n` runtimes, in turn of 100 processes."""
    writer = NetTrace6Writer(io.BytesIO())
    writer.metadata([MetadataRecord(1, _RUNTIME, 8, 1)])
    writer.threads([ThreadRow(i, i, i) for i in range(1, 101)])
    for at in range(0, n, 1000):
        writer.events(
            [
                EventRecord(1, i, 1 + i % 100, struct.pack("<H", i // 100 % (1 << 16)))
                for i in range(at, min(at + 1000, n))
            ]
        )
    return ended(writer)


def deep_stacks(n: int) -> bytes:
    """Sixteen samples whose stacks have `n` frames and differ at the outermost."""
    trace = TraceBuilder().thread(1).method_load("n", "m", address=0x1000)
    for i in range(16):
        trace.sample(*(0x1004 + k % 8 for k in range(n)), 0x5000 + i)
    return trace.rundown().build()


def asked_in_turn(
    events: Sequence[tuple[str, int, int, str, tuple[FieldDescription, ...]]], n: int, ids: bool, threads: bool
) -> bytes:
    """Each of these events (`asked_events`) `n` times, in turn: all numbers of a payload are its turn, or with `ids`
    off 1; each turn on a thread of its own, or all on one."""
    trace = TraceBuilder()
    for turn in range(1, n + 1):
        number = turn if ids else 1
        trace.thread(turn if threads else 1)
        for provider, id, version, name, fields in events:
            info, stack = DEFAULT.get(provider, id, version), (0x1000 + 64 * number, 0x1040)
            if info is not None:
                trace.raw(provider, id, version, _numbered(info.layout.bind(8).fields, number), stack)
            else:
                values = {field.name: (field.code, _value(field.code, number)) for field in fields}
                trace.described(provider, name, values, id=id, stack=stack)
        trace.sample(0x1000, 0x1040)
    return trace.build()


def _value(code: int, number: int) -> Any:
    return {TypeCode.STRING: f"n{number}", TypeCode.DOUBLE: float(number), TypeCode.BOOLEAN: False}.get(code, number)


def _numbered(fields: Sequence[BoundField], number: int) -> bytes:
    """A payload whose numbers are all this one; what is counted is empty."""
    counters = {field.type.counted_by for field in fields}
    made = b""
    for field in fields:
        made += bytes(field.pad)
        kind = field.type.number
        if kind is not None and kind.kind == "float":
            made += struct.pack("<f" if kind.size == 4 else "<d", number)
        elif kind is not None:
            value = 0 if field.name in counters or kind.kind == "bool" else number
            made += (value & (1 << 8 * kind.size) - 1).to_bytes(kind.size, "little")
        elif isinstance(field.type, Utf16Z | AnsiZ):
            made += f"n{number}\0".encode("utf-16-le" if isinstance(field.type, Utf16Z) else "ascii")
        elif field.type.counted_by is None:
            made += bytes(field.type.min_size(8))
    return made
