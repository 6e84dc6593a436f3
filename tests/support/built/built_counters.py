"""Traces with counters and metrics, written as the runtime writes them, and in ways that it does not."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from clrevents.encode.values import FieldDescription
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import ClassCache, Variant
from clrevents.schema.types import FileTime
from clrevents.testing.builder import Format, TraceBuilder
from reading import asked

METERS: Final = "System.Diagnostics.Metrics"
SECOND: Final = 1_000_000_000
_CODES: Final = {str: TypeCode.STRING, float: TypeCode.DOUBLE, int: TypeCode.INT32, FileTime: TypeCode.FILETIME}
_CLASSES: Final = ClassCache(1000)
_IDS: Final = {
    "CollectionStart": 2,
    "CollectionStop": 3,
    "CounterRateValuePublished": 4,
    "GaugeValuePublished": 5,
    "HistogramValuePublished": 6,
    "BeginInstrumentReporting": 7,
    "Error": 9,
    "TimeSeriesLimitReached": 12,
    "HistogramLimitReached": 13,
    "ObservableInstrumentCallbackError": 14,
    "MultipleSessionsNotSupportedError": 15,
    "UpDownCounterRateValuePublished": 16,
    "MultipleSessionsConfiguredIncorrectlyError": 17,
    "Base2ExponentialHistogramValuePublished": 19,
}


told = partial(asked, "counters")
"""The report, whatever is wrong with the trace."""


def polled(name: str = "heap", mean: Any = 1.5, **members: Any) -> dict[str, Any]:
    """What a PollingCounter writes, with other members in their place."""
    return {
        "Name": name,
        "DisplayName": f"The {name}",
        "Mean": mean,
        "StandardDeviation": 0.0,
        "Count": 1,
        "Min": mean,
        "Max": mean,
        "IntervalSec": 1.0,
        "Series": "Interval=1000",
        "CounterType": "Mean",
        "Metadata": "",
        "DisplayUnits": "MB",
        **members,
    }


def increased(name: str = "hits", increment: Any = 6.0, **members: Any) -> dict[str, Any]:
    """What an IncrementingPollingCounter writes, with other members in their place."""
    return {
        "Name": name,
        "DisplayName": f"The {name}",
        "DisplayRateTimeScale": "00:01:00",
        "Increment": increment,
        "IntervalSec": 1.0,
        "Metadata": "",
        "Series": "Interval=1000",
        "CounterType": "Sum",
        "DisplayUnits": "",
        **members,
    }


def counter(builder: TraceBuilder, members: Mapping[str, Any], provider: str = "App", id: int = 4) -> TraceBuilder:
    """An EventCounters event with these members in its payload; those that are None are not described."""
    held = {name: value for name, value in members.items() if value is not None}
    described = FieldDescription(
        "Payload", TypeCode.OBJECT, members=tuple(FieldDescription(n, _CODES[type(v)]) for n, v in held.items())
    )
    layout = _CLASSES.layout((described,), Variant())
    assert layout is not None
    made: Any = layout.fields[0].type
    return builder.described(provider, "EventCounters", {"Payload": (described, made.record(*held.values()))}, id=id)


def meter(builder: TraceBuilder, event: str, **fields: Any) -> TraceBuilder:
    """An event of System.Diagnostics.Metrics; fields that are None are not described."""
    held = {name: (_CODES[type(value)], value) for name, value in fields.items() if value is not None}
    return builder.described(METERS, event, held, id=_IDS[event])


def value(builder: TraceBuilder, event: str, name: str = "jobs", tags: str = "", **fields: Any) -> TraceBuilder:
    """A value of an instrument of the meter `Shop` in the session `abc`, unless said otherwise."""
    begin = {"sessionId": "abc", "meterName": "Shop", "meterVersion": "1.2", "instrumentName": name}
    more = {key: fields.pop(key) for key in list(fields) if key in begin}
    return meter(builder, event, **{**begin, **more}, unit="{job}", tags=tags, **fields)


def collected(builder: TraceBuilder, number: int, length: float = 1, session: str = "abc", end: bool = False) -> Any:
    """The begin or the end of the collection of one interval."""
    ticks = round(length * 10_000_000)
    return meter(
        builder,
        "CollectionStop" if end else "CollectionStart",
        sessionId=session,
        intervalStartTime=FileTime(134_000_000_000_000_000 + number * ticks),
        intervalEndTime=FileTime(134_000_000_000_000_000 + (number + 1) * ticks),
    )


def by_chance(format: Format, seed: int, events: int = 60) -> bytes:
    """Counters, metrics, collections, errors and losses in any order, on several threads."""
    rng = random.Random(seed)
    builder = TraceBuilder(format)
    for thread in (7, 8):
        builder.thread(thread).sample(0x1000)
    for number in range(events):
        builder.thread(rng.choice((7, 8))).wait(rng.randrange(SECOND // 5))
        session, tags = rng.choice(("abc", "xyz")), rng.choice(("", "a=1", "a=1,b=2", "ro,ute=/a=0", "odd"))
        match rng.randrange(12):
            case 0 | 1:
                counter(builder, polled(rng.choice("ab"), rng.uniform(-5, 5), Count=rng.randrange(3)))
            case 2:
                counter(builder, increased(rng.choice("ab"), float(rng.randrange(9)), Metadata=tags), "Other", 5)
            case 3:
                counter(builder, polled("text", rng.choice(("NaN", "1,5", "2.5", ""))), id=6)
            case 4:
                collected(builder, number, rng.choice((1, 2)), session, end=rng.random() < 0.3)
            case 5 | 6:
                rate = str(rng.randrange(50))
                value(builder, "CounterRateValuePublished", tags=tags, sessionId=session, rate=rate, value="7")
            case 7:
                value(builder, "UpDownCounterRateValuePublished", "depth", sessionId=session, rate="-1", value="3")
            case 8:
                value(builder, "GaugeValuePublished", "level", tags, sessionId=session, lastValue=str(rng.random()))
            case 9:
                quantiles = rng.choice(("0.5=1;0.95=2;0.99=3", "", "0,5=1"))
                count = rng.randrange(4)
                value(builder, "HistogramValuePublished", "time", tags, quantiles=quantiles, count=count, sum=count / 3)
            case 10:
                meter(
                    builder,
                    rng.choice(("Error", "ObservableInstrumentCallbackError")),
                    sessionId=session,
                    errorMessage="x",
                )
            case _:
                if format != "netperf3" and rng.random() < 0.5:
                    builder.lose(rng.randrange(1, 4))
                else:
                    meter(builder, "MultipleSessionsNotSupportedError", runningSessionId=session)
    return builder.build()
