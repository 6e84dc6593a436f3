"""Rules about the recording itself: what is missing from it puts every other conclusion in doubt."""

from __future__ import annotations

from typing import Final

from clrevents._util.words import counted, lost_events, share_text
from clrevents.analysis.doctor.rule import WINDOW, Ailment, Case, Cited, Clear, Rule, Threshold, Unknown, Verdict
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.shared.processor.counted_events import SLOWER
from clrevents.schema.registry import OWN
from clrevents.symbols.frame import NOT_MANAGED, REASONS

_UNMANAGED: Final = REASONS[NOT_MANAGED]


def _lost(case: Case, limit: float) -> Verdict:
    lost, events = case.cited("trace.lost"), case.value("trace.events")
    if lost.value < limit:
        return Clear("no event was lost", (lost,))
    share = None if events is None else lost.value / (lost.value + events)
    title = lost_events(int(lost.value)) + ("" if share is None else f", {share_text(share)} of all")
    return Ailment(title, lost, (lost,), share)


def _cut(case: Case, limit: float) -> Verdict:
    damaged, unended = case.cited("trace.damaged"), case.cited("trace.unended")
    if damaged.value >= limit:
        title = f"the file is damaged in {counted(int(damaged.value), 'place')}"
        return Ailment(title, damaged, (damaged, unended))
    if unended.value >= limit:
        return Ailment("the end of the trace is missing: the recording was cut off", unended, (unended, damaged))
    return Clear("the file is complete", (damaged, unended))


def _short(part: Cited, whole: Cited, limit: float) -> float:
    """How much of the time would have to be another for a part to be as large a share."""
    return (limit * whole.value - part.value) / (1 + limit)


def _names(case: Case, limit: float) -> Verdict:
    total = case.cited("top.total")
    methods = case.rows("top", "methods")
    kinds, reasons = (methods.column(name).tolist() for name in ("kind", "reason"))
    # Native code has its names in symbol files, and what is not managed has none in any trace.
    nameless = [
        row
        for row, name in case.names(methods.column("reason").known).items()
        if name.startswith("[unresolved") and kinds[row] != "native" and reasons[row] != _UNMANAGED
    ]
    unnamed = case.cells("top", "methods", "exclusive_ns", nameless)
    share = unnamed.value / total.value if total.value else 0.0
    if share < limit:
        title = f"{share_text(share)} of the sampled time is in managed code without a name"
        return Clear(title, (unnamed, total), ns=_short(unnamed, total, limit))
    title = f"{share_text(share)} of the sampled time is in code without a name"
    advice = case.answers["top"].facts.advice if case.kinds.native_aot else None
    return Ailment(title, unnamed, (unnamed, total), share, advice=advice or "")


def _stacks(case: Case, limit: float) -> Verdict:
    total, cut = case.cited("top.total"), case.cited("top.cut_total")
    share = cut.value / total.value if total.value else 0.0
    title = f"{share_text(share)} of the sampled time has stacks that the runtime cut"
    if share < limit:
        return Clear(title, (cut, total), ns=_short(cut, total, limit))
    title += ": inclusive times of what calls the rest are too low"
    return Ailment(title, cut, (cut, total), share)


def _sampler(case: Case, limit: float) -> Verdict:
    stopped = case.cited("threads.sampler_total")
    sampler = case.where("threads", "threads", "role", "sampler".__eq__)
    used = case.cells("threads", "threads", "processor_ns", sampler)
    title = f"the sampler held threads for {stopped.side}{share_text(case.share(stopped.value))} of the time"
    if stopped.value < limit:
        return Clear(title, (stopped, used))
    if used.value < limit:
        return Unknown(f"{title}; it ran for {used.text}, and whether it held any while it waited to run is unknown")
    return Ailment(title, stopped, (stopped, used), case.share(stopped.value))


RULES: Final = (
    Rule(
        "trace.lost",
        "Were events lost while recording?",
        ("trace.lost",),
        Threshold(1, "1 lost event", "JDK Mission Control, lost buffers"),
        "What was lost is in no answer: sums are lower bounds, and starts may lack their ends.",
        "Record fewer providers or keywords, or use a larger buffer (--buffersize). "
        "Events of more than 64 KB are dropped in any case: make them smaller.",
        "the losses lie outside the time that you are interested in: rows that they may affect are marked `lossy`.",
        "check {file} --fail-on loss",
        _lost,
    ),
    Rule(
        "trace.cut",
        "Is the file whole?",
        ("trace.damaged", "trace.unended"),
        Threshold(1, "1 damaged place, or no end", "the format: a trace that was closed has an end"),
        "What follows the damage may be missing, and with the end, the names of methods that were loaded before.",
        "Stop the recording instead of killing it; copy the file in binary mode.",
        "the process was killed on purpose: what was written until then is sound.",
        "check {file}",
        _cut,
    ),
    Rule(
        "trace.names",
        "Does code have names?",
        ("top.total",),
        Threshold(0.05, "5 % of the sampled time without a name"),
        "Methods without names cannot be blamed, and hide in sums of others.",
        "Stop the recording cleanly, with rundown enabled, so that the runtime lists all methods at the end.",
        "the code was made by the runtime itself, such as a stub: it never gets a name.",
        "top {file}",
        _names,
        "sample",
    ),
    Rule(
        "trace.stacks",
        "Are stacks whole?",
        ("top.total", "top.cut_total"),
        Threshold(0.05, "5 % of the sampled time in stacks as deep as the runtime writes"),
        "The runtime writes the 100 innermost frames (later versions 512): methods further out, up to Main, lack the "
        "time, and calls seem to begin in the middle of the recursion.",
        "Trust exclusive times, and look from the innermost methods outwards, with `clrevents callers`.",
        "stacks are just that deep by chance, or only what is further in is of interest.",
        "callers {file} '*'",
        _stacks,
        "sample",
    ),
    Rule(
        "trace.sampler",
        "Did taking samples slow the program down?",
        ("threads.processor_total", "threads.sampler_total"),
        Threshold(0.05, "5 % of the time, in which it ran itself", of=WINDOW),
        "All threads stand still while the sampler looks at them, so that all times are too long.",
        f"Processor time is counted beside samples: {SLOWER}.",
        "the machine was busy: then it is the sampler itself that waits for a processor.",
        "threads {file} --facts",
        _sampler,
        need=Need("what the operating system counted", ("ProcessorTime",), 0, provider=OWN),
    ),
)
