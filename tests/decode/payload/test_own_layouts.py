"""A user's class for an event that the trace itself describes: obeyed where it fits, a problem where it does not."""

from __future__ import annotations

from typing import Any

import pytest

import clrevents
from clrevents import Problem, RawPayload
from clrevents.testing.builder import TraceBuilder
from clrevents.types import Int32, Registry, event, register
from support.project_files import fixture

PROVIDER = "Clrevents-Sample"
REQUEST = {"provider": PROVIDER, "id": 10, "name": "RequestStart"}


def own(fields: dict[str, str], **options: Any) -> tuple[Registry, type[Any]]:
    """A registry with this layout of RequestStart, and the class made for it."""
    registry = Registry()
    (made,) = register({**REQUEST, "fields": fields, **options}, registry=registry)
    return registry, made


def built(*urls: str) -> bytes:
    """RequestStart events, described as the runtime describes them: an Int32 and a text."""
    builder = TraceBuilder()
    for number, url in enumerate(urls):
        builder.described(PROVIDER, "RequestStart", {"id": (9, number), "url": (18, url)}, id=10)
    return builder.build()


Account = tuple[list[Any], list[Problem]]


def by_records(data: Any, registry: Registry) -> Account:
    with clrevents.open(data, registry=registry) as trace:
        return [event.payload for event in trace.events(f"{PROVIDER}/RequestStart")], list(trace.problems)


def by_decoder(data: Any, registry: Registry) -> Account:
    """As a live stream arrives: in pieces."""
    decoder = clrevents.Decoder(f"{PROVIDER}/RequestStart", registry=registry)
    batches = [batch for at in range(0, len(data), 100) for batch in decoder.feed(data[at : at + 100])]
    batches += decoder.close()
    return [e.payload for b in batches for e in b], [problem for batch in batches for problem in batch.problems]


def by_columns(data: Any, registry: Registry) -> tuple[Any, list[Problem]]:
    with clrevents.open(data, registry=registry) as trace:
        table = trace.table(f"{PROVIDER}/RequestStart")
        return table, list(trace.problems)


MANY = [f"/items/{number}" for number in range(60)]


@pytest.mark.parametrize("urls", [["/a", "/b"], MANY], ids=["few", "many"])
def test_a_layout_that_fits_is_obeyed_though_the_trace_says_otherwise(urls: list[str]) -> None:
    """Two numbers and a text use up the same bytes as the number and the text that are described."""
    registry, made = own({"low": "UInt8", "high": "UInt8", "rest": "Char", "path": "UnicodeString"})
    data = built(*urls)
    for read in (by_records, by_decoder):
        payloads, problems = read(data, registry)
        assert payloads == [made(number, 0, "\0", url) for number, url in enumerate(urls)]
        assert [(p.kind, p.severity) for p in problems] == [("schema-drift", "note")]
        assert "the registry has 4 fields, the trace describes 2" in problems[0].message
    table, problems = by_columns(data, registry)
    assert tuple(table.columns)[-4:] == ("low", "high", "rest", "path")
    assert table["path"].tolist() == urls
    assert [p.kind for p in problems] == ["schema-drift"]


