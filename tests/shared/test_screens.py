"""Everything that a user may leave at the end of a cell or type at a prompt stays on one screen, on a big trace."""

from __future__ import annotations

import gzip
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis import hottest, read_samples, spans
from clrevents.analysis.framework.run.asking import find_report
from report_laws import keeps_rows_apart

LINES: Final = 25
WIDTH: Final = 100
HTML: Final = 50_000


def lines_on_screen(text: str) -> int:
    """On a terminal that is a hundred characters wide."""
    return sum(max(math.ceil(len(line) / WIDTH), 1) for line in text.split("\n"))


def opened(name: str) -> clrevents.Trace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        trace = clrevents.open(SHARED / f"traces/own/{name}.nettrace.gz")
        assert len(trace.losses) >= 0
    return trace


def one_batch(trace: clrevents.Trace) -> Any:
    decoder = clrevents.Decoder("*")
    with gzip.open(SHARED / "traces/own/net10-big.nettrace.gz") as file:
        return next(batch for data in iter(lambda: file.read(1 << 16), b"") for batch in decoder.feed(data))


def largest(kind: str) -> Callable[[clrevents.Trace], Any]:
    """The event of this name with the longest payload, of the first thousand."""

    def find(trace: clrevents.Trace) -> Any:
        found = (event for _, event in zip(range(1000), trace.events(kind), strict=False))
        return max(found, key=lambda event: event.payload.Count if hasattr(event.payload, "Count") else 0)

    return find


OBJECTS: Final[dict[str, Callable[[clrevents.Trace], Any]]] = {
    "trace": lambda trace: trace,
    "check": lambda trace: trace.check(),
    "info": lambda trace: trace.info,
    "threads": lambda trace: trace.threads,
    "thread": lambda trace: trace.threads[0],
    "problems": lambda trace: trace.problems,
    "losses": lambda _: opened("net10-lossy").losses,
    "lossy check": lambda _: opened("net10-lossy").check(),
    "headers": lambda trace: trace.headers(),
    "table": lambda trace: trace.table("GCPerHeapHistory"),
    "lists": lambda trace: trace.table("GCBulkMovedObjectRanges"),
    "event": largest("GCBulkMovedObjectRanges"),
    "payload": lambda trace: largest("GCBulkMovedObjectRanges")(trace).payload,
    "types": largest("BulkType"),
    "code": largest("ILStubGenerated"),
    "batch": one_batch,
    "stacks": lambda trace: trace.stacks,
    "stack table": lambda trace: trace.stacks.table(),
    "methods": lambda trace: trace.methods,
    "method": lambda trace: max((trace.methods[i] for i in range(len(trace.methods))), key=lambda m: len(repr(m))),
    "modules": lambda trace: trace.methods.modules,
    "module": lambda trace: max(trace.methods.modules, key=lambda module: len(repr(module))),
    "frame": lambda trace: max(read_samples(trace).frames, key=lambda frame: len(repr(frame))),
    "samples": read_samples,
    "weighed": lambda trace: read_samples(trace, "MethodJittingStarted", "MethodILSize"),
    "sample table": lambda trace: read_samples(trace).table(),
    "hot methods": lambda trace: hottest(read_samples(trace)),
    "spans": lambda trace: spans(trace, "GCSuspendEEBegin", "GCRestartEEEnd"),
    "top": lambda trace: trace.report("top"),
}

OWN_LINES: Final = (
    "check",
    "lossy check",
    "samples",
    "weighed",
    "sample table",
    "table",
    "lists",
    "hot methods",
    "top",
)


@pytest.fixture(scope="module")
def big() -> Iterator[clrevents.Trace]:
    with opened("net10-big") as trace:
        yield trace


@needs_shared
@pytest.mark.parametrize("name", OBJECTS)
def test_it_fits_on_a_screen(big: clrevents.Trace, name: str) -> None:
    """A record's one long line is counted as the lines that it is broken into; what has lines of its own keeps them
    short."""
    value = OBJECTS[name](big)
    text = repr(value)
    assert 0 < lines_on_screen(text) <= LINES
    if name in OWN_LINES:
        assert max(map(len, text.split("\n"))) <= WIDTH
    html = getattr(value, "_repr_html_", str)()
    assert len(html.encode()) <= HTML
    assert "<script" not in html


@needs_shared
def test_rows_of_a_real_program_stay_apart() -> None:
    """Names of 60 to 200 characters: the compiler's."""
    with clrevents.open(SHARED / "real/csc-net10-allocs.nettrace.gz") as trace:
        for name, answer in trace.reports().items():
            keeps_rows_apart(find_report(name), answer)
