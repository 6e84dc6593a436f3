"""Keywords by name: each provider's enum, what has no name, and the event source that no manifest describes."""

from __future__ import annotations

import pytest

from clrevents.schema.flags import named_values
from clrevents.schema.keywords import KEYWORDS, SESSION_BITS, TplKeyword, keyword_names
from clrevents.schema.registry import RUNDOWN, RUNTIME, SAMPLE, TPL, EventInfo
from registered import each_event


@each_event
def test_every_keyword_of_the_runtimes_events_has_a_name(info: EventInfo) -> None:
    assert not info.keywords & SESSION_BITS
    if info.provider in KEYWORDS:
        assert not [name for name in keyword_names(info.provider, info.keywords) if name.startswith("0x")]


@pytest.mark.parametrize(
    ("provider", "mask", "names"),
    [
        (RUNTIME, 0, ()),
        (RUNTIME, 0x14001, ("GC", "Contention", "Threading")),
        (RUNTIME, 0x8000000000300, ("0x100", "0x200", "0x8000000000000")),
        (RUNTIME, 1 << 43 | 1 << 63, ("AllocationSampling", f"{1 << 63:#x}")),
        (RUNDOWN, 0x20038, ("LoaderRundown", "JitRundown", "NGenRundown", "JittedMethodILToNativeMapRundown")),
        (TPL, 0xC3, ("TaskTransfer", "Tasks", "TaskStops", "TasksFlowActivityIds")),
        (SAMPLE, 1, ("0x1",)),
        ("My-Company-Orders", 6, ("0x2", "0x4")),
    ],
)
def test_names_lowest_bit_first(provider: str, mask: int, names: tuple[str, ...]) -> None:
    assert keyword_names(provider, mask) == names


def test_the_task_librarys_keywords() -> None:
    assert named_values(TplKeyword) == (
        ("TaskTransfer", 0x1),
        ("Tasks", 0x2),
        ("Parallel", 0x4),
        ("AsyncCausalityOperation", 0x8),
        ("AsyncCausalityRelation", 0x10),
        ("AsyncCausalitySynchronousWork", 0x20),
        ("TaskStops", 0x40),
        ("TasksFlowActivityIds", 0x80),
        ("AsyncMethod", 0x100),
        ("TasksSetActivityIds", 0x10000),
        ("Debug", 0x20000),
        ("DebugActivityId", 0x40000),
    )
