"""A trace and its report whatever is wrong; its batches, as `Trace.events` makes them; and how often it is read."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import clrevents
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import Batch, Selector, Trace, passes_of
from clrevents.trace.batch import BatchTables


@contextmanager
def opened(source: Any, **options: Any) -> Iterator[Trace]:
    """A trace, or one that is built: what is lost and what is damaged is read over without a word."""
    data = source.build() if isinstance(source, TraceBuilder) else source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        with clrevents.open(data, **{"errors": "salvage", **options}) as trace:
            yield trace


def asked(report: str, source: Any, **options: Any) -> Any:
    """What a report says of a trace, whatever is wrong with that."""
    with opened(source) as trace:
        return trace.report(report, **options)


def numbers_of(found: Any, *names: str) -> tuple[int | float | None, ...]:
    """The values of some metrics."""
    return tuple(found.metrics[name].value for name in names)


def event_batches(trace: Trace, *selectors: Selector, decode: bool = True) -> Iterator[Batch]:
    """Without `decode` each payload is a `RawPayload`."""
    passes = passes_of(trace)
    for rows in passes.event_rows(*selectors, decode=decode):
        yield Batch(rows, trace._names, BatchTables(passes.registry, passes.limits))


class Passed(io.BytesIO):
    """A file that counts how often it is read from its first byte."""

    passes = 0

    def seek(self, place: int, whence: int = 0, /) -> int:
        self.passes += (place, whence) == (0, 0)
        return super().seek(place, whence)
