"""What profiles and selectors record: it feeds the reports that they name, and means what the official names mean."""

from __future__ import annotations

import pytest

from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
from clrevents.diagnostics import PROFILES, DiagnosticsError, Profile, Provider, find_profile
from clrevents.diagnostics.profiles import METERS, counter_providers, joined_profiles, provider_for, providers_for
from clrevents.diagnostics.providers import EVERYTHING, parse_providers, parse_runtime_events, united
from clrevents.events import ExceptionThrown_V1
from clrevents.schema.registry import PRIVATE, RUNTIME, SAMPLE, TPL


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_profile_feeds_the_reports_that_it_names(profile: Profile) -> None:
    """Each essential need of each report is met by one of its providers."""
    for name in profile.reports:
        for need in find_report(name).needs:
            if need.essential:
                assert any(meets(one, need.provider, need.keywords, need.level) for one in profile.providers), (
                    name,
                    need,
                )


def meets(provider: Provider, name: str, keywords: int, level: int) -> bool:
    # Any event of a native provider with one of the keywords; samples and event sources have none.
    return provider.name == name and provider.level >= level and (not keywords or bool(provider.keywords & keywords))


def test_every_report_has_a_profile() -> None:
    """Or a reason: stubs are rare, and callers, jit and so on stand in others."""
    fed = {name for profile in PROFILES for name in profile.reports}
    assert set(report_names()) - fed == {"stubs"}


def test_profiles_say_what_they_cost() -> None:
    assert len({profile.name for profile in PROFILES}) == len(PROFILES)
    for profile in PROFILES:
        assert profile.cost.endswith(".")
        assert profile.purpose.endswith(".")


@pytest.mark.parametrize(
    ("name", "providers"),
    [
        ("dotnet-common", {RUNTIME: (0x100003801D, 4)}),
        ("dotnet-sampled-thread-time", {SAMPLE: (0, 4)}),
        ("gc-verbose", {RUNTIME: (0x8003, 5)}),
        ("gc-collect", {RUNTIME: (1, 4), PRIVATE: (1, 4)}),
        ("database", {TPL: (0x80, 4), "Microsoft-Diagnostics-DiagnosticSource": (0x3, 5)}),
        ("default", {RUNTIME: (0x100003801D, 4), SAMPLE: (0, 4)}),
    ],
)
def test_official_names_mean_what_they_mean(name: str, providers: dict[str, tuple[int, int]]) -> None:
    found = find_profile(name)
    assert {one.name: (one.keywords, one.level) for one in found.providers} == providers


@pytest.mark.parametrize("name", ["cpu-sampling", "thread-time"])
def test_the_linux_recorders_names_are_its_own(name: str) -> None:
    with pytest.raises(DiagnosticsError, match="collect-linux"):
        find_profile(name)


def test_several_profiles_ask_for_everything_that_one_of_them_wants() -> None:
    both = joined_profiles(["gc", "locks", "alloc"])
    runtime = next(one for one in both.providers if one.name == RUNTIME)
    assert (runtime.keywords, runtime.level) == (0x80000014001, 5)
    assert both.reports == ("gc", "locks", "alloc")
    assert both.rundown is True
    assert joined_profiles(["gc", "counters"]).rundown is True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A", ["A:0xffffffffffffffff:4"]),
        ("runtime:1", [f"{RUNTIME}:0x1:4"]),
        ("A:0x1F:verbose,B::2", ["A:0x1f:5", "B:0xffffffffffffffff:2"]),
        ("A:1:5:X=1;Y=2,B:2", ["A:0x1:5:X=1;Y=2", "B:0x2:4"]),
        ('A:1:5:Spec="x,y:z",B', ['A:0x1:5:Spec="x,y:z"', "B:0xffffffffffffffff:4"]),
        ("A:1:9", ["A:0x1:5"]),
        ("A:1:0", ["A:0x1:1"]),
    ],
)
def test_providers_are_written_as_dotnet_trace_takes_them(text: str, shown: list[str]) -> None:
    assert [str(one) for one in parse_providers(text)] == shown
    assert [str(one) for one in parse_providers(",".join(shown))] == shown


def test_runtime_events_by_name() -> None:
    assert parse_runtime_events("GC+Exception").keywords == 0x8001
    assert parse_runtime_events("gcheapcollect").keywords == 0x800000
    with pytest.raises(ValueError, match="not a keyword of the runtime; there are"):
        parse_runtime_events("gc+nonsense")


def test_one_provider_once() -> None:
    (both,) = united([Provider("A", keywords=1), Provider("A", keywords=4, level=5, arguments="x=1")])
    assert str(both) == "A:0x5:5:x=1"


def test_event_sources_are_asked_for_everything() -> None:
    """.NET Core 3.1 delivers nothing of them with keywords 0 or level 0."""
    assert provider_for("System.Net.Http", 0, 0) == Provider("System.Net.Http", keywords=EVERYTHING, level=1)


def shown(*selectors: object) -> list[str]:
    return [str(one) for one in providers_for(selectors)]


def test_selectors_say_what_to_record() -> None:
    assert shown("GCStart") == [f"{RUNTIME}:0x1:4"]
    assert shown("Contention*") == [f"{RUNTIME}:0x4000:4"]
    assert shown("GCStart", "ContentionStart") == [f"{RUNTIME}:0x4001:4"]
    assert shown("MyCompany-Orders/*") == ["MyCompany-Orders:0xffffffffffffffff:5"]
    assert shown("MyCompany-Orders/Placed") == ["MyCompany-Orders:0xffffffffffffffff:5"]
    assert shown(ExceptionThrown_V1) == [f"{RUNTIME}:0x200008000:2"]
    assert shown("ThreadSample") == [f"{SAMPLE}:0xffffffffffffffff:4"]


def test_a_pattern_does_not_make_the_program_do_things() -> None:
    """`GC*` also matches the events of heap snapshots, and asking for those causes a collection."""
    (runtime,) = (one for one in providers_for(["GC*"]) if one.name == RUNTIME)
    assert not runtime.keywords & 0x1900000
    assert runtime.keywords & 1


def test_what_asks_for_metrics_shares_them() -> None:
    """SHARED is the one session of metrics that several tools can have, if they agree; `dotnet-counters` asks for 10
    histograms, and what is left out agrees with anything. A ClientId would silence all files of a ring but the first.
    """
    asked = [
        provider_for(need.provider, 0, 0, need.argument) for one in report_names() for need in find_report(one).needs
    ]
    asked += [provider for profile in PROFILES for provider in profile.providers]
    metrics = {str(one) for one in asked if one.name == METERS}
    assert metrics == {f"{METERS}:0x6:4:SessionId=SHARED;Metrics=System.Runtime;MaxHistograms=10"}
    assert counter_providers(["A", "B\\b"], 0.5)[-1].arguments == (
        "SessionId=SHARED;Metrics=A,B\\b;MaxHistograms=10;RefreshInterval=0.5"
    )
