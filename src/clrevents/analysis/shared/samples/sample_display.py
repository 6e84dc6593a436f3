"""How samples are shown in a terminal and in a notebook: their weights, and the heaviest innermost frames.

Text out; escapes everything that came from a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import framed_html, html_table, shortened
from clrevents._util.words import amount_text, counted, moment_text, safe
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.weights.weighing import Ints, Unit, Weights
from clrevents.table.display import LINES, fitted, text_rows

_ROWS: Final = 50


class ShownSamples(Protocol):
    """What is shown of samples."""

    @property
    def event(self) -> str: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def time_ns(self) -> Ints: ...
    @property
    def weight(self) -> Weights: ...
    @property
    def stack(self) -> Ints: ...
    @property
    def offsets(self) -> Ints: ...
    @property
    def values(self) -> Ints: ...
    @property
    def threads(self) -> Sequence[object]: ...
    @property
    def frames(self) -> Sequence[StackFrame]: ...
    @property
    def advice(self) -> str | None: ...
    @property
    def cut_text(self) -> str | None: ...
    @property
    def total(self) -> int | float: ...
    @property
    def count(self) -> int: ...
    @property
    def unsampled(self) -> NDArray[np.bool_]: ...
    @property
    def unsampled_total(self) -> int | float: ...
    def __len__(self) -> int: ...


def samples_text(samples: ShownSamples) -> str:
    """The repr of samples."""
    lines = [f"<Samples: {_title(samples)}>", *(f"  {name:<9} {value}" for name, value in _facts(samples))]
    lines = [fitted(line) for line in lines]
    if not len(samples):
        return "\n".join(lines)
    rows = _heaviest(samples)
    return "\n".join([*lines, *text_rows(_head(samples), rows, len(rows), "innermost frames", LINES - len(lines))])


def samples_html(samples: ShownSamples) -> str:
    """The notebook view of samples."""
    parts = [f"<b>{escape(_title(samples))}</b>", html_table((), _facts(samples))]
    rows = _heaviest(samples)
    parts.append(html_table(_head(samples), [(*numbers, shortened(name)) for *numbers, name in rows[:_ROWS]]))
    if len(rows) > _ROWS:
        parts.append(f"<p>{_ROWS} of {len(rows):,} innermost frames</p>")
    return framed_html("".join(parts), lambda: samples_text(samples))


def _title(samples: ShownSamples) -> str:
    threads = counted(len(samples.threads), "thread")
    return safe(f"{counted(samples.count, 'sample')} of {samples.event or 'no event'} on {threads}")


def _facts(samples: ShownSamples) -> list[tuple[str, str]]:
    if not len(samples):
        return []
    first, last = int(samples.time_ns.min()), int(samples.time_ns.max())
    found = [
        ("total", _amount(samples, samples.total)),
        ("time", f"{moment_text(first)} to {moment_text(last)}"),
        ("stacks", f"{counted(len(samples.offsets) - 1, 'stack')} of {counted(len(samples.frames), 'frame')}"),
    ]
    if samples.unsampled_total:
        found.append(("unsampled", _amount(samples, samples.unsampled_total)))
    if samples.cut_text is not None:
        found.append(("cut", samples.cut_text))
    return found if samples.advice is None else [*found, ("names", f"some are missing: {safe(samples.advice)}")]


def _head(samples: ShownSamples) -> tuple[str, ...]:
    return "weight", "samples", "innermost frame"


def _heaviest(samples: ShownSamples) -> list[tuple[str, ...]]:
    """The innermost frames with their own weight and number of samples, heaviest first."""
    leaf = samples.values[samples.offsets[samples.stack]] if len(samples) else samples.stack
    weight = sum_by(leaf, samples.weight, len(samples.frames))
    count = np.bincount(leaf[~samples.unsampled], minlength=len(samples.frames))
    weights, counts = weight.tolist(), count.tolist()
    order = sorted(np.unique(leaf).tolist(), key=lambda i: (-weights[i], -counts[i], samples.frames[i].raw))
    return [(_amount(samples, weights[i]), f"{counts[i]:,}", samples.frames[i].name) for i in order]


def _amount(samples: ShownSamples, weight: int | float) -> str:
    return amount_text(weight, {"nanoseconds": "ns", "bytes": "bytes"}.get(samples.unit))
