"""The line that records what several questions need."""

from __future__ import annotations

import pytest

from clrevents.analysis.framework.recording.recorded import merged_lines, record_line
from clrevents.events import RuntimeKeyword, TplKeyword
from clrevents.schema.registry import RUNTIME


def test_needs_of_one_provider_become_one() -> None:
    """All keywords and the highest level, in the order in which providers were first named."""
    contention = ("runtime", RuntimeKeyword.Contention, 4, "")
    line = record_line([contention, ("sample", 0, 4, ""), (RUNTIME, 0x10001, 5, ""), ("tpl", TplKeyword.Tasks, 1, "")])
    assert line == (
        "Microsoft-Windows-DotNETRuntime:0x14001:5,Microsoft-DotNETCore-SampleProfiler:0x0:4,"
        "System.Threading.Tasks.TplEventSource:0x2:1"
    )
    assert merged_lines([line, line]) == line
    assert record_line([contention]) == "Microsoft-Windows-DotNETRuntime:0x4000:4"
    assert record_line([]) == merged_lines([]) == ""


def test_keywords_are_all_64_bits() -> None:
    line = record_line([("My.Source_1+a", 1 << 63, 4, ""), ("My.Source_1+a", (1 << 63) - 1, 0, "")])
    assert line == "My.Source_1+a:0xffffffffffffffff:4"


def test_an_argument_stands_at_the_end() -> None:
    asked = ("System.Runtime", 0, 4, "EventCounterIntervalSec=1")
    line = record_line([("System.Runtime", 0x2, 5, ""), asked, asked])
    assert line == merged_lines([line]) == "System.Runtime:0x2:5:EventCounterIntervalSec=1"
    with pytest.raises(ValueError, match="cannot have both EventCounterIntervalSec=1 and EventCounterIntervalSec=2"):
        record_line([asked, ("System.Runtime", 0, 4, "EventCounterIntervalSec=2")])
