"""The line that records what several questions need."""

from __future__ import annotations

import pytest

from clrevents.analysis.framework.recording.recorded import ProviderNeed, RecordLine, record_line
from clrevents.events import RuntimeKeyword, TplKeyword
from clrevents.schema.registry import RUNTIME, SAMPLE, TPL


def test_needs_of_one_provider_become_one() -> None:
    """All keywords and the highest level, in the order in which providers were first named."""
    contention = ProviderNeed("runtime", RuntimeKeyword.Contention)
    line = record_line(
        [
            contention,
            ProviderNeed("sample"),
            ProviderNeed(RUNTIME, 0x10001, 5),
            ProviderNeed("tpl", TplKeyword.Tasks, 1),
        ]
    )
    assert line == RecordLine(
        (ProviderNeed(RUNTIME, 0x14001, 5), ProviderNeed(SAMPLE, 0, 4), ProviderNeed(TPL, 0x2, 1))
    )
    assert str(line) == (
        "Microsoft-Windows-DotNETRuntime:0x14001:5,Microsoft-DotNETCore-SampleProfiler:0x0:4,"
        "System.Threading.Tasks.TplEventSource:0x2:1"
    )
    assert record_line([*line.providers, *line.providers]) == line
    assert str(record_line([contention])) == "Microsoft-Windows-DotNETRuntime:0x4000:4"


def test_nothing_is_needed() -> None:
    assert str(record_line([])) == ""
    assert not record_line([])
    assert record_line([ProviderNeed("sample")])


def test_keywords_are_all_64_bits() -> None:
    line = record_line([ProviderNeed("My.Source_1+a", 1 << 63), ProviderNeed("My.Source_1+a", (1 << 63) - 1, 0)])
    assert str(line) == "My.Source_1+a:0xffffffffffffffff:4"


@pytest.mark.parametrize("name", ["", "a:b", "a,b", "a b", "a\n", "$(x)", "a'b", "Größe"])
def test_names_that_the_line_cannot_hold(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a provider name"):
        ProviderNeed(name)


@pytest.mark.parametrize(("keywords", "level", "why"), [(-1, 4, "64 bits"), (1 << 64, 4, "64 bits"), (1, 6, "0 to 5")])
def test_numbers_that_no_session_takes(keywords: int, level: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ProviderNeed("runtime", keywords, level)


def test_an_argument_stands_at_the_end() -> None:
    asked = ProviderNeed("System.Runtime", 0, 4, "EventCounterIntervalSec=1")
    line = record_line([ProviderNeed("System.Runtime", 0x2, 5), asked, asked])
    assert str(line) == "System.Runtime:0x2:5:EventCounterIntervalSec=1"
    with pytest.raises(ValueError, match="cannot have both EventCounterIntervalSec=1 and EventCounterIntervalSec=2"):
        record_line([asked, ProviderNeed("System.Runtime", 0, 4, "EventCounterIntervalSec=2")])


@pytest.mark.parametrize("argument", ["a", "a=b;c=d", "a=b,c", "a=$(x)", "a=b c", "=", "a=b\n"])
def test_arguments_that_the_line_cannot_hold(argument: str) -> None:
    with pytest.raises(ValueError, match="cannot be a provider argument"):
        ProviderNeed("runtime", argument=argument)
