"""The report on counters: what events tell in their usual form, in odd ones, and what they do not tell."""

from __future__ import annotations

from typing import Any

import pytest

import report_laws
from built_counters import SECOND, by_chance, collected, counter, increased, meter, polled, told, value
from built_pauses import FORMATS
from clrevents.analysis.reports.counters import REPORT, CountersParameters
from clrevents.testing.builder import Format, TraceBuilder
from tiers import one_in


def metered() -> TraceBuilder:
    return TraceBuilder().thread(7)


def numbers(found: Any) -> list[tuple[Any, ...]]:
    return [(row.name, row.kind, row.value, row.reason) for row in found.values]


def note_ids(found: Any) -> set[str]:
    return {note.id for note in found.notes} - {"not-recorded"}


# EventCounters. -----------------------------------------------------------------------------------------------------


def test_a_polled_counter_has_a_mean_and_an_incrementing_one_an_increase() -> None:
    builder = metered().at(SECOND)
    counter(builder, polled(mean=2.5))
    counter(builder, increased(increment=6.0, IntervalSec=2.0), id=5)
    counter(builder.at(3 * SECOND), increased(increment=3.0, IntervalSec=1.0), id=5)
    found = told(builder)
    heap, hits, more = found.values
    assert (heap.provider, heap.name, heap.kind, heap.value, heap.unit) == ("App", "heap", "mean", 2.5, "MB")
    assert (heap.count, heap.min, heap.max, heap.per_second, heap.session_id) == (1, 2.5, 2.5, None, None)
    assert (hits.kind, hits.value, hits.interval_ns, hits.per_second) == ("rate", 6.0, 2 * SECOND, 3.0)
    assert (more.time_ns, more.thread_id, more.per_second) == (3 * SECOND, 7, 3.0)
    series = {row.name: row for row in found.series}
    assert (series["hits"].total, series["hits"].per_second) == (9.0, 3.0)
    assert (series["heap"].total, series["heap"].display_name) == (None, "The heap")
    assert found.facts.counter_interval_ns == SECOND


def test_means_of_an_event_counter_are_weighted_and_its_extremes_are_those_of_measurements() -> None:
    builder = metered().at(SECOND)
    counter(builder, polled("took", 10.0, Count=1, Min=10.0, Max=10.0))
    counter(builder, polled("took", 2.0, Count=3, Min=1.0, Max=4.0, StandardDeviation=1.4))
    (series,) = told(builder).series
    assert (series.mean, series.min, series.max, series.measurements) == (4.0, 1.0, 10.0, 4)
    assert (series.first, series.last, series.count) == (10.0, 2.0, 2)


def test_an_event_counter_that_measured_nothing_has_no_value() -> None:
    """The runtime writes a mean of 0, and extremes that are infinite."""
    builder = metered()
    counter(builder, polled("took", 0.0, Count=0, Min=float("inf"), Max=float("-inf")))
    found = told(builder)
    assert numbers(found) == [("took", "mean", None, "empty")]
    (row,) = found.values
    assert (row.count, row.min, row.max, row.stddev) == (0, None, None, None)
    assert found.metrics["empty"].value == 1
    (series,) = found.series
    assert (series.count, series.empty, series.mean, series.last) == (0, 1, None, None)


@pytest.mark.parametrize(
    ("mean", "value", "reason"),
    [
        (float("nan"), None, "not a number"),
        (float("-inf"), None, "infinite"),
        ("2.5", 2.5, None),
        ("NaN", None, "not a number"),
        # More than a thousand, or little more than one.
        ("1,234", None, "unreadable"),
        (None, None, "missing"),
        (3, 3.0, None),
    ],
)
def test_values_in_odd_forms(mean: Any, value: float | None, reason: str | None) -> None:
    builder = metered()
    counter(builder, polled(mean=mean))
    found = told(builder)
    assert numbers(found) == [("heap", "mean", value, reason)]
    (row,) = found.values
    assert row.unread == (mean if reason == "unreadable" else None)


def test_what_could_not_be_read_stays_with_its_row() -> None:
    """Events of two providers and of several shapes come in turn."""
    builder = metered()
    for number in range(4):
        counter(builder, polled(f"app {number}", f"{number},5"), "App", 4)
        counter(builder, polled(f"other {number}", float(number)), "Other", 5)
        counter(builder, polled(f"late {number}", f"{number};5"), "Other", 6)
    value(builder, "GaugeValuePublished", "level", lastValue="5;0")
    found = told(builder)
    assert [(row.name, row.unread) for row in found.values if row.value is None] == [
        *(pair for n in range(4) for pair in ((f"app {n}", f"{n},5"), (f"late {n}", f"{n};5"))),
        ("level", "5;0"),
    ]
    chosen = told(builder, name="late*")
    assert [row.unread for row in chosen.values] == [f"{n};5" for n in range(4)]


