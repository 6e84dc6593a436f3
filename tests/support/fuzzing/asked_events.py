"""The events that anything behind decoding asks for by name: reports, names of code, processes, and our own marks.

By who asks, with the fields that are known of them, as a trace would describe them. Makes no trace.
"""

from __future__ import annotations

import functools
from typing import Final

import costly_work
from clrevents.analysis.framework.run.asking import find_report, report_names
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.matching import is_glob
from clrevents.schema.registry import DEFAULT, TPL, provider_name
from clrevents.schema.self_described import SELF_DESCRIBED
from clrevents.schema.wire import CountedType, FixedArrayType, LocatedType, PrefixedType, StructType, WireType
from clrevents.symbols.feed import IL_MAPS, METHODS, MODULES, NATIVE, PROCESSES, STARTED
from clrevents.trace.trace import PROCESS_EVENTS

SHAPES: Final[tuple[tuple[str, int, str, str], ...]] = (
    (TPL, 7, "TaskScheduled", "OriginatingTaskSchedulerID OriginatingTaskID TaskID CreatingTaskID TaskCreationOptions"),
    (TPL, 8, "TaskStarted", "OriginatingTaskSchedulerID OriginatingTaskID TaskID"),
    (TPL, 9, "TaskCompleted", "OriginatingTaskSchedulerID OriginatingTaskID TaskID IsExceptional"),
    (TPL, 10, "TaskWaitBegin", "OriginatingTaskSchedulerID OriginatingTaskID TaskID Behavior ContinueWithTaskID"),
    (TPL, 11, "TaskWaitEnd", "OriginatingTaskSchedulerID OriginatingTaskID TaskID"),
    (TPL, 12, "AwaitTaskContinuationScheduled", "OriginatingTaskSchedulerID OriginatingTaskID ContinueWithTaskId"),
    (TPL, 13, "TaskWaitContinuationComplete", "TaskID"),
    (TPL, 19, "TaskWaitContinuationStarted", "TaskID"),
    (costly_work.FRAMEWORK, 30, "ThreadPoolEnqueueWork", "workID"),
    (costly_work.FRAMEWORK, 31, "ThreadPoolDequeueWork", "workID"),
    (costly_work.HTTP, 1, "RequestStart", "$scheme $host port $pathAndQuery"),
    (costly_work.HTTP, 2, "RequestStop", "statusCode"),
    (costly_work.HTTP, 6, "RequestLeftQueue", "#timeOnQueueMilliseconds"),
    (costly_work.HTTP, 7, "RequestHeadersStart", "connectionId"),
    (costly_work.HTTP, 8, "RequestHeadersStop", ""),
    (costly_work.HTTP, 11, "ResponseHeadersStart", ""),
    (costly_work.HTTP, 12, "ResponseHeadersStop", "statusCode"),
    ("Microsoft.AspNetCore.Hosting", 3, "RequestStart", "$method $path"),
    ("Microsoft.AspNetCore.Hosting", 4, "RequestStop", ""),
    (costly_work.KESTREL, 3, "RequestStart", "$connectionId $method $path"),
    (costly_work.KESTREL, 4, "RequestStop", ""),
    ("A", 4, "EventCounters", "$Name #Mean Count #Min #Max #IntervalSec $Metadata"),
    (costly_work.METERS, 2, "CollectionStart", "$sessionId intervalStartTime intervalEndTime"),
    (costly_work.METERS, 4, "CounterRateValuePublished", "$sessionId $meterName $instrumentName $tags $rate $value"),
    (costly_work.METERS, 6, "HistogramValuePublished", "$sessionId $meterName $instrumentName $tags $quantiles count"),
    ("A", 1, "JobStart", "$what"),
    ("A", 2, "JobStop", ""),
)
"""Events that describe themselves, by provider, id, name and fields: `$` texts, `#` floating, others whole numbers."""

Described = tuple[str, int, int, str, tuple[FieldDescription, ...]]
"""A provider, an id, a version, a name, and the fields that are known."""

_OF_TYPES: Final = {
    "bool": TypeCode.BOOLEAN,
    "float": TypeCode.DOUBLE,
    "filetime": TypeCode.FILETIME,
}
_WHOLE: Final = {1: TypeCode.UINT8, 2: TypeCode.UINT16, 4: TypeCode.INT32, 8: TypeCode.INT64}
_CODE_OF: Final = {"int64": TypeCode.INT64, "uint64": TypeCode.UINT64, "bool": TypeCode.BOOLEAN,
                   "string": TypeCode.STRING}  # fmt: skip


def _described_type(name: str, wire: WireType) -> FieldDescription:
    """How a description says a type, or one of the same sort."""
    number = wire.bound(8).number
    if number is not None:
        code = _OF_TYPES.get(number.kind) or _WHOLE[number.size]
        return FieldDescription(name, code)
    match wire:
        case CountedType() | PrefixedType() | FixedArrayType() | LocatedType():
            return FieldDescription(name, TypeCode.ARRAY, _described_type("", wire.element))
        case StructType():
            members = tuple(_described_type(field.name, field.type) for field in wire.layout.fields)
            return FieldDescription(name, TypeCode.OBJECT, None, members)
        case _ if "Guid" in type(wire).__name__:
            return FieldDescription(name, TypeCode.GUID)
        case _:
            return FieldDescription(name, TypeCode.STRING)


@functools.cache
def known_events() -> dict[str, tuple[Described, ...]]:
    """By who asks for them, the events that anything asks for by name."""
    apart = {"names of code": [f"{provider}/{name}" for provider, name in sorted(
        {*METHODS, *MODULES, *IL_MAPS, *NATIVE, *PROCESSES, *STARTED})]}  # fmt: skip
    apart["processes and marks"] = [*PROCESS_EVENTS, "clrevents/Cut", "clrevents/Joined", "clrevents/Redacted"]
    for report in report_names():
        declared = find_report(report)
        selectors = declared.collector(declared.parameters()).selectors
        apart[report] = [selector for selector in selectors if not is_glob(selector)]
        for event in (event for need in declared.needs for event in need.events if "*" not in event):
            provider = next(need.provider for need in declared.needs if event in need.events)
            apart[report].append(event if "/" in event else f"{provider}/{event}")
    return {who: tuple(each for name in dict.fromkeys(names) for each in _event(name)) for who, names in apart.items()}


@functools.cache
def _event(selector: str) -> tuple[Described, ...]:
    """What is known of an event, in each version."""
    entries = DEFAULT.named(selector)
    if entries:
        one = entries[0]
        found = [DEFAULT.get(one.provider, one.id, version) for version in one.versions]
        return tuple(
            (one.provider, one.id, info.version, one.name, tuple(_described_type(f.name, f.type) for f in info.layout))
            for info in found
            if info is not None
        )
    provider, _, name = selector.rpartition("/")
    provider = provider_name(provider)
    shapes = [shape for shape in SHAPES if (shape[0], shape[2]) == (provider, name)]
    if shapes:
        return tuple((p, id, 0, n, tuple(map(_shape_field, fields.split()))) for p, id, n, fields in shapes)
    fields = SELF_DESCRIBED.get((provider, name), ())
    return ((provider, 900, 0, name, tuple(FieldDescription(f.name, _CODE_OF[f.type]) for f in fields)),)


def _shape_field(text: str) -> FieldDescription:
    code = {"$": TypeCode.STRING, "#": TypeCode.DOUBLE}.get(text[0], TypeCode.INT32)
    return FieldDescription(text.lstrip("$#"), code)
