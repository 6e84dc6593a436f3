"""Small array tools: concatenation, and rows of different lengths. Knows nothing of traces."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

_NO_INTS: Ints = np.empty(0, dtype=np.int64)


def end_to_end(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """All parts concatenated; a single part is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row starts, followed by the end of the last."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def ragged(starts: NDArray[np.int64], lengths: NDArray[np.int64], step: int = 1) -> NDArray[np.int64]:
    """The places `starts[i], starts[i] + step, …`, `lengths[i]` of them for each row, concatenated."""
    ends = np.cumsum(lengths)
    if not len(ends) or not ends[-1]:
        return _NO_INTS
    first = starts - (ends - lengths) * step
    return np.repeat(first, lengths) + np.arange(int(ends[-1]), dtype=np.int64) * step
