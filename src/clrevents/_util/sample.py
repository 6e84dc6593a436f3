"""`sample_trace`: the path of the trace that ships with the package. Reads nothing."""

from __future__ import annotations

from pathlib import Path


def sample_trace() -> str:
    """The path of a small trace that ships with the package: `clrevents.open(clrevents.sample_trace())`.

    A .NET 10 program of 1.4 seconds in which four threads wait for one lock; `docs/tutorial.md` is about it.
    """
    return str(Path(__file__).parents[1] / "sample.nettrace.gz")
