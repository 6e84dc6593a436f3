"""Rich debug information of methods: its inline tree and its mapping are records, not bytes.

Real payloads (.NET 8, `DOTNET_RichDebugInfo=1`), and built ones of methods that need several events.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

import clrevents
from clrevents.events import JittedMethodRichDebugInfoPiece, RichDebugMapping, RichDebugSource, RichInlineNode
from clrevents.schema.registry import PRIVATE
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES

RICH = FIXTURES / "net8-rich.nettrace.gz"
NODE, MAPPING = "<QIII", "<IIIB"


@pytest.fixture
def trace() -> Iterator[clrevents.Trace]:
    with clrevents.open(RICH, errors="strict") as opened:
        yield opened


def test_the_tree_and_the_mapping_say_what_was_inlined_where(trace: clrevents.Trace) -> None:
    """The first method inlined another one twice: at IL offset 0x25, whose sibling is the call at 0x15."""
    payload = next(trace.events("JittedMethodRichDebugInfo")).payload
    assert payload.InlineTree == (
        RichInlineNode(payload.MethodID, -1, 2, 0),
        RichInlineNode(0x7FCABDE09A88, 0x15, 0, 0),
        RichInlineNode(0x7FCABDE09A88, 0x25, 0, 1),
    )
    assert payload.Mappings[:2] == (
        RichDebugMapping(20, 0, 17, RichDebugSource.StackEmpty),
        RichDebugMapping(32, 0, 24, RichDebugSource.StackEmpty),
    )
    assert clrevents.asdict(payload)["Mappings"][-1] == {
        **{"ILOffset": 79, "Inlinee": 0, "NativeOffset": 68, "Source": RichDebugSource.StackEmpty}
    }


def pieces() -> tuple[bytes, list[bytes]]:
    """3,500 entries: 45,508 bytes, more than the 40,000 that one event holds."""
    whole = struct.pack("<II", 1, 3500) + struct.pack(NODE, 77, 0xFFFFFFFF, 0, 0)
    whole += b"".join(struct.pack(MAPPING, i, 0, 2 * i, 2) for i in range(3500))
    parts = [whole[:40_000], whole[40_000:]]
    last = len(parts) - 1
    return whole, [
        struct.pack("<HQQQII", 9, 77, 1, 0, index | (index == last) << 31, len(part)) + part
        for index, part in enumerate(parts)
    ]


def test_a_piece_of_a_big_method_stays_bytes() -> None:
    """The runtime cuts at 40,000 bytes, in the middle of an entry; joined they are what one event would say."""
    whole, payloads = pieces()
    built = TraceBuilder()
    for payload in payloads:
        built.raw(PRIVATE, 189, payload=payload)
    with clrevents.open(built.build(), errors="strict") as trace:
        found = [event.payload for event in trace.events()]
        assert {type(payload) for payload in found} == {JittedMethodRichDebugInfoPiece}
        assert b"".join(payload.Data for payload in found) == whole
        table = trace.table("JittedMethodRichDebugInfo")
        assert b"".join(table["Data"]) == whole
        assert list(table["Mappings"]) == [None, None]
        assert not list(trace.problems)


def test_a_damaged_payload_is_a_problem() -> None:
    """Neither the records nor the bytes fit: the size stated is more than there is."""
    _, payloads = pieces()
    built = TraceBuilder().raw(PRIVATE, 189, payload=payloads[1][:-1])
    with clrevents.open(built.build()) as trace:
        (event,) = trace.events()
        assert isinstance(event.payload, clrevents.RawPayload)
        assert [problem.kind for problem in trace.problems] == ["short-payload"]
