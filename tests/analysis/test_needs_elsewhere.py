"""Needs that another provider's events meet too."""

from __future__ import annotations

import pytest

from clrevents.analysis.framework.model.needs import Need, SeenKind, SeenKinds, coverage
from clrevents.analysis.framework.vocabulary.answer_values import Coverage
from clrevents.schema.registry import RUNDOWN, RUNTIME

NEED = Need("modules", ("ModuleLoad", "rundown/ModuleDCEnd"), 0x8, essential=True)


@pytest.mark.parametrize(
    ("provider", "name", "expected"),
    [
        (RUNTIME, "ModuleLoad", "full"),
        (RUNDOWN, "ModuleDCEnd", "full"),
        (RUNDOWN, "ModuleLoad", "none"),
        (RUNTIME, "ModuleDCEnd", "none"),
    ],
)
def test_events_of_another_provider(provider: str, name: str, expected: Coverage) -> None:
    assert coverage([NEED], SeenKinds([SeenKind(provider, name, 0, 4)])) == expected
