"""`Process`: a running .NET process and what it can be asked.

Finds none: that is for `discovery`. Each question has a limit; no threads.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics import runtime_requests as requests
from clrevents.diagnostics.driving import request, run
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.listening import Listener
from clrevents.diagnostics.messages import DisablePerfMap, ResumeRuntime, SetEnvironmentVariable
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
        run(request(self.endpoint, ResumeRuntime()), "to resume")

    def set_environment(self, name: str, value: str | None) -> None:
        """Set the environment variable `name` to `value`, or remove it (None); code that has already read it does not
        see the change. .NET 6 or later."""
        run(request(self.endpoint, SetEnvironmentVariable(name, value)), "to set an environment variable")

    def enable_perf_map(self, kind: str = "perfmap") -> None:
        """Write the names of compiled methods for `perf`; `kind` is `perfmap`, `jitdump` or `all`. .NET 8 or later."""
        run(requests.enable_perf_map(self.endpoint, kind), "a perf map")

    def disable_perf_map(self) -> None:
        """Stop doing so. .NET 8 or later."""
        run(request(self.endpoint, DisablePerfMap()), "the end of the perf map")

    def write_dump(self, path: str | os.PathLike[str], kind: str = "heap", *, seconds: float = DUMP_SECONDS) -> None:
        """Have it write a dump of itself, and wait for it, at most `seconds`.

        `kind` is `mini`, `heap`, `triage` or `full`.

        The process itself writes it, so `path` is as seen by the process, which is stopped meanwhile. A dump contains
        the process's memory.
        """
        run(requests.write_dump(self.endpoint, os.path.abspath(path), kind), "a dump", seconds)
