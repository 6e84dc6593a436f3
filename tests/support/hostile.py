"""About a kilobyte each, and none of it meant well: streams that claim what cannot be, in every generation."""

# mypy: disable-error-code="misc, assignment, attr-defined, arg-type"

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from typing import Final

from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.values import (
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    MetadataStyle,
    ThreadRow,
    TraceHeader,
)
from clrevents.schema.codes import LabelKind
from in_memory import four, six
from oldest_writer import NetPerf12Writer

I32, U32, I64, U64 = (1 << 31) - 1, (1 << 32) - 1, (1 << 63) - 1, (1 << 64) - 1
RUNTIME: Final = "Microsoft-Windows-DotNETRuntime"
HEAD: Final = struct.Struct("<HHqq")
FULL: Final = Choices(compressed=False)


def varint(number: int, length: int = 0) -> bytes:
    """LEB128, padded to a length with groups of nothing."""
    out: list[int] = []
    while number > 127 or len(out) + 1 < length:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def text(value: str) -> bytes:
    return value.encode("utf-16-le") + b"\0\0"


def record(metadata_id: int, fields: bytes, event_id: int = 1, name: str = "E", provider: str = "P") -> bytes:
    """A description of NetTrace 4 with any bytes for its fields."""
    head = struct.pack("<i", metadata_id) + text(provider) + struct.pack("<i", event_id) + text(name)
    return head + struct.pack("<Qii", 0, 0, 0) + fields


def blobs(*payloads: bytes, flags: bytes = b"\x81\x00") -> bytes:
    """A compressed metadata block of these records."""
    return HEAD.pack(20, 1, 0, 0) + b"".join(flags + b"\0" + varint(len(p)) + p for p in payloads)


def event(metadata_id: int, payload: bytes = b"", time: int = 5, thread: int = 1) -> EventRecord:
    return EventRecord(metadata_id, time, thread, payload)


def raw(name: str, content: bytes) -> Callable[[NetTrace4Writer], object]:
    return lambda w: w.raw_block(name, content)


def sized(name: str, size: int, content: bytes = b"") -> Callable[[NetTrace4Writer], object]:
    """A block that lies about its size."""
    head = b"\5\5\1" + struct.pack("<iii", 2, 2, len(name)) + name.encode() + b"\6" + struct.pack("<i", size)
    return lambda w: w.raw(head + bytes(-(w.offset + len(head)) % 4) + content + b"\6")


def described(*fields: FieldDescription, number: int = 1, style: MetadataStyle | None = None) -> MetadataRecord:
    return MetadataRecord(number, "P", number, 0, "E", fields=fields, style=style or MetadataStyle())


def runtime(number: int, event_id: int, version: int = 0) -> MetadataRecord:
    return MetadataRecord(number, RUNTIME, event_id, version)


def nested(code: int, depth: int) -> FieldDescription:
    field = FieldDescription("x", 9)
    for _ in range(depth):
        field = (
            FieldDescription("x", code, element=field, count=2)
            if code != 1
            else FieldDescription("", 1, None, (field,))
        )
    return field


def cases() -> Iterator[tuple[str, bytes]]:
    """(name, stream)."""
    yield from _descriptions()
    yield from _blocks_of_four()
    yield from _events_of_four()
    yield from _blocks_of_six()
    yield from _payloads()
    yield from _headers()
    yield from _netperf()


