"""Requests to a runtime that are more than one message, as steps: which request each version understands, and what its
answer means.

Does no I/O. `Process` and `AsyncProcess` do these steps.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.diagnostics import messages
from clrevents.diagnostics.driving import Steps, answer_to, environment_after, open_request, request, take_in
from clrevents.diagnostics.faults import UNKNOWN_COMMAND, DiagnosticsError, refused
from clrevents.diagnostics.messages import DUMP_KINDS, PERF_MAPS
from clrevents.diagnostics.providers import AwaitEvents, Provider, united
from clrevents.diagnostics.transports import Connection, Endpoint


@frozen
class RuntimeInfo(Value):
    """What a runtime says about itself; None if its version does not say."""

    pid: int
    """In its own namespace: that of its container, if it is in one."""
    cookie: UUID
    """The same in every answer of one runtime."""
    command_line: str | None = None
    """How it was started."""
    os: str | None = None
    """Its operating system, such as `Linux`."""
    architecture: str | None = None
    """Of the process, such as `x64`."""
    entry_assembly: str | None = None
    """The name of the program's own assembly."""
    runtime_version: str | None = None
    """Such as `8.0.4`."""
    rid: str | None = None
    """What the runtime was built for, such as `linux-x64`."""


@frozen
class EventFilter:
    """Of which events of a provider a session has only these, or all but these; by id."""

    provider: str
    only: bool
    ids: tuple[int, ...]


@frozen
class SessionSettings:
    """What a session records. `rundown` lists methods and modules at its end: True, False, or its own keywords, which
    need .NET 9 and mean False before. `stacks=False` needs .NET 8. `filters` need .NET 10: before, all events of their
    providers are recorded. With `blocks`, which needs .NET 11, threads wait while the buffer is full; otherwise their
    events are dropped."""

    providers: tuple[Provider, ...]
    buffer_mb: int = 256
    rundown: bool | int = True
    stacks: bool = True
    filters: tuple[EventFilter, ...] = ()
    blocks: bool = False

    def for_runtime(self, major: int) -> SessionSettings:
        """The same for a runtime of this version: where awaits have their own events, these."""
        chosen = [one.for_runtime(major) if isinstance(one, AwaitEvents) else (one,) for one in self.providers]
        return attrs.evolve(self, providers=united(one for some in chosen for one in some))

    def commands(self) -> tuple[messages.Command[Any], ...]:
        """The oldest request that can express this, then those that older runtimes know. Raises ValueError for invalid
        values."""
        newest: tuple[messages.Command[Any], ...] = ()
        if self.filters or self.blocks:
            rundown = self.rundown if not isinstance(self.rundown, bool) else messages.DEFAULT_RUNDOWN * self.rundown
            common: dict[str, Any] = {
                "buffer_mb": self.buffer_mb,
                "rundown_keywords": rundown,
                "stacks": self.stacks,
                "providers": tuple(self._filtered(one) for one in self.providers),
            }
            newest += (messages.CollectTracing6(blocks=1, **common),) if self.blocks else ()
            newest += (messages.CollectTracing5(**common),) if self.filters else ()
        return newest + self._plain_commands()

    def unmet(self, command: messages.Command[Any]) -> list[str]:
        """What a runtime that understood this request only does not do, in words."""
        reasons = []
        if self.filters and not isinstance(command, messages.CollectTracing5):
            reasons.append(
                "this runtime cannot leave out single events (.NET 10 can): all with their keywords are recorded"
            )
        if self.blocks and not isinstance(command, messages.CollectTracing6):
            reasons.append("this runtime cannot wait while its buffer is full (.NET 11 can): it drops events then")
        return reasons

    def _filtered(self, one: Provider) -> messages.FilteredProvider:
        chosen = next((filter for filter in self.filters if filter.provider == one.name), EventFilter("", False, ()))
        return messages.FilteredProvider(**attrs.asdict(one), only=chosen.only, ids=chosen.ids)

    def _plain_commands(self) -> tuple[messages.Command[Any], ...]:
        both: dict[str, Any] = {"buffer_mb": self.buffer_mb, "providers": self.providers}
        some = self.rundown is True
        plain = messages.CollectTracing2(rundown=some, **both)
        if not isinstance(self.rundown, bool):
            own = messages.CollectTracing4(rundown_keywords=self.rundown, stacks=self.stacks, **both)
            return (own, plain) if self.stacks else (own, messages.CollectTracing3(rundown=False, stacks=False, **both))
        if not self.stacks:
            return (messages.CollectTracing3(rundown=some, stacks=False, **both),)
        return (plain, messages.CollectTracing(**both))


