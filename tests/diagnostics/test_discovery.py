"""Which sockets are runtimes that live: names, links, the dead, the reused numbers, and other namespaces."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from clrevents.diagnostics import DiagnosticsError
from clrevents.diagnostics.discovery import find_runtimes, start_key
from clrevents.diagnostics.dotnet_process import Process
from clrevents.diagnostics.transports import SocketEndpoint

linux = pytest.mark.skipif(sys.platform != "linux", reason="what is looked at is in Linux's /proc")


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A folder with a short path: a socket's may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="clr") as folder:
        yield Path(folder)


def listening(folder: Path, pid: int, key: int) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(folder / f"dotnet-diagnostic-{pid}-{key}-socket"))
    made.listen(1)
    return made


def found(folder: Path) -> list[tuple[int, bool]]:
    return [(one.pid, one.elsewhere) for one in find_runtimes(str(folder))]


@linux
def test_a_living_process_is_found(sockets: Path) -> None:
    key = start_key(os.getpid())
    assert key is not None
    with listening(sockets, os.getpid(), key):
        (one,) = find_runtimes(str(sockets))
    assert one.pid == os.getpid()
    assert Path(one.command_line[0]).name.startswith("python")
    assert not one.closed
    assert one.user is None


@linux
def test_the_dead_leave_sockets_that_are_passed_over(sockets: Path) -> None:
    """Also where the number now is another process's."""
    child = subprocess.Popen(["sleep", "60"])
    key = start_key(child.pid)
    assert key is not None
    listening(sockets, child.pid, key).close()
    listening(sockets, os.getpid(), 1).close()
    assert found(sockets) == [(child.pid, False)]
    child.kill()
    child.wait()
    assert found(sockets) == []


@linux
def test_one_that_listens_and_is_no_process_of_ours_is_elsewhere(sockets: Path) -> None:
    """A container that shares this folder and has numbers of its own, which may be in use here too."""
    with listening(sockets, 2**22 + 1, 77), listening(sockets, os.getpid(), 78):
        assert found(sockets) == [(os.getpid(), True), (2**22 + 1, True)]
        assert [one.pid for one in find_runtimes(str(sockets), 2**22 + 1)] == [2**22 + 1]


@linux
def test_what_only_has_the_name_is_no_socket(sockets: Path) -> None:
    key = start_key(os.getpid())
    name = f"dotnet-diagnostic-{os.getpid()}-{key}-socket"
    real = sockets / "real"
    real.mkdir()
    assert key is not None
    with listening(real, os.getpid(), key):
        (sockets / name).symlink_to(real / name)
        (sockets / f"dotnet-diagnostic-1-{start_key(1)}-socket").write_text("a file")
        (sockets / f"dotnet-diagnostic-x-{key}-socket").write_text("")
        assert found(sockets) == []


@linux
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, who may be another user")
def test_another_users_process_is_named(sockets: Path) -> None:
    child = subprocess.Popen(["sleep", "60"], user=65534)
    try:
        key = start_key(child.pid)
        assert key is not None
        with listening(sockets, child.pid, key) as made:
            os.chown(made.getsockname(), 65534, -1)
            (one,) = find_runtimes(str(sockets))
        assert one.user in ("nobody", "user 65534")
        assert not one.closed, "root may ask anybody"
    finally:
        child.kill()
        child.wait()


@linux
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, who may be another user")
@pytest.mark.parametrize("process", [0, 1234, 65534])
@pytest.mark.parametrize("owner", [0, 1234, 65534])
def test_a_socket_counts_only_if_its_owner_may_be_the_processs(sockets: Path, process: int, owner: int) -> None:
    """Anybody may give a socket the name of anybody's process, and listen there; only the superuser's word is good."""
    child = subprocess.Popen(["sleep", "60"], user=process)
    try:
        key = start_key(child.pid)
        assert key is not None
        with listening(sockets, child.pid, key) as made:
            os.chown(made.getsockname(), owner, -1)
            runtimes = find_runtimes(str(sockets))
            assert len(runtimes) == (owner in (0, process))
            for one in runtimes:
                # It is this test that listens, as the superuser.
                with nullcontext() if owner == 0 else pytest.raises(DiagnosticsError, match="but user 0 listens"):
                    one.endpoint.connect(1).close()
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("dotnet", "App.dll"), "App"),
        (("/usr/bin/dotnet", "exec", "--depsfile", "x.json", "/srv/My.App.dll", "arg"), "My.App"),
        (("/srv/Server", "--port", "80"), "Server"),
        (("dotnet",), "dotnet"),
        ((), ""),
    ],
    ids=str,
)
def test_a_program_is_called_by_its_name(command: tuple[str, ...], name: str) -> None:
    assert Process(1, SocketEndpoint("/x"), command).name == name
