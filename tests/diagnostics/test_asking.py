"""Questions to a scripted runtime: every answer, right, wrong, slow or none, ends within its limit in a value or a
sentence that says what to do."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from clrevents.diagnostics import AsyncProcess, DiagnosticsError, Process, find_process
from clrevents.diagnostics.async_session import answered
from clrevents.diagnostics.driving import request, run
from clrevents.diagnostics.messages import ResumeRuntime
from clrevents.diagnostics.runtime_requests import environment, info
from clrevents.diagnostics.transports import Endpoint, SocketEndpoint, endpoint_at
from scripted_runtime import ScriptedRuntime, message, ok, refusal, text

COOKIE = UUID("00112233-4455-6677-8899-aabbccddeeff")
WHO = struct.pack("<Q", 4711) + COOKIE.bytes_le + text("dotnet App.dll") + text("Linux") + text("x64")
WHO_2 = WHO + text("App") + text("8.0.4")
WHO_3 = struct.pack("<I", 1) + WHO_2 + text("linux-x64")
ENVIRONMENT = struct.pack("<I", 3) + text("A=1") + text("B=x=y") + text("EMPTY=")


def asked(runtime: ScriptedRuntime) -> Process:
    return Process(4711, endpoint_at(runtime.address))


def test_newer_runtimes_tell_more(tmp_path: Path) -> None:
    """The newest question that a runtime knows is the one that counts."""
    answers: dict[tuple[int, int], Any] = {(4, 0): ok(WHO)}
    with ScriptedRuntime(tmp_path / "a", answers=answers) as runtime:
        old = asked(runtime).info()
        runtime.answers[4, 4] = ok(WHO_2)
        newer = asked(runtime).info()
        runtime.answers[4, 8] = ok(WHO_3)
        newest = asked(runtime).info()
    assert (old.command_line, old.runtime_version, old.rid) == ("dotnet App.dll", None, None)
    assert (newer.entry_assembly, newer.runtime_version, newer.rid) == ("App", "8.0.4", None)
    assert (newest.pid, newest.cookie, newest.rid) == (4711, COOKIE, "linux-x64")


def test_questions_and_their_answers(tmp_path: Path) -> None:
    follows = ok(struct.pack("<IH", len(ENVIRONMENT), 0)) + ENVIRONMENT
    answers: dict[tuple[int, int], Any] = {
        (4, 1): ok(struct.pack("<i", 0)),
        (4, 2): follows,
        (4, 3): ok(struct.pack("<i", 0)),
        (4, 5): ok(),
        (4, 6): ok(),
        (1, 1): ok(struct.pack("<i", 0)),
    }
    with ScriptedRuntime(tmp_path / "a", answers=answers) as runtime:
        process = asked(runtime)
        assert process.environment() == {"A": "1", "B": "x=y", "EMPTY": ""}
        process.resume()
        process.set_environment("NAME", "value")
        process.enable_perf_map("jitdump")
        process.disable_perf_map()
        process.write_dump(tmp_path / "core", "mini")
        sent = dict(runtime.requests)
    assert sent[4, 3] == text("NAME") + text("value")
    assert sent[4, 5] == struct.pack("<I", 2)
    assert sent[1, 1] == text(os.fspath(tmp_path / "core")) + struct.pack("<II", 1, 0)


def test_the_same_in_an_event_loop(tmp_path: Path) -> None:
    follows = ok(struct.pack("<IH", len(ENVIRONMENT), 0)) + ENVIRONMENT
    answers: dict[tuple[int, int], Any] = {
        (4, 2): follows, (4, 8): ok(WHO_3), (4, 1): ok(), (4, 3): ok(), (4, 5): ok(), (4, 6): ok(),
        (1, 1): ok(struct.pack("<i", 0)),
    }  # fmt: skip

    async def ask(runtime: ScriptedRuntime) -> None:
        process = AsyncProcess(asked(runtime))
        assert (await process.info()).runtime_version == "8.0.4"
        assert (await process.environment())["B"] == "x=y"
        await process.resume()
        await process.set_environment("NAME", None)
        await process.enable_perf_map()
        await process.disable_perf_map()
        await process.write_dump("/tmp/core")
        runtime.answers.pop((4, 1))
        with pytest.raises(DiagnosticsError, match="does not have this command"):
            await process.resume()

    with ScriptedRuntime(tmp_path / "a", answers=answers) as runtime:
        asyncio.run(ask(runtime))
        assert dict(runtime.requests)[4, 3] == text("NAME") + text(None)


@pytest.mark.parametrize(
    ("hresult", "said"),
    [
        (0x80131384, "too old or too new"),
        (0x80131385, r"does not have this command.*needs \.NET"),
        (0x80131515, "does not support"),
        (0x80004005, "without giving a reason"),
        (0x8013135B, "still starting"),
        (0x80070057, "rejects one of the values"),
        (0x12345678, "error code is unknown"),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else "",
)
def test_refusals_are_sentences(tmp_path: Path, hresult: int, said: str) -> None:
    with (
        ScriptedRuntime(tmp_path / "a", answers={(4, 2): refusal(hresult)}) as runtime,
        pytest.raises(DiagnosticsError, match=said) as caught,
    ):
        asked(runtime).environment()
    assert caught.value.hresult == hresult
    assert f"[{hresult:#010x}]" in str(caught.value)


def test_a_runtime_may_say_itself_what_is_wrong(tmp_path: Path) -> None:
    answer = message((0xFF, 0xFF), struct.pack("<I", 0x80004005) + text("no space for it"))
    with (
        ScriptedRuntime(tmp_path / "a", answers={(1, 1): answer}) as runtime,
        pytest.raises(DiagnosticsError, match="no space for it"),
    ):
        asked(runtime).write_dump("/tmp/x")


def test_a_dump_that_failed_is_no_dump(tmp_path: Path) -> None:
    with (
        ScriptedRuntime(tmp_path / "a", answers={(1, 1): ok(struct.pack("<I", 0x80004005))}) as runtime,
        pytest.raises(DiagnosticsError, match="createdump"),
    ):
        asked(runtime).write_dump("/tmp/x")


def silent(connection: socket.socket, payload: bytes) -> None:
    """Half-open: it listens, and says nothing until the other side gives up."""
    connection.settimeout(5)
    connection.recv(1)


def dribbling(connection: socket.socket, payload: bytes) -> None:
    """It says the right thing, one byte at a time and forever."""
    for byte in message((0xFF, 0), bytes(60_000)):
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def cut(data: bytes) -> Callable[[socket.socket, bytes], None]:
    return lambda connection, payload: connection.sendall(data)


HOSTILE: dict[str, tuple[Any, str]] = {
    "nothing": (cut(b""), "closed the connection"),
    "half a header": (cut(ok()[:11]), "closed the connection"),
    "another protocol": (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not follow the diagnostic protocol"),
    "a size below the header's": (b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 3, 0xFF, 0, 0), "claims to have 3 bytes"),
    "more announced than sent": (b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 65535, 0xFF, 0, 0), "closed the connection"),
    "an unknown code": (message((0xFF, 2)), "its code is 0xff, 0x2"),
    "no answer but a request": (message((2, 3), b"xx"), "its code is 0x2"),
    "too short": (ok(b"\1\2"), "announced, but only"),
    "a text that lies": (ok(struct.pack("<I", 1) + WHO_2[:24] + struct.pack("<I", 0xFFFFFFFF)), "are announced"),
    "an error without a number": (message((0xFF, 0xFF)), "announced, but only 0"),
    "silence": (silent, r"no answer .* within 0\.3 s"),
    "drops that never end": (dribbling, r"no answer .* within 0\.3 s"),
}


def asked_in(how: str, endpoint: Endpoint) -> None:
    if how == "blocking":
        run(info(endpoint), "process information", 0.3)
    else:
        asyncio.run(answered(info(endpoint), "process information", 0.3))


@pytest.mark.parametrize("answer", HOSTILE)
@pytest.mark.parametrize("how", ["blocking", "event loop"])
def test_hostile_answers_end_in_a_sentence(tmp_path: Path, answer: str, how: str) -> None:
    script, said = HOSTILE[answer]
    with ScriptedRuntime(tmp_path / "a", answers={(4, 8): script}) as runtime:
        endpoint = endpoint_at(runtime.address)
        began = time.monotonic()
        with pytest.raises(DiagnosticsError, match=said):
            asked_in(how, endpoint)
        assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("follows", "said"),
    [
        (struct.pack("<IH", 0xFFFFFFFF, 0), "claims to have 4,294,967,295 bytes"),
        (struct.pack("<IH", 8, 0) + struct.pack("<II", 1000, 0), "announced"),
        (struct.pack("<IH", 800, 0) + b"abc", "closed the connection"),
    ],
)
def test_hostile_environments_end_in_a_sentence(tmp_path: Path, follows: bytes, said: str) -> None:
    answer = ok(follows[:6]) + follows[6:]
    with (
        ScriptedRuntime(tmp_path / "a", answers={(4, 2): answer}) as runtime,
        pytest.raises(DiagnosticsError, match=said),
    ):
        run(environment(endpoint_at(runtime.address)), "its environment", 0.5)


def test_who_cannot_be_reached_is_said(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticsError, match="no such socket"):
        run(request(SocketEndpoint(str(tmp_path / "none")), ResumeRuntime()), "to resume")
    (tmp_path / "file").write_text("")
    with pytest.raises(DiagnosticsError, match="is not a socket"):
        run(request(SocketEndpoint(str(tmp_path / "file")), ResumeRuntime()), "to resume")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead"))
    dead.close()
    with pytest.raises(DiagnosticsError, match="has ended"):
        run(request(SocketEndpoint(str(tmp_path / "dead")), ResumeRuntime()), "to resume")
    (tmp_path / "link").symlink_to(tmp_path / "dead")
    with pytest.raises(DiagnosticsError, match="is not a socket"):
        run(request(SocketEndpoint(str(tmp_path / "link")), ResumeRuntime()), "to resume")


def test_over_tcp() -> None:
    """As through a router to a phone, or a forwarded port."""
    with ScriptedRuntime(answers={(4, 8): ok(WHO_3)}) as runtime:
        assert Process.at(runtime.address).pid == 4711

        async def ask() -> str | None:
            return (await AsyncProcess(asked(runtime)).info()).rid

        assert asyncio.run(ask()) == "linux-x64"


def test_nobody_of_that_number() -> None:
    with pytest.raises(DiagnosticsError, match=r"no \.NET process with the id 1\b.*clrevents ps"):
        find_process(1)
    with pytest.raises(DiagnosticsError, match=r"no \.NET process with the name 'no such name'"):
        find_process(name="no such name")
