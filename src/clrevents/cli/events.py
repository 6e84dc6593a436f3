"""`clrevents events`: the selected events, as readable lines or as JSON lines.

Formats the readable form; the JSON form is the export room's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import click

import clrevents
from clrevents import Event
from clrevents._util.fitting import shortened, wrapped
from clrevents._util.words import counted
from clrevents.cli import options
from clrevents.cli.output import Output, safe
from clrevents.cli.reading import Reading, usage_errors
from clrevents.schema.registry import short_event
from clrevents.trace import passes_of

_LONG: Final = 300
_LABELS: Final = 20
_NOTHING_TOLD: Final = ("Error", "Expected actual values")
"""The label that the Linux recorder writes where it has nothing to say."""
_RAW: Final = 64


@click.command(name="events")
@options.file
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@options.json("Print JSON lines, with all header fields.")
@options.limit("Stop after N events.")
@options.filters
@click.option("--stacks", is_flag=True, help="Add each event's call stack, innermost frame first.")
@click.option("--raw", is_flag=True, help="With --stacks: addresses instead of names.")
@click.option(
    "--names", is_flag=True, help="With --json: enums, flags and times as text; with --stacks also frame names."
)
@options.reading(options.beside, options.symbols)
def command(
    file: str,
    selectors: tuple[str, ...],
    as_json: bool,
    limit: int | None,
    stacks: bool,
    raw: bool,
    names: bool,
    **given: Any,
) -> int:
    """Print all or selected events in order of time.

    A SELECTOR is an event name (MethodLoadVerbose), an alias (Method/LoadVerbose), provider/event
    (runtime/MethodLoad), or a pattern ('Method*').

    \b
    Which P/Invoke stubs were generated?
        clrevents events app.nettrace ILStubGenerated
    What did thread 4711 do in the second half (piped to jq)?
        clrevents events app.nettrace --thread 4711 --start 50% --json | jq -r .name
    Where were the P/Invoke stubs called from?
        clrevents events app.nettrace ILStubGenerated --stacks
    From a pod, without a file:
        kubectl exec pod -- cat /tmp/a.nettrace | clrevents events - 'Method*' --limit 20

    Each line has the milliseconds since the session started, the thread, provider/event, and the fields. Long values
    are truncated; use --json for all of them.
    """
    with Reading(file, busy_output=True, **options.how_to_read(given)) as reading:
        # Only the user's input is checked here; nothing has been read yet.
        with usage_errors(TypeError, ValueError):
            events = reading.trace.events(*selectors, **reading.filters(given))
        if limit is not None:
            events = islice(events, limit)
        try:
            with Output() as out:
                out.lines(
                    json_lines(events, names, stacks, reading.trace)
                    if as_json
                    else text_lines(events, stacks, raw, out, reading.trace)
                )
        finally:
            del events
        return reading.finish()


def json_lines(
    events: Iterable[Event[object]], names: bool, stacks: bool, trace: clrevents.Trace | None = None
) -> Iterator[str]:
    """One JSON object per event."""
    from clrevents.export.files.jsonl import EventJson

    continued = _continued(trace) if names and stacks else None
    return map(EventJson(names=names, stacks=stacks, continued=continued).line, events)


def _continued(trace: clrevents.Trace | None) -> Callable[[Event[object]], tuple[clrevents.Frame, ...]] | None:
    """Gives the frames of an event, continued with what awaits them; None where the trace does not tell."""
    awaits = None if trace is None else passes_of(trace).async_stacks
    if trace is None or awaits is None:
        return None

    def frames(event: Event[object]) -> tuple[clrevents.Frame, ...]:
        return awaits.frames(trace.methods, event.stack, event.time_ns, event.thread_id, event.process_id)

    return frames


def text_lines(
    events: Iterable[Event[object]], stacks: bool, raw: bool, out: Output, trace: clrevents.Trace | None = None
) -> Iterator[str]:
    """One line per event, long values truncated (JSON has all); on a terminal the fields are wrapped and indented.

    Stacks continue with what awaits them, as far as the trace tells.
    """
    width = out.width
    continued = _continued(trace) if stacks and not raw else None
    for event in events:
        thread = event.thread_id if event.thread_id >= 0 else "?"
        name = safe(short_event(event.provider, event.name))
        text = " ".join([f"{event.time_ns / 1e6:12.3f}  {thread:>7}  {name}", *_fields(event)])
        first, *more = wrapped(text, width, 4)
        yield first.replace(name, out.bold(name), 1)
        yield from more
        if stacks:
            frames = event.frames if continued is None else continued(event)
            shown = map(hex, event.stack) if raw else (safe(str(frame)) for frame in frames)
            yield from (f"    at {frame if width is None else shortened(frame, width - 7, 'name')}" for frame in shown)


def _fields(event: Event[object]) -> Iterator[str]:
    """`Name=value` for each field, and the other data an event may have."""
    payload = event.payload
    if isinstance(payload, clrevents.RawPayload):
        yield from (f"{safe(name)}={_value(value)}" for name, value in payload.partial.items())
        yield f"({counted(len(payload.data), 'byte')}: {_hex(payload.data)}; {safe(payload.reason)})"
    else:
        yield from (f"{safe(name)}={_value(value)}" for name, value in clrevents.asdict(payload).items())
    if event.payload_tail:
        yield f"(and {counted(len(event.payload_tail), 'byte')}: {_hex(event.payload_tail)})"
    if event.activity_id is not None:
        path = event.activity_path
        yield f"activity={event.activity_id}" + (f" ({path})" if path else "")
    if event.related_activity_id is not None:
        yield f"related={event.related_activity_id}"
    # One by one: each of many events may share a list of many thousands.
    labels = (label for label in event.labels.items() if label != _NOTHING_TOLD)
    yield from (f"{safe(name)}:{_value(value)}" for name, value in islice(labels, _LABELS))
    name, nothing = _NOTHING_TOLD
    more = len(event.labels) - (event.labels.get(name) == nothing) - _LABELS
    if more > 0:
        yield f"(and {counted(more, 'label')})"


def _value(value: object) -> str:
    """The beginning of a long one, and how long it is: no more of it is made into text than is shown."""
    text = ""
    for piece in _pieces(value) if isinstance(value, tuple | list | dict) else (_plain(value),):
        text += piece
        if len(text) > _LONG:
            return f"{text[:_LONG]}… ({_length(value)})"
    return text


def _pieces(value: object) -> Iterator[str]:
    match value:
        case tuple() | list():
            for number, item in enumerate(value):
                yield ", " if number else "["
                yield from _pieces(item)
            yield "]" if value else "[]"
        case dict():
            for number, (name, item) in enumerate(value.items()):
                yield f"{' ' if number else '{'}{safe(str(name))}="
                yield from _pieces(item)
            yield "}" if value else "{}"
        case _:
            yield _plain(value)


def _plain(value: object) -> str:
    """As much as is shown."""
    match value:
        case str():
            return '"' + safe(value[: _LONG + 1].replace("\\", "\\\\").replace('"', '\\"')) + '"'
        case bytes():
            return value[:_LONG].hex()
        case None:
            return "-"
        case _:
            return safe(str(value))


def _length(value: object) -> str:
    match value:
        case bytes():
            return counted(len(value), "byte")
        case tuple() | list():
            return counted(len(value), "item")
        case dict():
            return counted(len(value), "field")
        case _:
            return counted(len(value if isinstance(value, str) else str(value)), "character")


def _hex(data: bytes) -> str:
    return data.hex() if len(data) <= _RAW else f"{data[:_RAW].hex()}…"
