"""All rules, in the order of their families."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.doctor.rule import Rule
from clrevents.analysis.doctor.rules import (
    allocation_rules,
    await_rules,
    collections_rules,
    compilation_rules,
    exceptions_rules,
    locks_rules,
    pool_rules,
    processor_rules,
    recording_rules,
    requests_rules,
    wait_rules,
)

FAMILIES: Final = (
    recording_rules,
    collections_rules,
    allocation_rules,
    pool_rules,
    locks_rules,
    exceptions_rules,
    compilation_rules,
    requests_rules,
    processor_rules,
    wait_rules,
    await_rules,
)

RULES: Final[tuple[Rule, ...]] = tuple(rule for family in FAMILIES for rule in family.RULES)
"""Each rule by its id, the families as `docs/doctor.md` has them."""