def _descriptions() -> Iterator[tuple[str, bytes]]:
    one_field = struct.pack("<ii", 1, 1)
    for depth in (33, 60, 100):
        yield (
            f"objects nested {depth} deep",
            four(raw("MetadataBlock", blobs(record(1, one_field * depth))), lambda w: w.events([event(1, bytes(40))])),
        )
    for count in (-1, -(1 << 31), I32, 1 << 20, 4097):
        fields = struct.pack("<i", count) + bytes(200)
        yield f"{count} fields", four(raw("MetadataBlock", blobs(record(1, fields))))
        tag = struct.pack("<iiBi", 0, 4, 2, count)
        yield f"{count} fields in a tag", four(raw("MetadataBlock", blobs(record(1, tag + bytes(100)))))
        yield f"a tag of {count} bytes", four(raw("MetadataBlock", blobs(record(1, struct.pack("<iiB", 0, count, 1)))))
    arrays = struct.pack("<i", 1) + struct.pack("<i", 4 + 4 + 4 * 200) + text("a") + struct.pack("<i", 19) * 200
    yield (
        "arrays nested 200 deep",
        four(raw("MetadataBlock", blobs(record(1, struct.pack("<iiB", 0, len(arrays), 2) + arrays)))),
    )
    yield (
        "many empty objects",
        four(
            raw("MetadataBlock", blobs(record(1, struct.pack("<i", 80) + (struct.pack("<ii", 1, 0) + b"\0\0") * 80))),
            lambda w: w.events([event(1)] * 20),
        ),
    )
    yield (
        "descriptions of one id",
        four(
            raw("MetadataBlock", blobs(*(record(7, struct.pack("<i", 0), n) for n in range(16)))),
            lambda w: w.events([event(7)] * 5),
        ),
    )
    for number in (I32, -1, -(1 << 31), 0, 1 << 20, (1 << 20) - 1):
        yield (
            f"description {number}",
            four(
                raw("MetadataBlock", blobs(record(number, struct.pack("<i", 0)))),
                lambda w, n=number: w.events([event(n & I32)]),
            ),
        )
    for code in (19, 22, 24, 25, 1):
        for depth in (5, 31, 32, 60):
            row = six(
                lambda w, c=code, d=depth: w.metadata([described(nested(c, d))]),
                lambda w: w.threads([ThreadRow(1, 1)]),
                lambda w: w.events([event(1, b"\2\0" * 60), event(1, b"\xff" * 200), event(1)]),
            )
            yield f"type {code} nested {depth} deep", row
    wide = FieldDescription(
        "x", 22, element=FieldDescription("", 22, element=FieldDescription("", 6), count=65535), count=65535
    )
    yield (
        "four billion elements",
        six(
            lambda w: w.metadata([described(wide)]),
            lambda w: w.threads([ThreadRow(1, 1)]),
            lambda w: w.events([event(1, bytes(500))]),
        ),
    )
    empty = FieldDescription("x", 22, element=FieldDescription("", 1), count=65535)
    yield (
        "65535 empty objects",
        six(
            lambda w: w.metadata([described(empty)]),
            lambda w: w.threads([ThreadRow(1, 1)]),
            lambda w: w.events([event(1, bytes(500)), event(1)]),
        ),
    )
    yield (
        "names that are no names",
        six(
            lambda w: w.metadata(
                [
                    described(
                        *(FieldDescription(n, 9) for n in ("", "", "def", "__class__", "a b", "x\0y", "payload", "<b>"))
                    )
                ]
            ),
            lambda w: w.threads([ThreadRow(1, 1, name="<script>")]),
            lambda w: w.events([event(1, bytes(40))]),
        ),
    )


