"""Each event's stack against the one that the official decoder gives it: the same addresses in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from shared_comparison import Comparison, our_events
from shared_files import Shared, json_lines, params, with_stacks

Stack: TypeAlias = tuple[int, ...]
Place: TypeAlias = tuple[str, int, float, int]

RUNTIME = "Microsoft-Windows-DotNETRuntime"
RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"

# Stacks of these say who asked for the rundown or the code, not what the program did; it drops them on purpose.
BOOKKEEPING = {(RUNTIME, id) for id in (140, 141, 142, 143, 144, 190)}

AT_LEAST = {"net10-cpu": 57_571, "net8-cpu": 51_684, "net10-cpu-11": 6_376, "net10-states-11": 9_520}


@pytest.mark.parametrize("trace", params(with_stacks()))
def test_same_stacks(trace: Shared, record_property: Callable[[str, object], None]) -> None:
    ours: dict[Place, Counter[Stack]] = defaultdict(Counter)
    for ms, event in our_events(trace, Comparison()):
        provider, id, _ = event.kind
        ours[provider, id, ms, event.thread][event.stack] += 1
    stacks: dict[int, Stack] = {}
    compared = 0
    for line in json_lines(trace.beside(".stacks.jsonl.gz")):
        if isinstance(line, dict):
            stacks[line["stack"]] = tuple(int(address, 16) for address, *_ in line["frames"])
            continue
        provider, id, ms, thread, number = line
        here = ours[provider, 39 if id == 65524 else id, ms, thread]
        assert here[stacks[number]] > 0, f"{line}: {stacks[number]}, ours are {+here}"
        here[stacks[number]] -= 1
        compared += 1
    left = Counter({kind: n for kind, n in _left(ours) if kind not in BOOKKEEPING and kind[0] != RUNDOWN})
    assert not left, "events with a stack that the official decoder does not give one"
    assert compared >= AT_LEAST[trace.short]
    record_property("stacks", compared)


def _left(ours: dict[Place, Counter[Stack]]) -> Iterator[tuple[tuple[str, int], int]]:
    """How many stacks that are not empty were not asked for, by provider and id."""
    left: Counter[tuple[str, int]] = Counter()
    for (provider, id, *_), stacks in ours.items():
        left[provider, id] += sum(n for stack, n in stacks.items() if stack)
    return ((kind, n) for kind, n in left.items() if n)
