"""What to record: profiles, which are names with what each costs and which reports it feeds; and providers for users'
selectors of events.

The official profiles mean what they mean in dotnet-trace 10. Knows reports by name only. Keywords and levels of known
events are the registry's; an unknown event needs its whole provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.providers import EVERYTHING, VERBOSE, AwaitEvents, Provider, united
from clrevents.diagnostics.runtime_requests import EventFilter
from clrevents.errors import UnknownEventError
from clrevents.schema.keywords import RuntimeKeyword as Runtime
from clrevents.schema.keywords import TplKeyword
from clrevents.schema.matching import is_glob, select_entries
from clrevents.schema.registry import (
    DEFAULT,
    PRIVATE,
    RUNDOWN,
    RUNTIME,
    SAMPLE,
    SHORT_PROVIDERS,
    TPL,
    Registry,
    meant_provider,
    provider_name,
)

METERS: Final = "System.Diagnostics.Metrics"
METER_VALUES: Final = 0x2
"""The keyword of its values and collections."""
METER_LISTING: Final = 0x4
"""The keyword of the list of all instruments, recorded or not."""
_BRIDGE: Final = "Microsoft-Diagnostics-DiagnosticSource"


@frozen
class Profile(Value):
    """What to record for a purpose."""

    name: str
    """Its name."""
    purpose: str
    """What it is for, in one sentence."""
    providers: tuple[Provider, ...]
    """What it records."""
    cost: str
    """What it costs the program, in one sentence; docs/live.md says how it was measured."""
    reports: tuple[str, ...] = ()
    """The reports that get their data from it, by name."""
    rundown: bool | int = True
    """Whether methods and modules are listed at the end, or which keywords of that list."""
    official: bool = False
    """Whether dotnet-trace has it, too."""


def _runtime(*keywords: Runtime, level: int = 4) -> Provider:
    mask = 0
    for keyword in keywords:
        mask |= keyword
    return Provider(RUNTIME, keywords=mask, level=level)


CODE_LOADS: Final = _runtime(Runtime.Loader, Runtime.Jit)
"""Code as it is compiled and loaded, which gives frames names before the list at the end."""
_SAMPLES: Final = Provider(SAMPLE, keywords=0)
_COMMON: Final = Provider(RUNTIME, keywords=0x100003801D)
_FLOW: Final = Provider(TPL, keywords=TplKeyword.TasksFlowActivityIds)
_TASKS: Final = AwaitEvents(keywords=0xC3, level=VERBOSE, kept=0x83)
_FEW: Final = "Too little to measure: a few events per second."

_SAMPLED: Final = "Stops all managed threads for each round of samples: 0.2 to 4 % of the time with four of them."


def counter_providers(names: Iterable[str] = ("System.Runtime",), seconds: float = 1) -> tuple[Provider, ...]:
    """The providers that make counters and meters with these names publish their values every so many seconds."""
    names = list(names)
    # A runtime has one session of metrics at a time, except for those called SHARED, which must agree: on what is left
    # out they do, and dotnet-counters asks for 10 histograms. A ClientId would have to differ in each file of a ring.
    meters = f"SessionId=SHARED;Metrics={','.join(names)};MaxHistograms=10"
    if seconds != 1:
        meters += f";RefreshInterval={seconds:g}"
    sources = [name.partition("\\")[0] for name in names]
    counters = [Provider(name, arguments=f"EventCounterIntervalSec={seconds:g}") for name in dict.fromkeys(sources)]
    return (*counters, Provider(METERS, keywords=METER_VALUES | METER_LISTING, arguments=meters))


PROFILES: Final = (
    Profile(
        "default",
        "A first look: what dotnet-trace records by default.",
        (_COMMON, _SAMPLES),
        _SAMPLED,
        ("top", "callers", "gc", "exceptions", "threads", "pool", "startup", "modules"),
    ),
    Profile(
        "cpu",
        "Where threads spend their time, from samples of their stacks.",
        (_SAMPLES, *united((CODE_LOADS, _runtime(Runtime.GC)))),
        _SAMPLED,
        ("top", "callers"),
    ),
    Profile(
        "gc",
        "Garbage collections, their pauses and the sizes of the heap.",
        (_runtime(Runtime.GC),),
        "Too little to measure: a few dozen events for each collection.",
        ("gc",),
    ),
    Profile(
        "alloc",
        "What is allocated, by type and stack: every 100 kB, and sampled by bytes on .NET 10.",
        (_runtime(Runtime.GC, Runtime.AllocationSampling, level=VERBOSE),),
        "An event with a stack for each 100 kB allocated: 7 % of a thread that allocates 100 MB a second.",
        ("alloc", "gc"),
    ),
    Profile(
        "heap",
        "All objects of the heap, once: recording it causes a full collection.",
        (
            _runtime(
                *(Runtime.GC, Runtime.GCHeapDump, Runtime.Type, Runtime.ManagedHeapCollect, Runtime.GCHeapAndTypeNames),
                level=VERBOSE,
            ),
        ),
        "The program is stopped while its whole heap is written.",
        ("heap", "gc"),
        rundown=False,
    ),
    Profile(
        "exceptions",
        "Exceptions as they are thrown and handled.",
        (_runtime(Runtime.Exception),),
        "A few events with stacks for each exception; throwing one costs the program more.",
        ("exceptions",),
    ),
    Profile(
        "locks",
        "Who waits for which lock, who holds it, and what holders do meanwhile.",
        # From .NET 11 on, owners are numbers of threads, which only the creation of those explains.
        (_runtime(Runtime.Contention, Runtime.Threading), _SAMPLES),
        f"{_SAMPLED} And two events for each wait, and one when a worker of the pool has nothing to do.",
        ("locks",),
    ),
    Profile(
        "threads",
        "What each thread does over time: runs, waits, sleeps, is stopped.",
        (
            _runtime(Runtime.GC, Runtime.Threading, Runtime.Contention, Runtime.WaitHandle, level=VERBOSE),
            _SAMPLES,
            Provider(TPL, keywords=0x3),
        ),
        f"{_SAMPLED} And an event for each allocation of 100 kB, wait, and task.",
        ("threads", "waits", "pool", "gc"),
    ),
    Profile(
        "requests",
        "Requests of servers and clients, with what made them wait.",
        (
            *(Provider(name) for name in ("System.Net.Http", "Microsoft.AspNetCore.Hosting")),
            Provider("Microsoft-AspNetCore-Server-Kestrel"),
            _TASKS,
            _runtime(Runtime.GC, Runtime.Exception, Runtime.Contention, Runtime.WaitHandle, level=VERBOSE),
        ),
        "A few dozen events for each request, and a few for each await and task: 1 to 3 us each.",
        ("requests", "activities", "tasks"),
    ),
    Profile(
        "counters",
        "The values of the runtime's counters and metrics, every second.",
        counter_providers(),
        _FEW,
        ("counters",),
        rundown=False,
    ),
    Profile(
        "startup",
        "What a program does before its actual work: for a program started by `clrevents collect -- COMMAND`.",
        (Provider(RUNTIME, keywords=0xF00000001C, level=VERBOSE),),
        "An event for each method compiled or looked up, and each type: 25,000 per second during start-up.",
        ("startup", "jit", "modules"),
    ),
    Profile(
        "dotnet-common",
        "Collections, loads, compilations, exceptions and threads of the runtime.",
        (_COMMON,),
        "An event for each of them: too little to measure while a program runs steadily.",
        ("gc", "exceptions", "startup", "modules"),
        official=True,
    ),
    Profile(
        "dotnet-sampled-thread-time",
        "Stacks of all threads, a few hundred times per second, whether they run or wait.",
        (_SAMPLES,),
        _SAMPLED,
        ("top", "callers"),
        official=True,
    ),
    Profile(
        "gc-verbose",
        "Collections, handles, and samples of allocations.",
        (_runtime(Runtime.GC, Runtime.GCHandle, Runtime.Exception, level=VERBOSE),),
        "An event with a stack for each 100 kB allocated and each handle.",
        ("gc", "alloc"),
        official=True,
    ),
    Profile(
        "gc-collect",
        "Collections only, as little as possible.",
        (_runtime(Runtime.GC), Provider(PRIVATE, keywords=Runtime.GC)),
        "A few dozen events for each collection.",
        ("gc",),
        rundown=1,
        official=True,
    ),
    Profile(
        "database",
        "Commands of ADO.NET and Entity Framework.",
        (
            _FLOW,
            Provider(
                _BRIDGE,
                keywords=0x3,
                level=VERBOSE,
                arguments=(
                    'FilterAndPayloadSpecs="'
                    "SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandBefore@Activity1Start:"
                    "-Command;Command.CommandText;ConnectionId;Operation;Command.Connection.ServerVersion;"
                    "Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;"
                    "Command.Connection.Database;Command.Connection.DataSource;Command.Connection.PacketSize\r\n"
                    "SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandAfter@Activity1Stop:\r\n"
                    "Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting"
                    "@Activity2Start:-Command;Command.CommandText;ConnectionId;IsAsync;Command.Connection.ClientConnectionId;"
                    "Command.Connection.ServerVersion;Command.CommandTimeout;Command.CommandType;"
                    "Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;"
                    "Command.Connection.PacketSize\r\n"
                    "Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted"
                    '@Activity2Stop:"'
                ),
            ),
        ),
        "Two events for each command; they contain the text of commands and connections.",
        ("activities",),
        official=True,
    ),
)
"""All profiles, ours and the official ones."""
_BY_NAME: Final = {profile.name: profile for profile in PROFILES}
_LINUX_ONLY: Final = ("cpu-sampling", "thread-time")
"""Profiles of dotnet-trace 10's `collect-linux`, which has the kernel sample a machine."""


