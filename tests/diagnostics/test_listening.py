"""Ports of ours at which runtimes dial in: one connection for each request, many runtimes, and whoever is none."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from clrevents.diagnostics import AsyncProcess, DiagnosticsError, Listener, Process
from scripted_runtime import message, ok

RESUME = message((4, 1))


def hello(cookie: UUID, pid: int) -> bytes:
    return b"ADVR_V1\0" + cookie.bytes_le + struct.pack("<QH", pid, 0)


@contextmanager
def dialling(path: Path, pid: int, times: int = 3) -> Iterator[list[bytes]]:
    """A runtime that dials, answers one request, and dials again; the requests that it got."""
    got: list[bytes] = []
    cookie = uuid4()
    over = threading.Event()
    open_now: list[socket.socket] = []

    def dial() -> None:
        for _ in range(times):
            with socket.socket(socket.AF_UNIX) as mine:
                mine.settimeout(5)
                open_now.append(mine)
                try:
                    mine.connect(str(path))
                    mine.sendall(hello(cookie, pid))
                    request = mine.recv(100)
                except OSError:
                    return
                if not request:
                    return
                got.append(request)
                mine.sendall(ok())
        over.wait(5)

    thread = threading.Thread(target=dial, daemon=True)
    thread.start()
    try:
        yield got
    finally:
        over.set()
        for mine in open_now:
            with contextlib.suppress(OSError):
                mine.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_one_connection_for_each_request(tmp_path: Path) -> None:
    with Listener(str(tmp_path / "port")) as listener, dialling(tmp_path / "port", 4711) as got:
        process = Process.dialled(listener, 5)
        process.resume()
        process.resume()
        assert process.pid == 4711
        assert got == [RESUME, RESUME]


def test_several_runtimes_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "port"
    with Listener(str(path)) as listener, dialling(path, 1) as first, dialling(path, 2) as second:
        found = {port.pid: Process(port.pid, port) for port in (listener.wait(5), listener.wait(5))}
        found[2].resume()
        assert (first, second) == ([], [RESUME])
        found[1].resume()
        assert (first, second) == ([RESUME], [RESUME])


def test_in_an_event_loop(tmp_path: Path) -> None:
    async def ask() -> int:
        with Listener(str(tmp_path / "port")) as listener:
            with dialling(tmp_path / "port", 4711) as got:
                process = await AsyncProcess.dialled(listener, 5)
                await process.resume()
                await process.resume()
                assert got == [RESUME, RESUME]
            with pytest.raises(DiagnosticsError, match="connected to"):
                await AsyncProcess.dialled(listener, 0.1)
            return process.process.pid

    assert asyncio.run(ask()) == 4711


def test_the_socket_is_ours_alone_and_goes_with_us(tmp_path: Path) -> None:
    path = tmp_path / "port"
    with Listener(str(path)):
        assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600
        with pytest.raises(DiagnosticsError, match="another process already listens there"):
            Listener(str(path))
    assert not path.exists()


def test_what_a_dead_listener_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "port"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    with Listener(str(path)) as listener, dialling(path, 5):
        assert listener.wait(5).pid == 5


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("something else")
    with pytest.raises(DiagnosticsError, match="a file with that name"):
        Listener(str(tmp_path / "port"))
    assert (tmp_path / "port").read_text() == "something else"
    with pytest.raises(DiagnosticsError, match="too long"):
        Listener(str(tmp_path / ("x" * 120)))


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n\r\n" + b"x" * 40, b"ADVR_V1\0" + b"\0" * 5], ids=repr)
def test_who_is_no_runtime_is_hung_up_on(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "port"
    with Listener(str(path)) as listener, socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(path))
        stranger.sendall(said)
        stranger.shutdown(socket.SHUT_WR)
        with dialling(path, 4711):
            assert listener.wait(5).pid == 4711
            stranger.settimeout(5)
            # What it said beyond a greeting nobody has read: then its end is a reset.
            with contextlib.suppress(ConnectionResetError):
                assert stranger.recv(10) == b""


def test_a_runtime_that_has_gone_is_waited_for_in_vain(tmp_path: Path) -> None:
    path = tmp_path / "port"
    with Listener(str(path)) as listener:
        with dialling(path, 4711, times=1):
            port = listener.wait(5)
            Process(port.pid, port).resume()
        with pytest.raises(DiagnosticsError, match=r"did not connect to .* again"):
            port.connect(0.2)


def test_nobody_dials(tmp_path: Path) -> None:
    with (
        Listener(str(tmp_path / "port")) as listener,
        pytest.raises(DiagnosticsError, match="start it with DOTNET_DiagnosticPorts="),
    ):
        listener.wait(0.1)
