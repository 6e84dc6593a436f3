"""The requests that a runtime takes, and its answers, each declared once, as a class with its fields in wire order.

Bytes after the last field of an answer are from a newer runtime and ignored. Everything is checked before it becomes
bytes: a malformed request ends a .NET 8 process with a segmentation fault. Does no I/O; `driving` says how a request
and its answer follow each other.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar

import attrs

from clrevents._util.value_classes import frozen
from clrevents.diagnostics import ipc_values as ipc
from clrevents.diagnostics.providers import Provider


@frozen
class Done:
    """Only that it worked. What some versions add is ignored."""


@frozen
class ResultCode:
    """How it went: 0, or an error code of the runtime, which is also all that a refusal has in any case."""

    hresult: ipc.I32


@frozen
class SessionId:
    """The number of a session."""

    session: ipc.U64


@frozen
class ProcessInfo:
    """What a process says about itself."""

    pid: ipc.U64
    """In its own namespace: that of its container, if it is in one."""
    cookie: ipc.Guid
    """The same in every answer of one runtime."""
    command_line: ipc.OptionalText
    os: ipc.OptionalText
    architecture: ipc.OptionalText


@frozen
class ProcessInfo2(ProcessInfo):
    """The same from .NET 6 on."""

    entry_assembly: ipc.OptionalText
    runtime_version: ipc.OptionalText


@frozen
class ProcessInfo3:
    """The same from .NET 8 on."""

    version: ipc.U32
    pid: ipc.U64
    cookie: ipc.Guid
    command_line: ipc.OptionalText
    os: ipc.OptionalText
    architecture: ipc.OptionalText
    entry_assembly: ipc.OptionalText
    runtime_version: ipc.OptionalText
    rid: ipc.OptionalText
    """What the runtime was built for, such as `linux-x64`."""


@frozen
class EnvironmentFollows:
    """So many bytes follow, which are an `Environment`."""

    size: ipc.U32
    reserved: ipc.U16


@frozen
class Environment:
    """Texts `NAME=VALUE`."""

    variables: Annotated[tuple[str | None, ...], ipc.ArrayOf(ipc.TextType())]


A = TypeVar("A")

MAGIC: Final = b"DOTNET_IPC_V1\0"
HEADER_BYTES: Final = 20
OK: Final = (0xFF, 0x00)
ERROR: Final = (0xFF, 0xFF)
NETTRACE: Final = 1
STREAMED: Final = 0
"""The kind of session whose events come on the connection."""
DEFAULT_RUNDOWN: Final = 0x80020139
"""What a session lists at its end where nothing else is asked for: methods, modules and their like."""
MOST_BUFFER_MB: Final = 1 << 20


def message(code: tuple[int, int], payload: bytes) -> bytes:
    """A message with its header. Raises ValueError if it is too long for one."""
    size = HEADER_BYTES + len(payload)
    if size > ipc.MOST_BYTES:
        raise ValueError(
            f"a request can have at most {ipc.MOST_BYTES:,} bytes, and this one would have {size:,}; ask for less"
        )
    return MAGIC + size.to_bytes(2, "little") + bytes((*code, 0, 0)) + payload


_TOO_MANY: Final = "a process can have at most 64 sessions: stop another one"
_NO_DUMP: Final = (
    "may it write there, is there enough space, and may it run `createdump`, which is next to its runtime?"
)


# Requests. ---------------------------------------------------------------------------------------------------------


@frozen
class Command(Generic[A]):
    """A request: its name for people, its code, the first version that knows it, the class of its answer, and what to
    do if it fails without a reason. A later form of a request says only what is new."""

    what: ClassVar[str]
    code: ClassVar[tuple[int, int]]
    since: ClassVar[str]
    answer: ClassVar[type[Any]]
    advice: ClassVar[str] = ""

    def __init_subclass__(cls, **declared: Any) -> None:
        super().__init_subclass__()
        # There are none when attrs makes the class anew.
        for name, value in declared.items():
            setattr(cls, name, value)

    def to_bytes(self) -> bytes:
        """The whole message. Raises ValueError for anything that cannot be sent."""
        return message(self.code, ipc.write_record(self))


def _megabytes(_: Any, __: Any, value: int) -> None:
    # 0 would end the process.
    if not 1 <= value <= MOST_BUFFER_MB:
        raise ValueError(f"a session's buffer must be 1 to {MOST_BUFFER_MB:,} MB, not {value!r}")


def _format(_: Any, __: Any, value: int) -> None:
    # So would any other number.
    if value != NETTRACE:
        raise ValueError(f"sessions are recorded as NetTrace ({NETTRACE}), not as format {value!r}")


def _some(_: Any, __: Any, providers: tuple[Provider, ...]) -> None:
    if not providers:
        raise ValueError("a session without providers would record nothing; name a profile or a provider")
    for one in providers:
        if not isinstance(one, Provider):
            raise TypeError(f"{one!r} is not a Provider")


def _path(_: Any, __: Any, path: str) -> None:
    if not path:
        raise ValueError("the path is empty")


_Providers = Annotated[tuple[Provider, ...], ipc.ArrayOf(ipc.RecordOf(Provider))]


@frozen(kw_only=True)
class CollectTracing(
    Command[SessionId], what="a recording", code=(2, 2), since=".NET Core 3.0", answer=SessionId, advice=_TOO_MANY
):
    """Starts a session: the stream follows the answer on the same connection. Its providers come last."""

    buffer_mb: ipc.U32 = attrs.field(default=256, validator=_megabytes)
    format: ipc.U32 = attrs.field(default=NETTRACE, validator=_format)
    providers: _Providers = attrs.field(validator=_some)


@frozen(kw_only=True)
class CollectTracing2(CollectTracing, code=(2, 3), since=".NET Core 3.1"):
    """Also says whether methods and modules are listed at the end."""

    rundown: ipc.Flag = True
    providers: _Providers = attrs.field(validator=_some)


@frozen(kw_only=True)
class CollectTracing3(CollectTracing2, what="a recording without stacks", code=(2, 4), since=".NET 8"):
    """Also says whether events have stacks."""

    stacks: ipc.Flag = True
    providers: _Providers = attrs.field(validator=_some)


@frozen(kw_only=True)
class CollectTracing4(CollectTracing, what="a recording with a rundown of its own", code=(2, 5), since=".NET 9"):
    """Also says what is listed at the end."""

    rundown_keywords: ipc.U64 = DEFAULT_RUNDOWN
    stacks: ipc.Flag = True
    providers: _Providers = attrs.field(validator=_some)


@frozen
class FilteredProvider(Provider):
    """A provider of whose events some are not recorded, by id."""

    only: ipc.Flag = attrs.field(default=False, kw_only=True)
    """Whether only these are recorded; otherwise all but these."""
    ids: Annotated[tuple[int, ...], ipc.ArrayOf(ipc.Number("I"))] = attrs.field(default=(), kw_only=True)


_FilteredProviders = Annotated[tuple[FilteredProvider, ...], ipc.ArrayOf(ipc.RecordOf(FilteredProvider))]


@frozen(kw_only=True)
class CollectTracing5(CollectTracing, what="a recording of some events only", code=(2, 6), since=".NET 10"):
    """Also says which events of a provider are recorded."""

    session_kind: ipc.U32 = attrs.field(default=STREAMED, validator=attrs.validators.in_((STREAMED,)))
    buffer_mb: ipc.U32 = attrs.field(default=256, validator=_megabytes)
    format: ipc.U32 = attrs.field(default=NETTRACE, validator=_format)
    rundown_keywords: ipc.U64 = DEFAULT_RUNDOWN
    stacks: ipc.Flag = True
    providers: _FilteredProviders = attrs.field(validator=_some)


@frozen(kw_only=True)
class CollectTracing6(CollectTracing5, what="a recording that waits for its reader", code=(2, 7), since=".NET 11"):
    """Also says what happens when the buffer is full."""

    blocks: ipc.U32 = attrs.field(default=0, validator=attrs.validators.in_((0, 1)))
    """1: threads wait for room; 0: events are dropped."""


@frozen
class StopTracing(
    Command[SessionId], what="the end of a recording", code=(2, 1), since=".NET Core 3.0", answer=SessionId
):
    """Ends a session: what is left, and the rundown, come on its own connection before this is answered."""

    session: ipc.U64


DUMP_KINDS: Final = {"mini": 1, "heap": 2, "triage": 3, "full": 4}


def _dump_kind(_: Any, __: Any, value: int) -> None:
    if value not in DUMP_KINDS.values():
        raise ValueError(f"the kind of dump must be one of {', '.join(DUMP_KINDS)}")


@frozen
class GenerateCoreDump(
    Command[ResultCode], what="a dump", code=(1, 1), since=".NET Core 3.0", answer=ResultCode, advice=_NO_DUMP
):
    """Has the process itself write a dump to a path as it sees it; answered once it is written."""

    path: ipc.Text = attrs.field(validator=_path)
    kind: ipc.U32 = attrs.field(default=DUMP_KINDS["heap"], validator=_dump_kind)
    diagnostics: ipc.U32 = attrs.field(default=0, validator=attrs.validators.in_((0, 1)))


@frozen
class GetProcessInfo(Command[ProcessInfo], what="process information", code=(4, 0), since=".NET 5", answer=ProcessInfo):
    """Who are you?"""


@frozen
class GetProcessInfo2(
    Command[ProcessInfo2], what="process information", code=(4, 4), since=".NET 6", answer=ProcessInfo2
):
    """Who are you, and of which version?"""


@frozen
class GetProcessInfo3(
    Command[ProcessInfo3], what="process information", code=(4, 8), since=".NET 8", answer=ProcessInfo3
):
    """Who are you, and built for what?"""


@frozen
class ResumeRuntime(Command[Done], what="to resume", code=(4, 1), since=".NET 5", answer=Done):
    """Resumes a process that has been waiting since its start. May be sent to any."""


@frozen
class GetEnvironment(
    Command[EnvironmentFollows], what="its environment", code=(4, 2), since=".NET 6", answer=EnvironmentFollows
):
    """The environment variables."""


def _variable(_: Any, __: Any, name: str) -> None:
    if not name or "=" in name:
        raise ValueError(f"{name!r} cannot be the name of an environment variable")


@frozen
class SetEnvironmentVariable(
    Command[Done], what="to set an environment variable", code=(4, 3), since=".NET 6", answer=Done
):
    """Sets one for native readers; managed code that has already read its environment does not see it."""

    name: ipc.Text = attrs.field(validator=_variable)
    value: ipc.OptionalText


PERF_MAPS: Final = {"all": 1, "jitdump": 2, "perfmap": 3}


def _perf_map(_: Any, __: Any, value: int) -> None:
    if value not in PERF_MAPS.values():
        raise ValueError(f"the kind of perf map must be one of {', '.join(PERF_MAPS)}")


@frozen
class EnablePerfMap(Command[Done], what="a perf map", code=(4, 5), since=".NET 8", answer=Done):
    """Writes the names of compiled methods to /tmp/perf-PID.map, for `perf` and similar tools, from now on."""

    kind: ipc.U32 = attrs.field(default=PERF_MAPS["perfmap"], validator=_perf_map)


@frozen
class DisablePerfMap(Command[Done], what="the end of the perf map", code=(4, 6), since=".NET 8", answer=Done):
    """Stops doing so."""


COMMANDS: Final[tuple[type[Command[Any]], ...]] = (
    *(CollectTracing, CollectTracing2, CollectTracing3, CollectTracing4, CollectTracing5, CollectTracing6),
    *(StopTracing, GenerateCoreDump, GetProcessInfo, GetProcessInfo2, GetProcessInfo3, ResumeRuntime),
    *(GetEnvironment, SetEnvironmentVariable, EnablePerfMap, DisablePerfMap),
)
"""All requests that this client can send."""

# The other way round. ----------------------------------------------------------------------------------------------

ADVERTISED: Final = b"ADVR_V1\0"
ADVERTISEMENT_BYTES: Final = 34


@frozen
class Advertisement:
    """What a runtime says first when it connects: which one it is."""

    cookie: ipc.Guid
    pid: ipc.U64
    reserved: ipc.U16

    @classmethod
    def of(cls, data: bytes) -> Advertisement:
        """From the bytes of one. Raises Malformed."""
        reader = ipc.Reader(data)
        if reader.take(len(ADVERTISED)) != ADVERTISED:
            raise ipc.Malformed(f"it begins with {data[:8]!r}")
        return ipc.read_record(cls, reader)
