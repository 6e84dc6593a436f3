"""A heap snapshot → V8's heapsnapshot JSON, which the memory panel of Chrome's developer tools opens.

Streamed, piece by piece. Objects are nodes named by their types; what holds them from outside are nodes under the
root, and what no root reaches is under a node of its own, because every node there must be reached. Knows no trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis import HeapSnapshot
from clrevents.analysis.gathering.groups import changes
from clrevents.analysis.reports.heap.heap_snapshot import solution_of

Ints: TypeAlias = NDArray[np.int64]

UNREACHED: Final = "frozen or unreferenced"
_OBJECT, _NATIVE, _SYNTHETIC = 3, 8, 9
_ELEMENT: Final = 1
_AT_ONCE: Final = 1 << 16
_EXACT: Final = 1 << 53
"""JavaScript's numbers are exact below it."""

_NODE_FIELDS: Final = ("type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness")
_NODE_TYPES: Final = (
    *("hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native", "synthetic"),
    *("concatenated string", "sliced string", "symbol", "bigint", "object shape"),
)
_EDGE_FIELDS: Final = ("type", "name_or_index", "to_node")
_EDGE_TYPES: Final = ("context", "element", "property", "internal", "hidden", "shortcut", "weak")
_META: Final = {
    "node_fields": _NODE_FIELDS,
    "node_types": (_NODE_TYPES, "string", *("number",) * 5),
    "edge_fields": _EDGE_FIELDS,
    "edge_types": (_EDGE_TYPES, "string_or_number", "node"),
    "trace_function_info_fields": ("function_id", "name", "script_name", "script_id", "line", "column"),
    "trace_node_fields": ("id", "function_info_index", "count", "size", "children"),
    "sample_fields": ("timestamp_us", "last_assigned_id"),
    "location_fields": ("object_index", "script_id", "line", "column"),
}


def write_heapsnapshot(snapshot: HeapSnapshot, file: IO[bytes]) -> None:
    """Write one snapshot. Raises ValueError for one whose references are unknown, and OSError."""
    nodes = _Nodes(snapshot)
    head = {"meta": _META, "node_count": nodes.count, "edge_count": nodes.edges, "trace_function_count": 0}
    file.write(b'{"snapshot":' + _json(head) + b',\n"nodes":[')
    _numbers(file, nodes.rows())
    file.write(b'],\n"edges":[')
    _numbers(file, nodes.links())
    file.write(b'],\n"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[],\n"strings":[')
    file.write(b",\n".join(_json(text) for text in nodes.strings))
    file.write(b"]}\n")


class _Nodes:
    """All nodes: the root, what holds objects, what is not reached, the objects; and the edges of each."""

    def __init__(self, snapshot: HeapSnapshot) -> None:
        graph = solution_of(snapshot).graph
        self._snapshot = snapshot
        self._objects, holders = len(snapshot), len(snapshot.holders)
        self._targets, self._offsets = graph.targets, graph.offsets
        self._lost = np.flatnonzero(~snapshot.reached)
        self._holders = holders + (len(self._lost) > 0)
        self._first = 1 + self._holders
        self.count = self._first + self._objects
        self.strings = ["", *snapshot.holders, UNREACHED, *(type.name for type in snapshot.types)]
        self._type_names = 2 + holders
        # How many edges with a known end are before each.
        known = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self._targets >= 0)])
        self._edge_counts = np.diff(known[self._offsets])
        in_graph = self._edge_counts[: self._objects + holders]
        self.edges = int(in_graph.sum()) + self._holders + len(self._lost)

    def rows(self) -> Iterator[Ints]:
        """The fields of each node."""
        holders = len(self._snapshot.holders)
        above = np.zeros((self._first, len(_NODE_FIELDS)), dtype=np.int64)
        above[:, 0], above[0, 0] = _NATIVE, _SYNTHETIC
        above[:, 1] = np.arange(self._first)
        above[:, 2] = 2 * np.arange(self._first) + 1
        above[0, 4] = self._holders
        above[1 : 1 + holders, 4] = self._edge_counts[self._objects : self._objects + holders]
        if len(self._lost):
            above[-1, 4] = len(self._lost)
        yield above
        ids = self._ids()
        for at in range(0, self._objects, _AT_ONCE):
            part = slice(at, min(at + _AT_ONCE, self._objects))
            rows = np.zeros((part.stop - at, len(_NODE_FIELDS)), dtype=np.int64)
            rows[:, 0] = _OBJECT
            rows[:, 1] = self._snapshot.type[part] + self._type_names
            rows[:, 2] = ids[part]
            rows[:, 3] = self._snapshot.size[part]
            rows[:, 4] = self._edge_counts[part]
            yield rows

    def _ids(self) -> Ints:
        """Odd numbers, each once: addresses, by which objects of two snapshots are compared, if they can be."""
        address = self._snapshot.address
        usable = len(address) and int(address.min()) > 2 * self._first and int(address.max()) < _EXACT
        if usable:
            ids = (address | np.uint64(1)).astype(np.int64)
            if len(np.unique(ids)) == len(ids):
                return ids
        return 2 * (self._first + np.arange(len(address), dtype=np.int64)) + 1

    def links(self) -> Iterator[Ints]:
        """The fields of each edge, in order of the nodes that they come from."""
        yield self._edges(np.arange(1, self._first), np.zeros(self._holders, dtype=np.int64))
        holders = len(self._snapshot.holders)
        yield from self._of(self._objects, self._objects + holders)
        yield self._edges(self._lost + self._first, np.zeros(len(self._lost), dtype=np.int64))
        for at in range(0, self._objects, _AT_ONCE):
            yield from self._of(at, min(at + _AT_ONCE, self._objects))

    def _of(self, first: int, last: int) -> Iterator[Ints]:
        """The edges of some nodes of the graph."""
        targets = self._targets[self._offsets[first] : self._offsets[last]]
        sources = np.repeat(np.arange(first, last), np.diff(self._offsets[first : last + 1]))
        known = targets >= 0
        yield self._edges(targets[known].astype(np.int64) + self._first, sources[known])

    def _edges(self, targets: Ints, sources: Ints) -> Ints:
        """Edges to these nodes; those of one source, which are neighbours, are numbered from 1."""
        rows = np.zeros((len(targets), len(_EDGE_FIELDS)), dtype=np.int64)
        rows[:, 0] = _ELEMENT
        begins = np.flatnonzero(changes(sources))
        lengths = np.diff(np.concatenate([begins, [len(sources)]]))
        rows[:, 1] = np.arange(1, len(sources) + 1) - np.repeat(begins, lengths)
        rows[:, 2] = targets * len(_NODE_FIELDS)
        return rows


def _numbers(file: IO[bytes], pieces: Iterator[Ints]) -> None:
    """All numbers, a line for each piece."""
    before = b""
    for piece in pieces:
        if piece.size:
            file.write(before + ",".join(map(str, piece.ravel().tolist())).encode())
            before = b",\n"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
