"""`clrevents tail`: the events of a running process while they come, as readable lines or as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

import clrevents
from clrevents._util.words import counted, lost_events
from clrevents.cli import options
from clrevents.cli.events import json_lines, text_lines
from clrevents.cli.live_process import asked_profile, chosen_process, counted_stops, followed
from clrevents.cli.output import Output, safe, say
from clrevents.cli.reading import usage_errors
from clrevents.diagnostics.profiles import CODE_LOADS, providers_for
from clrevents.diagnostics.providers import united
from clrevents.diagnostics.session import Session
from clrevents.schema.matching import glob
from clrevents.schema.registry import SAMPLE, Entry, meant_provider
from clrevents.schema.source_message import SOURCE_MESSAGE, source_error, text_of

_NOISE: Final = frozenset(("YieldProcessorMeasurement",))
"""What the profile `default` records as well, and nobody reads unless asked for."""


@click.command(name="tail")
@options.one_running
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@options.json("Print JSON lines, with all header fields.")
@click.option("--names", is_flag=True, help="With --json: enums, flags and times as text.")
@click.option("--stacks", is_flag=True, help="Add each event's call stack, innermost frame first.")
@options.limit("Stop after N events.", least=1)
@options.duration("Stop after this time: 30s, 5m. [default: until Ctrl-C]")
@options.names("--profile", "profiles", help="What to record.")
@click.option("--providers", multiple=True, metavar="LIST", help="What to record, as for `collect`.")
def command(
    live_process: str | None,
    name: str | None,
    port: str | None,
    selectors: tuple[str, ...],
    as_json: bool,
    names: bool,
    stacks: bool,
    limit: int | None,
    duration: float | None,
    profiles: tuple[str, ...],
    providers: tuple[str, ...],
) -> int:
    """Print events of a running process while they happen.

    \b
    Which exceptions are thrown, and who waits for locks?
        clrevents tail -p 4711 ExceptionThrown 'Contention*'
    What does my own EventSource write?
        clrevents tail -p App MyCompany-Orders --json

    The SELECTORs determine what is recorded; for an unknown EventSource, the whole provider. Without any, it is the
    profile `default` without samples of stacks and measurements of the processor's yield. A process delivers its
    events every 0.1 s; they are printed within another 0.1 s, in order of time.
    """
    recorded: dict[str, Any] = {}
    plain = not (profiles or providers or selectors)
    if profiles or providers or not selectors:
        wanted = asked_profile(profiles, (), providers, None, None).providers
        # Nobody reads a thousand samples a second, or the stops that they take, unless asked for.
        recorded["providers"] = [one for one in wanted if not (plain and one.name == SAMPLE)]
    with counted_stops() as stops, chosen_process(live_process, name, port, stops) as (process, dialled):
        with usage_errors(TypeError, ValueError):
            if stacks and selectors and not recorded:
                recorded["providers"] = united((*providers_for(selectors), CODE_LOADS))
            # A list at the end would come when nobody reads any more.
            names_first = stacks and not dialled
            recorded |= {"rundown": False, "early_names": names_first, "duration": duration}
            if selectors:
                recorded.setdefault("providers", providers_for(selectors))
            also = [f"*/{SOURCE_MESSAGE}"] if selectors else []
            live = Session(process, *selectors, *also, reports=(), **recorded)
        printer = EventPrinter(selectors, limit, _NOISE if plain else frozenset())
        with followed(live, process, dialled, stops), Output() as out:
            for batch in live:
                events = printer.of(batch)
                out.lines(json_lines(events, names, stacks) if as_json else text_lines(events, stacks, False, out))
                out.flush()
                if printer.enough:
                    live.abandon()
        lost = sum(loss.count for loss in live.losses)
        if lost:
            say(f"{lost_events(lost)}; select fewer events")
        if printer.late:
            say(f"{counted(printer.late, 'event')} arrived after events that happened later")
    return 0


class EventPrinter:
    """Counts what is printed, and says why event sources write nothing, whether that was selected or not."""

    def __init__(self, selectors: Sequence[str], limit: int | None, noise: frozenset[str]) -> None:
        self._selectors = selectors
        self._noise = noise
        self._left = limit
        self._last = -1
        self.late = 0

    @property
    def enough(self) -> bool:
        return self._left == 0

    def of(self, batch: clrevents.Batch) -> Iterator[clrevents.Event[object]]:
        """The selected events of a batch."""
        for event in batch:
            if self.enough:
                return
            if event.name == SOURCE_MESSAGE:
                broken = source_error(event.provider, text_of(event.payload_bytes))
                if broken is not None:
                    say(safe(broken))
                if not self._selected(event):
                    continue
            if event.name in self._noise:
                continue
            if self._left is not None:
                self._left -= 1
            self.late += event.time_ns < self._last
            self._last = max(self._last, event.time_ns)
            yield event

    def _selected(self, event: clrevents.Event[object]) -> bool:
        entry = Entry(event.provider, event.id, event.name, (), ())
        return not self._selectors or any(
            meant_provider(s) == event.provider or glob(s)(entry) for s in self._selectors
        )