def _blocks_of_four() -> Iterator[tuple[str, bytes]]:
    names = ("EventBlock", "MetadataBlock", "StackBlock", "SPBlock")
    for name in names:
        for size in (-1, -(1 << 31), I32, 256 << 20, (256 << 20) + 1, 5000):
            yield f"{name} of {size} bytes", four(sized(name, size, bytes(40)), sized(name, size))
        yield f"{name} of nothing", four(sized(name, 0))
        yield f"many of {name} of nothing", four(*(sized(name, 0) for _ in range(24)))
        yield f"{name} of zeros", four(raw(name, bytes(600)))
        yield f"{name} of ones", four(raw(name, b"\xff" * 600))
        yield f"{name} of nines", four(raw(name, HEAD.pack(20, 1, 0, 0) + b"\x99" * 500))
        yield f"{name} whose header claims all", four(raw(name, HEAD.pack(65535, 1, 0, 0) + bytes(100)))
        yield f"{name} of header flags", four(raw(name, HEAD.pack(20, 65535, -1, I64) + bytes(100)))
    for first in (0, 1, -1, I32, -(1 << 31), U32 - 2):
        for count in (0, 3, I32, -1, -(1 << 31)):
            head = struct.pack("<Ii", first & U32, count)
            yield (
                f"{count} stacks from {first}",
                four(
                    lambda w: w.metadata([runtime(1, 80)]),
                    raw("StackBlock", head + struct.pack("<i", 8) * 40),
                    lambda w, f=first: w.events([EventRecord(1, 5, 1, b"", stack_id=(f + 1) & U32)]),
                ),
            )
    yield (
        "overlapping stacks",
        four(
            *(lambda w, n=n: w.stacks(n, [[n]] * 4) for n in (1, 3, 2, 1, 9, 4)),
            lambda w: w.metadata([runtime(1, 80)]),
            lambda w: w.events([EventRecord(1, 5, 1, b"", stack_id=n) for n in range(14)]),
        ),
    )
    yield (
        "stacks of odd sizes",
        four(
            raw(
                "StackBlock", struct.pack("<Ii", 1, 3) + b"\1\0\0\0\7" + b"\5\0\0\0\7\7\7\7\7" + struct.pack("<i", I32)
            ),
            lambda w: w.metadata([runtime(1, 80)]),
            lambda w: w.events([EventRecord(1, 5, 1, b"", stack_id=n) for n in range(5)]),
        ),
    )
    for count in (I32, -1, 40, 1 << 28):
        yield f"a sequence point of {count} threads", four(raw("SPBlock", struct.pack("<qi", I64, count) + bytes(120)))
    yield (
        "sequence points back and forth",
        four(*(raw("SPBlock", struct.pack("<qiQI", t, 1, U64, n)) for t in (I64, -I64, 0) for n in (1, U32, 1 << 31))),
    )
    for length in (-1, 0, 64, 65, I32):
        head = b"\5\5\1" + struct.pack("<iii", 2, 2, length) + b"EventBlock\6"
        yield f"a type name of {length} bytes", four(lambda w, h=head: w.raw(h + bytes(80)))
    yield "tags of nothing", four(lambda w: w.raw(b"\5" * 700))
    yield "end tags", four(lambda w: w.raw(b"\1" * 700))
    yield "headers again", four(lambda w: w.raw(four() + four()))


def _events_of_four() -> Iterator[tuple[str, bytes]]:
    kind = (lambda w: w.metadata([runtime(1, 80)]),)
    for length in (9, 10, 11, 40):
        for flags in (0x01, 0x02, 0x04, 0x08, 0x00, 0x80):
            yield (
                f"varints of {length} bytes behind {flags:#x}",
                four(
                    *kind,
                    raw(
                        "EventBlock",
                        HEAD.pack(20, 1, 0, 0) + bytes([0x81, 1, 0, 0, flags]) + b"\xff" * (length - 1) + b"\x01" * 8,
                    ),
                ),
            )
    for time in (I64, -I64 - 1, -1, 0, 1 << 62, U64):
        for frequency in (1, 1 << 62, I64, 10**9):
            yield (
                f"time {time} at {frequency}",
                four(
                    *kind,
                    lambda w, t=time: w.events(
                        [event(1, time=t), event(1, time=0), event(1, time=t, thread=U64)], FULL
                    ),
                    lambda w, t=time: w.sequence_point(t),
                    lambda w, t=time: w.events([event(1, time=t)]),
                    header=TraceHeader(frequency=frequency, sync_qpc=-I64 if time > 0 else I64),
                ),
            )
    yield (
        "numbers back and forth",
        four(
            *kind,
            *(
                lambda w, n=n: w.events([EventRecord(1, 5, U64, b"", sequence=n)], FULL)
                for n in (1, U32, 1 << 31, 5, (1 << 31) + 5, 0, U32, 0)
            ),
        ),
    )
    yield (
        "descriptions that are not there",
        four(lambda w: w.events([event(n * 7919 & I32) for n in range(1, 150)])),
    )
    yield "threads without end", four(*kind, lambda w: w.events([event(1, thread=U64 - n) for n in range(60)]))


