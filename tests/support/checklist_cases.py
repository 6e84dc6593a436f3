"""The checklist of the container format: numbered cases of the reference reader, our own, and which test has which.

`case(...)` marks a test with the cases it covers, `shared_case(...)` one that runs only beside the shared material.
`test_checklist` demands that none is left out, and counts as covered what can run in this checkout.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeVar

import pytest

import clrevents
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from clrevents.errors import ErrorMode, Problem, TraceError
from clrevents.schema.registry import Registry
from project_files import SHARED, without_shared

F = TypeVar("F", bound=Callable[..., Any])

TESTED: Final[dict[int | str, list[str]]] = {}
"""Cases whose tests make their streams themselves, and these tests."""

TESTED_ON_SHARED: Final[dict[int | str, list[str]]] = {}
"""Cases whose tests read third-party traces, and these tests."""

NOT_APPLICABLE: Final = {
    9: "positions beyond 4 GB with an alignment are case 10 here: a stream has no reader that can go back",
    68: "the two read paths of a .NET stream; Python has one",
    "65534 reassembly": "metadata describes events, so nobody needs the manifest; its events stay as they are",
}
"""Cases that have no meaning for this library, and why."""

COVERED_BY_BASELINES: Final = {1: "tests/shared/test_baselines.py: counts and first events of every kind"}
"""Cases that another test of the shared material has, and which."""

COVERED_BY_VECTORS: Final = {
    5: ["NegativeObjectTypeLengthThrowsInsteadOfStackOverflow"],
    15: ["WellKnownDiagnosticSourceEventsHavePayloads"],
    16: ["SkipExtraBlockHeaderSpaceV5"],
    17: ["SkipExtraMetadataTagSpaceV5"],
    18: ["SkipExtraMetadataParameterSpaceV5"],
    19: ["V5StartStopOpcodeRemovedFromEventNames"],
    20: ["V5IncompleteTraceThrowsException"],
    21: ["ParseMinimalTraceV6"],
    22: ["ThrowsExceptionOnUnsupportedMajorVersion"],
    23: ["MinorVersionIncrementsAreSupported"],
    24: ["ParseV6TraceBlockStandardFields"],
    25: ["ParseV6TraceBlockKeyValuePairs"],
    26: ["V6UnrecognizedBlockTypesAreSkipped"],
    27: ["V6IncompleteTraceThrowsException"],
    28: ["ParseV6Metadata"],
    29: ["ParseV6UTF8Char"],
    30: ["ParseV6MetadataArrayParam"],
    31: ["ParseV6FixedLengthArray"],
    32: ["ParseV6RelLocAndDataLoc"],
    33: [
        "InvalidV6RelLocAndDataLocArrayBoundsReturnLookupException-DataLoc-00030004",
        "InvalidV6RelLocAndDataLocArrayBoundsReturnLookupException-DataLoc-00040064",
        "InvalidV6RelLocAndDataLocArrayBoundsReturnLookupException-RelLoc-00030000",
        "InvalidV6RelLocAndDataLocArrayBoundsReturnLookupException-RelLoc-00040064",
    ],
    34: ["V6CountedStringWithTruncatedLengthPrefixReturnsLookupException"],
    35: ["V6LengthPrefixedArrayWithTruncatedCountReturnsLookupException"],
    36: ["V6StringArrayWithInsufficientBytesForElementsReturnsLookupException"],
    37: ["V6RelLocThrowsOnVariableSizedElementType"],
    38: ["V6DataLocThrowsOnVariableSizedElementType"],
    39: ["ParseV6MetadataObjectParam"],
    40: ["ParseV6MetadataBoolean8Param"],
    41: ["ParseV6MetadataBoolean8ArrayAndObjectParam"],
    42: ["ParseV6OptionalMetadata"],
    43: ["SkipExtraMetadataSpaceV6"],
    44: ["ParseV6VarInts"],
    45: ["ParseV6NestedVarIntsAndStrings"],
    46: ["V6StartStopOpcodeRemovedFromEventNames"],
    47: ["EventSourceEventsDispatchedUsingGetDispatcherFromFileName"],
    48: ["AllocationSampledEventRoutesAndDecodesPayload"],
    49: [
        "MalformedILToNativeMapPayloadDoesNotAccessViolation-boguscount",
        "MalformedILToNativeMapPayloadDoesNotAccessViolation-short",
    ],
    50: ["V6MissingThreadBlockThrowsException"],
    51: ["V6MismatchedRemoveThreadBlockThrowsException"],
    52: ["V6RefAfterRemoveThreadBlockThrowsException"],
    53: ["V6DoubleRemoveThreadBlockThrowsException"],
    54: ["V6ParseSimpleThreadBlock"],
    55: ["V6ParseMultipleThreadBlocks"],
    56: ["V6ParseOptionalThreadData"],
    57: ["V6ParseEventLabelLists-compressed", "V6ParseEventLabelLists-uncompressed"],
    58: ["V6LabelListCanOverrideTemplate"],
    59: ["V6LabelListCanOverrideMetadata"],
    60: ["ParseV6CompressedEventHeaders"],
    61: ["V6SequencePointDoesNotFlushThreadsByDefault"],
    62: ["V6RedefinedThreadIndexThrowsFormatException"],
    63: ["V6SequencePointCanFlushThreadsOnDemand"],
    64: ["V6SequencePointDoesNotFlushMetadataByDefault"],
    65: ["V6RedefinedMetadataIndexThrowsFormatException"],
    66: ["V6SequencePointCanFlushMetadataOnDemand"],
    67: ["V6SequencePointDetectsDroppedEvents"],
}
"""Cases that are streams of the conformance vectors, which a test of their own reads: number to stream names."""

UNTESTED_ELSEWHERE: Final = (
    "NetPerf 1/2 with and without footer",
    "NetPerf 3 padding 0-3",
    "full headers with padding inside the event's size",
    "metadata blob with bit 0x02",
    "every flag byte",
    "sequence wrap at 2^32",
    "loss seen only at a sequence point",
    "recycled thread",
    "truncation at every byte",
    "unknown object name",
    "header-only blocks",
    "duplicate metadata",
    "undefined metadata id",
    "stack ids reused after a sequence point",
    "equal timestamps across threads",
    "nested V1 struct name order",
    "TraceLogging boolean/decimal retry",
    "65534 reassembly",
    "one-collect type 23",
    "label kind 6",
    "64-bit thread ids",
    "pointer size 4 in NetTrace",
    "resynchronisation after damage",
)
"""What no reader's tests have and ours should."""