def find_profile(name: str) -> Profile:
    """The profile called `name`. Raises DiagnosticsError if there is none."""
    if name in _LINUX_ONLY:
        raise DiagnosticsError(
            f"the profile {name} belongs to the Linux recorder (dotnet-trace collect-linux), which uses the kernel "
            "and needs root; for one process, `cpu` or `dotnet-sampled-thread-time` records stacks of all threads"
        )
    try:
        return _BY_NAME[name]
    except KeyError:
        raise DiagnosticsError(f"there is no profile {name!r}; there are {', '.join(_BY_NAME)}") from None


def joined_profiles(names: Iterable[str]) -> Profile:
    """A profile that records what all of these record."""
    profiles = [find_profile(name) for name in names]
    if len(profiles) == 1:
        return profiles[0]
    rundowns = [profile.rundown for profile in profiles]
    return Profile(
        ",".join(profile.name for profile in profiles),
        " ".join(profile.purpose for profile in profiles),
        united(provider for profile in profiles for provider in profile.providers),
        " ".join(profile.cost for profile in profiles),
        tuple(dict.fromkeys(report for profile in profiles for report in profile.reports)),
        # Each needs its own part of the list, and only the whole one holds all parts.
        rundowns[0] if len(set(rundowns)) == 1 else True,
    )


