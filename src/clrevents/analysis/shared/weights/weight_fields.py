"""Which fields of events can be weights: amounts of something, which can be added up.

Goes by a field's declaration, and by its name if that is not enough. Reads no values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from clrevents.analysis.shared.weights.allocation_events import SAMPLED, TICK
from clrevents.schema.registry import RUNTIME
from clrevents.table.table import TableField

_NUMBERS: Final = ("int", "uint", "float", "bool")
_SIZE: Final = "payload_size"
"""The only header column that is an amount."""
_NO_AMOUNT: Final = (
    ("an id", re.compile(r"[a-z0-9_].*IDs?$|^IDs?$|[a-z0-9_]Ids?$|^[Ii]ds?$|_ids?$|Token$|[a-z]Handle$|^Handle$")),
    ("a number of a thing", re.compile(r"[a-z]Number$|HeapNum$|GenNum$|Index$|Idx$|Generation$|^Heap$|^AppDomain$")),
    ("an address", re.compile(r"Address$|Pointer$|EIP$|EntryPoint$|RangeBegin$|Offset$")),
    (
        "a code",
        re.compile(r"Flags$|Mechanisms$|Reasons?\d*$|(?<!Jit)Code$|HRESULT$|Version$|Kind$|Type$|Mode$|LogLevel$"),
    ),
    ("a code", re.compile(r"LoadLevel$|Settings$|RuleSet$|Facility$|Category$|PdbAge$")),
    ("of unknown meaning", re.compile(r"^(Reserved|Unused)\d*$")),
    ("a time", re.compile(r"Timestamp$")),
)
_OF_ONE: Final = {(RUNTIME, name.partition("/")[2]): "ObjectSize" for name in (SAMPLED, TICK)}
"""The size of the one object in an event about many bytes."""


def check_weight(event: tuple[str, str] | None, fields: Sequence[TableField], name: str, texts: bool = False) -> None:
    """ValueError unless the field of this name, of an event's columns, can be a weight.

    It may be a text where `texts` are good for something.
    """
    field = next((field for field in fields if field.name == name), None)
    if field is None or (texts and field.type.kind == "string"):
        return
    if not field.type.kind.startswith(_NUMBERS):
        raise ValueError(f"{name!r} is not a number, so it cannot be a weight")
    if event is not None and _OF_ONE.get(event) == name:
        text = (
            f"{name!r} is the size of one object, not of everything that {event[1]} represents, so it cannot be a "
            "weight"
        )
        raise ValueError(f"{text}; use 'alloc' for allocated bytes")
    why = _no_amount(field)
    if why is not None:
        can = [other.name for other in fields if _may_weigh(other) and other.name != _OF_ONE.get(event or ("", ""))]
        rest = f"; use {' or '.join(can)}" if can else ""
        raise ValueError(f"{name!r} is {why}, so it cannot be a weight{rest}")


def _may_weigh(field: TableField) -> bool:
    return field.wire is not None and field.type.kind.startswith(_NUMBERS) and _no_amount(field) is None


def _no_amount(field: TableField) -> str | None:
    """What a number is that is not an amount; None if it may be one."""
    if field.wire is None:
        return None if field.name == _SIZE else "not an amount"
    if field.enum is not None:
        return "a code"
    if field.address:
        return "an address" if not _NO_AMOUNT[0][1].search(field.name) else "an id"
    return next((why for why, pattern in _NO_AMOUNT if pattern.search(field.wire)), None)
