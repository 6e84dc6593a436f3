"""Which kinds of event occur in a trace, all and by process, and which processes have the most. Decodes no payload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from clrevents.analysis.framework.model.needs import KindsOfProcesses, SeenKind, SeenKinds
from clrevents.analysis.framework.vocabulary.answer_values import MANY_PROCESSES
from clrevents.errors import TraceError
from clrevents.trace import Trace, passes_of


def seen_kinds(trace: Trace) -> SeenKinds:
    """The kinds of event that occur in a trace."""
    scan = passes_of(trace).scan(raising=False)
    return SeenKinds.of((seen_kind(kind) for kind in scan.kinds if kind.key in scan.counts), trace.info)


def kinds_of_processes(trace: Trace) -> KindsOfProcesses:
    """The same by process, which takes a pass over the headers of a trace that has several."""
    passes = passes_of(trace)
    scan = passes.scan(raising=False)
    if trace.info.version < MANY_PROCESSES or len({thread.process_id for thread in scan.threads} - {None}) < 2:
        return KindsOfProcesses(seen_kinds(trace))
    pass_ = passes.columns(passes.selection(()), headers=("process_id",), payloads=False)
    pairs: set[tuple[int, int]] = set()
    for numbers, chunk_kinds in _processes_and_kinds(passes, pass_):
        pairs |= set(map(tuple, np.unique(np.column_stack((numbers, chunk_kinds)), axis=0).tolist()))
    kinds = pass_.stream.kinds.all
    return KindsOfProcesses.of((None if p < 0 else p, seen_kind(kinds[index])) for p, index in sorted(pairs))


def seen_kind(kind: Any) -> SeenKind:
    return SeenKind(kind.key.provider, kind.key.name, kind.row.keywords, kind.row.level)


def busiest_processes(trace: Trace, selectors: Sequence[str], most: int) -> frozenset[int | None] | None:
    """Those `most` processes that have the most of these events; None if there are no more of them."""
    passes = passes_of(trace)
    threads = passes.scan(raising=False).threads if trace.info.version >= MANY_PROCESSES else ()
    if len({thread.process_id for thread in threads}) <= most:
        return None
    events = Counter[int | None]()
    pass_ = passes.columns(passes.selection(selectors), headers=("process_id",), payloads=False)
    for processes, _ in _processes_and_kinds(passes, pass_):
        numbers, counts = np.unique(processes, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            events[None if number < 0 else number] += count
    return frozenset(process for process, _ in events.most_common(most))


def _processes_and_kinds(passes: Any, pass_: Any) -> Iterator[tuple[Any, Any]]:
    """Of each chunk the events' processes, -1 where unknown, and their kinds.

    What broke the reading is raised by the pass that the answers come from.
    """
    with suppress(TraceError):
        for chunk in passes.chunks(pass_):
            process = chunk.headers["process_id"]
            yield np.where(process.known, process.values, -1), chunk.kinds
