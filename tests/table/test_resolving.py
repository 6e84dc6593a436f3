"""A selector is resolved once, whatever the table needs to know of it on the way from name to columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import clrevents
from clrevents.decode.selection import Selection
from clrevents.events import GCReason, GCStart_V1, GCType
from clrevents.schema.registry import Registry
from clrevents.testing.builder import TraceBuilder


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
@pytest.mark.parametrize("name", ["GCStart", "NoSuchEvent"])
def test_one_table_resolves_its_selector_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    calls: Counter[str] = Counter()

    def counted(owner: type[Any], method: str) -> None:
        plain: Callable[..., Any] = getattr(owner, method)

        def count(self: Any, *arguments: Any) -> Any:
            calls[method] += 1
            return plain(self, *arguments)

        monkeypatch.setattr(owner, method, count)

    counted(Registry, "named")
    counted(Selection, "_resolve")
    builder = TraceBuilder()
    builder.event(GCStart_V1(7, 2, GCReason.Induced, GCType.BackgroundGC, 9))
    with clrevents.open(builder.build()) as trace:
        if name == "GCStart":
            assert trace.table(name)["Count"].tolist() == [7]
        else:
            with pytest.raises(clrevents.UnknownEventError):
                trace.table(name)
    assert calls == {"named": 1, "_resolve": 1}
