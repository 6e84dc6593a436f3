"""A first look at a Python object: every public value has a short repr, and a view for notebooks."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import pytest

import clrevents
from clrevents._util.notebook_views import MOST_HTML
from clrevents.analysis import feed_reports, heap_snapshots, hottest, read_samples, spans
from clrevents.analysis.framework.run.asking import report_names
from clrevents.analysis.framework.vocabulary.answer_values import Metric
from clrevents.diagnostics import PROFILES
from clrevents.errors import Limits
from clrevents.testing.builder import TraceBuilder
from clrevents.types import Registry
from project_files import fixture, tool

# The longest is a record of an event with a long text.
_MOST_TEXT = 4000


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (Metric(1_780_345_112, "ns"), "1.78 s"),
        (Metric(5_800_000_000, "bytes", low=5_000_000_000, high=6_000_000_000), "5.8 GB (between 5.0 GB and 6.0 GB)"),
        (Metric(4711, "count", low=4711), "at least 4,711"),
        (Metric(None, "ns", reason="<b> was not recorded"), "unknown: <b> was not recorded"),
    ],
)
def test_a_metric_is_a_number_with_its_unit(metric: Metric, text: str) -> None:
    assert repr(metric) == f"<Metric {text}>"
    assert metric._repr_html_() == text.replace("<b>", "&lt;b&gt;")


def test_the_first_table_needs_no_name() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        top, locks = trace.report("top"), trace.report("locks")
    assert top.table() is top.table("methods")
    assert locks.table() is locks.locks
    with pytest.raises(KeyError, match="no table 'lokcs'; there are locks, deadlocks, "):
        locks.table("lokcs")


def public_classes() -> Iterator[tuple[str, type[Any]]]:
    """Every class on the page of public names whose instances are values."""
    for section in tool("derived/api").SECTIONS:
        module = importlib.import_module(section.module)
        paths = [f"clrevents.{path}".rpartition(".") for path in section.reached]
        found = [getattr(module, name) for name in section.names]
        for value in [*found, *(getattr(importlib.import_module(home), name) for home, _, name in paths)]:
            raised = isinstance(value, type) and issubclass(value, BaseException)
            if isinstance(value, type) and not raised and not typing.is_typeddict(value):
                yield value.__name__, value


@pytest.mark.parametrize(("name", "cls"), list(public_classes()))
def test_every_public_class_shows_itself(name: str, cls: type[Any]) -> None:
    assert cls.__repr__ is not object.__repr__, f"{name} has no repr"
    assert callable(getattr(cls, "_repr_html_", None)), f"{name} has no view for notebooks"


def handed_out(start: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values of our classes that can be reached from these by attributes and items, one of each kind."""
    waiting = list(start.items())
    seen: set[tuple[type[Any], type[Any] | None]] = set()
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{path}[…]", item) for pair in list(value.items())[:20] for item in pair]
        elif isinstance(value, tuple | list):
            waiting += [(f"{path}[{place}]", item) for place, item in enumerate(value[:20])]
        elif type(value).__module__.startswith("clrevents.") and not isinstance(value, type | Enum):
            # Tables differ by their rows.
            kind = type(value), getattr(value, "row_class", None)
            if kind in seen:
                continue
            seen.add(kind)
            yield path, value
            if hasattr(type(value), "__getitem__") and hasattr(type(value), "__len__") and len(value):
                waiting += [(f"{path}[:]", item) for item in [*value][:2]]
            for name in dir(type(value)):
                held = inspect.getattr_static(type(value), name)
                if not name.startswith("_") and not callable(held) and not isinstance(held, classmethod | staticmethod):
                    waiting.append((f"{path}.{name}", getattr(value, name)))


def test_every_value_that_is_handed_out_shows_itself() -> None:
    builder = TraceBuilder()
    decoder = clrevents.Decoder(symbols=True)
    with clrevents.open(fixture("net10-convoy")) as trace, clrevents.open(fixture("net8-heap")) as heap:
        samples = read_samples(trace)
        start = {
            "trace": trace,
            "counts": trace.event_counts(),
            "check": trace.check(),
            "table": trace.table("ContentionStop"),
            "events": [next(trace.events("ContentionStop")), next(trace.events("MethodLoadVerbose"))],
            "frames": next(event.frames for event in trace.events("ContentionStart")),
            "batch": next(trace.batches("ContentionStop")),
            "samples": samples,
            "hottest": hottest(samples),
            "spans": spans(trace, "ContentionStart", "ContentionStop"),
            "snapshots": list(heap_snapshots(heap)),
            "answers": trace.reports(*report_names()),
            "feed": feed_reports("gc"),
            "decoder": decoder,
            "registry": Registry(),
            "entries": next(iter(clrevents.types.Registry().entries())),
            "builder": builder,
            "problem": clrevents.Problem("bad-block", "damage", "<script>", 1),
            "loss": clrevents.Loss(1, 2, 3, 4),
            "raw": clrevents.RawPayload(b"abc", "<script>"),
            "limits": Limits(),
            "profiles": PROFILES,
        }
        found = list(handed_out(start))
        many = clrevents.open_many([fixture("net10-convoy"), fixture("net8-sample")], jobs=1)
        with many:
            found += handed_out({"many": many, "fleet": many.report("locks")})
        lacking = [f"{path}: {type(v).__name__}" for path, v in found if not hasattr(type(v), "_repr_html_")]
        assert not lacking, "\n".join(lacking)
        for path, value in found:
            text, html = repr(value), value._repr_html_()
            assert type(value).__repr__ is not object.__repr__, path
            assert len(text) <= _MOST_TEXT, (path, len(text))
            assert html is None or len(html.encode()) <= MOST_HTML, path
            assert html is None or "<script" not in html, path
    names = {type(value).__name__ for _, value in found}
    assert {"TraceInfo", "Methods", "FleetAnswer", "Traces", "Metric", "LockHolder", "LocksFacts"} <= names