_INFO: Final[tuple[messages.Command[Any], ...]] = (
    messages.GetProcessInfo3(),
    messages.GetProcessInfo2(),
    messages.GetProcessInfo(),
)


def first_understood(
    endpoint: Endpoint, commands: tuple[messages.Command[Any], ...]
) -> Steps[tuple[Connection, Any, messages.Command[Any]]]:
    """The first of these that the runtime knows, its answer, and the connection on which it came."""
    for command in commands:
        connection = yield from open_request(endpoint, command)
        try:
            return connection, (yield from take_in(connection, answer_to(command))), command
        except DiagnosticsError as error:
            connection.close()
            if error.hresult != UNKNOWN_COMMAND or command is commands[-1]:
                raise
        except BaseException:
            connection.close()
            raise
    raise AssertionError("there is always a command")


def info(endpoint: Endpoint) -> Steps[RuntimeInfo]:
    """Its identity, which .NET Core 3 does not give."""
    connection, identity, _ = yield from first_understood(endpoint, _INFO)
    connection.close()
    known = attrs.asdict(identity)
    known.pop("version", None)
    return RuntimeInfo(**known)


def environment(endpoint: Endpoint) -> Steps[dict[str, str]]:
    """Its environment variables."""
    command = messages.GetEnvironment()
    connection = yield from open_request(endpoint, command)
    try:
        follows = yield from take_in(connection, answer_to(command))
        variables = yield from take_in(connection, environment_after(follows))
    finally:
        connection.close()
    return {name: value for name, _, value in (text.partition("=") for text in variables.variables if text)}


def enable_perf_map(endpoint: Endpoint, kind: str) -> Steps[None]:
    """Write names for `perf`."""
    if kind not in PERF_MAPS:
        raise ValueError(f"the kind of perf map must be one of {', '.join(PERF_MAPS)}, not {kind!r}")
    yield from request(endpoint, messages.EnablePerfMap(PERF_MAPS[kind]))


def write_dump(endpoint: Endpoint, path: str, kind: str) -> Steps[None]:
    """Have it write a dump."""
    if kind not in DUMP_KINDS:
        raise ValueError(f"the kind of dump must be one of {', '.join(DUMP_KINDS)}, not {kind!r}")
    command = messages.GenerateCoreDump(path, DUMP_KINDS[kind])
    outcome = yield from request(endpoint, command)
    if outcome.hresult:
        raise refused(command.what, command.since, command.advice, outcome.hresult)


def suited(endpoint: Endpoint, settings: SessionSettings) -> Steps[SessionSettings]:
    """The settings for the runtime that is there; one that does not say its version has no events of its own."""
    if not any(isinstance(one, AwaitEvents) for one in settings.providers):
        return settings
    try:
        runtime = yield from info(endpoint)
    except DiagnosticsError as error:
        if error.hresult is None:
            raise
        return settings.for_runtime(0)
    major = (runtime.runtime_version or "0").partition(".")[0]
    return settings.for_runtime(int(major) if major.isdigit() else 0)


def start_session(endpoint: Endpoint, settings: SessionSettings) -> Steps[tuple[Connection, int]]:
    """The connection on which the stream comes, and the session's number."""
    connection, answer, _ = yield from first_understood(endpoint, settings.commands())
    return connection, answer.session