def provider_for(name: str, keywords: int, level: int, arguments: str = "") -> Provider:
    """A provider for a need in which no keywords mean all events.

    .NET Core 3.1 delivers nothing from an EventSource enabled with keywords 0.
    """
    if name == METERS:
        return counter_providers()[-1]
    return Provider(name, keywords=keywords or EVERYTHING, level=max(level, 1), arguments=arguments or None)


_COSTLY: Final = (
    Runtime.GCHeapDump
    | Runtime.ManagedHeapCollect
    | Runtime.GCHeapSurvivalAndMovement
    | Runtime.GCHeapAndTypeNames
    | Runtime.GCSampledObjectAllocationHigh
    | Runtime.GCSampledObjectAllocationLow
)
"""These make the program do something that it would not do otherwise: a pattern such as `GC*` does not include them."""


def providers_for(selectors: Iterable[Any], registry: Registry = DEFAULT) -> tuple[Provider, ...]:
    """The providers that write the events of these selectors. Raises UnknownEventError for a name of neither a known
    event nor a provider."""
    return united(provider for selector in selectors for provider in _providers(selector, registry))


def event_filters(only: Iterable[str], without: Iterable[str], registry: Registry = DEFAULT) -> tuple[EventFilter, ...]:
    """Of the providers of these events, only them; of the providers of those, all but them. An event of the program's
    own is written `PROVIDER/ID`.

    Raises UnknownEventError for an event whose id is unknown, ValueError for both of one provider.
    """
    filters: dict[str, EventFilter] = {}
    for chosen, selectors in ((True, only), (False, without)):
        for provider, id in dict.fromkeys(pair for one in selectors for pair in _ids(one, registry)):
            if provider == RUNDOWN:
                raise ValueError("events of the list at the end cannot be chosen one by one")
            before = filters.get(provider, EventFilter(provider, chosen, ()))
            if before.only != chosen:
                raise ValueError(f"of {provider}, give either the events to record or those to leave out")
            filters[provider] = EventFilter(provider, chosen, (*before.ids, id))
    return tuple(filters.values())


