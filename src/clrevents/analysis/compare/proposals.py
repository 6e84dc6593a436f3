"""Methods that are gone, and what may have become of them: renamed, or inlined into a caller.

Proposes, from signatures and amounts alone; nothing is matched or left out because of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.words import safe
from clrevents.analysis.compare.change import Change
from clrevents.analysis.compare.families import EXCLUSIVE, INCLUSIVE

# Amounts are alike if they differ by at most this part of the larger one: chance moves both.
_ALIKE = 0.25


@attrs.frozen
class Proposal(Value):
    """A method that is `gone`, and the method that may have taken its place, or taken it in."""

    kind: Literal["renamed", "inlined"]
    gone: str
    into: str

    def __str__(self) -> str:
        gone, into = safe(self.gone), safe(self.into)
        if self.kind == "renamed":
            return f"perhaps renamed: {gone} is gone, and {into} is new and takes as much time"
        return f"perhaps inlined: {gone} is gone, and {into} takes as much more itself, but not with callees"


def proposals(rows: Sequence[Change]) -> tuple[Proposal, ...]:
    """What may have become of methods whose time differs beyond chance because they are gone. One for each at most,
    and none where several methods could be meant."""
    own = [row for row in rows if row.family == EXCLUSIVE and row.alarm]
    moved = {row.name for row in rows if row.family == INCLUSIVE and row.alarm}
    gone = [row for row in own if row.base and not row.new]
    came = [row for row in own if row.new and not row.base]
    grew = [row for row in own if row.base and (row.change or 0) > 0 and row.name not in moved]
    found = dict(_only((a, b) for a in gone for b in came if _renamed(a, b)))
    taken = dict(_only((a, b) for a in gone if a.name not in found for b in grew if _alike(a.base, b.change)))
    return (
        *(Proposal("renamed", a, b) for a, b in found.items()),
        *(Proposal("inlined", a, b) for a, b in taken.items()),
    )


def _only(pairs: Iterator[tuple[Change, Change]]) -> Iterator[tuple[str, str]]:
    """Pairs of which neither side is in another one."""
    found = [(a.name, b.name) for a, b in pairs]
    for a, b in found:
        if sum(one == a or other == b for one, other in found) == 1:
            yield a, b


def _renamed(gone: Change, came: Change) -> bool:
    """Whether both have the same parameters, and the same type or the same name in another type."""
    (type, name, parameters), (other_type, other_name, others) = _parts(gone.name), _parts(came.name)
    return parameters == others and (type == other_type or name == other_name) and _alike(gone.base, came.new)


def _parts(method: str) -> tuple[str, str, str]:
    """Type, name and parameters of a method."""
    path, bracket, parameters = method.partition("(")
    type, _, name = path.rpartition(".")
    return type, name, bracket + parameters


def _alike(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= _ALIKE * max(one, other)
