"""The server, driven by the SDK's own client, in memory and over pipes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clrevents.mcp.desk import Desk
from clrevents.mcp.reply import MOST
from clrevents.mcp.server import BRIEF, made_server
from clrevents.mcp.shelf import Roots
from clrevents.testing.builder import TraceBuilder
from project_files import FIXTURES

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("default")]

CONVOY = "net10-convoy.nettrace.gz"
CALLS: dict[str, dict[str, Any]] = {
    "overview": {"path": CONVOY},
    "findings": {"path": CONVOY},
    "report": {"path": CONVOY, "name": "locks", "table": "contentions", "limit": 3},
    "frames": {"path": CONVOY},
    "events": {"path": CONVOY, "selector": "ContentionStart"},
    "compare": {"base": CONVOY, "new": "net10-starvation.nettrace.gz"},
    "record": {"question": "gc"},
    "query": {"path": CONVOY, "sql": "select count(*) as n from ContentionStart"},
}


def driven(work: Callable[[Any], Coroutine[Any, Any, None]], *roots: Path) -> None:
    """Do this with a client of a server for these roots."""
    import anyio

    from mcp import Client

    async def run() -> None:
        async with Client(made_server(Desk(Roots.of(roots or (FIXTURES,))))) as client:
            await work(client)

    anyio.run(run)


def test_every_tool_answers_by_its_schema_as_the_desk_does() -> None:
    import jsonschema

    desk = Desk(Roots.of([FIXTURES]))

    async def work(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == CALLS.keys()
        for name, asked in CALLS.items():
            tool = tools[name]
            assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
            result = await client.call_tool(name, asked)
            assert not result.is_error, result
            jsonschema.validate(result.structured_content, tool.output_schema)
            assert result.structured_content == json.loads(json.dumps(getattr(desk, name)(**asked).to_dict()))
            (text,) = result.content
            assert len(text.text) + len(json.dumps(result.structured_content)) < MOST

    driven(work)


def test_the_list_of_tools_is_small_and_the_brief_can_be_read() -> None:
    async def work(client: Any) -> None:
        tools = (await client.list_tools()).tools
        told = [{"name": t.name, "description": t.description, "input": t.input_schema} for t in tools]
        assert len(json.dumps(told)) < 8_000
        (brief,) = (await client.read_resource(BRIEF)).contents
        assert "wall-clock" in brief.text

    driven(work)


@pytest.mark.parametrize(
    ("tool", "asked", "text"),
    [
        ("overview", {"paht": CONVOY}, "no argument 'paht'; did you mean 'path'?"),
        ("report", {"path": CONVOY, "name": "gc", "sortby": "x"}, "no argument 'sortby'; did you mean 'sort'?"),
        ("reports", {"path": CONVOY}, "no tool 'reports'; did you mean 'report'?"),
        ("query", {"path": CONVOY, "sql": "set threads = 9"}, "SQL reads the tables of this trace only"),
        ("query", {"path": CONVOY, "sql": "install httpfs"}, "SQL reads the tables of this trace only"),
        ("overview", {"path": "../secret.nettrace"}, "no such trace below the roots"),
        ("report", {"path": CONVOY, "name": "lock"}, "did you mean 'locks'"),
        ("report", {"path": CONVOY, "name": "locks", "limit": 5000}, "less than or equal to 200"),
        ("report", {"path": CONVOY, "name": "locks", "cursor": "3-00000000"}, "another question"),
        ("findings", {}, "path"),
        (
            "query",
            {"path": CONVOY, "sql": "select * from read_csv('/etc/passwd')"},
            "SQL reads the tables of this trace only",
        ),
        ("query", {"path": CONVOY, "sql": "copy (select 1) to '/tmp/clrevents-test'"}, "SQL reads the"),
        ("query", {"path": CONVOY, "sql": "selec 1"}, "syntax error"),
    ],
)
def test_what_is_wrong_is_an_error_that_says_why(tool: str, asked: dict[str, Any], text: str) -> None:
    async def work(client: Any) -> None:
        result = await client.call_tool(tool, asked)
        assert result.is_error
        assert text in result.content[0].text
        assert "pydantic" not in result.content[0].text
        outside, _, rest = result.content[0].text.partition("\n```\n")
        assert "This cannot be answered.\n" in outside
        assert text in rest.removesuffix("\n```"), "what may quote the trace is in the fence"
        assert not Path("/tmp/clrevents-test").exists()

    driven(work)


def test_eight_calls_at_once_get_their_own_answers() -> None:
    import anyio

    async def work(client: Any) -> None:
        found: dict[int, Any] = {}

        async def ask(number: int) -> None:
            path = [CONVOY, "net10-garbage.nettrace.gz", "net10-exceptions.nettrace.gz", "net8-heap.nettrace.gz"][
                number % 4
            ]
            found[number] = (await client.call_tool("overview", {"path": path})).structured_content

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(ask, number)
        assert [found[n] for n in range(4)] == [found[n] for n in range(4, 8)]
        assert len({found[n]["summary"] for n in range(4)}) == 4

    driven(work)


def test_a_long_reading_tells_its_progress_and_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    import anyio

    trace = TraceBuilder().thread(7).method_load("P", "Main", address=0x1000)
    for number in range(60_000):
        trace.sample(0x1004 + number % 64)
    (tmp_path / "big.nettrace").write_bytes(trace.build())

    async def work(client: Any) -> None:
        steps: list[float] = []

        async def told(progress: float, total: float | None, message: str | None) -> None:
            steps.append(progress)

        with anyio.move_on_after(0.05):
            await client.call_tool("findings", {"path": "big.nettrace"})
        result = await client.call_tool("frames", {"path": "big.nettrace"}, progress_callback=told)
        assert result.structured_content["facts"]["metrics"]["samples"]["value"] == 60_000
        assert steps == sorted(steps)
        assert steps

    driven(work, tmp_path)


def test_over_pipes_as_an_agent_starts_it(tmp_path: Path) -> None:
    import anyio

    from mcp import Client, StdioServerParameters

    (tmp_path / "app.nettrace").write_bytes(gzip.decompress((FIXTURES / CONVOY).read_bytes()))
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "clrevents", "mcp", "--root", str(tmp_path)], env=dict(os.environ)
    )

    async def run() -> None:
        async with Client(command) as client:
            found = (await client.call_tool("findings", {"path": "app.nettrace"})).structured_content
            assert [row["rule"] for row in found["rows"] if row["state"] == "found"] == ["lock.convoy"]

    anyio.run(run)


FOR_EVER = "select max(sqrt(a.range) + sqrt(b.range)) from range(10000000) a, range(10000000) b"


def queries(server: int) -> set[str]:
    """The processes that run SQL for this server; other tests may have theirs at the same time."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
            parent = int((path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            found |= {path.name} if "clrevents.mcp.bounded_sql" in command and parent == server else set()
    return found


def running(processes: set[str]) -> bool:
    """Whether any of these is there and no zombie, whoever its parent is by now."""
    states = [Path("/proc", name, "stat") for name in processes]
    return any(
        path.exists() and path.read_text(errors="replace").rpartition(")")[2].split()[0] != "Z" for path in states
    )


def gone(seconds: float, what: Callable[[], object]) -> bool:
    """Whether something is over within this time."""
    until = time.monotonic() + seconds
    while what() and time.monotonic() < until:
        time.sleep(0.05)
    return not what()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_sql_ends_when_its_call_is_cancelled() -> None:
    import anyio

    async def work(client: Any) -> None:
        with anyio.move_on_after(8):
            await client.call_tool("query", {"path": CONVOY, "sql": FOR_EVER})
        assert await anyio.to_thread.run_sync(lambda: gone(10, lambda: queries(os.getpid())))
        found = (await client.call_tool("query", {"path": CONVOY, "sql": "select 1 as n"})).structured_content
        assert found["rows"] == [{"n": 1}]

    driven(work)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["leaves", "killed"])
def test_sql_ends_when_the_client_leaves(how: str) -> None:
    """Also when the server is killed: nobody is left to end it."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}} | CLIENT},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "query", "arguments": {"path": CONVOY, "sql": FOR_EVER}}},
    ]
    command = [sys.executable, "-m", "clrevents", "mcp", "--root", str(FIXTURES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdin is not None
            for message in messages:
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
            assert gone(20, lambda: not queries(server.pid)), "it runs"
            asked = queries(server.pid)
            if how == "killed":
                server.kill()
            else:
                server.stdin.close()
            assert gone(10, lambda: server.poll() is None)
            assert gone(10, lambda: running(asked))
        finally:
            server.kill()


CLIENT = {"clientInfo": {"name": "test", "version": "1"}}
