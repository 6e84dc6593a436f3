"""Picks the engine that runs the heap's kernel, as the decoder does for its own. The only importer of the kernel.

Gives it arrays in the form that the engine reads fastest; does not know what the integers mean.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_NAME: Final = "clrevents.analysis.reports.heap.dominate"


def _load(interpreted: bool) -> Any:
    """The kernel as it was built, or the same source run by Python."""
    if not interpreted:
        return importlib.import_module(_NAME)
    spec = importlib.util.spec_from_file_location(f"{_NAME}_interpreted", Path(__file__).with_name("dominate.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built() -> bool:
    """Whether the kernel was compiled when the package was installed."""
    spec = importlib.util.find_spec(_NAME)
    return spec is not None and spec.origin is not None and not spec.origin.endswith(".py")


class Kernel:
    """One engine: `kernel` has the functions, the methods make and take the arrays that they want."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled
        self.kernel = _load(not compiled)

    def given(self, values: Array, dtype: type[np.generic] = np.int32) -> Any:
        """Numbers for the kernel, which it only reads unless they are the caller's only copy."""
        if not self.compiled:
            return values.tolist()
        return np.ascontiguousarray(values, dtype=dtype)

    def room(self, count: int, fill: int | None = None, dtype: type[np.generic] = np.int32) -> Any:
        """Room for `count` numbers, all `fill`, or uninitialized."""
        if not self.compiled:
            return [fill or 0] * count
        return np.empty(count, dtype=dtype) if fill is None else np.full(count, fill, dtype=dtype)

    def taken(self, values: Any, count: int | None = None, dtype: type[np.generic] = np.int32) -> Array:
        """The first `count` numbers that the kernel wrote, all by default, as an array that holds no others."""
        if not self.compiled:
            return np.array(values[:count], dtype=dtype)
        found: Array = values if count is None or count == len(values) else values[:count].copy()
        return found


KERNEL: Final = Kernel(not os.environ.get("CLREVENTS_PURE") and _built())
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not KERNEL.compiled:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the heap's kernel is not compiled (see docs/hacking.md)")
