"""Names that are asked for in a trace with many kinds: no kind is looked at for a name that it cannot have."""

from __future__ import annotations

import pytest

import clrevents
import costly
from clrevents.decode.kinds import KindIndex
from clrevents.decode.selection import Filters, Selection
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.schema.matching import glob, only_text, possible_names
from clrevents.schema.registry import DEFAULT, Entry
from clrevents.trace.passes import Passes
from costly_containers import six
from counting import lines, operations

RUNTIME = "Microsoft-Windows-DotNETRuntime"
KINDS = [
    ("P", 1, "Start"),
    ("P", 2, "RequestStart"),
    ("A/B", 3, "RequestStart"),
    ("A", 4, "B/Request"),
    ("Q", 5, "a[b]c"),
    (RUNTIME, 1, ""),
    (RUNTIME, 10_000, "Star"),
    ("Other", 1, "GCStart"),
]
SELECTORS = [
    "RequestStar[t]",
    "P/RequestStar[t]",
    "P/Request/Start",
    "P/Request/Star[t]",
    "A/B/RequestStar[t]",
    "A/B/Request[/]Start",
    "a[[]b]c",
    "a[[]b[]]c",
    "*Start",
    "Star?",
    "Runtime/GCStar[t]",
    "GC/Star[t]",
    "GCStart",
    "Other/GCStart",
    "Start",
    f"{RUNTIME}/Sta[r]",
    "nothin[g]",
]


def named_kinds() -> bytes:
    sink, writer = six()
    writer.metadata([MetadataRecord(1 + i, p, id, 1, name) for i, (p, id, name) in enumerate(KINDS)])
    writer.threads([ThreadRow(1, 1)])
    writer.events([EventRecord(1 + i, i, 1) for i in range(len(KINDS))])
    writer.end()
    return sink.getvalue()


def many_kinds(n: int) -> bytes:
    sink, writer = six()
    writer.metadata([MetadataRecord(1 + i, "P", i, 0, f"E{i}") for i in range(n)])
    writer.end()
    return sink.getvalue()


@pytest.mark.parametrize("selector", SELECTORS)
def test_candidates_are_all_that_match(selector: str) -> None:
    with clrevents.open(named_kinds()) as trace:
        kinds = KindIndex(trace._passes.scan().kinds)
    one, other = (Selection([selector], Filters(), DEFAULT) for _ in range(2))
    assert one.events(one.candidates(kinds)) == other.events(kinds.every)
    # What the whole selection says of a kind is what its tests say.
    for kind in kinds.every:
        assert one.means(kind) == any(wish.test(kind) for wish in other._wishes)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("Start", "Start"),
        ("Star[t]", "Start"),
        ("[*][?][[]x", "*?[x"),
        ("Star[tx]", None),
        ("Star[!t]", None),
        ("Star[!]", None),
        ("Star?", None),
        ("*[t]", None),
        ("[]]", None),
        ("[", None),
    ],
)
def test_patterns_that_fit_one_text(pattern: str, text: str | None) -> None:
    assert only_text(pattern) == text
    assert (possible_names(pattern) == frozenset()) == (text is None)
    if text is not None:
        assert glob(pattern)(Entry("P", 1, text, (), ()))


def test_names_after_each_slash() -> None:
    assert possible_names("A/B/Star[t]") == {"A/B/Start", "B/Start", "Start"}
    assert "Start" in possible_names("Runtime/Star[t]")


def test_a_name_costs_no_step_for_each_kind() -> None:
    with clrevents.open(many_kinds(3000)) as trace:
        passes: Passes = trace._passes
        passes.one_event("GCStart")
        for selector in ("GCStart", "ExceptionThrown", "E[7]", "P/E1[7]", "nothin[g]"):
            assert operations(lambda selector=selector: passes.one_event(selector)) < 2000
        assert passes.one_event("P/E1[7]") == ("P", "E17")
        passes.fields(("P", "E4"))
        assert lines(lambda: passes.fields(("P", "E5"))) < 2000


def test_every_kind_asked_for_by_its_key() -> None:
    def work(kinds: int) -> int:
        with clrevents.open(costly.many_tables(kinds)) as trace:
            keys = [*trace.event_counts()]
            found = 0

            def read() -> None:
                nonlocal found
                found = sum(1 for _ in trace.events(*keys))

            taken = operations(read)
            assert found == kinds
            return taken

    work(10)
    few, many = work(200), work(800)
    assert many < 5 * few