def _blocks_of_six() -> Iterator[tuple[str, bytes]]:
    for kind in (*range(1, 10), 127, 255):
        yield f"many blocks of kind {kind} of nothing", six(*(lambda w, k=kind: w.raw_block(k, b"") for _ in range(60)))
        for fill in (0, 0xFF, 0x80, 1, 0x19):
            yield f"kind {kind} of {fill:#x}", six(lambda w, k=kind, f=fill: w.raw_block(k, bytes([f]) * 600))
        head = ((kind << 24) | 0xFFFFFF).to_bytes(4, "little")
        yield f"kind {kind} of 16 MB", six(lambda w, h=head: w.raw(h + bytes(100)))
    kinds = (lambda w: w.metadata([described()]), lambda w: w.threads([ThreadRow(0, 5), ThreadRow(U64, U64, U64, "t")]))
    yield "the last thread index", six(*kinds, lambda w: w.events([event(1, thread=U64), event(1, thread=0)]))
    yield "the last thread index, full", six(*kinds, lambda w: w.events([event(1, thread=U64)] * 3, FULL))
    yield (
        "threads that are not there",
        six(
            *kinds,
            lambda w: w.events([event(1, thread=n * 7919) for n in range(70)]),
            lambda w: w.sequence_point(5, {9: 9, 0: U32}),
        ),
    )
    yield (
        "threads that are there again",
        six(*(lambda w: w.threads([ThreadRow(1, n) for n in range(9)]) for _ in range(6))),
    )
    yield (
        "threads removed again",
        six(*kinds, *(lambda w: w.remove_threads([(0, U32), (U64, 0), (7, 7)]) for _ in range(5))),
    )
    for count in (U32, 1 << 28, 3):
        for first in (0, 1, U32):
            yield (
                f"{count} label lists from {first}",
                six(
                    *kinds,
                    lambda w, f=first, c=count: w.raw_block(
                        8, struct.pack("<II", f, c) + b"\x84" + bytes(8) + b"\x87\1" * 9
                    ),
                    lambda w, f=first: w.events(
                        [EventRecord(1, 5, 0, b"", label_id=f), EventRecord(1, 5, 0, b"", label_id=U32)]
                    ),
                ),
            )
            yield (
                f"{count} stacks of 6 from {first}",
                six(
                    *kinds,
                    lambda w, f=first, c=count: w.raw_block(5, struct.pack("<III", f, c, 8) + bytes(8)),
                    lambda w, f=first: w.events([EventRecord(1, 5, 0, b"", stack_id=f)]),
                ),
            )
        yield (
            f"a point of {count} threads",
            six(lambda w, c=count: w.raw_block(4, struct.pack("<qII", 0, 3, c) + b"\xff" * 50)),
        )
        yield f"{count} pairs", six(lambda w, c=count: w.raw_block(1, bytes(36) + struct.pack("<I", c)))
    every = [
        Label(k, v)
        for k, v in (
            (LabelKind.OPCODE, 255),
            (LabelKind.KEYWORDS, U64),
            (LabelKind.LEVEL, 255),
            (LabelKind.VERSION, 255),
        )
    ]
    yield (
        "labels that change everything",
        six(
            *kinds,
            lambda w: w.labels(1, [every[: n % 4 + 1] for n in range(40)]),
            lambda w: w.events([EventRecord(1, 5, 0, b"", label_id=n) for n in range(41)]),
        ),
    )
    yield (
        "everything forgotten",
        six(
            *kinds,
            *(lambda w, f=f: w.sequence_point(0, {}, f) for f in (3, 1, 2, 0)),
            lambda w: w.events([event(1, thread=0)]),
        ),
    )
    for size in (U32, 65536, 70):
        yield (
            f"names of {size} bytes",
            six(lambda w, s=size: w.raw_block(3, b"\0\0" + struct.pack("<H", 30) + b"\1" + varint(s) + b"x" * 25)),
        )