def test_fields_are_found_by_name_and_missing_ones_are_null() -> None:
    builder = metered()
    members = polled(CounterType=None, Count=None, Min=None, Max=None, IntervalSec=None, DisplayUnits=None)
    counter(builder, dict(reversed(members.items())))
    counter(builder, {"Increment": 4.0, "Name": "bare"}, id=5)
    heap, bare = told(builder).values
    assert (heap.kind, heap.value, heap.count, heap.interval_ns, heap.unit) == ("mean", 1.5, None, None, "")
    assert (bare.kind, bare.value, bare.per_second) == ("rate", 4.0, None)
    found = told(builder)
    assert "no-interval" in note_ids(found)
    series = {row.name: row for row in found.series}
    # Nobody knows how many measurements there were.
    assert (series["heap"].mean, series["heap"].min, series["heap"].max) == (None, None, None)
    assert (series["bare"].total, series["bare"].per_second) == (4.0, None)


def test_events_of_no_known_form_are_counted_and_give_no_value() -> None:
    builder = metered()
    builder.described("App", "EventCounters", {"Payload": (9, 5)})
    counter(builder, {"Name": "nameless"}, id=2)
    counter(builder, {"Mean": 1.0}, id=3)
    counter(builder, polled(), id=4)
    found = told(builder)
    assert numbers(found) == [("heap", "mean", 1.5, None)]
    assert found.metrics["odd"].value == 3
    assert "odd-events" in note_ids(found)


# Meters. ------------------------------------------------------------------------------------------------------------


