"""Picks the engine that runs the kernels, once, and reports which. The only importer of the kernels.

Allocates their arrays in the form that the engine reads fastest; does not know what the integers mean.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from array import array
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_NAMES: Final = ("scan", "walk", "slots")


def _load(name: str, interpreted: bool) -> Any:
    """A kernel as it was built, or the same source run by Python."""
    if not interpreted:
        return importlib.import_module(f"clrevents.decode.kernels.{name}")
    source = os.path.join(os.path.dirname(__file__), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"clrevents.decode.kernels.{name}_interpreted", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(name: str) -> bool:
    """Whether a kernel was compiled when the package was installed."""
    spec = importlib.util.find_spec(f"clrevents.decode.kernels.{name}")
    return spec is not None and spec.origin is not None and not spec.origin.endswith(".py")


# One engine for all kernels: their arguments differ.
COMPILED: Final = not os.environ.get("CLREVENTS_PURE") and all(map(_built, _NAMES))
SCAN, WALK, SLOTS = (_load(name, not COMPILED) for name in _NAMES)
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not COMPILED:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the kernels are not compiled (see docs/hacking.md)")

if not COMPILED:
    from clrevents.decode.kernels import plain

    for kernel in (WALK, SLOTS):
        vars(kernel).update((name, value) for name, value in vars(plain).items() if not name.startswith("_"))


def engine() -> str:
    """The engine that runs the inner loops: `"compiled"`, or `"interpreted"` if installed without a compiler."""
    return "compiled" if COMPILED else "interpreted"


def given(values: NDArray[Any]) -> Any:
    """Numbers for a kernel, in the form that the engine reads fastest."""
    if not COMPILED:
        return values.tolist()
    return values if values.flags.c_contiguous else np.ascontiguousarray(values)


def zeros(count: int, dtype: type[np.generic] = np.int64) -> Any:
    """`count` numbers, all 0."""
    return np.zeros(count, dtype=dtype) if COMPILED else [0] * count


_units: Any = None


def ones(count: int) -> Any:
    """`count` times the number 1, made as rarely as possible."""
    global _units
    if not COMPILED:
        return [1] * count
    units = _units
    if units is None or len(units) < count:
        _units = units = np.ones(max(2 * count, 1 << 16), dtype=np.int64)
    return units[:count]


def numbers_room(count: int) -> Any:
    """Room for `count` signed numbers."""
    return np.empty(count, dtype=np.int64) if COMPILED else [0] * count


def scratch(count: int) -> Any:
    """Room for `count` unsigned 64-bit numbers, in the form that the engine writes fastest; uninitialized."""
    return np.empty(count, dtype=np.uint64) if COMPILED else [0] * count


def taken(values: Any, count: int, own: bool = True) -> NDArray[np.uint64]:
    """The first `count` numbers of a scratch column, as a separate array (unless the scratch is given up)."""
    if COMPILED:
        found: NDArray[np.uint64] = values[:count]
        return found.copy() if own else found
    return np.frombuffer(array("Q", values[:count]), dtype=np.uint64)
