"""What to record of a running process for a question about counters that names them.

Meters and EventSources are asked for by the same names, since nobody needs to know which of them a name is. Patterns,
and names of instruments alone, need the process's list of instruments: not every runtime knows patterns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from clrevents.analysis.reports.counters.report import fits
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.profiles import METERS, counter_providers
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.session import Session
from clrevents.schema.matching import is_glob

_PATIENCE: Final = 2.0
"""How long to wait for the end of the list, in seconds."""
_DEFAULT: Final = "System.Runtime"
_LISTED: Final = "InstrumentPublished"
_ALL_LISTED: Final = "InitialInstrumentEnumerationComplete"


def with_counters(
    process: Process, asked: Any, recorded: Iterable[Provider], fixed: Collection[str]
) -> tuple[Provider, ...]:
    """The providers with the counters that are asked for by `provider` and `name` instead of the usual ones; those in
    `fixed` stay as they are."""
    if asked.provider is None and asked.name is None:
        return tuple(recorded)
    providers = (asked.provider or "*").split(",")
    names = [provider for provider in providers if not is_glob(provider)]
    if len(names) < len(providers):
        announced = _announced(process)
        names += sorted({m for m, name in announced if fits(asked.provider, m) and fits(asked.name, name)})
        # No process lists its EventSources.
        names += [_DEFAULT] if fits(asked.provider, _DEFAULT) else []
    counters = [one for one in counter_providers(dict.fromkeys(names)) if one.name not in fixed]
    return (*counters, *(one for one in recorded if one.name in fixed or one.name not in (METERS, _DEFAULT)))


def _announced(process: Process) -> set[tuple[str, str]]:
    """The meters and instruments of the process."""
    found = set()
    wanted = (f"{METERS}/{_LISTED}", f"{METERS}/{_ALL_LISTED}")
    with Session(process, *wanted, providers=counter_providers()[-1:], duration=_PATIENCE, reports=()) as live:
        for batch in live:
            for event in batch:
                if event.name == _ALL_LISTED:
                    live.stop()
                else:
                    found.add((event.payload["meterName"], event.payload["instrumentName"]))
    return found
