"""Running .NET processes: finds them, asks them about themselves, and receives their events.

A client of the runtime's diagnostic protocol that needs no .NET. The public names live here; each loads what it needs
when it is first used.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from clrevents._util.offered import late_name

if TYPE_CHECKING:
    from clrevents.diagnostics.async_session import AsyncProcess as AsyncProcess
    from clrevents.diagnostics.async_session import AsyncSession as AsyncSession
    from clrevents.diagnostics.discovery import find_process as find_process
    from clrevents.diagnostics.discovery import processes as processes
    from clrevents.diagnostics.dotnet_process import Process as Process
    from clrevents.diagnostics.faults import DiagnosticsError as DiagnosticsError
    from clrevents.diagnostics.listening import Listener as Listener
    from clrevents.diagnostics.profiles import PROFILES as PROFILES
    from clrevents.diagnostics.profiles import Profile as Profile
    from clrevents.diagnostics.profiles import find_profile as find_profile
    from clrevents.diagnostics.providers import Provider as Provider
    from clrevents.diagnostics.runtime_requests import RuntimeInfo as RuntimeInfo
    from clrevents.diagnostics.session import Session as Session

_HOMES = {
    "async_session": ("AsyncProcess", "AsyncSession"),
    "faults": ("DiagnosticsError",),
    "listening": ("Listener",),
    "discovery": ("find_process", "processes"),
    "dotnet_process": ("Process",),
    "profiles": ("PROFILES", "Profile", "find_profile"),
    "providers": ("Provider",),
    "runtime_requests": ("RuntimeInfo",),
    "session": ("Session",),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)
__getattr__ = partial(late_name, __name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
