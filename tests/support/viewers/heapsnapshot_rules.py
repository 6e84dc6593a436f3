"""What V8's heapsnapshot JSON demands, in our words; and what Chrome's own reader makes of a file.

The rules are those that V8's writer keeps: counts, strides, indexes, edges in order of their nodes, odd ids.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pytest

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
needs_chromium: Final = pytest.mark.skipif(not CHROMIUM or os.name != "posix", reason="needs Chromium on the path")

_KEYS: Final = (
    *("snapshot", "nodes", "edges", "trace_function_infos", "trace_tree", "samples", "locations", "strings"),
)
_WORKER: Final = "devtools://devtools/bundled/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js"
_READ: Final = """
(async () => {
  const worker = await import(%s);
  const loader = new worker.HeapSnapshotLoader.HeapSnapshotLoader({sendEvent() {}});
  const text = %s;
  for (let at = 0; at < text.length; at += 65536) loader.write(text.slice(at, at + 65536));
  loader.close();
  await new Promise(done => setTimeout(done, 0));
  const channel = new MessageChannel();
  if (worker.HeapSnapshot.SecondaryInitManager) new worker.HeapSnapshot.SecondaryInitManager(channel.port2);
  const heap = await loader.buildSnapshot(channel.port1);
  const found = [];
  for (const all = heap.allNodes(); all.hasNext(); all.next()) {
    const node = all.item();
    found.push([node.name(), node.selfSize(), node.retainedSize(), node.distance()]);
  }
  return JSON.stringify({total: heap.totalSize, nodes: found});
})()
"""


@attrs.frozen(eq=False)
class ReadHeap:
    """A file as nodes with names and sizes, and the nodes that each refers to."""

    names: tuple[str, ...]
    sizes: Any
    edges: tuple[tuple[int, ...], ...]

    def reached(self, without: int | None = None) -> set[int]:
        """What the root reaches if a node is not there."""
        waiting, found = [0], set()
        while waiting:
            node = waiting.pop()
            if node != without and node not in found:
                found.add(node)
                waiting += self.edges[node]
        return found

    def retained(self, node: int) -> int:
        """The size of what is only reached through a node."""
        return int(sum(self.sizes[k] for k in self.reached() - self.reached(node)))


def check_heapsnapshot(file: Any) -> ReadHeap:
    """A whole file. Raises AssertionError where it breaks a rule."""
    assert tuple(file) == _KEYS
    meta = file["snapshot"]["meta"]
    width, stride = len(meta["node_fields"]), len(meta["edge_fields"])
    assert meta["node_fields"][:5] == ["type", "name", "id", "self_size", "edge_count"]
    assert meta["edge_fields"] == ["type", "name_or_index", "to_node"]
    assert len(meta["node_types"]) == width
    assert len(meta["edge_types"]) == stride
    assert len(file["nodes"]) == width * file["snapshot"]["node_count"]
    assert len(file["edges"]) == stride * file["snapshot"]["edge_count"]
    assert all(type(text) is str for text in file["strings"])
    nodes = np.array(file["nodes"], dtype=np.int64).reshape(-1, width)
    edges = np.array(file["edges"], dtype=np.int64).reshape(-1, stride)
    assert (nodes >= 0).all()
    assert (nodes[:, 0] < len(meta["node_types"][0])).all()
    assert meta["node_types"][0][nodes[0, 0]] == "synthetic"
    assert (nodes[:, 1] < len(file["strings"])).all()
    assert (nodes[:, 2] % 2 == 1).all()
    assert len(np.unique(nodes[:, 2])) == len(nodes)
    assert nodes[:, 2].max() < 1 << 53
    assert nodes[:, 4].sum() == len(edges)
    assert (edges[:, 2] % width == 0).all()
    assert (edges[:, 2] >= 0).all()
    assert (edges[:, 2] < len(file["nodes"])).all()
    assert {meta["edge_types"][0][type] for type in np.unique(edges[:, 0]).tolist()} <= {"element"}
    ends = np.cumsum(nodes[:, 4])
    lists = [edges[end - count : end] for end, count in zip(ends.tolist(), nodes[:, 4].tolist(), strict=True)]
    assert all(mine[:, 1].tolist() == list(range(1, len(mine) + 1)) for mine in lists)
    names = tuple(file["strings"][place] for place in nodes[:, 1].tolist())
    found = ReadHeap(names, nodes[:, 3], tuple(tuple((mine[:, 2] // width).tolist()) for mine in lists))
    assert found.reached() == set(range(len(nodes))), "there are nodes that the root does not reach"
    return found


@contextmanager
def _browser(chromium: str, folder: Path) -> Iterator[Any]:
    """A function that sends a message to a browser without a window, through a pipe, and gives back the answer."""
    import fcntl

    (read, theirs), (ours, write) = os.pipe(), os.pipe()

    def connect() -> None:
        # One of them may be 3 or 4 itself.
        away = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
        for place, end in enumerate(away, 3):
            os.dup2(end, place)

    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    ]
    # The pipe's ends get their numbers in the child.
    process = subprocess.Popen(
        [chromium, *options, "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=connect,
    )
    os.close(read)
    os.close(write)
    sent, held = 0, b""

    def ask(method: str, session: str | None = None, **parameters: Any) -> Any:
        nonlocal sent, held
        sent += 1
        message = {"id": sent, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(theirs, data) :]
        while True:
            while b"\0" not in held:
                more = os.read(ours, 1 << 16)
                assert more, "the browser ended"
                held += more
            line, _, held = held.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == sent:
                assert "error" not in answer, answer
                return answer["result"]

    try:
        yield ask
    finally:
        process.terminate()
        process.wait(30)
        os.close(theirs)
        os.close(ours)


def read_by_chromium(chromium: str, text: str, folder: Path) -> Any:
    """What the memory panel's own reader says of a file: `total`; name, size, retained size and distance of nodes."""
    with _browser(chromium, folder) as ask:
        page = ask("Target.createTarget", url="devtools://devtools/bundled/devtools_app.html")["targetId"]
        session = ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        script = _READ % (json.dumps(_WORKER), json.dumps(text))
        for _ in range(100):
            state = ask("Runtime.evaluate", session, expression="location.protocol + document.readyState")["result"]
            if state["value"] == "devtools:complete":
                break
        found = ask("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return json.loads(found["result"]["value"])
