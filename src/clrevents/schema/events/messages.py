"""Symbols, EventSource text and profiler messages forwarded by the runtime."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Bytes, Int32, UInt16, UInt32, UInt64, UnicodeString, by


@event(RUNTIME, id=260, version=0, aliases=("CodeSymbols/Start",), keywords=RuntimeKeyword.CodeSymbols, level=5)
class CodeSymbols_V0:
    """A chunk of the symbols of a module that was loaded from memory."""

    ModuleId: UInt64
    TotalChunks: UInt16
    ChunkNumber: UInt16
    ChunkLength: UInt32
    Chunk: Annotated[Bytes, by("ChunkLength")]
    ClrInstanceID: UInt16


@event(RUNTIME, id=270, version=0, aliases=("EventSourceEvent",), keywords=RuntimeKeyword.EventSource, level=4)
class EventSource_V0:
    """An event of a managed EventSource as a single string, for sinks that cannot handle others."""

    EventID: Int32
    EventName: UnicodeString
    EventSourceName: UnicodeString
    Payload: UnicodeString


@event(RUNTIME, id=299, version=0, keywords=RuntimeKeyword.Profiler, level=4)
class ProfilerMessage_V0:
    """A message written by a profiler."""

    ClrInstanceID: UInt16
    Message: UnicodeString
