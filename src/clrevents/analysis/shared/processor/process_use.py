"""What a process used of the processors that it might have used, in one line for people."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from clrevents._util.words import digits, duration_text, share_text
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.shared.processor.counted_events import Counts
from clrevents.analysis.shared.processor.thread_windows import portion

COMPILERS: Final = ".NET Tiered"
"""How the names of threads that compile in the background begin."""
SLOWER: Final = (
    "samples each 10 ms are enough: start the program with DOTNET_EventPipeThreadSamplingRate=10 "
    "(.NET 11 and late versions of 10)"
)
"""What to do about a sampler that holds threads for long."""


def use_text(counts: Counts, window: TimeWindow, samplers: Collection[int]) -> str:
    """`11.6 of 20 processor-seconds (58 %), compilation 9 %, the sampler 11 %; threads waited 37 s for a processor`.

    `samplers` are the threads that take samples. Shares are of what was used.
    """
    rows = counts.windows
    threads, of = np.unique(rows.thread, return_inverse=True)
    used, ready = (
        sum_by(of, portion(rows.start, rows.end, column, window), len(threads))
        for column in (rows.processor, rows.ready)
    )
    whole = counts.used(window)
    text = f"{digits(whole / 1e9, 3)} processor-seconds"
    available = (counts.processors or 0) * counts.read_ns(window)
    if available:
        shown = f"{digits(whole / 1e9, 3)} of {digits(available / 1e9, 3)}"
        text = f"{shown} processor-seconds ({share_text(whole / available)})"
    compilers = [n for n, thread in enumerate(threads.tolist()) if counts.names.get(thread, "").startswith(COMPILERS)]
    sampling = [n for n, thread in enumerate(threads.tolist()) if thread in samplers]
    for what, places in (("compilation", compilers), ("the sampler", sampling)):
        if whole and places:
            text += f", {what} {share_text(int(used[places].sum()) / whole)}"
    if rows.ready_known:
        text += f"; threads waited {duration_text(int(ready.sum()))} for a processor"
    return text
