"""Finds the running .NET processes: by the sockets that runtimes create, and whether each one's process is still
running and is of the user who owns the socket.

Looks at file names, /proc and owners; asks no runtime. On Windows it looks at the names of pipes.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.faults import DiagnosticsError
from clrevents.diagnostics.transports import PipeEndpoint, SocketEndpoint

_SOCKET: Final = re.compile(r"dotnet-diagnostic-(\d+)-(\d+)-socket")
_PIPE: Final = re.compile(r"dotnet-diagnostic-(\d+)")
_PROC: Final = Path("/proc")


def find_runtimes(folder: str | None = None, pid: int | None = None) -> list[Process]:
    """All runtimes with an endpoint, or those of one id, in the folder where this process would create its own and in
    those of containers."""
    if sys.platform == "win32":
        return list(_pipes())
    runtimes = {str(one.endpoint): one for one in _sockets(folder or os.environ.get("TMPDIR") or "/tmp", pid)}
    if folder is None and sys.platform == "linux":
        known = {(one.pid, one.elsewhere) for one in runtimes.values()}
        runtimes |= {str(one.endpoint): one for one in _contained() if (one.pid, False) not in known}
    return sorted(runtimes.values(), key=lambda one: (one.elsewhere, one.pid))


def processes() -> list[Process]:
    """The running .NET processes that can be seen from here, by id, including other users' and those in containers.

    A process started with `DOTNET_EnableDiagnostics=0` cannot be seen.
    """
    return find_runtimes()


def find_process(pid: int | None = None, name: str | None = None) -> Process:
    """The process with the id `pid`, or with this `name`. Raises DiagnosticsError unless there is exactly one."""
    hits = [one for one in find_runtimes(pid=pid) if pid in (None, one.pid) and name in (None, one.name)]
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


def _sockets(folder: str, wanted: int | None) -> Iterator[Process]:
    for path, pid, key, owner in _named(folder, wanted):
        endpoint = SocketEndpoint(path, owner)
        foreign = owner != os.getuid()
        user, closed = _user_name(owner) if foreign else None, foreign and os.getuid() != 0
        # Elsewhere than on Linux the key is another clock's, which nothing here can read.
        if start_key(pid) == key if sys.platform == "linux" else _runs(pid):
            if _may_own(owner, pid):
                yield Process(pid, endpoint, _command_line(pid), user, closed=closed)
        elif _listens(endpoint):
            # The folder is shared with a container that has processes of its own.
            yield Process(pid, endpoint, user=user, elsewhere=True, closed=closed)


def _named(folder: str, pid: int | None) -> Iterator[tuple[str, int, int, int]]:
    # Programs that were killed leave theirs: looking at thousands takes as long as a short program runs.
    for path in glob.glob(f"{glob.escape(folder)}/dotnet-diagnostic-{'*' if pid is None else pid}-*-socket"):
        match = _SOCKET.fullmatch(os.path.basename(path))
        with contextlib.suppress(OSError):
            # A file or a link may have been put there to be mistaken for a socket.
            status = os.lstat(path)
            if match and stat.S_ISSOCK(status.st_mode):
                yield path, int(match[1]), int(match[2]), status.st_uid


def _may_own(owner: int, pid: int) -> bool:
    """Whether a socket of this user's can be the process's: anybody may give one its name.

    The superuser owns that of a process that has given up its rights since.
    """
    try:
        status = (_PROC / str(pid) / "status").read_text()
    except OSError:
        # No /proc: a connection will show who listens.
        return True
    return owner == 0 or str(owner) in next(line for line in status.splitlines() if line.startswith("Uid:")).split()


def _contained() -> Iterator[Process]:
    """Runtimes in other mount namespaces, through /proc/PID/root; only root and their own user may look."""
    with contextlib.suppress(OSError):
        ours = os.readlink("/proc/self/ns/mnt")
        for entry in _PROC.iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if os.readlink(entry / "ns/mnt") != ours:
                        yield from _in_container(int(entry.name))


def _in_container(pid: int) -> Iterator[Process]:
    inner = _inner_pid(pid)
    folder = _environment(pid).get("TMPDIR", "/tmp")
    for path, _, key, owner in _named(f"{_PROC}/{pid}/root{folder}", inner):
        if key == start_key(pid) and _may_own(owner, pid):
            user = _user_name(owner) if owner != os.getuid() else None
            yield Process(pid, SocketEndpoint(path, owner), _command_line(pid), user, elsewhere=True)


def start_key(pid: int) -> int | None:
    """When a process began, as its socket's name has it; None if there is none that runs."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
        # The name of the program stands in brackets, and may have brackets and spaces in it.
        state, *numbers = text.rpartition(")")[2].split()
        # One that has ended and was not waited for yet is still listed.
        return None if state in "ZX" else int(numbers[18])
    except (OSError, IndexError, ValueError):
        return None


def _inner_pid(pid: int) -> int:
    """The number that a process has in its own namespace."""
    for line in (_PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return pid


def _environment(pid: int) -> dict[str, str]:
    text = (_PROC / str(pid) / "environ").read_bytes().decode(errors="replace")
    return {name: value for name, _, value in (part.partition("=") for part in text.split("\0"))}


def _command_line(pid: int) -> tuple[str, ...]:
    with contextlib.suppress(OSError):
        data = (_PROC / str(pid) / "cmdline").read_bytes()
        return tuple(part.decode(errors="replace") for part in data.split(b"\0")[:-1])
    return ()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _listens(endpoint: SocketEndpoint) -> bool:
    try:
        endpoint.connect(0.5).close()
    except DiagnosticsError:
        return False
    return True


def _user_name(uid: int) -> str:
    try:
        # Windows has none of it, nor of this.
        import pwd

        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _pipes() -> Iterator[Process]:
    for name in os.listdir(r"\\.\pipe\\"):
        match = _PIPE.fullmatch(name)
        if match:
            yield Process(int(match[1]), PipeEndpoint(rf"\\.\pipe\{name}"))
