"""`Process`: a running .NET process and what it can be asked; `processes()` finds them.

Joins what discovery sees with the requests that a runtime answers. Each question has a limit; no threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics import runtime_requests as requests
from clrevents.diagnostics.discovery import FoundRuntime, find_runtimes, start_key
from clrevents.diagnostics.driving import run
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.listening import Listener
from clrevents.diagnostics.runtime_requests import RuntimeInfo
from clrevents.diagnostics.transports import Endpoint, endpoint_at

DUMP_SECONDS: Final = 600.0
_HOSTS: Final = ("dotnet", "dotnet.exe")


@frozen
class Process(Value):
    """A running .NET process that answers requests. Each request raises DiagnosticsError if it is refused, if this user
    may not make it, or if no answer comes in time."""

    pid: int
    """As seen from here; for a process in another namespace about which nothing else is known, as it sees itself."""
    endpoint: Endpoint = attrs.field(repr=str)
    """Where it takes requests: `str` gives the path, the pipe or the port."""
    command_line: tuple[str, ...] = ()
    """As known to the operating system; empty if not visible from here."""
    user: str | None = None
    """Its owner, if not this user."""
    elsewhere: bool = False
    """Whether it runs in another namespace, such as a container's."""
    closed: bool = False
    """Whether this user lacks permission to ask it."""

    @classmethod
    def of(cls, runtime: FoundRuntime) -> Process:
        """One that was discovered."""
        return cls(runtime.pid, runtime.endpoint, runtime.command_line, runtime.user, runtime.elsewhere, runtime.closed)

    @classmethod
    def at(cls, address: str) -> Process:
        """The process that listens at `address`: the path of a socket, `HOST:PORT`, or a Windows pipe. Its `pid` is
        what it says itself, 0 if it is too old to do so."""
        endpoint = endpoint_at(address)
        try:
            pid = run(requests.info(endpoint), "process information").pid
        except DiagnosticsError as error:
            if error.hresult is None:
                raise
            pid = 0
        return cls(pid, endpoint)

    @classmethod
    def dialled(cls, listener: Listener, seconds: float) -> Process:
        """The next process that connects to `listener`. Raises DiagnosticsError if none has within `seconds`."""
        port = listener.wait(seconds)
        return cls(port.pid, port)

    @property
    def name(self) -> str:
        """The program's name: for `dotnet App.dll`, it is `App`."""
        words = [PurePath(word).name for word in self.command_line]
        if len(words) > 1 and words[0] in _HOSTS:
            words = [word for word in words[1:] if word.endswith((".dll", ".exe"))] or words
        return words[0].removesuffix(".dll").removesuffix(".exe") if words else ""

    def info(self) -> RuntimeInfo:
        """Version, command line and more. .NET 5 or later."""
        return run(requests.info(self.endpoint), "process information")

    def environment(self) -> dict[str, str]:
        """Its environment variables; they may hold secrets. .NET 6 or later."""
        return run(requests.environment(self.endpoint), "its environment")

    def resume(self) -> None:
        """Resume a process that was started suspended. .NET 5 or later."""
        run(requests.resume(self.endpoint), "to resume")

    def set_environment(self, name: str, value: str | None) -> None:
        """Set the environment variable `name` to `value`, or remove it (None); code that has already read it does not
        see the change. .NET 6 or later."""
        run(requests.set_environment(self.endpoint, name, value), "to set an environment variable")

    def enable_perf_map(self, kind: str = "perfmap") -> None:
        """Write the names of compiled methods for `perf`; `kind` is `perfmap`, `jitdump` or `all`. .NET 8 or later."""
        run(requests.enable_perf_map(self.endpoint, kind), "a perf map")

    def disable_perf_map(self) -> None:
        """Stop doing so. .NET 8 or later."""
        run(requests.disable_perf_map(self.endpoint), "the end of the perf map")

    def write_dump(self, path: str | os.PathLike[str], kind: str = "heap", *, seconds: float = DUMP_SECONDS) -> None:
        """Have it write a dump of itself, and wait for it, at most `seconds`.

        `kind` is `mini`, `heap`, `triage` or `full`.

        The process itself writes it, so `path` is as seen by the process, which is stopped meanwhile. A dump contains
        the process's memory.
        """
        run(requests.write_dump(self.endpoint, os.path.abspath(path), kind), "a dump", seconds)


def processes() -> list[Process]:
    """The running .NET processes that can be seen from here, by id, including other users' and those in containers.

    A process started with `DOTNET_EnableDiagnostics=0` cannot be seen.
    """
    return [Process.of(runtime) for runtime in find_runtimes()]


def find_process(pid: int | None = None, name: str | None = None) -> Process:
    """The process with the id `pid`, or with this `name`. Raises DiagnosticsError unless there is exactly one."""
    hits = [one for one in processes() if pid in (None, one.pid) and name in (None, one.name)]
    sought = f"the id {pid}" if pid is not None else f"the name {name!r}"
    if not hits:
        raise DiagnosticsError(f"no .NET process with {sought}{_why_not(pid)}; `clrevents ps` lists the running ones")
    if len(hits) > 1:
        raise DiagnosticsError(
            f"several .NET processes have {sought}: {_listed(hits)}; choose one by id or by its socket"
        )
    if hits[0].closed:
        raise DiagnosticsError(f"process {hits[0].pid} belongs to {hits[0].user}: run this as that user, or as root")
    return hits[0]


def _why_not(pid: int | None) -> str:
    if pid is None:
        return ""
    if sys.platform != "linux" or start_key(pid) is not None:
        return (
            ": the process runs, but is not .NET, is too old, has a TMPDIR of its own, or was started with "
            "DOTNET_EnableDiagnostics=0"
        )
    return ": there is no such process (ids in a container differ from those outside)"


def _listed(hits: Sequence[Process]) -> str:
    return ", ".join(f"{one.pid} at {one.endpoint}" for one in hits[:5])