def case(*covered: int | str) -> Callable[[F], F]:
    """The decorated test covers these cases of the checklist, in any checkout."""
    return _covering(TESTED, covered)


def shared_case(*covered: int | str) -> Callable[[F], F]:
    """The decorated test covers these cases where the shared material is."""
    return _covering(TESTED_ON_SHARED, covered)


def _covering(tests: dict[int | str, list[str]], covered: tuple[int | str, ...]) -> Callable[[F], F]:
    def mark(test: F) -> F:
        for one in covered:
            tests.setdefault(one, []).append(test.__name__)
        return test

    return mark


def always_run() -> set[int | str]:
    """The cases that any checkout tests."""
    return {*TESTED}


def more_with_shared() -> set[int | str]:
    """The cases that are tested where the shared material is, and nowhere else."""
    return {*TESTED_ON_SHARED, *COVERED_BY_VECTORS, *COVERED_BY_BASELINES} - always_run()


@cache
def perfview(name: str) -> bytes:
    """A third-party trace by the beginning of its name; the test is skipped where the shared folder is not."""
    found = sorted((SHARED / "traces" / "perfview").glob(f"eventpipe-{name}*.gz"))
    if not found:
        pytest.skip(without_shared("third-party traces"))
    return gzip.decompress(found[0].read_bytes())


PROVIDER: Final = "My-Provider"
VALUE: Final = (FieldDescription("Value", 9),)


def described(metadata_id: int = 1, fields: tuple[FieldDescription, ...] = VALUE, **more: Any) -> MetadataRecord:
    """An event with an Int32, unless told otherwise; id and name tell the metadata id."""
    return MetadataRecord(metadata_id, PROVIDER, 100 + metadata_id, name=f"Event{metadata_id}", fields=fields, **more)


def event(time: int, value: int = 0, thread: int = 7, metadata_id: int = 1, **more: Any) -> EventRecord:
    """An event whose payload is an Int32."""
    return EventRecord(metadata_id, time, thread, value.to_bytes(4, "little", signed=True), **more)


class Built4:
    """A NetTrace 4 stream in the making; `writer` with one description."""

    def __init__(self, **header: Any) -> None:
        self.sink = io.BytesIO()
        self.writer = NetTrace4Writer(self.sink, TraceHeader(**header))
        self.writer.metadata([described()])

    def build(self, end: bool = True) -> bytes:
        if end:
            self.writer.end()
        return self.sink.getvalue()


class Built6:
    """A NetTrace 6 stream in the making; `writer` with one description and the thread 7 at its index 7."""

    def __init__(self, **header: Any) -> None:
        self.sink = io.BytesIO()
        self.writer = NetTrace6Writer(self.sink, TraceHeader(**header))
        self.writer.metadata([described()])
        self.writer.threads([ThreadRow(7, 7)])

    def build(self, end: bool = True) -> bytes:
        if end:
            self.writer.end()
        return self.sink.getvalue()


class Read:
    """All that reading some bytes gives: events in order, the error that ended it, and what was reported."""

    def __init__(self, data: bytes, errors: ErrorMode = "report", registry: Registry | None = None) -> None:
        decoder = clrevents.Decoder(errors=errors, registry=registry)
        self.events: list[clrevents.Event[Any]] = []
        self.error: TraceError | None = None
        try:
            for batch in decoder.feed(data):
                self.events += batch
            for batch in decoder.close():
                self.events += batch
        except TraceError as error:
            self.error = error
        self.info = decoder.info
        self.problems: tuple[Problem, ...] = decoder.problems
        self.losses = decoder.losses

    @property
    def values(self) -> list[Any]:
        """The field `Value` of each event."""
        return [event.payload["Value"] for event in self.events]

    @property
    def kinds(self) -> list[str]:
        """What the problems are."""
        return [problem.kind for problem in self.problems]


def sound(data: bytes) -> Read:
    """Read strictly; no problem of any kind, no loss, no error."""
    read = Read(data, "strict")
    assert read.error is None
    assert read.problems == ()
    assert read.losses == ()
    return read


def kept(found: Iterable[clrevents.Event[Any]]) -> list[tuple[Any, ...]]:
    """What two readings of the same event must agree on."""
    return [(e.key, e.time_ns, e.thread_id, e.payload_bytes, e.stack, e.activity_id) for e in found]
