"""Where the runtime and the kernel say different things of the same time of a thread: notes, with how much it is.

Both are right in their own words: a thread that spins waits for a lock and has a processor, and a sampled thread may
want a processor that it does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clrevents._util.words import duration_text
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.analysis.reports.threads.lives import ThreadLife
from clrevents.analysis.reports.threads.runtime_reasons import SAMPLER, RuntimeReasons
from clrevents.analysis.reports.threads.tiling import Piece, without
from clrevents.analysis.shared.samples.sampled_states import stretches
from clrevents.analysis.shared.weights.sample_runs import MANAGED, SampleRuns

_STATES: Final = ("states", "intervals")


def disagreements(
    lives: Sequence[ThreadLife], reasons: RuntimeReasons, runs: SampleRuns, stopped_ns: int
) -> list[Note]:
    """The notes on the threads of a process; samples count until tracing stopped."""
    return [*_spinning(lives, reasons), *_sampled(lives, runs, stopped_ns)]


def _spinning(lives: Sequence[ThreadLife], reasons: RuntimeReasons) -> list[Note]:
    waited = ran = 0
    for life in lives:
        waits = reasons.waits.get(life.thread_id, ())
        off = [piece for piece in life.pieces if piece.doing.state not in ("running", "unknown")]
        for wait in waits:
            waited += wait.end - wait.start
            ran += sum(left.end - left.start for left in without(wait, off))
    if not ran:
        return []
    text = (
        f"events say that threads waited for {duration_text(waited)}, during {duration_text(ran)} of which they had a "
        "processor: they spun first, or were on their way; that time is `running`"
    )
    return [Note("waits-on-processor", "info", text, _STATES, {"waited_ns": waited, "running_ns": ran})]


def _sampled(lives: Sequence[ThreadLife], runs: SampleRuns, stopped_ns: int) -> list[Note]:
    threads = {life.thread_id: life for life in lives}
    lows, highs = stretches(runs, stopped_ns)
    sampled = off = by_sampler = 0
    kept: dict[int, tuple[list[Piece], list[Piece]]] = {}
    columns = (runs.thread.tolist(), runs.type.tolist(), lows.tolist(), highs.tolist())
    for thread, type, low, high in zip(*columns, strict=True):
        life = threads.get(thread)
        if type != MANAGED or life is None or high <= low:
            continue
        if thread not in kept:
            known = [piece for piece in life.pieces if piece.doing.state != "unknown"]
            kept[thread] = (
                [piece for piece in known if piece.doing.state == "running"],
                [piece for piece in known if piece.doing.reason == SAMPLER],
            )
        ran, stopped = kept[thread]
        whole = Piece(max(low, life.start), min(high, life.end), life.pieces[0].doing)
        if whole.end <= whole.start:
            continue
        sampled += whole.end - whole.start
        off += sum(left.end - left.start for left in without(whole, ran))
        by_sampler += (whole.end - whole.start) - sum(left.end - left.start for left in without(whole, stopped))
    if not off:
        return []
    text = (
        f"the sample profiler saw threads run managed code for {duration_text(sampled)}, during {duration_text(off)} "
        f"of which they had no processor ({duration_text(by_sampler)} because it had stopped them)"
    )
    numbers = {"sampled_ns": sampled, "off_processor_ns": off, "stopped_ns": by_sampler}
    return [Note("sampled-off-processor", "info", text, _STATES, numbers)]