def test_rates_of_meters_are_increases_of_the_interval_of_their_collection() -> None:
    builder = metered().at(SECOND)
    collected(builder, 0, 0.5)
    value(builder, "CounterRateValuePublished", rate="24", value="24")
    collected(builder, 0, 0.5, end=True)
    collected(builder.at(3 * SECOND), 1, 2)
    value(builder, "CounterRateValuePublished", rate="10", value="34")
    collected(builder, 1, 2, end=True)
    found = told(builder)
    assert [(row.value, row.change, row.total, row.interval_ns, row.per_second) for row in found.values] == [
        (24, 24, 24, SECOND // 2, 48),
        (10, 10, 34, 2 * SECOND, 5),
    ]
    (series,) = found.series
    assert (series.total, series.per_second, series.mean) == (34, 13.6, 17)
    assert (series.session_id, series.version, series.provider) == ("abc", "1.2", "Shop")
    assert (found.facts.sessions, found.facts.metrics_interval_ns) == (("abc",), SECOND // 2)


def test_every_kind_of_instrument() -> None:
    builder = metered()
    collected(builder, 0)
    value(builder, "UpDownCounterRateValuePublished", "depth", rate="-2", value="7")
    value(builder, "GaugeValuePublished", "level", lastValue="0.5")
    value(builder, "HistogramValuePublished", "time", quantiles="0.5=1;0.95=4", count=4, sum=6.0)
    value(
        builder,
        "Base2ExponentialHistogramValuePublished",
        "size",
        scale=3,
        count=2,
        sum=10.0,
        zeroCount=0,
        minimum=4.0,
        maximum=6.0,
        buckets="1, 1",
    )
    found = told(builder)
    assert [(row.name, row.kind, row.quantile, row.value, row.change, row.count) for row in found.values] == [
        ("depth", "updown", None, 7, -2, None),
        ("level", "gauge", None, 0.5, None, None),
        ("time", "histogram", None, 1.5, None, 4),
        ("time", "histogram", 0.5, 1, None, None),
        ("time", "histogram", 0.95, 4, None, None),
        ("size", "histogram", None, 5, None, 2),
    ]
    # A histogram's is that of its measurements, in the second of its collection.
    assert [row.per_second for row in found.values] == [None, None, 4, None, None, 2]
    quantiles = [(row.name, row.per_second, row.p50, row.p95, row.p99) for row in found.series if row.quantile is None]
    assert quantiles[2:] == [("size", 2, None, None, None), ("time", 4, 1, 4, None)]
    assert found.metrics["count"].value == 4
    size = found.values[5]
    assert (size.min, size.max, size.sum) == (4, 6, 10)
    assert [(row.name, row.quantile, row.mean, row.total) for row in found.series] == [
        ("depth", None, 7, None),
        ("level", None, 0.5, None),
        ("size", None, 5, 10),
        ("time", None, 1.5, 6),
        # A quantile cannot be averaged.
        ("time", 0.5, None, None),
        ("time", 0.95, None, None),
    ]


def test_an_instrument_is_what_the_program_says_of_it() -> None:
    builder = metered()
    begin = {"sessionId": "abc", "meterName": "Shop", "meterVersion": "1.2", "instrumentName": "jobs"}
    meter(
        builder, "BeginInstrumentReporting", **begin, instrumentType="ObservableCounter`1", unit="", description="Done"
    )
    value(builder, "CounterRateValuePublished", rate="1", value="1")
    value(builder, "CounterRateValuePublished", rate="1", value="1", meterVersion="2")
    found = told(builder).series
    assert [(row.version, row.instrument) for row in found] == [("1.2", "ObservableCounter`1"), ("2", None)]


def test_two_meters_of_one_name_are_apart_by_the_id_of_their_instrument() -> None:
    """Since .NET 9; their values have no tags of their own. An instrument that was not announced stays apart, too."""
    builder = metered()
    begin = {"sessionId": "abc", "meterName": "Shop", "meterVersion": "1.2", "instrumentName": "jobs"}
    for number, tags in enumerate(("shop=a", "shop=b"), 1):
        meter(builder, "BeginInstrumentReporting", **begin, meterTags=tags, instrumentId=number)
    for turn in range(3):
        collected(builder, turn)
        for number, rate in enumerate((1000, 3, 50), 1):
            value(builder, "CounterRateValuePublished", rate=f"{rate}", value=f"{rate * turn}", instrumentId=number)
        collected(builder, turn, end=True)
    series = told(builder).series
    assert sorted((row.tags, row.last, row.mean) for row in series) == [
        ("", 50, 50),
        ("shop=a", 1000, 1000),
        ("shop=b", 3, 3),
    ]


def test_tags_that_nobody_can_split() -> None:
    builder = metered()
    value(builder, "CounterRateValuePublished", tags="ro,ute=/a=0", rate="1", value="1")
    value(builder, "CounterRateValuePublished", tags="odd", rate="1", value="1")
    found = told(builder)
    assert [(row.tags, row.tag_names, row.tag_values, row.tags_ambiguous) for row in found.series] == [
        ("odd", (), (), True),
        ("ro,ute=/a=0", ("ro,ute",), ("/a=0",), True),
    ]
    assert "ambiguous-tags" in note_ids(found)


def test_a_collection_of_no_length_tells_no_interval() -> None:
    builder = metered()
    collected(builder, 0, 0)
    value(builder, "CounterRateValuePublished", rate="2", value="1")
    assert [row.per_second for row in told(builder).values] == [None]


def test_where_events_were_lost_the_interval_is_unknown() -> None:
    """The next collection may have begun among them."""
    builder = metered().sample(0x1000).at(SECOND)
    collected(builder, 0)
    value(builder, "CounterRateValuePublished", rate="1", value="1")
    value(builder.lose(5).at(2 * SECOND), "CounterRateValuePublished", rate="2", value="3")
    value(builder.at(2 * SECOND + 10), "CounterRateValuePublished", rate="4", value="7")
    collected(builder.at(3 * SECOND), 1)
    value(builder, "CounterRateValuePublished", rate="8", value="15")
    found = told(builder.sequence_point().sample(0x1000))
    assert [(row.value, row.interval_ns, row.lossy) for row in found.values] == [
        # The hole begins with the last event before it.
        (1, None, True),
        (2, None, True),
        (4, None, False),
        (8, SECOND, False),
    ]
    (series,) = found.series
    assert (series.total, series.per_second, series.lossy) == (15, 8, True)


def test_values_of_another_tools_session_are_said_to_be_that() -> None:
    """A session that comes second is refused, and then gets the values of the first one."""
    second = metered()
    meter(second, "MultipleSessionsNotSupportedError", runningSessionId="abc")
    collected(second, 0)
    value(second, "CounterRateValuePublished", rate="1", value="1")
    found = told(second)
    assert [row.other_session for row in found.series] == [True]
    assert found.facts.other_sessions == ("abc",)
    (said,) = (note.message for note in found.notes if note.id == "other-session")
    assert "already running (abc): their" in said
    assert "session-refused" not in note_ids(found)
    assert [(row.kind, row.session_id) for row in found.problems] == [("session refused", "abc")]
    # The first one hears of it, too, and has values before.
    first = metered()
    collected(first, 0)
    value(first, "CounterRateValuePublished", rate="1", value="1")
    meter(first, "MultipleSessionsNotSupportedError", runningSessionId="abc")
    value(first, "CounterRateValuePublished", rate="1", value="2")
    found = told(first)
    assert [row.other_session for row in found.series] == [False]
    assert not {"other-session", "session-refused"} & note_ids(found)
    # One of which nothing came, as when nothing that it asks for is there.
    refused = metered()
    meter(refused, "MultipleSessionsNotSupportedError", runningSessionId="abc")
    (said,) = (note.message for note in told(refused).notes if note.id == "session-refused")
    assert said == "metrics were refused: the process publishes them for a session of another tool (abc)"


def test_what_the_source_reports_is_a_table() -> None:
    builder = metered().at(SECOND)
    meter(builder, "Error", sessionId="abc", errorMessage="no such meter")
    meter(builder, "ObservableInstrumentCallbackError", sessionId="abc", errorMessage="threw")
    meter(builder, "TimeSeriesLimitReached", sessionId="abc")
    meter(builder, "HistogramLimitReached", sessionId="abc")
    meter(
        builder,
        "MultipleSessionsConfiguredIncorrectlyError",
        clientId="me",
        expectedMaxHistograms="20",
        actualMaxHistograms="10",
        expectedMaxTimeSeries="1000",
        actualMaxTimeSeries="1000",
        expectedRefreshInterval="1",
        actualRefreshInterval="5",
    )
    found = told(builder)
    assert [(row.kind, row.session_id, row.message) for row in found.problems] == [
        ("error", "abc", "no such meter"),
        ("callback error", "abc", "threw"),
        ("time-series limit", "abc", None),
        ("histogram limit", "abc", None),
        (
            "session misconfigured",
            "me",
            "expectedMaxHistograms 20, actualMaxHistograms 10, expectedMaxTimeSeries 1000, actualMaxTimeSeries 1000,"
            " expectedRefreshInterval 1, actualRefreshInterval 5",
        ),
    ]
    assert {"limit-reached", "metric-errors"} <= note_ids(found)
    assert found.metrics["problems"].value == 5
    assert told(builder, start=SECOND + 1500).metrics["problems"].value == 3


# What may be asked. -------------------------------------------------------------------------------------------------


def mixed() -> TraceBuilder:
    builder = metered().at(SECOND)
    for second in (1, 2, 3):
        counter(builder.at(second * SECOND), polled("gc-heap", float(second)), "System.Runtime")
        if second < 3:
            counter(builder, polled("gc-count", 1.0), "System.Runtime")
        counter(builder, polled("heap", 10.0))
    return builder


@pytest.mark.parametrize(
    ("provider", "name", "wanted"),
    [
        (None, None, ["gc-count", "gc-heap", "heap"]),
        ("System.Runtime", None, ["gc-count", "gc-heap"]),
        ("system.*", None, []),
        ("Sys*", "*heap", ["gc-heap"]),
        (None, "heap", ["heap"]),
        ("App", "gc-heap", []),
    ],
)
def test_counters_are_chosen_by_provider_and_name(provider: str | None, name: str | None, wanted: list[str]) -> None:
    found = told(mixed(), provider=provider, name=name)
    assert sorted(row.name for row in found.series) == wanted
    assert {row.name for row in found.values} == set(wanted)
    assert found.metrics["counters"].value == len(wanted)
    assert found.metrics["count"].value == len(found.values)
    assert ("no-such-counter" in note_ids(found)) == (not wanted)


def test_a_counter_that_vanishes_ends_with_its_last_value() -> None:
    rows = {row.name: row for row in told(mixed()).series}
    told_at = {row.name: row.time_ns // SECOND for row in told(mixed()).values}
    assert (told_at["gc-count"], told_at["gc-heap"]) == (2, 3)
    assert (rows["gc-count"].count, rows["gc-heap"].count) == (2, 3)


def test_numbers_that_leave_the_range_of_numbers_are_unknown() -> None:
    builder = metered()
    for _ in range(3):
        counter(builder, increased(increment=1e308))
    (series,) = told(builder).series
    assert (series.total, series.per_second, series.max) == (None, None, 1e308)


def test_coverage_is_full_with_both_and_partial_with_one() -> None:
    builder = metered()
    counter(builder, polled())
    found = told(builder)
    assert found.coverage == "partial"
    (note,) = [note for note in found.notes if note.id == "not-recorded"]
    assert note.record == "System.Diagnostics.Metrics:0x2:4:Metrics=System.Runtime"
    value(collected(builder := counter(metered(), polled()), 0), "GaugeValuePublished", lastValue="1")
    assert told(builder).coverage == "full"


# Numbers that a counter writes as text, as no runtime does, are gone from a redacted copy.
LAWS = [law for law in report_laws.LAWS if law is not report_laws.a_redacted_copy_says_the_same]


@pytest.mark.parametrize("seed", one_in(3, range(3)))
@pytest.mark.parametrize("format", FORMATS)
def test_counters_in_any_order_obey(format: Format, seed: int) -> None:
    report_laws.obeys(REPORT, CountersParameters(provider=None, name=None), by_chance(format, seed), LAWS)


def test_meters_of_a_purpose_are_a_word_away() -> None:
    named = {row.name for row in told(mixed(), provider="System.Runtime").series}
    assert {row.name for row in told(mixed(), meters="runtime").series} == named == {"gc-count", "gc-heap"}
    assert {row.name for row in told(mixed(), meters="ef", provider="Sys*").series} == named
    assert not told(mixed(), meters="ef").series
