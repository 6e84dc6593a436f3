"""Clock ticks ↔ nanoseconds since the session started ↔ UTC, in exact integers, never floats.

Knows one trace's clock, and no events.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen

_BILLION = 10**9
_SAFE = 1 << 62
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Clock:
    """Converts the recording clock's ticks to time. `frequency` is in ticks per second and never 0."""

    sync_qpc: int
    frequency: int
    start: datetime | None

    def ns(self, tick: int) -> int:
        """Nanoseconds since the session started, rounded down; negative before it."""
        return (tick - self.sync_qpc) * _BILLION // self.frequency

    def nearest_ns(self, tick: int) -> int:
        """The same as the nearest number that 64 bits can hold."""
        return min(max(self.ns(tick), _LOWEST), _HIGHEST)

    def ns_numbers(self, ticks: NDArray[np.int64]) -> NDArray[np.int64] | list[int]:
        """The same for many ticks; as a list where numbers may exceed 64 bits."""
        exact = self._ns(ticks)
        return [self.ns(tick) for tick in ticks.tolist()] if exact is None else exact

    def ns_list(self, ticks: NDArray[np.int64]) -> list[int]:
        """The same for many ticks, as exact Python integers."""
        numbers = self.ns_numbers(ticks)
        return numbers if isinstance(numbers, list) else numbers.tolist()

    def ns_array(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for many ticks; results outside 64 bits become the nearest representable value."""
        numbers = self._ns(ticks)
        if numbers is None:
            numbers = np.array([self.nearest_ns(tick) for tick in ticks.tolist()], dtype=np.int64)
        return numbers

    def _ns(self, ticks: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """In numpy, which is exact only if no intermediate value exceeds 63 bits; otherwise None."""
        if not len(ticks):
            return ticks
        low, high = int(ticks.min()) - self.sync_qpc, int(ticks.max()) - self.sync_qpc
        whole = max(abs(low), abs(high)) // self.frequency + 1
        if low <= -_SAFE or high >= _SAFE or whole * _BILLION >= _SAFE or self.frequency * _BILLION >= _SAFE:
            return None
        delta = ticks - self.sync_qpc
        if self.frequency == _BILLION:
            return delta
        seconds, rest = np.divmod(delta, self.frequency)
        exact: NDArray[np.int64] = seconds * _BILLION + rest * _BILLION // self.frequency
        return exact

    def first_tick(self, ns: int) -> int:
        """The first tick whose `ns` is at least the given one."""
        return -(-(ns * self.frequency) // _BILLION) + self.sync_qpc

    def utc(self, ns: int) -> datetime | None:
        """The time in UTC, truncated to microseconds; None if the trace does not say when it started."""
        if self.start is None:
            return None
        try:
            return self.start + timedelta(microseconds=ns // 1000)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC) if ns > 0 else datetime.min.replace(tzinfo=UTC)

    def utc_list(self, ticks: NDArray[np.int64]) -> list[datetime | None]:
        """The same for many ticks, in a twentieth of the time."""
        times = self._ns(ticks)
        if self.start is None or times is None:
            return [self.utc(ns) for ns in self.ns_list(ticks)]
        try:
            return list(map(self.start.__add__, (times // 1000).astype("m8[us]").tolist()))
        except OverflowError:
            return [self.utc(ns) for ns in times.tolist()]

    def since_start(self, moment: datetime) -> int:
        """Nanoseconds from the session's start to an aware datetime. Raises ValueError if the start is unknown."""
        if self.start is None:
            raise ValueError("the trace has no start time, so dates cannot be used with it")
        delta = moment - self.start
        return (delta.days * 86400 + delta.seconds) * _BILLION + delta.microseconds * 1000