def _ids(selector: str, registry: Registry) -> list[tuple[str, int]]:
    provider, slash, number = selector.rpartition("/")
    if slash and number.isascii() and number.isdigit():
        return [(provider_name(provider), int(number))]
    return [(entry.provider, entry.id) for entry in select_entries(selector, registry.entries())]


def _providers(selector: Any, registry: Registry) -> list[Provider]:
    if isinstance(selector, type):
        event = getattr(selector, "__event__", None)
        return [_provider(event.provider, event.keywords, event.level)] if event is not None else []
    if not isinstance(selector, str):
        return _of_known(registry, selector.provider, selector.id) or [_whole(selector.provider)]
    try:
        entries = select_entries(selector, registry.entries())
    except UnknownEventError:
        # Of an EventSource of the program: it describes itself when it speaks.
        provider, slash, _ = selector.rpartition("/")
        if (whole := meant_provider(selector)) is not None:
            return _providers(f"{whole}/*", registry)
        if not slash or "*" in provider:
            raise
        return [_whole(provider_name(provider))]
    kinds = [one for entry in entries for one in _of_known(registry, entry.provider, entry.id)]
    if is_glob(selector):
        kinds = [one for one in map(_cheap, kinds) if one.keywords]
    provider, slash, _ = selector.rpartition("/")
    if not kinds and slash and "*" not in provider:
        return [_whole(provider_name(provider))]
    return kinds


def _of_known(registry: Registry, provider: str, id: int) -> list[Provider]:
    if provider == RUNDOWN:
        # Not a provider to ask for: it comes at the end.
        return []
    known = [registry.get(provider, id, version) for version in registry.versions(provider, id)]
    return [_provider(info.provider, info.keywords, info.level) for info in known if info is not None]


def _provider(name: str, keywords: int, level: int) -> Provider:
    native = name in SHORT_PROVIDERS.values()
    everything = EVERYTHING if not native or name == SAMPLE else 0
    return Provider(name, keywords=keywords or everything, level=min(max(level, 1), VERBOSE))


def _cheap(provider: Provider) -> Provider:
    return attrs.evolve(provider, keywords=provider.keywords & ~_COSTLY) if provider.name == RUNTIME else provider


def _whole(name: str) -> Provider:
    return Provider(name, level=VERBOSE)
