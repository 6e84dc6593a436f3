"""The answers of a runtime, each declared once, as a class with its fields in wire order. Knows no request.

Bytes after the last field are from a newer runtime and ignored.
"""

from __future__ import annotations

from typing import Annotated

from clrevents._util.value_classes import frozen
from clrevents.diagnostics.ipc_values import I32, U16, U32, U64, ArrayOf, Guid, OptionalText, TextType


@frozen
class Done:
    """Only that it worked. What some versions add is ignored."""


@frozen
class ResultCode:
    """How it went: 0, or an error code of the runtime."""

    hresult: I32


@frozen
class SessionId:
    """The number of a session."""

    session: U64


@frozen
class ProcessInfo:
    """What a process says about itself."""

    pid: U64
    """In its own namespace: that of its container, if it is in one."""
    cookie: Guid
    """The same in every answer of one runtime."""
    command_line: OptionalText
    os: OptionalText
    architecture: OptionalText


@frozen
class ProcessInfo2(ProcessInfo):
    """The same from .NET 6 on."""

    entry_assembly: OptionalText
    runtime_version: OptionalText


@frozen
class ProcessInfo3:
    """The same from .NET 8 on."""

    version: U32
    pid: U64
    cookie: Guid
    command_line: OptionalText
    os: OptionalText
    architecture: OptionalText
    entry_assembly: OptionalText
    runtime_version: OptionalText
    rid: OptionalText
    """What the runtime was built for, such as `linux-x64`."""


@frozen
class EnvironmentFollows:
    """So many bytes follow, which are an `Environment`."""

    size: U32
    reserved: U16


@frozen
class Environment:
    """Texts `NAME=VALUE`."""

    variables: Annotated[tuple[str | None, ...], ArrayOf(TextType())]


@frozen
class Refusal:
    """The runtime's error code."""

    hresult: I32
