"""How a trace and an event display themselves in a terminal and in a notebook, in at most a screenful.

Text in, text out; escapes everything that came from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from clrevents._util.html import LEFT, framed_html, html_row, html_table, html_text, shortened
from clrevents._util.units import duration_text
from clrevents._util.words import counted, safe
from clrevents.decode.container.blocks import TraceInfo
from clrevents.decode.kinds import EventKey
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problems
from clrevents.table.display import LINES, fitted, hex_text, text_rows
from clrevents.table.event_schema import is_address

_TOP: Final = 10
_FIELDS: Final = 40
# As they are shown, for as long as their class lives: a trace has many events of few kinds.
_SHOWN: Final[WeakKeyDictionary[type[Any], list[tuple[str, str, bool]]]] = WeakKeyDictionary()
_KINDS: Final = 50
_PROBLEMS: Final = 5


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
    def stackless(self) -> Loss | None: ...
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
    if facts.stackless is not None:
        parts.append("stacks are missing")
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
    return "\n".join(map(fitted, lines))


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


class Findings(Protocol):
    """What a check of a trace found."""

    @property
    def info(self) -> TraceInfo: ...
    @property
    def verdict(self) -> str: ...
    @property
    def kinds(self) -> Mapping[EventKey, KindFindings]: ...
    @property
    def problem_counts(self) -> Mapping[str, int]: ...
    @property
    def losses(self) -> tuple[Loss, ...]: ...
    @property
    def lost(self) -> int: ...


class KindFindings(Protocol):
    """How the payloads of one kind came out."""

    @property
    def events(self) -> int: ...
    @property
    def tail(self) -> int: ...
    @property
    def short(self) -> int: ...
    @property
    def unknown(self) -> int: ...


_KIND_HEAD: Final = ("events", "longer", "too short", "unknown", "event")


def check_text(check: Findings) -> str:
    """The repr of a CheckResult: the verdict, the problems, and the kinds of event, those with faults first."""
    lines = [f"<CheckResult on {_place(check.info)}>"]
    lines += [f"  {name:<9} {value}" for name, value in _finding_lines(check)]
    lines = [fitted(line) for line in lines]
    kinds = _kind_rows(check)
    return "\n".join([*lines, *text_rows(_KIND_HEAD, kinds, len(kinds), "kinds of event", LINES - len(lines))])


def check_html(check: Findings) -> str:
    """The notebook view of a CheckResult."""
    kinds = _kind_rows(check)
    parts = [f"<b>{escape(_place(check.info))}</b>", html_table((), _finding_lines(check))]
    parts.append(html_table(_KIND_HEAD, [(*numbers, shortened(name)) for *numbers, name in kinds[:_KINDS]]))
    if len(kinds) > _KINDS:
        parts.append(f"<p>{_KINDS} of {counted(len(kinds), 'kind')} of event</p>")
    return framed_html("".join(parts), lambda: check_text(check))


def _finding_lines(check: Findings) -> list[tuple[str, str]]:
    lines = [("verdict", check.verdict)]
    problems = sorted(check.problem_counts.items(), key=lambda item: (-item[1], item[0]))
    lines += [("problems", f"{count:,} × {safe(kind)}") for kind, count in problems[:_PROBLEMS]]
    if len(problems) > _PROBLEMS:
        lines.append(("problems", f"{_PROBLEMS} of {counted(len(problems), 'kind')} of problem"))
    if check.lost:
        threads = len({loss.thread_id for loss in check.losses})
        lines.append(("lost", f"{counted(check.lost, 'event')} of {counted(threads, 'thread')}"))
    return lines


def _kind_rows(check: Findings) -> list[tuple[str, ...]]:
    found = sorted(
        check.kinds.items(), key=lambda item: (-item[1].short, -item[1].unknown, -item[1].tail, -item[1].events)
    )
    return [
        (*(f"{n:,}" for n in (kind.events, kind.tail, kind.short, kind.unknown)), f"{key.name} ({key.provider})")
        for key, kind in found
    ]


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
    return f"<b>{escape(safe(event))}</b> version {version}<table>{''.join(rows)}</table>"


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


def _top(facts: Facts) -> Iterable[tuple[EventKey, int]]:
    return list(facts.counts.items())[:_TOP]
