"""Samples of two traces with one name for what is one method, though the compiler numbered it anew.

As rows are matched (`identities`); knows no weights.
"""

from __future__ import annotations

import attrs

from clrevents.analysis.compare.identities import identities
from clrevents.analysis.gathering.merged import StackFrame
from clrevents.analysis.shared.samples.samples import Samples


def matched_frames(base: Samples, new: Samples) -> tuple[Samples, Samples]:
    """Both, with frames that are equal where methods are the same; they are called what they are called in `new`."""
    same = identities(*({frame.raw for frame in side.frames if frame.reason is None} for side in (base, new)))
    known: dict[str, StackFrame] = {}
    for frame in (*new.frames, *base.frames):
        if frame.reason is None:
            known.setdefault(same[frame.raw], frame)

    def renamed(side: Samples) -> Samples:
        frames = tuple(frame if frame.reason is not None else known[same[frame.raw]] for frame in side.frames)
        return attrs.evolve(side, frames=frames)

    return renamed(base), renamed(new)
