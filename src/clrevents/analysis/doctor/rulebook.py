"""All rules, in the order of their families."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.doctor.rule import Rule
from clrevents.analysis.doctor.rules import (
    allocation,
    collections,
    compilation,
    exceptions,
    locks,
    pool,
    processor,
    recording,
    requests,
)

FAMILIES: Final = (recording, collections, allocation, pool, locks, exceptions, compilation, requests, processor)

RULES: Final[tuple[Rule, ...]] = tuple(rule for family in FAMILIES for rule in family.RULES)
"""Each rule by its id, the families as `docs/doctor.md` has them."""
