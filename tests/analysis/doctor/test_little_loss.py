"""A lost event takes a rule only where it could change it, and never makes another verdict of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import report_laws
from losing import with_one_lost
from project_files import SHARED, fixture, unpacked

ANY_SIZE = {"alloc.strings", "alloc.one_site"}
"""Rules about bytes, of which one event may tell any number."""
FINALIZERS = {"gc.finalizing"}
"""What a thread does between its events, which another event may tell otherwise."""
AWAITS = {"wait.awaited"}
"""Of few awaits, each may have lasted for any time."""
OF_HEAPS = {"gc.fragmented", "gc.pinned", "gc.growth", "gc.memory_load", "gc.finalizers"}


def states(data: bytes) -> Mapping[str, str]:
    with report_laws.opened(data) as trace:
        return {finding.rule: finding.state for finding in trace.doctor().findings}


def taken(whole: Mapping[str, str], lossy: Mapping[str, str]) -> set[str]:
    """The rules that cannot tell any more; any other difference is an error."""
    changed = {rule for rule in whole if lossy[rule] != whole[rule]} - {"trace.lost"}
    assert {lossy[rule] for rule in changed} <= {"cannot tell"}
    return changed


@pytest.mark.parametrize(
    ("name", "event", "rules"),
    [
        # A collection has more events than one: nothing of one can have been among them.
        ("net10-exceptions", "ThreadSample", ANY_SIZE | FINALIZERS),
        # A collection whose start is lost may have had any reason, and the heap after it any size.
        ("net10-garbage", "GCHeapStats", ANY_SIZE | FINALIZERS | OF_HEAPS),
    ],
)
def test_one_lost_event_takes_what_it_could_change(name: str, event: str, rules: set[str]) -> None:
    data = unpacked(fixture(name))
    assert taken(states(data), states(with_one_lost(data, 1, event))) == rules


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared traces")
@pytest.mark.parametrize("event", ["ThreadSample"])
def test_one_event_of_a_build(event: str | None) -> None:
    data = unpacked(SHARED / "real" / "msbuild-net10.nettrace.gz")
    assert taken(states(data), states(with_one_lost(data, 3, event))) <= ANY_SIZE | FINALIZERS | AWAITS
