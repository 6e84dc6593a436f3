"""Weighted stacks → folded lines, `outer;inner;innermost weight`, as read by flame graph scripts.

Threads are the outermost frames. Knows nothing of pictures.
"""

from __future__ import annotations

import re
from typing import Final

from clrevents._util.words import safe
from clrevents.analysis.shared.samples.calltree import stack_sums
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.look import Look, frame_names, thread_labels

_BREAKS: Final = re.compile("[;\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Would end a frame or a line, or is not valid text. What else a terminal would obey is escaped."""


def render(samples: Samples, look: Look) -> bytes:
    """The lines in alphabetical order; weights are whole numbers in the samples' unit, stacks of weight 0 are left out.

    Characters that would end a frame's name become a colon or a space.
    """
    names = [_plain(name) for name in frame_names(samples, look)]
    roots = [_plain(label) for label in thread_labels(samples)]
    stacks: dict[int, str] = {}
    sums = stack_sums(samples, look.merge_threads)
    lines: dict[str, int | float] = {}
    for thread, stack, weight in zip(sums.thread.tolist(), sums.stack.tolist(), sums.weight.tolist(), strict=True):
        text = stacks.get(stack)
        if text is None:
            text = stacks[stack] = ";".join([names[frame] for frame in reversed(samples.frame_ids(stack))])
        line = text if thread < 0 else f"{roots[thread]};{text}"
        # Overloads may have the same name.
        lines[line] = lines.get(line, 0) + weight
    found = [f"{line} {round(weight)}" for line, weight in sorted(lines.items()) if round(weight)]
    return "\n".join([*found, ""]).encode()


def _plain(name: str) -> str:
    return safe(_BREAKS.sub(lambda match: ":" if match[0] == ";" else " ", name))
