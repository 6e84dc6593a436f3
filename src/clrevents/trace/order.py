"""The order of events: by time, or as in the file. Knows no events."""

from __future__ import annotations

from typing import Literal, TypeAlias

Order: TypeAlias = Literal["time", "file"]


def in_time_order(order: Order) -> bool:
    """Raises ValueError unless `order` is "time" or "file"."""
    if order not in ("time", "file"):
        raise ValueError(f'order must be "time" or "file", not {order!r}')
    return order == "time"