def _payloads() -> Iterator[tuple[str, bytes]]:
    """Events whose counts and lengths are of their own invention."""
    for event_id, versions in (
        (15, 1),
        (143, 3),
        (144, 3),
        (187, 1),
        (190, 2),
        (16, 1),
        (20, 1),
        (88, 1),
        (151, 1),
        (160, 1),
    ):
        for version in range(versions):
            payloads = [b"\xff" * 300, bytes(300), b"", b"\1", struct.pack("<II", U32, U32) * 20, b"\0\xd8" * 100]
            yield (
                f"event {event_id} version {version} of invention",
                four(
                    lambda w, i=event_id, v=version: w.metadata([runtime(1, i, v)]),
                    lambda w, p=payloads: w.events([event(1, x) for x in p]),
                ),
            )
    codes = (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 23, 26, 27, 0, -1, I32)
    for code in codes:
        field = FieldDescription("x", code)
        payloads = [b"\xff" * 40, bytes(40), b"", b"\xff", b"\0\xd8\0\0", b"\xff" * 16, b"\x80" * 9 + b"\1"]
        if code >= 0:
            yield (
                f"type {code}",
                four(
                    lambda w, f=field: w.metadata([described(f)]),
                    lambda w, p=payloads: w.events([event(1, x) for x in p]),
                ),
            )
        if 0 <= code < 256:
            array = FieldDescription("y", 19, element=field)
            yield (
                f"array of type {code}",
                six(
                    lambda w, a=array: w.metadata([described(a)]),
                    lambda w: w.threads([ThreadRow(1, 1)]),
                    lambda w, p=payloads: w.events([event(1, x) for x in p]),
                ),
            )


def _headers() -> Iterator[tuple[str, bytes]]:
    dates = ((0,) * 8, (2024, 13, 0, 40, 25, 61, 61, 1000), (-1,) * 8, (32767, 12, 0, 31, 23, 59, 59, 999))
    dates += ((9999, 12, 0, 31, 23, 59, 59, 999), (1, 1, 0, 1, 0, 0, 0, 0), (1601, 1, 9, 1, 0, 0, 0, 0))
    clocks = [(date, 10**9, 0) for date in dates]
    clocks += [(dates[0], frequency, sync) for frequency in (1, 1 << 62) for sync in (-I64 - 1, I64)]
    for make in (four, six):
        for date, frequency, sync in clocks:
            yield (
                f"{make.__name__}: started at {date}, {frequency} ticks, {sync}",
                make(
                    lambda w: w.metadata([described()]),
                    lambda w: w.events([event(1, time=t, thread=0) for t in (0, I64, -I64 - 1)]),
                    header=TraceHeader(start=date, frequency=frequency, sync_qpc=sync),
                ),
            )
    good = four()
    for at in (48 + 32 - 8, 48 + 32 - 16 + 8):
        for value in (0, -1, -(1 << 63)):
            yield f"{value} at {at} of the header", good[:at] + struct.pack("<q", value) + good[at + 8 :]
    yield "half a header", good[:60]
    yield "nothing but the name", b"Nettrace"
    yield "a name and zeros", b"Nettrace" + bytes(1000)
    yield "a name and ones", b"Nettrace" + b"\xff" * 1000


def _netperf() -> Iterator[tuple[str, bytes]]:
    for version in (1, 2, 3):
        sink = io.BytesIO()
        if version == 3:
            NetPerf3Writer(sink)
            start = sink.getvalue()
        else:
            NetPerf12Writer(sink, version)
            start = sink.getvalue()
        pattern = struct.Struct("<iiiq32si")
        for size in (-1, -(1 << 31), I32, 0, 56, 400):
            for payload in (-1, I32, 0, 340):
                for stack in (-1, I32, 65528, 0):
                    body = pattern.pack(size, 1, -1, I64, b"\xff" * 32, payload) + bytes(max(min(payload, 340), 0))
                    content = body + struct.pack("<i", stack) + bytes(400)
                    if version == 3:
                        name = b"EventBlock"
                        head = b"\4\4\1" + struct.pack("<iii", 1, 0, len(name)) + name + b"\6"
                        at = len(start) + len(head) + 4
                        content = head + struct.pack("<i", len(content)) + bytes(-at % 4) + content + b"\6\1"
                    yield f"NetPerf {version}: size {size}, payload {payload}, stack {stack}", start + content
        described_again = pattern.pack(56 + 40, 0, 0, 0, bytes(32), 40) + b"\xff" * 40 + struct.pack("<i", 0)
        yield f"NetPerf {version}: descriptions of nothing", start + described_again * 8
