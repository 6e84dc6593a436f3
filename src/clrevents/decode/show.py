"""How a trace and an event show themselves in a terminal and in a notebook: never more than a screen.

Text in, text out; escapes everything that came from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from clrevents.decode.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.losses import Loss
from clrevents.errors import Problems

if TYPE_CHECKING:
    from clrevents.decode.event import Event

_TOP = 10
_LONG = 200


class Facts(Protocol):
    """What a header scan knows."""

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
    """What spoils trust in the trace, in one line; empty when nothing does."""
    parts = []
    damage = facts.problems.severities["damage"]
    if damage:
        parts.append(f"DAMAGED in {damage} place{'s' if damage > 1 else ''}")
    if facts.lost:
        parts.append(f"{facts.lost:,} events were LOST while recording")
    if not facts.complete and not damage:
        parts.append("the end is missing")
    return "; ".join(parts)


def _facts(info: TraceInfo, facts: Facts) -> list[tuple[str, str]]:
    events = sum(facts.counts.values())
    process = f"process {info.process_id}, " if info.process_id else ""
    start = info.start.isoformat(sep=" ", timespec="milliseconds") if info.start else "unknown"
    return [
        ("format", f"{info.format} {info.version}, {process}{8 * info.pointer_size}-bit"),
        ("start", start),
        ("duration", f"{facts.duration_ns / 1e9:.3f} s"),
        ("events", f"{events:,} of {len(facts.counts)} kinds on {len(facts.threads)} threads"),
    ]


def trace_text(info: TraceInfo, facts: Facts) -> str:
    """The repr of a Trace."""
    lines = [f"<Trace {info.path or 'in memory'}>"]
    lines += [f"  {name:<9} {value}" for name, value in _facts(info, facts)]
    warning = banner(facts)
    if warning:
        lines.append(f"  warning   {warning}")
    for key, count in _top(facts):
        lines.append(f"  {count:>11,}  {key.name}  ({key.provider})")
    rest = len(facts.counts) - _TOP
    if rest > 0:
        lines.append(f"  {'':>11}  and {rest} more kinds")
    return "\n".join(lines)


def trace_html(info: TraceInfo, facts: Facts) -> str:
    """The notebook view of a Trace."""
    parts = [f"<b>{escape(info.path or 'trace in memory')}</b>"]
    warning = banner(facts)
    if warning:
        parts.append(f'<div style="color:#b00;font-weight:bold">{escape(warning)}</div>')
    parts.append(_table((), _facts(info, facts)))
    rows = [(f"{count:,}", key.name, key.provider) for key, count in _top(facts)]
    rest = len(facts.counts) - _TOP
    if rest > 0:
        rows.append(("", f"and {rest} more kinds", ""))
    parts.append(_table(("events", "name", "provider"), rows))
    return "".join(parts)


def event_html(event: Event[Any]) -> str:
    """The notebook view of an Event."""
    rows = [
        ("time", f"{event.time_ns / 1e6:.3f} ms"),
        ("thread", str(event.thread_id)),
        ("provider", event.provider),
    ]
    if event.stack_id:
        rows.append(("stack", f"{len(event.stack)} frames"))
    layout = getattr(type(event.payload), "__layout__", None)
    if layout is None:
        rows.append(("payload", _short(repr(event.payload))))
    else:
        names = type(event.payload).__fields__
        rows += [
            (field.name, _short(str(getattr(event.payload, name)))) for field, name in zip(layout, names, strict=True)
        ]
    title = f"<b>{escape(event.name)}</b> version {event.version}"
    return title + _table((), rows)


def table_html(names: list[str], columns: list[list[Any]], length: int) -> str:
    """The first rows of a table; values as text."""
    rows = [tuple(_short(str(value)) for value in row) for row in zip(*columns, strict=True)]
    more = f"<p>{length:,} rows</p>"
    return _table(tuple(names), rows) + more


def _top(facts: Facts) -> Iterable[tuple[EventKey, int]]:
    return list(facts.counts.items())[:_TOP]


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[:_LONG] + "…"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(c)}</td>' for c in row) + "</tr>" for row in rows
    )
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{body}</table>"