@pytest.mark.parametrize("urls", [["/a", "/b"], MANY], ids=["few", "many"])
@pytest.mark.parametrize(
    ("fields", "kind", "reason", "place"),
    [
        ({"id": "Int32"}, "long-payload", "bytes left after the last field of RequestStart_V0", 4),
        ({"id": "Int32", "url": "AnsiString"}, "long-payload", "bytes left after the last field", 6),
        ({"id": "Int32", "url": "UnicodeString", "size": "UInt16"}, "short-payload", "field 'size'", None),
    ],
    ids=["a field forgotten", "a text of another kind", "a field too many"],
)
def test_a_layout_that_does_not_fit_is_a_problem_of_each_payload(
    fields: dict[str, str], kind: str, reason: str, place: int | None, urls: list[str]
) -> None:
    registry, _ = own(fields)
    data = built(*urls)
    for read in (by_records, by_decoder):
        payloads, problems = read(data, registry)
        assert all(isinstance(p, RawPayload) and reason in p.reason for p in payloads)
        assert [p.partial["id"] for p in payloads] == list(range(len(urls)))
        assert [(p.kind, p.severity) for p in problems] == [(kind, "payload")] * len(urls)
        size = len(payloads[0].data)
        begin = size if place is None else place
        assert (problems[0].offset, problems[0].length) == (data.index(payloads[0].data) + begin, size - begin)
        assert "the trace describes" in problems[0].message
    table, problems = by_columns(data, registry)
    assert len(table) == 0
    assert tuple(table.columns)[-len(fields) :] == tuple(fields)
    assert [p.kind for p in problems] == [kind] * len(urls)


def test_only_the_payloads_that_do_not_fit_are_problems() -> None:
    """A text of two bytes ends where the layout ends; columns leave out the same rows as records."""
    registry, made = own({"id": "Int32", "url": "UInt16"})
    data = built("", "/a", "")
    for read in (by_records, by_decoder):
        payloads, problems = read(data, registry)
        assert [payloads[0], payloads[2]] == [made(0, 0), made(2, 0)]
        assert isinstance(payloads[1], RawPayload)
        assert [p.kind for p in problems] == ["schema-drift", "long-payload"]
    table, problems = by_columns(data, registry)
    assert table["id"].tolist() == [0, 2]
    assert [p.kind for p in problems] == ["schema-drift", "long-payload"]


def test_strict_reading_raises_and_salvaging_keeps_the_events() -> None:
    registry, made = own({"id": "Int32"})
    data = built("/a", "/b")
    with clrevents.open(data, registry=registry, errors="strict") as trace, pytest.raises(clrevents.PayloadError):
        list(trace.events())
    with clrevents.open(data, registry=registry, errors="salvage") as trace:
        assert len(list(trace.events(f"{PROVIDER}/RequestStart"))) == 2
        assert list(trace.events(made)) == [], "a class promises its fields"
    # Damage behind them: a layout that does not fit does not make intact events part of it.
    broken = data[: data.index("/b".encode("utf-16-le")) + 2]
    with (
        pytest.warns(clrevents.TraceWarning, match="damaged"),
        clrevents.open(broken, registry=registry, errors="salvage") as trace,
    ):
        assert [event.payload.partial for event in trace.events("RequestStart")] == [{"id": 0}]


def test_a_class_only_for_traces_without_a_description_yields_to_it() -> None:
    registry = Registry()

    @event(PROVIDER, id=10, version=0, registry=registry, only_undescribed=True)
    class RequestStart_V0:
        id: Int32

    payloads, problems = by_records(built("/a"), registry)
    assert clrevents.asdict(payloads[0]) == {"id": 0, "url": "/a"}
    assert not problems


def test_a_recorded_trace() -> None:
    path = fixture("net8-sample")
    registry, made = own({"number": "UInt32", "url": "UnicodeString"})
    with clrevents.open(path, registry=registry) as trace:
        mine = [event.payload for event in trace.events(made)]
        assert trace.table(made)["url"].tolist() == [payload.url for payload in mine]
        assert not trace.problems, "as many fields of the same widths: other names and signs are no disagreement"
    with clrevents.open(path) as trace:
        described = [event.payload for event in trace.events(f"{PROVIDER}/RequestStart")]
    assert len(mine) == 100
    assert [(p.number, p.url) for p in mine] == [(p.id, p.url) for p in described]
    registry, made = own({"url": "UnicodeString", "number": "UInt32"})
    with clrevents.open(path, registry=registry) as trace:
        assert list(trace.events(made)) == []
        assert len(trace.table(made)) == 0
        assert trace.check().payload_faults == 100
