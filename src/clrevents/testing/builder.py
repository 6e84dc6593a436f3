"""Writes small traces in a few readable lines, for tests of code that reads them.

    >>> trace = TraceBuilder().thread(7).method_load("Program", "Main", address=0x1000).sample(0x1004).build()
    >>> trace[:8]
    b'Nettrace'

Steps happen in the order they are written; time advances by `step_ns` at each event unless `at` or `wait` say
otherwise. Knows records and containers, but not how readers interpret them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final, Literal, TypeAlias

import attrs

from clrevents._util.notebook_views import Summary
from clrevents._util.words import moment_text
from clrevents.encode import nettrace4, nettrace6
from clrevents.encode.values import (
    NO_GUID,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    ThreadRow,
    TraceHeader,
)
from clrevents.reference import codec
from clrevents.schema.codes import LabelKind
from clrevents.schema.dynamic import ClassCache, Variant
from clrevents.schema.registry import RUNDOWN, RUNTIME, SAMPLE

Format: TypeAlias = Literal["nettrace4", "nettrace6", "netperf3"]
Data: TypeAlias = bytes
# The class has a method `bytes`, so its annotations use the other name.
Change: TypeAlias = Callable[[Data], Data]

MANAGED: Final = 2
_JITTED: Final = 0x8
_BLOCK_EVENTS: Final = 1000
_NO_ID: Final = 0
"""Of a description that has not been written."""


class TraceBuilder(Summary):
    """Builds a trace step by step. Every step returns the builder, so that steps can be chained.

    `format` is "nettrace4", "nettrace6" or "netperf3"; anything else raises ValueError. `pointer_size` is 4 or 8 bytes,
    `process_id` the recorded process. `start` is the start of the session in UTC, `sync_qpc` the clock's reading at
    that time in ticks, and `frequency` the clock's ticks per second. Each event is `step_ns` nanoseconds after the
    previous one, unless `at` or `wait` say otherwise.

    In every step, `stack` holds code addresses, innermost first, and `payload` is the bytes of the payload. Steps
    raise ValueError after `build` has completed the trace.
    """

    def __init__(
        self,
        format: Format = "nettrace4",
        *,
        pointer_size: int = 8,
        process_id: int = 1234,
        start: datetime = datetime(2026, 1, 1, tzinfo=UTC),
        frequency: int = 1_000_000_000,
        sync_qpc: int = 1_000_000,
        step_ns: int = 1000,
    ) -> None:
        if format not in ("nettrace4", "nettrace6", "netperf3"):
            raise ValueError(f"format must be nettrace4, nettrace6 or netperf3, not {format!r}")
        self.format = format
        self._header = TraceHeader(start, sync_qpc, frequency, pointer_size, process_id, 2, 1_000_000)
        self._sink = BytesIO()
        self._step_ns = step_ns
        self._now_ns = 0
        self._thread = 1
        self._writer: Any = self._open()
        self._kinds: dict[MetadataRecord, int] = {}
        self._new: list[MetadataRecord] = []
        self._events: list[EventRecord] = []
        self._stacks: dict[tuple[int, ...], int] = {}
        self._numbers: dict[int, int] = {}
        self._thread_rows: dict[int, int] = {}
        self._thread_names: dict[int, str] = {}
        self._classes = ClassCache(10_000)
        self._methods: list[Any] = []
        self._activity = self._related = NO_GUID
        self._labels: dict[Data, int] = {}
        self._damage: list[Change] = []
        self._ended = False

    def __repr__(self) -> str:
        return f"<TraceBuilder of {self.format}, at {moment_text(self._now_ns)}>"

    def thread(self, thread_id: int, name: str | None = None) -> TraceBuilder:
        """Set the thread that the next events are about: `thread_id`, with a `name` that only NetTrace 6 stores."""
        self._thread = thread_id
        if name is not None:
            self._thread_names[thread_id] = name
        return self

    def at(self, time_ns: int) -> TraceBuilder:
        """Set the time of the next event: `time_ns` nanoseconds since the session started."""
        self._now_ns = time_ns
        return self

    def wait(self, ns: int) -> TraceBuilder:
        """Let `ns` nanoseconds pass before the next event."""
        self._now_ns += ns
        return self

    def activity(self, activity_id: Data, related_activity_id: Data = NO_GUID) -> TraceBuilder:
        """Set the activity of the next events: `activity_id` is 16 bytes as stored, all zero for no activity.

        `related_activity_id` is that in which it started, as the start event of an activity has it.
        """
        self._activity, self._related = activity_id, related_activity_id
        return self

    def event(self, record: Any, stack: Iterable[int] = ()) -> TraceBuilder:
        """Add an event whose payload is `record`, an instance of an event class.

        Raises TypeError unless the class was declared with `clrevents.types.event`.
        """
        info = getattr(type(record), "__event__", None)
        if info is None:
            raise TypeError(f"{record!r} is not the record of a registered event; use `raw` or `described`")
        payload = codec(type(record), self._header.pointer_size).build(record)
        kind = MetadataRecord(_NO_ID, info.provider, info.id, info.version, "", info.keywords, info.level)
        return self._add(kind, payload, stack)

    def raw(
        self,
        provider: str,
        id: int,
        version: int = 0,
        payload: Data = b"",
        stack: Iterable[int] = (),
        name: str = "",
        opcode: int | None = None,
    ) -> TraceBuilder:
        """Add an event of any `provider`, `id` and `version` with any `payload`.

        `name` and `opcode` go into its description; None omits the opcode, which then is 0.
        """
        return self._add(MetadataRecord(_NO_ID, provider, id, version, name, opcode=opcode), payload, stack)

    def described(
        self,
        provider: str,
        name: str,
        fields: Mapping[str, tuple[int | FieldDescription, Any]],
        *,
        id: int = 1,
        stack: Iterable[int] = (),
    ) -> TraceBuilder:
        """Add an event whose description in the trace has fields, at level 4 and version 0.

        `provider`, `name` and `id` identify the event. `fields` maps the name of each field to a pair of its type
        code (docs/format.md, "Type codes") and its value. For arrays, use a `FieldDescription` in place of the code.

            >>> numbers = FieldDescription("", 19, FieldDescription("", 9))
            >>> _ = TraceBuilder().described("My-App", "Order", {"Url": (18, "/"), "Items": (numbers, (1, 2))})
        """
        described = tuple(
            FieldDescription(field, code) if isinstance(code, int) else attrs.evolve(code, name=field)
            for field, (code, _) in fields.items()
        )
        layout = self._classes.layout(described, Variant())
        record_class = None if layout is None else self._classes.get(name, layout)
        assert record_class is not None
        payload = codec(record_class, self._header.pointer_size).build(record_class(*(v for _, v in fields.values())))
        return self._add(MetadataRecord(_NO_ID, provider, id, 0, name, level=4, fields=described), payload, stack)

    def method_load(
        self,
        namespace: str,
        name: str,
        *,
        address: int,
        size: int = 64,
        signature: str = "void  ()",
        method_id: int = 0,
    ) -> TraceBuilder:
        """Add MethodLoadVerbose_V1 for jitted code of `size` bytes at `address`, which `rundown` will list.

        `namespace`, `name` and `signature` are texts as the runtime writes them. `method_id` defaults to the address.
        """
        from clrevents.events import MethodFlags, MethodLoadVerbose_V1

        identity = method_id or address
        record = MethodLoadVerbose_V1(
            identity, 1, address, size, 0x06000001, MethodFlags(_JITTED), namespace, name, signature, 0
        )
        self._methods.append(record)
        return self.event(record)

    def method_unload(self, address: int) -> TraceBuilder:
        """Add MethodUnloadVerbose_V1 for the method at `address`. Raises ValueError if none was loaded there."""
        from clrevents.events import MethodUnloadVerbose_V1

        method = next((m for m in reversed(self._methods) if m.MethodStartAddress == address), None)
        if method is None:
            raise ValueError(f"no method was loaded at {address:#x}")
        self._methods.remove(method)
        return self.event(MethodUnloadVerbose_V1(*_values(method)))

    def sample(self, *stack: int, kind: int = MANAGED) -> TraceBuilder:
        """Add a sample of the current thread with this `stack`; `kind` is 2 for managed and 1 for external code."""
        return self._add(MetadataRecord(_NO_ID, SAMPLE, 0), kind.to_bytes(4, "little"), stack)

    def lose(self, count: int) -> TraceBuilder:
        """Lose `count` events of the current thread, which NetPerf cannot express."""
        self._still_open()
        self._writer_thread(self._thread)
        self._numbers[self._thread] = self._numbers.get(self._thread, 0) + count
        return self

    def sequence_point(self) -> TraceBuilder:
        """End a region, which reveals losses and restarts stack ids. NetPerf has no sequence points."""
        self._still_open()
        self._flush()
        if self.format != "netperf3":
            numbers = {self._writer_thread(t): n for t, n in self._numbers.items() if self._known(t)}
            self._writer.sequence_point(self._ticks(), numbers)
        self._stacks.clear()
        self._labels.clear()
        return self

    def rundown(self) -> TraceBuilder:
        """Add the events that a runtime writes at the end of a session, which list all loaded methods."""
        from clrevents.events import DCEndComplete_V1, DCEndInit_V1, MethodDCEndVerbose_V1

        self.event(DCEndInit_V1(0))
        for method in self._methods:
            self.event(MethodDCEndVerbose_V1(*_values(method)))
        return self.event(DCEndComplete_V1(0))

    def damage(self, change: Change) -> TraceBuilder:
        """Apply `change` to the bytes of the trace in `build`, as in `damage(lambda b: b[:-100])`."""
        self._damage.append(change)
        return self

    def build(self, *, complete: bool = True) -> Data:
        """Return the bytes of the trace.

        Unless `complete`, the trace has no end mark, as if the process had died, and more steps can follow.
        """
        if not complete:
            self._flush()
        elif not self._ended:
            self.sequence_point()
            self._writer.end()
            self._ended = True
        data = self._sink.getvalue()
        for change in self._damage:
            data = change(data)
        return data

    def _still_open(self) -> None:
        if self._ended:
            raise ValueError("the trace is complete because `build()` was called; use another TraceBuilder")

    def _open(self) -> Any:
        match self.format:
            case "nettrace4":
                return nettrace4.NetTrace4Writer(self._sink, self._header)
            case "nettrace6":
                return nettrace6.NetTrace6Writer(self._sink, self._header)
            case _:
                return nettrace4.NetPerf3Writer(self._sink, self._header)

    def _ticks(self) -> int:
        return self._header.sync_qpc + self._now_ns * self._header.frequency // 1_000_000_000

    def _known(self, thread: int) -> bool:
        return self.format != "nettrace6" or thread in self._thread_rows

    def _writer_thread(self, thread: int) -> int:
        """NetTrace 6 refers to threads by an index."""
        if self.format != "nettrace6":
            return thread
        index = self._thread_rows.get(thread)
        if index is None:
            index = self._thread_rows[thread] = len(self._thread_rows) + 1
            row = ThreadRow(index, thread, self._header.process_id, self._thread_names.get(thread))
            self._writer.threads([row])
        return index

    def _add(self, kind: MetadataRecord, payload: Data, stack: Iterable[int]) -> TraceBuilder:
        self._still_open()
        metadata_id = self._kinds.get(kind)
        if metadata_id is None:
            metadata_id = self._kinds[kind] = len(self._kinds) + 1
            self._new.append(dataclasses.replace(kind, metadata_id=metadata_id))
        number = self._numbers[self._thread] = self._numbers.get(self._thread, 0) + 1
        frames = tuple(stack)
        thread = self._writer_thread(self._thread)
        labelled = self.format == "nettrace6"
        self._events.append(
            EventRecord(
                metadata_id,
                self._ticks(),
                thread,
                payload,
                sequence=number,
                stack_id=self._stack(frames) if self.format != "netperf3" else 0,
                activity_id=NO_GUID if labelled else self._activity,
                related_activity_id=NO_GUID if labelled else self._related,
                label_id=self._label() if labelled else 0,
                stack=frames if self.format == "netperf3" else b"",
            )
        )
        self._now_ns += self._step_ns
        if len(self._events) >= _BLOCK_EVENTS:
            self._flush()
        return self

    def _stack(self, frames: tuple[int, ...]) -> int:
        if not frames:
            return 0
        known = self._stacks.get(frames)
        if known is None:
            known = self._stacks[frames] = len(self._stacks) + 1
            self._writer.stacks(known, [frames])
        return known

    def _label(self) -> int:
        """NetTrace 6 stores activities in label lists."""
        kinds = ((LabelKind.ACTIVITY_ID, self._activity), (LabelKind.RELATED_ACTIVITY_ID, self._related))
        labels = [Label(kind, guid) for kind, guid in kinds if guid != NO_GUID]
        if not labels:
            return 0
        key = self._activity + self._related
        known = self._labels.get(key)
        if known is None:
            known = self._labels[key] = len(self._labels) + 1
            self._writer.labels(known, [labels])
        return known

    def _flush(self) -> None:
        if self._new:
            self._writer.metadata(self._new)
            self._new = []
        for block in _blocks(self._events):
            self._writer.events(block)
        self._events = []


def _blocks(events: list[EventRecord]) -> Iterator[list[EventRecord]]:
    """The events as blocks in which the thread changes only at sorted events: `at` may have set times back."""
    earliest = math.inf
    for place in reversed(range(len(events))):
        earliest = min(earliest, events[place].time)
        if events[place].time > earliest:
            events[place] = dataclasses.replace(events[place], is_sorted=False)
    start = 0
    for place in range(1, len(events)):
        if events[place].thread_id != events[place - 1].thread_id and not events[place].is_sorted:
            yield events[start:place]
            start = place
    if events:
        yield events[start:]


def _values(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, field.name) for field in type(record).__layout__.fields)


__all__ = ["MANAGED", "RUNDOWN", "RUNTIME", "SAMPLE", "FieldDescription", "TraceBuilder"]
