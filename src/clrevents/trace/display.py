"""How a trace and an event display themselves in a terminal and in a notebook, in at most a screenful.

Text in, text out; escapes everything that came from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Protocol

from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problems
from clrevents.table.display import hex_text, html_table, shortened
from clrevents.table.event_schema import is_address
from clrevents.words import counted, safe

_TOP = 10


class Facts(Protocol):
    """What a header scan provides."""

    @property
    def counts(self) -> Mapping[EventKey, int]: ...
    @property
    def duration_ns(self) -> int: ...
    @property
    def losses(self) -> tuple[Loss, ...]: ...
    @property
    def lost(self) -> int: ...
    @property
    def problems(self) -> Problems: ...
    @property
    def complete(self) -> bool: ...
    @property
    def threads(self) -> tuple[Any, ...]: ...


def banner(facts: Facts) -> str:
    """What makes the trace unreliable, in one line; empty if nothing does."""
    parts = []
    damage = facts.problems.severities["damage"]
    if damage:
        parts.append(f"DAMAGED in {counted(damage, 'place')}")
    if facts.lost:
        parts.append(f"{counted(facts.lost, 'event was', 'events were')} LOST while recording")
    if not facts.complete and not damage:
        parts.append("the end is missing")
    return "; ".join(parts)


def _facts(info: TraceInfo, facts: Facts) -> list[tuple[str, str]]:
    events = sum(facts.counts.values())
    process = f"process {info.process_id}, " if info.process_id else ""
    kinds, threads = counted(len(facts.counts), "kind"), counted(len(facts.threads), "thread")
    start = info.start.isoformat(sep=" ", timespec="milliseconds") if info.start else "unknown"
    return [
        ("format", f"{info.format} {info.version}, {process}{8 * info.pointer_size}-bit"),
        ("start", start),
        ("duration", f"{facts.duration_ns / 1e9:.3f} s"),
        ("events", f"{events:,} of {kinds} on {threads}"),
    ]


def trace_line(info: TraceInfo) -> str:
    """The repr of a Trace: what its header says, and how to see more."""
    parts = [f"{info.format} {info.version}"]
    if info.process_id:
        parts.append(f"process {info.process_id}")
    parts.append(f"{8 * info.pointer_size}-bit")
    if info.start:
        parts.append(f"started {info.start.isoformat(sep=' ', timespec='seconds')}")
    return f"<Trace {_place(info)}: {', '.join(parts)}; see summary()>"


def trace_text(info: TraceInfo, facts: Facts) -> str:
    """The text of `Trace.summary`."""
    lines = [f"<Trace {_place(info)}>"]
    lines += [f"  {name:<9} {value}" for name, value in _facts(info, facts)]
    warning = banner(facts)
    if warning:
        lines.append(f"  warning   {warning}")
    for key, count in _top(facts):
        lines.append(f"  {count:>11,}  {safe(key.name)}  ({safe(key.provider)})")
    rest = len(facts.counts) - _TOP
    if rest > 0:
        lines.append(f"  {'':>11}  and {counted(rest, 'more kind')}")
    return "\n".join(lines)


def trace_html(info: TraceInfo, facts: Facts) -> str:
    """The notebook view of a Trace."""
    parts = [f"<b>{escape(safe(info.path or 'trace in memory'))}</b>"]
    warning = banner(facts)
    if warning:
        parts.append(f'<div style="color:#b00;font-weight:bold">{escape(warning)}</div>')
    parts.append(html_table((), _facts(info, facts)))
    rows = [(f"{count:,}", safe(key.name), safe(key.provider)) for key, count in _top(facts)]
    rest = len(facts.counts) - _TOP
    if rest > 0:
        rows.append(("", f"and {counted(rest, 'more kind')}", ""))
    parts.append(html_table(("events", "name", "provider"), rows))
    return "".join(parts)


def event_html(event: str, version: int, header: list[tuple[str, str]], payload: Any) -> str:
    """The notebook view of an event: its name, lines about its header, and its record."""
    rows = list(header)
    layout = getattr(type(payload), "__layout__", None)
    if layout is None:
        rows.append(("payload", shortened(repr(payload))))
    else:
        names = type(payload).__fields__
        for field, name in zip(layout, names, strict=True):
            value = getattr(payload, name)
            text = hex_text(value) if is_address(field.name, field.type) else str(value)
            rows.append((field.name, shortened(text)))
    shown = [(safe(name), safe(value)) for name, value in rows]
    return f"<b>{escape(safe(event))}</b> version {version}" + html_table((), shown)


def _place(info: TraceInfo) -> str:
    return safe(info.path or "in memory")


def _top(facts: Facts) -> Iterable[tuple[EventKey, int]]:
    return list(facts.counts.items())[:_TOP]
