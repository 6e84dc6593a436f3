"""How a trace and an event display themselves in a terminal and in a notebook, in at most a screenful.

Text in, text out; escapes everything that came from a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final
from weakref import WeakKeyDictionary

from clrevents._util.notebook_views import LEFT, html_row, html_table, html_text, shortened
from clrevents._util.words import counted, duration_text, safe
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.table.display import fitted, hex_text
from clrevents.table.event_schema import is_address
from clrevents.trace.scan import HeaderScan
from clrevents.trace.trust import Trust

_TOP: Final = 10
_FIELDS: Final = 40
# As they are shown, for as long as their class lives: a trace has many events of few kinds.
_SHOWN: Final[WeakKeyDictionary[type[Any], list[tuple[str, str, bool]]]] = WeakKeyDictionary()


def _facts(info: TraceInfo, facts: HeaderScan) -> list[tuple[str, str]]:
    events = sum(facts.counts.values())
    process = f"process {info.process_id}, " if info.process_id else ""
    kinds, threads = counted(len(facts.counts), "kind"), counted(len(facts.threads), "thread")
    start = info.start.isoformat(sep=" ", timespec="milliseconds") if info.start else "unknown"
    return [
        ("format", f"{info.format} {info.version}, {process}{8 * info.pointer_size}-bit"),
        ("start", start),
        ("duration", duration_text(facts.duration_ns)),
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


def trace_text(info: TraceInfo, facts: HeaderScan) -> str:
    """The text of `Trace.summary`."""
    lines = [f"<Trace {_place(info)}>"]
    lines += [f"  {name:<9} {value}" for name, value in _facts(info, facts)]
    lines.append(f"  trust     {Trust.of(facts)}")
    for key, count in _top(facts):
        lines.append(f"  {count:>11,}  {safe(key.name)}  ({safe(key.provider)})")
    rest = len(facts.counts) - _TOP
    if rest > 0:
        lines.append(f"  {'':>11}  and {counted(rest, 'more kind')}")
    return "\n".join(map(fitted, lines))


def trace_html(info: TraceInfo, facts: HeaderScan) -> str:
    """The notebook view of a Trace."""
    parts = [f"<b>{html_text(info.path or 'trace in memory')}</b>"]
    trust = Trust.of(facts)
    colour = "" if trust.level == "info" else ' style="color:#b00;font-weight:bold"'
    parts.append(f"<div{colour}>{html_text(str(trust))}</div>")
    parts.append(html_table((), _facts(info, facts)))
    rows = [(f"{count:,}", safe(key.name), safe(key.provider)) for key, count in _top(facts)]
    rest = len(facts.counts) - _TOP
    if rest > 0:
        rows.append(("", f"and {counted(rest, 'more kind')}", ""))
    parts.append(html_table(("events", "name", "provider"), rows))
    return "".join(parts)


def event_html(event: str, version: int, header: list[tuple[str, str]], payload: Any) -> str:
    """The notebook view of an event: its name, lines about its header, and its record."""
    rows = list(map(html_row, header))
    record = type(payload)
    if not hasattr(record, "__layout__"):
        rows.append(html_row(("payload", shortened(repr(payload)))))
    else:
        for name, begin, address in _shown_fields(record):
            value = getattr(payload, name)
            text = hex_text(value) if address else str(value)
            rows.append(f"{begin}{html_text(shortened(text))}</td></tr>")
        if len(record.__fields__) > _FIELDS:
            rows.append(html_row(("fields", f"{_FIELDS} of {len(record.__fields__):,}")))
    return f"<b>{html_text(event)}</b> version {version}<table>{''.join(rows)}</table>"


def _shown_fields(record: type[Any]) -> list[tuple[str, str, bool]]:
    """For each field that is shown: its attribute, how its row begins, and whether it holds addresses."""
    known = _SHOWN.get(record)
    if known is None:
        both = islice(zip(record.__layout__, record.__fields__, strict=True), _FIELDS)
        known = _SHOWN[record] = [
            (name, f"<tr>{LEFT}{html_text(field.name)}</td>{LEFT}", is_address(field.name, field.type))
            for field, name in both
        ]
    return known


def _place(info: TraceInfo) -> str:
    return safe(info.path or "in memory")


def _top(facts: HeaderScan) -> Iterable[tuple[EventKey, int]]:
    return list(facts.counts.items())[:_TOP]
