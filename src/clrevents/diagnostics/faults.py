"""What can go wrong with a running process, in one sentence that ends with what to do.

Holds the exception and the meaning of the runtime's error codes. Sends nothing.
"""

from __future__ import annotations

import errno
from typing import Final

from clrevents.errors import TraceError

UNKNOWN_COMMAND: Final = 0x80131385
FAILED: Final = 0x80004005
_MEANINGS: Final = {
    FAILED: "it failed without giving a reason",
    0x80070057: "it rejects one of the values; check what its version supports",
    0x8007007A: "the answer does not fit its buffer",
    0x800000CB: "it has no such environment variable",
    0x8013135B: "it is still starting; try again in a moment",
    0x80131371: "its runtime has not started yet; resume it, or try again in a moment",
    0x80131384: "it does not understand the request; its version may be too old or too new for this form of it",
    UNKNOWN_COMMAND: "its version does not have this command",
    0x80131386: "it speaks another version of the diagnostic protocol",
    0x80131515: "its version, or this system, does not support that",
}


class DiagnosticsError(TraceError):
    """A process cannot be asked, or refused. `hresult` is the runtime's error code, if it gave one."""

    hresult: int | None = None


def refused(what: str, since: str, advice: str, hresult: int, message: str | None = None) -> DiagnosticsError:
    """The error for a runtime's answer to the request named `what`, which exists since a version.

    `advice` is what to do if it fails without a reason.
    """
    code = hresult & 0xFFFFFFFF
    meaning = message or _MEANINGS.get(code, "its error code is unknown")
    more = {UNKNOWN_COMMAND: f" ({what} needs {since} or later)", FAILED: advice and f"; {advice}"}.get(code, "")
    error = DiagnosticsError(f"the process refused {what}: {meaning}{more} [{code:#010x}]")
    error.hresult = code
    return error


def unreachable(where: str, error: OSError) -> DiagnosticsError:
    """The error for a socket or pipe that cannot be opened."""
    match error.errno:
        case errno.EACCES | errno.EPERM:
            what = "permission denied: run this as the user of that process, or as root"
        case errno.ECONNREFUSED:
            what = "nothing listens there any more: the process has ended; `clrevents ps` lists the running ones"
        case errno.ENOENT:
            what = "there is no such socket: the process has ended, or was started with DOTNET_EnableDiagnostics=0"
        case _ if isinstance(error, TimeoutError):
            what = (
                "it did not answer in time: it is stopped (by a debugger, or out of processor time) or hangs; try again"
            )
        case _:
            what = f"{error.strerror or error}; is the process still running?"
    return DiagnosticsError(f"cannot talk to {where}: {what}")


def broken_off(what: str) -> DiagnosticsError:
    """The error for a connection that ended in the middle of an answer."""
    return DiagnosticsError(f"the process closed the connection while asked for {what}; is it still running?")


def unanswered(what: str, seconds: float) -> DiagnosticsError:
    """The error for a missing answer."""
    return DiagnosticsError(
        f"no answer to {what} within {seconds:g} s: the process is stopped or hangs; try again, or allow more time"
    )


def nonsense(what: str, why: object) -> DiagnosticsError:
    """The error for an invalid answer."""
    return DiagnosticsError(
        f"the answer to {what} does not follow the diagnostic protocol: {why}; is this a .NET process?"
    )
